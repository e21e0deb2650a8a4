/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/number/half.h"
#include "engine/vgpu/exec/machine.h"

/* What the expressions of operations.h are written in: value types, and functions of lane values.
 * Included by files that are compiled once per host instruction set. */

typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;
typedef unsigned __int128 u128;
typedef __int128 s128;

#define VGPU_PASTE_2(a, b) vgpu_##a##_##b
#define VGPU_PASTE(a, b) VGPU_PASTE_2 (a, b)
/* The name of a handler in this host's set. VGPU_HOST comes from the command line. */
#define VGPU_NAME(id) VGPU_PASTE (VGPU_HOST, id)

#define VGPU_ROW(type, offset)                                                                     \
  ((type *) __builtin_assume_aligned (warp->base[(uint32_t) (offset) >> 31] + (offset), 64))

/* A handler's end: goes on with another instruction. The compiler makes a jump of this call, so that
 * most instructions need no return to the loop; those that are to be done alone, and all of a warp
 * that has seen something uninitialised, do return. Not for handlers whose own variables others know
 * the addresses of: then it would be a call. */
#ifdef VGPU_CHAIN
#define VGPU_CONTINUE(to)                                                                          \
  do                                                                                               \
    {                                                                                              \
      const VgpuIns *const after = (to);                                                           \
      if (VGPU_UNLIKELY ((warp->single | warp->tainted) != 0))                                     \
        return after;                                                                              \
      return after->run (warp, after);                                                             \
    }                                                                                              \
  while (0)
#else
#define VGPU_CONTINUE(to) return (to)
#endif

#define VGPU_UNLIKELY(x) __builtin_expect (!!(x), 0)
/* Rows are the same or do not overlap: a lane's result depends on that lane only. */
#define VGPU_LANE_LOOP _Pragma ("GCC ivdep") for (int lane = 0; lane < VGPU_LANES; lane++)

static inline u32
row_mask (const VgpuWarp *warp, int32_t offset)
{
  return *(const u32 *) (warp->base[(uint32_t) offset >> 31] + offset);
}

static inline void
put_mask (VgpuWarp *warp, int32_t offset, u32 value)
{
  u32 *row = (u32 *) (warp->base[0] + offset);
  *row = (*row & ~warp->mask) | (value & warp->mask);
}

/* The guard's lanes of an instruction, or all. */
static inline u32
guard_mask (const VgpuWarp *warp, const VgpuIns *ins)
{
  u32 holds = row_mask (warp, ins->guard);
  return ins->flags & VGPU_INS_GUARD_NEGATED ? ~holds : holds;
}

static inline s32
clamp_s32 (s64 value)
{
  return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (s32) value;
}

static inline s32
relu_s32 (s32 value)
{
  return value > 0 ? value : 0;
}

static inline u32
add_16x2 (u32 a, u32 b)
{
  return ((a + b) & 0xffffu) | ((a & 0xffff0000u) + (b & 0xffff0000u));
}

static inline u32
extend_24 (u32 value)
{
  return (u32) ((s32) (value << 8) >> 8);
}

static inline u32
dot_4 (u32 a, u32 b, u32 sum, bool signed_a, bool signed_b)
{
  for (int i = 0; i < 32; i += 8)
    {
      s32 x = signed_a ? (s8) (a >> i) : (s32) (u8) (a >> i);
      s32 y = signed_b ? (s8) (b >> i) : (s32) (u8) (b >> i);
      sum += (u32) (x * y);
    }
  return sum;
}

/* Two numbers of 16 bits in a with the lower two of 8 bits in b. */
static inline u32
dot_2 (u32 a, u32 b, u32 sum, bool signed_a, bool signed_b)
{
  for (int i = 0; i < 2; i++)
    {
      s32 x = signed_a ? (s16) (a >> (16 * i)) : (s32) (u16) (a >> (16 * i));
      s32 y = signed_b ? (s8) (b >> (8 * i)) : (s32) (u8) (b >> (8 * i));
      sum += (u32) (x * y);
    }
  return sum;
}

static inline u32
pick_16x2 (u32 a, u32 b, bool greatest, bool is_signed, bool relu)
{
  u32 result = 0;
  for (int i = 0; i < 32; i += 16)
    {
      s32 x = is_signed ? (s16) (a >> i) : (s32) (u16) (a >> i);
      s32 y = is_signed ? (s16) (b >> i) : (s32) (u16) (b >> i);
      s32 value = (x > y) == greatest ? x : y;
      result |= (u32) (u16) (relu && value < 0 ? 0 : value) << i;
    }
  return result;
}

/* Place of the n-th bit set in mask, from base upwards for n above zero, else downwards; base itself for
 * zero. PTX ISA, "fns". */
static inline u32
nth_set (u32 mask, u32 base, s32 n)
{
  const s64 step = n < 0 ? -1 : 1;
  s64 left = n == 0 ? 1 : n < 0 ? -(s64) n : n;
  for (s64 at = base; at >= 0 && at < 32; at += step)
    {
      left -= mask >> at & 1;
      if (left == 0)
        return (u32) at;
      if (n == 0)
        break;
    }
  return UINT32_MAX;
}

/* Division by zero is unspecified in PTX; these are the hardware's usual answers. */
static inline s32
divide_s32 (s32 a, s32 b)
{
  return b == 0 ? -1 : b == -1 ? (s32) (0u - (u32) a) : a / b;
}

static inline s64
divide_s64 (s64 a, s64 b)
{
  return b == 0 ? -1 : b == -1 ? (s64) (0u - (u64) a) : a / b;
}

static inline s32
remainder_s32 (s32 a, s32 b)
{
  return b == 0 ? a : b == -1 ? 0 : a % b;
}

static inline s64
remainder_s64 (s64 a, s64 b)
{
  return b == 0 ? a : b == -1 ? 0 : a % b;
}

static inline u32
funnel_left (u32 low, u32 high, u32 shift)
{
  u64 both = (u64) high << 32 | low;
  return shift == 32 ? low : (u32) (both << shift >> 32);
}

static inline u32
funnel_right (u32 low, u32 high, u32 shift)
{
  return (u32) (((u64) high << 32 | low) >> shift);
}

/* PTX ISA, bfe: beyond the word, zeros or the sign are read. */
static inline u64
extract_field (u64 value, u32 start, u32 length, u32 bits, bool is_signed)
{
  u32 at = start & 0xff;
  u32 count = length & 0xff;
  if (count == 0)
    return 0;
  u32 sign_at = at + count - 1 < bits - 1 ? at + count - 1 : bits - 1;
  u64 fill = is_signed && (value >> sign_at & 1) ? ~(u64) 0 : 0;
  u64 field = at < bits ? value >> at : fill;
  u32 kept = at < bits && count < bits - at ? count : at < bits ? bits - at : 0;
  u64 keep = kept >= 64 ? ~(u64) 0 : ((u64) 1 << kept) - 1;
  field = (field & keep) | (fill & ~keep);
  return count >= 64 ? field : is_signed ? field : field & (((u64) 1 << count) - 1);
}

static inline u64
insert_field (u64 field, u64 base, u32 start, u32 length, u32 bits)
{
  u32 at = start & 0xff;
  u32 count = length & 0xff;
  if (at >= bits || count == 0)
    return base;
  u64 keep = count >= 64 ? ~(u64) 0 : ((u64) 1 << count) - 1;
  return (base & ~(keep << at)) | (field & keep) << at;
}

static inline u32
find_bit (u64 value, u32 bits, bool is_signed, bool as_shift)
{
  if (is_signed && (value >> (bits - 1) & 1))
    value = ~value;
  if (bits < 64)
    value &= ((u64) 1 << bits) - 1;
  if (value == 0)
    return 0xffffffffu;
  u32 position = 63 - (u32) __builtin_clzll (value);
  return as_shift ? bits - 1 - position : position;
}

static inline u32
reverse_32 (u32 value)
{
  value = (value >> 1 & 0x55555555u) | (value & 0x55555555u) << 1;
  value = (value >> 2 & 0x33333333u) | (value & 0x33333333u) << 2;
  value = (value >> 4 & 0x0f0f0f0fu) | (value & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32 (value);
}

static inline u32
permute_bytes (u32 a, u32 b, u32 selector)
{
  u64 bytes = (u64) b << 32 | a;
  u32 result = 0;
  for (int i = 0; i < 4; i++)
    {
      u32 choice = selector >> (4 * i) & 0xf;
      u32 byte = (u32) (bytes >> (8 * (choice & 7))) & 0xff;
      if (choice & 8)
        byte = byte & 0x80 ? 0xff : 0;
      result |= byte << (8 * i);
    }
  return result;
}

static inline u32
bit_mask (u32 start, u32 length)
{
  u64 ones = ((u64) 1 << length) - 1;
  return (u32) (ones << start);
}

static inline u32
logic_3 (u32 a, u32 b, u32 c, u32 table)
{
  u32 result = 0;
  result |= table & 0x01 ? ~a & ~b & ~c : 0;
  result |= table & 0x02 ? ~a & ~b & c : 0;
  result |= table & 0x04 ? ~a & b & ~c : 0;
  result |= table & 0x08 ? ~a & b & c : 0;
  result |= table & 0x10 ? a & ~b & ~c : 0;
  result |= table & 0x20 ? a & ~b & c : 0;
  result |= table & 0x40 ? a & b & ~c : 0;
  result |= table & 0x80 ? a & b & c : 0;
  return result;
}

/* Subnormals become zeros of their sign when the instruction says .ftz. */
static inline u32
flush_bits (u32 bits, u32 flags)
{
  u32 tiny = (bits & 0x7f800000u) == 0 && (flags & VGPU_INS_FTZ) != 0;
  return tiny ? bits & 0x80000000u : bits;
}

static inline f32
flush_f32 (f32 value, u32 flags)
{
  return assay_float_from_bits (flush_bits (assay_float_bits (value), flags));
}

static inline f64
flush_f64 (f64 value)
{
  return (assay_double_bits (value) & 0x7ff0000000000000u) == 0 ? __builtin_copysign (0.0, value)
                                                                : value;
}

/* PTX ISA: binary32 instructions that yield NaN yield 0x7fffffff. */
static inline f32
canonical (f32 value)
{
  return value != value ? assay_float_from_bits (0x7fffffffu) : value;
}

/* To [0, 1], NaN to 0. */
static inline f32
saturate (f32 value)
{
  f32 above = value > 0.0f ? value : 0.0f;
  return above < 1.0f ? above : 1.0f;
}

static inline f32
relu (f32 value, u32 flags)
{
  return (flags & VGPU_INS_RELU) != 0 && value < 0.0f ? 0.0f : value;
}

/* min and max: the other operand if one is NaN, unless .NaN; -0 is less than +0. */
static inline f32
least_f32 (f32 a, f32 b, u32 flags)
{
  a = flush_f32 (a, flags);
  b = flush_f32 (b, flags);
  f32 equal = assay_float_from_bits (assay_float_bits (a) | assay_float_bits (b));
  f32 less = a < b ? a : a > b ? b : equal;
  f32 other = (flags & VGPU_INS_NAN) != 0 ? assay_float_from_bits (0x7fffffffu) : a != a ? b : a;
  return (a != a) | (b != b) ? canonical (other) : less;
}

static inline f32
greatest_f32 (f32 a, f32 b, u32 flags)
{
  a = flush_f32 (a, flags);
  b = flush_f32 (b, flags);
  f32 equal = assay_float_from_bits (assay_float_bits (a) & assay_float_bits (b));
  f32 more = a > b ? a : a < b ? b : equal;
  f32 other = (flags & VGPU_INS_NAN) != 0 ? assay_float_from_bits (0x7fffffffu) : a != a ? b : a;
  return (a != a) | (b != b) ? canonical (other) : more;
}

/* .xorsign.abs: the magnitude that was chosen, with the signs of both combined. */
static inline f32
with_signs (f32 chosen, f32 a, f32 b)
{
  u32 sign = (assay_float_bits (a) ^ assay_float_bits (b)) & 0x80000000u;
  return chosen != chosen ? chosen : assay_float_from_bits (assay_float_bits (chosen) | sign);
}

/* Two binary32 in one register; a.b + c where multiplied, else a + b or a - b. */
typedef enum
{
  PAIR_ADD,
  PAIR_SUB,
  PAIR_MUL,
  PAIR_FMA
} PairWork;

static inline u64
pair_f32 (PairWork work, u64 a, u64 b, u64 c, u32 flags)
{
  u64 result = 0;
  for (int shift = 0; shift < 64; shift += 32)
    {
      const f32 x = flush_f32 (assay_float_from_bits ((u32) (a >> shift)), flags);
      const f32 y = flush_f32 (assay_float_from_bits ((u32) (b >> shift)), flags);
      const f32 z = flush_f32 (assay_float_from_bits ((u32) (c >> shift)), flags);
      const f32 value = work == PAIR_ADD   ? x + y
                        : work == PAIR_SUB ? x - y
                        : work == PAIR_MUL ? x * y
                                           : __builtin_fmaf (x, y, z);
      result |= (u64) assay_float_bits (canonical (flush_f32 (value, flags))) << shift;
    }
  return result;
}

static inline f64
least_f64 (f64 a, f64 b)
{
  if (a != a)
    return b;
  if (b != b)
    return a;
  return a < b || (a == b && __builtin_signbit (a)) ? a : b;
}

static inline f64
greatest_f64 (f64 a, f64 b)
{
  if (a != a)
    return b;
  if (b != b)
    return a;
  return a > b || (a == b && !__builtin_signbit (a)) ? a : b;
}

/* The approximate binary64 instructions define their upper 32 bits only. */
static inline f64
upper_word (f64 value)
{
  u64 bits = assay_double_bits (value) & 0xffffffff00000000u;
  if (value != value)
    bits = 0x7fffffff00000000u;
  f64 result;
  __builtin_memcpy (&result, &bits, sizeof result);
  return flush_f64 (result);
}

static inline u16
half_from_single (f32 value)
{
  return value != value ? 0x7fff : assay_float_to_half (value);
}

static inline u16
bfloat_from_single (f32 value)
{
  return value != value ? 0x7fff : assay_float_to_bfloat (value);
}

/* a*b+c of 16-bit values, rounded to binary32 so that a second rounding does no harm: to odd
 * (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008). The product is
 * exact in binary64; the error of the sum comes from Knuth's TwoSum. */
static inline f32
odd_fma (f32 a, f32 b, f32 c)
{
  f64 product = (f64) a * (f64) b;
  f64 addend = c;
  f64 sum = product + addend;
  f64 shadow = sum - product;
  f64 error = (product - (sum - shadow)) + (addend - shadow);
  u64 bits = assay_double_bits (sum);
  u64 towards = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
  bits = error != 0 && error == error && (bits & 1) == 0 ? towards : bits;
  f64 odd;
  __builtin_memcpy (&odd, &bits, sizeof odd);
  f32 single = (f32) odd;
  u32 narrow = assay_float_bits (single);
  u32 nearer = __builtin_fabs ((f64) single) > __builtin_fabs (odd) ? narrow - 1 : narrow + 1;
  bool adjust = (f64) single != odd && odd == odd && (narrow & 1) == 0;
  return assay_float_from_bits (adjust ? nearer : narrow);
}

/* Round to 10 fraction bits, ties away from zero. */
static inline u32
tf32_from_single (u32 bits)
{
  u32 magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return 0x7fffffffu;
  u32 rounded = magnitude >= 0x7f800000u ? magnitude : (magnitude + 0x1000u) & ~0x1fffu;
  return rounded | (bits & 0x80000000u);
}

/* Out of range saturates, NaN becomes 0. The value is already an integer. */
static inline s32
s32_from_single (f32 value)
{
  f32 bounded = value < -0x1p31f ? -0x1p31f : value;
  s32 inside = (s32) (bounded < 0x1p31f ? bounded : 0.0f);
  return value >= 0x1p31f ? INT32_MAX : inside;
}

static inline u32
u32_from_single (f32 value)
{
  f64 wide = value > 0.0f ? (f64) value : 0.0;
  return wide >= 0x1p32 ? UINT32_MAX : (u32) (s64) wide;
}
