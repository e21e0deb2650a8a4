// SPDX-License-Identifier: Apache-2.0
/* Barriers in shared memory and copies that complete on them. */
#include <cuda/barrier>
#include <cuda/ptx>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>

namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void
block_barrier (const int *in, int *out, int rounds)
{
  #pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier bar;
  __shared__ int values[256];
  if (threadIdx.x == 0)
    init (&bar, blockDim.x);
  __syncthreads ();
  int mine = in[threadIdx.x];
  for (int r = 0; r < rounds; r++)
    {
      values[threadIdx.x] = mine;
      bar.arrive_and_wait ();
      mine += values[(threadIdx.x + 1) % blockDim.x];
      bar.arrive_and_wait ();
    }
  out[threadIdx.x] = mine;
}

/* One warp produces, the others consume, over two stages. */
extern "C" __global__ void
producer (const int *in, int *out, int n)
{
  __shared__ barrier full[2], empty[2];
  __shared__ int stage[2][64];
  if (threadIdx.x == 0)
    for (int i = 0; i < 2; i++)
      {
        init (&full[i], blockDim.x);
        init (&empty[i], blockDim.x);
      }
  __syncthreads ();
  if (threadIdx.x < 32)
    for (int i = 0; i < n; i++)
      {
        empty[i % 2].arrive_and_wait ();
        for (int k = threadIdx.x; k < 64; k += 32)
          stage[i % 2][k] = in[i * 64 + k];
        (void) full[i % 2].arrive ();
      }
  else
    {
      int sum = 0;
      (void) empty[0].arrive ();
      (void) empty[1].arrive ();
      for (int i = 0; i < n; i++)
        {
          full[i % 2].arrive_and_wait ();
          sum += stage[i % 2][threadIdx.x - 32];
          (void) empty[i % 2].arrive ();
        }
      out[threadIdx.x - 32] = sum;
    }
}

extern "C" __global__ void
pipelined (const int *in, int *out, int n)
{
  constexpr int stages = 2;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  __shared__ int buffer[stages][128];
  auto group = cg::this_thread_block ();
  auto pipe = cuda::make_pipeline (group, &state);
  int sum = 0;
  for (int fetch = 0, use = 0; use < n; use++)
    {
      for (; fetch < n && fetch < use + stages; fetch++)
        {
          pipe.producer_acquire ();
          cuda::memcpy_async (group, buffer[fetch % stages], in + fetch * 128, sizeof (int) * 128, pipe);
          pipe.producer_commit ();
        }
      pipe.consumer_wait ();
      sum += buffer[use % stages][(threadIdx.x + 1) % 128];
      pipe.consumer_release ();
    }
  out[threadIdx.x] = sum;
}

extern "C" __global__ void
bulk (const int *in, int *out, int tiles)
{
  __shared__ alignas (128) int tile[1024];
  __shared__ alignas (128) int result[1024];
  __shared__ barrier bar;
  if (threadIdx.x == 0)
    init (&bar, blockDim.x);
  __syncthreads ();
  for (int t = 0; t < tiles; t++)
    {
      barrier::arrival_token token;
      if (threadIdx.x == 0)
        {
          cuda::device::memcpy_async_tx (tile, in + t * 1024, cuda::aligned_size_t<16> (sizeof tile), bar);
          token = cuda::device::barrier_arrive_tx (bar, 1, sizeof tile);
        }
      else
        token = bar.arrive ();
      bar.wait (std::move (token));
      for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        result[i] = tile[i] * 3 + t;
      cuda::ptx::fence_proxy_async (cuda::ptx::space_shared);
      __syncthreads ();
      if (threadIdx.x == 0)
        {
          cuda::ptx::cp_async_bulk (cuda::ptx::space_global, cuda::ptx::space_shared, out + t * 1024, result, sizeof result);
          cuda::ptx::cp_async_bulk_commit_group ();
          cuda::ptx::cp_async_bulk_wait_group_read (cuda::ptx::n32_t<0> ());
        }
      __syncthreads ();
    }
}

extern "C" __global__ void
named (const int *in, int *out)
{
  __shared__ int values[64];
  /* Warps 0, 1 produce and go on; warps 2, 3 wait. */
  if (threadIdx.x < 64)
    {
      values[threadIdx.x] = in[threadIdx.x] * 2;
      asm volatile ("barrier.cta.arrive 3, 128;" ::: "memory");
    }
  else
    {
      asm volatile ("barrier.cta.sync 3, 128;" ::: "memory");
      out[threadIdx.x - 64] = values[127 - threadIdx.x];
    }
}

/* Odd threads ignore their source and get zero. */
extern "C" __global__ void
ignoring (const int *in, int *out)
{
  __shared__ int values[64];
  unsigned to = (unsigned) __cvta_generic_to_shared (&values[threadIdx.x]);
  asm volatile ("{ .reg .pred p; setp.ne.u32 p, %2, 0; cp.async.ca.shared.global [%0], [%1], 4, p; }"
                ::"r"(to), "l"(in + threadIdx.x), "r"(threadIdx.x & 1) : "memory");
  asm volatile ("cp.async.wait_all;" ::: "memory");
  out[threadIdx.x] = values[threadIdx.x];
}

/* A lane of the warp waits for what another lane of it does. */
extern "C" __global__ void
within_warp (int *out)
{
  __shared__ barrier bar;
  __shared__ int value;
  if (threadIdx.x == 0)
    init (&bar, 1);
  __syncwarp ();
  if (threadIdx.x == 0)
    {
      bar.wait_parity (false);
      out[0] = value;
    }
  else if (threadIdx.x == 7)
    {
      value = 42;
      (void) bar.arrive ();
    }
}

/* Faults. */

extern "C" __global__ void
reads_early (const int *in, int *out)
{
  __shared__ alignas (128) int tile[32];
  __shared__ barrier bar;
  if (threadIdx.x == 0)
    init (&bar, 1);
  __syncthreads ();
  if (threadIdx.x == 0)
    {
      cuda::device::memcpy_async_tx (tile, in, cuda::aligned_size_t<16> (sizeof tile), bar);
      (void) cuda::device::barrier_arrive_tx (bar, 1, sizeof tile);
    }
  __syncthreads ();
  out[threadIdx.x] = tile[threadIdx.x]; // early
  bar.wait_parity (false);
}

extern "C" __global__ void
overwrites (const int *in, int *out)
{
  __shared__ alignas (128) int tile[64];
  __shared__ barrier bar;
  if (threadIdx.x == 0)
    init (&bar, 1);
  __syncthreads ();
  int sum = 0;
  for (int i = 0; i < 2; i++)
    {
      if (threadIdx.x == 0)
        {
          cuda::device::memcpy_async_tx (tile, in + i * 64, cuda::aligned_size_t<16> (sizeof tile), bar); // overwrites
          (void) cuda::device::barrier_arrive_tx (bar, 1, sizeof tile);
        }
      bar.wait_parity (i & 1);
      sum += tile[threadIdx.x];
    }
  out[threadIdx.x] = sum;
}

extern "C" __global__ void
no_sync_after_init (int *out)
{
  __shared__ barrier bar;
  if (threadIdx.x == 0)
    init (&bar, blockDim.x);
  (void) bar.arrive (); // unmade
  out[threadIdx.x] = 1;
}

extern "C" __global__ void
too_many (int *out)
{
  __shared__ barrier bar;
  if (threadIdx.x == 0)
    init (&bar, 2 * blockDim.x - 1);
  __syncthreads ();
  (void) bar.arrive (2); // many
  out[threadIdx.x] = 1;
}

extern "C" __global__ void
never_complete (int *out)
{
  __shared__ barrier bar;
  if (threadIdx.x == 0)
    init (&bar, blockDim.x + 1);
  __syncthreads ();
  bar.arrive_and_wait (); // never
  out[threadIdx.x] = 1;
}

extern "C" __global__ void
odd_size (const int *in, int *out)
{
  __shared__ alignas (128) int tile[32];
  __shared__ barrier bar;
  if (threadIdx.x == 0)
    {
      init (&bar, 1);
      cuda::ptx::mbarrier_arrive_expect_tx (cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared, cuda::device::barrier_native_handle (bar), 20);
      cuda::ptx::cp_async_bulk (cuda::ptx::space_cluster, cuda::ptx::space_global, tile, in, 20, cuda::device::barrier_native_handle (bar)); // odd
    }
}

extern "C" __global__ void
too_far (const int *in, int *out)
{
  __shared__ alignas (128) int tile[32];
  __shared__ barrier bar;
  if (threadIdx.x == 0)
    {
      init (&bar, 1);
      cuda::device::memcpy_async_tx (tile, in + 32, cuda::aligned_size_t<16> (sizeof tile), bar); // far
    }
}
