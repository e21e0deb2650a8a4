/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/downgrade.h"

#include <math.h>
#include <string.h>

/* Beyond this the reference, which is written to be read, takes too long for a side question. */
#define MOST_COMPONENTS ((gsize) 1 << 20)

static void
downgrade_free (gpointer data)
{
  AssayDowngrade *downgrade = data;
  g_free (downgrade->name);
  g_clear_pointer (&downgrade->outputs, g_ptr_array_unref);
  g_free (downgrade);
}

static void
unref_memory (gpointer data)
{
  if (data)
    assay_memory_unref (data);
}

/* The array with every component rounded to `lower`, as memory; NULL when nothing changes. */
static AssayMemory *
rounded (const char *name, const AssayArray *array, AssayDtype lower)
{
  g_autoptr (AssayArray) copy = assay_array_copy (array, NULL);
  gsize n = copy ? assay_array_components (copy) : 0;
  for (gsize i = 0; i < n; i++)
    {
      double value =
          assay_dtype_decode (lower, assay_dtype_encode (lower, assay_array_get (array, i)));
      assay_array_set (copy, i, value);
    }
  if (!copy || memcmp (copy->data, array->data, array->bytes) == 0)
    return NULL;
  return assay_memory_new_from_data (name, copy->data, copy->bytes, NULL);
}

/* The case's values with those inputs rounded for which `lower` is lower; NULL when none is. */
static GPtrArray *
lower_values (AssayPipeline *p, AssayCase *c, AssayDtype lower)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (unref_memory);
  gboolean changed = FALSE;
  for (guint i = 0; i < c->plan->inputs->len; i++)
    {
      const AssayPlannedArray *planned = g_ptr_array_index (c->plan->inputs, i);
      const AssayInput *input = g_ptr_array_index (c->inputs, i);
      AssayMemory *own = g_ptr_array_index (c->values, i);
      AssayDtype types[ASSAY_N_DTYPES];
      gboolean tf32 = assay_task_promise (p->task->numerics.tf32) == 1;
      guint n =
          assay_probes_lower_types (planned->array->dtype, p->task->numerics.compute, tf32, types);
      AssayMemory *replaced = NULL;
      for (guint k = 0; k < n && input && own; k++)
        if (types[k] == lower)
          replaced = rounded (planned->array->name, input->values, lower);
      changed |= replaced != NULL;
      g_ptr_array_add (values, replaced ? replaced : own ? assay_memory_ref (own) : NULL);
    }
  return changed ? g_steal_pointer (&values) : NULL;
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
assay_downgrades_run (AssayPipeline *p, AssayCase *c)
{
  static const AssayDtype LOWER[] = {ASSAY_DTYPE_TFLOAT32, ASSAY_DTYPE_BFLOAT16,
                                     ASSAY_DTYPE_FLOAT8_E4M3FN};
  GPtrArray *list = g_ptr_array_new_with_free_func (downgrade_free);
  AssayReal real = MAX (assay_reference_task_rung (p->task), ASSAY_REAL_DOUBLE);
  gboolean small = size_of (c) <= MOST_COMPONENTS;
  for (gsize i = 0; i < G_N_ELEMENTS (LOWER) && small && !assay_pipeline_cancelled (p); i++)
    {
      g_autoptr (GPtrArray) values = lower_values (p, c, LOWER[i]);
      g_autoptr (GPtrArray) outputs =
          values ? assay_reference_run_with (p, c, real, values, FALSE) : NULL;
      if (!outputs)
        continue;
      AssayDowngrade *downgrade = g_new0 (AssayDowngrade, 1);
      downgrade->name = g_strdup_printf ("inputs rounded to %s", assay_dtype_name (LOWER[i]));
      downgrade->outputs = g_steal_pointer (&outputs);
      g_ptr_array_add (list, downgrade);
    }
  return list;
}

static AssayMemory *
magnitudes (const char *name, const AssayArray *array)
{
  g_autoptr (AssayArray) copy = assay_array_copy (array, NULL);
  gsize n = copy ? assay_array_components (copy) : 0;
  for (gsize i = 0; i < n; i++)
    assay_array_set (copy, i, fabs (assay_array_get (array, i)));
  return copy ? assay_memory_new_from_data (name, copy->data, copy->bytes, NULL) : NULL;
}

GPtrArray *
assay_condition_scales (AssayPipeline *p, AssayCase *c)
{
  if (g_strcmp0 (p->task->numerics.scale, "absolute_inputs") != 0 || size_of (c) > MOST_COMPONENTS)
    return NULL;
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (unref_memory);
  for (guint i = 0; i < c->plan->inputs->len; i++)
    {
      const AssayPlannedArray *planned = g_ptr_array_index (c->plan->inputs, i);
      const AssayInput *input = g_ptr_array_index (c->inputs, i);
      AssayMemory *own = g_ptr_array_index (c->values, i);
      gboolean real = input && own && assay_dtype_is_float (planned->array->dtype);
      g_ptr_array_add (values, real  ? magnitudes (planned->array->name, input->values)
                               : own ? assay_memory_ref (own)
                                     : NULL);
    }
  return assay_reference_run_with (p, c, ASSAY_REAL_DOUBLE, values, TRUE);
}
