/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/vgpu/exec/product.h"

#include "engine/vgpu/check/check.h"
#include "engine/vgpu/exec/control.h"
#include "engine/vgpu/exec/elements.h"

#include <string.h>

#define MOST_ROWS 32
#define MOST_COLUMNS 32

static char *
row_of (const VgpuWarp *warp, int32_t row)
{
  return warp->base[(uint32_t) row >> 31] + row;
}

static int32_t
type_of (const VgpuMatrixForm *form, VgpuMatrixPart part)
{
  return part == VGPU_MATRIX_D   ? form->result
         : part == VGPU_MATRIX_C ? form->accumulator
         : part == VGPU_MATRIX_A ? form->type
                                 : form->type_b;
}

typedef struct
{
  double values[VGPU_PRODUCT_MOST_K][VGPU_PRODUCT_MOST_K];
  uint32_t words[MOST_ROWS][MOST_COLUMNS]; /* single bits */
} Matrix;

static void
take_element (Matrix *to, int32_t type, const char *row, uint32_t lane, uint32_t element,
              uint32_t per, uint32_t i, uint32_t j)
{
  uint32_t word;
  if (type == VGPU_TYPE_F64)
    {
      memcpy (&to->values[i][j], row + 8 * lane, 8);
      return;
    }
  memcpy (&word, row + 4 * lane, 4);
  if (type == VGPU_TYPE_B1)
    to->words[i][j] = word;
  else
    to->values[i][j] = vgpu_element_value (type, word >> (32 / per * element));
}

static void
gather (const VgpuWarp *warp, const VgpuMatrixForm *form, VgpuMatrixPart part, const int32_t *rows,
        Matrix *to)
{
  int32_t type = type_of (form, part);
  uint32_t per = vgpu_matrix_per_register (type);
  uint32_t count = vgpu_matrix_elements (form, part);
  for (uint32_t index = 0; index < count; index++)
    for (uint32_t lane = 0; lane < VGPU_LANES; lane++)
      {
        uint32_t i, j;
        vgpu_matrix_place (form, part, lane, index, &i, &j);
        take_element (to, type, row_of (warp, rows[index / per]), lane, index % per, per, i, j);
      }
}

static void
scatter (const VgpuWarp *warp, const VgpuMatrixForm *form, const int32_t *rows, const Matrix *from,
         bool saturate)
{
  uint32_t per = vgpu_matrix_per_register (form->result);
  uint32_t count = vgpu_matrix_elements (form, VGPU_MATRIX_D);
  for (uint32_t index = 0; index < count; index++)
    for (uint32_t lane = 0; lane < VGPU_LANES; lane++)
      {
        uint32_t i, j, word = 0;
        char *row = row_of (warp, rows[index / per]);
        vgpu_matrix_place (form, VGPU_MATRIX_D, lane, index, &i, &j);
        double value = from->values[i][j];
        if (form->result == VGPU_TYPE_F64)
          {
            memcpy (row + 8 * lane, &value, 8);
            continue;
          }
        memcpy (&word, row + 4 * lane, 4);
        uint32_t shift = 32 / per * (index % per);
        uint32_t bits = vgpu_result_bits (form->result, value, saturate) << shift;
        word = index % per == 0 ? bits : word | bits;
        memcpy (row + 4 * lane, &word, 4);
      }
}

/* Binary64 is a chain of fused steps; in all other types a product is exact, and so the same. */
static void
multiply (const VgpuMatrixForm *form, uint32_t flags, const Matrix *a, const Matrix *b, Matrix *d)
{
  for (int32_t i = 0; i < form->m; i++)
    for (int32_t j = 0; j < form->n; j++)
      for (int32_t k = 0; k < form->k; k++)
        {
          if (form->type == VGPU_TYPE_B1)
            {
              uint32_t x = a->words[i][k], y = b->words[k][j];
              uint32_t both = flags & VGPU_PRODUCT_AND ? x & y : x ^ y;
              d->values[i][j] += __builtin_popcount (both);
            }
          else if (form->type == VGPU_TYPE_F64)
            d->values[i][j] = fma (a->values[i][k], b->values[k][j], d->values[i][j]);
          else
            d->values[i][j] += a->values[i][k] * b->values[k][j];
        }
}

/* Rows, columns and single places that come from registers nobody has written. */
static void
mark_doubt (const VgpuWarp *warp, const VgpuMatrixForm *form, VgpuMatrixPart part,
            const int32_t *rows, uint8_t (*doubt)[MOST_COLUMNS], uint32_t *origin)
{
  uint32_t per = vgpu_matrix_per_register (type_of (form, part));
  uint32_t count = vgpu_matrix_elements (form, part);
  for (uint32_t index = 0; index < count; index++)
    for (uint32_t lane = 0; lane < VGPU_LANES; lane++)
      {
        int32_t row = rows[index / per];
        uint32_t i, j;
        if (row < 0 || !(warp->poison[row / VGPU_ROW_UNIT] >> lane & 1))
          continue;
        vgpu_matrix_place (form, part, lane, index, &i, &j);
        *origin = warp->origin[row / VGPU_ROW_UNIT];
        for (uint32_t other = 0; other < MOST_ROWS; other++)
          if (part == VGPU_MATRIX_A)
            doubt[i][other] = 1;
          else if (part == VGPU_MATRIX_B)
            doubt[other][j] = 1;
          else
            doubt[i][j] = 1;
      }
}

static void
taint_product (VgpuWarp *warp, const VgpuMatrixForm *form, const int32_t *rows)
{
  static const VgpuMatrixPart parts[] = {VGPU_MATRIX_A, VGPU_MATRIX_B, VGPU_MATRIX_C};
  uint8_t doubt[MOST_ROWS][MOST_COLUMNS] = {{0}};
  const int32_t *at = rows + form->registers[VGPU_MATRIX_D];
  uint32_t origin = 0, per = vgpu_matrix_per_register (form->result);
  if (!warp->tainted)
    return;
  for (int p = 0; p < 3; p++)
    {
      mark_doubt (warp, form, parts[p], at, doubt, &origin);
      at += form->registers[parts[p]];
    }
  for (int32_t reg = 0; reg < form->registers[VGPU_MATRIX_D]; reg++)
    warp->poison[rows[reg] / VGPU_ROW_UNIT] = 0;
  for (uint32_t index = 0; index < vgpu_matrix_elements (form, VGPU_MATRIX_D); index++)
    for (uint32_t lane = 0; lane < VGPU_LANES; lane++)
      {
        uint32_t i, j, row = (uint32_t) rows[index / per] / VGPU_ROW_UNIT;
        vgpu_matrix_place (form, VGPU_MATRIX_D, lane, index, &i, &j);
        warp->poison[row] |= (uint32_t) doubt[i][j] << lane;
        if (doubt[i][j])
          warp->origin[row] = origin;
      }
}

void
vgpu_product (VgpuWarp *warp, const VgpuIns *ins)
{
  VgpuMatrixForm form;
  const int32_t *words = warp->kernel->extra + ins->extra;
  const int32_t *rows = words + VGPU_MATRIX_FORM_WORDS;
  Matrix a, b, d;
  memcpy (&form, words, sizeof form);
  vgpu_check_whole_warp (warp, ins);
  if (warp->checks & VGPU_CHECK_UNINIT)
    taint_product (warp, &form, rows);
  const int32_t *from = rows + form.registers[VGPU_MATRIX_D];
  gather (warp, &form, VGPU_MATRIX_A, from, &a);
  from += form.registers[VGPU_MATRIX_A];
  gather (warp, &form, VGPU_MATRIX_B, from, &b);
  from += form.registers[VGPU_MATRIX_B];
  gather (warp, &form, VGPU_MATRIX_C, from, &d);
  multiply (&form, ins->target, &a, &b, &d);
  scatter (warp, &form, rows, &d, ins->target & VGPU_PRODUCT_SATURATES);
}

/* ---- wmma.load and wmma.store of binary64 ---- */

#define WIDE 8

/* Where a lane's element lies; false for one that may not be touched. */
static bool
find_wide (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request, uint64_t address,
           uint32_t lane, char **at, unsigned char **valid)
{
  const int32_t relative[VGPU_LANES] = {0};
  VgpuReach reach;
  uint64_t addresses[VGPU_LANES];
  addresses[lane] = address;
  *valid = NULL;
  if (vgpu_check_lanes (warp, ins, request, addresses, 1u << lane) == 0)
    return false;
  vgpu_reach_lanes (&reach, address, relative, 1u << lane, request->bytes);
  if (request->space == VGPU_SPACE_SHARED)
    {
      *at = warp->worker->shared + address;
      if (warp->checks & VGPU_CHECK_UNINIT)
        *valid = warp->worker->shared_valid + address;
      if (warp->checks & VGPU_CHECK_RACE)
        vgpu_race_shared (warp, ins, request, &reach);
      return true;
    }
  VgpuAllocation *allocation = vgpu_memory_find (warp->worker->launch->memory, address);
  warp->worker->sites[ins->site].allocation = allocation;
  *at = (char *) (uintptr_t) address;
  if ((warp->checks & VGPU_CHECK_UNINIT) && allocation->valid != NULL)
    *valid = allocation->valid + (address - allocation->lo);
  if (warp->checks & VGPU_CHECK_RACE_GLOBAL)
    vgpu_race_global (warp, ins, request, &reach);
  return true;
}

static void
load_wide (VgpuWarp *warp, const VgpuIns *ins, int32_t row, uint32_t lane, const char *at,
           const unsigned char *valid)
{
  char *to = row_of (warp, row) + WIDE * lane;
  uint32_t bad = valid != NULL && memchr (valid, 0, WIDE) != NULL;
  if (at != NULL)
    memcpy (to, at, WIDE);
  else
    memset (to, 0, WIDE);
  if (!(warp->checks & VGPU_CHECK_UNINIT))
    return;
  uint32_t *poison = &warp->poison[row / VGPU_ROW_UNIT];
  *poison = (*poison & ~(1u << lane)) | bad << lane;
  warp->tainted |= bad;
  if (bad)
    warp->origin[row / VGPU_ROW_UNIT] = (uint32_t) (ins - warp->kernel->code);
}

static void
store_wide (VgpuWarp *warp, const VgpuIns *ins, int32_t row, uint32_t lane, VgpuSpace space,
            char *at, unsigned char *valid)
{
  bool bad = warp->tainted && row >= 0 && (warp->poison[row / VGPU_ROW_UNIT] >> lane & 1);
  memcpy (at, row_of (warp, row) + WIDE * lane, WIDE);
  if (bad && space == VGPU_SPACE_GLOBAL)
    vgpu_taint_used (warp, ins, row, 1u << lane, "stored");
  if (valid != NULL)
    memset (valid, bad && space == VGPU_SPACE_SHARED ? 0 : 0xff, WIDE);
}

void
vgpu_move_wide (VgpuWarp *warp, const VgpuIns *ins, bool store)
{
  VgpuMatrixForm form;
  const int32_t *words = warp->kernel->extra + ins->extra;
  const int32_t *rows = words + VGPU_MATRIX_FORM_WORDS;
  memcpy (&form, words, sizeof form);
  vgpu_check_whole_warp (warp, ins);
  uint32_t first = (uint32_t) __builtin_ctz (warp->mask);
  uint64_t base = 0;
  int32_t leading;
  memcpy (&base, row_of (warp, ins->a) + (ins->flags & VGPU_INS_WIDE_ADDRESS ? 8 : 4) * first,
          ins->flags & VGPU_INS_WIDE_ADDRESS ? 8 : 4);
  memcpy (&leading, row_of (warp, ins->b) + 4 * first, 4);
  base += (uint64_t) ins->imm;
  VgpuSpace space = (VgpuSpace) ins->c;
  if (space == VGPU_SPACE_GENERIC && (base & VGPU_WINDOW_MASK) == VGPU_WINDOW_SHARED)
    {
      base -= VGPU_WINDOW_SHARED;
      space = VGPU_SPACE_SHARED;
    }
  else if (space == VGPU_SPACE_GENERIC)
    space = VGPU_SPACE_GLOBAL;
  const VgpuRequest request = {.space = space,
                               .access = store ? VGPU_ACCESS_WRITE : VGPU_ACCESS_READ,
                               .bytes = WIDE,
                               .align = WIDE};
  VgpuMatrixPart part = (VgpuMatrixPart) ins->target;
  for (uint32_t index = 0; index < (uint32_t) form.registers[part]; index++)
    for (uint32_t lane = 0; lane < VGPU_LANES; lane++)
      {
        uint32_t i, j;
        char *at = NULL;
        unsigned char *valid = NULL;
        vgpu_matrix_place (&form, part, lane, index, &i, &j);
        int64_t element =
            ins->flags & VGPU_INS_NEGATED ? (int64_t) j * leading + i : (int64_t) i * leading + j;
        bool good =
            find_wide (warp, ins, &request, base + (uint64_t) (element * WIDE), lane, &at, &valid);
        if (!store)
          load_wide (warp, ins, rows[index], lane, good ? at : NULL, valid);
        else if (good)
          store_wide (warp, ins, rows[index], lane, space, at, valid);
      }
  warp->worker->sites[ins->site].requests += (uint32_t) form.registers[part];
  warp->worker->sites[ins->site].lanes += (uint32_t) form.registers[part] * VGPU_LANES;
}

void
vgpu_move_matrix (VgpuWarp *warp, const VgpuIns *ins)
{
  uint16_t from[8][8];
  uint32_t poison = 0;
  vgpu_check_whole_warp (warp, ins);
  memcpy (from, row_of (warp, ins->a), sizeof from);
  uint16_t *to = (uint16_t *) (void *) row_of (warp, ins->d);
  uint32_t bad =
      (warp->checks & VGPU_CHECK_UNINIT) && ins->a >= 0 ? warp->poison[ins->a / VGPU_ROW_UNIT] : 0;
  for (uint32_t i = 0; i < 8; i++)
    for (uint32_t j = 0; j < 8; j++)
      {
        to[i * 8 + j] = from[j][i];
        poison |= (bad >> (j * 4 + i / 2) & 1) << (i * 4 + j / 2);
      }
  if (!(warp->checks & VGPU_CHECK_UNINIT))
    return;
  warp->poison[ins->d / VGPU_ROW_UNIT] = poison;
  if (poison != 0)
    warp->origin[ins->d / VGPU_ROW_UNIT] = warp->origin[ins->a / VGPU_ROW_UNIT];
}
