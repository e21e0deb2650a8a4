/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/numerics/gate-block.h"
#include "engine/numerics/pairs.h"

#include <math.h>

G_BEGIN_DECLS

/* The numbers of a comparison. Inside this room only.
 *
 * The output is seen as rows × columns and cut into position cells, tiles of whole cells, and pieces of
 * whole tiles, so that no two pieces touch one cell. A tile is worked on in segments, contiguous runs of
 * at most ASSAY_SEGMENT components; what belongs to a cell is kept by place in the segment and added up
 * at the end of the tile. Counts and extremes merge in any order; sums are kept in lanes and pieces, and
 * added in a fixed order: results depend neither on the number of threads nor on the kernel. */

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
  guint64 equal, not_correctly_rounded, sign_of_zero, flushed;
  guint64 finite, inexact, toward_zero;
  AssayNanCounts nan;
  AssayInfCounts inf;
  AssayRanked max_abs, max_rel, max_ulp_real, max_gold;
  guint64 max_ulp;
  gint64 max_ulp_index;
  double max_backward;
  AssayRanked max_condition;
  guint64 condition_unbounded, condition_bins[ASSAY_BINS];
  guint64 abs_bins[2][ASSAY_BINS], rel_bins[2][ASSAY_BINS], ulp_bins[2][ASSAY_ULP_BINS];
  guint64 abs_zero, rel_zero, ulp_zero;
  AssayRanked worst[ASSAY_WORST_KEPT];
  guint n_worst;
  AssayGateTally gate;
} AssayTally;

/* Sums, one set a piece. */
typedef struct
{
  double error, error_squares, gold_squares, ulp, ulp_squares, backward_squares;
  guint64 ulp_count, backward_count, finite;
} AssaySums;

/* Sums of what is not close, in the lanes of its segment. */
typedef struct
{
  double error[ASSAY_LANES], error_squares[ASSAY_LANES], gold_squares[ASSAY_LANES];
  double ulp[ASSAY_LANES], backward_squares[ASSAY_LANES];
  guint64 backward_count;
} AssayFarSums;

/* What one thread works with; pieces come to it in ascending order. */
typedef struct
{
  gint64 last_piece;
  gboolean busy;
  AssayTally tally;
  AssayPairs pairs;
  AssayPairSums close;
  AssayFarSums far;
  guint64 squares_bound;                /* of close.squares, in any place */
  guint64 twice_squares[ASSAY_SEGMENT]; /* of twice the ulp error of close pairs */
  double ulp_squares[ASSAY_SEGMENT], ulp_max[ASSAY_SEGMENT]; /* of the others */
  guint64 finite;                                            /* of the piece */
  float c[ASSAY_SEGMENT], r[ASSAY_SEGMENT];
} AssayWorker;

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
  GPtrArray *workers;
  double least_normal; /* below it is what a device may flush to zero */
  double overflow;     /* 2^(e_max + 1), what an infinity counts as in real ulp */
  gboolean has_infinity;
  gboolean paired; /* close pairs are told apart */
  AssayPairFormat format;
  const AssayPairKernel *kernel;
  const AssayGating *gating; /* NULL: the gate is somebody else's work */
} AssayNumbers;

/* The work on one piece. */
typedef struct
{
  AssayNumbers *numbers;
  AssayWorker *worker;
  AssayTally *tally; /* the worker's */
} AssayPiece;

/* Contiguous components of one row or of several whole ones. */
typedef struct
{
  gint64 first, n;
} AssaySegment;

/* One element by the definitions, in any state: the plain path. */
typedef struct
{
  double candidate, reference, gold, low;
  guint64 code, gold_code;
  gint64 index;
  gint64 place; /* in its segment */
} AssayElement;
void assay_numbers_element (AssayPiece *piece, const AssayElement *element);
/* Elements of a floating type narrower than 64 bits, the same numbers bit for bit: logarithms from
 * exponent fields, divisions only where they can matter. `only` says which, 64 a word, or NULL: all. */
void assay_numbers_fast_segment (AssayPiece *piece, AssaySegment segment, const guint64 *only);
/* Close pairs by the kernel, and the others one by one. */
void assay_numbers_paired_segment (AssayPiece *piece, AssaySegment segment);

/* Keeps what ranks high: larger keys first, then smaller indices, whatever the order of arrival. */
void assay_numbers_keep_worst (AssayTally *tally, double key, gint64 index);
static inline void
assay_numbers_raise (AssayRanked *kept, double key, gint64 index)
{
  if (key > kept->key || (key == kept->key && key > 0 && index < kept->index))
    *kept = (AssayRanked) {key, index};
}

/* Scale over |gold| of an element whose scale is above zero. */
static inline void
assay_numbers_count_condition (AssayTally *tally, double scale, double gold, gint64 index)
{
  double condition = scale / fabs (gold);
  if (!isfinite (condition))
    {
      tally->condition_unbounded++;
      return;
    }
  assay_numbers_raise (&tally->max_condition, condition, index);
  if (condition > 0)
    tally->condition_bins[ilogb (condition) + ASSAY_BIN_BIAS]++;
}

/* `gating` is borrowed and may be NULL: then tally->gate stays empty. */
void assay_numbers_init (AssayNumbers *numbers, const AssayCompareInput *input,
                         const AssayGating *gating);
void assay_numbers_clear (AssayNumbers *numbers);
gsize assay_numbers_pieces (const AssayNumbers *numbers);
/* One piece, for assay_parallel_for. */
void assay_numbers_piece (gsize piece, gpointer numbers);
/* After all pieces: `tally` holds everything. */
void assay_numbers_finish (AssayNumbers *numbers);

/* Signed real ulp of candidate c against gold g + low, with infinities as 2^(e_max + 1); NaN where
 * it has no meaning. */
double assay_numbers_real_ulp (const AssayNumbers *numbers, double c, double g, double low);

G_END_DECLS
