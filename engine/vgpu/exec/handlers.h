/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/exec/lanes.h"
#include "engine/vgpu/ptx/operation.h"

/* One handler per operation, in this host's set. */
#define VGPU_ENTRY(id, pattern, kind, d, a, b, c)                                                  \
  const VgpuIns *VGPU_NAME (id) (VgpuWarp * warp, const VgpuIns *ins);
#include "engine/vgpu/ptx/operation-rows.h"

#define VGPU_HANDLER(id) const VgpuIns *VGPU_NAME (id) (VgpuWarp * warp, const VgpuIns *ins)
