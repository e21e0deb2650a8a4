// SPDX-License-Identifier: Apache-2.0
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <mma.h>

using namespace nvcuda;

#define KERNEL extern "C" __global__ void

KERNEL
atomics (int *i, unsigned *u, unsigned long long *w, float *f, double *d, __half2 *h,
         __nv_bfloat162 *b)
{
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd (i, t);
  atomicSub (i + 1, t);
  atomicMin (i + 2, -t);
  atomicMax (i + 3, t);
  atomicAnd (i + 4, ~(1 << (t % 31)));
  atomicOr (i + 5, 1 << (t % 31));
  atomicXor (i + 6, t);
  atomicInc (u, 99);
  atomicDec (u + 1, 99);
  atomicExch (u + 2, 77u);
  atomicCAS (u + 3, 5u, 6u);
  atomicMin (u + 4, (unsigned) t + 3);
  atomicMax (u + 5, (unsigned) t);
  atomicAdd (w, 1ull << 33);
  atomicMax (w + 1, (unsigned long long) t << 20);
  atomicAdd (f, 0.5f);
  atomicAdd (d, 0.25);
  atomicAdd (h, __floats2half2_rn (1.0f, 0.5f));
  atomicAdd (b, __floats2bfloat162_rn (0.5f, 1.0f));
}

KERNEL
warp (const int *in, int *out)
{
  int t = threadIdx.x, lane = t % 32;
  unsigned all = 0xffffffffu;
  int v = in[t];
  out[t] = __shfl_up_sync (all, v, 3);
  out[t + 64] = __shfl_down_sync (all, v, 5, 16);
  out[t + 128] = __shfl_xor_sync (all, v, 9);
  out[t + 192] = __shfl_sync (all, v, lane + 7, 8);
  out[t + 256] = __ballot_sync (all, v & 1);
  out[t + 320] = __any_sync (all, v == 1000) + 2 * __all_sync (all, v < 1000);
  out[t + 384] = __match_any_sync (all, v % 5);
  out[t + 448] = __reduce_add_sync (all, v) + __reduce_max_sync (all, (unsigned) v);
  if (lane < 10)
    out[t + 512] = __activemask ();
  out[t + 576] = __popc (__brev (v)) + __clz (v) + __ffs (v);
}

// Every second lane takes another way through loops of different lengths.
KERNEL
divergence (const int *in, int *out)
{
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < in[t] % 7; i++)
    {
      if (i == 4)
        continue;
      if ((t + i) % 3 == 0)
        for (int k = 0; k < t % 4; k++)
          sum += k * i + 1;
      else if (t % 11 == 10)
        break;
      else
        sum -= i;
    }
  if (t == 17)
    {
      out[t] = -1;
      return;
    }
  out[t] = sum;
}

struct Pair
{
  float x;
  int y;
  double z;
};

__device__ __noinline__ Pair
make_pair (float x, int y, Pair *other)
{
  float local[8];
  for (int i = 0; i < 8; i++)
    local[i] = x * i;
  other->y += y;
  Pair p = { local[y & 7], y * 2, (double) other->y };
  return p;
}

KERNEL
calls (const float *in, float *out)
{
  Pair other = { 0, (int) threadIdx.x, 0 };
  Pair p = make_pair (in[threadIdx.x], threadIdx.x, &other);
  out[threadIdx.x] = p.x + p.y + (float) p.z;
}

KERNEL
switches (const int *in, int *out)
{
  int t = threadIdx.x, r;
  switch (in[t] % 9)
    {
    case 0: r = in[(t + 1) % 64]; break;
    case 1: r = t * 3; break;
    case 2: r = -t; break;
    case 3: r = in[t] ^ 77; break;
    case 4: r = 5; break;
    case 5: r = t << 3; break;
    case 6: r = in[63 - t]; break;
    default: r = 99;
    }
  out[t] = r;
}

KERNEL
halves (const __half2 *a, const __half2 *b, __half2 *out, const __nv_bfloat162 *c,
        __nv_bfloat162 *d)
{
  int t = threadIdx.x;
  out[t] = __hfma2 (a[t], b[t], __hmax2 (a[t], b[t]));
  d[t] = __hmul2 (c[t], c[t]);
  if (__hlt (__low2half (a[t]), __high2half (b[t])))
    out[t] = __hneg2 (out[t]);
}

KERNEL
fp8 (const float *in, float *out)
{
  __nv_fp8_e4m3 a (in[threadIdx.x]);
  __nv_fp8_e5m2 b (in[threadIdx.x]);
  out[threadIdx.x] = float (a);
  out[threadIdx.x + 64] = float (b);
}

KERNEL
wmma_gemm (const half *a, const half *b, float *c)
{
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment (fc, 1.0f);
  for (int k = 0; k < 32; k += 16)
    {
      wmma::load_matrix_sync (fa, a + k, 32);
      wmma::load_matrix_sync (fb, b + k, 32);
      wmma::mma_sync (fc, fa, fb, fc);
    }
  for (int i = 0; i < fc.num_elements; i++)
    fc.x[i] *= 2;
  wmma::store_matrix_sync (c, fc, 16, wmma::mem_row_major);
}

// One warp, 16x16 times 16x8, through shared memory.
KERNEL
mma_gemm (const half *a, const half *b, float *c)
{
  __shared__ __align__ (16) half sa[16][16], sb[16][8];
  int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32)
    sa[i / 16][i % 16] = a[i];
  for (int i = lane; i < 128; i += 32)
    sb[i / 8][i % 8] = b[i];
  __syncwarp ();
  unsigned fa[4], fb[2];
  float fc[4] = { 0, 0, 0, 0 };
  unsigned pa = (unsigned) __cvta_generic_to_shared (&sa[lane % 16][lane / 16 * 8]);
  unsigned pb = (unsigned) __cvta_generic_to_shared (&sb[lane % 16][0]);
  asm volatile ("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                : "r"(pa));
  asm volatile ("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                : "=r"(fb[0]), "=r"(fb[1])
                : "r"(pb));
  asm volatile ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                : "+f"(fc[0]), "+f"(fc[1]), "+f"(fc[2]), "+f"(fc[3])
                : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
  int row = lane / 4, column = lane % 4 * 2;
  c[row * 8 + column] = fc[0];
  c[row * 8 + column + 1] = fc[1];
  c[(row + 8) * 8 + column] = fc[2];
  c[(row + 8) * 8 + column + 1] = fc[3];
}

KERNEL
pipeline (const float4 *in, float4 *out, int n)
{
  __shared__ float4 stage[2][64];
  int t = threadIdx.x;
  __pipeline_memcpy_async (&stage[0][t], &in[t], sizeof (float4));
  __pipeline_commit ();
  for (int k = 0; k < n; k++)
    {
      if (k + 1 < n)
        __pipeline_memcpy_async (&stage[(k + 1) % 2][t], &in[(k + 1) * 64 + t], sizeof (float4));
      __pipeline_commit ();
      __pipeline_wait_prior (1);
      __syncthreads ();
      out[k * 64 + t] = stage[k % 2][63 - t];
      __syncthreads ();
    }
}

KERNEL
groups (const int *in, int *out)
{
  namespace cg = cooperative_groups;
  cg::thread_block block = cg::this_thread_block ();
  cg::thread_block_tile<8> tile = cg::tiled_partition<8> (block);
  int v = in[block.thread_rank ()];
  for (int offset = tile.size () / 2; offset > 0; offset /= 2)
    v += tile.shfl_down (v, offset);
  if (tile.thread_rank () == 0)
    out[block.thread_rank () / 8] = v;
  block.sync ();
  if (block.thread_rank () % 3 == 0)
    {
      cg::coalesced_group active = cg::coalesced_threads ();
      if (active.thread_rank () == 0)
        out[32 + block.thread_rank () / 32] = active.size ();
    }
}

// Some threads leave in the middle of a branch: the others meet again behind it all the same.
KERNEL
early_returns (const int *in, int *out)
{
  int t = threadIdx.x, v = in[t];
  __shared__ int sum;
  if (t == 0)
    sum = 0;
  __syncthreads ();
  if (t % 32 < 16)
    {
      if (v % 5 == 0)
        return;
      if (v > 1000)
        __trap ();
      v *= 3;
    }
  else if (v % 7 == 0)
    return;
  for (int i = 0; i < v % 4; i++)
    {
      if (v == 33)
        return;
      v += i;
    }
  int all = __popc (__ballot_sync (0xffffffffu, v > 0));
  atomicAdd (&sum, v);
  __syncthreads ();
  out[t] = all * 100000 + sum;
}

// A way out of the loop keeps the branch from meeting before its end; the barrier of the warp and the
// shuffle behind it bring the lanes together all the same.
KERNEL
rare_exit (const int *in, int *out, int n)
{
  int t = threadIdx.x, v = in[t];
  for (int i = 0; i < n; i++)
    {
      if (t % 32 < 10 + i)
        {
          if (v < -1000)
            break;
          v += i * t;
        }
      __syncwarp ();
      v += __shfl_xor_sync (0xffffffffu, v, 16);
      if (t % 32 > 20)
        {
          if (v == 123456789)
            break;
          v ^= 5;
        }
      __syncthreads ();
    }
  out[t] = v;
}
