/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/worker/runtime-abi.h"
#include "engine/worker/runtime.h"

#include <string.h>

#define CALL assay_runtime.driver->call

/* The worker shows its code one device. */
int
cudaGetDevice (int *device)
{
  *device = 0;
  return CUDA_SUCCESS;
}

int
cudaSetDevice (int device)
{
  return assay_runtime_result (device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE);
}

int
cudaGetDeviceCount (int *count)
{
  *count = 1;
  return CUDA_SUCCESS;
}

int
cudaDeviceGetAttribute (int *value, int attribute, int device)
{
  CUdevice current = 0;
  int code = CALL.ctx_get_device (&current);
  if (code == CUDA_SUCCESS)
    code = CALL.device_get_attribute (value, (CUdevice_attribute) attribute, current);
  return assay_runtime_result (code);
}

int
cudaDeviceSetCacheConfig (int config)
{
  return CUDA_SUCCESS;
}

int
cudaDriverGetVersion (int *version)
{
  return assay_runtime_result (CALL.driver_get_version (version));
}

int
cudaRuntimeGetVersion (int *version)
{
  return cudaDriverGetVersion (version);
}

int
cudaDeviceSetLimit (int limit, size_t value)
{
  return CUDA_SUCCESS;
}

/* What the program leaves to its end; the worker ends the device itself. */
int
cudaDeviceReset (void)
{
  return cudaDeviceSynchronize ();
}

/* struct cudaDeviceProp of CUDA 13 (the older layout has another symbol): where the numbers lie that
 * the driver can tell. Bytes in between stay zero. */
#define PROPERTIES_BYTES 1008
#define NAME_BYTES 256
#define MEMORY_OFFSET 288

static const struct
{
  guint16 offset, bytes;
  CUdevice_attribute attribute;
} PROPERTIES[] = {
    {296, 8, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
    {304, 4, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
    {308, 4, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
    {312, 8, CU_DEVICE_ATTRIBUTE_MAX_PITCH},
    {320, 4, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {324, 4, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X},
    {328, 4, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y},
    {332, 4, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z},
    {336, 4, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X},
    {340, 4, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y},
    {344, 4, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z},
    {352, 8, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY},
    {360, 4, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
    {364, 4, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
    {384, 4, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {388, 4, CU_DEVICE_ATTRIBUTE_INTEGRATED},
    {392, 4, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY},
    {560, 4, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS},
    {564, 4, CU_DEVICE_ATTRIBUTE_ECC_ENABLED},
    {584, 4, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT},
    {588, 4, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING},
    {592, 4, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
    {596, 4, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
    {604, 4, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
    {624, 8, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
    {632, 4, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
    {636, 4, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY},
    {668, 4, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH},
    {672, 8, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    {688, 4, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR},
    {696, 8, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK},
};

int
cudaGetDeviceProperties (void *properties, int device)
{
  CUdevice current = 0;
  size_t memory = 0;
  char *bytes = properties;
  int code = CALL.ctx_get_device (&current);
  if (code != CUDA_SUCCESS || device != 0)
    return assay_runtime_result (device != 0 ? CUDA_ERROR_INVALID_DEVICE : code);
  memset (bytes, 0, PROPERTIES_BYTES);
  CALL.device_get_name (bytes, NAME_BYTES, current);
  CALL.device_total_mem (&memory, current);
  memcpy (bytes + MEMORY_OFFSET, &memory, sizeof memory);
  for (gsize i = 0; i < G_N_ELEMENTS (PROPERTIES); i++)
    {
      int value = 0;
      gint64 wide;
      CALL.device_get_attribute (&value, PROPERTIES[i].attribute, current);
      wide = value;
      memcpy (bytes + PROPERTIES[i].offset, &wide, PROPERTIES[i].bytes);
    }
  return CUDA_SUCCESS;
}
