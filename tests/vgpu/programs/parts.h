/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cuda_runtime.h>

extern __device__ int shared_total;
extern __device__ int *pointer_to_total;
extern __device__ char text_of_part[32];
extern __constant__ int offsets[3];

__device__ int triple (int x);
__device__ int reversed (int value);

template <class T>
__device__ __noinline__ T
twice (T x)
{
  return x + x;
}

static __device__ __noinline__ void
copy_text (char *to, const char *from)
{
  while ((*to++ = *from++) != 0)
    ;
}

cudaError_t other_part (int *out);
