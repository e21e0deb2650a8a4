// SPDX-License-Identifier: Apache-2.0
// Planted faults, each with the line marked on which it must be found, and its sound twin.
// All kernels: n elements of in and out, which are exactly n long.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#define KERNEL extern "C" __global__ void

KERNEL
bounds_bad (int n, const float *in, float *out)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n)
    out[i] = in[i]; // fault: bounds
}

KERNEL
bounds_good (int n, const float *in, float *out)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i];
}

KERNEL
misaligned_bad (int n, const float *in, float *out)
{
  const float4 *wide = (const float4 *) (in + 1);
  float4 v = wide[threadIdx.x % 8]; // fault: misaligned
  out[threadIdx.x] = v.x + v.w;
}

KERNEL
misaligned_good (int n, const float *in, float *out)
{
  const float4 *wide = (const float4 *) (in + 4);
  float4 v = wide[threadIdx.x % 8];
  out[threadIdx.x] = v.x + v.w;
}

KERNEL
shared_bounds_bad (int n, const float *in, float *out)
{
  __shared__ float work[64];
  work[threadIdx.x] = in[threadIdx.x];
  __syncthreads ();
  out[threadIdx.x] = work[threadIdx.x + n / 64]; // fault: shared bounds
}

KERNEL
shared_bounds_good (int n, const float *in, float *out)
{
  __shared__ float work[64];
  work[threadIdx.x] = in[threadIdx.x];
  __syncthreads ();
  out[threadIdx.x] = work[63 - threadIdx.x];
}

KERNEL
uninit_shared_bad (int n, const float *in, float *out)
{
  __shared__ float work[64];
  if (threadIdx.x < 32)
    work[threadIdx.x] = in[threadIdx.x];
  __syncthreads ();
  float v = work[threadIdx.x]; // fault: uninitialised shared
  out[threadIdx.x] = v * 2;
}

KERNEL
uninit_shared_good (int n, const float *in, float *out)
{
  __shared__ float work[64];
  work[threadIdx.x] = in[threadIdx.x];
  __syncthreads ();
  out[threadIdx.x] = work[threadIdx.x] * 2;
}

KERNEL
uninit_global_bad (int n, const float *in, float *out)
{
  out[threadIdx.x] += in[threadIdx.x]; // fault: uninitialised global
}

struct Padded
{
  char small;
  int large;
};

// Padding is loaded and stored along, and nobody minds.
KERNEL
uninit_global_good (int n, const float *in, float *out)
{
  __shared__ Padded work[64];
  __shared__ float4 wide[64];
  work[threadIdx.x].small = 1;
  work[threadIdx.x].large = (int) in[threadIdx.x];
  wide[threadIdx.x].x = in[threadIdx.x];
  __syncthreads ();
  float4 v = wide[threadIdx.x];
  out[threadIdx.x] = v.x + work[63 - threadIdx.x].large;
}

KERNEL
uninit_branch_bad (int n, const float *in, float *out)
{
  __shared__ int flag[64];
  if (threadIdx.x == 0)
    flag[0] = 1;
  __syncthreads ();
  int seen = flag[threadIdx.x % 2]; // fault: branch on uninitialised
  if (seen > 3)
    __nanosleep (1);
  out[threadIdx.x] = in[threadIdx.x];
}

KERNEL
uninit_branch_good (int n, const float *in, float *out)
{
  __shared__ int flag[64];
  flag[threadIdx.x] = 1;
  __syncthreads ();
  if (flag[threadIdx.x % 2] > 3)
    __nanosleep (1);
  out[threadIdx.x] = in[threadIdx.x];
}

KERNEL
race_bad (int n, const float *in, float *out)
{
  __shared__ float work[64];
  work[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = work[63 - threadIdx.x]; // fault: race
}

KERNEL
race_good (int n, const float *in, float *out)
{
  __shared__ float work[64];
  work[threadIdx.x] = in[threadIdx.x];
  __syncthreads ();
  out[threadIdx.x] = work[63 - threadIdx.x];
}

KERNEL
race_tree_bad (int n, const float *in, float *out)
{
  __shared__ float work[64];
  work[threadIdx.x] = in[threadIdx.x];
  __syncthreads ();
  for (int s = 32; s > 0; s /= 2)
    if (threadIdx.x < s)
      work[threadIdx.x] += work[threadIdx.x + s]; // fault: tree without barriers
  __syncthreads ();
  out[threadIdx.x] = work[0];
}

KERNEL
race_tree_good (int n, const float *in, float *out)
{
  __shared__ float work[64];
  work[threadIdx.x] = in[threadIdx.x];
  __syncthreads ();
  for (int s = 32; s > 0; s /= 2)
    {
      if (threadIdx.x < s)
        work[threadIdx.x] += work[threadIdx.x + s];
      __syncthreads ();
    }
  out[threadIdx.x] = work[0];
}

KERNEL
race_warp_bad (int n, const float *in, float *out)
{
  __shared__ float work[64];
  work[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = work[threadIdx.x ^ 1]; // fault: race within a warp
}

KERNEL
race_warp_good (int n, const float *in, float *out)
{
  __shared__ float work[64];
  work[threadIdx.x] = in[threadIdx.x];
  __syncwarp ();
  out[threadIdx.x] = work[threadIdx.x ^ 1];
}

// What is written for the next round is still being read in this one.
KERNEL
race_reuse_bad (int n, const float *in, float *out)
{
  __shared__ float work[64];
  float sum = 0;
  for (int k = 0; k < 4; k++)
    {
      work[threadIdx.x] = in[threadIdx.x] * k; // fault: write after read
      __syncthreads ();
      sum += work[(threadIdx.x + 40) % 64];
    }
  out[threadIdx.x] = sum;
}

KERNEL
race_reuse_good (int n, const float *in, float *out)
{
  __shared__ float work[64];
  float sum = 0;
  for (int k = 0; k < 4; k++)
    {
      work[threadIdx.x] = in[threadIdx.x] * k;
      __syncthreads ();
      sum += work[(threadIdx.x + 40) % 64];
      __syncthreads ();
    }
  out[threadIdx.x] = sum;
}

KERNEL
race_same_bad (int n, const float *in, float *out)
{
  __shared__ float flag;
  flag = in[5]; // fault: same value
  __syncthreads ();
  out[threadIdx.x] = in[threadIdx.x] * flag;
}

KERNEL
race_same_good (int n, const float *in, float *out)
{
  __shared__ float flag;
  if (threadIdx.x == 0)
    flag = in[5];
  __syncthreads ();
  out[threadIdx.x] = in[threadIdx.x] * flag;
}

KERNEL
race_atomic_good (int n, const float *in, float *out)
{
  __shared__ int bins[8];
  if (threadIdx.x < 8)
    bins[threadIdx.x] = 0;
  __syncthreads ();
  atomicAdd (&bins[threadIdx.x % 8], 1);
  __syncthreads ();
  out[threadIdx.x] = bins[threadIdx.x % 8] + in[threadIdx.x];
}

KERNEL
race_global_bad (int n, const float *in, float *out)
{
  out[threadIdx.x] = in[threadIdx.x] + blockIdx.x; // fault: race between blocks
}

KERNEL
race_global_good (int n, const float *in, float *out)
{
  if (blockIdx.x == 0)
    out[threadIdx.x] = in[threadIdx.x];
}

KERNEL
barrier_bad (int n, const float *in, float *out)
{
  if (threadIdx.x % 2 == 0)
    __syncthreads (); // fault: divergent barrier
  out[threadIdx.x] = in[threadIdx.x];
}

KERNEL
barrier_good (int n, const float *in, float *out)
{
  if (n > 2)
    __syncthreads ();
  out[threadIdx.x] = in[threadIdx.x];
}

/* Threads that have exited are not waited for. */
KERNEL
barrier_early_return_good (int n, const float *in, float *out)
{
  __shared__ float work[64];
  if (threadIdx.x >= n - 20)
    return;
  work[threadIdx.x] = in[threadIdx.x];
  __syncwarp ();
  __syncthreads ();
  out[threadIdx.x] = work[threadIdx.x ^ 1];
}

KERNEL
barrier_mixed_bad (int n, const float *in, float *out)
{
  __shared__ float work[64];
  work[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x < 32)
    {
      __syncthreads ();
      out[threadIdx.x] = work[threadIdx.x + 32];
    }
  else
    {
      __syncthreads (); // fault: mismatched barriers
      out[threadIdx.x] = work[threadIdx.x - 32] * 2;
    }
}

// The whole second warp leaves early: allowed, a barrier does not wait for those that have ended.
KERNEL
barrier_mixed_good (int n, const float *in, float *out)
{
  if (threadIdx.x >= 32)
    return;
  __syncthreads ();
  out[threadIdx.x] = in[threadIdx.x];
}

KERNEL
shuffle_bad (int n, const float *in, float *out)
{
  float v = in[threadIdx.x];
  if (threadIdx.x % 32 < 16)
    v = __shfl_down_sync (0x0000ffffu, v, 8); // fault: inactive lane
  out[threadIdx.x] = v;
}

KERNEL
shuffle_good (int n, const float *in, float *out)
{
  float v = in[threadIdx.x];
  if (threadIdx.x % 32 < 16)
    v = __shfl_xor_sync (0x0000ffffu, v, 8);
  out[threadIdx.x] = v;
}

KERNEL
members_bad (int n, const float *in, float *out)
{
  float v = in[threadIdx.x];
  if (threadIdx.x % 32 < 16)
    v = __shfl_xor_sync (0xffffffffu, v, 8); // fault: member elsewhere
  out[threadIdx.x] = v;
}

KERNEL
deadlock_bad (int n, const float *in, float *out)
{
  if (threadIdx.x < 32)
    asm volatile ("bar.sync 1, 128;"); // fault: deadlock
  out[threadIdx.x] = in[threadIdx.x];
}

KERNEL
deadlock_good (int n, const float *in, float *out)
{
  if (threadIdx.x < 32)
    asm volatile ("bar.sync 1, 32;");
  out[threadIdx.x] = in[threadIdx.x];
}

KERNEL
spin_bad (int n, const float *in, float *out)
{
  volatile float *flag = out;
  while (flag[0] != 12345.0f) // fault: endless
    ;
}

// One lane holds the lock while the others of its warp try: needs lanes that advance on their own.
__device__ int lock_word;

KERNEL
spin_good (int n, const float *in, float *out)
{
  bool done = false;
  while (!done)
    if (atomicCAS (&lock_word, 0, 1) == 0)
      {
        out[threadIdx.x] = in[threadIdx.x];
        __threadfence ();
        atomicExch (&lock_word, 0);
        done = true;
      }
}

KERNEL
spin_hard_good (int n, const float *in, float *out)
{
  while (atomicCAS (&lock_word, 0, 1) != 0)
    ;
  out[threadIdx.x] = in[threadIdx.x];
  __threadfence ();
  atomicExch (&lock_word, 0);
}

KERNEL
null_bad (int n, const float *in, float *out)
{
  const float *nothing = n > 1 ? (const float *) 16 : in;
  out[threadIdx.x] = nothing[threadIdx.x]; // fault: null
}

KERNEL
async_bad (int n, const float *in, float *out)
{
  __shared__ float stage[64];
  __pipeline_memcpy_async (&stage[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit ();
  __syncthreads ();
  out[threadIdx.x] = stage[63 - threadIdx.x]; // fault: copy in flight
  __pipeline_wait_prior (0);
}

KERNEL
async_late_bad (int n, const float *in, float *out)
{
  __shared__ float stage[64];
  __pipeline_memcpy_async (&stage[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit ();
  __syncthreads ();
  __pipeline_wait_prior (0);
  out[threadIdx.x] = stage[63 - threadIdx.x]; // fault: no barrier behind the wait
}

KERNEL
async_good (int n, const float *in, float *out)
{
  __shared__ float stage[64];
  __pipeline_memcpy_async (&stage[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit ();
  __pipeline_wait_prior (0);
  __syncthreads ();
  out[threadIdx.x] = stage[63 - threadIdx.x];
}

// The last block to finish adds up what the others left: ordered by the counter.
__device__ unsigned blocks_done;

KERNEL
race_last_block_good (int n, const float *in, float *out)
{
  __shared__ bool last;
  if (threadIdx.x == 0)
    {
      out[blockIdx.x] = in[blockIdx.x];
      __threadfence ();
      last = atomicInc (&blocks_done, gridDim.x - 1) == gridDim.x - 1;
    }
  __syncthreads ();
  if (last && threadIdx.x == 0)
    for (int i = 1; i < gridDim.x; i++)
      out[0] += out[i];
}

// Neighbouring blocks share the words at their borders, each its own half.
KERNEL
race_halves_good (int n, const float *in, float *out)
{
  short *halves = (short *) out;
  int i = blockIdx.x * 31 + threadIdx.x;
  if (threadIdx.x < 31 && blockIdx.x < 4)
    halves[i] = (short) in[i % 64];
  __syncthreads ();
  if (threadIdx.x < 31 && blockIdx.x < 4)
    halves[i] = halves[i] * 2;
}

__device__ __forceinline__ float
first_of (const float *values, int i)
{
  return values[i]; // fault: inlined
}

KERNEL
inlined_bad (int n, const float *in, float *out)
{
  out[threadIdx.x] = first_of (in, threadIdx.x + 1);
}

// The tile's lower half is never filled. What comes of it may be computed, but not used.
__device__ __forceinline__ void
edge_tile (const float *in, float *out, int rows)
{
  using namespace nvcuda;
  __shared__ __align__ (32) half tile[256];
  __shared__ float result[256];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  for (int i = threadIdx.x; i < 128; i += 32)
    tile[i] = __float2half (in[i % 64]);
  __syncwarp ();
  wmma::fill_fragment (b, __float2half (1.0f));
  wmma::fill_fragment (c, 0.0f);
  wmma::load_matrix_sync (a, tile, 16);
  wmma::mma_sync (c, a, b, c);
  wmma::store_matrix_sync (result, c, 16, wmma::mem_row_major);
  __syncwarp ();
  if (threadIdx.x < rows)
    out[threadIdx.x] = result[threadIdx.x * 16]; // fault: of an unfilled tile
}

KERNEL
edge_bad (int n, const float *in, float *out)
{
  if (threadIdx.x < 32)
    edge_tile (in, out, 9);
}

KERNEL
edge_good (int n, const float *in, float *out)
{
  if (threadIdx.x < 32)
    edge_tile (in, out, 8);
}
