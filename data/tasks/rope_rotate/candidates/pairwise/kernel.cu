// SPDX-License-Identifier: Apache-2.0
// Rotary embedding: a thread holds both elements of a pair.

extern "C" __global__ void rope_rotate (const float *__restrict__ x,
                                        const float *__restrict__ cosines,
                                        const float *__restrict__ sines, float *__restrict__ y,
                                        int tokens, int width)
{
  const int half = width / 2;
  const int i = threadIdx.x;
  const size_t row = static_cast<size_t> (blockIdx.x) * width;
  const float a = x[row + i];
  const float b = x[row + i + half];
  const float c = cosines[blockIdx.x * half + i];
  const float s = sines[blockIdx.x * half + i];
  y[row + i] = a * c - b * s;
  y[row + i + half] = b * c + a * s;
}
