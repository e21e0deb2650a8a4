/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/exec/lanes.h"

/* The elementary functions behind PTX's approximate instructions.
 *
 * ideal: the correctly rounded binary32 result. It is evaluated in binary64 to some 50 bits; where
 * that is too near the middle between two results, again in extended precision (64 bits). No
 * argument of these functions is known to need more than about 60.
 *
 * adversarial: the ideal result moved by a pseudo-random error within the bound that the PTX ISA
 * documents for the instruction (version 9.2), before rounding. The same argument and seed give
 * the same error. */
typedef enum
{
  VGPU_FUNCTION_EX2,
  VGPU_FUNCTION_LG2,
  VGPU_FUNCTION_SIN,
  VGPU_FUNCTION_COS,
  VGPU_FUNCTION_TANH,
  VGPU_FUNCTION_RCP,
  VGPU_FUNCTION_SQRT,
  VGPU_FUNCTION_RSQRT,
  VGPU_FUNCTION_DIV, /* of first by second; only for the error bound */
  VGPU_FUNCTIONS
} VgpuFunctionId;

/* A row of results in binary64, such that rounding them to binary32 is correct. */
void VGPU_NAME (function_row) (VgpuFunctionId function, const f32 *arguments, f64 *results);

/* Moves results within the documented bound. */
void VGPU_NAME (disturb_row) (VgpuFunctionId function, const f32 *arguments, f64 *results,
                              u64 seed);
