/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA arrays. Their texels lie row behind row in memory of the device, which only copies and objects
 * reach. */
#include "engine/vgpu/driver/work.h"

#include "engine/vgpu/ptx/arena.h"

#include <stdlib.h>

enum
{
  ARRAY_LAYERED = 1,
  ARRAY_CUBE = 4,
  ARRAY_FLAGS = 15 /* surfaces and gathers too */
};

bool
vgpu_texel_of (int format, unsigned int channels, VgpuTexel *texel)
{
  static const struct
  {
    int format;
    uint8_t kind, bytes;
  } formats[] = {{0x01, VGPU_TEXEL_UNSIGNED, 1}, {0x02, VGPU_TEXEL_UNSIGNED, 2},
                 {0x03, VGPU_TEXEL_UNSIGNED, 4}, {0x08, VGPU_TEXEL_SIGNED, 1},
                 {0x09, VGPU_TEXEL_SIGNED, 2},   {0x0a, VGPU_TEXEL_SIGNED, 4},
                 {0x10, VGPU_TEXEL_FLOAT, 2},    {0x20, VGPU_TEXEL_FLOAT, 4}};
  if (channels != 1 && channels != 2 && channels != 4)
    {
      vgpu_explain ("texels of %u channels: 1, 2 or 4 expected", channels);
      return false;
    }
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
    if (formats[i].format == format)
      {
        *texel = (VgpuTexel) {formats[i].kind, formats[i].bytes, (uint8_t) channels};
        return true;
      }
  vgpu_explain ("texels of format 0x%x are not there", (unsigned int) format);
  return false;
}

static bool
is_level_of (CUmipmappedArray mipmap, CUarray array)
{
  for (uint32_t i = 0; i < mipmap->images.level_count; i++)
    if (&mipmap->levels[i] == array)
      return true;
  return false;
}

bool
vgpu_is_array (CUcontext context, CUarray array)
{
  for (CUarray known = context->arrays; known != NULL; known = known->next)
    if (known == array)
      return true;
  for (CUmipmappedArray known = context->mipmaps; known != NULL; known = known->next)
    if (is_level_of (known, array))
      return true;
  return false;
}

bool
vgpu_is_mipmap (CUcontext context, CUmipmappedArray mipmap)
{
  for (CUmipmappedArray known = context->mipmaps; known != NULL; known = known->next)
    if (known == mipmap)
      return true;
  return false;
}

static uint32_t
at_least_one (uint64_t size)
{
  return size > 0 ? (uint32_t) size : 1;
}

/* Limits of the programming guide's table of compute capabilities. */
static bool
check_shape (const AssayArray3D *shape, unsigned int levels)
{
  bool layered = shape->flags & ARRAY_LAYERED, cube = shape->flags & ARRAY_CUBE;
  bool volume = shape->depth > 0 && !layered && !cube;
  size_t most = volume ? 16384 : 131072;
  size_t longest = shape->width > shape->height ? shape->width : shape->height;
  if (volume && shape->depth > longest)
    longest = shape->depth;
  const char *wrong = NULL;
  if (shape->width == 0 || (volume && shape->height == 0))
    wrong = "an array needs a width, and one with slices a height";
  else if (longest > most || (volume && shape->depth > most))
    wrong = "a dimension is greater than the device allows";
  else if (layered && (shape->depth == 0 || shape->depth > 2048))
    wrong = "1 to 2048 layers expected";
  else if (cube
           && (shape->width != shape->height || shape->depth % 6 != 0 || shape->depth == 0
               || (!layered && shape->depth != 6)))
    wrong = "a cube has six square faces, and so has each layer of one";
  else if (shape->flags & ~(unsigned int) ARRAY_FLAGS)
    wrong = "flags other than layered, surface, cube and gather are not there";
  else if (levels == 0 || levels > VGPU_LEVELS || (levels > 1 && longest >> (levels - 1) == 0))
    wrong = "more levels than the array has halves";
  if (wrong != NULL)
    vgpu_explain ("%s", wrong);
  return wrong == NULL;
}

/* Sizes and places of the levels, counted from zero. */
static void
lay_out (const AssayArray3D *shape, unsigned int levels, VgpuImages *images)
{
  bool stacked = shape->flags & (ARRAY_LAYERED | ARRAY_CUBE);
  images->dimensions = shape->height == 0 ? 1 : shape->depth == 0 || stacked ? 2 : 3;
  images->layered = shape->flags & ARRAY_LAYERED;
  images->cube = shape->flags & ARRAY_CUBE;
  images->level_count = levels;
  for (unsigned int i = 0; i < levels; i++)
    {
      VgpuImage *image = &images->levels[i];
      image->width = at_least_one (shape->width >> i);
      image->height = at_least_one (shape->height >> i);
      image->depth = at_least_one (stacked ? shape->depth : shape->depth >> i);
      image->pitch = (uint64_t) image->width * vgpu_texel_bytes (&images->texel);
      image->slice = image->pitch * image->height;
      image->address = images->bytes;
      images->bytes += image->slice * image->depth;
      images->bytes = (images->bytes + 511) / 512 * 512;
    }
}

static CUresult
make_images (CUcontext context, const AssayArray3D *shape, unsigned int levels, VgpuImages *images)
{
  if (!vgpu_texel_of (shape->format, shape->channels, &images->texel)
      || !check_shape (shape, levels))
    return CUDA_ERROR_INVALID_VALUE;
  lay_out (shape, levels, images);
  uint64_t total = vgpu_driver.settings.target->memory_bytes;
  uint64_t used = vgpu_memory_used (context->memory);
  VgpuAllocation *allocation = NULL;
  if (used <= total && images->bytes <= total - used)
    allocation = vgpu_memory_allocate (context->memory, images->bytes, NULL,
                                       (vgpu_driver.settings.checks & VGPU_CHECK_UNINIT) != 0);
  if (allocation == NULL)
    return CUDA_ERROR_OUT_OF_MEMORY;
  for (unsigned int i = 0; i < levels; i++)
    images->levels[i].address += allocation->lo;
  return CUDA_SUCCESS;
}

CUresult
cuArray3DCreate_v2 (CUarray *array, const AssayArray3D *shape)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (array == NULL || shape == NULL)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  CUarray made = vgpu_take (sizeof *made);
  made->format = shape->format;
  made->flags = shape->flags;
  result = make_images (context, shape, 1, &made->images);
  if (result != CUDA_SUCCESS)
    {
      free (made);
      return vgpu_leave (result);
    }
  made->next = context->arrays;
  context->arrays = made;
  *array = made;
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuArrayCreate_v2 (CUarray *array, const AssayArray *shape)
{
  if (shape == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  AssayArray3D whole = {.width = shape->width,
                        .height = shape->height,
                        .format = shape->format,
                        .channels = shape->channels};
  return cuArray3DCreate_v2 (array, &whole);
}

CUresult
cuArray3DGetDescriptor_v2 (AssayArray3D *shape, CUarray array)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (shape == NULL || !vgpu_is_array (context, array))
    return vgpu_leave (shape == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
  const VgpuImages *images = &array->images;
  bool stacked = images->layered || images->cube;
  *shape = (AssayArray3D) {.width = images->levels[0].width,
                           .height = images->dimensions > 1 ? images->levels[0].height : 0,
                           .depth = images->dimensions > 2 || stacked ? images->levels[0].depth : 0,
                           .format = array->format,
                           .channels = images->texel.channels,
                           .flags = array->flags};
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuArrayGetDescriptor_v2 (AssayArray *shape, CUarray array)
{
  AssayArray3D whole;
  CUresult result =
      shape == NULL ? CUDA_ERROR_INVALID_VALUE : cuArray3DGetDescriptor_v2 (&whole, array);
  if (result == CUDA_SUCCESS)
    *shape = (AssayArray) {whole.width, whole.height, whole.format, whole.channels};
  return result;
}

CUresult
cuArrayDestroy (CUarray array)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  result = vgpu_wait_all (context);
  if (result != CUDA_SUCCESS)
    return vgpu_leave (result);
  for (CUarray *link = &context->arrays; *link != NULL; link = &(*link)->next)
    if (*link == array)
      {
        *link = array->next;
        vgpu_memory_release (context->memory, array->images.levels[0].address);
        free (array);
        return vgpu_leave (CUDA_SUCCESS);
      }
  return vgpu_leave (CUDA_ERROR_INVALID_HANDLE);
}

/* Levels are arrays of their own that share the memory. */
static void
make_levels (CUmipmappedArray mipmap, const AssayArray3D *shape)
{
  mipmap->levels = vgpu_take (mipmap->images.level_count * sizeof *mipmap->levels);
  for (uint32_t i = 0; i < mipmap->images.level_count; i++)
    {
      CUarray level = &mipmap->levels[i];
      const VgpuImage *image = &mipmap->images.levels[i];
      level->images = mipmap->images;
      level->images.levels[0] = *image;
      level->images.level_count = 1;
      level->images.bytes = image->slice * image->depth;
      level->format = shape->format;
      level->flags = shape->flags;
      level->is_level = true;
    }
}

CUresult
cuMipmappedArrayCreate (CUmipmappedArray *mipmap, const AssayArray3D *shape, unsigned int levels)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (mipmap == NULL || shape == NULL)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  CUmipmappedArray made = vgpu_take (sizeof *made);
  result = make_images (context, shape, levels, &made->images);
  if (result != CUDA_SUCCESS)
    {
      free (made);
      return vgpu_leave (result);
    }
  make_levels (made, shape);
  made->next = context->mipmaps;
  context->mipmaps = made;
  *mipmap = made;
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuMipmappedArrayGetLevel (CUarray *array, CUmipmappedArray mipmap, unsigned int level)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (!vgpu_is_mipmap (context, mipmap))
    return vgpu_leave (CUDA_ERROR_INVALID_HANDLE);
  if (array == NULL || level >= mipmap->images.level_count)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  *array = &mipmap->levels[level];
  return vgpu_leave (CUDA_SUCCESS);
}

static void
free_mipmap (CUmipmappedArray mipmap)
{
  free (mipmap->levels);
  free (mipmap);
}

CUresult
cuMipmappedArrayDestroy (CUmipmappedArray mipmap)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  result = vgpu_wait_all (context);
  if (result != CUDA_SUCCESS)
    return vgpu_leave (result);
  for (CUmipmappedArray *link = &context->mipmaps; *link != NULL; link = &(*link)->next)
    if (*link == mipmap)
      {
        *link = mipmap->next;
        vgpu_memory_release (context->memory, mipmap->images.levels[0].address);
        free_mipmap (mipmap);
        return vgpu_leave (CUDA_SUCCESS);
      }
  return vgpu_leave (CUDA_ERROR_INVALID_HANDLE);
}

void
vgpu_arrays_clear (CUcontext context)
{
  while (context->arrays != NULL)
    {
      CUarray next = context->arrays->next;
      free (context->arrays);
      context->arrays = next;
    }
  while (context->mipmaps != NULL)
    {
      CUmipmappedArray next = context->mipmaps->next;
      free_mipmap (context->mipmaps);
      context->mipmaps = next;
    }
  vgpu_textures_clear (&context->textures);
}
