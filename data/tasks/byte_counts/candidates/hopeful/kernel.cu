// SPDX-License-Identifier: Apache-2.0
// Counts of byte values, one row of counts for each block of 1024 bytes.
// Every block counts in shared memory.

extern "C" __global__ void __launch_bounds__ (256)
byte_counts (const unsigned char *__restrict__ bytes, int *__restrict__ counts, int n)
{
  __shared__ int bins[256];

  const int first = blockIdx.x * 1024;
  for (int i = first + threadIdx.x; i < min (first + 1024, n); i += 256)
    atomicAdd (&bins[bytes[i]], 1);
  __syncthreads ();
  counts[blockIdx.x * 256 + threadIdx.x] = bins[threadIdx.x];
}
