/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/exec/machine.h"
#include "engine/vgpu/exec/texture.h"

/* The instructions that go through texture and surface objects. Decoder and execution share the places
 * of their further operands, which are rows. */

enum
{
  VGPU_TEX_DATA = 0, /* to here, or from here: four rows */
  VGPU_TEX_OBJECT = 4,
  VGPU_TEX_SAMPLER = 5, /* whose modes count */
  VGPU_TEX_AT = 6,
  VGPU_TEX_LAYER = 9,
  VGPU_TEX_LEVEL = 10,
  VGPU_TEX_DX = 11,
  VGPU_TEX_DY = 14,
  VGPU_TEX_THERE = 17, /* predicate: the texel is there */
  VGPU_TEX_OPERANDS = 18
};

typedef enum
{
  VGPU_DETAIL_BASE,
  VGPU_DETAIL_LEVEL,
  VGPU_DETAIL_GRADIENT
} VgpuDetail;

/* What becomes of accesses outside a surface. */
typedef enum
{
  VGPU_OUTSIDE_TRAP,
  VGPU_OUTSIDE_CLAMP,
  VGPU_OUTSIDE_ZERO
} VgpuOutside;

typedef enum
{
  VGPU_SURFACE_LOAD,
  VGPU_SURFACE_STORE,
  VGPU_SURFACE_ADD,
  VGPU_SURFACE_MIN,
  VGPU_SURFACE_MAX,
  VGPU_SURFACE_AND,
  VGPU_SURFACE_OR
} VgpuSurfaceWork;

#define VGPU_TEX_NO_ROW INT32_MIN /* a further operand that is not there */

/* ins->target of a texture instruction. */
#define VGPU_TEX_CODE(geometry, integers, detail, channel)                                         \
  ((uint32_t) (geometry) | (uint32_t) (integers) << 8 | (uint32_t) (detail) << 12                  \
   | (uint32_t) ((channel) + 1) << 16)
/* And of one about a surface. */
#define VGPU_SURFACE_CODE(geometry, work, outside)                                                 \
  ((uint32_t) (geometry) | (uint32_t) (work) << 8 | (uint32_t) (outside) << 16)

typedef enum
{
  VGPU_QUERY_WIDTH,
  VGPU_QUERY_HEIGHT,
  VGPU_QUERY_DEPTH,
  VGPU_QUERY_LAYERS,
  VGPU_QUERY_LEVELS,
  VGPU_QUERY_TYPE,
  VGPU_QUERY_ORDER,
  VGPU_QUERY_NORMALISED
} VgpuTextureQuery;

void vgpu_texture_fetch (VgpuWarp *warp, const VgpuIns *ins);
void vgpu_texture_query (VgpuWarp *warp, const VgpuIns *ins);
void vgpu_surface_access (VgpuWarp *warp, const VgpuIns *ins);
