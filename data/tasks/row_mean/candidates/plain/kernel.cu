// SPDX-License-Identifier: Apache-2.0
// Mean of every row: one block of 128 threads for each row.
// Rows of any length are added in float32.

#include <cuda_fp16.h>

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

extern "C" __global__ void __launch_bounds__ (kThreads)
row_mean (const float *__restrict__ x, float *__restrict__ mean, int rows, int cols)
{
  __shared__ float partial[kWarps];

  const float *in = x + static_cast<size_t> (blockIdx.x) * cols;
  float sum = 0.0f;
  for (int j = threadIdx.x; j < cols; j += kThreads)
    sum += in[j];
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
