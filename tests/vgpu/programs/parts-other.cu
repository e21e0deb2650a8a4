/* SPDX-License-Identifier: Apache-2.0 */
// The other part: it has names of its own that the first has as well.
#include "parts.h"

static __device__ int secret = 3;
__device__ int shared_total = 50;
__device__ int *pointer_to_total = &shared_total;
__device__ char text_of_part[32];

static __device__ __noinline__ int
local_step (int x)
{
  return x * secret;
}

__device__ __noinline__ int
triple (int x)
{
  return local_step (x);
}

__device__ int
reversed (int value)
{
  __shared__ int tile[32];
  tile[31 - threadIdx.x] = value;
  __syncthreads ();
  return tile[threadIdx.x];
}

static __global__ void
run (int *out)
{
  *out = triple (1) + offsets[1] + twice<int> (1) + 1 + shared_total;
  copy_text (text_of_part, "other part");
}

cudaError_t
other_part (int *out)
{
  run<<<1, 1>>> (out);
  return cudaDeviceSynchronize ();
}
