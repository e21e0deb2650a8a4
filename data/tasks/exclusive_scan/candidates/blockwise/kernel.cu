// SPDX-License-Identifier: Apache-2.0
// Exclusive sums: every thread adds up a run of neighbours, the block scans the runs' totals, and every
// thread walks its run once more from there.

constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__ (kThreads)
exclusive_scan (const float *__restrict__ x, float *__restrict__ s, int rows, int cols)
{
  __shared__ float totals[kThreads];

  const float *in = x + static_cast<size_t> (blockIdx.x) * cols;
  float *out = s + static_cast<size_t> (blockIdx.x) * cols;
  const int run = (cols + kThreads - 1) / kThreads;
  const int first = threadIdx.x * run;
  const int end = min (first + run, cols);

  float total = 0.0f;
  for (int j = first; j < end; j++)
    total += in[j];
  totals[threadIdx.x] = total;
  __syncthreads ();
  for (int step = 1; step < kThreads; step *= 2)
    {
      const float before = threadIdx.x >= step ? totals[threadIdx.x - step] : 0.0f;
      __syncthreads ();
      totals[threadIdx.x] += before;
      __syncthreads ();
    }

  float sum = threadIdx.x > 0 ? totals[threadIdx.x - 1] : 0.0f;
  for (int j = first; j < end; j++)
    {
      out[j] = sum;
      sum += in[j];
    }
}
