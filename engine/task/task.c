/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/task/task.h"

#define F_(Type, member, kind, ...) ASSAY_JSON_FIELD (Type, member, #member, kind, __VA_ARGS__)
#define NEEDED .flags = ASSAY_JSON_REQUIRED

const char *const ASSAY_TASK_CATEGORIES[] = {
    "generation", "translation", "migration", "debugging", "optimization", "fusion", NULL};
const char *const ASSAY_TASK_FRAMEWORKS[] = {"cuda", "ptx",   "hip",    "triton", "pallas",
                                             "nki",  "torch", "python", "c",      NULL};
const char *const ASSAY_AXIS_TYPES[] = {"var", "const", "expr", NULL};
const char *const ASSAY_ROLES[] = {"in", "inout", "workspace", NULL};
const char *const ASSAY_ENTRY_KINDS[] = {
    "kernel", "host", "program", "torch_module", "python", "triton_kernel", "pallas", "nki", NULL};
const char *const ASSAY_GENERATOR_TYPES[] = {"random",      "scalar", "constant", "ramp",
                                             "safetensors", "npy",    "custom",   NULL};
const char *const ASSAY_DISTRIBUTIONS[] = {"normal",      "uniform", "lognormal", "integers",
                                           "permutation", "one_hot", "sorted",    "heavy_tail",
                                           "subnormal",   "special", NULL};
const char *const ASSAY_LAYOUTS[] = {"contiguous", "transposed", "strided",
                                     "expanded",   "offset",     NULL};

#define F(member, kind, ...) F_ (AssayTaskAxis, member, kind, __VA_ARGS__)
static const AssayJsonField AXIS_FIELDS[] = {
    F (type, ENUM, .words = ASSAY_AXIS_TYPES, NEEDED),
    F (value, INT),
    F (expression, EXPR),
    F (description, STRING),
    ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable AXIS_TABLE = {"axis", sizeof (AssayTaskAxis), AXIS_FIELDS, NULL};

#define F(member, kind, ...) F_ (AssayQuant, member, kind, __VA_ARGS__)
static const AssayJsonField QUANT_FIELDS[] = {
    F (block, INT),           F (axis, INT),       F (scale, STRING),
    F (tensor_scale, STRING), F (packing, STRING), ASSAY_JSON_END,
};
#undef F
static void
initialise_quant (gpointer self)
{
  ((AssayQuant *) self)->axis = -1;
}

static const AssayJsonTable QUANT_TABLE = {"quant", sizeof (AssayQuant), QUANT_FIELDS,
                                           initialise_quant};

#define F(member, kind, ...) F_ (AssayTaskArray, member, kind, __VA_ARGS__)
static const AssayJsonField ARRAY_FIELDS[] = {
    F (dtype, ENUM, .words = ASSAY_DTYPE_NAMES, NEEDED),
    F (shape, EXPRS, .flags = ASSAY_JSON_REQUIRED | ASSAY_JSON_KEEP_NULL),
    F (role, ENUM, .words = ASSAY_ROLES),
    F (alias, STRING),
    F (quant, POINTER, .table = &QUANT_TABLE),
    F (description, STRING),
    ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable ARRAY_TABLE = {"array", sizeof (AssayTaskArray), ARRAY_FIELDS, NULL};

#define F(member, kind, ...) F_ (AssayEntry, member, kind, __VA_ARGS__)
static const AssayJsonField ENTRY_FIELDS[] = {
    F (kind, ENUM, .words = ASSAY_ENTRY_KINDS, NEEDED),
    F (symbol, STRING, NEEDED),
    F (arguments, STRV),
    F (grid, EXPRS),
    F (block, EXPRS),
    F (shared, EXPR),
    ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable ENTRY_TABLE = {"entry", sizeof (AssayEntry), ENTRY_FIELDS, NULL};

#define F(member, kind, ...) F_ (AssayCandidate, member, kind, __VA_ARGS__)
static const AssayJsonField CANDIDATE_FIELDS[] = {
    F (name, STRING, NEEDED),
    F (author, STRING),
    F (framework, ENUM, .words = ASSAY_TASK_FRAMEWORKS, NEEDED),
    F (target, STRING),
    F (sources, STRV, NEEDED),
    F (options, STRV),
    F (entry, STRUCT, .table = &ENTRY_TABLE, NEEDED),
    F (description, STRING),
    ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable CANDIDATE_TABLE = {"candidate", sizeof (AssayCandidate),
                                               CANDIDATE_FIELDS, NULL};

#define F(member, kind, ...) F_ (AssayReference, member, kind, __VA_ARGS__)
static const AssayJsonField REFERENCE_FIELDS[] = {
    F (language, STRING, NEEDED), F (sources, STRV, NEEDED), F (entry, STRING, NEEDED),
    F (arguments, STRV),          F (options, STRV),         ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable REFERENCE_TABLE = {"reference", sizeof (AssayReference),
                                               REFERENCE_FIELDS, NULL};

static void
initialise_generator (gpointer self)
{
  AssayGenerator *generator = self;
  generator->low = generator->mean = generator->start = generator->value = 0;
  generator->high = generator->std = generator->step = 1;
  generator->share_zero = generator->share_negative_zero = generator->share_nan = 0;
  generator->share_infinity = generator->share_negative_infinity = 0;
  generator->seed = -1;
  generator->offset = 1;
}

#define F(member, kind, ...) F_ (AssayGenerator, member, kind, __VA_ARGS__)
static const AssayJsonField GENERATOR_FIELDS[] = {
    F (type, ENUM, .words = ASSAY_GENERATOR_TYPES, NEEDED),
    F (distribution, ENUM, .words = ASSAY_DISTRIBUTIONS),
    F (layout, ENUM, .words = ASSAY_LAYOUTS),
    F (low, DOUBLE),
    F (high, DOUBLE),
    F (mean, DOUBLE),
    F (std, DOUBLE),
    F (value, DOUBLE),
    F (start, DOUBLE),
    F (step, DOUBLE),
    F (share_zero, DOUBLE),
    F (share_negative_zero, DOUBLE),
    F (share_infinity, DOUBLE),
    F (share_negative_infinity, DOUBLE),
    F (share_nan, DOUBLE),
    F (offset, INT),
    F (seed, INT),
    F (path, STRING),
    F (tensor, STRING),
    F (entry, STRING),
    ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable GENERATOR_TABLE = {"generator", sizeof (AssayGenerator),
                                               GENERATOR_FIELDS, initialise_generator};

#define F(member, kind, ...) F_ (AssayWorkload, member, kind, __VA_ARGS__)
static const AssayJsonField WORKLOAD_FIELDS[] = {
    F (name, STRING, NEEDED),
    F (axes, NODE),
    F (seed, INT),
    F (use, STRV),
    F (inputs, MAP, .table = &GENERATOR_TABLE),
    F (tolerance, NODE),
    F (description, STRING),
    ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable WORKLOAD_TABLE = {"workload", sizeof (AssayWorkload), WORKLOAD_FIELDS,
                                              NULL};

#define F(member, kind, ...) F_ (AssayNumerics, member, kind, __VA_ARGS__)
static const AssayJsonField NUMERICS_FIELDS[] = {
    F (compute, STRING),
    F (accumulate, STRING),
    F (tf32, NODE),
    F (fast_math, NODE),
    F (flush_subnormals, NODE),
    F (deterministic, NODE),
    F (rounding_points, STRV),
    F (scale, STRING),
    F (free_order, NODE),
    F (contraction, STRING),
    ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable NUMERICS_TABLE = {"numerics", sizeof (AssayNumerics), NUMERICS_FIELDS,
                                              NULL};

#define F(member, kind, ...) F_ (AssayGoal, member, kind, __VA_ARGS__)
static const AssayJsonField GOAL_FIELDS[] = {
    F (kind, STRING),
    F (threshold, DOUBLE),
    F (formula, STRING),
    ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable GOAL_TABLE = {"goal", sizeof (AssayGoal), GOAL_FIELDS, NULL};

#define F(member, kind, ...) F_ (AssayLicense, member, kind, __VA_ARGS__)
static const AssayJsonField LICENSE_FIELDS[] = {
    F (id, STRING),
    F (source, STRING),
    F (training_allowed, STRING),
    ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable LICENSE_TABLE = {"license", sizeof (AssayLicense), LICENSE_FIELDS,
                                             NULL};

#define F(member, kind, ...) F_ (AssayBaseline, member, kind, __VA_ARGS__)
static const AssayJsonField BASELINE_FIELDS[] = {
    F (name, STRING, NEEDED), F (sources, STRV), F (version, STRING),
    F (flags, NODE),          ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable BASELINE_TABLE = {"baseline", sizeof (AssayBaseline), BASELINE_FIELDS,
                                              NULL};

#define F(member, kind, ...) F_ (AssayClaim, member, kind, __VA_ARGS__)
static const AssayJsonField CLAIM_FIELDS[] = {
    F (device, STRING),
    F (speedup, DOUBLE),
    F (seconds, DOUBLE),
    ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable CLAIM_TABLE = {"claim", sizeof (AssayClaim), CLAIM_FIELDS, NULL};

#define F(member, kind, ...) F_ (AssayBenchmark, member, kind, __VA_ARGS__)
static const AssayJsonField BENCHMARK_FIELDS[] = {
    F (clock, STRING),
    F (sync, BOOLEAN),
    F (warmup, INT),
    F (repeats, INT),
    F (flush_l2, BOOLEAN),
    F (inputs, STRING),
    F (statistic, STRING),
    F (timed_region, STRING),
    F (flops, EXPR),
    F (bytes, EXPR),
    F (baselines, LIST, .table = &BASELINE_TABLE),
    F (claimed, LIST, .table = &CLAIM_TABLE),
    ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable BENCHMARK_TABLE = {"benchmark", sizeof (AssayBenchmark),
                                               BENCHMARK_FIELDS, NULL};

#define F(member, kind, ...) F_ (AssayProvenance, member, kind, __VA_ARGS__)
static const AssayJsonField PROVENANCE_FIELDS[] = {
    F (source, STRING),        F (commit, STRING), F (generator, STRING),
    F (imported_from, STRING), F (revision, INT),  ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable PROVENANCE_TABLE = {"provenance", sizeof (AssayProvenance),
                                                PROVENANCE_FIELDS, NULL};

#define F(member, kind, ...) F_ (AssayExpect, member, kind, __VA_ARGS__)
static const AssayJsonField EXPECT_FIELDS[] = {
    F (findings, STRV),
    F (absent, STRV),
    F (repair, NODE),
    ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable EXPECT_TABLE = {"expect", sizeof (AssayExpect), EXPECT_FIELDS, NULL};

#define F(member, kind, ...) F_ (AssayTask, member, kind, __VA_ARGS__)
static const AssayJsonField TASK_FIELDS[] = {
    F (format, STRING, NEEDED),
    F (version, INT, NEEDED),
    F (id, STRING, NEEDED),
    F (title, STRING, NEEDED),
    F (category, ENUM, .words = ASSAY_TASK_CATEGORIES, NEEDED),
    F (spec, STRING),
    F (prompt, STRING),
    F (visibility, STRV),
    F (goal, POINTER, .table = &GOAL_TABLE),
    F (starting_point, POINTER, .table = &CANDIDATE_TABLE),
    F (license, STRUCT, .table = &LICENSE_TABLE),
    F (axes, MAP, .table = &AXIS_TABLE),
    F (constraints, STRV),
    F (inputs, MAP, .table = &ARRAY_TABLE),
    F (outputs, MAP, .table = &ARRAY_TABLE, NEEDED),
    F (numerics, STRUCT, .table = &NUMERICS_TABLE),
    F (reference, POINTER, .table = &REFERENCE_TABLE),
    F (cross_check, POINTER, .table = &REFERENCE_TABLE),
    F (candidates, LIST, .table = &CANDIDATE_TABLE, NEEDED),
    F (workloads, LIST, .table = &WORKLOAD_TABLE, NEEDED),
    F (tolerance, NODE),
    F (checker, NODE),
    F (harness, NODE),
    F (transforms, NODE),
    F (targets, STRV),
    F (environment, NODE),
    F (benchmark, POINTER, .table = &BENCHMARK_TABLE),
    F (provenance, STRUCT, .table = &PROVENANCE_TABLE),
    F (expect, POINTER, .table = &EXPECT_TABLE),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_TASK_TABLE = {"task", sizeof (AssayTask), TASK_FIELDS, NULL};

void
assay_task_free (AssayTask *task)
{
  if (!task)
    return;
  g_free (g_steal_pointer (&task->folder));
  assay_json_table_free (&ASSAY_TASK_TABLE, task);
}

/* Every named struct of a task begins with its name. */
static gpointer
find_named (const GPtrArray *list, const char *name)
{
  for (guint i = 0; list && name && i < list->len; i++)
    if (g_strcmp0 (*(char **) g_ptr_array_index (list, i), name) == 0)
      return g_ptr_array_index (list, i);
  return NULL;
}

const AssayTaskAxis *
assay_task_axis (const AssayTask *task, const char *name)
{
  return find_named (task->axes, name);
}

const AssayTaskArray *
assay_task_input (const AssayTask *task, const char *name)
{
  return find_named (task->inputs, name);
}

const AssayTaskArray *
assay_task_output (const AssayTask *task, const char *name)
{
  return find_named (task->outputs, name);
}

const AssayWorkload *
assay_task_workload (const AssayTask *task, const char *name)
{
  return find_named (task->workloads, name);
}

const AssayCandidate *
assay_task_candidate (const AssayTask *task, const char *name)
{
  if (!name)
    return task->candidates->len ? g_ptr_array_index (task->candidates, 0) : NULL;
  return find_named (task->candidates, name);
}

const AssayGenerator *
assay_workload_generator (const AssayWorkload *workload, const char *input)
{
  return find_named (workload->inputs, input);
}

const AssayTaskArray *
assay_workload_scaled_by (const AssayTask *task, const AssayWorkload *workload, const char *input)
{
  if (assay_workload_generator (workload, input))
    return NULL;
  for (guint i = 0; task && i < task->inputs->len; i++)
    {
      const AssayTaskArray *array = g_ptr_array_index (task->inputs, i);
      if (array->quant
          && (g_strcmp0 (array->quant->scale, input) == 0
              || g_strcmp0 (array->quant->tensor_scale, input) == 0))
        return array;
    }
  return NULL;
}

gboolean
assay_workload_is_for (const AssayWorkload *workload, const char *use)
{
  return !workload->use || g_strv_contains ((const char *const *) workload->use, use);
}

int
assay_task_promise (JsonNode *node)
{
  if (!node || !JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_BOOLEAN)
    return -1;
  return json_node_get_boolean (node) ? 1 : 0;
}
