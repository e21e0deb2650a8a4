/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/vgpu/exec/reduce.h"

#include "engine/vgpu/exec/lanes.h"

static u64
whole (VgpuAtom kind, VgpuType type, u64 old, u64 value)
{
  bool narrow = type == VGPU_TYPE_U32 || type == VGPU_TYPE_S32;
  bool is_signed = type == VGPU_TYPE_S32 || type == VGPU_TYPE_S64;
  s64 x = narrow ? (s64) (s32) old : (s64) old, y = narrow ? (s64) (s32) value : (s64) value;
  bool less = is_signed ? x < y : old < value;
  switch (kind)
    {
    case VGPU_ATOM_ADD:
      return old + value;
    case VGPU_ATOM_MIN:
      return less ? old : value;
    case VGPU_ATOM_MAX:
      return less ? value : old;
    case VGPU_ATOM_INC:
      return old >= value ? 0 : old + 1;
    case VGPU_ATOM_DEC:
      return old == 0 || old > value ? value : old - 1;
    case VGPU_ATOM_AND:
      return old & value;
    case VGPU_ATOM_OR:
      return old | value;
    default:
      return old ^ value;
    }
}

static f32
real (VgpuAtom kind, f32 old, f32 value)
{
  return kind == VGPU_ATOM_ADD   ? old + value
         : kind == VGPU_ATOM_MIN ? least_f32 (old, value, 0)
                                 : greatest_f32 (old, value, 0);
}

static u64
combine (u32 code, u64 old, u64 value)
{
  VgpuAtom kind = (VgpuAtom) (code / 256);
  VgpuType type = (VgpuType) (code % 256);
  f64 a, b;
  switch (type)
    {
    case VGPU_TYPE_F16:
      return half_from_single (
          real (kind, assay_half_to_float ((u16) old), assay_half_to_float ((u16) value)));
    case VGPU_TYPE_BF16:
      return bfloat_from_single (
          real (kind, assay_bfloat_to_float ((u16) old), assay_bfloat_to_float ((u16) value)));
    case VGPU_TYPE_F32:
      return assay_float_bits (canonical (
          real (kind, assay_float_from_bits ((u32) old), assay_float_from_bits ((u32) value))));
    case VGPU_TYPE_F64:
      __builtin_memcpy (&a, &old, sizeof a);
      __builtin_memcpy (&b, &value, sizeof b);
      return assay_double_bits (a + b);
    default:
      return whole (kind, type, old, value);
    }
}

#define VGPU_DEFINE_REDUCE(T)                                                                      \
  static void reduce_##T (char *where, u32 code, u64 value)                                        \
  {                                                                                                \
    T *place = (T *) (void *) where;                                                               \
    T old = __atomic_load_n (place, __ATOMIC_RELAXED);                                             \
    while (!__atomic_compare_exchange_n (place, &old, (T) combine (code, old, value), false,       \
                                         __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))                      \
      ;                                                                                            \
  }

VGPU_DEFINE_REDUCE (u16)
VGPU_DEFINE_REDUCE (u32)
VGPU_DEFINE_REDUCE (u64)

void
vgpu_reduce (char *where, uint32_t code, uint32_t bytes, uint64_t value)
{
  if (bytes == 2)
    reduce_u16 (where, code, value);
  else if (bytes == 4)
    reduce_u32 (where, code, value);
  else
    reduce_u64 (where, code, value);
}
