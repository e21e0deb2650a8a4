// SPDX-License-Identifier: Apache-2.0
// Softmax of wide rows in three passes over the input: maximum, sum, result.

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

__device__ float warp_max (float v)
{
  for (int step = 16; step > 0; step /= 2)
    v = fmaxf (v, __shfl_xor_sync (0xffffffffu, v, step));
  return v;
}

__device__ float warp_sum (float v)
{
  for (int step = 16; step > 0; step /= 2)
    v += __shfl_xor_sync (0xffffffffu, v, step);
  return v;
}

extern "C" __global__ void __launch_bounds__ (kThreads)
wide_softmax (const float *__restrict__ x, float *__restrict__ y, int rows, int cols)
{
  __shared__ float partial_max[kWarps];
  __shared__ float partial_sum[kWarps];

  const int row = blockIdx.x;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  if (row >= rows)
    return;

  const float *in = x + static_cast<size_t> (row) * cols;
  float *out = y + static_cast<size_t> (row) * cols;

  float largest = __int_as_float (0xff800000); // minus infinity
  for (int j = threadIdx.x; j < cols; j += kThreads)
    largest = fmaxf (largest, in[j]);
  largest = warp_max (largest);
  if (lane == 0)
    partial_max[warp] = largest;
  __syncthreads ();
  largest = partial_max[0];
  for (int w = 1; w < kWarps; w++)
    largest = fmaxf (largest, partial_max[w]);

  float sum = 0.0f;
  for (int j = threadIdx.x; j < cols; j += kThreads)
    sum += expf (in[j] - largest);
  sum = warp_sum (sum);
  if (lane == 0)
    partial_sum[warp] = sum;
  __syncthreads ();
  sum = partial_sum[0];
  for (int w = 1; w < kWarps; w++)
    sum += partial_sum[w];

  for (int j = threadIdx.x; j < cols; j += kThreads)
    out[j] = expf (in[j] - largest) / sum;
}
