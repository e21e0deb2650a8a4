/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow: divergence and meeting again at post-dominators, barriers, ends. */
#include "engine/vgpu/exec/async.h"
#include "engine/vgpu/exec/control.h"
#include "engine/vgpu/exec/handlers.h"

static inline void
count_block (VgpuWarp *warp, const VgpuIns *ins)
{
  VgpuWorker *worker = warp->worker;
  worker->block_warps[ins->site]++;
  worker->block_lanes[ins->site] += (u32) __builtin_popcount (warp->mask);
  worker->instructions += (u64) ins->imm;
}

VGPU_HANDLER (BLOCK)
{
  count_block (warp, ins);
  VGPU_CONTINUE (ins + 1);
}

VGPU_HANDLER (BLOCK_MEET)
{
  if (ins->site == warp->reconverge)
    return vgpu_resume_waiting (warp);
  count_block (warp, ins);
  VGPU_CONTINUE (ins + 1);
}

VGPU_HANDLER (GUARD)
{
  const u32 mask = warp->mask;
  const u32 chosen = mask & guard_mask (warp, ins);
  if (chosen != 0)
    {
      const u32 single = warp->single;
      warp->mask = chosen;
      warp->single = 1;
      ins->guarded (warp, ins);
      warp->mask = mask;
      warp->single = single;
    }
  VGPU_CONTINUE (ins + 1);
}

static inline const VgpuIns *
branch (VgpuWarp *warp, const VgpuIns *ins)
{
  const u32 taken = warp->mask & guard_mask (warp, ins);
  if (taken == 0)
    return ins + 1;
  const VgpuIns *target = warp->kernel->code + ins->target;
  return taken == warp->mask ? target : vgpu_diverge (warp, ins, target, taken);
}

VGPU_HANDLER (BRANCH) { VGPU_CONTINUE (branch (warp, ins)); }

VGPU_HANDLER (BRANCH_BACK)
{
  const VgpuIns *next = branch (warp, ins);
  if (VGPU_UNLIKELY (--warp->worker->fuel <= 0))
    return vgpu_out_of_fuel (warp, next);
  VGPU_CONTINUE (next);
}

VGPU_HANDLER (JUMP) { VGPU_CONTINUE (warp->kernel->code + ins->target); }

VGPU_HANDLER (JUMP_BACK)
{
  const VgpuIns *next = warp->kernel->code + ins->target;
  if (VGPU_UNLIKELY (--warp->worker->fuel <= 0))
    return vgpu_out_of_fuel (warp, next);
  VGPU_CONTINUE (next);
}

VGPU_HANDLER (RETURN)
{
  warp->alive &= ~warp->mask;
  return vgpu_resume_waiting (warp);
}

VGPU_HANDLER (FENCE)
{
  __atomic_thread_fence (__ATOMIC_SEQ_CST);
  warp->worker->team->order++;
  warp->worker->proxy_fences += ins->imm != 0;
  return ins + 1;
}

VGPU_HANDLER (NOTHING) { VGPU_CONTINUE (ins + 1); }

VGPU_HANDLER (TRAP) { return vgpu_trap (warp, ins); }

VGPU_HANDLER (BARRIER) { return vgpu_barrier (warp, ins, VGPU_BARRIER_SYNC); }

VGPU_HANDLER (BARRIER_ARRIVE) { return vgpu_barrier (warp, ins, VGPU_BARRIER_ARRIVE); }

VGPU_HANDLER (BARRIER_REDUCE) { return vgpu_barrier (warp, ins, VGPU_BARRIER_REDUCE); }

VGPU_HANDLER (WARP_BARRIER) { return vgpu_warp_barrier (warp, ins); }

VGPU_HANDLER (PRINT)
{
  vgpu_print (warp, ins);
  return ins + 1;
}

VGPU_HANDLER (ASSERT_FAIL) { return vgpu_assert_fail (warp, ins); }
