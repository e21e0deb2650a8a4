/* SPDX-License-Identifier: Apache-2.0 */
// The model of time: it grows with the work, and a thousand times the work is more than a hundred times the
// time.
#include "check.h"

#include <cmath>

__global__ void
spin (int *out, int rounds)
{
  int x = threadIdx.x;
  for (int i = 0; i < rounds; i++)
    x = x * 3 + i;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

static float
time_of (int *out, int rounds)
{
  cudaEvent_t begin, end;
  float milliseconds = -1;
  OK (cudaEventCreate (&begin));
  OK (cudaEventCreate (&end));
  OK (cudaEventRecord (begin));
  spin<<<8, 64>>> (out, rounds);
  OK (cudaEventRecord (end));
  OK (cudaEventSynchronize (end));
  OK (cudaEventElapsedTime (&milliseconds, begin, end));
  OK (cudaEventDestroy (begin));
  OK (cudaEventDestroy (end));
  return milliseconds;
}

int
main ()
{
  int *out;
  OK (cudaMalloc (&out, 8 * 64 * 4));
  float nothing = time_of (out, 0), some = time_of (out, 1000), more = time_of (out, 100000);
  CHECK (nothing > 0.0024f && nothing < some && some < more);
  CHECK ((more - nothing) / (some - nothing) > 90 && (more - nothing) / (some - nothing) < 110);
  OK (cudaFree (out));
  std::printf ("fine\n");
}
