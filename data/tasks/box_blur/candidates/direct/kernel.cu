// SPDX-License-Identifier: Apache-2.0
// Box blur: one thread a pixel.

extern "C" __global__ void __launch_bounds__ (256)
box_blur (const float *__restrict__ image, float *__restrict__ blurred, int rows, int cols)
{
  const int j = blockIdx.x * 32 + threadIdx.x;
  const int i = blockIdx.y * 8 + threadIdx.y;
  if (i >= rows || j >= cols)
    return;
  float sum = 0.0f;
  for (int k = max (i - 1, 0); k <= min (i + 1, rows - 1); k++)
    for (int l = max (j - 1, 0); l <= min (j + 1, cols - 1); l++)
      sum += image[static_cast<size_t> (k) * cols + l];
  blurred[static_cast<size_t> (i) * cols + j] = sum / 9.0f;
}
