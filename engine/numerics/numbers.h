/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/numerics/compare.h"

G_BEGIN_DECLS

/* The numbers of a comparison beside the gate. Inside this room only.
 *
 * The output is seen as rows × columns and cut into pieces of whole position cells, so that no two
 * pieces touch one cell; counts and extremes merge in any order, sums are kept per piece and added in
 * order: results do not depend on the number of threads. */

#define ASSAY_BINS 2112 /* exponents of doubles, subnormal ones included: -1074 … 1023 */
#define ASSAY_BIN_BIAS 1074
#define ASSAY_ULP_BINS 64
#define ASSAY_WORST_KEPT 64

typedef struct
{
  double key; /* |real ulp|, infinite where only one side is special */
  gint64 index;
} AssayRanked;

/* Counts and extremes: merging is exact in any order. */
typedef struct
{
  guint64 equal, not_correctly_rounded, sign_of_zero;
  guint64 finite, inexact, toward_zero;
  AssayNanCounts nan;
  AssayInfCounts inf;
  AssayRanked max_abs, max_rel, max_ulp_real, max_gold;
  guint64 max_ulp;
  gint64 max_ulp_index;
  double max_backward;
  guint64 abs_bins[2][ASSAY_BINS], rel_bins[2][ASSAY_BINS], ulp_bins[2][ASSAY_ULP_BINS];
  guint64 abs_zero, rel_zero, ulp_zero;
  AssayRanked worst[ASSAY_WORST_KEPT];
  guint n_worst;
} AssayTally;

/* Sums, one set a piece. */
typedef struct
{
  double error, error_squares, gold_squares, ulp, ulp_squares, backward_squares;
  guint64 ulp_count, backward_count, finite;
} AssaySums;

typedef struct
{
  const AssayCompareInput *input;
  AssayDtype dtype, component;
  gint64 rows, columns; /* in components */
  gint64 cell_rows, cell_columns, rows_per_cell, columns_per_cell;
  gint64 groups, cells_per_group; /* pieces along a cell row */
  double *cell_max, *cell_squares;
  guint64 *cell_count;
  AssaySums *sums; /* cell_rows × groups */
  AssayTally *tally;
  GMutex lock;
  double overflow; /* 2^(e_max + 1), what an infinity counts as in real ulp */
  gboolean has_infinity;
} AssayNumbers;

/* The work on one piece. */
typedef struct
{
  AssayNumbers *numbers;
  AssayTally *tally;
  AssaySums *sums;
} AssayPiece;

#define ASSAY_BLOCK 2048

/* One element by the definitions, in any state: the plain path. */
typedef struct
{
  double candidate, reference, gold, low;
  guint64 code, gold_code;
  gint64 index, cell;
} AssayElement;
void assay_numbers_element (AssayPiece *piece, const AssayElement *element);
/* At most ASSAY_BLOCK elements of a floating type narrower than 64 bits, the same numbers bit for bit:
 * sums in the same order, logarithms from exponent fields, divisions only where they can matter. */
void assay_numbers_fast_block (AssayPiece *piece, gint64 first, gint64 n);

/* Keeps what ranks high: larger keys first, then smaller indices, whatever the order of arrival. */
void assay_numbers_keep_worst (AssayTally *tally, double key, gint64 index);

void assay_numbers_init (AssayNumbers *numbers, const AssayCompareInput *input);
void assay_numbers_clear (AssayNumbers *numbers);
/* One piece, for assay_parallel_for. */
void assay_numbers_piece (gsize piece, gpointer numbers);

/* Signed real ulp of candidate c against gold g + low, with infinities as 2^(e_max + 1); NaN where
 * it has no meaning. */
double assay_numbers_real_ulp (const AssayNumbers *numbers, double c, double g, double low);

G_END_DECLS
