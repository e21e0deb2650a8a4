/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/number/dtype.h"
#include "engine/number/half.h"

#include <math.h>

/* Codes are handled as the format's own bits: tfloat32 is seen as 19 bits while it is worked on. */
#define TF32_SHIFT 13

static inline double
double_from_bits (uint64_t bits)
{
  double value;
  memcpy (&value, &bits, sizeof value);
  return value;
}

static inline int
format_bits (const AssayFormat *f)
{
  return 1 + f->exponent_bits + f->fraction_bits;
}

static inline uint64_t
unpack_code (AssayDtype dtype, uint64_t code)
{
  return dtype == ASSAY_DTYPE_TFLOAT32 ? code >> TF32_SHIFT : code;
}

static inline uint64_t
pack_code (AssayDtype dtype, uint64_t code)
{
  return dtype == ASSAY_DTYPE_TFLOAT32 ? code << TF32_SHIFT : code;
}

static double
decode_e8m0 (uint64_t code)
{
  return code == 0xff ? NAN : double_from_bits ((uint64_t) (code + 1023 - 127) << 52);
}

/* The largest magnitude code that is a finite number. */
static uint64_t
max_code (AssayDtype dtype, const AssayFormat *f)
{
  uint64_t all = (1ull << (format_bits (f) - 1)) - 1;
  if (f->has_infinity)
    return (((1ull << f->exponent_bits) - 1) << f->fraction_bits) - 1;
  return dtype == ASSAY_DTYPE_FLOAT8_E4M3FN ? all - 1 : all;
}

static double
decode_float (AssayDtype dtype, uint64_t code)
{
  const AssayFormat *f = assay_dtype_format (dtype);
  code = unpack_code (dtype, code);
  int bits = format_bits (f);
  uint64_t sign = code >> (bits - 1) & 1;
  uint64_t magnitude = code & ((1ull << (bits - 1)) - 1);
  if (sign && magnitude == 0 && !f->has_negative_zero)
    return NAN;
  if (magnitude > max_code (dtype, f))
    {
      uint64_t fraction = magnitude & ((1ull << f->fraction_bits) - 1);
      if (f->has_infinity && fraction == 0)
        return sign ? -INFINITY : INFINITY;
      uint64_t payload = fraction << (52 - f->fraction_bits);
      return double_from_bits (sign << 63 | 0x7ff8000000000000ull | payload);
    }
  uint64_t exponent = magnitude >> f->fraction_bits;
  uint64_t fraction = magnitude & ((1ull << f->fraction_bits) - 1);
  double value = exponent ? double_from_bits ((exponent + (uint64_t) (1023 - f->bias)) << 52
                                              | fraction << (52 - f->fraction_bits))
                          : (double) fraction * f->min_subnormal;
  return sign ? -value : value;
}

double
assay_dtype_decode (AssayDtype dtype, uint64_t code)
{
  const AssayFormat *f = assay_dtype_format (dtype);
  dtype = assay_dtype_component (dtype);
  switch (dtype)
    {
    case ASSAY_DTYPE_FLOAT64:
      return double_from_bits (code);
    case ASSAY_DTYPE_FLOAT32:
      return (double) assay_float_from_bits ((uint32_t) code);
    case ASSAY_DTYPE_FLOAT8_E8M0:
      return decode_e8m0 (code);
    default:
      break;
    }
  if (f->kind == ASSAY_DTYPE_KIND_FLOAT)
    return decode_float (dtype, code);
  if (f->kind == ASSAY_DTYPE_KIND_BOOL)
    return code != 0;
  if (f->kind == ASSAY_DTYPE_KIND_UINT)
    return (double) code;
  int shift = 64 - f->bits;
  return (double) ((int64_t) (code << shift) >> shift);
}

bool
assay_dtype_code_is_nan (AssayDtype dtype, uint64_t code)
{
  return assay_dtype_is_float (dtype) && isnan (assay_dtype_decode (dtype, code));
}

static uint64_t
encode_integer (const AssayFormat *f, double value, AssayRounding rounding)
{
  if (f->kind == ASSAY_DTYPE_KIND_BOOL)
    return value != 0;
  if (isnan (value))
    return 0;
  double rounded = rounding == ASSAY_ROUND_NEAREST_EVEN ? nearbyint (value) : trunc (value);
  uint64_t mask = f->bits == 64 ? UINT64_MAX : (1ull << f->bits) - 1;
  if (f->kind == ASSAY_DTYPE_KIND_UINT)
    return rounded <= 0 ? 0 : rounded >= ldexp (1, f->bits) ? mask : (uint64_t) rounded;
  double limit = ldexp (1, f->bits - 1);
  if (rounded >= limit)
    return mask >> 1;
  if (rounded <= -limit)
    return (mask >> 1) + 1;
  return (uint64_t) (int64_t) rounded & mask;
}

static uint64_t
encode_e8m0 (double value, AssayRounding rounding, bool saturate)
{
  if (isnan (value) || value < 0)
    return 0xff;
  if (value <= 0x1p-127)
    return 0;
  int exponent = 0;
  double fraction = isinf (value) ? 0 : frexp (value, &exponent); /* [1/2, 1) */
  int code = exponent - 1 + 127;
  bool up = fraction > 0.75 || (fraction == 0.75 && (code & 1));
  code += rounding == ASSAY_ROUND_NEAREST_EVEN && up;
  if (isinf (value) || code > 254)
    return saturate || (rounding == ASSAY_ROUND_TOWARD_ZERO && !isinf (value)) ? 254 : 0xff;
  return (uint64_t) code;
}

static uint64_t
encode_nan (AssayDtype dtype, const AssayFormat *f, uint64_t sign, uint64_t bits)
{
  if (!f->has_nan)
    return max_code (dtype, f);
  if (!f->has_negative_zero)
    return 1ull << (format_bits (f) - 1);
  uint64_t infinity = ((1ull << f->exponent_bits) - 1) << f->fraction_bits;
  if (!f->has_infinity)
    return sign | infinity | ((1ull << f->fraction_bits) - 1);
  uint64_t payload = (bits & 0xfffffffffffffull) >> (52 - f->fraction_bits);
  return sign | infinity | 1ull << (f->fraction_bits - 1) | payload;
}

static uint64_t
encode_overflow (AssayDtype dtype, const AssayFormat *f, uint64_t sign, bool clamp)
{
  if (clamp || (!f->has_infinity && !f->has_nan))
    return sign | max_code (dtype, f);
  if (!f->has_infinity)
    return encode_nan (dtype, f, sign, 0);
  return sign | ((1ull << f->exponent_bits) - 1) << f->fraction_bits;
}

/* Whether to go up by chance: the part below `shift` bits, as a fraction, against random bits. */
static bool
goes_up (uint64_t significand, int shift, uint64_t random)
{
  if (shift >= 128)
    return false;
  uint64_t part = shift > 64 ? significand >> (shift - 64) : significand << (64 - shift);
  return shift > 0 && random < part;
}

/* Magnitude code of significand * 2^(exponent - 52), the significand in [2^52, 2^53). */
static uint64_t
round_magnitude (const AssayFormat *f, int exponent, uint64_t significand, AssayRounding rounding,
                 uint64_t random)
{
  int field = exponent + f->bias;
  int shift = 52 - f->fraction_bits + (field < 1 ? 1 - field : 0);
  if (rounding == ASSAY_ROUND_STOCHASTIC)
    return (field < 1 ? 0 : (uint64_t) (field - 1) << f->fraction_bits)
           + (shift > 62 ? 0 : significand >> shift) + goes_up (significand, shift, random);
  if (shift > 62)
    return 0;
  uint64_t kept = significand >> shift;
  uint64_t rest = shift ? significand & ((1ull << shift) - 1) : 0;
  uint64_t tie = shift ? 1ull << (shift - 1) : 1;
  if (rounding == ASSAY_ROUND_NEAREST_EVEN)
    kept += rest > tie || (rest == tie && (kept & 1));
  /* The hidden bit carries into the exponent field, and so does a rounding overflow. */
  return (field < 1 ? 0 : (uint64_t) (field - 1) << f->fraction_bits) + kept;
}

static uint64_t
encode_float (AssayDtype dtype, double value, AssayRounding rounding, bool saturate,
              uint64_t random)
{
  const AssayFormat *f = assay_dtype_format (dtype);
  uint64_t bits = assay_double_bits (value);
  uint64_t sign = (bits >> 63) << (format_bits (f) - 1);
  uint64_t magnitude = bits & 0x7fffffffffffffffull;
  if (magnitude > 0x7ff0000000000000ull)
    return encode_nan (dtype, f, sign, bits);
  if (magnitude == 0x7ff0000000000000ull)
    return encode_overflow (dtype, f, sign, saturate);
  uint64_t code = 0;
  /* Subnormal doubles are below half the smallest value of every narrower format. */
  if (magnitude >= 0x0010000000000000ull)
    {
      int exponent = (int) (magnitude >> 52) - 1023;
      uint64_t significand = (magnitude & 0xfffffffffffffull) | 1ull << 52;
      if (exponent + f->bias > (1 << f->exponent_bits))
        return encode_overflow (dtype, f, sign, saturate || rounding == ASSAY_ROUND_TOWARD_ZERO);
      code = round_magnitude (f, exponent, significand, rounding, random);
      if (code > max_code (dtype, f))
        return encode_overflow (dtype, f, sign, saturate || rounding == ASSAY_ROUND_TOWARD_ZERO);
    }
  return code == 0 && !f->has_negative_zero ? 0 : sign | code;
}

uint64_t
assay_dtype_encode_as (AssayDtype dtype, double value, AssayRounding rounding, bool saturate)
{
  const AssayFormat *f = assay_dtype_format (dtype);
  dtype = assay_dtype_component (dtype);
  if (f->kind != ASSAY_DTYPE_KIND_FLOAT)
    return encode_integer (f, value, rounding);
  if (dtype == ASSAY_DTYPE_FLOAT8_E8M0)
    return encode_e8m0 (value, rounding, saturate);
  if (dtype == ASSAY_DTYPE_FLOAT64)
    return saturate && isinf (value) ? assay_double_bits (copysign (f->max_finite, value))
                                     : assay_double_bits (value);
  return pack_code (dtype, encode_float (dtype, value, rounding, saturate, 0));
}

uint64_t
assay_dtype_encode_stochastic (AssayDtype dtype, double value, uint64_t random, bool saturate)
{
  dtype = assay_dtype_component (dtype);
  if (dtype == ASSAY_DTYPE_FLOAT64)
    return assay_double_bits (value);
  return pack_code (dtype, encode_float (dtype, value, ASSAY_ROUND_STOCHASTIC, saturate, random));
}

uint64_t
assay_dtype_encode (AssayDtype dtype, double value)
{
  return assay_dtype_encode_as (dtype, value, ASSAY_ROUND_NEAREST_EVEN, false);
}

uint64_t
assay_dtype_encode_pair (AssayDtype dtype, double high, double low)
{
  if (low == 0 || !isfinite (high) || !isfinite (low)
      || assay_dtype_component (dtype) == ASSAY_DTYPE_FLOAT64)
    return assay_dtype_encode (dtype, high);
  uint64_t bits = assay_double_bits (high);
  if (!(bits & 1))
    bits = (low > 0) == (high > 0) ? bits + 1 : bits - 1;
  return assay_dtype_encode (dtype, double_from_bits (bits));
}

uint64_t
assay_dtype_key (AssayDtype dtype, uint64_t code)
{
  const AssayFormat *f = assay_dtype_format (dtype);
  if (f->kind == ASSAY_DTYPE_KIND_INT)
    {
      uint64_t mask = f->bits == 64 ? UINT64_MAX : (1ull << f->bits) - 1;
      return (code + (1ull << (f->bits - 1))) & mask;
    }
  if (f->kind != ASSAY_DTYPE_KIND_FLOAT || dtype == ASSAY_DTYPE_FLOAT8_E8M0)
    return code;
  code = unpack_code (dtype, code);
  uint64_t half = 1ull << (format_bits (f) - 1);
  return code & half ? half - (code & (half - 1)) : half + code;
}

uint64_t
assay_dtype_ulp_distance (AssayDtype dtype, uint64_t a, uint64_t b)
{
  uint64_t x = assay_dtype_key (dtype, a);
  uint64_t y = assay_dtype_key (dtype, b);
  return x > y ? x - y : y - x;
}

double
assay_dtype_ulp (AssayDtype dtype, double x)
{
  const AssayFormat *f = assay_dtype_format (dtype);
  if (f->kind != ASSAY_DTYPE_KIND_FLOAT)
    return 1;
  double magnitude = fabs (x);
  if (!(magnitude < f->max_finite))
    magnitude = f->max_finite;
  if (magnitude < f->min_normal)
    magnitude = f->min_normal;
  /* min_normal and below are doubles' own normals but for float64, whose ulp is its subnormal. */
  int exponent = (int) (assay_double_bits (magnitude) >> 52) - 1023;
  return ldexp (1, exponent - f->fraction_bits);
}
