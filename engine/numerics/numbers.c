/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/numbers.h"

#include <math.h>
#include <string.h>

#define MAX_CELL_ROWS 128
#define MAX_CELL_COLUMNS 256
#define PIECE_COMPONENTS 65536

static gint64
ceil_div (gint64 a, gint64 b)
{
  return (a + b - 1) / b;
}

static void
start_tally (AssayTally *tally)
{
  tally->max_abs.index = tally->max_rel.index = tally->max_ulp_index = -1;
  tally->max_ulp_real.index = tally->max_gold.index = tally->max_condition.index = -1;
  tally->gate.tightest = -1;
}

static void
plan_cells (AssayNumbers *numbers, const AssayArray *array)
{
  gint64 total = (gint64) assay_array_components (array);
  gint64 parts = assay_dtype_format (array->dtype)->components;
  gint64 columns = array->ndim ? array->shape[array->ndim - 1] * parts : parts;
  numbers->columns = MAX (columns, 1);
  numbers->rows = MAX (total / numbers->columns, 1);
  numbers->rows_per_cell = ceil_div (numbers->rows, MAX_CELL_ROWS);
  numbers->columns_per_cell = ceil_div (numbers->columns, MAX_CELL_COLUMNS);
  numbers->cell_rows = ceil_div (numbers->rows, numbers->rows_per_cell);
  numbers->cell_columns = ceil_div (numbers->columns, numbers->columns_per_cell);
  /* Enough elements to be worth handing out, and rows long enough for segments to be worth their start. */
  gint64 in_cell = numbers->rows_per_cell * numbers->columns_per_cell;
  gint64 wanted = MAX (ceil_div (PIECE_COMPONENTS, in_cell),
                       ceil_div (ASSAY_SEGMENT / 2, numbers->columns_per_cell));
  numbers->cells_per_group = CLAMP (wanted, 1, numbers->cell_columns);
  numbers->groups = ceil_div (numbers->cell_columns, numbers->cells_per_group);
}

void
assay_numbers_init (AssayNumbers *numbers, const AssayCompareInput *input,
                    const AssayGating *gating)
{
  memset (numbers, 0, sizeof *numbers);
  numbers->input = input;
  numbers->gating = gating;
  numbers->dtype = input->candidate->dtype;
  numbers->component = assay_dtype_component (numbers->dtype);
  plan_cells (numbers, input->candidate);
  gsize cells = (gsize) (numbers->cell_rows * numbers->cell_columns);
  numbers->cell_max = g_new0 (double, cells);
  numbers->cell_squares = g_new0 (double, cells);
  numbers->cell_count = g_new0 (guint64, cells);
  numbers->sums = g_new0 (AssaySums, (gsize) (numbers->cell_rows * numbers->groups));
  numbers->tally = g_new0 (AssayTally, 1);
  start_tally (numbers->tally);
  numbers->workers = g_ptr_array_new_with_free_func (g_free);
  g_mutex_init (&numbers->lock);
  const AssayFormat *format = assay_dtype_format (numbers->dtype);
  numbers->has_infinity = format->has_infinity;
  numbers->overflow = INFINITY;
  if (assay_dtype_is_float (numbers->component))
    numbers->least_normal = assay_dtype_format (numbers->component)->min_normal;
  if (format->kind != ASSAY_DTYPE_KIND_FLOAT || format->bits == 64)
    return;
  numbers->overflow = ldexp (1, ilogb (format->max_finite) + 1);
  if (format->exponent_bits == 0 || !format->has_sign || input->gold || input->scale)
    return;
  numbers->paired = TRUE;
  numbers->format = assay_pair_format (numbers->component);
  numbers->kernel = assay_pair_kernel (input->kernel);
}

void
assay_numbers_clear (AssayNumbers *numbers)
{
  g_free (numbers->cell_max);
  g_free (numbers->cell_squares);
  g_free (numbers->cell_count);
  g_free (numbers->sums);
  g_free (numbers->tally);
  g_ptr_array_unref (numbers->workers);
  g_mutex_clear (&numbers->lock);
}

double
assay_numbers_real_ulp (const AssayNumbers *numbers, double c, double g, double low)
{
  if (isnan (c) || isnan (g))
    return NAN;
  double limit = numbers->overflow;
  if (isinf (c) && isfinite (limit))
    c = copysign (limit, c);
  if (fabs (g) > limit)
    {
      g = copysign (limit, g);
      low = 0;
    }
  double error = (c - g) - low;
  if (c == g && isinf (c))
    error = 0;
  return error / assay_dtype_ulp (numbers->component, g);
}

/* Larger keys first, then smaller indices: a total order, whatever the order of arrival. */
static inline gboolean
ranks_before (AssayRanked a, AssayRanked b)
{
  return a.key > b.key || (a.key == b.key && a.index < b.index);
}

void
assay_numbers_keep_worst (AssayTally *tally, double key, gint64 index)
{
  AssayRanked item = {key, index};
  guint n = tally->n_worst;
  if (n == ASSAY_WORST_KEPT)
    {
      if (!ranks_before (item, tally->worst[n - 1]))
        return;
      n--;
    }
  guint at = n;
  for (; at > 0 && ranks_before (item, tally->worst[at - 1]); at--)
    tally->worst[at] = tally->worst[at - 1];
  tally->worst[at] = item;
  tally->n_worst = n + 1;
}

static inline int
bin_of (double magnitude)
{
  guint64 bits;
  memcpy (&bits, &magnitude, sizeof bits);
  int exponent = (int) (bits >> 52 & 0x7ff);
  if (exponent == 0)
    return 63 - __builtin_clzll (bits);
  return exponent - 1023 + ASSAY_BIN_BIAS;
}

static void
count_special (AssayTally *tally, double c, double r)
{
  gboolean cn = isnan (c), rn = isnan (r), ci = isinf (c), ri = isinf (r);
  tally->nan.both += cn && rn;
  tally->nan.candidate_only += cn && !rn;
  tally->nan.reference_only += rn && !cn;
  if (cn || rn)
    return;
  tally->inf.same += ci && ri && c == r;
  tally->inf.opposite += ci && ri && c != r;
  tally->inf.candidate_only += ci && !ri;
  tally->inf.reference_only += ri && !ci;
}

/* Distance in codes to the gold rounded once. */
static gint64
count_rounding (AssayPiece *piece, double c, guint64 code, guint64 gold_code, gint64 index)
{
  AssayTally *tally = piece->tally;
  AssayDtype dtype = piece->numbers->component;
  gboolean gold_nan = assay_dtype_is_float (dtype) && assay_dtype_code_is_nan (dtype, gold_code);
  if (isnan (c) || gold_nan)
    {
      tally->not_correctly_rounded += (isnan (c) != 0) != gold_nan;
      return 0;
    }
  guint64 a = assay_dtype_key (dtype, code), b = assay_dtype_key (dtype, gold_code);
  guint64 distance = a > b ? a - b : b - a;
  if (distance == 0)
    {
      tally->ulp_zero++;
      return 0;
    }
  tally->not_correctly_rounded++;
  tally->ulp_bins[a > b][63 - __builtin_clzll (distance)]++;
  if (distance > tally->max_ulp || (distance == tally->max_ulp && index < tally->max_ulp_index))
    {
      tally->max_ulp = distance;
      tally->max_ulp_index = index;
    }
  return (gint64) MIN (distance, (guint64) G_MAXINT64);
}

/* The sums of a finite pair: in the lanes of close ones, or in the others'. */
static void
add_error (AssayPiece *piece, double error, double g, gint64 lane, gboolean close)
{
  AssayPairSums *near = &piece->worker->close;
  AssayFarSums *far = &piece->worker->far;
  (close ? near->error : far->error)[lane] += error;
  (close ? near->error_squares : far->error_squares)[lane] += error * error;
  (close ? near->gold_squares : far->gold_squares)[lane] += g * g;
}

static void
count_error (AssayPiece *piece, const AssayElement *e, double error)
{
  AssayTally *tally = piece->tally;
  AssayFarSums *far = &piece->worker->far;
  const AssayCompareInput *input = piece->numbers->input;
  double c = e->candidate, g = e->gold, magnitude = fabs (error), size = fabs (g);
  tally->finite++;
  piece->worker->finite++;
  assay_numbers_raise (&tally->max_gold, size, e->index);
  if (input->scale && input->scale[e->index] > 0)
    {
      double backward = magnitude / input->scale[e->index];
      tally->max_backward = fmax (tally->max_backward, backward);
      far->backward_squares[e->place % ASSAY_LANES] += backward * backward;
      far->backward_count++;
      assay_numbers_count_condition (tally, input->scale[e->index], g, e->index);
    }
  if (error == 0)
    {
      tally->abs_zero++;
      tally->rel_zero += g != 0;
      return;
    }
  tally->inexact++;
  tally->toward_zero += fabs (c) < size && (c == 0 || (c < 0) == (g < 0));
  tally->abs_bins[error > 0][bin_of (magnitude)]++;
  double relative = magnitude / size;
  if (g != 0 && relative > 0 && isfinite (relative))
    tally->rel_bins[error > 0][bin_of (relative)]++;
}

static guint64 *
cell_count_at (const AssayNumbers *numbers, gint64 index)
{
  gint64 row = index / numbers->columns / numbers->rows_per_cell;
  gint64 column = index % numbers->columns / numbers->columns_per_cell;
  return &numbers->cell_count[row * numbers->cell_columns + column];
}

static void
count_ulp (AssayPiece *piece, const AssayElement *e, gboolean close)
{
  AssayWorker *worker = piece->worker;
  double ulp = assay_numbers_real_ulp (piece->numbers, e->candidate, e->gold, e->low);
  double magnitude = fabs (ulp);
  if (magnitude > 0)
    {
      assay_numbers_raise (&piece->tally->max_ulp_real, magnitude, e->index);
      assay_numbers_keep_worst (piece->tally, magnitude, e->index);
    }
  if (!isfinite (ulp))
    {
      --*cell_count_at (piece->numbers, e->index);
      return;
    }
  if (close)
    {
      guint32 twice = (guint32) (2 * magnitude);
      worker->close.twice_ulp += (gint64) (2 * ulp);
      worker->close.maxima[e->place] = MAX (worker->close.maxima[e->place], twice);
      worker->twice_squares[e->place] += (guint64) twice * twice;
      return;
    }
  worker->far.ulp[e->place % ASSAY_LANES] += ulp;
  worker->ulp_squares[e->place] += ulp * ulp;
  worker->ulp_max[e->place] = fmax (worker->ulp_max[e->place], magnitude);
}

static void
count_against_reference (AssayTally *tally, double c, double r, double least_normal, gint64 index)
{
  tally->equal += c == r;
  if (!isfinite (c) || !isfinite (r))
    {
      count_special (tally, c, r);
      return;
    }
  double difference = fabs (c - r);
  assay_numbers_raise (&tally->max_abs, difference, index);
  if (r != 0)
    assay_numbers_raise (&tally->max_rel, difference / fabs (r), index);
  tally->sign_of_zero += c == 0 && r == 0 && signbit (c) != signbit (r);
  tally->flushed += c != r && fabs (c) < least_normal && fabs (r) < least_normal;
}

void
assay_numbers_element (AssayPiece *piece, const AssayElement *e)
{
  const AssayNumbers *numbers = piece->numbers;
  double c = e->candidate, g = e->gold;
  gboolean close = numbers->paired && assay_pair_is_close (&numbers->format, (float) c, (float) g);
  count_against_reference (piece->tally, c, e->reference, numbers->least_normal, e->index);
  count_rounding (piece, c, e->code, e->gold_code, e->index);
  if (isfinite (c) && isfinite (g))
    {
      double error = (c - g) - e->low;
      add_error (piece, error, g, e->place % ASSAY_LANES, close);
      count_error (piece, e, error);
    }
  count_ulp (piece, e, close);
}

static void
plain_segment (AssayPiece *piece, AssaySegment segment)
{
  AssayNumbers *numbers = piece->numbers;
  const AssayCompareInput *input = numbers->input;
  AssayDtype component = numbers->component;
  for (gint64 place = 0; place < segment.n; place++)
    {
      gint64 index = segment.first + place;
      AssayElement e = {.index = index, .place = place};
      e.code = assay_dtype_load (numbers->dtype, input->candidate->data, (gsize) index);
      e.gold_code = assay_dtype_load (numbers->dtype, input->reference->data, (gsize) index);
      e.candidate = assay_dtype_decode (component, e.code);
      e.reference = e.gold = assay_dtype_decode (component, e.gold_code);
      if (input->gold)
        {
          e.gold = input->gold[index];
          e.low = input->gold_low ? input->gold_low[index] : 0;
          e.gold_code = assay_dtype_encode_pair (component, e.gold, e.low);
        }
      assay_numbers_element (piece, &e);
    }
}

static void
do_segment (AssayPiece *piece, AssaySegment segment)
{
  const AssayNumbers *numbers = piece->numbers;
  const AssayFormat *format = assay_dtype_format (numbers->dtype);
  gboolean fast = format->kind == ASSAY_DTYPE_KIND_FLOAT && format->bits < 64
                  && format->exponent_bits > 0 && format->has_sign && !numbers->input->plain;
  if (fast && numbers->paired)
    assay_numbers_paired_segment (piece, segment);
  else if (fast)
    assay_numbers_fast_segment (piece, segment, NULL);
  else
    plain_segment (piece, segment);
  if (numbers->gating && !(fast && numbers->paired))
    assay_gating_block (numbers->gating, (gsize) segment.first, (gsize) segment.n,
                        &piece->tally->gate);
}

/* Rows and columns of a tile: one cell, or several that are narrow, from column to end_column. */
typedef struct
{
  gint64 row, end_row, column, end_column;
  gint64 width;   /* of the segment: columns, or those of several whole rows */
  gint64 columns; /* what a place is taken modulo of, to be a column of the tile */
} Tile;

/* What the worker kept by place, to the tile's cells, in order of places. */
static void
finish_tile (AssayPiece *piece, const Tile *tile, AssaySums *sums)
{
  AssayNumbers *numbers = piece->numbers;
  AssayWorker *worker = piece->worker;
  gint64 cell_row = tile->row / numbers->rows_per_cell * numbers->cell_columns;
  guint64 twice[MAX_CELL_COLUMNS] = {0};
  gint64 n = MIN (tile->width, ASSAY_SEGMENT), last = -1;
  for (gint64 place = 0; place < n; place++)
    {
      gint64 column = tile->column + place % tile->columns;
      gint64 cell = cell_row + column / numbers->columns_per_cell;
      double max = fmax (worker->ulp_max[place], worker->close.maxima[place] / 2.0);
      guint64 squares = worker->twice_squares[place] + worker->close.squares[place];
      numbers->cell_max[cell] = fmax (numbers->cell_max[cell], max);
      numbers->cell_squares[cell] += worker->ulp_squares[place];
      twice[cell - cell_row] += squares;
      last = cell - cell_row;
      sums->ulp_squares += worker->ulp_squares[place];
    }
  gint64 first = tile->column / numbers->columns_per_cell;
  for (gint64 i = first; last >= 0 && i < numbers->cell_columns; i++)
    {
      gint64 from = MAX (i * numbers->columns_per_cell, tile->column);
      gint64 to = MIN ((i + 1) * numbers->columns_per_cell, tile->end_column);
      if (from >= to)
        break;
      numbers->cell_squares[cell_row + i] += (double) twice[i] / 4;
      sums->ulp_squares += (double) twice[i] / 4;
      numbers->cell_count[cell_row + i] += (guint64) ((to - from) * (tile->end_row - tile->row));
      sums->ulp_count += numbers->cell_count[cell_row + i];
    }
  memset (worker->close.squares, 0, (gsize) n * sizeof *worker->close.squares);
  memset (worker->close.maxima, 0, (gsize) n * sizeof *worker->close.maxima);
  memset (worker->twice_squares, 0, (gsize) n * sizeof *worker->twice_squares);
  memset (worker->ulp_squares, 0, (gsize) n * sizeof *worker->ulp_squares);
  memset (worker->ulp_max, 0, (gsize) n * sizeof *worker->ulp_max);
  worker->squares_bound = 0;
}

static void
do_tile (AssayPiece *piece, Tile tile, AssaySums *sums)
{
  const AssayNumbers *numbers = piece->numbers;
  gint64 columns = tile.end_column - tile.column;
  tile.columns = tile.width = columns;
  if (columns == numbers->columns && 2 * columns <= ASSAY_SEGMENT)
    {
      tile.width = ASSAY_SEGMENT / columns * columns;
      gint64 first = tile.row * columns, end = tile.end_row * columns;
      for (gint64 at = first; at < end; at += tile.width)
        do_segment (piece, (AssaySegment) {at, MIN (tile.width, end - at)});
    }
  else
    for (gint64 row = tile.row; row < tile.end_row; row++)
      for (gint64 at = 0; at < columns; at += ASSAY_SEGMENT)
        do_segment (piece, (AssaySegment) {row * numbers->columns + tile.column + at,
                                           MIN (ASSAY_SEGMENT, columns - at)});
  finish_tile (piece, &tile, sums);
}

static void
merge_bins (guint64 *into, const guint64 *from, gsize n)
{
  for (gsize i = 0; i < n; i++)
    into[i] += from[i];
}

static void
merge_ranked (AssayRanked *into, AssayRanked from)
{
  if (from.index >= 0)
    assay_numbers_raise (into, from.key, from.index);
}

static void
merge_counts (AssayTally *into, const AssayTally *from)
{
  into->equal += from->equal;
  into->not_correctly_rounded += from->not_correctly_rounded;
  into->sign_of_zero += from->sign_of_zero;
  into->flushed += from->flushed;
  into->finite += from->finite;
  into->inexact += from->inexact;
  into->toward_zero += from->toward_zero;
  into->nan.both += from->nan.both;
  into->nan.candidate_only += from->nan.candidate_only;
  into->nan.reference_only += from->nan.reference_only;
  into->inf.same += from->inf.same;
  into->inf.opposite += from->inf.opposite;
  into->inf.candidate_only += from->inf.candidate_only;
  into->inf.reference_only += from->inf.reference_only;
}

static void
merge_tally (AssayTally *into, const AssayTally *from)
{
  merge_counts (into, from);
  assay_gate_tally_merge (&into->gate, &from->gate);
  merge_ranked (&into->max_abs, from->max_abs);
  merge_ranked (&into->max_rel, from->max_rel);
  merge_ranked (&into->max_ulp_real, from->max_ulp_real);
  merge_ranked (&into->max_gold, from->max_gold);
  merge_ranked (&into->max_condition, from->max_condition);
  into->condition_unbounded += from->condition_unbounded;
  merge_bins (into->condition_bins, from->condition_bins, ASSAY_BINS);
  if (from->max_ulp > into->max_ulp
      || (from->max_ulp == into->max_ulp && from->max_ulp_index >= 0
          && from->max_ulp_index < into->max_ulp_index))
    {
      into->max_ulp = from->max_ulp;
      into->max_ulp_index = from->max_ulp_index;
    }
  into->max_backward = fmax (into->max_backward, from->max_backward);
  merge_bins (into->abs_bins[0], from->abs_bins[0], 2 * ASSAY_BINS);
  merge_bins (into->rel_bins[0], from->rel_bins[0], 2 * ASSAY_BINS);
  merge_bins (into->ulp_bins[0], from->ulp_bins[0], 2 * ASSAY_ULP_BINS);
  into->abs_zero += from->abs_zero;
  into->rel_zero += from->rel_zero;
  into->ulp_zero += from->ulp_zero;
  for (guint i = 0; i < from->n_worst; i++)
    assay_numbers_keep_worst (into, from->worst[i].key, from->worst[i].index);
}

/* In a fixed order. */
static double
add_up (const double *lanes)
{
  double sum[ASSAY_LANES];
  memcpy (sum, lanes, sizeof sum);
  for (int half = ASSAY_LANES / 2; half; half /= 2)
    for (int i = 0; i < half; i++)
      sum[i] += sum[i + half];
  return sum[0];
}

static void
finish_sums (AssayWorker *worker, AssaySums *sums)
{
  const AssayPairSums *close = &worker->close;
  const AssayFarSums *far = &worker->far;
  sums->error = add_up (close->error) + add_up (far->error);
  sums->error_squares = add_up (close->error_squares) + add_up (far->error_squares);
  sums->gold_squares = add_up (close->gold_squares) + add_up (far->gold_squares);
  sums->ulp = (double) close->twice_ulp / 2 + add_up (far->ulp);
  sums->backward_squares = add_up (far->backward_squares);
  sums->backward_count = far->backward_count;
  sums->finite = worker->finite;
  worker->tally.toward_zero += close->toward_zero;
  memset (&worker->far, 0, sizeof worker->far);
  memset (&worker->close, 0, sizeof worker->close);
  worker->finite = 0;
}

/* One that has seen no later piece: what it meets first has the smaller index. */
static AssayWorker *
take_worker (AssayNumbers *numbers, gint64 piece)
{
  AssayWorker *found = NULL;
  g_mutex_lock (&numbers->lock);
  for (guint i = 0; !found && i < numbers->workers->len; i++)
    {
      AssayWorker *worker = g_ptr_array_index (numbers->workers, i);
      if (!worker->busy && worker->last_piece < piece)
        found = worker;
    }
  if (!found)
    {
      found = g_new0 (AssayWorker, 1);
      start_tally (&found->tally);
      g_ptr_array_add (numbers->workers, found);
    }
  found->busy = TRUE;
  found->last_piece = piece;
  g_mutex_unlock (&numbers->lock);
  return found;
}

static void
give_worker (AssayNumbers *numbers, AssayWorker *worker)
{
  g_mutex_lock (&numbers->lock);
  worker->busy = FALSE;
  g_mutex_unlock (&numbers->lock);
}

gsize
assay_numbers_pieces (const AssayNumbers *numbers)
{
  return numbers->input->candidate->count ? (gsize) (numbers->cell_rows * numbers->groups) : 0;
}

void
assay_numbers_piece (gsize index, gpointer user_data)
{
  AssayNumbers *numbers = user_data;
  gint64 cell_row = (gint64) index / numbers->groups, group = (gint64) index % numbers->groups;
  gint64 row = cell_row * numbers->rows_per_cell, width = numbers->columns_per_cell;
  Tile tile = {.row = row, .end_row = MIN (row + numbers->rows_per_cell, numbers->rows)};
  gint64 cell = group * numbers->cells_per_group;
  gint64 end = MIN (cell + numbers->cells_per_group, numbers->cell_columns);
  gint64 step = MAX (ASSAY_SEGMENT / width, 1);
  AssayWorker *worker = take_worker (numbers, (gint64) index);
  AssayPiece piece = {numbers, worker, &worker->tally};
  for (; cell < end; cell += step)
    {
      tile.column = cell * width;
      tile.end_column = MIN (MIN (cell + step, end) * width, numbers->columns);
      do_tile (&piece, tile, &numbers->sums[index]);
    }
  finish_sums (worker, &numbers->sums[index]);
  give_worker (numbers, worker);
}

void
assay_numbers_finish (AssayNumbers *numbers)
{
  for (guint i = 0; i < numbers->workers->len; i++)
    merge_tally (numbers->tally, &((AssayWorker *) g_ptr_array_index (numbers->workers, i))->tally);
}
