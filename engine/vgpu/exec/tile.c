/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes of tensors. Rows of a box lie one behind another in shared memory; with a swizzle, pieces of 16 bytes
 * change places within 256, 512 or 1024 bytes: the bits of the address that number the piece are
 * combined with those from bit 7 (CUDA programming guide, "Tensor Memory Access", swizzle modes). */
#include "engine/vgpu/exec/async.h"
#include "engine/vgpu/exec/memory.h"
#include "engine/vgpu/exec/reduce.h"

#include <string.h>

#define PIECE 16

uint32_t
vgpu_tile_bytes (const VgpuTensorMap *map)
{
  uint32_t bytes = map->element;
  for (uint32_t i = 0; i < map->rank; i++)
    bytes *= map->box[i];
  return bytes;
}

static uint64_t
swizzled (const VgpuTensorMap *map, uint64_t address)
{
  uint64_t bits = ((uint64_t) 1 << map->swizzle) - 1;
  return address ^ (address >> 7 & bits) << 4;
}

static void
fill_element (const VgpuTensorMap *map, char *to)
{
  static const unsigned char nan[3][8] = {
      {0xff, 0x7f}, {0xff, 0xff, 0xff, 0x7f}, {0, 0, 0, 0, 0, 0, 0xf8, 0x7f}};
  if (map->fill_nan && map->element > 1)
    memcpy (to, nan[map->element == 2 ? 0 : map->element == 4 ? 1 : 2], map->element);
  else
    memset (to, 0, map->element);
}

/* Place of the row in global memory, where its first element would lie; false: all of it is outside. */
static bool
find_row (const VgpuTile *tile, uint32_t row, uint64_t *address)
{
  const VgpuTensorMap *map = &tile->map;
  *address = map->address;
  for (uint32_t i = 1; i < map->rank; i++)
    {
      int64_t at = tile->at[i] + row % map->box[i];
      row /= map->box[i];
      if (at < 0 || (uint64_t) at >= map->sizes[i])
        return false;
      *address += (uint64_t) at * map->strides[i - 1];
    }
  return true;
}

static unsigned char *
shadow_of (const VgpuMemory *memory, uint64_t address)
{
  const VgpuAllocation *allocation = vgpu_memory_find (memory, address);
  return allocation != NULL && allocation->valid != NULL
             ? allocation->valid + (address - allocation->lo)
             : NULL;
}

bool
vgpu_tile_reduction (const VgpuTensorMap *map, uint32_t kind, uint32_t *reduce)
{
  /* By CUtensorMapDataType; 0: an element that no reduction takes. */
  static const uint8_t types[] = {0,
                                  0,
                                  VGPU_TYPE_U32,
                                  VGPU_TYPE_S32,
                                  VGPU_TYPE_U64,
                                  VGPU_TYPE_S64,
                                  VGPU_TYPE_F16,
                                  VGPU_TYPE_F32,
                                  VGPU_TYPE_F64,
                                  VGPU_TYPE_BF16,
                                  VGPU_TYPE_F32};
  uint32_t type = map->type < sizeof types ? types[map->type] : 0;
  *reduce = 1 + VGPU_ATOM_CODE (kind, type);
  return type != 0;
}

static bool
move_element (const VgpuTile *tile, const VgpuMemory *memory, char *shared, unsigned char *valid,
              uint64_t address, bool to_global)
{
  const VgpuTensorMap *map = &tile->map;
  char *global = (char *) (uintptr_t) address;
  unsigned char *shadow = valid != NULL ? shadow_of (memory, address) : NULL;
  bool dubious = to_global && valid != NULL && memchr (valid, 0, map->element) != NULL;
  if (tile->reduce != 0)
    {
      uint64_t value = 0;
      memcpy (&value, shared, map->element);
      vgpu_reduce (global, tile->reduce - 1, map->element, value);
      return dubious;
    }
  memcpy (to_global ? global : shared, to_global ? shared : global, map->element);
  if (to_global && shadow != NULL)
    memset (shadow, 0xff, map->element);
  if (!to_global && valid != NULL && shadow != NULL)
    memcpy (valid, shadow, map->element);
  else if (!to_global && valid != NULL)
    memset (valid, 0xff, map->element);
  return dubious;
}

bool
vgpu_tile_move (const VgpuTile *tile, const VgpuMemory *memory, char *shared, unsigned char *valid,
                uint64_t offset, bool to_global)
{
  const VgpuTensorMap *map = &tile->map;
  uint32_t row_bytes = map->box[0] * map->element;
  uint32_t rows = vgpu_tile_bytes (map) / row_bytes;
  bool dubious = false;
  for (uint32_t row = 0; row < rows; row++)
    {
      uint64_t address;
      bool there = find_row (tile, row, &address);
      for (uint32_t i = 0; i < map->box[0]; i++)
        {
          uint64_t at = swizzled (map, offset + (uint64_t) row * row_bytes + i * map->element);
          int64_t x = tile->at[0] + i;
          unsigned char *known = valid != NULL ? valid + at : NULL;
          if (there && x >= 0 && (uint64_t) x < map->sizes[0])
            dubious |= move_element (tile, memory, shared + at, known,
                                     address + (uint64_t) x * map->element, to_global);
          else if (!to_global)
            {
              fill_element (map, shared + at);
              if (known != NULL)
                memset (known, 0xff, map->element);
            }
        }
    }
  return dubious;
}
