/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/checker.h"
#include "engine/run/orders.h"
#include "engine/run/redraw.h"
#include "engine/run/sensitivity.h"

#include "engine/base/error.h"
#include "engine/numerics/gate-facts.h"

#include <string.h>

/* What another workload's run would leave behind in a buffer that is used again. */
static const AssayArray *
stale_result (const AssayPipeline *p, const AssayCase *c, guint output)
{
  const AssayArray *own = g_ptr_array_index (c->references, output);
  for (guint i = 0; i < p->cases->len; i++)
    {
      const AssayCase *other = g_ptr_array_index (p->cases, i);
      const AssayArray *candidate =
          output < other->references->len ? g_ptr_array_index (other->references, output) : NULL;
      if (other != c && candidate && candidate->dtype == own->dtype
          && assay_array_same_shape (candidate, own)
          && memcmp (candidate->data, own->data, own->bytes) != 0)
        return candidate;
    }
  return NULL;
}

static gboolean
probe_output (AssayPipeline *p, AssayCase *c, guint index, const GPtrArray *downgrades,
              const GPtrArray *redraws, const GPtrArray *orders, AssayCorruptions *corruptions,
              AssayAudit *audit, GError **error)
{
  const AssayPlannedArray *planned = g_ptr_array_index (c->plan->outputs, index);
  const AssayGoldValues *gold = index < c->golds->len ? g_ptr_array_index (c->golds, index) : NULL;
  g_autoptr (AssayTolerance) tolerance =
      assay_task_tolerance (p->task, c->workload, planned->array->name, error);
  g_autofree AssayProbeInput *inputs = g_new0 (AssayProbeInput, c->plan->inputs->len + 1);
  g_autofree AssayProbeAnswer *answers =
      g_new0 (AssayProbeAnswer, downgrades->len + redraws->len + orders->len + 1);
  guint count = 0, planted = 0;
  for (guint i = 0; i < downgrades->len; i++)
    {
      const AssayDowngrade *downgrade = g_ptr_array_index (downgrades, i);
      answers[planted++] = (AssayProbeAnswer) {ASSAY_PROBE_DOWNGRADE, downgrade->name, "precision",
                                               g_ptr_array_index (downgrade->outputs, index)};
    }
  for (guint i = 0; i < redraws->len; i++)
    {
      const AssayRedraw *redraw = g_ptr_array_index (redraws, i);
      answers[planted++] = (AssayProbeAnswer) {ASSAY_PROBE_MUTANT, redraw->name, "input",
                                               g_ptr_array_index (redraw->outputs, index)};
    }
  for (guint i = 0; i < orders->len; i++)
    {
      const AssayOrder *order = g_ptr_array_index (orders, i);
      if (order->output == index && order->array)
        answers[planted++] =
            (AssayProbeAnswer) {order->kind, order->name, order->family, order->array};
    }
  for (guint i = 0; i < c->plan->inputs->len; i++)
    {
      const AssayPlannedArray *input = g_ptr_array_index (c->plan->inputs, i);
      const AssayInput *values = g_ptr_array_index (c->inputs, i);
      if (values && !input->scalar)
        inputs[count++] = (AssayProbeInput) {input->array->name, values->values};
    }
  AssayProbesInput probes = {
      .workload = c->workload->name,
      .output = planned->array->name,
      .reference = g_ptr_array_index (c->references, index),
      .gold = gold ? gold->high : NULL,
      .gold_low = gold ? gold->low : NULL,
      .tolerance = tolerance,
      .inputs = inputs,
      .n_inputs = count,
      .stale = stale_result (p, c, index),
      .answers = answers,
      .n_answers = planted,
      .compute = p->task->numerics.compute,
      .candidate = index < c->results->len ? g_ptr_array_index (c->results, index) : NULL,
      .tf32_allowed = assay_task_promise (p->task->numerics.tf32) == 1,
  };
  if (!tolerance)
    return FALSE;
  if (corruptions && assay_corruptions_begin (corruptions, c, index))
    {
      probes.seen = assay_corruptions_add;
      probes.seen_data = corruptions;
    }
  g_ptr_array_add (audit->gates,
                   assay_gate_facts (probes.reference, tolerance, probes.workload, probes.output));
  return assay_probes_run (&probes, audit, p->cancellable, error);
}

AssayStatus
assay_stage_audit (AssayPipeline *p, char **reason)
{
  g_autoptr (GError) error = NULL;
  AssayAudit *audit = assay_audit_new ();
  g_autoptr (AssayCorruptions) corruptions = assay_corruptions_new (p);
  p->run->audit = audit;
  for (guint i = 0; i < p->cases->len && !assay_pipeline_cancelled (p); i++)
    {
      AssayCase *c = g_ptr_array_index (p->cases, i);
      assay_pipeline_progress (p, (double) i / p->cases->len, "planted answers for %s",
                               c->workload->name);
      g_autoptr (GPtrArray) downgrades = assay_downgrades_run (p, c);
      g_autoptr (GPtrArray) redraws = assay_redraws_run (p, c);
      g_autoptr (GPtrArray) orders = assay_orders_run (p, c);
      for (guint k = 0; k < c->references->len; k++)
        if (!probe_output (p, c, k, downgrades, redraws, orders, corruptions, audit, &error))
          {
            *reason = g_strdup (error->message);
            assay_audit_conclude (audit);
            return g_error_matches (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED)
                       ? ASSAY_STATUS_SKIPPED
                       : ASSAY_STATUS_ERROR;
          }
    }
  if (corruptions && !assay_pipeline_cancelled (p))
    assay_corruptions_judge (corruptions, audit);
  assay_sensitivity_run (p, audit);
  assay_audit_conclude (audit);
  assay_events_add_record (p->events, "audit", assay_json_table_write (&ASSAY_AUDIT_TABLE, audit));
  if (audit->probes->len == 0)
    {
      *reason = g_strdup ("no reference values to plant answers against");
      return ASSAY_STATUS_SKIPPED;
    }
  if (g_strcmp0 (audit->grade, "sound") == 0)
    return ASSAY_STATUS_PASSED;
  *reason = g_strdup (audit->summary);
  return ASSAY_STATUS_FAILED;
}
