// SPDX-License-Identifier: Apache-2.0
#include <cuda/std/cassert>

__constant__ float table[4] = { 1.0f, 2.0f, 4.0f, 8.0f };
__device__ int counter = 5;
__device__ int *pointer_to_counter = &counter;

extern "C" __global__ void
prints (int n, const float *x)
{
  if (threadIdx.x < n)
    printf ("%d %u %lld %llx %5.2f|%-6e|%g %s %c %% %p %*d\n", -3, 4000000000u, -5000000000ll,
            0x123456789abcull, x[threadIdx.x], 1234.5, 0.0001, "text", 'z', (void *) 0x10, 6, 42);
}

extern "C" __global__ void
asserts (int n, float *out)
{
  out[threadIdx.x] = 1;
  assert (n > 0); // the assertion
  out[threadIdx.x] = 2;
}

extern "C" __global__ void
traps (int n, float *out)
{
  if (n > 3 && threadIdx.x == 5)
    __trap (); // the trap
  out[threadIdx.x] = 2;
}

extern "C" __global__ void
globals (int n, float *out)
{
  atomicAdd (pointer_to_counter, 1);
  out[threadIdx.x] = table[threadIdx.x % 4] + n;
}

extern "C" __global__ void
dynamic_shared (int n, float *out)
{
  extern __shared__ float work[];
  __shared__ float fixed[3];
  fixed[threadIdx.x % 3] = 7;
  work[threadIdx.x] = threadIdx.x;
  __syncthreads ();
  out[threadIdx.x] = work[(threadIdx.x + 1) % blockDim.x] + fixed[0];
}

extern "C" __global__ void __launch_bounds__ (128) bounded (int n, float *out)
{
  out[threadIdx.x] = n;
}

struct Parameters
{
  float4 scale;
  int index;
  const float *values;
};

extern "C" __global__ void
structure (Parameters p, float *out)
{
  out[threadIdx.x] = p.scale.x + p.scale.w + p.values[threadIdx.x] * p.index;
}

extern "C" __global__ void
indexed_parameters (Parameters p, int i, float *out)
{
  out[threadIdx.x] = (&p.scale.x)[(threadIdx.x + i) % 4];
}
