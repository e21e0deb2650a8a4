/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/numerics/compare.h"
#include "engine/numerics/pairs.h"

G_BEGIN_DECLS

/* The gate, a stretch of elements at a time. Inside this room only. */

#define ASSAY_GATE_BLOCK 2048

/* What some elements came to; to begin with, all zero but `tightest`, which is -1. */
typedef struct
{
  guint64 mismatches;
  double max_abs, max_abs_gold;
  double margin, tightest_error, tightest_allowed;
  gint64 tightest;
  gboolean special, capped; /* a special value against a number; an element beyond the cap */
  double difference_squares, reference_squares, gold_squares;
  guint64 gold_finite;
} AssayGateTally;

typedef struct
{
  const AssayCompareInput *input;
  AssayTolerance *exact;           /* what stands in for no tolerance */
  const AssayTolerance *tolerance; /* borrowed */
  AssayDtype dtype;
  gsize components, count; /* per element, elements */
  double threshold;        /* rms_scaled: the one allowance for all */
  gboolean needs_sums;     /* of squares of differences and references */
  gboolean fast;           /* real values, a rule about differences */
  double *ratios;          /* every element's, when some may mismatch */
  AssayGateTally *results;
} AssayGating;

/* FALSE with an error for what cannot be compared. */
gboolean assay_gating_init (AssayGating *gating, const AssayCompareInput *input, GError **error);
void assay_gating_clear (AssayGating *gating);

/* TRUE when no sum over all elements is needed for a verdict: elements may be looked at in any order,
 * and one that cannot matter left out. */
gboolean assay_gating_by_element (const AssayGating *gating);

/* At most ASSAY_GATE_BLOCK elements from `first`, added to `tally`. */
void assay_gating_block (const AssayGating *gating, gsize first, gsize n, AssayGateTally *tally);
/* Exact for any order of arrival but for the sums. */
void assay_gate_tally_merge (AssayGateTally *into, const AssayGateTally *from);
void assay_gating_conclude (const AssayGating *gating, const AssayGateTally *sum, AssayGate *gate);

/* The rule about finite pairs of real values as a bound on |c - r|; FALSE for the rule about steps. */
gboolean assay_gating_bound (const AssayGating *gating, AssayPairBound *bound);
/* Lets a finite pair of real values that differ set the margin, but counts nothing. Not for the rule
 * about steps. */
void assay_gating_raise (const AssayGating *gating, double c, double r, gint64 index,
                         AssayGateTally *tally);

G_END_DECLS
