/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/target/cuda-abi.h"

/* What the virtual GPU's driver exports beyond the part that Assay itself calls (cuda-abi.h), for
 * programs and for the virtual GPU's own runtime. Names, values and layouts are the published ones. */

typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef struct CUlinkState_st *CUlinkState;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef void (*CUstreamCallback) (CUstream stream, CUresult status, void *data);
typedef size_t (*CUoccupancyB2DSize) (int block_size);

typedef struct CUarray_st *CUarray;
typedef struct CUmipmappedArray_st *CUmipmappedArray;

typedef struct
{
  size_t width, height;
  int format;
  unsigned int channels;
} AssayArray;

/* flags: 1 layered, 2 surfaces, 4 a cube, 8 gathers. depth: of layers, or of six faces a layer. */
typedef struct
{
  size_t width, height, depth;
  int format;
  unsigned int channels, flags;
} AssayArray3D;

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
      CUdeviceptr pointer;
      int format;
      unsigned int channels;
      size_t bytes;
    } linear;
    struct
    {
      CUdeviceptr pointer;
      int format;
      unsigned int channels;
      size_t width, height, pitch;
    } rows;
    int reserved[32];
  };
  unsigned int flags;
} AssayResource;

/* flags: 1 integers stay such, 2 normalised coordinates, 16 sRGB. */
typedef struct
{
  int address_modes[3], filter;
  unsigned int flags, anisotropy;
  int level_filter;
  float bias, least_level, greatest_level;
  float border[4];
  int reserved[12];
} AssaySampler;

/* A side of a copy: memory types 1 host, 2 device, 3 array, 4 unified. */
typedef struct
{
  size_t x, y, z, lod;
  int type;
  const void *host;
  CUdeviceptr device;
  CUarray array;
  void *reserved;
  size_t pitch, height;
} AssayCopySide3D;

typedef struct
{
  AssayCopySide3D from, to;
  size_t width, height, depth;
} AssayCopy3D;

typedef struct
{
  size_t x, y;
  int type;
  const void *host;
  CUdeviceptr device;
  CUarray array;
  size_t pitch;
} AssayCopySide2D;

typedef struct
{
  AssayCopySide2D from, to;
  size_t width, height;
} AssayCopy2D;

/* Memory that a graph's node takes; the properties of its pool are not looked at. */
typedef struct
{
  char properties[88];
  const void *access;
  size_t access_count, bytes;
  CUdeviceptr pointer;
} AssayMemoryNode;

/* An attribute of a launch. number: 2 cooperative, 4 cluster dimensions, … */
typedef struct
{
  int number;
  char padding[4];
  union
  {
    char bytes[64];
    int cooperative;
    unsigned int cluster[3];
  };
} AssayLaunchAttribute;

typedef struct
{
  unsigned int grid[3], block[3];
  unsigned int shared_bytes;
  CUstream stream;
  AssayLaunchAttribute *attributes;
  unsigned int attribute_count;
} AssayLaunchConfig;

/* Of a context: a part of the device, or one that graphics use as well. */
typedef struct
{
  void *affinities;
  int affinity_count;
  void *graphics;
} AssayContextParameters;

typedef struct
{
  CUfunction function;
  unsigned int grid[3], block[3];
  unsigned int shared_bytes;
  void **parameters;
  void **extra;
  void *kernel;
  CUcontext context;
} AssayKernelNode;

typedef struct
{
  CUdeviceptr to;
  size_t pitch;
  unsigned int value, size;
  size_t width, height;
} AssayMemsetNode;

typedef struct
{
  CUhostFn function;
  void *data;
} AssayHostNode;

/* clang-format off */
#define ASSAY_CUDA_DRIVER_MORE(X) \
  X (cuGetProcAddress, x, (const char *symbol, void **function, int cuda_version, uint64_t flags)) \
  X (cuDeviceGetUuid, x, (CUuuid *uuid, CUdevice device)) \
  X (cuDeviceComputeCapability, x, (int *major, int *minor, CUdevice device)) \
  X (cuDeviceCanAccessPeer, x, (int *can, CUdevice device, CUdevice peer)) \
  X (cuDeviceGetPCIBusId, x, (char *text, int length, CUdevice device)) \
  X (cuDeviceGetByPCIBusId, x, (CUdevice *device, const char *text)) \
  X (cuDeviceGetDefaultMemPool, x, (CUmemoryPool *pool, CUdevice device)) \
  X (cuDeviceGetMemPool, x, (CUmemoryPool *pool, CUdevice device)) \
  X (cuDeviceSetMemPool, x, (CUdevice device, CUmemoryPool pool)) \
  X (cuDevicePrimaryCtxSetFlags_v2, x, (CUdevice device, unsigned int flags)) \
  X (cuCtxCreate_v4, x, \
     (CUcontext *context, const AssayContextParameters *parameters, unsigned int flags, \
      CUdevice device)) \
  X (cuEventElapsedTime_v2, x, (float *milliseconds, CUevent from, CUevent to)) \
  X (cuLinkCreate_v2, x, \
     (unsigned int count, CUjit_option *options, void **values, CUlinkState *state)) \
  X (cuLinkAddData_v2, x, \
     (CUlinkState state, int type, void *data, size_t bytes, const char *name, \
      unsigned int count, CUjit_option *options, void **values)) \
  X (cuLinkComplete, x, (CUlinkState state, void **image, size_t *bytes)) \
  X (cuLinkDestroy, x, (CUlinkState state)) \
  X (cuCtxGetApiVersion, x, (CUcontext context, unsigned int *version)) \
  X (cuCtxGetFlags, x, (unsigned int *flags)) \
  X (cuCtxGetLimit, x, (size_t *value, int limit)) \
  X (cuCtxSetLimit, x, (int limit, size_t value)) \
  X (cuCtxGetCacheConfig, x, (int *config)) \
  X (cuCtxSetCacheConfig, x, (int config)) \
  X (cuCtxGetStreamPriorityRange, x, (int *least, int *greatest)) \
  X (cuCtxEnablePeerAccess, x, (CUcontext peer, unsigned int flags)) \
  X (cuCtxDisablePeerAccess, x, (CUcontext peer)) \
  X (cuModuleLoad, x, (CUmodule *module, const char *path)) \
  X (cuModuleLoadFatBinary, x, (CUmodule *module, const void *image)) \
  X (cuModuleGetLoadingMode, x, (int *mode)) \
  X (cuFuncGetModule, x, (CUmodule *module, CUfunction function)) \
  X (cuFuncGetName, x, (const char **name, CUfunction function)) \
  X (cuFuncSetSharedMemConfig, x, (CUfunction function, int config)) \
  X (cuMemAllocPitch_v2, x, \
     (CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height, unsigned int element)) \
  X (cuMemAllocHost_v2, x, (void **pointer, size_t bytes)) \
  X (cuMemHostRegister_v2, x, (void *pointer, size_t bytes, unsigned int flags)) \
  X (cuMemHostUnregister, x, (void *pointer)) \
  X (cuMemHostGetFlags, x, (unsigned int *flags, void *pointer)) \
  X (cuMemAllocAsync, x, (CUdeviceptr *pointer, size_t bytes, CUstream stream)) \
  X (cuMemAllocFromPoolAsync, x, \
     (CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream)) \
  X (cuMemFreeAsync, x, (CUdeviceptr pointer, CUstream stream)) \
  X (cuMemPoolCreate, x, (CUmemoryPool *pool, const void *properties)) \
  X (cuMemPoolDestroy, x, (CUmemoryPool pool)) \
  X (cuMemPoolTrimTo, x, (CUmemoryPool pool, size_t bytes)) \
  X (cuMemPoolSetAttribute, x, (CUmemoryPool pool, int attribute, void *value)) \
  X (cuMemPoolGetAttribute, x, (CUmemoryPool pool, int attribute, void *value)) \
  X (cuMemPoolSetAccess, x, (CUmemoryPool pool, const void *access, size_t count)) \
  X (cuMemAdvise, x, (CUdeviceptr pointer, size_t bytes, int advice, CUdevice device)) \
  X (cuMemPrefetchAsync, x, \
     (CUdeviceptr pointer, size_t bytes, CUdevice device, CUstream stream)) \
  X (cuMemcpy, x, (CUdeviceptr to, CUdeviceptr from, size_t bytes)) \
  X (cuMemcpyAsync, x, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)) \
  X (cuMemcpyPeer, x, \
     (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, \
      size_t bytes)) \
  X (cuMemcpyPeerAsync, x, \
     (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, \
      size_t bytes, CUstream stream)) \
  X (cuMemcpy2D_v2, x, (const AssayCopy2D *copy)) \
  X (cuMemcpy2DUnaligned_v2, x, (const AssayCopy2D *copy)) \
  X (cuMemcpy2DAsync_v2, x, (const AssayCopy2D *copy, CUstream stream)) \
  X (cuMemcpy3D_v2, x, (const AssayCopy3D *copy)) \
  X (cuMemcpy3DAsync_v2, x, (const AssayCopy3D *copy, CUstream stream)) \
  X (cuMemsetD16Async, x, \
     (CUdeviceptr to, unsigned short value, size_t count, CUstream stream)) \
  X (cuMemsetD2D8_v2, x, \
     (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height)) \
  X (cuMemsetD2D16_v2, x, \
     (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height)) \
  X (cuMemsetD2D32_v2, x, \
     (CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height)) \
  X (cuMemsetD2D8Async, x, \
     (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height, \
      CUstream stream)) \
  X (cuMemsetD2D32Async, x, \
     (CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height, \
      CUstream stream)) \
  X (cuStreamCreateWithPriority, x, (CUstream *stream, unsigned int flags, int priority)) \
  X (cuStreamGetPriority, x, (CUstream stream, int *priority)) \
  X (cuStreamGetFlags, x, (CUstream stream, unsigned int *flags)) \
  X (cuStreamGetId, x, (CUstream stream, unsigned long long *id)) \
  X (cuStreamGetCtx, x, (CUstream stream, CUcontext *context)) \
  X (cuStreamAddCallback, x, \
     (CUstream stream, CUstreamCallback callback, void *data, unsigned int flags)) \
  X (cuStreamAttachMemAsync, x, \
     (CUstream stream, CUdeviceptr pointer, size_t bytes, unsigned int flags)) \
  X (cuStreamWriteValue32_v2, x, \
     (CUstream stream, CUdeviceptr to, unsigned int value, unsigned int flags)) \
  X (cuStreamBeginCapture_v2, x, (CUstream stream, int mode)) \
  X (cuStreamEndCapture, x, (CUstream stream, CUgraph *graph)) \
  X (cuStreamIsCapturing, x, (CUstream stream, int *status)) \
  X (cuStreamGetCaptureInfo_v2, x, \
     (CUstream stream, int *status, uint64_t *id, CUgraph *graph, const CUgraphNode **nodes, \
      size_t *count)) \
  X (cuThreadExchangeStreamCaptureMode, x, (int *mode)) \
  X (cuEventRecordWithFlags, x, (CUevent event, CUstream stream, unsigned int flags)) \
  X (cuLaunchCooperativeKernel, x, \
     (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, \
      unsigned int block_x, unsigned int block_y, unsigned int block_z, \
      unsigned int shared_bytes, CUstream stream, void **parameters)) \
  X (cuTensorMapEncodeTiled, x, \
     (void *map, int type, unsigned int rank, void *address, const uint64_t *sizes, \
      const uint64_t *strides, const unsigned int *box, const unsigned int *steps, int interleave, \
      int swizzle, int promotion, int fill)) \
  X (cuTensorMapReplaceAddress, x, (void *map, void *address)) \
  X (cuLaunchKernelEx, x, \
     (const AssayLaunchConfig *config, CUfunction function, void **parameters, void **extra)) \
  X (cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, x, \
     (int *blocks, CUfunction function, int block_size, size_t dynamic_shared, \
      unsigned int flags)) \
  X (cuOccupancyMaxPotentialBlockSize, x, \
     (int *grid_size, int *block_size, CUfunction function, CUoccupancyB2DSize shared_of, \
      size_t dynamic_shared, int limit)) \
  X (cuOccupancyMaxPotentialBlockSizeWithFlags, x, \
     (int *grid_size, int *block_size, CUfunction function, CUoccupancyB2DSize shared_of, \
      size_t dynamic_shared, int limit, unsigned int flags)) \
  X (cuOccupancyAvailableDynamicSMemPerBlock, x, \
     (size_t *bytes, CUfunction function, int blocks, int block_size)) \
  X (cuProfilerStart, x, (void)) \
  X (cuProfilerStop, x, (void)) \
  X (cuGraphCreate, x, (CUgraph *graph, unsigned int flags)) \
  X (cuGraphDestroy, x, (CUgraph graph)) \
  X (cuGraphClone, x, (CUgraph *clone, CUgraph graph)) \
  X (cuGraphAddKernelNode_v2, x, \
     (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, \
      const AssayKernelNode *kernel)) \
  X (cuGraphAddMemcpyNode, x, \
     (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, \
      const AssayCopy3D *copy, CUcontext context)) \
  X (cuGraphAddMemsetNode, x, \
     (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, \
      const AssayMemsetNode *fill, CUcontext context)) \
  X (cuGraphAddHostNode, x, \
     (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, \
      const AssayHostNode *host)) \
  X (cuGraphAddEmptyNode, x, \
     (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count)) \
  X (cuGraphAddChildGraphNode, x, \
     (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, CUgraph child)) \
  X (cuGraphAddDependencies, x, \
     (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count)) \
  X (cuGraphGetNodes, x, (CUgraph graph, CUgraphNode *nodes, size_t *count)) \
  X (cuGraphGetRootNodes, x, (CUgraph graph, CUgraphNode *nodes, size_t *count)) \
  X (cuGraphNodeGetType, x, (CUgraphNode node, int *type)) \
  X (cuGraphKernelNodeSetParams_v2, x, (CUgraphNode node, const AssayKernelNode *kernel)) \
  X (cuGraphInstantiateWithFlags, x, \
     (CUgraphExec *exec, CUgraph graph, unsigned long long flags)) \
  X (cuGraphExecKernelNodeSetParams_v2, x, \
     (CUgraphExec exec, CUgraphNode node, const AssayKernelNode *kernel)) \
  X (cuGraphExecUpdate_v2, x, (CUgraphExec exec, CUgraph graph, void *info)) \
  X (cuGraphExecDestroy, x, (CUgraphExec exec)) \
  X (cuGraphLaunch, x, (CUgraphExec exec, CUstream stream)) \
  X (cuGraphUpload, x, (CUgraphExec exec, CUstream stream)) \
  X (cuGraphAddMemAllocNode, x, \
     (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, \
      AssayMemoryNode *memory)) \
  X (cuGraphMemAllocNodeGetParams, x, (CUgraphNode node, AssayMemoryNode *memory)) \
  X (cuGraphAddMemFreeNode, x, \
     (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, \
      CUdeviceptr pointer)) \
  X (cuArrayCreate_v2, x, (CUarray *array, const AssayArray *shape)) \
  X (cuArrayGetDescriptor_v2, x, (AssayArray *shape, CUarray array)) \
  X (cuArray3DCreate_v2, x, (CUarray *array, const AssayArray3D *shape)) \
  X (cuArray3DGetDescriptor_v2, x, (AssayArray3D *shape, CUarray array)) \
  X (cuArrayDestroy, x, (CUarray array)) \
  X (cuMipmappedArrayCreate, x, \
     (CUmipmappedArray *mipmap, const AssayArray3D *shape, unsigned int levels)) \
  X (cuMipmappedArrayGetLevel, x, (CUarray *array, CUmipmappedArray mipmap, unsigned int level)) \
  X (cuMipmappedArrayDestroy, x, (CUmipmappedArray mipmap)) \
  X (cuTexObjectCreate, x, \
     (unsigned long long *object, const AssayResource *resource, const AssaySampler *sampler, \
      const void *view)) \
  X (cuTexObjectDestroy, x, (unsigned long long object)) \
  X (cuSurfObjectCreate, x, (unsigned long long *object, const AssayResource *resource)) \
  X (cuSurfObjectDestroy, x, (unsigned long long object)) \
  X (cuMemcpyHtoA_v2, x, (CUarray to, size_t offset, const void *from, size_t bytes)) \
  X (cuMemcpyAtoH_v2, x, (void *to, CUarray from, size_t offset, size_t bytes)) \
  X (cuMemcpyDtoA_v2, x, (CUarray to, size_t offset, CUdeviceptr from, size_t bytes)) \
  X (cuMemcpyAtoD_v2, x, (CUdeviceptr to, CUarray from, size_t offset, size_t bytes)) \
  X (cuMemcpyAtoA_v2, x, \
     (CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes)) \
  X (cuMemcpyHtoAAsync_v2, x, \
     (CUarray to, size_t offset, const void *from, size_t bytes, CUstream stream)) \
  X (cuMemcpyAtoHAsync_v2, x, \
     (void *to, CUarray from, size_t offset, size_t bytes, CUstream stream))
/* clang-format on */
