/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/array.h"
#include "engine/base/json-table.h"

G_BEGIN_DECLS

/* The comparison rules of other test suites, evaluated as those suites evaluate them: their formula,
 * constants, operand order, arithmetic and treatment of NaN (data/tolerance-rules.json, which names the
 * source of each). c is the candidate ("actual"), r the reference ("expected"), g the gold. */

typedef enum
{
  ASSAY_FIELD_SUM,          /* |c - r| <= atol + rtol |s| */
  ASSAY_FIELD_EITHER,       /* |c - r| <= atol, or |c - r| / |r| <= rtol */
  ASSAY_FIELD_NULP,         /* |c - r| <= steps * spacing (max (|c|, |r|)) */
  ASSAY_FIELD_MAX_ULP,      /* distance of bits as signed integers of the type's size <= steps */
  ASSAY_FIELD_DECIMAL,      /* |c - r| < atol */
  ASSAY_FIELD_RELATIVE_SUM, /* |c - r| < rtol (|c| + |r|), or < rtol floor near zero */
  ASSAY_FIELD_RMS,          /* e = |c - r| / max (rms (r), |r|): max e <= rtol and rms e <= rms */
  ASSAY_FIELD_RMS_SCALED,   /* |c - r| <= atol + rtol rms (r) */
  ASSAY_FIELD_MAX_NORM,     /* max |c - r| <= rtol max (max c, max r) */
  ASSAY_FIELD_NORM,         /* ||c - r|| <= rtol min (||c||, ||r||), or ||r|| alone */
  ASSAY_FIELD_BASELINE,     /* max |c - g| <= rtol max |r - g| + atol */
} AssayFieldKind;

typedef enum
{
  ASSAY_FIELD_IN_DOUBLE,
  ASSAY_FIELD_IN_FLOAT32,
  ASSAY_FIELD_IN_DTYPE, /* each operation rounded to the arrays' type; constants float32 or wider */
  ASSAY_FIELD_IN_DTYPE_ONLY, /* the constants too */
} AssayFieldArithmetic;

/* Constants of one type; "integer" stands for all integers and bool. */
typedef struct
{
  char *name;
  double atol, rtol;
} AssayFieldConstants;

typedef struct
{
  char *name;  /* "torch.assert_close" */
  char *title; /* one line */
  char *text;  /* what is peculiar about it */
  char *source;
  int kind;       /* AssayFieldKind */
  int arithmetic; /* AssayFieldArithmetic */
  double atol, rtol, floor, rms, matched_ratio;
  gint64 steps;
  gboolean of_candidate;    /* SUM: the relative term is the candidate's */
  gboolean equal_nan;       /* NaN equals NaN */
  gboolean finite_only;     /* what is not finite never passes, equal infinities neither */
  gboolean overflow_fails;  /* a difference that overflows in the arithmetic never passes */
  gboolean times_size;      /* both constants are multiplied by the number of elements */
  gboolean tie_exempt;      /* neighbours on both sides of a rounding tie pass, but in float32 */
  gboolean smaller_norm;    /* NORM: the smaller of the two */
  gboolean bfloat_to_float; /* bfloat16 and 8-bit types are compared as float32 */
  GPtrArray *types;         /* AssayFieldConstants *: where it is not empty, only these types */
} AssayFieldRule;

typedef struct
{
  GPtrArray *rules; /* AssayFieldRule * */
} AssayFieldRules;

ASSAY_JSON_DECLARE (AssayFieldRules, assay_field_rules, ASSAY_FIELD_RULES_TABLE)

AssayFieldRules *assay_field_rules_load (const char *path, GError **error);
/* NULL for a name there is not. */
const AssayFieldRule *assay_field_rules_find (const AssayFieldRules *rules, const char *name);

typedef struct
{
  double value; /* 0 where nothing mismatches */
  gint64 index; /* -1 there */
} AssayFieldGreatest;

typedef struct
{
  char *name, *title;
  gboolean applies;
  char *reason; /* why not */
  gboolean accepted;
  double atol, rtol;
  guint64 count, mismatches;
  double passing_share;
  gint64 deciding; /* the element, or component, that needs most; -1: none, or a rule about all */
  double candidate, reference; /* there */
  double error, allowed;       /* there, or of the whole, in the rule's own terms and arithmetic */
  AssayFieldGreatest greatest_abs, greatest_rel; /* over the elements that mismatch */
} AssayFieldVerdict;

extern const AssayJsonTable ASSAY_FIELD_VERDICT_TABLE;
void assay_field_verdict_free (AssayFieldVerdict *verdict);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayFieldVerdict, assay_field_verdict_free)

/* (transfer full): of two arrays of one shape and dtype; `gold` holds doubles, or is NULL. Complex arrays
 * and rules that lack what they need give `applies` FALSE and the reason. */
AssayFieldVerdict *assay_field_rule_judge (const AssayFieldRule *rule, const AssayArray *candidate,
                                           const AssayArray *reference, const double *gold);

G_END_DECLS
