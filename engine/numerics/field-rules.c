/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/field-rules.h"

#include <math.h>

static const char *const KINDS[] = {
    "sum", "either",     "nulp",     "max_ulp", "decimal",  "relative_sum",
    "rms", "rms_scaled", "max_norm", "norm",    "baseline", NULL,
};
static const char *const ARITHMETICS[] = {"double", "float32", "dtype", "dtype_only", NULL};

#define CONSTANT(member, KIND, ...)                                                                \
  ASSAY_JSON_FIELD (AssayFieldConstants, member, #member, KIND, __VA_ARGS__)
static const AssayJsonField CONSTANT_FIELDS[] = {
    CONSTANT (atol, DOUBLE),
    CONSTANT (rtol, DOUBLE),
    ASSAY_JSON_END,
};
static const AssayJsonTable CONSTANTS_TABLE = {
    .name = "constants of a type",
    .size = sizeof (AssayFieldConstants),
    .fields = CONSTANT_FIELDS,
};

#define RULE(member, KIND, ...)                                                                    \
  ASSAY_JSON_FIELD (AssayFieldRule, member, #member, KIND, __VA_ARGS__)
static const AssayJsonField RULE_FIELDS[] = {
    RULE (name, STRING, .flags = ASSAY_JSON_REQUIRED),
    RULE (title, STRING, .flags = ASSAY_JSON_REQUIRED),
    RULE (text, STRING),
    RULE (source, STRING, .flags = ASSAY_JSON_REQUIRED),
    RULE (kind, ENUM, .words = KINDS, .flags = ASSAY_JSON_REQUIRED),
    RULE (arithmetic, ENUM, .words = ARITHMETICS),
    RULE (atol, DOUBLE),
    RULE (rtol, DOUBLE),
    RULE (floor, DOUBLE),
    RULE (rms, DOUBLE),
    RULE (matched_ratio, DOUBLE),
    RULE (steps, INT),
    RULE (of_candidate, BOOLEAN),
    RULE (equal_nan, BOOLEAN),
    RULE (finite_only, BOOLEAN),
    RULE (overflow_fails, BOOLEAN),
    RULE (times_size, BOOLEAN),
    RULE (tie_exempt, BOOLEAN),
    RULE (smaller_norm, BOOLEAN),
    RULE (bfloat_to_float, BOOLEAN),
    RULE (types, MAP, .table = &CONSTANTS_TABLE),
    ASSAY_JSON_END,
};

static void
initialise_rule (gpointer self)
{
  AssayFieldRule *rule = self;
  rule->atol = rule->rtol = rule->floor = rule->rms = 0; /* absent numbers are NaN otherwise */
  rule->matched_ratio = 1;
}

static const AssayJsonTable RULE_TABLE = {
    .name = "rule of the field",
    .size = sizeof (AssayFieldRule),
    .fields = RULE_FIELDS,
    .initialise = initialise_rule,
};

static const AssayJsonField RULES_FIELDS[] = {
    ASSAY_JSON_FIELD (AssayFieldRules, rules, "rules", LIST, .table = &RULE_TABLE,
                      .flags = ASSAY_JSON_REQUIRED),
    ASSAY_JSON_END,
};
const AssayJsonTable ASSAY_FIELD_RULES_TABLE = {
    .name = "rules of the field",
    .size = sizeof (AssayFieldRules),
    .fields = RULES_FIELDS,
};

#define GREATEST(member, KIND) ASSAY_JSON_FIELD (AssayFieldGreatest, member, #member, KIND)
static const AssayJsonField GREATEST_FIELDS[] = {
    GREATEST (value, DOUBLE),
    GREATEST (index, INT),
    ASSAY_JSON_END,
};
static const AssayJsonTable GREATEST_TABLE = {
    .name = "greatest difference",
    .size = sizeof (AssayFieldGreatest),
    .fields = GREATEST_FIELDS,
};

#define VERDICT(member, KIND, ...)                                                                 \
  ASSAY_JSON_FIELD (AssayFieldVerdict, member, #member, KIND, __VA_ARGS__)
static const AssayJsonField VERDICT_FIELDS[] = {
    VERDICT (name, STRING),
    VERDICT (title, STRING),
    VERDICT (applies, BOOLEAN),
    VERDICT (reason, STRING),
    VERDICT (accepted, BOOLEAN),
    VERDICT (atol, DOUBLE),
    VERDICT (rtol, DOUBLE),
    VERDICT (count, UINT),
    VERDICT (mismatches, UINT),
    VERDICT (passing_share, DOUBLE),
    VERDICT (deciding, INT),
    VERDICT (candidate, DOUBLE),
    VERDICT (reference, DOUBLE),
    VERDICT (error, DOUBLE),
    VERDICT (allowed, DOUBLE),
    VERDICT (greatest_abs, STRUCT, .table = &GREATEST_TABLE),
    VERDICT (greatest_rel, STRUCT, .table = &GREATEST_TABLE),
    ASSAY_JSON_END,
};
static void
initialise_verdict (gpointer self)
{
  AssayFieldVerdict *verdict = self;
  verdict->atol = verdict->rtol = verdict->error = verdict->allowed = 0;
  verdict->deciding = verdict->greatest_abs.index = verdict->greatest_rel.index = -1;
  verdict->greatest_abs.value = verdict->greatest_rel.value = 0;
}

const AssayJsonTable ASSAY_FIELD_VERDICT_TABLE = {
    .name = "verdict of a rule",
    .size = sizeof (AssayFieldVerdict),
    .fields = VERDICT_FIELDS,
    .initialise = initialise_verdict,
};

void
assay_field_verdict_free (AssayFieldVerdict *verdict)
{
  assay_json_table_free (&ASSAY_FIELD_VERDICT_TABLE, verdict);
}

AssayFieldRules *
assay_field_rules_load (const char *path, GError **error)
{
  g_autoptr (JsonNode) node = assay_json_load (path, &ASSAY_JSON_LIMITS_RECORD, error);
  return node ? assay_json_table_read (&ASSAY_FIELD_RULES_TABLE, node, "", NULL, error) : NULL;
}

const AssayFieldRule *
assay_field_rules_find (const AssayFieldRules *rules, const char *name)
{
  for (guint i = 0; i < rules->rules->len; i++)
    {
      const AssayFieldRule *rule = g_ptr_array_index (rules->rules, i);
      if (g_str_equal (rule->name, name))
        return rule;
    }
  return NULL;
}
