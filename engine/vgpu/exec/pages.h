/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Zeroed memory straight from the system. Where bytes are many, but not too many, they begin at a multiple of 2 MiB and the
 * system is asked for pages of that size: a warp's next access is often a page away. Beyond bytes
 * there are addresses of spare more bytes, which nobody may touch. NULL when there is none. */
void *vgpu_pages_take (uint64_t bytes, uint64_t spare);
void vgpu_pages_give (void *pages, uint64_t bytes, uint64_t spare);
