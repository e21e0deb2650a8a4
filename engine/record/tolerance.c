/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/tolerance.h"

#include <math.h>

const char *const ASSAY_TOLERANCE_RULES[] = {
    "allclose",          "either",      "global_norm", "rms_scaled", "ulp",
    "baseline_relative", "model_bound", "exact",       "checker",    NULL,
};
static const char *const RELATIVE_TO[] = {"reference", "candidate", NULL};

static void
initialise (gpointer self)
{
  AssayTolerance *tolerance = self;
  tolerance->atol = 0.0;
  tolerance->rtol = 0.0;
  tolerance->matched_ratio = 1.0;
}

#define F(member, kind, ...) ASSAY_JSON_FIELD (AssayTolerance, member, #member, kind, __VA_ARGS__)
static const AssayJsonField FIELDS[] = {
    F (rule, ENUM, .words = ASSAY_TOLERANCE_RULES, .flags = ASSAY_JSON_REQUIRED),
    F (atol, DOUBLE),
    F (rtol, DOUBLE),
    F (ulp, UINT),
    F (matched_ratio, DOUBLE),
    F (max_error_cap, DOUBLE, .flags = ASSAY_JSON_KEEP_NULL),
    F (equal_nan, BOOLEAN),
    F (relative_to, ENUM, .words = RELATIVE_TO),
    F (justification, STRING),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_TOLERANCE_TABLE = {"tolerance", sizeof (AssayTolerance), FIELDS,
                                              initialise};

/* 1e-4 rather than 0.0001, as tolerances are written. */
static char *
short_number (double value)
{
  g_autofree char *text = assay_double_to_string (value);
  if (value <= 0 || value >= 0.01)
    return g_steal_pointer (&text);
  int exponent = (int) floor (log10 (value) + 1e-12);
  return g_strdup_printf ("%.6ge%d", value / pow (10, exponent), exponent);
}

char *
assay_tolerance_describe (const AssayTolerance *tolerance)
{
  g_autofree char *atol = short_number (tolerance->atol);
  g_autofree char *rtol = short_number (tolerance->rtol);
  GString *out = g_string_new (ASSAY_TOLERANCE_RULES[tolerance->rule]);
  if (tolerance->rule == ASSAY_RULE_ULP)
    g_string_append_printf (out, "(%" G_GUINT64_FORMAT " ulp)", tolerance->ulp);
  else if (tolerance->rule != ASSAY_RULE_EXACT && tolerance->rule != ASSAY_RULE_CHECKER)
    g_string_append_printf (out, "(atol %s, rtol %s)", atol, rtol);
  if (tolerance->matched_ratio < 1.0)
    g_string_append_printf (out, ", %.6g of the elements", tolerance->matched_ratio);
  if (!isnan (tolerance->max_error_cap))
    g_string_append_printf (out, ", error at most %.6g", tolerance->max_error_cap);
  if (tolerance->relative_to == ASSAY_RELATIVE_TO_CANDIDATE)
    g_string_append (out, ", relative to the candidate");
  return g_string_free (out, FALSE);
}
