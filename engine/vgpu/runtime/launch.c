/* SPDX-License-Identifier: Apache-2.0 */
/* Launches, and questions about kernels. */
#include "engine/vgpu/runtime/runtime.h"

#include <stdint.h>
#include <string.h>

#define MAX_PUSHED 16

typedef struct
{
  AssayDim3 grid, block;
  size_t shared;
  CUstream stream;
} Configuration;

static __thread Configuration pushed[MAX_PUSHED];
static __thread int pushed_count;

unsigned int
__cudaPushCallConfiguration (AssayDim3 grid, AssayDim3 block, size_t shared, CUstream stream)
{
  if (pushed_count == MAX_PUSHED)
    return 1;
  pushed[pushed_count++] = (Configuration) {grid, block, shared, stream};
  return 0;
}

cudaError
__cudaPopCallConfiguration (AssayDim3 *grid, AssayDim3 *block, size_t *shared, CUstream *stream)
{
  if (pushed_count == 0)
    return cudart_result (CUDART_MISSING_CONFIGURATION);
  const Configuration *last = &pushed[--pushed_count];
  *grid = last->grid;
  *block = last->block;
  *shared = last->shared;
  *stream = last->stream;
  return CUDA_SUCCESS;
}

static const char *
name_of (const void *host)
{
  const char *name = NULL;
  CUfunction function;
  if (cudart_function (host, &function) == CUDA_SUCCESS)
    cuFuncGetName (&name, function);
  return name != NULL ? name : "?";
}

/* One refused launch, with the runtime's own word for a shape that the device does not take. */
static cudaError
conclude (const void *host, cudaError code)
{
  if (code == CUDA_ERROR_INVALID_VALUE)
    code = CUDART_INVALID_CONFIGURATION;
  if (code != CUDA_SUCCESS)
    cudart_launch_failed (name_of (host), code);
  return cudart_result (code);
}

static cudaError
launch (const void *host, AssayDim3 grid, AssayDim3 block, void **arguments, size_t shared,
        CUstream stream, bool cooperative)
{
  CUfunction function;
  cudaError code = cudart_function (host, &function);
  if (code != CUDA_SUCCESS)
    return conclude (host, code);
  if (shared > UINT32_MAX)
    return conclude (host, CUDA_ERROR_INVALID_VALUE);
  void *none = NULL;
  void **parameters = arguments != NULL ? arguments : &none;
  code =
      (cudaError) (cooperative
                       ? cuLaunchCooperativeKernel (function, grid.x, grid.y, grid.z, block.x,
                                                    block.y, block.z, (unsigned int) shared, stream,
                                                    parameters)
                       : cuLaunchKernel (function, grid.x, grid.y, grid.z, block.x, block.y,
                                         block.z, (unsigned int) shared, stream, parameters, NULL));
  return conclude (host, code);
}

cudaError
__cudaGetKernel (CUruntimeKernel *kernel, const void *host)
{
  *kernel = cudart_symbol (host);
  return *kernel != NULL ? CUDA_SUCCESS : CUDART_INVALID_FUNCTION;
}

cudaError
cudaGetKernel (CUruntimeKernel *kernel, const void *host)
{
  return cudart_result (__cudaGetKernel (kernel, host));
}

cudaError
__cudaLaunchKernel (CUruntimeKernel kernel, AssayDim3 grid, AssayDim3 block, void **arguments,
                    size_t shared, CUstream stream)
{
  const CudartSymbol *symbol = kernel;
  return launch (symbol != NULL ? symbol->host : NULL, grid, block, arguments, shared, stream,
                 false);
}

cudaError
cudaLaunchKernel (const void *host, AssayDim3 grid, AssayDim3 block, void **arguments,
                  size_t shared, CUstream stream)
{
  return launch (host, grid, block, arguments, shared, stream, false);
}

cudaError
cudaLaunchCooperativeKernel (const void *host, AssayDim3 grid, AssayDim3 block, void **arguments,
                             size_t shared, CUstream stream)
{
  return launch (host, grid, block, arguments, shared, stream, true);
}

cudaError
cudaLaunchKernelExC (const AssayRuntimeLaunch *asked, const void *host, void **arguments)
{
  CUfunction function;
  void *none = NULL;
  if (asked == NULL)
    return cudart_result (CUDA_ERROR_INVALID_VALUE);
  cudaError code = cudart_function (host, &function);
  if (code != CUDA_SUCCESS)
    return conclude (host, code);
  AssayLaunchConfig config = {.grid = {asked->grid.x, asked->grid.y, asked->grid.z},
                              .block = {asked->block.x, asked->block.y, asked->block.z},
                              .shared_bytes = (unsigned int) asked->shared,
                              .stream = asked->stream,
                              .attributes = asked->attributes,
                              .attribute_count = asked->attribute_count};
  code =
      (cudaError) cuLaunchKernelEx (&config, function, arguments != NULL ? arguments : &none, NULL);
  if (code == CUDA_ERROR_NOT_SUPPORTED)
    cudart_refuse ("cudaLaunchKernelExC", assayVgpuLastError ());
  return conclude (host, code);
}

cudaError
cudaLaunchHostFunc (CUstream stream, CUhostFn function, void *data)
{
  CUDART_CALL (cuLaunchHostFunc (stream, function, data));
}

cudaError
cudaFuncSetAttribute (const void *host, int attribute, int value)
{
  CUfunction function;
  cudaError code = cudart_function (host, &function);
  if (code == CUDA_SUCCESS)
    code = (cudaError) cuFuncSetAttribute (function, (CUfunction_attribute) attribute, value);
  return cudart_result (code);
}

cudaError
cudaFuncGetAttributes (AssayFuncAttributes *attributes, const void *host)
{
  static const CUfunction_attribute wanted[] = {
      CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
      CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
      CU_FUNC_ATTRIBUTE_NUM_REGS,          CU_FUNC_ATTRIBUTE_PTX_VERSION,
      CU_FUNC_ATTRIBUTE_BINARY_VERSION,    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
  };
  enum
  {
    COUNT = sizeof wanted / sizeof wanted[0]
  };
  int values[COUNT] = {0};
  CUfunction function;
  if (attributes == NULL)
    return cudart_result (CUDA_ERROR_INVALID_VALUE);
  cudaError code = cudart_function (host, &function);
  for (int i = 0; i < COUNT && code == CUDA_SUCCESS; i++)
    code = (cudaError) cuFuncGetAttribute (&values[i], wanted[i], function);
  if (code != CUDA_SUCCESS)
    return cudart_result (code);
  *attributes = (AssayFuncAttributes) {.shared_bytes = (size_t) values[0],
                                       .const_bytes = (size_t) values[1],
                                       .local_bytes = (size_t) values[2],
                                       .max_threads = values[3],
                                       .registers = values[4],
                                       .ptx_version = values[5],
                                       .binary_version = values[6],
                                       .max_dynamic_shared = values[7],
                                       .carveout = -1};
  return CUDA_SUCCESS;
}

cudaError
cudaFuncGetName (const char **name, const void *host)
{
  CUfunction function;
  cudaError code = cudart_function (host, &function);
  if (code == CUDA_SUCCESS)
    code = (cudaError) cuFuncGetName (name, function);
  return cudart_result (code);
}

cudaError
cudaFuncSetCacheConfig (const void *host, int config)
{
  CUfunction function;
  cudaError code = cudart_function (host, &function);
  if (code == CUDA_SUCCESS)
    code = (cudaError) cuFuncSetCacheConfig (function, config);
  return cudart_result (code);
}

cudaError
cudaFuncSetSharedMemConfig (const void *host, int config)
{
  return cudaFuncSetCacheConfig (host, config);
}

cudaError
cudaGetFuncBySymbol (CUfunction *function, const void *host)
{
  return cudart_result (cudart_function (host, function));
}

cudaError
cudaOccupancyMaxActiveBlocksPerMultiprocessor (int *blocks, const void *host, int block_size,
                                               size_t shared)
{
  CUfunction function;
  cudaError code = cudart_function (host, &function);
  if (code == CUDA_SUCCESS)
    code = (cudaError) cuOccupancyMaxActiveBlocksPerMultiprocessor (blocks, function, block_size,
                                                                    shared);
  return cudart_result (code);
}

cudaError
cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags (int *blocks, const void *host,
                                                        int block_size, size_t shared,
                                                        unsigned int flags)
{
  (void) flags;
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor (blocks, host, block_size, shared);
}

cudaError
cudaOccupancyAvailableDynamicSMemPerBlock (size_t *bytes, const void *host, int blocks,
                                           int block_size)
{
  CUfunction function;
  cudaError code = cudart_function (host, &function);
  if (code == CUDA_SUCCESS)
    code =
        (cudaError) cuOccupancyAvailableDynamicSMemPerBlock (bytes, function, blocks, block_size);
  return cudart_result (code);
}
