/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/exec/machine.h"
#include "engine/vgpu/exec/tensor-map.h"

/* Barriers that live in shared memory (mbarrier), and bulk copies, which complete on them or in
 * groups. Compiled once; handlers and decoder share the names. */

enum
{
  VGPU_ARRIVE_EXPECTS = 1, /* the operand is a number of bytes to expect, not of arrivals */
  VGPU_ARRIVE_DROPS = 2    /* the thread takes no part in later phases */
};

typedef enum
{
  VGPU_MBARRIER_INIT,
  VGPU_MBARRIER_INVAL,
  VGPU_MBARRIER_EXPECT,
  VGPU_MBARRIER_COMPLETE
} VgpuMbarrierChange;

typedef enum
{
  VGPU_BULK_GLOBAL_TO_SHARED,
  VGPU_BULK_SHARED_TO_GLOBAL,
  VGPU_BULK_SHARED_TO_SHARED
} VgpuBulkWay;

/* Places among the further operands of a bulk copy. */
enum
{
  VGPU_BULK_TO = 0,
  VGPU_BULK_FROM = 3,
  VGPU_BULK_BARRIER = 6,
  VGPU_BULK_MASK = 9,
  VGPU_BULK_COORDINATES = 10,
  VGPU_BULK_REDUCE = 15, /* 1 + code of an atom; of tensors only its kind counts */
  VGPU_BULK_OPERANDS = 16
};

/* And of st.async and red.async, whose target is VGPU_BULK_REDUCE's word. */
enum
{
  VGPU_STORE_TO = 0,
  VGPU_STORE_BARRIER = 3,
  VGPU_STORE_DATA = 6,
  VGPU_STORE_OPERANDS = 10
};

/* Addresses of shared memory in a cluster: 1 + rank of the block above this bit, 0 for the own. */
#define VGPU_RANK_SHIFT 24

/* A place in the shared memory of a block of the cluster. */
typedef struct
{
  VgpuWorker *worker;
  uint64_t offset;
} VgpuSharedPlace;

/* Finds the place of a shared or generic address of lane; reports and returns false if the bytes are not
 * all there or not aligned to align. */
bool vgpu_shared_place (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, uint64_t address,
                        uint32_t bytes, uint32_t align, VgpuSharedPlace *place);

void vgpu_mbarrier_change (VgpuWarp *warp, const VgpuIns *ins);
void vgpu_mbarrier_arrive (VgpuWarp *warp, const VgpuIns *ins);
void vgpu_mbarrier_pending (VgpuWarp *warp, const VgpuIns *ins);
void vgpu_copy_arrive (VgpuWarp *warp, const VgpuIns *ins);
/* The next instruction; NULL when lanes have to wait and others may run. */
const VgpuIns *vgpu_mbarrier_wait (VgpuWarp *warp, const VgpuIns *ins);
/* Bytes have come. */
void vgpu_mbarrier_complete (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane,
                             const VgpuSharedPlace *place, uint32_t bytes);

void vgpu_bulk_copy (VgpuWarp *warp, const VgpuIns *ins);
/* A value of a register for the shared memory of a block of the cluster, which completes on a barrier. */
void vgpu_store_async (VgpuWarp *warp, const VgpuIns *ins);
/* The same for a box of a tensor: the address in global memory is that of its map. */
void vgpu_bulk_tensor (VgpuWarp *warp, const VgpuIns *ins);
void vgpu_bulk_commit (VgpuWarp *warp);
/* Finishes the copies of all but the latest groups of each active lane. */
void vgpu_bulk_wait (VgpuWarp *warp, uint32_t latest);
/* Finishes copies that complete on this barrier, or all of the team. */
void vgpu_bulk_finish (VgpuTeam *team, const VgpuSharedPlace *barrier);

/* A box of a tensor, between global memory and shared memory that begins at an offset. */
typedef struct
{
  VgpuTensorMap map;
  int64_t at[VGPU_TENSOR_RANK];
  uint32_t reduce; /* 1 + code of an atom that combines; 0: plain */
} VgpuTile;

uint32_t vgpu_tile_bytes (const VgpuTensorMap *map);
/* Moves the box, with what is known of the initialisation of its bytes (valid: of shared memory, or
 * NULL). Reports uninitialised bytes that go to global memory by returning true. */
bool vgpu_tile_move (const VgpuTile *tile, const VgpuMemory *memory, char *shared,
                     unsigned char *valid, uint64_t offset, bool to_global);
/* To global memory by a reduction: 1 + code of an atom of the kind wanted; false: the element's type has
 * none. */
bool vgpu_tile_reduction (const VgpuTensorMap *map, uint32_t kind, uint32_t *reduce);

/* The blocks of a cluster, which see one another's shared memory; without clusters each block is one of
 * its own. */
typedef struct VgpuBulkCopy VgpuBulkCopy;
struct VgpuTeam
{
  VgpuWorker **mates; /* by rank */
  uint32_t count;
  uint64_t changes; /* of barriers in shared memory */
  uint32_t phase;   /* of the barrier of the cluster */
  bool arrived;     /* somebody has, in this phase */
  uint32_t order;   /* counts what orders blocks of the cluster */
  VgpuBulkCopy *copies;
  size_t copy_count, copy_capacity;
};

/* barrier.cluster. The arrival of the last one lets all go that wait. */
void vgpu_cluster_arrive (VgpuWarp *warp, const VgpuIns *ins);
const VgpuIns *vgpu_cluster_wait (VgpuWarp *warp, const VgpuIns *ins);
void vgpu_cluster_recheck (VgpuTeam *team);

void vgpu_team_free (VgpuTeam *team);

/* The block of the cluster whose shared memory holds address, an offset in the own one or one that mapa
 * made; leaves its offset there. */
static inline VgpuWorker *
vgpu_shared_owner (const VgpuWarp *warp, uint64_t *address)
{
  uint64_t rank = *address >> VGPU_RANK_SHIFT;
  if (rank == 0 || rank > warp->worker->team->count)
    return warp->worker;
  *address &= (1u << VGPU_RANK_SHIFT) - 1;
  return warp->worker->team->mates[rank - 1];
}
