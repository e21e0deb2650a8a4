/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/findings/derive.h"

#include "engine/task/plan.h"

#include <math.h>
#include <string.h>

/* What the task's own declaration shows without running anything. */

static GPtrArray *
plans_of (const AssayTask *task)
{
  GPtrArray *plans = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_plan_free);
  for (guint i = 0; i < task->workloads->len; i++)
    {
      AssayPlan *plan = assay_plan_new (task, g_ptr_array_index (task->workloads, i), NULL);
      if (plan)
        g_ptr_array_add (plans, plan);
    }
  return plans;
}

/* What the task wants to be run with and this computer has not: what came out may be another version's doing. */
static void
add_pins (AssayDeriving *deriving)
{
  const GPtrArray *pins = deriving->facts->pins;
  for (guint i = 0; pins && i < pins->len; i++)
    {
      const AssayPin *pin = g_ptr_array_index (pins, i);
      if (pin->met)
        continue;
      AssayFinding *finding = assay_derive_add (deriving, "env.api-version");
      finding->detail =
          g_strdup_printf ("`environment.pins` asks for %s %s. Here: %s. What depends on it was "
                           "not tried as the task "
                           "means it.",
                           pin->name, pin->wanted, pin->found ? pin->found : "not installed");
      assay_derive_finish (deriving, finding,
                           g_strdup_printf ("The task pins %s %s; here it is %s", pin->name,
                                            pin->wanted, pin->found ? pin->found : "not installed"),
                           pin->name);
    }
}

static void
add_license (AssayDeriving *deriving)
{
  const AssayLicense *license = &deriving->facts->task->license;
  if (g_strcmp0 (license->training_allowed, "no") != 0)
    return;
  AssayFinding *finding = assay_derive_add (deriving, "task.license-conflict");
  assay_derive_finish (deriving, finding,
                       g_strdup_printf ("The licence (%s) does not allow use for training",
                                        license->id ? license->id : "not named"),
                       "license");
}

static void
add_silence (AssayDeriving *deriving)
{
  const AssayNumerics *n = &deriving->facts->task->numerics;
  const struct
  {
    const char *what;
    gboolean silent;
  } promises[] = {
      {"the type of computation", !n->compute},
      {"the type of accumulation", !n->accumulate},
      {"TF32", assay_task_promise (n->tf32) < 0},
      {"fast math", assay_task_promise (n->fast_math) < 0},
      {"flushing of subnormals", assay_task_promise (n->flush_subnormals) < 0},
      {"reproducibility", assay_task_promise (n->deterministic) < 0},
  };
  g_autoptr (GString) silent = g_string_new (NULL);
  guint count = 0;
  for (gsize i = 0; i < G_N_ELEMENTS (promises); i++)
    if (promises[i].silent)
      {
        g_string_append_printf (silent, "%s%s", count ? ", " : "", promises[i].what);
        count++;
      }
  if (!count)
    return;
  AssayFinding *finding = assay_derive_add (deriving, "task.numerics-silent");
  finding->count = count;
  assay_derive_finish (
      deriving, finding,
      g_strdup_printf ("The task does not say what it promises about %s", silent->str), "numerics");
}

static gboolean
only_non_negative (const AssayGenerator *g)
{
  if (g->type == ASSAY_GENERATOR_CONSTANT || g->type == ASSAY_GENERATOR_SCALAR)
    return g->value >= 0;
  if (g->type != ASSAY_GENERATOR_RANDOM)
    return FALSE;
  switch (g->distribution)
    {
    case ASSAY_DISTRIBUTION_UNIFORM:
    case ASSAY_DISTRIBUTION_INTEGERS:
    case ASSAY_DISTRIBUTION_SORTED:
      return g->low >= 0;
    case ASSAY_DISTRIBUTION_LOGNORMAL:
    case ASSAY_DISTRIBUTION_PERMUTATION:
    case ASSAY_DISTRIBUTION_ONE_HOT:
      return TRUE;
    default:
      return FALSE;
    }
}

typedef struct
{
  gboolean one_seed, one_shape, no_tail, positive, bench_unchecked;
} Coverage;

static gboolean
same_shapes (const AssayPlan *a, const AssayPlan *b)
{
  for (guint i = 0; i < a->outputs->len; i++)
    {
      const AssayPlannedArray *x = g_ptr_array_index (a->outputs, i);
      const AssayPlannedArray *y = g_ptr_array_index (b->outputs, i);
      if (x->ndim != y->ndim || memcmp (x->shape, y->shape, x->ndim * sizeof x->shape[0]) != 0)
        return FALSE;
    }
  return TRUE;
}

/* Some axis of some workload is no multiple of 16. */
static gboolean
has_tail (const AssayPlan *plan)
{
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, plan->axes);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    if (*(gint64 *) value > 16 && *(gint64 *) value % 16 != 0)
      return TRUE;
  return FALSE;
}

static gboolean
floats_are_positive (const AssayPlan *plan)
{
  gboolean any = FALSE;
  for (guint i = 0; i < plan->inputs->len; i++)
    {
      const AssayPlannedArray *input = g_ptr_array_index (plan->inputs, i);
      if (input->scalar || !input->generator || !assay_dtype_is_float (input->array->dtype))
        continue;
      any = TRUE;
      if (!only_non_negative (input->generator))
        return FALSE;
    }
  return any;
}

static gboolean
is_checked (const GPtrArray *plans, const AssayPlan *bench)
{
  for (guint i = 0; i < plans->len; i++)
    {
      const AssayPlan *plan = g_ptr_array_index (plans, i);
      if (assay_workload_is_for (plan->workload, "check") && same_shapes (plan, bench))
        return TRUE;
    }
  return FALSE;
}

static Coverage
coverage_of (const GPtrArray *plans)
{
  const AssayPlan *first = g_ptr_array_index (plans, 0);
  Coverage c = {TRUE, TRUE, TRUE, TRUE, FALSE};
  for (guint i = 0; i < plans->len; i++)
    {
      const AssayPlan *plan = g_ptr_array_index (plans, i);
      c.one_seed &= plan->workload->seed == first->workload->seed;
      c.one_shape &= same_shapes (plan, first);
      c.no_tail &= !has_tail (plan);
      c.positive &= floats_are_positive (plan);
      c.bench_unchecked |=
          assay_workload_is_for (plan->workload, "bench") && !is_checked (plans, plan);
    }
  return c;
}

static void
add_coverage (AssayDeriving *deriving, const GPtrArray *plans)
{
  Coverage c = coverage_of (plans);
  const struct
  {
    gboolean missing;
    const char *what;
  } gaps[] = {
      {c.one_seed, "one seed only"},
      {c.one_shape, "one shape only"},
      {c.no_tail, "no extent that is not a multiple of 16"},
      {c.positive, "no negative input"},
      {c.bench_unchecked, "a benchmark shape that is never checked"},
  };
  g_autoptr (GString) text = g_string_new (NULL);
  guint count = 0;
  for (gsize i = 0; i < G_N_ELEMENTS (gaps); i++)
    if (gaps[i].missing)
      g_string_append_printf (text, "%s%s", count++ ? ", " : "", gaps[i].what);
  if (!count)
    return;
  AssayFinding *finding = assay_derive_add (deriving, "task.input-coverage");
  finding->count = count;
  assay_derive_finish (deriving, finding,
                       g_strdup_printf ("%u workloads cover little: %s", plans->len, text->str),
                       "workloads");
}

static void
check_tolerance (AssayDeriving *deriving, const AssayPlan *plan, const AssayPlannedArray *output)
{
  g_autoptr (AssayTolerance) t =
      assay_task_tolerance (plan->task, plan->workload, output->array->name, NULL);
  if (!t)
    return;
  if (t->relative_to == ASSAY_RELATIVE_TO_CANDIDATE && t->rtol > 0
      && !assay_derive_has (deriving, "num.tolerance-operands"))
    {
      AssayFinding *finding = assay_derive_add (deriving, "num.tolerance-operands");
      finding->where.output = g_strdup (output->array->name);
      assay_derive_finish (
          deriving, finding,
          g_strdup_printf ("The relative term of %s scales with the candidate's own "
                           "value",
                           output->array->name),
          output->array->name);
    }
  gint64 row = output->ndim ? output->shape[output->ndim - 1] : 1;
  guint64 spare = (guint64) ((1 - t->matched_ratio) * (double) output->count);
  gboolean escape = t->matched_ratio < 1 && isnan (t->max_error_cap) && output->ndim >= 2 && row > 0
                    && spare >= (guint64) row;
  if (!escape || assay_derive_has (deriving, "num.matched-ratio-escape"))
    return;
  AssayFinding *finding = assay_derive_add (deriving, "num.matched-ratio-escape");
  finding->where.output = g_strdup (output->array->name);
  finding->where.workload = g_strdup (plan->workload->name);
  g_autofree char *spare_text = assay_derive_count (spare);
  assay_derive_finish (
      deriving, finding,
      g_strdup_printf ("A matched ratio of %.4g lets %s elements of %s be arbitrarily "
                       "wrong on %s: a row has %" G_GINT64_FORMAT,
                       t->matched_ratio, spare_text, output->array->name, plan->workload->name,
                       row),
      output->array->name);
}

static void
check_index_width (AssayDeriving *deriving, const AssayPlan *plan, const AssayPlannedArray *array)
{
  if (array->count <= G_MAXINT32 || assay_derive_has (deriving, "index.overflow-32bit"))
    return;
  AssayFinding *finding = assay_derive_add (deriving, "index.overflow-32bit");
  g_autofree char *count = assay_derive_count (array->count);
  finding->confidence = 0.5;
  finding->where.workload = g_strdup (plan->workload->name);
  assay_derive_finish (
      deriving, finding,
      g_strdup_printf ("%s has %s elements on %s: a 32-bit index cannot reach them all",
                       array->array->name, count, plan->workload->name),
      array->array->name);
}

static void
check_memory (AssayDeriving *deriving, const AssayPlan *plan)
{
  char **targets = plan->task->targets;
  guint64 bytes = 0;
  for (guint i = 0; i < plan->inputs->len; i++)
    bytes += ((AssayPlannedArray *) g_ptr_array_index (plan->inputs, i))->bytes;
  for (guint i = 0; i < plan->outputs->len; i++)
    bytes += ((AssayPlannedArray *) g_ptr_array_index (plan->outputs, i))->bytes;
  for (guint i = 0; targets && targets[i]; i++)
    {
      const char *name = strchr (targets[i], ':');
      guint64 memory = name ? assay_derive_target_memory (name + 1) : 0;
      if (!memory || bytes <= memory || assay_derive_has (deriving, "task.memory-budget"))
        continue;
      AssayFinding *finding = assay_derive_add (deriving, "task.memory-budget");
      g_autofree char *needed = g_format_size_full (bytes, G_FORMAT_SIZE_IEC_UNITS);
      g_autofree char *there = g_format_size_full (memory, G_FORMAT_SIZE_IEC_UNITS);
      finding->where.workload = g_strdup (plan->workload->name);
      assay_derive_finish (deriving, finding,
                           g_strdup_printf ("Inputs and outputs of %s take %s; %s has %s",
                                            plan->workload->name, needed, targets[i], there),
                           targets[i]);
    }
}

/* Wrong only where an input is not contiguous: the kernel ignores the layout. */
static gboolean
is_contiguous (const AssayWorkload *workload)
{
  for (guint i = 0; i < workload->inputs->len; i++)
    if (((AssayGenerator *) g_ptr_array_index (workload->inputs, i))->layout
        != ASSAY_LAYOUT_CONTIGUOUS)
      return FALSE;
  return TRUE;
}

static void
check_layouts (AssayDeriving *deriving)
{
  const AssayWorkloadRecord *wrong = NULL;
  guint right = 0;
  for (guint i = 0; i < deriving->run->workloads->len; i++)
    {
      const AssayWorkloadRecord *record = g_ptr_array_index (deriving->run->workloads, i);
      const AssayWorkload *workload = assay_task_workload (deriving->facts->task, record->name);
      gboolean fails = record->status == ASSAY_WORKLOAD_INCORRECT_NUMERICAL;
      if (!workload || (fails && is_contiguous (workload)))
        return;
      if (fails && !wrong)
        wrong = record;
      right += record->status == ASSAY_WORKLOAD_PASSED && is_contiguous (workload);
    }
  if (!wrong || !right)
    return;
  AssayFinding *finding = assay_derive_add (deriving, "layout.assumes-contiguous");
  finding->where.workload = g_strdup (wrong->name);
  assay_derive_finish (
      deriving, finding,
      g_strdup_printf ("Right on all contiguous inputs, wrong on %s, whose input is laid "
                       "out otherwise",
                       wrong->name),
      wrong->name);
}

void
assay_derive_task (AssayDeriving *deriving)
{
  g_autoptr (GPtrArray) plans = plans_of (deriving->facts->task);
  add_license (deriving);
  add_pins (deriving);
  add_silence (deriving);
  check_layouts (deriving);
  if (plans->len)
    add_coverage (deriving, plans);
  for (guint i = 0; i < plans->len; i++)
    {
      const AssayPlan *plan = g_ptr_array_index (plans, i);
      check_memory (deriving, plan);
      for (guint k = 0; k < plan->inputs->len; k++)
        check_index_width (deriving, plan, g_ptr_array_index (plan->inputs, k));
      for (guint k = 0; k < plan->outputs->len; k++)
        {
          check_index_width (deriving, plan, g_ptr_array_index (plan->outputs, k));
          check_tolerance (deriving, plan, g_ptr_array_index (plan->outputs, k));
        }
    }
}
