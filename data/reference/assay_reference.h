/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a reference in C is written with.
 *
 * The reference is compiled several times: ASSAY_REAL is 1 for float, 2 for double, 3 for __float128.
 * REAL is that type, R (0.5) a constant of it, r_exp (x) and its kin the functions over it. Every
 * written operation rounds once (no contraction). ROUND_TO (bfloat16, x) marks a place where the
 * specification wants an intermediate rounded to a narrower type: to nearest, ties to even. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifndef ASSAY_REAL
#define ASSAY_REAL 2
#endif

#if ASSAY_REAL == 1
typedef float REAL;
#define R(constant) ((REAL) constant##f)
#define ASSAY_NAME(name) name##f
#elif ASSAY_REAL == 2
typedef double REAL;
#define R(constant) ((REAL) constant)
#define ASSAY_NAME(name) name
#elif ASSAY_REAL == 3
#include <quadmath.h>
typedef __float128 REAL;
#define R(constant) ((REAL) constant##Q)
#define ASSAY_NAME(name) name##q
#else
#error "ASSAY_REAL is 1 (float), 2 (double) or 3 (__float128)"
#endif

/* The smallest and largest finite values, for maxima and the like. */
#define REAL_INFINITY ((REAL) INFINITY)

#define ASSAY_FUNCTION_1(name) \
  static inline REAL __attribute__ ((unused)) r_##name (REAL x) { return ASSAY_NAME (name) (x); }
#define ASSAY_FUNCTION_2(name) \
  static inline REAL __attribute__ ((unused)) r_##name (REAL x, REAL y) \
  { return ASSAY_NAME (name) (x, y); }

ASSAY_FUNCTION_1 (exp)
ASSAY_FUNCTION_1 (exp2)
ASSAY_FUNCTION_1 (expm1)
ASSAY_FUNCTION_1 (log)
ASSAY_FUNCTION_1 (log2)
ASSAY_FUNCTION_1 (log10)
ASSAY_FUNCTION_1 (log1p)
ASSAY_FUNCTION_1 (sqrt)
ASSAY_FUNCTION_1 (cbrt)
ASSAY_FUNCTION_1 (sin)
ASSAY_FUNCTION_1 (cos)
ASSAY_FUNCTION_1 (tan)
ASSAY_FUNCTION_1 (asin)
ASSAY_FUNCTION_1 (acos)
ASSAY_FUNCTION_1 (atan)
ASSAY_FUNCTION_1 (sinh)
ASSAY_FUNCTION_1 (cosh)
ASSAY_FUNCTION_1 (tanh)
ASSAY_FUNCTION_1 (asinh)
ASSAY_FUNCTION_1 (acosh)
ASSAY_FUNCTION_1 (atanh)
ASSAY_FUNCTION_1 (erf)
ASSAY_FUNCTION_1 (erfc)
ASSAY_FUNCTION_1 (lgamma)
ASSAY_FUNCTION_1 (tgamma)
ASSAY_FUNCTION_1 (fabs)
ASSAY_FUNCTION_1 (floor)
ASSAY_FUNCTION_1 (ceil)
ASSAY_FUNCTION_1 (trunc)
ASSAY_FUNCTION_1 (round)
ASSAY_FUNCTION_1 (rint)
ASSAY_FUNCTION_2 (pow)
ASSAY_FUNCTION_2 (atan2)
ASSAY_FUNCTION_2 (hypot)
ASSAY_FUNCTION_2 (fmod)
ASSAY_FUNCTION_2 (fmax)
ASSAY_FUNCTION_2 (fmin)
ASSAY_FUNCTION_2 (copysign)

static inline REAL __attribute__ ((unused))
r_fma (REAL x, REAL y, REAL z)
{
  return ASSAY_NAME (fma) (x, y, z);
}

static inline REAL __attribute__ ((unused))
r_rsqrt (REAL x)
{
  return 1 / r_sqrt (x);
}

static inline int __attribute__ ((unused))
r_isnan (REAL x)
{
  return x != x;
}

static inline int __attribute__ ((unused))
r_isinf (REAL x)
{
  return x == REAL_INFINITY || x == -REAL_INFINITY;
}

/* Rounds to a format of `precision` bits (the hidden one counted) whose smallest normal exponent is
 * `least`. What exceeds `largest` becomes infinity (overflow 0), NaN (1) or the largest value (2). */
static inline REAL __attribute__ ((unused))
assay_round_to (REAL x, int precision, int least, REAL largest, int overflow)
{
  if (x == 0 || r_isnan (x))
    return x;
  REAL result = x;
  if (!r_isinf (x))
    {
      int exponent = ASSAY_NAME (ilogb) (x);
      if (exponent < least)
        exponent = least;
      REAL unit = ASSAY_NAME (scalbn) (1, exponent - precision + 1);
      result = r_rint (x / unit) * unit;
    }
  if (result <= largest && result >= -largest)
    return result;
  if (overflow == 2)
    return r_copysign (largest, x);
  return overflow == 1 ? REAL_INFINITY - REAL_INFINITY : r_copysign (REAL_INFINITY, x);
}

#if ASSAY_REAL == 1
#define assay_round_float64(x) (x)
#define assay_round_float32(x) (x)
#elif ASSAY_REAL == 2
#define assay_round_float64(x) (x)
#define assay_round_float32(x) ((REAL) (float) (x))
#else
#define assay_round_float64(x) ((REAL) (double) (x))
#define assay_round_float32(x) ((REAL) (float) (x))
#endif
#define assay_round_tfloat32(x) assay_round_to (x, 11, -126, (REAL) 0x1.ffcp127, 0)
#define assay_round_float16(x) assay_round_to (x, 11, -14, 65504, 0)
#define assay_round_bfloat16(x) assay_round_to (x, 8, -126, (REAL) 0x1.fep127, 0)
#define assay_round_float8_e4m3fn(x) assay_round_to (x, 4, -6, 448, 1)
#define assay_round_float8_e4m3(x) assay_round_to (x, 4, -6, 240, 0)
#define assay_round_float8_e5m2(x) assay_round_to (x, 3, -14, 57344, 0)
#define assay_round_float8_e4m3fnuz(x) assay_round_to (x, 4, -7, 240, 1)
#define assay_round_float8_e5m2fnuz(x) assay_round_to (x, 3, -15, 57344, 1)
#define assay_round_float6_e2m3(x) assay_round_to (x, 4, 0, R (7.5), 2)
#define assay_round_float6_e3m2(x) assay_round_to (x, 3, -2, 28, 2)
#define assay_round_float4_e2m1(x) assay_round_to (x, 2, 0, 6, 2)

#define ROUND_TO(dtype, value) assay_round_##dtype (value)
