/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/job.h"

#include "engine/base/error.h"
#include "engine/run/devices.h"
#include "engine/run/disassemble.h"
#include "engine/run/environment.h"
#include "engine/run/frameworks.h"
#include "engine/run/pipeline.h"
#include "engine/sandbox/preflight.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_SECONDS 20
#define MOST_SECONDS 86400
#define BATCH_MILLISECONDS 33

struct _AssayJob
{
  GObject parent;
  AssayPipeline pipeline;
  AssayRunSummary *first_summary; /* as it was when the job was made */
  int lock;                       /* of the run folder */
  GThread *thread;
  GMainContext *context;
  gint notify_pending;
  gint finished;
};

G_DEFINE_FINAL_TYPE (AssayJob, assay_job, G_TYPE_OBJECT)

enum
{
  CHANGED,
  N_SIGNALS,
};
static guint signals[N_SIGNALS];

static const AssayStageFunction STAGES[ASSAY_N_STAGES] = {
    assay_stage_validate, assay_stage_compile, assay_stage_run,   assay_stage_compare,
    assay_stage_audit,    assay_stage_check,   assay_stage_bench, assay_stage_profile,
};

/* ---- notification ---- */

static gboolean
emit_changed (gpointer data)
{
  AssayJob *job = data;
  g_atomic_int_set (&job->notify_pending, 0);
  g_signal_emit (job, signals[CHANGED], 0);
  return G_SOURCE_REMOVE;
}

/* From the job's thread: one emission for all that happens within a batch. */
static void
notify_changed (gpointer data)
{
  AssayJob *job = data;
  if (!job->context || !g_atomic_int_compare_and_exchange (&job->notify_pending, 0, 1))
    return;
  g_autoptr (GSource) source = g_timeout_source_new (BATCH_MILLISECONDS);
  g_source_set_callback (source, emit_changed, g_object_ref (job), g_object_unref);
  g_source_attach (source, job->context);
}

/* ---- the thread ---- */

static void
tell_stage (AssayPipeline *p, const AssayStage *stage, double fraction)
{
  JsonObject *fields = json_object_new ();
  json_object_set_string_member (fields, "stage", stage->name);
  json_object_set_int_member (fields, "index", p->stage);
  json_object_set_int_member (fields, "of", ASSAY_N_STAGES);
  json_object_set_string_member (fields, "status", ASSAY_STATUSES[stage->status]);
  if (stage->reason)
    json_object_set_string_member (fields, "reason", stage->reason);
  else
    json_object_set_null_member (fields, "reason");
  json_object_set_double_member (fields, "fraction", fraction);
  json_object_set_string_member (fields, "text", stage->reason ? stage->reason : "");
  assay_events_add (p->events, "stage", fields);
}

static void
save (AssayPipeline *p)
{
  GError *error = NULL;
  if (!assay_run_save (p->run, p->folder, &error))
    assay_pipeline_unsaved (p, error);
}

/* A full disk is no verdict: the stage that noticed ends in an error. */
static void
tell_unsaved (AssayPipeline *p, AssayStage *stage)
{
  g_autofree char *text = g_atomic_pointer_exchange (&p->unsaved, NULL);
  if (!text || stage->status == ASSAY_STATUS_ERROR || stage->status == ASSAY_STATUS_CANCELLED)
    return;
  g_free (stage->reason);
  stage->reason = g_steal_pointer (&text);
  stage->status = ASSAY_STATUS_ERROR;
}

static void
run_stage (AssayPipeline *p, int kind, gboolean possible, const char *why_not)
{
  AssayStage *stage = g_ptr_array_index (p->run->stages, kind);
  gint64 started = g_get_monotonic_time ();
  p->stage = kind;
  stage->status = ASSAY_STATUS_RUNNING;
  tell_stage (p, stage, 0);
  if (assay_pipeline_cancelled (p))
    stage->status = ASSAY_STATUS_CANCELLED;
  else if (!possible)
    {
      stage->status = ASSAY_STATUS_SKIPPED;
      stage->reason = g_strdup (why_not);
    }
  else
    stage->status = STAGES[kind](p, &stage->reason);
  if (assay_pipeline_cancelled (p))
    stage->status = ASSAY_STATUS_CANCELLED;
  stage->seconds = (double) (g_get_monotonic_time () - started) / G_TIME_SPAN_SECOND;
  /* A stage that did nothing changed nothing worth the writing. */
  if (stage->status != ASSAY_STATUS_SKIPPED && kind != ASSAY_STAGE_COMPARE)
    save (p);
  tell_unsaved (p, stage);
  tell_stage (p, stage, 1);
}

/* Asking every Python takes a while: only a task that pins something has it done. */
static void
check_pins (AssayPipeline *p)
{
  g_autoptr (GPtrArray) none = g_ptr_array_new ();
  g_autoptr (GPtrArray) wanted = assay_pins_check (p->task, none, NULL);
  if (wanted->len == 0 || assay_pipeline_cancelled (p))
    return;
  g_autoptr (GPtrArray) pythons = assay_frameworks_list ();
  char *compilers[] = {p->compiler, NULL};
  p->facts.pins = assay_pins_check (p->task, pythons, compilers);
}

static void
tell_findings (AssayPipeline *p)
{
  check_pins (p);
  assay_findings_derive (p->run, &p->facts);
  for (guint i = 0; i < p->run->findings->len; i++)
    assay_events_add_record (
        p->events, "finding",
        assay_json_table_write (&ASSAY_FINDING_TABLE, g_ptr_array_index (p->run->findings, i)));
}

static int
conclude (const AssayPipeline *p)
{
  int state = ASSAY_STATUS_PASSED;
  for (guint i = 0; i < p->run->stages->len; i++)
    {
      int status = ((const AssayStage *) g_ptr_array_index (p->run->stages, i))->status;
      if (status == ASSAY_STATUS_CANCELLED)
        return status;
      if (status == ASSAY_STATUS_ERROR
          || (status == ASSAY_STATUS_FAILED && state != ASSAY_STATUS_ERROR))
        state = status;
    }
  for (guint i = 0; i < p->run->findings->len && state == ASSAY_STATUS_PASSED; i++)
    {
      const AssayFinding *finding = g_ptr_array_index (p->run->findings, i);
      if (finding->severity <= ASSAY_SEVERITY_MAJOR)
        state = ASSAY_STATUS_FAILED;
    }
  return state;
}

/* The launch counters by themselves, for tools that want nothing else of a run. */
static void
write_counters (AssayPipeline *p)
{
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_ARRAY);
  g_autofree char *path = g_build_filename (p->folder, "counters.json", NULL);
  JsonArray *all = json_array_new ();
  json_node_take_array (node, all);
  for (guint i = 0; i < p->run->workloads->len; i++)
    {
      const AssayWorkloadRecord *workload = g_ptr_array_index (p->run->workloads, i);
      for (guint k = 0; k < workload->launches->len; k++)
        {
          const AssayLaunch *launch = g_ptr_array_index (workload->launches, k);
          JsonObject *entry = json_object_new ();
          json_object_set_string_member (entry, "workload", workload->name);
          if (launch->counters)
            json_object_set_member (entry, "launch", json_node_copy (launch->counters));
          json_array_add_object_element (all, entry);
        }
    }
  GError *error = NULL;
  if (!assay_json_save (node, path, &error))
    assay_pipeline_unsaved (p, error);
}

/* The rest of the compile matrix, once nobody waits for it. */
static void
compile_others (AssayPipeline *p)
{
  const AssayStage *stage = g_ptr_array_index (p->run->stages, ASSAY_STAGE_COMPILE);
  int before = stage->status, at_work = p->stage;
  assay_compile_others (p);
  assay_disassemble (p);
  p->stage = ASSAY_STAGE_COMPILE;
  if (stage->status != before)
    tell_stage (p, stage, 1);
  p->stage = at_work;
}

/* What was not written at the very end: the last stage says so, if there is room to save that. */
static void
settle_unsaved (AssayPipeline *p)
{
  AssayStage *stage = g_ptr_array_index (p->run->stages, ASSAY_N_STAGES - 1);
  if (!p->unsaved)
    return;
  p->stage = ASSAY_N_STAGES - 1;
  tell_unsaved (p, stage);
  tell_stage (p, stage, 1);
  p->run->state = conclude (p);
  assay_run_save (p->run, p->folder, NULL);
}

static gpointer
run_thread (gpointer data)
{
  AssayJob *job = data;
  AssayPipeline *p = &job->pipeline;
  JsonObject *fields = json_object_new ();
  gboolean possible = TRUE;
  for (int i = 0; i < ASSAY_N_STAGES; i++)
    {
      const AssayStage *stage = g_ptr_array_index (p->run->stages, i);
      run_stage (p, i, possible, "the task cannot be run: see stage validate");
      if (i == ASSAY_STAGE_VALIDATE)
        possible = stage->status == ASSAY_STATUS_PASSED;
      if (i == ASSAY_STAGE_CHECK && possible)
        compile_others (p);
    }
  tell_findings (p);
  write_counters (p);
  p->run->state = conclude (p);
  p->run->finished = assay_time_now ();
  save (p);
  settle_unsaved (p);
  json_object_set_string_member (fields, "state", ASSAY_STATUSES[p->run->state]);
  json_object_set_string_member (fields, "folder", p->folder);
  if (job->lock >= 0)
    close (job->lock);
  job->lock = -1;
  g_atomic_int_set (&job->finished, 1);
  assay_events_finish (p->events, fields);
  return NULL;
}

/* ---- making one ---- */

/* The first target of the task that a virtual device has, for "auto". */
static const char *
own_target (const AssayTask *task)
{
  for (guint i = 0; task->targets && task->targets[i]; i++)
    if (g_str_has_prefix (task->targets[i], "cuda:sm_"))
      return task->targets[i] + strlen ("cuda:");
  return "sm_80";
}

static gboolean
make_folder (AssayPipeline *p, const AssayJobRequest *request, GError **error)
{
  static const char *const parts[] = {"logs", "arrays", "artifacts"};
  g_autofree char *id = assay_run_id_new ();
  p->run->id = g_strdup (id);
  p->folder = request->folder
                  ? g_canonicalize_filename (request->folder, NULL)
                  : g_build_filename (request->workspace, "runs", p->task->id, id, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_autofree char *path = g_build_filename (p->folder, parts[i], NULL);
      if (g_mkdir_with_parents (path, 0700) != 0)
        {
          g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED,
                       "the run folder cannot be made: %s: %s", path, g_strerror (errno));
          return FALSE;
        }
    }
  return TRUE;
}

static void
add_stages (AssayRun *run)
{
  for (int i = 0; i < ASSAY_N_STAGES; i++)
    {
      AssayStage *stage = assay_json_table_new (&ASSAY_STAGE_TABLE);
      stage->name = g_strdup (ASSAY_STAGES[i]);
      stage->status = ASSAY_STATUS_PENDING;
      g_ptr_array_add (run->stages, stage);
    }
}

static void
describe_run (AssayPipeline *p)
{
  AssayRun *run = p->run;
  run->state = ASSAY_STATUS_RUNNING;
  run->candidate = g_strdup (p->candidate->name);
  run->task.id = g_strdup (p->task->id);
  run->task.path = g_strdup (p->task->folder);
  run->task.sha256 = assay_task_hashes (p->task, NULL);
  run->device.kind = g_strdup (p->device->kind);
  run->device.name = g_strdup (p->device->name);
  run->device.target = g_strdup (p->target);
  run->device.driver = g_strdup (p->device->driver);
  run->device.toolkit = g_strdup (p->toolkit ? p->toolkit->root : NULL);
  run->device.checks = g_strdup (p->checks);
  if (g_str_equal (p->device->kind, "virtual"))
    run->device.math_mode = g_strdup ("ideal");
  run->started = assay_time_now ();
  assay_environment_describe (&run->environment, p->tier, p->toolkit ? p->toolkit->root : NULL);
  if (assay_candidate_is_host (p->candidate))
    {
      /* Said in the record, since a reviewer must not take the checkers' silence for a proof. */
      g_autofree char *sandbox = g_steal_pointer (&run->environment.sandbox);
      run->environment.sandbox = g_strconcat (
          sandbox, "; the candidate's host code shares a process with driver and checkers", NULL);
    }
  add_stages (run);
}

gboolean
assay_run_check_seconds (double seconds, GError **error)
{
  if (seconds > 0 && seconds <= MOST_SECONDS)
    return TRUE;
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
               "timeout: expected more than 0 and at most %d seconds; found %g", MOST_SECONDS,
               seconds);
  return FALSE;
}

/* The words of the virtual GPU (engine/target/vgpu-extension.h). */
gboolean
assay_run_check_checks (const char *checks, GError **error)
{
  static const char *const known[] = {"all",         "none", "uninit", "race",
                                      "race-global", "sync", "counts", NULL};
  g_auto (GStrv) words = g_strsplit (checks, ",", -1);
  const char *wrong = *checks ? NULL : "";
  for (guint i = 0; words[i] && !wrong; i++)
    wrong = g_strv_contains (known, words[i]) ? NULL : words[i];
  if (!wrong)
    return TRUE;
  g_autofree char *list = g_strjoinv (", ", (char **) known);
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
               "checks: expected a comma list of %s; found \"%s\"", list, wrong);
  return FALSE;
}

static gboolean
prepare (AssayPipeline *p, const AssayJobRequest *request, GError **error)
{
  g_autoptr (GError) no_toolkit = NULL;
  p->checks = g_strdup (request->checks ? request->checks : "all");
  p->seconds =
      isnan (request->seconds) || request->seconds == 0 ? DEFAULT_SECONDS : request->seconds;
  if (!assay_run_check_checks (p->checks, error) || !assay_run_check_seconds (p->seconds, error))
    return FALSE;
  p->task = assay_task_load (request->task, NULL, error);
  if (!p->task)
    return FALSE;
  p->candidate = assay_task_candidate (p->task, request->candidate);
  if (!p->candidate)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND, "task %s has no candidate \"%s\"",
                   p->task->id, request->candidate ? request->candidate : "(any)");
      return FALSE;
    }
  p->device = assay_device_find (request->device, own_target (p->task), error);
  if (!p->device || !assay_sandbox_choose (request->consent_unsandboxed, &p->tier, error)
      || !make_folder (p, request, error))
    return FALSE;
  p->target = g_strdup (p->device->target);
  p->toolkit = assay_toolkit_find (&no_toolkit);
  if (!p->toolkit)
    p->toolkit_reason = g_strdup (no_toolkit->message);
  p->facts.task = p->task;
  p->facts.candidate = p->candidate;
  p->facts.target = p->target;
  describe_run (p);
  return assay_run_save (p->run, p->folder, error);
}

AssayJob *
assay_job_new (const AssayJobRequest *request, GError **error)
{
  g_autoptr (AssayJob) job = g_object_new (ASSAY_TYPE_JOB, NULL);
  if (!prepare (&job->pipeline, request, error))
    return NULL;
  job->lock = assay_run_folder_lock (job->pipeline.folder);
  job->first_summary = assay_run_summarise (job->pipeline.run, job->pipeline.folder);
  return g_steal_pointer (&job);
}

void
assay_job_start (AssayJob *job)
{
  g_return_if_fail (job->thread == NULL);
  job->context = g_main_context_ref_thread_default ();
  assay_events_set_notify (job->pipeline.events, notify_changed, job);
  job->thread = g_thread_new ("job", run_thread, job);
}

void
assay_job_cancel (AssayJob *job)
{
  g_cancellable_cancel (job->pipeline.cancellable);
}

void
assay_job_join (AssayJob *job)
{
  if (job->thread)
    g_thread_join (g_steal_pointer (&job->thread));
}

const char *
assay_job_id (AssayJob *job)
{
  return job->first_summary->id;
}

const char *
assay_job_folder (AssayJob *job)
{
  return job->first_summary->folder;
}

AssayEvents *
assay_job_events (AssayJob *job)
{
  return job->pipeline.events;
}

gboolean
assay_job_is_finished (AssayJob *job)
{
  return g_atomic_int_get (&job->finished);
}

const AssayRun *
assay_job_run (AssayJob *job)
{
  return assay_job_is_finished (job) ? job->pipeline.run : NULL;
}

AssayRunSummary *
assay_job_summary (AssayJob *job)
{
  const AssayRun *run = assay_job_run (job);
  return run ? assay_run_summarise (run, job->pipeline.folder)
             : assay_run_summary_copy (job->first_summary);
}

/* ---- the object ---- */

static void
pipeline_clear (AssayPipeline *p)
{
  g_clear_pointer (&p->cases, g_ptr_array_unref);
  g_clear_pointer (&p->run, assay_run_free);
  g_clear_pointer (&p->task, assay_task_free);
  g_clear_pointer (&p->device, assay_device_free);
  g_clear_pointer (&p->toolkit, assay_toolkit_free);
  g_clear_pointer (&p->ptx, assay_memory_unref);
  g_clear_pointer (&p->host, assay_memory_unref);
  pthread_mutex_destroy (&p->lock);
  for (int real = ASSAY_REAL_FLOAT; real <= ASSAY_REAL_QUAD; real++)
    {
      g_clear_pointer (&p->libraries[real], assay_memory_unref);
      g_clear_pointer (&p->cross_libraries[real], assay_memory_unref);
    }
  g_ptr_array_unref (p->facts.reports);
  g_ptr_array_unref (p->facts.failures);
  g_ptr_array_unref (p->set_aside);
  g_ptr_array_unref (p->facts.repeats);
  g_free (p->target);
  g_free (p->checks);
  g_free (p->folder);
  g_free (p->toolkit_reason);
  g_free (p->reference_reason);
  g_free (p->entry);
  g_free (p->unsaved);
  g_free (p->compiler);
  g_clear_pointer (&p->facts.pins, g_ptr_array_unref);
  g_clear_object (&p->cancellable);
  g_clear_pointer (&p->events, assay_events_unref);
}

static void
assay_job_finalize (GObject *object)
{
  AssayJob *job = ASSAY_JOB (object);
  assay_job_join (job);
  pipeline_clear (&job->pipeline);
  g_clear_pointer (&job->first_summary, assay_run_summary_free);
  if (job->lock >= 0)
    close (job->lock);
  g_clear_pointer (&job->context, g_main_context_unref);
  G_OBJECT_CLASS (assay_job_parent_class)->finalize (object);
}

static void
assay_job_class_init (AssayJobClass *class)
{
  G_OBJECT_CLASS (class)->finalize = assay_job_finalize;
  signals[CHANGED] = g_signal_new ("changed", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 0);
}

static void
assay_job_init (AssayJob *job)
{
  AssayPipeline *p = &job->pipeline;
  job->lock = -1;
  pthread_mutex_init (&p->lock, NULL);
  p->run = assay_run_new ();
  p->events = assay_events_new ();
  p->cancellable = g_cancellable_new ();
  p->facts.reports = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_report_free);
  p->facts.failures = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_failure_free);
  p->set_aside = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_failure_free);
  p->facts.repeats = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_repeat_free);
}
