/* SPDX-License-Identifier: Apache-2.0 */
// A program of two parts that are linked (-rdc=true): see parts-other.cu.
#include "check.h"
#include "parts.h"

#include <cstring>

static __device__ int secret = 100;
__constant__ int offsets[3] = {7, 8, 9};

static __device__ int
local_step (int x)
{
  return x + secret;
}

__global__ void
run (int *out)
{
  int i = threadIdx.x;
  out[i] = triple (i) + shared_total + local_step (0) + twice<int> (i) + offsets[i % 3];
  if (i == 0)
    copy_text (text_of_part, "first part");
}

__global__ void
pointed (int *out)
{
  *out = *pointer_to_total;
}

__global__ void
tiled (int *out)
{
  out[threadIdx.x] = reversed (threadIdx.x);
}

int
main ()
{
  int *device, host[32];
  char text[32];
  OK (cudaMalloc (&device, sizeof host));
  run<<<1, 32>>> (device);
  OK (cudaGetLastError ());
  OK (cudaMemcpy (host, device, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; i++)
    CHECK (host[i] == 3 * i + 50 + 100 + 2 * i + 7 + i % 3);
  OK (cudaMemcpyFromSymbol (text, text_of_part, sizeof text));
  CHECK (!std::strcmp (text, "first part"));
  OK (other_part (device));
  OK (cudaMemcpy (host, device, 4, cudaMemcpyDeviceToHost));
  CHECK (host[0] == 3 + 11 + 50);
  OK (cudaMemcpyFromSymbol (text, text_of_part, sizeof text));
  CHECK (!std::strcmp (text, "other part"));
  pointed<<<1, 1>>> (device);
  OK (cudaMemcpy (host, device, 4, cudaMemcpyDeviceToHost));
  CHECK (host[0] == 50);
  tiled<<<1, 32>>> (device);
  OK (cudaMemcpy (host, device, sizeof host, cudaMemcpyDeviceToHost));
  CHECK (host[0] == 31 && host[31] == 0);
  std::printf ("fine\n");
}
