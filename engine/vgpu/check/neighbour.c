/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory of a cluster: two blocks that touch a word of it, one of them writing, and no order between
 * them. What orders blocks is the barrier of the cluster, the end of a phase of a barrier in shared memory,
 * and whatever goes with a fence or a strong access, of which all are taken to order everything: what
 * is reported is a race, what is not may be one. */
#include "engine/vgpu/check/check.h"
#include "engine/vgpu/exec/async.h"
#include "engine/vgpu/ptx/arena.h"

#include <stdio.h>

#define SEVERAL 0xff

/* The last touch of one kind. */
typedef struct
{
  uint32_t order; /* of the team, when it was */
  uint16_t thread;
  uint8_t rank; /* or SEVERAL */
  bool strong;
  uint32_t ins;
} Touch;

struct VgpuNeighbourCell
{
  Touch write, read;
};

static bool
is_other (const Touch *touch, const VgpuWarp *warp)
{
  return touch->order == warp->worker->team->order && touch->rank != (uint8_t) warp->worker->rank;
}

static void
report (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request, uint32_t lane,
        const Touch *other, const VgpuWorker *owner, bool other_writes)
{
  char text[240];
  VgpuFinding finding = vgpu_finding ("race.shared", ins, lane);
  snprintf (
      text, sizeof text,
      "a word of block %u's shared memory, in its cluster, is %s here and %s by another block "
      "without a barrier of the cluster between them",
      owner->rank, request->access == VGPU_ACCESS_READ ? "read" : "written",
      other_writes ? "written" : "read");
  finding.message = text;
  finding.request = request;
  finding.other_location = warp->kernel->code[other->ins].location;
  finding.other_thread = other->thread;
  vgpu_report (warp, &finding);
}

static void
note (Touch *touch, const VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, bool strong)
{
  uint8_t rank = (uint8_t) warp->worker->rank;
  bool several = touch->order == warp->worker->team->order && touch->rank != rank;
  *touch = (Touch) {.order = warp->worker->team->order,
                    .thread = (uint16_t) (warp->index * VGPU_LANES + lane),
                    .rank = several ? SEVERAL : rank,
                    .strong = strong,
                    .ins = (uint32_t) (ins - warp->kernel->code)};
}

void
vgpu_neighbours_touch (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request,
                       VgpuWorker *owner, uint32_t lane, uint64_t offset)
{
  bool strong = request->access == VGPU_ACCESS_ATOMIC || (ins->flags & VGPU_INS_STRONG) != 0;
  bool reads = request->access == VGPU_ACCESS_READ;
  if (owner->neighbours == NULL)
    owner->neighbours = vgpu_take ((owner->shared_bytes / 4 + 2) * sizeof *owner->neighbours);
  for (uint64_t word = offset / 4; word * 4 < offset + request->bytes; word++)
    {
      VgpuNeighbourCell *cell = &owner->neighbours[word];
      if (is_other (&cell->write, warp) && !(strong && cell->write.strong))
        report (warp, ins, request, lane, &cell->write, owner, true);
      else if (!reads && is_other (&cell->read, warp) && !(strong && cell->read.strong))
        report (warp, ins, request, lane, &cell->read, owner, false);
      note (reads ? &cell->read : &cell->write, warp, ins, lane, strong);
    }
  /* Who reads strongly may learn from it what others have done. */
  if (strong && request->access == VGPU_ACCESS_READ)
    warp->worker->team->order++;
}

void
vgpu_neighbours_own (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request,
                     const VgpuReach *reach)
{
  for (uint32_t left = reach->mask; left != 0; left &= left - 1)
    {
      uint32_t lane = (uint32_t) __builtin_ctz (left);
      vgpu_neighbours_touch (warp, ins, request, warp->worker, lane,
                             reach->first + (uint64_t) (int64_t) reach->relative[lane]);
    }
}
