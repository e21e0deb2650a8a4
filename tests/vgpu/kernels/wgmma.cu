// SPDX-License-Identifier: Apache-2.0
// Products of one warp group, 64 by 64 by 64 halves, by rows with a swizzle of 128 bytes; and faults.

#include <cuda_fp16.h>

#define KERNEL extern "C" __global__ void

struct Tile
{
  __align__ (1024) __half at[64][64];
};

// A row is a line of 128 bytes; its pieces of 16 bytes change places within eight rows.
__device__ void
fill (Tile &tile, const __half *from, int step = 1)
{
  for (int i = threadIdx.x * step; i < 64 * 8; i += 128 * step)
    {
      int row = i / 8, piece = i % 8;
      ((int4 *) tile.at[row])[piece ^ row % 8] = ((const int4 *) from)[i];
    }
}

__device__ unsigned long long
describe (const Tile &tile, int k)
{
  unsigned long long start = (__cvta_generic_to_shared (&tile) + k * 32) >> 4;
  return start | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

__device__ void
proxy_fence ()
{
  asm volatile ("fence.proxy.async.shared::cta;" ::: "memory");
}

#define EIGHT(d, i)                                                                                       \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]),      \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define MULTIPLY(d, a, b)                                                                          \
  asm volatile ("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "                              \
                "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "          \
                "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, " \
                "%32, %33, 1, 1, 1, 0, 0;"                                                         \
                : EIGHT (d, 0), EIGHT (d, 8), EIGHT (d, 16), EIGHT (d, 24)                                                     \
                : "l"(a), "l"(b))
#define FENCE() asm volatile ("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT() asm volatile ("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(n) asm volatile ("wgmma.wait_group.sync.aligned " #n ";" ::: "memory")

__device__ void
put (float *c, const float *d)
{
  for (int i = 0; i < 32; i++)
    {
      int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 % 2 * 8;
      c[row * 64 + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] = d[i];
    }
}

KERNEL
product_good (const __half *a, const __half *b, float *c)
{
  __shared__ Tile ta, tb;
  float d[32] = {};
  fill (ta, a);
  fill (tb, b);
  proxy_fence ();
  __syncthreads ();
  FENCE ();
  for (int k = 0; k < 4; k++)
    MULTIPLY (d, describe (ta, k), describe (tb, k));
  COMMIT ();
  WAIT (0);
  put (c, d);
}

// Two products under way; a tile is filled again only when its product has been waited for.
KERNEL
ring_good (const __half *a, const __half *b, float *c)
{
  __shared__ Tile ta, tb;
  float d[32] = {}, other[32] = {};
  fill (ta, a);
  fill (tb, b);
  proxy_fence ();
  __syncthreads ();
  for (int round = 0; round < 2; round++)
    {
      FENCE ();
      for (int k = 0; k < 4; k++)
        MULTIPLY (d, describe (ta, k), describe (tb, k));
      COMMIT ();
      MULTIPLY (other, describe (ta, 0), describe (tb, 0));
      COMMIT ();
      WAIT (1);
      for (int i = 0; i < 32; i++)
        d[i] *= 0.5f;
      WAIT (0);
      __syncthreads ();
      fill (ta, a);
      proxy_fence ();
      __syncthreads ();
    }
  for (int i = 0; i < 32; i++)
    d[i] = d[i] / 0.75f + other[i] * 0;
  put (c, d);
}

KERNEL
no_wait (const __half *a, const __half *b, float *c)
{
  __shared__ Tile ta, tb;
  float d[32] = {};
  fill (ta, a);
  fill (tb, b);
  proxy_fence ();
  __syncthreads ();
  FENCE ();
  MULTIPLY (d, describe (ta, 0), describe (tb, 0));
  COMMIT ();
  c[threadIdx.x] = d[0] * 2; // fault: no wait
  WAIT (0);
}

KERNEL
overwritten (const __half *a, const __half *b, float *c)
{
  __shared__ Tile ta, tb;
  float d[32] = {};
  fill (ta, a);
  fill (tb, b);
  proxy_fence ();
  __syncthreads ();
  FENCE ();
  MULTIPLY (d, describe (ta, 0), describe (tb, 0)); // fault: overwritten
  COMMIT ();
  __syncthreads ();
  fill (ta, b);
  proxy_fence ();
  WAIT (0);
  put (c, d);
}

KERNEL
no_fence (const __half *a, const __half *b, float *c)
{
  __shared__ Tile ta, tb;
  float d[32] = {};
  fill (ta, a);
  fill (tb, b);
  proxy_fence ();
  __syncthreads ();
  MULTIPLY (d, describe (ta, 0), describe (tb, 0)); // fault: no fence
  COMMIT ();
  WAIT (0);
  put (c, d);
}

KERNEL
no_proxy_fence (const __half *a, const __half *b, float *c)
{
  __shared__ Tile ta, tb;
  float d[32] = {};
  fill (ta, a);
  fill (tb, b);
  __syncthreads ();
  FENCE ();
  MULTIPLY (d, describe (ta, 0), describe (tb, 0)); // fault: no proxy fence
  COMMIT ();
  WAIT (0);
  put (c, d);
}

KERNEL
unfilled (const __half *a, const __half *b, float *c)
{
  __shared__ Tile ta, tb;
  float d[32] = {};
  fill (ta, a);
  fill (tb, b, 2);
  proxy_fence ();
  __syncthreads ();
  FENCE ();
  MULTIPLY (d, describe (ta, 0), describe (tb, 0)); // fault: unfilled
  COMMIT ();
  WAIT (0);
  put (c, d);
}

KERNEL
outside (const __half *a, const __half *b, float *c)
{
  __shared__ Tile ta, tb;
  float d[32] = {};
  fill (ta, a);
  fill (tb, b);
  proxy_fence ();
  __syncthreads ();
  FENCE ();
  MULTIPLY (d, describe (ta, 0), describe (tb, 0) + (8192 >> 4)); // fault: outside
  COMMIT ();
  WAIT (0);
  put (c, d);
}
