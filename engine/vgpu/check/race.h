/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/check/check.h"

/* One request against all that is known of every word. values: what a store wrote, its rows side by
 * side as they were then; NULL: they still hold it. */
void vgpu_race_exactly (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request,
                        uint64_t first, const int32_t *relative, uint32_t mask, const char *values);
