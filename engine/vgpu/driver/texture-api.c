/* SPDX-License-Identifier: Apache-2.0 */
/* Texture and surface objects. What the documentation forbids is refused here with a sentence, since a
 * device that is given it says nothing useful. */
#include "engine/vgpu/driver/driver.h"

#include <string.h>

enum
{
  RESOURCE_ARRAY,
  RESOURCE_MIPMAP,
  RESOURCE_LINEAR,
  RESOURCE_ROWS
};

enum
{
  SAMPLER_INTEGERS = 1,
  SAMPLER_NORMALISED = 2,
  SAMPLER_SRGB = 16
};

#define ARRAY_SURFACE 2u
#define LINEAR_ALIGN 512 /* as CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT says */
#define PITCH_ALIGN 32
#define MOST_LINEAR_TEXELS ((uint64_t) 1 << 28)

static CUresult
refuse (const char *why)
{
  vgpu_explain ("%s", why);
  return CUDA_ERROR_INVALID_VALUE;
}

/* Plain memory: one row of it, or several. */
static CUresult
memory_images (CUcontext context, CUdeviceptr pointer, uint64_t width, uint64_t height,
               uint64_t pitch, VgpuImages *images)
{
  uint64_t texel = vgpu_texel_bytes (&images->texel);
  const VgpuAllocation *allocation = vgpu_memory_find (context->memory, pointer);
  if (width == 0 || height == 0 || width > MOST_LINEAR_TEXELS || height > MOST_LINEAR_TEXELS)
    return refuse ("a texture of memory without texels, or with more than a device allows");
  if (pointer % LINEAR_ALIGN != 0)
    return refuse ("memory of a texture begins at a multiple of 512 bytes");
  if (height > 1 && (pitch % PITCH_ALIGN != 0 || pitch < width * texel))
    return refuse ("rows of a texture are a multiple of 32 bytes apart, and no longer than that");
  images->bytes = (height - 1) * pitch + width * texel;
  if (allocation == NULL || allocation->freed || allocation->hi - pointer < images->bytes)
    return refuse ("a texture of memory that leaves its allocation");
  images->level_count = 1;
  images->levels[0] = (VgpuImage) {.address = pointer,
                                   .pitch = pitch,
                                   .slice = pitch * height,
                                   .width = (uint32_t) width,
                                   .height = (uint32_t) height,
                                   .depth = 1};
  return CUDA_SUCCESS;
}

static CUresult
resource_images (CUcontext context, const AssayResource *resource, VgpuImages *images)
{
  switch (resource->type)
    {
    case RESOURCE_ARRAY:
      if (!vgpu_is_array (context, resource->array))
        return refuse ("the array of an object is none");
      *images = resource->array->images;
      return CUDA_SUCCESS;
    case RESOURCE_MIPMAP:
      if (!vgpu_is_mipmap (context, resource->mipmap))
        return refuse ("the mipmapped array of an object is none");
      *images = resource->mipmap->images;
      return CUDA_SUCCESS;
    case RESOURCE_LINEAR:
      if (!vgpu_texel_of (resource->linear.format, resource->linear.channels, &images->texel))
        return CUDA_ERROR_INVALID_VALUE;
      images->linear = true;
      images->dimensions = 1;
      return memory_images (context, resource->linear.pointer,
                            resource->linear.bytes / vgpu_texel_bytes (&images->texel), 1,
                            resource->linear.bytes, images);
    case RESOURCE_ROWS:
      if (!vgpu_texel_of (resource->rows.format, resource->rows.channels, &images->texel))
        return CUDA_ERROR_INVALID_VALUE;
      images->dimensions = 2;
      return memory_images (context, resource->rows.pointer, resource->rows.width,
                            resource->rows.height, resource->rows.pitch, images);
    default:
      return refuse ("an unknown kind of resource");
    }
}

static CUresult
apply_sampler (const AssaySampler *sampler, VgpuTexture *texture)
{
  const VgpuTexel *texel = &texture->images.texel;
  bool integers = texel->kind != VGPU_TEXEL_FLOAT;
  for (int i = 0; i < 3; i++)
    {
      if (sampler->address_modes[i] < VGPU_ADDRESS_WRAP
          || sampler->address_modes[i] > VGPU_ADDRESS_BORDER)
        return refuse ("an unknown address mode");
      texture->modes[i] = (uint8_t) sampler->address_modes[i];
    }
  texture->linear = sampler->filter == 1;
  texture->linear_levels = sampler->level_filter == 1;
  texture->normalised = sampler->flags & SAMPLER_NORMALISED;
  texture->srgb = sampler->flags & SAMPLER_SRGB;
  texture->as_float = integers && texel->bytes < 4 && !(sampler->flags & SAMPLER_INTEGERS);
  texture->bias = sampler->bias;
  texture->least_level = sampler->least_level;
  texture->greatest_level = sampler->greatest_level;
  memcpy (texture->border, sampler->border, sizeof texture->border);
  if ((texture->linear || texture->linear_levels) && integers && !texture->as_float)
    return refuse (
        "linear filtering needs texels of floating point, or ones that are read as such");
  if (texture->images.linear && texture->linear)
    return refuse ("linear memory cannot be filtered");
  if (texture->images.level_count > 1 && !texture->normalised)
    return refuse ("mipmapped arrays need normalised coordinates");
  return CUDA_SUCCESS;
}

CUresult
cuTexObjectCreate (unsigned long long *object, const AssayResource *resource,
                   const AssaySampler *sampler, const void *view)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  VgpuTexture texture = {0};
  if (object == NULL || resource == NULL || sampler == NULL || resource->flags != 0)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  if (view != NULL)
    {
      vgpu_explain ("texture objects with a view of their resource are not there");
      return vgpu_leave (CUDA_ERROR_NOT_SUPPORTED);
    }
  result = resource_images (context, resource, &texture.images);
  if (result == CUDA_SUCCESS)
    result = apply_sampler (sampler, &texture);
  if (result == CUDA_SUCCESS)
    *object = vgpu_textures_add (&context->textures, &texture);
  return vgpu_leave (result);
}

CUresult
cuSurfObjectCreate (unsigned long long *object, const AssayResource *resource)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  VgpuTexture texture = {.surface = true};
  if (object == NULL || resource == NULL || resource->flags != 0)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  if (resource->type != RESOURCE_ARRAY)
    return vgpu_leave (refuse ("surfaces are made of arrays only"));
  if (vgpu_is_array (context, resource->array) && !(resource->array->flags & ARRAY_SURFACE))
    return vgpu_leave (refuse ("a surface needs an array made with the flag for surfaces"));
  result = resource_images (context, resource, &texture.images);
  if (result == CUDA_SUCCESS)
    *object = vgpu_textures_add (&context->textures, &texture);
  return vgpu_leave (result);
}

static CUresult
destroy (unsigned long long object, bool surface)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  const VgpuTexture *found = vgpu_textures_find (&context->textures, object);
  if (object == 0)
    return vgpu_leave (CUDA_SUCCESS);
  if (found == NULL || found->surface != surface)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  vgpu_textures_remove (&context->textures, object);
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuTexObjectDestroy (unsigned long long object)
{
  return destroy (object, false);
}

CUresult
cuSurfObjectDestroy (unsigned long long object)
{
  return destroy (object, true);
}
