/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/findings/derive.h"

#include <string.h>

AssayReport *
assay_report_new (const char *workload, JsonNode *report)
{
  AssayReport *self = g_new0 (AssayReport, 1);
  self->workload = g_strdup (workload);
  self->report = report;
  return self;
}

void
assay_report_free (AssayReport *report)
{
  if (!report)
    return;
  g_free (report->workload);
  g_clear_pointer (&report->report, json_node_unref);
  g_free (report);
}

void
assay_failure_free (AssayFailure *failure)
{
  if (!failure)
    return;
  g_free (failure->workload);
  g_free (failure->role);
  g_free (failure->phase);
  g_free (failure->name);
  g_free (failure->message);
  g_free (failure->file);
  g_free (failure);
}

void
assay_repeat_free (AssayRepeat *repeat)
{
  if (!repeat)
    return;
  g_free (repeat->workload);
  g_free (repeat->output);
  g_free (repeat->how);
  g_free (repeat);
}

AssayFinding *
assay_derive_add (AssayDeriving *deriving, const char *rule)
{
  const AssayRule *known = assay_rule_find (rule);
  AssayFinding *finding = assay_finding_new ();
  finding->rule = g_strdup (rule);
  finding->axis = g_strdup (known ? known->axis : "numerics");
  finding->severity = known ? (int) known->severity : ASSAY_SEVERITY_MAJOR;
  finding->blame = known ? (int) known->blame : ASSAY_BLAME_CANDIDATE;
  finding->component = g_strdup (known ? known->component : "candidate");
  finding->suggestion = g_strdup (known ? known->suggestion : NULL);
  if (finding->blame == ASSAY_BLAME_CANDIDATE)
    finding->candidate = g_strdup (deriving->run->candidate);
  finding->target = g_strdup (deriving->facts->target);
  g_ptr_array_add (deriving->run->findings, finding);
  return finding;
}

/* As a shell needs it: bare where nothing in it is special. */
static char *
shell_word (const char *text)
{
  gboolean plain = g_regex_match_simple ("^[A-Za-z0-9_./:@%+=-]+$", text, 0, 0);
  return plain ? g_strdup (text) : g_shell_quote (text);
}

void
assay_derive_finish (AssayDeriving *deriving, AssayFinding *finding, char *title,
                     const char *anchor)
{
  g_free (finding->title);
  finding->title = title;
  if (!finding->reproduce)
    {
      const AssayRun *run = deriving->run;
      g_autofree char *task = shell_word (run->task.path ? run->task.path : "TASK");
      g_autofree char *candidate = shell_word (run->candidate ? run->candidate : "");
      finding->reproduce = g_strdup_printf (
          "assay-engine run %s --candidate %s --device %s%s%s", task, candidate,
          g_strcmp0 (run->device.kind, "cuda") == 0 ? "cuda:0" : "virtual:",
          g_strcmp0 (run->device.kind, "cuda") == 0 ? "" : deriving->facts->target,
          run->device.checks && g_strcmp0 (run->device.checks, "none") == 0 ? "" : " --checks all");
    }
  assay_finding_fingerprint (finding, anchor);
}

AssayEvidence *
assay_derive_evidence (AssayFinding *finding, const char *kind, const char *ref, const char *title)
{
  AssayEvidence *evidence = assay_evidence_new ();
  evidence->kind = g_strdup (kind);
  evidence->ref = g_strdup (ref);
  evidence->title = g_strdup (title);
  g_ptr_array_add (finding->evidence, evidence);
  return evidence;
}

char *
assay_derive_count (guint64 count)
{
  g_autofree char *digits = g_strdup_printf ("%" G_GUINT64_FORMAT, count);
  gsize n = strlen (digits);
  GString *out = g_string_new (NULL);
  for (gsize i = 0; i < n; i++)
    {
      if (i && (n - i) % 3 == 0)
        g_string_append_c (out, ',');
      g_string_append_c (out, digits[i]);
    }
  return g_string_free (out, FALSE);
}

char *
assay_derive_elements (guint64 count)
{
  g_autofree char *digits = assay_derive_count (count);
  return g_strdup_printf ("%s element%s", digits, count == 1 ? "" : "s");
}

char *
assay_derive_workloads (guint some, guint all)
{
  if (some < all)
    return g_strdup_printf ("%u of %u workloads", some, all);
  return all == 1   ? g_strdup ("the only workload")
         : all == 2 ? g_strdup ("both workloads")
                    : g_strdup_printf ("all %u workloads", all);
}

gboolean
assay_derive_has (const AssayDeriving *deriving, const char *prefix)
{
  for (guint i = 0; i < deriving->run->findings->len; i++)
    if (g_str_has_prefix (((AssayFinding *) deriving->run->findings->pdata[i])->rule, prefix))
      return TRUE;
  return FALSE;
}

static int
by_weight (gconstpointer a, gconstpointer b)
{
  const AssayFinding *x = *(AssayFinding *const *) a, *y = *(AssayFinding *const *) b;
  if (x->severity != y->severity)
    return x->severity - y->severity;
  int order = g_strcmp0 (x->rule, y->rule);
  order = order ? order : g_strcmp0 (x->where.kernel, y->where.kernel);
  if (order)
    return order;
  if (x->where.line != y->where.line)
    return x->where.line < y->where.line ? -1 : 1;
  return g_strcmp0 (x->id, y->id);
}

static void
clear_lists (AssayRun *run)
{
  for (guint i = 0; i < run->findings->len; i++)
    assay_finding_free (g_ptr_array_index (run->findings, i));
  for (guint i = 0; i < run->skipped_rules->len; i++)
    assay_json_table_free (&ASSAY_SKIPPED_RULE_TABLE, g_ptr_array_index (run->skipped_rules, i));
  g_ptr_array_set_size (run->findings, 0);
  g_ptr_array_set_size (run->skipped_rules, 0);
}

void
assay_findings_derive (AssayRun *run, const AssayFacts *facts)
{
  g_autoptr (GHashTable) broken = g_hash_table_new (g_str_hash, g_str_equal);
  AssayDeriving deriving = {run, facts, broken};
  clear_lists (run);
  assay_derive_reports (&deriving);
  assay_derive_failures (&deriving);
  assay_derive_numbers (&deriving);
  assay_derive_off_list (&deriving);
  assay_derive_audit (&deriving);
  assay_derive_checker (&deriving);
  assay_derive_task (&deriving);
  assay_derive_skipped (&deriving);
  g_ptr_array_sort (run->findings, by_weight);
}

AssayFinding *
assay_finding_for_bad_task (const char *folder, const GError *error)
{
  const AssayRule *rule = assay_rule_find ("task.manifest-invalid");
  AssayFinding *finding = assay_finding_new ();
  g_auto (GStrv) lines = g_strsplit (error->message, "\n", -1);
  guint n = g_strv_length (lines);
  finding->rule = g_strdup (rule->id);
  finding->axis = g_strdup (rule->axis);
  finding->severity = rule->severity;
  finding->blame = rule->blame;
  finding->component = g_strdup (rule->component);
  finding->suggestion = g_strdup (rule->suggestion);
  finding->count = MAX (n, 1);
  finding->where.file = g_strdup (ASSAY_TASK_FILE);
  finding->title =
      n > 1 ? g_strdup_printf ("%s (and %u more)", lines[0], n - 1) : g_strdup (error->message);
  finding->detail = g_strdup (error->message);
  g_autofree char *word = shell_word (folder);
  finding->reproduce = g_strdup_printf ("assay-engine run %s", word);
  assay_finding_fingerprint (finding, lines[0]);
  return finding;
}
