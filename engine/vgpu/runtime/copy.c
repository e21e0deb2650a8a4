/* SPDX-License-Identifier: Apache-2.0 */
/* Copies, fills, and the variables of device code. */
#include "engine/vgpu/runtime/runtime.h"

#include <stdint.h>
#include <string.h>

enum
{
  HOST_TO_HOST,
  HOST_TO_DEVICE,
  DEVICE_TO_HOST,
  DEVICE_TO_DEVICE,
  ANY_TO_ANY
};

enum
{
  TYPE_HOST = 1,
  TYPE_DEVICE = 2,
  TYPE_UNIFIED = 4
};

int
cudart_type_to (int kind)
{
  return kind == HOST_TO_DEVICE || kind == DEVICE_TO_DEVICE ? TYPE_DEVICE
         : kind == ANY_TO_ANY                               ? TYPE_UNIFIED
                                                            : TYPE_HOST;
}

int
cudart_type_from (int kind)
{
  return kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE ? TYPE_DEVICE
         : kind == ANY_TO_ANY                               ? TYPE_UNIFIED
                                                            : TYPE_HOST;
}

static AssayCopySide3D
side (int type, const void *pointer, size_t pitch, size_t height)
{
  return (AssayCopySide3D) {.type = type,
                            .host = pointer,
                            .device = (uintptr_t) pointer,
                            .pitch = pitch,
                            .height = height};
}

static CUresult
copy_rows (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
           size_t height, int kind, CUstream stream, bool wait)
{
  AssayCopy3D copy = {.from = side (cudart_type_from (kind), from, from_pitch, height),
                      .to = side (cudart_type_to (kind), to, to_pitch, height),
                      .width = width,
                      .height = height,
                      .depth = 1};
  if (kind < 0 || kind > ANY_TO_ANY)
    return (CUresult) CUDART_INVALID_DIRECTION;
  if (height > 1 && (to_pitch < width || from_pitch < width))
    return (CUresult) CUDART_INVALID_PITCH;
  return wait ? cuMemcpy3D_v2 (&copy) : cuMemcpy3DAsync_v2 (&copy, stream);
}

cudaError
cudaMemcpy (void *to, const void *from, size_t bytes, int kind)
{
  if (kind == HOST_TO_HOST && bytes > 0 && to != NULL && from != NULL)
    {
      memmove (to, from, bytes);
      return cudart_result (cudart_begin ());
    }
  CUDART_CALL (copy_rows (to, bytes, from, bytes, bytes, 1, kind, NULL, kind != DEVICE_TO_DEVICE));
}

cudaError
cudaMemcpyAsync (void *to, const void *from, size_t bytes, int kind, CUstream stream)
{
  CUDART_CALL (copy_rows (to, bytes, from, bytes, bytes, 1, kind, stream, false));
}

cudaError
cudaMemcpyPeer (void *to, int to_device, const void *from, int from_device, size_t bytes)
{
  return to_device != 0 || from_device != 0 ? cudart_result (CUDA_ERROR_INVALID_DEVICE)
                                            : cudaMemcpy (to, from, bytes, DEVICE_TO_DEVICE);
}

cudaError
cudaMemcpyPeerAsync (void *to, int to_device, const void *from, int from_device, size_t bytes,
                     CUstream stream)
{
  return to_device != 0 || from_device != 0
             ? cudart_result (CUDA_ERROR_INVALID_DEVICE)
             : cudaMemcpyAsync (to, from, bytes, DEVICE_TO_DEVICE, stream);
}

cudaError
cudaMemcpy2D (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
              size_t height, int kind)
{
  CUDART_CALL (copy_rows (to, to_pitch, from, from_pitch, width, height, kind, NULL, true));
}

cudaError
cudaMemcpy2DAsync (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                   size_t height, int kind, CUstream stream)
{
  CUDART_CALL (copy_rows (to, to_pitch, from, from_pitch, width, height, kind, stream, false));
}

#define TYPE_ARRAY 3

/* Where an array takes part, widths and its own positions count texels. */
static CUresult
use_arrays (const AssayCopy3DParameters *asked, AssayCopy3D *copy)
{
  struct
  {
    CUarray array;
    AssayCopySide3D *side;
  } sides[] = {{asked->from_array, &copy->from}, {asked->to_array, &copy->to}};
  size_t texel = 0;
  for (int i = 0; i < 2; i++)
    if (sides[i].array != NULL)
      {
        CUresult result = cudart_texel_bytes (sides[i].array, &texel);
        if (result != CUDA_SUCCESS)
          return result;
        sides[i].side->type = TYPE_ARRAY;
        sides[i].side->array = sides[i].array;
        sides[i].side->x *= texel;
      }
  if (texel > 0)
    copy->width *= texel;
  return CUDA_SUCCESS;
}

CUresult
cudart_copy_3d (const AssayCopy3DParameters *asked, AssayCopy3D *copy)
{
  if (asked == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *copy = (AssayCopy3D) {.from = side (cudart_type_from (asked->kind), asked->from.pointer,
                                       asked->from.pitch, asked->from.height),
                         .to = side (cudart_type_to (asked->kind), asked->to.pointer,
                                     asked->to.pitch, asked->to.height),
                         .width = asked->extent.width,
                         .height = asked->extent.height,
                         .depth = asked->extent.depth};
  copy->from.x = asked->from_position.x;
  copy->from.y = asked->from_position.y;
  copy->from.z = asked->from_position.z;
  copy->to.x = asked->to_position.x;
  copy->to.y = asked->to_position.y;
  copy->to.z = asked->to_position.z;
  return use_arrays (asked, copy);
}

cudaError
cudaMemcpy3D (const AssayCopy3DParameters *asked)
{
  AssayCopy3D copy;
  cudaError code = cudart_begin ();
  if (code == CUDA_SUCCESS)
    code = (cudaError) cudart_copy_3d (asked, &copy);
  return cudart_result (code != CUDA_SUCCESS ? code : (cudaError) cuMemcpy3D_v2 (&copy));
}

cudaError
cudaMemcpy3DAsync (const AssayCopy3DParameters *asked, CUstream stream)
{
  AssayCopy3D copy;
  cudaError code = cudart_begin ();
  if (code == CUDA_SUCCESS)
    code = (cudaError) cudart_copy_3d (asked, &copy);
  return cudart_result (code != CUDA_SUCCESS ? code
                                             : (cudaError) cuMemcpy3DAsync_v2 (&copy, stream));
}

cudaError
cudaMemsetAsync (void *to, int value, size_t bytes, CUstream stream)
{
  CUDART_CALL (cuMemsetD8Async ((uintptr_t) to, (unsigned char) value, bytes, stream));
}

cudaError
cudaMemset (void *to, int value, size_t bytes)
{
  return cudaMemsetAsync (to, value, bytes, NULL);
}

cudaError
cudaMemset2DAsync (void *to, size_t pitch, int value, size_t width, size_t height, CUstream stream)
{
  CUDART_CALL (
      cuMemsetD2D8Async ((uintptr_t) to, pitch, (unsigned char) value, width, height, stream));
}

cudaError
cudaMemset2D (void *to, size_t pitch, int value, size_t width, size_t height)
{
  return cudaMemset2DAsync (to, pitch, value, width, height, NULL);
}

cudaError
cudaMemset3DAsync (AssayPitchedPointer to, int value, AssayExtent extent, CUstream stream)
{
  cudaError code = CUDA_SUCCESS;
  for (size_t z = 0; code == CUDA_SUCCESS && z < extent.depth; z++)
    code = cudaMemset2DAsync ((char *) to.pointer + z * to.pitch * to.height, to.pitch, value,
                              extent.width, extent.height, stream);
  return code;
}

cudaError
cudaMemset3D (AssayPitchedPointer to, int value, AssayExtent extent)
{
  return cudaMemset3DAsync (to, value, extent, NULL);
}

/* ---- variables ---- */

cudaError
cudaGetSymbolAddress (void **pointer, const void *symbol)
{
  CUdeviceptr found = 0;
  cudaError code = cudart_variable (symbol, &found, NULL);
  if (code == CUDA_SUCCESS)
    *pointer = (void *) (uintptr_t) found;
  return cudart_result (code);
}

cudaError
cudaGetSymbolSize (size_t *bytes, const void *symbol)
{
  CUdeviceptr found;
  return cudart_result (cudart_variable (symbol, &found, bytes));
}

/* The part of a variable that a copy is about. */
static cudaError
part_of (const void *symbol, size_t offset, size_t bytes, char **at)
{
  CUdeviceptr found = 0;
  size_t size = 0;
  cudaError code = cudart_variable (symbol, &found, &size);
  if (code == CUDA_SUCCESS && (offset > size || bytes > size - offset))
    code = CUDA_ERROR_INVALID_VALUE;
  *at = (char *) (uintptr_t) found + offset;
  return code;
}

cudaError
cudaMemcpyToSymbol (const void *symbol, const void *from, size_t bytes, size_t offset, int kind)
{
  char *to;
  cudaError code = part_of (symbol, offset, bytes, &to);
  return code != CUDA_SUCCESS ? cudart_result (code) : cudaMemcpy (to, from, bytes, kind);
}

cudaError
cudaMemcpyToSymbolAsync (const void *symbol, const void *from, size_t bytes, size_t offset,
                         int kind, CUstream stream)
{
  char *to;
  cudaError code = part_of (symbol, offset, bytes, &to);
  return code != CUDA_SUCCESS ? cudart_result (code)
                              : cudaMemcpyAsync (to, from, bytes, kind, stream);
}

cudaError
cudaMemcpyFromSymbol (void *to, const void *symbol, size_t bytes, size_t offset, int kind)
{
  char *from;
  cudaError code = part_of (symbol, offset, bytes, &from);
  return code != CUDA_SUCCESS ? cudart_result (code) : cudaMemcpy (to, from, bytes, kind);
}

cudaError
cudaMemcpyFromSymbolAsync (void *to, const void *symbol, size_t bytes, size_t offset, int kind,
                           CUstream stream)
{
  char *from;
  cudaError code = part_of (symbol, offset, bytes, &from);
  return code != CUDA_SUCCESS ? cudart_result (code)
                              : cudaMemcpyAsync (to, from, bytes, kind, stream);
}
