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
