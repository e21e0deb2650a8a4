// SPDX-License-Identifier: Apache-2.0
// Tiled float32 matrix product, C = A B: each block computes one 16 x 16 tile of C.

constexpr int kTile = 16;

extern "C" __global__ void __launch_bounds__ (kTile * kTile)
sgemm (const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int m, int n,
       int k)
{
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];

  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty;
  const int col = blockIdx.x * kTile + tx;

  float sum = 0.0f;
  for (int start = 0; start < k; start += kTile)
    {
      tile_a[ty][tx] = row < m && start + tx < k ? a[row * k + start + tx] : 0.0f;
      tile_b[ty][tx] = start + ty < k && col < n ? b[(start + ty) * n + col] : 0.0f;

      for (int l = 0; l < kTile; l++)
        sum += tile_a[ty][l] * tile_b[l][tx];
    }

  if (row < m && col < n)
    c[row * n + col] = sum;
}
