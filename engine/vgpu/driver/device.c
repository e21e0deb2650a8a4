/* SPDX-License-Identifier: Apache-2.0 */
/* Further questions about the device and its context. */
#include "engine/vgpu/driver/work.h"

#include <stdio.h>
#include <string.h>

#define BUS_ID "0000:01:00.0"
#define LIMIT_HEAP 2 /* of device malloc */

static CUresult
check_device (CUdevice device)
{
  int count;
  CUresult result = cuDeviceGetCount (&count);
  return result != CUDA_SUCCESS ? result : device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult
cuGetProcAddress (const char *symbol, void **function, int cuda_version, uint64_t flags)
{
  return cuGetProcAddress_v2 (symbol, function, cuda_version, flags, NULL);
}

CUresult
cuDeviceGetUuid (CUuuid *uuid, CUdevice device)
{
  return cuDeviceGetUuid_v2 (uuid, device);
}

CUresult
cuDeviceComputeCapability (int *major, int *minor, CUdevice device)
{
  if (major == NULL || minor == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult result =
      cuDeviceGetAttribute (major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  return result != CUDA_SUCCESS
             ? result
             : cuDeviceGetAttribute (minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}

CUresult
cuDeviceCanAccessPeer (int *can, CUdevice device, CUdevice peer)
{
  if (can == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *can = 0; /* there is no other device */
  CUresult result = check_device (device);
  return result != CUDA_SUCCESS ? result : check_device (peer);
}

CUresult
cuDeviceGetPCIBusId (char *text, int length, CUdevice device)
{
  if (text == NULL || length < (int) sizeof BUS_ID)
    return CUDA_ERROR_INVALID_VALUE;
  snprintf (text, (size_t) length, "%s", BUS_ID);
  return check_device (device);
}

CUresult
cuDeviceGetByPCIBusId (CUdevice *device, const char *text)
{
  if (device == NULL || text == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *device = 0;
  return strcmp (text, BUS_ID) == 0 ? check_device (0) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult
cuDevicePrimaryCtxSetFlags_v2 (CUdevice device, unsigned int flags)
{
  (void) flags;
  return check_device (device);
}

/* As CUDA 13 has it: parameters that ask for part of a device are not there. */
CUresult
cuCtxCreate_v4 (CUcontext *context, const AssayContextParameters *parameters, unsigned int flags,
                CUdevice device)
{
  if (parameters != NULL && (parameters->affinity_count > 0 || parameters->graphics != NULL))
    return CUDA_ERROR_NOT_SUPPORTED;
  return cuCtxCreate_v2 (context, flags, device);
}

CUresult
cuEventElapsedTime_v2 (float *milliseconds, CUevent from, CUevent to)
{
  return cuEventElapsedTime (milliseconds, from, to);
}

CUresult
cuCtxGetApiVersion (CUcontext context, unsigned int *version)
{
  (void) context;
  if (version == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *version = 13000;
  return CUDA_SUCCESS;
}

CUresult
cuCtxGetFlags (unsigned int *flags)
{
  if (flags == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *flags = 0;
  return vgpu_current () != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/* What a device begins with: stack, printf buffer, heap, and those of device-side launches. */
static const size_t first_limits[VGPU_LIMITS] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0, 0};

CUresult
cuCtxGetLimit (size_t *value, int limit)
{
  CUcontext context;
  if (value == NULL || limit < 0 || limit >= VGPU_LIMITS)
    return limit < VGPU_LIMITS ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_UNSUPPORTED_LIMIT;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  *value = context->limits[limit] > 0 ? context->limits[limit] : first_limits[limit];
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuCtxSetLimit (int limit, size_t value)
{
  CUcontext context;
  if (limit < 0 || limit >= VGPU_LIMITS)
    return CUDA_ERROR_UNSUPPORTED_LIMIT;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  context->limits[limit] = value;
  if (limit == LIMIT_HEAP)
    vgpu_memory_heap_limit (context->memory, value);
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuCtxGetCacheConfig (int *config)
{
  if (config == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *config = 0;
  return CUDA_SUCCESS;
}

CUresult
cuCtxSetCacheConfig (int config)
{
  return config >= 0 && config <= 3 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult
cuCtxGetStreamPriorityRange (int *least, int *greatest)
{
  if (least != NULL)
    *least = 0;
  if (greatest != NULL)
    *greatest = -5;
  return CUDA_SUCCESS;
}

CUresult
cuCtxEnablePeerAccess (CUcontext peer, unsigned int flags)
{
  (void) flags;
  return peer == NULL ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

CUresult
cuCtxDisablePeerAccess (CUcontext peer)
{
  return peer == NULL ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

CUresult
cuFuncGetModule (CUmodule *module, CUfunction function)
{
  if (module == NULL || function == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *module = function->module;
  return CUDA_SUCCESS;
}

CUresult
cuFuncGetName (const char **name, CUfunction function)
{
  if (name == NULL || function == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *name = function->entry->name;
  return CUDA_SUCCESS;
}

CUresult
cuFuncSetSharedMemConfig (CUfunction function, int config)
{
  (void) config;
  return function != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult
cuProfilerStart (void)
{
  return CUDA_SUCCESS;
}

CUresult
cuProfilerStop (void)
{
  return CUDA_SUCCESS;
}
