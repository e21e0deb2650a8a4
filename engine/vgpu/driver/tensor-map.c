/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor maps: CUDA driver API, "Tensor Map Object Management". Its rules are checked here, since a device
 * that is given a map which breaks them says nothing useful. */
#include "engine/vgpu/driver/driver.h"
#include "engine/vgpu/exec/tensor-map.h"

#include <string.h>

/* By CUtensorMapDataType. */
static const uint8_t element_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

static CUresult
refuse (const char *what)
{
  vgpu_explain ("cuTensorMapEncodeTiled: %s", what);
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult
cuTensorMapEncodeTiled (void *map, int type, unsigned int rank, void *address,
                        const uint64_t *sizes, const uint64_t *strides, const unsigned int *box,
                        const unsigned int *steps, int interleave, int swizzle, int promotion,
                        int fill)
{
  VgpuTensorMap made = {.magic = VGPU_TENSOR_MAP_MAGIC,
                        .rank = (uint8_t) rank,
                        .swizzle = (uint8_t) swizzle,
                        .fill_nan = fill != 0,
                        .type = (uint32_t) type,
                        .address = (uint64_t) (uintptr_t) address};
  if (map == NULL || sizes == NULL || box == NULL || steps == NULL || (strides == NULL && rank > 1))
    return CUDA_ERROR_INVALID_VALUE;
  if (type < 0 || (size_t) type >= sizeof element_bytes)
    return refuse ("element types of less than a byte are not there");
  if (interleave != 0)
    return refuse ("interleaved layouts are not there");
  if (rank < 1 || rank > VGPU_TENSOR_RANK || swizzle < 0 || swizzle > 3)
    return refuse ("a rank of 1 to 5 and a swizzle of none, 32, 64 or 128 bytes expected");
  made.element = element_bytes[type];
  if (made.address % 16 != 0)
    return refuse ("the address is no multiple of 16");
  for (unsigned int i = 0; i < rank; i++)
    {
      if (sizes[i] == 0 || sizes[i] > (uint64_t) 1 << 32 || box[i] == 0 || box[i] > 256)
        return refuse ("sizes of 1 to 2^32 and boxes of 1 to 256 elements expected");
      if (steps[i] != 1)
        return refuse ("element strides other than 1 are not there");
      if (i > 0 && (strides[i - 1] % 16 != 0 || strides[i - 1] >= (uint64_t) 1 << 40))
        return refuse ("strides must be multiples of 16 below 2^40");
      made.sizes[i] = sizes[i];
      made.box[i] = box[i];
      if (i > 0)
        made.strides[i - 1] = strides[i - 1];
    }
  uint32_t inner = box[0] * made.element;
  if (inner % 16 != 0)
    return refuse ("the bytes of a row of the box must be a multiple of 16");
  if (swizzle > 0 && inner > 16u << swizzle)
    return refuse ("a row of the box is wider than the swizzle");
  memcpy (map, &made, sizeof made);
  return CUDA_SUCCESS;
}

CUresult
cuTensorMapReplaceAddress (void *map, void *address)
{
  VgpuTensorMap made;
  if (map == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  memcpy (&made, map, sizeof made);
  if (made.magic != VGPU_TENSOR_MAP_MAGIC || (uintptr_t) address % 16 != 0)
    return CUDA_ERROR_INVALID_VALUE;
  made.address = (uint64_t) (uintptr_t) address;
  memcpy (map, &made, sizeof made);
  return CUDA_SUCCESS;
}
