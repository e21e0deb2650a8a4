/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/json-table.h"
#include "engine/number/dtype.h"
#include "engine/record/tolerance.h"

G_BEGIN_DECLS

/* A task as its folder describes it (docs/tasks.md), read by declarative tables. Strings are NULL and
 * lists empty where the file is silent. Everything is owned by the AssayTask. */

#define ASSAY_TASK_FILE "task.json"
#define ASSAY_TASK_VERSION 1

typedef enum
{
  ASSAY_AXIS_VAR,   /* every workload gives it */
  ASSAY_AXIS_CONST, /* `value` */
  ASSAY_AXIS_EXPR,  /* `expression` over the others */
} AssayAxisType;

typedef enum
{
  ASSAY_ROLE_IN,
  ASSAY_ROLE_INOUT,
  ASSAY_ROLE_WORKSPACE,
} AssayArrayRole;

typedef enum
{
  ASSAY_ENTRY_KERNEL, /* one launch */
  ASSAY_ENTRY_HOST,   /* an extern "C" function that gets device pointers and launches */
  ASSAY_ENTRY_PROGRAM,
  ASSAY_ENTRY_TORCH_MODULE,
  ASSAY_ENTRY_PYTHON,
  ASSAY_ENTRY_TRITON_KERNEL,
  ASSAY_ENTRY_PALLAS,
  ASSAY_ENTRY_NKI,
} AssayEntryKind;

typedef enum
{
  ASSAY_GENERATOR_RANDOM,
  ASSAY_GENERATOR_SCALAR,
  ASSAY_GENERATOR_CONSTANT,
  ASSAY_GENERATOR_RAMP,
  ASSAY_GENERATOR_SAFETENSORS,
  ASSAY_GENERATOR_NPY,
  ASSAY_GENERATOR_CUSTOM,
} AssayGeneratorType;

typedef enum
{
  ASSAY_DISTRIBUTION_NORMAL,      /* mean, std */
  ASSAY_DISTRIBUTION_UNIFORM,     /* [low, high) before rounding to the dtype */
  ASSAY_DISTRIBUTION_LOGNORMAL,   /* exp of a normal: mean, std of the logarithm */
  ASSAY_DISTRIBUTION_INTEGERS,    /* whole numbers from low to high - 1 */
  ASSAY_DISTRIBUTION_PERMUTATION, /* of 0 … n - 1 along the last axis, each row its own */
  ASSAY_DISTRIBUTION_ONE_HOT,     /* one 1 along the last axis */
  ASSAY_DISTRIBUTION_SORTED,      /* uniform, ascending along the last axis */
  ASSAY_DISTRIBUTION_HEAVY_TAIL,  /* Student's t with 3 degrees of freedom, times std, plus mean */
  ASSAY_DISTRIBUTION_SUBNORMAL,   /* both signs, uniform over the subnormal range of the dtype */
  ASSAY_DISTRIBUTION_SPECIAL,     /* normal, with shares of zeros, infinities and NaN */
} AssayDistribution;

typedef enum
{
  ASSAY_LAYOUT_CONTIGUOUS,
  ASSAY_LAYOUT_TRANSPOSED, /* the last two axes stored in the other order */
  ASSAY_LAYOUT_STRIDED,    /* every row of the last axis followed by as many unused elements */
  ASSAY_LAYOUT_EXPANDED,   /* stride 0 along the first axis: one slice stands for all */
  ASSAY_LAYOUT_OFFSET,     /* begins `offset` elements into its allocation */
} AssayLayout;

extern const char *const ASSAY_TASK_CATEGORIES[];
extern const char *const ASSAY_TASK_FRAMEWORKS[];
extern const char *const ASSAY_AXIS_TYPES[];
extern const char *const ASSAY_ROLES[];
extern const char *const ASSAY_ENTRY_KINDS[];
extern const char *const ASSAY_GENERATOR_TYPES[];
extern const char *const ASSAY_DISTRIBUTIONS[];
extern const char *const ASSAY_LAYOUTS[];

typedef struct
{
  char *name;
  int type; /* AssayAxisType */
  gint64 value;
  char *expression;
  char *description;
} AssayTaskAxis;

typedef struct
{
  gint64 block;       /* elements that share one scale */
  gint64 axis;        /* along which they lie; -1: the last */
  char *scale;        /* the input that holds the scales */
  char *tensor_scale; /* the input that holds the one of the whole tensor (NVFP4), or NULL */
  char *packing;      /* how codes lie in bytes, in words */
} AssayQuant;

typedef struct
{
  char *name;
  int dtype;    /* AssayDtype */
  char **shape; /* expressions; NULL for a scalar, which is passed by value */
  int role;     /* AssayArrayRole; inputs only */
  char *alias;  /* the input whose memory an output shares */
  AssayQuant *quant;
  char *description;
} AssayTaskArray;

typedef struct
{
  int kind; /* AssayEntryKind */
  char *symbol;
  char **arguments; /* inputs, outputs, axes, "x.stride0" */
  char **grid;      /* kernel: three expressions */
  char **block;
  char *shared; /* bytes of dynamic shared memory */
} AssayEntry;

typedef struct
{
  char *name, *author;
  int framework; /* index into ASSAY_TASK_FRAMEWORKS */
  char *target;
  char **sources;
  char **options; /* of the compiler */
  AssayEntry entry;
  char *description;
} AssayCandidate;

typedef struct
{
  char *language; /* "c", "python" */
  char **sources;
  char *entry;
  char **arguments; /* order of the call; NULL: inputs, outputs, axes as the task lists them */
  char **options;
} AssayReference;

typedef struct
{
  char *name; /* the input */
  int type;   /* AssayGeneratorType */
  int distribution;
  int layout;
  double low, high, mean, std;
  double value;       /* scalar, constant */
  double start, step; /* ramp */
  double share_zero, share_negative_zero, share_infinity, share_negative_infinity, share_nan;
  gint64 offset;       /* elements, layout "offset" */
  gint64 seed;         /* added to the workload's; -1: from the input's name alone */
  char *path, *tensor; /* npy, safetensors */
  char *entry;         /* custom */
} AssayGenerator;

typedef struct
{
  char *name;
  JsonNode *axes; /* {axis: integer} */
  gint64 seed;
  char **use;          /* "check", "bench" */
  GPtrArray *inputs;   /* AssayGenerator *, by input */
  JsonNode *tolerance; /* what differs from the task's; "outputs": {name: …} inside */
  char *description;
} AssayWorkload;

typedef struct
{
  char *compute, *accumulate; /* dtype names; NULL where the specification is silent */
  JsonNode *tf32, *fast_math, *flush_subnormals, *deterministic; /* true, false, or silent */
  char **rounding_points;
  /* What an error is to be held against: "absolute_inputs" for sums of products, where the reference
   * on |inputs| gives the sum of magnitudes; NULL: the result itself. */
  char *scale;
  /* {array: axis}: the order along these axes is free; permuting all of them together permutes the outputs
   * named here and leaves the others as they are. */
  JsonNode *free_order;
  char *contraction; /* "mk,kn->mn": the output is this sum of products of two inputs */
} AssayNumerics;

typedef struct
{
  char *kind; /* correct | speedup | peak_fraction | score */
  double threshold;
  char *formula;
} AssayGoal;

typedef struct
{
  char *id, *source;
  char *training_allowed; /* yes | no | conditional */
} AssayLicense;

typedef struct
{
  char *name;
  char **sources;
  char *version;
  JsonNode *flags;
} AssayBaseline;

typedef struct
{
  char *device;
  double speedup, seconds;
} AssayClaim;

typedef struct
{
  char *clock;
  gboolean sync;
  gint64 warmup, repeats;
  gboolean flush_l2;
  char *inputs, *statistic, *timed_region;
  char *flops, *bytes;  /* expressions over the axes */
  GPtrArray *baselines; /* AssayBaseline * */
  GPtrArray *claimed;   /* AssayClaim * */
} AssayBenchmark;

typedef struct
{
  char *source, *commit, *generator, *imported_from;
  gint64 revision;
} AssayProvenance;

typedef struct
{
  char **findings; /* rules that a run must produce */
  char **absent;   /* rules that it must not */
  /* What mends the fault: {"candidate": NAME} to judge instead of the first, {"task": {…}} to be merged
   * into the task's file (RFC 7386). NULL: there is nothing to mend. */
  JsonNode *repair;
} AssayExpect;

typedef struct
{
  char *format;
  gint64 version;
  char *id, *title;
  int category; /* index into ASSAY_TASK_CATEGORIES */
  char *spec, *prompt;
  char **visibility;
  AssayGoal *goal;
  AssayCandidate *starting_point;
  AssayLicense license;
  GPtrArray *axes; /* AssayTaskAxis * */
  char **constraints;
  GPtrArray *inputs, *outputs; /* AssayTaskArray * */
  AssayNumerics numerics;
  AssayReference *reference, *cross_check;
  GPtrArray *candidates; /* AssayCandidate * */
  GPtrArray *workloads;  /* AssayWorkload * */
  JsonNode *tolerance;   /* see assay_task_tolerance */
  JsonNode *checker, *harness, *transforms;
  char **targets;
  JsonNode *environment;
  AssayBenchmark *benchmark;
  AssayProvenance provenance;
  AssayExpect *expect;

  char *folder; /* absolute; not in the file */
} AssayTask;

extern const AssayJsonTable ASSAY_TASK_TABLE;

/* Reads `folder`/task.json and everything it names, and checks what can be checked without running
 * anything. All faults are found at once: the error's message has one line for each, "file: key path:
 * expected …, found …". `warnings` (element-type utf8, nullable) gets what was ignored. */
AssayTask *assay_task_load (const char *folder, GPtrArray *warnings, GError **error);
/* The same without the checks of meaning, for a task that is known to be broken but shall be shown. */
AssayTask *assay_task_load_unchecked (const char *folder, GPtrArray *warnings, GError **error);
void assay_task_free (AssayTask *task);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayTask, assay_task_free)

/* (transfer full) (element-type utf8): every fault of meaning, in the form above; empty if sound. */
GPtrArray *assay_task_problems (const AssayTask *task);

/* By name; NULL when there is none. */
const AssayTaskAxis *assay_task_axis (const AssayTask *task, const char *name);
const AssayTaskArray *assay_task_input (const AssayTask *task, const char *name);
const AssayTaskArray *assay_task_output (const AssayTask *task, const char *name);
const AssayWorkload *assay_task_workload (const AssayTask *task, const char *name);
/* NULL name: the first. */
const AssayCandidate *assay_task_candidate (const AssayTask *task, const char *name);
const AssayGenerator *assay_workload_generator (const AssayWorkload *workload, const char *input);
/* The input whose blocks give `input` its values: one whose quant names it as scale or tensor_scale, where
 * the workload says nothing of `input` itself; else NULL. */
const AssayTaskArray *assay_workload_scaled_by (const AssayTask *task,
                                                const AssayWorkload *workload, const char *input);
gboolean assay_workload_is_for (const AssayWorkload *workload, const char *use);

/* (transfer full): the tolerance that applies to an output of a workload: the task's, overridden by
 * the task's own "outputs" entry, then by the workload's, then by its "outputs" entry. Workload and
 * output may be NULL. NULL with an error when the result breaks the format. */
AssayTolerance *assay_task_tolerance (const AssayTask *task, const AssayWorkload *workload,
                                      const char *output, GError **error);
/* Whether its numbers can be ones of a tolerance; `path` begins the message. */
gboolean assay_tolerance_in_range (const AssayTolerance *tolerance, const char *path,
                                   GError **error);

/* 1, 0, or -1 where the specification is silent. */
int assay_task_promise (JsonNode *node);

/* (transfer full): an object {relative path: SHA-256} of every regular file below the folder, without
 * following links; at most 4096 files and 1 GiB. */
JsonNode *assay_task_hashes (const AssayTask *task, GError **error);

/* (transfer full): absolute path of a file that the task names; refuses absolute paths, ".." and
 * links that lead out of the folder. */
char *assay_task_path (const AssayTask *task, const char *relative, GError **error);
/* (transfer full): its text, at most 16 MiB, valid UTF-8. */
char *assay_task_read_text (const AssayTask *task, const char *relative, GError **error);

G_END_DECLS
