/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/blocked.h"

#include "engine/base/error.h"
#include "engine/base/json-table.h"

#include <math.h>
#include <string.h>

/* ---- descriptions of raw data ---- */

typedef struct
{
  char *dtype, *packing;
  GArray *shape;
  gint64 offset, scales_offset;
  double tensor_scale;
} Sidecar;

static const AssayJsonField FIELDS[] = {
    ASSAY_JSON_FIELD (Sidecar, dtype, "dtype", STRING, .flags = ASSAY_JSON_REQUIRED),
    ASSAY_JSON_FIELD (Sidecar, shape, "shape", INTS, .flags = ASSAY_JSON_REQUIRED),
    ASSAY_JSON_FIELD (Sidecar, packing, "packing", STRING),
    ASSAY_JSON_FIELD (Sidecar, offset, "offset", INT),
    ASSAY_JSON_FIELD (Sidecar, scales_offset, "scales_offset", INT),
    ASSAY_JSON_FIELD (Sidecar, tensor_scale, "tensor_scale", DOUBLE),
    ASSAY_JSON_END,
};

static void
initialise (gpointer data)
{
  Sidecar *sidecar = data;
  sidecar->tensor_scale = 1;
  sidecar->scales_offset = -1;
}

static const AssayJsonTable SIDECAR_TABLE = {
    .name = "description of raw blocks",
    .size = sizeof (Sidecar),
    .fields = FIELDS,
    .initialise = initialise,
};

static Sidecar *
load_sidecar (const char *path, GError **error)
{
  g_autofree char *beside = g_strconcat (path, ".json", NULL);
  g_autoptr (JsonNode) node = assay_json_load (beside, &ASSAY_JSON_LIMITS_TASK, error);
  g_autoptr (GError) inner = NULL;
  Sidecar *sidecar = node ? assay_json_table_read (&SIDECAR_TABLE, node, "", NULL, &inner) : NULL;
  if (inner)
    g_propagate_prefixed_error (error, g_steal_pointer (&inner), "%s: ", beside);
  return sidecar;
}

static gboolean
is_container (const char *path)
{
  return g_str_has_suffix (path, ".safetensors") || g_str_has_suffix (path, ".npz");
}

AssayBlockType
assay_blocked_type_of (const char *path)
{
  AssayBlockType type = ASSAY_BLOCK_UNKNOWN;
  if (is_container (path) || g_str_has_suffix (path, ".npy"))
    return type;
  Sidecar *sidecar = load_sidecar (path, NULL);
  if (sidecar)
    {
      type = assay_block_from_name (sidecar->dtype);
      assay_json_table_free (&SIDECAR_TABLE, sidecar);
    }
  return type;
}

/* ---- codes and scales ---- */

static gint64
last_extent (const AssayArray *array)
{
  return array->ndim ? array->shape[array->ndim - 1] : 1;
}

static gint64
blocks_in (AssayBlockType type, gint64 elements)
{
  gint64 size = assay_block_format (type)->size;
  return (elements + size - 1) / size;
}

/* Two codes a byte, the first in the lower or the upper half. */
static AssayArray *
unpack (const guint8 *bytes, const gint64 *shape, guint ndim, gboolean low_first, GError **error)
{
  AssayArray *codes = assay_array_new (ASSAY_DTYPE_UINT8, shape, ndim, error);
  for (gsize i = 0; codes && i < codes->count; i++)
    codes->data[i] = (i % 2 == 0) == (low_first != FALSE) ? bytes[i / 2] & 15 : bytes[i / 2] >> 4;
  return codes;
}

static gboolean
refuse (GError **error, const char *where, const char *what)
{
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "%s: %s", where, what);
  return FALSE;
}

/* Codes with bits beyond the element's are no codes. */
static gboolean
check_codes (const AssayBlocked *b, const char *where, GError **error)
{
  int bits = assay_dtype_format (assay_block_format (b->type)->element)->bits;
  for (gsize i = 0; i < b->codes->count; i++)
    if (b->codes->data[i] >> bits)
      {
        g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                     "%s: element %" G_GSIZE_FORMAT ": expected a code of %d bits, found 0x%02x",
                     where, i, bits, b->codes->data[i]);
        return FALSE;
      }
  return TRUE;
}

/* ---- raw ---- */

static gboolean
fill_raw (AssayBlocked *b, const Sidecar *sidecar, GBytes *bytes, const char *path, GError **error)
{
  const AssayBlockFormat *format = assay_block_format (b->type);
  const gint64 *shape = (const gint64 *) (gpointer) sidecar->shape->data;
  guint ndim = sidecar->shape->len;
  gsize size, count, n_scales;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  gint64 scale_shape[ASSAY_ARRAY_MAX_DIMS];
  gboolean low = g_strcmp0 (sidecar->packing, "low_first") == 0;
  gboolean high = g_strcmp0 (sidecar->packing, "high_first") == 0;
  if (sidecar->packing && !low && !high && !g_str_equal (sidecar->packing, "bytes"))
    return refuse (error, path, "packing: expected \"bytes\", \"low_first\" or \"high_first\"");
  if ((low || high) && assay_dtype_format (format->element)->bits != 4)
    return refuse (error, path, "packing: only codes of four bits lie two to a byte");
  if (!assay_shape_size (ASSAY_DTYPE_UINT8, shape, ndim, &count, NULL, error) || ndim == 0)
    return error && *error ? FALSE : refuse (error, path, "shape: expected an array");
  memcpy (scale_shape, shape, ndim * sizeof *shape);
  scale_shape[ndim - 1] = blocks_in (b->type, shape[ndim - 1]);
  if (!assay_shape_size (ASSAY_DTYPE_UINT8, scale_shape, ndim, &n_scales, NULL, error))
    return FALSE;
  gsize code_bytes = low || high ? (count + 1) / 2 : count;
  gint64 at =
      sidecar->scales_offset >= 0 ? sidecar->scales_offset : sidecar->offset + (gint64) code_bytes;
  if (sidecar->offset < 0 || code_bytes > size || (gsize) sidecar->offset > size - code_bytes
      || n_scales > size || (gsize) at > size - n_scales)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "%s: expected %" G_GSIZE_FORMAT " bytes of codes at %" G_GINT64_FORMAT
                   " and %" G_GSIZE_FORMAT " scales at %" G_GINT64_FORMAT
                   ", found a file of %" G_GSIZE_FORMAT,
                   path, code_bytes, sidecar->offset, n_scales, at, size);
      return FALSE;
    }
  const guint8 *codes = data + sidecar->offset;
  b->codes = low || high ? unpack (codes, shape, ndim, low, error)
                         : assay_array_new (ASSAY_DTYPE_UINT8, shape, ndim, error);
  b->scales = b->codes ? assay_array_new (format->scale, scale_shape, ndim, error) : NULL;
  if (!b->scales)
    return FALSE;
  if (!low && !high)
    memcpy (b->codes->data, codes, count);
  memcpy (b->scales->data, data + at, n_scales);
  b->tensor_scale = format->tensor_scale ? sidecar->tensor_scale : 1;
  return TRUE;
}

static gboolean
load_raw (AssayBlocked *b, const char *path, GError **error)
{
  Sidecar *sidecar = load_sidecar (path, error);
  if (!sidecar)
    return FALSE;
  AssayBlockType named = assay_block_from_name (sidecar->dtype);
  g_autoptr (GMappedFile) file = NULL;
  gboolean done = FALSE;
  if (named == ASSAY_BLOCK_UNKNOWN || (b->type != ASSAY_BLOCK_UNKNOWN && named != b->type))
    g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "%s: dtype: expected %s, found %s", path,
                 b->type == ASSAY_BLOCK_UNKNOWN ? "a block format"
                                                : assay_block_format (b->type)->name,
                 sidecar->dtype);
  else if ((file = g_mapped_file_new (path, FALSE, error)))
    {
      g_autoptr (GBytes) bytes = g_mapped_file_get_bytes (file);
      b->type = named;
      done = fill_raw (b, sidecar, bytes, path, error);
    }
  assay_json_table_free (&SIDECAR_TABLE, sidecar);
  return done;
}

/* ---- pieces of a container ---- */

/* The first of these names that is there; NULL without an error where none is. */
static AssayArray *
load_piece (const char *path, const char *tensor, const char *const *endings)
{
  AssayArray *found = NULL;
  for (; !found && *endings; endings++)
    {
      g_autofree char *name = g_strconcat (tensor, *endings, NULL);
      found = assay_array_load (path, name, NULL);
    }
  return found;
}

static gboolean
is_byte (const AssayArray *array)
{
  return assay_dtype_format (array->dtype)->item_bytes == 1;
}

static gboolean
same_rows (const AssayArray *codes, const AssayArray *scales)
{
  gboolean same = codes->ndim == scales->ndim && codes->ndim > 0;
  for (guint d = 0; same && d + 1 < codes->ndim; d++)
    same = codes->shape[d] == scales->shape[d];
  return same;
}

static gboolean
take_codes (AssayBlocked *b, const AssayArray *codes, const char *where, GError **error)
{
  gboolean four = assay_dtype_format (assay_block_format (b->type)->element)->bits == 4;
  gint64 extent = last_extent (codes), blocks = last_extent (b->scales);
  gboolean plain = blocks_in (b->type, extent) == blocks;
  gboolean packed = !plain && four && blocks_in (b->type, 2 * extent) == blocks;
  if (!same_rows (codes, b->scales) || (!plain && !packed))
    {
      g_autofree char *ours = assay_shape_to_string (codes->shape, codes->ndim);
      g_autofree char *its = assay_shape_to_string (b->scales->shape, b->scales->ndim);
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "%s: codes %s and scales %s do not go together: expected a scale for every %d "
                   "elements of a row",
                   where, ours, its, assay_block_format (b->type)->size);
      return FALSE;
    }
  gint64 shape[ASSAY_ARRAY_MAX_DIMS];
  memcpy (shape, codes->shape, codes->ndim * sizeof *shape);
  shape[codes->ndim - 1] = packed ? 2 * extent : extent;
  b->codes = packed ? unpack (codes->data, shape, codes->ndim, TRUE, error)
                    : assay_array_new (ASSAY_DTYPE_UINT8, shape, codes->ndim, error);
  if (b->codes && plain)
    memcpy (b->codes->data, codes->data, codes->bytes);
  return b->codes != NULL;
}

static gboolean
load_pieces (AssayBlocked *b, const char *path, const char *tensor, GError **error)
{
  static const char *const SCALES[] = {".scale", "_scale", "_scales", NULL};
  static const char *const WHOLE[] = {".tensor_scale", "_tensor_scale", "_scale_2", NULL};
  if (b->type == ASSAY_BLOCK_UNKNOWN || !tensor)
    return refuse (error, path, "expected a block format and the name of a tensor");
  g_autoptr (AssayArray) codes = assay_array_load (path, tensor, error);
  if (!codes)
    return FALSE;
  g_autofree char *where = g_strdup_printf ("%s: %s", path, tensor);
  g_autoptr (AssayArray) whole = load_piece (path, tensor, WHOLE);
  g_autoptr (AssayArray) scales = load_piece (path, tensor, SCALES);
  if (!scales)
    return refuse (error, where, "no scales: expected NAME.scale, NAME_scale or NAME_scales");
  if (!is_byte (codes) || !is_byte (scales))
    return refuse (error, where, "expected codes and scales of one byte each");
  if (assay_block_format (b->type)->tensor_scale && whole)
    b->tensor_scale = whole->count == 1 ? assay_array_get (whole, 0) : NAN;
  if (isnan (b->tensor_scale))
    return refuse (error, where, "the scale of the whole tensor: expected one number");
  b->scales =
      assay_array_new (assay_block_format (b->type)->scale, scales->shape, scales->ndim, error);
  if (!b->scales)
    return FALSE;
  memcpy (b->scales->data, scales->data, scales->bytes);
  return take_codes (b, codes, where, error);
}

AssayBlocked *
assay_blocked_load (const char *path, const char *tensor, AssayBlockType type, GError **error)
{
  g_autoptr (AssayBlocked) b = g_new0 (AssayBlocked, 1);
  b->type = type;
  b->tensor_scale = 1;
  gboolean done =
      is_container (path) ? load_pieces (b, path, tensor, error) : load_raw (b, path, error);
  return done && check_codes (b, path, error) ? g_steal_pointer (&b) : NULL;
}

void
assay_blocked_free (AssayBlocked *blocked)
{
  g_clear_pointer (&blocked->codes, assay_array_unref);
  g_clear_pointer (&blocked->scales, assay_array_unref);
  g_free (blocked);
}

AssayArray *
assay_blocked_decode (const AssayBlocked *b, GError **error)
{
  AssayArray *out = assay_array_new (ASSAY_DTYPE_FLOAT64, b->codes->shape, b->codes->ndim, error);
  gsize columns = (gsize) last_extent (b->codes), size = (gsize) assay_block_format (b->type)->size;
  gsize blocks = (gsize) last_extent (b->scales);
  for (gsize first = 0; out && first < out->count; first += columns)
    for (gsize block = 0; block < blocks; block++)
      {
        gsize at = first + block * size, n = MIN (size, columns - block * size);
        double values[ASSAY_BLOCK_MOST];
        assay_block_decode (b->type, b->scales->data[first / columns * blocks + block],
                            b->tensor_scale, b->codes->data + at, n, values);
        memcpy (out->data + at * sizeof *values, values, n * sizeof *values);
      }
  return out;
}

static void
merge (AssayBlockDifference *all, const AssayBlockDifference *row, guint64 first)
{
  if (row->max_steps > all->max_steps)
    all->max_steps_at = first + row->max_steps_at;
  if (row->max_error_of_amax > all->max_error_of_amax)
    all->max_error_at = first + row->max_error_at;
  all->blocks += row->blocks;
  all->other_scale += row->other_scale;
  all->elements += row->elements;
  all->differ += row->differ;
  all->nan_differs += row->nan_differs;
  all->max_steps = MAX (all->max_steps, row->max_steps);
  all->max_error_of_amax = fmax (all->max_error_of_amax, row->max_error_of_amax);
}

gboolean
assay_blocked_compare (const AssayBlocked *a, const AssayBlocked *b,
                       AssayBlockDifference *difference, GError **error)
{
  memset (difference, 0, sizeof *difference);
  if (a->type != b->type || !assay_array_same_shape (a->codes, b->codes))
    {
      g_autofree char *ours = assay_shape_to_string (a->codes->shape, a->codes->ndim);
      g_autofree char *its = assay_shape_to_string (b->codes->shape, b->codes->ndim);
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "expected %s %s, found %s %s",
                   assay_block_format (b->type)->name, its, assay_block_format (a->type)->name,
                   ours);
      return FALSE;
    }
  gsize columns = (gsize) last_extent (a->codes), blocks = (gsize) last_extent (a->scales);
  for (gsize first = 0; first < a->codes->count; first += columns)
    {
      gsize at = first / columns * blocks;
      AssayBlocks x = {a->codes->data + first, a->scales->data + at, a->tensor_scale};
      AssayBlocks y = {b->codes->data + first, b->scales->data + at, b->tensor_scale};
      AssayBlockDifference row = assay_blocks_compare (a->type, x, y, columns);
      merge (difference, &row, first);
    }
  return TRUE;
}
