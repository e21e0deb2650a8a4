/* SPDX-License-Identifier: Apache-2.0 */
/* mma.sync, wmma, ldmatrix and stmatrix. */
#include "engine/vgpu/exec/matrix.h"
#include "engine/vgpu/ptx/builder.h"

#include <stdio.h>
#include <string.h>

#define MAX_REGISTERS 8

static bool
need (VgpuBuilder *builder, uint32_t count)
{
  return builder->statement->operand_count >= count
         || vgpu_builder_fail (builder, "%s with too few operands", builder->statement->opcode);
}

static bool
collect_rows (VgpuBuilder *builder, const VgpuOperand *operand, bool destination, uint32_t bytes,
              int32_t *rows, int32_t *count)
{
  const VgpuOperand *list = operand->kind == VGPU_OPERAND_VECTOR ? operand->list : operand;
  uint32_t length = operand->kind == VGPU_OPERAND_VECTOR ? operand->count : 1;
  if (length > MAX_REGISTERS)
    return vgpu_builder_unsupported (builder, NULL);
  for (uint32_t i = 0; i < length; i++)
    {
      if (destination)
        {
          VgpuDestination d = vgpu_destination (builder, &list[i], bytes);
          if (d.final != VGPU_NO_ROW)
            return vgpu_builder_unsupported (builder, "registers of another width");
          rows[i] = d.row;
        }
      else
        rows[i] = vgpu_source_row (builder, &list[i], bytes);
    }
  *count = (int32_t) length;
  return !builder->failed;
}

/* ldmatrix.sync.aligned.m8n8.x4{.trans}.shared.b16 r, [p]; stmatrix has them the other way. */
bool
vgpu_decode_matrix_load (VgpuBuilder *builder, const VgpuStatement *statement)
{
  const char *opcode = statement->opcode;
  bool store = opcode[0] == 's';
  VgpuAddress address;
  int32_t words[1 + 4] = {0}, rows[MAX_REGISTERS], count;
  if (!need (builder, 2))
    return false;
  if (!vgpu_opcode_has (opcode, "m8n8") || strcmp (vgpu_opcode_last (opcode), "b16") != 0)
    return vgpu_builder_unsupported (builder, NULL);
  int32_t wanted = vgpu_opcode_has (opcode, "x4") ? 4 : vgpu_opcode_has (opcode, "x2") ? 2 : 1;
  if (!vgpu_address (builder, &statement->operands[store ? 0 : 1], &address)
      || !collect_rows (builder, &statement->operands[store ? 1 : 0], !store, 4, rows, &count))
    return false;
  if (count != wanted)
    return vgpu_builder_fail (builder, "%s with %d registers", opcode, count);
  words[0] = (int32_t) address.offset;
  memcpy (words + 1, rows, (size_t) count * sizeof *rows);
  uint32_t extra = vgpu_extra (builder, words, (size_t) count + 1);
  VgpuIns *ins = vgpu_emit_rows (builder, store ? VGPU_OP_STORE_MATRIX : VGPU_OP_LOAD_MATRIX, 0,
                                 address.row, VGPU_NO_ROW, VGPU_NO_ROW);
  ins->extra = extra;
  ins->imm = count;
  ins->bytes = 16;
  ins->taint = VGPU_TAINT_HANDLED;
  ins->flags |= address.wide ? VGPU_INS_WIDE_ADDRESS : 0;
  ins->flags |= vgpu_opcode_has (opcode, "trans") ? VGPU_INS_NEGATED : 0;
  bool shared = vgpu_opcode_has (opcode, "shared") || vgpu_opcode_has (opcode, "shared::cta");
  /* Without .shared the address is generic, and must lie in the window. */
  ins->flags |= shared ? 0 : VGPU_INS_UNIFORM;
  return !builder->failed;
}

/* The map of one part of a form, shared by all instructions that have it. */
static int32_t
map_of (VgpuBuilder *builder, const VgpuMatrixForm *form, VgpuMatrixPart part)
{
  int32_t key[9] = {form->m,      form->n,           form->k,
                    form->type,   form->accumulator, form->result,
                    form->opaque, (int32_t) part,    form->registers[part]};
  for (size_t i = 0; i < builder->map_count; i++)
    if (memcmp (builder->maps[i].key, key, sizeof key) == 0)
      return builder->maps[i].at;
  uint32_t count = vgpu_matrix_elements (form, part);
  int32_t *map = vgpu_arena_take (&builder->arena, (size_t) count * VGPU_LANES * sizeof *map);
  for (uint32_t index = 0; index < count; index++)
    for (uint32_t lane = 0; lane < VGPU_LANES; lane++)
      {
        uint32_t row, column;
        vgpu_matrix_place (form, part, lane, index, &row, &column);
        map[index * VGPU_LANES + lane] = VGPU_MATRIX_MAP (row, column);
      }
  builder->maps = vgpu_arena_grow (&builder->arena, builder->maps, builder->map_count,
                                   &builder->map_capacity, sizeof *builder->maps);
  VgpuMapMemo *memo = &builder->maps[builder->map_count++];
  memcpy (memo->key, key, sizeof key);
  memo->at = (int32_t) vgpu_extra (builder, map, (size_t) count * VGPU_LANES);
  return memo->at;
}

static int32_t
registers_for (int32_t elements, int32_t type)
{
  return elements / VGPU_LANES / (int32_t) vgpu_matrix_per_register (type);
}

/* mma.sync spreads each matrix over the warp once; wmma may hold elements several times. */
static bool
check_registers (VgpuBuilder *builder, const VgpuMatrixForm *form)
{
  const int32_t wanted[4] = {registers_for (form->m * form->n, form->result),
                             registers_for (form->m * form->k, form->type),
                             registers_for (form->k * form->n, form->type),
                             registers_for (form->m * form->n, form->accumulator)};
  for (int i = 0; i < 4; i++)
    {
      bool repeats = form->opaque && wanted[i] > 0 && form->registers[i] % wanted[i] == 0;
      if (form->registers[i] != wanted[i] && !repeats)
        return vgpu_builder_fail (builder, "%s with another number of registers",
                                  builder->statement->opcode);
    }
  return true;
}

static bool
emit_product (VgpuBuilder *builder, VgpuMatrixForm *form)
{
  const VgpuOperand *operands = builder->statement->operands;
  int32_t words[VGPU_MATRIX_FORM_WORDS + 4 * MAX_REGISTERS];
  size_t used = VGPU_MATRIX_FORM_WORDS;
  for (int i = 0; i < 4; i++)
    {
      if (!collect_rows (builder, &operands[i], i == 0, 4, words + used, &form->registers[i]))
        return false;
      used += (size_t) form->registers[i];
    }
  if (!check_registers (builder, form))
    return false;
  for (int i = 0; i < 4; i++)
    form->maps[i] = map_of (builder, form, (VgpuMatrixPart) i);
  memcpy (words, form, sizeof *form);
  uint32_t extra = vgpu_extra (builder, words, used);
  VgpuIns *ins = vgpu_emit (builder, VGPU_OP_MMA);
  ins->extra = extra;
  ins->imm = (int64_t) form->m * form->n * form->k * 2 / VGPU_LANES;
  ins->taint = VGPU_TAINT_HANDLED;
  return !builder->failed;
}

/* clang-format off */
static const struct
{
  const char *types; /* d.a.b.c */
  int32_t result, type, type_b, accumulator;
  int32_t k[2];
} products[] = {
  { "f32.f16.f16.f32", VGPU_TYPE_F32, VGPU_TYPE_F16, VGPU_TYPE_F16, VGPU_TYPE_F32, { 8, 16 } },
  { "f16.f16.f16.f16", VGPU_TYPE_F16, VGPU_TYPE_F16, VGPU_TYPE_F16, VGPU_TYPE_F16, { 8, 16 } },
  { "f32.bf16.bf16.f32", VGPU_TYPE_F32, VGPU_TYPE_BF16, VGPU_TYPE_BF16, VGPU_TYPE_F32, { 8, 16 } },
  { "f32.tf32.tf32.f32", VGPU_TYPE_F32, VGPU_TYPE_U32, VGPU_TYPE_U32, VGPU_TYPE_F32, { 4, 8 } },
  { "s32.s8.s8.s32", VGPU_TYPE_S32, VGPU_TYPE_S8, VGPU_TYPE_S8, VGPU_TYPE_S32, { 16, 32 } },
  { "s32.u8.u8.s32", VGPU_TYPE_S32, VGPU_TYPE_U8, VGPU_TYPE_U8, VGPU_TYPE_S32, { 16, 32 } },
  { "s32.s8.u8.s32", VGPU_TYPE_S32, VGPU_TYPE_S8, VGPU_TYPE_U8, VGPU_TYPE_S32, { 16, 32 } },
  { "s32.u8.s8.s32", VGPU_TYPE_S32, VGPU_TYPE_U8, VGPU_TYPE_S8, VGPU_TYPE_S32, { 16, 32 } },
};
/* clang-format on */

bool
vgpu_decode_mma (VgpuBuilder *builder, const VgpuStatement *statement)
{
  const char *opcode = statement->opcode;
  if (!need (builder, 4))
    return false;
  for (size_t i = 0; i < sizeof products / sizeof products[0]; i++)
    for (int j = 0; j < 2; j++)
      {
        char wanted[96];
        snprintf (wanted, sizeof wanted, "mma.sync.aligned.m16n8k%d.row.col.%s", products[i].k[j],
                  products[i].types);
        if (strcmp (wanted, opcode) != 0)
          continue;
        VgpuMatrixForm form = {.m = 16,
                               .n = 8,
                               .k = products[i].k[j],
                               .type = products[i].type,
                               .type_b = products[i].type_b,
                               .accumulator = products[i].accumulator,
                               .result = products[i].result};
        return emit_product (builder, &form);
      }
  return vgpu_builder_unsupported (builder, NULL);
}

static bool
read_shape (const char *opcode, VgpuMatrixForm *form)
{
  static const struct
  {
    const char *name;
    int32_t m, n, k;
  } shapes[] = {{"m16n16k16", 16, 16, 16}, {"m32n8k16", 32, 8, 16}, {"m8n32k16", 8, 32, 16}};
  for (size_t i = 0; i < 3; i++)
    if (vgpu_opcode_has (opcode, shapes[i].name))
      {
        form->m = shapes[i].m;
        form->n = shapes[i].n;
        form->k = shapes[i].k;
        form->opaque = 1;
        return true;
      }
  return false;
}

static int32_t
element_type (const char *name, size_t length)
{
  static const struct
  {
    const char *name;
    int32_t type;
  } types[] = {{"f16", VGPU_TYPE_F16}, {"bf16", VGPU_TYPE_BF16}, {"f32", VGPU_TYPE_F32},
               {"s8", VGPU_TYPE_S8},   {"u8", VGPU_TYPE_U8},     {"s32", VGPU_TYPE_S32}};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (strlen (types[i].name) == length && memcmp (types[i].name, name, length) == 0)
      return types[i].type;
  return -1;
}

static bool
decode_wmma_move (VgpuBuilder *builder, const VgpuStatement *statement, VgpuMatrixForm *form)
{
  const char *opcode = statement->opcode;
  bool store = strncmp (opcode, "wmma.store", 10) == 0;
  const char *letter = strchr (opcode + 5, '.') + 1;
  VgpuMatrixPart part = *letter == 'a'   ? VGPU_MATRIX_A
                        : *letter == 'b' ? VGPU_MATRIX_B
                        : *letter == 'c' ? VGPU_MATRIX_C
                                         : VGPU_MATRIX_D;
  const char *last = vgpu_opcode_last (opcode);
  int32_t type = element_type (last, strlen (last));
  VgpuAddress address;
  int32_t words[VGPU_MATRIX_FORM_WORDS + MAX_REGISTERS];
  if (type < 0)
    return vgpu_builder_unsupported (builder, NULL);
  form->type = form->type_b = form->accumulator = form->result = type;
  if (!vgpu_address (builder, &statement->operands[store ? 0 : 1], &address)
      || !collect_rows (builder, &statement->operands[store ? 1 : 0], !store, 4,
                        words + VGPU_MATRIX_FORM_WORDS, &form->registers[part]))
    return false;
  int32_t held = form->registers[part] * 32 * (int32_t) vgpu_matrix_per_register (type);
  int32_t size = part == VGPU_MATRIX_A   ? form->m * form->k
                 : part == VGPU_MATRIX_B ? form->k * form->n
                                         : form->m * form->n;
  if (held == 0 || held % size != 0)
    return vgpu_builder_fail (builder, "%s with another number of registers", opcode);
  form->maps[part] = map_of (builder, form, part);
  memcpy (words, form, sizeof *form);
  bool column = vgpu_opcode_has (opcode, "col");
  int32_t usual = part == VGPU_MATRIX_A   ? (column ? form->m : form->k)
                  : part == VGPU_MATRIX_B ? (column ? form->k : form->n)
                                          : (column ? form->m : form->n);
  int32_t leading = statement->operand_count > 2
                        ? vgpu_source_row (builder, &statement->operands[2], 4)
                        : vgpu_constant (builder, 4, (uint64_t) usual);
  uint32_t extra =
      vgpu_extra (builder, words, VGPU_MATRIX_FORM_WORDS + (size_t) form->registers[part]);
  VgpuIns *ins = vgpu_emit_rows (builder, store ? VGPU_OP_WMMA_STORE : VGPU_OP_WMMA_LOAD, 0,
                                 address.row, leading, VGPU_NO_ROW);
  ins->extra = extra;
  ins->target = part;
  ins->imm = address.offset;
  ins->bytes = (uint8_t) (4 / vgpu_matrix_per_register (type));
  ins->c = vgpu_opcode_has (opcode, "shared")   ? VGPU_SPACE_SHARED
           : vgpu_opcode_has (opcode, "global") ? VGPU_SPACE_GLOBAL
                                                : VGPU_SPACE_GENERIC;
  ins->taint = VGPU_TAINT_HANDLED;
  ins->flags |= address.wide ? VGPU_INS_WIDE_ADDRESS : 0;
  ins->flags |= column ? VGPU_INS_NEGATED : 0;
  return !builder->failed;
}

/* wmma.mma.sync.aligned.alayout.blayout.shape.dtype.ctype, or with .atype.btype between */
static bool
decode_wmma_product (VgpuBuilder *builder, const VgpuStatement *statement, VgpuMatrixForm *form)
{
  int32_t types[4];
  int count = 0;
  for (const char *dot = strchr (statement->opcode, '.'); dot != NULL;)
    {
      const char *word = dot + 1;
      dot = strchr (word, '.');
      int32_t type = element_type (word, dot != NULL ? (size_t) (dot - word) : strlen (word));
      if (type >= 0 && count < 4)
        types[count++] = type;
    }
  if (count != 2 && count != 4)
    return vgpu_builder_unsupported (builder, NULL);
  form->result = types[0];
  form->accumulator = types[count - 1];
  form->type = count == 4 ? types[1] : VGPU_TYPE_F16;
  form->type_b = count == 4 ? types[2] : VGPU_TYPE_F16;
  return emit_product (builder, form);
}

bool
vgpu_decode_wmma (VgpuBuilder *builder, const VgpuStatement *statement)
{
  VgpuMatrixForm form = {0};
  if (!read_shape (statement->opcode, &form))
    return vgpu_builder_unsupported (builder, NULL);
  if (strncmp (statement->opcode, "wmma.mma", 8) == 0)
    return need (builder, 4) && decode_wmma_product (builder, statement, &form);
  return need (builder, 2) && decode_wmma_move (builder, statement, &form);
}
