/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/vgpu/math/approximate.h"

#include <math.h>

static inline f64
from_bits (u64 bits)
{
  f64 value;
  __builtin_memcpy (&value, &bits, sizeof value);
  return value;
}

/* 2^x = 2^n · exp (r ln 2), |r| <= 1/2; Taylor's series to degree 13 leaves 2^-57. */
static void
exp2_row (const f32 *arguments, f64 *results)
{
  VGPU_LANE_LOOP
  {
    f64 x = arguments[lane];
    x = x < -200.0 ? -200.0 : x;
    x = x > 200.0 ? 200.0 : x;
    const f64 shifted = x + 0x1.8p52;
    const f64 whole = shifted - 0x1.8p52;
    const f64 t = (x - whole) * 0x1.62e42fefa39efp-1;
    f64 p = 1.0 / 6227020800.0;
    p = p * t + 1.0 / 479001600.0;
    p = p * t + 1.0 / 39916800.0;
    p = p * t + 1.0 / 3628800.0;
    p = p * t + 1.0 / 362880.0;
    p = p * t + 1.0 / 40320.0;
    p = p * t + 1.0 / 5040.0;
    p = p * t + 1.0 / 720.0;
    p = p * t + 1.0 / 120.0;
    p = p * t + 1.0 / 24.0;
    p = p * t + 1.0 / 6.0;
    p = p * t + 0.5;
    p = p * t + 1.0;
    p = p * t + 1.0;
    /* The low bits of shifted hold n in two's complement. */
    const u64 scale = (assay_double_bits (shifted) + 1023) << 52;
    const f64 value = p * from_bits (scale);
    results[lane] = x != x ? x : value;
  }
}

/* log2 x = e + log2 m, m in [sqrt 1/2, sqrt 2); log m = 2 artanh ((m-1)/(m+1)). */
static void
log2_row (const f32 *arguments, f64 *results)
{
  VGPU_LANE_LOOP
  {
    const f64 x = arguments[lane];
    const u64 bits = assay_double_bits (x);
    /* 0x3fe6a09e… is sqrt 1/2: exponents count from there. */
    const u64 moved = bits - 0x3fe6a09e667f3bcdu;
    const u64 exponent_bits = moved & 0xfff0000000000000u;
    const f64 m = from_bits (bits - exponent_bits);
    const s32 e = (s32) ((s64) exponent_bits >> 52);
    const f64 s = (m - 1.0) / (m + 1.0);
    const f64 z = s * s;
    f64 p = 1.0 / 21.0;
    p = p * z + 1.0 / 19.0;
    p = p * z + 1.0 / 17.0;
    p = p * z + 1.0 / 15.0;
    p = p * z + 1.0 / 13.0;
    p = p * z + 1.0 / 11.0;
    p = p * z + 1.0 / 9.0;
    p = p * z + 1.0 / 7.0;
    p = p * z + 1.0 / 5.0;
    p = p * z + 1.0 / 3.0;
    p = p * z;
    const f64 value = (f64) e + (s + s * p) * 0x1.71547652b82fep1;
    f64 result = x > 0.0 ? value : x < 0.0 ? (f64) NAN : -(f64) INFINITY;
    result = x == (f64) INFINITY ? x : result;
    results[lane] = x != x ? x : result;
  }
}

static void
scalar_row (double (*function) (double), const f32 *arguments, f64 *results)
{
  for (int lane = 0; lane < VGPU_LANES; lane++)
    results[lane] = function ((f64) arguments[lane]);
}

static void
rsqrt_row (const f32 *arguments, f64 *results)
{
  VGPU_LANE_LOOP results[lane] = 1.0 / __builtin_sqrt ((f64) arguments[lane]);
}

static long double
extended (VgpuFunctionId function, f32 argument)
{
  const long double x = argument;
  switch (function)
    {
    case VGPU_FUNCTION_EX2:
      return exp2l (x);
    case VGPU_FUNCTION_LG2:
      return log2l (x);
    case VGPU_FUNCTION_SIN:
      return sinl (x);
    case VGPU_FUNCTION_COS:
      return cosl (x);
    case VGPU_FUNCTION_TANH:
      return tanhl (x);
    default:
      return 1.0L / sqrtl (x);
    }
}

/* Results within 64 units in the last binary64 place of the middle between two binary32 numbers,
 * and those that will be subnormal, are computed again. */
static void
settle (VgpuFunctionId function, const f32 *arguments, f64 *results)
{
  u32 hard = 0;
  for (int lane = 0; lane < VGPU_LANES; lane++)
    {
      const u64 bits = assay_double_bits (results[lane]);
      const u64 beside = (bits & 0x1fffffffu) - 0x10000000u + 64;
      const f64 size = __builtin_fabs (results[lane]);
      const u32 tiny = (size < 0x1p-125) & (size > 0);
      hard |= ((u32) (beside <= 128) | tiny) << lane;
    }
  for (; hard != 0; hard &= hard - 1)
    {
      const int lane = __builtin_ctz (hard);
      if (isfinite (results[lane]))
        results[lane] = (f64) (f32) extended (function, arguments[lane]);
    }
}

void
VGPU_NAME (function_row) (VgpuFunctionId function, const f32 *arguments, f64 *results)
{
  switch (function)
    {
    case VGPU_FUNCTION_EX2:
      exp2_row (arguments, results);
      break;
    case VGPU_FUNCTION_LG2:
      log2_row (arguments, results);
      break;
    case VGPU_FUNCTION_SIN:
      scalar_row (sin, arguments, results);
      break;
    case VGPU_FUNCTION_COS:
      scalar_row (cos, arguments, results);
      break;
    case VGPU_FUNCTION_TANH:
      scalar_row (tanh, arguments, results);
      break;
    case VGPU_FUNCTION_RSQRT:
      rsqrt_row (arguments, results);
      break;
    case VGPU_FUNCTION_RCP:
      VGPU_LANE_LOOP results[lane] = (f64) (1.0f / arguments[lane]);
      return;
    default:
      VGPU_LANE_LOOP results[lane] = (f64) __builtin_sqrtf (arguments[lane]);
      return;
    }
  settle (function, arguments, results);
}

/* A number in [-1, 1] drawn from seed, function and argument. */
static f64
draw (u64 seed, VgpuFunctionId function, f32 argument)
{
  u64 z = seed * 0x9e3779b97f4a7c15u + ((u64) function << 32 | assay_float_bits (argument));
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (f64) (s64) (z ^ z >> 31) * 0x1p-63;
}

/* The documented bound as an absolute error at this argument, less the half unit that the final
 * rounding may take. */
static f64
bound_at (VgpuFunctionId function, f32 argument, f64 result)
{
  const f64 size = __builtin_fabs (result);
  const f64 x = __builtin_fabs ((f64) argument);
  const f64 unit = size < 0x1p-126 ? 0x1p-149 : ldexp (1.0, ilogb (size) - 23);
  switch (function)
    {
    case VGPU_FUNCTION_EX2:
    case VGPU_FUNCTION_DIV:
      return 1.5 * unit;
    case VGPU_FUNCTION_LG2:
      return x > 0.5 && x < 2.0 ? 0x1p-22 - unit / 2 : size * 0x1p-22 - unit / 2;
    case VGPU_FUNCTION_SIN:
    case VGPU_FUNCTION_COS:
      return (x <= 6.2831855f ? exp2 (-20.5) : exp2 (-14.7)) - unit / 2;
    case VGPU_FUNCTION_TANH:
      return size * 0x1p-11 - unit / 2;
    case VGPU_FUNCTION_RCP:
      return unit / 2;
    case VGPU_FUNCTION_SQRT:
      return size * 0x1p-23 - unit / 2;
    default:
      return size * exp2 (-22.9) - unit / 2;
    }
}

void
VGPU_NAME (disturb_row) (VgpuFunctionId function, const f32 *arguments, f64 *results, u64 seed)
{
  for (int lane = 0; lane < VGPU_LANES; lane++)
    {
      if (!isfinite (results[lane]) || results[lane] == 0.0)
        continue;
      const f64 bound = bound_at (function, arguments[lane], results[lane]);
      if (bound > 0)
        results[lane] += draw (seed, function, arguments[lane]) * bound;
    }
}
