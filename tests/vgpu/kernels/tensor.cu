// SPDX-License-Identifier: Apache-2.0
/* Boxes of tensors, to shared memory and back. */
#include <cuda/barrier>
#include <cuda/ptx>

using barrier = cuda::barrier<cuda::thread_scope_block>;
struct alignas (64) Map
{
  char bytes[128];
};

#define LOAD(RANK, COORDINATES)                                                                    \
  asm volatile ("cp.async.bulk.tensor." #RANK "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes " \
                "[%0], [%1, " COORDINATES "], [%2];"                                               \
                ::"r"(to), "l"(&map), "r"(at), "r"(x), "r"(y), "r"(z) : "memory")

#define STORE(RANK, COORDINATES)                                                                   \
  asm volatile ("cp.async.bulk.tensor." #RANK "d.global.shared::cta.tile.bulk_group "              \
                "[%1, " COORDINATES "], [%0];"                                                     \
                ::"r"(to), "l"(&map), "r"(at), "r"(x), "r"(y), "r"(z) : "memory")

/* What a box is in shared memory, byte for byte. */
extern "C" __global__ void
load_box (const __grid_constant__ Map map, int *out, int x, int y, int z, int rank, int bytes)
{
  extern __shared__ __align__ (1024) int tile[];
  __shared__ barrier bar;
  unsigned to = (unsigned) __cvta_generic_to_shared (tile);
  unsigned at = (unsigned) __cvta_generic_to_shared (cuda::device::barrier_native_handle (bar));
  if (threadIdx.x == 0)
    {
      init (&bar, 1);
      cuda::ptx::mbarrier_arrive_expect_tx (cuda::ptx::sem_release, cuda::ptx::scope_cta,
                                            cuda::ptx::space_shared,
                                            cuda::device::barrier_native_handle (bar), bytes);
      if (rank == 1)
        LOAD (1, "{%3}");
      else if (rank == 2)
        LOAD (2, "{%3, %4}");
      else
        LOAD (3, "{%3, %4, %5}");
    }
  __syncthreads ();
  bar.wait_parity (false);
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x)
    out[i] = tile[i];
}

extern "C" __global__ void
store_box (const __grid_constant__ Map map, const int *in, int x, int y, int z, int rank, int bytes)
{
  extern __shared__ __align__ (1024) int tile[];
  unsigned to = (unsigned) __cvta_generic_to_shared (tile), at = 0;
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x)
    tile[i] = in[i];
  cuda::ptx::fence_proxy_async (cuda::ptx::space_shared);
  __syncthreads ();
  if (threadIdx.x == 0)
    {
      if (rank == 1)
        STORE (1, "{%3}");
      else if (rank == 2)
        STORE (2, "{%3, %4}");
      else
        STORE (3, "{%3, %4, %5}");
      cuda::ptx::cp_async_bulk_commit_group ();
      cuda::ptx::cp_async_bulk_wait_group (cuda::ptx::n32_t<0> ());
    }
}

/* Through shared memory into another tensor, with four and five coordinates: at[0…4] is where, there[…] where to. */
struct Place
{
  int at[5];
};

extern "C" __global__ void
move_box (const __grid_constant__ Map map, const __grid_constant__ Map other, Place from, Place there,
          int rank, int bytes)
{
  extern __shared__ __align__ (1024) int tile[];
  __shared__ barrier bar;
  unsigned to = (unsigned) __cvta_generic_to_shared (tile);
  unsigned at = (unsigned) __cvta_generic_to_shared (cuda::device::barrier_native_handle (bar));
  if (threadIdx.x != 0)
    return;
  init (&bar, 1);
  cuda::ptx::mbarrier_arrive_expect_tx (cuda::ptx::sem_release, cuda::ptx::scope_cta,
                                        cuda::ptx::space_shared,
                                        cuda::device::barrier_native_handle (bar), bytes);
  if (rank == 4)
    asm volatile ("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                  "[%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(to),
                  "l"(&map), "r"(at), "r"(from.at[0]), "r"(from.at[1]), "r"(from.at[2]),
                  "r"(from.at[3])
                  : "memory");
  else
    asm volatile ("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                  "[%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(to),
                  "l"(&map), "r"(at), "r"(from.at[0]), "r"(from.at[1]), "r"(from.at[2]),
                  "r"(from.at[3]), "r"(from.at[4])
                  : "memory");
  bar.wait_parity (false);
  if (rank == 4)
    asm volatile ("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group "
                  "[%1, {%2, %3, %4, %5}], [%0];" ::"r"(to),
                  "l"(&other), "r"(there.at[0]), "r"(there.at[1]), "r"(there.at[2]),
                  "r"(there.at[3])
                  : "memory");
  else
    asm volatile ("cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group "
                  "[%1, {%2, %3, %4, %5, %6}], [%0];" ::"r"(to),
                  "l"(&other), "r"(there.at[0]), "r"(there.at[1]), "r"(there.at[2]),
                  "r"(there.at[3]), "r"(there.at[4])
                  : "memory");
  cuda::ptx::cp_async_bulk_commit_group ();
  cuda::ptx::cp_async_bulk_wait_group (cuda::ptx::n32_t<0> ());
}

/* Faults. */

extern "C" __global__ void
no_map (const int *map_there, int *out)
{
  __shared__ __align__ (1024) int tile[64];
  __shared__ barrier bar;
  const int &map = *map_there;
  unsigned to = (unsigned) __cvta_generic_to_shared (tile);
  unsigned at = (unsigned) __cvta_generic_to_shared (cuda::device::barrier_native_handle (bar));
  int x = 0, y = 0, z = 0;
  if (threadIdx.x == 0)
    {
      init (&bar, 1);
      LOAD (2, "{%3, %4}"); // unmapped
    }
}
