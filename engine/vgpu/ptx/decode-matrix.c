/* SPDX-License-Identifier: Apache-2.0 */
/* mma.sync, wmma, ldmatrix and stmatrix. */
#include "engine/vgpu/exec/product.h"
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

static uint32_t
register_bytes (const VgpuMatrixForm *form)
{
  return form->type == VGPU_TYPE_F64 ? 8 : 4;
}

/* flags: of the general product; UINT32_MAX: the usual one. */
static bool
emit_product (VgpuBuilder *builder, VgpuMatrixForm *form, uint32_t flags)
{
  const VgpuOperand *operands = builder->statement->operands;
  int32_t words[VGPU_MATRIX_FORM_WORDS + 4 * MAX_REGISTERS];
  size_t used = VGPU_MATRIX_FORM_WORDS;
  for (int i = 0; i < 4; i++)
    {
      if (!collect_rows (builder, &operands[i], i == 0, register_bytes (form), words + used,
                         &form->registers[i]))
        return false;
      used += (size_t) form->registers[i];
    }
  if (!check_registers (builder, form))
    return false;
  bool usual = flags == UINT32_MAX;
  for (int i = 0; usual && i < 4; i++)
    form->maps[i] = map_of (builder, form, (VgpuMatrixPart) i);
  memcpy (words, form, sizeof *form);
  uint32_t extra = vgpu_extra (builder, words, used);
  VgpuIns *ins = vgpu_emit (builder, usual ? VGPU_OP_MMA : VGPU_OP_PRODUCT);
  ins->extra = extra;
  ins->target = usual ? 0 : flags;
  ins->imm = (int64_t) form->m * form->n * form->k * 2 / VGPU_LANES;
  ins->taint = VGPU_TAINT_HANDLED;
  return !builder->failed;
}

static int32_t
element_type (const char *name, size_t length)
{
  static const struct
  {
    const char *name;
    int32_t type;
  } types[] = {{"f16", VGPU_TYPE_F16},  {"bf16", VGPU_TYPE_BF16}, {"f32", VGPU_TYPE_F32},
               {"s8", VGPU_TYPE_S8},    {"u8", VGPU_TYPE_U8},     {"s32", VGPU_TYPE_S32},
               {"tf32", VGPU_TYPE_U32}, {"f64", VGPU_TYPE_F64},   {"s4", VGPU_TYPE_S4},
               {"u4", VGPU_TYPE_U4},    {"b1", VGPU_TYPE_B1},     {"e4m3", VGPU_TYPE_E4M3},
               {"e5m2", VGPU_TYPE_E5M2}};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (strlen (types[i].name) == length && memcmp (types[i].name, name, length) == 0)
      return types[i].type;
  return -1;
}

/* A form as the dotted parts name it; words that are no shape or type are flags, or refused. */
typedef struct
{
  int32_t m, n, k;
  int32_t types[4];
  int type_count;
  uint32_t flags;
} Named;

static bool
read_part (Named *named, const char *word, size_t length)
{
  static const char *const idle[] = {"sync", "aligned", "row", "col", "popc", "xor", "rn", "mma"};
  char text[16];
  int at = 0;
  if (length >= sizeof text)
    return false;
  memcpy (text, word, length);
  text[length] = '\0';
  int32_t type = element_type (text, length);
  if (type >= 0 && named->type_count < 4)
    named->types[named->type_count++] = type;
  else if (strcmp (text, "satfinite") == 0)
    named->flags |= VGPU_PRODUCT_SATURATES;
  else if (strcmp (text, "and") == 0)
    named->flags |= VGPU_PRODUCT_AND;
  else if (sscanf (text, "m%dn%dk%d%n", &named->m, &named->n, &named->k, &at) == 3
           && at == (int) length)
    return true;
  else
    for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++)
      if (strcmp (idle[i], text) == 0)
        return true;
  return type >= 0 || strcmp (text, "satfinite") == 0 || strcmp (text, "and") == 0;
}

static bool
read_named (const char *opcode, Named *named)
{
  *named = (Named) {0};
  for (const char *dot = strchr (opcode, '.'); dot != NULL;)
    {
      const char *word = dot + 1;
      dot = strchr (word, '.');
      if (!read_part (named, word, dot != NULL ? (size_t) (dot - word) : strlen (word)))
        return false;
    }
  return true;
}

/* clang-format off */
/* What mma.sync knows: PTX ISA, table "Matrix multiply-and-accumulate operation", without sparse ones and
 * m8n8k4 of halves. b: the other type that a and b may have, or 0. */
static const struct
{
  int32_t m, a, b, accumulator, result;
  int32_t k[3];
} products[] = {
  { 16, VGPU_TYPE_F16, 0, VGPU_TYPE_F32, VGPU_TYPE_F32, { 8, 16 } },
  { 16, VGPU_TYPE_F16, 0, VGPU_TYPE_F16, VGPU_TYPE_F16, { 8, 16 } },
  { 16, VGPU_TYPE_BF16, 0, VGPU_TYPE_F32, VGPU_TYPE_F32, { 8, 16 } },
  { 16, VGPU_TYPE_U32, 0, VGPU_TYPE_F32, VGPU_TYPE_F32, { 4, 8 } },
  { 16, VGPU_TYPE_F64, 0, VGPU_TYPE_F64, VGPU_TYPE_F64, { 4, 8, 16 } },
  { 8, VGPU_TYPE_F64, 0, VGPU_TYPE_F64, VGPU_TYPE_F64, { 4 } },
  { 16, VGPU_TYPE_U8, VGPU_TYPE_S8, VGPU_TYPE_S32, VGPU_TYPE_S32, { 16, 32 } },
  { 8, VGPU_TYPE_U8, VGPU_TYPE_S8, VGPU_TYPE_S32, VGPU_TYPE_S32, { 16 } },
  { 16, VGPU_TYPE_S4, VGPU_TYPE_U4, VGPU_TYPE_S32, VGPU_TYPE_S32, { 32, 64 } },
  { 8, VGPU_TYPE_S4, VGPU_TYPE_U4, VGPU_TYPE_S32, VGPU_TYPE_S32, { 32 } },
  { 16, VGPU_TYPE_B1, 0, VGPU_TYPE_S32, VGPU_TYPE_S32, { 128, 256 } },
  { 8, VGPU_TYPE_B1, 0, VGPU_TYPE_S32, VGPU_TYPE_S32, { 128 } },
  { 16, VGPU_TYPE_E4M3, VGPU_TYPE_E5M2, VGPU_TYPE_F32, VGPU_TYPE_F32, { 16, 32 } },
  { 16, VGPU_TYPE_E4M3, VGPU_TYPE_E5M2, VGPU_TYPE_F16, VGPU_TYPE_F16, { 16, 32 } },
};
/* clang-format on */

/* Of two types for a and b, each operand may have either. */
static bool
is_either (int32_t type, int32_t one, int32_t other)
{
  return type == one || (other != 0 && type == other);
}

static bool
is_usual (int32_t type)
{
  return type == VGPU_TYPE_F16 || type == VGPU_TYPE_BF16 || type == VGPU_TYPE_S8
         || type == VGPU_TYPE_U8 || type == VGPU_TYPE_U32;
}

bool
vgpu_decode_mma (VgpuBuilder *builder, const VgpuStatement *statement)
{
  const char *opcode = statement->opcode;
  Named named;
  if (!need (builder, 4))
    return false;
  if (!read_named (opcode, &named) || named.type_count != 4 || named.n != 8
      || strstr (opcode, ".row.col.") == NULL)
    return vgpu_builder_unsupported (builder, NULL);
  for (size_t i = 0; i < sizeof products / sizeof products[0]; i++)
    for (int j = 0; j < 3; j++)
      {
        if (products[i].m != named.m || products[i].k[j] != named.k
            || products[i].result != named.types[0]
            || !is_either (named.types[1], products[i].a, products[i].b)
            || !is_either (named.types[2], products[i].a, products[i].b)
            || products[i].accumulator != named.types[3])
          continue;
        VgpuMatrixForm form = {.m = named.m,
                               .n = 8,
                               .k = named.types[1] == VGPU_TYPE_B1 ? named.k / 32 : named.k,
                               .type = named.types[1],
                               .type_b = named.types[2],
                               .accumulator = named.types[3],
                               .result = named.types[0]};
        bool usual = is_usual (form.type) && named.m == 16 && named.flags == 0;
        return emit_product (builder, &form, usual ? UINT32_MAX : named.flags);
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
  } shapes[] = {{"m16n16k16", 16, 16, 16}, {"m32n8k16", 32, 8, 16}, {"m8n32k16", 8, 32, 16},
                {"m16n16k8", 16, 16, 8},   {"m8n8k4", 8, 8, 4},     {"m8n8k32", 8, 8, 32},
                {"m8n8k128", 8, 8, 128}};
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
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
  /* Less than a byte each: words of them, of which a row has so many fewer. */
  int32_t narrow = type == VGPU_TYPE_S4 || type == VGPU_TYPE_U4 ? 8 : type == VGPU_TYPE_B1 ? 32 : 1;
  if (narrow > 1)
    {
      form->k /= narrow;
      type = VGPU_TYPE_U32;
    }
  bool wide = type == VGPU_TYPE_F64;
  form->type = form->type_b = form->accumulator = form->result = type;
  if (!vgpu_address (builder, &statement->operands[store ? 0 : 1], &address)
      || !collect_rows (builder, &statement->operands[store ? 1 : 0], !store, wide ? 8 : 4,
                        words + VGPU_MATRIX_FORM_WORDS, &form->registers[part]))
    return false;
  int32_t held = form->registers[part] * 32 * (int32_t) vgpu_matrix_per_register (type);
  int32_t size = part == VGPU_MATRIX_A   ? form->m * form->k
                 : part == VGPU_MATRIX_B ? form->k * form->n
                                         : form->m * form->n;
  if (held == 0 || held % size != 0)
    return vgpu_builder_fail (builder, "%s with another number of registers", opcode);
  if (!wide)
    form->maps[part] = map_of (builder, form, part);
  memcpy (words, form, sizeof *form);
  bool column = vgpu_opcode_has (opcode, "col");
  int32_t usual = part == VGPU_MATRIX_A   ? (column ? form->m : form->k)
                  : part == VGPU_MATRIX_B ? (column ? form->k : form->n)
                                          : (column ? form->m : form->n);
  int32_t leading = statement->operand_count > 2
                        ? vgpu_source_row (builder, &statement->operands[2], 4)
                        : vgpu_constant (builder, 4, (uint64_t) usual);
  if (narrow > 1 && statement->operand_count > 2)
    {
      int32_t fewer = vgpu_new_row (builder, 4);
      vgpu_emit_rows (builder, VGPU_OP_SHR_U32, fewer, leading,
                      vgpu_constant (builder, 4, narrow == 8 ? 3 : 5), VGPU_NO_ROW);
      leading = fewer;
    }
  uint32_t extra =
      vgpu_extra (builder, words, VGPU_MATRIX_FORM_WORDS + (size_t) form->registers[part]);
  VgpuOp op = wide    ? store ? VGPU_OP_WIDE_STORE : VGPU_OP_WIDE_LOAD
              : store ? VGPU_OP_WMMA_STORE
                      : VGPU_OP_WMMA_LOAD;
  VgpuIns *ins = vgpu_emit_rows (builder, op, 0, address.row, leading, VGPU_NO_ROW);
  ins->extra = extra;
  ins->target = part;
  ins->imm = address.offset;
  ins->bytes = (uint8_t) (wide ? 8 : 4 / vgpu_matrix_per_register (type));
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
  Named named;
  if (!read_named (statement->opcode, &named) || (named.type_count != 2 && named.type_count != 4))
    return vgpu_builder_unsupported (builder, NULL);
  form->result = named.types[0];
  form->accumulator = named.types[named.type_count - 1];
  form->type = named.type_count == 4 ? named.types[1] : VGPU_TYPE_F16;
  form->type_b = named.type_count == 4 ? named.types[2] : VGPU_TYPE_F16;
  if (form->type == VGPU_TYPE_B1)
    form->k /= 32;
  return emit_product (builder, form,
                       is_usual (form->type) && named.flags == 0 ? UINT32_MAX : named.flags);
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

/* movmatrix.sync.aligned.m8n8.trans.b16 d, a */
bool
vgpu_decode_move_matrix (VgpuBuilder *builder, const VgpuStatement *statement)
{
  if (strcmp (statement->opcode, "movmatrix.sync.aligned.m8n8.trans.b16") != 0)
    return vgpu_builder_unsupported (builder, NULL);
  if (!need (builder, 2))
    return false;
  int32_t a = vgpu_source_row (builder, &statement->operands[1], 4);
  VgpuDestination d = vgpu_destination (builder, &statement->operands[0], 4);
  VgpuIns *ins = vgpu_emit_rows (builder, VGPU_OP_MOVE_MATRIX, d.row, a, VGPU_NO_ROW, VGPU_NO_ROW);
  ins->taint = VGPU_TAINT_HANDLED;
  vgpu_destination_done (builder, &d, false);
  return !builder->failed;
}
