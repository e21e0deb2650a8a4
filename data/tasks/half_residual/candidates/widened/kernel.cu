// SPDX-License-Identifier: Apache-2.0
// Halved residual: widened to float32, added, rounded once.

#include <cuda_fp16.h>

extern "C" __global__ void half_residual (const __half *__restrict__ x, const __half *__restrict__ r,
                                          __half *__restrict__ y, int n)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = __float2half_rn (__half2float (x[i]) + 0.5f * __half2float (r[i]));
}
