/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/exec/machine.h"
#include "engine/vgpu/exec/matrix.h"

/* Products of the rarer forms of mma.sync and wmma: binary64, four bits, one bit, eight-bit floats, and those
 * that saturate. Compiled once; the usual forms have a handler of their own. */

enum
{
  VGPU_PRODUCT_SATURATES = 1,
  VGPU_PRODUCT_AND = 2, /* of single bits: and, else exclusive or */
  VGPU_PRODUCT_MOST_K = 64
};

/* The instruction's further operands are as those of MMA, but without maps; target: the flags above. Of
 * single bits, k counts words of 32. */
void vgpu_product (VgpuWarp *warp, const VgpuIns *ins);

/* movmatrix: an 8 by 8 matrix of 16-bit elements, transposed. */
void vgpu_move_matrix (VgpuWarp *warp, const VgpuIns *ins);

/* wmma.load and wmma.store of binary64, in the layout of VgpuMatrixForm. */
void vgpu_move_wide (VgpuWarp *warp, const VgpuIns *ins, bool store);
