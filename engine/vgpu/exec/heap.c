/* SPDX-License-Identifier: Apache-2.0 */
/* malloc and free of device code. Kernels that use them run on one thread. */
#include "engine/target/cuda-abi.h"
#include "engine/vgpu/check/check.h"
#include "engine/vgpu/exec/control.h"

#include <stdio.h>

static uint64_t *
wide_row (const VgpuWarp *warp, int32_t row)
{
  return (uint64_t *) (warp->base[(uint32_t) row >> 31] + row);
}

const VgpuIns *
vgpu_heap_take (VgpuWarp *warp, const VgpuIns *ins)
{
  VgpuMemory *memory = warp->worker->launch->memory;
  const uint64_t *sizes = wide_row (warp, ins->a);
  uint64_t *to = wide_row (warp, ins->d);
  for (uint32_t left = warp->mask; left != 0; left &= left - 1)
    {
      int lane = __builtin_ctz (left);
      VgpuAllocation *taken =
          vgpu_memory_heap_take (memory, sizes[lane], (warp->checks & VGPU_CHECK_UNINIT) != 0);
      to[lane] = taken != NULL ? taken->lo : 0;
    }
  return ins + 1;
}

const VgpuIns *
vgpu_heap_free (VgpuWarp *warp, const VgpuIns *ins)
{
  VgpuMemory *memory = warp->worker->launch->memory;
  const uint64_t *pointers = wide_row (warp, ins->a);
  for (uint32_t left = warp->mask; left != 0; left &= left - 1)
    {
      int lane = __builtin_ctz (left);
      char text[160];
      if (pointers[lane] == 0 || vgpu_memory_heap_free (memory, pointers[lane]))
        continue;
      const VgpuAllocation *allocation = vgpu_memory_find (memory, pointers[lane]);
      bool again = allocation != NULL && allocation->freed && allocation->lo == pointers[lane];
      VgpuFinding finding =
          vgpu_finding (again ? "mem.use-after-free" : "mem.out-of-bounds", ins, (uint32_t) lane);
      snprintf (text, sizeof text,
                again ? "frees 0x%llx, which has been freed before"
                      : "frees 0x%llx, which device malloc never gave",
                (unsigned long long) pointers[lane]);
      finding.message = text;
      vgpu_report (warp, &finding);
      vgpu_fault (warp, CUDA_ERROR_LAUNCH_FAILED, false);
    }
  return ins + 1;
}
