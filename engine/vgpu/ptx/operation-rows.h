/* SPDX-License-Identifier: Apache-2.0 */
/* An X-macro file, included more than once: expands the lists of operations.h, in one order, into
 *   VGPU_ENTRY (id, pattern, kind, bytes of the result, of a, of b, of c)
 * where 0 bytes means no such operand and kind is one of the VGPU_KIND_… of operation.h. */
#include "engine/vgpu/ptx/operations.h"

#define VGPU_BYTES_u8 1
#define VGPU_BYTES_u16 2
#define VGPU_BYTES_s16 2
#define VGPU_BYTES_u32 4
#define VGPU_BYTES_s32 4
#define VGPU_BYTES_f32 4
#define VGPU_BYTES_u64 8
#define VGPU_BYTES_s64 8
#define VGPU_BYTES_f64 8
#define VGPU_BYTES_1 2
#define VGPU_BYTES_2 4

/* clang-format off */
#define VGPU_ROW_U(id, pattern, d, a, ...) \
  VGPU_ENTRY (id, pattern, LANE, VGPU_BYTES_##d, VGPU_BYTES_##a, 0, 0)
#define VGPU_ROW_B(id, pattern, d, a, b, ...) \
  VGPU_ENTRY (id, pattern, LANE, VGPU_BYTES_##d, VGPU_BYTES_##a, VGPU_BYTES_##b, 0)
#define VGPU_ROW_T(id, pattern, d, a, b, c, ...) \
  VGPU_ENTRY (id, pattern, LANE, VGPU_BYTES_##d, VGPU_BYTES_##a, VGPU_BYTES_##b, VGPU_BYTES_##c)
#define VGPU_ROW_I(id, pattern, d, a, b, c, ...) \
  VGPU_ENTRY (id, pattern, LANE_IMMEDIATE, VGPU_BYTES_##d, VGPU_BYTES_##a, VGPU_BYTES_##b, \
              VGPU_BYTES_##c)
#define VGPU_ROW_S1(id, pattern, expression) \
  VGPU_ENTRY (id, pattern, SINGLE, 4, 4, 0, 0) VGPU_ENTRY (id##_M, "", MODIFIED, 4, 4, 0, 0)
#define VGPU_ROW_S2(id, pattern, expression) \
  VGPU_ENTRY (id, pattern, SINGLE, 4, 4, 4, 0) VGPU_ENTRY (id##_M, "", MODIFIED, 4, 4, 4, 0)
#define VGPU_ROW_S3(id, pattern, expression) \
  VGPU_ENTRY (id, pattern, SINGLE, 4, 4, 4, 4) VGPU_ENTRY (id##_M, "", MODIFIED, 4, 4, 4, 4)
#define VGPU_ROW_D1(id, pattern, expression) VGPU_ENTRY (id, pattern, DOUBLE, 8, 8, 0, 0)
#define VGPU_ROW_D2(id, pattern, expression) VGPU_ENTRY (id, pattern, DOUBLE, 8, 8, 8, 0)
#define VGPU_ROW_D3(id, pattern, expression) VGPU_ENTRY (id, pattern, DOUBLE, 8, 8, 8, 8)
#define VGPU_ROW_H1(id, pattern, format, count, ...) \
  VGPU_ENTRY (id, pattern, HALF, VGPU_BYTES_##count, VGPU_BYTES_##count, 0, 0)
#define VGPU_ROW_H2(id, pattern, format, count, ...) \
  VGPU_ENTRY (id, pattern, HALF, VGPU_BYTES_##count, VGPU_BYTES_##count, VGPU_BYTES_##count, 0)
#define VGPU_ROW_H3(id, pattern, format, count, ...) \
  VGPU_ENTRY (id, pattern, HALF, VGPU_BYTES_##count, VGPU_BYTES_##count, VGPU_BYTES_##count, \
              VGPU_BYTES_##count)
#define VGPU_ROW_A(id, pattern, function) VGPU_ENTRY (id, pattern, APPROXIMATE, 4, 4, 0, 0)
#define VGPU_ROW_C(id, pattern, type, ...) \
  VGPU_ENTRY (id, pattern, CARRY, VGPU_BYTES_##type, VGPU_BYTES_##type, VGPU_BYTES_##type, \
              VGPU_BYTES_##type)
#define VGPU_ROW_P(id, pattern, type, expression) \
  VGPU_ENTRY (SETP_##id, pattern, COMPARE, 0, VGPU_BYTES_##type, VGPU_BYTES_##type, 0)
#define VGPU_ROW_X(id) VGPU_ENTRY (id, "", SPECIAL, 0, 0, 0, 0)
/* clang-format on */

VGPU_INTEGER_LANES (VGPU_ROW_U, VGPU_ROW_B, VGPU_ROW_T)
VGPU_IMMEDIATE_LANES (VGPU_ROW_I)
VGPU_SINGLE_LANES (VGPU_ROW_S1, VGPU_ROW_S2, VGPU_ROW_S3)
VGPU_SIGN_LANES (VGPU_ROW_U, VGPU_ROW_B)
VGPU_DOUBLE_LANES (VGPU_ROW_D1, VGPU_ROW_D2, VGPU_ROW_D3)
VGPU_HALF_LANES (VGPU_ROW_H1, VGPU_ROW_H2, VGPU_ROW_H3)
VGPU_HALF_FUNCTIONS (VGPU_ROW_H1)
VGPU_APPROXIMATE_LANES (VGPU_ROW_A)
VGPU_CARRY_LANES (VGPU_ROW_C)
VGPU_COMPARE_LANES (VGPU_ROW_P)
VGPU_CONVERT_LANES (VGPU_ROW_U)
VGPU_PACK_LANES (VGPU_ROW_B)
VGPU_SPECIAL_OPERATIONS (VGPU_ROW_X)

#undef VGPU_ROW_U
#undef VGPU_ROW_B
#undef VGPU_ROW_T
#undef VGPU_ROW_I
#undef VGPU_ROW_S1
#undef VGPU_ROW_S2
#undef VGPU_ROW_S3
#undef VGPU_ROW_D1
#undef VGPU_ROW_D2
#undef VGPU_ROW_D3
#undef VGPU_ROW_H1
#undef VGPU_ROW_H2
#undef VGPU_ROW_H3
#undef VGPU_ROW_A
#undef VGPU_ROW_C
#undef VGPU_ROW_P
#undef VGPU_ROW_X
#undef VGPU_BYTES_u8
#undef VGPU_BYTES_u16
#undef VGPU_BYTES_s16
#undef VGPU_BYTES_u32
#undef VGPU_BYTES_s32
#undef VGPU_BYTES_f32
#undef VGPU_BYTES_u64
#undef VGPU_BYTES_s64
#undef VGPU_BYTES_f64
#undef VGPU_BYTES_1
#undef VGPU_BYTES_2
#undef VGPU_ENTRY
