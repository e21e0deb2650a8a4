/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-ordered allocation. Memory is there at once; a stream gives it back when its turn comes. */
#include "engine/vgpu/driver/work.h"

#include "engine/vgpu/ptx/arena.h"

#include <stdlib.h>
#include <string.h>

struct CUmemPoolHandle_st
{
  uint64_t threshold; /* bytes kept for later: kept for who asks, nothing is ever held back here */
  int attributes[8];
};

static CUmemoryPool
default_pool (CUcontext context)
{
  if (context->pool == NULL)
    context->pool = vgpu_take (sizeof *context->pool);
  return context->pool;
}

CUresult
cuDeviceGetDefaultMemPool (CUmemoryPool *pool, CUdevice device)
{
  CUcontext context;
  CUresult result = pool == NULL || device != 0 ? CUDA_ERROR_INVALID_VALUE : vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  *pool = default_pool (context);
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuDeviceGetMemPool (CUmemoryPool *pool, CUdevice device)
{
  return cuDeviceGetDefaultMemPool (pool, device);
}

CUresult
cuDeviceSetMemPool (CUdevice device, CUmemoryPool pool)
{
  return pool != NULL && device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult
cuMemPoolCreate (CUmemoryPool *pool, const void *properties)
{
  if (pool == NULL || properties == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *pool = vgpu_take (sizeof **pool);
  return CUDA_SUCCESS;
}

CUresult
cuMemPoolDestroy (CUmemoryPool pool)
{
  if (pool == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  free (pool);
  return CUDA_SUCCESS;
}

CUresult
cuMemPoolTrimTo (CUmemoryPool pool, size_t bytes)
{
  (void) bytes;
  return pool != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

enum
{
  POOL_REUSE_LAST = 3, /* up to here attributes are ints */
  POOL_THRESHOLD = 4,
  POOL_RESERVED = 5, /* and what follows: bytes, now and at most */
  POOL_LAST = 8
};

CUresult
cuMemPoolSetAttribute (CUmemoryPool pool, int attribute, void *value)
{
  if (pool == NULL || value == NULL || attribute < 1 || attribute > POOL_LAST)
    return CUDA_ERROR_INVALID_VALUE;
  if (attribute <= POOL_REUSE_LAST)
    pool->attributes[attribute] = *(const int *) value;
  else if (attribute == POOL_THRESHOLD)
    pool->threshold = *(const uint64_t *) value;
  return CUDA_SUCCESS;
}

CUresult
cuMemPoolGetAttribute (CUmemoryPool pool, int attribute, void *value)
{
  CUcontext context = vgpu_current ();
  if (pool == NULL || value == NULL || attribute < 1 || attribute > POOL_LAST)
    return CUDA_ERROR_INVALID_VALUE;
  if (attribute <= POOL_REUSE_LAST)
    *(int *) value = pool->attributes[attribute];
  else if (attribute == POOL_THRESHOLD)
    *(uint64_t *) value = pool->threshold;
  else
    *(uint64_t *) value = context != NULL ? vgpu_memory_used (context->memory) : 0;
  return CUDA_SUCCESS;
}

CUresult
cuMemPoolSetAccess (CUmemoryPool pool, const void *access, size_t count)
{
  return pool != NULL && (access != NULL || count == 0) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* In a capture it becomes a node, and its address is known at once. */
static CUresult
allocate_in_graph (CUcontext context, CUdeviceptr *pointer, size_t bytes, CUstream stream)
{
  VgpuWork item;
  CUresult result = vgpu_graph_memory (context, bytes, &item);
  if (result != CUDA_SUCCESS)
    return result;
  *pointer = item.free;
  return vgpu_submit (context, stream, &item);
}

CUresult
cuMemAllocAsync (CUdeviceptr *pointer, size_t bytes, CUstream stream)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (pointer == NULL)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  if (vgpu_is_capturing (context, stream))
    return vgpu_leave (allocate_in_graph (context, pointer, bytes, stream));
  vgpu_leave (CUDA_SUCCESS);
  return cuMemAlloc_v2 (pointer, bytes);
}

CUresult
cuMemAllocFromPoolAsync (CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream)
{
  return pool == NULL ? CUDA_ERROR_INVALID_VALUE : cuMemAllocAsync (pointer, bytes, stream);
}

CUresult
cuMemFreeAsync (CUdeviceptr pointer, CUstream stream)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  const VgpuAllocation *allocation = vgpu_memory_find (context->memory, pointer);
  if (pointer == 0)
    return vgpu_leave (CUDA_SUCCESS);
  if (allocation == NULL || (allocation->freed && !allocation->graph) || allocation->lo != pointer
      || allocation->module)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  return vgpu_leave (
      vgpu_submit (context, stream, &(VgpuWork) {.kind = VGPU_WORK_FREE, .free = pointer}));
}
