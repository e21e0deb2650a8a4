// SPDX-License-Identifier: Apache-2.0
// Matrix product through 16 x 16 tiles, in float32 throughout.

extern "C" __global__ void __launch_bounds__ (256)
uniform_sgemm (const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int m,
               int n, int k)
{
  __shared__ float tile_a[16][16];
  __shared__ float tile_b[16][16];

  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty;
  const int col = blockIdx.x * 16 + tx;

  float sum = 0.0f;
  for (int start = 0; start < k; start += 16)
    {
      tile_a[ty][tx] = row < m && start + tx < k ? a[row * k + start + tx] : 0.0f;
      tile_b[ty][tx] = start + ty < k && col < n ? b[(start + ty) * n + col] : 0.0f;
      __syncthreads ();
      for (int l = 0; l < 16; l++)
        sum = fmaf (tile_a[ty][l], tile_b[l][tx], sum);
      __syncthreads ();
    }

  if (row < m && col < n)
    c[row * n + col] = sum;
}
