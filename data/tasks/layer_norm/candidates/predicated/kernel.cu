// SPDX-License-Identifier: Apache-2.0
// Layer normalisation: one block of 128 threads for each row. The loops run to the next multiple of the
// block, so that no thread leaves early, and values beyond the row count as zero.

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
layer_norm (const float *__restrict__ x, const float *__restrict__ gamma,
            const float *__restrict__ beta, float eps, float *__restrict__ y, int rows, int cols)
{
  __shared__ float partial_sum[kWarps];
  __shared__ float partial_squares[kWarps];

  const int row = blockIdx.x;
  const float *in = x + static_cast<size_t> (row) * cols;
  float *out = y + static_cast<size_t> (row) * cols;
  const int padded = (cols + kThreads - 1) / kThreads * kThreads;

  float sum = 0.0f;
  for (int j = threadIdx.x; j < padded; j += kThreads)
    {
      const float v = __ldg (in + j);
      sum += j < cols ? v : 0.0f;
    }
  const float mean = block_sum (sum, partial_sum) / cols;

  float squares = 0.0f;
  for (int j = threadIdx.x; j < cols; j += kThreads)
    {
      const float centred = in[j] - mean;
      squares += centred * centred;
    }
  const float scale = rsqrtf (block_sum (squares, partial_squares) / cols + eps);

  for (int j = threadIdx.x; j < cols; j += kThreads)
    out[j] = (in[j] - mean) * scale * gamma[j] + beta[j];
}
