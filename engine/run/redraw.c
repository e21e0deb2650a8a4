/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/redraw.h"

#include <string.h>

/* Beyond this the reference, which is written to be read, takes too long for a side question. */
#define MOST_COMPONENTS ((gsize) 1 << 20)
#define OTHER_SEED 1000003

static void
unref_memory (gpointer data)
{
  if (data)
    assay_memory_unref (data);
}

static gboolean
is_small (const AssayCase *c)
{
  gsize size = 0;
  for (guint i = 0; i < c->plan->inputs->len; i++)
    size += ((AssayPlannedArray *) g_ptr_array_index (c->plan->inputs, i))->count;
  for (guint i = 0; i < c->plan->outputs->len; i++)
    size += ((AssayPlannedArray *) g_ptr_array_index (c->plan->outputs, i))->count;
  return size <= MOST_COMPONENTS;
}

/* The values that another seed gives for this input; NULL where they are not drawn, or are the same. */
static AssayMemory *
drawn_again (AssayPipeline *p, const AssayCase *c, guint index)
{
  AssayPlannedArray planned = *(AssayPlannedArray *) g_ptr_array_index (c->plan->inputs, index);
  const AssayInput *own = g_ptr_array_index (c->inputs, index);
  if (!planned.generator || planned.scalar || planned.generator->type != ASSAY_GENERATOR_RANDOM)
    return NULL;
  AssayGenerator generator = *planned.generator;
  AssayPlan plan = *c->plan;
  AssayWorkload workload = *c->workload;
  workload.seed += OTHER_SEED;
  generator.layout = ASSAY_LAYOUT_CONTIGUOUS;
  planned.generator = &generator;
  plan.workload = &workload;
  g_autoptr (AssayInput) other = assay_generate (&plan, &planned, p->cancellable, NULL);
  if (!other || !own || memcmp (other->values->data, own->values->data, own->values->bytes) == 0)
    return NULL;
  return assay_memory_new_from_data (planned.array->name, other->values->data, other->values->bytes,
                                     NULL);
}

/* Whether the reference is given this input at all; what it does not read, it cannot depend on. */
static gboolean
is_read (const AssayPipeline *p, const char *name)
{
  g_autoptr (GPtrArray) arguments = assay_reference_arguments (p->task, p->task->reference, NULL);
  for (guint i = 0; arguments && i < arguments->len; i++)
    if (g_str_equal (((AssayReferenceArgument *) g_ptr_array_index (arguments, i))->name, name))
      return TRUE;
  return FALSE;
}

static void
answer_free (gpointer data)
{
  AssayRedraw *redraw = data;
  g_free (redraw->name);
  g_clear_pointer (&redraw->outputs, g_ptr_array_unref);
  g_free (redraw);
}

static AssayRedraw *
redraw (AssayPipeline *p, AssayCase *c, guint index)
{
  const AssayPlannedArray *planned = g_ptr_array_index (c->plan->inputs, index);
  AssayMemory *other = is_read (p, planned->array->name) ? drawn_again (p, c, index) : NULL;
  if (!other)
    return NULL;
  AssayReal real = MAX (assay_reference_task_rung (p->task), ASSAY_REAL_DOUBLE);
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (unref_memory);
  for (guint i = 0; i < c->values->len; i++)
    {
      AssayMemory *own = g_ptr_array_index (c->values, i);
      g_ptr_array_add (values, i == index ? other : own ? assay_memory_ref (own) : NULL);
    }
  GPtrArray *outputs = assay_reference_run_with (p, c, real, values, FALSE);
  if (!outputs)
    return NULL;
  AssayRedraw *answer = g_new0 (AssayRedraw, 1);
  answer->name = g_strdup_printf (ASSAY_PROBE_REDRAWN "%s", planned->array->name);
  answer->outputs = outputs;
  return answer;
}

GPtrArray *
assay_redraws_run (AssayPipeline *p, AssayCase *c)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (answer_free);
  for (guint i = 0; i < c->plan->inputs->len && is_small (c) && !assay_pipeline_cancelled (p); i++)
    {
      AssayRedraw *answer = redraw (p, c, i);
      if (answer)
        g_ptr_array_add (list, answer);
    }
  return list;
}
