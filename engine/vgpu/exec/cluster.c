/* SPDX-License-Identifier: Apache-2.0 */
/* The barrier of a cluster: PTX ISA, "barrier.cluster". It waits for all threads of all blocks of the
 * cluster that have not ended. */
#include "engine/vgpu/exec/async.h"
#include "engine/vgpu/exec/control.h"

static bool
is_complete (const VgpuTeam *team)
{
  for (uint32_t rank = 0; rank < team->count; rank++)
    for (uint32_t i = 0; i < team->mates[rank]->warp_count; i++)
      {
        const VgpuWarp *warp = &team->mates[rank]->warps[i];
        if (warp->state != VGPU_WARP_DONE && (warp->alive & ~warp->cluster_arrived) != 0)
          return false;
      }
  return true;
}

void
vgpu_cluster_recheck (VgpuTeam *team)
{
  bool anybody = false;
  for (uint32_t rank = 0; rank < team->count; rank++)
    for (uint32_t i = 0; i < team->mates[rank]->warp_count; i++)
      anybody = anybody || team->mates[rank]->warps[i].cluster_arrived != 0;
  if (!anybody || !is_complete (team))
    return;
  team->arrived = false;
  team->phase++;
  team->order++;
  team->changes++;
  for (uint32_t rank = 0; rank < team->count; rank++)
    {
      team->mates[rank]->epoch++;
      for (uint32_t i = 0; i < team->mates[rank]->warp_count; i++)
        {
          VgpuWarp *warp = &team->mates[rank]->warps[i];
          warp->cluster_arrived = 0;
          if (warp->state == VGPU_WARP_CLUSTER)
            warp->state = VGPU_WARP_READY;
        }
    }
}

void
vgpu_cluster_arrive (VgpuWarp *warp, const VgpuIns *ins)
{
  VgpuTeam *team = warp->worker->team;
  warp->cluster_arrived |= warp->mask;
  warp->cluster_phase = team->phase;
  team->arrived = true;
  team->changes++;
  vgpu_cluster_recheck (team);
}

const VgpuIns *
vgpu_cluster_wait (VgpuWarp *warp, const VgpuIns *ins)
{
  const VgpuIns *elsewhere;
  if (warp->cluster_phase != warp->worker->team->phase)
    return ins + 1;
  /* Lanes of the warp that have not come here yet must be able to arrive. */
  if (warp->mask != warp->alive)
    return vgpu_gather (warp, ins, warp->alive, &elsewhere) ? elsewhere : vgpu_stall (warp, ins);
  warp->pc = ins + 1;
  warp->state = VGPU_WARP_CLUSTER;
  return NULL;
}
