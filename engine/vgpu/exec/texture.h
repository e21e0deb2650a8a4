/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texture and surface objects: what the driver makes them of, and how a texture is sampled. Written from
 * the CUDA programming guide, "Texture Fetching". Compiled once, for handlers and driver. */

typedef enum
{
  VGPU_TEXEL_UNSIGNED,
  VGPU_TEXEL_SIGNED,
  VGPU_TEXEL_FLOAT
} VgpuTexelKind;

typedef struct
{
  uint8_t kind;     /* VgpuTexelKind */
  uint8_t bytes;    /* of one channel: 1, 2 or 4 */
  uint8_t channels; /* 1, 2 or 4 */
} VgpuTexel;

/* One level: rows pitch bytes apart, slices or layers slice bytes. Sizes that do not apply are 1. */
typedef struct
{
  uint64_t address, pitch, slice;
  uint32_t width, height, depth;
} VgpuImage;

#define VGPU_LEVELS 16

typedef struct
{
  VgpuTexel texel;
  uint8_t dimensions; /* 1, 2 or 3, layers not counted */
  bool layered;       /* depth counts layers; six faces a layer where it is a cube */
  bool cube;
  bool linear; /* plain memory in one dimension: what lies outside reads as zero */
  uint32_t level_count;
  uint64_t bytes; /* of all levels, from the address of the first */
  VgpuImage levels[VGPU_LEVELS];
} VgpuImages;

/* By the numbers of CUaddress_mode. */
typedef enum
{
  VGPU_ADDRESS_WRAP,
  VGPU_ADDRESS_CLAMP,
  VGPU_ADDRESS_MIRROR,
  VGPU_ADDRESS_BORDER
} VgpuAddressMode;

typedef struct
{
  VgpuImages images;
  bool surface;
  uint8_t modes[3]; /* VgpuAddressMode */
  bool linear, linear_levels;
  bool normalised; /* coordinates from 0 to 1 */
  bool as_float;   /* integers of 8 and 16 bits become fractions */
  bool srgb;
  float bias, least_level, greatest_level;
  float border[4];
} VgpuTexture;

/* The objects of a context, by their handles, which count from 1 and are never given twice. */
typedef struct
{
  VgpuTexture **list; /* NULL where one has been destroyed */
  size_t count, capacity;
} VgpuTextures;

uint64_t vgpu_textures_add (VgpuTextures *textures, const VgpuTexture *texture);
/* NULL for what is none, or no more. */
const VgpuTexture *vgpu_textures_find (const VgpuTextures *textures, uint64_t handle);
bool vgpu_textures_remove (VgpuTextures *textures, uint64_t handle);
void vgpu_textures_clear (VgpuTextures *textures);

typedef enum
{
  VGPU_GEOMETRY_1D,
  VGPU_GEOMETRY_2D,
  VGPU_GEOMETRY_3D,
  VGPU_GEOMETRY_LAYERS_1D,
  VGPU_GEOMETRY_LAYERS_2D,
  VGPU_GEOMETRY_CUBE,
  VGPU_GEOMETRY_LAYERS_CUBE
} VgpuGeometry;

/* One look-up. */
typedef struct
{
  VgpuGeometry geometry;
  bool integers;  /* coordinates are texels, in whole; else in at */
  int32_t gather; /* channel of tld4, or -1 */
  int32_t whole[3];
  float at[3];
  uint32_t layer;
  float level;
} VgpuLookUp;

/* Texels that a look-up reads and that count for its result. */
typedef struct
{
  uint64_t addresses[16];
  uint32_t count;
} VgpuTouched;

/* Four channels as they come into registers: bits of binary32 or integers. */
void vgpu_texture_sample (const VgpuTexture *texture, const VgpuLookUp *look_up, uint32_t *bits,
                          VgpuTouched *touched);

/* The level of detail that derivatives of the coordinates give. */
float vgpu_texture_detail (const VgpuTexture *texture, const float *dx, const float *dy);

static inline uint32_t
vgpu_texel_bytes (const VgpuTexel *texel)
{
  return (uint32_t) texel->bytes * texel->channels;
}
