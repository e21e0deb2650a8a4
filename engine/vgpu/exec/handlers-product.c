/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/vgpu/exec/handlers.h"
#include "engine/vgpu/exec/product.h"

VGPU_HANDLER (PRODUCT)
{
  vgpu_product (warp, ins);
  return ins + 1;
}

VGPU_HANDLER (WIDE_LOAD)
{
  vgpu_move_wide (warp, ins, false);
  return ins + 1;
}

VGPU_HANDLER (WIDE_STORE)
{
  vgpu_move_wide (warp, ins, true);
  return ins + 1;
}

VGPU_HANDLER (MOVE_MATRIX)
{
  vgpu_move_matrix (warp, ins);
  return ins + 1;
}
