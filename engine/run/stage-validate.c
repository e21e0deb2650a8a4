/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/pipeline.h"

/* Entries that the native worker can run; the others need the Python worker or a whole program. */
static const char *
unsupported_entry (const AssayCandidate *candidate)
{
  switch (candidate->entry.kind)
    {
    case ASSAY_ENTRY_KERNEL:
    case ASSAY_ENTRY_HOST:
      return NULL;
    default:
      return ASSAY_ENTRY_KINDS[candidate->entry.kind];
    }
}

void
assay_case_free (gpointer data)
{
  AssayCase *c = data;
  if (!c)
    return;
  g_clear_pointer (&c->plan, assay_plan_free);
  g_ptr_array_unref (c->inputs);
  g_ptr_array_unref (c->memories);
  g_ptr_array_unref (c->values);
  g_ptr_array_unref (c->references);
  g_ptr_array_unref (c->golds);
  g_ptr_array_unref (c->results);
  g_array_unref (c->never_written);
  g_free (c);
}

static void
free_input (gpointer input)
{
  if (input)
    assay_input_free (input);
}

static void
free_memory (gpointer memory)
{
  if (memory)
    assay_memory_unref (memory);
}

static void
add_axes (AssayCase *c)
{
  GHashTableIter iter;
  gpointer name, value;
  g_hash_table_iter_init (&iter, c->plan->axes);
  while (g_hash_table_iter_next (&iter, &name, &value))
    {
      AssayAxisValue *axis = assay_json_table_new (&ASSAY_AXIS_VALUE_TABLE);
      axis->name = g_strdup (name);
      axis->value = *(gint64 *) value;
      g_ptr_array_add (c->record->axes, axis);
    }
}

AssayCase *
assay_case_new (const AssayWorkload *workload)
{
  AssayCase *c = g_new0 (AssayCase, 1);
  c->workload = workload;
  c->inputs = g_ptr_array_new_with_free_func (free_input);
  c->memories = g_ptr_array_new_with_free_func (free_memory);
  c->values = g_ptr_array_new_with_free_func (free_memory);
  c->references = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_array_unref);
  c->golds = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_gold_values_free);
  c->results = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_array_unref);
  c->never_written = g_array_new (FALSE, FALSE, sizeof (guint64));
  c->record = assay_json_table_new (&ASSAY_WORKLOAD_RECORD_TABLE);
  c->record->name = g_strdup (workload->name);
  c->record->status = ASSAY_WORKLOAD_SKIPPED;
  return c;
}

static gboolean
add_case (AssayPipeline *p, const AssayWorkload *workload, GError **error)
{
  AssayCase *c = assay_case_new (workload);
  g_ptr_array_add (p->cases, c);
  g_ptr_array_add (p->run->workloads, c->record);
  c->plan = assay_plan_new (p->task, workload, error);
  if (!c->plan)
    return FALSE;
  add_axes (c);
  return TRUE;
}

AssayStatus
assay_stage_validate (AssayPipeline *p, char **reason)
{
  g_autoptr (GError) error = NULL;
  p->cases = g_ptr_array_new_with_free_func (assay_case_free);
  for (guint i = 0; i < p->task->workloads->len; i++)
    {
      const AssayWorkload *workload = g_ptr_array_index (p->task->workloads, i);
      if (assay_workload_is_for (workload, "check") && !add_case (p, workload, &error))
        {
          *reason = g_strdup (error->message);
          return ASSAY_STATUS_ERROR;
        }
    }
  const char *entry = unsupported_entry (p->candidate);
  if (entry)
    {
      *reason =
          g_strdup_printf ("candidate %s: entries of kind \"%s\" cannot be run by this version",
                           p->candidate->name, entry);
      return ASSAY_STATUS_ERROR;
    }
  if (p->cases->len == 0)
    {
      *reason = g_strdup ("the task has no workload for checking");
      return ASSAY_STATUS_FAILED;
    }
  return ASSAY_STATUS_PASSED;
}
