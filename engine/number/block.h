/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/number/dtype.h"

/* Block-scaled formats: some elements share one scale.
 *
 * MX: OCP Microscaling Formats (MX) Specification 1.0, sections 5 and 6. 32 elements share an E8M0 scale,
 * a power of two; a value is scale times element. MXINT8 elements are two's complement with six fraction
 * bits. Encoding (§6.3): the scale is 2^(floor (log2 (amax)) - e_max of the element), elements are the
 * quotients rounded, and magnitudes beyond the element's largest become the largest.
 *
 * NVFP4: 16 elements of E2M1 share an E4M3 scale, and the whole tensor a float32 scale. Encoding: the
 * tensor's scale is amax / (6 * 448), rounded to float32; a block's is its amax / 6 over that, rounded
 * to E4M3.
 *
 * A block with a NaN or an infinity gets the scale NaN, which makes every element NaN: the specification
 * leaves this open, and most element types have no NaN of their own. A block of zeros gets the least
 * scale there is (NVFP4: zero). */

typedef enum
{
  ASSAY_BLOCK_MXFP8_E4M3,
  ASSAY_BLOCK_MXFP8_E5M2,
  ASSAY_BLOCK_MXFP6_E2M3,
  ASSAY_BLOCK_MXFP6_E3M2,
  ASSAY_BLOCK_MXFP4,
  ASSAY_BLOCK_MXINT8,
  ASSAY_BLOCK_NVFP4,
  ASSAY_N_BLOCK_TYPES,
  ASSAY_BLOCK_UNKNOWN = -1,
} AssayBlockType;

typedef struct
{
  const char *name; /* "mxfp4" */
  AssayDtype element, scale;
  int size;          /* elements a block */
  int greatest;      /* e_max: exponent of the element's largest binade */
  double unit;       /* an element's code 1 as a value: 2^-6 for MXINT8, else 1 */
  bool tensor_scale; /* there is a scale of the whole tensor */
} AssayBlockFormat;

#define ASSAY_BLOCK_MOST 32

const AssayBlockFormat *assay_block_format (AssayBlockType type);
/* ASSAY_BLOCK_UNKNOWN for a name we do not know (or NULL). */
AssayBlockType assay_block_from_name (const char *name);

/* The scale of a whole tensor with the largest magnitude `amax`, exact as a float; 1 where the format has
 * none, or amax is zero or not finite. */
double assay_block_tensor_scale (AssayBlockType type, double amax);
/* What the elements of a block are multiplied by; NaN for the code of NaN. */
double assay_block_scale (AssayBlockType type, uint64_t scale, double tensor_scale);

/* `count` elements, at most the size of a block, and its scale. */
void assay_block_decode (AssayBlockType type, uint64_t scale, double tensor_scale,
                         const uint8_t *codes, size_t count, double *values);
/* Returns the scale's code. `random` is the state of the generator for ASSAY_ROUND_STOCHASTIC (splitmix64:
 * any value starts it), else it may be NULL. The scale itself is never rounded by chance. */
uint64_t assay_block_encode (AssayBlockType type, const double *values, size_t count,
                             double tensor_scale, AssayRounding rounding, uint64_t *random,
                             uint8_t *codes);

/* The unit in the last place at x within a block: scale times the element's own ulp of x / scale. */
double assay_block_ulp (AssayBlockType type, uint64_t scale, double tensor_scale, double x);

/* Two blocked tensors of one shape, block by block. Codes are only compared under equal scales: a
 * distance of codes across scales means nothing. */
typedef struct
{
  uint64_t blocks, other_scale; /* blocks; those whose scales differ */
  uint64_t elements, differ;    /* elements under equal scales; those with other codes */
  uint64_t max_steps;           /* between codes under equal scales */
  uint64_t max_steps_at;
  uint64_t nan_differs;     /* NaN on one side alone, under any scales */
  double max_error_of_amax; /* |a - b| over the larger amax of the two blocks, decoded */
  uint64_t max_error_at;
} AssayBlockDifference;

typedef struct
{
  const uint8_t *codes;  /* one byte an element */
  const uint8_t *scales; /* one a block; the last block may be short */
  double tensor_scale;
} AssayBlocks;

AssayBlockDifference assay_blocks_compare (AssayBlockType type, AssayBlocks a, AssayBlocks b,
                                           size_t elements);
