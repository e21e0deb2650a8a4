// SPDX-License-Identifier: Apache-2.0
// Rotary embedding: one thread an element, which reads its partner as well.

extern "C" __global__ void rope_rotate (const float *x, const float *cosines, const float *sines,
                                        float *y, int tokens, int width)
{
  const int half = width / 2;
  const int j = threadIdx.x;
  const int i = j % half;
  const size_t row = static_cast<size_t> (blockIdx.x) * width;
  const float partner = j < half ? -x[row + j + half] : x[row + j - half];
  y[row + j] = x[row + j] * cosines[blockIdx.x * half + i] + partner * sines[blockIdx.x * half + i];
}
