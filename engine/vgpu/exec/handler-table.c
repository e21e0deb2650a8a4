/* SPDX-License-Identifier: Apache-2.0 */
/* This host's set of handlers, in the order of the operations. */
#include "engine/vgpu/exec/handlers.h"

extern const VgpuHandler VGPU_NAME (handlers)[VGPU_OP_COUNT];

const VgpuHandler VGPU_NAME (handlers)[VGPU_OP_COUNT] = {
#define VGPU_ENTRY(id, pattern, kind, d, a, b, c) [VGPU_OP_##id] = VGPU_NAME (id),
#include "engine/vgpu/ptx/operation-rows.h"
};
