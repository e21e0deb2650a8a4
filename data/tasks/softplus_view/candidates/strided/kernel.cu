// SPDX-License-Identifier: Apache-2.0
// Softplus of a matrix: one thread an element.

extern "C" __global__ void __launch_bounds__ (256)
softplus_view (const float *__restrict__ x, float *__restrict__ y, int rows, int cols, int row_stride,
               int col_stride)
{
  const int j = blockIdx.x * 32 + threadIdx.x;
  const int i = blockIdx.y * 8 + threadIdx.y;
  if (i >= rows || j >= cols)
    return;
  const float v = x[static_cast<size_t> (i) * row_stride + static_cast<size_t> (j) * col_stride];
  y[i * cols + j] = fmaxf (v, 0.0f) + log1pf (expf (-fabsf (v)));
}
