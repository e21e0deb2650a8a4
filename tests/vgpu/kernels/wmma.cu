// SPDX-License-Identifier: Apache-2.0
// One product through nvcuda::wmma in each of the rarer types. The result comes out as binary64.

#include <mma.h>

using namespace nvcuda;

#define KERNEL extern "C" __global__ void

template <typename Acc, typename T>
__device__ void
write_out (T *from, double *c, int count)
{
  __syncwarp ();
  for (int i = threadIdx.x; i < count; i += 32)
    c[i] = (double) from[i];
}

KERNEL
wmma_tf32 (const float *a, const float *b, double *c)
{
  __shared__ float out[256];
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
  wmma::fill_fragment (fc, 1.0f);
  wmma::load_matrix_sync (fa, a, 12);
  wmma::load_matrix_sync (fb, b, 12);
  wmma::mma_sync (fc, fa, fb, fc);
  wmma::store_matrix_sync (out, fc, 16, wmma::mem_row_major);
  write_out<float> (out, c, 256);
}

KERNEL
wmma_f64 (const double *a, const double *b, double *c)
{
  __shared__ double staged[8 * 6];
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> fc;
  for (int i = threadIdx.x; i < 8 * 6; i += 32)
    staged[i] = b[i];
  __syncwarp ();
  wmma::fill_fragment (fc, 1.0);
  wmma::load_matrix_sync (fa, a, 6);
  wmma::load_matrix_sync (fb, staged, 6);
  wmma::mma_sync (fc, fa, fb, fc);
  wmma::store_matrix_sync (c, fc, 8, wmma::mem_row_major);
}

KERNEL
wmma_s8 (const signed char *a, const signed char *b, double *c)
{
  __shared__ int out[256];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
  wmma::fill_fragment (fc, 1);
  wmma::load_matrix_sync (fa, a, 32);
  wmma::load_matrix_sync (fb, b, 32);
  wmma::mma_sync (fc, fa, fb, fc, true);
  wmma::store_matrix_sync (out, fc, 16, wmma::mem_row_major);
  write_out<int> (out, c, 256);
}

KERNEL
wmma_s4 (const void *a, const void *b, double *c)
{
  __shared__ int out[64];
  wmma::fragment<wmma::matrix_a, 8, 8, 32, wmma::experimental::precision::s4, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 32, wmma::experimental::precision::s4, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 32, int> fc;
  wmma::fill_fragment (fc, 1);
  wmma::load_matrix_sync (fa, a, 32);
  wmma::load_matrix_sync (fb, b, 32);
  wmma::mma_sync (fc, fa, fb, fc);
  wmma::store_matrix_sync (out, fc, 8, wmma::mem_row_major);
  write_out<int> (out, c, 64);
}

KERNEL
wmma_b1 (const void *a, const void *b, double *c)
{
  __shared__ int out[64];
  wmma::fragment<wmma::matrix_a, 8, 8, 128, wmma::experimental::precision::b1, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, wmma::experimental::precision::b1, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> fc;
  wmma::fill_fragment (fc, 1);
  wmma::load_matrix_sync (fa, a, 128);
  wmma::load_matrix_sync (fb, b, 128);
  wmma::bmma_sync (fc, fa, fb, fc);
  wmma::store_matrix_sync (out, fc, 8, wmma::mem_row_major);
  write_out<int> (out, c, 64);
}
