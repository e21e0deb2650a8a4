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
  gint64 in_cell = numbers->rows_per_cell * numbers->columns_per_cell;
  numbers->cells_per_group = CLAMP (ceil_div (PIECE_COMPONENTS, in_cell), 1, numbers->cell_columns);
  numbers->groups = ceil_div (numbers->cell_columns, numbers->cells_per_group);
}

void
assay_numbers_init (AssayNumbers *numbers, const AssayCompareInput *input)
{
  memset (numbers, 0, sizeof *numbers);
  numbers->input = input;
  numbers->dtype = input->candidate->dtype;
  numbers->component = assay_dtype_component (numbers->dtype);
  plan_cells (numbers, input->candidate);
  gsize cells = (gsize) (numbers->cell_rows * numbers->cell_columns);
  numbers->cell_max = g_new0 (double, cells);
  numbers->cell_squares = g_new0 (double, cells);
  numbers->cell_count = g_new0 (guint64, cells);
  numbers->sums = g_new0 (AssaySums, (gsize) (numbers->cell_rows * numbers->groups));
  numbers->tally = g_new0 (AssayTally, 1);
  numbers->tally->max_abs.index = numbers->tally->max_rel.index = -1;
  numbers->tally->max_ulp_real.index = numbers->tally->max_gold.index = -1;
  numbers->tally->max_ulp_index = -1;
  g_mutex_init (&numbers->lock);
  const AssayFormat *format = assay_dtype_format (numbers->dtype);
  numbers->has_infinity = format->has_infinity;
  numbers->overflow = INFINITY;
  if (format->kind == ASSAY_DTYPE_KIND_FLOAT && format->bits < 64)
    numbers->overflow = ldexp (1, ilogb (format->max_finite) + 1);
}

void
assay_numbers_clear (AssayNumbers *numbers)
{
  g_free (numbers->cell_max);
  g_free (numbers->cell_squares);
  g_free (numbers->cell_count);
  g_free (numbers->sums);
  g_free (numbers->tally);
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

static inline void
raise_to (AssayRanked *kept, double key, gint64 index)
{
  AssayRanked item = {key, index};
  if (key > 0 && (kept->index < 0 || ranks_before (item, *kept)))
    *kept = item;
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

static void
count_error (AssayPiece *piece, double c, double g, double low, gint64 index)
{
  AssayTally *tally = piece->tally;
  AssaySums *sums = piece->sums;
  const AssayCompareInput *input = piece->numbers->input;
  double error = (c - g) - low, magnitude = fabs (error), size = fabs (g);
  tally->finite++;
  sums->finite++;
  sums->error += error;
  sums->error_squares += error * error;
  sums->gold_squares += g * g;
  raise_to (&tally->max_gold, size, index);
  if (input->scale && input->scale[index] > 0)
    {
      double backward = magnitude / input->scale[index];
      tally->max_backward = fmax (tally->max_backward, backward);
      sums->backward_squares += backward * backward;
      sums->backward_count++;
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

static void
count_ulp (AssayPiece *piece, double c, double g, double low, gint64 index, gint64 cell)
{
  AssayNumbers *numbers = piece->numbers;
  double ulp = assay_numbers_real_ulp (numbers, c, g, low);
  if (isnan (ulp))
    return;
  double magnitude = fabs (ulp);
  if (magnitude > 0)
    {
      raise_to (&piece->tally->max_ulp_real, magnitude, index);
      assay_numbers_keep_worst (piece->tally, magnitude, index);
    }
  if (isinf (ulp))
    return;
  piece->sums->ulp += ulp;
  piece->sums->ulp_squares += ulp * ulp;
  piece->sums->ulp_count++;
  numbers->cell_max[cell] = fmax (numbers->cell_max[cell], magnitude);
  numbers->cell_squares[cell] += ulp * ulp;
  numbers->cell_count[cell]++;
}

static void
count_against_reference (AssayTally *tally, double c, double r, gint64 index)
{
  tally->equal += c == r;
  if (!isfinite (c) || !isfinite (r))
    {
      count_special (tally, c, r);
      return;
    }
  double difference = fabs (c - r);
  raise_to (&tally->max_abs, difference, index);
  if (r != 0)
    raise_to (&tally->max_rel, difference / fabs (r), index);
  tally->sign_of_zero += c == 0 && r == 0 && signbit (c) != signbit (r);
}

void
assay_numbers_element (AssayPiece *piece, const AssayElement *e)
{
  count_against_reference (piece->tally, e->candidate, e->reference, e->index);
  count_rounding (piece, e->candidate, e->code, e->gold_code, e->index);
  if (isfinite (e->candidate) && isfinite (e->gold))
    count_error (piece, e->candidate, e->gold, e->low, e->index);
  count_ulp (piece, e->candidate, e->gold, e->low, e->index, e->cell);
}

static void
plain_block (AssayPiece *piece, gint64 first, gint64 n)
{
  AssayNumbers *numbers = piece->numbers;
  const AssayCompareInput *input = numbers->input;
  AssayDtype component = numbers->component;
  for (gint64 index = first; index < first + n; index++)
    {
      gint64 row = index / numbers->columns, column = index % numbers->columns;
      AssayElement e = {.index = index};
      e.code = assay_dtype_load (numbers->dtype, input->candidate->data, (gsize) index);
      e.gold_code = assay_dtype_load (numbers->dtype, input->reference->data, (gsize) index);
      e.candidate = assay_dtype_decode (component, e.code);
      e.reference = e.gold = assay_dtype_decode (component, e.gold_code);
      e.cell =
          row / numbers->rows_per_cell * numbers->cell_columns + column / numbers->columns_per_cell;
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
do_range (AssayPiece *piece, gint64 first, gint64 n)
{
  const AssayNumbers *numbers = piece->numbers;
  const AssayFormat *format = assay_dtype_format (numbers->dtype);
  gboolean fast = format->kind == ASSAY_DTYPE_KIND_FLOAT && format->bits < 64
                  && format->exponent_bits > 0 && format->has_sign && !numbers->input->plain;
  for (gint64 at = 0; at < n; at += ASSAY_BLOCK)
    (fast ? assay_numbers_fast_block : plain_block) (piece, first + at, MIN (ASSAY_BLOCK, n - at));
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
    raise_to (into, from.key, from.index);
}

static void
merge_counts (AssayTally *into, const AssayTally *from)
{
  into->equal += from->equal;
  into->not_correctly_rounded += from->not_correctly_rounded;
  into->sign_of_zero += from->sign_of_zero;
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
  merge_ranked (&into->max_abs, from->max_abs);
  merge_ranked (&into->max_rel, from->max_rel);
  merge_ranked (&into->max_ulp_real, from->max_ulp_real);
  merge_ranked (&into->max_gold, from->max_gold);
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

void
assay_numbers_piece (gsize index, gpointer user_data)
{
  AssayNumbers *numbers = user_data;
  gint64 cell_row = (gint64) index / numbers->groups, group = (gint64) index % numbers->groups;
  gint64 row = cell_row * numbers->rows_per_cell;
  gint64 end_row = MIN (row + numbers->rows_per_cell, numbers->rows);
  gint64 width = numbers->cells_per_group * numbers->columns_per_cell;
  gint64 column = group * width, end_column = MIN (column + width, numbers->columns);
  g_autofree AssayTally *tally = g_new0 (AssayTally, 1);
  tally->max_abs.index = tally->max_rel.index = tally->max_ulp_index = -1;
  tally->max_ulp_real.index = tally->max_gold.index = -1;
  AssayPiece piece = {numbers, tally, &numbers->sums[index]};
  if (numbers->groups == 1)
    do_range (&piece, row * numbers->columns, (end_row - row) * numbers->columns);
  else
    for (; row < end_row; row++)
      do_range (&piece, row * numbers->columns + column, end_column - column);
  g_mutex_lock (&numbers->lock);
  merge_tally (numbers->tally, tally);
  g_mutex_unlock (&numbers->lock);
}
