// SPDX-License-Identifier: Apache-2.0
// Mean square of the softmax: one block of 128 threads for each row.

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

__device__ float block_reduce (float v, float *partial, bool maximum)
{
  for (int step = 16; step > 0; step /= 2)
    {
      const float other = __shfl_xor_sync (0xffffffffu, v, step);
      v = maximum ? fmaxf (v, other) : v + other;
    }
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = v;
  __syncthreads ();
  float result = partial[0];
  for (int w = 1; w < kWarps; w++)
    result = maximum ? fmaxf (result, partial[w]) : result + partial[w];
  return result;
}

extern "C" __global__ void __launch_bounds__ (kThreads)
softmax_mean (const float *__restrict__ x, float *__restrict__ y, int rows, int cols)
{
  __shared__ float partial[3][kWarps];

  const float *in = x + static_cast<size_t> (blockIdx.x) * cols;
  float largest = __int_as_float (0xff800000); // minus infinity
  for (int j = threadIdx.x; j < cols; j += kThreads)
    largest = fmaxf (largest, in[j]);
  largest = block_reduce (largest, partial[0], true);

  float sum = 0.0f;
  float squares = 0.0f;
  for (int j = threadIdx.x; j < cols; j += kThreads)
    {
      const float term = expf (in[j] - largest);
      sum += term;
      squares += term * term;
    }
  sum = block_reduce (sum, partial[1], false);
  squares = block_reduce (squares, partial[2], false);
  if (threadIdx.x == 0)
    y[blockIdx.x] = squares / sum / sum / cols;
}
