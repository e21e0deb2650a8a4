// SPDX-License-Identifier: Apache-2.0
// Kernels in which there is nothing to find: locks, look-back, warp-synchronous code, early exits, grids and
// pipelines that wait for themselves. n elements of in and out, which are exactly n long; 64 threads a block.

#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;
#define KERNEL extern "C" __global__ void
#define T (int) threadIdx.x
#define I (int) (blockIdx.x * blockDim.x + threadIdx.x)

__device__ int lock_word, ticket_next, ticket_now, shared_sum, arrived;
__device__ unsigned long long parts[16];
__device__ float slots[16];
__device__ int ready[16];

KERNEL
spin_lock (int n, const float *in, float *out)
{
  if (T == 0)
    {
      while (atomicCAS (&lock_word, 0, 1) != 0)
        ;
      __threadfence ();
      shared_sum = shared_sum + 1;
      __threadfence ();
      atomicExch (&lock_word, 0);
    }
  out[I % n] = 1;
}

KERNEL
lane_lock (int n, const float *in, float *out)
{
  bool done = false;
  while (!done)
    if (atomicCAS (&lock_word, 0, 1) == 0)
      {
        __threadfence ();
        shared_sum = shared_sum + 1;
        __threadfence ();
        atomicExch (&lock_word, 0);
        done = true;
      }
  out[T] = in[T];
}

KERNEL
ticket_lock (int n, const float *in, float *out)
{
  if (T == 0)
    {
      int mine = atomicAdd (&ticket_next, 1);
      while (((volatile int *) &ticket_now)[0] != mine)
        ;
      __threadfence ();
      shared_sum = shared_sum + 2;
      __threadfence ();
      atomicAdd (&ticket_now, 1);
    }
  out[I % n] = 2;
}

KERNEL
block_lock (int n, const float *in, float *out)
{
  __shared__ int lock, count;
  if (T == 0)
    lock = count = 0;
  __syncthreads ();
  for (bool done = false; !done;)
    if (atomicCAS_block (&lock, 0, 1) == 0)
      {
        __threadfence_block ();
        *(volatile int *) &count = *(volatile int *) &count + 1;
        __threadfence_block ();
        atomicExch_block (&lock, 0);
        done = true;
      }
  __syncthreads ();
  out[T] = (float) count;
}

// Each block adds its own to what the ones before it have said, without waiting for them to end.
KERNEL
look_back (int n, const float *in, float *out)
{
  __shared__ unsigned before;
  int b = (int) blockIdx.x;
  if (T == 0)
    {
      unsigned mine = (unsigned) in[b] + 1, sum = 0;
      atomicExch (&parts[b], (1ull << 32) | mine);
      for (int i = b - 1; i >= 0;)
        {
          unsigned long long said = atomicAdd (&parts[i], 0ull);
          if (said >> 32 == 0)
            continue;
          sum += (unsigned) said;
          if (said >> 32 == 2)
            break;
          i--;
        }
      atomicExch (&parts[b], (2ull << 32) | (sum + mine));
      before = sum;
    }
  __syncthreads ();
  out[I % n] = (float) before;
}

KERNEL
last_block (int n, const float *in, float *out)
{
  __shared__ bool last;
  if (T == 0)
    {
      slots[blockIdx.x] = in[blockIdx.x];
      __threadfence ();
      last = atomicAdd (&arrived, 1) == (int) gridDim.x - 1;
    }
  __syncthreads ();
  if (last && T == 0)
    {
      float sum = 0;
      for (unsigned i = 0; i < gridDim.x; i++)
        sum += ((volatile float *) slots)[i];
      out[0] = sum;
    }
}

KERNEL
flags (int n, const float *in, float *out)
{
  int b = (int) blockIdx.x;
  if (T == 0)
    {
      cuda::atomic_ref<int, cuda::thread_scope_device> mine (ready[b]);
      slots[b] = in[b];
      mine.store (1, cuda::memory_order_release);
      if (b > 0)
        {
          cuda::atomic_ref<int, cuda::thread_scope_device> before (ready[b - 1]);
          while (before.load (cuda::memory_order_acquire) == 0)
            ;
          out[b] = slots[b - 1];
        }
    }
}

KERNEL
warp_volatile (int n, const float *in, float *out)
{
  __shared__ float s[64];
  s[T] = in[T];
  __syncthreads ();
  if (T < 32)
    {
      volatile float *v = s;
      for (int half = 32; half > 0; half /= 2)
        {
          float other = v[T + half];
          __syncwarp ();
          v[T] = v[T] + other;
          __syncwarp ();
        }
    }
  if (T == 0)
    out[0] = s[0];
}

KERNEL
warp_shuffle (int n, const float *in, float *out)
{
  __shared__ float sums[2];
  float v = in[T];
  for (int half = 16; half > 0; half /= 2)
    v += __shfl_down_sync (0xffffffff, v, half);
  if (T % 32 == 0)
    sums[T / 32] = v;
  __syncthreads ();
  out[T] = sums[0] + sums[1];
}

KERNEL
warp_scan (int n, const float *in, float *out)
{
  float v = in[T];
  for (int step = 1; step < 32; step *= 2)
    {
      float other = __shfl_up_sync (0xffffffff, v, step);
      v += T % 32 >= step ? other : 0;
    }
  out[T] = v;
}

KERNEL
warp_aggregated (int n, const float *in, float *out)
{
  if (in[T] > 20)
    {
      unsigned who = __activemask ();
      int leader = __ffs (who) - 1, rank = __popc (who & ((1u << T % 32) - 1)), base = 0;
      if (T % 32 == leader)
        base = atomicAdd (&shared_sum, __popc (who));
      base = __shfl_sync (who, base, leader);
      out[(base + rank) % n] = in[T];
    }
}

KERNEL
tiles_of_a_warp (int n, const float *in, float *out)
{
  auto tile = cg::tiled_partition<8> (cg::this_thread_block ());
  float v = in[T];
  for (int half = 4; half > 0; half /= 2)
    v += tile.shfl_down (v, half);
  out[T] = tile.shfl (v, 0);
}

KERNEL
labelled_partition (int n, const float *in, float *out)
{
  unsigned same = __match_any_sync (0xffffffff, (int) in[T] % 3);
  out[T] = (float) __popc (same);
}

KERNEL
early_exit (int n, const float *in, float *out)
{
  __shared__ float s[64];
  if (T >= 48)
    return;
  s[T] = in[T];
  __syncthreads ();
  out[T] = s[47 - T];
}

KERNEL
exit_of_a_warp (int n, const float *in, float *out)
{
  __shared__ float s[32];
  if (T >= 32)
    {
      out[T] = 0;
      return;
    }
  s[T] = in[T];
  __syncthreads ();
  out[T] = s[31 - T];
}

KERNEL
exit_in_a_loop (int n, const float *in, float *out)
{
  for (int i = 0;; i++)
    {
      out[T] = (float) i;
      if (i == T % 5)
        return;
    }
}

KERNEL
grid_sync (int n, const float *in, float *out)
{
  cg::grid_group grid = cg::this_grid ();
  int i = I;
  if (i < n)
    out[i] = in[i];
  grid.sync ();
  float v = i < n ? out[n - 1 - i] : 0;
  grid.sync ();
  if (i < n)
    out[i] = v + 1;
}

KERNEL
group_sync (int n, const float *in, float *out)
{
  __shared__ float s[64];
  auto block = cg::this_thread_block ();
  s[block.thread_rank ()] = in[T];
  block.sync ();
  out[T] = s[63 - T];
}

KERNEL
copy_group (int n, const float *in, float *out)
{
  __shared__ float s[64];
  for (int i = 0; i < 3; i++)
    {
      __pipeline_memcpy_async (&s[T], &in[T], 4);
      __pipeline_commit ();
      __pipeline_wait_prior (0);
      __syncthreads ();
      out[T] = s[63 - T];
      __syncthreads ();
    }
}

KERNEL
stages (int n, const float *in, float *out)
{
  __shared__ float s[3][64];
  float sum = 0;
  for (int i = 0; i < 2; i++)
    {
      __pipeline_memcpy_async (&s[i][T], &in[T], 4);
      __pipeline_commit ();
    }
  for (int i = 0; i < 6; i++)
    {
      __pipeline_wait_prior (1);
      __syncthreads ();
      sum += s[i % 3][63 - T];
      if (i + 2 < 6)
        __pipeline_memcpy_async (&s[(i + 2) % 3][T], &in[T], 4);
      __pipeline_commit ();
    }
  out[T] = sum;
}

KERNEL
block_pipeline (int n, const float *in, float *out)
{
  __shared__ float s[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block ();
  auto pipe = cuda::make_pipeline (block, &state);
  float sum = 0;
  for (int i = 0; i < 5; i++)
    {
      if (i < 4)
        {
          pipe.producer_acquire ();
          cuda::memcpy_async (block, s[i % 2], in, sizeof s[0], pipe);
          pipe.producer_commit ();
        }
      if (i > 0)
        {
          pipe.consumer_wait ();
          sum += s[(i - 1) % 2][63 - T];
          pipe.consumer_release ();
        }
    }
  out[T] = sum;
}

KERNEL
split_barrier (int n, const float *in, float *out)
{
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ float s[64];
  if (T == 0)
    init (&bar, blockDim.x);
  __syncthreads ();
  for (int i = 0; i < 3; i++)
    {
      s[T] = in[T] + i;
      auto token = bar.arrive ();
      float own = in[63 - T];
      bar.wait (std::move (token));
      out[T] = s[63 - T] + own;
      bar.arrive_and_wait ();
    }
}

KERNEL
producer_consumer (int n, const float *in, float *out)
{
  __shared__ cuda::barrier<cuda::thread_scope_block> full, empty;
  __shared__ float s[32];
  if (T == 0)
    {
      init (&full, 64);
      init (&empty, 64);
    }
  __syncthreads ();
  for (int i = 0; i < 4; i++)
    if (T < 32)
      {
        s[T] = in[T] + i;
        (void) full.arrive ();
        empty.arrive_and_wait ();
      }
    else
      {
        full.arrive_and_wait ();
        out[T] = s[63 - T];
        (void) empty.arrive ();
      }
}

KERNEL
ring_of_names (int n, const float *in, float *out)
{
  __shared__ float s[2][32];
  for (int i = 0; i < 4; i++)
    if (T < 32)
      {
        s[i % 2][T] = in[T] + i;
        if (i % 2)
          asm volatile ("bar.sync 3, 64;" ::: "memory");
        else
          asm volatile ("bar.sync 4, 64;" ::: "memory");
      }
    else
      {
        if (i % 2)
          asm volatile ("bar.sync 3, 64;" ::: "memory");
        else
          asm volatile ("bar.sync 4, 64;" ::: "memory");
        out[T] = s[i % 2][63 - T];
      }
}

KERNEL
voting_barrier (int n, const float *in, float *out)
{
  int count = __syncthreads_count (in[T] > 10);
  int any = __syncthreads_or (in[T] > 62), all = __syncthreads_and (in[T] >= 0);
  out[T] = (float) (count + any + all);
}

KERNEL
bitonic (int n, const float *in, float *out)
{
  __shared__ float s[64];
  s[T] = in[T * 37 % 64];
  __syncthreads ();
  for (int size = 2; size <= 64; size *= 2)
    for (int step = size / 2; step > 0; step /= 2)
      {
        int other = T ^ step;
        if (other > T && (s[T] > s[other]) == ((T & size) == 0))
          {
            float t = s[T];
            s[T] = s[other];
            s[other] = t;
          }
        __syncthreads ();
      }
  out[T] = s[T];
}

KERNEL
matrix_product (int n, const float *in, float *out)
{
  __shared__ float a[8][8], b[8][8];
  int x = T % 8, y = T / 8;
  float sum = 0;
  for (int k = 0; k < 2; k++)
    {
      a[y][x] = in[y * 8 + x];
      b[y][x] = in[x * 8 + y];
      __syncthreads ();
      for (int i = 0; i < 8; i++)
        sum += a[y][i] * b[i][x];
      __syncthreads ();
    }
  out[T] = sum;
}

KERNEL
stencil (int n, const float *in, float *out)
{
  __shared__ float s[66];
  s[T + 1] = in[T];
  if (T == 0)
    s[0] = in[0];
  if (T == 63)
    s[65] = in[63];
  __syncthreads ();
  out[T] = (s[T] + s[T + 1] + s[T + 2]) / 3;
}

KERNEL
private_histograms (int n, const float *in, float *out)
{
  __shared__ int bins[2][8];
  for (int i = T; i < 16; i += 64)
    bins[i / 8][i % 8] = 0;
  __syncthreads ();
  atomicAdd (&bins[T / 32][(int) in[T] % 8], 1);
  __syncthreads ();
  if (T < 8)
    out[T] = (float) (bins[0][T] + bins[1][T]);
}

KERNEL
softmax (int n, const float *in, float *out)
{
  __shared__ float s[64];
  s[T] = in[T];
  __syncthreads ();
  float most = 0, sum = 0;
  for (int i = 0; i < 64; i++)
    most = fmaxf (most, s[i]);
  for (int i = 0; i < 64; i++)
    sum += expf (s[i] - most);
  out[T] = expf (in[T] - most) / sum;
}

KERNEL
welford (int n, const float *in, float *out)
{
  float mean = 0, m2 = 0;
  for (int i = 0; i < n; i++)
    {
      float d = in[i] - mean;
      mean += d / (float) (i + 1);
      m2 += d * (in[i] - mean);
    }
  out[T] = sqrtf (m2 / (float) n) + rsqrtf (mean + 1);
}

KERNEL
heap_list (int n, const float *in, float *out)
{
  struct Node
  {
    Node *next;
    float value;
  } *list = nullptr;
  for (int i = 0; i < 4; i++)
    {
      Node *node = (Node *) malloc (sizeof (Node));
      node->next = list;
      node->value = in[(T + i) % n];
      list = node;
    }
  float sum = 0;
  while (list)
    {
      Node *next = list->next;
      sum += list->value;
      free (list);
      list = next;
    }
  out[T] = sum;
}

__device__ float
climb (const float *in, int depth)
{
  return depth == 0 ? in[0] : in[depth] + climb (in, depth - 1);
}

KERNEL
recursion (int n, const float *in, float *out)
{
  out[T] = climb (in, T % 10);
}

__device__ float twice (float x) { return 2 * x; }
__device__ float half_of (float x) { return x / 2; }

KERNEL
pointers (int n, const float *in, float *out)
{
  float (*f) (float) = in[T] > 30 ? twice : half_of;
  out[T] = f (in[T]);
}

KERNEL
long_switch (int n, const float *in, float *out)
{
  float v = in[T];
  switch (T % 9)
    {
    case 0: v += 1; break;
    case 1: v *= 2; break;
    case 2: v -= 3; break;
    case 3: v = -v; break;
    case 4: v = v * v; break;
    case 5: v = sinf (v); break;
    case 6: v = 6; break;
    case 7: v = logf (v + 1); break;
    default: v = cosf (v);
    }
  out[T] = v;
}

KERNEL
local_stack (int n, const float *in, float *out)
{
  float stack[24];
  int top = 0;
  for (int i = 0; i < T % 20 + 1; i++)
    stack[top++] = in[(T + i) % n];
  float sum = 0;
  while (top > 0)
    sum += stack[--top];
  out[T] = sum;
}

KERNEL
bit_tricks (int n, const float *in, float *out)
{
  unsigned x = (unsigned) in[T] * 2654435761u;
  x = __brev (x) ^ __byte_perm (x, T, 0x4501);
  out[T] = (float) (__popc (x) + __clz (x) + __ffs (x) + __funnelshift_l (x, T, 5) % 7);
}

KERNEL
doubles (int n, const float *in, float *out)
{
  double v = in[T];
  out[T] = (float) (sqrt (v) + exp (-v) + fma (v, v, 1.0) / (v + 1));
}

KERNEL
atomics_of_all_kinds (int n, const float *in, float *out)
{
  __shared__ int s[6];
  if (T < 6)
    s[T] = T == 4 ? -1 : 0;
  __syncthreads ();
  atomicMax (&s[0], T);
  atomicMin (&s[1], -T);
  atomicOr (&s[2], 1 << T % 8);
  atomicXor (&s[3], T);
  atomicAnd (&s[4], ~(1 << T % 3));
  atomicInc ((unsigned *) &s[5], 40);
  __syncthreads ();
  if (T < 6)
    out[T] = (float) s[T];
}

KERNEL
reused_memory (int n, const float *in, float *out)
{
  __shared__ union
  {
    float floats[64];
    int ints[64];
  } s;
  s.floats[T] = in[T];
  __syncthreads ();
  float v = s.floats[63 - T];
  __syncthreads ();
  s.ints[T] = (int) v;
  __syncthreads ();
  out[T] = (float) s.ints[T ^ 1];
}

KERNEL
same_block_twice (int n, const float *in, float *out)
{
  out[T] = in[T];
  __syncthreads ();
  float v = out[63 - T];
  __syncthreads ();
  out[T] = v + 1;
}

KERNEL
read_by_all_blocks (int n, const float *in, float *out)
{
  float sum = 0;
  for (int i = 0; i < n; i++)
    sum += in[i];
  if (I < n)
    out[I] = sum;
}

KERNEL
printing (int n, const float *in, float *out)
{
  if (T == 0)
    printf ("%d %f\n", n, in[0]);
  out[T] = in[T];
}

KERNEL
ballots (int n, const float *in, float *out)
{
  unsigned votes = __ballot_sync (0xffffffff, in[T] > 7);
  out[T] = (float) (__popc (votes) + __any_sync (0xffffffff, T == 3) + __all_sync (0xffffffff, T < 64));
}

KERNEL
reduce_sync (int n, const float *in, float *out)
{
  out[T] = (float) (__reduce_add_sync (0xffffffff, (unsigned) in[T]) + __reduce_max_sync (0xffffffff, T));
}
