// SPDX-License-Identifier: Apache-2.0
// Running products: one thread for each row.

extern "C" __global__ void running_product (const float *x, float *p, int rows, int cols)
{
  float product = 1.0f;
  for (int j = 0; j < cols; j++)
    {
      product *= x[static_cast<size_t> (blockIdx.x) * cols + j];
      p[static_cast<size_t> (blockIdx.x) * cols + j] = product;
    }
}
