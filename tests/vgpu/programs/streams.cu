/* SPDX-License-Identifier: Apache-2.0 */
// Streams, events, callbacks, stream-ordered memory, pinned memory. Argument: what a copy that nobody
// waited for may show: "now", or "later" when streams run late.
#include "check.h"

#include <cmath>
#include <cstring>

__global__ void
add (int *at, int value)
{
  *at += value;
}

__global__ void
copy (int *to, const int *from)
{
  *to = *from;
}

static void
note (void *data)
{
  ++*(int *) data;
}

static void
callback (cudaStream_t, cudaError_t error, void *data)
{
  *(int *) data += error == cudaSuccess ? 10 : 1000;
}

int
main (int argc, char **argv)
{
  bool late = argc > 1 && !std::strcmp (argv[1], "later");
  cudaStream_t first, second;
  cudaEvent_t event, timeless;
  int *device, *other, *pinned, host = 0, calls = 0;
  OK (cudaStreamCreateWithFlags (&first, cudaStreamNonBlocking));
  OK (cudaStreamCreateWithPriority (&second, cudaStreamNonBlocking, -1));
  OK (cudaEventCreate (&event));
  OK (cudaEventCreateWithFlags (&timeless, cudaEventDisableTiming));
  OK (cudaMallocHost (&pinned, 8));
  OK (cudaMallocAsync (&device, 4, first));
  OK (cudaMallocAsync (&other, 4, first));
  OK (cudaMemsetAsync (device, 0, 4, first));
  OK (cudaStreamSynchronize (first));
  pinned[0] = -1;
  add<<<1, 1, 0, first>>> (device, 5);
  OK (cudaLaunchHostFunc (first, note, &calls));
  OK (cudaStreamAddCallback (first, callback, &calls, 0));
  OK (cudaMemcpyAsync (pinned, device, 4, cudaMemcpyDeviceToHost, first));
  CHECK (pinned[0] == (late ? -1 : 5));
  // Another stream that does not wait may run before.
  copy<<<1, 1, 0, second>>> (other, device);
  OK (cudaMemcpyAsync (pinned + 1, other, 4, cudaMemcpyDeviceToHost, second));
  OK (cudaStreamSynchronize (second));
  CHECK (pinned[1] == (late ? 0 : 5));
  OK (cudaEventRecord (event, first));
  OK (cudaStreamWaitEvent (second, event, 0));
  copy<<<1, 1, 0, second>>> (other, device);
  OK (cudaMemcpyAsync (&host, other, 4, cudaMemcpyDeviceToHost, second));
  CHECK (host == 5 && pinned[0] == 5 && calls == 11);
  // Polling ends.
  add<<<1, 1, 0, first>>> (device, 1);
  OK (cudaEventRecord (timeless, first));
  while (cudaEventQuery (timeless) == cudaErrorNotReady)
    ;
  OK (cudaGetLastError ());
  float milliseconds = 0;
  OK (cudaEventRecord (event, first));
  OK (cudaEventSynchronize (event));
  CHECK (cudaEventElapsedTime (&milliseconds, timeless, event) == cudaErrorInvalidResourceHandle);
  OK (cudaEventElapsedTime (&milliseconds, event, event));
  CHECK (std::isnan (milliseconds));
  cudaGetLastError ();
  OK (cudaMemcpy (&host, device, 4, cudaMemcpyDeviceToHost));
  CHECK (host == 6);
  // Pinned by registration, and seen by a kernel.
  static int own = 3;
  int *seen;
  OK (cudaHostRegister (&own, sizeof own, cudaHostRegisterMapped));
  OK (cudaHostGetDevicePointer (&seen, &own, 0));
  add<<<1, 1, 0, first>>> (seen, 4);
  OK (cudaStreamSynchronize (first));
  CHECK (own == 7);
  OK (cudaHostUnregister (&own));
  OK (cudaFreeAsync (device, first));
  OK (cudaFreeAsync (other, first));
  OK (cudaStreamSynchronize (first));
  OK (cudaFreeHost (pinned));
  OK (cudaEventDestroy (event));
  OK (cudaEventDestroy (timeless));
  OK (cudaStreamDestroy (first));
  OK (cudaStreamDestroy (second));
  CHECK (cudaStreamSynchronize (first) == cudaErrorInvalidResourceHandle);
  std::printf ("fine\n");
}
