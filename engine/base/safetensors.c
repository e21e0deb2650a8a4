/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/array.h"

#include "engine/base/error.h"
#include "engine/base/json.h"

#include <string.h>

/* safetensors: an 8-byte little-endian header length, a JSON object of {dtype, shape, data_offsets}
 * per tensor and an optional "__metadata__", then the data, which the tensors cover without holes. */

static const AssayJsonLimits HEADER_LIMITS = {8u << 20, 6, 400000};

static const struct
{
  const char *name;
  AssayDtype dtype;
} NAMES[] = {
    {"F64", ASSAY_DTYPE_FLOAT64},
    {"F32", ASSAY_DTYPE_FLOAT32},
    {"F16", ASSAY_DTYPE_FLOAT16},
    {"BF16", ASSAY_DTYPE_BFLOAT16},
    {"F8_E4M3", ASSAY_DTYPE_FLOAT8_E4M3FN},
    {"F8_E5M2", ASSAY_DTYPE_FLOAT8_E5M2},
    {"F8_E8M0", ASSAY_DTYPE_FLOAT8_E8M0},
    {"F8_E4M3FNUZ", ASSAY_DTYPE_FLOAT8_E4M3FNUZ},
    {"F8_E5M2FNUZ", ASSAY_DTYPE_FLOAT8_E5M2FNUZ},
    {"I64", ASSAY_DTYPE_INT64},
    {"I32", ASSAY_DTYPE_INT32},
    {"I16", ASSAY_DTYPE_INT16},
    {"I8", ASSAY_DTYPE_INT8},
    {"U64", ASSAY_DTYPE_UINT64},
    {"U32", ASSAY_DTYPE_UINT32},
    {"U16", ASSAY_DTYPE_UINT16},
    {"U8", ASSAY_DTYPE_UINT8},
    {"BOOL", ASSAY_DTYPE_BOOL},
    {"C64", ASSAY_DTYPE_COMPLEX64},
};

/* Formats the container has no word for travel as another type of the same size, with their own
 * name in the metadata. */
#define METADATA_DTYPE "assay_dtype"

static JsonObject *
parse_header (GBytes *bytes, const char *source, gsize *start, JsonNode **root, GError **error)
{
  gsize size = 0;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  guint64 length = 0;
  for (int i = 7; i >= 0 && size >= 8; i--)
    length = length << 8 | data[i];
  if (size < 8 || length > size - 8)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "%s: not a readable .safetensors file: the header is longer than the file",
                   source);
      return NULL;
    }
  *root =
      assay_json_parse ((const char *) data + 8, (gssize) length, &HEADER_LIMITS, source, error);
  if (!*root)
    return NULL;
  if (!JSON_NODE_HOLDS_OBJECT (*root))
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "%s: the .safetensors header is no object", source);
      return NULL;
    }
  *start = 8 + (gsize) length;
  return json_node_get_object (*root);
}

char **
assay_safetensors_names (GBytes *bytes, const char *source, GError **error)
{
  g_autoptr (JsonNode) root = NULL;
  gsize start = 0;
  JsonObject *header = parse_header (bytes, source, &start, &root, error);
  if (!header)
    return NULL;
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  g_autoptr (GList) members = json_object_get_members (header);
  for (GList *m = members; m; m = m->next)
    if (!g_str_equal (m->data, "__metadata__"))
      g_strv_builder_add (names, m->data);
  return g_strv_builder_end (names);
}

static gboolean
fail (const char *source, const char *tensor, const char *what, GError **error)
{
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "%s: %s: %s", source, tensor, what);
  return FALSE;
}

static gboolean
read_integers (JsonArray *items, gint64 *values, guint capacity)
{
  for (guint i = 0; i < json_array_get_length (items) && i < capacity; i++)
    {
      JsonNode *item = json_array_get_element (items, i);
      if (!JSON_NODE_HOLDS_VALUE (item) || json_node_get_value_type (item) != G_TYPE_INT64
          || json_node_get_int (item) < 0)
        return FALSE;
      values[i] = json_node_get_int (item);
    }
  return TRUE;
}

static AssayDtype
dtype_of (JsonObject *header, const char *tensor, const char *word)
{
  JsonObject *metadata = assay_json_object (header, "__metadata__");
  g_autofree char *key = g_strdup_printf (METADATA_DTYPE ":%s", tensor);
  const char *own = metadata ? assay_json_string (metadata, key) : NULL;
  if (own)
    return assay_dtype_from_name (own);
  for (gsize i = 0; word && i < G_N_ELEMENTS (NAMES); i++)
    if (g_str_equal (NAMES[i].name, word))
      return NAMES[i].dtype;
  return ASSAY_DTYPE_UNKNOWN;
}

static AssayArray *
read_tensor (JsonObject *header, GBytes *bytes, gsize start, const char *tensor, const char *source,
             GError **error)
{
  JsonObject *entry = assay_json_object (header, tensor);
  const char *word = entry ? assay_json_string (entry, "dtype") : NULL;
  JsonArray *shape_items = entry ? assay_json_array (entry, "shape") : NULL;
  JsonArray *offset_items = entry ? assay_json_array (entry, "data_offsets") : NULL;
  gint64 shape[ASSAY_ARRAY_MAX_DIMS] = {0}, offsets[2] = {0};
  if (!word || !shape_items || !offset_items || json_array_get_length (offset_items) != 2)
    return fail (source, tensor, "expected dtype, shape and two data_offsets", error), NULL;
  guint ndim = json_array_get_length (shape_items);
  if (ndim > ASSAY_ARRAY_MAX_DIMS || !read_integers (shape_items, shape, ASSAY_ARRAY_MAX_DIMS)
      || !read_integers (offset_items, offsets, 2))
    return fail (source, tensor, "shape is not up to eight non-negative integers", error), NULL;
  AssayDtype dtype = dtype_of (header, tensor, word);
  if (dtype == ASSAY_DTYPE_UNKNOWN)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
                   "%s: %s: element type %s is not one we read", source, tensor, word);
      return NULL;
    }
  gsize data_bytes = g_bytes_get_size (bytes) - start;
  if (offsets[1] < offsets[0] || (guint64) offsets[1] > data_bytes)
    return fail (source, tensor, "data_offsets lie outside the file", error), NULL;
  gsize size = (gsize) (offsets[1] - offsets[0]);
  g_autoptr (GBytes) part = g_bytes_new_from_bytes (bytes, start + (gsize) offsets[0], size);
  g_autoptr (AssayArray) borrowed = assay_array_new_from_bytes (dtype, shape, ndim, part, error);
  if (!borrowed)
    {
      g_prefix_error (error, "%s: %s: ", source, tensor);
      return NULL;
    }
  /* Tensors may lie at odd addresses; the rest of the program relies on aligned elements. */
  return ((gsize) borrowed->data & 15) == 0 ? g_steal_pointer (&borrowed)
                                            : assay_array_copy (borrowed, error);
}

AssayArray *
assay_safetensors_parse (GBytes *bytes, const char *tensor, const char *source, GError **error)
{
  g_autoptr (JsonNode) root = NULL;
  gsize start = 0;
  JsonObject *header = parse_header (bytes, source, &start, &root, error);
  if (!header)
    return NULL;
  g_auto (GStrv) names = assay_safetensors_names (bytes, source, error);
  if (!names)
    return NULL;
  g_autofree char *list = g_strjoinv (", ", names);
  if (!tensor && g_strv_length (names) == 1)
    tensor = names[0];
  if (!tensor || !g_strv_contains ((const char *const *) names, tensor))
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND,
                   "%s: expected a tensor \"%s\", found %s", source, tensor ? tensor : "(one)",
                   *list ? list : "none");
      return NULL;
    }
  return read_tensor (header, bytes, start, tensor, source, error);
}

static const char *
word_for (AssayDtype dtype)
{
  for (gsize i = 0; i < G_N_ELEMENTS (NAMES); i++)
    if (NAMES[i].dtype == dtype)
      return NAMES[i].name;
  return NULL;
}

/* The unsigned type of the same size. */
static const char *
carrier (AssayDtype dtype)
{
  int bytes = assay_dtype_format (dtype)->item_bytes;
  return bytes == 1 ? "U8" : bytes == 4 ? "U32" : "C128";
}

static JsonNode *
entry_node (const AssayArray *array, gsize offset)
{
  const char *word = word_for (array->dtype);
  JsonObject *entry = json_object_new ();
  JsonArray *shape = json_array_new ();
  JsonArray *offsets = json_array_new ();
  for (guint i = 0; i < array->ndim; i++)
    json_array_add_int_element (shape, array->shape[i]);
  json_array_add_int_element (offsets, (gint64) offset);
  json_array_add_int_element (offsets, (gint64) (offset + array->bytes));
  json_object_set_string_member (entry, "dtype", word ? word : carrier (array->dtype));
  json_object_set_array_member (entry, "shape", shape);
  json_object_set_array_member (entry, "data_offsets", offsets);
  return json_node_init_object (json_node_alloc (), entry);
}

GBytes *
assay_safetensors_format (const char *const *names, AssayArray *const *arrays, guint count,
                          GError **error)
{
  JsonObject *header = json_object_new ();
  JsonObject *metadata = json_object_new ();
  gsize offset = 0;
  for (guint i = 0; i < count; i++)
    {
      json_object_set_member (header, names[i], entry_node (arrays[i], offset));
      g_autofree char *key = g_strdup_printf (METADATA_DTYPE ":%s", names[i]);
      if (!word_for (arrays[i]->dtype))
        json_object_set_string_member (metadata, key, assay_dtype_name (arrays[i]->dtype));
      offset += arrays[i]->bytes;
    }
  if (json_object_get_size (metadata))
    json_object_set_object_member (header, "__metadata__", json_object_ref (metadata));
  json_object_unref (metadata);
  g_autoptr (JsonNode) root = json_node_init_object (json_node_alloc (), header);
  json_object_unref (header);
  g_autofree char *line = assay_json_write_line (root);
  gsize length = strlen (line), padded = (length + 8 + 63) / 64 * 64 - 8;
  guint8 *all = g_try_malloc (8 + padded + offset);
  if (!all)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_LIMIT,
                   "no memory to write %" G_GSIZE_FORMAT " bytes", 8 + padded + offset);
      return NULL;
    }
  for (int i = 0; i < 8; i++)
    all[i] = (guint8) ((guint64) padded >> (8 * i));
  memcpy (all + 8, line, length);
  memset (all + 8 + length, ' ', padded - length);
  guint8 *at = all + 8 + padded;
  for (guint i = 0; i < count; at += arrays[i]->bytes, i++)
    if (arrays[i]->bytes)
      memcpy (at, arrays[i]->data, arrays[i]->bytes);
  return g_bytes_new_take (all, 8 + padded + offset);
}
