// SPDX-License-Identifier: Apache-2.0
// Clipped rectifier: one thread an element.

extern "C" __global__ void clipped_relu (const float *__restrict__ x, float *__restrict__ y, int n)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = fminf (fmaxf (x[i], 0.0f), 6.0f);
}
