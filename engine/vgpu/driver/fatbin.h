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

/* A container with this text as its one entry, for any device; and the wrapper of several containers that
 * are to be linked, which they must outlive. Freed with free (). */
void *vgpu_fatbin_of_text (const char *text, size_t length);
#define VGPU_FATBIN_WRAPPER_BYTES 24
void *vgpu_fatbin_of_parts (void *const *parts);

void vgpu_texts_clear (VgpuTexts *texts);
