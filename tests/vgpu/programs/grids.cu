/* SPDX-License-Identifier: Apache-2.0 */
// Cooperative groups: barriers of a whole grid, tiles, coalesced groups, reductions.
#include "check.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

// Each step reads what all other blocks wrote in the step before.
__global__ void
rotate_sum (long long *values, int steps)
{
  cg::grid_group grid = cg::this_grid ();
  long long n = grid.size (), i = grid.thread_rank ();
  for (int step = 0; step < steps; step++)
    {
      long long sum = values[i] + values[(i + 37) % n];
      grid.sync ();
      values[i] = sum;
      grid.sync ();
    }
}

__global__ void
tiles (int *out)
{
  cg::thread_block block = cg::this_thread_block ();
  auto tile = cg::tiled_partition<8> (block);
  int i = block.thread_rank ();
  int sum = cg::reduce (tile, i, cg::plus<int> ());
  int before = cg::exclusive_scan (tile, i, cg::plus<int> ());
  int first = tile.shfl (i, 0);
  int count = 0;
  if (i % 3 == 0)
    {
      cg::coalesced_group some = cg::coalesced_threads ();
      count = some.size () * 100 + some.thread_rank ();
    }
  out[4 * i] = sum;
  out[4 * i + 1] = before;
  out[4 * i + 2] = first;
  out[4 * i + 3] = count;
}

int
main ()
{
  enum { BLOCKS = 20, THREADS = 64, N = BLOCKS * THREADS, STEPS = 5 };
  static long long host[N], next[N];
  long long *values;
  int *out, steps = STEPS;
  OK (cudaMallocManaged (&values, sizeof host));
  for (int i = 0; i < N; i++)
    values[i] = host[i] = i * i % 101;
  void *arguments[] = {&values, &steps};
  OK (cudaLaunchCooperativeKernel ((void *) rotate_sum, BLOCKS, THREADS, arguments));
  OK (cudaDeviceSynchronize ());
  for (int step = 0; step < STEPS; step++)
    {
      for (int i = 0; i < N; i++)
        next[i] = host[i] + host[(i + 37) % N];
      for (int i = 0; i < N; i++)
        host[i] = next[i];
    }
  for (int i = 0; i < N; i++)
    CHECK (values[i] == host[i]);
  // More blocks than can be there at once.
  int per_sm;
  cudaDeviceProp properties;
  OK (cudaGetDeviceProperties (&properties, 0));
  OK (cudaOccupancyMaxActiveBlocksPerMultiprocessor (&per_sm, rotate_sum, THREADS, 0));
  CHECK (cudaLaunchCooperativeKernel ((void *) rotate_sum,
                                      per_sm * properties.multiProcessorCount + 1, THREADS,
                                      arguments)
         == cudaErrorCooperativeLaunchTooLarge);
  cudaGetLastError ();
  OK (cudaMallocManaged (&out, 4 * 64 * sizeof *out));
  tiles<<<1, 64>>> (out);
  OK (cudaDeviceSynchronize ());
  for (int i = 0; i < 64; i++)
    {
      int base = i / 8 * 8;
      CHECK (out[4 * i] == 8 * base + 28 && out[4 * i + 2] == base);
      CHECK (out[4 * i + 1] == (i - base) * base + (i - base) * (i - base - 1) / 2);
      if (i % 3 == 0)
        CHECK (out[4 * i + 3] == 1100 + (i < 32 ? i / 3 : (i - 33) / 3));
    }
  std::printf ("fine\n");
}
