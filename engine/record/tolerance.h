/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/json-table.h"

G_BEGIN_DECLS

typedef enum
{
  ASSAY_RULE_ALLCLOSE,          /* |c - r| <= atol + rtol |r| */
  ASSAY_RULE_EITHER,            /* |c - r| <= atol, or |c - r| <= rtol |r| */
  ASSAY_RULE_GLOBAL_NORM,       /* ||c - r||2 <= rtol ||r||2 (+ atol) over the whole output */
  ASSAY_RULE_RMS_SCALED,        /* |c - r| <= atol + rtol rms (r) */
  ASSAY_RULE_ULP,               /* ordered-bit distance <= ulp */
  ASSAY_RULE_BASELINE_RELATIVE, /* error against gold <= rtol times the reference's own, + atol */
  ASSAY_RULE_MODEL_BOUND,       /* per-element bound from an accumulation model */
  ASSAY_RULE_EXACT,             /* same value, every element */
  ASSAY_RULE_CHECKER,           /* the task's own program decides */
} AssayToleranceRule;

typedef enum
{
  ASSAY_RELATIVE_TO_REFERENCE,
  ASSAY_RELATIVE_TO_CANDIDATE,
} AssayRelativeTo;

extern const char *const ASSAY_TOLERANCE_RULES[];

typedef struct
{
  int rule; /* AssayToleranceRule */
  double atol, rtol;
  guint64 ulp;
  double matched_ratio; /* share of elements that must match, 1.0 by default */
  double max_error_cap; /* absolute, even for elements that may mismatch; NaN = none */
  gboolean equal_nan;
  int relative_to; /* AssayRelativeTo */
  char *justification;
} AssayTolerance;

ASSAY_JSON_DECLARE (AssayTolerance, assay_tolerance, ASSAY_TOLERANCE_TABLE)

/* (transfer full): "allclose(atol 1e-4, rtol 1e-4)", with what else is unusual. */
char *assay_tolerance_describe (const AssayTolerance *tolerance);

G_END_DECLS
