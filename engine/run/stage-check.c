/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/off-list.h"

#include "engine/base/error.h"

#include <math.h>
#include <string.h>

#define SHUFFLE_SEED 1
#define BUDGET_SECONDS 60.0
#define CHECKER_COST 6.0 /* times the plain run, at most, by measurement */

static AssayRepeat *
compare_runs (const AssayCase *c, guint index, const AssayArray *again, const char *how)
{
  const AssayArray *first = g_ptr_array_index (c->results, index);
  const AssayPlannedArray *planned = g_ptr_array_index (c->plan->outputs, index);
  AssayRepeat *repeat = g_new0 (AssayRepeat, 1);
  repeat->workload = g_strdup (c->workload->name);
  repeat->output = g_strdup (planned->array->name);
  repeat->how = g_strdup (how);
  repeat->count = assay_array_components (first);
  if (memcmp (first->data, again->data, first->bytes) == 0)
    return repeat;
  AssayDtype component = assay_dtype_component (first->dtype);
  gboolean number = FALSE;
  for (gsize i = 0; i < repeat->count; i++)
    {
      if (assay_dtype_load (component, first->data, i)
          == assay_dtype_load (component, again->data, i))
        continue;
      double difference = fabs (assay_array_get (first, i) - assay_array_get (again, i));
      repeat->different++;
      number = number || !isnan (difference);
      if (difference > repeat->max_difference)
        repeat->max_difference = difference;
    }
  if (repeat->different > 0 && !number)
    repeat->max_difference = NAN;
  return repeat;
}

/* The same launch again: with every checker on and its blocks shuffled on the virtual GPU, as it is
 * on a real one. FALSE when it did not come to its end. */
static gboolean
check_case (AssayPipeline *p, AssayCase *c, gboolean is_virtual)
{
  g_autofree char *reason = NULL;
  AssayWorkloadStatus status;
  AssayLaunchOptions options = {
      .checks = is_virtual ? p->checks : "none",
      .seed = is_virtual ? SHUFFLE_SEED : 0,
  };
  const char *how = is_virtual ? "blocks in fixed order against blocks shuffled by seed 1"
                               : "two runs on the same device";
  g_autoptr (GPtrArray) again = assay_candidate_run (p, c, &options, &status, &reason);
  for (guint i = 0; again && i < again->len && i < c->results->len; i++)
    g_ptr_array_add (p->facts.repeats, compare_runs (c, i, g_ptr_array_index (again, i), how));
  if (!again && reason)
    assay_pipeline_log (p, reason);
  return again != NULL;
}

static const char *
cannot_check (const AssayPipeline *p)
{
  if (g_str_equal (p->checks, "none"))
    return "no checks were asked for";
  if (!p->ptx)
    return "nothing was compiled";
  return NULL;
}

static guint
count_bad (const AssayPipeline *p, guint before)
{
  guint bad = 0;
  for (guint i = before; i < p->facts.reports->len; i++)
    {
      const AssayReport *report = g_ptr_array_index (p->facts.reports, i);
      const char *type = json_object_get_string_member_with_default (
          json_node_get_object (report->report), "type", "");
      bad += g_str_equal (type, "report");
    }
  for (guint i = 0; i < p->facts.repeats->len; i++)
    bad += ((AssayRepeat *) g_ptr_array_index (p->facts.repeats, i))->different > 0;
  return bad;
}

AssayStatus
assay_stage_check (AssayPipeline *p, char **reason)
{
  const char *cannot = cannot_check (p);
  gboolean is_virtual = g_str_equal (p->device->kind, "virtual");
  guint before = p->facts.reports->len, checked = 0, left_out = 0, broken = 0;
  double spent = 0;
  for (guint i = 0; i < p->cases->len && !cannot && !assay_pipeline_cancelled (p); i++)
    {
      AssayCase *c = g_ptr_array_index (p->cases, i);
      double expected = c->record->seconds * CHECKER_COST;
      gboolean has_inputs = c->memories->len == c->plan->inputs->len;
      if (c->record->status == ASSAY_WORKLOAD_TIMEOUT || !has_inputs)
        continue;
      if (checked > 0 && spent + expected > BUDGET_SECONDS)
        {
          left_out++;
          continue;
        }
      assay_pipeline_progress (p, (double) i / p->cases->len, "checkers on %s", c->workload->name);
      gint64 started = g_get_monotonic_time ();
      broken += !check_case (p, c, is_virtual);
      spent += (double) (g_get_monotonic_time () - started) / G_TIME_SPAN_SECOND;
      checked++;
    }
  if (checked == 0)
    {
      *reason = g_strdup (cannot ? cannot : "no workload ran");
      return ASSAY_STATUS_SKIPPED;
    }
  p->facts.checks = is_virtual ? p->checks : NULL;
  assay_off_list_run (p);
  guint bad = count_bad (p, before);
  if (left_out > 0)
    *reason = g_strdup_printf ("%u workloads left out: they would take longer than %.0f s",
                               left_out, BUDGET_SECONDS);
  if (bad + broken == 0)
    return ASSAY_STATUS_PASSED;
  g_free (*reason);
  *reason = bad > 0 ? g_strdup_printf ("%u reports of the checkers", bad)
                    : g_strdup_printf ("%u workloads did not run to their end", broken);
  return ASSAY_STATUS_FAILED;
}

/* The virtual GPU counts as it runs; a real one needs counters that this version does not drive. */
AssayStatus
assay_stage_profile (AssayPipeline *p, char **reason)
{
  gboolean is_virtual = g_str_equal (p->device->kind, "virtual");
  *reason =
      g_strdup (is_virtual ? "the virtual GPU counts while it runs: see counters.json"
                           : "counters of a device are imported, not taken: profile with ncu");
  return ASSAY_STATUS_SKIPPED;
}
