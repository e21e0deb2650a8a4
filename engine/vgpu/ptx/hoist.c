/* SPDX-License-Identifier: Apache-2.0 */
/* What comes out the same however often it is worked out is worked out once: what depends on the
 * parameters of the launch alone, once for all warps; on the thread's place in its block as well, once
 * for each warp; on the block's place, once a block. Only arithmetic on rows that no other instruction
 * writes is moved, so that nobody can see it having been done too early. */
#include "engine/vgpu/ptx/builder.h"

#include <stdlib.h>
#include <string.h>

typedef enum
{
  ONCE,     /* a launch, for all warps */
  PER_WARP, /* of a block, for all blocks */
  PER_BLOCK,
  ALWAYS,
  WITHIN /* the one instruction that uses it */
} Level;

typedef struct
{
  VgpuKernel *kernel;
  VgpuArena arena;
  uint8_t *writes; /* by rows of a warp: how many instructions may write it; 2: more than one */
  uint8_t *reads;  /* and read it, of those that only read */
  uint8_t *levels; /* of rows of a warp */
  uint8_t *shared; /* of rows shared by the block, from their end */
  int32_t *moved;  /* rows of a warp that have become shared ones; 0: have not */
  size_t rows, shared_rows;
  uint8_t *when; /* of instructions */
} Hoist;

static size_t
number_of (int32_t row)
{
  return row < 0 ? (size_t) (-(int64_t) row) / VGPU_ROW_UNIT : (size_t) row / VGPU_ROW_UNIT;
}

static Level
level_of_kind (VgpuRowKind kind)
{
  switch (kind)
    {
    case VGPU_ROW_CTAID:
    case VGPU_ROW_SM:
    case VGPU_ROW_CLUSTER_CTAID:
    case VGPU_ROW_CLUSTER_ID:
      return PER_BLOCK;
    case VGPU_ROW_TID:
    case VGPU_ROW_LANE:
    case VGPU_ROW_LANEMASK:
    case VGPU_ROW_WARP:
      return PER_WARP;
    default:
      return ONCE;
    }
}

static void
note (const Hoist *hoist, uint8_t *counts, int32_t row)
{
  if (row >= 0 && number_of (row) < hoist->rows && row % VGPU_ROW_UNIT == 0
      && counts[number_of (row)] < 2)
    counts[number_of (row)]++;
}

/* Instructions whose a, b and c are rows that they read; of the others nobody needs to know more than
 * that they may do anything to rows they name. */
static bool
only_reads (uint16_t op, bool *reads_d)
{
  *reads_d = false;
  switch ((int) op)
    {
    case VGPU_OP_STORE_GLOBAL:
    case VGPU_OP_STORE_SHARED:
    case VGPU_OP_STORE_LOCAL:
    case VGPU_OP_STORE_GENERIC:
      *reads_d = true;
      return true;
    case VGPU_OP_LOAD_GLOBAL:
    case VGPU_OP_LOAD_SHARED:
    case VGPU_OP_LOAD_LOCAL:
    case VGPU_OP_LOAD_GENERIC:
    case VGPU_OP_SELECT_16:
    case VGPU_OP_SELECT_32:
    case VGPU_OP_SELECT_64:
    case VGPU_OP_CVT_ANY:
      return true;
    default:
      return vgpu_operations[op].kind != VGPU_KIND_SPECIAL;
    }
}

/* Those without operands, and branches, which have no row but their guard. */
static bool
names_no_rows (uint16_t op)
{
  switch ((int) op)
    {
    case VGPU_OP_BLOCK:
    case VGPU_OP_BLOCK_MEET:
    case VGPU_OP_BRANCH:
    case VGPU_OP_BRANCH_BACK:
    case VGPU_OP_JUMP:
    case VGPU_OP_JUMP_BACK:
    case VGPU_OP_RETURN:
    case VGPU_OP_NOTHING:
      return true;
    default:
      return false;
    }
}

static void
count_uses (Hoist *hoist)
{
  const VgpuKernel *kernel = hoist->kernel;
  for (size_t i = 0; i < kernel->code_count; i++)
    {
      const VgpuIns *ins = &kernel->code[i];
      const int32_t sources[] = {ins->a, ins->b, ins->c};
      bool reads_d;
      if (names_no_rows (ins->op))
        continue;
      bool reads = only_reads (ins->op, &reads_d);
      note (hoist, reads_d ? hoist->reads : hoist->writes, ins->d);
      for (int j = 0; j < 3; j++)
        note (hoist, reads ? hoist->reads : hoist->writes, sources[j]);
      if (!reads)
        note (hoist, hoist->writes, ins->d);
    }
  /* Further operands may be rows, and may be written. */
  for (size_t i = 0; i < 2 * kernel->extra_count; i++)
    note (hoist, hoist->writes, kernel->extra[i / 2]);
}

static void
find_fixed (Hoist *hoist)
{
  const VgpuKernel *kernel = hoist->kernel;
  memset (hoist->levels, ALWAYS, hoist->rows);
  memset (hoist->shared, ALWAYS, hoist->shared_rows);
  for (size_t i = 0; i < kernel->row_count; i++)
    {
      const VgpuFixedRow *row = &kernel->rows[i];
      (row->offset < 0 ? hoist->shared : hoist->levels)[number_of (row->offset)] =
          (uint8_t) level_of_kind (row->kind);
    }
}

static Level
level_of_row (const Hoist *hoist, int32_t row)
{
  return row < 0 ? hoist->shared[number_of (row)] : hoist->levels[number_of (row)];
}

static Level
both (Level a, Level b)
{
  if (a == ONCE || b == ONCE || a == b)
    return a > b ? a : b;
  return ALWAYS;
}

static bool
is_arithmetic (const VgpuIns *ins)
{
  switch (vgpu_operations[ins->op].kind)
    {
    case VGPU_KIND_LANE:
    case VGPU_KIND_LANE_IMMEDIATE:
    case VGPU_KIND_SINGLE:
    case VGPU_KIND_MODIFIED:
    case VGPU_KIND_DOUBLE:
      return !ins->is_guarded;
    default:
      return false;
    }
}

/* A row shared by the block for what used to be a row of each warp. */
static int32_t
share_row (Hoist *hoist, const VgpuIns *ins)
{
  size_t bytes = (size_t) vgpu_operations[ins->op].bytes[0] * VGPU_LANES;
  hoist->kernel->shared_row_bytes += (bytes + VGPU_ROW_UNIT - 1) / VGPU_ROW_UNIT * VGPU_ROW_UNIT;
  return -(int32_t) hoist->kernel->shared_row_bytes;
}

/* Decides, in the order of the text: a value is there before it is used. */
static size_t
decide (Hoist *hoist)
{
  VgpuKernel *kernel = hoist->kernel;
  size_t count = 0;
  for (size_t i = 0; i < kernel->code_count; i++)
    {
      const VgpuIns *ins = &kernel->code[i];
      hoist->when[i] = ALWAYS;
      if (!is_arithmetic (ins) || ins->d < 0 || hoist->writes[number_of (ins->d)] != 1)
        continue;
      Level level = both (both (level_of_row (hoist, ins->a), level_of_row (hoist, ins->b)),
                          level_of_row (hoist, ins->c));
      if (level == ALWAYS)
        continue;
      hoist->when[i] = (uint8_t) level;
      hoist->levels[number_of (ins->d)] = (uint8_t) level;
      if (level != PER_WARP)
        hoist->moved[number_of (ins->d)] = share_row (hoist, ins);
      count++;
    }
  return count;
}

/* So far behind a sum an access is looked for. */
#define WINDOW 8

static bool
is_access (const VgpuIns *ins)
{
  return (ins->op == VGPU_OP_LOAD_GLOBAL || ins->op == VGPU_OP_STORE_GLOBAL)
         && (ins->flags & VGPU_INS_WIDE_ADDRESS) != 0;
}

/* The access that alone uses the address which an addition works out, where nothing in between changes
 * what is added; NULL: there is none. */
static VgpuIns *
find_access (const Hoist *hoist, size_t at)
{
  const VgpuKernel *kernel = hoist->kernel;
  const VgpuIns *sum = &kernel->code[at];
  for (size_t i = at + 1; i < kernel->code_count && i <= at + WINDOW; i++)
    {
      VgpuIns *ins = &kernel->code[i];
      bool reads_d;
      if (is_access (ins) && ins->a == sum->d)
        return ins->is_guarded ? NULL : ins;
      if (names_no_rows (ins->op) || !only_reads (ins->op, &reads_d) || ins->vec != 1)
        return NULL;
      if (!reads_d && (ins->d == sum->a || ins->d == sum->b))
        return NULL;
    }
  return NULL;
}

/* Lets loads and stores add up their addresses themselves. */
static size_t
fuse_sums (Hoist *hoist)
{
  const VgpuKernel *kernel = hoist->kernel;
  size_t count = 0;
  for (size_t i = 0; i < kernel->code_count; i++)
    {
      const VgpuIns *ins = &kernel->code[i];
      if (ins->op != VGPU_OP_ADD_64 || ins->is_guarded || hoist->when[i] != ALWAYS || ins->d < 0
          || hoist->writes[number_of (ins->d)] != 1 || hoist->reads[number_of (ins->d)] != 1)
        continue;
      VgpuIns *access = find_access (hoist, i);
      if (access == NULL)
        continue;
      access->flags |= VGPU_INS_SUM;
      access->b = ins->a;
      access->c = ins->b;
      hoist->when[i] = WITHIN;
      count++;
    }
  return count;
}

static int32_t
where_now (const Hoist *hoist, int32_t row)
{
  if (row < 0 || row % VGPU_ROW_UNIT != 0 || number_of (row) >= hoist->rows)
    return row;
  int32_t moved = hoist->moved[number_of (row)];
  return moved != 0 ? moved : row;
}

static void
rename_rows (const Hoist *hoist, VgpuIns *ins)
{
  bool reads_d;
  if (names_no_rows (ins->op) || !only_reads (ins->op, &reads_d))
    return;
  ins->d = where_now (hoist, ins->d);
  ins->a = where_now (hoist, ins->a);
  ins->b = where_now (hoist, ins->b);
  ins->c = where_now (hoist, ins->c);
}

/* Splits the code: what is done at its level goes to lists of its own. */
static void
split (Hoist *hoist)
{
  VgpuKernel *kernel = hoist->kernel;
  size_t count = kernel->code_count;
  uint32_t *places = vgpu_arena_take (&hoist->arena, (count + 1) * sizeof *places);
  VgpuIns *code = vgpu_take (count * sizeof *code);
  size_t kept = 0;
  for (int level = ONCE; level < ALWAYS; level++)
    kernel->hoisted[level] = vgpu_take (count * sizeof (VgpuIns));
  for (size_t i = 0; i < count; i++)
    {
      VgpuIns ins = kernel->code[i];
      rename_rows (hoist, &ins);
      places[i] = (uint32_t) kept;
      if (hoist->when[i] == ALWAYS)
        code[kept++] = ins;
      else if (hoist->when[i] < ALWAYS)
        kernel->hoisted[hoist->when[i]][kernel->hoisted_count[hoist->when[i]]++] = ins;
    }
  for (size_t i = 0; i < kept; i++)
    if (code[i].op == VGPU_OP_BRANCH || code[i].op == VGPU_OP_BRANCH_BACK
        || code[i].op == VGPU_OP_JUMP || code[i].op == VGPU_OP_JUMP_BACK)
      code[i].target = places[code[i].target];
  for (size_t b = 0; b < kernel->block_count; b++)
    kernel->blocks[b].first = places[kernel->blocks[b].first];
  kernel->listing = kernel->code;
  kernel->listing_count = count;
  kernel->code = code;
  kernel->code_count = kept;
}

void
vgpu_hoist (VgpuKernel *kernel)
{
  Hoist hoist = {.kernel = kernel,
                 .rows = kernel->warp_row_bytes / VGPU_ROW_UNIT,
                 .shared_rows = kernel->shared_row_bytes / VGPU_ROW_UNIT + 1};
  /* Functions that are called keep their rows on a stack. */
  if (kernel->plain || kernel->callable_count > 0 || hoist.rows == 0)
    return;
  hoist.writes = vgpu_arena_take (&hoist.arena, hoist.rows);
  hoist.reads = vgpu_arena_take (&hoist.arena, hoist.rows);
  hoist.levels = vgpu_arena_take (&hoist.arena, hoist.rows);
  hoist.shared = vgpu_arena_take (&hoist.arena, hoist.shared_rows);
  hoist.moved = vgpu_arena_take (&hoist.arena, hoist.rows * sizeof *hoist.moved);
  hoist.when = vgpu_arena_take (&hoist.arena, kernel->code_count);
  find_fixed (&hoist);
  count_uses (&hoist);
  size_t count = decide (&hoist);
  count += fuse_sums (&hoist);
  if (count > 0)
    split (&hoist);
  vgpu_arena_clear (&hoist.arena);
}
