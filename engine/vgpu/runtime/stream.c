/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events, capture. */
#include "engine/vgpu/runtime/runtime.h"

#include <stdint.h>

cudaError
cudaStreamCreate (CUstream *stream)
{
  CUDART_CALL (cuStreamCreate (stream, 0));
}

cudaError
cudaStreamCreateWithFlags (CUstream *stream, unsigned int flags)
{
  CUDART_CALL (cuStreamCreate (stream, flags));
}

cudaError
cudaStreamCreateWithPriority (CUstream *stream, unsigned int flags, int priority)
{
  CUDART_CALL (cuStreamCreateWithPriority (stream, flags, priority));
}

cudaError
cudaStreamDestroy (CUstream stream)
{
  CUDART_CALL (stream != NULL ? cuStreamDestroy_v2 (stream) : CUDA_ERROR_INVALID_HANDLE);
}

cudaError
cudaStreamSynchronize (CUstream stream)
{
  CUDART_CALL (cuStreamSynchronize (stream));
}

cudaError
cudaStreamQuery (CUstream stream)
{
  CUDART_CALL (cuStreamQuery (stream));
}

cudaError
cudaStreamWaitEvent (CUstream stream, CUevent event, unsigned int flags)
{
  CUDART_CALL (cuStreamWaitEvent (stream, event, flags));
}

cudaError
cudaStreamAddCallback (CUstream stream, CUstreamCallback callback, void *data, unsigned int flags)
{
  CUDART_CALL (cuStreamAddCallback (stream, callback, data, flags));
}

cudaError
cudaStreamAttachMemAsync (CUstream stream, void *pointer, size_t bytes, unsigned int flags)
{
  CUDART_CALL (cuStreamAttachMemAsync (stream, (uintptr_t) pointer, bytes, flags));
}

cudaError
cudaStreamGetPriority (CUstream stream, int *priority)
{
  CUDART_CALL (cuStreamGetPriority (stream, priority));
}

cudaError
cudaStreamGetFlags (CUstream stream, unsigned int *flags)
{
  CUDART_CALL (cuStreamGetFlags (stream, flags));
}

cudaError
cudaStreamGetId (CUstream stream, unsigned long long *id)
{
  CUDART_CALL (cuStreamGetId (stream, id));
}

cudaError
cudaStreamGetDevice (CUstream stream, int *device)
{
  (void) stream;
  return cudaGetDevice (device);
}

/* Cache policies and the like: hints. */
cudaError
cudaStreamSetAttribute (CUstream stream, int attribute, const void *value)
{
  CUcontext context;
  (void) attribute;
  CUDART_CALL (value != NULL ? cuStreamGetCtx (stream, &context) : CUDA_ERROR_INVALID_VALUE);
}

cudaError
cudaStreamBeginCapture (CUstream stream, int mode)
{
  CUDART_CALL (cuStreamBeginCapture_v2 (stream, mode));
}

cudaError
cudaStreamEndCapture (CUstream stream, CUgraph *graph)
{
  CUDART_CALL (cuStreamEndCapture (stream, graph));
}

cudaError
cudaStreamIsCapturing (CUstream stream, int *status)
{
  CUDART_CALL (cuStreamIsCapturing (stream, status));
}

cudaError
cudaStreamGetCaptureInfo (CUstream stream, int *status, unsigned long long *id, CUgraph *graph,
                          const CUgraphNode **nodes, const void **edges, size_t *count)
{
  uint64_t number = 0;
  cudaError code = cudart_begin ();
  if (code == CUDA_SUCCESS)
    code = (cudaError) cuStreamGetCaptureInfo_v2 (stream, status, &number, graph, nodes, count);
  if (id != NULL)
    *id = number;
  if (edges != NULL)
    *edges = NULL;
  return cudart_result (code);
}

cudaError
cudaThreadExchangeStreamCaptureMode (int *mode)
{
  CUDART_CALL (cuThreadExchangeStreamCaptureMode (mode));
}

cudaError
cudaEventCreate (CUevent *event)
{
  CUDART_CALL (cuEventCreate (event, 0));
}

cudaError
cudaEventCreateWithFlags (CUevent *event, unsigned int flags)
{
  CUDART_CALL (cuEventCreate (event, flags));
}

cudaError
cudaEventDestroy (CUevent event)
{
  CUDART_CALL (cuEventDestroy_v2 (event));
}

cudaError
cudaEventRecord (CUevent event, CUstream stream)
{
  CUDART_CALL (cuEventRecord (event, stream));
}

cudaError
cudaEventRecordWithFlags (CUevent event, CUstream stream, unsigned int flags)
{
  CUDART_CALL (cuEventRecordWithFlags (event, stream, flags));
}

cudaError
cudaEventSynchronize (CUevent event)
{
  CUDART_CALL (cuEventSynchronize (event));
}

cudaError
cudaEventQuery (CUevent event)
{
  CUDART_CALL (cuEventQuery (event));
}

cudaError
cudaEventElapsedTime (float *milliseconds, CUevent from, CUevent to)
{
  CUDART_CALL (cuEventElapsedTime (milliseconds, from, to));
}
