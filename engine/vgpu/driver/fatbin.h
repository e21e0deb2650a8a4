/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/ptx/source.h"

#include <stddef.h>

/* What nvcc wraps device code in: a container with an entry for each architecture, machine code or PTX,
 * plain or compressed (LZ4 or zstd). Only PTX is of use here. */

typedef struct
{
  char **texts; /* terminated; owned */
  size_t count;
} VgpuTexts;

/* Whether these bytes begin a container, or the wrapper that host code registers. */
bool vgpu_fatbin_is (const void *image);

/* The PTX texts that a device of this number (80 for sm_80) needs: the newest fitting one of each
 * container. Several where the program was linked from relocatable parts. On failure, also when there is
 * only machine code, returns false with a sentence in error (VGPU_ERROR_BYTES); texts is to be
 * cleared all the same. */
bool vgpu_fatbin_texts (const void *image, int device, VgpuTexts *texts, char *error);

void vgpu_texts_clear (VgpuTexts *texts);
