/* SPDX-License-Identifier: Apache-2.0 */
/* The device, of which there is one. */
#include "engine/vgpu/runtime/runtime.h"

#include <pthread.h>
#include <string.h>

#define RUNTIME_VERSION 13000

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CUresult started;
static CUcontext primary;

static void
start (void)
{
  started = cuInit (0);
  if (started == CUDA_SUCCESS)
    started = cuDevicePrimaryCtxRetain (&primary, 0);
}

cudaError
cudart_begin (void)
{
  CUcontext current = NULL;
  pthread_once (&once, start);
  if (started != CUDA_SUCCESS)
    return CUDA_ERROR_NOT_INITIALIZED;
  if (cuCtxGetCurrent (&current) == CUDA_SUCCESS && current == NULL)
    return (cudaError) cuCtxSetCurrent (primary);
  return CUDA_SUCCESS;
}

cudaError
cudaDeviceSynchronize (void)
{
  CUDART_CALL (cuCtxSynchronize ());
}

cudaError
cudaDeviceReset (void)
{
  cudaError code = cudart_begin ();
  if (code == CUDA_SUCCESS)
    {
      /* What was submitted still runs; what it left behind ends here. */
      cuCtxSynchronize ();
      code = (cudaError) cuDevicePrimaryCtxReset_v2 (0);
      cudart_forget_modules ();
    }
  return cudart_result (code);
}

cudaError
cudaInitDevice (int device, unsigned int flags, unsigned int more)
{
  (void) flags;
  (void) more;
  return cudaSetDevice (device);
}

cudaError
cudaGetDevice (int *device)
{
  if (device == NULL)
    return cudart_result (CUDA_ERROR_INVALID_VALUE);
  *device = 0;
  return cudart_result (cudart_begin ());
}

cudaError
cudaSetDevice (int device)
{
  cudaError code = cudart_begin ();
  if (code == CUDA_SUCCESS && device != 0)
    code = CUDA_ERROR_INVALID_DEVICE;
  return cudart_result (code);
}

cudaError
cudaGetDeviceCount (int *count)
{
  CUDART_CALL (cuDeviceGetCount (count));
}

cudaError
cudaGetDeviceFlags (unsigned int *flags)
{
  CUDART_CALL (cuCtxGetFlags (flags));
}

cudaError
cudaSetDeviceFlags (unsigned int flags)
{
  (void) flags;
  return cudart_result (cudart_begin ());
}

cudaError
cudaSetValidDevices (int *devices, int count)
{
  bool good = devices != NULL && count > 0 && devices[0] == 0;
  return cudart_result (good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE);
}

cudaError
cudaChooseDevice (int *device, const AssayDeviceProperties *properties)
{
  (void) properties;
  return cudaGetDevice (device);
}

cudaError
cudaDeviceGetAttribute (int *value, int attribute, int device)
{
  CUDART_CALL (cuDeviceGetAttribute (value, (CUdevice_attribute) attribute, device));
}

/* Which attribute of the driver fills which member. */
#define PROPERTY(member, attribute)                                                                \
  {                                                                                                \
    offsetof (AssayDeviceProperties, member), CU_DEVICE_ATTRIBUTE_##attribute,                     \
        sizeof ((AssayDeviceProperties *) 0)->member                                               \
  }

static const struct
{
  size_t offset;
  CUdevice_attribute attribute;
  size_t bytes;
} properties_from[] = {
    PROPERTY (shared_per_block, MAX_SHARED_MEMORY_PER_BLOCK),
    PROPERTY (registers_per_block, MAX_REGISTERS_PER_BLOCK),
    PROPERTY (warp_size, WARP_SIZE),
    PROPERTY (max_pitch, MAX_PITCH),
    PROPERTY (max_threads_per_block, MAX_THREADS_PER_BLOCK),
    PROPERTY (max_block[0], MAX_BLOCK_DIM_X),
    PROPERTY (max_block[1], MAX_BLOCK_DIM_Y),
    PROPERTY (max_block[2], MAX_BLOCK_DIM_Z),
    PROPERTY (max_grid[0], MAX_GRID_DIM_X),
    PROPERTY (max_grid[1], MAX_GRID_DIM_Y),
    PROPERTY (max_grid[2], MAX_GRID_DIM_Z),
    PROPERTY (constant_memory, TOTAL_CONSTANT_MEMORY),
    PROPERTY (major, COMPUTE_CAPABILITY_MAJOR),
    PROPERTY (minor, COMPUTE_CAPABILITY_MINOR),
    PROPERTY (texture_alignment, TEXTURE_ALIGNMENT),
    PROPERTY (multiprocessors, MULTIPROCESSOR_COUNT),
    PROPERTY (can_map_host_memory, CAN_MAP_HOST_MEMORY),
    PROPERTY (concurrent_kernels, CONCURRENT_KERNELS),
    PROPERTY (async_engines, ASYNC_ENGINE_COUNT),
    PROPERTY (unified_addressing, UNIFIED_ADDRESSING),
    PROPERTY (bus_width, GLOBAL_MEMORY_BUS_WIDTH),
    PROPERTY (l2_bytes, L2_CACHE_SIZE),
    PROPERTY (threads_per_multiprocessor, MAX_THREADS_PER_MULTIPROCESSOR),
    PROPERTY (stream_priorities, STREAM_PRIORITIES_SUPPORTED),
    PROPERTY (global_l1, GLOBAL_L1_CACHE_SUPPORTED),
    PROPERTY (local_l1, LOCAL_L1_CACHE_SUPPORTED),
    PROPERTY (shared_per_multiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
    PROPERTY (registers_per_multiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR),
    PROPERTY (managed_memory, MANAGED_MEMORY),
    PROPERTY (preemption, COMPUTE_PREEMPTION_SUPPORTED),
    PROPERTY (cooperative_launch, COOPERATIVE_LAUNCH),
    PROPERTY (shared_per_block_optin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
    PROPERTY (blocks_per_multiprocessor, MAX_BLOCKS_PER_MULTIPROCESSOR),
    PROPERTY (shared_reserved, RESERVED_SHARED_MEMORY_PER_BLOCK),
    PROPERTY (memory_pools, MEMORY_POOLS_SUPPORTED),
    PROPERTY (cluster_launch, CLUSTER_LAUNCH),
};

/* Largest textures and surfaces, in the order of cudaDeviceProp: programming guide, "Technical
 * Specifications per Compute Capability", 7.5 and later. */
static const int texture_limits[] = {
    131072, 32768,                        /* 1-D: arrays, mipmaps */
    131072, 65536,                        /* 2-D */
    32768,  32768,                        /* mipmaps */
    131072, 65000,  2097120,              /* rows of memory, their pitch */
    32768,  32768,                        /* gathers */
    16384,  16384,  16384,                /* 3-D */
    8192,   8192,   32768,                /* the other way round */
    32768,                                /* cubes */
    32768,  2048,                         /* layers of 1-D */
    32768,  32768,  2048,                 /* and of 2-D */
    32768,  2046,                         /* and of cubes */
    32768,  131072, 65536,                /* surfaces: 1-D, 2-D */
    16384,  16384,  16384,                /* 3-D */
    32768,  2048,   32768,   32768, 2048, /* layers */
    32768,  32768,  2046,                 /* cubes and their layers */
};

cudaError
cudaGetDeviceProperties (AssayDeviceProperties *properties, int device)
{
  cudaError code = cudart_begin ();
  if (code == CUDA_SUCCESS && properties == NULL)
    code = CUDA_ERROR_INVALID_VALUE;
  if (code != CUDA_SUCCESS)
    return cudart_result (code);
  memset (properties, 0, sizeof *properties);
  code = (cudaError) cuDeviceGetName (properties->name, sizeof properties->name, device);
  if (code == CUDA_SUCCESS)
    code = (cudaError) cuDeviceTotalMem_v2 (&properties->total_memory, device);
  for (size_t i = 0; code == CUDA_SUCCESS && i < sizeof properties_from / sizeof properties_from[0];
       i++)
    {
      int value = 0;
      code = (cudaError) cuDeviceGetAttribute (&value, properties_from[i].attribute, device);
      size_t wide = (size_t) value;
      char *to = (char *) properties + properties_from[i].offset;
      if (properties_from[i].bytes == sizeof wide)
        memcpy (to, &wide, sizeof wide);
      else
        memcpy (to, &value, sizeof value);
    }
  if (code == CUDA_SUCCESS)
    cuDeviceGetUuid_v2 ((CUuuid *) properties->uuid, device);
  _Static_assert(sizeof texture_limits == sizeof properties->textures, "all of them");
  memcpy (properties->textures, texture_limits, sizeof texture_limits);
  properties->texture_pitch_alignment = 32;
  properties->surface_alignment = 512;
  properties->pci_bus = 1;
  properties->host_register = properties->concurrent_managed = 1;
  properties->host_pointer_registered = 1;
  return cudart_result (code);
}

cudaError
cudaDeviceGetPCIBusId (char *text, int length, int device)
{
  CUDART_CALL (cuDeviceGetPCIBusId (text, length, device));
}

cudaError
cudaDeviceGetByPCIBusId (int *device, const char *text)
{
  CUDART_CALL (cuDeviceGetByPCIBusId (device, text));
}

cudaError
cudaDeviceSetCacheConfig (int config)
{
  CUDART_CALL (cuCtxSetCacheConfig (config));
}

cudaError
cudaDeviceGetCacheConfig (int *config)
{
  CUDART_CALL (cuCtxGetCacheConfig (config));
}

cudaError
cudaDeviceSetSharedMemConfig (int config)
{
  return cudaDeviceSetCacheConfig (config);
}

cudaError
cudaDeviceGetSharedMemConfig (int *config)
{
  if (config == NULL)
    return cudart_result (CUDA_ERROR_INVALID_VALUE);
  *config = 1; /* banks of four bytes */
  return cudart_result (cudart_begin ());
}

cudaError
cudaDeviceSetLimit (int limit, size_t value)
{
  CUDART_CALL (cuCtxSetLimit (limit, value));
}

cudaError
cudaDeviceGetLimit (size_t *value, int limit)
{
  CUDART_CALL (cuCtxGetLimit (value, limit));
}

cudaError
cudaCtxResetPersistingL2Cache (void)
{
  return cudart_result (cudart_begin ());
}

cudaError
cudaDeviceGetStreamPriorityRange (int *least, int *greatest)
{
  CUDART_CALL (cuCtxGetStreamPriorityRange (least, greatest));
}

cudaError
cudaDeviceCanAccessPeer (int *can, int device, int peer)
{
  CUDART_CALL (cuDeviceCanAccessPeer (can, device, peer));
}

cudaError
cudaDeviceEnablePeerAccess (int peer, unsigned int flags)
{
  (void) peer;
  (void) flags;
  return cudart_result (CUDA_ERROR_INVALID_DEVICE);
}

cudaError
cudaDeviceDisablePeerAccess (int peer)
{
  return cudaDeviceEnablePeerAccess (peer, 0);
}

cudaError
cudaDeviceGetP2PAttribute (int *value, int attribute, int from, int to)
{
  (void) attribute;
  if (value == NULL)
    return cudart_result (CUDA_ERROR_INVALID_VALUE);
  *value = 0;
  return cudart_result (from == to || from != 0 || to != 0 ? CUDA_ERROR_INVALID_DEVICE
                                                           : CUDA_SUCCESS);
}

cudaError
cudaDriverGetVersion (int *version)
{
  return cudart_result ((cudaError) cuDriverGetVersion (version));
}

cudaError
cudaRuntimeGetVersion (int *version)
{
  if (version == NULL)
    return cudart_result (CUDA_ERROR_INVALID_VALUE);
  *version = RUNTIME_VERSION;
  return CUDA_SUCCESS;
}

cudaError
cudaProfilerStart (void)
{
  return cudart_result (cudart_begin ());
}

cudaError
cudaProfilerStop (void)
{
  return cudart_result (cudart_begin ());
}

cudaError
cudaGetDriverEntryPointByVersion (const char *symbol, void **function, unsigned int version,
                                  unsigned long long flags, int *status)
{
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
  CUresult result = cuGetProcAddress_v2 (symbol, function, (int) version, flags, &found);
  if (status != NULL)
    *status = (int) found;
  /* That a name is not there is told by the status alone. */
  return cudart_result (result == CUDA_ERROR_NOT_FOUND ? CUDA_SUCCESS : (cudaError) result);
}

cudaError
cudaGetDriverEntryPoint (const char *symbol, void **function, unsigned long long flags, int *status)
{
  return cudaGetDriverEntryPointByVersion (symbol, function, RUNTIME_VERSION, flags, status);
}

/* The private tables of the real runtime. */
cudaError
cudaGetExportTable (const void **table, const CUuuid *id)
{
  return cudart_result ((cudaError) cuGetExportTable (table, id));
}

AssayChannel
cudaCreateChannelDesc (int x, int y, int z, int w, int kind)
{
  return (AssayChannel) {x, y, z, w, kind};
}
