/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous copies and products of warp groups read shared memory past the way that ordinary stores take:
 * between the two lies a fence.proxy.async. Every 16 bytes remember how many of these there had been in the
 * block when somebody last stored there. */
#include "engine/vgpu/check/check.h"
#include "engine/vgpu/ptx/arena.h"
#include "engine/vgpu/ptx/operation.h"

#define GRAIN 16

void
vgpu_proxy_written (VgpuWarp *warp, const VgpuIns *ins, const VgpuReach *reach)
{
  VgpuWorker *worker = warp->worker;
  /* Asynchronous copies go the other way themselves; those of threads (cp.async) are on neither side for
   * certain. */
  if (ins->op == VGPU_OP_COPY_ASYNC || ins->op == VGPU_OP_BULK_COPY
      || ins->op == VGPU_OP_BULK_TENSOR || ins->op == VGPU_OP_STORE_ASYNC)
    return;
  if (worker->generic == NULL)
    worker->generic = vgpu_take ((worker->shared_bytes / GRAIN + 2) * sizeof *worker->generic);
  for (uint32_t i = 0; i < reach->count; i++)
    {
      uint64_t from = reach->first + (uint64_t) (int64_t) reach->runs[i].from;
      for (uint64_t at = from / GRAIN; at * GRAIN < from + reach->runs[i].bytes; at++)
        worker->generic[at] = worker->proxy_fences;
    }
}

void
vgpu_proxy_forget (VgpuWorker *worker)
{
  /* What an earlier block stored is older than any fence. */
  worker->proxy_fences++;
}

void
vgpu_proxy_read (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, const VgpuWorker *owner,
                 uint64_t offset, uint64_t bytes)
{
  if (owner->generic == NULL)
    return;
  for (uint64_t at = offset / GRAIN; at * GRAIN < offset + bytes; at++)
    if (owner->generic[at] == owner->proxy_fences)
      {
        VgpuFinding finding = vgpu_finding ("race.async-copy", ins, lane);
        finding.message = "reads asynchronously what stores have written to shared memory, and no "
                          "fence.proxy.async lies between";
        vgpu_report (warp, &finding);
        return;
      }
}
