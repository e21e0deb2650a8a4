// SPDX-License-Identifier: Apache-2.0
// Faults about memory, one of a kind each, with the line marked on which it must be found; beside it a sound
// kernel that does the same. n elements of in and out, which are exactly n long; 64 threads a block.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#define KERNEL extern "C" __global__ void
#define T (int) threadIdx.x
#define I (int) (blockIdx.x * blockDim.x + threadIdx.x)

__constant__ float table[8] = {1, 2, 3, 4, 5, 6, 7, 8};

struct Padded
{
  char letter;
  double value;
};

KERNEL
halo_bad (int n, const float *in, float *out)
{
  int i = I;
  float left = in[i - 1]; // fault: halo
  out[i] = left;
}

KERNEL
halo_good (int n, const float *in, float *out)
{
  int i = I;
  out[i] = (i > 0 ? in[i - 1] : 0) + in[i] + (i + 1 < n ? in[i + 1] : 0);
}

KERNEL
stride_loop_bad (int n, const float *in, float *out)
{
  for (int i = threadIdx.x; i <= n; i += blockDim.x)
    out[i] = 1; // fault: stride loop
}

KERNEL
stride_loop_good (int n, const float *in, float *out)
{
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i] + 1;
}

KERNEL
pair_stride_bad (int n, const float *in, float *out)
{
  float2 v = ((const float2 *) in)[threadIdx.x]; // fault: pairs
  out[threadIdx.x] = v.x + v.y;
}

KERNEL
pair_stride_good (int n, const float *in, float *out)
{
  float2 v = ((const float2 *) in)[threadIdx.x / 2];
  out[threadIdx.x] = threadIdx.x % 2 ? v.y : v.x;
}

KERNEL
byte_stride_bad (int n, const float *in, float *out)
{
  const char *bytes = (const char *) in;
  out[threadIdx.x] = *(const float *) (bytes + threadIdx.x * 8); // fault: bytes for elements
}

KERNEL
byte_stride_good (int n, const float *in, float *out)
{
  const char *bytes = (const char *) in;
  out[threadIdx.x] = *(const float *) (bytes + threadIdx.x * sizeof (float));
}

KERNEL
atomic_beyond_bad (int n, const float *in, float *out)
{
  atomicAdd (&out[n + (threadIdx.x & 1)], 1.0f); // fault: atomic beyond
}

KERNEL
atomic_inside_good (int n, const float *in, float *out)
{
  out[threadIdx.x] = 0;
  __syncthreads ();
  atomicAdd (&out[threadIdx.x & 1], 1.0f);
}

KERNEL
table_bad (int n, const float *in, float *out)
{
  out[threadIdx.x] = table[threadIdx.x / 4]; // fault: table
}

KERNEL
table_good (int n, const float *in, float *out)
{
  out[threadIdx.x] = table[threadIdx.x % 8];
}

KERNEL
local_array_bad (int n, const float *in, float *out)
{
  float a[16];
  for (int i = 0; i < 16; i++)
    a[i] = in[(threadIdx.x + i) % n];
  out[threadIdx.x] = a[(int) in[threadIdx.x] + 60000]; // fault: local array
}

KERNEL
local_array_good (int n, const float *in, float *out)
{
  float a[16];
  for (int i = 0; i < 16; i++)
    a[i] = in[(threadIdx.x + i) % n];
  out[threadIdx.x] = a[(int) in[threadIdx.x] & 15];
}

KERNEL
shared_below_bad (int n, const float *in, float *out)
{
  __shared__ float s[64];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads ();
  out[threadIdx.x] = s[(int) threadIdx.x - (n - 63)]; // fault: below shared
}

KERNEL
shared_below_good (int n, const float *in, float *out)
{
  __shared__ float s[65];
  s[threadIdx.x + 1] = in[threadIdx.x];
  if (threadIdx.x == 0)
    s[0] = 0;
  __syncthreads ();
  out[threadIdx.x] = s[threadIdx.x];
}

KERNEL
dynamic_shared_bad (int n, const float *in, float *out)
{
  extern __shared__ float dynamic[];
  dynamic[threadIdx.x + 1] = in[threadIdx.x]; // fault: dynamic shared
  __syncthreads ();
  out[threadIdx.x] = dynamic[1];
}

KERNEL
dynamic_shared_good (int n, const float *in, float *out)
{
  extern __shared__ float dynamic[];
  dynamic[threadIdx.x] = in[threadIdx.x];
  __syncthreads ();
  out[threadIdx.x] = dynamic[63 - threadIdx.x];
}

KERNEL
double_bad (int n, const float *in, float *out)
{
  const double *wide = (const double *) (in + 1 + 2 * (threadIdx.x & 7));
  out[threadIdx.x] = (float) *wide; // fault: misaligned double
}

KERNEL
double_good (int n, const float *in, float *out)
{
  double wide;
  memcpy (&wide, in + 2 * (threadIdx.x & 7), sizeof wide);
  out[threadIdx.x] = (float) wide;
}

KERNEL
shared_vector_bad (int n, const float *in, float *out)
{
  __shared__ __align__ (16) float s[68];
  s[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x < 4)
    s[64 + threadIdx.x] = 0;
  __syncthreads ();
  float4 v = *(float4 *) (s + 4 * (threadIdx.x & 7) + n % 63); // fault: misaligned shared vector
  out[threadIdx.x] = v.x + v.w;
}

KERNEL
shared_vector_good (int n, const float *in, float *out)
{
  __shared__ __align__ (16) float s[64];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads ();
  float4 v = *(float4 *) (s + 4 * (threadIdx.x & 7));
  out[threadIdx.x] = v.x + v.w;
}

KERNEL
wide_atomic_bad (int n, const float *in, float *out)
{
  atomicAdd ((unsigned long long *) (out + n % 63), 1ull); // fault: misaligned atomic
}

KERNEL
wide_atomic_good (int n, const float *in, float *out)
{
  if (threadIdx.x < 2)
    out[threadIdx.x] = 0;
  __syncthreads ();
  atomicAdd ((unsigned long long *) out, 1ull);
}

KERNEL
copy_bad (int n, const float *in, float *out)
{
  if (threadIdx.x == 0)
    memcpy (out + n - 4, in, 32); // fault: copy over the end
}

KERNEL
copy_good (int n, const float *in, float *out)
{
  if (threadIdx.x == 0)
    memcpy (out, in, n * sizeof (float));
}

KERNEL
part_filled_bad (int n, const float *in, float *out)
{
  __shared__ __align__ (16) float s[256];
  for (int i = 0; i < 3; i++)
    s[4 * threadIdx.x + i] = in[threadIdx.x];
  __syncthreads ();
  float4 v = ((float4 *) s)[threadIdx.x ^ 1]; // fault: part of a vector
  out[threadIdx.x] = v.x + v.w;
}

KERNEL
part_filled_good (int n, const float *in, float *out)
{
  __shared__ __align__ (16) float s[256];
  for (int i = 0; i < 3; i++)
    s[4 * threadIdx.x + i] = in[threadIdx.x];
  __syncthreads ();
  float4 v = ((float4 *) s)[threadIdx.x ^ 1];
  out[threadIdx.x] = v.x + v.z;
}

KERNEL
index_bad (int n, const float *in, float *out)
{
  __shared__ int order[64];
  if (threadIdx.x % 2 == 0)
    order[threadIdx.x] = 63 - threadIdx.x;
  __syncthreads ();
  int at = order[threadIdx.x] & 63; // fault: unwritten index
  out[threadIdx.x] = in[at];
}

KERNEL
index_good (int n, const float *in, float *out)
{
  __shared__ int order[64];
  order[threadIdx.x] = 63 - threadIdx.x;
  __syncthreads ();
  out[threadIdx.x] = in[order[threadIdx.x]];
}

KERNEL
not_cleared_bad (int n, const float *in, float *out)
{
  __shared__ int bins[4];
  if (threadIdx.x < 3)
    bins[threadIdx.x] = 0;
  __syncthreads ();
  atomicAdd (&bins[threadIdx.x % 4], 1); // fault: not cleared
  __syncthreads ();
  if (threadIdx.x < 4)
    out[threadIdx.x] = (float) bins[threadIdx.x];
}

KERNEL
not_cleared_good (int n, const float *in, float *out)
{
  __shared__ int bins[4];
  if (threadIdx.x < 4)
    bins[threadIdx.x] = 0;
  __syncthreads ();
  atomicAdd (&bins[threadIdx.x % 4], 1);
  __syncthreads ();
  if (threadIdx.x < 4)
    out[threadIdx.x] = (float) bins[threadIdx.x];
}

KERNEL
heap_freed_bad (int n, const float *in, float *out)
{
  float *p = (float *) malloc (16);
  p[0] = in[threadIdx.x];
  free (p);
  out[threadIdx.x] = *(volatile float *) p; // fault: freed heap
}

KERNEL
heap_freed_good (int n, const float *in, float *out)
{
  float *p = (float *) malloc (16);
  p[0] = in[threadIdx.x];
  out[threadIdx.x] = *(volatile float *) p;
  free (p);
}

KERNEL
heap_beyond_bad (int n, const float *in, float *out)
{
  volatile float *p = (float *) malloc (16);
  p[n / 16] = in[threadIdx.x]; // fault: beyond heap
  out[threadIdx.x] = 1;
  free ((void *) p);
}

KERNEL
heap_beyond_good (int n, const float *in, float *out)
{
  volatile float *p = (float *) malloc (16);
  p[n / 16 - 1] = in[threadIdx.x];
  out[threadIdx.x] = p[3];
  free ((void *) p);
}

KERNEL
read_only_bad (int n, const float *in, float *out)
{
  out[threadIdx.x] = __ldg (in + threadIdx.x + 2 * (n / 64)); // fault: read-only load
}

KERNEL
read_only_good (int n, const float *in, float *out)
{
  out[threadIdx.x] = __ldg (in + threadIdx.x);
}

KERNEL
fragment_bad (int n, const float *in, float *out)
{
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::load_matrix_sync (a, (const __half *) in, 16); // fault: fragment too large
  out[threadIdx.x] = __half2float (a.x[0]);
}

KERNEL
fragment_good (int n, const float *in, float *out)
{
  using namespace nvcuda;
  __shared__ __half s[256];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  for (int i = threadIdx.x; i < 256; i += 64)
    s[i] = __float2half ((float) i);
  __syncthreads ();
  wmma::load_matrix_sync (a, s, 16);
  out[threadIdx.x] = __half2float (a.x[0]);
}

KERNEL
matrix_rows_bad (int n, const float *in, float *out)
{
  __shared__ __align__ (16) __half s[64];
  s[threadIdx.x] = __float2half (in[threadIdx.x]);
  __syncthreads ();
  unsigned at = (unsigned) __cvta_generic_to_shared (s) + threadIdx.x % 32 / 3 * 16, d;
  asm volatile ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(d) : "r"(at + 112)); // fault: matrix rows
  out[threadIdx.x] = (float) d;
}

KERNEL
matrix_rows_good (int n, const float *in, float *out)
{
  __shared__ __align__ (16) __half s[64];
  s[threadIdx.x] = __float2half (in[threadIdx.x]);
  __syncthreads ();
  unsigned at = (unsigned) __cvta_generic_to_shared (s) + threadIdx.x % 8 * 16, d;
  asm volatile ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(d) : "r"(at));
  out[threadIdx.x] = (float) d;
}

KERNEL
copy_source_bad (int n, const float *in, float *out)
{
  __shared__ float s[64];
  __pipeline_memcpy_async (&s[threadIdx.x], &in[threadIdx.x + n / 2], 4); // fault: source of a copy
  __pipeline_commit ();
  __pipeline_wait_prior (0);
  out[threadIdx.x] = s[threadIdx.x];
}

KERNEL
copy_source_good (int n, const float *in, float *out)
{
  __shared__ float s[64];
  __pipeline_memcpy_async (&s[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit ();
  __pipeline_wait_prior (0);
  out[threadIdx.x] = s[threadIdx.x];
}

KERNEL
copy_aligned_bad (int n, const float *in, float *out)
{
  __shared__ __align__ (16) float s[68];
  if (threadIdx.x < 8)
    __pipeline_memcpy_async (&s[4 * threadIdx.x], &in[4 * threadIdx.x + n % 63], 16); // fault: unaligned copy
  __pipeline_commit ();
  __pipeline_wait_prior (0);
  __syncthreads ();
  out[threadIdx.x] = s[threadIdx.x % 32];
}

KERNEL
copy_aligned_good (int n, const float *in, float *out)
{
  __shared__ __align__ (16) float s[64];
  if (threadIdx.x < 8)
    __pipeline_memcpy_async (&s[4 * threadIdx.x], &in[4 * threadIdx.x], 16);
  __pipeline_commit ();
  __pipeline_wait_prior (0);
  __syncthreads ();
  out[threadIdx.x] = s[threadIdx.x % 32];
}

KERNEL
null_member_bad (int n, const float *in, float *out)
{
  const Padded *p = (const Padded *) (unsigned long long) (n - 64);
  out[threadIdx.x] = (float) p->value; // fault: member of nothing
}

KERNEL
padding_good (int n, const float *in, float *out)
{
  __shared__ Padded s[64], t[64];
  s[threadIdx.x].letter = 'a';
  s[threadIdx.x].value = in[threadIdx.x];
  __syncthreads ();
  t[threadIdx.x] = s[63 - threadIdx.x];
  out[threadIdx.x] = (float) t[threadIdx.x].value;
}

KERNEL
narrow_index_bad (int n, const float *in, float *out)
{
  short i = (short) (threadIdx.x + 32760);
  out[threadIdx.x] = in[i - 32760]; // fault: index of 16 bits
}

KERNEL
narrow_index_good (int n, const float *in, float *out)
{
  int i = (int) threadIdx.x + 32760;
  out[threadIdx.x] = in[i - 32760];
}

KERNEL
read_write_bad (int n, const float *in, float *out)
{
  float *rows = const_cast<float *> (in);
  rows[threadIdx.x * 2 % (2 * n)] = 1; // fault: rows of another length
  out[threadIdx.x] = 0;
}

KERNEL
by_pointer_bad (int n, const float *in, float *out)
{
  __shared__ float s[64];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads ();
  const float *p = n > 1000 ? in : s;
  out[threadIdx.x] = p[threadIdx.x + 4]; // fault: generic pointer
}

KERNEL
by_pointer_good (int n, const float *in, float *out)
{
  __shared__ float s[64];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads ();
  const float *p = threadIdx.x % 2 ? in : s;
  out[threadIdx.x] = p[threadIdx.x];
}

KERNEL
unwritten_flag_bad (int n, const float *in, float *out)
{
  __shared__ int found;
  if (in[threadIdx.x] > 1000)
    found = T;
  __syncthreads ();
  bool some = found != 0; // fault: flag never cleared
  out[threadIdx.x] = some ? 1 : 2;
}

KERNEL
unwritten_flag_good (int n, const float *in, float *out)
{
  __shared__ int found;
  if (threadIdx.x == 0)
    found = 0;
  __syncthreads ();
  if (in[threadIdx.x] > 1000)
    found = 1;
  __syncthreads ();
  out[threadIdx.x] = found ? 1 : 2;
}

KERNEL
own_output_bad (int n, const float *in, float *out)
{
  float best = out[threadIdx.x]; // fault: reads what it is to write
  out[threadIdx.x] = best > in[threadIdx.x] ? best : in[threadIdx.x];
}
