/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/check/check.h"
#include "engine/vgpu/exec/lanes.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

typedef VgpuPattern Pattern;

#ifdef __AVX512F__
#include "engine/vgpu/exec/request-512.h"
#else
static inline u32
lane_active (u32 mask, int lane)
{
  return 0u - (mask >> lane & 1);
}

static inline void
find_extent (Pattern *pattern)
{
  s32 low = 0, high = 0;
  for (int lane = 0; lane < VGPU_LANES; lane++)
    {
      const s32 value = pattern->relative[lane];
      low = value < low ? value : low;
      high = value > high ? value : high;
    }
  pattern->low = low;
  pattern->high = high;
}

/* Common end: shape and extent from relative, which is 0 in inactive lanes. */
static inline void
classify (Pattern *pattern, u32 mask, u32 stride)
{
  const int first = __builtin_ctz (mask);
  u32 unit = 0, same = 0;
  for (int lane = 0; lane < VGPU_LANES; lane++)
    {
      const u32 value = (u32) pattern->relative[lane];
      unit |= (value ^ (u32) (lane - first) * stride) & lane_active (mask, lane);
      same |= value;
    }
  pattern->mask = mask;
  pattern->stride = stride;
  pattern->reach.count = 0;
  if (unit == 0)
    {
      pattern->shape = VGPU_SHAPE_UNIT;
      pattern->low = 0;
      pattern->high = (31 - __builtin_clz (mask) - first) * (s32) stride;
    }
  else if (same == 0)
    {
      pattern->shape = VGPU_SHAPE_SAME;
      pattern->low = pattern->high = 0;
    }
  else
    {
      pattern->shape = VGPU_SHAPE_MIXED;
      find_extent (pattern);
    }
}

static inline void
pattern_from_64 (VgpuSite *site, const u64 *base, s64 offset, u32 mask, u32 stride)
{
  Pattern *pattern = &site->pattern;
  const u64 origin = base[__builtin_ctz (mask)];
  u64 away = 0;
  pattern->first = origin + (u64) offset;
  if (mask == VGPU_FULL)
    for (int lane = 0; lane < VGPU_LANES; lane++)
      {
        const u64 distance = base[lane] - origin;
        pattern->relative[lane] = (s32) distance;
        away |= (distance + 0x40000000u) >> 31;
      }
  else
    for (int lane = 0; lane < VGPU_LANES; lane++)
      {
        const u64 distance = mask >> lane & 1 ? base[lane] - origin : 0;
        pattern->relative[lane] = (s32) distance;
        away |= (distance + 0x40000000u) >> 31;
      }
  pattern->far = away != 0;
  __builtin_memset (site->results, 0, sizeof site->results);
  classify (pattern, mask, stride);
}

static inline void
pattern_from_32 (VgpuSite *site, const u32 *base, s64 offset, u32 mask, u32 stride)
{
  Pattern *pattern = &site->pattern;
  const u32 origin = base[__builtin_ctz (mask)];
  u32 away = 0;
  /* 32-bit addresses wrap at 32 bits. */
  pattern->first = (u32) (origin + (u32) offset);
  for (int lane = 0; lane < VGPU_LANES; lane++)
    {
      const u32 distance = (base[lane] - origin) & lane_active (mask, lane);
      pattern->relative[lane] = (s32) distance;
      away |= distance + 0x40000000u;
    }
  pattern->far = (away & 0x80000000u) != 0;
  __builtin_memset (site->results, 0, sizeof site->results);
  classify (pattern, mask, stride);
}

/* Whether all lanes are multiples of align away from a place that is one. */
static inline bool
steps_aligned (const Pattern *pattern, u32 align)
{
  u32 bits = 0;
  for (int lane = 0; lane < VGPU_LANES; lane++)
    bits |= (u32) pattern->relative[lane];
  return (bits & (align - 1)) == 0;
}

static inline void
find_runs (VgpuReach *reach)
{
  vgpu_reach_find_runs (reach);
}
#endif

static inline void
build_pattern (const VgpuWarp *warp, const VgpuIns *ins, s64 offset, u32 mask, u32 stride,
               VgpuSite *site)
{
  if (ins->flags & VGPU_INS_WIDE_ADDRESS)
    pattern_from_64 (site, VGPU_ROW (const u64, ins->a), offset, mask, stride);
  else
    pattern_from_32 (site, VGPU_ROW (const u32, ins->a), offset, mask, stride);
}

static inline bool
is_aligned (const Pattern *pattern, u32 align)
{
  return (pattern->first & (align - 1)) == 0
         && (pattern->shape != VGPU_SHAPE_MIXED || steps_aligned (pattern, align));
}

static inline bool
is_inside (const Pattern *pattern, u64 lo, u64 hi, u32 bytes)
{
  /* The least address must not lie before zero: the offsets of shared and local memory begin there. */
  const u64 least = pattern->first + (u64) (s64) pattern->low;
  const u64 most = pattern->first + (u64) (s64) pattern->high;
  return !pattern->far && least >= lo && least <= most && most + bytes <= hi && most < hi;
}

/* What the request touches, for the checkers. */
static inline const VgpuReach *
find_reach (Pattern *pattern, u32 bytes)
{
  VgpuReach *reach = &pattern->reach;
  const u32 first = (u32) __builtin_ctz (pattern->mask), lanes = pattern->mask >> first;
  reach->first = pattern->first;
  if (reach->count != 0)
    return reach;
  reach->shape = pattern->shape;
  reach->mask = pattern->mask;
  reach->bytes = bytes;
  reach->relative = pattern->relative;
  reach->count = 1;
  reach->runs[0] = (VgpuRun) {.bytes = bytes, .lane = (u8) first};
  if (pattern->shape == VGPU_SHAPE_SAME)
    reach->runs[0].together = lanes != 1;
  else if (pattern->shape == VGPU_SHAPE_UNIT && (lanes & (lanes + 1)) == 0)
    reach->runs[0].bytes = bytes * (u32) (32 - __builtin_clz (lanes));
  else
    find_runs (reach);
  return reach;
}

/* The full addresses, for the slow path. */
static inline void
pattern_addresses (const VgpuWarp *warp, const VgpuIns *ins, s64 offset, u64 *addresses)
{
  if (ins->flags & VGPU_INS_WIDE_ADDRESS)
    {
      const u64 *base = VGPU_ROW (const u64, ins->a);
      for (int lane = 0; lane < VGPU_LANES; lane++)
        addresses[lane] = base[lane] + (u64) offset;
    }
  else
    {
      const u32 *base = VGPU_ROW (const u32, ins->a);
      for (int lane = 0; lane < VGPU_LANES; lane++)
        addresses[lane] = (u32) (base[lane] + (u32) offset);
    }
}

/* Whether eight neighbouring lanes go up by stride from the first of them, or all agree. */
static inline VgpuShape
group_shape (const s32 *relative, u32 stride)
{
#ifdef __AVX2__
  const __m256i values = _mm256_load_si256 ((const __m256i *) relative);
  const __m256i step = _mm256_mullo_epi32 (_mm256_set1_epi32 ((int) stride),
                                           _mm256_setr_epi32 (0, 1, 2, 3, 4, 5, 6, 7));
  const __m256i distance = _mm256_sub_epi32 (values, _mm256_set1_epi32 (relative[0]));
  const __m256i off = _mm256_xor_si256 (distance, step);
  if (_mm256_testz_si256 (off, off))
    return VGPU_SHAPE_UNIT;
  return _mm256_testz_si256 (distance, distance) ? VGPU_SHAPE_SAME : VGPU_SHAPE_MIXED;
#else
  u32 unit = 0, same = 0;
  for (int i = 0; i < 8; i++)
    {
      const u32 distance = (u32) relative[i] - (u32) relative[0];
      unit |= distance ^ (u32) i * stride;
      same |= distance;
    }
  return unit == 0 ? VGPU_SHAPE_UNIT : same == 0 ? VGPU_SHAPE_SAME : VGPU_SHAPE_MIXED;
#endif
}

/* Reads one element of every active lane from where + relative into a row. */
#define VGPU_DEFINE_FETCH(T)                                                                       \
  static inline void fetch_##T (T *row, const char *where, const Pattern *pattern, u32 stride)     \
  {                                                                                                \
    const u32 mask = pattern->mask;                                                                \
    if (pattern->shape == VGPU_SHAPE_SAME)                                                         \
      {                                                                                            \
        const T value = *(const T *) where;                                                        \
        VGPU_LANE_LOOP row[lane] = mask >> lane & 1 ? value : row[lane];                           \
      }                                                                                            \
    else if (mask == VGPU_FULL && pattern->shape == VGPU_SHAPE_UNIT && stride == sizeof (T))       \
      __builtin_memcpy (row, where, VGPU_LANES * sizeof (T));                                      \
    else if (mask == VGPU_FULL)                                                                    \
      for (int group = 0; group < VGPU_LANES; group += 8)                                          \
        {                                                                                          \
          const s32 *relative = pattern->relative + group;                                         \
          const VgpuShape shape = group_shape (relative, stride);                                  \
          if (shape == VGPU_SHAPE_UNIT && stride == sizeof (T))                                    \
            __builtin_memcpy (row + group, where + relative[0], 8 * sizeof (T));                   \
          else if (shape == VGPU_SHAPE_SAME)                                                       \
            {                                                                                      \
              const T value = *(const T *) (where + relative[0]);                                  \
              for (int i = 0; i < 8; i++)                                                          \
                row[group + i] = value;                                                            \
            }                                                                                      \
          else                                                                                     \
            for (int i = 0; i < 8; i++)                                                            \
              row[group + i] = *(const T *) (where + relative[i]);                                 \
        }                                                                                          \
    else                                                                                           \
      for (u32 left = mask; left != 0; left &= left - 1)                                           \
        {                                                                                          \
          const int lane = __builtin_ctz (left);                                                   \
          row[lane] = *(const T *) (where + pattern->relative[lane]);                              \
        }                                                                                          \
  }

/* Writes one element of every active lane, in the order of lanes. */
#define VGPU_DEFINE_PLACE(T)                                                                       \
  static inline void place_##T (const T *row, char *where, const Pattern *pattern, u32 stride)     \
  {                                                                                                \
    const u32 mask = pattern->mask;                                                                \
    if (mask == VGPU_FULL && pattern->shape == VGPU_SHAPE_UNIT && stride == sizeof (T))            \
      __builtin_memcpy (where, row, VGPU_LANES * sizeof (T));                                      \
    else if (mask == VGPU_FULL && stride == sizeof (T))                                            \
      for (int group = 0; group < VGPU_LANES; group += 8)                                          \
        {                                                                                          \
          const s32 *relative = pattern->relative + group;                                         \
          if (group_shape (relative, stride) == VGPU_SHAPE_UNIT)                                   \
            __builtin_memcpy (where + relative[0], row + group, 8 * sizeof (T));                   \
          else                                                                                     \
            for (int i = 0; i < 8; i++)                                                            \
              *(T *) (where + relative[i]) = row[group + i];                                       \
        }                                                                                          \
    else                                                                                           \
      for (u32 left = mask; left != 0; left &= left - 1)                                           \
        {                                                                                          \
          const int lane = __builtin_ctz (left);                                                   \
          *(T *) (where + pattern->relative[lane]) = row[lane];                                    \
        }                                                                                          \
  }

VGPU_DEFINE_FETCH (u16)
VGPU_DEFINE_FETCH (u64)
VGPU_DEFINE_PLACE (u16)
VGPU_DEFINE_PLACE (u64)
#ifndef __AVX512F__
VGPU_DEFINE_FETCH (u32)
VGPU_DEFINE_PLACE (u32)
#endif
