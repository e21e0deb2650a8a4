// SPDX-License-Identifier: Apache-2.0
// Faults about order, one of a kind each, with the line marked on which it must be found; beside it a sound
// kernel that does the same. n elements of in and out, which are exactly n long; 64 threads a block.

#include <cuda_pipeline.h>

#define KERNEL extern "C" __global__ void
#define T (int) threadIdx.x

KERNEL
last_step_bad (int n, const float *in, float *out)
{
  __shared__ float s[64];
  s[T] = in[T];
  __syncthreads ();
  for (int half = 32; half > 0; half /= 2)
    {
      if (T < half)
        s[T] += s[T + half]; // fault: last step
      if (half > 1)
        __syncthreads ();
    }
  out[T] = s[0];
}

KERNEL
last_step_good (int n, const float *in, float *out)
{
  __shared__ float s[64];
  s[T] = in[T];
  __syncthreads ();
  for (int half = 32; half > 0; half /= 2)
    {
      if (T < half)
        s[T] += s[T + half];
      __syncthreads ();
    }
  out[T] = s[0];
}

KERNEL
buffers_bad (int n, const float *in, float *out)
{
  __shared__ float s[2][64];
  float sum = 0;
  s[0][T] = in[T];
  __syncthreads ();
  for (int i = 0; i < 4; i++)
    {
      sum += s[i % 2][63 - T]; // fault: wrong buffer
      s[i / 2 % 2][T] = in[T] + i;
      __syncthreads ();
    }
  out[T] = sum;
}

KERNEL
buffers_good (int n, const float *in, float *out)
{
  __shared__ float s[2][64];
  float sum = 0;
  s[0][T] = in[T];
  __syncthreads ();
  for (int i = 0; i < 4; i++)
    {
      s[(i + 1) % 2][T] = in[T] + i;
      sum += s[i % 2][63 - T];
      __syncthreads ();
    }
  out[T] = sum;
}

KERNEL
transpose_bad (int n, const float *in, float *out)
{
  __shared__ float tile[8][9];
  tile[T / 8][T % 8] = in[T];
  out[T] = tile[T % 8][T / 8]; // fault: transposed too early
}

KERNEL
transpose_good (int n, const float *in, float *out)
{
  __shared__ float tile[8][9];
  tile[T / 8][T % 8] = in[T];
  __syncthreads ();
  out[T] = tile[T % 8][T / 8];
}

KERNEL
scan_bad (int n, const float *in, float *out)
{
  __shared__ float s[64];
  s[T] = in[T];
  __syncthreads ();
  for (int step = 1; step < 64; step *= 2)
    {
      if (T >= step)
        s[T] += s[T - step]; // fault: scan in place
      __syncthreads ();
    }
  out[T] = s[T];
}

KERNEL
scan_good (int n, const float *in, float *out)
{
  __shared__ float s[64];
  s[T] = in[T];
  __syncthreads ();
  for (int step = 1; step < 64; step *= 2)
    {
      float add = T >= step ? s[T - step] : 0;
      __syncthreads ();
      s[T] += add;
      __syncthreads ();
    }
  out[T] = s[T];
}

KERNEL
histogram_bad (int n, const float *in, float *out)
{
  __shared__ int bins[4];
  if (T < 4)
    bins[T] = 0;
  __syncthreads ();
  bins[(int) in[T] % 4]++; // fault: no atomic
  __syncthreads ();
  if (T < 4)
    out[T] = (float) bins[T];
}

KERNEL
histogram_good (int n, const float *in, float *out)
{
  __shared__ int bins[4];
  if (T < 4)
    bins[T] = 0;
  __syncthreads ();
  atomicAdd (&bins[(int) in[T] % 4], 1);
  __syncthreads ();
  if (T < 4)
    out[T] = (float) bins[T];
}

KERNEL
broadcast_bad (int n, const float *in, float *out)
{
  __shared__ float value;
  if (T == 0)
    value = in[5];
  out[T] = value; // fault: broadcast
}

KERNEL
broadcast_good (int n, const float *in, float *out)
{
  __shared__ float value;
  if (T == 0)
    value = in[5];
  __syncthreads ();
  out[T] = value;
}

KERNEL
in_place_bad (int n, const float *in, float *out)
{
  int i = (int) (blockIdx.x * blockDim.x) + T;
  if (i == 0 && n == 64)
    out[0] = 0;
  float left = out[(i + 1) % n]; // fault: neighbour's block
  out[i % n] = left + in[i % n] + (float) blockIdx.x;
}

KERNEL
max_bad (int n, const float *in, float *out)
{
  if (T == 0)
    out[0] = in[blockIdx.x]; // fault: maximum without atomic
}

KERNEL
max_good (int n, const float *in, float *out)
{
  if (T == 0)
    out[0] = 0;
  __syncthreads ();
  atomicMax ((int *) out, __float_as_int (in[T]));
}

KERNEL
plain_beside_atomic_bad (int n, const float *in, float *out)
{
  __shared__ int count;
  if (T == 0)
    count = 0;
  __syncthreads ();
  atomicAdd (&count, 1);
  out[T] = (float) count; // fault: plain beside atomic
}

KERNEL
plain_beside_atomic_good (int n, const float *in, float *out)
{
  __shared__ int count;
  if (T == 0)
    count = 0;
  __syncthreads ();
  int before = atomicAdd (&count, 1);
  __syncthreads ();
  out[before] = (float) count;
}

KERNEL
barrier_in_loop_bad (int n, const float *in, float *out)
{
  float sum = 0;
  for (int i = 0; i < 1 + T % 2; i++)
    {
      sum += in[(T + i) % n];
      __syncthreads (); // fault: barrier in a loop
    }
  out[T] = sum;
}

KERNEL
barrier_in_loop_good (int n, const float *in, float *out)
{
  float sum = 0;
  for (int i = 0; i < 2; i++)
    {
      if (i < 1 + T % 2)
        sum += in[(T + i) % n];
      __syncthreads ();
    }
  out[T] = sum;
}

KERNEL
one_warp_barrier_bad (int n, const float *in, float *out)
{
  if (T < 32)
    __syncthreads (); // fault: barrier of one warp
  else
    asm volatile ("bar.sync 1, 64;" ::: "memory");
  out[T] = in[T];
}

KERNEL
short_mask_bad (int n, const float *in, float *out)
{
  float v = in[T];
  if (T % 32 < 16)
    v += __shfl_xor_sync (0xffffffff, v, 1); // fault: mask of all
  out[T] = v;
}

KERNEL
short_mask_good (int n, const float *in, float *out)
{
  float v = in[T];
  if (T % 32 < 16)
    v += __shfl_xor_sync (0xffff, v, 1);
  out[T] = v;
}

KERNEL
ballot_bad (int n, const float *in, float *out)
{
  unsigned votes = 0;
  if (in[T] < 40)
    votes = __ballot_sync (0xffffffff, in[T] > 3); // fault: ballot of some
  out[T] = (float) votes;
}

KERNEL
ballot_good (int n, const float *in, float *out)
{
  bool some = in[T] < 40;
  unsigned who = __ballot_sync (0xffffffff, some), votes = 0;
  if (some)
    votes = __ballot_sync (who, in[T] > 3);
  out[T] = (float) votes;
}

KERNEL
too_many_expected_bad (int n, const float *in, float *out)
{
  if (T >= 32)
    asm volatile ("bar.sync 2, 64;" ::: "memory"); // fault: waits for more than come
  out[T] = in[T];
}

KERNEL
named_barrier_good (int n, const float *in, float *out)
{
  __shared__ float s[32];
  if (T < 32)
    {
      s[T] = in[T];
      asm volatile ("bar.arrive 2, 64;" ::: "memory");
      out[T] = in[T];
    }
  else
    {
      asm volatile ("bar.sync 2, 64;" ::: "memory");
      out[T] = s[63 - T];
    }
}

__device__ unsigned
address (const void *p)
{
  return (unsigned) __cvta_generic_to_shared (p);
}

__device__ void
await (unsigned long long *barrier, unsigned parity)
{
  asm volatile ("{\n.reg .pred done;\nagain:\nmbarrier.test_wait.shared.b64 done, [%0], %1;\n"
                "@!done bra again;\n}" ::"r"(address (barrier)),
                "l"((unsigned long long) parity)
                : "memory");
}

KERNEL
arrivals_bad (int n, const float *in, float *out)
{
  __shared__ unsigned long long barrier;
  if (T == 0)
    asm volatile ("mbarrier.init.shared.b64 [%0], 32;" ::"r"(address (&barrier)) : "memory");
  __syncthreads ();
  asm volatile ("mbarrier.arrive.noComplete.shared.b64 _, [%0], 40;" ::"r"(address (&barrier)) // fault: more arrivals than expected
                : "memory");
  out[T] = in[T];
}

KERNEL
uninitialised_barrier_bad (int n, const float *in, float *out)
{
  __shared__ unsigned long long barrier[2];
  if (T == 0)
    asm volatile ("mbarrier.init.shared.b64 [%0], 64;" ::"r"(address (&barrier[0])) : "memory");
  __syncthreads ();
  asm volatile ("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address (&barrier[1])) : "memory"); // fault: barrier that is none
  out[T] = in[T];
}

KERNEL
phases_good (int n, const float *in, float *out)
{
  __shared__ unsigned long long barrier;
  __shared__ float s[64];
  unsigned long long state;
  if (T == 0)
    asm volatile ("mbarrier.init.shared.b64 [%0], 64;" ::"r"(address (&barrier)) : "memory");
  __syncthreads ();
  s[T] = in[T];
  asm volatile ("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(address (&barrier)) : "memory");
  asm volatile ("{\n.reg .pred done;\nwaits:\nmbarrier.test_wait.shared.b64 done, [%0], %1;\n@!done bra waits;\n}" ::"r"(
                    address (&barrier)),
                "l"(state)
                : "memory");
  out[T] = s[63 - T];
}

KERNEL
wait_count_bad (int n, const float *in, float *out)
{
  __shared__ float s[2][64];
  for (int i = 0; i < 2; i++)
    {
      __pipeline_memcpy_async (&s[i][T], &in[T], 4);
      __pipeline_commit ();
    }
  __pipeline_wait_prior (1);
  out[T] = s[1][T]; // fault: one group too few
  __pipeline_wait_prior (0);
}

KERNEL
wait_count_good (int n, const float *in, float *out)
{
  __shared__ float s[2][64];
  for (int i = 0; i < 2; i++)
    {
      __pipeline_memcpy_async (&s[i][T], &in[T], 4);
      __pipeline_commit ();
    }
  __pipeline_wait_prior (1);
  float first = s[0][T];
  __pipeline_wait_prior (0);
  out[T] = first + s[1][T];
}

KERNEL
refilled_bad (int n, const float *in, float *out)
{
  __shared__ float s[64];
  s[T] = in[T];
  __syncthreads ();
  float v = s[63 - T];
  __pipeline_memcpy_async (&s[T], &in[T], 4); // fault: copied over what others read
  __pipeline_commit ();
  __pipeline_wait_prior (0);
  out[T] = v;
}

KERNEL
refilled_good (int n, const float *in, float *out)
{
  __shared__ float s[64];
  s[T] = in[T];
  __syncthreads ();
  float v = s[63 - T];
  __syncthreads ();
  __pipeline_memcpy_async (&s[T], &in[T], 4);
  __pipeline_commit ();
  __pipeline_wait_prior (0);
  out[T] = v + s[T];
}

KERNEL
matrix_early_bad (int n, const float *in, float *out)
{
  __shared__ __align__ (16) unsigned s[64];
  unsigned d;
  s[63 - T] = __float_as_uint (in[T]);
  unsigned at = address (s) + (T % 8) * 16;
  asm volatile ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(d) : "r"(at)); // fault: matrix before the barrier
  out[T] = (float) d;
}

KERNEL
matrix_early_good (int n, const float *in, float *out)
{
  __shared__ __align__ (16) unsigned s[64];
  unsigned d;
  s[63 - T] = __float_as_uint (in[T]);
  __syncthreads ();
  asm volatile ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                : "=r"(d)
                : "r"(address (s) + (T % 8) * 16));
  out[T] = (float) d;
}

KERNEL
queue_bad (int n, const float *in, float *out)
{
  __shared__ int head;
  __shared__ float items[64];
  if (T == 0)
    head = 0;
  __syncthreads ();
  items[atomicAdd (&head, 1)] = in[T];
  float v = items[63 - T]; // fault: queue read while it fills
  out[T] = v;
}

KERNEL
queue_good (int n, const float *in, float *out)
{
  __shared__ int head;
  __shared__ float items[64];
  if (T == 0)
    head = 0;
  __syncthreads ();
  items[atomicAdd (&head, 1)] = in[T];
  __syncthreads ();
  out[T] = items[63 - T];
}

KERNEL
lane_exchange_bad (int n, const float *in, float *out)
{
  __shared__ float s[64];
  s[T] = in[T];
  float v = s[T ^ 1]; // fault: exchange in a warp
  out[T] = v;
}

KERNEL
lane_exchange_good (int n, const float *in, float *out)
{
  __shared__ float s[64];
  s[T] = in[T];
  __syncwarp ();
  out[T] = s[T ^ 1];
}

KERNEL
byte_beside_byte_good (int n, const float *in, float *out)
{
  __shared__ unsigned char s[64];
  s[T] = (unsigned char) T;
  __syncthreads ();
  out[T] = (float) s[63 - T];
}

KERNEL
bytes_bad (int n, const float *in, float *out)
{
  __shared__ unsigned char s[65];
  s[T] = (unsigned char) T;
  if (T == 0)
    s[64] = 0;
  s[T + 1] = (unsigned char) (T + 7); // fault: a byte of another's
  __syncthreads ();
  out[T] = (float) s[T];
}
