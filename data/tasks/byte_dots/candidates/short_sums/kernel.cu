// SPDX-License-Identifier: Apache-2.0
// Dot products of signed bytes: one warp for each pair of rows.
// Every lane keeps its part in 16 bits, to use fewer registers.

extern "C" __global__ void __launch_bounds__ (128)
byte_dots (const signed char *__restrict__ a, const signed char *__restrict__ b,
           int *__restrict__ dots, int rows, int cols)
{
  const int row = blockIdx.x * 4 + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows)
    return;

  const signed char *left = a + static_cast<size_t> (row) * cols;
  const signed char *right = b + static_cast<size_t> (row) * cols;
  short sum = 0;
  for (int j = lane; j < cols; j += 32)
    sum = static_cast<short> (sum + left[j] * right[j]);
  int total = sum;
  for (int step = 16; step > 0; step /= 2)
    total += __shfl_xor_sync (0xffffffffu, total, step);
  if (lane == 0)
    dots[row] = total;
}
