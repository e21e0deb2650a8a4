/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions by which lanes see one another's registers. */
#include "engine/vgpu/check/check.h"
#include "engine/vgpu/exec/control.h"
#include "engine/vgpu/exec/handlers.h"

#include <stdio.h>

/* The lanes that any of the active ones names. */
static inline u32
all_members (const VgpuWarp *warp, s32 row)
{
  const u32 *members = VGPU_ROW (const u32, row);
  const u32 mask = warp->mask;
  u32 all = 0;
  VGPU_LANE_LOOP all |= mask >> lane & 1 ? members[lane] : 0;
  return all;
}

typedef void (*GroupWork) (VgpuWarp *warp, const VgpuIns *ins, u32 members);

/* Lanes that come to an instruction together may name different members: each set is for itself. */
static inline void
for_groups (VgpuWarp *warp, const VgpuIns *ins, s32 row, GroupWork work)
{
  const u32 *members = VGPU_ROW (const u32, row);
  const u32 mask = warp->mask;
  for (u32 left = mask; left != 0;)
    {
      const u32 named = members[__builtin_ctz (left)];
      u32 same = 0;
      VGPU_LANE_LOOP same |= (u32) (members[lane] == named) << lane;
      warp->mask = same & left;
      left &= ~same;
      work (warp, ins, named);
    }
  warp->mask = mask;
}

/* Waits for the members, or reports those that will not come. */
#define GATHER(members)                                                                            \
  if (VGPU_UNLIKELY (warp->mask != warp->alive))                                                   \
    {                                                                                              \
      const VgpuIns *elsewhere;                                                                    \
      const u32 wanted = (members);                                                                \
      if (vgpu_gather (warp, ins, wanted, &elsewhere))                                             \
        return elsewhere;                                                                          \
      vgpu_check_members (warp, ins, wanted);                                                      \
    }

static u32
poison_mask (const VgpuWarp *warp, s32 row)
{
  return (warp->checks & VGPU_CHECK_UNINIT) && row >= 0 ? warp->poison[row / VGPU_ROW_UNIT] : 0;
}

static __attribute__ ((noinline)) void
report_absent (VgpuWarp *warp, const VgpuIns *ins, int lane, int from)
{
  char text[160];
  if (!(warp->checks & VGPU_CHECK_SYNC))
    return;
  VgpuFinding finding = vgpu_finding ("sync.inactive-lane", ins, (u32) lane);
  snprintf (text, sizeof text, "lane %d reads the register of lane %d, which %s", lane, from,
            warp->alive >> from & 1 ? "takes no part in this shuffle" : "has ended");
  finding.message = text;
  vgpu_report (warp, &finding);
}

/* Source lanes as the PTX ISA defines them; returns which of them lie in their segment. */
static inline u32
source_lanes (s64 mode, const u32 *row_b, const u32 *row_c, s32 *from)
{
  s32 inside[VGPU_LANES];
  u32 result = 0;
#define EACH_LANE(SOURCE, IS_INSIDE)                                                               \
  for (s32 lane = 0; lane < VGPU_LANES; lane++)                                                    \
    {                                                                                              \
      const s32 limit = (s32) (row_c[lane] & 31), segment = (s32) (row_c[lane] >> 8 & 31);         \
      const s32 amount = (s32) (row_b[lane] & 31);                                                 \
      const s32 high = (lane & segment) | (limit & ~segment);                                      \
      const s32 source = (SOURCE);                                                                 \
      inside[lane] = (IS_INSIDE);                                                                  \
      from[lane] = inside[lane] ? source : lane;                                                   \
    }
  if (mode == 0)
    EACH_LANE (lane - amount, source >= high)
  else if (mode == 1)
    EACH_LANE (lane + amount, source <= high)
  else if (mode == 2)
    EACH_LANE (lane ^ amount, source <= high)
  else
    EACH_LANE ((lane & segment) | (amount & ~segment), source <= high)
#undef EACH_LANE
  for (int lane = 0; lane < VGPU_LANES; lane++)
    result |= (u32) (inside[lane] != 0) << lane;
  return result;
}

static __attribute__ ((noinline)) void
check_sources (VgpuWarp *warp, const VgpuIns *ins, const s32 *from)
{
  const u32 mask = warp->mask;
  for (int lane = 0; mask != VGPU_FULL && lane < VGPU_LANES; lane++)
    if ((mask >> lane & 1) && !(mask >> from[lane] & 1))
      report_absent (warp, ins, lane, from[lane]);
  if (!warp->tainted)
    return;
  const u32 doubtful = poison_mask (warp, ins->a);
  u32 poison = 0;
  for (int lane = 0; lane < VGPU_LANES; lane++)
    poison |= (doubtful >> from[lane] & 1) << lane;
  u32 *to = &warp->poison[ins->d / VGPU_ROW_UNIT];
  *to = (*to & ~mask) | (poison & mask);
  if ((poison & mask) != 0)
    warp->origin[ins->d / VGPU_ROW_UNIT] = warp->origin[ins->a / VGPU_ROW_UNIT];
}

VGPU_HANDLER (SHUFFLE)
{
  const s32 *more = warp->kernel->extra + ins->extra;
  const u32 *row_a = VGPU_ROW (const u32, ins->a);
  u32 values[VGPU_LANES];
  s32 from[VGPU_LANES];
  GATHER (all_members (warp, more[0]))
  const u32 mask = warp->mask;
  const u32 inside =
      source_lanes (ins->imm, VGPU_ROW (const u32, ins->b), VGPU_ROW (const u32, ins->c), from);
  for (int lane = 0; lane < VGPU_LANES; lane++)
    values[lane] = row_a[from[lane]];
  if (VGPU_UNLIKELY (mask != VGPU_FULL || warp->tainted))
    check_sources (warp, ins, from);
  u32 *row_d = VGPU_ROW (u32, ins->d);
  VGPU_LANE_LOOP row_d[lane] = mask >> lane & 1 ? values[lane] : row_d[lane];
  if (more[1] != INT32_MIN)
    put_mask (warp, more[1], inside);
  return ins + 1;
}

static inline void
put_words (VgpuWarp *warp, s32 row, u32 value)
{
  u32 *row_d = VGPU_ROW (u32, row);
  const u32 mask = warp->mask;
  VGPU_LANE_LOOP row_d[lane] = mask >> lane & 1 ? value : row_d[lane];
}

static void
vote_group (VgpuWarp *warp, const VgpuIns *ins, u32 members)
{
  const u32 voters = warp->mask & members;
  u32 holds = row_mask (warp, ins->a);
  if (ins->flags & VGPU_INS_NEGATED)
    holds = ~holds;
  holds &= voters;
  switch (ins->imm)
    {
    case 0:
      put_mask (warp, ins->d, holds == voters ? VGPU_FULL : 0);
      break;
    case 1:
      put_mask (warp, ins->d, holds != 0 ? VGPU_FULL : 0);
      break;
    case 2:
      put_mask (warp, ins->d, holds == 0 || holds == voters ? VGPU_FULL : 0);
      break;
    default:
      put_words (warp, ins->d, holds);
    }
}

VGPU_HANDLER (VOTE)
{
  GATHER (all_members (warp, ins->b))
  for_groups (warp, ins, ins->b, vote_group);
  return ins + 1;
}

static void
match_group (VgpuWarp *warp, const VgpuIns *ins, u32 members)
{
  const u32 voters = warp->mask & members;
  u64 values[VGPU_LANES];
  u32 results[VGPU_LANES] = {0};
  u32 all = VGPU_FULL;
  for (int lane = 0; lane < VGPU_LANES; lane++)
    values[lane] =
        ins->bytes == 8 ? VGPU_ROW (const u64, ins->a)[lane] : VGPU_ROW (const u32, ins->a)[lane];
  for (u32 left = voters; left != 0; left &= left - 1)
    {
      const int lane = __builtin_ctz (left);
      for (u32 others = voters; others != 0; others &= others - 1)
        {
          const int other = __builtin_ctz (others);
          results[lane] |= (u32) (values[other] == values[lane]) << other;
        }
      all &= results[lane] == voters ? VGPU_FULL : 0;
    }
  for (u32 left = warp->mask; left != 0; left &= left - 1)
    {
      const int lane = __builtin_ctz (left);
      VGPU_ROW (u32, ins->d)
      [lane] = ins->imm == 0 ? results[lane] : all != 0 ? voters : 0;
    }
  if (ins->c != INT32_MIN)
    put_mask (warp, ins->c, all);
}

VGPU_HANDLER (MATCH)
{
  GATHER (all_members (warp, ins->b))
  for_groups (warp, ins, ins->b, match_group);
  return ins + 1;
}

static void
redux_group (VgpuWarp *warp, const VgpuIns *ins, u32 members)
{
  const u32 *row_a = VGPU_ROW (const u32, ins->a);
  const bool is_signed = ins->flags & VGPU_INS_SIGNED;
  const u32 voters = warp->mask & members;
  if (voters == 0)
    return;
  u32 result = row_a[__builtin_ctz (voters)];
  for (u32 left = voters & (voters - 1); left != 0; left &= left - 1)
    {
      const u32 value = row_a[__builtin_ctz (left)];
      const bool less = is_signed ? (s32) value < (s32) result : value < result;
      switch (ins->imm)
        {
        case 0:
          result += value;
          break;
        case 1:
          result = less ? value : result;
          break;
        case 2:
          result = less ? result : value;
          break;
        case 3:
          result &= value;
          break;
        case 4:
          result |= value;
          break;
        default:
          result ^= value;
        }
    }
  put_words (warp, ins->d, result);
}

VGPU_HANDLER (REDUX)
{
  GATHER (all_members (warp, ins->b))
  for_groups (warp, ins, ins->b, redux_group);
  return ins + 1;
}

VGPU_HANDLER (ACTIVE_MASK)
{
  put_words (warp, ins->d, warp->mask);
  return ins + 1;
}

static void
elect_group (VgpuWarp *warp, const VgpuIns *ins, u32 members)
{
  const u32 leader =
      (u32) __builtin_ctz ((members & warp->mask) != 0 ? members & warp->mask : warp->mask);
  put_words (warp, ins->d, leader);
  if (ins->c != INT32_MIN)
    put_mask (warp, ins->c, 1u << leader);
}

VGPU_HANDLER (ELECT)
{
  GATHER (all_members (warp, ins->a))
  for_groups (warp, ins, ins->a, elect_group);
  return ins + 1;
}

/* Counts instructions: it goes up, and means no time. */
VGPU_HANDLER (CLOCK)
{
  const u64 now = warp->worker->instructions + 1;
  for (u32 left = warp->mask; left != 0; left &= left - 1)
    {
      const int lane = __builtin_ctz (left);
      if (ins->bytes == 8)
        VGPU_ROW (u64, ins->d)[lane] = now;
      else
        VGPU_ROW (u32, ins->d)[lane] = (u32) (ins->imm != 0 ? now >> 32 : now);
    }
  return ins + 1;
}
