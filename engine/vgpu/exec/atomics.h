/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Kinds of atom and red, kept in the target field of their instruction: kind, then type. */
typedef enum
{
  VGPU_ATOM_ADD,
  VGPU_ATOM_MIN,
  VGPU_ATOM_MAX,
  VGPU_ATOM_INC,
  VGPU_ATOM_DEC,
  VGPU_ATOM_AND,
  VGPU_ATOM_OR,
  VGPU_ATOM_XOR,
  VGPU_ATOM_EXCH,
  VGPU_ATOM_CAS,
  VGPU_ATOM_KINDS
} VgpuAtom;

typedef enum
{
  VGPU_TYPE_U8,
  VGPU_TYPE_S8,
  VGPU_TYPE_U16,
  VGPU_TYPE_S16,
  VGPU_TYPE_U32,
  VGPU_TYPE_S32,
  VGPU_TYPE_U64,
  VGPU_TYPE_S64,
  VGPU_TYPE_F16,
  VGPU_TYPE_BF16,
  VGPU_TYPE_F32,
  VGPU_TYPE_F64,
  VGPU_TYPE_F16X2,
  VGPU_TYPE_BF16X2,
  VGPU_TYPE_E4M3X2,
  VGPU_TYPE_E5M2X2,
  VGPU_TYPES
} VgpuType;

#define VGPU_ATOM_CODE(kind, type) ((unsigned) (kind) *256 + (unsigned) (type))
