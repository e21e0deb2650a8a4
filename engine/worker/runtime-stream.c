/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/worker/runtime-abi.h"
#include "engine/worker/runtime.h"

#define CALL assay_runtime.driver->call

int
cudaDeviceSynchronize (void)
{
  return assay_runtime_result (CALL.ctx_synchronize ());
}

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
cudaStreamCreate (void **stream)
{
  return cudaStreamCreateWithFlags (stream, 0);
}

int
cudaStreamCreateWithFlags (void **stream, unsigned int flags)
{
  return assay_runtime_result (CALL.stream_create ((CUstream *) stream, flags));
}

int
cudaStreamDestroy (void *stream)
{
  return assay_runtime_result (CALL.stream_destroy (stream));
}

int
cudaStreamSynchronize (void *stream)
{
  return assay_runtime_result (CALL.stream_synchronize (assay_runtime_stream (stream)));
}

int
cudaStreamQuery (void *stream)
{
  return assay_runtime_result (CALL.stream_query (assay_runtime_stream (stream)));
}

int
cudaStreamWaitEvent (void *stream, void *event, unsigned int flags)
{
  return assay_runtime_result (
      CALL.stream_wait_event (assay_runtime_stream (stream), event, flags));
}

int
cudaEventCreate (void **event)
{
  return cudaEventCreateWithFlags (event, 0);
}

int
cudaEventCreateWithFlags (void **event, unsigned int flags)
{
  return assay_runtime_result (CALL.event_create ((CUevent *) event, flags));
}

int
cudaEventDestroy (void *event)
{
  return assay_runtime_result (CALL.event_destroy (event));
}

int
cudaEventRecord (void *event, void *stream)
{
  return assay_runtime_result (CALL.event_record (event, assay_runtime_stream (stream)));
}

int
cudaEventSynchronize (void *event)
{
  return assay_runtime_result (CALL.event_synchronize (event));
}

int
cudaEventQuery (void *event)
{
  return assay_runtime_result (CALL.event_query (event));
}

int
cudaEventElapsedTime (float *milliseconds, void *from, void *to)
{
  return assay_runtime_result (CALL.event_elapsed_time (milliseconds, from, to));
}
