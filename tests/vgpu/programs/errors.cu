/* SPDX-License-Identifier: Apache-2.0 */
// What launches that do not fit return, and what a fault leaves behind.
#include "check.h"

#include <cstring>

__global__ void
touch (int *at)
{
  *at = 1;
}

__global__ void __launch_bounds__ (128) bounded (int *at)
{
  extern __shared__ int shared[];
  shared[threadIdx.x] = 1;
  *at = shared[threadIdx.x];
}

int
main ()
{
  int *device;
  OK (cudaMalloc (&device, 4));
  touch<<<1, 2048>>> (device);
  CHECK (cudaPeekAtLastError () == cudaErrorInvalidConfiguration);
  CHECK (cudaGetLastError () == cudaErrorInvalidConfiguration && cudaGetLastError () == cudaSuccess);
  touch<<<0, 1>>> (device);
  CHECK (cudaGetLastError () == cudaErrorInvalidConfiguration);
  touch<<<dim3 (1, 65536), 1>>> (device);
  CHECK (cudaGetLastError () == cudaErrorInvalidConfiguration);
  bounded<<<1, 129>>> (device);
  CHECK (cudaGetLastError () != cudaSuccess);
  bounded<<<1, 128, 49153>>> (device);
  CHECK (cudaGetLastError () != cudaSuccess);
  OK (cudaFuncSetAttribute (bounded, cudaFuncAttributeMaxDynamicSharedMemorySize, 166912));
  bounded<<<1, 128, 166912>>> (device);
  OK (cudaDeviceSynchronize ());
  CHECK (cudaFuncSetAttribute (bounded, cudaFuncAttributeMaxDynamicSharedMemorySize, 166913)
         == cudaErrorInvalidValue);
  cudaGetLastError ();
  CHECK (!std::strcmp (cudaGetErrorName (cudaErrorIllegalAddress), "cudaErrorIllegalAddress"));
  CHECK (!std::strcmp (cudaGetErrorString (cudaErrorInvalidValue), "invalid argument"));
  void *pointer;
  CHECK (cudaMalloc (&pointer, (size_t) 1 << 45) == cudaErrorMemoryAllocation);
  CHECK (cudaFree ((char *) device + 1) == cudaErrorInvalidValue);
  CHECK (cudaMemcpy (device, &pointer, 8, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK (cudaGetLastError () == cudaErrorInvalidValue);
  OK (cudaStreamQuery (0));
  // Handles that are none.
  float milliseconds;
  cudaEvent_t nothing = (cudaEvent_t) ~0ul, event;
  cudaStream_t nowhere = (cudaStream_t) ~0ul;
  CHECK (cudaEventRecord (nothing, 0) == cudaErrorInvalidResourceHandle);
  CHECK (cudaEventSynchronize (nothing) == cudaErrorInvalidResourceHandle);
  CHECK (cudaEventElapsedTime (&milliseconds, nothing, nothing) == cudaErrorInvalidResourceHandle);
  CHECK (cudaEventDestroy (nothing) == cudaErrorInvalidResourceHandle);
  CHECK (cudaStreamSynchronize (nowhere) == cudaErrorInvalidResourceHandle);
  OK (cudaEventCreate (&event));
  OK (cudaEventDestroy (event));
  CHECK (cudaEventQuery (event) == cudaErrorInvalidResourceHandle);
  cudaGetLastError ();
  // A fault stays, and comes before anything that a call was given.
  touch<<<1, 1>>> (device + 100);
  CHECK (cudaDeviceSynchronize () == cudaErrorIllegalAddress);
  CHECK (cudaMalloc (&pointer, 4) == cudaErrorIllegalAddress);
  CHECK (cudaEventRecord (nothing, 0) == cudaErrorIllegalAddress);
  CHECK (cudaGetLastError () == cudaErrorIllegalAddress);
  CHECK (cudaGetLastError () == cudaErrorIllegalAddress);
  std::printf ("fine\n");
}
