/* SPDX-License-Identifier: Apache-2.0 */
/* Products of a warp group. As those of mma: products are exact, their sum is made in binary64 and rounded
 * once. */
#include "engine/vgpu/exec/elements.h"
#include "engine/vgpu/exec/handlers.h"
#include "engine/vgpu/exec/wgmma.h"

#define MOST_K 32

typedef struct
{
  f64 a[VGPU_WGMMA_ROWS][MOST_K];
  f64 b[MOST_K][VGPU_WGMMA_COLUMNS]; /* k first, so that columns lie side by side */
} Factors;

static f64
element_at (const unsigned char *line, s32 type, s32 k)
{
  u32 bits = 0;
  const u32 bytes = 4 / vgpu_matrix_per_register (type);
  __builtin_memcpy (&bits, line + (u32) k * bytes, bytes);
  return vgpu_element_value (type, bits);
}

static void
take_factors (const VgpuWgmmaForm *form, const VgpuWgmmaBytes *bytes, Factors *factors)
{
  for (s32 i = 0; i < VGPU_WGMMA_ROWS; i++)
    for (s32 k = 0; k < form->k; k++)
      factors->a[i][k] = element_at (bytes->a[i], form->type, k);
  for (s32 j = 0; j < form->n; j++)
    for (s32 k = 0; k < form->k; k++)
      factors->b[k][j] = element_at (bytes->b[j], form->type_b, k);
}

static void
multiply (const VgpuWgmmaForm *form, const Factors *factors, f64 (*d)[VGPU_WGMMA_COLUMNS])
{
  const f64 sign = form->negated ? -1.0 : 1.0;
  for (s32 i = 0; i < VGPU_WGMMA_ROWS; i++)
    for (s32 k = 0; k < form->k; k++)
      {
        const f64 a = sign * factors->a[i][k];
        const f64 *b = factors->b[k];
        for (s32 j = 0; j < form->n; j++)
          d[i][j] += a * b[j];
      }
}

static void
multiply_bits (const VgpuWgmmaForm *form, const VgpuWgmmaBytes *bytes, f64 (*d)[VGPU_WGMMA_COLUMNS])
{
  for (s32 i = 0; i < VGPU_WGMMA_ROWS; i++)
    for (s32 j = 0; j < form->n; j++)
      for (s32 k = 0; k < VGPU_WGMMA_BYTES; k += 8)
        {
          u64 a, b;
          __builtin_memcpy (&a, bytes->a[i] + k, 8);
          __builtin_memcpy (&b, bytes->b[j] + k, 8);
          d[i][j] += __builtin_popcountll (a & b);
        }
}

/* Row and column of an element of d in the 16 rows of this warp: PTX ISA, "Register Fragments for
 * wgmma.mma_async". */
static inline u32
row_at (u32 lane, u32 element)
{
  return lane / 4 + 8 * (element >> 1 & 1);
}

static inline u32
column_at (u32 lane, u32 element)
{
  return lane % 4 * 2 + (element & 1) + element / 4 * 8;
}

static void
load_result (const VgpuWarp *warp, const VgpuWgmmaForm *form, const s32 *rows,
             f64 (*d)[VGPU_WGMMA_COLUMNS])
{
  const u32 per = vgpu_matrix_per_register (form->result);
  for (s32 reg = 0; reg < form->registers; reg++)
    for (u32 lane = 0; lane < VGPU_LANES; lane++)
      for (u32 i = 0; i < per; i++)
        {
          const u32 element = (u32) reg * per + i;
          const u32 word = VGPU_ROW (const u32, rows[reg])[lane];
          d[row_at (lane, element)][column_at (lane, element)] =
              vgpu_element_value (form->result, word >> (16 * i));
        }
}

static void
store_result (VgpuWarp *warp, const VgpuWgmmaForm *form, const s32 *rows,
              f64 (*d)[VGPU_WGMMA_COLUMNS])
{
  const u32 per = vgpu_matrix_per_register (form->result);
  for (s32 reg = 0; reg < form->registers; reg++)
    for (u32 lane = 0; lane < VGPU_LANES; lane++)
      {
        u32 word = 0;
        for (u32 i = 0; i < per; i++)
          {
            const u32 element = (u32) reg * per + i;
            const f64 value = d[row_at (lane, element)][column_at (lane, element)];
            word |= vgpu_result_bits (form->result, value, form->saturates) << (16 * i);
          }
        VGPU_ROW (u32, rows[reg])[lane] = word;
      }
}

static bool
keeps_sum (const VgpuWarp *warp, const VgpuWgmmaForm *form)
{
  if (form->scale_row == VGPU_WGMMA_ALWAYS || form->scale_row == VGPU_WGMMA_NEVER)
    return form->scale_row == VGPU_WGMMA_ALWAYS;
  return (row_mask (warp, form->scale_row) & warp->mask) != 0;
}

VGPU_HANDLER (WGMMA)
{
  VgpuWgmmaForm form;
  const s32 *words = warp->kernel->extra + ins->extra;
  const s32 *rows = words + VGPU_WGMMA_WORDS;
  VgpuWgmmaBytes bytes;
  Factors factors;
  f64 d[VGPU_WGMMA_ROWS][VGPU_WGMMA_COLUMNS] = {{0}};
  __builtin_memcpy (&form, words, sizeof form);
  if (!vgpu_wgmma_read (warp, ins, &form, &bytes))
    return ins + 1;
  if (keeps_sum (warp, &form))
    load_result (warp, &form, rows, d);
  if (form.type == VGPU_TYPE_B1)
    multiply_bits (&form, &bytes, d);
  else
    {
      take_factors (&form, &bytes, &factors);
      multiply (&form, &factors, d);
    }
  store_result (warp, &form, rows, d);
  vgpu_wgmma_begin (warp, ins, &form, &bytes);
  return ins + 1;
}

VGPU_HANDLER (WGMMA_FENCE)
{
  vgpu_wgmma_fence (warp);
  return ins + 1;
}

VGPU_HANDLER (WGMMA_COMMIT)
{
  vgpu_wgmma_commit (warp);
  return ins + 1;
}

VGPU_HANDLER (WGMMA_WAIT)
{
  vgpu_wgmma_wait (warp, (u32) ins->imm);
  return ins + 1;
}

/* What an instruction does that may meet accumulators; then the instruction itself. */
VGPU_HANDLER (WATCH)
{
  if (warp->wgmmas != NULL)
    vgpu_wgmma_watch (warp, ins);
  return ins->is_guarded ? VGPU_NAME (GUARD) (warp, ins) : ins->guarded (warp, ins);
}
