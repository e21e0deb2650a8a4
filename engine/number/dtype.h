/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The element types of task arrays: names, layouts of the formats, exact decoding, rounding once.
 *
 * A "code" is the bit pattern of one component in the low bits of a uint64_t. Complex types have two
 * components (real, imaginary), all others one. In arrays every component takes component_bytes,
 * little-endian; the 6- and 4-bit formats take one byte each with the code in the low bits, and
 * tfloat32 takes four with the low 13 bits zero (a reader ignores them, as the hardware does).
 *
 * Format constants: IEEE 754-2019 §3.6; OCP 8-bit floating point specification 1.0 (e4m3fn, e5m2);
 * OCP microscaling formats 1.0 (e2m3, e3m2, e2m1, e8m0); the fnuz flavours have one NaN, 0x80, and
 * neither infinities nor a negative zero; float8_e4m3 is the IEEE-like one with infinities. */

/* X (symbol, name); everything else about a dtype is one row of the table in dtype.c. */
/* clang-format off */
#define ASSAY_DTYPES(X) \
  X (FLOAT64, "float64") \
  X (FLOAT32, "float32") \
  X (TFLOAT32, "tfloat32") \
  X (FLOAT16, "float16") \
  X (BFLOAT16, "bfloat16") \
  X (FLOAT8_E4M3FN, "float8_e4m3fn") \
  X (FLOAT8_E4M3, "float8_e4m3") \
  X (FLOAT8_E5M2, "float8_e5m2") \
  X (FLOAT8_E4M3FNUZ, "float8_e4m3fnuz") \
  X (FLOAT8_E5M2FNUZ, "float8_e5m2fnuz") \
  X (FLOAT6_E2M3, "float6_e2m3") \
  X (FLOAT6_E3M2, "float6_e3m2") \
  X (FLOAT4_E2M1, "float4_e2m1") \
  X (FLOAT8_E8M0, "float8_e8m0") \
  X (INT64, "int64") \
  X (INT32, "int32") \
  X (INT16, "int16") \
  X (INT8, "int8") \
  X (UINT64, "uint64") \
  X (UINT32, "uint32") \
  X (UINT16, "uint16") \
  X (UINT8, "uint8") \
  X (BOOL, "bool") \
  X (COMPLEX64, "complex64") \
  X (COMPLEX128, "complex128")
/* clang-format on */

#define ASSAY_DTYPE_SYMBOL(symbol, ...) ASSAY_DTYPE_##symbol,
typedef enum
{
  ASSAY_DTYPES (ASSAY_DTYPE_SYMBOL) ASSAY_N_DTYPES,
  ASSAY_DTYPE_UNKNOWN = -1,
} AssayDtype;
#undef ASSAY_DTYPE_SYMBOL

typedef enum
{
  ASSAY_DTYPE_KIND_FLOAT,
  ASSAY_DTYPE_KIND_INT,
  ASSAY_DTYPE_KIND_UINT,
  ASSAY_DTYPE_KIND_BOOL,
} AssayDtypeKind;

typedef struct
{
  AssayDtypeKind kind;
  int components;      /* 2 for complex, else 1 */
  int bits;            /* of one component as a format; 32 for tfloat32, as it is stored */
  int component_bytes; /* of one component in an array */
  int item_bytes;      /* of one element in an array */
  int exponent_bits;   /* 0 for integers, as are the two below */
  int fraction_bits;   /* explicit; the precision p is one more */
  int bias;
  bool has_infinity, has_nan, has_negative_zero, has_sign;
  double max_finite;    /* of integers too, rounded to double above 2^53 */
  double min_normal;    /* smallest positive; 0 for integers */
  double min_subnormal; /* smallest positive of all; 1 for integers */
} AssayFormat;

typedef enum
{
  ASSAY_ROUND_NEAREST_EVEN,
  ASSAY_ROUND_TOWARD_ZERO,
  ASSAY_ROUND_STOCHASTIC, /* for assay_dtype_encode_stochastic and block formats */
} AssayRounding;

/* Names in enum order, NULL-terminated: usable as words of a JSON enum. */
extern const char *const ASSAY_DTYPE_NAMES[];

const AssayFormat *assay_dtype_format (AssayDtype dtype);
const char *assay_dtype_name (AssayDtype dtype);
/* ASSAY_DTYPE_UNKNOWN for a name we do not know (or NULL). */
AssayDtype assay_dtype_from_name (const char *name);
bool assay_dtype_is_float (AssayDtype dtype);
/* float32 for complex64, float64 for complex128, else the type itself. */
AssayDtype assay_dtype_component (AssayDtype dtype);

/* Codes and values. 64-bit integers above 2^53 decode to the nearest double. */
double assay_dtype_decode (AssayDtype dtype, uint64_t code);
bool assay_dtype_code_is_nan (AssayDtype dtype, uint64_t code);

/* One rounding from the exact double to the format.
 *
 * What overflows becomes infinity, or NaN where the format has no infinity, or the largest finite
 * value where it has neither (fp6, fp4); with ASSAY_ROUND_TOWARD_ZERO, or `saturate`, the largest
 * finite value always (and with `saturate` infinities too, as cvt.satfinite does). A NaN keeps sign
 * and leading payload bits, quiet; formats without NaN get the largest positive value, as
 * cvt.satfinite gives. Integers round by `rounding` and saturate; NaN becomes 0. bool is value != 0.
 * float8_e8m0 has no zero: what is below 2^-127 becomes 2^-127, negative values NaN. */
uint64_t assay_dtype_encode_as (AssayDtype dtype, double value, AssayRounding rounding,
                                bool saturate);
/* To one of the two neighbours in the format, to the farther from zero with the probability of what lies
 * beyond the nearer one: `random` holds 64 random bits, and is compared with that part as a fraction.
 * Exact values stay; a magnitude that would overflow becomes what encode_as makes of it. For float types
 * with a sign, but float64, whose doubles are exact. */
uint64_t assay_dtype_encode_stochastic (AssayDtype dtype, double value, uint64_t random,
                                        bool saturate);
/* To nearest, ties to even, not saturating. */
uint64_t assay_dtype_encode (AssayDtype dtype, double value);
/* RN (high + low) without double rounding, for an unevaluated pair with |low| <= ulp (high) / 2.
 * A format of 51 or fewer bits of precision is rounded from the pair made odd (Boldo & Melquiond
 * 2008: rounding to odd first, then to nearest, is one rounding); for float64 it is `high`. */
uint64_t assay_dtype_encode_pair (AssayDtype dtype, double high, double low);

/* Component `index` of an array. */
uint64_t assay_dtype_load (AssayDtype dtype, const void *data, size_t index);
void assay_dtype_store (AssayDtype dtype, void *data, size_t index, uint64_t code);
/* `count` components, from the first given. */
void assay_dtype_decode_array (AssayDtype dtype, const void *data, size_t first, size_t count,
                               double *values);
void assay_dtype_encode_array (AssayDtype dtype, const double *values, size_t count, void *data,
                               size_t first);

/* An unsigned key that grows with the value; both zeros share one. Undefined for NaN. */
uint64_t assay_dtype_key (AssayDtype dtype, uint64_t code);
/* |key (a) - key (b)|: the number of steps between the two; infinity is one step beyond the largest
 * finite value. Cannot wrap. Undefined for NaN. */
uint64_t assay_dtype_ulp_distance (AssayDtype dtype, uint64_t a, uint64_t b);
/* Goldberg's unit in the last place of the binade that holds x: 2^(max (e, e_min) - p + 1) with
 * 2^e <= |x| < 2^(e+1), gap above at a power of two; beyond the format's range the ulp of its
 * largest binade; 1 for integers. x is the exact or high-precision value. */
double assay_dtype_ulp (AssayDtype dtype, double x);
