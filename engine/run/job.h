/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/run.h"
#include "engine/run/events.h"
#include "engine/store/store.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* One run, from a task folder to run.json, in a thread of its own. It knows no transport: service and
 * command line read the same events. */
#define ASSAY_TYPE_JOB (assay_job_get_type ())
G_DECLARE_FINAL_TYPE (AssayJob, assay_job, ASSAY, JOB, GObject)

typedef struct
{
  const char *task;      /* folder */
  const char *candidate; /* NULL: the first */
  const char *device;    /* NULL or "auto": a real one, else the virtual one of the task's target */
  const char *checks;    /* "all" (also NULL), "none", or a comma list */
  const char *workspace; /* the run folder is made below it … */
  const char *folder;    /* … or is this one */
  double seconds;        /* one launch may take, a day at most; 0 or NaN: 20 */
  gboolean consent_unsandboxed;
} AssayJobRequest;

/* Whether `checks` is "all", "none" or a comma list of what the virtual GPU can check. */
gboolean assay_run_check_checks (const char *checks, GError **error);
/* Whether a time is one: above 0, a day at most. */
gboolean assay_run_check_seconds (double seconds, GError **error);

/* Reads the task, finds the device, decides about the sandbox, makes the run folder; nothing foreign
 * has run yet. NULL with an error that says which of these failed; a task that cannot be read is
 * ASSAY_ERROR_INVALID or ASSAY_ERROR_NOT_FOUND. Blocks for some milliseconds. */
AssayJob *assay_job_new (const AssayJobRequest *request, GError **error);

/* Starts the thread. "changed" is emitted in the thread-default main context of this call, batched to
 * at most 30 a second; the last one comes after the finished event. */
void assay_job_start (AssayJob *job);
/* Kills workers; the job still writes its run.json and finishes, as cancelled. */
void assay_job_cancel (AssayJob *job);
/* Blocks until the job's thread has ended. */
void assay_job_join (AssayJob *job);

const char *assay_job_id (AssayJob *job);
const char *assay_job_folder (AssayJob *job);
AssayEvents *assay_job_events (AssayJob *job);
gboolean assay_job_is_finished (AssayJob *job);
/* The record; only once the job is finished. Owned by the job. */
const AssayRun *assay_job_run (AssayJob *job);

/* (transfer full): as it stands. */
AssayRunSummary *assay_job_summary (AssayJob *job);

G_END_DECLS
