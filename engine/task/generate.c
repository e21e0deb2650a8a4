/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/task/generate.h"

#include "engine/base/error.h"
#include "engine/number/block.h"
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

/* ---- blocks with a common scale ---- */

/* A quantised input, its scales, and the values that both come from. */
typedef struct
{
  const AssayPlannedArray *codes, *scales;
  const AssayPlannedArray *whole; /* the tensor's scale; or NULL */
  AssayBlockType type;
} Quantised;

static const AssayPlannedArray *
planned_input (const AssayPlan *plan, const char *name)
{
  for (guint i = 0; name && plan->inputs && i < plan->inputs->len; i++)
    {
      const AssayPlannedArray *input = g_ptr_array_index (plan->inputs, i);
      if (g_str_equal (input->array->name, name))
        return input;
    }
  return NULL;
}

static AssayBlockType
block_type (const AssayPlannedArray *codes, const AssayPlannedArray *scales)
{
  for (int i = 0; i < ASSAY_N_BLOCK_TYPES; i++)
    {
      const AssayBlockFormat *format = assay_block_format ((AssayBlockType) i);
      if ((int) format->element == codes->array->dtype
          && (int) format->scale == scales->array->dtype
          && format->size == codes->array->quant->block)
        return (AssayBlockType) i;
    }
  return ASSAY_BLOCK_UNKNOWN;
}

/* TRUE when this input is one of the three and its values come from blocks: when the workload says nothing of
 * the scales. */
static gboolean
is_quantised (const AssayPlan *plan, const AssayPlannedArray *input, Quantised *out)
{
  const AssayTaskArray *codes = input->array;
  if (!codes->quant)
    codes = assay_workload_scaled_by (plan->task, plan->workload, input->array->name);
  if (!codes || !codes->quant || !codes->quant->scale
      || !assay_workload_scaled_by (plan->task, plan->workload, codes->quant->scale))
    return FALSE;
  out->codes = planned_input (plan, codes->name);
  out->scales = planned_input (plan, codes->quant->scale);
  out->whole = planned_input (plan, codes->quant->tensor_scale);
  return out->codes && out->scales;
}

static gboolean
check_blocks (Quantised *q, GError **error)
{
  const AssayQuant *quant = q->codes->array->quant;
  guint last = q->codes->ndim - 1;
  q->type = block_type (q->codes, q->scales);
  gboolean fits = q->type != ASSAY_BLOCK_UNKNOWN && q->codes->ndim > 0
                  && q->codes->ndim == q->scales->ndim
                  && (quant->axis == -1 || quant->axis == (gint64) last);
  for (guint d = 0; fits && d < last; d++)
    fits = q->codes->shape[d] == q->scales->shape[d];
  if (fits && q->scales->shape[last] == (q->codes->shape[last] + quant->block - 1) / quant->block)
    return TRUE;
  g_set_error (
      error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
      "quant: expected the types and the block of an MX format or NVFP4 along the last axis, "
      "with a scale in %s for each block; found %s and %s in blocks of %" G_GINT64_FORMAT,
      q->scales->array->name, assay_dtype_name ((AssayDtype) q->codes->array->dtype),
      assay_dtype_name ((AssayDtype) q->scales->array->dtype), quant->block);
  return FALSE;
}

static double
largest_of (const AssayArray *values)
{
  double most = 0;
  for (gsize i = 0; i < values->count; i++)
    most = fmax (most, fabs (assay_array_get (values, i)));
  return most;
}

/* Codes and scales of the drawn values, as the format's specification encodes them. */
static void
encode_blocks (const Quantised *q, const AssayArray *values, double whole, AssayArray *codes,
               AssayArray *scales)
{
  gsize columns = (gsize) q->codes->shape[q->codes->ndim - 1];
  gsize size = (gsize) q->codes->array->quant->block, blocks = (columns + size - 1) / size;
  for (gsize row = 0; columns && row < values->count / columns; row++)
    for (gsize block = 0; block < blocks; block++)
      {
        gsize first = row * columns + block * size, n = MIN (size, columns - block * size);
        scales->data[row * blocks + block] = (guint8) assay_block_encode (
            q->type, (const double *) (const void *) values->data + first, n, whole,
            ASSAY_ROUND_NEAREST_EVEN, NULL, codes->data + first);
      }
}

static AssayArray *
make_quantised (const AssayPlan *plan, const AssayPlannedArray *input, Quantised *q,
                GCancellable *cancellable, GError **error)
{
  if (!check_blocks (q, error))
    return NULL;
  g_autoptr (AssayArray) values =
      assay_array_new (ASSAY_DTYPE_FLOAT64, q->codes->shape, q->codes->ndim, error);
  g_autoptr (AssayArray) codes =
      assay_array_new ((AssayDtype) q->codes->array->dtype, q->codes->shape, q->codes->ndim, error);
  g_autoptr (AssayArray) scales = assay_array_new ((AssayDtype) q->scales->array->dtype,
                                                   q->scales->shape, q->scales->ndim, error);
  if (!values || !codes || !scales || !fill (plan, input->generator, values, cancellable, error))
    return NULL;
  double whole = q->whole ? assay_block_tensor_scale (q->type, largest_of (values)) : 1;
  if (input->array == q->codes->array || input->array == q->scales->array)
    {
      encode_blocks (q, values, whole, codes, scales);
      return assay_array_ref (input->array == q->codes->array ? codes : scales);
    }
  AssayArray *one =
      assay_array_new ((AssayDtype) input->array->dtype, input->shape, input->ndim, error);
  for (gsize i = 0; one && i < one->count; i++)
    assay_array_set (one, i, whole);
  return one;
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
  Quantised quantised;
  if (generator && is_quantised (plan, input, &quantised))
    return make_quantised (plan, input, &quantised, cancellable, error);
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
  /* Scales are contiguous, however their elements lie. */
  gboolean scales =
      assay_workload_scaled_by (plan->task, plan->workload, input->array->name) != NULL;
  if (made->values && lay_out (made, scales ? NULL : input->generator, error))
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
