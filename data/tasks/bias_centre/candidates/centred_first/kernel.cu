// SPDX-License-Identifier: Apache-2.0
// Centring and bias in one pass over the row: one block of 128 threads for each row.
// The row is read twice, from cache the second time.

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

extern "C" __global__ void __launch_bounds__ (kThreads)
bias_centre (const float *__restrict__ x, const float *__restrict__ bias, float *__restrict__ y,
             int rows, int cols)
{
  __shared__ float partial[kWarps];

  const float *in = x + static_cast<size_t> (blockIdx.x) * cols;
  float *out = y + static_cast<size_t> (blockIdx.x) * cols;
  const float b = bias[blockIdx.x];
  float sum = 0.0f;
  for (int j = threadIdx.x; j < cols; j += kThreads)
    sum += in[j];
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_xor_sync (0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = sum;
  __syncthreads ();
  sum = 0.0f;
  for (int w = 0; w < kWarps; w++)
    sum += partial[w];
  const float mean = sum / cols;
  for (int j = threadIdx.x; j < cols; j += kThreads)
    out[j] = (in[j] - mean) + b;
}
