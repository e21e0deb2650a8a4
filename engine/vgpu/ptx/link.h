/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/ptx/source.h"

/* Makes one source of the parts that a program was compiled from with -rdc=true: declarations find
 * their definitions, weak duplicates go, and what is local to a part gets a name of its own where two
 * parts use the same. Takes the parts, also when it fails. On failure returns false with a sentence in
 * error (VGPU_ERROR_BYTES). */
bool vgpu_source_link (VgpuSource *into, VgpuSource *parts, size_t count, char *error);
