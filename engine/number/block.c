/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/number/block.h"

#include <math.h>
#include <string.h>

static const AssayBlockFormat FORMATS[ASSAY_N_BLOCK_TYPES] = {
    [ASSAY_BLOCK_MXFP8_E4M3] = {"mxfp8_e4m3", ASSAY_DTYPE_FLOAT8_E4M3FN, ASSAY_DTYPE_FLOAT8_E8M0,
                                32, 8, 1, false},
    [ASSAY_BLOCK_MXFP8_E5M2] = {"mxfp8_e5m2", ASSAY_DTYPE_FLOAT8_E5M2, ASSAY_DTYPE_FLOAT8_E8M0, 32,
                                15, 1, false},
    [ASSAY_BLOCK_MXFP6_E2M3] = {"mxfp6_e2m3", ASSAY_DTYPE_FLOAT6_E2M3, ASSAY_DTYPE_FLOAT8_E8M0, 32,
                                2, 1, false},
    [ASSAY_BLOCK_MXFP6_E3M2] = {"mxfp6_e3m2", ASSAY_DTYPE_FLOAT6_E3M2, ASSAY_DTYPE_FLOAT8_E8M0, 32,
                                4, 1, false},
    [ASSAY_BLOCK_MXFP4] = {"mxfp4", ASSAY_DTYPE_FLOAT4_E2M1, ASSAY_DTYPE_FLOAT8_E8M0, 32, 2, 1,
                           false},
    [ASSAY_BLOCK_MXINT8] = {"mxint8", ASSAY_DTYPE_INT8, ASSAY_DTYPE_FLOAT8_E8M0, 32, 0, 0x1p-6,
                            false},
    [ASSAY_BLOCK_NVFP4] = {"nvfp4", ASSAY_DTYPE_FLOAT4_E2M1, ASSAY_DTYPE_FLOAT8_E4M3FN, 16, 2, 1,
                           true},
};

const AssayBlockFormat *
assay_block_format (AssayBlockType type)
{
  return &FORMATS[type];
}

AssayBlockType
assay_block_from_name (const char *name)
{
  for (int i = 0; name && i < ASSAY_N_BLOCK_TYPES; i++)
    if (strcmp (name, FORMATS[i].name) == 0)
      return (AssayBlockType) i;
  return ASSAY_BLOCK_UNKNOWN;
}

double
assay_block_tensor_scale (AssayBlockType type, double amax)
{
  if (!FORMATS[type].tensor_scale || !isfinite (amax) || amax == 0)
    return 1;
  float scale = (float) (amax / (6.0 * 448.0));
  return scale > 0 && isfinite (scale) ? scale : 1;
}

double
assay_block_scale (AssayBlockType type, uint64_t scale, double tensor_scale)
{
  return assay_dtype_decode (FORMATS[type].scale, scale) * tensor_scale;
}

void
assay_block_decode (AssayBlockType type, uint64_t scale, double tensor_scale, const uint8_t *codes,
                    size_t count, double *values)
{
  const AssayBlockFormat *f = &FORMATS[type];
  double factor = assay_block_scale (type, scale, tensor_scale);
  for (size_t i = 0; i < count; i++)
    values[i] = assay_dtype_decode (f->element, codes[i]) * f->unit * factor;
}

/* splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t
next_random (uint64_t *state)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

static uint64_t
encode_int8 (double value, AssayRounding rounding, uint64_t *random)
{
  double rounded = rounding == ASSAY_ROUND_NEAREST_EVEN ? nearbyint (value) : trunc (value);
  if (rounding == ASSAY_ROUND_STOCHASTIC)
    rounded = floor (value + (double) (next_random (random) >> 11) * 0x1p-53);
  /* Symmetric, as the specification recommends: -128 is not used. */
  return (uint64_t) (int64_t) fmax (-127, fmin (127, rounded)) & 0xff;
}

static uint8_t
encode_element (const AssayBlockFormat *f, double value, AssayRounding rounding, uint64_t *random)
{
  if (f->element == ASSAY_DTYPE_INT8)
    return (uint8_t) encode_int8 (value / f->unit, rounding, random);
  if (rounding == ASSAY_ROUND_STOCHASTIC)
    return (uint8_t) assay_dtype_encode_stochastic (f->element, value, next_random (random), true);
  return (uint8_t) assay_dtype_encode_as (f->element, value, rounding, true);
}

static uint64_t
choose_scale (const AssayBlockFormat *f, double amax, double tensor_scale)
{
  if (f->tensor_scale)
    return assay_dtype_encode_as (f->scale, amax / 6 / tensor_scale, ASSAY_ROUND_NEAREST_EVEN,
                                  true);
  if (amax == 0)
    return 0;
  int exponent = ilogb (amax) - f->greatest + 127;
  return (uint64_t) (exponent < 0 ? 0 : exponent > 254 ? 254 : exponent);
}

uint64_t
assay_block_encode (AssayBlockType type, const double *values, size_t count, double tensor_scale,
                    AssayRounding rounding, uint64_t *random, uint8_t *codes)
{
  const AssayBlockFormat *f = &FORMATS[type];
  double amax = 0;
  for (size_t i = 0; i < count; i++)
    if (!isfinite (values[i]))
      {
        memset (codes, 0, count);
        return f->tensor_scale ? 0x7f : 0xff;
      }
    else
      amax = fmax (amax, fabs (values[i]));
  uint64_t scale = choose_scale (f, amax, tensor_scale);
  double factor = assay_block_scale (type, scale, tensor_scale);
  for (size_t i = 0; i < count; i++)
    codes[i] = factor > 0 ? encode_element (f, values[i] / factor, rounding, random) : 0;
  return scale;
}

double
assay_block_ulp (AssayBlockType type, uint64_t scale, double tensor_scale, double x)
{
  const AssayBlockFormat *f = &FORMATS[type];
  double factor = assay_block_scale (type, scale, tensor_scale);
  return factor * assay_dtype_ulp (f->element, x / factor) * f->unit;
}

/* ---- comparison ---- */

typedef struct
{
  double values[ASSAY_BLOCK_MOST];
  double amax; /* of what is a number */
} Decoded;

static void
decode_block (AssayBlockType type, AssayBlocks tensor, size_t block, size_t first, size_t n,
              Decoded *out)
{
  assay_block_decode (type, tensor.scales[block], tensor.tensor_scale, tensor.codes + first, n,
                      out->values);
  out->amax = 0;
  for (size_t i = 0; i < n; i++)
    if (fabs (out->values[i]) > out->amax)
      out->amax = fabs (out->values[i]);
}

static void
compare_codes (const AssayBlockFormat *f, AssayBlocks a, AssayBlocks b, size_t first, size_t n,
               AssayBlockDifference *out)
{
  for (size_t i = first; i < first + n; i++)
    {
      out->elements++;
      if (assay_dtype_code_is_nan (f->element, a.codes[i])
          || assay_dtype_code_is_nan (f->element, b.codes[i]))
        continue;
      uint64_t steps = assay_dtype_ulp_distance (f->element, a.codes[i], b.codes[i]);
      out->differ += steps != 0;
      if (steps > out->max_steps)
        {
          out->max_steps = steps;
          out->max_steps_at = i;
        }
    }
}

AssayBlockDifference
assay_blocks_compare (AssayBlockType type, AssayBlocks a, AssayBlocks b, size_t elements)
{
  const AssayBlockFormat *f = &FORMATS[type];
  AssayBlockDifference out = {0};
  for (size_t first = 0; first < elements; first += (size_t) f->size)
    {
      size_t n = elements - first < (size_t) f->size ? elements - first : (size_t) f->size;
      size_t block = first / (size_t) f->size;
      Decoded x, y;
      decode_block (type, a, block, first, n, &x);
      decode_block (type, b, block, first, n, &y);
      bool same = a.scales[block] == b.scales[block] && a.tensor_scale == b.tensor_scale;
      out.blocks++;
      out.other_scale += !same;
      if (same)
        compare_codes (f, a, b, first, n, &out);
      double amax = fmax (x.amax, y.amax);
      for (size_t i = 0; i < n; i++)
        {
          double error = fabs (x.values[i] - y.values[i]) / (amax > 0 ? amax : 1);
          out.nan_differs += isnan (x.values[i]) != isnan (y.values[i]);
          if (error > out.max_error_of_amax)
            {
              out.max_error_of_amax = error;
              out.max_error_at = first + i;
            }
        }
    }
  return out;
}
