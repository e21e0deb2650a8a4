/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling. Weights of linear filtering are fractions with 8 bits, as the programming guide has them; their
 * sums are made in binary64 and rounded once. */
#include "engine/vgpu/exec/texture.h"

#include "engine/number/half.h"
#include "engine/vgpu/ptx/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t
vgpu_textures_add (VgpuTextures *textures, const VgpuTexture *texture)
{
  if (textures->count == textures->capacity)
    {
      textures->capacity = textures->capacity * 2 + 8;
      textures->list = vgpu_retake (textures->list, textures->capacity * sizeof *textures->list);
    }
  VgpuTexture *own = vgpu_take (sizeof *own);
  *own = *texture;
  textures->list[textures->count++] = own;
  return textures->count;
}

const VgpuTexture *
vgpu_textures_find (const VgpuTextures *textures, uint64_t handle)
{
  return handle == 0 || handle > textures->count ? NULL : textures->list[handle - 1];
}

bool
vgpu_textures_remove (VgpuTextures *textures, uint64_t handle)
{
  if (vgpu_textures_find (textures, handle) == NULL)
    return false;
  free (textures->list[handle - 1]);
  textures->list[handle - 1] = NULL;
  return true;
}

void
vgpu_textures_clear (VgpuTextures *textures)
{
  for (size_t i = 0; i < textures->count; i++)
    free (textures->list[i]);
  free (textures->list);
  *textures = (VgpuTextures) {0};
}

/* ---- texels ---- */

#define OUTSIDE INT64_MIN

/* A texel by its place, any of which may be OUTSIDE. */
typedef struct
{
  int64_t x, y, z;
} Place;

static uint32_t
read_channel (const VgpuTexel *texel, const char *at, uint32_t channel)
{
  uint32_t bits = 0;
  if (channel >= texel->channels)
    return 0;
  memcpy (&bits, at + channel * texel->bytes, texel->bytes);
  if (texel->kind == VGPU_TEXEL_SIGNED && texel->bytes < 4)
    {
      int shift = 32 - 8 * texel->bytes;
      return (uint32_t) ((int32_t) (bits << shift) >> shift);
    }
  if (texel->kind == VGPU_TEXEL_FLOAT && texel->bytes == 2)
    return assay_float_bits (assay_half_to_float ((uint16_t) bits));
  return bits;
}

/* IEC 61966-2-1. */
static double
linear_of_srgb (double value)
{
  return value <= 0.04045 ? value / 12.92 : pow ((value + 0.055) / 1.055, 2.4);
}

static double
value_of (const VgpuTexture *texture, uint32_t bits, uint32_t channel)
{
  const VgpuTexel *texel = &texture->images.texel;
  if (texel->kind == VGPU_TEXEL_FLOAT)
    return assay_float_from_bits (bits);
  if (texel->kind == VGPU_TEXEL_SIGNED)
    {
      double value = (double) (int32_t) bits / (texel->bytes == 1 ? 127.0 : 32767.0);
      return value < -1.0 ? -1.0 : value;
    }
  double value = (double) bits / (texel->bytes == 1 ? 255.0 : 65535.0);
  return texture->srgb && texel->bytes == 1 && channel < 3 ? linear_of_srgb (value) : value;
}

static const char *
texel_at (const VgpuTexture *texture, const VgpuImage *image, Place place, VgpuTouched *touched)
{
  if (place.x == OUTSIDE || place.y == OUTSIDE || place.z == OUTSIDE)
    return NULL;
  uint64_t address = image->address + (uint64_t) place.z * image->slice
                     + (uint64_t) place.y * image->pitch
                     + (uint64_t) place.x * vgpu_texel_bytes (&texture->images.texel);
  if (touched->count < 16)
    touched->addresses[touched->count++] = address;
  return (const char *) (uintptr_t) address;
}

static void
read_bits (const VgpuTexture *texture, const VgpuImage *image, Place place, uint32_t *bits,
           VgpuTouched *touched)
{
  const char *at = texel_at (texture, image, place, touched);
  bool floats = texture->as_float || texture->images.texel.kind == VGPU_TEXEL_FLOAT;
  for (uint32_t i = 0; i < 4; i++)
    {
      if (at == NULL)
        bits[i] = texture->images.linear ? 0 : assay_float_bits (texture->border[i]);
      else if (i >= texture->images.texel.channels)
        bits[i] = i < 3 ? 0 : floats ? 0x3f800000u : 1;
      else
        {
          bits[i] = read_channel (&texture->images.texel, at, i);
          if (texture->as_float)
            bits[i] = assay_float_bits ((float) value_of (texture, bits[i], i));
        }
    }
}

/* ---- coordinates ---- */

/* As floor (), but without a call; what is too large for a cast has no fraction. */
static inline double
floor_of (double x)
{
  if (!(x > -0x1p62 && x < 0x1p62))
    return x;
  double whole = (double) (int64_t) x;
  return whole > x ? whole - 1.0 : whole;
}

/* A coordinate in texels, brought into range as wrapping and mirroring do it before anything is rounded. */
static double
to_texels (const VgpuTexture *texture, uint32_t axis, float at, uint32_t size)
{
  double x = at;
  if (!texture->normalised)
    return x;
  double whole = floor_of (x);
  if (texture->modes[axis] == VGPU_ADDRESS_WRAP)
    x -= whole;
  else if (texture->modes[axis] == VGPU_ADDRESS_MIRROR)
    x = fmod (whole, 2.0) == 0.0 ? x - whole : 1.0 - (x - whole);
  return x * size;
}

static int64_t
bounded (double value)
{
  return value != value    ? 0
         : value < -0x1p40 ? -((int64_t) 1 << 40)
         : value > 0x1p40  ? (int64_t) 1 << 40
                           : (int64_t) value;
}

/* What wrapping and mirroring mean for coordinates in texels is clamping. */
static int64_t
in_range (const VgpuTexture *texture, uint32_t axis, int64_t index, uint32_t size)
{
  if (index >= 0 && index < size)
    return index;
  if (texture->modes[axis] == VGPU_ADDRESS_BORDER || texture->images.linear)
    return OUTSIDE;
  if (texture->modes[axis] == VGPU_ADDRESS_WRAP && texture->normalised)
    return (index % size + size) % size;
  return index < 0 ? 0 : (int64_t) size - 1;
}

/* Two neighbours of a coordinate and the weight of the second, in 256ths. */
typedef struct
{
  int64_t index[2];
  uint32_t weight;
} Neighbours;

static Neighbours
neighbours (const VgpuTexture *texture, uint32_t axis, float at, uint32_t size)
{
  double x = to_texels (texture, axis, at, size) - 0.5;
  double whole = floor_of (x);
  int64_t first = bounded (whole);
  double fraction = x - whole;
  Neighbours found = {.weight = fraction == fraction ? (uint32_t) (fraction * 256.0 + 0.5) : 0};
  found.index[0] = in_range (texture, axis, first, size);
  found.index[1] = in_range (texture, axis, first + 1, size);
  return found;
}

/* The face of a cube and the place on it. Programming guide, "Cubemap Textures". */
static uint32_t
cube_face (const float *at, float *s, float *t)
{
  float x = fabsf (at[0]), y = fabsf (at[1]), z = fabsf (at[2]);
  float m, u, v;
  uint32_t face;
  if (x >= y && x >= z)
    {
      face = at[0] >= 0 ? 0 : 1;
      m = x;
      u = at[0] >= 0 ? -at[2] : at[2];
      v = -at[1];
    }
  else if (y >= z)
    {
      face = at[1] >= 0 ? 2 : 3;
      m = y;
      u = at[0];
      v = at[1] >= 0 ? at[2] : -at[2];
    }
  else
    {
      face = at[2] >= 0 ? 4 : 5;
      m = z;
      u = at[2] >= 0 ? at[0] : -at[0];
      v = -at[1];
    }
  *s = m > 0 ? (u / m + 1.0f) / 2.0f : 0.5f;
  *t = m > 0 ? (v / m + 1.0f) / 2.0f : 0.5f;
  return face;
}

/* A look-up with its layer worked out; axes: that are filtered. */
typedef struct
{
  float at[3];
  const int32_t *whole; /* NULL: coordinates are in at */
  int64_t layer;        /* or slice, where axes is less than 3 */
  uint32_t axes;
} Spot;

static Spot
find_spot (const VgpuTexture *texture, const VgpuLookUp *look_up)
{
  const VgpuImages *images = &texture->images;
  Spot spot = {.axes = images->dimensions};
  memcpy (spot.at, look_up->at, sizeof spot.at);
  spot.whole = look_up->integers ? look_up->whole : NULL;
  bool cube =
      look_up->geometry == VGPU_GEOMETRY_CUBE || look_up->geometry == VGPU_GEOMETRY_LAYERS_CUBE;
  uint32_t depth = images->levels[0].depth;
  uint64_t layer = look_up->geometry >= VGPU_GEOMETRY_LAYERS_1D ? look_up->layer : 0;
  if (cube)
    {
      uint32_t most = depth >= 6 ? depth / 6 - 1 : 0;
      layer = look_up->geometry == VGPU_GEOMETRY_CUBE ? 0 : layer < most ? layer : most;
      layer = layer * 6 + cube_face (look_up->at, &spot.at[0], &spot.at[1]);
      spot.axes = 2;
    }
  spot.layer = layer < depth ? (int64_t) layer : (int64_t) depth - 1;
  return spot;
}

static Place
nearest (const VgpuTexture *texture, const VgpuImage *image, const Spot *spot)
{
  const uint32_t sizes[3] = {image->width, image->height, image->depth};
  int64_t index[3] = {0, 0, spot->layer};
  for (uint32_t i = 0; i < spot->axes; i++)
    index[i] = in_range (texture, i,
                         spot->whole != NULL
                             ? spot->whole[i]
                             : bounded (floor_of (to_texels (texture, i, spot->at[i], sizes[i]))),
                         sizes[i]);
  return (Place) {index[0], index[1], index[2]};
}

/* Adds `share` of the filtered value of one level. */
static void
add_filtered (const VgpuTexture *texture, const VgpuImage *image, const Spot *spot, double share,
              double *sums, VgpuTouched *touched)
{
  const uint32_t sizes[3] = {image->width, image->height, image->depth};
  Neighbours axes[3] = {{.index = {0, 0}}, {.index = {0, 0}}, {.index = {spot->layer, 0}}};
  for (uint32_t i = 0; i < spot->axes; i++)
    axes[i] = neighbours (texture, i, spot->at[i], sizes[i]);
  for (uint32_t corner = 0; corner < 1u << spot->axes; corner++)
    {
      double weight = share;
      int64_t index[3];
      for (uint32_t i = 0; i < 3; i++)
        {
          uint32_t second = corner >> i & 1;
          weight *= (second ? axes[i].weight : 256 - axes[i].weight) / 256.0;
          index[i] = axes[i].index[second];
        }
      if (weight == 0.0)
        continue;
      const char *at = texel_at (texture, image, (Place) {index[0], index[1], index[2]}, touched);
      for (uint32_t i = 0; i < 4; i++)
        if (at == NULL)
          sums[i] += weight * (texture->images.linear ? 0.0 : texture->border[i]);
        else if (i < texture->images.texel.channels)
          sums[i] += weight * value_of (texture, read_channel (&texture->images.texel, at, i), i);
        else
          sums[i] += i < 3 ? 0.0 : weight;
    }
}

/* Four texels around a place, one channel of each, against the clock from the lower left. */
static void
gather (const VgpuTexture *texture, const Spot *spot, uint32_t channel, uint32_t *bits,
        VgpuTouched *touched)
{
  static const uint8_t order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  const VgpuImage *image = &texture->images.levels[0];
  Neighbours x = neighbours (texture, 0, spot->at[0], image->width);
  Neighbours y = neighbours (texture, 1, spot->at[1], image->height);
  for (int i = 0; i < 4; i++)
    {
      uint32_t texel[4];
      read_bits (texture, image, (Place) {x.index[order[i][0]], y.index[order[i][1]], spot->layer},
                 texel, touched);
      bits[i] = texel[channel];
    }
}

/* The levels that count, and the share of the second. */
static uint32_t
choose_level (const VgpuTexture *texture, float level, uint32_t *second, double *share)
{
  double last = texture->images.level_count - 1;
  double detail = (double) level + texture->bias;
  detail = detail < texture->least_level ? texture->least_level : detail;
  detail = detail > texture->greatest_level ? texture->greatest_level : detail;
  detail = !(detail > 0.0) ? 0.0 : detail > last ? last : detail;
  *share = 0.0;
  if (!texture->linear_levels)
    return *second = (uint32_t) (detail + 0.5);
  uint32_t first = (uint32_t) detail;
  *second = first < (uint32_t) last ? first + 1 : first;
  *share = floor_of ((detail - first) * 256.0 + 0.5) / 256.0;
  return first;
}

void
vgpu_texture_sample (const VgpuTexture *texture, const VgpuLookUp *look_up, uint32_t *bits,
                     VgpuTouched *touched)
{
  Spot spot = find_spot (texture, look_up);
  double sums[4] = {0}, share = 0.0;
  uint32_t first = 0, second = 0;
  touched->count = 0;
  if (look_up->gather >= 0)
    {
      gather (texture, &spot, (uint32_t) look_up->gather, bits, touched);
      return;
    }
  if (texture->images.level_count > 1)
    first = choose_level (texture, look_up->level, &second, &share);
  const VgpuImage *levels = texture->images.levels;
  if ((!texture->linear || spot.whole != NULL) && share == 0.0)
    {
      read_bits (texture, &levels[first], nearest (texture, &levels[first], &spot), bits, touched);
      return;
    }
  for (int i = 0; i < 2; i++)
    {
      const VgpuImage *level = &levels[i == 0 ? first : second];
      double part = i == 0 ? 1.0 - share : share;
      if (part == 0.0)
        continue;
      if (texture->linear)
        add_filtered (texture, level, &spot, part, sums, touched);
      else
        {
          uint32_t texel[4];
          read_bits (texture, level, nearest (texture, level, &spot), texel, touched);
          for (int c = 0; c < 4; c++)
            sums[c] += part * (double) assay_float_from_bits (texel[c]);
        }
    }
  for (int c = 0; c < 4; c++)
    bits[c] = assay_float_bits ((float) sums[c]);
}

float
vgpu_texture_detail (const VgpuTexture *texture, const float *dx, const float *dy)
{
  const VgpuImage *base = &texture->images.levels[0];
  const uint32_t sizes[3] = {base->width, base->height, base->depth};
  double lengths[2] = {0, 0};
  for (uint32_t i = 0; i < texture->images.dimensions; i++)
    {
      double scale = texture->normalised ? sizes[i] : 1.0;
      lengths[0] += (double) dx[i] * dx[i] * scale * scale;
      lengths[1] += (double) dy[i] * dy[i] * scale * scale;
    }
  double greatest = lengths[0] > lengths[1] ? lengths[0] : lengths[1];
  return greatest > 0.0 ? (float) (0.5 * log2 (greatest)) : -1000.0f;
}
