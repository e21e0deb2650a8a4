/* SPDX-License-Identifier: Apache-2.0 */
/* Texture fetches and accesses of surfaces, lane by lane, with the checks that memory has. */
#include "engine/vgpu/exec/texture-access.h"

#include "engine/target/cuda-abi.h"
#include "engine/vgpu/check/check.h"

#include <stdio.h>
#include <string.h>

static const char *
row_of (const VgpuWarp *warp, int32_t row)
{
  return warp->base[(uint32_t) row >> 31] + row;
}

static uint32_t
word_of (const VgpuWarp *warp, int32_t row, uint32_t lane)
{
  return row == VGPU_TEX_NO_ROW ? 0 : ((const uint32_t *) row_of (warp, row))[lane];
}

static float
number_of (const VgpuWarp *warp, int32_t row, uint32_t lane)
{
  float value = 0;
  if (row != VGPU_TEX_NO_ROW)
    memcpy (&value, row_of (warp, row) + 4 * lane, sizeof value);
  return value;
}

static void
deny (VgpuWarp *warp, VgpuFinding *finding, const char *message, int code)
{
  finding->message = message;
  vgpu_report (warp, finding);
  vgpu_fault (warp, code, warp->worker->launch->first_fault_stops);
}

/* The object that a lane names; reports what is none. */
static const VgpuTexture *
find_object (VgpuWarp *warp, const VgpuIns *ins, int32_t row, uint32_t lane, bool surface)
{
  const VgpuTextures *textures = warp->worker->launch->textures;
  uint64_t handle = ((const uint64_t *) row_of (warp, row))[lane];
  const VgpuTexture *found = vgpu_textures_find (textures, handle);
  const char *what = surface ? "surface" : "texture";
  char text[160];
  if (found != NULL && found->surface == surface)
    return found;
  bool gone = handle > 0 && handle <= textures->count && found == NULL;
  VgpuFinding finding = vgpu_finding (gone ? "mem.use-after-free" : "mem.out-of-bounds", ins, lane);
  snprintf (text, sizeof text, "uses %s object 0x%llx, which %s", what, (unsigned long long) handle,
            gone            ? "has been destroyed"
            : found != NULL ? "is an object of the other kind"
                            : "does not exist");
  deny (warp, &finding, text, CUDA_ERROR_ILLEGAL_ADDRESS);
  return NULL;
}

/* Whether memory is there, live, and all written to; site remembers it. */
static bool
look_at_memory (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, uint64_t address,
                const VgpuRequest *request, unsigned char **valid)
{
  VgpuSite *site = &warp->worker->sites[ins->site];
  const int32_t relative[VGPU_LANES] = {0};
  uint64_t addresses[VGPU_LANES];
  *valid = NULL;
  addresses[lane] = address;
  if (site->allocation == NULL || site->allocation->freed || address < site->allocation->lo
      || address + request->bytes > site->allocation->hi)
    {
      if (vgpu_check_lanes (warp, ins, request, addresses, 1u << lane) == 0)
        return false;
      site->allocation = vgpu_memory_find (warp->worker->launch->memory, address);
    }
  if ((warp->checks & VGPU_CHECK_UNINIT) && site->allocation->valid != NULL)
    *valid = site->allocation->valid + (address - site->allocation->lo);
  if (warp->checks & VGPU_CHECK_RACE_GLOBAL)
    {
      VgpuReach reach;
      vgpu_reach_lanes (&reach, address, relative, 1u << lane, request->bytes);
      vgpu_race_global (warp, ins, request, &reach);
    }
  return true;
}

/* Whether all that a texture may read is there; memory may be gone since the object was made. */
static bool
is_there (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, const VgpuImages *images,
          const VgpuRequest *request)
{
  VgpuSite *site = &warp->worker->sites[ins->site];
  const uint64_t address = images->levels[0].address;
  uint64_t addresses[VGPU_LANES];
  if (site->allocation == NULL || address < site->allocation->lo || address >= site->allocation->hi)
    site->allocation = vgpu_memory_find (warp->worker->launch->memory, address);
  if (site->allocation != NULL && !site->allocation->freed
      && site->allocation->hi - address >= images->bytes)
    return true;
  addresses[lane] = address;
  site->allocation = NULL;
  vgpu_check_lanes (warp, ins, request, addresses, 1u << lane);
  return false;
}

static void
set_poison (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, bool dubious)
{
  const int32_t *more = warp->kernel->extra + ins->extra;
  if (!(warp->checks & VGPU_CHECK_UNINIT) || (!dubious && !warp->tainted))
    return;
  for (uint32_t i = 0; i < 4; i++)
    if (more[VGPU_TEX_DATA + i] >= 0)
      {
        uint32_t at = (uint32_t) more[VGPU_TEX_DATA + i] / VGPU_ROW_UNIT;
        warp->poison[at] = (warp->poison[at] & ~(1u << lane)) | (uint32_t) dubious << lane;
        if (dubious)
          warp->origin[at] = (uint32_t) (ins - warp->kernel->code);
      }
  warp->tainted |= dubious;
}

static void
check_coordinates (VgpuWarp *warp, const VgpuIns *ins)
{
  const int32_t *more = warp->kernel->extra + ins->extra;
  for (uint32_t i = VGPU_TEX_OBJECT; warp->tainted && i < VGPU_TEX_THERE; i++)
    if (more[i] >= 0)
      {
        uint32_t bad = warp->poison[more[i] / VGPU_ROW_UNIT] & warp->mask;
        if (bad != 0)
          vgpu_taint_used (warp, ins, more[i], bad, "used as an address");
      }
}

/* ---- textures ---- */

static VgpuLookUp
look_up_of (const VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, const VgpuTexture *texture)
{
  const int32_t *more = warp->kernel->extra + ins->extra;
  VgpuLookUp look_up = {.geometry = (VgpuGeometry) (ins->target & 0xff),
                        .integers = ins->target >> 8 & 1,
                        .gather = (int32_t) (ins->target >> 16) - 1};
  VgpuDetail detail = (VgpuDetail) (ins->target >> 12 & 3);
  float dx[3], dy[3];
  for (uint32_t i = 0; i < 3; i++)
    {
      look_up.at[i] = number_of (warp, more[VGPU_TEX_AT + i], lane);
      look_up.whole[i] = (int32_t) word_of (warp, more[VGPU_TEX_AT + i], lane);
    }
  for (uint32_t i = 0; detail == VGPU_DETAIL_GRADIENT && i < 3; i++)
    {
      dx[i] = number_of (warp, more[VGPU_TEX_DX + i], lane);
      dy[i] = number_of (warp, more[VGPU_TEX_DY + i], lane);
    }
  look_up.layer = word_of (warp, more[VGPU_TEX_LAYER], lane);
  if (detail == VGPU_DETAIL_LEVEL && look_up.integers)
    look_up.level = (float) (int32_t) word_of (warp, more[VGPU_TEX_LEVEL], lane);
  else if (detail == VGPU_DETAIL_LEVEL)
    look_up.level = number_of (warp, more[VGPU_TEX_LEVEL], lane);
  else if (detail == VGPU_DETAIL_GRADIENT)
    look_up.level = vgpu_texture_detail (texture, dx, dy);
  return look_up;
}

/* The images of one object with the modes of another, where the text names both. */
static const VgpuTexture *
with_sampler (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, const VgpuTexture *texture,
              VgpuTexture *both)
{
  const int32_t *more = warp->kernel->extra + ins->extra;
  if (texture == NULL || more[VGPU_TEX_SAMPLER] == VGPU_TEX_NO_ROW)
    return texture;
  const VgpuTexture *sampler = find_object (warp, ins, more[VGPU_TEX_SAMPLER], lane, false);
  if (sampler == NULL)
    return NULL;
  *both = *sampler;
  both->images = texture->images;
  return both;
}

static void
fetch_lane (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane)
{
  const int32_t *more = warp->kernel->extra + ins->extra;
  VgpuTexture both;
  VgpuTouched touched;
  uint32_t bits[4] = {0};
  bool dubious = false;
  const VgpuTexture *texture = find_object (warp, ins, more[VGPU_TEX_OBJECT], lane, false);
  texture = with_sampler (warp, ins, lane, texture, &both);
  if (texture != NULL)
    {
      VgpuRequest request = {.space = VGPU_SPACE_GLOBAL,
                             .access = VGPU_ACCESS_READ,
                             .bytes = vgpu_texel_bytes (&texture->images.texel),
                             .align = 1};
      VgpuLookUp look_up = look_up_of (warp, ins, lane, texture);
      unsigned char *valid;
      touched.count = 0;
      if (is_there (warp, ins, lane, &texture->images, &request))
        vgpu_texture_sample (texture, &look_up, bits, &touched);
      bool looks = warp->checks & (VGPU_CHECK_UNINIT | VGPU_CHECK_RACE_GLOBAL);
      for (uint32_t i = 0; looks && i < touched.count; i++)
        if (look_at_memory (warp, ins, lane, touched.addresses[i], &request, &valid))
          dubious |= valid != NULL && memchr (valid, 0, request.bytes) != NULL;
    }
  for (uint32_t i = 0; i < 4; i++)
    if (more[VGPU_TEX_DATA + i] != VGPU_TEX_NO_ROW)
      ((uint32_t *) (void *) row_of (warp, more[VGPU_TEX_DATA + i]))[lane] = bits[i];
  set_poison (warp, ins, lane, dubious);
}

void
vgpu_texture_fetch (VgpuWarp *warp, const VgpuIns *ins)
{
  const int32_t *more = warp->kernel->extra + ins->extra;
  VgpuSite *site = &warp->worker->sites[ins->site];
  check_coordinates (warp, ins);
  site->requests++;
  site->lanes += (uint32_t) __builtin_popcount (warp->mask);
  for (uint32_t left = warp->mask; left != 0; left &= left - 1)
    fetch_lane (warp, ins, (uint32_t) __builtin_ctz (left));
  if (more[VGPU_TEX_THERE] != VGPU_TEX_NO_ROW)
    *(uint32_t *) (void *) row_of (warp, more[VGPU_TEX_THERE]) |= warp->mask;
}

/* Numbers of the PTX ISA, "Channel Data Type and Channel Order Fields", which are OpenCL's. */
static uint32_t
type_number (const VgpuTexture *texture)
{
  static const uint16_t numbers[3][3] = {
      {0x10da, 0x10db, 0x10dc}, {0x10d7, 0x10d8, 0x10d9}, {0, 0x10dd, 0x10de}};
  const VgpuTexel *texel = &texture->images.texel;
  if (texture->as_float && texel->kind != VGPU_TEXEL_FLOAT)
    return (texel->kind == VGPU_TEXEL_SIGNED ? 0x10d0 : 0x10d2) + (texel->bytes == 2);
  return numbers[texel->kind][texel->bytes >> 1];
}

static uint32_t
answer (const VgpuTexture *texture, VgpuTextureQuery query)
{
  const VgpuImages *images = &texture->images;
  const VgpuImage *image = &images->levels[0];
  switch (query)
    {
    case VGPU_QUERY_WIDTH:
      return image->width;
    case VGPU_QUERY_HEIGHT:
      return images->dimensions > 1 ? image->height : 0;
    case VGPU_QUERY_DEPTH:
      return images->dimensions > 2 ? image->depth : 0;
    case VGPU_QUERY_LAYERS:
      return images->layered ? image->depth / (images->cube ? 6 : 1) : 0;
    case VGPU_QUERY_LEVELS:
      return images->level_count;
    case VGPU_QUERY_TYPE:
      return type_number (texture);
    case VGPU_QUERY_ORDER:
      return images->texel.channels == 1 ? 0x10b0 : images->texel.channels == 2 ? 0x10b2 : 0x10b5;
    case VGPU_QUERY_NORMALISED:
      return texture->normalised;
    }
  return 0;
}

void
vgpu_texture_query (VgpuWarp *warp, const VgpuIns *ins)
{
  const uint32_t query = ins->target & 0xff;
  for (uint32_t left = warp->mask; left != 0; left &= left - 1)
    {
      uint32_t lane = (uint32_t) __builtin_ctz (left);
      const VgpuTexture *texture = find_object (warp, ins, ins->a, lane, ins->target >> 8);
      ((uint32_t *) (void *) row_of (warp, ins->d))[lane] =
          texture != NULL ? answer (texture, (VgpuTextureQuery) query) : 0;
    }
}

/* ---- surfaces ---- */

/* Moves one coordinate into range, or says that it cannot be. */
static bool
clamp_into (int64_t *at, int64_t size, VgpuOutside outside)
{
  if (*at >= 0 && *at < size)
    return true;
  *at = *at < 0 ? 0 : size - 1;
  return outside == VGPU_OUTSIDE_CLAMP;
}

static void
report_outside (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, const VgpuTexture *surface,
                const int64_t *at, const VgpuRequest *request)
{
  const VgpuImage *image = &surface->images.levels[0];
  VgpuFinding finding = vgpu_finding ("mem.out-of-bounds", ins, lane);
  char text[240];
  snprintf (text, sizeof text,
            "%s %u bytes at byte %lld, row %lld, slice %lld of a surface of %u bytes, %u rows, %u "
            "slices",
            request->access == VGPU_ACCESS_READ ? "reads" : "writes", request->bytes,
            (long long) at[0], (long long) at[1], (long long) at[2],
            image->width * vgpu_texel_bytes (&surface->images.texel), image->height, image->depth);
  finding.request = request;
  finding.allocation = vgpu_memory_find (warp->worker->launch->memory, image->address);
  finding.offset = (int64_t) ((uint64_t) at[2] * image->slice + (uint64_t) at[1] * image->pitch
                              + (uint64_t) at[0]);
  deny (warp, &finding, text, CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* Address of what a lane means; false: nothing is to be read or written. */
static bool
surface_place (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, const VgpuTexture *surface,
               const VgpuRequest *request, uint64_t *address)
{
  const int32_t *more = warp->kernel->extra + ins->extra;
  const VgpuImage *image = &surface->images.levels[0];
  VgpuOutside outside = (VgpuOutside) (ins->target >> 16);
  VgpuGeometry geometry = (VgpuGeometry) (ins->target & 0xff);
  bool layered = geometry >= VGPU_GEOMETRY_LAYERS_1D;
  int64_t at[3] = {0, 0, 0};
  for (uint32_t i = 0; i < 3; i++)
    at[i] = (int32_t) word_of (warp, more[VGPU_TEX_AT + i], lane);
  if (layered)
    at[2] = (int32_t) word_of (warp, more[VGPU_TEX_LAYER], lane);
  const int64_t given[3] = {at[0], at[1], at[2]};
  const int64_t row = (int64_t) image->width * vgpu_texel_bytes (&surface->images.texel);
  /* In whole elements, so that a clamped access stays one. */
  int64_t element = at[0] < 0 ? -1 : at[0] / request->bytes;
  bool inside = clamp_into (&element, row / request->bytes, outside);
  inside = clamp_into (&at[1], image->height, outside) && inside;
  inside = clamp_into (&at[2], image->depth, outside) && inside;
  if (!inside)
    {
      if (outside == VGPU_OUTSIDE_TRAP)
        report_outside (warp, ins, lane, surface, given, request);
      return false;
    }
  int64_t x = given[0] >= 0 && given[0] < row ? given[0] : element * request->bytes;
  *address = image->address + (uint64_t) at[2] * image->slice + (uint64_t) at[1] * image->pitch
             + (uint64_t) x;
  return true;
}

static void
load_elements (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, const char *from)
{
  const int32_t *more = warp->kernel->extra + ins->extra;
  uint32_t width = ins->bytes == 1 ? 2 : ins->bytes;
  for (uint32_t i = 0; i < ins->vec; i++)
    {
      char *to = (char *) row_of (warp, more[VGPU_TEX_DATA + i]) + lane * width;
      memset (to, 0, width);
      if (from != NULL)
        memcpy (to, from + i * ins->bytes, ins->bytes);
    }
}

static void
store_elements (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, char *to, unsigned char *valid)
{
  const int32_t *more = warp->kernel->extra + ins->extra;
  uint32_t width = ins->bytes == 1 ? 2 : ins->bytes;
  for (uint32_t i = 0; i < ins->vec; i++)
    {
      int32_t row = more[VGPU_TEX_DATA + i];
      if (warp->tainted && row >= 0 && (warp->poison[row / VGPU_ROW_UNIT] >> lane & 1))
        vgpu_taint_used (warp, ins, row, 1u << lane, "stored");
      memcpy (to + i * ins->bytes, row_of (warp, row) + lane * width, ins->bytes);
    }
  if (valid != NULL)
    memset (valid, 0xff, (size_t) ins->bytes * ins->vec);
}

static uint64_t
combine (VgpuSurfaceWork work, uint64_t old, uint64_t value, uint32_t bytes, bool is_signed)
{
  bool less = is_signed
                  ? (bytes == 4 ? (int32_t) old < (int32_t) value : (int64_t) old < (int64_t) value)
                  : old < value;
  switch (work)
    {
    case VGPU_SURFACE_ADD:
      return old + value;
    case VGPU_SURFACE_MIN:
      return less ? old : value;
    case VGPU_SURFACE_MAX:
      return less ? value : old;
    case VGPU_SURFACE_AND:
      return old & value;
    default:
      return old | value;
    }
}

static void
reduce_element (const VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, char *to)
{
  VgpuSurfaceWork work = (VgpuSurfaceWork) (ins->target >> 8 & 0xff);
  const char *row = row_of (warp, warp->kernel->extra[ins->extra + VGPU_TEX_DATA]);
  bool is_signed = ins->flags & VGPU_INS_SIGNED;
  if (ins->bytes == 8)
    {
      uint64_t *at = (uint64_t *) (void *) to, old = __atomic_load_n (at, __ATOMIC_RELAXED);
      uint64_t value = ((const uint64_t *) (const void *) row)[lane];
      while (!__atomic_compare_exchange_n (at, &old, combine (work, old, value, 8, is_signed),
                                           false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
      return;
    }
  uint32_t *at = (uint32_t *) (void *) to, old = __atomic_load_n (at, __ATOMIC_RELAXED);
  uint32_t value = ((const uint32_t *) (const void *) row)[lane];
  while (!__atomic_compare_exchange_n (at, &old,
                                       (uint32_t) combine (work, old, value, 4, is_signed), false,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

static void
access_lane (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane)
{
  const int32_t *more = warp->kernel->extra + ins->extra;
  VgpuSurfaceWork work = (VgpuSurfaceWork) (ins->target >> 8 & 0xff);
  VgpuRequest request = {.space = VGPU_SPACE_GLOBAL,
                         .access = work == VGPU_SURFACE_LOAD    ? VGPU_ACCESS_READ
                                   : work == VGPU_SURFACE_STORE ? VGPU_ACCESS_WRITE
                                                                : VGPU_ACCESS_ATOMIC,
                         .bytes = (uint32_t) ins->bytes * ins->vec};
  request.align = request.bytes;
  const VgpuTexture *surface = find_object (warp, ins, more[VGPU_TEX_OBJECT], lane, true);
  unsigned char *valid = NULL;
  uint64_t address;
  uint64_t addresses[VGPU_LANES];
  bool good = surface != NULL && surface_place (warp, ins, lane, surface, &request, &address);
  if (good && address % request.align != 0)
    {
      addresses[lane] = address;
      good = vgpu_check_lanes (warp, ins, &request, addresses, 1u << lane) != 0;
    }
  good = good && look_at_memory (warp, ins, lane, address, &request, &valid);
  char *where = good ? (char *) (uintptr_t) address : NULL;
  if (work == VGPU_SURFACE_LOAD)
    {
      load_elements (warp, ins, lane, where);
      set_poison (warp, ins, lane,
                  good && valid != NULL && memchr (valid, 0, request.bytes) != NULL);
    }
  else if (good && work == VGPU_SURFACE_STORE)
    store_elements (warp, ins, lane, where, valid);
  else if (good)
    reduce_element (warp, ins, lane, where);
}

void
vgpu_surface_access (VgpuWarp *warp, const VgpuIns *ins)
{
  VgpuSite *site = &warp->worker->sites[ins->site];
  check_coordinates (warp, ins);
  site->requests++;
  site->lanes += (uint32_t) __builtin_popcount (warp->mask);
  for (uint32_t left = warp->mask; left != 0; left &= left - 1)
    access_lane (warp, ins, (uint32_t) __builtin_ctz (left));
}
