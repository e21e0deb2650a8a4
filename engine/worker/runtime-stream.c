/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/worker/runtime-abi.h"
#include "engine/worker/runtime.h"

#define CALL assay_runtime.driver->call

int
cudaDeviceSynchronize (void)
{
  return assay_runtime_result (CALL.ctx_synchronize ());
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
