/* SPDX-License-Identifier: Apache-2.0 */
/* Fills. A fill is asynchronous to the host, whichever call was used, but for pinned host memory. */
#include "engine/vgpu/driver/work.h"

static CUresult
fill (VgpuFill asked, CUstream stream)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (asked.width == 0 || asked.height == 0)
    return vgpu_leave (CUDA_SUCCESS);
  if (asked.height == 1)
    asked.pitch = asked.width * asked.size;
  VgpuAllocation *allocation = vgpu_memory_find (context->memory, asked.to);
  bool sized = asked.width <= UINT64_MAX / asked.size && asked.width * asked.size <= asked.pitch
               && asked.pitch <= UINT64_MAX / asked.height;
  uint64_t bytes = (asked.height - 1) * asked.pitch + asked.width * asked.size;
  if (!sized || allocation == NULL || allocation->freed || allocation->hi - asked.to < bytes
      || asked.to % asked.size != 0)
    {
      vgpu_explain ("a fill at 0x%llx leaves the allocation", (unsigned long long) asked.to);
      return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
    }
  VgpuWork item = {.kind = VGPU_WORK_FILL, .fill = asked};
  return vgpu_leave (vgpu_submit (context, stream, &item));
}

static CUresult
fill_line (CUdeviceptr to, uint32_t value, uint32_t size, size_t count, CUstream stream)
{
  return fill ((VgpuFill) {.to = to, .value = value, .size = size, .width = count, .height = 1},
               stream);
}

static CUresult
fill_rows (CUdeviceptr to, size_t pitch, uint32_t value, uint32_t size, size_t width, size_t height,
           CUstream stream)
{
  return fill (
      (VgpuFill) {
          .to = to, .pitch = pitch, .value = value, .size = size, .width = width, .height = height},
      stream);
}

CUresult
cuMemsetD8_v2 (CUdeviceptr to, unsigned char value, size_t count)
{
  return fill_line (to, value, 1, count, NULL);
}

CUresult
cuMemsetD16_v2 (CUdeviceptr to, unsigned short value, size_t count)
{
  return fill_line (to, value, 2, count, NULL);
}

CUresult
cuMemsetD32_v2 (CUdeviceptr to, unsigned int value, size_t count)
{
  return fill_line (to, value, 4, count, NULL);
}

CUresult
cuMemsetD8Async (CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
{
  return fill_line (to, value, 1, count, stream);
}

CUresult
cuMemsetD16Async (CUdeviceptr to, unsigned short value, size_t count, CUstream stream)
{
  return fill_line (to, value, 2, count, stream);
}

CUresult
cuMemsetD32Async (CUdeviceptr to, unsigned int value, size_t count, CUstream stream)
{
  return fill_line (to, value, 4, count, stream);
}

CUresult
cuMemsetD2D8_v2 (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height)
{
  return fill_rows (to, pitch, value, 1, width, height, NULL);
}

CUresult
cuMemsetD2D16_v2 (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height)
{
  return fill_rows (to, pitch, value, 2, width, height, NULL);
}

CUresult
cuMemsetD2D32_v2 (CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height)
{
  return fill_rows (to, pitch, value, 4, width, height, NULL);
}

CUresult
cuMemsetD2D8Async (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                   CUstream stream)
{
  return fill_rows (to, pitch, value, 1, width, height, stream);
}

CUresult
cuMemsetD2D32Async (CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height,
                    CUstream stream)
{
  return fill_rows (to, pitch, value, 4, width, height, stream);
}
