/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/findings/derive.h"
#include "engine/findings/failure.h"

#include "engine/task/plan.h"

#include <string.h>

/* Compile matrix, launch limits, and errors of workers. The first error in time wins: what follows a
 * fault in the same workload is its consequence. */

static char *
first_line (const char *text)
{
  return text ? g_strndup (text, strcspn (text, "\n")) : g_strdup ("no message");
}

static void
set_place (AssayFinding *finding, const AssayFailure *failure)
{
  if (!failure || !failure->file || finding->where.file)
    return;
  finding->where.file = g_strdup (failure->file);
  finding->where.line = failure->line;
}

/* What the compiler said first; NULL when it was not asked. */
static const AssayFailure *
compile_failure (const AssayDeriving *deriving)
{
  const GPtrArray *failures = deriving->facts->failures;
  for (guint i = 0; failures && i < failures->len; i++)
    {
      const AssayFailure *failure = g_ptr_array_index (failures, i);
      if (g_strcmp0 (failure->role, "compile") == 0)
        return failure;
    }
  return NULL;
}

static void
add_compile (AssayDeriving *deriving, const AssayCompile *compile)
{
  gboolean failed = compile->status == ASSAY_STATUS_FAILED;
  gboolean spills = compile->spill_store_bytes > 0 || compile->spill_load_bytes > 0;
  gboolean unsupported = failed && g_strcmp0 (compile->failure, "ARCH_MISMATCH") == 0;
  if (!failed && !spills)
    return;
  AssayFinding *finding = assay_derive_add (deriving, unsupported ? "build.arch-unsupported"
                                                      : failed    ? "build.failed"
                                                                  : "build.spills");
  g_free (finding->target);
  finding->target = g_strdup (compile->target);
  if (compile->log)
    assay_derive_evidence (finding, "log", compile->log, "the compiler's text");
  const AssayFailure *failure = failed ? compile_failure (deriving) : NULL;
  g_autofree char *said = failure ? first_line (failure->message) : g_strdup (compile->failure);
  set_place (finding, failure);
  char *title =
      unsupported
          ? g_strdup_printf ("The installed toolkit does not compile for %s", compile->target)
      : failed ? g_strdup_printf ("Does not compile for %s%s%s", compile->target, said ? ": " : "",
                                  said ? said : "")
               : g_strdup_printf ("Spills %" G_GINT64_FORMAT " bytes stored and %" G_GINT64_FORMAT
                                  " bytes loaded on %s, with %" G_GINT64_FORMAT " registers",
                                  compile->spill_store_bytes, compile->spill_load_bytes,
                                  compile->target, compile->registers);
  assay_derive_finish (deriving, finding, title, compile->target);
}

static gint64
registers_on (const AssayDeriving *deriving, const char *target)
{
  for (guint i = 0; i < deriving->run->compile->len; i++)
    {
      const AssayCompile *compile = g_ptr_array_index (deriving->run->compile, i);
      if (compile->target && g_str_has_suffix (compile->target, target))
        return compile->registers;
    }
  return 0;
}

/* Checked for every target the task lists, whatever device ran. */
static void
add_launch_limits (AssayDeriving *deriving, const AssayPlan *plan, const char *target)
{
  AssayLaunchShape shape;
  char text[256] = "";
  const AssayEntry *entry = &deriving->facts->candidate->entry;
  if (!assay_plan_launch (plan, entry, &shape, NULL))
    return;
  const char *rule = assay_derive_launch_rule (target, shape.grid, shape.block, shape.shared,
                                               registers_on (deriving, target), text, sizeof text);
  if (!rule)
    return;
  g_hash_table_add (deriving->broken, plan->workload->name);
  for (guint i = 0; i < deriving->run->findings->len; i++)
    {
      AssayFinding *known = g_ptr_array_index (deriving->run->findings, i);
      if (g_str_equal (known->rule, rule) && g_strcmp0 (known->target, target) == 0)
        {
          known->count++;
          return;
        }
    }
  AssayFinding *finding = assay_derive_add (deriving, rule);
  g_free (finding->target);
  finding->target = g_strdup (target);
  finding->where.kernel = g_strdup (entry->symbol);
  finding->where.workload = g_strdup (plan->workload->name);
  finding->detail =
      g_strdup_printf ("Grid (%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                       "), block (%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                       "), %" G_GINT64_FORMAT " bytes of dynamic shared memory. %s",
                       shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0], shape.block[1],
                       shape.block[2], shape.shared, text);
  while (*text && text[strlen (text) - 1] == '.')
    text[strlen (text) - 1] = 0;
  assay_derive_finish (
      deriving, finding,
      g_strdup_printf ("%s · workload %s on %s", text, plan->workload->name, target), target);
}

static void
check_launches (AssayDeriving *deriving)
{
  const AssayTask *task = deriving->facts->task;
  if (!deriving->facts->candidate || deriving->facts->candidate->entry.kind != ASSAY_ENTRY_KERNEL)
    return;
  for (guint w = 0; w < task->workloads->len; w++)
    {
      g_autoptr (AssayPlan) plan =
          assay_plan_new (task, g_ptr_array_index (task->workloads, w), NULL);
      gboolean own = FALSE;
      for (guint t = 0; plan && task->targets && task->targets[t]; t++)
        if (g_str_has_prefix (task->targets[t], "cuda:"))
          {
            const char *target = task->targets[t] + strlen ("cuda:");
            own |= g_strcmp0 (target, deriving->facts->target) == 0;
            add_launch_limits (deriving, plan, target);
          }
      if (plan && !own && deriving->facts->target)
        add_launch_limits (deriving, plan, deriving->facts->target);
    }
}

/* The line of task.json with the candidate's "arguments"; 0 where there is none. */
static gint64
arguments_line (const AssayDeriving *deriving)
{
  const AssayCandidate *candidate = deriving->facts->candidate;
  g_autofree char *text = assay_task_read_text (deriving->facts->task, "task.json", NULL);
  g_autofree char *named = candidate ? g_regex_escape_string (candidate->name, -1) : NULL;
  g_autofree char *name =
      named ? g_strdup_printf ("(?s)\"name\"\\s*:\\s*\"%s\".*?\"arguments\"", named) : NULL;
  g_autoptr (GRegex) regex = name ? g_regex_new (name, 0, 0, NULL) : NULL;
  g_autoptr (GMatchInfo) match = NULL;
  gint64 line = 1;
  int end = 0;
  if (!text || !regex || !g_regex_match (regex, text, 0, &match)
      || !g_match_info_fetch_pos (match, 0, NULL, &end))
    return 0;
  for (int i = 0; i < end; i++)
    line += text[i] == '\n';
  return line;
}

/* The entry in task.json and the kernel's own signature disagree: the candidate was never called. */
static void
add_entry_mismatch (AssayDeriving *deriving, const AssayFailure *failure)
{
  AssayFinding *finding = assay_derive_add (deriving, "task.entry-mismatch");
  g_autofree char *line = first_line (failure->message);
  finding->where.workload = g_strdup (failure->workload);
  finding->where.file = g_strdup ("task.json");
  finding->where.line = arguments_line (deriving);
  finding->detail = g_strdup_printf (
      "%s\n\nThe kernel was not launched: what the task's entry passes is not what its source "
      "declares, so nothing is known about the candidate.",
      failure->message ? failure->message : "");
  assay_derive_finish (deriving, finding,
                       g_strdup_printf ("The entry does not fit the kernel: %s", line),
                       "arguments");
}

static void
add_failure (AssayDeriving *deriving, const AssayFailure *failure)
{
  if (g_strcmp0 (failure->name, "arguments") == 0 && g_strcmp0 (failure->role, "candidate") == 0)
    {
      add_entry_mismatch (deriving, failure);
      return;
    }
  const AssayFailureClass *is = assay_failure_classify (failure);
  gboolean reference =
      g_strcmp0 (failure->role, "reference") == 0 || g_strcmp0 (failure->role, "generate") == 0;
  gboolean ours = is->blame == ASSAY_BLAME_CANDIDATE;
  const char *rule = reference && ours ? "task.reference-fails" : is->rule;
  AssayFinding *finding = assay_derive_add (deriving, rule);
  finding->where.workload = g_strdup (failure->workload);
  set_place (finding, failure);
  if (!(reference && ours))
    finding->blame = is->blame;
  if (!finding->suggestion)
    finding->suggestion = g_strdup (is->advice);
  finding->detail = g_strdup_printf (
      "Class %s. Role %s, phase %s, code %" G_GINT64_FORMAT " %s.\n\n%s", is->failure_class,
      failure->role ? failure->role : "unknown", failure->phase ? failure->phase : "unknown",
      failure->code, failure->name ? failure->name : "", failure->message ? failure->message : "");
  const char *who = reference ? "The reference" : "The candidate";
  const char *name = failure->name ? failure->name : is->failure_class;
  g_autofree char *line = first_line (failure->message);
  assay_derive_finish (deriving, finding,
                       failure->workload ? g_strdup_printf ("%s failed on workload %s: %s (%s)",
                                                            who, failure->workload, name, line)
                                         : g_strdup_printf ("%s failed: %s (%s)", who, name, line),
                       is->failure_class);
}

/* One finding for each rule, role and class: three workloads that crash alike are one fault. */
static gboolean
already_told (const AssayDeriving *deriving, guint before)
{
  const GPtrArray *failures = deriving->facts->failures;
  const AssayFailure *failure = g_ptr_array_index (failures, before);
  for (guint i = 0; i < before; i++)
    {
      const AssayFailure *earlier = g_ptr_array_index (failures, i);
      gboolean same_workload = g_strcmp0 (earlier->workload, failure->workload) == 0
                               && g_strcmp0 (earlier->role, failure->role) == 0;
      gboolean same_class = g_str_equal (assay_failure_classify (earlier)->failure_class,
                                         assay_failure_classify (failure)->failure_class)
                            && g_strcmp0 (earlier->role, failure->role) == 0;
      if (same_workload || same_class)
        return TRUE;
    }
  return FALSE;
}

void
assay_derive_failures (AssayDeriving *deriving)
{
  for (guint i = 0; i < deriving->run->compile->len; i++)
    add_compile (deriving, g_ptr_array_index (deriving->run->compile, i));
  if (!assay_derive_has (deriving, "launch."))
    check_launches (deriving);
  const GPtrArray *failures = deriving->facts->failures;
  for (guint i = 0; failures && i < failures->len; i++)
    {
      const AssayFailure *failure = g_ptr_array_index (failures, i);
      gboolean candidate = g_strcmp0 (failure->role, "candidate") == 0;
      gboolean explained = candidate && failure->workload
                           && g_hash_table_contains (deriving->broken, failure->workload);
      gboolean compiled =
          g_strcmp0 (failure->role, "compile") == 0 && assay_derive_has (deriving, "build.");
      if (!explained && !compiled && !already_told (deriving, i))
        add_failure (deriving, failure);
    }
}
