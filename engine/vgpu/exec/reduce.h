/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/exec/atomics.h"

#include <stdint.h>

/* Reductions that bulk copies and red.async make: one element at a time, atomically. code: of an atom
 * (VGPU_ATOM_CODE); bytes: 2, 4 or 8. */
void vgpu_reduce (char *where, uint32_t code, uint32_t bytes, uint64_t value);
