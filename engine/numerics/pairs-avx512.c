/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/pairs.h"

#ifdef ASSAY_PAIRS_X86

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define WIDE                                                                                       \
  __attribute__ ((target ("avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,popcnt,bmi")))
#define BEYOND (254u << 23)

/* The last, incomplete vector, filled up with equal zeros: they add nothing. */
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

/* What scan gathers. */
typedef struct
{
  __m512i steps, reference, least, most;
} Scan;

WIDE static inline void
scan_vector (Scan *found, __mmask16 there, __m512i c, __m512i r)
{
  const __m512i magnitude = _mm512_set1_epi32 (0x7fffffff);
  __m512i size = _mm512_and_si512 (r, magnitude);
  __m512i larger = _mm512_max_epu32 (size, _mm512_and_si512 (c, magnitude));
  found->steps = _mm512_max_epu32 (found->steps, _mm512_abs_epi32 (_mm512_sub_epi32 (c, r)));
  found->reference = _mm512_max_epu32 (found->reference, size);
  found->least = _mm512_mask_min_epu32 (found->least, there, found->least, larger);
  found->most = _mm512_max_epu32 (found->most, larger);
}

WIDE static void
scan_end (AssayPairs *pairs, const Scan *found)
{
  pairs->max_steps = _mm512_reduce_max_epu32 (found->steps);
  pairs->max_reference = _mm512_reduce_max_epu32 (found->reference);
  pairs->close = pairs->max_steps <= pairs->format->limit
                 && _mm512_reduce_max_epu32 (found->most) < BEYOND
                 && _mm512_reduce_min_epu32 (found->least) >= pairs->format->least;
}

WIDE static inline Scan
scan_begin (void)
{
  const __m512i zero = _mm512_setzero_si512 ();
  return (Scan) {zero, zero, _mm512_set1_epi32 (-1), zero};
}

WIDE static void
scan (AssayPairs *pairs)
{
  Scan found = scan_begin ();
  for (gsize i = 0; i < pairs->n; i += ASSAY_LANES)
    {
      gsize rest = pairs->n - i;
      __mmask16 there = (__mmask16) (rest >= ASSAY_LANES ? 0xffff : (1u << rest) - 1);
      scan_vector (&found, there, _mm512_maskz_loadu_epi32 (there, pairs->c + i),
                   _mm512_maskz_loadu_epi32 (there, pairs->r + i));
    }
  scan_end (pairs, &found);
}

WIDE static inline __m512i
widened (__mmask16 there, const guint16 *codes, gboolean bfloat)
{
  __m256i narrow = _mm256_maskz_loadu_epi16 (there, codes);
  return bfloat ? _mm512_slli_epi32 (_mm512_cvtepu16_epi32 (narrow), 16)
                : _mm512_castps_si512 (_mm512_cvtph_ps (narrow));
}

/* Widened and looked at in one go: what is stored need not be loaded again. */
WIDE static inline __attribute__ ((always_inline)) void
scan_widened (AssayPairs *pairs, const guint16 *c, const guint16 *r, gboolean bfloat, float *to_c,
              float *to_r)
{
  Scan found = scan_begin ();
  for (gsize i = 0; i < pairs->n; i += ASSAY_LANES)
    {
      gsize rest = pairs->n - i;
      __mmask16 there = (__mmask16) (rest >= ASSAY_LANES ? 0xffff : (1u << rest) - 1);
      __m512i wide_c = widened (there, c + i, bfloat), wide_r = widened (there, r + i, bfloat);
      _mm512_mask_storeu_epi32 (to_c + i, there, wide_c);
      _mm512_mask_storeu_epi32 (to_r + i, there, wide_r);
      scan_vector (&found, there, wide_c, wide_r);
    }
  scan_end (pairs, &found);
}

WIDE static void
scan_codes (AssayPairs *pairs, const guint16 *c, const guint16 *r, gboolean bfloat, float *to_c,
            float *to_r)
{
  pairs->c = to_c;
  pairs->r = to_r;
  if (bfloat)
    scan_widened (pairs, c, r, TRUE, to_c, to_r);
  else
    scan_widened (pairs, c, r, FALSE, to_c, to_r);
}

WIDE static guint
set_apart (AssayPairs *pairs, float *to_c, float *to_r, guint64 *others)
{
  const __m512i magnitude = _mm512_set1_epi32 (0x7fffffff);
  const __m512i limit = _mm512_set1_epi32 ((int) pairs->format->limit);
  const __m512i least = _mm512_set1_epi32 ((int) pairs->format->least - 1);
  const __m512i one = _mm512_set1_epi32 (1), beyond = _mm512_set1_epi32 ((int) BEYOND);
  __m512i most = _mm512_setzero_si512 (), reference = most;
  guint n_others = 0;
  memset (others, 0, ASSAY_SEGMENT / 8);
  for (gsize i = 0; i < pairs->n; i += ASSAY_LANES)
    {
      gsize rest = pairs->n - i;
      __mmask16 there = (__mmask16) (rest >= ASSAY_LANES ? 0xffff : (1u << rest) - 1);
      __m512i c = _mm512_maskz_loadu_epi32 (there, pairs->c + i);
      __m512i r = _mm512_maskz_loadu_epi32 (there, pairs->r + i);
      __m512i steps = _mm512_abs_epi32 (_mm512_sub_epi32 (c, r));
      __m512i size = _mm512_and_si512 (r, magnitude);
      __m512i larger = _mm512_max_epu32 (size, _mm512_and_si512 (c, magnitude));
      __mmask16 close = _mm512_mask_cmple_epu32_mask (there, steps, limit);
      close = _mm512_mask_cmpge_epu32_mask (close, _mm512_sub_epi32 (larger, one), least);
      close = _mm512_mask_cmplt_epu32_mask (close, larger, beyond);
      _mm512_storeu_si512 (to_c + i, _mm512_maskz_mov_epi32 (close, c));
      _mm512_storeu_si512 (to_r + i, _mm512_maskz_mov_epi32 (close, r));
      most = _mm512_mask_max_epu32 (most, close, most, steps);
      reference = _mm512_mask_max_epu32 (reference, close, reference, size);
      others[i / 64] |= (guint64) (there & ~close) << i % 64;
      n_others += (guint) __builtin_popcount (there & ~close);
    }
  pairs->c = to_c;
  pairs->r = to_r;
  pairs->max_steps = _mm512_reduce_max_epu32 (most);
  pairs->max_reference = _mm512_reduce_max_epu32 (reference);
  return n_others;
}

WIDE static inline __m512d
to_double (const float *values)
{
  return _mm512_cvtps_pd (_mm256_loadu_ps (values));
}

/* Eight lanes of the sums of doubles. The squares are exact, so fused and separate are the same. */
typedef struct
{
  __m512d error, error_squares, gold_squares;
} Lanes;

WIDE static inline void
add_lanes (Lanes *lanes, const float *errors, const float *r)
{
  __m512d g = to_double (r), error = to_double (errors);
  lanes->error = _mm512_add_pd (lanes->error, error);
  lanes->error_squares = _mm512_fmadd_pd (error, error, lanes->error_squares);
  lanes->gold_squares = _mm512_fmadd_pd (g, g, lanes->gold_squares);
}

WIDE static inline Lanes
load_lanes (const AssayPairSums *sums, int at)
{
  return (Lanes) {_mm512_loadu_pd (sums->error + at), _mm512_loadu_pd (sums->error_squares + at),
                  _mm512_loadu_pd (sums->gold_squares + at)};
}

WIDE static inline void
store_lanes (AssayPairSums *sums, int at, const Lanes *lanes)
{
  _mm512_storeu_pd (sums->error + at, lanes->error);
  _mm512_storeu_pd (sums->error_squares + at, lanes->error_squares);
  _mm512_storeu_pd (sums->gold_squares + at, lanes->gold_squares);
}

typedef struct
{
  __m512 error, excess, rel_excess;
  __m512i twice, sum, toward;
} Found;

WIDE static inline void
store_bytes (void *to, __m512i values)
{
  _mm_storeu_si128 (to, _mm512_cvtepi32_epi8 (values));
}

WIDE static inline void
run_vector (AssayPairs *pairs, gsize i, const float *at_c, const float *at_r, float *errors,
            Found *found)
{
  const AssayPairFormat *format = pairs->format;
  const __m512i magnitude = _mm512_set1_epi32 (0x7fffffff);
  __m512 c = _mm512_loadu_ps (at_c), r = _mm512_loadu_ps (at_r), error = _mm512_sub_ps (c, r);
  __m512i base = _mm512_and_si512 (_mm512_castps_si512 (r), magnitude);
  __m512i bits = _mm512_and_si512 (_mm512_castps_si512 (error), magnitude);
  __m512 size = _mm512_castsi512_ps (base), distance = _mm512_castsi512_ps (bits);
  _mm512_storeu_ps (errors, error); /* widened from memory, which saves a permutation */
  __m512i least = _mm512_max_epu32 (base, _mm512_set1_epi32 ((int) format->lowest));
  __m512i exponent = _mm512_and_si512 (least, _mm512_set1_epi32 (0x7f800000));
  __m512i per_ulp = _mm512_sub_epi32 (_mm512_set1_epi32 ((int) format->scale), exponent);
  __m512i twice = _mm512_cvtps_epi32 (_mm512_mul_ps (error, _mm512_castsi512_ps (per_ulp)));
  __m512i size_twice = _mm512_abs_epi32 (twice);
  found->sum = _mm512_add_epi32 (found->sum, twice);
  found->twice = _mm512_max_epu32 (found->twice, size_twice);
  guint32 *squares = pairs->sums->squares + i, *maxima = pairs->sums->maxima + i;
  /* Fifteen bits a side: the pairwise product of 16-bit halves is the square. */
  __m512i square = _mm512_madd_epi16 (size_twice, size_twice);
  _mm512_storeu_si512 (squares, _mm512_add_epi32 (square, _mm512_loadu_si512 (squares)));
  _mm512_storeu_si512 (maxima, _mm512_max_epu32 (size_twice, _mm512_loadu_si512 (maxima)));
  __m512i apart = _mm512_sub_epi32 (_mm512_castps_si512 (c), _mm512_castps_si512 (r));
  found->toward = _mm512_sub_epi32 (found->toward, _mm512_srai_epi32 (apart, 31));
  found->error = _mm512_max_ps (found->error, distance);
  found->excess = _mm512_max_ps (found->excess,
                                 _mm512_fnmadd_ps (_mm512_set1_ps (pairs->slope), size, distance));
  found->rel_excess = _mm512_max_ps (
      found->rel_excess, _mm512_fnmadd_ps (_mm512_set1_ps (pairs->rel), size, distance));
  store_bytes (pairs->negative + i, _mm512_srli_epi32 (_mm512_castps_si512 (error), 31));
  store_bytes (pairs->error_bins + i, _mm512_srli_epi32 (bits, 23));
  store_bytes (pairs->rel_bins + i, _mm512_srai_epi32 (_mm512_sub_epi32 (bits, least), 23));
  store_bytes (
      pairs->step_bins + i,
      _mm512_sub_epi32 (_mm512_set1_epi32 (32), _mm512_lzcnt_epi32 (_mm512_abs_epi32 (apart))));
}

WIDE static void
run (AssayPairs *pairs)
{
  AssayPairSums *sums = pairs->sums;
  Lanes low = load_lanes (sums, 0), high = load_lanes (sums, 8);
  const __m512i zero = _mm512_setzero_si512 ();
  const __m512 least = _mm512_set1_ps (-INFINITY);
  Found found = {_mm512_setzero_ps (), least, least, zero, zero, zero};
  Tail tail;
  fill_tail (pairs, &tail);
  gsize i = 0;
  for (; i < pairs->n; i += ASSAY_LANES)
    {
      gboolean whole = pairs->n - i >= ASSAY_LANES;
      const float *c = whole ? pairs->c + i : tail.c, *r = whole ? pairs->r + i : tail.r;
      __builtin_prefetch (pairs->next_c + i, 0, 2);
      __builtin_prefetch (pairs->next_r + i, 0, 2);
      float errors[ASSAY_LANES] __attribute__ ((aligned (64)));
      run_vector (pairs, i, c, r, errors, &found);
      add_lanes (&low, errors, r);
      add_lanes (&high, errors + 8, r + 8);
    }
  for (; i % 64; i += ASSAY_LANES)
    {
      store_bytes (pairs->error_bins + i, zero);
      store_bytes (pairs->step_bins + i, zero);
      store_bytes (pairs->rel_bins + i, _mm512_set1_epi32 (-128));
    }
  store_lanes (sums, 0, &low);
  store_lanes (sums, 8, &high);
  sums->twice_ulp += _mm512_reduce_add_epi32 (found.sum);
  sums->toward_zero += (guint32) _mm512_reduce_add_epi32 (found.toward);
  pairs->max_error = _mm512_reduce_max_ps (found.error);
  pairs->max_twice_ulp = _mm512_reduce_max_epu32 (found.twice);
  pairs->excess = _mm512_reduce_max_ps (found.excess);
  pairs->rel_excess = _mm512_reduce_max_ps (found.rel_excess);
}

#define FEW 10 /* are counted one by one */
#define LEAST_REL (-25)

/* The bytes of one group that are `key`: all of them, and the negative ones. */
WIDE static inline void
count_hits (__m512i bytes, __m512i negative, guint8 key, __m512i *all, __m512i *less)
{
  __mmask64 hits = _mm512_cmpeq_epi8_mask (bytes, _mm512_set1_epi8 ((char) key));
  *all = _mm512_mask_add_epi8 (*all, hits, *all, _mm512_set1_epi8 (1));
  *less = _mm512_mask_add_epi8 (*less, hits, *less, negative);
}

WIDE static inline guint
add_counts (__m512i all, __m512i less, int at, AssayPairBins bins)
{
  const __m512i zero = _mm512_setzero_si512 ();
  __m512i below = _mm512_slli_epi64 (_mm512_sad_epu8 (less, zero), 32);
  guint64 both =
      (guint64) _mm512_reduce_add_epi64 (_mm512_or_si512 (below, _mm512_sad_epu8 (all, zero)));
  bins.negative[at] += both >> 32;
  bins.positive[at] += (guint32) both - (both >> 32);
  return (guint32) both;
}

/* Adds the four bins from `key` down but no lower than `least`, of `groups` times 64 bytes; fewer than 256 groups. Returns how many
 * there were. */
WIDE static guint
count_four (const guint8 *bytes, const guint8 *negative, guint groups, int key, int least,
            AssayPairBins bins)
{
  const __m512i zero = _mm512_setzero_si512 ();
  __m512i all[4] = {zero, zero, zero, zero}, less[4] = {zero, zero, zero, zero};
  guint8 keys[4];
  for (int k = 0; k < 4; k++)
    keys[k] = (guint8) MAX (key - k, least);
  for (guint g = 0; g < groups; g++)
    {
      __m512i values = _mm512_loadu_si512 (bytes + 64 * g);
      __m512i signs = _mm512_loadu_si512 (negative + 64 * g);
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
WIDE static void
count_rest (const guint8 *bytes, const guint8 *negative, guint groups, guint8 end,
            AssayPairBins bins)
{
  for (guint g = 0; g < groups; g++)
    {
      __m512i values = _mm512_loadu_si512 (bytes + 64 * g);
      __mmask64 hits = _mm512_cmplt_epu8_mask (values, _mm512_set1_epi8 ((char) end));
      hits = _mm512_mask_test_epi8_mask (hits, values, values);
      for (; hits; hits &= hits - 1)
        {
          guint i = 64 * g + (guint) __builtin_ctzll (hits);
          (negative[i] ? bins.negative : bins.positive)[bytes[i]]++;
        }
    }
}

WIDE static guint
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

/* Of eight pairs: those at or above the scaled bound, and, eight bits higher, those beyond it. */
WIDE static inline guint
above_eight (const float *at_c, const float *at_r, const AssayPairBound *bound, double factor)
{
  const __m512d offset = _mm512_set1_pd (bound->offset), slope = _mm512_set1_pd (bound->slope);
  __m512d c = to_double (at_c), r = to_double (at_r), error = _mm512_abs_pd (_mm512_sub_pd (c, r));
  __m512d sloped = _mm512_mul_pd (slope, _mm512_abs_pd (bound->of_candidate ? c : r));
  __m512d allowed = bound->either ? _mm512_max_pd (sloped, offset) : _mm512_add_pd (sloped, offset);
  __m512d scaled = _mm512_mul_pd (allowed, _mm512_set1_pd (factor));
  return _mm512_cmp_pd_mask (error, scaled, _CMP_GE_OQ)
         | (guint) _mm512_cmp_pd_mask (error, allowed, _CMP_GT_OQ) << 8;
}

/* Whether any of sixteen pairs needs a look. */
WIDE static inline gboolean
any_beyond (const float *at_c, const float *at_r, const AssayPairBound *bound)
{
  __m512 r = _mm512_loadu_ps (at_r), error = _mm512_sub_ps (_mm512_loadu_ps (at_c), r);
  __m512 excess = _mm512_fnmadd_ps (_mm512_set1_ps (bound->quick_slope), _mm512_abs_ps (r),
                                    _mm512_abs_ps (error));
  return _mm512_cmp_ps_mask (excess, _mm512_set1_ps (bound->quick_offset), _CMP_GT_OQ) != 0;
}

WIDE static guint
above (const AssayPairs *pairs, AssayPairBound bound, double factor, guint16 *where, guint *missing)
{
  Tail tail;
  fill_tail (pairs, &tail);
  guint n = 0;
  *missing = 0;
  for (gsize i = 0; i < pairs->n; i += ASSAY_LANES)
    {
      gsize rest = pairs->n - i;
      const float *c = rest >= ASSAY_LANES ? pairs->c + i : tail.c;
      const float *r = rest >= ASSAY_LANES ? pairs->r + i : tail.r;
      if (!any_beyond (c, r, &bound))
        continue;
      guint low = above_eight (c, r, &bound, factor * (1 - 0x1p-50));
      guint high = above_eight (c + 8, r + 8, &bound, factor * (1 - 0x1p-50));
      guint hits = (low & 0xff) | (high & 0xff) << 8;
      hits &= rest >= ASSAY_LANES ? 0xffff : (1u << rest) - 1;
      *missing += (guint) __builtin_popcount ((low >> 8) | (high & 0xff00));
      for (; hits; hits &= hits - 1)
        where[n++] = (guint16) (i + (gsize) __builtin_ctz (hits));
    }
  return n;
}

const AssayPairKernel ASSAY_PAIRS_AVX512 = {"AVX-512", scan,  scan_codes, set_apart,
                                            run,       count, above};

#endif
