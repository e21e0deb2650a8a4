/* SPDX-License-Identifier: Apache-2.0 */
// Programs that do wrong and do not look: "unchecked" launches what cannot be and never asks, "leaves" and
// "crashes" end before anything could be flushed.
#include "check.h"

#include <cstring>
#include <unistd.h>

static __device__ __noinline__ float
element (const float *from, int i)
{
  return from[i]; // past the end
}

__global__ void
shift (float *to, const float *from)
{
  to[threadIdx.x] = element (from, threadIdx.x + 1);
}

int
main (int argc, char **argv)
{
  float *to, *from;
  OK (cudaMalloc (&to, 128));
  OK (cudaMalloc (&from, 128));
  OK (cudaMemset (from, 0, 128));
  if (argc > 1 && !std::strcmp (argv[1], "unchecked"))
    {
      shift<<<1, 2000>>> (to, from);
      return 0;
    }
  shift<<<1, 32>>> (to, from);
  if (argc > 1 && !std::strcmp (argv[1], "crashes"))
    std::abort ();
  _exit (7);
}
