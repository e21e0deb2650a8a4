/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/array.h"
#include "engine/number/block.h"

G_BEGIN_DECLS

/* A tensor of a block-scaled format (engine/number/block.h) with its scales: blocks lie along the last axis,
 * and the last block of a row may be short. */
typedef struct
{
  AssayBlockType type;
  AssayArray *codes;   /* one byte an element, whatever the file had */
  AssayArray *scales;  /* shape of codes, its last extent divided by the block's and rounded up */
  double tensor_scale; /* 1 where the format has none */
} AssayBlocked;

/* Files hold it in two ways. A .safetensors or .npz file has the codes as one tensor, and beside it scales
 * (NAME.scale, NAME_scale or NAME_scales) and a scale of the whole (NAME.tensor_scale, NAME_tensor_scale
 * or NAME_scale_2, one float32); four-bit codes may lie two to a byte, the first in the lower half, when
 * the scales' shape says so. Raw data has a description beside it whose dtype is the format:
 *
 *   {"dtype": "mxfp4", "shape": [128, 4096], "packing": "low_first", "scales_offset": 262144,
 *    "offset": 0, "tensor_scale": 1}
 *
 * with "packing" "bytes" where it is left out, and scales after the codes where no offset is given. */

/* The format that a raw file's description names; ASSAY_BLOCK_UNKNOWN for any other file. */
AssayBlockType assay_blocked_type_of (const char *path);
/* `type` may be ASSAY_BLOCK_UNKNOWN for raw data. `tensor` may be NULL for raw data. Errors name file and
 * tensor, what was expected and what was found. */
AssayBlocked *assay_blocked_load (const char *path, const char *tensor, AssayBlockType type,
                                  GError **error);
void assay_blocked_free (AssayBlocked *blocked);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayBlocked, assay_blocked_free)

/* (transfer full): the values, exact, in float64. */
AssayArray *assay_blocked_decode (const AssayBlocked *blocked, GError **error);
/* Row by row, indices over the whole; FALSE with an error when format or shape differ. */
gboolean assay_blocked_compare (const AssayBlocked *a, const AssayBlocked *b,
                                AssayBlockDifference *difference, GError **error);

G_END_DECLS
