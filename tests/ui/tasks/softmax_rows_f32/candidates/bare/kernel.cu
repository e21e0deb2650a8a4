// SPDX-License-Identifier: Apache-2.0
// One thread sums a whole row: slow, and a long chain of roundings.
extern "C" __global__ void
softmax_kernel (const float *x, float *y, int rows, int cols)
{
  const float *row = x + (size_t) blockIdx.x * cols;
  float *out = y + (size_t) blockIdx.x * cols;
  float largest = row[0], sum = 0.0f;

  for (int c = 1; c < cols; c++)
    largest = fmaxf (largest, row[c]);
  for (int c = 0; c < cols; c++)
    sum += expf (row[c] - largest);
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    out[c] = expf (row[c] - largest) / sum;
}
