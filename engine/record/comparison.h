/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/json-table.h"

G_BEGIN_DECLS

/* Everything one pass over candidate, reference and gold says about one output (FORMATS §2).
 * Values are doubles, exact for every floating dtype up to float64 and for integers up to 2^53.
 * An index is the flat, row-major element number; -1 where there is none. */

/* Logarithmic bins: positive[i] and negative[i] count |v| in [2^(first+i), 2^(first+i+1)). Both
 * arrays have the same length. Zero, NaN and infinities are counted elsewhere, never in bins. */
typedef struct
{
  gint64 first;
  GArray *negative; /* guint64 */
  GArray *positive; /* guint64 */
  guint64 zero;
} AssayHistogram;

typedef struct
{
  double value;
  gint64 index;
  double candidate, reference;
} AssayExtreme;

typedef struct
{
  gint64 index;
  double candidate, reference, gold;
  guint64 candidate_bits, gold_bits; /* in the output's dtype; gold rounded to it */
  double abs, rel;                   /* against gold */
  double ulp_real;                   /* signed, Goldberg ulp of gold */
  guint64 ulp;                       /* ordered-bit distance to RN(gold) */
} AssayWorst;

/* Error by output position, the output seen as rows × columns (leading dimensions folded into
 * rows), reduced to at most 128 × 256 cells; cell (r, c) is item r * cell_columns + c. The values keep
 * four significant digits. */
typedef struct
{
  gint64 rows, columns;
  gint64 cell_rows, cell_columns; /* number of cells */
  gint64 rows_per_cell, columns_per_cell;
  GArray *max_ulp;  /* double, real ulp; NaN where only special values stand */
  GArray *rms_ulp;  /* double */
  GArray *row_mean; /* double, signed mean real ulp per cell row */
} AssayPosition;

typedef struct
{
  guint64 both, candidate_only, reference_only;
} AssayNanCounts;

typedef struct
{
  guint64 same, opposite, candidate_only, reference_only;
} AssayInfCounts;

typedef struct
{
  double max, rms;
  char *scale; /* how it was scaled, in words */
  /* The condition of an element is its scale over |gold|: how far a relative error is beyond a backward
   * error. Elements whose gold is zero have none, and are counted. */
  double condition_max;
  gint64 condition_index; /* of the largest; -1 where there is none */
  guint64 condition_unbounded;
  AssayHistogram condition_histogram; /* positive alone */
} AssayBackwardError;

typedef struct
{
  char *ulp_definition;
  guint64 count;
  guint64 equal;                 /* same value as the reference, bit for bit but for zeros' signs */
  guint64 not_correctly_rounded; /* differs from RN(gold) */
  AssayExtreme max_abs;          /* against the reference, as the gate sees it */
  AssayExtreme max_rel;
  AssayExtreme max_ulp_real; /* against gold */
  guint64 max_ulp;           /* ordered-bit distance to RN(gold) */
  gint64 max_ulp_index;
  double rms;               /* of candidate - gold */
  double rms_gold;          /* of gold, for scale */
  double max_gold;          /* largest |gold| */
  double mean_signed;       /* of candidate - gold */
  double rms_ulp;           /* of real ulp */
  double toward_zero_share; /* of the inexact elements */
  AssayBackwardError *backward_error;
  guint64 mismatches; /* elements that miss the task's rule */
  double mismatch_share;
  gboolean accepted; /* by the task's rule as written */
  char *verdict;     /* one sentence: why accepted or not */
  double margin; /* factor on the whole tolerance from which the rule accepts; NaN if undefined */
  double headroom_bits; /* -log2 (margin) */
  AssayNanCounts nan;
  AssayInfCounts inf;
  guint64 sign_of_zero;
  guint64 flushed; /* differ, and are equal once subnormal numbers on both sides are zero */
  AssayHistogram ulp_histogram; /* signed integer distance to RN(gold), bins [2^k, 2^(k+1)) */
  AssayHistogram abs_histogram; /* candidate - gold */
  AssayHistogram rel_histogram; /* (candidate - gold) / |gold|, gold not zero */
  GPtrArray *worst;             /* AssayWorst *, by real ulp, at most 64 */
  AssayPosition position;
} AssayComparison;

ASSAY_JSON_DECLARE (AssayComparison, assay_comparison, ASSAY_COMPARISON_TABLE)
extern const AssayJsonTable ASSAY_WORST_TABLE;
extern const AssayJsonTable ASSAY_HISTOGRAM_TABLE;
extern const AssayJsonTable ASSAY_BACKWARD_ERROR_TABLE;

G_END_DECLS
