/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, copies; streams and events, which have nothing to do. */
#include "engine/vgpu/driver/driver.h"
#include "engine/vgpu/ptx/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

CUresult
cuMemGetInfo_v2 (size_t *free_bytes, size_t *total_bytes)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  uint64_t total = vgpu_driver.settings.target->memory_bytes;
  uint64_t used = vgpu_memory_used (context->memory);
  if (free_bytes != NULL)
    *free_bytes = used < total ? total - used : 0;
  if (total_bytes != NULL)
    *total_bytes = total;
  return vgpu_leave (CUDA_SUCCESS);
}

static CUresult
allocate (CUdeviceptr *pointer, size_t bytes, bool track)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (pointer == NULL || bytes == 0)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  uint64_t total = vgpu_driver.settings.target->memory_bytes;
  uint64_t used = vgpu_memory_used (context->memory);
  VgpuAllocation *allocation = NULL;
  if (used <= total && bytes <= total - used)
    allocation =
        vgpu_memory_allocate (context->memory, bytes, NULL,
                              track && (vgpu_driver.settings.checks & VGPU_CHECK_UNINIT) != 0);
  if (allocation == NULL)
    return vgpu_leave (CUDA_ERROR_OUT_OF_MEMORY);
  *pointer = allocation->lo;
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuMemAlloc_v2 (CUdeviceptr *pointer, size_t bytes)
{
  return allocate (pointer, bytes, true);
}

/* The host may write here unseen, so these count as initialised. */
CUresult
cuMemAllocManaged (CUdeviceptr *pointer, size_t bytes, unsigned int flags)
{
  return allocate (pointer, bytes, false);
}

CUresult
cuMemHostAlloc (void **pointer, size_t bytes, unsigned int flags)
{
  CUdeviceptr address = 0;
  if (pointer == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult result = allocate (&address, bytes, false);
  *pointer = (void *) (uintptr_t) address;
  return result;
}

CUresult
cuMemFree_v2 (CUdeviceptr pointer)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (pointer == 0)
    return vgpu_leave (CUDA_SUCCESS);
  VgpuAllocation *allocation = vgpu_memory_find (context->memory, pointer);
  if (allocation == NULL || allocation->module || !vgpu_memory_release (context->memory, pointer))
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuMemFreeHost (void *pointer)
{
  return cuMemFree_v2 ((uintptr_t) pointer);
}

CUresult
cuMemHostGetDevicePointer_v2 (CUdeviceptr *device_pointer, void *host_pointer, unsigned int flags)
{
  if (device_pointer == NULL || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  *device_pointer = (uintptr_t) host_pointer;
  return CUDA_SUCCESS;
}

CUresult
cuMemGetAddressRange_v2 (CUdeviceptr *base, size_t *bytes, CUdeviceptr pointer)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  const VgpuAllocation *allocation = vgpu_memory_find (context->memory, pointer);
  if (allocation == NULL || allocation->freed)
    return vgpu_leave (CUDA_ERROR_NOT_FOUND);
  if (base != NULL)
    *base = allocation->lo;
  if (bytes != NULL)
    *bytes = allocation->hi - allocation->lo;
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuPointerGetAttribute (void *data, CUpointer_attribute attribute, CUdeviceptr pointer)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  const VgpuAllocation *allocation = vgpu_memory_find (context->memory, pointer);
  if (data == NULL || allocation == NULL || allocation->freed)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  switch (attribute)
    {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      *(CUcontext *) data = context;
      break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *(unsigned int *) data = 2;
      break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *(CUdeviceptr *) data = pointer;
      break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *(int *) data = 0;
      break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *(int *) data = 0;
      break;
    default:
      return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
    }
  return vgpu_leave (CUDA_SUCCESS);
}

/* The live allocation that holds all of these bytes. */
static VgpuAllocation *
whole_range (CUcontext context, CUdeviceptr pointer, size_t bytes)
{
  VgpuAllocation *allocation = vgpu_memory_find (context->memory, pointer);
  if (allocation == NULL || allocation->freed || allocation->hi - pointer < bytes)
    {
      vgpu_explain ("a copy or fill of %zu bytes at 0x%llx leaves the allocation", bytes, pointer);
      return NULL;
    }
  return allocation;
}

CUresult
cuMemcpyHtoD_v2 (CUdeviceptr to, const void *from, size_t bytes)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (bytes == 0)
    return vgpu_leave (CUDA_SUCCESS);
  VgpuAllocation *allocation = whole_range (context, to, bytes);
  if (allocation == NULL || from == NULL)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  memcpy ((void *) (uintptr_t) to, from, bytes);
  vgpu_allocation_mark (allocation, to, bytes, true);
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuMemcpyDtoH_v2 (void *to, CUdeviceptr from, size_t bytes)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (bytes == 0)
    return vgpu_leave (CUDA_SUCCESS);
  if (to == NULL || whole_range (context, from, bytes) == NULL)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  memcpy (to, (const void *) (uintptr_t) from, bytes);
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuMemcpyDtoD_v2 (CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (bytes == 0)
    return vgpu_leave (CUDA_SUCCESS);
  VgpuAllocation *target = whole_range (context, to, bytes);
  VgpuAllocation *source = whole_range (context, from, bytes);
  if (target == NULL || source == NULL)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  memmove ((void *) (uintptr_t) to, (const void *) (uintptr_t) from, bytes);
  vgpu_allocation_mark (target, to, bytes, true);
  if (source->valid != NULL && target->valid != NULL)
    memmove (target->valid + (to - target->lo), source->valid + (from - source->lo), bytes);
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuMemcpyHtoDAsync_v2 (CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
  return cuMemcpyHtoD_v2 (to, from, bytes);
}

CUresult
cuMemcpyDtoHAsync_v2 (void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
  return cuMemcpyDtoH_v2 (to, from, bytes);
}

CUresult
cuMemcpyDtoDAsync_v2 (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
  return cuMemcpyDtoD_v2 (to, from, bytes);
}

static CUresult
fill (CUdeviceptr to, uint32_t value, size_t size, size_t count)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (count == 0)
    return vgpu_leave (CUDA_SUCCESS);
  VgpuAllocation *allocation =
      count <= SIZE_MAX / size ? whole_range (context, to, count * size) : NULL;
  if (allocation == NULL || to % size != 0)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  char *at = (char *) (uintptr_t) to;
  for (size_t i = 0; i < count; i++)
    memcpy (at + i * size, &value, size);
  vgpu_allocation_mark (allocation, to, count * size, true);
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuMemsetD8_v2 (CUdeviceptr to, unsigned char value, size_t count)
{
  return fill (to, value, 1, count);
}

CUresult
cuMemsetD16_v2 (CUdeviceptr to, unsigned short value, size_t count)
{
  return fill (to, value, 2, count);
}

CUresult
cuMemsetD32_v2 (CUdeviceptr to, unsigned int value, size_t count)
{
  return fill (to, value, 4, count);
}

CUresult
cuMemsetD8Async (CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
{
  return fill (to, value, 1, count);
}

CUresult
cuMemsetD32Async (CUdeviceptr to, unsigned int value, size_t count, CUstream stream)
{
  return fill (to, value, 4, count);
}

/* Streams and events are handles and nothing else: all work is done when a call returns. */

struct CUstream_st
{
  int nothing;
};

struct CUevent_st
{
  bool recorded;
};

static CUresult
look (void)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  return result != CUDA_SUCCESS ? result : vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuStreamCreate (CUstream *stream, unsigned int flags)
{
  CUresult result = look ();
  if (stream == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  if (result == CUDA_SUCCESS)
    *stream = vgpu_take (sizeof **stream);
  return result;
}

CUresult
cuStreamDestroy_v2 (CUstream stream)
{
  free (stream);
  return CUDA_SUCCESS;
}

CUresult
cuStreamSynchronize (CUstream stream)
{
  return look ();
}

CUresult
cuStreamQuery (CUstream stream)
{
  return look ();
}

CUresult
cuStreamWaitEvent (CUstream stream, CUevent event, unsigned int flags)
{
  return event == NULL ? CUDA_ERROR_INVALID_HANDLE : look ();
}

CUresult
cuLaunchHostFunc (CUstream stream, CUhostFn function, void *data)
{
  CUresult result = look ();
  if (function == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  if (result == CUDA_SUCCESS)
    function (data);
  return result;
}

CUresult
cuEventCreate (CUevent *event, unsigned int flags)
{
  CUresult result = look ();
  if (event == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  if (result == CUDA_SUCCESS)
    *event = vgpu_take (sizeof **event);
  return result;
}

CUresult
cuEventDestroy_v2 (CUevent event)
{
  free (event);
  return CUDA_SUCCESS;
}

CUresult
cuEventRecord (CUevent event, CUstream stream)
{
  if (event == NULL)
    return CUDA_ERROR_INVALID_HANDLE;
  event->recorded = true;
  return look ();
}

CUresult
cuEventSynchronize (CUevent event)
{
  return event == NULL ? CUDA_ERROR_INVALID_HANDLE : look ();
}

CUresult
cuEventQuery (CUevent event)
{
  return event == NULL ? CUDA_ERROR_INVALID_HANDLE : look ();
}

/* There is no notion of time here, and a made-up number would be taken for a speed. */
CUresult
cuEventElapsedTime (float *milliseconds, CUevent from, CUevent to)
{
  if (milliseconds == NULL || from == NULL || to == NULL || !from->recorded || !to->recorded)
    return CUDA_ERROR_INVALID_HANDLE;
  *milliseconds = NAN;
  return look ();
}
