/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/task/generate.h"

#include "engine/base/error.h"
#include "engine/task/distribution.h"

#include <math.h>
#include <string.h>

#define CHUNK ((gsize) 1 << 16)

typedef struct
{
  const AssayGenerator *generator;
  AssayArray *array;
  guint64 key;
  gsize row, total; /* components of a row of the last axis, of the array */
} Filling;

static void
fill_chunk (gsize piece, gpointer user_data)
{
  Filling *filling = user_data;
  gsize first = piece * CHUNK;
  gsize n = MIN (CHUNK, filling->total - first);
  g_autofree double *values = g_new (double, n);
  assay_distribution_fill (filling->generator, filling->array->dtype, filling->key, first, n,
                           values);
  assay_dtype_encode_array (filling->array->dtype, values, n, filling->array->data, first);
}

static void
fill_row (gsize row, gpointer user_data)
{
  Filling *filling = user_data;
  g_autofree double *values = g_new (double, filling->row);
  assay_distribution_fill_row (filling->generator, filling->key, row, filling->row, values);
  assay_dtype_encode_array (filling->array->dtype, values, filling->row, filling->array->data,
                            row * filling->row);
}

static gboolean
fill (const AssayPlan *plan, const AssayGenerator *generator, AssayArray *array,
      GCancellable *cancellable, GError **error)
{
  guint64 seed = (guint64) plan->workload->seed;
  guint64 key = generator->seed < 0 ? assay_draw_key (seed, generator->name)
                                    : assay_draw_key (seed + (guint64) generator->seed, "");
  gsize total = assay_array_components (array);
  gsize row = array->ndim ? (gsize) array->shape[array->ndim - 1] : 1;
  Filling filling = {generator, array, key, row, total};
  if (generator->type == ASSAY_GENERATOR_RANDOM
      && assay_distribution_is_by_row (generator->distribution))
    return assay_parallel_for (row ? total / row : 0, 0, fill_row, &filling, NULL, NULL,
                               cancellable, error);
  return assay_parallel_for ((total + CHUNK - 1) / CHUNK, 0, fill_chunk, &filling, NULL, NULL,
                             cancellable, error);
}

static AssayArray *
load_stored (const AssayPlan *plan, const AssayPlannedArray *input, GError **error)
{
  const AssayGenerator *generator = input->generator;
  g_autofree char *path = assay_task_path (plan->task, generator->path, error);
  if (!path)
    return NULL;
  g_autoptr (AssayArray) array = assay_array_load (path, generator->tensor, error);
  if (!array)
    return NULL;
  gboolean same = array->ndim == input->ndim
                  && memcmp (array->shape, input->shape, array->ndim * sizeof array->shape[0]) == 0;
  if (same && (int) array->dtype == input->array->dtype)
    return g_steal_pointer (&array);
  g_autofree char *expected = assay_shape_to_string (input->shape, input->ndim);
  g_autofree char *found = assay_shape_to_string (array->shape, array->ndim);
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "%s: expected %s %s, found %s %s",
               generator->path, assay_dtype_name (input->array->dtype), expected,
               assay_dtype_name (array->dtype), found);
  return NULL;
}

static AssayArray *
make_values (const AssayPlan *plan, const AssayPlannedArray *input, GCancellable *cancellable,
             GError **error)
{
  const AssayGenerator *generator = input->generator;
  if (generator && generator->type == ASSAY_GENERATOR_CUSTOM)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
                   "a custom generator runs foreign code; the reference's worker has to make it");
      return NULL;
    }
  if (generator
      && (generator->type == ASSAY_GENERATOR_NPY || generator->type == ASSAY_GENERATOR_SAFETENSORS))
    return load_stored (plan, input, error);
  g_autoptr (AssayArray) array =
      assay_array_new (input->array->dtype, input->shape, input->ndim, error);
  if (array && generator && !fill (plan, generator, array, cancellable, error))
    return NULL;
  return g_steal_pointer (&array);
}

static void
contiguous_strides (const AssayArray *array, gint64 *strides)
{
  gint64 stride = 1;
  for (guint d = array->ndim; d-- > 0;)
    {
      strides[d] = stride;
      stride *= MAX (array->shape[d], 1);
    }
}

/* Strides of a layout, and how many elements the allocation takes. */
static gsize
plan_layout (const AssayArray *values, const AssayGenerator *generator, AssayInput *input)
{
  guint n = values->ndim;
  gsize elements = values->count;
  contiguous_strides (values, input->strides);
  switch (generator->layout)
    {
    case ASSAY_LAYOUT_TRANSPOSED:
      if (n >= 2)
        {
          input->strides[n - 1] = values->shape[n - 2];
          input->strides[n - 2] = 1;
        }
      return elements;
    case ASSAY_LAYOUT_STRIDED:
      for (guint d = 0; n >= 1 && d + 1 < n; d++)
        input->strides[d] *= 2;
      return elements * (n >= 2 ? 2 : 1);
    case ASSAY_LAYOUT_EXPANDED:
      if (n == 0 || values->shape[0] == 0)
        return elements;
      input->strides[0] = 0;
      return elements / (gsize) values->shape[0];
    case ASSAY_LAYOUT_OFFSET:
      input->offset = MAX (generator->offset, 0);
      return elements + (gsize) input->offset;
    default:
      return elements;
    }
}

/* What lies between the elements is NaN, or the largest value where there is no NaN: a kernel that
 * takes the memory for contiguous is seen at once. */
static void
fill_gaps (AssayArray *storage)
{
  const AssayFormat *format = assay_dtype_format (storage->dtype);
  guint64 code = assay_dtype_encode (storage->dtype, format->has_nan ? NAN : format->max_finite);
  for (gsize i = 0; i < assay_array_components (storage); i++)
    assay_dtype_store (storage->dtype, storage->data, i, code);
}

static void
scatter (const AssayInput *input)
{
  const AssayArray *values = input->values;
  gsize item = (gsize) assay_dtype_format (values->dtype)->item_bytes;
  gint64 index[ASSAY_ARRAY_MAX_DIMS] = {0};
  for (gsize i = 0; i < values->count; i++)
    {
      gint64 at = input->offset;
      for (guint d = 0; d < values->ndim; d++)
        at += index[d] * input->strides[d];
      memcpy (input->storage->data + (gsize) at * item, values->data + i * item, item);
      for (guint d = values->ndim; d-- > 0;)
        {
          if (++index[d] < values->shape[d])
            break;
          index[d] = 0;
        }
    }
}

/* Every slice along the first axis becomes the first one. */
static gboolean
repeat_first_slice (AssayInput *input, GError **error)
{
  AssayArray *values = input->values;
  if (values->owner) /* borrowed from a file: not ours to write */
    {
      AssayArray *copy = assay_array_copy (values, error);
      if (!copy)
        return FALSE;
      assay_array_unref (values);
      input->values = values = copy;
    }
  gsize slices = values->ndim ? (gsize) values->shape[0] : 0;
  gsize bytes = slices ? values->bytes / slices : 0;
  for (gsize i = 1; i < slices; i++)
    memcpy (values->data + i * bytes, values->data, bytes);
  return TRUE;
}

static gboolean
lay_out (AssayInput *input, const AssayGenerator *generator, GError **error)
{
  if (!generator || generator->layout == ASSAY_LAYOUT_CONTIGUOUS || input->values->ndim == 0)
    {
      contiguous_strides (input->values, input->strides);
      input->storage = assay_array_ref (input->values);
      return TRUE;
    }
  if (generator->layout == ASSAY_LAYOUT_EXPANDED && !repeat_first_slice (input, error))
    return FALSE;
  gint64 elements = (gint64) plan_layout (input->values, generator, input);
  input->storage = assay_array_new (input->values->dtype, &elements, 1, error);
  if (!input->storage)
    return FALSE;
  fill_gaps (input->storage);
  scatter (input);
  return TRUE;
}

AssayInput *
assay_generate (const AssayPlan *plan, const AssayPlannedArray *input, GCancellable *cancellable,
                GError **error)
{
  g_autoptr (AssayInput) made = g_new0 (AssayInput, 1);
  made->values = make_values (plan, input, cancellable, error);
  if (made->values && lay_out (made, input->generator, error))
    return g_steal_pointer (&made);
  g_prefix_error (error, "workload %s, input %s: ", plan->workload->name, input->array->name);
  return NULL;
}

void
assay_input_free (AssayInput *input)
{
  if (!input)
    return;
  g_clear_pointer (&input->values, assay_array_unref);
  g_clear_pointer (&input->storage, assay_array_unref);
  g_free (input);
}
