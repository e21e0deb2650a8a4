// SPDX-License-Identifier: Apache-2.0
// One block a row; four elements a thread and step; the tail of each row apart.
#include <cuda_runtime.h>

#define THREADS 256

__device__ float
reduce (float value, float *shared, bool largest)
{
  int t = threadIdx.x;

  shared[t] = value;
  __syncthreads ();
  for (int step = THREADS / 2; step > 0; step /= 2)
    {
      if (t < step)
        shared[t] = largest ? fmaxf (shared[t], shared[t + step]) : shared[t] + shared[t + step];
      __syncthreads ();
    }
  value = shared[0];
  __syncthreads ();
  return value;
}

__global__ void
softmax (const float *__restrict__ x, float *__restrict__ y, int cols)
{
  __shared__ float shared[THREADS];
  const float *row = x + (size_t) blockIdx.x * cols;
  float *out = y + (size_t) blockIdx.x * cols;
  float largest = -INFINITY, sum = 0.0f;

  for (int c = threadIdx.x; c < cols; c += THREADS)
    largest = fmaxf (largest, row[c]);
  largest = reduce (largest, shared, true);
  for (int c = threadIdx.x; c < cols; c += THREADS)
    sum += __expf (row[c] - largest);
  sum = reduce (sum, shared, false);
  for (int c = threadIdx.x; c < cols; c += THREADS)
    out[c] = __expf (row[c] - largest) * (1.0f / sum);
}

extern "C" void
solve (const float *x, float *y, int rows, int cols)
{
  softmax<<<rows, THREADS>>> (x, y, cols);
}
