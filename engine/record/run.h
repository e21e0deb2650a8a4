/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/comparison.h"
#include "engine/record/finding.h"
#include "engine/record/timing.h"
#include "engine/record/tolerance.h"

G_BEGIN_DECLS

/* run.json: one candidate of one task on one device. Times are seconds, sizes bytes, dates ISO 8601
 * in UTC. */

typedef enum
{
  ASSAY_STAGE_VALIDATE,
  ASSAY_STAGE_COMPILE,
  ASSAY_STAGE_RUN,
  ASSAY_STAGE_COMPARE,
  ASSAY_STAGE_AUDIT,
  ASSAY_STAGE_CHECK,
  ASSAY_STAGE_BENCH,
  ASSAY_STAGE_PROFILE,
  ASSAY_N_STAGES,
} AssayStageKind;
extern const char *const ASSAY_STAGES[];

typedef enum
{
  ASSAY_STATUS_PENDING,
  ASSAY_STATUS_RUNNING,
  ASSAY_STATUS_PASSED,
  ASSAY_STATUS_FAILED,  /* the stage ran and found faults */
  ASSAY_STATUS_SKIPPED, /* could not run; `reason` says why; not a pass */
  ASSAY_STATUS_ERROR,   /* the stage itself broke */
  ASSAY_STATUS_CANCELLED,
} AssayStatus;
extern const char *const ASSAY_STATUSES[];

/* Status words of a workload, those of SOL traces plus two. */
typedef enum
{
  ASSAY_WORKLOAD_PASSED,
  ASSAY_WORKLOAD_INCORRECT_SHAPE,
  ASSAY_WORKLOAD_INCORRECT_NUMERICAL,
  ASSAY_WORKLOAD_INCORRECT_DTYPE,
  ASSAY_WORKLOAD_RUNTIME_ERROR,
  ASSAY_WORKLOAD_COMPILE_ERROR,
  ASSAY_WORKLOAD_TIMEOUT,
  ASSAY_WORKLOAD_REWARD_HACK,
  ASSAY_WORKLOAD_INVALID_REFERENCE,
  ASSAY_WORKLOAD_SKIPPED,
  ASSAY_WORKLOAD_INCONCLUSIVE,
} AssayWorkloadStatus;
extern const char *const ASSAY_WORKLOAD_STATUSES[];

typedef struct
{
  char *name; /* one of ASSAY_STAGES */
  int status;
  char *reason;
  double seconds;
  char *log; /* path inside the run folder, or NULL */
} AssayStage;

typedef struct
{
  char *target; /* "cuda:sm_80" */
  int status;
  gint64 registers, shared_bytes, spill_store_bytes, spill_load_bytes, stack_bytes; /* -1 unknown */
  char *log;     /* path inside the run folder */
  char *failure; /* failure class (RULES), or NULL */
  double seconds;
} AssayCompile;

typedef struct
{
  char *kernel;
  GArray *grid, *block; /* gint64 × 3 */
  gint64 shared, registers;
  JsonNode *counters; /* what the virtual GPU counted, as it reported it */
} AssayLaunch;

/* How the gold values came to be, and how good the task's own reference is against them. */
typedef struct
{
  char *method;               /* "reference in float128", … */
  gboolean stable;            /* the rungs of the ladder agree */
  double rung_difference_ulp; /* largest, last two rungs, ulp of the output's dtype */
  AssayComparison *reference; /* the task-precision reference against gold */
} AssayGold;

/* Counts of elements by the size of their error (rows) and something else (columns); see
 * engine/numerics/density.h. By magnitude: column i is |gold| in [2^(low + i), 2^(low + i + 1)), row j is
 * |candidate - gold| in [2^(first_row + j), …), elements without error stand in `exact` alone. By input:
 * columns divide [low, high] of its values evenly, row j is j to j + 1 bits of error. */
typedef struct
{
  char *input; /* NULL: by magnitude */
  gint64 rows, columns;
  double low, high;
  gint64 first_row;
  guint64 exact;
  GArray *counts; /* guint64, row by row */
} AssayDensity;

/* The second reference, written independently of the first, under the task's own rule. */
typedef struct
{
  gboolean reference_accepted; /* the reference against the cross-check */
  gboolean candidate_accepted; /* the candidate against the cross-check */
  double max_abs;              /* the largest difference of the two references, and where */
  gint64 index;
  double reference, cross_check; /* their values there */
} AssayCrossCheck;

typedef struct
{
  char *name;
  char *dtype;
  GArray *shape;             /* gint64 */
  char *array;               /* path of the candidate's values inside the run folder */
  AssayTolerance *tolerance; /* the one that applied */
  AssayComparison *comparison;
  AssayGold *gold;
  AssayCrossCheck *cross_check; /* NULL: the task has none, or it did not run */
  GPtrArray *densities;         /* AssayDensity *: by magnitude, then by input where one fits */
  guint64 never_written;        /* elements that nothing was stored to: nobody's values */
} AssayOutput;

typedef enum
{
  ASSAY_PROBE_REFERENCE, /* the reference in the task's precision */
  ASSAY_PROBE_HONEST,    /* a right answer, computed otherwise */
  ASSAY_PROBE_DOWNGRADE, /* lower precision than promised */
  ASSAY_PROBE_TRIVIAL,   /* zeros, constant, copy of an input */
  ASSAY_PROBE_MUTANT,    /* a wrong answer made on purpose */
} AssayProbeKind;
extern const char *const ASSAY_PROBE_KINDS[];

/* Names of mutants that are right answers to another question begin so; the input's name follows. */
#define ASSAY_PROBE_REDRAWN "other values of input "

/* One planted answer judged by the task's own rule. */
typedef struct
{
  int kind;
  char *name;   /* "zeros", "shuffled order, seed 3", "bf16 inputs" */
  char *family; /* "element", "region", "order" … */
  char *workload, *output;
  gboolean accepted;
  double max_abs, rms; /* against gold */
  double mismatch_share;
  double needed_atol; /* the atol at rtol 0 from which it would pass */
  /* The factor on the whole tolerance (atol and rtol, or ulp) from which the rule would accept this
   * answer: at most 1 exactly when it is accepted. Infinite when no factor helps. */
  double margin;
} AssayProbe;

/* What one answer needs in the plane of tolerances: at each rtol of the plane, the atol from which
 * |c - r| <= atol + rtol |r| holds for every element; infinite where none helps. */
typedef struct
{
  int kind; /* AssayProbeKind */
  char *name;
  GArray *atol; /* double */
} AssayFrontier;

typedef struct
{
  char *workload, *output;
  GArray *rtol;         /* double, ascending, logarithmic */
  GPtrArray *frontiers; /* AssayFrontier *: the reference, honest and wrong answers */
  GArray *candidate;    /* double: the candidate's own frontier */
  GArray *share_atol;   /* double, ascending: rows of `share` */
  GArray *share;        /* double: share of the candidate's elements that pass, atol × rtol */
  double proposed_rtol, proposed_atol; /* NaN: no sound window on this output */
  char *proposal;                      /* the rule behind the proposal, or why there is none */
} AssayPlane;

/* How the planted answers of one family fared over all workloads: wrong ones count as refused when one
 * workload refuses them, right ones likewise. Shares of refused ones are the kill rate and the rate of
 * false rejects. */
typedef struct
{
  char *name;
  gboolean right;
  gint64 planted, refused;
} AssayFamily;

/* The planted answers on inputs of another distribution, by the same rule. */
typedef struct
{
  char *name;     /* "normal, std 0.02" */
  char *workload; /* the listed one it was made from */
  gint64 wrong, killed, right, rejected;
} AssaySensitivity;

/* What a rule leaves open on one output, whatever is planted. */
typedef struct
{
  char *workload, *output;
  gint64 count;        /* finite elements of the reference */
  double below_atol;   /* share of them that are no larger than atol: zero would do */
  double atol_decides; /* share of them where atol is the larger part of the allowance */
  gint64 spare;        /* elements that may be arbitrarily wrong, by the matched ratio */
} AssayGateFacts;

typedef struct
{
  char *grade;            /* sound | too_loose | too_tight | unknown */
  char *summary;          /* one sentence that names its witnesses */
  GPtrArray *probes;      /* AssayProbe * */
  GPtrArray *planes;      /* AssayPlane *, one an output */
  GPtrArray *gates;       /* AssayGateFacts *, one an output */
  GPtrArray *families;    /* AssayFamily * */
  GPtrArray *sensitivity; /* AssaySensitivity * */
  GPtrArray *checker;     /* AssayProbe *: by the task's own checker, which says yes or no alone */
  char *checker_reason;   /* why it could not be asked; NULL where it was, or there is none */
} AssayAudit;

/* The candidate on something that the task allows and does not list. */
typedef struct
{
  char *kind;     /* benchmark | shape | magnitude */
  char *name;     /* "cols 63, rows 32", "x × 64" */
  char *workload; /* the listed one it was made from */
  char *output;
  gboolean accepted; /* by the task's own rule */
  gboolean wrong;   /* refused, and far less precise than on the list and than the reference here */
  double rms_ulp;   /* against gold */
  double listed;    /* the largest rms_ulp on the listed workloads */
  double reference; /* rms_ulp of the task's own reference, here */
  guint64 mismatches, count;
  char *verdict;
} AssayOffList;

typedef struct
{
  char *name;
  GPtrArray *axes; /* AssayAxisValue * */
  int status;
  char *reason;
  double seconds;      /* of the candidate's worker, by the engine's clock; not a benchmark */
  GPtrArray *outputs;  /* AssayOutput * */
  GPtrArray *launches; /* AssayLaunch * */
  guint64 dropped;     /* bytes of what it printed that were not kept */
} AssayWorkloadRecord;

typedef struct
{
  char *name;
  gint64 value;
} AssayAxisValue;

typedef struct
{
  char *kind; /* cuda | virtual | interpreter */
  char *name, *target, *driver, *toolkit, *clocks;
  char *math_mode; /* ideal | hardware-like (unvalidated) | adversarial */
  char *checks;    /* comma list */
} AssayDeviceRecord;

typedef struct
{
  char *host, *cpu, *os;
  char *sandbox; /* tier in words: "bubblewrap, seccomp" or "none, consented …" */
  char *memory_limit;
  JsonNode *versions;
} AssayEnvironment;

typedef struct
{
  char *id;
  char *path;       /* the task folder as it was given */
  JsonNode *sha256; /* {relative path: hash} of every task file */
} AssayTaskRef;

/* A rule that could not run, and why. */
typedef struct
{
  char *rule;
  char *reason;
} AssaySkippedRule;

typedef struct
{
  char *format; /* "assay-run" */
  gint64 version;
  char *id;
  int state; /* AssayStatus of the whole */
  AssayTaskRef task;
  char *candidate;
  AssayDeviceRecord device;
  AssayEnvironment environment;
  char *started, *finished;
  GPtrArray *stages;    /* AssayStage * */
  GPtrArray *compile;   /* AssayCompile * */
  GPtrArray *workloads; /* AssayWorkloadRecord * */
  GPtrArray *off_list;  /* AssayOffList * */
  AssayAudit *audit;
  AssayTimingSummary *benchmark; /* NULL: nothing was timed */
  GPtrArray *findings;           /* AssayFinding * */
  GPtrArray *skipped_rules;      /* AssaySkippedRule * */
} AssayRun;

ASSAY_JSON_DECLARE (AssayRun, assay_run, ASSAY_RUN_TABLE)
ASSAY_JSON_DECLARE (AssayProbe, assay_probe, ASSAY_PROBE_TABLE)
extern const AssayJsonTable ASSAY_STAGE_TABLE;
extern const AssayJsonTable ASSAY_COMPILE_TABLE;
extern const AssayJsonTable ASSAY_LAUNCH_TABLE;
extern const AssayJsonTable ASSAY_OUTPUT_TABLE;
extern const AssayJsonTable ASSAY_AUDIT_TABLE;
extern const AssayJsonTable ASSAY_PLANE_TABLE;
extern const AssayJsonTable ASSAY_FRONTIER_TABLE;
extern const AssayJsonTable ASSAY_WORKLOAD_RECORD_TABLE;
extern const AssayJsonTable ASSAY_AXIS_VALUE_TABLE;
extern const AssayJsonTable ASSAY_SKIPPED_RULE_TABLE;
extern const AssayJsonTable ASSAY_GOLD_TABLE;
extern const AssayJsonTable ASSAY_CROSS_CHECK_TABLE;
extern const AssayJsonTable ASSAY_DENSITY_TABLE;
extern const AssayJsonTable ASSAY_GATE_FACTS_TABLE;
extern const AssayJsonTable ASSAY_FAMILY_TABLE;
extern const AssayJsonTable ASSAY_SENSITIVITY_TABLE;
extern const AssayJsonTable ASSAY_OFF_LIST_TABLE;

/* Reads `<folder>/run.json`; refuses other formats and newer versions by name. */
AssayRun *assay_run_load (const char *folder, GError **error);
gboolean assay_run_save (const AssayRun *run, const char *folder, GError **error);

G_END_DECLS
