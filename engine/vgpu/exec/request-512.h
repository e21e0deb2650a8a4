/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The parts of request.h for AVX-512: same results as the loops there, which the tests hold them to.
 * Included by request.h alone. */

#include <immintrin.h>

static inline __m512i
lane_steps (u32 stride, int from)
{
  const __m512i lanes = _mm512_setr_epi32 (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm512_mullo_epi32 (_mm512_add_epi32 (lanes, _mm512_set1_epi32 (from)),
                             _mm512_set1_epi32 ((int) stride));
}

/* How sixteen lanes lie to the first of them. */
static inline VgpuShape
half_shape (__m512i values, u32 stride)
{
  const __m512i distance =
      _mm512_sub_epi32 (values, _mm512_broadcastd_epi32 (_mm512_castsi512_si128 (values)));
  if (_mm512_cmpneq_epi32_mask (distance, lane_steps (stride, 0)) == 0)
    return VGPU_SHAPE_UNIT;
  return _mm512_test_epi32_mask (distance, distance) == 0 ? VGPU_SHAPE_SAME : VGPU_SHAPE_MIXED;
}

static inline bool
is_as_before (const Pattern *pattern, __m512i low, __m512i high, u32 mask, u32 stride)
{
  const __m512i off =
      _mm512_or_si512 (_mm512_xor_si512 (low, _mm512_load_si512 (pattern->relative)),
                       _mm512_xor_si512 (high, _mm512_load_si512 (pattern->relative + 16)));
  return pattern->mask == mask && pattern->stride == stride
         && _mm512_test_epi32_mask (off, off) == 0;
}

/* relative is 0 in inactive lanes. */
static inline void
classify_vectors (VgpuSite *site, __m512i low, __m512i high, u32 mask, u32 stride)
{
  Pattern *pattern = &site->pattern;
  if (is_as_before (pattern, low, high, mask, stride))
    return;
  const int first = __builtin_ctz (mask);
  const u32 off = _mm512_cmpneq_epi32_mask (low, lane_steps (stride, -first))
                  | (u32) _mm512_cmpneq_epi32_mask (high, lane_steps (stride, 16 - first)) << 16;
  const __m512i any = _mm512_or_si512 (low, high);
  _mm512_store_si512 (pattern->relative, low);
  _mm512_store_si512 (pattern->relative + 16, high);
  pattern->mask = mask;
  pattern->stride = stride;
  pattern->reach.count = 0;
  __builtin_memset (site->results, 0, sizeof site->results);
  if ((off & mask) == 0)
    {
      pattern->shape = VGPU_SHAPE_UNIT;
      pattern->low = 0;
      pattern->high = (31 - __builtin_clz (mask) - first) * (s32) stride;
    }
  else if (_mm512_test_epi32_mask (any, any) == 0)
    {
      pattern->shape = VGPU_SHAPE_SAME;
      pattern->low = pattern->high = 0;
    }
  else
    {
      pattern->shape = VGPU_SHAPE_MIXED;
      pattern->low = _mm512_reduce_min_epi32 (_mm512_min_epi32 (low, high));
      pattern->high = _mm512_reduce_max_epi32 (_mm512_max_epi32 (low, high));
      pattern->half[0] = mask == VGPU_FULL ? half_shape (low, stride) : VGPU_SHAPE_MIXED;
      pattern->half[1] = mask == VGPU_FULL ? half_shape (high, stride) : VGPU_SHAPE_MIXED;
    }
}

static inline __m512i
narrow (__m512i low, __m512i high)
{
  return _mm512_inserti64x4 (_mm512_castsi256_si512 (_mm512_cvtepi64_epi32 (low)),
                             _mm512_cvtepi64_epi32 (high), 1);
}

static inline void
pattern_from_64 (VgpuSite *site, const u64 *base, s64 offset, u32 mask, u32 stride)
{
  Pattern *pattern = &site->pattern;
  const u64 origin = base[__builtin_ctz (mask)];
  const __m512i from = _mm512_set1_epi64 ((s64) origin);
  const __m512i reach = _mm512_set1_epi64 (0x40000000);
  __m512i distance[4], away = _mm512_setzero_si512 ();
  for (int i = 0; i < 4; i++)
    {
      distance[i] = _mm512_maskz_sub_epi64 ((__mmask8) (mask >> (8 * i)),
                                            _mm512_load_si512 (base + 8 * i), from);
      away = _mm512_or_si512 (away, _mm512_add_epi64 (distance[i], reach));
    }
  pattern->first = origin + (u64) offset;
  pattern->far = _mm512_test_epi64_mask (away, _mm512_set1_epi64 (~(s64) 0x7fffffff)) != 0;
  classify_vectors (site, narrow (distance[0], distance[1]), narrow (distance[2], distance[3]),
                    mask, stride);
}

static inline void
pattern_from_32 (VgpuSite *site, const u32 *base, s64 offset, u32 mask, u32 stride)
{
  Pattern *pattern = &site->pattern;
  const u32 origin = base[__builtin_ctz (mask)];
  const __m512i from = _mm512_set1_epi32 ((int) origin);
  const __m512i reach = _mm512_set1_epi32 (0x40000000);
  const __m512i low = _mm512_maskz_sub_epi32 ((__mmask16) mask, _mm512_load_si512 (base), from);
  const __m512i high =
      _mm512_maskz_sub_epi32 ((__mmask16) (mask >> 16), _mm512_load_si512 (base + 16), from);
  const __m512i away =
      _mm512_or_si512 (_mm512_add_epi32 (low, reach), _mm512_add_epi32 (high, reach));
  /* 32-bit addresses wrap at 32 bits. */
  pattern->first = (u32) (origin + (u32) offset);
  pattern->far = _mm512_movepi32_mask (away) != 0;
  classify_vectors (site, low, high, mask, stride);
}

/* Whether all lanes are multiples of align away from a place that is one. */
static inline bool
steps_aligned (const Pattern *pattern, u32 align)
{
  const __m512i any = _mm512_or_si512 (_mm512_load_si512 (pattern->relative),
                                       _mm512_load_si512 (pattern->relative + 16));
  return _mm512_test_epi32_mask (any, _mm512_set1_epi32 ((int) align - 1)) == 0;
}

/* vgpu_reach_find_runs (), all lanes at once. */
static inline void
find_runs (VgpuReach *reach)
{
  if (reach->mask != VGPU_FULL)
    {
      vgpu_reach_find_runs (reach);
      return;
    }
  const __m512i low = _mm512_load_si512 (reach->relative);
  const __m512i high = _mm512_load_si512 (reach->relative + 16);
  const __m512i step[2] = {_mm512_sub_epi32 (low, _mm512_alignr_epi32 (low, low, 15)),
                           _mm512_sub_epi32 (high, _mm512_alignr_epi32 (high, low, 15))};
  const __m512i side = _mm512_set1_epi32 ((int) reach->bytes);
  const u32 again = _mm512_testn_epi32_mask (step[0], step[0])
                    | (u32) _mm512_testn_epi32_mask (step[1], step[1]) << 16;
  const u32 beside =
      _mm512_cmpeq_epi32_mask (step[0], side) | (u32) _mm512_cmpeq_epi32_mask (step[1], side) << 16;
  u32 starts = ~(again | beside) | 1;
  reach->count = 0;
  while (starts != 0)
    {
      const int lane = __builtin_ctz (starts);
      starts &= starts - 1;
      const int last = starts != 0 ? __builtin_ctz (starts) - 1 : VGPU_LANES - 1;
      const u32 inner = (u32) (((u64) 2 << last) - ((u64) 2 << lane));
      reach->runs[reach->count++] =
          (VgpuRun) {.from = reach->relative[lane],
                     .bytes = (u32) (reach->relative[last] - reach->relative[lane]) + reach->bytes,
                     .lane = (u8) lane,
                     .together = (again & inner) != 0};
    }
}

/* Sixteen lanes of 32 bits each. */
static inline __m512i
fetch_half (const char *where, const s32 *relative, VgpuShape shape, u32 stride)
{
  if (shape == VGPU_SHAPE_SAME)
    return _mm512_set1_epi32 (*(const s32 *) (where + relative[0]));
  if (shape == VGPU_SHAPE_UNIT && stride == 4)
    return _mm512_loadu_si512 (where + relative[0]);
  return _mm512_i32gather_epi32 (_mm512_load_si512 (relative), where, 1);
}

static inline void
fetch_u32 (u32 *row, const char *where, const Pattern *pattern, u32 stride)
{
  const __mmask16 low = (__mmask16) pattern->mask, high = (__mmask16) (pattern->mask >> 16);
  __m512i values[2];
  if (pattern->shape == VGPU_SHAPE_SAME)
    values[0] = values[1] = _mm512_set1_epi32 (*(const s32 *) where);
  else if (pattern->mask != VGPU_FULL)
    {
      values[0] = _mm512_mask_i32gather_epi32 (_mm512_setzero_si512 (), low,
                                               _mm512_load_si512 (pattern->relative), where, 1);
      values[1] = _mm512_mask_i32gather_epi32 (
          _mm512_setzero_si512 (), high, _mm512_load_si512 (pattern->relative + 16), where, 1);
    }
  else
    {
      const bool unit = pattern->shape == VGPU_SHAPE_UNIT;
      values[0] =
          fetch_half (where, pattern->relative, unit ? VGPU_SHAPE_UNIT : pattern->half[0], stride);
      values[1] = fetch_half (where, pattern->relative + 16,
                              unit ? VGPU_SHAPE_UNIT : pattern->half[1], stride);
    }
  /* What a masked store wrote cannot be read again before it has reached the cache. */
  if (pattern->mask != VGPU_FULL)
    {
      _mm512_mask_store_epi32 (row, low, values[0]);
      _mm512_mask_store_epi32 (row + 16, high, values[1]);
      return;
    }
  _mm512_store_si512 (row, values[0]);
  _mm512_store_si512 (row + 16, values[1]);
}

static inline void
place_half (const u32 *row, char *where, const s32 *relative, __mmask16 mask, VgpuShape shape,
            u32 stride)
{
  const __m512i values = _mm512_load_si512 (row);
  if (shape == VGPU_SHAPE_UNIT && stride == 4)
    _mm512_storeu_si512 (where + relative[0], values);
  else
    _mm512_mask_i32scatter_epi32 (where, mask, _mm512_load_si512 (relative), values, 1);
}

/* In the order of lanes, as scatters are. */
static inline void
place_u32 (const u32 *row, char *where, const Pattern *pattern, u32 stride)
{
  const bool unit = pattern->shape == VGPU_SHAPE_UNIT && pattern->mask == VGPU_FULL;
  const bool mixed = pattern->shape == VGPU_SHAPE_MIXED && pattern->mask == VGPU_FULL;
  for (int h = 0; h < 2; h++)
    place_half (row + 16 * h, where, pattern->relative + 16 * h,
                (__mmask16) (pattern->mask >> (16 * h)),
                unit    ? VGPU_SHAPE_UNIT
                : mixed ? pattern->half[h]
                        : VGPU_SHAPE_MIXED,
                stride);
}
