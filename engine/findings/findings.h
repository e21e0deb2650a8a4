/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/matrix.h"
#include "engine/record/run.h"
#include "engine/task/task.h"

G_BEGIN_DECLS

/* From facts to findings. Rules are data (rules.h); this is the one place that fires them. */

/* One line of the virtual GPU's report stream, with the workload whose launch it came from. */
typedef struct
{
  char *workload;
  JsonNode *report; /* {"type":"report", "rule", "message", "kernel", "block", …} */
} AssayReport;

/* A typed error of a worker, or one the engine observed. */
typedef struct
{
  char *workload; /* NULL: not of one workload */
  char *role;     /* "candidate", "reference", "compile", "generate" */
  char *phase;    /* "load", "launch", "sync", … */
  gint64 code;    /* driver code, exit status or signal; 0 when there is none */
  char *name;     /* "CUDA_ERROR_ILLEGAL_ADDRESS", "SIGSEGV", "timeout", an exception type */
  char *message;
  char *file; /* where in the sources, relative to the task folder; NULL when not known */
  gint64 line;
} AssayFailure;

/* The candidate ran twice, the second time with its blocks in another order. */
typedef struct
{
  char *workload, *output;
  guint64 count, different; /* components that differ in their bits */
  double max_difference;    /* of the values; NaN when only special values differ */
  char *how;                /* "blocks in fixed order against blocks shuffled by seed 1" */
} AssayRepeat;

typedef struct
{
  const AssayTask *task;
  const AssayCandidate *candidate;
  const char *target;  /* "sm_80" */
  GPtrArray *reports;  /* AssayReport *, in the order of arrival; or NULL */
  GPtrArray *failures; /* AssayFailure *, in order of time: the first one wins; or NULL */
  GPtrArray *repeats;  /* AssayRepeat *; or NULL */
  GPtrArray *pins;     /* AssayPin *: what the task asks to be installed; or NULL */
  const char *checks;  /* what the virtual GPU checked: "all", "none", a comma list; NULL: no run */
} AssayFacts;

/* Fills run->findings (sorted: severity, rule, kernel, line) and run->skipped_rules from the records in
 * `run` and the facts. Findings that one cause explains are one finding with a count. */
void assay_findings_derive (AssayRun *run, const AssayFacts *facts);

/* (transfer full): the one finding of a task that cannot be read. */
AssayFinding *assay_finding_for_bad_task (const char *folder, const GError *error);

AssayReport *assay_report_new (const char *workload, JsonNode *report);
void assay_report_free (AssayReport *report);
void assay_failure_free (AssayFailure *failure);
void assay_repeat_free (AssayRepeat *repeat);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayReport, assay_report_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayFailure, assay_failure_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayRepeat, assay_repeat_free)

G_END_DECLS
