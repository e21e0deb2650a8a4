/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/device/device.h"
#include "engine/device/toolkit.h"
#include "engine/findings/findings.h"
#include "engine/run/events.h"
#include "engine/sandbox/spec.h"
#include "engine/task/generate.h"
#include "engine/task/reference.h"
#include "engine/worker/session.h"

#include <pthread.h>

G_BEGIN_DECLS

/* One run on its way through the stages. Belongs to the thread of its job; stages start further
 * threads and join them before they return. */

/* The reference in higher precision, as assay_compare () wants it. */
typedef struct
{
  double *high, *low; /* components; low NULL unless computed in float128 */
  char *method;
  gboolean stable;
  double rung_difference_ulp;
} AssayGoldValues;

void assay_gold_values_free (AssayGoldValues *gold);

typedef struct
{
  const AssayWorkload *workload; /* of the task */
  AssayPlan *plan;
  GPtrArray *inputs;           /* AssayInput *, NULL for workspaces; by the plan's order */
  GPtrArray *memories;         /* AssayMemory *: storage of inputs, finished; NULL for scalars */
  GPtrArray *values;           /* AssayMemory *: logical values, what the reference reads */
  GPtrArray *references;       /* AssayArray *, by output; empty when the reference failed */
  GPtrArray *golds;            /* AssayGoldValues *, by output */
  GPtrArray *results;          /* AssayArray *: the candidate's, by output; empty when it failed */
  GArray *never_written;       /* guint64: elements of each of them that nothing was stored to */
  AssayWorkloadRecord *record; /* of the run */
} AssayCase;

typedef struct
{
  AssayTask *task;
  const AssayCandidate *candidate;
  AssayDevice *device;
  char *target;   /* "sm_80" */
  char *checks;   /* "all", "none", a list */
  char *folder;   /* of the run */
  double seconds; /* a worker may take for one launch */
  AssaySandboxTier tier;
  AssayToolkit *toolkit; /* NULL: no compiler, `toolkit_reason` says why */
  char *toolkit_reason;
  GCancellable *cancellable;
  AssayEvents *events;
  AssayRun *run;
  AssayFacts facts;
  GPtrArray *set_aside; /* AssayFailure *, of a cancelled run: their cause is known */
  pthread_mutex_t lock; /* of facts.failures: reference and candidate fail beside one another */

  int stage; /* the one at work, an AssayStageKind */
  gint64 stage_started;
  GPtrArray *cases;                            /* AssayCase * */
  AssayMemory *ptx;                            /* compiled for `target`; NULL when that failed */
  AssayMemory *host;                           /* for a host entry: the library that launches */
  char *entry;                                 /* the kernel's name in it */
  AssayMemory *libraries[ASSAY_REAL_QUAD + 1]; /* the reference, by AssayReal */
  AssayMemory *cross_libraries[ASSAY_REAL_QUAD + 1]; /* the cross-check, where there is one */
  char *reference_reason;                            /* why there is none */
  gboolean reference_absent;                         /* … which is not the task's doing */
  char *compiler; /* that made `ptx`, in its own words: "NVRTC 13.0"; or NULL */
  /* While another program than the candidate is compiled: its name; else NULL. */
  const char *beside;
  char *unsaved; /* first part of the record not written, and why */
} AssayPipeline;

/* What a stage returns; `reason` (transfer full) says why it did not pass. */
typedef AssayStatus (*AssayStageFunction) (AssayPipeline *pipeline, char **reason);

AssayStatus assay_stage_validate (AssayPipeline *pipeline, char **reason);
AssayStatus assay_stage_compile (AssayPipeline *pipeline, char **reason);
AssayStatus assay_stage_run (AssayPipeline *pipeline, char **reason);
AssayStatus assay_stage_compare (AssayPipeline *pipeline, char **reason);
AssayStatus assay_stage_audit (AssayPipeline *pipeline, char **reason);
AssayStatus assay_stage_check (AssayPipeline *pipeline, char **reason);
AssayStatus assay_stage_bench (AssayPipeline *pipeline, char **reason);
AssayStatus assay_stage_profile (AssayPipeline *pipeline, char **reason);

/* Progress within the stage at work; text (nullable) is formatted. */
void assay_pipeline_progress (AssayPipeline *pipeline, double fraction, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
void assay_pipeline_log (AssayPipeline *pipeline, const char *text);
gboolean assay_pipeline_cancelled (AssayPipeline *pipeline);
/* Notes a failure for the findings, in order of time. NULL where not known; without a reply the
 * environment is what failed, but for the roles "generate" and "reference". (transfer none): the
 * failure, to say more about it. */
AssayFailure *assay_pipeline_fail (AssayPipeline *pipeline, const char *workload, const char *role,
                                   const AssayWorkerReply *reply, const char *message);
/* (transfer full): "folder/name" with a name that is one path element, whatever the task called it. */
char *assay_pipeline_relative (const char *folder, const char *name);
/* Writes a file below the run folder and returns its relative path (transfer full), NULL when that
 * fails. */
char *assay_pipeline_write (AssayPipeline *pipeline, const char *folder, const char *name,
                            const char *data, gssize bytes);

/* Notes that a part of the record could not be written (transfer full); the stage at work, or the
 * last one, ends in an error that says so. From any thread. */
void assay_pipeline_unsaved (AssayPipeline *pipeline, GError *error);

/* For several stages */

/* A worker spec with the task's files `sources` shown under /src. */
AssaySandboxSpec *assay_pipeline_worker (AssayPipeline *pipeline, char **sources, GError **error);

/* Builds the reference for every rung, from the cache or in a worker. FALSE sets
 * pipeline->reference_reason. */
gboolean assay_reference_build (AssayPipeline *pipeline);
/* The same for the task's cross-check. FALSE where it has none; why one cannot be built is logged. */
gboolean assay_cross_check_build (AssayPipeline *pipeline);
/* What the cross-check gives for the case, in float64, rounded once: (transfer full) AssayArray *, by
 * output; NULL when it does not run. */
GPtrArray *assay_cross_check_run (AssayPipeline *pipeline, AssayCase *c);
/* Runs the rungs for one case: references and golds. FALSE with `reason` (transfer full). */
gboolean assay_reference_run (AssayPipeline *pipeline, AssayCase *c, char **reason);
/* (transfer full): a case without plan or values, its record skipped. The record belongs to the run once
 * it is listed there; assay_case_free leaves it alone. */
AssayCase *assay_case_new (const AssayWorkload *workload);
void assay_case_free (gpointer c);
/* Values of all inputs. */
gboolean assay_case_generate (AssayPipeline *pipeline, AssayCase *c, GError **error);

/* One launch of the candidate. `checks` and `seed` go to the virtual GPU. The results (AssayArray *,
 * by output) are (transfer full), NULL when the candidate gave none; status and reason are then set. */
typedef struct
{
  const char *checks;
  guint64 seed;
  gboolean keep_launches; /* into the case's record */
} AssayLaunchOptions;
GPtrArray *assay_candidate_run (AssayPipeline *pipeline, AssayCase *c,
                                const AssayLaunchOptions *options, AssayWorkloadStatus *status,
                                char **reason);

/* Whether the case's arrays fit into what a real device has free; on a virtual one, and where the device
 * does not tell, they do. */
gboolean assay_candidate_fits (const AssayPipeline *pipeline, const AssayCase *c, GError **error);

/* The candidate's launch, made and not sent: for timing. */
typedef struct
{
  AssaySandboxSpec *spec;
  AssayWorkerRequest *request;
  GPtrArray *outputs; /* AssayMemory *, guards included */
} AssayPreparedLaunch;
gboolean assay_candidate_prepare (AssayPipeline *pipeline, AssayCase *c,
                                  AssayPreparedLaunch *launch, GError **error);
/* Whether its outputs, read once its worker is dead, hold the bits of the case's results. */
gboolean assay_candidate_same_results (AssayPipeline *pipeline, AssayCase *c,
                                       const AssayPreparedLaunch *launch, GError **error);
void assay_prepared_launch_clear (AssayPreparedLaunch *launch);

/* Compares the case's results, fills its outputs and status, and tells the client. */
void assay_case_compare (AssayPipeline *pipeline, AssayCase *c);

/* Compiles for one target into a record and, with `ptx` and `entry`, hands over what came out. */
AssayStatus assay_compile_target (AssayPipeline *pipeline, const char *target, AssayMemory **ptx,
                                  AssayMemory **host, char **entry, AssayCompile **record);
/* Whether the candidate's entry is a host function. */
gboolean assay_candidate_is_host (const AssayCandidate *candidate);
/* The other targets of the task, when nobody waits any more. */
void assay_compile_others (AssayPipeline *pipeline);

G_END_DECLS
