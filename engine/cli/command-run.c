/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cli/command.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/findings/findings.h"
#include "engine/run/job.h"

#include <glib-unix.h>
#include <stdio.h>
#include <unistd.h>

typedef struct
{
  char *candidate, *device, *checks, *out, *json, *workspace;
  double seconds;
  gboolean consent;
} Options;

typedef struct
{
  AssayJob *job;
  GMainLoop *loop;
  guint64 seen;
  gboolean progress; /* stderr is a terminal */
  gboolean interrupted;
} Watch;

static void
options_clear (Options *options)
{
  g_free (options->candidate);
  g_free (options->device);
  g_free (options->checks);
  g_free (options->out);
  g_free (options->json);
  g_free (options->workspace);
}

static void
show_progress (Watch *watch)
{
  g_autoptr (GPtrArray) lines = assay_events_since (assay_job_events (watch->job), watch->seen, 0);
  watch->seen += lines->len;
  for (guint i = lines->len; i-- > 0 && watch->progress;)
    {
      g_autoptr (JsonNode) node = assay_json_parse (g_ptr_array_index (lines, i), -1,
                                                    &ASSAY_JSON_LIMITS_RECORD, "event", NULL);
      JsonObject *event = node ? json_node_get_object (node) : NULL;
      if (!event || g_strcmp0 (assay_json_string (event, "type"), "stage") != 0)
        continue;
      fprintf (stderr, "\r\033[K%s %s", assay_json_string (event, "stage"),
               assay_json_string (event, "text"));
      fflush (stderr);
      return;
    }
}

static void
on_changed (Watch *watch)
{
  show_progress (watch);
  if (assay_events_finished (assay_job_events (watch->job)))
    g_main_loop_quit (watch->loop);
}

static gboolean
on_interrupt (gpointer data)
{
  Watch *watch = data;
  watch->interrupted = TRUE;
  assay_job_cancel (watch->job);
  return G_SOURCE_CONTINUE;
}

static void
run_to_end (Watch *watch)
{
  guint interrupt = g_unix_signal_add (SIGINT, on_interrupt, watch);
  guint terminate = g_unix_signal_add (SIGTERM, on_interrupt, watch);
  watch->loop = g_main_loop_new (NULL, FALSE);
  watch->progress = isatty (STDERR_FILENO);
  g_signal_connect_swapped (watch->job, "changed", G_CALLBACK (on_changed), watch);
  assay_job_start (watch->job);
  g_main_loop_run (watch->loop);
  assay_job_join (watch->job);
  g_main_loop_unref (watch->loop);
  g_source_remove (interrupt);
  g_source_remove (terminate);
  if (watch->progress)
    fputs ("\r\033[K", stderr);
}

static void
print_stages (const AssayRun *run)
{
  g_autoptr (AssayTextTable) table =
      assay_text_table_new ("stage", "status", ">seconds", "reason", NULL);
  for (guint i = 0; i < run->stages->len; i++)
    {
      const AssayStage *stage = g_ptr_array_index (run->stages, i);
      g_autofree char *seconds = g_strdup_printf ("%.2f", stage->seconds);
      assay_text_table_add (table, stage->name, ASSAY_STATUSES[stage->status], seconds,
                            stage->reason ? stage->reason : "");
    }
  assay_text_table_print (table, "");
}

static void
add_output (AssayTextTable *table, const AssayWorkloadRecord *workload, const AssayOutput *output)
{
  const AssayComparison *comparison = output->comparison;
  if (!comparison)
    {
      assay_text_table_add (table, workload->name, ASSAY_WORKLOAD_STATUSES[workload->status],
                            output->name, NULL, NULL, NULL, NULL);
      return;
    }
  g_autofree char *error = g_strdup_printf ("%.3g", comparison->max_abs.value);
  g_autofree char *ulp = g_strdup_printf ("%.3g", comparison->max_ulp_real.value);
  g_autofree char *mismatches = g_strdup_printf ("%" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT,
                                                 comparison->mismatches, comparison->count);
  g_autofree char *rule = assay_tolerance_describe (output->tolerance);
  assay_text_table_add (table, workload->name, ASSAY_WORKLOAD_STATUSES[workload->status],
                        output->name, error, ulp, mismatches, rule);
}

static void
print_workloads (const AssayRun *run)
{
  g_autoptr (AssayTextTable) table = assay_text_table_new (
      "workload", "status", "output", ">max error", ">max ulp", ">mismatches", "tolerance", NULL);
  for (guint i = 0; i < run->workloads->len; i++)
    {
      const AssayWorkloadRecord *workload = g_ptr_array_index (run->workloads, i);
      for (guint k = 0; k < workload->outputs->len; k++)
        add_output (table, workload, g_ptr_array_index (workload->outputs, k));
      if (workload->outputs->len == 0)
        assay_text_table_add (table, workload->name, ASSAY_WORKLOAD_STATUSES[workload->status],
                              NULL, NULL, NULL, NULL, workload->reason ? workload->reason : "");
    }
  printf ("\n");
  assay_text_table_print (table, "");
}

static void
print_times (const AssayTimingSummary *benchmark)
{
  g_autoptr (AssayTextTable) table = assay_text_table_new (
      "workload", ">candidate, us", ">baseline, us", "baseline", ">ratio", "verdict", NULL);
  for (guint i = 0; benchmark && i < benchmark->timings->len; i++)
    {
      const AssayTiming *timing = g_ptr_array_index (benchmark->timings, i);
      g_autofree char *ours = g_strdup_printf ("%.4g", 1e6 * timing->candidate.median);
      g_autofree char *theirs = g_strdup_printf ("%.4g", 1e6 * timing->baseline.median);
      g_autofree char *ratio =
          g_strdup_printf ("%.4f [%.4f, %.4f]", timing->ratio, timing->low, timing->high);
      g_autofree char *verdict = g_strdup_printf ("%s: %s", timing->verdict, timing->reason);
      assay_text_table_add (table, timing->workload, ours, theirs,
                            timing->against_itself ? "(itself)" : timing->baseline.name, ratio,
                            verdict);
    }
  if (!benchmark)
    return;
  printf ("\n");
  assay_text_table_print (table, "");
}

static void
print_findings (GPtrArray *findings)
{
  g_autoptr (AssayTextTable) table =
      assay_text_table_new ("severity", "blame", "rule", "finding", NULL);
  for (guint i = 0; i < findings->len; i++)
    {
      const AssayFinding *finding = g_ptr_array_index (findings, i);
      g_autofree char *place =
          finding->where.file && finding->where.line > 0
              ? g_strdup_printf ("%s (%s:%" G_GINT64_FORMAT ")", finding->title,
                                 finding->where.file, finding->where.line)
              : g_strdup (finding->title);
      assay_text_table_add (table, ASSAY_SEVERITIES[finding->severity],
                            ASSAY_BLAMES[finding->blame], finding->rule, place);
    }
  if (findings->len > 0)
    printf ("\n");
  assay_text_table_print (table, "");
}

static void
print_run (const AssayRun *run, const char *folder)
{
  printf ("%s, candidate %s, on %s (%s)\nsandbox: %s\n\n", run->task.id, run->candidate,
          run->device.name, run->device.target, run->environment.sandbox);
  print_stages (run);
  print_workloads (run);
  print_times (run->benchmark);
  print_findings (run->findings);
  printf ("\n%s: %s\n", ASSAY_STATUSES[run->state], folder);
}

static int
exit_status (const AssayRun *run)
{
  gboolean inconclusive = FALSE, faults = run->state == ASSAY_STATUS_FAILED;
  if (run->state == ASSAY_STATUS_ERROR || run->state == ASSAY_STATUS_CANCELLED)
    return ASSAY_EXIT_IMPOSSIBLE;
  for (guint i = 0; i < run->workloads->len; i++)
    {
      const AssayWorkloadRecord *workload = g_ptr_array_index (run->workloads, i);
      inconclusive = inconclusive || workload->status == ASSAY_WORKLOAD_INCONCLUSIVE;
    }
  return inconclusive ? ASSAY_EXIT_IMPOSSIBLE : faults ? ASSAY_EXIT_FAULTS : ASSAY_EXIT_FINE;
}

/* A task that cannot be read is a finding about the task, and a fault that was found. */
static int
report_bad_task (const char *task, const GError *error, const char *json)
{
  AssayFinding *finding = assay_finding_for_bad_task (task, error);
  g_autoptr (GPtrArray) findings =
      g_ptr_array_new_with_free_func ((GDestroyNotify) assay_finding_free);
  g_ptr_array_add (findings, finding);
  g_printerr ("assay-engine run: %s\n", error->message);
  if (json)
    {
      g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
      JsonObject *object = json_object_new ();
      JsonArray *list = json_array_new ();
      json_array_add_element (list, assay_json_table_write (&ASSAY_FINDING_TABLE, finding));
      json_object_set_array_member (object, "findings", list);
      json_node_take_object (node, object);
      assay_command_write_json (node, json, NULL);
    }
  if (g_strcmp0 (json, "-") != 0)
    print_findings (findings);
  return ASSAY_EXIT_FAULTS;
}

static gboolean
is_task_fault (const char *task, const GError *error)
{
  g_autoptr (GError) again = NULL;
  AssayTask *loaded = assay_task_load (task, NULL, &again);
  g_clear_pointer (&loaded, assay_task_free);
  return again && g_str_equal (again->message, error->message);
}

/* What stands on the command line and means nothing, or two things at once. */
static gboolean
check_options (const Options *options, GError **error)
{
  if (options->out && options->workspace)
    g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                 "--out names the run folder, --workspace the folder it is made below: give one of "
                 "them");
  else if (!assay_run_check_seconds (options->seconds, error))
    return FALSE;
  else if (options->checks && !assay_run_check_checks (options->checks, error))
    return FALSE;
  else if ((options->out && !*options->out) || (options->workspace && !*options->workspace))
    g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "--%s: expected a folder, found \"\"",
                 options->out ? "out" : "workspace");
  else
    return TRUE;
  return FALSE;
}

static int
run_task (const char *task, const Options *options)
{
  g_autoptr (GError) error = NULL;
  if (!check_options (options, &error))
    return assay_command_fail ("run", error);
  g_autofree char *workspace =
      options->workspace ? g_strdup (options->workspace)
                         : g_build_filename (g_get_user_data_dir (), "assay", "workspace", NULL);
  AssayJobRequest request = {
      .task = task,
      .candidate = options->candidate,
      .device = options->device,
      .checks = options->checks,
      .workspace = workspace,
      .folder = options->out,
      .seconds = options->seconds,
      .consent_unsandboxed = options->consent,
  };
  g_autoptr (AssayJob) job = assay_job_new (&request, &error);
  if (!job)
    return is_task_fault (task, error) ? report_bad_task (task, error, options->json)
                                       : assay_command_fail ("run", error);
  Watch watch = {.job = job};
  run_to_end (&watch);
  const AssayRun *run = assay_job_run (job);
  if (g_strcmp0 (options->json, "-") != 0)
    print_run (run, assay_job_folder (job));
  if (options->json)
    {
      g_autoptr (JsonNode) node = assay_json_table_write (&ASSAY_RUN_TABLE, run);
      if (!assay_command_write_json (node, options->json, &error))
        return assay_command_fail ("run", error);
    }
  return exit_status (run);
}

int
assay_command_run (int argc, char **argv)
{
  Options options = {.seconds = 20};
  const GOptionEntry entries[] = {
      {"candidate", 'c', 0, G_OPTION_ARG_STRING, &options.candidate,
       "which one (default: the first)", "NAME"},
      {"device", 'd', 0, G_OPTION_ARG_STRING, &options.device,
       "virtual:sm_80, cuda:0, or auto (default)", "DEVICE"},
      {"checks", 0, 0, G_OPTION_ARG_STRING, &options.checks,
       "all (default), none, or a list of uninit, race, race-global, sync, counts", "LIST"},
      {"timeout", 0, 0, G_OPTION_ARG_DOUBLE, &options.seconds,
       "seconds that one launch may take (default 20)", "SECONDS"},
      {"out", 'o', 0, G_OPTION_ARG_FILENAME, &options.out, "the run folder itself", "DIR"},
      {"workspace", 'w', 0, G_OPTION_ARG_FILENAME, &options.workspace,
       "run folders are made below this one", "DIR"},
      {"json", 0, 0, G_OPTION_ARG_FILENAME, &options.json, "write the record there; - is stdout",
       "FILE"},
      {"consent-unsandboxed", 0, 0, G_OPTION_ARG_NONE, &options.consent,
       "run foreign code even where it cannot be confined; the record says so", NULL},
      {NULL},
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("TASK – run one candidate of a task");
  g_option_context_add_main_entries (context, entries, NULL);
  int status = ASSAY_EXIT_IMPOSSIBLE;
  if (assay_command_parse (context, &argc, &argv))
    {
      if (argc == 2)
        status = run_task (argv[1], &options);
      else
        g_printerr ("assay-engine run: expected one task folder\n");
    }
  options_clear (&options);
  return status;
}
