// SPDX-License-Identifier: Apache-2.0
// Variance of every row: the mean first, then the squares of what is left.

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

__device__ float block_sum (float v, float *partial)
{
  for (int step = 16; step > 0; step /= 2)
    v += __shfl_xor_sync (0xffffffffu, v, step);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = v;
  __syncthreads ();
  float sum = 0.0f;
  for (int w = 0; w < kWarps; w++)
    sum += partial[w];
  return sum;
}

extern "C" __global__ void __launch_bounds__ (kThreads)
row_variance (const float *__restrict__ x, float *__restrict__ v, int rows, int cols)
{
  __shared__ float partial_sum[kWarps];
  __shared__ float partial_squares[kWarps];

  const float *in = x + static_cast<size_t> (blockIdx.x) * cols;
  float sum = 0.0f;
  for (int j = threadIdx.x; j < cols; j += kThreads)
    sum += in[j];
  const float mean = block_sum (sum, partial_sum) / cols;

  float squares = 0.0f;
  for (int j = threadIdx.x; j < cols; j += kThreads)
    squares += (in[j] - mean) * (in[j] - mean);
  squares = block_sum (squares, partial_squares);
  if (threadIdx.x == 0)
    v[blockIdx.x] = squares / cols;
}
