/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/vgpu/exec/async.h"
#include "engine/vgpu/exec/handlers.h"

VGPU_HANDLER (MBARRIER_CHANGE)
{
  vgpu_mbarrier_change (warp, ins);
  return ins + 1;
}

VGPU_HANDLER (MBARRIER_ARRIVE)
{
  vgpu_mbarrier_arrive (warp, ins);
  return ins + 1;
}

VGPU_HANDLER (MBARRIER_PENDING)
{
  vgpu_mbarrier_pending (warp, ins);
  return ins + 1;
}

VGPU_HANDLER (MBARRIER_WAIT) { return vgpu_mbarrier_wait (warp, ins); }

VGPU_HANDLER (CLUSTER_ARRIVE)
{
  vgpu_cluster_arrive (warp, ins);
  return ins + 1;
}

VGPU_HANDLER (CLUSTER_WAIT) { return vgpu_cluster_wait (warp, ins); }

/* Addresses of one's own block become those by which the block of rank b has the same variable. */
VGPU_HANDLER (MAP_ADDRESS)
{
  const u32 *ranks = VGPU_ROW (const u32, ins->b);
  const u32 count = warp->worker->team->count;
  const u64 own = ((u64) 1 << VGPU_RANK_SHIFT) - 1;
  for (u32 left = warp->mask; left != 0; left &= left - 1)
    {
      const int lane = __builtin_ctz (left);
      /* A rank that is not there gives an address that no access gets through. */
      const u64 rank = ranks[lane] < count ? ranks[lane] + 1 : 0xf0;
      if (ins->bytes == 4)
        VGPU_ROW (u32, ins->d)
      [lane] = (u32) ((VGPU_ROW (const u32, ins->a)[lane] & own) | rank << VGPU_RANK_SHIFT);
      else
      {
        const u64 address = VGPU_ROW (const u64, ins->a)[lane];
        VGPU_ROW (u64, ins->d)
        [lane] = (address & (VGPU_WINDOW_MASK | own)) | rank << VGPU_RANK_SHIFT;
      }
    }
  return ins + 1;
}

VGPU_HANDLER (FIND_RANK)
{
  for (u32 left = warp->mask; left != 0; left &= left - 1)
    {
      const int lane = __builtin_ctz (left);
      const u64 address =
          ins->bytes == 4 ? VGPU_ROW (const u32, ins->a)[lane] : VGPU_ROW (const u64, ins->a)[lane];
      const u32 rank = (u32) (address & ~VGPU_WINDOW_MASK) >> VGPU_RANK_SHIFT;
      VGPU_ROW (u32, ins->d)[lane] = rank == 0 ? warp->worker->rank : rank - 1;
    }
  return ins + 1;
}

VGPU_HANDLER (COPY_ARRIVE)
{
  vgpu_copy_arrive (warp, ins);
  return ins + 1;
}

VGPU_HANDLER (BULK_COPY)
{
  vgpu_bulk_copy (warp, ins);
  return ins + 1;
}

VGPU_HANDLER (BULK_TENSOR)
{
  vgpu_bulk_tensor (warp, ins);
  return ins + 1;
}

VGPU_HANDLER (BULK_COMMIT)
{
  vgpu_bulk_commit (warp);
  return ins + 1;
}

VGPU_HANDLER (BULK_WAIT)
{
  vgpu_bulk_wait (warp, (u32) ins->imm);
  return ins + 1;
}

VGPU_HANDLER (STORE_ASYNC)
{
  vgpu_store_async (warp, ins);
  return ins + 1;
}
