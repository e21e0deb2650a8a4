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
  static const Side sides[] = {[1] = SIDE_HOST, [2] = SIDE_DEVICE, [MEMORY_ARRAY] = SIDE_DEVICE};
  return memory_type >= 1 && memory_type <= MEMORY_ARRAY ? sides[memory_type] : SIDE_ANY;
}

/* One side of a copy as an address and distances; false if it leaves the array that it names. */
static bool
find_side (const AssayCopy3D *asked, const AssayCopySide3D *side, uint64_t *at, size_t *pitch,
           size_t *rows)
{
  if (side->type != MEMORY_ARRAY)
    {
      uint64_t base = side->type == 1 ? (uintptr_t) side->host : side->device;
      *pitch = side->pitch > 0 ? side->pitch : asked->width;
      *rows = side->height > 0 ? side->height : asked->height;
      *at = base + (side->z * *rows + side->y) * *pitch + side->x;
      return true;
    }
  CUcontext context = vgpu_current ();
  if (context == NULL || !vgpu_is_array (context, side->array))
    {
      vgpu_explain ("a copy names a CUDA array that is none");
      return false;
    }
  const VgpuImage *image = &side->array->images.levels[0];
  bool fits = side->x <= image->pitch && asked->width <= image->pitch - side->x
              && side->y <= image->height && asked->height <= image->height - side->y
              && side->z <= image->depth && asked->depth <= image->depth - side->z;
  if (!fits)
    vgpu_explain ("a copy of %zu bytes, %zu rows and %zu slices leaves an array of %llu, %u and %u",
                  asked->width, asked->height, asked->depth, (unsigned long long) image->pitch,
                  image->height, image->depth);
  *pitch = image->pitch;
  *rows = image->height;
  *at = image->address + side->z * image->slice + side->y * image->pitch + side->x;
  return fits;
}

bool
vgpu_copy_3d (const AssayCopy3D *asked, VgpuCopy *copy)
{
  *copy = (VgpuCopy) {.width = asked->width, .height = asked->height, .depth = asked->depth};
  return find_side (asked, &asked->to, &copy->to, &copy->to_pitch, &copy->to_rows)
         && find_side (asked, &asked->from, &copy->from, &copy->from_pitch, &copy->from_rows);
}

static CUresult
copy_3d (const AssayCopy3D *asked, CUstream stream, bool wait)
{
  VgpuCopy copy;
  if (asked == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  if (!vgpu_copy_3d (asked, &copy))
    return CUDA_ERROR_INVALID_VALUE;
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

/* ---- arrays of one dimension ---- */

static CUresult
copy_line (AssayCopySide3D to, AssayCopySide3D from, size_t bytes, CUstream stream, bool wait)
{
  AssayCopy3D copy = {.from = from, .to = to, .width = bytes, .height = 1, .depth = 1};
  return copy_3d (&copy, stream, wait);
}

static AssayCopySide3D
array_side (CUarray array, size_t offset)
{
  return (AssayCopySide3D) {.type = MEMORY_ARRAY, .array = array, .x = offset};
}

static AssayCopySide3D
host_side (const void *host)
{
  return (AssayCopySide3D) {.type = 1, .host = host};
}

static AssayCopySide3D
device_side (CUdeviceptr device)
{
  return (AssayCopySide3D) {.type = 2, .device = device};
}

CUresult
cuMemcpyHtoA_v2 (CUarray to, size_t offset, const void *from, size_t bytes)
{
  return copy_line (array_side (to, offset), host_side (from), bytes, NULL, true);
}

CUresult
cuMemcpyAtoH_v2 (void *to, CUarray from, size_t offset, size_t bytes)
{
  return copy_line (host_side (to), array_side (from, offset), bytes, NULL, true);
}

CUresult
cuMemcpyDtoA_v2 (CUarray to, size_t offset, CUdeviceptr from, size_t bytes)
{
  return copy_line (array_side (to, offset), device_side (from), bytes, NULL, false);
}

CUresult
cuMemcpyAtoD_v2 (CUdeviceptr to, CUarray from, size_t offset, size_t bytes)
{
  return copy_line (device_side (to), array_side (from, offset), bytes, NULL, false);
}

CUresult
cuMemcpyAtoA_v2 (CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes)
{
  return copy_line (array_side (to, to_offset), array_side (from, from_offset), bytes, NULL, false);
}

CUresult
cuMemcpyHtoAAsync_v2 (CUarray to, size_t offset, const void *from, size_t bytes, CUstream stream)
{
  return copy_line (array_side (to, offset), host_side (from), bytes, stream, false);
}

CUresult
cuMemcpyAtoHAsync_v2 (void *to, CUarray from, size_t offset, size_t bytes, CUstream stream)
{
  return copy_line (host_side (to), array_side (from, offset), bytes, stream, false);
}
