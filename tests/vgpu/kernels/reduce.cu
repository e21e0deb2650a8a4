// SPDX-License-Identifier: Apache-2.0
// Reductions that no C++ expresses: vectors, values sent to a neighbour, bulk copies that combine.

#define KERNEL extern "C" __global__ void

__device__ unsigned
shared_address (const void *p)
{
  return (unsigned) __cvta_generic_to_shared (p);
}

__device__ unsigned
of_rank (const void *p, unsigned rank)
{
  unsigned there;
  asm ("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address (p)), "r"(rank));
  return there;
}

__device__ void
cluster_sync ()
{
  asm volatile ("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

__device__ void
init_barrier (unsigned long long *barrier, unsigned bytes)
{
  asm volatile ("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address (barrier)) : "memory");
  asm volatile ("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address (barrier)),
                "r"(bytes)
                : "memory");
}

__device__ void
await (unsigned long long *barrier, unsigned parity)
{
  asm volatile ("{\n.reg .pred done;\n"
                "again:\n"
                "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
                "@!done bra again;\n}" ::"r"(shared_address (barrier)),
                "r"(parity)
                : "memory");
}

// out: 4 sums of float, 2 of half pairs, the old values of the last of the former
KERNEL
vectors (float *sums, unsigned *pairs, float4 *old)
{
  float v = threadIdx.x;
  asm volatile ("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(sums), "f"(v), "f"(v * 2),
                "f"(1.0f), "f"(-v)
                : "memory");
  unsigned one = 0x3c003c00; // two halves of 1
  asm volatile ("red.global.add.noftz.v2.f16x2 [%0], {%1, %1};" ::"l"(pairs), "r"(one) : "memory");
  float4 before;
  asm volatile ("atom.global.add.v4.f32 {%0, %1, %2, %3}, [%4], {%5, %5, %5, %5};"
                : "=f"(before.x), "=f"(before.y), "=f"(before.z), "=f"(before.w)
                : "l"(sums + 4), "f"(1.0f)
                : "memory");
  old[threadIdx.x] = before;
}

KERNEL
misaligned_vector (float *sums)
{
  asm volatile ("red.global.add.v2.f32 [%0], {%1, %1};" ::"l"(sums + 1), "f"(1.0f) : "memory");
}

// Each block sends its thread numbers to its neighbour, and adds into a counter there.
KERNEL
send (int4 *out, unsigned *totals)
{
  __shared__ __align__ (16) int4 box[32];
  __shared__ unsigned total[2];
  __shared__ unsigned long long arrived, summed;
  unsigned rank = blockIdx.x, other = rank ^ 1, i = threadIdx.x;
  if (i == 0)
    {
      init_barrier (&arrived, 32 * 16);
      init_barrier (&summed, 32 * 8);
      total[0] = 100;
      total[1] = 7;
    }
  cluster_sync ();
  asm volatile (
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.s32 [%0], {%1, %2, %3, %4}, [%5];" ::
          "r"(of_rank (&box[i], other)),
      "r"(i), "r"(rank), "r"(i * i), "r"(-1), "r"(of_rank (&arrived, other))
      : "memory");
  asm volatile ("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], "
                "%1, [%2];" ::"r"(of_rank (&total[0], other)),
                "r"(i), "r"(of_rank (&summed, other))
                : "memory");
  asm volatile ("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.u32 [%0], "
                "%1, [%2];" ::"r"(of_rank (&total[1], other)),
                "r"(i), "r"(of_rank (&summed, other))
                : "memory");
  await (&arrived, 0);
  await (&summed, 0);
  out[rank * 32 + i] = box[i];
  if (i < 2)
    totals[rank * 2 + i] = total[i];
  cluster_sync ();
}

// Both blocks add their tile to global memory, and block 1 adds its own to that of block 0.
KERNEL
combine (float *sums, int *least, int *out)
{
  __shared__ __align__ (16) float tile[32];
  __shared__ __align__ (16) int numbers[32];
  __shared__ __align__ (16) int target[32];
  __shared__ unsigned long long arrived;
  unsigned rank = blockIdx.x, i = threadIdx.x;
  tile[i] = i + rank * 0.5f;
  numbers[i] = (int) i * (rank ? -1 : 1);
  target[i] = 1000;
  if (i == 0)
    init_barrier (&arrived, rank == 0 ? 32 * 4 : 0);
  cluster_sync ();
  if (i == 0)
    {
      asm volatile ("fence.proxy.async.shared::cta;" ::: "memory");
      asm volatile ("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::
                        "l"(sums),
                    "r"(shared_address (tile)), "r"(128)
                    : "memory");
      asm volatile ("cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32 [%0], [%1], %2;" ::
                        "l"(least),
                    "r"(shared_address (numbers)), "r"(128)
                    : "memory");
      asm volatile ("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
      if (rank == 1)
        asm volatile ("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes."
                      "add.s32 [%0], [%1], %2, [%3];" ::"r"(of_rank (target, 0)),
                      "r"(shared_address (numbers)), "r"(128), "r"(of_rank (&arrived, 0))
                      : "memory");
    }
  if (rank == 0)
    {
      await (&arrived, 0);
      out[i] = target[i];
    }
  cluster_sync ();
}

struct alignas (64) Map
{
  char opaque[128];
};

// A tile added to a tensor.
KERNEL
add_tile (const __grid_constant__ Map map, int x, int y)
{
  __shared__ __align__ (128) float tile[8][16];
  tile[threadIdx.x / 16][threadIdx.x % 16] = threadIdx.x;
  __syncthreads ();
  if (threadIdx.x == 0)
    {
      asm volatile ("fence.proxy.async.shared::cta;" ::: "memory");
      asm volatile ("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, "
                    "%3}], [%1];" ::"l"(&map),
                    "r"(shared_address (tile)), "r"(x), "r"(y)
                    : "memory");
      asm volatile ("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}

KERNEL
logic (unsigned *out)
{
  unsigned i = threadIdx.x, d, either, both;
  asm ("{\n.reg .pred p, q;\nsetp.ge.u32 q, %3, 24;\n"
       "lop3.or.b32 %0|p, %3, 12, 8, 0x80, q;\n"
       "selp.u32 %1, 1, 0, p;\n"
       "lop3.and.b32 _|p, %3, 12, 8, 0x80, !q;\n"
       "selp.u32 %2, 1, 0, p;\n}"
       : "=r"(d), "=r"(either), "=r"(both)
       : "r"(i));
  out[i] = d | either << 8 | both << 16;
}

KERNEL
turn (const unsigned *in, unsigned *out)
{
  unsigned d;
  asm volatile ("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(in[threadIdx.x]));
  out[threadIdx.x] = d;
}
