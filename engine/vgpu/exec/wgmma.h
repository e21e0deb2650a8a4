/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/exec/machine.h"
#include "engine/vgpu/exec/matrix.h"
#include "engine/vgpu/ptx/operation.h"

/* Products of a warp group (wgmma). Each of its four warps works out its own 16 rows, of a in registers or in
 * shared memory, and b in shared memory. The result is there at once; that nobody may look at the
 * accumulators, or change what is read, before the wait is for a check to see, which keeps the numbers of
 * products under way and what they have read. */

#define VGPU_WGMMA_BYTES 32 /* of k in one row, whatever the type */
#define VGPU_WGMMA_ROWS 16
#define VGPU_WGMMA_COLUMNS 256

/* Kept in the kernel's further operands, before the rows of d. */
typedef struct
{
  int32_t n, k; /* of single bits, k counts words of 32 */
  int32_t type, type_b, result;
  int32_t a_rows[4];        /* of registers; the first alone: a descriptor, if in_memory */
  int32_t b_row, scale_row; /* scale: predicate, VGPU_WGMMA_ALWAYS or VGPU_WGMMA_NEVER */
  int32_t in_memory;
  int32_t turned_a, turned_b; /* k is not the contiguous one */
  int32_t negated;            /* the product: -1 of one factor */
  int32_t saturates;
  int32_t registers; /* of d */
} VgpuWgmmaForm;

#define VGPU_WGMMA_WORDS ((int) (sizeof (VgpuWgmmaForm) / sizeof (int32_t)))
#define VGPU_WGMMA_ALWAYS INT32_MIN
#define VGPU_WGMMA_NEVER (INT32_MIN + 1)

/* What a warp reads: rows of a, columns of b, each VGPU_WGMMA_BYTES in the order of k. */
typedef struct
{
  unsigned char a[VGPU_WGMMA_ROWS][VGPU_WGMMA_BYTES];
  unsigned char b[VGPU_WGMMA_COLUMNS][VGPU_WGMMA_BYTES];
} VgpuWgmmaBytes;

/* Collects the bytes and checks them; false: nothing is to be computed. */
bool vgpu_wgmma_read (VgpuWarp *warp, const VgpuIns *ins, const VgpuWgmmaForm *form,
                      VgpuWgmmaBytes *bytes);
/* The product is under way from here on. */
void vgpu_wgmma_begin (VgpuWarp *warp, const VgpuIns *ins, const VgpuWgmmaForm *form,
                       const VgpuWgmmaBytes *bytes);
void vgpu_wgmma_fence (VgpuWarp *warp);
void vgpu_wgmma_commit (VgpuWarp *warp);
void vgpu_wgmma_wait (VgpuWarp *warp, uint32_t latest);
/* Rows that an instruction reads, at most VGPU_READ_ROWS: its operands, and what a store writes. */
#define VGPU_READ_ROWS 7
static inline uint32_t
vgpu_read_rows (const VgpuKernel *kernel, const VgpuIns *ins, int32_t *rows)
{
  uint32_t count = 0;
  bool stores = ins->op == VGPU_OP_STORE_GLOBAL || ins->op == VGPU_OP_STORE_SHARED
                || ins->op == VGPU_OP_STORE_LOCAL || ins->op == VGPU_OP_STORE_GENERIC;
  rows[count++] = ins->a;
  rows[count++] = ins->b;
  if (ins->op != VGPU_OP_WMMA_LOAD && ins->op != VGPU_OP_WMMA_STORE)
    rows[count++] = ins->c;
  for (uint32_t i = 0; stores && i < ins->vec; i++)
    rows[count++] = ins->vec == 1 ? ins->d : kernel->extra[ins->extra + i];
  return count;
}

/* An instruction that reads or moves rows which may be accumulators. */
void vgpu_wgmma_watch (VgpuWarp *warp, const VgpuIns *ins);
/* The block has ended, or the worker. */
void vgpu_wgmma_forget (VgpuWarp *warp);
void vgpu_wgmma_free (VgpuWarp *warp);
