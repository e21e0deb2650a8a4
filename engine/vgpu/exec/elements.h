/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/number/half.h"
#include "engine/vgpu/exec/matrix.h"

#include <math.h>

/* Elements of matrices as numbers: all of them are exact in binary64. */

static inline double
vgpu_e4m3 (uint32_t bits)
{
  int exponent = bits >> 3 & 15, fraction = bits & 7;
  double size = exponent == 0 ? fraction * 0x1p-9 : ldexp (8 + fraction, exponent - 10);
  if ((bits & 0x7f) == 0x7f)
    size = NAN;
  return bits & 0x80 ? -size : size;
}

/* The value of an element's bits, of which those above the type's are ignored. */
static inline double
vgpu_element_value (int32_t type, uint32_t bits)
{
  switch (type)
    {
    case VGPU_TYPE_F16:
      return assay_half_to_float ((uint16_t) bits);
    case VGPU_TYPE_BF16:
      return assay_bfloat_to_float ((uint16_t) bits);
    case VGPU_TYPE_U8:
      return (uint8_t) bits;
    case VGPU_TYPE_S8:
      return (int8_t) bits;
    case VGPU_TYPE_U4:
      return bits & 15;
    case VGPU_TYPE_S4:
      return (int32_t) (bits << 28) >> 28;
    case VGPU_TYPE_E4M3:
      return vgpu_e4m3 (bits & 0xff);
    case VGPU_TYPE_E5M2:
      return assay_half_to_float ((uint16_t) ((bits & 0xff) << 8));
    case VGPU_TYPE_S32:
      return (int32_t) bits;
    case VGPU_TYPE_U32:
      /* tf32: the low 13 bits are ignored. */
      return assay_float_from_bits (bits & ~0x1fffu);
    default:
      return assay_float_from_bits (bits);
    }
}

/* The result's bits, rounded once; integers wrap, or stop at the ends. */
static inline uint32_t
vgpu_result_bits (int32_t type, double value, bool saturate)
{
  if (type == VGPU_TYPE_F16)
    return value != value ? 0x7fff : assay_double_to_half (value);
  if (type != VGPU_TYPE_S32)
    return value != value ? 0x7fffffffu : assay_float_bits ((float) value);
  if (saturate)
    value = value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value;
  return (uint32_t) (int64_t) value;
}
