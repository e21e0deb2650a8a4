/* SPDX-License-Identifier: Apache-2.0 */
/* How many blocks fit, by threads and shared memory. Registers are ptxas's affair and not counted. */
#include "engine/vgpu/driver/driver.h"

static uint32_t
blocks_per_sm (CUfunction function, int block_size, size_t dynamic_shared)
{
  AssayLaunch launch = {.grid = {1, 1, 1},
                        .block = {(uint32_t) block_size, 1, 1},
                        .static_shared = function->kernel->static_shared,
                        .dynamic_shared = (uint32_t) dynamic_shared,
                        .dynamic_shared_limit = function->max_dynamic_shared};
  return (uint32_t) assay_launch_blocks_per_sm (vgpu_driver.settings.target, &launch);
}

CUresult
cuOccupancyMaxActiveBlocksPerMultiprocessor (int *blocks, CUfunction function, int block_size,
                                             size_t dynamic_shared)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (blocks == NULL || function == NULL || block_size <= 0)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  *blocks = (int) blocks_per_sm (function, block_size, dynamic_shared);
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags (int *blocks, CUfunction function,
                                                      int block_size, size_t dynamic_shared,
                                                      unsigned int flags)
{
  (void) flags;
  return cuOccupancyMaxActiveBlocksPerMultiprocessor (blocks, function, block_size, dynamic_shared);
}

/* The block size with the most resident threads, the largest of several; whole warps only. */
CUresult
cuOccupancyMaxPotentialBlockSizeWithFlags (int *grid_size, int *block_size, CUfunction function,
                                           CUoccupancyB2DSize shared_of, size_t dynamic_shared,
                                           int limit, unsigned int flags)
{
  CUcontext context;
  int most = 0;
  (void) flags;
  CUresult result = cuFuncGetAttribute (&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
  if (result == CUDA_SUCCESS)
    result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (grid_size == NULL || block_size == NULL)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  uint32_t best_threads = 0;
  int step = (int) vgpu_driver.settings.target->warp_size;
  *grid_size = *block_size = 0;
  if (limit > 0 && limit < most)
    most = limit;
  for (int size = (most + step - 1) / step * step; size > 0; size -= step)
    {
      int threads = size < most ? size : most;
      size_t shared = shared_of != NULL ? shared_of (threads) : dynamic_shared;
      uint32_t blocks = blocks_per_sm (function, threads, shared);
      if (blocks * (uint32_t) threads <= best_threads)
        continue;
      best_threads = blocks * (uint32_t) threads;
      *block_size = threads;
      *grid_size = (int) (blocks * vgpu_driver.settings.target->sm_count);
    }
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuOccupancyMaxPotentialBlockSize (int *grid_size, int *block_size, CUfunction function,
                                  CUoccupancyB2DSize shared_of, size_t dynamic_shared, int limit)
{
  return cuOccupancyMaxPotentialBlockSizeWithFlags (grid_size, block_size, function, shared_of,
                                                    dynamic_shared, limit, 0);
}

CUresult
cuOccupancyAvailableDynamicSMemPerBlock (size_t *bytes, CUfunction function, int blocks,
                                         int block_size)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (bytes == NULL || function == NULL || blocks <= 0 || block_size <= 0)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  const AssayTargetLimits *target = vgpu_driver.settings.target;
  uint64_t share = target->shared_per_sm / (uint32_t) blocks;
  uint64_t fixed = (uint64_t) target->shared_reserved + function->kernel->static_shared;
  uint64_t most = function->max_dynamic_shared > 0
                      ? function->max_dynamic_shared
                      : target->shared_per_block - function->kernel->static_shared;
  *bytes = share > fixed ? share - fixed : 0;
  if (*bytes > most)
    *bytes = most;
  return vgpu_leave (CUDA_SUCCESS);
}
