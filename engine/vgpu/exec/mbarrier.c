/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers in shared memory: PTX ISA, "mbarrier". The 64 bits are opaque to programs; here they hold,
 * from below, how many arrivals a phase expects, how many are still pending, the bytes still to come,
 * and the parity of the phase. */
#include "engine/vgpu/exec/async.h"

#include "engine/vgpu/check/check.h"
#include "engine/vgpu/exec/control.h"

#include <stdio.h>
#include <string.h>

#define COUNT_BITS 20
#define COUNT_MOST ((1 << COUNT_BITS) - 1)
#define BYTES_BITS 23

typedef struct
{
  uint32_t expected, pending;
  int32_t bytes; /* may be below zero for a while: what came before it was announced */
  uint32_t parity;
} State;

static State
unpack (uint64_t word)
{
  State state = {
      .expected = (uint32_t) word & COUNT_MOST,
      .pending = (uint32_t) (word >> COUNT_BITS) & COUNT_MOST,
      .bytes = (int32_t) (uint32_t) (word >> (2 * COUNT_BITS) << 9) >> 9,
      .parity = (uint32_t) (word >> 63),
  };
  return state;
}

static uint64_t
pack (const State *state)
{
  return state->expected | (uint64_t) state->pending << COUNT_BITS
         | (uint64_t) ((uint32_t) state->bytes & ((1u << BYTES_BITS) - 1)) << (2 * COUNT_BITS)
         | (uint64_t) state->parity << 63;
}

static uint64_t
lane_address (const VgpuWarp *warp, const VgpuIns *ins, uint32_t lane)
{
  const char *row = warp->base[(uint32_t) ins->a >> 31] + ins->a;
  if (ins->flags & VGPU_INS_WIDE_ADDRESS)
    return ((const uint64_t *) row)[lane] + (uint64_t) ins->imm;
  return ((const uint32_t *) row)[lane] + (uint32_t) ins->imm;
}

static uint32_t
word_of (const VgpuWarp *warp, int32_t row, uint32_t lane)
{
  return ((const uint32_t *) (warp->base[(uint32_t) row >> 31] + row))[lane];
}

static uint64_t
wide_of (const VgpuWarp *warp, int32_t row, uint32_t lane)
{
  return ((const uint64_t *) (warp->base[(uint32_t) row >> 31] + row))[lane];
}

bool
vgpu_shared_place (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, uint64_t address,
                   uint32_t bytes, uint32_t align, VgpuSharedPlace *place)
{
  if ((address & VGPU_WINDOW_MASK) == VGPU_WINDOW_SHARED)
    address -= VGPU_WINDOW_SHARED;
  place->worker = vgpu_shared_owner (warp, &address);
  place->offset = address;
  uint64_t addresses[VGPU_LANES];
  const VgpuRequest request = {
      .space = VGPU_SPACE_SHARED, .access = VGPU_ACCESS_ATOMIC, .bytes = bytes, .align = align};
  addresses[lane] = place->offset;
  return vgpu_check_lanes (warp, ins, &request, addresses, 1u << lane) != 0;
}

static uint64_t *
storage (const VgpuSharedPlace *place)
{
  return (uint64_t *) (place->worker->shared + place->offset);
}

/* What one block does to its own shared memory is checked like any other access; the making and the end
 * of a barrier are plain writes, all else is atomic. */
static void
watch (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, const VgpuSharedPlace *place,
       VgpuAccess access)
{
  const VgpuRequest request = {
      .space = VGPU_SPACE_SHARED, .access = access, .bytes = 8, .align = 8};
  int32_t relative[VGPU_LANES] = {0};
  VgpuReach reach;
  vgpu_reach_lanes (&reach, place->offset, relative, 1u << lane, 8);
  if ((warp->checks & VGPU_CHECK_RACE) && place->worker == warp->worker)
    vgpu_race_shared (warp, ins, &request, &reach);
  else if (warp->checks & VGPU_CHECK_RACE)
    vgpu_neighbours_touch (warp, ins, &request, place->worker, lane, place->offset);
}

static void
complain (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, const char *message)
{
  VgpuFinding finding = vgpu_finding ("sync.mbarrier-misused", ins, lane);
  finding.message = message;
  vgpu_report (warp, &finding);
}

/* Ends the phase when nothing is pending any more. Whoever sees the end of a phase comes after all that
 * led to it, for the race checks as after a barrier of the block. */
static void
settle (const VgpuSharedPlace *place, State *state)
{
  VgpuTeam *team = place->worker->team;
  team->changes++;
  if (state->pending == 0 && state->bytes == 0)
    {
      team->order++;
      state->parity ^= 1;
      state->pending = state->expected;
      for (uint32_t i = 0; i < team->count; i++)
        team->mates[i]->epoch++;
    }
  *storage (place) = pack (state);
}

static bool
is_made (const VgpuSharedPlace *place)
{
  /* Memory that nobody wrote is all ones, which no barrier is: its parts would be out of range. */
  return *storage (place) != UINT64_MAX;
}

static bool
find_barrier (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, VgpuSharedPlace *place,
              State *state)
{
  if (!vgpu_shared_place (warp, ins, lane, lane_address (warp, ins, lane), 8, 8, place))
    return false;
  if (!is_made (place))
    {
      complain (warp, ins, lane,
                "no barrier is here: mbarrier.init has not been executed, or "
                "mbarrier.inval has");
      return false;
    }
  *state = unpack (*storage (place));
  return true;
}

static void
make (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, uint32_t count)
{
  VgpuSharedPlace place;
  if (!vgpu_shared_place (warp, ins, lane, lane_address (warp, ins, lane), 8, 8, &place))
    return;
  if (count == 0 || count > COUNT_MOST)
    {
      complain (warp, ins, lane, "a barrier for no threads, or for more than 1048575");
      return;
    }
  State state = {.expected = count, .pending = count};
  watch (warp, ins, lane, &place, VGPU_ACCESS_WRITE);
  *storage (&place) = pack (&state);
  place.worker->team->changes++;
  if (place.worker->shared_valid != NULL)
    memset (place.worker->shared_valid + place.offset, 0xff, 8);
}

void
vgpu_mbarrier_change (VgpuWarp *warp, const VgpuIns *ins)
{
  for (uint32_t left = warp->mask; left != 0; left &= left - 1)
    {
      uint32_t lane = (uint32_t) __builtin_ctz (left);
      uint32_t count = word_of (warp, ins->b, lane);
      VgpuSharedPlace place;
      State state;
      if (ins->target == VGPU_MBARRIER_INIT)
        {
          make (warp, ins, lane, count);
          continue;
        }
      if (!find_barrier (warp, ins, lane, &place, &state))
        continue;
      if (ins->target == VGPU_MBARRIER_INVAL)
        {
          watch (warp, ins, lane, &place, VGPU_ACCESS_WRITE);
          *storage (&place) = UINT64_MAX;
          continue;
        }
      watch (warp, ins, lane, &place, VGPU_ACCESS_ATOMIC);
      state.bytes += ins->target == VGPU_MBARRIER_EXPECT ? (int32_t) count : -(int32_t) count;
      settle (&place, &state);
    }
}

void
vgpu_mbarrier_complete (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane,
                        const VgpuSharedPlace *place, uint32_t bytes)
{
  if (!is_made (place))
    {
      complain (warp, ins, lane, "the copy completes on what is no barrier");
      return;
    }
  State state = unpack (*storage (place));
  state.bytes -= (int32_t) bytes;
  settle (place, &state);
}

static void
arrive (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, const VgpuSharedPlace *place,
        State *state, uint32_t count)
{
  if (count > state->pending)
    {
      char text[160];
      snprintf (text, sizeof text,
                "%u arrivals where the phase of this barrier expects only %u "
                "more of %u",
                count, state->pending, state->expected);
      complain (warp, ins, lane, text);
      count = state->pending;
    }
  state->pending -= count;
  settle (place, state);
}

void
vgpu_mbarrier_arrive (VgpuWarp *warp, const VgpuIns *ins)
{
  for (uint32_t left = warp->mask; left != 0; left &= left - 1)
    {
      uint32_t lane = (uint32_t) __builtin_ctz (left);
      uint32_t operand = word_of (warp, ins->b, lane);
      uint32_t count = ins->target & VGPU_ARRIVE_EXPECTS ? 1 : operand;
      VgpuSharedPlace place;
      State state;
      uint64_t *d = (uint64_t *) (warp->base[0] + ins->d) + lane;
      if (!find_barrier (warp, ins, lane, &place, &state))
        continue;
      watch (warp, ins, lane, &place, VGPU_ACCESS_ATOMIC);
      *d = pack (&state);
      if (ins->target & VGPU_ARRIVE_EXPECTS)
        state.bytes += (int32_t) operand;
      if (ins->target & VGPU_ARRIVE_DROPS)
        state.expected -= count < state.expected ? count : state.expected;
      arrive (warp, ins, lane, &place, &state, count);
    }
  if (warp->tainted)
    warp->poison[ins->d / VGPU_ROW_UNIT] &= ~warp->mask;
}

void
vgpu_mbarrier_pending (VgpuWarp *warp, const VgpuIns *ins)
{
  for (uint32_t left = warp->mask; left != 0; left &= left - 1)
    {
      uint32_t lane = (uint32_t) __builtin_ctz (left);
      ((uint32_t *) (warp->base[0] + ins->d))[lane] = unpack (wide_of (warp, ins->a, lane)).pending;
    }
}

/* Copies are made when they are asked for, so that those of the thread are complete by now. */
void
vgpu_copy_arrive (VgpuWarp *warp, const VgpuIns *ins)
{
  vgpu_copies_wait (warp, 0, true);
  for (uint32_t left = warp->mask; left != 0; left &= left - 1)
    {
      uint32_t lane = (uint32_t) __builtin_ctz (left);
      VgpuSharedPlace place;
      State state;
      if (!find_barrier (warp, ins, lane, &place, &state))
        continue;
      watch (warp, ins, lane, &place, VGPU_ACCESS_ATOMIC);
      /* Without .noinc the arrival is one that was added just before. */
      if (ins->target != 0)
        arrive (warp, ins, lane, &place, &state, 1);
    }
}

static bool
is_over (const VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, const VgpuSharedPlace *place)
{
  uint32_t parity = ins->target != 0 ? word_of (warp, ins->b, lane) & 1
                                     : unpack (wide_of (warp, ins->b, lane)).parity;
  return unpack (*storage (place)).parity != parity;
}

const VgpuIns *
vgpu_mbarrier_wait (VgpuWarp *warp, const VgpuIns *ins)
{
  uint32_t over = 0;
  for (uint32_t left = warp->mask; left != 0; left &= left - 1)
    {
      uint32_t lane = (uint32_t) __builtin_ctz (left);
      VgpuSharedPlace place;
      State state;
      if (!find_barrier (warp, ins, lane, &place, &state))
        {
          over |= 1u << lane;
          continue;
        }
      if (!is_over (warp, ins, lane, &place))
        vgpu_bulk_finish (place.worker->team, &place);
      watch (warp, ins, lane, &place, VGPU_ACCESS_ATOMIC);
      over |= (uint32_t) is_over (warp, ins, lane, &place) << lane;
    }
  uint32_t *row = (uint32_t *) (warp->base[0] + ins->d);
  *row = (*row & ~warp->mask) | over;
  if (warp->tainted)
    warp->poison[ins->d / VGPU_ROW_UNIT] &= ~warp->mask;
  return over == warp->mask ? ins + 1 : vgpu_stall (warp, ins + 1);
}
