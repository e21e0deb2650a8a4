/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/sensitivity.h"

#include "engine/numerics/probes.h"

#define MOST_COMPONENTS ((gsize) 1 << 18)

static const struct
{
  const char *name;
  int distribution;
  double low, high, mean, std;
} DISTRIBUTIONS[] = {
    {"normal, std 1", ASSAY_DISTRIBUTION_NORMAL, 0, 1, 0, 1},
    {"normal, std 0.02", ASSAY_DISTRIBUTION_NORMAL, 0, 1, 0, 0.02},
    {"uniform, 0 to 1", ASSAY_DISTRIBUTION_UNIFORM, 0, 1, 0, 1},
    {"heavy tail", ASSAY_DISTRIBUTION_HEAVY_TAIL, 0, 1, 0, 1},
};

static gboolean
is_drawn (const AssayPlannedArray *planned)
{
  return planned->generator && !planned->scalar && assay_dtype_is_float (planned->array->dtype)
         && planned->generator->type == ASSAY_GENERATOR_RANDOM;
}

static gsize
size_of (const AssayPlan *plan)
{
  gsize size = 0;
  for (guint i = 0; i < plan->inputs->len; i++)
    size += ((AssayPlannedArray *) g_ptr_array_index (plan->inputs, i))->count;
  for (guint i = 0; i < plan->outputs->len; i++)
    size += ((AssayPlannedArray *) g_ptr_array_index (plan->outputs, i))->count;
  return size;
}

static const AssayCase *
smallest_case (const AssayPipeline *p)
{
  const AssayCase *smallest = NULL;
  for (guint i = 0; i < p->cases->len; i++)
    {
      const AssayCase *c = g_ptr_array_index (p->cases, i);
      if (c->references->len > 0 && (!smallest || size_of (c->plan) < size_of (smallest->plan)))
        smallest = c;
    }
  return smallest && size_of (smallest->plan) <= MOST_COMPONENTS ? smallest : NULL;
}

/* The workload with its drawn inputs drawn otherwise; FALSE where it has none. */
static gboolean
redistribute (const AssayCase *base, gsize which, AssayWorkload *workload)
{
  gboolean any = FALSE;
  *workload = *base->workload;
  workload->inputs = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < base->workload->inputs->len; i++)
    g_ptr_array_add (workload->inputs, g_memdup2 (g_ptr_array_index (base->workload->inputs, i),
                                                  sizeof (AssayGenerator)));
  for (guint i = 0; i < base->plan->inputs->len; i++)
    {
      const AssayPlannedArray *planned = g_ptr_array_index (base->plan->inputs, i);
      AssayGenerator *generator =
          (AssayGenerator *) assay_workload_generator (workload, planned->array->name);
      if (!is_drawn (planned) || !generator)
        continue;
      generator->distribution = DISTRIBUTIONS[which].distribution;
      generator->low = DISTRIBUTIONS[which].low;
      generator->high = DISTRIBUTIONS[which].high;
      generator->mean = DISTRIBUTIONS[which].mean;
      generator->std = DISTRIBUTIONS[which].std;
      any = TRUE;
    }
  return any;
}

static void
judge_output (AssayPipeline *p, const AssayCase *c, guint i, AssayAudit *scratch)
{
  const AssayPlannedArray *planned = g_ptr_array_index (c->plan->outputs, i);
  const AssayGoldValues *gold = i < c->golds->len ? g_ptr_array_index (c->golds, i) : NULL;
  g_autoptr (AssayTolerance) tolerance =
      assay_task_tolerance (p->task, c->workload, planned->array->name, NULL);
  if (!gold || !gold->stable || !tolerance)
    return;
  AssayProbesInput probes = {
      .workload = c->workload->name,
      .output = planned->array->name,
      .reference = g_ptr_array_index (c->references, i),
      .gold = gold->high,
      .gold_low = gold->low,
      .tolerance = tolerance,
      .compute = p->task->numerics.compute,
      .tf32_allowed = assay_task_promise (p->task->numerics.tf32) == 1,
  };
  assay_probes_run (&probes, scratch, p->cancellable, NULL);
}

static void
record (AssayAudit *audit, const AssayAudit *scratch, const char *name, const char *workload)
{
  AssaySensitivity *entry = assay_json_table_new (&ASSAY_SENSITIVITY_TABLE);
  entry->name = g_strdup (name);
  entry->workload = g_strdup (workload);
  for (guint i = 0; i < scratch->families->len; i++)
    {
      const AssayFamily *family = g_ptr_array_index (scratch->families, i);
      *(family->right ? &entry->right : &entry->wrong) += family->planted;
      *(family->right ? &entry->rejected : &entry->killed) += family->refused;
    }
  if (entry->wrong > 0)
    g_ptr_array_add (audit->sensitivity, entry);
  else
    assay_json_table_free (&ASSAY_SENSITIVITY_TABLE, entry);
}

static void
try_distribution (AssayPipeline *p, AssayAudit *audit, const AssayCase *base, gsize which)
{
  AssayWorkload workload;
  g_autofree char *reason = NULL;
  guint failures = p->facts.failures->len;
  if (redistribute (base, which, &workload))
    {
      g_autoptr (AssayAudit) scratch = assay_audit_new ();
      AssayCase *c = assay_case_new (&workload);
      AssayWorkloadRecord *own = c->record;
      c->plan = assay_plan_new (p->task, &workload, NULL);
      if (c->plan && assay_case_generate (p, c, NULL) && assay_reference_run (p, c, &reason))
        for (guint i = 0; i < c->references->len; i++)
          judge_output (p, c, i, scratch);
      g_ptr_array_set_size (p->facts.failures, (int) failures);
      assay_audit_conclude (scratch);
      record (audit, scratch, DISTRIBUTIONS[which].name, base->workload->name);
      assay_case_free (c);
      assay_json_table_free (&ASSAY_WORKLOAD_RECORD_TABLE, own);
    }
  g_ptr_array_unref (workload.inputs);
}

void
assay_sensitivity_run (AssayPipeline *p, AssayAudit *audit)
{
  const AssayCase *base = smallest_case (p);
  for (gsize i = 0; base && i < G_N_ELEMENTS (DISTRIBUTIONS) && !assay_pipeline_cancelled (p); i++)
    try_distribution (p, audit, base, i);
}
