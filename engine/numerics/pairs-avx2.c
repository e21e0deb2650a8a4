/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/pairs.h"

#ifdef ASSAY_PAIRS_X86

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define NARROW __attribute__ ((target ("avx2,fma,f16c,popcnt,bmi,lzcnt")))
#define BEYOND (254u << 23)
#define WIDTH 8

/* The last sixteen lanes, filled up with equal zeros: they add nothing. */
typedef struct
{
  float c[ASSAY_LANES], r[ASSAY_LANES];
} Tail;

static void
fill_tail (const AssayPairs *pairs, Tail *tail)
{
  gsize rest = pairs->n % ASSAY_LANES;
  memset (tail, 0, sizeof *tail);
  memcpy (tail->c, pairs->c + (pairs->n - rest), rest * sizeof (float));
  memcpy (tail->r, pairs->r + (pairs->n - rest), rest * sizeof (float));
}

NARROW static guint32
largest (__m256i values)
{
  guint32 each[WIDTH], most = 0;
  _mm256_storeu_si256 ((__m256i *) each, values);
  for (int i = 0; i < WIDTH; i++)
    most = MAX (most, each[i]);
  return most;
}

NARROW static gint64
total (__m256i values)
{
  gint32 each[WIDTH];
  gint64 sum = 0;
  _mm256_storeu_si256 ((__m256i *) each, values);
  for (int i = 0; i < WIDTH; i++)
    sum += each[i];
  return sum;
}

NARROW static float
largest_float (__m256 values)
{
  float each[WIDTH], most = -INFINITY;
  _mm256_storeu_ps (each, values);
  for (int i = 0; i < WIDTH; i++)
    most = MAX (most, each[i]);
  return most;
}

NARROW static inline void
widen_vector (const guint16 *codes, gboolean bfloat, float *values)
{
  __m128i narrow = _mm_loadu_si128 ((const __m128i *) codes);
  __m256i shifted = _mm256_slli_epi32 (_mm256_cvtepu16_epi32 (narrow), 16);
  _mm256_storeu_ps (values, bfloat ? _mm256_castsi256_ps (shifted) : _mm256_cvtph_ps (narrow));
}

NARROW static void
widen (const guint16 *codes, gsize n, gboolean bfloat, float *values)
{
  gsize whole = n / WIDTH * WIDTH;
  for (gsize i = 0; i < whole; i += WIDTH)
    widen_vector (codes + i, bfloat, values + i);
  guint16 rest[WIDTH] = {0};
  float last[WIDTH];
  memcpy (rest, codes + whole, (n - whole) * sizeof *rest);
  widen_vector (rest, bfloat, last);
  memcpy (values + whole, last, (n - whole) * sizeof *last);
}

typedef struct
{
  __m256i steps, reference, least, most;
} Scan;

NARROW static inline void
scan_vector (Scan *found, const float *at_c, const float *at_r)
{
  const __m256i magnitude = _mm256_set1_epi32 (0x7fffffff);
  __m256i c = _mm256_loadu_si256 ((const __m256i *) at_c);
  __m256i r = _mm256_loadu_si256 ((const __m256i *) at_r);
  __m256i size = _mm256_and_si256 (r, magnitude);
  __m256i larger = _mm256_max_epu32 (size, _mm256_and_si256 (c, magnitude));
  found->steps = _mm256_max_epu32 (found->steps, _mm256_abs_epi32 (_mm256_sub_epi32 (c, r)));
  found->reference = _mm256_max_epu32 (found->reference, size);
  found->least = _mm256_min_epu32 (found->least, larger);
  found->most = _mm256_max_epu32 (found->most, larger);
}

NARROW static void
scan (AssayPairs *pairs)
{
  const __m256i zero = _mm256_setzero_si256 (), all = _mm256_set1_epi32 (-1);
  Scan found = {zero, zero, all, zero};
  gsize whole = pairs->n / WIDTH * WIDTH;
  for (gsize i = 0; i < whole; i += WIDTH)
    scan_vector (&found, pairs->c + i, pairs->r + i);
  if (whole < pairs->n)
    {
      /* Filled up with the last pair again. */
      float c[WIDTH], r[WIDTH];
      for (gsize k = 0; k < WIDTH; k++)
        {
          c[k] = pairs->c[MIN (whole + k, pairs->n - 1)];
          r[k] = pairs->r[MIN (whole + k, pairs->n - 1)];
        }
      scan_vector (&found, c, r);
    }
  pairs->max_steps = largest (found.steps);
  pairs->max_reference = largest (found.reference);
  guint32 least = ~largest (_mm256_xor_si256 (found.least, all));
  pairs->close = pairs->max_steps <= pairs->format->limit && largest (found.most) < BEYOND
                 && least >= pairs->format->least;
}

NARROW static void
scan_codes (AssayPairs *pairs, const guint16 *c, const guint16 *r, gboolean bfloat, float *to_c,
            float *to_r)
{
  widen (c, pairs->n, bfloat, to_c);
  widen (r, pairs->n, bfloat, to_r);
  pairs->c = to_c;
  pairs->r = to_r;
  scan (pairs);
}

/* Eight pairs: copies, maxima, and which are not close. */
NARROW static inline guint
apart_vector (const AssayPairs *pairs, const float *at_c, const float *at_r, float *to_c,
              float *to_r, Scan *found)
{
  const __m256i magnitude = _mm256_set1_epi32 (0x7fffffff), one = _mm256_set1_epi32 (1);
  __m256i c = _mm256_loadu_si256 ((const __m256i *) at_c);
  __m256i r = _mm256_loadu_si256 ((const __m256i *) at_r);
  __m256i steps = _mm256_abs_epi32 (_mm256_sub_epi32 (c, r));
  __m256i size = _mm256_and_si256 (r, magnitude);
  __m256i larger = _mm256_max_epu32 (size, _mm256_and_si256 (c, magnitude));
  __m256i wrapped = _mm256_sub_epi32 (larger, one); /* so that zeros are large */
  __m256i limit = _mm256_set1_epi32 ((int) pairs->format->limit);
  __m256i least = _mm256_set1_epi32 ((int) pairs->format->least - 1);
  __m256i most = _mm256_set1_epi32 ((int) BEYOND - 1);
  __m256i close = _mm256_cmpeq_epi32 (_mm256_min_epu32 (steps, limit), steps);
  close = _mm256_and_si256 (close, _mm256_cmpeq_epi32 (_mm256_max_epu32 (wrapped, least), wrapped));
  close = _mm256_and_si256 (close, _mm256_cmpeq_epi32 (_mm256_min_epu32 (larger, most), larger));
  _mm256_storeu_si256 ((__m256i *) to_c, _mm256_and_si256 (c, close));
  _mm256_storeu_si256 ((__m256i *) to_r, _mm256_and_si256 (r, close));
  found->steps = _mm256_max_epu32 (found->steps, _mm256_and_si256 (steps, close));
  found->reference = _mm256_max_epu32 (found->reference, _mm256_and_si256 (size, close));
  return (guint) ~_mm256_movemask_ps (_mm256_castsi256_ps (close)) & 0xff;
}

NARROW static guint
set_apart (AssayPairs *pairs, float *to_c, float *to_r, guint64 *others)
{
  const __m256i zero = _mm256_setzero_si256 ();
  Scan found = {zero, zero, zero, zero};
  Tail tail;
  fill_tail (pairs, &tail);
  guint n_others = 0;
  memset (others, 0, ASSAY_SEGMENT / 8);
  for (gsize i = 0; i < pairs->n; i += WIDTH)
    {
      gsize end = pairs->n / ASSAY_LANES * ASSAY_LANES;
      const float *c = i < end ? pairs->c + i : tail.c + (i - end);
      const float *r = i < end ? pairs->r + i : tail.r + (i - end);
      guint apart = apart_vector (pairs, c, r, to_c + i, to_r + i, &found);
      others[i / 64] |= (guint64) apart << i % 64;
      n_others += (guint) __builtin_popcount (apart);
    }
  pairs->c = to_c;
  pairs->r = to_r;
  pairs->max_steps = largest (found.steps);
  pairs->max_reference = largest (found.reference);
  return n_others;
}

/* Four lanes of the sums of doubles. The squares are exact, so fused and separate are the same. */
typedef struct
{
  __m256d error, error_squares, gold_squares;
} Lanes;

NARROW static inline __m256d
to_double (const float *values)
{
  return _mm256_cvtps_pd (_mm_loadu_ps (values));
}

NARROW static inline void
add_lanes (Lanes *lanes, const float *c, const float *r)
{
  __m256d g = to_double (r), error = _mm256_sub_pd (to_double (c), g);
  lanes->error = _mm256_add_pd (lanes->error, error);
  lanes->error_squares = _mm256_fmadd_pd (error, error, lanes->error_squares);
  lanes->gold_squares = _mm256_fmadd_pd (g, g, lanes->gold_squares);
}

NARROW static inline Lanes
load_lanes (const AssayPairSums *sums, int at)
{
  return (Lanes) {_mm256_loadu_pd (sums->error + at), _mm256_loadu_pd (sums->error_squares + at),
                  _mm256_loadu_pd (sums->gold_squares + at)};
}

NARROW static inline void
store_lanes (AssayPairSums *sums, int at, const Lanes *lanes)
{
  _mm256_storeu_pd (sums->error + at, lanes->error);
  _mm256_storeu_pd (sums->error_squares + at, lanes->error_squares);
  _mm256_storeu_pd (sums->gold_squares + at, lanes->gold_squares);
}

typedef struct
{
  __m256 error, excess, rel_excess;
  __m256i twice, sum, toward;
} Found;

/* Eight values of 0 … 255, or of -128 … 127 when with_sign, as bytes. */
NARROW static inline void
store_bytes (void *to, __m256i values, gboolean with_sign)
{
  __m128i low = _mm256_castsi256_si128 (values), high = _mm256_extracti128_si256 (values, 1);
  __m128i words = _mm_packs_epi32 (low, high);
  _mm_storel_epi64 (to,
                    with_sign ? _mm_packs_epi16 (words, words) : _mm_packus_epi16 (words, words));
}

/* The number of bits of each value: an exponent field, of what cannot be rounded up to a power. */
NARROW static inline __m256i
bits_of (__m256i values)
{
  __m256i leading = _mm256_andnot_si256 (_mm256_srli_epi32 (values, 1), values);
  __m256i field = _mm256_srli_epi32 (_mm256_castps_si256 (_mm256_cvtepi32_ps (leading)), 23);
  return _mm256_max_epi32 (_mm256_sub_epi32 (field, _mm256_set1_epi32 (126)),
                           _mm256_setzero_si256 ());
}

NARROW static inline void
run_vector (AssayPairs *pairs, gsize i, const float *at_c, const float *at_r, Found *found)
{
  const AssayPairFormat *format = pairs->format;
  const __m256i magnitude = _mm256_set1_epi32 (0x7fffffff);
  __m256 c = _mm256_loadu_ps (at_c), r = _mm256_loadu_ps (at_r), error = _mm256_sub_ps (c, r);
  __m256i base = _mm256_and_si256 (_mm256_castps_si256 (r), magnitude);
  __m256i bits = _mm256_and_si256 (_mm256_castps_si256 (error), magnitude);
  __m256 size = _mm256_castsi256_ps (base), distance = _mm256_castsi256_ps (bits);
  __m256i least = _mm256_max_epu32 (base, _mm256_set1_epi32 ((int) format->lowest));
  __m256i exponent = _mm256_and_si256 (least, _mm256_set1_epi32 (0x7f800000));
  __m256i per_ulp = _mm256_sub_epi32 (_mm256_set1_epi32 ((int) format->scale), exponent);
  __m256i twice = _mm256_cvtps_epi32 (_mm256_mul_ps (error, _mm256_castsi256_ps (per_ulp)));
  __m256i size_twice = _mm256_abs_epi32 (twice);
  found->sum = _mm256_add_epi32 (found->sum, twice);
  found->twice = _mm256_max_epu32 (found->twice, size_twice);
  __m256i *squares = (__m256i *) (pairs->sums->squares + i);
  __m256i *maxima = (__m256i *) (pairs->sums->maxima + i);
  /* Fifteen bits a side: the pairwise product of 16-bit halves is the square. */
  __m256i square = _mm256_madd_epi16 (size_twice, size_twice);
  _mm256_storeu_si256 (squares, _mm256_add_epi32 (square, _mm256_loadu_si256 (squares)));
  _mm256_storeu_si256 (maxima, _mm256_max_epu32 (size_twice, _mm256_loadu_si256 (maxima)));
  __m256i apart = _mm256_sub_epi32 (_mm256_castps_si256 (c), _mm256_castps_si256 (r));
  found->toward = _mm256_sub_epi32 (found->toward, _mm256_srai_epi32 (apart, 31));
  found->error = _mm256_max_ps (found->error, distance);
  found->excess = _mm256_max_ps (found->excess,
                                 _mm256_fnmadd_ps (_mm256_set1_ps (pairs->slope), size, distance));
  found->rel_excess = _mm256_max_ps (
      found->rel_excess, _mm256_fnmadd_ps (_mm256_set1_ps (pairs->rel), size, distance));
  __m256i below = _mm256_srli_epi32 (_mm256_castps_si256 (error), 31);
  store_bytes (pairs->negative + i, below, FALSE);
  store_bytes (pairs->error_bins + i, _mm256_srli_epi32 (bits, 23), FALSE);
  store_bytes (pairs->rel_bins + i, _mm256_srai_epi32 (_mm256_sub_epi32 (bits, least), 23), TRUE);
  store_bytes (pairs->step_bins + i, bits_of (_mm256_abs_epi32 (apart)), FALSE);
}

NARROW static void
run_all (AssayPairs *pairs, Lanes lanes[4], Found *found)
{
  Tail tail;
  fill_tail (pairs, &tail);
  gsize i = 0;
  for (; i < pairs->n; i += ASSAY_LANES)
    {
      gboolean whole = pairs->n - i >= ASSAY_LANES;
      const float *c = whole ? pairs->c + i : tail.c, *r = whole ? pairs->r + i : tail.r;
      __builtin_prefetch (pairs->next_c + i, 0, 2);
      __builtin_prefetch (pairs->next_r + i, 0, 2);
      for (int k = 0; k < 4; k++)
        add_lanes (&lanes[k], c + 4 * k, r + 4 * k);
      run_vector (pairs, i, c, r, found);
      run_vector (pairs, i + WIDTH, c + WIDTH, r + WIDTH, found);
    }
  for (; i % 64; i += ASSAY_LANES)
    {
      memset (pairs->error_bins + i, 0, ASSAY_LANES);
      memset (pairs->step_bins + i, 0, ASSAY_LANES);
      memset (pairs->rel_bins + i, -128, ASSAY_LANES);
    }
}

NARROW static void
run (AssayPairs *pairs)
{
  AssayPairSums *sums = pairs->sums;
  Lanes lanes[4];
  for (int k = 0; k < 4; k++)
    lanes[k] = load_lanes (sums, 4 * k);
  const __m256i zero = _mm256_setzero_si256 ();
  const __m256 least = _mm256_set1_ps (-INFINITY);
  Found found = {_mm256_setzero_ps (), least, least, zero, zero, zero};
  run_all (pairs, lanes, &found);
  for (int k = 0; k < 4; k++)
    store_lanes (sums, 4 * k, &lanes[k]);
  sums->twice_ulp += total (found.sum);
  sums->toward_zero += (guint64) total (found.toward);
  pairs->max_error = largest_float (found.error);
  pairs->max_twice_ulp = largest (found.twice);
  pairs->excess = largest_float (found.excess);
  pairs->rel_excess = largest_float (found.rel_excess);
}

#define FEW 10 /* are counted one by one */
#define LEAST_REL (-25)

/* The bytes of half a group that are `key`: all of them, and the negative ones. */
NARROW static inline void
count_hits (__m256i bytes, __m256i negative, guint8 key, __m256i *all, __m256i *less)
{
  __m256i hits = _mm256_cmpeq_epi8 (bytes, _mm256_set1_epi8 ((char) key));
  *all = _mm256_sub_epi8 (*all, hits);
  *less = _mm256_add_epi8 (*less, _mm256_and_si256 (hits, negative));
}

NARROW static inline guint
add_counts (__m256i all, __m256i less, int at, AssayPairBins bins)
{
  const __m256i zero = _mm256_setzero_si256 ();
  __m256i below = _mm256_slli_epi64 (_mm256_sad_epu8 (less, zero), 32);
  __m256i both = _mm256_or_si256 (below, _mm256_sad_epu8 (all, zero));
  guint64 each[4];
  _mm256_storeu_si256 ((__m256i *) each, both);
  guint64 sum = each[0] + each[1] + each[2] + each[3];
  bins.negative[at] += sum >> 32;
  bins.positive[at] += (guint32) sum - (sum >> 32);
  return (guint32) sum;
}

/* Adds the four bins from `key` down but no lower than `least`, of `groups` times 64 bytes; fewer than 128 groups. Returns how many
 * there were. */
NARROW static guint
count_four (const guint8 *bytes, const guint8 *negative, guint groups, int key, int least,
            AssayPairBins bins)
{
  const __m256i zero = _mm256_setzero_si256 ();
  __m256i all[4] = {zero, zero, zero, zero}, less[4] = {zero, zero, zero, zero};
  guint8 keys[4];
  for (int k = 0; k < 4; k++)
    keys[k] = (guint8) MAX (key - k, least);
  for (guint i = 0; i < 64 * groups; i += 32)
    {
      __m256i values = _mm256_loadu_si256 ((const __m256i *) (bytes + i));
      __m256i signs = _mm256_loadu_si256 ((const __m256i *) (negative + i));
      count_hits (values, signs, keys[0], &all[0], &less[0]);
      count_hits (values, signs, keys[1], &all[1], &less[1]);
      count_hits (values, signs, keys[2], &all[2], &less[2]);
      count_hits (values, signs, keys[3], &all[3], &less[3]);
    }
  guint n = 0;
  for (int k = 0; k < 4 && key - k >= least; k++)
    n += add_counts (all[k], less[k], key - k, bins);
  return n;
}

/* Those above zero and below `end`, one by one. */
NARROW static void
count_rest (const guint8 *bytes, const guint8 *negative, guint groups, guint8 end,
            AssayPairBins bins)
{
  const __m256i zero = _mm256_setzero_si256 (), most = _mm256_set1_epi8 ((char) (end - 1));
  for (guint at = 0; at < 64 * groups; at += 32)
    {
      __m256i values = _mm256_loadu_si256 ((const __m256i *) (bytes + at));
      __m256i within = _mm256_cmpeq_epi8 (_mm256_min_epu8 (values, most), values);
      within = _mm256_andnot_si256 (_mm256_cmpeq_epi8 (values, zero), within);
      for (guint hits = (guint) _mm256_movemask_epi8 (within); hits; hits &= hits - 1)
        {
          guint i = at + (guint) __builtin_ctz (hits);
          (negative[i] ? bins.negative : bins.positive)[bytes[i]]++;
        }
    }
}

NARROW static guint
count (const AssayPairs *pairs, AssayPairBins errors, AssayPairBins steps, AssayPairBins rels)
{
  guint groups = (guint) ((pairs->n + 63) / 64), unequal = 0;
  const guint8 *negative = pairs->negative;
  int most = pairs->max_steps ? 32 - __builtin_clz (pairs->max_steps) : 0;
  for (int bin = most; bin > pairs->format->shift; bin -= 4)
    unequal +=
        count_four (pairs->step_bins, negative, groups, bin, pairs->format->shift + 1, steps);
  guint32 error;
  memcpy (&error, &pairs->max_error, sizeof error);
  int exponent = (int) (error >> 23);
  guint left = unequal;
  for (; left > FEW && exponent > 0; exponent -= 4)
    left -= count_four (pairs->error_bins, negative, groups, exponent, 1, errors);
  if (left && exponent > 0)
    count_rest (pairs->error_bins, negative, groups, (guint8) (exponent + 1), errors);
  /* No step is larger than its distance in ulps of the smaller, nor more than half of that. */
  const guint8 *rel_bins = (const guint8 *) pairs->rel_bins;
  left = unequal;
  for (int bin = MIN (most - 23, 0); left && bin >= LEAST_REL; bin -= 4)
    left -= count_four (rel_bins, negative, groups, bin, LEAST_REL, rels);
  return unequal;
}

/* Of four pairs: those at or above the scaled bound, and, eight bits higher, those beyond it. */
NARROW static inline guint
above_four (const float *at_c, const float *at_r, const AssayPairBound *bound, double factor)
{
  const __m256d offset = _mm256_set1_pd (bound->offset), slope = _mm256_set1_pd (bound->slope);
  const __m256d sign = _mm256_set1_pd (-0.0);
  __m256d c = to_double (at_c), r = to_double (at_r);
  __m256d error = _mm256_andnot_pd (sign, _mm256_sub_pd (c, r));
  __m256d sloped = _mm256_mul_pd (slope, _mm256_andnot_pd (sign, bound->of_candidate ? c : r));
  __m256d allowed = bound->either ? _mm256_max_pd (sloped, offset) : _mm256_add_pd (sloped, offset);
  __m256d scaled = _mm256_mul_pd (allowed, _mm256_set1_pd (factor));
  __m256d hits = _mm256_cmp_pd (error, scaled, _CMP_GE_OQ);
  __m256d beyond = _mm256_cmp_pd (error, allowed, _CMP_GT_OQ);
  return (guint) _mm256_movemask_pd (hits) | (guint) _mm256_movemask_pd (beyond) << 8;
}

/* Whether any of eight pairs needs a look. */
NARROW static inline gboolean
any_beyond (const float *at_c, const float *at_r, const AssayPairBound *bound)
{
  const __m256 sign = _mm256_set1_ps (-0.0f);
  __m256 r = _mm256_loadu_ps (at_r), error = _mm256_sub_ps (_mm256_loadu_ps (at_c), r);
  __m256 excess = _mm256_fnmadd_ps (_mm256_set1_ps (bound->quick_slope), _mm256_andnot_ps (sign, r),
                                    _mm256_andnot_ps (sign, error));
  __m256 offset = _mm256_set1_ps (bound->quick_offset);
  return _mm256_movemask_ps (_mm256_cmp_ps (excess, offset, _CMP_GT_OQ)) != 0;
}

NARROW static guint
above (const AssayPairs *pairs, AssayPairBound bound, double factor, guint16 *where, guint *missing)
{
  Tail tail;
  fill_tail (pairs, &tail);
  guint n = 0;
  *missing = 0;
  for (gsize i = 0; i < pairs->n; i += WIDTH)
    {
      gsize end = pairs->n / ASSAY_LANES * ASSAY_LANES, rest = pairs->n - i;
      const float *c = i < end ? pairs->c + i : tail.c + (i - end);
      const float *r = i < end ? pairs->r + i : tail.r + (i - end);
      if (!any_beyond (c, r, &bound))
        continue;
      guint low = above_four (c, r, &bound, factor * (1 - 0x1p-50));
      guint high = above_four (c + 4, r + 4, &bound, factor * (1 - 0x1p-50));
      guint hits = (low & 0xf) | (high & 0xf) << 4;
      hits &= rest >= WIDTH ? 0xff : (1u << rest) - 1;
      *missing += (guint) __builtin_popcount ((low >> 8) | (high >> 8 << 4));
      for (; hits; hits &= hits - 1)
        where[n++] = (guint16) (i + (gsize) __builtin_ctz (hits));
    }
  return n;
}

const AssayPairKernel ASSAY_PAIRS_AVX2 = {"AVX2", scan, scan_codes, set_apart, run, count, above};

#endif
