// SPDX-License-Identifier: Apache-2.0
// Exact GELU: one thread an element.

extern "C" __global__ void gelu_exact (const float *__restrict__ x, float *__restrict__ y, int n)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 0.5f * x[i] * (1.0f + erff (x[i] * 0.70710678f));
}
