/* SPDX-License-Identifier: Apache-2.0 */
/* Products of warp groups, and the instructions that may meet their accumulators. */
#include "engine/vgpu/exec/wgmma.h"
#include "engine/vgpu/ptx/builder.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct
{
  const char *types; /* d.a.b */
  int32_t k, words;  /* of the opcode, and of elements here */
  int32_t result, type, type_b;
  bool scales; /* factors may be negated */
  bool turns;  /* and turned */
} forms[] = {
  { "f32.f16.f16", 16, 16, VGPU_TYPE_F32, VGPU_TYPE_F16, VGPU_TYPE_F16, true, true },
  { "f16.f16.f16", 16, 16, VGPU_TYPE_F16, VGPU_TYPE_F16, VGPU_TYPE_F16, true, true },
  { "f32.bf16.bf16", 16, 16, VGPU_TYPE_F32, VGPU_TYPE_BF16, VGPU_TYPE_BF16, true, true },
  { "f32.tf32.tf32", 8, 8, VGPU_TYPE_F32, VGPU_TYPE_U32, VGPU_TYPE_U32, true, false },
  { "f32.e4m3.e4m3", 32, 32, VGPU_TYPE_F32, VGPU_TYPE_E4M3, VGPU_TYPE_E4M3, true, false },
  { "f32.e4m3.e5m2", 32, 32, VGPU_TYPE_F32, VGPU_TYPE_E4M3, VGPU_TYPE_E5M2, true, false },
  { "f32.e5m2.e4m3", 32, 32, VGPU_TYPE_F32, VGPU_TYPE_E5M2, VGPU_TYPE_E4M3, true, false },
  { "f32.e5m2.e5m2", 32, 32, VGPU_TYPE_F32, VGPU_TYPE_E5M2, VGPU_TYPE_E5M2, true, false },
  { "f16.e4m3.e4m3", 32, 32, VGPU_TYPE_F16, VGPU_TYPE_E4M3, VGPU_TYPE_E4M3, true, false },
  { "f16.e4m3.e5m2", 32, 32, VGPU_TYPE_F16, VGPU_TYPE_E4M3, VGPU_TYPE_E5M2, true, false },
  { "f16.e5m2.e4m3", 32, 32, VGPU_TYPE_F16, VGPU_TYPE_E5M2, VGPU_TYPE_E4M3, true, false },
  { "f16.e5m2.e5m2", 32, 32, VGPU_TYPE_F16, VGPU_TYPE_E5M2, VGPU_TYPE_E5M2, true, false },
  { "s32.s8.s8", 32, 32, VGPU_TYPE_S32, VGPU_TYPE_S8, VGPU_TYPE_S8, false, false },
  { "s32.s8.u8", 32, 32, VGPU_TYPE_S32, VGPU_TYPE_S8, VGPU_TYPE_U8, false, false },
  { "s32.u8.s8", 32, 32, VGPU_TYPE_S32, VGPU_TYPE_U8, VGPU_TYPE_S8, false, false },
  { "s32.u8.u8", 32, 32, VGPU_TYPE_S32, VGPU_TYPE_U8, VGPU_TYPE_U8, false, false },
  { "s32.b1.b1.and.popc", 256, 8, VGPU_TYPE_S32, VGPU_TYPE_B1, VGPU_TYPE_B1, false, false },
};
/* clang-format on */

/* The row of forms that an opcode names; SIZE_MAX: none. */
static size_t
find_form (const char *opcode, VgpuWgmmaForm *form)
{
  static const char stem[] = "wgmma.mma_async.sync.aligned.m64n";
  char types[40];
  int n, k, at = 0;
  if (strncmp (opcode, stem, sizeof stem - 1) != 0
      || sscanf (opcode + sizeof stem - 1, "%dk%d.%n", &n, &k, &at) != 2 || at == 0)
    return SIZE_MAX;
  const char *rest = opcode + sizeof stem - 1 + at;
  form->saturates = strncmp (rest, "satfinite.", 10) == 0;
  snprintf (types, sizeof types, "%s", rest + (form->saturates ? 10 : 0));
  if (n < 8 || n > VGPU_WGMMA_COLUMNS || n % 8 != 0)
    return SIZE_MAX;
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
    if (forms[i].k == k && strcmp (forms[i].types, types) == 0)
      {
        form->n = n;
        form->k = forms[i].words;
        form->type = forms[i].type;
        form->type_b = forms[i].type_b;
        form->result = forms[i].result;
        return i;
      }
  return SIZE_MAX;
}

/* Factors of 1 or -1, then whether a (of shared memory) and b are turned. */
static bool
read_factors (VgpuBuilder *builder, const VgpuStatement *statement, size_t which,
              VgpuWgmmaForm *form)
{
  const VgpuOperand *more = statement->operands + 4;
  uint32_t count = statement->operand_count - 4;
  uint32_t turns = forms[which].turns ? 1 + (uint32_t) form->in_memory : 0;
  uint32_t wanted = (forms[which].scales ? 2 : 0) + turns;
  if (count != wanted)
    return vgpu_builder_fail (builder, "%s with %u operands", statement->opcode,
                              statement->operand_count);
  for (uint32_t i = 0; i < count; i++)
    if (more[i].kind != VGPU_OPERAND_INTEGER)
      return vgpu_builder_fail (builder, "%s with a factor that is no number", statement->opcode);
  if (forms[which].scales)
    form->negated = (more[0].value == -1) != (more[1].value == -1);
  if (turns == 2)
    form->turned_a = more[2].value == 1;
  if (turns > 0)
    form->turned_b = more[count - 1].value == 1;
  return true;
}

static bool
read_a (VgpuBuilder *builder, const VgpuOperand *operand, VgpuWgmmaForm *form)
{
  form->in_memory = operand->kind != VGPU_OPERAND_VECTOR;
  if (form->in_memory)
    {
      form->a_rows[0] = vgpu_source_row (builder, operand, 8);
      return !builder->failed;
    }
  if (operand->count != 4)
    return vgpu_builder_fail (builder, "four registers of a expected");
  for (uint32_t i = 0; i < 4; i++)
    form->a_rows[i] = vgpu_source_row (builder, &operand->list[i], 4);
  return !builder->failed;
}

/* wgmma.mma_async… d, a, b-descriptor, scale-d{, scale-a, scale-b}{, turn-a}{, turn-b} */
static bool
decode_product (VgpuBuilder *builder, const VgpuStatement *statement)
{
  VgpuWgmmaForm form = {0};
  int32_t words[VGPU_WGMMA_WORDS + VGPU_WGMMA_COLUMNS / 2];
  size_t which = find_form (statement->opcode, &form);
  if (which == SIZE_MAX)
    return vgpu_builder_unsupported (builder, NULL);
  if (statement->operand_count < 4 || statement->operands[0].kind != VGPU_OPERAND_VECTOR)
    return vgpu_builder_fail (builder, "%s with too few operands", statement->opcode);
  const VgpuOperand *operands = statement->operands;
  form.registers = form.n / 2 / (int32_t) vgpu_matrix_per_register (form.result);
  if ((int32_t) operands[0].count != form.registers)
    return vgpu_builder_fail (builder, "%s with %u registers", statement->opcode,
                              operands[0].count);
  if (!read_a (builder, &operands[1], &form) || !read_factors (builder, statement, which, &form))
    return false;
  form.b_row = vgpu_source_row (builder, &operands[2], 8);
  if (operands[3].kind == VGPU_OPERAND_INTEGER)
    form.scale_row = operands[3].value != 0 ? VGPU_WGMMA_ALWAYS : VGPU_WGMMA_NEVER;
  else
    form.scale_row = vgpu_predicate_row (builder, &operands[3]);
  for (int32_t i = 0; i < form.registers; i++)
    {
      VgpuDestination d = vgpu_destination (builder, &operands[0].list[i], 4);
      if (d.final != VGPU_NO_ROW)
        return vgpu_builder_unsupported (builder, "registers of another width");
      words[VGPU_WGMMA_WORDS + i] = d.row;
    }
  memcpy (words, &form, sizeof form);
  uint32_t extra = vgpu_extra (builder, words, VGPU_WGMMA_WORDS + (size_t) form.registers);
  VgpuIns *ins = vgpu_emit (builder, VGPU_OP_WGMMA);
  ins->extra = extra;
  ins->imm = (int64_t) form.n * 64 * form.k * 2 / 128;
  ins->taint = VGPU_TAINT_HANDLED;
  builder->kernel->reads_async = true;
  return !builder->failed;
}

bool
vgpu_decode_wgmma (VgpuBuilder *builder, const VgpuStatement *statement)
{
  const char *opcode = statement->opcode;
  if (strcmp (opcode, "wgmma.fence.sync.aligned") == 0)
    return vgpu_emit (builder, VGPU_OP_WGMMA_FENCE) != NULL;
  if (strcmp (opcode, "wgmma.commit_group.sync.aligned") == 0)
    return vgpu_emit (builder, VGPU_OP_WGMMA_COMMIT) != NULL;
  if (strcmp (opcode, "wgmma.wait_group.sync.aligned") != 0)
    return decode_product (builder, statement);
  if (statement->operand_count < 1)
    return vgpu_builder_fail (builder, "%s with too few operands", opcode);
  vgpu_emit (builder, VGPU_OP_WGMMA_WAIT)->imm = statement->operands[0].value;
  return true;
}

static bool
is_move (const VgpuIns *ins)
{
  return ins->op == VGPU_OP_MOV_32;
}

/* Rows of accumulators, and those that they are moved to and from. */
static unsigned char *
find_accumulators (VgpuBuilder *builder)
{
  const VgpuKernel *kernel = builder->kernel;
  size_t count = kernel->warp_row_bytes / VGPU_ROW_UNIT + 1;
  unsigned char *marked = NULL;
  for (size_t i = 0; i < kernel->code_count; i++)
    {
      const VgpuIns *ins = &kernel->code[i];
      VgpuWgmmaForm form;
      if (ins->op != VGPU_OP_WGMMA)
        continue;
      if (marked == NULL)
        marked = vgpu_arena_take (&builder->arena, count);
      memcpy (&form, kernel->extra + ins->extra, sizeof form);
      for (int32_t j = 0; j < form.registers; j++)
        marked[kernel->extra[ins->extra + VGPU_WGMMA_WORDS + (uint32_t) j] / VGPU_ROW_UNIT] = 1;
    }
  for (bool more = marked != NULL; more;)
    {
      more = false;
      for (size_t i = 0; i < kernel->code_count; i++)
        {
          const VgpuIns *ins = &kernel->code[i];
          if (!is_move (ins) || ins->a < 0
              || marked[ins->a / VGPU_ROW_UNIT] == marked[ins->d / VGPU_ROW_UNIT])
            continue;
          marked[ins->a / VGPU_ROW_UNIT] = marked[ins->d / VGPU_ROW_UNIT] = 1;
          more = true;
        }
    }
  return marked;
}

static bool
reads_marked (const VgpuKernel *kernel, const VgpuIns *ins, const unsigned char *marked)
{
  int32_t rows[VGPU_READ_ROWS];
  if (ins->op == VGPU_OP_WGMMA)
    return false;
  uint32_t count = vgpu_read_rows (kernel, ins, rows);
  for (uint32_t i = 0; i < count; i++)
    if (rows[i] >= 0 && (size_t) rows[i] < kernel->warp_row_bytes
        && marked[rows[i] / VGPU_ROW_UNIT])
      return true;
  return is_move (ins) && marked[ins->d / VGPU_ROW_UNIT];
}

void
vgpu_watch_accumulators (VgpuBuilder *builder)
{
  VgpuKernel *kernel = builder->kernel;
  const unsigned char *marked = find_accumulators (builder);
  for (size_t i = 0; marked != NULL && i < kernel->code_count; i++)
    if (reads_marked (kernel, &kernel->code[i], marked))
      {
        kernel->code[i].flags |= is_move (&kernel->code[i]) ? VGPU_INS_MOVES : 0;
        kernel->code[i].flags |= VGPU_INS_WATCHED;
      }
}
