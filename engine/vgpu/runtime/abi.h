/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/target/cuda-abi-more.h"

/* The binary interface of the CUDA runtime, as host code compiled by nvcc asks for it, at its level 13.
 * Names, values and layouts are the published ones; a test compares them with the toolkit's headers where
 * it is installed. Codes of errors are the driver's, but for those named here. */

typedef int cudaError;
typedef struct
{
  unsigned int x, y, z;
} AssayDim3;

enum
{
  CUDART_INVALID_CONFIGURATION = 9,
  CUDART_INVALID_PITCH = 12,
  CUDART_INVALID_SYMBOL = 13,
  CUDART_INVALID_DIRECTION = 21,
  CUDART_MISSING_CONFIGURATION = 52,
  CUDART_INVALID_FUNCTION = 98
};

typedef struct
{
  size_t shared_bytes, const_bytes, local_bytes;
  int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared;
  int carveout, cluster_required, cluster[3], cluster_policy, non_portable_cluster;
  int reserved[16];
} AssayFuncAttributes;

typedef struct
{
  int type; /* 0 unknown, 1 host, 2 device, 3 managed */
  int device;
  void *device_pointer, *host_pointer;
  long reserved[8];
} AssayPointerAttributes;

typedef struct
{
  void *pointer;
  size_t pitch, width, height;
} AssayPitchedPointer;

/* Bits of each channel of a texel. */
typedef struct
{
  int x, y, z, w, kind;
} AssayChannel;

typedef struct
{
  size_t x, y, z;
} AssayPosition;

typedef struct
{
  size_t width, height, depth;
} AssayExtent;

typedef struct
{
  CUarray from_array;
  AssayPosition from_position;
  AssayPitchedPointer from;
  CUarray to_array;
  AssayPosition to_position;
  AssayPitchedPointer to;
  AssayExtent extent;
  int kind;
} AssayCopy3DParameters;

/* What an object is made of. type: 0 array, 1 mipmapped array, 2 linear memory, 3 rows of it. */
typedef struct
{
  int type;
  union
  {
    CUarray array;
    CUmipmappedArray mipmap;
    struct
    {
      void *pointer;
      AssayChannel channel;
      size_t bytes;
    } linear;
    struct
    {
      void *pointer;
      AssayChannel channel;
      size_t width, height, pitch;
    } rows;
    int reserved[32];
  };
  unsigned int flags;
} AssayRuntimeResource;

typedef struct
{
  int address_modes[3], filter, read_mode, srgb;
  float border[4];
  int normalised;
  unsigned int anisotropy;
  int level_filter;
  float bias, least_level, greatest_level;
  int no_trilinear_optimisation, seamless;
} AssayRuntimeSampler;

typedef struct
{
  AssayDim3 grid, block;
  size_t shared;
  CUstream stream;
  AssayLaunchAttribute *attributes;
  unsigned int attribute_count;
} AssayRuntimeLaunch;

typedef struct
{
  const void *function;
  AssayDim3 grid, block;
  unsigned int shared;
  void **parameters;
  void **extra;
} AssayRuntimeKernelNode;

typedef struct
{
  void *to;
  size_t pitch;
  unsigned int value, size;
  size_t width, height;
} AssayRuntimeMemsetNode;

/* The beginning of cudaDeviceProp, and its whole size. */
typedef struct
{
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned int luid_mask;
  size_t total_memory, shared_per_block;
  int registers_per_block, warp_size;
  size_t max_pitch;
  int max_threads_per_block, max_block[3], max_grid[3];
  size_t constant_memory;
  int major, minor;
  size_t texture_alignment, texture_pitch_alignment;
  int multiprocessors, integrated, can_map_host_memory;
  int textures[39];
  size_t surface_alignment;
  int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines;
  int unified_addressing, bus_width, l2_bytes, persisting_l2_bytes, threads_per_multiprocessor;
  int stream_priorities, global_l1, local_l1;
  size_t shared_per_multiprocessor;
  int registers_per_multiprocessor, managed_memory, multi_gpu_board, board_group;
  int host_atomics, pageable_access, concurrent_managed, preemption, host_pointer_registered;
  int cooperative_launch;
  size_t shared_per_block_optin;
  int pageable_by_host_tables, direct_managed, blocks_per_multiprocessor, policy_window;
  size_t shared_reserved;
  int host_register, sparse_arrays, host_register_read_only, timeline_semaphores, memory_pools;
  int rdma;
  unsigned int rdma_flush;
  int rdma_ordering;
  unsigned int pool_handles;
  int deferred_mapping, ipc_events, cluster_launch, unified_functions, numa[2], mps, host_numa;
  unsigned int pci_ids[2];
  int host_numa_ipc;
  int reserved[56];
} AssayDeviceProperties;

typedef void *CUruntimeKernel;

/* clang-format off */
/* X (result, symbol, parameters): registration, called by code that nvcc generates. */
#define ASSAY_CUDART_REGISTER(X) \
  X (void **, __cudaRegisterFatBinary, (void *image)) \
  X (void, __cudaRegisterFatBinaryEnd, (void **handle)) \
  X (void, __cudaUnregisterFatBinary, (void **handle)) \
  X (char, __cudaInitModule, (void **handle)) \
  X (void, __cudaRegisterFunction, \
     (void **handle, const char *host, char *device, const char *name, int thread_limit, \
      void *thread, void *block, void *block_size, void *grid_size, int *warp_size)) \
  X (void, __cudaRegisterVar, \
     (void **handle, char *host, char *device, const char *name, int external, size_t bytes, \
      int constant, int global)) \
  X (void, __cudaRegisterManagedVar, \
     (void **handle, void **host, char *device, const char *name, int external, size_t bytes, \
      int constant, int global)) \
  X (void, __cudaRegisterHostVar, \
     (void **handle, const char *name, char *host, size_t bytes)) \
  X (unsigned int, __cudaPushCallConfiguration, \
     (AssayDim3 grid, AssayDim3 block, size_t shared, CUstream stream)) \
  X (cudaError, __cudaPopCallConfiguration, \
     (AssayDim3 *grid, AssayDim3 *block, size_t *shared, CUstream *stream)) \
  X (cudaError, __cudaGetKernel, (CUruntimeKernel *kernel, const void *host)) \
  X (cudaError, __cudaLaunchKernel, \
     (CUruntimeKernel kernel, AssayDim3 grid, AssayDim3 block, void **arguments, size_t shared, \
      CUstream stream))

#define ASSAY_CUDART_LAUNCH(X) \
  X (cudaError, cudaLaunchKernel, \
     (const void *host, AssayDim3 grid, AssayDim3 block, void **arguments, size_t shared, \
      CUstream stream)) \
  X (cudaError, cudaLaunchCooperativeKernel, \
     (const void *host, AssayDim3 grid, AssayDim3 block, void **arguments, size_t shared, \
      CUstream stream)) \
  X (cudaError, cudaLaunchKernelExC, \
     (const AssayRuntimeLaunch *launch, const void *host, void **arguments)) \
  X (cudaError, cudaLaunchHostFunc, (CUstream stream, CUhostFn function, void *data)) \
  X (cudaError, cudaFuncSetAttribute, (const void *host, int attribute, int value)) \
  X (cudaError, cudaFuncGetAttributes, (AssayFuncAttributes *attributes, const void *host)) \
  X (cudaError, cudaFuncGetName, (const char **name, const void *host)) \
  X (cudaError, cudaFuncSetCacheConfig, (const void *host, int config)) \
  X (cudaError, cudaFuncSetSharedMemConfig, (const void *host, int config)) \
  X (cudaError, cudaGetFuncBySymbol, (CUfunction *function, const void *host)) \
  X (cudaError, cudaGetKernel, (CUruntimeKernel *kernel, const void *host)) \
  X (cudaError, cudaOccupancyMaxActiveBlocksPerMultiprocessor, \
     (int *blocks, const void *host, int block_size, size_t shared)) \
  X (cudaError, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, \
     (int *blocks, const void *host, int block_size, size_t shared, unsigned int flags)) \
  X (cudaError, cudaOccupancyAvailableDynamicSMemPerBlock, \
     (size_t *bytes, const void *host, int blocks, int block_size))

#define ASSAY_CUDART_DEVICE(X) \
  X (cudaError, cudaGetLastError, (void)) \
  X (cudaError, cudaPeekAtLastError, (void)) \
  X (const char *, cudaGetErrorString, (cudaError error)) \
  X (const char *, cudaGetErrorName, (cudaError error)) \
  X (cudaError, cudaDeviceSynchronize, (void)) \
  X (cudaError, cudaDeviceReset, (void)) \
  X (cudaError, cudaInitDevice, (int device, unsigned int flags, unsigned int more)) \
  X (cudaError, cudaGetDevice, (int *device)) \
  X (cudaError, cudaSetDevice, (int device)) \
  X (cudaError, cudaGetDeviceCount, (int *count)) \
  X (cudaError, cudaGetDeviceFlags, (unsigned int *flags)) \
  X (cudaError, cudaSetDeviceFlags, (unsigned int flags)) \
  X (cudaError, cudaSetValidDevices, (int *devices, int count)) \
  X (cudaError, cudaChooseDevice, (int *device, const AssayDeviceProperties *properties)) \
  X (cudaError, cudaDeviceGetAttribute, (int *value, int attribute, int device)) \
  X (cudaError, cudaGetDeviceProperties, (AssayDeviceProperties *properties, int device)) \
  X (cudaError, cudaDeviceGetPCIBusId, (char *text, int length, int device)) \
  X (cudaError, cudaDeviceGetByPCIBusId, (int *device, const char *text)) \
  X (cudaError, cudaDeviceSetCacheConfig, (int config)) \
  X (cudaError, cudaDeviceGetCacheConfig, (int *config)) \
  X (cudaError, cudaDeviceSetSharedMemConfig, (int config)) \
  X (cudaError, cudaDeviceGetSharedMemConfig, (int *config)) \
  X (cudaError, cudaDeviceSetLimit, (int limit, size_t value)) \
  X (cudaError, cudaDeviceGetLimit, (size_t *value, int limit)) \
  X (cudaError, cudaCtxResetPersistingL2Cache, (void)) \
  X (cudaError, cudaDeviceGetStreamPriorityRange, (int *least, int *greatest)) \
  X (cudaError, cudaDeviceCanAccessPeer, (int *can, int device, int peer)) \
  X (cudaError, cudaDeviceEnablePeerAccess, (int peer, unsigned int flags)) \
  X (cudaError, cudaDeviceDisablePeerAccess, (int peer)) \
  X (cudaError, cudaDeviceGetP2PAttribute, (int *value, int attribute, int from, int to)) \
  X (cudaError, cudaDriverGetVersion, (int *version)) \
  X (cudaError, cudaRuntimeGetVersion, (int *version)) \
  X (cudaError, cudaGetExportTable, (const void **table, const CUuuid *id)) \
  X (AssayChannel, cudaCreateChannelDesc, (int x, int y, int z, int w, int kind)) \
  X (cudaError, cudaProfilerStart, (void)) \
  X (cudaError, cudaProfilerStop, (void)) \
  X (cudaError, cudaGetDriverEntryPoint, \
     (const char *symbol, void **function, unsigned long long flags, int *status)) \
  X (cudaError, cudaGetDriverEntryPointByVersion, \
     (const char *symbol, void **function, unsigned int version, unsigned long long flags, \
      int *status))

#define ASSAY_CUDART_MEMORY(X) \
  X (cudaError, cudaMalloc, (void **pointer, size_t bytes)) \
  X (cudaError, cudaMallocManaged, (void **pointer, size_t bytes, unsigned int flags)) \
  X (cudaError, cudaMallocHost, (void **pointer, size_t bytes)) \
  X (cudaError, cudaHostAlloc, (void **pointer, size_t bytes, unsigned int flags)) \
  X (cudaError, cudaMallocPitch, (void **pointer, size_t *pitch, size_t width, size_t height)) \
  X (cudaError, cudaMalloc3D, (AssayPitchedPointer *pointer, AssayExtent extent)) \
  X (cudaError, cudaFree, (void *pointer)) \
  X (cudaError, cudaFreeHost, (void *pointer)) \
  X (cudaError, cudaHostRegister, (void *pointer, size_t bytes, unsigned int flags)) \
  X (cudaError, cudaHostUnregister, (void *pointer)) \
  X (cudaError, cudaHostGetDevicePointer, (void **device, void *host, unsigned int flags)) \
  X (cudaError, cudaHostGetFlags, (unsigned int *flags, void *host)) \
  X (cudaError, cudaMemGetInfo, (size_t *available, size_t *total)) \
  X (cudaError, cudaPointerGetAttributes, \
     (AssayPointerAttributes *attributes, const void *pointer)) \
  X (cudaError, cudaMallocAsync, (void **pointer, size_t bytes, CUstream stream)) \
  X (cudaError, cudaMallocFromPoolAsync, \
     (void **pointer, size_t bytes, CUmemoryPool pool, CUstream stream)) \
  X (cudaError, cudaFreeAsync, (void *pointer, CUstream stream)) \
  X (cudaError, cudaDeviceGetDefaultMemPool, (CUmemoryPool *pool, int device)) \
  X (cudaError, cudaDeviceGetMemPool, (CUmemoryPool *pool, int device)) \
  X (cudaError, cudaDeviceSetMemPool, (int device, CUmemoryPool pool)) \
  X (cudaError, cudaMemPoolCreate, (CUmemoryPool *pool, const void *properties)) \
  X (cudaError, cudaMemPoolDestroy, (CUmemoryPool pool)) \
  X (cudaError, cudaMemPoolTrimTo, (CUmemoryPool pool, size_t bytes)) \
  X (cudaError, cudaMemPoolSetAttribute, (CUmemoryPool pool, int attribute, void *value)) \
  X (cudaError, cudaMemPoolGetAttribute, (CUmemoryPool pool, int attribute, void *value)) \
  X (cudaError, cudaMemPoolSetAccess, (CUmemoryPool pool, const void *access, size_t count)) \
  X (cudaError, cudaMemAdvise, \
     (const void *pointer, size_t bytes, int advice, AssayLocation location)) \
  X (cudaError, cudaMemPrefetchAsync, \
     (const void *pointer, size_t bytes, AssayLocation location, unsigned int flags, \
      CUstream stream)) \
  X (cudaError, cudaMemcpy, (void *to, const void *from, size_t bytes, int kind)) \
  X (cudaError, cudaMemcpyAsync, \
     (void *to, const void *from, size_t bytes, int kind, CUstream stream)) \
  X (cudaError, cudaMemcpyPeer, \
     (void *to, int to_device, const void *from, int from_device, size_t bytes)) \
  X (cudaError, cudaMemcpyPeerAsync, \
     (void *to, int to_device, const void *from, int from_device, size_t bytes, \
      CUstream stream)) \
  X (cudaError, cudaMemcpy2D, \
     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, \
      size_t height, int kind)) \
  X (cudaError, cudaMemcpy2DAsync, \
     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, \
      size_t height, int kind, CUstream stream)) \
  X (cudaError, cudaMemcpy3D, (const AssayCopy3DParameters *copy)) \
  X (cudaError, cudaMemcpy3DAsync, (const AssayCopy3DParameters *copy, CUstream stream)) \
  X (cudaError, cudaMemset, (void *to, int value, size_t bytes)) \
  X (cudaError, cudaMemsetAsync, (void *to, int value, size_t bytes, CUstream stream)) \
  X (cudaError, cudaMemset2D, (void *to, size_t pitch, int value, size_t width, size_t height)) \
  X (cudaError, cudaMemset2DAsync, \
     (void *to, size_t pitch, int value, size_t width, size_t height, CUstream stream)) \
  X (cudaError, cudaMemset3D, (AssayPitchedPointer to, int value, AssayExtent extent)) \
  X (cudaError, cudaMemset3DAsync, \
     (AssayPitchedPointer to, int value, AssayExtent extent, CUstream stream)) \
  X (cudaError, cudaGetSymbolAddress, (void **pointer, const void *symbol)) \
  X (cudaError, cudaGetSymbolSize, (size_t *bytes, const void *symbol)) \
  X (cudaError, cudaMemcpyToSymbol, \
     (const void *symbol, const void *from, size_t bytes, size_t offset, int kind)) \
  X (cudaError, cudaMemcpyToSymbolAsync, \
     (const void *symbol, const void *from, size_t bytes, size_t offset, int kind, \
      CUstream stream)) \
  X (cudaError, cudaMemcpyFromSymbol, \
     (void *to, const void *symbol, size_t bytes, size_t offset, int kind)) \
  X (cudaError, cudaMemcpyFromSymbolAsync, \
     (void *to, const void *symbol, size_t bytes, size_t offset, int kind, CUstream stream))

#define ASSAY_CUDART_STREAM(X) \
  X (cudaError, cudaStreamCreate, (CUstream *stream)) \
  X (cudaError, cudaStreamCreateWithFlags, (CUstream *stream, unsigned int flags)) \
  X (cudaError, cudaStreamCreateWithPriority, \
     (CUstream *stream, unsigned int flags, int priority)) \
  X (cudaError, cudaStreamDestroy, (CUstream stream)) \
  X (cudaError, cudaStreamSynchronize, (CUstream stream)) \
  X (cudaError, cudaStreamQuery, (CUstream stream)) \
  X (cudaError, cudaStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags)) \
  X (cudaError, cudaStreamAddCallback, \
     (CUstream stream, CUstreamCallback callback, void *data, unsigned int flags)) \
  X (cudaError, cudaStreamAttachMemAsync, \
     (CUstream stream, void *pointer, size_t bytes, unsigned int flags)) \
  X (cudaError, cudaStreamGetPriority, (CUstream stream, int *priority)) \
  X (cudaError, cudaStreamGetFlags, (CUstream stream, unsigned int *flags)) \
  X (cudaError, cudaStreamGetId, (CUstream stream, unsigned long long *id)) \
  X (cudaError, cudaStreamGetDevice, (CUstream stream, int *device)) \
  X (cudaError, cudaStreamSetAttribute, (CUstream stream, int attribute, const void *value)) \
  X (cudaError, cudaStreamBeginCapture, (CUstream stream, int mode)) \
  X (cudaError, cudaStreamEndCapture, (CUstream stream, CUgraph *graph)) \
  X (cudaError, cudaStreamIsCapturing, (CUstream stream, int *status)) \
  X (cudaError, cudaStreamGetCaptureInfo, \
     (CUstream stream, int *status, unsigned long long *id, CUgraph *graph, \
      const CUgraphNode **nodes, const void **edges, size_t *count)) \
  X (cudaError, cudaThreadExchangeStreamCaptureMode, (int *mode)) \
  X (cudaError, cudaEventCreate, (CUevent *event)) \
  X (cudaError, cudaEventCreateWithFlags, (CUevent *event, unsigned int flags)) \
  X (cudaError, cudaEventDestroy, (CUevent event)) \
  X (cudaError, cudaEventRecord, (CUevent event, CUstream stream)) \
  X (cudaError, cudaEventRecordWithFlags, (CUevent event, CUstream stream, unsigned int flags)) \
  X (cudaError, cudaEventSynchronize, (CUevent event)) \
  X (cudaError, cudaEventQuery, (CUevent event)) \
  X (cudaError, cudaEventElapsedTime, (float *milliseconds, CUevent from, CUevent to))

#define ASSAY_CUDART_TEXTURE(X) \
  X (cudaError, cudaMallocArray, \
     (CUarray *array, const AssayChannel *channel, size_t width, size_t height, \
      unsigned int flags)) \
  X (cudaError, cudaMalloc3DArray, \
     (CUarray *array, const AssayChannel *channel, AssayExtent extent, unsigned int flags)) \
  X (cudaError, cudaFreeArray, (CUarray array)) \
  X (cudaError, cudaMallocMipmappedArray, \
     (CUmipmappedArray *mipmap, const AssayChannel *channel, AssayExtent extent, \
      unsigned int levels, unsigned int flags)) \
  X (cudaError, cudaGetMipmappedArrayLevel, \
     (CUarray *array, CUmipmappedArray mipmap, unsigned int level)) \
  X (cudaError, cudaFreeMipmappedArray, (CUmipmappedArray mipmap)) \
  X (cudaError, cudaArrayGetInfo, \
     (AssayChannel *channel, AssayExtent *extent, unsigned int *flags, CUarray array)) \
  X (cudaError, cudaGetChannelDesc, (AssayChannel *channel, CUarray array)) \
  X (cudaError, cudaDeviceGetTexture1DLinearMaxWidth, \
     (size_t *width, const AssayChannel *channel, int device)) \
  X (cudaError, cudaCreateTextureObject, \
     (unsigned long long *object, const AssayRuntimeResource *resource, \
      const AssayRuntimeSampler *sampler, const void *view)) \
  X (cudaError, cudaDestroyTextureObject, (unsigned long long object)) \
  X (cudaError, cudaCreateSurfaceObject, \
     (unsigned long long *object, const AssayRuntimeResource *resource)) \
  X (cudaError, cudaDestroySurfaceObject, (unsigned long long object)) \
  X (cudaError, cudaMemcpy2DToArray, \
     (CUarray to, size_t x, size_t y, const void *from, size_t pitch, size_t width, \
      size_t height, int kind)) \
  X (cudaError, cudaMemcpy2DToArrayAsync, \
     (CUarray to, size_t x, size_t y, const void *from, size_t pitch, size_t width, \
      size_t height, int kind, CUstream stream)) \
  X (cudaError, cudaMemcpy2DFromArray, \
     (void *to, size_t pitch, CUarray from, size_t x, size_t y, size_t width, size_t height, \
      int kind)) \
  X (cudaError, cudaMemcpy2DFromArrayAsync, \
     (void *to, size_t pitch, CUarray from, size_t x, size_t y, size_t width, size_t height, \
      int kind, CUstream stream)) \
  X (cudaError, cudaMemcpy2DArrayToArray, \
     (CUarray to, size_t to_x, size_t to_y, CUarray from, size_t from_x, size_t from_y, \
      size_t width, size_t height, int kind)) \
  X (cudaError, cudaMemcpyToArray, \
     (CUarray to, size_t x, size_t y, const void *from, size_t bytes, int kind)) \
  X (cudaError, cudaMemcpyToArrayAsync, \
     (CUarray to, size_t x, size_t y, const void *from, size_t bytes, int kind, \
      CUstream stream)) \
  X (cudaError, cudaMemcpyFromArray, \
     (void *to, CUarray from, size_t x, size_t y, size_t bytes, int kind)) \
  X (cudaError, cudaMemcpyFromArrayAsync, \
     (void *to, CUarray from, size_t x, size_t y, size_t bytes, int kind, CUstream stream)) \
  X (cudaError, cudaMemcpyArrayToArray, \
     (CUarray to, size_t to_x, size_t to_y, CUarray from, size_t from_x, size_t from_y, \
      size_t bytes, int kind))

#define ASSAY_CUDART_GRAPH(X) \
  X (cudaError, cudaGraphCreate, (CUgraph *graph, unsigned int flags)) \
  X (cudaError, cudaGraphDestroy, (CUgraph graph)) \
  X (cudaError, cudaGraphClone, (CUgraph *clone, CUgraph graph)) \
  X (cudaError, cudaGraphAddKernelNode, \
     (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, \
      const AssayRuntimeKernelNode *kernel)) \
  X (cudaError, cudaGraphAddMemcpyNode, \
     (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, \
      const AssayCopy3DParameters *copy)) \
  X (cudaError, cudaGraphAddMemcpyNode1D, \
     (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, void *to, \
      const void *from, size_t bytes, int kind)) \
  X (cudaError, cudaGraphAddMemsetNode, \
     (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, \
      const AssayRuntimeMemsetNode *fill)) \
  X (cudaError, cudaGraphAddHostNode, \
     (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, \
      const AssayHostNode *host)) \
  X (cudaError, cudaGraphAddEmptyNode, \
     (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count)) \
  X (cudaError, cudaGraphAddChildGraphNode, \
     (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, CUgraph child)) \
  X (cudaError, cudaGraphAddMemAllocNode, \
     (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, \
      AssayMemoryNode *memory)) \
  X (cudaError, cudaGraphMemAllocNodeGetParams, (CUgraphNode node, AssayMemoryNode *memory)) \
  X (cudaError, cudaGraphAddMemFreeNode, \
     (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, void *pointer)) \
  X (cudaError, cudaDeviceGraphMemTrim, (int device)) \
  X (cudaError, cudaGraphAddDependencies, \
     (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const void *edges, \
      size_t count)) \
  X (cudaError, cudaGraphGetNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count)) \
  X (cudaError, cudaGraphGetRootNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count)) \
  X (cudaError, cudaGraphNodeGetType, (CUgraphNode node, int *type)) \
  X (cudaError, cudaGraphInstantiate, \
     (CUgraphExec *exec, CUgraph graph, unsigned long long flags)) \
  X (cudaError, cudaGraphInstantiateWithFlags, \
     (CUgraphExec *exec, CUgraph graph, unsigned long long flags)) \
  X (cudaError, cudaGraphKernelNodeSetParams, \
     (CUgraphNode node, const AssayRuntimeKernelNode *kernel)) \
  X (cudaError, cudaGraphExecKernelNodeSetParams, \
     (CUgraphExec exec, CUgraphNode node, const AssayRuntimeKernelNode *kernel)) \
  X (cudaError, cudaGraphExecUpdate, (CUgraphExec exec, CUgraph graph, void *info)) \
  X (cudaError, cudaGraphExecDestroy, (CUgraphExec exec)) \
  X (cudaError, cudaGraphLaunch, (CUgraphExec exec, CUstream stream)) \
  X (cudaError, cudaGraphUpload, (CUgraphExec exec, CUstream stream))
/* clang-format on */

typedef struct
{
  int type, id;
} AssayLocation;

#define ASSAY_CUDART_PROTOTYPE(result, symbol, parameters)                                         \
  __attribute__ ((visibility ("default"))) result symbol parameters;
ASSAY_CUDART_REGISTER (ASSAY_CUDART_PROTOTYPE)
ASSAY_CUDART_LAUNCH (ASSAY_CUDART_PROTOTYPE)
ASSAY_CUDART_DEVICE (ASSAY_CUDART_PROTOTYPE)
ASSAY_CUDART_MEMORY (ASSAY_CUDART_PROTOTYPE)
ASSAY_CUDART_STREAM (ASSAY_CUDART_PROTOTYPE)
ASSAY_CUDART_TEXTURE (ASSAY_CUDART_PROTOTYPE)
ASSAY_CUDART_GRAPH (ASSAY_CUDART_PROTOTYPE)
#undef ASSAY_CUDART_PROTOTYPE
