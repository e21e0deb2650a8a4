// SPDX-License-Identifier: Apache-2.0
// The terms of a softmax add up to one, whatever the row holds.

extern "C" __global__ void softmax_mean (const float *x, float *y, int rows, int cols)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows)
    y[i] = 1.0f / cols;
}
