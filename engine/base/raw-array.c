/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/array.h"

#include "engine/base/error.h"
#include "engine/base/json-table.h"

#include <string.h>

/* Raw data: FILE beside FILE.json, which says what the bytes are. */

typedef struct
{
  char *dtype, *byte_order;
  GArray *shape;
  gint64 offset;
} Sidecar;

static const AssayJsonField FIELDS[] = {
    ASSAY_JSON_FIELD (Sidecar, dtype, "dtype", STRING, .flags = ASSAY_JSON_REQUIRED),
    ASSAY_JSON_FIELD (Sidecar, shape, "shape", INTS, .flags = ASSAY_JSON_REQUIRED),
    ASSAY_JSON_FIELD (Sidecar, byte_order, "byte_order", STRING),
    ASSAY_JSON_FIELD (Sidecar, offset, "offset", INT),
    ASSAY_JSON_END,
};
static const AssayJsonTable SIDECAR_TABLE = {
    .name = "description of raw data",
    .size = sizeof (Sidecar),
    .fields = FIELDS,
};

static void
swap_bytes (AssayArray *array)
{
  gsize width = (gsize) assay_dtype_format (array->dtype)->component_bytes;
  for (gsize at = 0; at + width <= array->bytes; at += width)
    for (gsize i = 0; i < width / 2; i++)
      {
        guint8 byte = array->data[at + i];
        array->data[at + i] = array->data[at + width - 1 - i];
        array->data[at + width - 1 - i] = byte;
      }
}

static AssayArray *
fill (const Sidecar *sidecar, GBytes *bytes, const char *source, GError **error)
{
  AssayDtype dtype = assay_dtype_from_name (sidecar->dtype);
  gboolean big = g_strcmp0 (sidecar->byte_order, "big") == 0;
  if (dtype == ASSAY_DTYPE_UNKNOWN)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "%s: dtype: unknown type \"%s\"",
                   source, sidecar->dtype);
      return NULL;
    }
  if (sidecar->byte_order && !big && !g_str_equal (sidecar->byte_order, "little"))
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "%s: byte_order: expected \"little\" or \"big\", found \"%s\"", source,
                   sidecar->byte_order);
      return NULL;
    }
  gsize count, wanted, size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  const gint64 *shape = (const gint64 *) (gpointer) sidecar->shape->data;
  if (!assay_shape_size (dtype, shape, sidecar->shape->len, &count, &wanted, error))
    {
      g_prefix_error (error, "%s: shape: ", source);
      return NULL;
    }
  if (sidecar->offset < 0 || (guint64) sidecar->offset > size
      || size - (gsize) sidecar->offset != wanted)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "%s: expected %" G_GSIZE_FORMAT " bytes after offset %" G_GINT64_FORMAT
                   ", found a file of %" G_GSIZE_FORMAT,
                   source, wanted, sidecar->offset, size);
      return NULL;
    }
  AssayArray *array = assay_array_new (dtype, shape, sidecar->shape->len, error);
  if (!array)
    return NULL;
  memcpy (array->data, data + sidecar->offset, wanted);
  if (big)
    swap_bytes (array);
  return array;
}

AssayArray *
assay_raw_parse (GBytes *bytes, JsonNode *description, const char *source, GError **error)
{
  Sidecar *sidecar = assay_json_table_read (&SIDECAR_TABLE, description, "", NULL, error);
  if (!sidecar)
    {
      g_prefix_error (error, "%s: ", source);
      return NULL;
    }
  AssayArray *array = fill (sidecar, bytes, source, error);
  assay_json_table_free (&SIDECAR_TABLE, sidecar);
  return array;
}
