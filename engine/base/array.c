/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/array.h"

#include "engine/base/error.h"

#include <string.h>

#define BLOCK 4096

gboolean
assay_shape_size (AssayDtype dtype, const gint64 *shape, guint ndim, gsize *count, gsize *bytes,
                  GError **error)
{
  if (ndim > ASSAY_ARRAY_MAX_DIMS)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_LIMIT, "%u dimensions, at most %d", ndim,
                   ASSAY_ARRAY_MAX_DIMS);
      return FALSE;
    }
  gint64 elements = 1, size = 0;
  gboolean overflow = FALSE;
  for (guint i = 0; i < ndim; i++)
    {
      if (shape[i] < 0)
        {
          g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                       "dimension %u is %" G_GINT64_FORMAT ", expected 0 or more", i, shape[i]);
          return FALSE;
        }
      overflow |= __builtin_mul_overflow (elements, shape[i], &elements);
    }
  overflow |= __builtin_mul_overflow (elements, assay_dtype_format (dtype)->item_bytes, &size);
  if (overflow || size > G_GINT64_CONSTANT (1) << 62)
    {
      g_autofree char *text = assay_shape_to_string (shape, ndim);
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_LIMIT, "%s of shape %s: the size overflows",
                   assay_dtype_name (dtype), text);
      return FALSE;
    }
  *count = (gsize) elements;
  if (bytes)
    *bytes = (gsize) size;
  return TRUE;
}

char *
assay_shape_to_string (const gint64 *shape, guint ndim)
{
  if (ndim == 0)
    return g_strdup ("scalar");
  GString *out = g_string_new ("[");
  for (guint i = 0; i < ndim; i++)
    g_string_append_printf (out, "%s%" G_GINT64_FORMAT, i ? ", " : "", shape[i]);
  g_string_append_c (out, ']');
  return g_string_free (out, FALSE);
}

static AssayArray *
array_of (AssayDtype dtype, const gint64 *shape, guint ndim, GError **error)
{
  gsize count = 0, bytes = 0;
  if (!assay_shape_size (dtype, shape, ndim, &count, &bytes, error))
    return NULL;
  AssayArray *array = g_new0 (AssayArray, 1);
  array->dtype = dtype;
  array->ndim = ndim;
  if (ndim)
    memcpy (array->shape, shape, ndim * sizeof *shape);
  array->count = count;
  array->bytes = bytes;
  g_atomic_ref_count_init (&array->references);
  return array;
}

AssayArray *
assay_array_new (AssayDtype dtype, const gint64 *shape, guint ndim, GError **error)
{
  g_autoptr (AssayArray) array = array_of (dtype, shape, ndim, error);
  if (!array)
    return NULL;
  array->data = g_try_malloc0 (MAX (array->bytes, 1));
  if (!array->data)
    {
      g_autofree char *size = g_format_size_full (array->bytes, G_FORMAT_SIZE_IEC_UNITS);
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_LIMIT, "no memory for an array of %s", size);
      return NULL;
    }
  return g_steal_pointer (&array);
}

AssayArray *
assay_array_new_from_bytes (AssayDtype dtype, const gint64 *shape, guint ndim, GBytes *bytes,
                            GError **error)
{
  g_autoptr (AssayArray) array = array_of (dtype, shape, ndim, error);
  if (!array)
    return NULL;
  gsize size = g_bytes_get_size (bytes);
  if (size != array->bytes)
    {
      g_autofree char *text = assay_shape_to_string (shape, ndim);
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "%s %s takes %" G_GSIZE_FORMAT " bytes, found %" G_GSIZE_FORMAT,
                   assay_dtype_name (dtype), text, array->bytes, size);
      return NULL;
    }
  array->owner = g_bytes_ref (bytes);
  array->data = (guint8 *) g_bytes_get_data (bytes, NULL);
  return g_steal_pointer (&array);
}

AssayArray *
assay_array_new_take (AssayDtype dtype, const gint64 *shape, guint ndim, gpointer data, gsize size,
                      GDestroyNotify release, gpointer user_data, GError **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new_with_free_func (data, size, release, user_data);
  return assay_array_new_from_bytes (dtype, shape, ndim, bytes, error);
}

AssayArray *
assay_array_convert (const AssayArray *array, AssayDtype dtype, GError **error)
{
  if (assay_dtype_format (dtype)->components != assay_dtype_format (array->dtype)->components)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
                   "cannot convert %s to %s: one is complex", assay_dtype_name (array->dtype),
                   assay_dtype_name (dtype));
      return NULL;
    }
  AssayArray *out = assay_array_new (dtype, array->shape, array->ndim, error);
  if (!out)
    return NULL;
  gsize total = assay_array_components (array);
  double values[BLOCK];
  for (gsize at = 0; at < total; at += BLOCK)
    {
      gsize n = MIN (BLOCK, total - at);
      assay_dtype_decode_array (array->dtype, array->data, at, n, values);
      assay_dtype_encode_array (dtype, values, n, out->data, at);
    }
  return out;
}

AssayArray *
assay_array_copy (const AssayArray *array, GError **error)
{
  AssayArray *out = assay_array_new (array->dtype, array->shape, array->ndim, error);
  if (out && array->bytes)
    memcpy (out->data, array->data, array->bytes);
  return out;
}

AssayArray *
assay_array_ref (AssayArray *array)
{
  g_atomic_ref_count_inc (&array->references);
  return array;
}

void
assay_array_unref (AssayArray *array)
{
  if (!array || !g_atomic_ref_count_dec (&array->references))
    return;
  if (array->owner)
    g_bytes_unref (array->owner);
  else
    g_free (array->data);
  g_free (array);
}

gboolean
assay_array_same_shape (const AssayArray *a, const AssayArray *b)
{
  return a->ndim == b->ndim && memcmp (a->shape, b->shape, a->ndim * sizeof a->shape[0]) == 0;
}

gsize
assay_array_components (const AssayArray *array)
{
  return array->count * (gsize) assay_dtype_format (array->dtype)->components;
}

double
assay_array_get (const AssayArray *array, gsize index)
{
  return assay_dtype_decode (array->dtype, assay_dtype_load (array->dtype, array->data, index));
}

void
assay_array_set (AssayArray *array, gsize index, double value)
{
  assay_dtype_store (array->dtype, array->data, index, assay_dtype_encode (array->dtype, value));
}
