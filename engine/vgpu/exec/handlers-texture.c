/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/vgpu/exec/handlers.h"
#include "engine/vgpu/exec/texture-access.h"

VGPU_HANDLER (TEXTURE_FETCH)
{
  vgpu_texture_fetch (warp, ins);
  return ins + 1;
}

VGPU_HANDLER (TEXTURE_QUERY)
{
  vgpu_texture_query (warp, ins);
  return ins + 1;
}

VGPU_HANDLER (SURFACE_ACCESS)
{
  vgpu_surface_access (warp, ins);
  return ins + 1;
}
