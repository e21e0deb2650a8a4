/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Loads and stores of 32-bit words by a whole warp that nobody watches, for AVX-512: where all lanes lie
 * inside what the instruction found last, this is all there is to do. Included by handlers-memory.c
 * alone; false: nothing was done, and the way that every request can go is to be gone. */

#include "engine/vgpu/exec/request.h"

/* Sixteen lanes each, bytes away from where the memory begins. */
typedef struct
{
  __m512i low, high;
} Offsets;

/* Eight addresses of 64 bits, from lane on. */
static inline __m512i
wide_addresses (const VgpuWarp *warp, const VgpuIns *ins, int lane)
{
  if (ins->flags & VGPU_INS_SUM)
    return _mm512_add_epi64 (_mm512_load_si512 (VGPU_ROW (const u64, ins->b) + lane),
                             _mm512_load_si512 (VGPU_ROW (const u64, ins->c) + lane));
  return _mm512_load_si512 (VGPU_ROW (const u64, ins->a) + lane);
}

static inline bool
offsets_from_64 (Offsets *offsets, const VgpuWarp *warp, const VgpuIns *ins, u64 lo, u64 room,
                 u32 bytes)
{
  const __m512i origin = _mm512_set1_epi64 ((s64) (lo - (u64) ins->imm));
  const __m512i last = _mm512_set1_epi64 ((s64) (room - bytes));
  const __m512i odd = _mm512_set1_epi64 (bytes - 1);
  const __m512i a = _mm512_sub_epi64 (wide_addresses (warp, ins, 0), origin);
  const __m512i b = _mm512_sub_epi64 (wide_addresses (warp, ins, 8), origin);
  const __m512i c = _mm512_sub_epi64 (wide_addresses (warp, ins, 16), origin);
  const __m512i d = _mm512_sub_epi64 (wide_addresses (warp, ins, 24), origin);
  const __m512i any = _mm512_or_si512 (_mm512_or_si512 (a, b), _mm512_or_si512 (c, d));
  const u32 outside = _mm512_cmpgt_epu64_mask (a, last) | _mm512_cmpgt_epu64_mask (b, last)
                      | _mm512_cmpgt_epu64_mask (c, last) | _mm512_cmpgt_epu64_mask (d, last);
  offsets->low = narrow (a, b);
  offsets->high = narrow (c, d);
  return (outside | _mm512_test_epi64_mask (any, odd)) == 0;
}

static inline bool
offsets_from_32 (Offsets *offsets, const u32 *row, s64 offset, u64 room, u32 bytes)
{
  const __m512i more = _mm512_set1_epi32 ((s32) offset);
  const __m512i last = _mm512_set1_epi32 ((s32) (room - bytes));
  const __m512i odd = _mm512_set1_epi32 ((s32) bytes - 1);
  const __m512i a = _mm512_add_epi32 (_mm512_load_si512 (row), more);
  const __m512i b = _mm512_add_epi32 (_mm512_load_si512 (row + 16), more);
  const u32 outside =
      (u32) _mm512_cmpgt_epu32_mask (a, last) | (u32) _mm512_cmpgt_epu32_mask (b, last);
  offsets->low = a;
  offsets->high = b;
  return (outside | (u32) _mm512_test_epi32_mask (_mm512_or_si512 (a, b), odd)) == 0;
}

static inline s32
first_of (__m512i values)
{
  return _mm_cvtsi128_si32 (_mm512_castsi512_si128 (values));
}

/* Whether the offset that lanes count from keeps words aligned, and fits what follows. */
static inline bool
find_offsets (const VgpuWarp *warp, const VgpuIns *ins, u64 lo, u64 room, u32 bytes,
              Offsets *offsets)
{
  if (room < bytes || room >= (u64) 1 << 31 || (lo & (bytes - 1)) != 0)
    return false;
  return ins->flags & VGPU_INS_WIDE_ADDRESS
             ? offsets_from_64 (offsets, warp, ins, lo, room, bytes)
             : lo == 0
                   && offsets_from_32 (offsets, VGPU_ROW (const u32, ins->a), ins->imm, room,
                                       bytes);
}

static inline __m512i
read_words (const char *base, __m512i offsets, VgpuShape shape)
{
  if (shape == VGPU_SHAPE_SAME)
    return _mm512_set1_epi32 (*(const s32 *) (base + first_of (offsets)));
  if (shape == VGPU_SHAPE_UNIT)
    return _mm512_loadu_si512 (base + first_of (offsets));
  return _mm512_i32gather_epi32 (offsets, base, 1);
}

/* base: where memory begins for the host; lo: the address of that place. */
static inline bool
load_words (VgpuWarp *warp, const VgpuIns *ins, VgpuSite *site, const char *base, u64 lo, u64 room)
{
  Offsets offsets;
  if (ins->vec == 1)
    {
      if (!find_offsets (warp, ins, lo, room, 4, &offsets))
        return false;
      u32 *row = VGPU_ROW (u32, ins->d);
      _mm512_store_si512 (row, read_words (base, offsets.low, half_shape (offsets.low, 4)));
      _mm512_store_si512 (row + 16, read_words (base, offsets.high, half_shape (offsets.high, 4)));
    }
  else
    {
      const s32 *rows = warp->kernel->extra + ins->extra;
      if (!find_offsets (warp, ins, lo, room, 4 * ins->vec, &offsets))
        return false;
      const bool same[2] = {half_shape (offsets.low, 4) == VGPU_SHAPE_SAME,
                            half_shape (offsets.high, 4) == VGPU_SHAPE_SAME};
      for (u32 i = 0; i < ins->vec; i++, base += 4)
        {
          u32 *row = VGPU_ROW (u32, rows[i]);
          if (rows[i] < 0)
            continue;
          _mm512_store_si512 (
              row, read_words (base, offsets.low, same[0] ? VGPU_SHAPE_SAME : VGPU_SHAPE_MIXED));
          _mm512_store_si512 (row + 16, read_words (base, offsets.high,
                                                    same[1] ? VGPU_SHAPE_SAME : VGPU_SHAPE_MIXED));
        }
    }
  site->requests++;
  site->lanes += VGPU_LANES;
  return true;
}

static inline void
write_words (char *base, __m512i offsets, __m512i values)
{
  if (half_shape (offsets, 4) == VGPU_SHAPE_UNIT)
    _mm512_storeu_si512 (base + first_of (offsets), values);
  else
    _mm512_i32scatter_epi32 (base, offsets, values, 1);
}

static inline bool
store_words (VgpuWarp *warp, const VgpuIns *ins, VgpuSite *site, char *base, u64 lo, u64 room)
{
  Offsets offsets;
  if (ins->vec != 1 || !find_offsets (warp, ins, lo, room, 4, &offsets))
    return false;
  const u32 *row = VGPU_ROW (const u32, ins->d);
  write_words (base, offsets.low, _mm512_load_si512 (row));
  write_words (base, offsets.high, _mm512_load_si512 (row + 16));
  site->requests++;
  site->lanes += VGPU_LANES;
  return true;
}

/* Whole warps, words, and nobody who wants to be told. */
static inline bool
is_quick (const VgpuWarp *warp, const VgpuIns *ins)
{
  return warp->mask == VGPU_FULL && ins->bytes == 4 && (warp->checks & ~(u32) VGPU_CHECK_SYNC) == 0
         && (ins->flags & VGPU_INS_STRONG) == 0;
}

static inline bool
quick_global (VgpuWarp *warp, const VgpuIns *ins, VgpuAccess access)
{
  VgpuSite *site = &warp->worker->sites[ins->site];
  char *base = (char *) (uintptr_t) site->lo;
  if (!is_quick (warp, ins))
    return false;
  return access == VGPU_ACCESS_READ
             ? load_words (warp, ins, site, base, site->lo, site->hi - site->lo)
             : store_words (warp, ins, site, base, site->lo, site->hi - site->lo);
}

static inline bool
quick_shared (VgpuWarp *warp, const VgpuIns *ins, VgpuAccess access)
{
  VgpuWorker *worker = warp->worker;
  VgpuSite *site = &worker->sites[ins->site];
  if (!is_quick (warp, ins))
    return false;
  return access == VGPU_ACCESS_READ
             ? load_words (warp, ins, site, worker->shared, 0, worker->shared_bytes)
             : store_words (warp, ins, site, worker->shared, 0, worker->shared_bytes);
}
