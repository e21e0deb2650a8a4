/* SPDX-License-Identifier: Apache-2.0 */
/* Predicates, selection and the other operations that mix predicates with values. */
#include "engine/vgpu/exec/handlers.h"

static inline u32
operand_mask (const VgpuWarp *warp, s32 row, bool negated)
{
  const u32 mask = row_mask (warp, row);
  return negated ? ~mask : mask;
}

VGPU_HANDLER (PRED_MOV)
{
  put_mask (warp, ins->d, operand_mask (warp, ins->a, ins->flags & VGPU_INS_NEGATED));
  VGPU_CONTINUE (ins + 1);
}

VGPU_HANDLER (PRED_NOT)
{
  put_mask (warp, ins->d, ~row_mask (warp, ins->a));
  VGPU_CONTINUE (ins + 1);
}

VGPU_HANDLER (PRED_AND)
{
  put_mask (warp, ins->d,
            row_mask (warp, ins->a)
                & operand_mask (warp, ins->b, ins->flags & VGPU_INS_SPLIT_NEGATED));
  VGPU_CONTINUE (ins + 1);
}

VGPU_HANDLER (PRED_OR)
{
  put_mask (warp, ins->d,
            row_mask (warp, ins->a)
                | operand_mask (warp, ins->b, ins->flags & VGPU_INS_SPLIT_NEGATED));
  VGPU_CONTINUE (ins + 1);
}

VGPU_HANDLER (PRED_XOR)
{
  put_mask (warp, ins->d,
            row_mask (warp, ins->a)
                ^ operand_mask (warp, ins->b, ins->flags & VGPU_INS_SPLIT_NEGATED));
  VGPU_CONTINUE (ins + 1);
}

/* set: the predicate a becomes imm where it holds, else 0; bytes wide. */
VGPU_HANDLER (SET_MASK)
{
  const u32 holds = row_mask (warp, ins->a);
  for (u32 left = warp->mask; left != 0; left &= left - 1)
    {
      const int lane = __builtin_ctz (left);
      const u64 value = holds >> lane & 1 ? (u64) ins->imm : 0;
      if (ins->bytes == 2)
        VGPU_ROW (u16, ins->d)[lane] = (u16) value;
      else if (ins->bytes == 4)
        VGPU_ROW (u32, ins->d)[lane] = (u32) value;
      else
        VGPU_ROW (u64, ins->d)[lane] = value;
    }
  VGPU_CONTINUE (ins + 1);
}

#define SELECT(id, T)                                                                              \
  VGPU_HANDLER (id)                                                                                \
  {                                                                                                \
    const u32 mask = warp->mask;                                                                   \
    const u32 chosen = operand_mask (warp, ins->c, ins->flags & VGPU_INS_NEGATED);                 \
    T *row_d = VGPU_ROW (T, ins->d);                                                               \
    const T *row_a = VGPU_ROW (const T, ins->a);                                                   \
    const T *row_b = VGPU_ROW (const T, ins->b);                                                   \
    VGPU_LANE_LOOP                                                                                 \
    {                                                                                              \
      const T a = row_a[lane], b = row_b[lane];                                                    \
      const T value = chosen >> lane & 1 ? a : b;                                                  \
      row_d[lane] = mask >> lane & 1 ? value : row_d[lane];                                        \
    }                                                                                              \
    VGPU_CONTINUE (ins + 1);                                                                       \
  }

SELECT (SELECT_16, u16)
SELECT (SELECT_32, u32)
SELECT (SELECT_64, u64)

static inline void
slct (VgpuWarp *warp, const VgpuIns *ins, u32 chosen)
{
  for (u32 left = warp->mask; left != 0; left &= left - 1)
    {
      const int lane = __builtin_ctz (left);
      const s32 from = chosen >> lane & 1 ? ins->a : ins->b;
      if (ins->bytes == 8)
        VGPU_ROW (u64, ins->d)[lane] = VGPU_ROW (const u64, from)[lane];
      else
        VGPU_ROW (u32, ins->d)[lane] = VGPU_ROW (const u32, from)[lane];
    }
}

VGPU_HANDLER (SLCT_S32)
{
  const s32 *row_c = VGPU_ROW (const s32, ins->c);
  u32 chosen = 0;
  for (int lane = 0; lane < VGPU_LANES; lane++)
    chosen |= (u32) (row_c[lane] >= 0) << lane;
  slct (warp, ins, chosen);
  VGPU_CONTINUE (ins + 1);
}

VGPU_HANDLER (SLCT_F32)
{
  const f32 *row_c = VGPU_ROW (const f32, ins->c);
  u32 chosen = 0;
  for (int lane = 0; lane < VGPU_LANES; lane++)
    chosen |= (u32) (flush_f32 (row_c[lane], ins->flags) >= 0.0f) << lane;
  slct (warp, ins, chosen);
  VGPU_CONTINUE (ins + 1);
}

/* bfi f, a, b, c, d: f is d here, the fourth source is the first of the further operands. */
VGPU_HANDLER (BFI_32)
{
  const u32 *length = VGPU_ROW (const u32, warp->kernel->extra[ins->extra]);
  for (u32 left = warp->mask; left != 0; left &= left - 1)
    {
      const int lane = __builtin_ctz (left);
      VGPU_ROW (u32, ins->d)
      [lane] = (u32) insert_field (VGPU_ROW (const u32, ins->a)[lane],
                                   VGPU_ROW (const u32, ins->b)[lane],
                                   VGPU_ROW (const u32, ins->c)[lane], length[lane], 32);
    }
  VGPU_CONTINUE (ins + 1);
}

VGPU_HANDLER (BFI_64)
{
  const u32 *length = VGPU_ROW (const u32, warp->kernel->extra[ins->extra]);
  for (u32 left = warp->mask; left != 0; left &= left - 1)
    {
      const int lane = __builtin_ctz (left);
      VGPU_ROW (u64, ins->d)
      [lane] = insert_field (VGPU_ROW (const u64, ins->a)[lane], VGPU_ROW (const u64, ins->b)[lane],
                             VGPU_ROW (const u32, ins->c)[lane], length[lane], 64);
    }
  VGPU_CONTINUE (ins + 1);
}

/* testp: imm is the property, numbered as the decoder lists them. */
static inline bool
has_property (int kind, s64 property)
{
  /* kind: 0 NaN, 1 infinite, 2 zero, 3 subnormal, 4 normal, as the builtin below is told */
  switch (property)
    {
    case 0:
      return kind >= 2;
    case 1:
      return kind == 1;
    case 2:
      return kind != 0;
    case 3:
      return kind == 0;
    case 4:
      return kind == 4;
    default:
      return kind == 3;
    }
}

VGPU_HANDLER (TESTP_F32)
{
  u32 result = 0;
  for (int lane = 0; lane < VGPU_LANES; lane++)
    {
      const f32 value = VGPU_ROW (const f32, ins->a)[lane];
      const int kind = __builtin_fpclassify (0, 1, 4, 3, 2, value);
      result |= (u32) has_property (kind, ins->imm) << lane;
    }
  put_mask (warp, ins->d, result);
  VGPU_CONTINUE (ins + 1);
}

VGPU_HANDLER (TESTP_F64)
{
  u32 result = 0;
  for (int lane = 0; lane < VGPU_LANES; lane++)
    {
      const f64 value = VGPU_ROW (const f64, ins->a)[lane];
      const int kind = __builtin_fpclassify (0, 1, 4, 3, 2, value);
      result |= (u32) has_property (kind, ins->imm) << lane;
    }
  put_mask (warp, ins->d, result);
  VGPU_CONTINUE (ins + 1);
}

VGPU_HANDLER (ISSPACEP)
{
  const u64 *row_a = VGPU_ROW (const u64, ins->a);
  u32 result = 0;
  for (int lane = 0; lane < VGPU_LANES; lane++)
    result |= (u32) ((row_a[lane] & VGPU_WINDOW_MASK) == (u64) ins->imm) << lane;
  put_mask (warp, ins->d, result);
  VGPU_CONTINUE (ins + 1);
}
