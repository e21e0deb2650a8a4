/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/worker/runtime-abi.h"
#include "engine/worker/runtime.h"

#include <string.h>

#define CALL assay_runtime.driver->call

/* cudaMemcpyKind: host to host 0, to device 1, to host 2, between devices 3, by the pointers 4. */
enum
{
  HOST_TO_HOST,
  HOST_TO_DEVICE,
  DEVICE_TO_HOST,
  DEVICE_TO_DEVICE,
  BY_POINTERS,
};

static CUdeviceptr
device_pointer (const void *pointer)
{
  return (CUdeviceptr) (guintptr) pointer;
}

static gboolean
is_device (const void *pointer)
{
  CUdeviceptr base = 0;
  size_t bytes = 0;
  return CALL.mem_get_address_range (&base, &bytes, device_pointer (pointer)) == CUDA_SUCCESS;
}

static int
kind_of (const void *to, const void *from, int kind)
{
  if (kind != BY_POINTERS)
    return kind;
  return (is_device (from) ? DEVICE_TO_HOST : HOST_TO_HOST)
         + (is_device (to) ? HOST_TO_DEVICE : HOST_TO_HOST);
}

static GHashTable *allocated; /* device address → bytes */

static void
remember (CUdeviceptr address, size_t bytes)
{
  if (!allocated)
    allocated = g_hash_table_new (NULL, NULL);
  if (address)
    g_hash_table_insert (allocated, GSIZE_TO_POINTER (address), GSIZE_TO_POINTER (bytes));
}

AssayRuntimeLeak
assay_runtime_leak (void)
{
  AssayRuntimeLeak leak = {0, 0};
  GHashTableIter iter;
  gpointer bytes;
  if (!allocated)
    return leak;
  g_hash_table_iter_init (&iter, allocated);
  while (g_hash_table_iter_next (&iter, NULL, &bytes))
    {
      leak.count++;
      leak.bytes += GPOINTER_TO_SIZE (bytes);
    }
  return leak;
}

int
cudaMalloc (void **pointer, size_t bytes)
{
  CUdeviceptr address = 0;
  /* Nothing is a size that the driver refuses and the runtime does not. */
  int code = bytes ? CALL.mem_alloc (&address, bytes) : CUDA_SUCCESS;
  *pointer = (void *) (guintptr) address;
  remember (address, bytes);
  return assay_runtime_result (code);
}

int
cudaMallocAsync (void **pointer, size_t bytes, void *stream)
{
  return cudaMalloc (pointer, bytes);
}

int
cudaMallocManaged (void **pointer, size_t bytes, unsigned int flags)
{
  CUdeviceptr address = 0;
  int code = CALL.mem_alloc_managed ? CALL.mem_alloc_managed (&address, bytes, flags)
                                    : CUDA_ERROR_NOT_SUPPORTED;
  *pointer = (void *) (guintptr) address;
  remember (address, bytes);
  return assay_runtime_result (code);
}

int
cudaHostAlloc (void **pointer, size_t bytes, unsigned int flags)
{
  return assay_runtime_result (CALL.mem_host_alloc (pointer, bytes, flags));
}

int
cudaMallocHost (void **pointer, size_t bytes)
{
  return cudaHostAlloc (pointer, bytes, 0);
}

int
cudaFree (void *pointer)
{
  if (allocated && pointer)
    g_hash_table_remove (allocated, pointer);
  return assay_runtime_result (pointer ? CALL.mem_free (device_pointer (pointer)) : CUDA_SUCCESS);
}

int
cudaFreeAsync (void *pointer, void *stream)
{
  CALL.stream_synchronize (assay_runtime_stream (stream));
  return cudaFree (pointer);
}

int
cudaFreeHost (void *pointer)
{
  return assay_runtime_result (pointer ? CALL.mem_free_host (pointer) : CUDA_SUCCESS);
}

int
cudaMemGetInfo (size_t *available, size_t *total)
{
  return assay_runtime_result (CALL.mem_get_info (available, total));
}

int
cudaMemcpy (void *to, const void *from, size_t bytes, int kind)
{
  switch (kind_of (to, from, kind))
    {
    case HOST_TO_HOST:
      memmove (to, from, bytes);
      return CUDA_SUCCESS;
    case HOST_TO_DEVICE:
      return assay_runtime_result (CALL.memcpy_htod (device_pointer (to), from, bytes));
    case DEVICE_TO_HOST:
      return assay_runtime_result (CALL.memcpy_dtoh (to, device_pointer (from), bytes));
    case DEVICE_TO_DEVICE:
      return assay_runtime_result (
          CALL.memcpy_dtod (device_pointer (to), device_pointer (from), bytes));
    default:
      return assay_runtime_result (CUDA_ERROR_INVALID_VALUE);
    }
}

int
cudaMemcpyAsync (void *to, const void *from, size_t bytes, int kind, void *stream)
{
  CUstream on = assay_runtime_stream (stream);
  switch (kind_of (to, from, kind))
    {
    case HOST_TO_DEVICE:
      return assay_runtime_result (CALL.memcpy_htod_async (device_pointer (to), from, bytes, on));
    case DEVICE_TO_HOST:
      return assay_runtime_result (CALL.memcpy_dtoh_async (to, device_pointer (from), bytes, on));
    case DEVICE_TO_DEVICE:
      return assay_runtime_result (
          CALL.memcpy_dtod_async (device_pointer (to), device_pointer (from), bytes, on));
    default:
      return cudaMemcpy (to, from, bytes, kind);
    }
}

int
cudaMemcpy2D (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
              size_t height, int kind)
{
  int code = CUDA_SUCCESS;
  for (size_t row = 0; row < height && code == CUDA_SUCCESS; row++)
    code = cudaMemcpy ((char *) to + row * to_pitch, (const char *) from + row * from_pitch, width,
                       kind);
  return code;
}

int
cudaMemset (void *to, int value, size_t bytes)
{
  return assay_runtime_result (CALL.memset_d8 (device_pointer (to), (unsigned char) value, bytes));
}

int
cudaMemsetAsync (void *to, int value, size_t bytes, void *stream)
{
  CUstream on = assay_runtime_stream (stream);
  if (!CALL.memset_d8_async)
    return cudaMemset (to, value, bytes);
  return assay_runtime_result (
      CALL.memset_d8_async (device_pointer (to), (unsigned char) value, bytes, on));
}
