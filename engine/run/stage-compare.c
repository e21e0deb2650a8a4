/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/cross-check.h"
#include "engine/run/downgrade.h"

#include "engine/base/error.h"
#include "engine/numerics/compare.h"
#include "engine/numerics/density.h"

static char *
write_array (AssayPipeline *p, const AssayCase *c, const char *kind, const char *output,
             const AssayArray *array)
{
  const char *ending = assay_array_npy_has (array->dtype) ? "npy" : "safetensors";
  g_autofree char *name = g_strdup_printf ("%s-%s-%s.%s", c->workload->name, output, kind, ending);
  g_autofree char *relative = assay_pipeline_relative ("arrays", name);
  g_autofree char *path = g_build_filename (p->folder, relative, NULL);
  GError *error = NULL;
  if (assay_array_save (array, path, &error))
    return g_steal_pointer (&relative);
  assay_pipeline_unsaved (p, error);
  return NULL;
}

static AssayArray *
gold_array (const AssayGoldValues *gold, const AssayArray *like)
{
  AssayArray *array = assay_array_new (like->dtype, like->shape, like->ndim, NULL);
  AssayDtype component = assay_dtype_component (like->dtype);
  for (gsize i = 0; array && i < assay_array_components (array); i++)
    assay_dtype_store (
        component, array->data, i,
        assay_dtype_encode_pair (component, gold->high[i], gold->low ? gold->low[i] : 0));
  return array;
}

/* The task's own reference against gold, judged by the task's own rule. */
static AssayGold *
describe_gold (AssayPipeline *p, const AssayGoldValues *values, const AssayArray *reference,
               const AssayTolerance *tolerance, const AssayCompareInput *like)
{
  AssayGold *gold = assay_json_table_new (&ASSAY_GOLD_TABLE);
  g_autoptr (AssayArray) rounded = gold_array (values, reference);
  gold->method = g_strdup (values->method);
  gold->stable = values->stable;
  gold->rung_difference_ulp = values->rung_difference_ulp;
  AssayCompareInput input = {
      .candidate = reference,
      .reference = rounded,
      .gold = values->high,
      .gold_low = values->low,
      .tolerance = tolerance,
      .scale = like->scale,
      .scale_name = like->scale_name,
  };
  if (rounded)
    gold->reference = assay_compare (&input, p->cancellable, NULL);
  return gold;
}

/* Errors over the size of the result, and over the first floating input of the output's shape. */
static void
add_densities (AssayPipeline *p, const AssayCase *c, const AssayCompareInput *input,
               AssayOutput *output)
{
  AssayDensity *density = assay_density_by_magnitude (input, p->cancellable);
  if (density)
    g_ptr_array_add (output->densities, density);
  for (guint i = 0; density && i < c->plan->inputs->len; i++)
    {
      const AssayPlannedArray *planned = g_ptr_array_index (c->plan->inputs, i);
      const AssayInput *values = g_ptr_array_index (c->inputs, i);
      if (!values || planned->scalar || !assay_dtype_is_float (planned->array->dtype)
          || !assay_array_same_shape (values->values, input->candidate))
        continue;
      density =
          assay_density_by_input (input, values->values, planned->array->name, p->cancellable);
      if (density)
        g_ptr_array_add (output->densities, density);
      return;
    }
}

/* FALSE with `reason` when this output cannot be compared at all. */
static gboolean
compare_output (AssayPipeline *p, AssayCase *c, guint index, const GPtrArray *scales,
                const GPtrArray *crosses, char **reason)
{
  g_autoptr (GError) error = NULL;
  const AssayPlannedArray *planned = g_ptr_array_index (c->plan->outputs, index);
  const char *name = planned->array->name;
  const AssayArray *candidate = g_ptr_array_index (c->results, index);
  const AssayArray *reference = g_ptr_array_index (c->references, index);
  const AssayGoldValues *gold = index < c->golds->len ? g_ptr_array_index (c->golds, index) : NULL;
  AssayOutput *output = assay_json_table_new (&ASSAY_OUTPUT_TABLE);
  g_ptr_array_add (c->record->outputs, output);
  output->name = g_strdup (name);
  output->dtype = g_strdup (assay_dtype_name (planned->array->dtype));
  g_array_append_vals (output->shape, planned->shape, planned->ndim);
  if (index < c->never_written->len)
    output->never_written = g_array_index (c->never_written, guint64, index);
  output->array = write_array (p, c, "candidate", name, candidate);
  g_free (write_array (p, c, "reference", name, reference));
  output->tolerance = assay_task_tolerance (p->task, c->workload, name, &error);
  const AssayArray *scale = scales ? g_ptr_array_index (scales, index) : NULL;
  AssayCompareInput input = {
      .candidate = candidate,
      .reference = reference,
      .gold = gold ? gold->high : NULL,
      .gold_low = gold ? gold->low : NULL,
      .scale = scale ? (const double *) (const void *) scale->data : NULL,
      .scale_name = "the reference on the magnitudes of its inputs",
      .tolerance = output->tolerance,
  };
  if (output->tolerance)
    output->comparison = assay_compare (&input, p->cancellable, &error);
  if (!output->comparison)
    {
      *reason = g_strdup (error->message);
      return FALSE;
    }
  add_densities (p, c, &input, output);
  if (crosses)
    output->cross_check = assay_cross_check_judge (p, g_ptr_array_index (crosses, index), reference,
                                                   candidate, output->tolerance);
  if (gold)
    output->gold = describe_gold (p, gold, reference, output->tolerance, &input);
  if (!output->comparison->accepted && !*reason)
    *reason = g_strdup_printf ("%s: %s", name, output->comparison->verdict);
  return TRUE;
}

static void
compare_outputs (AssayPipeline *p, AssayCase *c)
{
  gboolean comparable = TRUE, accepted = TRUE;
  g_autofree char *reason = NULL;
  g_autoptr (GPtrArray) scales = assay_condition_scales (p, c);
  g_autoptr (GPtrArray) crosses = assay_cross_check_run (p, c);
  for (guint i = 0; i < c->results->len && comparable; i++)
    {
      comparable = compare_output (p, c, i, scales, crosses, &reason);
      const AssayOutput *output = g_ptr_array_index (c->record->outputs, i);
      accepted = accepted && comparable && output->comparison->accepted;
    }
  c->record->status = !comparable ? ASSAY_WORKLOAD_INCONCLUSIVE
                      : accepted  ? ASSAY_WORKLOAD_PASSED
                                  : ASSAY_WORKLOAD_INCORRECT_NUMERICAL;
  if (reason)
    {
      g_free (c->record->reason);
      c->record->reason = g_steal_pointer (&reason);
    }
}

void
assay_case_compare (AssayPipeline *p, AssayCase *c)
{
  if (c->record->status == ASSAY_WORKLOAD_PASSED && c->results->len > 0)
    compare_outputs (p, c);
  assay_events_add_record (p->events, "workload",
                           assay_json_table_write (&ASSAY_WORKLOAD_RECORD_TABLE, c->record));
}

AssayStatus
assay_stage_compare (AssayPipeline *p, char **reason)
{
  guint compared = 0, wrong = 0;
  for (guint i = 0; i < p->cases->len; i++)
    {
      const AssayCase *c = g_ptr_array_index (p->cases, i);
      compared += c->record->outputs->len > 0;
      wrong += c->record->status == ASSAY_WORKLOAD_INCORRECT_NUMERICAL;
    }
  if (compared == 0)
    {
      *reason = g_strdup ("no workload gave results");
      return ASSAY_STATUS_SKIPPED;
    }
  if (wrong == 0)
    return ASSAY_STATUS_PASSED;
  *reason = g_strdup_printf ("%u of %u workloads miss the tolerance", wrong, compared);
  return ASSAY_STATUS_FAILED;
}
