/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/exec/atomics.h"

#include <stdbool.h>
#include <stdint.h>

/* Types that only matrices have. */
enum
{
  VGPU_TYPE_S4 = VGPU_TYPES,
  VGPU_TYPE_U4,
  VGPU_TYPE_B1,
  VGPU_TYPE_E4M3,
  VGPU_TYPE_E5M2
};

/* One form of mma.sync or wmma, kept in the kernel's list of further operands before its rows:
 * fields in the order of this struct, then the registers of d, a, b and c. */
typedef struct
{
  int32_t m, n, k;
  int32_t type;         /* VgpuType of a and b; VGPU_TYPE_U32 stands for tf32 */
  int32_t type_b;       /* of b where it differs in sign */
  int32_t accumulator;  /* VgpuType of c */
  int32_t result;       /* VgpuType of d */
  int32_t opaque;       /* wmma: the layout is our own */
  int32_t registers[4]; /* of d, a, b, c */
  int32_t maps[4];      /* of d, a, b, c: index into the kernel's further operands */
} VgpuMatrixForm;

/* A map has VGPU_LANES entries for each element that a lane holds: row and column. */
#define VGPU_MATRIX_MAP(row, column) ((int32_t) ((row) << 8 | (column)))
#define VGPU_MATRIX_ROW(entry) ((uint32_t) (entry) >> 8)
#define VGPU_MATRIX_COLUMN(entry) ((uint32_t) (entry) &0xff)

#define VGPU_MATRIX_FORM_WORDS ((int) (sizeof (VgpuMatrixForm) / sizeof (int32_t)))

typedef enum
{
  VGPU_MATRIX_D,
  VGPU_MATRIX_A,
  VGPU_MATRIX_B,
  VGPU_MATRIX_C
} VgpuMatrixPart;

/* Elements of a type in a register of 32 bits. Of single bits, 32 count as one element; binary64 has
 * registers of 64 bits. */
static inline uint32_t
vgpu_matrix_per_register (int32_t type)
{
  if (type == VGPU_TYPE_F16 || type == VGPU_TYPE_BF16)
    return 2;
  if (type == VGPU_TYPE_S4 || type == VGPU_TYPE_U4)
    return 8;
  return type == VGPU_TYPE_U8 || type == VGPU_TYPE_S8 || type == VGPU_TYPE_E4M3
                 || type == VGPU_TYPE_E5M2
             ? 4
             : 1;
}

static inline uint32_t
vgpu_matrix_elements (const VgpuMatrixForm *form, VgpuMatrixPart part)
{
  int32_t type = part == VGPU_MATRIX_D   ? form->result
                 : part == VGPU_MATRIX_C ? form->accumulator
                                         : form->type;
  return (uint32_t) form->registers[part] * vgpu_matrix_per_register (type);
}

/* Row and column of an element that lane holds: index counts the elements of its registers.
 *
 * mma.sync: PTX ISA, "Matrix Fragments for mma.m16n8k…". wmma: the ISA leaves the layout open; here
 * the elements lie in order, b by columns, and what is held twice repeats. */
static inline void
vgpu_matrix_place (const VgpuMatrixForm *form, VgpuMatrixPart part, uint32_t lane, uint32_t index,
                   uint32_t *row, uint32_t *column)
{
  int32_t type = part == VGPU_MATRIX_D   ? form->result
                 : part == VGPU_MATRIX_C ? form->accumulator
                                         : form->type;
  uint32_t per = vgpu_matrix_per_register (type);
  uint32_t group = lane >> 2, thread = lane & 3;
  uint32_t reg = index / per, element = index % per;
  if (form->opaque)
    {
      uint32_t rows = (uint32_t) (part == VGPU_MATRIX_B ? form->k : form->m);
      uint32_t columns = (uint32_t) (part == VGPU_MATRIX_A ? form->k : form->n);
      uint32_t held = (uint32_t) form->registers[part] * per;
      uint32_t at = (lane * held + index) % (rows * columns);
      *row = part == VGPU_MATRIX_B ? at % rows : at / columns;
      *column = part == VGPU_MATRIX_B ? at / rows : at % columns;
      return;
    }
  switch (part)
    {
    case VGPU_MATRIX_A:
      *row = group + 8 * (reg & 1);
      *column = thread * per + element + (reg >> 1) * 4 * per;
      return;
    case VGPU_MATRIX_B:
      *row = thread * per + element + reg * 4 * per;
      *column = group;
      return;
    default:
      /* Two neighbours in a row, then the same eight rows below. */
      *row = group + 8 * (index >> 1);
      *column = thread * 2 + (index & 1);
    }
}
