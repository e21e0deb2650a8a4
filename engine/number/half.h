/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <string.h>

/* Exact conversions between binary32/binary64 and the two 16-bit formats.
 *
 * half:   1 sign, 5 exponent, 10 fraction bits (IEEE 754-2019 binary16).
 * bfloat: 1 sign, 8 exponent, 7 fraction bits (the upper half of a binary32).
 *
 * Widening is exact. Narrowing rounds to nearest, ties to even, overflows to infinity and keeps
 * subnormals. A NaN stays a NaN: quiet, same sign, leading payload bits kept. The code is free of
 * branches where that matters, so that loops over arrays vectorise. */

static inline uint32_t
assay_float_bits (float value)
{
  uint32_t bits;
  memcpy (&bits, &value, sizeof bits);
  return bits;
}

static inline float
assay_float_from_bits (uint32_t bits)
{
  float value;
  memcpy (&value, &bits, sizeof value);
  return value;
}

static inline uint64_t
assay_double_bits (double value)
{
  uint64_t bits;
  memcpy (&bits, &value, sizeof bits);
  return bits;
}

static inline float
assay_half_to_float (uint16_t half)
{
  uint32_t magnitude = half & 0x7fffu;
  uint32_t sign = (uint32_t) (half & 0x8000u) << 16;
  uint32_t normal = (magnitude << 13) + (112u << 23);
  uint32_t subnormal = assay_float_bits ((float) (int32_t) magnitude * 0x1p-24f);
  uint32_t bits = magnitude < 0x0400u ? subnormal : normal;
  bits = magnitude >= 0x7c00u ? normal + (112u << 23) : bits;
  bits |= magnitude > 0x7c00u ? 0x00400000u : 0u;
  return assay_float_from_bits (bits | sign);
}

static inline uint16_t
assay_float_to_half (float value)
{
  uint32_t bits = assay_float_bits (value);
  uint32_t sign = bits >> 16 & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t normal = ((magnitude + 0x0fffu + (magnitude >> 13 & 1u)) >> 13) - (112u << 10);
  /* The spacing of floats in [0.5, 1) is that of half's subnormals: one addition rounds. */
  uint32_t small =
      assay_float_bits (assay_float_from_bits (magnitude & 0x3fffffffu) + 0.5f) - 0x3f000000u;
  uint32_t half = magnitude < 0x38800000u ? small : normal;
  half = magnitude >= 0x477ff000u ? 0x7c00u : half;
  half = magnitude > 0x7f800000u ? 0x7e00u | (magnitude >> 13 & 0x1ffu) : half;
  return (uint16_t) (half | sign);
}

static inline float
assay_bfloat_to_float (uint16_t bfloat)
{
  return assay_float_from_bits ((uint32_t) bfloat << 16);
}

static inline uint16_t
assay_float_to_bfloat (float value)
{
  uint32_t bits = assay_float_bits (value);
  uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  uint32_t nan = bits >> 16 | 0x40u;
  return (uint16_t) ((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

/* One rounding from binary64 to a format of the given shape, result in the low bits.
 * exponent_bias 15 and fraction_bits 10 for half, 127 and 7 for bfloat. */
static inline uint16_t
assay_double_to_narrow (double value, int exponent_bias, int fraction_bits)
{
  uint64_t bits = assay_double_bits (value);
  uint32_t sign = (uint32_t) (bits >> 48) & 0x8000u;
  uint64_t magnitude = bits & 0x7fffffffffffffffull;
  uint32_t infinity = (uint32_t) (2 * exponent_bias + 1) << fraction_bits;
  if (magnitude > 0x7ff0000000000000ull)
    {
      uint32_t payload = (uint32_t) (magnitude >> (52 - fraction_bits));
      uint32_t quiet = 1u << (fraction_bits - 1);
      return (uint16_t) (sign | infinity | quiet | (payload & (quiet - 1)));
    }
  int exponent = (int) (magnitude >> 52) - 1023 + exponent_bias;
  if (exponent > 2 * exponent_bias)
    return (uint16_t) (sign | infinity);
  uint64_t fraction = magnitude >> 52 ? (magnitude & 0xfffffffffffffull) | 1ull << 52 : 0;
  int shift = 52 - fraction_bits + (exponent < 1 ? 1 - exponent : 0);
  if (shift > 62)
    return (uint16_t) sign;
  uint64_t kept = fraction >> shift;
  uint64_t rest = fraction & ((1ull << shift) - 1);
  uint64_t tie = 1ull << (shift - 1);
  kept += rest > tie || (rest == tie && (kept & 1));
  /* The hidden bit carries into the exponent field, and so does a rounding overflow. */
  uint64_t base = exponent < 1 ? 0 : (uint64_t) (exponent - 1) << fraction_bits;
  return (uint16_t) (sign | (uint32_t) (base + kept));
}

static inline uint16_t
assay_double_to_half (double value)
{
  return assay_double_to_narrow (value, 15, 10);
}

static inline uint16_t
assay_double_to_bfloat (double value)
{
  return assay_double_to_narrow (value, 127, 7);
}
