/* SPDX-License-Identifier: Apache-2.0 */
/* Memory. */
#include "engine/vgpu/runtime/runtime.h"

#include <stdint.h>
#include <string.h>

static CUdeviceptr
address (const void *pointer)
{
  return (uintptr_t) pointer;
}

/* Puts an address where the caller wants a pointer. */
static cudaError
deliver (void **pointer, CUdeviceptr found, CUresult result)
{
  if (pointer != NULL && result == CUDA_SUCCESS)
    *pointer = (void *) (uintptr_t) found;
  return cudart_result ((cudaError) result);
}

/* No bytes: no pointer, and no error. */
static cudaError
deliver_none (void **pointer)
{
  *pointer = NULL;
  return cudart_result (cudart_begin ());
}

cudaError
cudaMalloc (void **pointer, size_t bytes)
{
  CUdeviceptr found = 0;
  cudaError begun = cudart_begin ();
  if (begun != CUDA_SUCCESS || pointer == NULL)
    return cudart_result (begun != CUDA_SUCCESS ? begun : (cudaError) CUDA_ERROR_INVALID_VALUE);
  return bytes == 0 ? deliver_none (pointer)
                    : deliver (pointer, found, cuMemAlloc_v2 (&found, bytes));
}

cudaError
cudaMallocManaged (void **pointer, size_t bytes, unsigned int flags)
{
  CUdeviceptr found = 0;
  cudaError begun = cudart_begin ();
  if (begun != CUDA_SUCCESS)
    return cudart_result (begun);
  CUresult result =
      pointer != NULL ? cuMemAllocManaged (&found, bytes, flags) : CUDA_ERROR_INVALID_VALUE;
  return deliver (pointer, found, result);
}

cudaError
cudaHostAlloc (void **pointer, size_t bytes, unsigned int flags)
{
  cudaError begun = cudart_begin ();
  if (begun != CUDA_SUCCESS || pointer == NULL)
    return cudart_result (begun != CUDA_SUCCESS ? begun : (cudaError) CUDA_ERROR_INVALID_VALUE);
  return bytes == 0 ? deliver_none (pointer)
                    : cudart_result ((cudaError) cuMemHostAlloc (pointer, bytes, flags));
}

cudaError
cudaMallocHost (void **pointer, size_t bytes)
{
  return cudaHostAlloc (pointer, bytes, 0);
}

cudaError
cudaMallocPitch (void **pointer, size_t *pitch, size_t width, size_t height)
{
  CUdeviceptr found = 0;
  cudaError begun = cudart_begin ();
  if (begun != CUDA_SUCCESS)
    return cudart_result (begun);
  CUresult result = cuMemAllocPitch_v2 (&found, pitch, width, height, 4);
  return deliver (pointer, found, result);
}

cudaError
cudaMalloc3D (AssayPitchedPointer *pointer, AssayExtent extent)
{
  if (pointer == NULL)
    return cudart_result (CUDA_ERROR_INVALID_VALUE);
  pointer->width = extent.width;
  pointer->height = extent.height;
  return cudaMallocPitch (&pointer->pointer, &pointer->pitch, extent.width,
                          extent.height * extent.depth);
}

cudaError
cudaFree (void *pointer)
{
  CUDART_CALL (cuMemFree_v2 (address (pointer)));
}

cudaError
cudaFreeHost (void *pointer)
{
  CUDART_CALL (cuMemFreeHost (pointer));
}

cudaError
cudaHostRegister (void *pointer, size_t bytes, unsigned int flags)
{
  CUDART_CALL (cuMemHostRegister_v2 (pointer, bytes, flags));
}

cudaError
cudaHostUnregister (void *pointer)
{
  CUDART_CALL (cuMemHostUnregister (pointer));
}

cudaError
cudaHostGetDevicePointer (void **device, void *host, unsigned int flags)
{
  CUdeviceptr found = 0;
  cudaError begun = cudart_begin ();
  if (begun != CUDA_SUCCESS)
    return cudart_result (begun);
  CUresult result = cuMemHostGetDevicePointer_v2 (&found, host, flags);
  return deliver (device, found, result);
}

cudaError
cudaHostGetFlags (unsigned int *flags, void *host)
{
  CUDART_CALL (cuMemHostGetFlags (flags, host));
}

cudaError
cudaMemGetInfo (size_t *available, size_t *total)
{
  CUDART_CALL (cuMemGetInfo_v2 (available, total));
}

cudaError
cudaPointerGetAttributes (AssayPointerAttributes *attributes, const void *pointer)
{
  unsigned int type = 0;
  int managed = 0;
  cudaError begun = cudart_begin ();
  if (begun != CUDA_SUCCESS || attributes == NULL)
    return cudart_result (begun != CUDA_SUCCESS ? begun : (cudaError) CUDA_ERROR_INVALID_VALUE);
  memset (attributes, 0, sizeof *attributes);
  CUresult result =
      cuPointerGetAttribute (&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address (pointer));
  if (result == CUDA_ERROR_INVALID_VALUE)
    {
      /* Nobody's memory is the program's own. */
      attributes->device = -2;
      attributes->host_pointer = (void *) (uintptr_t) pointer;
      return CUDA_SUCCESS;
    }
  cuPointerGetAttribute (&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address (pointer));
  attributes->type = managed ? 3 : (int) type;
  attributes->device_pointer = (void *) (uintptr_t) pointer;
  if (attributes->type != 2)
    attributes->host_pointer = (void *) (uintptr_t) pointer;
  return cudart_result ((cudaError) result);
}

/* ---- stream-ordered allocation ---- */

cudaError
cudaMallocAsync (void **pointer, size_t bytes, CUstream stream)
{
  CUdeviceptr found = 0;
  cudaError begun = cudart_begin ();
  if (begun != CUDA_SUCCESS || pointer == NULL)
    return cudart_result (begun != CUDA_SUCCESS ? begun : (cudaError) CUDA_ERROR_INVALID_VALUE);
  if (bytes == 0)
    return deliver_none (pointer);
  CUresult result = cuMemAllocAsync (&found, bytes, stream);
  return deliver (pointer, found, result);
}

cudaError
cudaMallocFromPoolAsync (void **pointer, size_t bytes, CUmemoryPool pool, CUstream stream)
{
  return pool == NULL ? cudart_result (CUDA_ERROR_INVALID_VALUE)
                      : cudaMallocAsync (pointer, bytes, stream);
}

cudaError
cudaFreeAsync (void *pointer, CUstream stream)
{
  CUDART_CALL (cuMemFreeAsync (address (pointer), stream));
}

cudaError
cudaDeviceGetDefaultMemPool (CUmemoryPool *pool, int device)
{
  CUDART_CALL (cuDeviceGetDefaultMemPool (pool, device));
}

cudaError
cudaDeviceGetMemPool (CUmemoryPool *pool, int device)
{
  CUDART_CALL (cuDeviceGetMemPool (pool, device));
}

cudaError
cudaDeviceSetMemPool (int device, CUmemoryPool pool)
{
  CUDART_CALL (cuDeviceSetMemPool (device, pool));
}

cudaError
cudaMemPoolCreate (CUmemoryPool *pool, const void *properties)
{
  CUDART_CALL (cuMemPoolCreate (pool, properties));
}

cudaError
cudaMemPoolDestroy (CUmemoryPool pool)
{
  CUDART_CALL (cuMemPoolDestroy (pool));
}

cudaError
cudaMemPoolTrimTo (CUmemoryPool pool, size_t bytes)
{
  CUDART_CALL (cuMemPoolTrimTo (pool, bytes));
}

cudaError
cudaMemPoolSetAttribute (CUmemoryPool pool, int attribute, void *value)
{
  CUDART_CALL (cuMemPoolSetAttribute (pool, attribute, value));
}

cudaError
cudaMemPoolGetAttribute (CUmemoryPool pool, int attribute, void *value)
{
  CUDART_CALL (cuMemPoolGetAttribute (pool, attribute, value));
}

cudaError
cudaMemPoolSetAccess (CUmemoryPool pool, const void *access, size_t count)
{
  CUDART_CALL (cuMemPoolSetAccess (pool, access, count));
}

cudaError
cudaMemAdvise (const void *pointer, size_t bytes, int advice, AssayLocation location)
{
  CUDART_CALL (cuMemAdvise (address (pointer), bytes, advice, location.id));
}

cudaError
cudaMemPrefetchAsync (const void *pointer, size_t bytes, AssayLocation location, unsigned int flags,
                      CUstream stream)
{
  (void) flags;
  CUDART_CALL (cuMemPrefetchAsync (address (pointer), bytes, location.id, stream));
}
