/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/off-list.h"

#include "engine/numerics/compare.h"

#include <math.h>

#define MOST_COMPONENTS ((gsize) 1 << 20)
#define BUDGET_SECONDS 20.0
#define MAGNITUDE 64.0 /* a power of two: sums and products change their exponents alone */

/* How much less precise than on the list, and than the reference at the same place, before a refusal is
 * the candidate's doing: four bits, on top of one ulp. Honest kernels and the reference in the task's
 * precision lose digits together where the problem is worse conditioned. */
#define FACTOR 16.0

typedef struct
{
  AssayWorkload workload; /* shallow, but for what is set here */
  GPtrArray *inputs;      /* AssayGenerator *, shallow copies */
  const char *kind;
  char *name;
} Variation;

static void
variation_clear (Variation *v)
{
  g_clear_pointer (&v->inputs, g_ptr_array_unref);
  g_clear_pointer (&v->workload.axes, json_node_unref);
  g_clear_pointer (&v->workload.name, g_free);
  g_clear_pointer (&v->name, g_free);
}

/* A copy that can be changed: json_node_copy () shares the object. */
static JsonNode *
copy_axes (JsonNode *axes)
{
  if (!axes || !JSON_NODE_HOLDS_OBJECT (axes))
    return NULL;
  JsonNode *copy = json_node_new (JSON_NODE_OBJECT);
  JsonObject *object = json_object_new ();
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;
  json_object_iter_init (&iter, json_node_get_object (axes));
  while (json_object_iter_next (&iter, &name, &value))
    json_object_set_member (object, name, json_node_copy (value));
  json_node_take_object (copy, object);
  return copy;
}

static void
variation_init (Variation *v, const AssayWorkload *base, const char *kind, char *name)
{
  *v = (Variation) {.workload = *base, .kind = kind, .name = name};
  v->workload.axes = copy_axes (base->axes);
  v->workload.name = g_strdup_printf ("%s, %s", base->name, name);
  v->inputs = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < base->inputs->len; i++)
    g_ptr_array_add (v->inputs,
                     g_memdup2 (g_ptr_array_index (base->inputs, i), sizeof (AssayGenerator)));
  v->workload.inputs = v->inputs;
}

/* Every axis that workloads choose, one less (or 1); FALSE when nothing changes. */
static gboolean
shrink (const AssayTask *task, const AssayWorkload *base, gboolean to_one, Variation *v)
{
  g_autoptr (GString) name = g_string_new (NULL);
  g_autoptr (JsonNode) axes = copy_axes (base->axes);
  JsonObject *object = axes ? json_node_get_object (axes) : NULL;
  for (guint i = 0; object && i < task->axes->len; i++)
    {
      const AssayTaskAxis *axis = g_ptr_array_index (task->axes, i);
      gint64 value = json_object_get_int_member_with_default (object, axis->name, 1);
      gint64 other = to_one ? 1 : value - 1;
      if (axis->type != ASSAY_AXIS_VAR || value < 2)
        continue;
      json_object_set_int_member (object, axis->name, other);
      g_string_append_printf (name, "%s%s %" G_GINT64_FORMAT, name->len ? ", " : "", axis->name,
                              other);
    }
  if (!name->len)
    return FALSE;
  variation_init (v, base, "shape", g_strdup (name->str));
  g_clear_pointer (&v->workload.axes, json_node_unref);
  v->workload.axes = g_steal_pointer (&axes);
  return TRUE;
}

/* Inputs drawn without bounds; a task that draws within bounds may rely on them. */
static gboolean
scale (const AssayWorkload *base, double factor, Variation *v)
{
  g_autoptr (GString) name = g_string_new (NULL);
  for (guint i = 0; i < base->inputs->len; i++)
    {
      const AssayGenerator *g = g_ptr_array_index (base->inputs, i);
      gboolean unbounded = g->distribution == ASSAY_DISTRIBUTION_NORMAL
                           || g->distribution == ASSAY_DISTRIBUTION_HEAVY_TAIL;
      if (g->type == ASSAY_GENERATOR_RANDOM && unbounded)
        g_string_append_printf (name, "%s%s", name->len ? ", " : "", g->name);
    }
  if (!name->len)
    return FALSE;
  g_string_append_printf (name, factor > 1 ? " × %.0f" : " / %.0f",
                          factor > 1 ? factor : 1 / factor);
  variation_init (v, base, "magnitude", g_strdup (name->str));
  for (guint i = 0; i < v->inputs->len; i++)
    {
      AssayGenerator *g = g_ptr_array_index (v->inputs, i);
      gboolean unbounded = g->distribution == ASSAY_DISTRIBUTION_NORMAL
                           || g->distribution == ASSAY_DISTRIBUTION_HEAVY_TAIL;
      if (g->type == ASSAY_GENERATOR_RANDOM && unbounded)
        {
          g->mean *= factor;
          g->std *= factor;
        }
    }
  return TRUE;
}

/* ---- one variation ---- */

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

/* The candidate's typical error on this output, the worst of the listed workloads. */
static double
listed_rms (const AssayPipeline *p, guint output)
{
  double largest = 0;
  for (guint i = 0; i < p->run->workloads->len; i++)
    {
      const AssayWorkloadRecord *record = g_ptr_array_index (p->run->workloads, i);
      const AssayOutput *known =
          output < record->outputs->len ? g_ptr_array_index (record->outputs, output) : NULL;
      if (known && known->comparison && isfinite (known->comparison->rms_ulp))
        largest = fmax (largest, known->comparison->rms_ulp);
    }
  return largest;
}

static guint64
specials (const AssayComparison *c)
{
  return c->nan.candidate_only + c->nan.reference_only + c->inf.candidate_only
         + c->inf.reference_only + c->inf.opposite;
}

static AssayComparison *
compare (AssayPipeline *p, const AssayArray *answer, const AssayArray *against,
         const AssayGoldValues *gold, const AssayTolerance *tolerance)
{
  AssayCompareInput input = {
      .candidate = answer,
      .reference = against,
      .gold = gold->high,
      .gold_low = gold->low,
      .tolerance = tolerance,
  };
  return assay_compare (&input, p->cancellable, NULL);
}

static void
judge_output (AssayPipeline *p, const AssayCase *c, const Variation *v, const char *base,
              const GPtrArray *results, guint i)
{
  const AssayPlannedArray *planned = g_ptr_array_index (c->plan->outputs, i);
  const AssayGoldValues *gold = i < c->golds->len ? g_ptr_array_index (c->golds, i) : NULL;
  const AssayArray *reference = g_ptr_array_index (c->references, i);
  g_autoptr (AssayTolerance) tolerance =
      assay_task_tolerance (p->task, c->workload, planned->array->name, NULL);
  if (!gold || !gold->stable || !tolerance)
    return;
  g_autoptr (AssayComparison) own =
      compare (p, g_ptr_array_index (results, i), reference, gold, tolerance);
  g_autoptr (AssayComparison) its = compare (p, reference, reference, gold, tolerance);
  if (!own || !its || specials (its) > 0)
    return;
  AssayOffList *entry = assay_json_table_new (&ASSAY_OFF_LIST_TABLE);
  entry->kind = g_strdup (v->kind);
  entry->name = g_strdup (v->name);
  entry->workload = g_strdup (base);
  entry->output = g_strdup (planned->array->name);
  entry->accepted = own->accepted;
  entry->rms_ulp = own->rms_ulp;
  entry->reference = its->rms_ulp;
  entry->listed = listed_rms (p, i);
  entry->mismatches = own->mismatches;
  entry->count = own->count;
  entry->verdict = g_strdup (own->verdict);
  double usual = fmax (fmax (entry->listed, entry->reference), 1);
  entry->wrong = !own->accepted && (specials (own) > 0 || own->rms_ulp > FACTOR * usual);
  g_ptr_array_add (p->run->off_list, entry);
}

/* A reference that fails off the list says nothing about the task. */
static gboolean
reference_runs (AssayPipeline *p, AssayCase *c)
{
  g_autofree char *reason = NULL;
  guint before = p->facts.failures->len;
  gboolean runs = assay_reference_run (p, c, &reason);
  if (!runs)
    g_ptr_array_set_size (p->facts.failures, (int) before);
  return runs;
}

static void
try_variation (AssayPipeline *p, Variation *v, const char *base)
{
  g_autofree char *reason = NULL;
  AssayWorkloadStatus status;
  AssayLaunchOptions options = {.checks = "sync"};
  AssayCase *c = assay_case_new (&v->workload);
  AssayWorkloadRecord *record = c->record;
  c->plan = assay_plan_new (p->task, &v->workload, NULL);
  if (c->plan && size_of (c->plan) <= MOST_COMPONENTS && assay_case_generate (p, c, NULL)
      && reference_runs (p, c))
    {
      g_autoptr (GPtrArray) results = assay_candidate_run (p, c, &options, &status, &reason);
      for (guint i = 0; results && i < results->len && i < c->references->len; i++)
        judge_output (p, c, v, base, results, i);
    }
  assay_case_free (c);
  assay_json_table_free (&ASSAY_WORKLOAD_RECORD_TABLE, record);
  variation_clear (v);
}

/* The smallest listed workload: what is wrong elsewhere is wrong in small as well. */
static const AssayCase *
smallest_case (const AssayPipeline *p)
{
  const AssayCase *smallest = NULL;
  for (guint i = 0; i < p->cases->len; i++)
    {
      const AssayCase *c = g_ptr_array_index (p->cases, i);
      if (c->record->status != ASSAY_WORKLOAD_PASSED)
        return NULL;
      if (!smallest || size_of (c->plan) < size_of (smallest->plan))
        smallest = c;
    }
  return smallest;
}

static gboolean
time_is_left (AssayPipeline *p, gint64 started)
{
  return !assay_pipeline_cancelled (p)
         && g_get_monotonic_time () - started < (gint64) (BUDGET_SECONDS * G_TIME_SPAN_SECOND);
}

static void
try_benchmarks (AssayPipeline *p, gint64 started)
{
  for (guint i = 0; i < p->task->workloads->len && time_is_left (p, started); i++)
    {
      const AssayWorkload *workload = g_ptr_array_index (p->task->workloads, i);
      Variation v;
      if (assay_workload_is_for (workload, "check"))
        continue;
      variation_init (&v, workload, "benchmark", g_strdup ("benchmark"));
      try_variation (p, &v, workload->name);
    }
}

void
assay_off_list_run (AssayPipeline *p)
{
  gint64 started = g_get_monotonic_time ();
  const AssayCase *base = smallest_case (p);
  if (!base)
    return;
  assay_pipeline_progress (p, 0.9, "what the task allows and does not list");
  try_benchmarks (p, started);
  for (int i = 0; i < 4 && time_is_left (p, started); i++)
    {
      Variation v;
      gboolean made = i < 2 ? shrink (p->task, base->workload, i == 1, &v)
                            : scale (base->workload, i == 2 ? MAGNITUDE : 1 / MAGNITUDE, &v);
      if (made)
        try_variation (p, &v, base->workload->name);
    }
}
