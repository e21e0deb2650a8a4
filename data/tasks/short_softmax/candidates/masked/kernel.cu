// SPDX-License-Identifier: Apache-2.0
// Softmax of short rows: one warp a row, every lane holds every 32nd element.
// Lanes past the end hold minus infinity, whose exponential is zero.

constexpr int kMost = 8; // elements a lane

extern "C" __global__ void __launch_bounds__ (128)
short_softmax (const float *__restrict__ x, float *__restrict__ y, int rows, int cols)
{
  const int row = blockIdx.x * 4 + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows)
    return;

  const float *in = x + static_cast<size_t> (row) * cols;
  float *out = y + static_cast<size_t> (row) * cols;
  float held[kMost];
  float largest = __int_as_float (0xff800000); // minus infinity
  for (int k = 0; k < kMost; k++)
    {
      const int j = lane + 32 * k;
      held[k] = j < cols ? in[j] : __int_as_float (0xff800000);
      largest = fmaxf (largest, held[k]);
    }
  for (int step = 16; step > 0; step /= 2)
    largest = fmaxf (largest, __shfl_xor_sync (0xffffffffu, largest, step));

  float sum = 0.0f;
  for (int k = 0; k < kMost; k++)
    {
      held[k] = 32 * k < cols ? expf (held[k] - largest) : 0.0f;
      sum += held[k];
    }
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_xor_sync (0xffffffffu, sum, step);

  for (int k = 0; k < kMost; k++)
    if (lane + 32 * k < cols)
      out[lane + 32 * k] = held[k] / sum;
}
