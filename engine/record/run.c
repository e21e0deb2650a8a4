/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/run.h"

#include "engine/base/error.h"

#define RUN_VERSION 1

const char *const ASSAY_STAGES[] = {"validate", "compile", "run",     "compare", "audit",
                                    "check",    "bench",   "profile", NULL};
const char *const ASSAY_STATUSES[] = {"pending", "running", "passed",    "failed",
                                      "skipped", "error",   "cancelled", NULL};
const char *const ASSAY_WORKLOAD_STATUSES[] = {
    "PASSED",          "INCORRECT_SHAPE", "INCORRECT_NUMERICAL",
    "INCORRECT_DTYPE", "RUNTIME_ERROR",   "COMPILE_ERROR",
    "TIMEOUT",         "REWARD_HACK",     "INVALID_REFERENCE",
    "SKIPPED",         "INCONCLUSIVE",    NULL};
const char *const ASSAY_PROBE_KINDS[] = {"reference", "honest", "downgrade",
                                         "trivial",   "mutant", NULL};

#define FIELD(Type, member, kind, ...) ASSAY_JSON_FIELD (Type, member, #member, kind, __VA_ARGS__)

#define F(member, kind, ...) FIELD (AssayStage, member, kind, __VA_ARGS__)
static const AssayJsonField STAGE_FIELDS[] = {
    F (name, STRING),   F (status, ENUM, .words = ASSAY_STATUSES),
    F (reason, STRING), F (seconds, DOUBLE),
    F (log, STRING),    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_STAGE_TABLE = {"stage", sizeof (AssayStage), STAGE_FIELDS, NULL};

static void
initialise_compile (gpointer self)
{
  AssayCompile *compile = self;
  compile->registers = compile->shared_bytes = compile->stack_bytes = -1;
  compile->spill_store_bytes = compile->spill_load_bytes = -1;
}

#define F(member, kind, ...) FIELD (AssayCompile, member, kind, __VA_ARGS__)
static const AssayJsonField COMPILE_FIELDS[] = {
    F (target, STRING),
    F (status, ENUM, .words = ASSAY_STATUSES),
    F (registers, INT),
    F (shared_bytes, INT),
    F (spill_store_bytes, INT),
    F (spill_load_bytes, INT),
    F (stack_bytes, INT),
    F (log, STRING),
    F (failure, STRING),
    F (seconds, DOUBLE),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_COMPILE_TABLE = {"compile", sizeof (AssayCompile), COMPILE_FIELDS,
                                            initialise_compile};

static void
initialise_launch (gpointer self)
{
  ((AssayLaunch *) self)->registers = -1;
}

#define F(member, kind, ...) FIELD (AssayLaunch, member, kind, __VA_ARGS__)
static const AssayJsonField LAUNCH_FIELDS[] = {
    F (kernel, STRING), F (grid, INTS),     F (block, INTS), F (shared, INT),
    F (registers, INT), F (counters, NODE), ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_LAUNCH_TABLE = {"launch", sizeof (AssayLaunch), LAUNCH_FIELDS,
                                           initialise_launch};

#define F(member, kind, ...) FIELD (AssayGold, member, kind, __VA_ARGS__)
static const AssayJsonField GOLD_FIELDS[] = {
    F (method, STRING),
    F (stable, BOOLEAN),
    F (rung_difference_ulp, DOUBLE),
    F (reference, POINTER, .table = &ASSAY_COMPARISON_TABLE),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_GOLD_TABLE = {"gold", sizeof (AssayGold), GOLD_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayCrossCheck, member, kind, __VA_ARGS__)
static const AssayJsonField CROSS_CHECK_FIELDS[] = {
    F (reference_accepted, BOOLEAN),
    F (candidate_accepted, BOOLEAN),
    F (max_abs, DOUBLE),
    F (index, INT),
    F (reference, DOUBLE),
    F (cross_check, DOUBLE),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_CROSS_CHECK_TABLE = {"cross-check", sizeof (AssayCrossCheck),
                                                CROSS_CHECK_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayDensity, member, kind, __VA_ARGS__)
static const AssayJsonField DENSITY_FIELDS[] = {
    F (input, STRING),  F (rows, INT),   F (columns, INT),  F (low, DOUBLE), F (high, DOUBLE),
    F (first_row, INT), F (exact, UINT), F (counts, UINTS), ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_DENSITY_TABLE = {"density", sizeof (AssayDensity), DENSITY_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayOutput, member, kind, __VA_ARGS__)
static const AssayJsonField OUTPUT_FIELDS[] = {
    F (name, STRING),
    F (dtype, STRING),
    F (shape, INTS),
    F (array, STRING),
    F (tolerance, POINTER, .table = &ASSAY_TOLERANCE_TABLE),
    F (comparison, POINTER, .table = &ASSAY_COMPARISON_TABLE),
    F (gold, POINTER, .table = &ASSAY_GOLD_TABLE),
    F (cross_check, POINTER, .table = &ASSAY_CROSS_CHECK_TABLE),
    F (densities, LIST, .table = &ASSAY_DENSITY_TABLE),
    F (never_written, UINT),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_OUTPUT_TABLE = {"output", sizeof (AssayOutput), OUTPUT_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayProbe, member, kind, __VA_ARGS__)
static const AssayJsonField PROBE_FIELDS[] = {
    F (kind, ENUM, .words = ASSAY_PROBE_KINDS),
    F (name, STRING),
    F (family, STRING),
    F (workload, STRING),
    F (output, STRING),
    F (accepted, BOOLEAN),
    F (max_abs, DOUBLE),
    F (rms, DOUBLE),
    F (mismatch_share, DOUBLE),
    F (needed_atol, DOUBLE),
    F (margin, DOUBLE),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_PROBE_TABLE = {"probe", sizeof (AssayProbe), PROBE_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayFrontier, member, kind, __VA_ARGS__)
static const AssayJsonField FRONTIER_FIELDS[] = {
    F (kind, ENUM, .words = ASSAY_PROBE_KINDS),
    F (name, STRING),
    F (atol, DOUBLES),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_FRONTIER_TABLE = {"frontier", sizeof (AssayFrontier), FRONTIER_FIELDS,
                                             NULL};

#define F(member, kind, ...) FIELD (AssayPlane, member, kind, __VA_ARGS__)
static const AssayJsonField PLANE_FIELDS[] = {
    F (workload, STRING),
    F (output, STRING),
    F (rtol, DOUBLES),
    F (frontiers, LIST, .table = &ASSAY_FRONTIER_TABLE),
    F (candidate, DOUBLES),
    F (share_atol, DOUBLES),
    F (share, DOUBLES),
    F (proposed_rtol, DOUBLE),
    F (proposed_atol, DOUBLE),
    F (proposal, STRING),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_PLANE_TABLE = {"plane", sizeof (AssayPlane), PLANE_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayGateFacts, member, kind, __VA_ARGS__)
static const AssayJsonField GATE_FACTS_FIELDS[] = {
    F (workload, STRING),     F (output, STRING), F (count, INT), F (below_atol, DOUBLE),
    F (atol_decides, DOUBLE), F (spare, INT),     ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_GATE_FACTS_TABLE = {"gate facts", sizeof (AssayGateFacts),
                                               GATE_FACTS_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayOffList, member, kind, __VA_ARGS__)
static const AssayJsonField OFF_LIST_FIELDS[] = {
    F (kind, STRING),      F (name, STRING),     F (workload, STRING), F (output, STRING),
    F (accepted, BOOLEAN), F (wrong, BOOLEAN),   F (rms_ulp, DOUBLE),  F (listed, DOUBLE),
    F (reference, DOUBLE), F (mismatches, UINT), F (count, UINT),      F (verdict, STRING),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_OFF_LIST_TABLE = {"off-list run", sizeof (AssayOffList), OFF_LIST_FIELDS,
                                             NULL};

#define F(member, kind, ...) FIELD (AssayFamily, member, kind, __VA_ARGS__)
static const AssayJsonField FAMILY_FIELDS[] = {
    F (name, STRING), F (right, BOOLEAN), F (planted, INT), F (refused, INT), ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_FAMILY_TABLE = {"family", sizeof (AssayFamily), FAMILY_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssaySensitivity, member, kind, __VA_ARGS__)
static const AssayJsonField SENSITIVITY_FIELDS[] = {
    F (name, STRING), F (workload, STRING), F (wrong, INT), F (killed, INT),
    F (right, INT),   F (rejected, INT),    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_SENSITIVITY_TABLE = {"sensitivity", sizeof (AssaySensitivity),
                                                SENSITIVITY_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayAudit, member, kind, __VA_ARGS__)
static const AssayJsonField AUDIT_FIELDS[] = {
    F (grade, STRING),
    F (summary, STRING),
    F (probes, LIST, .table = &ASSAY_PROBE_TABLE),
    F (planes, LIST, .table = &ASSAY_PLANE_TABLE),
    F (gates, LIST, .table = &ASSAY_GATE_FACTS_TABLE),
    F (families, LIST, .table = &ASSAY_FAMILY_TABLE),
    F (sensitivity, LIST, .table = &ASSAY_SENSITIVITY_TABLE),
    F (checker, LIST, .table = &ASSAY_PROBE_TABLE),
    F (checker_reason, STRING),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_AUDIT_TABLE = {"audit", sizeof (AssayAudit), AUDIT_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayAxisValue, member, kind, __VA_ARGS__)
static const AssayJsonField AXIS_VALUE_FIELDS[] = {
    F (name, STRING),
    F (value, INT),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_AXIS_VALUE_TABLE = {"axis value", sizeof (AssayAxisValue),
                                               AXIS_VALUE_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayWorkloadRecord, member, kind, __VA_ARGS__)
static const AssayJsonField WORKLOAD_FIELDS[] = {
    F (name, STRING),
    F (axes, LIST, .table = &ASSAY_AXIS_VALUE_TABLE),
    F (status, ENUM, .words = ASSAY_WORKLOAD_STATUSES),
    F (reason, STRING),
    F (seconds, DOUBLE),
    F (outputs, LIST, .table = &ASSAY_OUTPUT_TABLE),
    F (launches, LIST, .table = &ASSAY_LAUNCH_TABLE),
    F (dropped, UINT),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_WORKLOAD_RECORD_TABLE = {"workload", sizeof (AssayWorkloadRecord),
                                                    WORKLOAD_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayDeviceRecord, member, kind, __VA_ARGS__)
static const AssayJsonField DEVICE_FIELDS[] = {
    F (kind, STRING),      F (name, STRING),    F (target, STRING),
    F (driver, STRING),    F (toolkit, STRING), F (clocks, STRING),
    F (math_mode, STRING), F (checks, STRING),  ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable DEVICE_TABLE = {"device", sizeof (AssayDeviceRecord), DEVICE_FIELDS,
                                            NULL};

#define F(member, kind, ...) FIELD (AssayEnvironment, member, kind, __VA_ARGS__)
static const AssayJsonField ENVIRONMENT_FIELDS[] = {
    F (host, STRING),         F (cpu, STRING),    F (os, STRING), F (sandbox, STRING),
    F (memory_limit, STRING), F (versions, NODE), ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable ENVIRONMENT_TABLE = {"environment", sizeof (AssayEnvironment),
                                                 ENVIRONMENT_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayTaskRef, member, kind, __VA_ARGS__)
static const AssayJsonField TASK_REF_FIELDS[] = {
    F (id, STRING),
    F (path, STRING),
    F (sha256, NODE),
    ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable TASK_REF_TABLE = {"task", sizeof (AssayTaskRef), TASK_REF_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssaySkippedRule, member, kind, __VA_ARGS__)
static const AssayJsonField SKIPPED_RULE_FIELDS[] = {
    F (rule, STRING),
    F (reason, STRING),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_SKIPPED_RULE_TABLE = {"skipped rule", sizeof (AssaySkippedRule),
                                                 SKIPPED_RULE_FIELDS, NULL};

static void
initialise_run (gpointer self)
{
  AssayRun *run = self;
  run->format = g_strdup ("assay-run");
  run->version = RUN_VERSION;
}

#define F(member, kind, ...) FIELD (AssayRun, member, kind, __VA_ARGS__)
static const AssayJsonField RUN_FIELDS[] = {
    F (format, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (version, INT, .flags = ASSAY_JSON_REQUIRED),
    F (id, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (state, ENUM, .words = ASSAY_STATUSES),
    F (task, STRUCT, .table = &TASK_REF_TABLE),
    F (candidate, STRING),
    F (device, STRUCT, .table = &DEVICE_TABLE),
    F (environment, STRUCT, .table = &ENVIRONMENT_TABLE),
    F (started, STRING),
    F (finished, STRING),
    F (stages, LIST, .table = &ASSAY_STAGE_TABLE),
    F (compile, LIST, .table = &ASSAY_COMPILE_TABLE),
    F (workloads, LIST, .table = &ASSAY_WORKLOAD_RECORD_TABLE),
    F (off_list, LIST, .table = &ASSAY_OFF_LIST_TABLE),
    F (audit, POINTER, .table = &ASSAY_AUDIT_TABLE),
    F (benchmark, POINTER, .table = &ASSAY_TIMING_SUMMARY_TABLE),
    F (findings, LIST, .table = &ASSAY_FINDING_TABLE),
    F (skipped_rules, LIST, .table = &ASSAY_SKIPPED_RULE_TABLE),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_RUN_TABLE = {"run", sizeof (AssayRun), RUN_FIELDS, initialise_run};

AssayRun *
assay_run_load (const char *folder, GError **error)
{
  g_autofree char *path = g_build_filename (folder, "run.json", NULL);
  g_autoptr (JsonNode) node = assay_json_load (path, &ASSAY_JSON_LIMITS_RECORD, error);
  if (!node)
    return NULL;
  g_autoptr (AssayRun) run = assay_json_table_read (&ASSAY_RUN_TABLE, node, "", NULL, error);
  if (!run)
    {
      g_prefix_error (error, "%s: ", path);
      return NULL;
    }
  if (!g_str_equal (run->format, "assay-run") || run->version > RUN_VERSION)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
                   "%s: format \"%s\" version %" G_GINT64_FORMAT
                   "; this Assay reads \"assay-run\" up to version %d",
                   path, run->format, run->version, RUN_VERSION);
      return NULL;
    }
  return g_steal_pointer (&run);
}

gboolean
assay_run_save (const AssayRun *run, const char *folder, GError **error)
{
  g_autofree char *path = g_build_filename (folder, "run.json", NULL);
  g_autoptr (JsonNode) node = assay_json_table_write (&ASSAY_RUN_TABLE, run);
  return assay_json_save (node, path, error);
}
