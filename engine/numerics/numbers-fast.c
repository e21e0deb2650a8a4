/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/numbers.h"

#include "engine/number/half.h"

#include <math.h>
#include <string.h>

/* Everything a block needs, decoded once. */
typedef struct
{
  double c[ASSAY_SEGMENT], r[ASSAY_SEGMENT];
  const double *g, *low; /* low NULL: zero */
  guint32 code[ASSAY_SEGMENT], gold_code[ASSAY_SEGMENT];
  guint32 key[ASSAY_SEGMENT], gold_key[ASSAY_SEGMENT];
  double per_ulp[ASSAY_SEGMENT]; /* one over the ulp of gold, a power of two */
} Block;

static void
load_codes (AssayDtype dtype, const void *data, gint64 first, gint64 n, guint32 *codes)
{
  int bytes = assay_dtype_format (dtype)->component_bytes;
  const guint8 *at = (const guint8 *) data + first * bytes;
  if (bytes == 4)
    memcpy (codes, at, (gsize) n * 4);
  for (gint64 i = 0; bytes == 2 && i < n; i++)
    {
      guint16 code;
      memcpy (&code, at + 2 * i, 2);
      codes[i] = code;
    }
  for (gint64 i = 0; bytes == 1 && i < n; i++)
    codes[i] = at[i];
}

static void
round_gold (AssayDtype dtype, const double *gold, const double *low, gint64 n, guint32 *codes)
{
  if (dtype == ASSAY_DTYPE_FLOAT32 && !low)
    for (gint64 i = 0; i < n; i++)
      codes[i] = assay_float_bits ((float) gold[i]);
  else
    for (gint64 i = 0; i < n; i++)
      codes[i] = (guint32) assay_dtype_encode_pair (dtype, gold[i], low ? low[i] : 0);
}

/* Ordered keys, as assay_dtype_key gives them. */
static void
order_codes (AssayDtype dtype, const guint32 *codes, gint64 n, guint32 *keys)
{
  const AssayFormat *format = assay_dtype_format (dtype);
  int shift = dtype == ASSAY_DTYPE_TFLOAT32 ? 13 : 0;
  guint32 half = 1u << (format->exponent_bits + format->fraction_bits);
  for (gint64 i = 0; i < n; i++)
    {
      guint32 code = codes[i] >> shift, magnitude = code & (half - 1);
      keys[i] = code & half ? half - magnitude : half + magnitude;
    }
}

/* Exponent fields instead of ldexp; the ulp of a format below 64 bits is a normal double, and so is
 * its inverse. */
static void
find_ulps (AssayDtype dtype, const double *gold, gint64 n, double *per_ulp)
{
  const AssayFormat *format = assay_dtype_format (dtype);
  guint64 least = assay_double_bits (format->min_normal) >> 52;
  guint64 most = assay_double_bits (format->max_finite) >> 52;
  guint64 fraction = (guint64) format->fraction_bits;
  for (gint64 i = 0; i < n; i++)
    {
      guint64 exponent = assay_double_bits (gold[i]) >> 52 & 0x7ff;
      exponent = exponent < least ? least : exponent > most ? most : exponent;
      guint64 bits = (2 * 1023 - exponent + fraction) << 52;
      memcpy (&per_ulp[i], &bits, sizeof bits);
    }
}

static void
prepare (const AssayNumbers *numbers, gint64 first, gint64 n, Block *block)
{
  const AssayCompareInput *input = numbers->input;
  AssayDtype dtype = numbers->component;
  assay_dtype_decode_array (dtype, input->candidate->data, (gsize) first, (gsize) n, block->c);
  assay_dtype_decode_array (dtype, input->reference->data, (gsize) first, (gsize) n, block->r);
  load_codes (dtype, input->candidate->data, first, n, block->code);
  block->g = input->gold ? input->gold + first : block->r;
  block->low = input->gold && input->gold_low ? input->gold_low + first : NULL;
  if (input->gold)
    round_gold (dtype, block->g, block->low, n, block->gold_code);
  else
    load_codes (dtype, input->reference->data, first, n, block->gold_code);
  order_codes (dtype, block->code, n, block->key);
  order_codes (dtype, block->gold_code, n, block->gold_key);
  find_ulps (dtype, block->g, n, block->per_ulp);
}

/* What changes with every element, kept out of memory while a segment is worked on. */
typedef struct
{
  AssayRanked max_abs, max_rel, max_ulp_real, max_gold;
  guint64 flushed, equal, finite, not_correctly_rounded, ulp_zero, abs_zero, rel_zero, inexact,
      toward_zero;
  guint64 max_ulp;
  gint64 max_ulp_index;
  double least_worst; /* what ranks below is not kept */
  double max_backward;
} Running;

static double
least_worst (const AssayTally *tally)
{
  return tally->n_worst == ASSAY_WORST_KEPT ? tally->worst[ASSAY_WORST_KEPT - 1].key : 0;
}

static void
take_over (const AssayPiece *piece, Running *run)
{
  const AssayTally *tally = piece->tally;
  *run = (Running) {
      .max_abs = tally->max_abs,
      .max_rel = tally->max_rel,
      .max_ulp_real = tally->max_ulp_real,
      .max_gold = tally->max_gold,
      .max_ulp = tally->max_ulp,
      .max_ulp_index = tally->max_ulp_index,
      .max_backward = tally->max_backward,
      .least_worst = least_worst (tally),
  };
}

static void
hand_back (AssayPiece *piece, const Running *run)
{
  AssayTally *tally = piece->tally;
  piece->worker->finite += run->finite;
  tally->max_abs = run->max_abs;
  tally->max_rel = run->max_rel;
  tally->max_ulp_real = run->max_ulp_real;
  tally->max_gold = run->max_gold;
  tally->max_ulp = run->max_ulp;
  tally->max_ulp_index = run->max_ulp_index;
  tally->max_backward = run->max_backward;
  tally->equal += run->equal;
  tally->finite += run->finite;
  tally->not_correctly_rounded += run->not_correctly_rounded;
  tally->ulp_zero += run->ulp_zero;
  tally->abs_zero += run->abs_zero;
  tally->rel_zero += run->rel_zero;
  tally->inexact += run->inexact;
  tally->toward_zero += run->toward_zero;
  tally->flushed += run->flushed;
}

/* floor (log2 (a / b)) without dividing: exponents, and which significand is the larger. */
static inline int
ratio_bin (guint64 a, guint64 b)
{
  const guint64 fraction = 0xfffffffffffffull;
  return (int) (a >> 52) - (int) (b >> 52) - ((a & fraction) < (b & fraction)) + ASSAY_BIN_BIAS;
}

static inline void
count_steps (AssayTally *tally, Running *run, guint32 a, guint32 b, gint64 index)
{
  guint32 distance = a > b ? a - b : b - a;
  run->ulp_zero += distance == 0;
  if (distance == 0)
    return;
  run->not_correctly_rounded++;
  tally->ulp_bins[a > b][31 - __builtin_clz (distance)]++;
  if (distance > run->max_ulp || (distance == run->max_ulp && index < run->max_ulp_index))
    {
      run->max_ulp = distance;
      run->max_ulp_index = index;
    }
}

/* All three values are finite, and gold within the range of the format. */
static inline void
do_element (AssayPiece *piece, Running *run, const Block *block, gint64 i, gint64 index)
{
  AssayTally *tally = piece->tally;
  AssayWorker *worker = piece->worker;
  AssayFarSums *far = &worker->far;
  double c = block->c[i], r = block->r[i], g = block->g[i];
  double error = c - g;
  if (block->low)
    error -= block->low[i];
  double difference = fabs (c - r), magnitude = fabs (error), size = fabs (g), base = fabs (r);
  gint64 lane = i % ASSAY_LANES;
  run->equal += c == r;
  run->flushed += difference > 0 && fmax (fabs (c), base) < piece->numbers->least_normal;
  run->finite++;
  far->gold_squares[lane] += g * g;
  assay_numbers_raise (&run->max_gold, size, index);
  assay_numbers_raise (&run->max_abs, difference, index);
  if (difference >= run->max_rel.key * base * (1 - 0x1p-50) && difference > 0 && base > 0)
    assay_numbers_raise (&run->max_rel, difference / base, index);
  count_steps (tally, run, block->key[i], block->gold_key[i], index);
  const double *scale = piece->numbers->input->scale;
  if (scale && scale[index] > 0)
    {
      double backward = magnitude / scale[index];
      run->max_backward = backward > run->max_backward ? backward : run->max_backward;
      far->backward_squares[lane] += backward * backward;
      far->backward_count++;
      assay_numbers_count_condition (tally, scale[index], g, index);
    }
  if (error == 0)
    {
      run->abs_zero++;
      run->rel_zero += g != 0;
      return;
    }
  double ulp = error * block->per_ulp[i], ulps = fabs (ulp);
  guint64 bits = assay_double_bits (magnitude), gold_bits = assay_double_bits (size);
  far->error[lane] += error;
  far->error_squares[lane] += error * error;
  far->ulp[lane] += ulp;
  run->inexact++;
  run->toward_zero += fabs (c) < size && (c == 0 || (c < 0) == (g < 0));
  gboolean positive = error > 0;
  tally->abs_bins[positive][(int) (bits >> 52) - 1023 + ASSAY_BIN_BIAS]++;
  if (size > 0)
    tally->rel_bins[positive][ratio_bin (bits, gold_bits)]++;
  assay_numbers_raise (&run->max_ulp_real, ulps, index);
  if (ulps >= run->least_worst)
    {
      assay_numbers_keep_worst (tally, ulps, index);
      run->least_worst = least_worst (tally);
    }
  worker->ulp_squares[i] += ulp * ulp;
  worker->ulp_max[i] = ulps > worker->ulp_max[i] ? ulps : worker->ulp_max[i];
}

/* Subnormal doubles and values beyond the format's range go the plain way. */
static inline gboolean
is_ordinary (const Block *block, gint64 i, double limit)
{
  double c = block->c[i], r = block->r[i], g = block->g[i];
  double error = fabs ((c - g) - (block->low ? block->low[i] : 0));
  gboolean normal_error = error == 0 || error >= 0x1p-1000;
  gboolean normal_gold = g == 0 || fabs (g) >= 0x1p-500;
  return fabs (c) <= limit && fabs (r) <= limit && fabs (g) <= limit && normal_error && normal_gold
         && (c != 0 || r != 0 || signbit (c) == signbit (r));
}

static void
do_any (AssayPiece *piece, Running *run, const Block *block, gint64 i, gint64 index, double limit)
{
  if (is_ordinary (block, i, limit))
    {
      do_element (piece, run, block, i, index);
      return;
    }
  hand_back (piece, run);
  AssayElement e = {
      block->c[i],    block->r[i],         block->g[i], block->low ? block->low[i] : 0,
      block->code[i], block->gold_code[i], index,       i};
  assay_numbers_element (piece, &e);
  take_over (piece, run);
}

void
assay_numbers_fast_segment (AssayPiece *piece, AssaySegment segment, const guint64 *only)
{
  Block block;
  double limit = assay_dtype_format (piece->numbers->dtype)->max_finite;
  prepare (piece->numbers, segment.first, segment.n, &block);
  Running run;
  take_over (piece, &run);
  for (gint64 i = 0; !only && i < segment.n; i++)
    do_any (piece, &run, &block, i, segment.first + i, limit);
  for (gint64 word = 0; only && word < (segment.n + 63) / 64; word++)
    for (guint64 bits = only[word]; bits; bits &= bits - 1)
      {
        gint64 i = 64 * word + __builtin_ctzll (bits);
        do_any (piece, &run, &block, i, segment.first + i, limit);
      }
  hand_back (piece, &run);
}
