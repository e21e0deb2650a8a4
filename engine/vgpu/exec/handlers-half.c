/* SPDX-License-Identifier: Apache-2.0 */
/* 16-bit floats, elementary functions, and conversions of every kind. */
#include "engine/vgpu/exec/atomics.h"
#include "engine/vgpu/exec/handlers.h"
#include "engine/vgpu/math/approximate.h"

#include <math.h>

static inline f32
single_from_half (u16 value, u32 flags)
{
  /* .ftz: subnormal inputs are zeros. */
  const u16 flushed = (flags & VGPU_INS_FTZ) != 0 && (value & 0x7c00) == 0 ? value & 0x8000 : value;
  return assay_half_to_float (flushed);
}

static inline f32
single_from_bfloat (u16 value, u32 flags)
{
  return assay_bfloat_to_float (value);
}

static inline f32
bounded (f32 value, u32 flags)
{
  const f32 unsaturated = relu (value, flags);
  return (flags & VGPU_INS_SAT) != 0 ? saturate (unsaturated) : unsaturated;
}

static inline u16
half_result (f32 value, u32 flags)
{
  const u16 result = half_from_single (bounded (value, flags));
  return (flags & VGPU_INS_FTZ) != 0 && (result & 0x7c00) == 0 ? result & 0x8000 : result;
}

static inline u16
bfloat_result (f32 value, u32 flags)
{
  return bfloat_from_single (bounded (value, flags));
}

/* Rows of one 16-bit value a lane, or of two. */
static inline void
keep_active (VgpuWarp *warp, s32 row, const u16 *values, u32 count)
{
  u16 *row_d = VGPU_ROW (u16, row);
  const u32 mask = warp->mask;
  if (mask == VGPU_FULL)
    {
      __builtin_memcpy (row_d, values, VGPU_LANES * count * sizeof *values);
      return;
    }
  for (u32 i = 0; i < VGPU_LANES * count; i++)
    row_d[i] = mask >> (i / count) & 1 ? values[i] : row_d[i];
}

#define HALF(id, pattern, format, count, expression)                                               \
  VGPU_HANDLER (id)                                                                                \
  {                                                                                                \
    const u32 flags = ins->flags;                                                                  \
    const u16 *row_a = VGPU_ROW (const u16, ins->a);                                               \
    const u16 *row_b = VGPU_ROW (const u16, ins->b);                                               \
    const u16 *row_c = VGPU_ROW (const u16, ins->c);                                               \
    u16 values[VGPU_LANES * count] __attribute__ ((aligned (64)));                                 \
    _Pragma ("GCC ivdep") for (int i = 0; i < VGPU_LANES * count; i++)                             \
    {                                                                                              \
      const f32 a = single_from_##format (row_a[i], flags);                                        \
      const f32 b = single_from_##format (row_b[i], flags);                                        \
      const f32 c = single_from_##format (row_c[i], flags);                                        \
      (void) b;                                                                                    \
      (void) c;                                                                                    \
      values[i] = format##_result (expression, flags);                                             \
    }                                                                                              \
    keep_active (warp, ins->d, values, count);                                                     \
    VGPU_CONTINUE (ins + 1);                                                                       \
  }

VGPU_HALF_LANES (HALF, HALF, HALF)

#define HALF_FUNCTION(id, pattern, format, count, function)                                        \
  VGPU_HANDLER (id)                                                                                \
  {                                                                                                \
    const u16 *row_a = VGPU_ROW (const u16, ins->a);                                               \
    u16 values[VGPU_LANES * count];                                                                \
    for (int part = 0; part < count; part++)                                                       \
      {                                                                                            \
        f32 arguments[VGPU_LANES];                                                                 \
        f64 results[VGPU_LANES];                                                                   \
        for (int i = 0; i < VGPU_LANES; i++)                                                       \
          arguments[i] = single_from_##format (row_a[part * VGPU_LANES + i], ins->flags);          \
        VGPU_NAME (function_row) (VGPU_FUNCTION_##function, arguments, results);                   \
        for (int i = 0; i < VGPU_LANES; i++)                                                       \
          values[part * VGPU_LANES + i] =                                                          \
              results[i] != results[i] ? 0x7fff : assay_double_to_##format (results[i]);           \
      }                                                                                            \
    keep_active (warp, ins->d, values, count);                                                     \
    VGPU_CONTINUE (ins + 1);                                                                       \
  }

VGPU_HALF_FUNCTIONS (HALF_FUNCTION)

static void
approximate (VgpuWarp *warp, const VgpuIns *ins, VgpuFunctionId function)
{
  const VgpuLaunch *launch = warp->worker->launch;
  const f32 *row_a = VGPU_ROW (const f32, ins->a);
  f32 *row_d = VGPU_ROW (f32, ins->d);
  const u32 mask = warp->mask, flags = ins->flags;
  f32 arguments[VGPU_LANES] __attribute__ ((aligned (64)));
  f64 results[VGPU_LANES] __attribute__ ((aligned (64)));
  VGPU_LANE_LOOP arguments[lane] = flush_f32 (row_a[lane], flags);
  VGPU_NAME (function_row) (function, arguments, results);
  if (launch->math == VGPU_MATH_ADVERSARIAL)
    VGPU_NAME (disturb_row) (function, arguments, results, launch->seed);
  VGPU_LANE_LOOP
  {
    const f32 value = canonical (flush_f32 ((f32) results[lane], flags));
    row_d[lane] = mask >> lane & 1 ? value : row_d[lane];
  }
}

#define APPROXIMATE(id, pattern, function)                                                         \
  VGPU_HANDLER (id)                                                                                \
  {                                                                                                \
    approximate (warp, ins, VGPU_FUNCTION_##function);                                             \
    VGPU_CONTINUE (ins + 1);                                                                       \
  }

VGPU_APPROXIMATE_LANES (APPROXIMATE)

/* div.approx: a divisor above 2^126 gives 0, of an infinite dividend NaN. imm: div.full. */
VGPU_HANDLER (DIV_APPROX)
{
  const VgpuLaunch *launch = warp->worker->launch;
  const f32 *row_a = VGPU_ROW (const f32, ins->a);
  const f32 *row_b = VGPU_ROW (const f32, ins->b);
  f32 *row_d = VGPU_ROW (f32, ins->d);
  const u32 mask = warp->mask, flags = ins->flags;
  const bool full = ins->imm != 0;
  f64 results[VGPU_LANES];
  VGPU_LANE_LOOP
  {
    const f32 a = flush_f32 (row_a[lane], flags), b = flush_f32 (row_b[lane], flags);
    const f32 size = __builtin_fabsf (b);
    const bool huge = !full && size > 0x1p126f && size <= 0x1.fffffep127f;
    results[lane] = (f64) (huge ? a * __builtin_copysignf (0.0f, b) : a / b);
  }
  if (launch->math == VGPU_MATH_ADVERSARIAL)
    VGPU_NAME (disturb_row) (VGPU_FUNCTION_DIV, row_a, results, launch->seed);
  VGPU_LANE_LOOP
  {
    const f32 value = canonical (flush_f32 ((f32) results[lane], flags));
    row_d[lane] = mask >> lane & 1 ? value : row_d[lane];
  }
  return ins + 1;
}

/* Conversions, one lane at a time: source and destination type are in vec and bytes. */

typedef struct
{
  s128 whole; /* of an integer */
  f64 real;   /* of a float */
} Number;

static bool
is_float (VgpuType type)
{
  return type >= VGPU_TYPE_F16;
}

/* 8-bit floats, OCP OFP8 revision 1.0: e4m3 has no infinity, e5m2 is half without low bits. */
static f32
single_from_e4m3 (u8 value)
{
  const int exponent = value >> 3 & 15, fraction = value & 7;
  f32 size =
      exponent == 0 ? (f32) fraction * 0x1p-9f : ldexpf ((f32) (8 + fraction), exponent - 10);
  if ((value & 0x7f) == 0x7f)
    size = NAN;
  return value & 0x80 ? -size : size;
}

static u8
narrow_8 (f32 value, VgpuType type)
{
  const bool e4m3 = type == VGPU_TYPE_E4M3X2;
  const u8 sign = assay_float_bits (value) >> 24 & 0x80;
  if (value != value)
    return 0x7f;
  const int fraction_bits = e4m3 ? 3 : 2, least = e4m3 ? -6 : -14;
  const f32 most = e4m3 ? 448.0f : 57344.0f;
  f32 size = __builtin_fabsf (value);
  if (size == 0.0f)
    return sign;
  /* .satfinite is the only form there is. */
  size = size > most ? most : size;
  int exponent = ilogbf (size);
  exponent = exponent < least ? least : exponent;
  const f32 steps = rintf (ldexpf (size, fraction_bits - exponent));
  u32 code = (u32) (exponent - least) << fraction_bits;
  code += (u32) steps;
  const u32 top = e4m3 ? 0x7e : 0x7b;
  return sign | (u8) (code > top ? top : code);
}

static Number
read_number (const VgpuWarp *warp, s32 row, VgpuType type, int lane, u32 flags)
{
  Number n = {0, 0};
  switch (type)
    {
    case VGPU_TYPE_U8:
      n.whole = (u8) VGPU_ROW (const u16, row)[lane];
      break;
    case VGPU_TYPE_S8:
      n.whole = (s8) VGPU_ROW (const u16, row)[lane];
      break;
    case VGPU_TYPE_U16:
      n.whole = VGPU_ROW (const u16, row)[lane];
      break;
    case VGPU_TYPE_S16:
      n.whole = VGPU_ROW (const s16, row)[lane];
      break;
    case VGPU_TYPE_U32:
      n.whole = VGPU_ROW (const u32, row)[lane];
      break;
    case VGPU_TYPE_S32:
      n.whole = VGPU_ROW (const s32, row)[lane];
      break;
    case VGPU_TYPE_U64:
      n.whole = VGPU_ROW (const u64, row)[lane];
      break;
    case VGPU_TYPE_S64:
      n.whole = VGPU_ROW (const s64, row)[lane];
      break;
    case VGPU_TYPE_F16:
      n.real = assay_half_to_float (VGPU_ROW (const u16, row)[lane]);
      break;
    case VGPU_TYPE_BF16:
      n.real = assay_bfloat_to_float (VGPU_ROW (const u16, row)[lane]);
      break;
    case VGPU_TYPE_F32:
      n.real = flush_f32 (VGPU_ROW (const f32, row)[lane], flags);
      break;
    default:
      n.real = VGPU_ROW (const f64, row)[lane];
    }
  return n;
}

static f64
round_whole (f64 value, u32 flags)
{
  switch (flags & VGPU_INS_ROUND)
    {
    case VGPU_ROUND_ZERO:
      return trunc (value);
    case VGPU_ROUND_DOWN:
      return floor (value);
    case VGPU_ROUND_UP:
      return ceil (value);
    default:
      return rint (value);
    }
}

static u64
clamp_to (s128 value, VgpuType type)
{
  static const s128 one = 1;
  const u32 bits = type <= VGPU_TYPE_S8    ? 8
                   : type <= VGPU_TYPE_S16 ? 16
                   : type <= VGPU_TYPE_S32 ? 32
                                           : 64;
  const bool is_signed = type & 1;
  const s128 most = (one << (bits - is_signed)) - 1;
  const s128 least = is_signed ? -(one << (bits - 1)) : 0;
  return (u64) (value < least ? least : value > most ? most : value);
}

static u64
whole_from_real (f64 value, VgpuType from, VgpuType to, u32 flags)
{
  if (value != value)
    return to >= VGPU_TYPE_U64 || from == VGPU_TYPE_F64 ? (u64) 1 << (to <= VGPU_TYPE_S8    ? 7
                                                                      : to <= VGPU_TYPE_S16 ? 15
                                                                      : to <= VGPU_TYPE_S32 ? 31
                                                                                            : 63)
                                                        : 0;
  value = round_whole (value, flags);
  value = value > 0x1p70 ? 0x1p70 : value < -0x1p70 ? -0x1p70 : value;
  return clamp_to ((s128) value, to);
}

/* A binary32 neighbour of an exact value, chosen by the rounding of flags. nearest is the value
 * rounded to nearest, error the sign of value minus nearest. */
static f32
directed (f32 nearest, int error, u32 flags)
{
  const u32 rounding = flags & VGPU_INS_ROUND;
  if (error == 0 || rounding == VGPU_ROUND_NEAREST)
    return nearest;
  const bool up =
      rounding == VGPU_ROUND_UP || (rounding == VGPU_ROUND_ZERO && __builtin_signbit (nearest));
  if (up)
    return error > 0 ? nextafterf (nearest, INFINITY) : nearest;
  return error < 0 ? nextafterf (nearest, -INFINITY) : nearest;
}

static int
sign_of (f64 value)
{
  return (value > 0) - (value < 0);
}

static u16
narrow_16 (f64 value, VgpuType type, u32 flags)
{
  const bool half = type == VGPU_TYPE_F16 || type == VGPU_TYPE_F16X2;
  if ((flags & VGPU_INS_RELU) != 0 && value < 0)
    value = 0;
  if ((flags & VGPU_INS_SAT) != 0)
    value = value > 0 ? (value < 1 ? value : 1) : 0;
  if (value != value)
    return 0x7fff;
  u16 bits = half ? assay_double_to_half (value) : assay_double_to_bfloat (value);
  const f64 back = half ? assay_half_to_float (bits) : assay_bfloat_to_float (bits);
  const u32 rounding = flags & VGPU_INS_ROUND;
  const int error = sign_of (value - back);
  if (rounding == VGPU_ROUND_NEAREST || error == 0)
    return bits;
  const bool up = rounding == VGPU_ROUND_UP || (rounding == VGPU_ROUND_ZERO && value < 0);
  /* One step towards the wanted side; codes of one sign are in order of size. */
  if (up && error > 0)
    bits = back < 0 ? bits - 1 : bits + 1;
  else if (!up && error < 0)
    bits = back > 0 ? bits - 1 : bits + 1;
  return bits;
}

static void
write_real (VgpuWarp *warp, const VgpuIns *ins, int lane, f64 value, f64 residue)
{
  const VgpuType to = (VgpuType) ins->bytes;
  const u32 flags = ins->flags;
  switch (to)
    {
    case VGPU_TYPE_F16:
    case VGPU_TYPE_BF16:
      VGPU_ROW (u16, ins->d)[lane] = narrow_16 (value, to, flags);
      break;
    case VGPU_TYPE_F32:
      {
        f32 nearest = (f32) value;
        const f64 error = value - (f64) nearest;
        const int side = sign_of (error != 0 ? error : residue);
        nearest = directed (nearest, isfinite (value) ? side : 0, flags);
        nearest = canonical (flush_f32 (nearest, flags));
        VGPU_ROW (f32, ins->d)[lane] = (flags & VGPU_INS_SAT) != 0 ? saturate (nearest) : nearest;
        break;
      }
    default:
      {
        const u32 rounding = flags & VGPU_INS_ROUND;
        const bool up = rounding == VGPU_ROUND_UP || (rounding == VGPU_ROUND_ZERO && value < 0);
        if (rounding != VGPU_ROUND_NEAREST && residue != 0 && up == (residue > 0))
          value = nextafter (value, up ? (f64) INFINITY : -(f64) INFINITY);
        if ((flags & VGPU_INS_SAT) != 0)
          value = value > 0 ? (value < 1 ? value : 1) : 0;
        VGPU_ROW (f64, ins->d)[lane] = value;
      }
    }
}

static void
write_whole (VgpuWarp *warp, const VgpuIns *ins, int lane, u64 value)
{
  const VgpuType to = (VgpuType) ins->bytes;
  if (to == VGPU_TYPE_S8)
    VGPU_ROW (u16, ins->d)[lane] = (u16) (s16) (s8) value;
  else if (to <= VGPU_TYPE_S16)
    VGPU_ROW (u16, ins->d)[lane] = (u16) value;
  else if (to <= VGPU_TYPE_S32)
    VGPU_ROW (u32, ins->d)[lane] = (u32) value;
  else
    VGPU_ROW (u64, ins->d)[lane] = value;
}

static void
convert_pair (VgpuWarp *warp, const VgpuIns *ins, int lane)
{
  const VgpuType to = (VgpuType) ins->bytes, from = (VgpuType) ins->vec;
  const u32 flags = ins->flags;
  if (from == VGPU_TYPE_E4M3X2 || from == VGPU_TYPE_E5M2X2)
    {
      const u16 both = VGPU_ROW (const u16, ins->a)[lane];
      u32 result = 0;
      for (int i = 0; i < 2; i++)
        {
          const u8 byte = (u8) (both >> (8 * i));
          const f32 value = from == VGPU_TYPE_E4M3X2 ? single_from_e4m3 (byte)
                                                     : assay_half_to_float ((u16) (byte << 8));
          result |= (u32) narrow_16 (value, to, flags & VGPU_INS_RELU) << (16 * i);
        }
      VGPU_ROW (u32, ins->d)[lane] = result;
      return;
    }
  f32 upper, lower;
  if (from == VGPU_TYPE_F32)
    {
      upper = VGPU_ROW (const f32, ins->a)[lane];
      lower = VGPU_ROW (const f32, ins->b)[lane];
    }
  else
    {
      const u32 both = VGPU_ROW (const u32, ins->a)[lane];
      const bool half = from == VGPU_TYPE_F16X2;
      upper = half ? assay_half_to_float (both >> 16) : assay_bfloat_to_float (both >> 16);
      lower = half ? assay_half_to_float ((u16) both) : assay_bfloat_to_float ((u16) both);
    }
  upper = relu (upper, flags);
  lower = relu (lower, flags);
  if (to == VGPU_TYPE_E4M3X2 || to == VGPU_TYPE_E5M2X2)
    VGPU_ROW (u16, ins->d)
  [lane] = (u16) (narrow_8 (upper, to) << 8 | narrow_8 (lower, to));
  else VGPU_ROW (u32, ins->d)[lane] = (u32) narrow_16 (upper, to, flags & VGPU_INS_ROUND) << 16
                                      | narrow_16 (lower, to, flags & VGPU_INS_ROUND);
}

VGPU_HANDLER (CVT_ANY)
{
  const VgpuType to = (VgpuType) ins->bytes, from = (VgpuType) ins->vec;
  for (u32 left = warp->mask; left != 0; left &= left - 1)
    {
      const int lane = __builtin_ctz (left);
      if (to >= VGPU_TYPE_F16X2 || from >= VGPU_TYPE_F16X2)
        {
          convert_pair (warp, ins, lane);
          continue;
        }
      const Number n = read_number (warp, ins->a, from, lane, ins->flags);
      if (!is_float (to))
        write_whole (warp, ins, lane,
                     is_float (from) ? whole_from_real (n.real, from, to, ins->flags)
                                     : clamp_to (n.whole, to));
      else if (is_float (from))
        write_real (warp, ins, lane, ins->imm != 0 ? round_whole (n.real, ins->flags) : n.real, 0);
      else
        {
          /* Integers of 64 bits need not fit binary64: keep what is lost. */
          const f64 value = (f64) n.whole;
          const s128 lost = n.whole - (s128) value;
          write_real (warp, ins, lane, value, (f64) lost);
        }
    }
  VGPU_CONTINUE (ins + 1);
}
