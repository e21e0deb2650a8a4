/* SPDX-License-Identifier: Apache-2.0 */
/* float16 in, float32 sums, on tensor cores: one warp a 16 × 16 tile. */
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void
hgemm (const float *a_, const float *b_, float *y, int n)
{
  const half *a = (const half *) a_, *b = (const half *) b_;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  int warp = threadIdx.x / 32;
  int row = (blockIdx.y * 2 + warp / 2) * 16, column = (blockIdx.x * 2 + warp % 2) * 16;
  wmma::fill_fragment (sum, 0.0f);
  for (int k = 0; k < n; k += 16)
    {
      wmma::load_matrix_sync (fa, a + row * n + k, n);
      wmma::load_matrix_sync (fb, b + k * n + column, n);
      wmma::mma_sync (sum, fa, fb, sum);
    }
  wmma::store_matrix_sync (y + row * n + column, sum, n, wmma::mem_row_major);
}
