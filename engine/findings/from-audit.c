/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/findings/derive.h"

#include <string.h>

/* Of the results that are not zero: beyond one half, most of the output is not looked at. */
#define MOST_BELOW_ATOL 0.5

/* Planted answers. A wrong one gets through the task when every workload that judged it accepted it; a
 * right one is refused when a single workload refuses it. */

typedef struct
{
  int kind;
  const char *name, *output;
  const AssayProbe *witness; /* accepted with the largest margin, or refused */
  guint judged, accepted;
} Planted;

static GPtrArray *
collect (const AssayAudit *audit)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < audit->probes->len; i++)
    {
      const AssayProbe *probe = g_ptr_array_index (audit->probes, i);
      Planted *planted = NULL;
      for (guint k = 0; k < list->len && !planted; k++)
        {
          Planted *known = g_ptr_array_index (list, k);
          if (g_strcmp0 (known->name, probe->name) == 0
              && g_strcmp0 (known->output, probe->output) == 0)
            planted = known;
        }
      if (!planted)
        {
          planted = g_new0 (Planted, 1);
          *planted = (Planted) {probe->kind, probe->name, probe->output, probe, 0, 0};
          g_ptr_array_add (list, planted);
        }
      planted->judged++;
      planted->accepted += probe->accepted != 0;
      if (probe->margin > planted->witness->margin)
        planted->witness = probe;
    }
  return list;
}

static gboolean
is_redrawn (const Planted *planted)
{
  return g_str_has_prefix (planted->name, ASSAY_PROBE_REDRAWN);
}

static gboolean
gets_through (const Planted *planted)
{
  return planted->accepted == planted->judged;
}

/* Names of those of a kind that got through (or, for right answers, did not), for one output. */
static GPtrArray *
select_names (const GPtrArray *list, int kind, const char *output, gboolean through,
              const Planted **witness)
{
  GPtrArray *names = g_ptr_array_new ();
  for (guint i = 0; i < list->len; i++)
    {
      const Planted *planted = g_ptr_array_index (list, i);
      if (planted->kind != kind || g_strcmp0 (planted->output, output) != 0
          || gets_through (planted) != through || is_redrawn (planted))
        continue;
      g_ptr_array_add (names, (gpointer) planted->name);
      if (!*witness || planted->witness->margin > (*witness)->witness->margin)
        *witness = planted;
    }
  return names;
}

/* "output rounded to tfloat32, float16; zeros": a beginning that several share is said once. */
static char *
join (const GPtrArray *names)
{
  static const char *const BEGINNINGS[] = {"output rounded to ", "inputs rounded to "};
  GString *out = g_string_new (NULL);
  const char *last = NULL;
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i), *beginning = NULL;
      for (gsize k = 0; k < G_N_ELEMENTS (BEGINNINGS); k++)
        if (g_str_has_prefix (name, BEGINNINGS[k]))
          beginning = BEGINNINGS[k];
      gboolean again = beginning && beginning == last;
      g_string_append (out, i == 0 ? "" : last && !again ? "; " : ", ");
      g_string_append (out, again ? name + strlen (beginning) : name);
      last = beginning;
    }
  return g_string_free (out, FALSE);
}

static char *
rule_text (AssayDeriving *deriving, const char *workload, const char *output)
{
  const AssayTask *task = deriving->facts->task;
  g_autoptr (AssayTolerance) tolerance =
      assay_task_tolerance (task, assay_task_workload (task, workload), output, NULL);
  return tolerance ? assay_tolerance_describe (tolerance) : g_strdup ("the task's rule");
}

static AssayFinding *
begin (AssayDeriving *deriving, const char *rule, const Planted *witness)
{
  AssayFinding *finding = assay_derive_add (deriving, rule);
  const AssayProbe *probe = witness->witness;
  finding->where.workload = g_strdup (probe->workload);
  finding->where.output = g_strdup (probe->output);
  g_autofree char *plot = g_strdup_printf ("numerics/margin/%s/%s", probe->workload, probe->output);
  assay_derive_evidence (finding, "plot", plot, "planted answers against the gate");
  assay_derive_evidence (finding, "probe", probe->name, probe->name);
  return finding;
}

static void
add_trivial (AssayDeriving *deriving, const Planted *planted)
{
  const char *rule = g_str_has_prefix (planted->name, "zeros")      ? "num.zero-output-passes"
                     : g_str_has_prefix (planted->name, "constant") ? "num.constant-output-passes"
                                                                    : "num.copy-input-passes";
  const char *answer = g_str_has_prefix (planted->name, "zeros") ? "An output of zeros"
                       : g_str_has_prefix (planted->name, "constant")
                           ? "One constant for all elements"
                           : NULL;
  g_autofree char *copy = answer ? NULL : g_strdup_printf ("A %s", planted->name);
  const AssayProbe *probe = planted->witness;
  g_autofree char *text = rule_text (deriving, probe->workload, probe->output);
  AssayFinding *finding = begin (deriving, rule, planted);
  finding->count = planted->accepted;
  finding->detail =
      g_strdup_printf ("The task's rule is %s. On workload `%s` the planted answer needs only %.3g "
                       "of that tolerance to "
                       "be accepted; its error against gold is %.3g at most, %.3g RMS.",
                       text, probe->workload, probe->margin, probe->max_abs, probe->rms);
  const char *who = answer ? answer : copy;
  g_autofree char *where = assay_derive_workloads (planted->accepted, planted->judged);
  assay_derive_finish (
      deriving, finding,
      probe->margin > 0 ? g_strdup_printf ("%s passes as %s on %s: %s allows %.3g times its error",
                                           who, planted->output, where, text, 1 / probe->margin)
                        : g_strdup_printf ("%s passes as %s on %s: it is the right answer there",
                                           who, planted->output, where),
      planted->name);
}

static void
add_list (AssayDeriving *deriving, const GPtrArray *list, int kind, const char *output,
          const char *rule, gboolean through, const char *said)
{
  const Planted *witness = NULL;
  g_autoptr (GPtrArray) names = select_names (list, kind, output, through, &witness);
  if (!names->len)
    return;
  const AssayProbe *probe = witness->witness;
  g_autofree char *all = join (names);
  g_autofree char *text = rule_text (deriving, probe->workload, output);
  AssayFinding *finding = begin (deriving, rule, witness);
  finding->count = names->len;
  finding->detail = g_strdup_printf ("The task's rule is %s. %s: %s. The one closest to the gate "
                                     "is “%s” on workload `%s`: it needs %.3g "
                                     "of the tolerance.",
                                     text, through ? "Accepted" : "Refused", all, probe->name,
                                     probe->workload, probe->margin);
  assay_derive_finish (deriving, finding,
                       g_strdup_printf ("The tolerance of %s %s %s", output, said, all), output);
}

/* The answer for other values of an input passes: the tolerance cannot see that input. */
static void
add_dead_input (AssayDeriving *deriving, const Planted *planted)
{
  const AssayProbe *probe = planted->witness;
  const char *input = planted->name + strlen (ASSAY_PROBE_REDRAWN);
  g_autofree char *text = rule_text (deriving, probe->workload, probe->output);
  g_autofree char *where = assay_derive_workloads (planted->accepted, planted->judged);
  AssayFinding *finding = begin (deriving, "task.dead-input", planted);
  finding->count = planted->accepted;
  finding->detail = g_strdup_printf ("The reference, given %s drawn with another seed and "
                                     "everything else as it is, gives an answer "
                                     "that %s accepts: on workload `%s` it needs %.3g of the "
                                     "tolerance. A kernel that reads %s wrong, "
                                     "or not at all, passes.",
                                     input, text, probe->workload, probe->margin, input);
  assay_derive_finish (
      deriving, finding,
      g_strdup_printf ("%s does not depend on input %s as far as the tolerance can "
                       "see, on %s",
                       planted->output, input, where),
      planted->name);
}

/* On every workload, most of the output could be zero. */
static void
add_atol_dominated (AssayDeriving *deriving, const char *output)
{
  const GPtrArray *gates = deriving->run->audit->gates;
  const AssayGateFacts *least = NULL;
  guint judged = 0;
  for (guint i = 0; i < gates->len; i++)
    {
      const AssayGateFacts *facts = g_ptr_array_index (gates, i);
      if (g_strcmp0 (facts->output, output) != 0)
        continue;
      judged++;
      if (!least || !(facts->below_atol > least->below_atol))
        least = facts;
    }
  if (!least || !(least->below_atol > MOST_BELOW_ATOL))
    return;
  g_autofree char *text = rule_text (deriving, least->workload, output);
  g_autofree char *on = assay_derive_workloads (judged, judged);
  AssayFinding *finding = assay_derive_add (deriving, "num.atol-dominated");
  finding->where.workload = g_strdup (least->workload);
  finding->where.output = g_strdup (output);
  finding->count = judged;
  finding->detail = g_strdup_printf ("The rule is %s. Of the %" G_GINT64_FORMAT
                                     " results on workload `%s` that are not zero, %.4g %% are no "
                                     "larger than atol: zero would do for each of them. For %.4g "
                                     "%% the absolute term is the larger "
                                     "part of what is allowed.",
                                     text, least->count, least->workload, 100 * least->below_atol,
                                     100 * least->atol_decides);
  g_autofree char *plot = g_strdup_printf ("numerics/margin/%s/%s", least->workload, output);
  assay_derive_evidence (finding, "plot", plot, "planted answers against the gate");
  assay_derive_finish (
      deriving, finding,
      g_strdup_printf ("%.3g %% of %s or more lie below the absolute tolerance on %s: "
                       "nothing is asked of them",
                       100 * least->below_atol, output, on),
      output);
}

/* A trivial answer that passes explains every other one that does. */
static gboolean
add_trivials (AssayDeriving *deriving, const GPtrArray *list, const char *output)
{
  gboolean any = FALSE;
  for (guint i = 0; i < list->len; i++)
    {
      const Planted *planted = g_ptr_array_index (list, i);
      if (planted->kind != ASSAY_PROBE_TRIVIAL || g_strcmp0 (planted->output, output) != 0
          || !gets_through (planted))
        continue;
      add_trivial (deriving, planted);
      any = TRUE;
    }
  return any;
}

/* A reference that misses the tolerance itself explains why right answers do. */
static gboolean
reference_misses (const GPtrArray *list, const char *output)
{
  for (guint i = 0; i < list->len; i++)
    {
      const Planted *planted = g_ptr_array_index (list, i);
      if (planted->kind == ASSAY_PROBE_REFERENCE && g_strcmp0 (planted->output, output) == 0)
        return !gets_through (planted);
    }
  return FALSE;
}

static void
add_output (AssayDeriving *deriving, const GPtrArray *list, const char *output)
{
  if (!add_trivials (deriving, list, output))
    {
      add_atol_dominated (deriving, output);
      for (guint i = 0; i < list->len; i++)
        {
          const Planted *planted = g_ptr_array_index (list, i);
          if (is_redrawn (planted) && g_strcmp0 (planted->output, output) == 0
              && gets_through (planted))
            add_dead_input (deriving, planted);
        }
    }
  add_list (deriving, list, ASSAY_PROBE_DOWNGRADE, output, "num.downgrade-passes", TRUE,
            "accepts lower precision:");
  add_list (deriving, list, ASSAY_PROBE_MUTANT, output, "num.tolerance-too-loose", TRUE,
            "lets wrong answers through:");
  if (!reference_misses (list, output))
    add_list (deriving, list, ASSAY_PROBE_HONEST, output, "num.tolerance-too-tight", FALSE,
              "refuses right answers:");
}

/* A rule that tells right from wrong on the task's own inputs, and on others of the same shape does so for
 * less than half as many: on another day's inputs it would be another rule. */
static void
add_sensitivity (AssayDeriving *deriving)
{
  const AssayAudit *audit = deriving->run->audit;
  const AssaySensitivity *worst = NULL;
  g_autoptr (GString) all = g_string_new (NULL);
  gint64 wrong = 0, killed = 0;
  for (guint i = 0; i < audit->families->len; i++)
    {
      const AssayFamily *family = g_ptr_array_index (audit->families, i);
      wrong += family->right ? 0 : family->planted;
      killed += family->right ? 0 : family->refused;
    }
  for (guint i = 0; i < audit->sensitivity->len; i++)
    {
      const AssaySensitivity *entry = g_ptr_array_index (audit->sensitivity, i);
      g_string_append_printf (all,
                              "%s%s: kill rate %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                              ", false rejects %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT,
                              i ? "; " : "", entry->name, entry->killed, entry->wrong,
                              entry->rejected, entry->right);
      if (!worst || entry->killed * worst->wrong < worst->killed * entry->wrong)
        worst = entry;
    }
  if (!worst || 2 * worst->killed * wrong >= killed * worst->wrong)
    return;
  AssayFinding *finding = assay_derive_add (deriving, "num.input-sensitive");
  finding->where.workload = g_strdup (worst->workload);
  finding->detail =
      g_strdup_printf ("The same rule, on workload %s with its floating inputs drawn otherwise. "
                       "%s. On the task's own "
                       "inputs: kill rate %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT ".",
                       worst->workload, all->str, killed, wrong);
  assay_derive_evidence (finding, "probe", worst->name, worst->name);
  assay_derive_finish (deriving, finding,
                       g_strdup_printf ("The tolerance refuses %" G_GINT64_FORMAT
                                        " of %" G_GINT64_FORMAT
                                        " wrong answers on the task's inputs, %" G_GINT64_FORMAT
                                        " of %" G_GINT64_FORMAT " where they are %s",
                                        killed, wrong, worst->killed, worst->wrong, worst->name),
                       "sensitivity");
}

void
assay_derive_audit (AssayDeriving *deriving)
{
  if (!deriving->run->audit)
    return;
  g_autoptr (GPtrArray) list = collect (deriving->run->audit);
  add_sensitivity (deriving);
  for (guint i = 0; i < deriving->facts->task->outputs->len; i++)
    add_output (deriving, list, *(char **) g_ptr_array_index (deriving->facts->task->outputs, i));
}
