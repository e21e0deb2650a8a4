/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/array.h"
#include "engine/base/parallel.h"
#include "engine/record/comparison.h"
#include "engine/record/tolerance.h"

G_BEGIN_DECLS

/* One pass over an output: what the gate says, and every number about the error (docs/numerics.md).
 *
 * Three values are kept apart for each element: the candidate c; the reference r that the gate
 * compares with, in the output's dtype; and the gold g, the reference run in higher precision.
 *
 * Gold comes as doubles: `gold` alone is enough while the output has at most 24 bits of precision
 * and the gold was computed in double (an error of 2^-53 relative is 2^-29 of a float32 ulp). Gold
 * that was computed in float128 is given as an unevaluated pair, gold + gold_low with
 * |gold_low| <= ulp (gold) / 2: the tail decides ties when g is rounded to the dtype, and float64
 * outputs need it to have an error at all below half an ulp. NULL gold: the reference stands in, and
 * everything "against gold" is then against the reference; the caller says so in AssayGold.
 *
 * Complex outputs: the gate works on the modulus of the difference, as NumPy and PyTorch do, and
 * counts elements; every other number counts components, interleaved. */

typedef struct
{
  const AssayArray *candidate; /* same dtype and shape as reference */
  const AssayArray *reference;
  const double *gold;              /* components, or NULL */
  const double *gold_low;          /* or NULL */
  const double *scale;             /* condition scale of each component, such as Σ|a b|, or NULL */
  const char *scale_name;          /* how it was scaled, in words */
  const AssayTolerance *tolerance; /* NULL: exact */
  guint threads;                   /* 0: one for each processor */
  gboolean plain;                  /* element by element, for tests of the fast path */
  guint kernel; /* for tests: 1 plain C, 2 AVX2, 3 AVX-512; 0: the widest there is */
  AssayProgress progress;
  gpointer progress_data;
} AssayCompareInput;

/* (transfer full): NULL with an error when shapes or dtypes differ, a rule cannot be evaluated here
 * (baseline_relative, model_bound, checker: said by name), or on cancellation. Sums are added chunk
 * by chunk in order: the result is the same, bit for bit, for any number of threads. */
AssayComparison *assay_compare (const AssayCompareInput *input, GCancellable *cancellable,
                                GError **error);

/* FALSE with an error that says what differs, shape or dtype. */
gboolean assay_compare_same_form (const AssayArray *candidate, const AssayArray *reference,
                                  GError **error);

/* The gate alone, for probes. */
typedef struct
{
  gboolean accepted;
  guint64 count, mismatches; /* elements */
  double mismatch_share;
  double max_abs;     /* largest |c - r|; NaN when only special values differ */
  double needed_atol; /* the atol at rtol 0 from which |c - r| <= atol holds everywhere; infinity
                          * when a NaN or infinity stands against a number */
  double max_abs_gold, rms_gold; /* of c - g, finite elements only */
  double margin;   /* factor on the whole tolerance from which the rule accepts: at most 1 exactly
                          * when accepted; infinite when none helps */
  gint64 tightest; /* the element that needs the largest factor; -1 when nothing differs */
  double tightest_error, tightest_allowed; /* there; in ulp for the ulp rule */
  gboolean cap_exceeded;                   /* some element beyond max_error_cap */
} AssayGate;

gboolean assay_gate (const AssayCompareInput *input, AssayGate *gate, GCancellable *cancellable,
                     GError **error);

/* TRUE when `rule` can be evaluated by these functions; else an error that says why not. */
gboolean assay_rule_supported (int rule, GError **error);

G_END_DECLS
