/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays, textures and surfaces. */
#include "engine/vgpu/runtime/runtime.h"

#include <stdint.h>
#include <string.h>

/* Kinds of a channel. */
enum
{
  CHANNEL_SIGNED,
  CHANNEL_UNSIGNED,
  CHANNEL_FLOAT
};

enum
{
  FORMAT_HALF = 0x10,
  FORMAT_FLOAT = 0x20
};

#define TYPE_ARRAY 3

/* The driver's format; 0 for what is none. */
static int
format_of (const AssayChannel *channel, unsigned int *channels)
{
  const int bits[4] = {channel->x, channel->y, channel->z, channel->w};
  int size = bits[0] == 8 ? 1 : bits[0] == 16 ? 2 : bits[0] == 32 ? 3 : 0;
  *channels = 0;
  while (*channels < 4 && bits[*channels] > 0)
    (*channels)++;
  for (unsigned int i = 0; i < 4; i++)
    if (bits[i] != (i < *channels ? bits[0] : 0))
      return 0;
  if (size == 0)
    return 0;
  if (channel->kind == CHANNEL_FLOAT)
    return size == 2 ? FORMAT_HALF : size == 3 ? FORMAT_FLOAT : 0;
  return channel->kind == CHANNEL_SIGNED ? 7 + size : channel->kind == CHANNEL_UNSIGNED ? size : 0;
}

static AssayChannel
channel_of (int format, unsigned int channels)
{
  int bits = format == FORMAT_FLOAT  ? 32
             : format == FORMAT_HALF ? 16
                                     : 4 << (format > 7 ? format - 7 : format);
  return (AssayChannel) {.x = bits,
                         .y = channels > 1 ? bits : 0,
                         .z = channels > 2 ? bits : 0,
                         .w = channels > 3 ? bits : 0,
                         .kind = format >= FORMAT_HALF ? CHANNEL_FLOAT
                                 : format > 7          ? CHANNEL_SIGNED
                                                       : CHANNEL_UNSIGNED};
}

/* The code of a call of the driver; what it explained is told on stderr, once. */
static cudaError
told (const char *what, CUresult result)
{
  if (result == CUDA_ERROR_NOT_SUPPORTED)
    cudart_refuse (what, assayVgpuLastError ());
  return cudart_result ((cudaError) result);
}

static bool
shape_of (const AssayChannel *channel, AssayExtent extent, unsigned int flags, AssayArray3D *shape)
{
  *shape = (AssayArray3D) {
      .width = extent.width, .height = extent.height, .depth = extent.depth, .flags = flags};
  if (channel != NULL)
    shape->format = format_of (channel, &shape->channels);
  return channel != NULL && shape->format != 0;
}

cudaError
cudaMalloc3DArray (CUarray *array, const AssayChannel *channel, AssayExtent extent,
                   unsigned int flags)
{
  AssayArray3D shape;
  cudaError begun = cudart_begin ();
  if (begun != CUDA_SUCCESS || !shape_of (channel, extent, flags, &shape))
    return cudart_result (begun != CUDA_SUCCESS ? begun : (cudaError) CUDA_ERROR_INVALID_VALUE);
  return told ("cudaMalloc3DArray", cuArray3DCreate_v2 (array, &shape));
}

cudaError
cudaMallocArray (CUarray *array, const AssayChannel *channel, size_t width, size_t height,
                 unsigned int flags)
{
  return cudaMalloc3DArray (array, channel, (AssayExtent) {width, height, 0}, flags);
}

cudaError
cudaFreeArray (CUarray array)
{
  CUDART_CALL (array == NULL ? CUDA_SUCCESS : cuArrayDestroy (array));
}

cudaError
cudaMallocMipmappedArray (CUmipmappedArray *mipmap, const AssayChannel *channel, AssayExtent extent,
                          unsigned int levels, unsigned int flags)
{
  AssayArray3D shape;
  cudaError begun = cudart_begin ();
  if (begun != CUDA_SUCCESS || !shape_of (channel, extent, flags, &shape))
    return cudart_result (begun != CUDA_SUCCESS ? begun : (cudaError) CUDA_ERROR_INVALID_VALUE);
  /* More levels than there are halves are cut. */
  size_t longest = extent.width > extent.height ? extent.width : extent.height;
  longest = !(flags & 1) && extent.depth > longest ? extent.depth : longest;
  unsigned int most = 1;
  while (longest >> most > 0)
    most++;
  return told ("cudaMallocMipmappedArray",
               cuMipmappedArrayCreate (mipmap, &shape, levels < most ? levels : most));
}

cudaError
cudaGetMipmappedArrayLevel (CUarray *array, CUmipmappedArray mipmap, unsigned int level)
{
  CUDART_CALL (cuMipmappedArrayGetLevel (array, mipmap, level));
}

cudaError
cudaFreeMipmappedArray (CUmipmappedArray mipmap)
{
  CUDART_CALL (mipmap == NULL ? CUDA_SUCCESS : cuMipmappedArrayDestroy (mipmap));
}

cudaError
cudaArrayGetInfo (AssayChannel *channel, AssayExtent *extent, unsigned int *flags, CUarray array)
{
  AssayArray3D shape;
  cudaError code = cudart_begin ();
  if (code == CUDA_SUCCESS)
    code = (cudaError) cuArray3DGetDescriptor_v2 (&shape, array);
  if (code != CUDA_SUCCESS)
    return cudart_result (code);
  if (channel != NULL)
    *channel = channel_of (shape.format, shape.channels);
  if (extent != NULL)
    *extent = (AssayExtent) {shape.width, shape.height, shape.depth};
  if (flags != NULL)
    *flags = shape.flags;
  return CUDA_SUCCESS;
}

cudaError
cudaGetChannelDesc (AssayChannel *channel, CUarray array)
{
  return cudaArrayGetInfo (channel, NULL, NULL, array);
}

cudaError
cudaDeviceGetTexture1DLinearMaxWidth (size_t *width, const AssayChannel *channel, int device)
{
  unsigned int channels;
  if (width == NULL || channel == NULL || device != 0 || format_of (channel, &channels) == 0)
    return cudart_result (CUDA_ERROR_INVALID_VALUE);
  *width = (size_t) 1 << 28;
  return CUDA_SUCCESS;
}

CUresult
cudart_texel_bytes (CUarray array, size_t *bytes)
{
  AssayArray3D shape;
  CUresult result = cuArray3DGetDescriptor_v2 (&shape, array);
  if (result == CUDA_SUCCESS)
    *bytes = (size_t) channel_of (shape.format, 1).x / 8 * shape.channels;
  return result;
}

/* ---- objects ---- */

static bool
take_resource (const AssayRuntimeResource *from, AssayResource *to)
{
  *to = (AssayResource) {.type = from->type, .flags = from->flags};
  switch (from->type)
    {
    case 0:
      to->array = from->array;
      return true;
    case 1:
      to->mipmap = from->mipmap;
      return true;
    case 2:
      to->linear.pointer = (uintptr_t) from->linear.pointer;
      to->linear.bytes = from->linear.bytes;
      to->linear.format = format_of (&from->linear.channel, &to->linear.channels);
      return to->linear.format != 0;
    case 3:
      to->rows.pointer = (uintptr_t) from->rows.pointer;
      to->rows.width = from->rows.width;
      to->rows.height = from->rows.height;
      to->rows.pitch = from->rows.pitch;
      to->rows.format = format_of (&from->rows.channel, &to->rows.channels);
      return to->rows.format != 0;
    default:
      return false;
    }
}

static AssaySampler
take_sampler (const AssayRuntimeSampler *from)
{
  AssaySampler to = {.filter = from->filter,
                     .flags = (from->read_mode == 0 ? 1u : 0u) | (from->normalised ? 2u : 0u)
                              | (from->srgb ? 16u : 0u),
                     .anisotropy = from->anisotropy,
                     .level_filter = from->level_filter,
                     .bias = from->bias,
                     .least_level = from->least_level,
                     .greatest_level = from->greatest_level};
  memcpy (to.address_modes, from->address_modes, sizeof to.address_modes);
  memcpy (to.border, from->border, sizeof to.border);
  return to;
}

cudaError
cudaCreateTextureObject (unsigned long long *object, const AssayRuntimeResource *resource,
                         const AssayRuntimeSampler *sampler, const void *view)
{
  AssayResource made;
  cudaError begun = cudart_begin ();
  if (begun != CUDA_SUCCESS)
    return cudart_result (begun);
  if (resource == NULL || sampler == NULL || !take_resource (resource, &made))
    return cudart_result (CUDA_ERROR_INVALID_VALUE);
  AssaySampler how = take_sampler (sampler);
  return told ("cudaCreateTextureObject", cuTexObjectCreate (object, &made, &how, view));
}

cudaError
cudaDestroyTextureObject (unsigned long long object)
{
  CUDART_CALL (cuTexObjectDestroy (object));
}

cudaError
cudaCreateSurfaceObject (unsigned long long *object, const AssayRuntimeResource *resource)
{
  AssayResource made;
  cudaError begun = cudart_begin ();
  if (begun != CUDA_SUCCESS)
    return cudart_result (begun);
  if (resource == NULL || !take_resource (resource, &made))
    return cudart_result (CUDA_ERROR_INVALID_VALUE);
  return told ("cudaCreateSurfaceObject", cuSurfObjectCreate (object, &made));
}

cudaError
cudaDestroySurfaceObject (unsigned long long object)
{
  CUDART_CALL (cuSurfObjectDestroy (object));
}

/* ---- copies; positions and widths of these count bytes ---- */

static AssayCopySide3D
array_side (CUarray array, size_t x, size_t y)
{
  return (AssayCopySide3D) {.type = TYPE_ARRAY, .array = array, .x = x, .y = y};
}

static AssayCopySide3D
memory_side (int type, const void *pointer, size_t pitch)
{
  return (AssayCopySide3D) {
      .type = type, .host = pointer, .device = (uintptr_t) pointer, .pitch = pitch};
}

static CUresult
copy (AssayCopySide3D to, AssayCopySide3D from, size_t width, size_t height, CUstream stream,
      bool wait)
{
  AssayCopy3D whole = {.to = to, .from = from, .width = width, .height = height, .depth = 1};
  return wait ? cuMemcpy3D_v2 (&whole) : cuMemcpy3DAsync_v2 (&whole, stream);
}

cudaError
cudaMemcpy2DToArray (CUarray to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                     size_t height, int kind)
{
  CUDART_CALL (copy (array_side (to, x, y), memory_side (cudart_type_from (kind), from, pitch),
                     width, height, NULL, true));
}

cudaError
cudaMemcpy2DToArrayAsync (CUarray to, size_t x, size_t y, const void *from, size_t pitch,
                          size_t width, size_t height, int kind, CUstream stream)
{
  CUDART_CALL (copy (array_side (to, x, y), memory_side (cudart_type_from (kind), from, pitch),
                     width, height, stream, false));
}

cudaError
cudaMemcpy2DFromArray (void *to, size_t pitch, CUarray from, size_t x, size_t y, size_t width,
                       size_t height, int kind)
{
  CUDART_CALL (copy (memory_side (cudart_type_to (kind), to, pitch), array_side (from, x, y), width,
                     height, NULL, true));
}

cudaError
cudaMemcpy2DFromArrayAsync (void *to, size_t pitch, CUarray from, size_t x, size_t y, size_t width,
                            size_t height, int kind, CUstream stream)
{
  CUDART_CALL (copy (memory_side (cudart_type_to (kind), to, pitch), array_side (from, x, y), width,
                     height, stream, false));
}

cudaError
cudaMemcpy2DArrayToArray (CUarray to, size_t to_x, size_t to_y, CUarray from, size_t from_x,
                          size_t from_y, size_t width, size_t height, int kind)
{
  (void) kind;
  CUDART_CALL (copy (array_side (to, to_x, to_y), array_side (from, from_x, from_y), width, height,
                     NULL, true));
}

/* The deprecated copies take bytes that may run over several rows of an array. A part of them: from the
 * place where the last one ended to the end of its row, or whole rows. */
typedef struct
{
  size_t x, y, bytes, rows;
} Part;

static CUresult
next_part (CUarray array, size_t x, size_t y, size_t done, size_t bytes, Part *part)
{
  AssayArray3D shape;
  size_t texel;
  CUresult result = cuArray3DGetDescriptor_v2 (&shape, array);
  if (result == CUDA_SUCCESS)
    result = cudart_texel_bytes (array, &texel);
  if (result != CUDA_SUCCESS)
    return result;
  size_t row = shape.width * texel;
  size_t at = y * row + x + done;
  *part = (Part) {.x = at % row, .y = at / row, .rows = 1, .bytes = row - at % row};
  if (part->bytes > bytes - done)
    part->bytes = bytes - done;
  if (part->x == 0 && bytes - done >= row)
    part->rows = (bytes - done) / row;
  return CUDA_SUCCESS;
}

static CUresult
copy_run (CUarray array, size_t x, size_t y, char *memory, size_t bytes, int kind, bool to_array,
          CUstream stream, bool wait)
{
  CUresult result = CUDA_SUCCESS;
  Part part = {0};
  for (size_t done = 0; result == CUDA_SUCCESS && done < bytes; done += part.bytes * part.rows)
    {
      result = next_part (array, x, y, done, bytes, &part);
      if (result != CUDA_SUCCESS)
        return result;
      int type = to_array ? cudart_type_from (kind) : cudart_type_to (kind);
      AssayCopySide3D texels = array_side (array, part.x, part.y);
      AssayCopySide3D plain = memory_side (type, memory + done, part.bytes);
      result = copy (to_array ? texels : plain, to_array ? plain : texels, part.bytes, part.rows,
                     stream, wait);
    }
  return result;
}

cudaError
cudaMemcpyToArray (CUarray to, size_t x, size_t y, const void *from, size_t bytes, int kind)
{
  CUDART_CALL (copy_run (to, x, y, (char *) (uintptr_t) from, bytes, kind, true, NULL, true));
}

cudaError
cudaMemcpyToArrayAsync (CUarray to, size_t x, size_t y, const void *from, size_t bytes, int kind,
                        CUstream stream)
{
  CUDART_CALL (copy_run (to, x, y, (char *) (uintptr_t) from, bytes, kind, true, stream, false));
}

cudaError
cudaMemcpyFromArray (void *to, CUarray from, size_t x, size_t y, size_t bytes, int kind)
{
  CUDART_CALL (copy_run (from, x, y, to, bytes, kind, false, NULL, true));
}

cudaError
cudaMemcpyFromArrayAsync (void *to, CUarray from, size_t x, size_t y, size_t bytes, int kind,
                          CUstream stream)
{
  CUDART_CALL (copy_run (from, x, y, to, bytes, kind, false, stream, false));
}

cudaError
cudaMemcpyArrayToArray (CUarray to, size_t to_x, size_t to_y, CUarray from, size_t from_x,
                        size_t from_y, size_t bytes, int kind)
{
  (void) kind;
  CUDART_CALL (
      copy (array_side (to, to_x, to_y), array_side (from, from_x, from_y), bytes, 1, NULL, true));
}
