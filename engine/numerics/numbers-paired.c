/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/numbers.h"

#include "engine/number/half.h"

#include <math.h>
#include <string.h>

/* Where fewer are not close, the gate looks at each of them alone. */
#define FEW_OTHERS 32

/* The values as floats, exact for every format that comes here: in place for float32. */
static const float *
as_floats (const AssayNumbers *numbers, const guint8 *data, AssaySegment segment, float *room)
{
  gsize first = (gsize) segment.first, n = (gsize) segment.n;
  AssayDtype dtype = numbers->component;
  if (dtype == ASSAY_DTYPE_FLOAT32)
    return (const float *) data + first;
  for (gsize i = 0; i < n; i++)
    room[i] = (float) assay_dtype_decode (dtype, assay_dtype_load (dtype, data, first + i));
  return room;
}

static void
scan_segment (const AssayNumbers *numbers, AssaySegment segment, AssayWorker *worker)
{
  const AssayCompareInput *input = numbers->input;
  AssayPairs *pairs = &worker->pairs;
  gsize first = (gsize) segment.first;
  gboolean bfloat = numbers->component == ASSAY_DTYPE_BFLOAT16;
  if (bfloat || numbers->component == ASSAY_DTYPE_FLOAT16)
    {
      numbers->kernel->scan_codes (pairs, (const guint16 *) input->candidate->data + first,
                                   (const guint16 *) input->reference->data + first, bfloat,
                                   worker->c, worker->r);
      return;
    }
  pairs->c = as_floats (numbers, input->candidate->data, segment, worker->c);
  pairs->r = as_floats (numbers, input->reference->data, segment, worker->r);
  numbers->kernel->scan (pairs);
}

/* What follows in memory: the next segment, but at the end of a tile's row. */
static void
look_ahead (const AssayNumbers *numbers, AssaySegment segment, AssayPairs *pairs)
{
  const AssayCompareInput *input = numbers->input;
  gsize bytes = (gsize) assay_dtype_format (numbers->component)->component_bytes;
  gsize next = (gsize) (segment.first + segment.n) * bytes;
  if (next + ASSAY_SEGMENT * sizeof (float) > input->candidate->bytes)
    next = (gsize) segment.first * bytes;
  pairs->next_c = (const float *) (input->candidate->data + next);
  pairs->next_r = (const float *) (input->reference->data + next);
}

/* Squares of a segment add at most `largest` squared in any place. */
static void
make_room (AssayWorker *worker)
{
  if (worker->squares_bound <= G_MAXUINT32 - (G_GUINT64_CONSTANT (1) << 30))
    return;
  for (gsize i = 0; i < ASSAY_SEGMENT; i++)
    {
      worker->twice_squares[i] += worker->close.squares[i];
      worker->close.squares[i] = 0;
    }
  worker->squares_bound = 0;
}

/* A float below `value`, by more than the roundings of what it is used in. */
static float
below (double value)
{
  return (float) (fmin (value, 0x1p100) * (1 - 0x1p-20)) * (1 - 0x1p-22f);
}

/* The slope from which a relative error could be a new largest. Quotients of a format with few bits are
 * far apart: there, what only equals the largest is let pass. */
static float
slope_of_rel (const AssayPairFormat *format, double max_rel)
{
  if (format->shift < 15)
    return below (max_rel);
  return (float) (fmin (max_rel, 0x1p100) * (1 + 0x1p-20));
}

/* The slope of the gate's bound where a factor of `margin` is reached, or the bound itself. */
static float
slope_of_gate (const AssayGating *gating, const AssayGateTally *tally)
{
  AssayPairBound bound;
  if (!gating || !assay_gating_bound (gating, &bound))
    return 0;
  /* A close pair's candidate is at least half as large as its reference. */
  return below (fmin (tally->margin, 1) * bound.slope / (bound.of_candidate ? 2 : 1));
}

static void
raise_rel (AssayPiece *piece, gint64 first)
{
  const AssayPairs *pairs = &piece->worker->pairs;
  AssayRanked *kept = &piece->tally->max_rel;
  guint16 where[ASSAY_SEGMENT];
  guint missing;
  const AssayPairBound bound = {.slope = kept->key, .quick_slope = pairs->rel};
  guint n = piece->numbers->kernel->above (pairs, bound, 1, where, &missing);
  for (guint i = 0; i < n; i++)
    {
      double c = pairs->c[where[i]], r = pairs->r[where[i]];
      if (c != r)
        assay_numbers_raise (kept, fabs (c - r) / fabs (r), first + where[i]);
    }
}

/* What can raise a maximum is looked for only where the segment's own largest is above it. */
typedef struct
{
  gboolean abs, gold, ulp, steps;
} Raised;

static void
raise_at (AssayPiece *piece, const Raised *raised, gsize i, gint64 index)
{
  AssayTally *tally = piece->tally;
  const AssayPairs *pairs = &piece->worker->pairs;
  float c = pairs->c[i], r = pairs->r[i];
  double difference = fabs ((double) c - r), size = fabsf (r);
  if (raised->abs)
    assay_numbers_raise (&tally->max_abs, difference, index);
  if (raised->gold)
    assay_numbers_raise (&tally->max_gold, size, index);
  if (raised->ulp && difference > 0)
    {
      double ulps = fabs (assay_numbers_real_ulp (piece->numbers, c, r, 0));
      assay_numbers_raise (&tally->max_ulp_real, ulps, index);
      assay_numbers_keep_worst (tally, ulps, index);
    }
  gint64 steps = (gint64) assay_float_bits (c) - (gint64) assay_float_bits (r);
  guint64 distance = (guint64) ABS (steps) >> pairs->format->shift;
  if (raised->steps && distance > tally->max_ulp)
    {
      tally->max_ulp = distance;
      tally->max_ulp_index = index;
    }
}

static void
raise_all (AssayPiece *piece, gint64 first)
{
  const AssayTally *tally = piece->tally;
  const AssayPairs *pairs = &piece->worker->pairs;
  double worst = tally->n_worst == ASSAY_WORST_KEPT ? tally->worst[ASSAY_WORST_KEPT - 1].key : 0;
  Raised raised = {
      .abs = pairs->max_error > tally->max_abs.key,
      .gold = assay_float_from_bits (pairs->max_reference) > tally->max_gold.key,
      .ulp = pairs->max_twice_ulp > 2 * worst,
      .steps = pairs->max_steps >> pairs->format->shift > tally->max_ulp,
  };
  if (raised.abs || raised.gold || raised.ulp || raised.steps)
    for (gsize i = 0; i < pairs->n; i++)
      raise_at (piece, &raised, i, first + (gint64) i);
  if (pairs->rel_excess > 0)
    raise_rel (piece, first);
}

static void
count_pairs (AssayPiece *piece, guint n_others, guint *unequal)
{
  AssayTally *t = piece->tally;
  const AssayPairs *pairs = &piece->worker->pairs;
  const int shift = pairs->format->shift, bias = ASSAY_BIN_BIAS;
  AssayPairBins errors = {t->abs_bins[0] + bias - 127, t->abs_bins[1] + bias - 127};
  AssayPairBins rels = {t->rel_bins[0] + bias, t->rel_bins[1] + bias};
  /* Step counts as float bits have `shift` bits more; bin 0 holds a count of one. */
  guint64 spread[2][64] = {{0}};
  AssayPairBins steps = {spread[0], spread[1]};
  *unequal = piece->numbers->kernel->count (pairs, errors, steps, rels);
  for (int i = shift + 1; i < 33; i++)
    {
      t->ulp_bins[0][i - shift - 1] += spread[0][i];
      t->ulp_bins[1][i - shift - 1] += spread[1][i];
    }
  guint64 equal = pairs->n - n_others - *unequal;
  t->equal += equal;
  t->ulp_zero += equal;
  t->abs_zero += equal;
  t->rel_zero += equal;
  t->finite += pairs->n - n_others;
  t->inexact += *unequal;
  t->not_correctly_rounded += *unequal;
  piece->worker->finite += pairs->n - n_others;
}

/* Zeros have no relative error. */
static void
uncount_zeros (AssayPiece *piece, guint n_others)
{
  const AssayPairs *pairs = &piece->worker->pairs;
  guint zeros = 0;
  for (gsize i = 0; i < pairs->n; i++)
    zeros += pairs->r[i] == 0;
  piece->tally->rel_zero -= zeros - n_others;
}

/* Close pairs alone. FALSE when the segment had better be gone through. */
static gboolean
gate_close (AssayPiece *piece, AssaySegment segment, guint unequal)
{
  const AssayNumbers *numbers = piece->numbers;
  const AssayPairs *pairs = &piece->worker->pairs;
  AssayGateTally *tally = &piece->tally->gate;
  const AssayTolerance *t = numbers->gating->tolerance;
  AssayPairBound bound;
  if (!assay_gating_bound (numbers->gating, &bound))
    return (double) (pairs->max_steps >> pairs->format->shift)
           <= fmin (tally->margin, 1) * (double) t->ulp;
  tally->capped |= pairs->max_error > t->max_error_cap;
  gboolean unbounded = isinf (tally->margin);
  if (t->rule == ASSAY_RULE_EXACT && unbounded)
    {
      tally->mismatches += unequal;
      return TRUE;
    }
  double factor = fmin (tally->margin, 1);
  if (bound.either ? pairs->excess <= 0 || pairs->max_error < below (factor * bound.offset)
                   : pairs->excess <= below (factor * bound.offset))
    return TRUE;
  guint16 where[ASSAY_SEGMENT];
  guint missing;
  bound.quick_slope = pairs->slope;
  bound.quick_offset = bound.either ? 0 : below (factor * bound.offset);
  guint n = numbers->kernel->above (pairs, bound, unbounded ? 1 : tally->margin, where, &missing);
  tally->mismatches += missing;
  for (guint i = 0; !unbounded && i < n; i++)
    assay_gating_raise (numbers->gating, pairs->c[where[i]], pairs->r[where[i]],
                        segment.first + where[i], tally);
  return TRUE;
}

static void
gate_segment (AssayPiece *piece, AssaySegment segment, const guint64 *others, guint n_others,
              guint unequal)
{
  const AssayGating *gating = piece->numbers->gating;
  AssayGateTally *tally = &piece->tally->gate;
  gsize first = (gsize) segment.first, n = (gsize) segment.n;
  if (n_others > FEW_OTHERS || !gate_close (piece, segment, unequal))
    {
      assay_gating_block (gating, first, n, tally);
      return;
    }
  for (gsize word = 0; n_others && word < (n + 63) / 64; word++)
    for (guint64 bits = others[word]; bits; bits &= bits - 1)
      assay_gating_block (gating, first + 64 * word + (gsize) __builtin_ctzll (bits), 1, tally);
}

void
assay_numbers_paired_segment (AssayPiece *piece, AssaySegment segment)
{
  AssayNumbers *numbers = piece->numbers;
  AssayWorker *worker = piece->worker;
  AssayPairs *pairs = &worker->pairs;
  pairs->format = &numbers->format;
  pairs->sums = &worker->close;
  pairs->n = (gsize) segment.n;
  pairs->slope = slope_of_gate (numbers->gating, &piece->tally->gate);
  pairs->rel = slope_of_rel (&numbers->format, piece->tally->max_rel.key);
  look_ahead (numbers, segment, pairs);
  scan_segment (numbers, segment, worker);
  guint64 others[ASSAY_SEGMENT / 64];
  gboolean apart = !pairs->close;
  guint n_others = 0, unequal;
  if (apart)
    n_others = numbers->kernel->set_apart (pairs, worker->c, worker->r, others);
  make_room (worker);
  numbers->kernel->run (pairs);
  worker->squares_bound += (guint64) pairs->max_twice_ulp * pairs->max_twice_ulp;
  count_pairs (piece, n_others, &unequal);
  if (apart)
    uncount_zeros (piece, n_others);
  raise_all (piece, segment.first);
  if (numbers->gating)
    gate_segment (piece, segment, others, n_others, unequal);
  if (n_others)
    assay_numbers_fast_segment (piece, segment, others);
}
