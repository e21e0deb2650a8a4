/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* What the 128 opaque bytes of a CUtensorMap hold here: a tensor in global memory, and the box of it that a
 * copy moves. Dimension 0 is contiguous. */

#define VGPU_TENSOR_MAP_MAGIC 0x4d545641u
#define VGPU_TENSOR_RANK 5

typedef struct
{
  uint32_t magic;
  uint8_t rank;
  uint8_t element;  /* bytes of one */
  uint8_t swizzle;  /* 0: none, 1: 32 bytes, 2: 64, 3: 128 */
  uint8_t fill_nan; /* elements outside are NaN, not zero */
  uint64_t address;
  uint64_t sizes[VGPU_TENSOR_RANK];
  uint64_t strides[VGPU_TENSOR_RANK - 1]; /* bytes, of dimension 1 and up */
  uint32_t box[VGPU_TENSOR_RANK];
  uint32_t type; /* CUtensorMapDataType */
  uint32_t reserved[VGPU_TENSOR_RANK - 1];
} VgpuTensorMap;

_Static_assert(sizeof (VgpuTensorMap) == 128, "the size of a CUtensorMap");
