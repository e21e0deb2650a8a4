/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills. */
#include "engine/vgpu/driver/work.h"

#include "engine/vgpu/ptx/arena.h"

#include <stdlib.h>
#include <string.h>

static VgpuAllocation *
known (CUcontext context, uint64_t address)
{
  VgpuAllocation *found = vgpu_memory_find (context->memory, address);
  return found != NULL && !found->freed ? found : NULL;
}

/* Bytes from the first to behind the last of one side. */
static uint64_t
extent (const VgpuCopy *copy, size_t pitch, size_t rows)
{
  return ((copy->depth - 1) * rows + copy->height - 1) * pitch + copy->width;
}

static bool
is_inside (CUcontext context, uint64_t address, uint64_t bytes)
{
  VgpuAllocation *allocation = known (context, address);
  if (allocation != NULL && allocation->hi - address >= bytes)
    return true;
  vgpu_explain ("a copy or fill of %llu bytes at 0x%llx leaves the allocation",
                (unsigned long long) bytes, (unsigned long long) address);
  return false;
}

/* An asynchronous copy from memory that is not pinned reads it before the call returns. */
static void
stage (VgpuCopy *copy)
{
  size_t bytes = extent (copy, copy->from_pitch, copy->from_rows);
  copy->staged = vgpu_take (bytes);
  memcpy (copy->staged, (const void *) (uintptr_t) copy->from, bytes);
}

typedef enum
{
  SIDE_HOST = 1,
  SIDE_DEVICE = 2,
  SIDE_ANY = 4
} Side;

/* Checks a copy and submits it. `wait`: the call is synchronous. */
static CUresult
submit_copy (VgpuCopy copy, Side to_side, Side from_side, CUstream stream, bool wait)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (copy.width == 0 || copy.height == 0 || copy.depth == 0)
    return vgpu_leave (CUDA_SUCCESS);
  uint64_t to_bytes = extent (&copy, copy.to_pitch, copy.to_rows);
  uint64_t from_bytes = extent (&copy, copy.from_pitch, copy.from_rows);
  bool rows = copy.height > 1 || copy.depth > 1;
  if (copy.to == 0 || copy.from == 0
      || (rows && (copy.to_pitch < copy.width || copy.from_pitch < copy.width))
      || (to_side == SIDE_DEVICE && !is_inside (context, copy.to, to_bytes))
      || (from_side == SIDE_DEVICE && !is_inside (context, copy.from, from_bytes)))
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  const VgpuAllocation *target = known (context, copy.to);
  const VgpuAllocation *source = known (context, copy.from);
  if ((target != NULL && !is_inside (context, copy.to, to_bytes))
      || (source != NULL && !is_inside (context, copy.from, from_bytes)))
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  bool capturing = vgpu_is_capturing (context, stream);
  /* To memory that is not pinned, an asynchronous copy ends before the call does. */
  wait = wait || (target == NULL && !capturing);
  if (!wait && !capturing && source == NULL && vgpu_driver.settings.streams != VGPU_STREAMS_EAGER)
    stage (&copy);
  VgpuWork item = {.kind = VGPU_WORK_COPY, .copy = copy};
  return vgpu_leave (wait ? vgpu_submit_and_wait (context, stream, &item)
                          : vgpu_submit (context, stream, &item));
}

static VgpuCopy
line (uint64_t to, uint64_t from, size_t bytes)
{
  return (VgpuCopy) {.to = to,
                     .from = from,
                     .width = bytes,
                     .height = 1,
                     .depth = 1,
                     .to_pitch = bytes,
                     .from_pitch = bytes,
                     .to_rows = 1,
                     .from_rows = 1};
}

CUresult
cuMemcpyHtoD_v2 (CUdeviceptr to, const void *from, size_t bytes)
{
  return submit_copy (line (to, (uintptr_t) from, bytes), SIDE_DEVICE, SIDE_HOST, NULL, true);
}

CUresult
cuMemcpyDtoH_v2 (void *to, CUdeviceptr from, size_t bytes)
{
  return submit_copy (line ((uintptr_t) to, from, bytes), SIDE_HOST, SIDE_DEVICE, NULL, true);
}

CUresult
cuMemcpyDtoD_v2 (CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
  return submit_copy (line (to, from, bytes), SIDE_DEVICE, SIDE_DEVICE, NULL, false);
}

CUresult
cuMemcpy (CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
  return submit_copy (line (to, from, bytes), SIDE_ANY, SIDE_ANY, NULL, true);
}

CUresult
cuMemcpyHtoDAsync_v2 (CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
  return submit_copy (line (to, (uintptr_t) from, bytes), SIDE_DEVICE, SIDE_HOST, stream, false);
}

CUresult
cuMemcpyDtoHAsync_v2 (void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
  return submit_copy (line ((uintptr_t) to, from, bytes), SIDE_HOST, SIDE_DEVICE, stream, false);
}

CUresult
cuMemcpyDtoDAsync_v2 (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
  return submit_copy (line (to, from, bytes), SIDE_DEVICE, SIDE_DEVICE, stream, false);
}

CUresult
cuMemcpyAsync (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
  return submit_copy (line (to, from, bytes), SIDE_ANY, SIDE_ANY, stream, false);
}

CUresult
cuMemcpyPeer (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
              size_t bytes)
{
  (void) to_context;
  (void) from_context;
  return cuMemcpyDtoD_v2 (to, from, bytes);
}

CUresult
cuMemcpyPeerAsync (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                   size_t bytes, CUstream stream)
{
  (void) to_context;
  (void) from_context;
  return cuMemcpyDtoDAsync_v2 (to, from, bytes, stream);
}

/* ---- rows and slices ---- */

#define MEMORY_ARRAY 3

static Side
side_of (int memory_type)
{
  return memory_type == 1 ? SIDE_HOST : memory_type == 2 ? SIDE_DEVICE : SIDE_ANY;
}

bool
vgpu_copy_3d (const AssayCopy3D *asked, VgpuCopy *copy)
{
  const AssayCopySide3D *to = &asked->to, *from = &asked->from;
  if (to->type == MEMORY_ARRAY || from->type == MEMORY_ARRAY)
    {
      vgpu_explain ("CUDA arrays are not there");
      return false;
    }
  uint64_t to_base = to->type == 1 ? (uintptr_t) to->host : to->device;
  uint64_t from_base = from->type == 1 ? (uintptr_t) from->host : from->device;
  size_t to_pitch = to->pitch > 0 ? to->pitch : asked->width;
  size_t from_pitch = from->pitch > 0 ? from->pitch : asked->width;
  size_t to_rows = to->height > 0 ? to->height : asked->height;
  size_t from_rows = from->height > 0 ? from->height : asked->height;
  *copy = (VgpuCopy) {.to = to_base + (to->z * to_rows + to->y) * to_pitch + to->x,
                      .from = from_base + (from->z * from_rows + from->y) * from_pitch + from->x,
                      .width = asked->width,
                      .height = asked->height,
                      .depth = asked->depth,
                      .to_pitch = to_pitch,
                      .from_pitch = from_pitch,
                      .to_rows = to_rows,
                      .from_rows = from_rows};
  return true;
}

static CUresult
copy_3d (const AssayCopy3D *asked, CUstream stream, bool wait)
{
  VgpuCopy copy;
  if (asked == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  if (!vgpu_copy_3d (asked, &copy))
    return CUDA_ERROR_NOT_SUPPORTED;
  return submit_copy (copy, side_of (asked->to.type), side_of (asked->from.type), stream, wait);
}

static AssayCopySide3D
flat_side (const AssayCopySide2D *side)
{
  return (AssayCopySide3D) {.x = side->x,
                            .y = side->y,
                            .type = side->type,
                            .host = side->host,
                            .device = side->device,
                            .array = side->array,
                            .pitch = side->pitch};
}

static CUresult
copy_2d (const AssayCopy2D *asked, CUstream stream, bool wait)
{
  if (asked == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  AssayCopy3D whole = {.from = flat_side (&asked->from),
                       .to = flat_side (&asked->to),
                       .width = asked->width,
                       .height = asked->height,
                       .depth = 1};
  return copy_3d (&whole, stream, wait);
}

CUresult
cuMemcpy2D_v2 (const AssayCopy2D *copy)
{
  return copy_2d (copy, NULL, true);
}

CUresult
cuMemcpy2DUnaligned_v2 (const AssayCopy2D *copy)
{
  return copy_2d (copy, NULL, true);
}

CUresult
cuMemcpy2DAsync_v2 (const AssayCopy2D *copy, CUstream stream)
{
  return copy_2d (copy, stream, false);
}

CUresult
cuMemcpy3D_v2 (const AssayCopy3D *copy)
{
  return copy_3d (copy, NULL, true);
}

CUresult
cuMemcpy3DAsync_v2 (const AssayCopy3D *copy, CUstream stream)
{
  return copy_3d (copy, stream, false);
}
