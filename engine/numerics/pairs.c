/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/pairs.h"

#include "engine/number/half.h"

#include <math.h>

#define MAGNITUDE 0x7fffffffu
#define EXPONENT 0x7f800000u
#define BEYOND (254u << 23) /* 2^127 */

AssayPairFormat
assay_pair_format (AssayDtype dtype)
{
  const AssayFormat *format = assay_dtype_format (dtype);
  int f = format->fraction_bits;
  guint32 normal = assay_float_bits ((float) format->min_normal) >> 23;
  return (AssayPairFormat) {
      .shift = 23 - f,
      .limit = MIN (8191u, 1u << f) << (23 - f),
      .least = MAX (32, normal + 1) << 23,
      .lowest = MAX (31, normal) << 23,
      .scale = (guint32) (255 + f) << 23,
  };
}

static inline guint32
steps_between (guint32 c, guint32 r)
{
  gint32 difference = (gint32) (c - r);
  return difference < 0 ? 0 - (guint32) difference : (guint32) difference;
}

/* Opposite signs are at least 2^24 apart, round about, as long as both are below 2^127; a limit is at most 2^23. */
gboolean
assay_pair_is_close (const AssayPairFormat *format, float c, float r)
{
  guint32 a = assay_float_bits (c), b = assay_float_bits (r);
  guint32 larger = MAX (a & MAGNITUDE, b & MAGNITUDE);
  return steps_between (a, b) <= format->limit && larger - 1 >= format->least - 1
         && larger < BEYOND;
}

static void
widen (const guint16 *codes, gsize n, gboolean bfloat, float *values)
{
  for (gsize i = 0; i < n; i++)
    values[i] = bfloat ? assay_bfloat_to_float (codes[i]) : assay_half_to_float (codes[i]);
}

static void
scan (AssayPairs *pairs)
{
  guint32 steps = 0, reference = 0, least = G_MAXUINT32, most = 0;
  for (gsize i = 0; i < pairs->n; i++)
    {
      guint32 a = assay_float_bits (pairs->c[i]), b = assay_float_bits (pairs->r[i]);
      guint32 larger = MAX (a & MAGNITUDE, b & MAGNITUDE);
      steps = MAX (steps, steps_between (a, b));
      reference = MAX (reference, b & MAGNITUDE);
      least = MIN (least, larger);
      most = MAX (most, larger);
    }
  pairs->max_steps = steps;
  pairs->max_reference = reference;
  pairs->close = steps <= pairs->format->limit && most < BEYOND && least >= pairs->format->least;
}

static void
scan_codes (AssayPairs *pairs, const guint16 *c, const guint16 *r, gboolean bfloat, float *to_c,
            float *to_r)
{
  widen (c, pairs->n, bfloat, to_c);
  widen (r, pairs->n, bfloat, to_r);
  pairs->c = to_c;
  pairs->r = to_r;
  scan (pairs);
}

static guint
set_apart (AssayPairs *pairs, float *c, float *r, guint64 *others)
{
  guint n_others = 0;
  memset (others, 0, ASSAY_SEGMENT / 8);
  for (gsize i = 0; i < pairs->n; i++)
    {
      gboolean close = assay_pair_is_close (pairs->format, pairs->c[i], pairs->r[i]);
      c[i] = close ? pairs->c[i] : 0;
      r[i] = close ? pairs->r[i] : 0;
      others[i / 64] |= (guint64) !close << i % 64;
      n_others += !close;
    }
  pairs->c = c;
  pairs->r = r;
  scan (pairs);
  return n_others;
}

static void
run_one (AssayPairs *pairs, gsize i)
{
  AssayPairSums *sums = pairs->sums;
  const AssayPairFormat *format = pairs->format;
  float c = pairs->c[i], r = pairs->r[i], error = c - r, size = fabsf (r);
  guint32 bits = assay_float_bits (fabsf (error)), base = assay_float_bits (size);
  double wide = error;
  sums->error[i % ASSAY_LANES] += wide;
  sums->error_squares[i % ASSAY_LANES] += wide * wide;
  sums->gold_squares[i % ASSAY_LANES] += (double) r * (double) r;
  guint32 least = MAX (base, format->lowest), exponent = least & EXPONENT;
  gint32 twice = (gint32) (error * assay_float_from_bits (format->scale - exponent));
  guint32 magnitude = (guint32) ABS (twice);
  sums->squares[i] += magnitude * magnitude;
  sums->maxima[i] = MAX (sums->maxima[i], magnitude);
  sums->twice_ulp += twice;
  guint32 a = assay_float_bits (c), b = assay_float_bits (r), steps = steps_between (a, b);
  sums->toward_zero += (gint32) (a - b) < 0;
  pairs->max_error = MAX (pairs->max_error, fabsf (error));
  pairs->max_twice_ulp = MAX (pairs->max_twice_ulp, magnitude);
  double distance = fabs (wide), width = size;
  pairs->excess = MAX (pairs->excess, (float) (distance - pairs->slope * width));
  pairs->rel_excess = MAX (pairs->rel_excess, (float) (distance - pairs->rel * width));
  pairs->negative[i] = error < 0;
  pairs->error_bins[i] = (guint8) (bits >> 23);
  pairs->step_bins[i] = (guint8) (steps ? 32 - __builtin_clz (steps) : 0);
  pairs->rel_bins[i] = (gint8) ((gint32) (bits - least) >> 23);
}

static void
run (AssayPairs *pairs)
{
  pairs->max_error = 0;
  pairs->max_twice_ulp = 0;
  pairs->excess = pairs->rel_excess = -INFINITY;
  for (gsize i = 0; i < pairs->n; i++)
    run_one (pairs, i);
}

static guint
count (const AssayPairs *pairs, AssayPairBins errors, AssayPairBins steps, AssayPairBins rels)
{
  guint unequal = 0;
  for (gsize i = 0; i < pairs->n; i++)
    if (pairs->error_bins[i])
      {
        gboolean negative = pairs->negative[i];
        unequal++;
        (negative ? errors.negative : errors.positive)[pairs->error_bins[i]]++;
        (negative ? steps.negative : steps.positive)[pairs->step_bins[i]]++;
        (negative ? rels.negative : rels.positive)[pairs->rel_bins[i]]++;
      }
  return unequal;
}

static guint
above (const AssayPairs *pairs, AssayPairBound bound, double factor, guint16 *where, guint *missing)
{
  guint n = 0;
  *missing = 0;
  for (gsize i = 0; i < pairs->n; i++)
    {
      double c = pairs->c[i], r = pairs->r[i], error = fabs (c - r);
      double sloped = bound.slope * fabs (bound.of_candidate ? c : r);
      double allowed = bound.either ? MAX (bound.offset, sloped) : bound.offset + sloped;
      *missing += error > allowed;
      where[n] = (guint16) i;
      n += error >= allowed * (factor * (1 - 0x1p-50));
    }
  return n;
}

static const AssayPairKernel PLAIN = {"plain C", scan, scan_codes, set_apart, run, count, above};

const AssayPairKernel *
assay_pair_kernel (guint limit)
{
#ifdef ASSAY_PAIRS_X86
  __builtin_cpu_init ();
  gboolean wide = __builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512bw")
                  && __builtin_cpu_supports ("avx512dq") && __builtin_cpu_supports ("avx512vl")
                  && __builtin_cpu_supports ("avx512cd");
  gboolean narrow = __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma")
                    && __builtin_cpu_supports ("f16c");
  if (wide && narrow && (limit == 0 || limit >= 3))
    return &ASSAY_PAIRS_AVX512;
  if (narrow && limit != 1)
    return &ASSAY_PAIRS_AVX2;
#endif
  return &PLAIN;
}
