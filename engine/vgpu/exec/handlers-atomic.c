/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics, lane after lane; on global memory with the host's own atomics. */
#include "engine/vgpu/exec/async.h"
#include "engine/vgpu/exec/atomics.h"
#include "engine/vgpu/exec/handlers.h"
#include "engine/vgpu/exec/request.h"

static inline f32
as_single (u64 bits)
{
  return assay_float_from_bits ((u32) bits);
}

static inline f64
as_double (u64 bits)
{
  f64 value;
  __builtin_memcpy (&value, &bits, sizeof value);
  return value;
}

static u64
combine_integer (VgpuAtom kind, VgpuType type, u64 old, u64 b)
{
  const bool is_signed = type == VGPU_TYPE_S32 || type == VGPU_TYPE_S64;
  const bool narrow = type == VGPU_TYPE_U32 || type == VGPU_TYPE_S32;
  const s64 x = narrow ? (s64) (s32) old : (s64) old, y = narrow ? (s64) (s32) b : (s64) b;
  switch (kind)
    {
    case VGPU_ATOM_ADD:
      return old + b;
    case VGPU_ATOM_MIN:
      return is_signed ? (u64) (x < y ? x : y) : old < b ? old : b;
    case VGPU_ATOM_MAX:
      return is_signed ? (u64) (x > y ? x : y) : old > b ? old : b;
    case VGPU_ATOM_INC:
      return old >= b ? 0 : old + 1;
    case VGPU_ATOM_DEC:
      return old == 0 || old > b ? b : old - 1;
    case VGPU_ATOM_AND:
      return old & b;
    case VGPU_ATOM_OR:
      return old | b;
    case VGPU_ATOM_XOR:
      return old ^ b;
    default:
      return b;
    }
}

static f32
combine_single (VgpuAtom kind, f32 a, f32 b)
{
  return kind == VGPU_ATOM_ADD   ? a + b
         : kind == VGPU_ATOM_MIN ? least_f32 (a, b, 0)
                                 : greatest_f32 (a, b, 0);
}

static u64
combine_half (VgpuAtom kind, u64 old, u64 b, u32 count, bool bfloat)
{
  u64 result = 0;
  for (u32 i = 0; i < count; i++)
    {
      const u16 x = (u16) (old >> (16 * i)), y = (u16) (b >> (16 * i));
      const u16 value = bfloat ? bfloat_from_single (combine_single (
                            kind, assay_bfloat_to_float (x), assay_bfloat_to_float (y)))
                               : half_from_single (combine_single (kind, assay_half_to_float (x),
                                                                   assay_half_to_float (y)));
      result |= (u64) value << (16 * i);
    }
  return result;
}

static u64
combine (u32 code, u64 old, u64 b, u64 c)
{
  const VgpuAtom kind = (VgpuAtom) (code / 256);
  const VgpuType type = (VgpuType) (code % 256);
  if (kind == VGPU_ATOM_CAS)
    return old == b ? c : old;
  switch (type)
    {
    case VGPU_TYPE_F32:
      return assay_float_bits (as_single (old) + as_single (b));
    case VGPU_TYPE_F64:
      return assay_double_bits (as_double (old) + as_double (b));
    case VGPU_TYPE_F16:
    case VGPU_TYPE_F16X2:
      return combine_half (kind, old, b, type == VGPU_TYPE_F16X2 ? 2 : 1, false);
    case VGPU_TYPE_BF16:
    case VGPU_TYPE_BF16X2:
      return combine_half (kind, old, b, type == VGPU_TYPE_BF16X2 ? 2 : 1, true);
    default:
      return combine_integer (kind, type, old, b);
    }
}

/* One exchange that others may try at the same time. */
#define VGPU_DEFINE_EXCHANGE(T)                                                                    \
  static u64 exchange_##T (char *where, u32 code, u64 b, u64 c)                                    \
  {                                                                                                \
    T *place = (T *) where;                                                                        \
    T old = __atomic_load_n (place, __ATOMIC_RELAXED);                                             \
    T wanted;                                                                                      \
    do                                                                                             \
      wanted = (T) combine (code, old, b, c);                                                      \
    while (!__atomic_compare_exchange_n (place, &old, wanted, false, __ATOMIC_SEQ_CST,             \
                                         __ATOMIC_RELAXED));                                       \
    return old;                                                                                    \
  }

VGPU_DEFINE_EXCHANGE (u16)
VGPU_DEFINE_EXCHANGE (u32)
VGPU_DEFINE_EXCHANGE (u64)

static inline u64
element (const VgpuWarp *warp, s32 row, u32 bytes, int lane)
{
  return bytes == 2   ? VGPU_ROW (const u16, row)[lane]
         : bytes == 4 ? VGPU_ROW (const u32, row)[lane]
                      : VGPU_ROW (const u64, row)[lane];
}

static void
put_element (VgpuWarp *warp, s32 row, u32 bytes, int lane, u64 value)
{
  if (bytes == 2)
    VGPU_ROW (u16, row)[lane] = (u16) value;
  else if (bytes == 4)
    VGPU_ROW (u32, row)[lane] = (u32) value;
  else
    VGPU_ROW (u64, row)[lane] = value;
}

static u64
exchange (char *where, u32 bytes, u32 code, u64 b, u64 c)
{
  return bytes == 2   ? exchange_u16 (where, code, b, c)
         : bytes == 4 ? exchange_u32 (where, code, b, c)
                      : exchange_u64 (where, code, b, c);
}

/* Reads what is there and leaves it initialised. */
static void
check_valid (VgpuWarp *warp, const VgpuIns *ins, unsigned char *valid, int lane)
{
  u32 bad = 0;
  if (ins->target / 256 != VGPU_ATOM_EXCH)
    for (u32 i = 0; i < ins->bytes; i++)
      bad |= valid[i] == 0;
  __builtin_memset (valid, 0xff, ins->bytes);
  if (bad == 0)
    return;
  warp->origin[ins->d / VGPU_ROW_UNIT] = (u32) (ins - warp->kernel->code);
  warp->poison[ins->d / VGPU_ROW_UNIT] |= 1u << lane;
  warp->tainted = 1;
  vgpu_taint_used (warp, ins, ins->d, 1u << lane, "changed by an atomic");
}

static void
check_values (VgpuWarp *warp, const VgpuIns *ins, u32 mask)
{
  const s32 rows[3] = {ins->a, ins->b, ins->c};
  static const char *const uses[3] = {"used as an address", "used by an atomic",
                                      "used by an atomic"};
  for (int i = 0; i < 3; i++)
    {
      const u32 bad = rows[i] < 0 ? 0 : warp->poison[rows[i] / VGPU_ROW_UNIT] & mask;
      if (bad != 0)
        vgpu_taint_used (warp, ins, rows[i], bad, uses[i]);
    }
  warp->poison[ins->d / VGPU_ROW_UNIT] &= ~mask;
}

static void
observe (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request, const VgpuReach *reach)
{
  VgpuSite *site = &warp->worker->sites[ins->site];
  const bool shared = request->space == VGPU_SPACE_SHARED;
  if (warp->checks & VGPU_CHECK_COUNTS)
    (shared ? vgpu_count_shared : vgpu_count_global) (site, reach->shape, reach->first,
                                                      reach->relative, reach->mask, reach->bytes);
  if (shared && (warp->checks & VGPU_CHECK_RACE))
    vgpu_race_shared (warp, ins, request, reach);
  else if (!shared && (warp->checks & VGPU_CHECK_RACE_GLOBAL))
    vgpu_race_global (warp, ins, request, reach);
}

static void
observe_lanes (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request, const u64 *addresses,
               u32 good)
{
  const u64 first = addresses[__builtin_ctz (good)];
  s32 relative[VGPU_LANES] = {0};
  VgpuReach reach;
  for (u32 left = good; left != 0; left &= left - 1)
    {
      const int lane = __builtin_ctz (left);
      relative[lane] = (s32) (addresses[lane] - first);
    }
  vgpu_reach_lanes (&reach, first, relative, good, request->bytes);
  observe (warp, ins, request, &reach);
}

/* Whether all lanes hit, aligned, what the instruction hit last. */
static inline bool
is_known (const VgpuWorker *worker, const VgpuSite *site, VgpuSpace space, const u64 *addresses,
          u32 bytes, u32 align, u32 mask)
{
  const u64 lo = space == VGPU_SPACE_SHARED ? 0 : site->lo;
  const u64 hi = space == VGPU_SPACE_SHARED ? worker->shared_bytes : site->hi;
  u32 bad = 0;
  if (hi - lo < bytes)
    return false;
  for (int lane = 0; lane < VGPU_LANES; lane++)
    bad |= (u32) ((addresses[lane] - lo > hi - lo - bytes) | ((addresses[lane] & (align - 1)) != 0))
           << lane;
  return (bad & mask) == 0;
}

static u32
check_and_remember (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request,
                    const u64 *addresses, u32 mask)
{
  const u32 good = vgpu_check_lanes (warp, ins, request, addresses, mask);
  if (good == 0 || request->space == VGPU_SPACE_SHARED)
    return good;
  VgpuSite *site = &warp->worker->sites[ins->site];
  VgpuAllocation *allocation =
      vgpu_memory_find (warp->worker->launch->memory, addresses[__builtin_ctz (good)]);
  site->lo = allocation->lo;
  site->hi = allocation->hi;
  site->allocation = allocation;
  return good;
}

/* The words of all lanes, one after another. Shared memory is touched by one thread of the host only. */
#define VGPU_EACH_LANE(EXPRESSION)                                                                 \
  for (u32 left = pattern->mask; left != 0; left &= left - 1)                                      \
    {                                                                                              \
      const int lane = __builtin_ctz (left);                                                       \
      u32 *place = (u32 *) (where + pattern->relative[lane]);                                      \
      const u32 b = row_b[lane];                                                                   \
      row_d[lane] = (EXPRESSION);                                                                  \
    }

static inline u32
swap (u32 *place, u32 value)
{
  const u32 old = *place;
  *place = value;
  return old;
}

static void
exchange_words (VgpuWarp *warp, const VgpuIns *ins, char *where, const Pattern *pattern,
                bool shared)
{
  u32 *row_d = VGPU_ROW (u32, ins->d);
  const u32 *row_b = VGPU_ROW (const u32, ins->b), *row_c = VGPU_ROW (const u32, ins->c);
  const u32 code = ins->target;
  const bool adds = code == VGPU_ATOM_CODE (VGPU_ATOM_ADD, VGPU_TYPE_U32)
                    || code == VGPU_ATOM_CODE (VGPU_ATOM_ADD, VGPU_TYPE_S32);
  if (shared && adds)
    VGPU_EACH_LANE (swap (place, *place + b))
  else if (adds)
    VGPU_EACH_LANE (__atomic_fetch_add (place, b, __ATOMIC_SEQ_CST))
  else if (shared)
    VGPU_EACH_LANE (swap (place, (u32) combine (code, *place, b, row_c[lane])))
  else
    VGPU_EACH_LANE ((u32) exchange_u32 ((char *) place, code, b, row_c[lane]))
}

static bool
words_valid (const unsigned char *valid, const Pattern *pattern)
{
  u32 all = ~0u;
  for (u32 left = pattern->mask; left != 0; left &= left - 1)
    all &= *(const u32 *) (valid + pattern->relative[__builtin_ctz (left)]);
  return all == ~0u;
}

/* Words that lie where the instruction found the last ones, all of them fit to be changed. False: has done
 * nothing. */
static bool
atomic_words (VgpuWarp *warp, const VgpuIns *ins, VgpuSpace space, s64 offset, u32 mask)
{
  VgpuWorker *worker = warp->worker;
  VgpuSite *site = &worker->sites[ins->site];
  const bool shared = space == VGPU_SPACE_SHARED;
  const VgpuRequest request = {
      .space = space, .access = VGPU_ACCESS_ATOMIC, .bytes = 4, .align = 4};
  const unsigned char *valid = NULL;
  Pattern *pattern = &site->pattern;
  if (ins->bytes != 4 || warp->kernel->plain || warp->tainted)
    return false;
  build_pattern (warp, ins, offset, mask, 4, site);
  if (!is_inside (pattern, shared ? 0 : site->lo, shared ? worker->shared_bytes : site->hi, 4)
      || !is_aligned (pattern, 4))
    return false;
  if (warp->checks & VGPU_CHECK_UNINIT)
    valid = shared ? worker->shared_valid + pattern->first
            : site->allocation->valid != NULL
                ? site->allocation->valid + (pattern->first - site->lo)
                : NULL;
  if (valid != NULL && !words_valid (valid, pattern))
    return false;
  worker->strong++;
  exchange_words (warp, ins,
                  shared ? worker->shared + pattern->first : (char *) (uintptr_t) pattern->first,
                  pattern, shared);
  site->requests++;
  site->lanes += (u32) __builtin_popcount (mask);
  if (warp->checks == 0)
    return true;
  observe (warp, ins, &request, find_reach (pattern, 4));
  return true;
}

static __attribute__ ((noinline)) void
atomic (VgpuWarp *warp, const VgpuIns *ins, VgpuSpace space, s64 offset, u32 mask)
{
  VgpuWorker *worker = warp->worker;
  VgpuSite *site = &worker->sites[ins->site];
  const VgpuRequest request = {
      .space = space, .access = VGPU_ACCESS_ATOMIC, .bytes = ins->bytes, .align = ins->extra};
  const bool uninit = warp->checks & VGPU_CHECK_UNINIT;
  u64 addresses[VGPU_LANES];
  VgpuWorker *owners[VGPU_LANES];
  if (atomic_words (warp, ins, space, offset, mask))
    return;
  worker->strong++;
  if (uninit)
    check_values (warp, ins, mask);
  pattern_addresses (warp, ins, offset, addresses);
  u32 abroad = 0;
  if (space == VGPU_SPACE_SHARED)
    for (int lane = 0; lane < VGPU_LANES; lane++)
      {
        owners[lane] = vgpu_shared_owner (warp, &addresses[lane]);
        abroad |= (u32) (owners[lane] != worker) << lane;
      }
  const u32 good = is_known (worker, site, space, addresses, ins->bytes, ins->extra, mask)
                       ? mask
                       : check_and_remember (warp, ins, &request, addresses, mask);
  for (u32 left = mask; left != 0; left &= left - 1)
    {
      const int lane = __builtin_ctz (left);
      if (!(good >> lane & 1))
        {
          put_element (warp, ins->d, ins->bytes, lane, 0);
          continue;
        }
      char *where = space == VGPU_SPACE_SHARED ? owners[lane]->shared + addresses[lane]
                                               : (char *) (uintptr_t) addresses[lane];
      if (uninit && space == VGPU_SPACE_SHARED)
        check_valid (warp, ins, owners[lane]->shared_valid + addresses[lane], lane);
      else if (uninit)
        {
          VgpuAllocation *allocation = vgpu_memory_find (worker->launch->memory, addresses[lane]);
          site->allocation = allocation;
          if (allocation->valid != NULL)
            check_valid (warp, ins, allocation->valid + (addresses[lane] - allocation->lo), lane);
        }
      const u64 old =
          exchange (where, ins->bytes, ins->target, element (warp, ins->b, ins->bytes, lane),
                    element (warp, ins->c, ins->bytes, lane));
      put_element (warp, ins->d, ins->bytes, lane, old);
    }
  site->requests++;
  site->lanes += (u32) __builtin_popcount (good);
  if ((warp->checks & VGPU_CHECK_RACE) && (good & abroad) != 0)
    for (u32 left = good & abroad; left != 0; left &= left - 1)
      {
        const int lane = __builtin_ctz (left);
        vgpu_neighbours_touch (warp, ins, &request, owners[lane], (u32) lane, addresses[lane]);
      }
  if (warp->checks != 0 && (good & ~abroad) != 0)
    observe_lanes (warp, ins, &request, addresses, good & ~abroad);
}

VGPU_HANDLER (ATOM_GLOBAL)
{
  atomic (warp, ins, VGPU_SPACE_GLOBAL, ins->imm, warp->mask);
  VGPU_CONTINUE (ins + 1);
}

VGPU_HANDLER (ATOM_SHARED)
{
  atomic (warp, ins, VGPU_SPACE_SHARED, ins->imm, warp->mask);
  VGPU_CONTINUE (ins + 1);
}

VGPU_HANDLER (ATOM_GENERIC)
{
  const u64 *base = VGPU_ROW (const u64, ins->a);
  u32 shared = 0;
  for (int lane = 0; lane < VGPU_LANES; lane++)
    shared |= (u32) (((base[lane] + (u64) ins->imm) & VGPU_WINDOW_MASK) == VGPU_WINDOW_SHARED)
              << lane;
  const u32 here = warp->mask & shared, elsewhere = warp->mask & ~shared;
  if (here != 0)
    atomic (warp, ins, VGPU_SPACE_SHARED, ins->imm - (s64) VGPU_WINDOW_SHARED, here);
  if (elsewhere != 0)
    atomic (warp, ins, VGPU_SPACE_GLOBAL, ins->imm, elsewhere);
  VGPU_CONTINUE (ins + 1);
}
