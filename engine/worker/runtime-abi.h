/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/target/cuda-abi.h"

/* The part of the CUDA runtime's binary interface that host code compiled by nvcc asks for, from its
 * published documentation and the headers that nvcc includes. Error codes are those of the driver, but
 * for the one below. */

typedef struct
{
  unsigned int x, y, z;
} AssayDim3;

enum
{
  ASSAY_CUDA_ERROR_INVALID_CONFIGURATION = 9,
  ASSAY_CUDA_ERROR_INVALID_SYMBOL = 13,
  ASSAY_CUDA_ERROR_INVALID_DEVICE_FUNCTION = 98,
};

/* The beginning of cudaFuncAttributes, the same since CUDA 9. */
typedef struct
{
  size_t shared_bytes, const_bytes, local_bytes;
  int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared;
} AssayFuncAttributes;

/* X (result, symbol, parameters) */
/* clang-format off */
#define ASSAY_CUDA_RUNTIME(X) \
  X (void **, __cudaRegisterFatBinary, (void *fat_binary)) \
  X (void, __cudaRegisterFatBinaryEnd, (void **handle)) \
  X (void, __cudaUnregisterFatBinary, (void **handle)) \
  X (char, __cudaInitModule, (void **handle)) \
  X (void, __cudaRegisterFunction, \
     (void **handle, const char *host, char *device, const char *name, int thread_limit, \
      void *thread, void *block, void *block_size, void *grid_size, int *warp_size)) \
  X (void, __cudaRegisterVar, \
     (void **handle, char *host, char *device, const char *name, int external, size_t bytes, \
      int constant, int global)) \
  X (unsigned int, __cudaPushCallConfiguration, \
     (AssayDim3 grid, AssayDim3 block, size_t shared, void *stream)) \
  X (int, __cudaPopCallConfiguration, \
     (AssayDim3 *grid, AssayDim3 *block, size_t *shared, void *stream)) \
  X (int, __cudaGetKernel, (void **kernel, const void *host)) \
  X (int, __cudaLaunchKernel, \
     (void *kernel, AssayDim3 grid, AssayDim3 block, void **arguments, size_t shared, \
      void *stream)) \
  X (int, cudaLaunchKernel, \
     (const void *host, AssayDim3 grid, AssayDim3 block, void **arguments, size_t shared, \
      void *stream)) \
  X (int, cudaFuncSetAttribute, (const void *host, int attribute, int value)) \
  X (int, cudaFuncGetAttributes, (AssayFuncAttributes *attributes, const void *host)) \
  X (int, cudaFuncSetCacheConfig, (const void *host, int config)) \
  X (int, cudaOccupancyMaxActiveBlocksPerMultiprocessor, \
     (int *blocks, const void *host, int block_size, size_t shared)) \
  X (int, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, \
     (int *blocks, const void *host, int block_size, size_t shared, unsigned int flags)) \
  X (int, cudaGetLastError, (void)) \
  X (int, cudaPeekAtLastError, (void)) \
  X (const char *, cudaGetErrorString, (int error)) \
  X (const char *, cudaGetErrorName, (int error)) \
  X (int, cudaDeviceSynchronize, (void)) \
  X (int, cudaGetDevice, (int *device)) \
  X (int, cudaSetDevice, (int device)) \
  X (int, cudaGetDeviceCount, (int *count)) \
  X (int, cudaDeviceGetAttribute, (int *value, int attribute, int device)) \
  X (int, cudaDeviceSetCacheConfig, (int config)) \
  X (int, cudaDeviceSetLimit, (int limit, size_t value)) \
  X (int, cudaDeviceReset, (void)) \
  X (int, cudaGetDeviceProperties, (void *properties, int device)) \
  X (int, cudaDriverGetVersion, (int *version)) \
  X (int, cudaRuntimeGetVersion, (int *version)) \
  X (int, cudaMalloc, (void **pointer, size_t bytes)) \
  X (int, cudaMallocAsync, (void **pointer, size_t bytes, void *stream)) \
  X (int, cudaMallocManaged, (void **pointer, size_t bytes, unsigned int flags)) \
  X (int, cudaMallocHost, (void **pointer, size_t bytes)) \
  X (int, cudaHostAlloc, (void **pointer, size_t bytes, unsigned int flags)) \
  X (int, cudaFree, (void *pointer)) \
  X (int, cudaFreeAsync, (void *pointer, void *stream)) \
  X (int, cudaFreeHost, (void *pointer)) \
  X (int, cudaMemGetInfo, (size_t *available, size_t *total)) \
  X (int, cudaMemcpy, (void *to, const void *from, size_t bytes, int kind)) \
  X (int, cudaMemcpyAsync, (void *to, const void *from, size_t bytes, int kind, void *stream)) \
  X (int, cudaMemcpy2D, \
     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, \
      size_t height, int kind)) \
  X (int, cudaMemset, (void *to, int value, size_t bytes)) \
  X (int, cudaMemsetAsync, (void *to, int value, size_t bytes, void *stream)) \
  X (int, cudaGetSymbolAddress, (void **pointer, const void *symbol)) \
  X (int, cudaMemcpyToSymbol, \
     (const void *symbol, const void *from, size_t bytes, size_t offset, int kind)) \
  X (int, cudaMemcpyToSymbolAsync, \
     (const void *symbol, const void *from, size_t bytes, size_t offset, int kind, \
      void *stream)) \
  X (int, cudaMemcpyFromSymbol, \
     (void *to, const void *symbol, size_t bytes, size_t offset, int kind)) \
  X (int, cudaStreamCreate, (void **stream)) \
  X (int, cudaStreamCreateWithFlags, (void **stream, unsigned int flags)) \
  X (int, cudaStreamDestroy, (void *stream)) \
  X (int, cudaStreamSynchronize, (void *stream)) \
  X (int, cudaStreamQuery, (void *stream)) \
  X (int, cudaStreamWaitEvent, (void *stream, void *event, unsigned int flags)) \
  X (int, cudaEventCreate, (void **event)) \
  X (int, cudaEventCreateWithFlags, (void **event, unsigned int flags)) \
  X (int, cudaEventDestroy, (void *event)) \
  X (int, cudaEventRecord, (void *event, void *stream)) \
  X (int, cudaEventSynchronize, (void *event)) \
  X (int, cudaEventQuery, (void *event)) \
  X (int, cudaEventElapsedTime, (float *milliseconds, void *from, void *to))
/* clang-format on */

#define ASSAY_CUDA_RUNTIME_PROTOTYPE(result, symbol, parameters)                                   \
  __attribute__ ((visibility ("default"))) result symbol parameters;
ASSAY_CUDA_RUNTIME (ASSAY_CUDA_RUNTIME_PROTOTYPE)
#undef ASSAY_CUDA_RUNTIME_PROTOTYPE
