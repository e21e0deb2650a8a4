/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: allocations, pools, the host's memory that the device may see. */
#include "engine/vgpu/driver/work.h"
#include "engine/vgpu/ptx/arena.h"

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
allocate (CUdeviceptr *pointer, size_t bytes, VgpuMemoryKind kind)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  bool track = kind == VGPU_MEMORY_DEVICE;
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
  allocation->kind = kind;
  *pointer = allocation->lo;
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuMemAlloc_v2 (CUdeviceptr *pointer, size_t bytes)
{
  return allocate (pointer, bytes, VGPU_MEMORY_DEVICE);
}

/* The host may write here unseen, so these count as initialised. */
CUresult
cuMemAllocManaged (CUdeviceptr *pointer, size_t bytes, unsigned int flags)
{
  return allocate (pointer, bytes, VGPU_MEMORY_MANAGED);
}

CUresult
cuMemHostAlloc (void **pointer, size_t bytes, unsigned int flags)
{
  CUdeviceptr address = 0;
  if (pointer == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult result = allocate (&address, bytes, VGPU_MEMORY_HOST);
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
  result = vgpu_wait_all (context);
  if (result != CUDA_SUCCESS)
    return vgpu_leave (result);
  VgpuAllocation *allocation = vgpu_memory_find (context->memory, pointer);
  if (allocation == NULL || allocation->module || allocation->kind == VGPU_MEMORY_REGISTERED
      || !vgpu_memory_release (context->memory, pointer))
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

static bool
is_host_kind (const VgpuAllocation *allocation)
{
  return allocation->kind == VGPU_MEMORY_HOST || allocation->kind == VGPU_MEMORY_REGISTERED;
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
      *(unsigned int *) data = is_host_kind (allocation) ? 1 : 2;
      break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER && allocation->kind == VGPU_MEMORY_DEVICE)
        return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
      *(CUdeviceptr *) data = pointer;
      break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *(int *) data = allocation->kind == VGPU_MEMORY_MANAGED;
      break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *(int *) data = 0;
      break;
    default:
      return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
    }
  return vgpu_leave (CUDA_SUCCESS);
}

/* Rows begin at multiples of this, as devices have it. */
#define PITCH_BYTES 512

CUresult
cuMemAllocPitch_v2 (CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height,
                    unsigned int element)
{
  if (pitch == NULL || width == 0 || height == 0 || (element != 4 && element != 8 && element != 16)
      || width > SIZE_MAX / 2 / height)
    return CUDA_ERROR_INVALID_VALUE;
  *pitch = (width + PITCH_BYTES - 1) / PITCH_BYTES * PITCH_BYTES;
  return cuMemAlloc_v2 (pointer, *pitch * height);
}

CUresult
cuMemAllocHost_v2 (void **pointer, size_t bytes)
{
  return cuMemHostAlloc (pointer, bytes, 0);
}

CUresult
cuMemHostRegister_v2 (void *pointer, size_t bytes, unsigned int flags)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  (void) flags;
  if (result != CUDA_SUCCESS)
    return result;
  if (pointer == NULL || bytes == 0)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  if (!vgpu_memory_adopt (context->memory, (uintptr_t) pointer, bytes))
    return vgpu_leave (CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuMemHostUnregister (void *pointer)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  result = vgpu_wait_all (context);
  if (result == CUDA_SUCCESS && !vgpu_memory_disown (context->memory, (uintptr_t) pointer))
    result = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  return vgpu_leave (result);
}

CUresult
cuMemHostGetFlags (unsigned int *flags, void *pointer)
{
  unsigned int type = 0;
  CUresult result =
      cuPointerGetAttribute (&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t) pointer);
  if (flags == NULL || (result == CUDA_SUCCESS && type != 1))
    return CUDA_ERROR_INVALID_VALUE;
  *flags = 2;
  return result;
}

CUresult
cuMemAdvise (CUdeviceptr pointer, size_t bytes, int advice, CUdevice device)
{
  CUdeviceptr base = 0;
  size_t size = 0;
  (void) advice;
  (void) device;
  CUresult result = cuMemGetAddressRange_v2 (&base, &size, pointer);
  if (result == CUDA_ERROR_NOT_FOUND || (result == CUDA_SUCCESS && pointer - base + bytes > size))
    return CUDA_ERROR_INVALID_VALUE;
  return result;
}

CUresult
cuMemPrefetchAsync (CUdeviceptr pointer, size_t bytes, CUdevice device, CUstream stream)
{
  (void) stream;
  return cuMemAdvise (pointer, bytes, 0, device);
}
