// SPDX-License-Identifier: Apache-2.0
// Weighted energy of every row: one block of 256 threads for each row. Every warp reduces by shuffles
// and adds its part to the total of the block.

constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__ (kThreads)
row_energy (const float *__restrict__ x, const float *__restrict__ weight,
            float *__restrict__ energy, int rows, int cols)
{
  __shared__ float total;

  const int row = blockIdx.x;
  if (row >= rows)
    return;
  if (threadIdx.x == 0)
    total = 0.0f;
  __syncthreads ();

  const float *in = x + static_cast<size_t> (row) * cols;
  float sum = 0.0f;
  for (int j = threadIdx.x; j < cols; j += kThreads)
    {
      const float v = weight[j] * in[j];
      sum += v * v;
    }
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_xor_sync (0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0)
    atomicAdd (&total, sum);
  __syncthreads ();

  if (threadIdx.x == 0)
    energy[row] = total;
}
