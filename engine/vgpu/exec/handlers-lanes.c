/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that treat lane by lane: integers, binary32 and binary64 arithmetic, comparisons. */
#include "engine/vgpu/exec/handlers.h"

#define CHOSEN(value, old) (mask >> lane & 1 ? (value) : (old))

#define DEFINE(id, D, LOADS, EXPRESSION)                                                           \
  VGPU_HANDLER (id)                                                                                \
  {                                                                                                \
    const u32 flags = ins->flags;                                                                  \
    const u32 mask = warp->mask;                                                                   \
    D *row_d = VGPU_ROW (D, ins->d);                                                               \
    (void) flags;                                                                                  \
    LOADS                                                                                          \
    if (mask == VGPU_FULL)                                                                         \
      {                                                                                            \
        VGPU_LANE_LOOP row_d[lane] = (D) EXPRESSION;                                               \
      }                                                                                            \
    else                                                                                           \
      {                                                                                            \
        VGPU_LANE_LOOP row_d[lane] = CHOSEN ((D) EXPRESSION, row_d[lane]);                         \
      }                                                                                            \
    VGPU_CONTINUE (ins + 1);                                                                       \
  }

#define UNARY(id, pattern, D, A, expression)                                                       \
  static inline D value_##id (A a, const VgpuIns *ins, u32 flags) { return (D) (expression); }     \
  DEFINE (id, D, const A *row_a = VGPU_ROW (const A, ins->a);, value_##id (row_a[lane], ins, flags))

#define BINARY(id, pattern, D, A, B, expression)                                                   \
  static inline D value_##id (A a, B b, const VgpuIns *ins, u32 flags)                             \
  {                                                                                                \
    return (D) (expression);                                                                       \
  }                                                                                                \
  DEFINE (id, D, const A *row_a = VGPU_ROW (const A, ins->a);                                      \
          const B *row_b = VGPU_ROW (const B, ins->b);                                             \
          , value_##id (row_a[lane], row_b[lane], ins, flags))

#define TERNARY(id, pattern, D, A, B, C, expression)                                               \
  static inline D value_##id (A a, B b, C c, const VgpuIns *ins, u32 flags)                        \
  {                                                                                                \
    return (D) (expression);                                                                       \
  }                                                                                                \
  DEFINE (id, D, const A *row_a = VGPU_ROW (const A, ins->a);                                      \
          const B *row_b = VGPU_ROW (const B, ins->b);                                             \
          const C *row_c = VGPU_ROW (const C, ins->c);                                             \
          , value_##id (row_a[lane], row_b[lane], row_c[lane], ins, flags))

VGPU_INTEGER_LANES (UNARY, BINARY, TERNARY)
VGPU_IMMEDIATE_LANES (TERNARY)
VGPU_SIGN_LANES (UNARY, BINARY)
VGPU_CONVERT_LANES (UNARY)
VGPU_PACK_LANES (BINARY)

/* The lanes whose words are not 0. */
#ifdef __AVX512F__
#include <immintrin.h>

static inline u32
mask_of (const s32 *holds)
{
  return _mm512_movepi32_mask (_mm512_load_si512 (holds))
         | (u32) _mm512_movepi32_mask (_mm512_load_si512 (holds + 16)) << 16;
}
#else
static inline u32
mask_of (const s32 *holds)
{
  u32 result = 0;
  for (int lane = 0; lane < VGPU_LANES; lane++)
    result |= (u32) (holds[lane] != 0) << lane;
  return result;
}
#endif

#define COMPARE(id, pattern, T, expression)                                                        \
  VGPU_HANDLER (SETP_##id)                                                                         \
  {                                                                                                \
    const T *row_a = VGPU_ROW (const T, ins->a);                                                   \
    const T *row_b = VGPU_ROW (const T, ins->b);                                                   \
    s32 holds[VGPU_LANES] __attribute__ ((aligned (64)));                                          \
    for (int lane = 0; lane < VGPU_LANES; lane++)                                                  \
      {                                                                                            \
        const T a = row_a[lane], b = row_b[lane];                                                  \
        holds[lane] = (expression) ? -1 : 0;                                                       \
      }                                                                                            \
    put_mask (warp, ins->d, mask_of (holds));                                                      \
    VGPU_CONTINUE (ins + 1);                                                                       \
  }

VGPU_COMPARE_LANES (COMPARE)

#define CARRY(id, pattern, T, W, expression)                                                       \
  VGPU_HANDLER (id)                                                                                \
  {                                                                                                \
    T *row_d = VGPU_ROW (T, ins->d);                                                               \
    const T *row_a = VGPU_ROW (const T, ins->a);                                                   \
    const T *row_b = VGPU_ROW (const T, ins->b);                                                   \
    const T *row_c = VGPU_ROW (const T, ins->c);                                                   \
    u32 carry = warp->carry;                                                                       \
    for (int lane = 0; lane < VGPU_LANES; lane++)                                                  \
      if (warp->mask >> lane & 1)                                                                  \
        {                                                                                          \
          const T a = row_a[lane], b = row_b[lane], c = row_c[lane];                               \
          const T in = carry >> lane & 1;                                                          \
          (void) in;                                                                               \
          (void) c;                                                                                \
          const W wide = (expression);                                                             \
          row_d[lane] = (T) wide;                                                                  \
          carry = (carry & ~(1u << lane)) | (u32) (wide >> (sizeof (T) * 8) & 1) << lane;          \
        }                                                                                          \
    warp->carry = carry;                                                                           \
    VGPU_CONTINUE (ins + 1);                                                                       \
  }

VGPU_CARRY_LANES (CARRY)
