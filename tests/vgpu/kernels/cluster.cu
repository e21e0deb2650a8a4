// SPDX-License-Identifier: Apache-2.0
/* Clusters of blocks and the shared memory of their neighbours. */
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>

namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;

/* A histogram whose bins are spread over the blocks of a cluster. */
extern "C" __global__ void
histogram (const int *in, int *bins, int per_block, int n)
{
  extern __shared__ int mine[];
  cg::cluster_group cluster = cg::this_cluster ();
  for (int i = threadIdx.x; i < per_block; i += blockDim.x)
    mine[i] = 0;
  cluster.sync ();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    {
      int bin = in[i];
      int *there = cluster.map_shared_rank (mine, bin / per_block);
      atomicAdd (there + bin % per_block, 1);
    }
  cluster.sync ();
  for (int i = threadIdx.x; i < per_block; i += blockDim.x)
    atomicAdd (&bins[cluster.block_rank () * per_block + i], mine[i]);
}

/* Each block reads what its neighbour wrote, plainly. */
extern "C" __global__ void __cluster_dims__ (2, 2, 1)
neighbours (int *out)
{
  __shared__ int mine[32];
  cg::cluster_group cluster = cg::this_cluster ();
  unsigned rank = cluster.block_rank (), next = (rank + 1) % cluster.num_blocks ();
  mine[threadIdx.x] = (int) (blockIdx.y * gridDim.x + blockIdx.x) * 100 + (int) threadIdx.x;
  cluster.sync ();
  int *theirs = cluster.map_shared_rank (mine, next);
  int block = (int) (blockIdx.y * gridDim.x + blockIdx.x);
  out[block * 32 + threadIdx.x] = theirs[31 - threadIdx.x];
  cluster.sync ();
  theirs[threadIdx.x] += 1000;
  cluster.sync ();
  out[gridDim.x * gridDim.y * 32 + block * 32 + threadIdx.x] = mine[threadIdx.x] + (int) cluster.query_shared_rank (theirs);
  dim3 at = cluster.block_index ();
  if (threadIdx.x == 0)
    out[2 * gridDim.x * gridDim.y * 32 + block] = (int) (at.x + 10 * at.y + 100 * rank);
}

/* The first block copies one tile to the shared memory of all. */
extern "C" __global__ void __cluster_dims__ (4, 1, 1)
multicast (const int *in, int *out)
{
  __shared__ alignas (128) int tile[64];
  __shared__ barrier bar;
  cg::cluster_group cluster = cg::this_cluster ();
  if (threadIdx.x == 0)
    {
      init (&bar, 1);
      cuda::ptx::fence_mbarrier_init (cuda::ptx::sem_release, cuda::ptx::scope_cluster);
      cuda::ptx::mbarrier_arrive_expect_tx (cuda::ptx::sem_release, cuda::ptx::scope_cta,
                                            cuda::ptx::space_shared,
                                            cuda::device::barrier_native_handle (bar), sizeof tile);
    }
  cluster.sync ();
  if (cluster.block_rank () == 0 && threadIdx.x == 0)
    {
      unsigned to = (unsigned) __cvta_generic_to_shared (tile);
      unsigned at = (unsigned) __cvta_generic_to_shared (cuda::device::barrier_native_handle (bar));
      asm volatile ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                    "[%0], [%1], %2, [%3], %4;"
                    ::"r"(to), "l"(in), "r"((int) sizeof tile), "r"(at), "h"((short) 0xf) : "memory");
    }
  bar.wait_parity (false);
  out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x] + (int) blockIdx.x;
  cluster.sync ();
}

/* Faults. */

extern "C" __global__ void __cluster_dims__ (2, 1, 1)
beyond_neighbour (int *out)
{
  __shared__ int mine[32];
  cg::cluster_group cluster = cg::this_cluster ();
  mine[threadIdx.x] = 1;
  cluster.sync ();
  int *theirs = cluster.map_shared_rank (mine, 1 - cluster.block_rank ());
  out[threadIdx.x] = theirs[threadIdx.x + 4]; // beyond
  cluster.sync ();
}

extern "C" __global__ void __cluster_dims__ (2, 1, 1)
one_stays_away (int *out)
{
  cg::cluster_group cluster = cg::this_cluster ();
  __shared__ barrier bar;
  if (threadIdx.x == 0)
    init (&bar, blockDim.x + 1);
  __syncthreads ();
  if (cluster.block_rank () == 0)
    cluster.sync (); // away
  else
    bar.arrive_and_wait ();
  out[threadIdx.x] = 1;
}

/* Nobody knows whether the neighbour has written yet. */
extern "C" __global__ void __cluster_dims__ (2, 1, 1)
reads_early (int *out)
{
  __shared__ int mine[32];
  cg::cluster_group cluster = cg::this_cluster ();
  int *theirs = cluster.map_shared_rank (mine, 1 - cluster.block_rank ());
  mine[threadIdx.x] = (int) threadIdx.x;
  __syncthreads ();
  out[blockIdx.x * 32 + threadIdx.x] = theirs[31 - threadIdx.x] * 2; // early
  cluster.sync ();
}

/* Both blocks write the first one's words, the second without being asked. */
extern "C" __global__ void __cluster_dims__ (2, 1, 1)
writes_unasked (int *out)
{
  __shared__ int mine[32];
  cg::cluster_group cluster = cg::this_cluster ();
  cluster.sync ();
  int *first = cluster.map_shared_rank (mine, 0);
  first[threadIdx.x] = (int) (cluster.block_rank () + threadIdx.x); // unasked
  cluster.sync ();
  out[blockIdx.x * 32 + threadIdx.x] = first[threadIdx.x];
  cluster.sync ();
}

/* An atomic of one block, a plain store of the other. */
extern "C" __global__ void __cluster_dims__ (2, 1, 1)
half_atomic (int *out)
{
  __shared__ int count;
  cg::cluster_group cluster = cg::this_cluster ();
  if (threadIdx.x == 0)
    count = 0;
  cluster.sync ();
  int *first = cluster.map_shared_rank (&count, 0);
  if (cluster.block_rank () == 1)
    atomicAdd (first, 1);
  else if (threadIdx.x == 0)
    count = 5; // half atomic
  cluster.sync ();
  out[blockIdx.x * 32 + threadIdx.x] = *first;
  cluster.sync ();
}
