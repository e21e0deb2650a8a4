/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum
{
#define VGPU_ENTRY(id, pattern, kind, d, a, b, c) VGPU_OP_##id,
#include "engine/vgpu/ptx/operation-rows.h"
  VGPU_OP_COUNT
} VgpuOp;

typedef enum
{
  VGPU_KIND_LANE,
  VGPU_KIND_LANE_IMMEDIATE, /* one operand more, a number for the expression */
  VGPU_KIND_SINGLE,
  VGPU_KIND_MODIFIED, /* follows its SINGLE: with .ftz, .sat or a rounding mode */
  VGPU_KIND_DOUBLE,
  VGPU_KIND_HALF,
  VGPU_KIND_APPROXIMATE,
  VGPU_KIND_CARRY,
  VGPU_KIND_COMPARE,
  VGPU_KIND_SPECIAL
} VgpuKind;

typedef struct
{
  const char *id;
  const char *pattern; /* "" when no opcode leads here directly */
  VgpuKind kind;
  uint8_t bytes[4]; /* of result, a, b, c; 0: none */
} VgpuOperation;

extern const VgpuOperation vgpu_operations[VGPU_OP_COUNT];

/* Whether an opcode such as "add.rn.ftz.f32" fits a pattern. flags receives the VGPU_INS_… bits
 * that its parts stand for. */
bool vgpu_pattern_match (const char *pattern, const char *opcode, uint32_t *flags);

/* The operation of an opcode, VGPU_OP_COUNT if no pattern fits. A comparison is looked up by what
 * follows "setp." */
VgpuOp vgpu_operation_find (const char *opcode, bool compare, uint32_t *flags);

/* The forms of the opcodes that the decoder takes apart itself, for the documentation. Writes at
 * most that many texts and returns how many there are. */
size_t vgpu_family_forms (const char **forms, size_t most);
