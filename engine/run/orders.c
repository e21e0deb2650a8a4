/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/orders.h"

#include "engine/numerics/contraction.h"
#include "engine/run/downgrade.h"

#include <string.h>

#define ORDERS 3
#define MOST_COMPONENTS ((gsize) 1 << 20)
#define MOST_PRODUCTS ((gsize) 1 << 26)

static void
order_free (gpointer data)
{
  AssayOrder *order = data;
  g_free (order->name);
  g_clear_pointer (&order->array, assay_array_unref);
  g_free (order);
}

static void
unref_memory (gpointer data)
{
  if (data)
    assay_memory_unref (data);
}

/* ---- the reference in another order ---- */

/* The axis along which the order of `name` is free, or -1. */
static int
free_axis (const AssayTask *task, const char *name, const AssayPlannedArray *planned)
{
  JsonNode *node = task->numerics.free_order;
  JsonObject *object = node && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  if (!object || !json_object_has_member (object, name))
    return -1;
  gint64 axis = json_object_get_int_member_with_default (object, name, -1);
  return axis >= 0 && axis < planned->ndim ? (int) axis : -1;
}

/* The common extent of all free axes; 0 where there is none. */
static gint64
free_extent (const AssayPipeline *p, const AssayCase *c)
{
  gint64 extent = 0;
  const GPtrArray *lists[] = {c->plan->inputs, c->plan->outputs};
  for (int l = 0; l < 2; l++)
    for (guint i = 0; i < lists[l]->len; i++)
      {
        const AssayPlannedArray *planned = g_ptr_array_index (lists[l], i);
        int axis = free_axis (p->task, planned->array->name, planned);
        if (axis < 0)
          continue;
        if (extent && extent != planned->shape[axis])
          return 0;
        extent = planned->shape[axis];
      }
  return extent;
}

/* Fisher and Yates, by the generator of inputs: the same on every machine. */
static gint64 *
permutation (gint64 n, guint64 seed)
{
  gint64 *order = g_new (gint64, n);
  guint64 key = assay_draw_key (seed, "order");
  for (gint64 i = 0; i < n; i++)
    order[i] = i;
  for (gint64 i = n - 1; i > 0; i--)
    {
      gint64 k = (gint64) (assay_draw_bits (key, (guint64) i) % (guint64) (i + 1));
      gint64 held = order[i];
      order[i] = order[k];
      order[k] = held;
    }
  return order;
}

/* Item i along the axis goes to order[i], or comes from there. */
static void
reorder (const guint8 *from, guint8 *into, const gint64 *shape, guint ndim, int axis, gsize item,
         const gint64 *order, gboolean back)
{
  gsize inner = item, outer = 1;
  for (guint d = 0; d < ndim; d++)
    if ((int) d < axis)
      outer *= (gsize) shape[d];
    else if ((int) d > axis)
      inner *= (gsize) shape[d];
  gsize extent = (gsize) shape[axis];
  for (gsize o = 0; o < outer; o++)
    for (gsize i = 0; i < extent; i++)
      {
        gsize k = (gsize) order[i];
        memcpy (into + (o * extent + (back ? i : k)) * inner,
                from + (o * extent + (back ? k : i)) * inner, inner);
      }
}

static AssayMemory *
reordered (const AssayPlannedArray *planned, const AssayArray *values, int axis,
           const gint64 *order)
{
  g_autofree guint8 *data = g_malloc (MAX (values->bytes, 1));
  gsize item = values->bytes / MAX (values->count, 1);
  reorder (values->data, data, planned->shape, planned->ndim, axis, item, order, FALSE);
  return assay_memory_new_from_data (planned->array->name, data, values->bytes, NULL);
}

static GPtrArray *
inputs_in_order (AssayPipeline *p, AssayCase *c, const gint64 *order)
{
  GPtrArray *values = g_ptr_array_new_with_free_func (unref_memory);
  for (guint i = 0; i < c->plan->inputs->len; i++)
    {
      const AssayPlannedArray *planned = g_ptr_array_index (c->plan->inputs, i);
      const AssayInput *input = g_ptr_array_index (c->inputs, i);
      AssayMemory *own = g_ptr_array_index (c->values, i);
      int axis = input ? free_axis (p->task, planned->array->name, planned) : -1;
      g_ptr_array_add (values, axis >= 0 ? reordered (planned, input->values, axis, order)
                               : own     ? assay_memory_ref (own)
                                         : NULL);
    }
  return values;
}

static AssayArray *
output_in_order (AssayPipeline *p, const AssayPlannedArray *planned, AssayArray *array,
                 const gint64 *order)
{
  int axis = free_axis (p->task, planned->array->name, planned);
  if (axis < 0)
    return assay_array_ref (array);
  AssayArray *back = assay_array_copy (array, NULL);
  if (back)
    reorder (array->data, back->data, planned->shape, planned->ndim, axis,
             array->bytes / MAX (array->count, 1), order, TRUE);
  return back;
}

static void
add_orders (AssayPipeline *p, AssayCase *c, GPtrArray *list)
{
  gint64 extent = free_extent (p, c);
  for (guint64 seed = 1; extent > 1 && seed <= ORDERS && !assay_pipeline_cancelled (p); seed++)
    {
      g_autofree gint64 *order = permutation (extent, seed);
      g_autoptr (GPtrArray) values = inputs_in_order (p, c, order);
      g_autoptr (GPtrArray) outputs =
          assay_reference_run_with (p, c, assay_reference_task_rung (p->task), values, FALSE);
      for (guint i = 0; outputs && i < outputs->len; i++)
        {
          AssayOrder *answer = g_new0 (AssayOrder, 1);
          answer->kind = ASSAY_PROBE_HONEST;
          answer->name = g_strdup_printf ("reference in another order, seed %d", (int) seed);
          answer->family = "order";
          answer->output = i;
          answer->array = output_in_order (p, g_ptr_array_index (c->plan->outputs, i),
                                           g_ptr_array_index (outputs, i), order);
          g_ptr_array_add (list, answer);
        }
    }
}

/* ---- sums of products ---- */

/* The first two floating arrays that fit the letters, in the order of the task. */
static gboolean
find_operands (AssayCase *c, AssayContraction *contraction, const AssayArray *result,
               const AssayArray *operands[2])
{
  for (guint i = 0; i < c->inputs->len; i++)
    for (guint k = 0; k < c->inputs->len; k++)
      {
        const AssayInput *a = g_ptr_array_index (c->inputs, i);
        const AssayInput *b = g_ptr_array_index (c->inputs, k);
        if (i == k || !a || !b || !a->values->ndim || !b->values->ndim
            || !assay_contraction_fits (contraction, a->values, b->values, result))
          continue;
        operands[0] = a->values;
        operands[1] = b->values;
        return TRUE;
      }
  return FALSE;
}

static void
add_sums (AssayPipeline *p, AssayCase *c, GPtrArray *list)
{
  const char *text = p->task->numerics.contraction;
  g_autoptr (AssayContraction) contraction = text ? assay_contraction_new (text, NULL) : NULL;
  AssayDtype accumulate = assay_dtype_from_name (p->task->numerics.accumulate);
  const AssayArray *operands[2];
  if (!contraction || c->references->len != 1
      || !find_operands (c, contraction, g_ptr_array_index (c->references, 0), operands)
      || assay_contraction_products (contraction) > MOST_PRODUCTS)
    return;
  for (gsize i = 0; i < ASSAY_N_SUMMATIONS && !assay_pipeline_cancelled (p); i++)
    {
      const AssaySummation *summation = &ASSAY_SUMMATIONS[i];
      if (!assay_summation_applies (summation, operands[0]->dtype, operands[1]->dtype, accumulate))
        continue;
      AssayArray *array =
          assay_contraction_run (contraction, summation, operands[0], operands[1],
                                 g_ptr_array_index (c->references, 0), 0, p->cancellable);
      if (!array)
        continue;
      AssayOrder *answer = g_new0 (AssayOrder, 1);
      answer->kind = (AssayProbeKind) summation->kind;
      answer->name = g_strdup (summation->name);
      answer->family = summation->family;
      answer->array = array;
      g_ptr_array_add (list, answer);
    }
}

static gsize
size_of (const AssayCase *c)
{
  gsize size = 0;
  for (guint i = 0; i < c->plan->inputs->len; i++)
    size += ((AssayPlannedArray *) g_ptr_array_index (c->plan->inputs, i))->count;
  for (guint i = 0; i < c->plan->outputs->len; i++)
    size += ((AssayPlannedArray *) g_ptr_array_index (c->plan->outputs, i))->count;
  return size;
}

GPtrArray *
assay_orders_run (AssayPipeline *p, AssayCase *c)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (order_free);
  if (size_of (c) <= MOST_COMPONENTS)
    add_orders (p, c, list);
  add_sums (p, c, list);
  return list;
}
