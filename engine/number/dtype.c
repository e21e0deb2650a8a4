/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/number/dtype.h"

#include <float.h>
#include <string.h>

#define NAME(symbol, name) name,
const char *const ASSAY_DTYPE_NAMES[] = {ASSAY_DTYPES (NAME) NULL};
#undef NAME

enum
{
  INF = 1, /* has infinities */
  NAN_ = 2,
  NEG0 = 4,
  SIGN = 8,
  IEEE = INF | NAN_ | NEG0 | SIGN,
};

/* clang-format off */
#define ROW(symbol, family, parts, width, exponent, fraction, offset, has, max, min, tiny) \
  [ASSAY_DTYPE_##symbol] = { \
    .kind = ASSAY_DTYPE_KIND_##family, .components = parts, .bits = width, \
    .component_bytes = (width + 7) / 8, .item_bytes = parts * ((width + 7) / 8), \
    .exponent_bits = exponent, .fraction_bits = fraction, .bias = offset, \
    .has_infinity = ((has) & INF) != 0, .has_nan = ((has) & NAN_) != 0, \
    .has_negative_zero = ((has) & NEG0) != 0, .has_sign = ((has) & SIGN) != 0, \
    .max_finite = max, .min_normal = min, .min_subnormal = tiny},

/* kind, components, bits, exponent bits, fraction bits, bias, has, max, min normal, min subnormal */
static const AssayFormat FORMATS[ASSAY_N_DTYPES] = {
  ROW (FLOAT64, FLOAT, 1, 64, 11, 52, 1023, IEEE, DBL_MAX, 0x1p-1022, 0x1p-1074)
  ROW (FLOAT32, FLOAT, 1, 32, 8, 23, 127, IEEE, 0x1.fffffep127, 0x1p-126, 0x1p-149)
  ROW (TFLOAT32, FLOAT, 1, 32, 8, 10, 127, IEEE, 0x1.ffcp127, 0x1p-126, 0x1p-136)
  ROW (FLOAT16, FLOAT, 1, 16, 5, 10, 15, IEEE, 65504, 0x1p-14, 0x1p-24)
  ROW (BFLOAT16, FLOAT, 1, 16, 8, 7, 127, IEEE, 0x1.fep127, 0x1p-126, 0x1p-133)
  ROW (FLOAT8_E4M3FN, FLOAT, 1, 8, 4, 3, 7, NAN_ | NEG0 | SIGN, 448, 0x1p-6, 0x1p-9)
  ROW (FLOAT8_E4M3, FLOAT, 1, 8, 4, 3, 7, IEEE, 240, 0x1p-6, 0x1p-9)
  ROW (FLOAT8_E5M2, FLOAT, 1, 8, 5, 2, 15, IEEE, 57344, 0x1p-14, 0x1p-16)
  ROW (FLOAT8_E4M3FNUZ, FLOAT, 1, 8, 4, 3, 8, NAN_ | SIGN, 240, 0x1p-7, 0x1p-10)
  ROW (FLOAT8_E5M2FNUZ, FLOAT, 1, 8, 5, 2, 16, NAN_ | SIGN, 57344, 0x1p-15, 0x1p-17)
  ROW (FLOAT6_E2M3, FLOAT, 1, 6, 2, 3, 1, NEG0 | SIGN, 7.5, 1, 0.125)
  ROW (FLOAT6_E3M2, FLOAT, 1, 6, 3, 2, 3, NEG0 | SIGN, 28, 0.25, 0x1p-4)
  ROW (FLOAT4_E2M1, FLOAT, 1, 4, 2, 1, 1, NEG0 | SIGN, 6, 1, 0.5)
  ROW (FLOAT8_E8M0, FLOAT, 1, 8, 8, 0, 127, NAN_, 0x1p127, 0x1p-127, 0x1p-127)
  ROW (INT64, INT, 1, 64, 0, 0, 0, SIGN, 0x1p63, 0, 1)
  ROW (INT32, INT, 1, 32, 0, 0, 0, SIGN, INT32_MAX, 0, 1)
  ROW (INT16, INT, 1, 16, 0, 0, 0, SIGN, INT16_MAX, 0, 1)
  ROW (INT8, INT, 1, 8, 0, 0, 0, SIGN, INT8_MAX, 0, 1)
  ROW (UINT64, UINT, 1, 64, 0, 0, 0, 0, 0x1p64, 0, 1)
  ROW (UINT32, UINT, 1, 32, 0, 0, 0, 0, UINT32_MAX, 0, 1)
  ROW (UINT16, UINT, 1, 16, 0, 0, 0, 0, UINT16_MAX, 0, 1)
  ROW (UINT8, UINT, 1, 8, 0, 0, 0, 0, UINT8_MAX, 0, 1)
  ROW (BOOL, BOOL, 1, 8, 0, 0, 0, 0, 1, 0, 1)
  ROW (COMPLEX64, FLOAT, 2, 32, 8, 23, 127, IEEE, 0x1.fffffep127, 0x1p-126, 0x1p-149)
  ROW (COMPLEX128, FLOAT, 2, 64, 11, 52, 1023, IEEE, DBL_MAX, 0x1p-1022, 0x1p-1074)
};
/* clang-format on */

const AssayFormat *
assay_dtype_format (AssayDtype dtype)
{
  return &FORMATS[dtype];
}

const char *
assay_dtype_name (AssayDtype dtype)
{
  return dtype >= 0 && dtype < ASSAY_N_DTYPES ? ASSAY_DTYPE_NAMES[dtype] : "unknown";
}

AssayDtype
assay_dtype_from_name (const char *name)
{
  for (int i = 0; name && i < ASSAY_N_DTYPES; i++)
    if (strcmp (name, ASSAY_DTYPE_NAMES[i]) == 0)
      return (AssayDtype) i;
  return ASSAY_DTYPE_UNKNOWN;
}

bool
assay_dtype_is_float (AssayDtype dtype)
{
  return FORMATS[dtype].kind == ASSAY_DTYPE_KIND_FLOAT;
}

AssayDtype
assay_dtype_component (AssayDtype dtype)
{
  return dtype == ASSAY_DTYPE_COMPLEX64    ? ASSAY_DTYPE_FLOAT32
         : dtype == ASSAY_DTYPE_COMPLEX128 ? ASSAY_DTYPE_FLOAT64
                                           : dtype;
}
