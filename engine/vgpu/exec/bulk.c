/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk copies. They are made as late as the program can tell: when somebody looks at the barrier that they
 * complete on, when their group is waited for, or when the block ends. Who reads too early therefore
 * finds what was there before. */
#include "engine/target/cuda-abi.h"
#include "engine/vgpu/check/check.h"
#include "engine/vgpu/exec/async.h"
#include "engine/vgpu/exec/control.h"
#include "engine/vgpu/exec/reduce.h"
#include "engine/vgpu/ptx/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct VgpuBulkCopy
{
  VgpuWarp *warp; /* that asked for it */
  const VgpuIns *ins;
  uint32_t lane;
  uint32_t group;
  uint32_t bytes;
  VgpuBulkWay way;
  VgpuSharedPlace to, from, barrier; /* worker NULL: global memory, no barrier */
  VgpuTile *tile;                    /* NULL: plain bytes */
  uint32_t reduce;                   /* 1 + code of an atom that combines them; 0: plain */
  uint32_t element;                  /* bytes of one of its elements */
  bool is_value;                     /* of registers: */
  unsigned char value[16];
};

#define PIECE 16 /* addresses and sizes are multiples of this */

static uint64_t
address_at (const VgpuWarp *warp, const int32_t *more, uint32_t lane)
{
  const char *row = warp->base[(uint32_t) more[0] >> 31] + more[0];
  if (more[2])
    return ((const uint64_t *) row)[lane] + (uint64_t) (int64_t) more[1];
  return ((const uint32_t *) row)[lane] + (uint32_t) more[1];
}

static bool
global_place (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, uint64_t address,
              VgpuAccess access, uint32_t bytes, VgpuSharedPlace *place)
{
  const VgpuRequest request = {
      .space = VGPU_SPACE_GLOBAL, .access = access, .bytes = bytes, .align = PIECE};
  const int32_t relative[VGPU_LANES] = {0};
  uint64_t addresses[VGPU_LANES];
  addresses[lane] = address;
  *place = (VgpuSharedPlace) {NULL, address};
  if (vgpu_check_lanes (warp, ins, &request, addresses, 1u << lane) == 0)
    return false;
  VgpuReach reach;
  vgpu_reach_lanes (&reach, address, relative, 1u << lane, bytes);
  if (warp->checks & VGPU_CHECK_RACE_GLOBAL)
    vgpu_race_global (warp, ins, &request, &reach);
  return true;
}

static bool
shared_side (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, uint64_t address, VgpuAccess access,
             uint32_t bytes, uint32_t align, VgpuSharedPlace *place)
{
  const VgpuRequest request = {
      .space = VGPU_SPACE_SHARED, .access = access, .bytes = bytes, .align = align};
  const int32_t relative[VGPU_LANES] = {0};
  if (!vgpu_shared_place (warp, ins, lane, address, bytes, align, place))
    return false;
  if ((warp->checks & VGPU_CHECK_RACE) && place->worker == warp->worker)
    {
      VgpuReach reach;
      vgpu_reach_lanes (&reach, place->offset, relative, 1u << lane, bytes);
      vgpu_race_shared (warp, ins, &request, &reach);
      if (access == VGPU_ACCESS_WRITE)
        vgpu_copy_flies (warp, place->offset, bytes);
    }
  else if (warp->checks & VGPU_CHECK_RACE)
    vgpu_neighbours_touch (warp, ins, &request, place->worker, lane, place->offset);
  if ((warp->checks & VGPU_CHECK_RACE) && access == VGPU_ACCESS_READ)
    vgpu_proxy_read (warp, ins, lane, place->worker, place->offset, bytes);
  return true;
}

static void
append (VgpuTeam *team, const VgpuBulkCopy *copy)
{
  if (team->copy_count == team->copy_capacity)
    {
      team->copy_capacity = team->copy_capacity > 0 ? team->copy_capacity * 2 : 16;
      team->copies = vgpu_retake (team->copies, team->copy_capacity * sizeof *team->copies);
    }
  team->copies[team->copy_count++] = *copy;
}

/* The corners of the box that lie in the tensor must lie in memory. */
static bool
tile_place (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, const VgpuTile *tile,
            VgpuAccess access)
{
  const VgpuTensorMap *map = &tile->map;
  const VgpuRequest request = {
      .space = VGPU_SPACE_GLOBAL, .access = access, .bytes = map->element, .align = map->element};
  uint64_t low = map->address, high = map->address, addresses[VGPU_LANES];
  for (uint32_t i = 0; i < map->rank; i++)
    {
      uint64_t step = i == 0 ? map->element : map->strides[i - 1];
      int64_t first = tile->at[i] > 0 ? tile->at[i] : 0;
      int64_t last = tile->at[i] + map->box[i] - 1;
      last = last < (int64_t) map->sizes[i] ? last : (int64_t) map->sizes[i] - 1;
      if (first > last)
        return true;
      low += (uint64_t) first * step;
      high += (uint64_t) last * step;
    }
  addresses[lane] = low;
  if (vgpu_check_lanes (warp, ins, &request, addresses, 1u << lane) == 0)
    return false;
  addresses[lane] = high;
  return vgpu_check_lanes (warp, ins, &request, addresses, 1u << lane) != 0;
}

static bool
global_side (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, uint64_t address, VgpuAccess access,
             const VgpuBulkCopy *copy, VgpuSharedPlace *place)
{
  *place = (VgpuSharedPlace) {NULL, address};
  return copy->tile != NULL ? tile_place (warp, ins, lane, copy->tile, access)
                            : global_place (warp, ins, lane, address, access, copy->bytes, place);
}

#define TILE_ALIGN 128

/* One copy to one block. */
static void
start_copy (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, VgpuBulkCopy copy, uint64_t to,
            uint64_t from, uint64_t barrier)
{
  bool writes_global = copy.way == VGPU_BULK_SHARED_TO_GLOBAL;
  bool reads_global = copy.way == VGPU_BULK_GLOBAL_TO_SHARED;
  uint32_t align = copy.tile != NULL ? TILE_ALIGN : PIECE;
  bool good =
      reads_global
          ? global_side (warp, ins, lane, from, VGPU_ACCESS_READ, &copy, &copy.from)
          : shared_side (warp, ins, lane, from, VGPU_ACCESS_READ, copy.bytes, align, &copy.from);
  VgpuAccess writes = copy.reduce != 0 ? VGPU_ACCESS_ATOMIC : VGPU_ACCESS_WRITE;
  good =
      good
      && (writes_global ? global_side (warp, ins, lane, to, writes, &copy, &copy.to)
                        : shared_side (warp, ins, lane, to, writes, copy.bytes, align, &copy.to));
  if (!writes_global)
    good = vgpu_shared_place (warp, ins, lane, barrier, 8, 8, &copy.barrier) && good;
  if (good && copy.tile != NULL)
    {
      VgpuTile *own = vgpu_take (sizeof *own);
      *own = *copy.tile;
      copy.tile = own;
    }
  if (good)
    append (warp->worker->team, &copy);
  else if (!writes_global && copy.barrier.worker != NULL)
    /* The fault is told; waiting for ever would tell nothing more. */
    vgpu_mbarrier_complete (warp, ins, lane, &copy.barrier, copy.bytes);
}

static uint64_t
to_rank (uint64_t address, uint32_t rank)
{
  return (address & ((1u << VGPU_RANK_SHIFT) - 1)) | (uint64_t) (rank + 1) << VGPU_RANK_SHIFT;
}

/* One copy of one thread, to its block or all that a mask names. */
static void
start_copies (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, VgpuTile *tile, uint32_t bytes)
{
  const int32_t *more = warp->kernel->extra + ins->extra;
  const VgpuTeam *team = warp->worker->team;
  VgpuBulkCopy copy = {.warp = warp,
                       .ins = ins,
                       .lane = lane,
                       .group = warp->bulk_group[lane],
                       .bytes = bytes,
                       .way = (VgpuBulkWay) ins->target,
                       .tile = tile,
                       .reduce = (uint32_t) more[VGPU_BULK_REDUCE],
                       .element = ins->bytes};
  uint64_t to = address_at (warp, more + VGPU_BULK_TO, lane);
  uint64_t from = address_at (warp, more + VGPU_BULK_FROM, lane);
  uint64_t barrier =
      more[VGPU_BULK_BARRIER] != INT32_MIN ? address_at (warp, more + VGPU_BULK_BARRIER, lane) : 0;
  int32_t row = more[VGPU_BULK_MASK];
  if (row == INT32_MIN)
    {
      start_copy (warp, ins, lane, copy, to, from, barrier);
      return;
    }
  uint32_t ranks = ((const uint16_t *) (warp->base[(uint32_t) row >> 31] + row))[lane];
  for (uint32_t rank = 0; rank < team->count; rank++)
    if (ranks >> rank & 1)
      start_copy (warp, ins, lane, copy, to_rank (to, rank), from, to_rank (barrier, rank));
}

static void
refuse_copy (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, const char *rule, int code,
             const char *message)
{
  VgpuFinding finding = vgpu_finding (rule, ins, lane);
  finding.message = message;
  vgpu_report (warp, &finding);
  vgpu_fault (warp, code, warp->worker->launch->first_fault_stops);
}

void
vgpu_bulk_copy (VgpuWarp *warp, const VgpuIns *ins)
{
  const uint32_t *sizes = (const uint32_t *) (warp->base[(uint32_t) ins->a >> 31] + ins->a);
  for (uint32_t left = warp->mask; left != 0; left &= left - 1)
    {
      uint32_t lane = (uint32_t) __builtin_ctz (left);
      char text[120];
      snprintf (text, sizeof text, "copies %u bytes, which is no multiple of %d", sizes[lane],
                PIECE);
      if (sizes[lane] % PIECE == 0)
        start_copies (warp, ins, lane, NULL, sizes[lane]);
      else
        refuse_copy (warp, ins, lane, "mem.misaligned", CUDA_ERROR_MISALIGNED_ADDRESS, text);
    }
}

static bool
is_map (const VgpuTensorMap *map, int64_t rank)
{
  return map->magic == VGPU_TENSOR_MAP_MAGIC && map->rank == rank && rank <= VGPU_TENSOR_RANK
         && map->element > 0 && map->element <= 8 && map->box[0] > 0 && map->swizzle <= 3;
}

void
vgpu_bulk_tensor (VgpuWarp *warp, const VgpuIns *ins)
{
  const int32_t *more = warp->kernel->extra + ins->extra;
  int side = ins->target == VGPU_BULK_SHARED_TO_GLOBAL ? VGPU_BULK_TO : VGPU_BULK_FROM;
  for (uint32_t left = warp->mask; left != 0; left &= left - 1)
    {
      uint32_t lane = (uint32_t) __builtin_ctz (left);
      VgpuTile tile;
      uint64_t address = address_at (warp, more + side, lane);
      if (!vgpu_read_generic (warp, lane, address, &tile.map, sizeof tile.map)
          || !is_map (&tile.map, ins->imm))
        {
          char text[160];
          snprintf (text, sizeof text,
                    "no tensor map of %d dimensions, made by cuTensorMapEncodeTiled, is at 0x%llx",
                    (int) ins->imm, (unsigned long long) address);
          refuse_copy (warp, ins, lane, "mem.out-of-bounds", CUDA_ERROR_ILLEGAL_ADDRESS, text);
          continue;
        }
      for (uint32_t i = 0; i < tile.map.rank; i++)
        {
          int32_t row = more[VGPU_BULK_COORDINATES + i];
          tile.at[i] = ((const int32_t *) (warp->base[(uint32_t) row >> 31] + row))[lane];
        }
      tile.reduce = (uint32_t) more[VGPU_BULK_REDUCE];
      if (tile.reduce != 0
          && !vgpu_tile_reduction (&tile.map, (tile.reduce - 1) / 256, &tile.reduce))
        refuse_copy (warp, ins, lane, "mem.out-of-bounds", CUDA_ERROR_ILLEGAL_INSTRUCTION,
                     "a tensor of this type cannot be combined");
      else
        start_copies (warp, ins, lane, &tile, vgpu_tile_bytes (&tile.map));
    }
}

void
vgpu_store_async (VgpuWarp *warp, const VgpuIns *ins)
{
  const int32_t *more = warp->kernel->extra + ins->extra;
  uint32_t bytes = (uint32_t) ins->bytes * ins->vec;
  for (uint32_t left = warp->mask; left != 0; left &= left - 1)
    {
      uint32_t lane = (uint32_t) __builtin_ctz (left);
      VgpuBulkCopy copy = {.warp = warp,
                           .ins = ins,
                           .lane = lane,
                           .bytes = bytes,
                           .way = VGPU_BULK_SHARED_TO_SHARED,
                           .reduce = ins->target,
                           .element = ins->bytes,
                           .is_value = true};
      uint64_t to = address_at (warp, more + VGPU_STORE_TO, lane);
      uint64_t barrier = address_at (warp, more + VGPU_STORE_BARRIER, lane);
      for (uint32_t i = 0; i < ins->vec; i++)
        {
          int32_t row = more[VGPU_STORE_DATA + i];
          memcpy (copy.value + i * ins->bytes,
                  warp->base[(uint32_t) row >> 31] + row + lane * ins->bytes, ins->bytes);
        }
      bool good = shared_side (warp, ins, lane, to,
                               copy.reduce != 0 ? VGPU_ACCESS_ATOMIC : VGPU_ACCESS_WRITE, bytes,
                               bytes, &copy.to);
      if (vgpu_shared_place (warp, ins, lane, barrier, 8, 8, &copy.barrier) && good)
        append (warp->worker->team, &copy);
    }
}

static void
report_uninitialised (const VgpuBulkCopy *copy)
{
  VgpuFinding finding = vgpu_finding ("mem.uninitialised", copy->ins, copy->lane);
  finding.message = "copies shared memory to global memory that nothing has written";
  vgpu_report (copy->warp, &finding);
}

/* What is known of the initialisation of a side; NULL: all of it is. */
static unsigned char *
shadow (const VgpuBulkCopy *copy, const VgpuSharedPlace *place)
{
  if (!(copy->warp->checks & VGPU_CHECK_UNINIT))
    return NULL;
  if (place->worker != NULL)
    return place->worker->shared_valid + place->offset;
  const VgpuAllocation *allocation =
      vgpu_memory_find (copy->warp->worker->launch->memory, place->offset);
  return allocation != NULL && allocation->valid != NULL
             ? allocation->valid + (place->offset - allocation->lo)
             : NULL;
}

static char *
bytes_of (const VgpuSharedPlace *place)
{
  return place->worker != NULL ? place->worker->shared + place->offset
                               : (char *) (uintptr_t) place->offset;
}

static void
carry_shadow (const VgpuBulkCopy *copy)
{
  const unsigned char *from = copy->is_value ? NULL : shadow (copy, &copy->from);
  unsigned char *to = shadow (copy, &copy->to);
  if (copy->way == VGPU_BULK_SHARED_TO_GLOBAL)
    {
      if (from != NULL && memchr (from, 0, copy->bytes) != NULL)
        report_uninitialised (copy);
      from = NULL;
    }
  if (copy->reduce != 0)
    return;
  if (to != NULL && from != NULL)
    memcpy (to, from, copy->bytes);
  else if (to != NULL)
    memset (to, 0xff, copy->bytes);
}

static void
move_tile (const VgpuBulkCopy *copy)
{
  bool to_global = copy->way == VGPU_BULK_SHARED_TO_GLOBAL;
  const VgpuSharedPlace *side = to_global ? &copy->from : &copy->to;
  const VgpuWorker *worker = side->worker;
  bool uninit = copy->warp->checks & VGPU_CHECK_UNINIT;
  if (vgpu_tile_move (copy->tile, worker->launch->memory, worker->shared,
                      uninit ? worker->shared_valid : NULL, side->offset, to_global))
    report_uninitialised (copy);
  free (copy->tile);
}

static void
combine_bytes (const VgpuBulkCopy *copy, const char *from)
{
  char *to = bytes_of (&copy->to);
  for (uint32_t at = 0; at < copy->bytes; at += copy->element)
    {
      uint64_t value = 0;
      memcpy (&value, from + at, copy->element);
      vgpu_reduce (to + at, copy->reduce - 1, copy->element, value);
    }
}

static void
make_copy (const VgpuBulkCopy *copy)
{
  VgpuWarp *warp = copy->warp;
  if (copy->tile != NULL)
    move_tile (copy);
  else
    {
      const char *from = copy->is_value ? (const char *) copy->value : bytes_of (&copy->from);
      carry_shadow (copy);
      if (copy->reduce != 0)
        combine_bytes (copy, from);
      else
        memmove (bytes_of (&copy->to), from, copy->bytes);
    }
  if (copy->reduce == 0 && (warp->checks & VGPU_CHECK_RACE) && copy->to.worker == warp->worker)
    vgpu_copy_lands (warp, copy->ins, copy->lane, copy->to.offset, copy->bytes);
  if (copy->barrier.worker != NULL)
    vgpu_mbarrier_complete (warp, copy->ins, copy->lane, &copy->barrier, copy->bytes);
}

void
vgpu_bulk_finish (VgpuTeam *team, const VgpuSharedPlace *barrier)
{
  size_t kept = 0;
  for (size_t i = 0; i < team->copy_count; i++)
    {
      VgpuBulkCopy copy = team->copies[i];
      if (barrier != NULL
          && (copy.barrier.worker != barrier->worker || copy.barrier.offset != barrier->offset))
        team->copies[kept++] = copy;
      else
        make_copy (&copy);
    }
  team->copy_count = kept;
}

void
vgpu_bulk_commit (VgpuWarp *warp)
{
  for (uint32_t left = warp->mask; left != 0; left &= left - 1)
    warp->bulk_group[__builtin_ctz (left)]++;
  warp->bulk_used = true;
}

void
vgpu_bulk_wait (VgpuWarp *warp, uint32_t latest)
{
  VgpuTeam *team = warp->worker->team;
  size_t kept = 0;
  for (size_t i = 0; i < team->copy_count; i++)
    {
      VgpuBulkCopy copy = team->copies[i];
      bool own = copy.warp == warp && (warp->mask >> copy.lane & 1) && copy.barrier.worker == NULL;
      if (own && copy.group + latest < warp->bulk_group[copy.lane])
        make_copy (&copy);
      else
        team->copies[kept++] = copy;
    }
  team->copy_count = kept;
}

void
vgpu_team_free (VgpuTeam *team)
{
  for (size_t i = 0; i < team->copy_count; i++)
    free (team->copies[i].tile);
  free (team->mates);
  free (team->copies);
  free (team);
}
