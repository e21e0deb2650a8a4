/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores. A request is classified once; if all of it lies inside the allocation that the
 * instruction touched last, nothing is looked at lane by lane. */
#include "engine/vgpu/exec/async.h"
#include "engine/vgpu/exec/handlers.h"
#include "engine/vgpu/exec/request.h"
#ifdef __AVX512F__
#include "engine/vgpu/exec/words-512.h"
#else
#define quick_global(warp, ins, access) false
#define quick_shared(warp, ins, access) false
#endif

/* Where a request was found to lie. */
typedef struct
{
  char *where;          /* host memory of the first active lane */
  unsigned char *valid; /* the same place in the shadow, or NULL */
  u32 mask;             /* lanes that may go on */
} Target;

static inline s32
element_row (const VgpuWarp *warp, const VgpuIns *ins, u32 element)
{
  return ins->vec == 1 ? ins->d : warp->kernel->extra[ins->extra + element];
}

static inline VgpuRequest
describe (const VgpuIns *ins, VgpuSpace space, VgpuAccess access)
{
  const u32 bytes = (u32) ins->bytes * ins->vec;
  return (VgpuRequest) {.space = space, .access = access, .bytes = bytes, .align = bytes};
}

/* Lane by lane; leaves in pattern what may go on. Lanes far from one another are done one at a
 * time by the caller. */
static __attribute__ ((noinline)) u32
slow_lanes (VgpuWarp *warp, const VgpuIns *ins, s64 offset, const VgpuRequest *request, u32 mask,
            u64 *addresses)
{
  pattern_addresses (warp, ins, offset, addresses);
  return vgpu_check_lanes (warp, ins, request, addresses, mask);
}

static inline void
fetch_bytes (u16 *row, const char *where, const Pattern *pattern, bool is_signed)
{
  for (u32 left = pattern->mask; left != 0; left &= left - 1)
    {
      const int lane = __builtin_ctz (left);
      const char *at = where + pattern->relative[lane];
      row[lane] = is_signed ? (u16) (s16) * (const s8 *) at : *(const u8 *) at;
    }
}

static inline void
fetch_elements (VgpuWarp *warp, const VgpuIns *ins, const char *where, const Pattern *pattern)
{
  const u32 stride = (u32) ins->bytes * ins->vec;
  for (u32 element = 0; element < ins->vec; element++, where += ins->bytes)
    {
      const s32 row = element_row (warp, ins, element);
      if (row < 0)
        continue;
      switch (ins->bytes)
        {
        case 1:
          fetch_bytes (VGPU_ROW (u16, row), where, pattern, ins->flags & VGPU_INS_SIGNED);
          break;
        case 2:
          fetch_u16 (VGPU_ROW (u16, row), where, pattern, stride);
          break;
        case 4:
          fetch_u32 (VGPU_ROW (u32, row), where, pattern, stride);
          break;
        default:
          fetch_u64 (VGPU_ROW (u64, row), where, pattern, stride);
        }
    }
}

static inline void
place_elements (VgpuWarp *warp, const VgpuIns *ins, char *where, const Pattern *pattern)
{
  const u32 stride = (u32) ins->bytes * ins->vec;
  for (u32 element = 0; element < ins->vec; element++, where += ins->bytes)
    {
      const s32 row = element_row (warp, ins, element);
      switch (ins->bytes)
        {
        case 1:
          for (u32 left = pattern->mask; left != 0; left &= left - 1)
            {
              const int lane = __builtin_ctz (left);
              where[pattern->relative[lane]] = (char) VGPU_ROW (const u16, row)[lane];
            }
          break;
        case 2:
          place_u16 (VGPU_ROW (const u16, row), where, pattern, stride);
          break;
        case 4:
          place_u32 (VGPU_ROW (const u32, row), where, pattern, stride);
          break;
        default:
          place_u64 (VGPU_ROW (const u64, row), where, pattern, stride);
        }
    }
}

static void
zero_lanes (VgpuWarp *warp, const VgpuIns *ins, u32 mask)
{
  static const u8 row_bytes[] = {0, 2, 2, 0, 4, 0, 0, 0, 8};
  const u32 size = row_bytes[ins->bytes];
  for (u32 element = 0; element < ins->vec; element++)
    {
      const s32 row = element_row (warp, ins, element);
      if (row < 0)
        continue;
      for (u32 left = mask; left != 0; left &= left - 1)
        __builtin_memset (VGPU_ROW (char, row) + (u32) __builtin_ctz (left) * size, 0, size);
      if (warp->checks & VGPU_CHECK_UNINIT)
        warp->poison[row / VGPU_ROW_UNIT] &= ~mask;
    }
}

/* There are 64 bytes more behind those that say what is valid. */
static inline bool
all_valid (const unsigned char *valid, size_t count)
{
#ifdef __AVX512F__
  const __m512i ones = _mm512_set1_epi8 (-1);
  for (; count > 64; count -= 64, valid += 64)
    if (_mm512_cmpneq_epi8_mask (_mm512_loadu_si512 (valid), ones) != 0)
      return false;
  return _mm512_mask_cmpneq_epi8_mask (~(u64) 0 >> (64 - count), _mm512_loadu_si512 (valid), ones)
         == 0;
#else
  u64 all = ~(u64) 0, some;
  for (; count >= 8; count -= 8, valid += 8)
    {
      __builtin_memcpy (&some, valid, 8);
      all &= some;
    }
  for (; count > 0; count--, valid++)
    all &= *valid | ~(u64) 0xff;
  return all == ~(u64) 0;
#endif
}

/* Whether all bytes that the active lanes touch are initialised. */
static inline bool
all_runs_valid (const unsigned char *valid, const VgpuReach *reach)
{
  bool all = true;
  for (u32 i = 0; all && i < reach->count; i++)
    all = all_valid (valid + reach->runs[i].from, reach->runs[i].bytes);
  return all;
}

/* Lanes whose element is not wholly initialised. */
static u32
invalid_lanes (const unsigned char *valid, const Pattern *pattern, u32 bytes)
{
  u32 bad = 0;
  for (u32 left = pattern->mask; left != 0; left &= left - 1)
    {
      const int lane = __builtin_ctz (left);
      const unsigned char *at = valid + pattern->relative[lane];
      u32 word = ~0u;
      if (bytes == 4)
        __builtin_memcpy (&word, at, 4);
      if (bytes == 4 ? word != ~0u : !all_valid (at, bytes))
        bad |= 1u << lane;
    }
  return bad;
}

static void
load_taint (VgpuWarp *warp, const VgpuIns *ins, const unsigned char *valid, const Pattern *pattern,
            const VgpuReach *reach)
{
  const bool sound = valid == NULL || all_runs_valid (valid, reach);
  if (sound && !warp->tainted)
    return;
  for (u32 element = 0; element < ins->vec; element++)
    {
      const s32 row = element_row (warp, ins, element);
      if (row < 0)
        continue;
      const u32 bad = sound ? 0 : invalid_lanes (valid + element * ins->bytes, pattern, ins->bytes);
      u32 *poison = &warp->poison[row / VGPU_ROW_UNIT];
      *poison = (*poison & ~pattern->mask) | bad;
      if (bad != 0)
        {
          warp->tainted = 1;
          warp->origin[row / VGPU_ROW_UNIT] = (u32) (ins - warp->kernel->code);
        }
    }
}

static void
store_taint (VgpuWarp *warp, const VgpuIns *ins, VgpuSpace space, unsigned char *valid,
             const Pattern *pattern, const VgpuReach *reach)
{
  for (u32 i = 0; valid != NULL && i < reach->count; i++)
    __builtin_memset (valid + reach->runs[i].from, 0xff, reach->runs[i].bytes);
  for (u32 element = 0; warp->tainted && element < ins->vec; element++)
    {
      const s32 row = element_row (warp, ins, element);
      const u32 bad = row < 0 ? 0 : warp->poison[row / VGPU_ROW_UNIT] & pattern->mask;
      if (bad == 0)
        continue;
      if (space == VGPU_SPACE_GLOBAL)
        vgpu_taint_used (warp, ins, row, bad, "stored");
      else
        for (u32 left = bad; left != 0; left &= left - 1)
          __builtin_memset (valid + pattern->relative[__builtin_ctz (left)] + element * ins->bytes,
                            0, ins->bytes);
    }
}

/* One lane, for requests that no pattern describes. */
static Pattern
single_lane (u64 address, int lane)
{
  Pattern pattern = {.first = address, .mask = 1u << lane, .shape = VGPU_SHAPE_MIXED};
  return pattern;
}

static inline void
count_request (VgpuWarp *warp, const VgpuIns *ins, VgpuSite *site, u32 mask)
{
  warp->worker->strong += (ins->flags & VGPU_INS_STRONG) != 0;
  site->requests++;
  site->lanes += (u32) __builtin_popcount (mask);
}

static inline void
check_taint (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request, const Pattern *pattern,
             const VgpuReach *reach, unsigned char *valid)
{
  if (request->access == VGPU_ACCESS_READ)
    load_taint (warp, ins, valid, pattern, reach);
  else
    store_taint (warp, ins, request->space, valid, pattern, reach);
}

/* One lane that is checked for itself. */
static void
check_lane (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request, Pattern *pattern,
            unsigned char *valid)
{
  check_taint (warp, ins, request, pattern, find_reach (pattern, request->bytes), valid);
}

static inline void
check_request (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request, Pattern *pattern,
               VgpuSite *site, unsigned char *valid)
{
  const u32 checks = warp->checks;
  const bool shared = request->space == VGPU_SPACE_SHARED;
  if (checks & VGPU_CHECK_COUNTS)
    {
      if (shared)
        vgpu_count_shared (site, pattern->shape, pattern->first, pattern->relative, pattern->mask,
                           request->bytes);
      else
        vgpu_count_global (site, pattern->shape, pattern->first, pattern->relative, pattern->mask,
                           request->bytes);
    }
  if ((checks & (VGPU_CHECK_UNINIT | VGPU_CHECK_RACE | VGPU_CHECK_RACE_GLOBAL)) == 0)
    return;
  const VgpuReach *reach = find_reach (pattern, request->bytes);
  if (checks & VGPU_CHECK_UNINIT)
    check_taint (warp, ins, request, pattern, reach, valid);
  if (shared && (checks & VGPU_CHECK_RACE))
    vgpu_race_shared (warp, ins, request, reach);
  else if (!shared && (checks & VGPU_CHECK_RACE_GLOBAL))
    vgpu_race_global (warp, ins, request, reach);
}

/* The slow way: each lane that may go on is a request of its own. */
static __attribute__ ((noinline)) void
access_slowly (VgpuWarp *warp, const VgpuIns *ins, s64 offset, const VgpuRequest *request, u32 mask,
               VgpuSite *site)
{
  u64 addresses[VGPU_LANES];
  VgpuWorker *owners[VGPU_LANES];
  pattern_addresses (warp, ins, offset, addresses);
  if (request->space == VGPU_SPACE_SHARED)
    for (int lane = 0; lane < VGPU_LANES; lane++)
      owners[lane] = vgpu_shared_owner (warp, &addresses[lane]);
  const u32 good = vgpu_check_lanes (warp, ins, request, addresses, mask);
  if (request->access == VGPU_ACCESS_READ)
    zero_lanes (warp, ins, mask & ~good);
  count_request (warp, ins, site, good);
  for (u32 left = good; left != 0; left &= left - 1)
    {
      const int lane = __builtin_ctz (left);
      Pattern pattern = single_lane (addresses[lane], lane);
      unsigned char *valid = NULL;
      char *where = (char *) (uintptr_t) addresses[lane];
      if (request->space == VGPU_SPACE_SHARED)
        {
          where = owners[lane]->shared + addresses[lane];
          if (warp->checks & VGPU_CHECK_UNINIT)
            valid = owners[lane]->shared_valid + addresses[lane];
        }
      else if (warp->checks & VGPU_CHECK_UNINIT)
        {
          const VgpuAllocation *allocation =
              vgpu_memory_find (warp->worker->launch->memory, addresses[lane]);
          if (allocation->valid != NULL)
            valid = allocation->valid + (addresses[lane] - allocation->lo);
        }
      if (request->access == VGPU_ACCESS_READ)
        fetch_elements (warp, ins, where, &pattern);
      else
        place_elements (warp, ins, where, &pattern);
      if (request->space != VGPU_SPACE_SHARED || owners[lane] == warp->worker)
        check_request (warp, ins, request, &pattern, site, valid);
      else
        {
          if (warp->checks & VGPU_CHECK_UNINIT)
            check_lane (warp, ins, request, &pattern, valid);
          if (warp->checks & VGPU_CHECK_RACE)
            vgpu_neighbours_touch (warp, ins, request, owners[lane], (u32) lane, addresses[lane]);
        }
    }
}

/* Lets the site remember the allocation that the first lane hits. */
static __attribute__ ((noinline)) bool
remember (VgpuWarp *warp, VgpuSite *site, const Pattern *pattern, const VgpuRequest *request)
{
  VgpuAllocation *allocation = vgpu_memory_find (warp->worker->launch->memory, pattern->first);
  if (allocation == NULL || allocation->freed
      || (allocation->constant && request->access != VGPU_ACCESS_READ))
    return false;
  site->lo = allocation->lo;
  site->hi = allocation->hi;
  site->allocation = allocation;
  return is_inside (pattern, site->lo, site->hi, request->bytes);
}

static inline void
check_address (VgpuWarp *warp, const VgpuIns *ins, u32 mask)
{
  if (!warp->tainted || ins->a < 0)
    return;
  const u32 bad = warp->poison[ins->a / VGPU_ROW_UNIT] & mask;
  if (VGPU_UNLIKELY (bad != 0))
    vgpu_taint_used (warp, ins, ins->a, bad, "used as an address");
}

/* What the addition would have done that this instruction stands for as well. */
static inline void
add_address (VgpuWarp *warp, const VgpuIns *ins)
{
  if ((ins->flags & VGPU_INS_SUM) == 0)
    return;
  const u32 mask = warp->mask;
  u64 *row_d = VGPU_ROW (u64, ins->a);
  const u64 *row_a = VGPU_ROW (const u64, ins->b), *row_b = VGPU_ROW (const u64, ins->c);
  VGPU_LANE_LOOP row_d[lane] = mask >> lane & 1 ? row_a[lane] + row_b[lane] : row_d[lane];
  if (VGPU_UNLIKELY (warp->tainted != 0))
    {
      VgpuIns sum = *ins;
      sum.taint = VGPU_TAINT_MIX;
      sum.d = ins->a;
      sum.a = ins->b;
      sum.b = sum.c = ins->c;
      vgpu_taint (warp, &sum);
    }
}

static __attribute__ ((noinline)) void
access_global (VgpuWarp *warp, const VgpuIns *ins, s64 offset, u32 mask, VgpuAccess access)
{
  VgpuSite *site = &warp->worker->sites[ins->site];
  const VgpuRequest request = describe (ins, VGPU_SPACE_GLOBAL, access);
  Pattern *pattern = &site->pattern;
  add_address (warp, ins);
  check_address (warp, ins, mask);
  build_pattern (warp, ins, offset, mask, request.bytes, site);
  const bool inside = is_inside (pattern, site->lo, site->hi, request.bytes)
                      || remember (warp, site, pattern, &request);
  if (VGPU_UNLIKELY (!inside || !is_aligned (pattern, request.align)))
    {
      access_slowly (warp, ins, offset, &request, mask, site);
      return;
    }
  count_request (warp, ins, site, mask);
  char *where = (char *) (uintptr_t) pattern->first;
  if (access == VGPU_ACCESS_READ)
    fetch_elements (warp, ins, where, pattern);
  else
    place_elements (warp, ins, where, pattern);
  if (warp->checks != 0)
    {
      unsigned char *valid = site->allocation->valid;
      check_request (warp, ins, &request, pattern, site,
                     valid != NULL ? valid + (pattern->first - site->lo) : NULL);
    }
}

static __attribute__ ((noinline)) void
access_shared (VgpuWarp *warp, const VgpuIns *ins, s64 offset, u32 mask, VgpuAccess access)
{
  VgpuWorker *worker = warp->worker;
  VgpuSite *site = &worker->sites[ins->site];
  const VgpuRequest request = describe (ins, VGPU_SPACE_SHARED, access);
  Pattern *pattern = &site->pattern;
  check_address (warp, ins, mask);
  build_pattern (warp, ins, offset, mask, request.bytes, site);
  if (VGPU_UNLIKELY (!is_inside (pattern, 0, worker->shared_bytes, request.bytes)
                     || !is_aligned (pattern, request.align)))
    {
      access_slowly (warp, ins, offset, &request, mask, site);
      return;
    }
  count_request (warp, ins, site, mask);
  char *where = worker->shared + pattern->first;
  if (access == VGPU_ACCESS_READ)
    fetch_elements (warp, ins, where, pattern);
  else
    place_elements (warp, ins, where, pattern);
  if (warp->checks != 0)
    check_request (warp, ins, &request, pattern, site,
                   warp->checks & VGPU_CHECK_UNINIT ? worker->shared_valid + pattern->first : NULL);
}

/* Local memory keeps the words of a warp's lanes side by side. */
static inline void
access_local_lane (VgpuWarp *warp, const VgpuIns *ins, u64 address, int lane, VgpuAccess access)
{
  static const u8 row_bytes[] = {0, 2, 2, 0, 4, 0, 0, 0, 8};
  const u32 size = row_bytes[ins->bytes];
  for (u32 element = 0; element < ins->vec; element++, address += ins->bytes)
    {
      const s32 row = element_row (warp, ins, element);
      char *at = warp->local + (address >> 2) * (4 * VGPU_LANES) + (u32) lane * 4 + (address & 3);
      if (row < 0 && access == VGPU_ACCESS_READ)
        continue;
      char *value = VGPU_ROW (char, row) + (u32) lane * size;
      if (access == VGPU_ACCESS_WRITE)
        {
          __builtin_memcpy (at, value, ins->bytes < 4 ? ins->bytes : 4);
          if (ins->bytes == 8)
            __builtin_memcpy (at + 4 * VGPU_LANES, value + 4, 4);
          continue;
        }
      if (ins->bytes == 1)
        *(u16 *) value =
            ins->flags & VGPU_INS_SIGNED ? (u16) (s16) * (const s8 *) at : *(const u8 *) at;
      else
        __builtin_memcpy (value, at, ins->bytes < 4 ? ins->bytes : 4);
      if (ins->bytes == 8)
        __builtin_memcpy (value + 4, at + 4 * VGPU_LANES, 4);
    }
}

/* All lanes at one address: their words lie side by side, as a row. */
static inline void
move_local_row (VgpuWarp *warp, s32 row, char *at, u32 bytes, u32 mask, VgpuAccess access)
{
  u32 *words = (u32 *) at;
  u32 *values = VGPU_ROW (u32, row);
  const u32 step = bytes / 4;
  for (u32 part = 0; part < step; part++)
    for (int lane = 0; lane < VGPU_LANES; lane++)
      if (mask >> lane & 1)
        {
          u32 *word = &words[part * VGPU_LANES + (u32) lane];
          u32 *value = &values[(u32) lane * step + part];
          if (access == VGPU_ACCESS_READ)
            *value = *word;
          else
            *word = *value;
        }
}

static __attribute__ ((noinline)) void
access_local (VgpuWarp *warp, const VgpuIns *ins, s64 offset, u32 mask, VgpuAccess access)
{
  const VgpuRequest request = describe (ins, VGPU_SPACE_LOCAL, access);
  u64 addresses[VGPU_LANES];
  u32 good = mask;
  VgpuSite *site = &warp->worker->sites[ins->site];
  const Pattern *pattern = &site->pattern;
  check_address (warp, ins, mask);
  build_pattern (warp, ins, offset, mask, request.bytes, site);
  const bool inside = is_inside (pattern, 0, warp->kernel->local_bytes, request.bytes)
                      && is_aligned (pattern, request.align);
  if (VGPU_UNLIKELY (!inside))
    good = slow_lanes (warp, ins, offset, &request, mask, addresses);
  if (access == VGPU_ACCESS_READ && (!inside || warp->tainted))
    zero_lanes (warp, ins, mask);
  count_request (warp, ins, site, good);
  if (inside && pattern->shape == VGPU_SHAPE_SAME && ins->bytes >= 4)
    {
      char *at = warp->local + (pattern->first >> 2) * (4 * VGPU_LANES);
      for (u32 element = 0; element < ins->vec; element++, at += ins->bytes * VGPU_LANES)
        {
          const s32 row = element_row (warp, ins, element);
          if (row >= 0 || access == VGPU_ACCESS_WRITE)
            move_local_row (warp, row, at, ins->bytes, mask, access);
        }
      return;
    }
  for (u32 left = good; left != 0; left &= left - 1)
    {
      const int lane = __builtin_ctz (left);
      const u64 address =
          inside ? pattern->first + (u64) (s64) pattern->relative[lane] : addresses[lane];
      access_local_lane (warp, ins, address, lane, access);
    }
}

static __attribute__ ((noinline)) void
access_param (VgpuWarp *warp, const VgpuIns *ins, s64 offset, u32 mask)
{
  const VgpuRequest request = describe (ins, VGPU_SPACE_PARAM, VGPU_ACCESS_READ);
  u64 addresses[VGPU_LANES];
  const u32 good = slow_lanes (warp, ins, offset, &request, mask, addresses);
  zero_lanes (warp, ins, mask);
  for (u32 left = good; left != 0; left &= left - 1)
    {
      const int lane = __builtin_ctz (left);
      const Pattern pattern = single_lane (addresses[lane], lane);
      fetch_elements (warp, ins, (const char *) warp->worker->launch->parameters + addresses[lane],
                      &pattern);
    }
}

/* Sorts the lanes of a generic access by window. */
static __attribute__ ((noinline)) void
access_generic (VgpuWarp *warp, const VgpuIns *ins, VgpuAccess access)
{
  const u64 *base = VGPU_ROW (const u64, ins->a);
  u32 lanes[4] = {0};
  for (int lane = 0; lane < VGPU_LANES; lane++)
    lanes[(base[lane] + (u64) ins->imm) >> 60 & 3] |= 1u << lane;
  const s64 offset = ins->imm;
  if (lanes[0] & warp->mask)
    access_global (warp, ins, offset, lanes[0] & warp->mask, access);
  if (lanes[1] & warp->mask)
    access_shared (warp, ins, offset - (s64) VGPU_WINDOW_SHARED, lanes[1] & warp->mask, access);
  if (lanes[2] & warp->mask)
    access_local (warp, ins, offset - (s64) VGPU_WINDOW_LOCAL, lanes[2] & warp->mask, access);
  if ((lanes[3] & warp->mask) && access == VGPU_ACCESS_READ)
    access_param (warp, ins, offset - (s64) VGPU_WINDOW_PARAM, lanes[3] & warp->mask);
}

VGPU_HANDLER (LOAD_GLOBAL)
{
  if (!quick_global (warp, ins, VGPU_ACCESS_READ))
    access_global (warp, ins, ins->imm, warp->mask, VGPU_ACCESS_READ);
  VGPU_CONTINUE (ins + 1);
}

VGPU_HANDLER (STORE_GLOBAL)
{
  if (!quick_global (warp, ins, VGPU_ACCESS_WRITE))
    access_global (warp, ins, ins->imm, warp->mask, VGPU_ACCESS_WRITE);
  VGPU_CONTINUE (ins + 1);
}

VGPU_HANDLER (LOAD_SHARED)
{
  if (!quick_shared (warp, ins, VGPU_ACCESS_READ))
    access_shared (warp, ins, ins->imm, warp->mask, VGPU_ACCESS_READ);
  VGPU_CONTINUE (ins + 1);
}

VGPU_HANDLER (STORE_SHARED)
{
  if (!quick_shared (warp, ins, VGPU_ACCESS_WRITE))
    access_shared (warp, ins, ins->imm, warp->mask, VGPU_ACCESS_WRITE);
  VGPU_CONTINUE (ins + 1);
}

VGPU_HANDLER (LOAD_LOCAL)
{
  access_local (warp, ins, ins->imm, warp->mask, VGPU_ACCESS_READ);
  VGPU_CONTINUE (ins + 1);
}

VGPU_HANDLER (STORE_LOCAL)
{
  access_local (warp, ins, ins->imm, warp->mask, VGPU_ACCESS_WRITE);
  VGPU_CONTINUE (ins + 1);
}

VGPU_HANDLER (LOAD_GENERIC)
{
  access_generic (warp, ins, VGPU_ACCESS_READ);
  VGPU_CONTINUE (ins + 1);
}

VGPU_HANDLER (STORE_GENERIC)
{
  access_generic (warp, ins, VGPU_ACCESS_WRITE);
  VGPU_CONTINUE (ins + 1);
}

VGPU_HANDLER (LOAD_PARAM)
{
  access_param (warp, ins, ins->imm, warp->mask);
  VGPU_CONTINUE (ins + 1);
}
