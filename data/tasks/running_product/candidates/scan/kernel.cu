// SPDX-License-Identifier: Apache-2.0
// Running products: every thread multiplies a run of neighbours, the block scans the runs' products, and
// every thread walks its run once more from there.

constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__ (kThreads)
running_product (const float *__restrict__ x, float *__restrict__ p, int rows, int cols)
{
  __shared__ float totals[kThreads];

  const float *in = x + static_cast<size_t> (blockIdx.x) * cols;
  float *out = p + static_cast<size_t> (blockIdx.x) * cols;
  const int run = (cols + kThreads - 1) / kThreads;
  const int first = threadIdx.x * run;
  const int end = min (first + run, cols);

  float total = 1.0f;
  for (int j = first; j < end; j++)
    total *= in[j];
  totals[threadIdx.x] = total;
  __syncthreads ();
  for (int step = 1; step < kThreads; step *= 2)
    {
      const float before = threadIdx.x >= step ? totals[threadIdx.x - step] : 1.0f;
      __syncthreads ();
      totals[threadIdx.x] *= before;
      __syncthreads ();
    }

  float product = threadIdx.x > 0 ? totals[threadIdx.x - 1] : 1.0f;
  for (int j = first; j < end; j++)
    {
      product *= in[j];
      out[j] = product;
    }
}
