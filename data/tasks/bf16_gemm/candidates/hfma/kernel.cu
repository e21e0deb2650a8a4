// SPDX-License-Identifier: Apache-2.0
// bfloat16 matrix product, C = A B, through 16 x 16 tiles in shared memory.

#include <cuda_bf16.h>

constexpr int kTile = 16;

extern "C" __global__ void __launch_bounds__ (kTile * kTile)
bf16_gemm (const __nv_bfloat16 *__restrict__ a, const __nv_bfloat16 *__restrict__ b,
           __nv_bfloat16 *__restrict__ c, int m, int n, int k)
{
  __shared__ __nv_bfloat16 tile_a[kTile][kTile];
  __shared__ __nv_bfloat16 tile_b[kTile][kTile];

  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty;
  const int col = blockIdx.x * kTile + tx;
  const __nv_bfloat16 zero = __float2bfloat16 (0.0f);

  __nv_bfloat16 sum = zero;
  for (int start = 0; start < k; start += kTile)
    {
      tile_a[ty][tx] = row < m && start + tx < k ? a[row * k + start + tx] : zero;
      tile_b[ty][tx] = start + ty < k && col < n ? b[(start + ty) * n + col] : zero;
      __syncthreads ();

      for (int l = 0; l < kTile; l++)
        sum = __hfma (tile_a[ty][l], tile_b[l][tx], sum);
      __syncthreads ();
    }

  if (row < m && col < n)
    c[row * n + col] = sum;
}
