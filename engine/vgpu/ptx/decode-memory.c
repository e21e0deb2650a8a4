/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, stores, atomics, asynchronous copies. */
#include "engine/vgpu/exec/atomics.h"
#include "engine/vgpu/ptx/builder.h"

#include <string.h>

/* What the dotted parts of a memory opcode say. */
typedef struct
{
  VgpuSpace space;
  uint32_t vec;
  uint32_t bytes;
  bool is_signed;
  bool is_strong;
} MemoryForm;

static bool
is_one_of (const char *word, size_t length, const char *const *words)
{
  for (; *words != NULL; words++)
    if (strlen (*words) == length && memcmp (*words, word, length) == 0)
      return true;
  return false;
}

static VgpuSpace
space_of (const char *word, size_t length)
{
  static const struct
  {
    const char *name;
    VgpuSpace space;
  } spaces[] = {{"global", VGPU_SPACE_GLOBAL},      {"shared", VGPU_SPACE_SHARED},
                {"shared::cta", VGPU_SPACE_SHARED}, {"shared::cluster", VGPU_SPACE_SHARED},
                {"local", VGPU_SPACE_LOCAL},        {"param", VGPU_SPACE_PARAM},
                {"const", VGPU_SPACE_CONST},        {"param::entry", VGPU_SPACE_PARAM},
                {"param::func", VGPU_SPACE_PARAM}};
  for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
    if (strlen (spaces[i].name) == length && memcmp (spaces[i].name, word, length) == 0)
      return spaces[i].space;
  return VGPU_SPACE_NONE;
}

static bool
read_part (MemoryForm *form, const char *word, size_t length)
{
  static const char *const strong[] = {"volatile", "relaxed", "acquire", "release", "mmio", NULL};
  static const char *const hints[] = {"weak",
                                      "cta",
                                      "gpu",
                                      "sys",
                                      "cluster",
                                      "ca",
                                      "cg",
                                      "cs",
                                      "lu",
                                      "cv",
                                      "wb",
                                      "wt",
                                      "nc",
                                      "uni",
                                      "unified",
                                      "L1::evict_normal",
                                      "L1::evict_unchanged",
                                      "L1::evict_first",
                                      "L1::evict_last",
                                      "L1::no_allocate",
                                      "L2::cache_hint",
                                      "L2::64B",
                                      "L2::128B",
                                      "L2::256B",
                                      "L2::evict_first",
                                      "L2::evict_last",
                                      "L2::evict_normal",
                                      NULL};
  char type[8];
  VgpuSpace space = space_of (word, length);
  if (space != VGPU_SPACE_NONE)
    form->space = space;
  else if (is_one_of (word, length, strong))
    form->is_strong = true;
  else if (length == 2 && word[0] == 'v' && (word[1] == '2' || word[1] == '4'))
    form->vec = (uint32_t) (word[1] - '0');
  else if (!is_one_of (word, length, hints))
    {
      if (length >= sizeof type)
        return false;
      memcpy (type, word, length);
      type[length] = '\0';
      form->bytes = vgpu_type_size (type);
      form->is_signed = type[0] == 's';
      return form->bytes > 0 && form->bytes <= 8;
    }
  return true;
}

static bool
read_form (VgpuBuilder *builder, MemoryForm *form)
{
  const char *at = strchr (builder->statement->opcode, '.');
  *form = (MemoryForm) {.space = VGPU_SPACE_GENERIC, .vec = 1};
  while (at != NULL)
    {
      const char *word = at + 1;
      at = strchr (word, '.');
      size_t length = at != NULL ? (size_t) (at - word) : strlen (word);
      if (!read_part (form, word, length))
        return vgpu_builder_unsupported (builder, NULL);
    }
  if (form->bytes == 0 || form->bytes * form->vec > 16)
    return vgpu_builder_unsupported (builder, NULL);
  return true;
}

static uint32_t
row_bytes (uint32_t bytes)
{
  return bytes == 1 ? 2 : bytes;
}

/* Braces around a single element, as some compilers write them, say nothing. */
static const VgpuOperand *
without_braces (const VgpuOperand *operand)
{
  return operand->kind == VGPU_OPERAND_VECTOR && operand->count == 1 ? operand->list : operand;
}

/* A kernel parameter at a known place is a constant of the launch. */
static bool
load_parameter (VgpuBuilder *builder, const VgpuStatement *statement, const MemoryForm *form,
                uint64_t offset)
{
  const VgpuOperand *to = without_braces (&statement->operands[0]);
  uint32_t bytes = row_bytes (form->bytes);
  if (offset + (uint64_t) form->bytes * form->vec > builder->kernel->parameter_bytes)
    return vgpu_builder_fail (builder, "%s beyond the kernel's parameters", statement->opcode);
  for (uint32_t i = 0; i < form->vec; i++)
    {
      const VgpuOperand *element = form->vec > 1 ? &to->list[i] : to;
      if (element->kind == VGPU_OPERAND_SINK)
        continue;
      int32_t row = vgpu_fixed_row (builder, VGPU_ROW_PARAMETER, bytes, offset + i * form->bytes);
      if (form->bytes == 1)
        {
          int32_t narrow = vgpu_new_row (builder, 2);
          vgpu_emit_rows (builder,
                          form->is_signed ? VGPU_OP_SIGN_EXTEND_16_8 : VGPU_OP_ZERO_EXTEND_16_8,
                          narrow, row, VGPU_NO_ROW, VGPU_NO_ROW);
          row = narrow;
        }
      VgpuDestination d = vgpu_destination (builder, element, bytes);
      vgpu_resize (builder, row, bytes, d.row, bytes, false);
      vgpu_destination_done (builder, &d, form->is_signed);
    }
  return !builder->failed;
}

static bool
check_vector (VgpuBuilder *builder, const VgpuOperand *operand, uint32_t vec)
{
  if (vec == 1 ? operand->kind != VGPU_OPERAND_VECTOR
               : operand->kind == VGPU_OPERAND_VECTOR && operand->count == vec)
    return true;
  return vgpu_builder_fail (builder, "%s with a vector of another length",
                            builder->statement->opcode);
}

static VgpuOp
load_op (VgpuBuilder *builder, const MemoryForm *form, const VgpuAddress *address, bool store)
{
  bool entry = builder->frame->caller == NULL;
  switch (form->space)
    {
    case VGPU_SPACE_GLOBAL:
    case VGPU_SPACE_CONST:
      return store ? VGPU_OP_STORE_GLOBAL : VGPU_OP_LOAD_GLOBAL;
    case VGPU_SPACE_SHARED:
      return store ? VGPU_OP_STORE_SHARED : VGPU_OP_LOAD_SHARED;
    case VGPU_SPACE_LOCAL:
      return store ? VGPU_OP_STORE_LOCAL : VGPU_OP_LOAD_LOCAL;
    case VGPU_SPACE_PARAM:
      if (!store && entry && address->is_register)
        return VGPU_OP_LOAD_PARAM;
      return store ? VGPU_OP_STORE_LOCAL : VGPU_OP_LOAD_LOCAL;
    default:
      return store ? VGPU_OP_STORE_GENERIC : VGPU_OP_LOAD_GENERIC;
    }
}

static bool
is_kernel_parameter (const VgpuBuilder *builder, const VgpuVariable *variable)
{
  const VgpuFunction *entry = builder->kernel->function;
  for (size_t i = 0; builder->frame->caller == NULL && i < entry->parameter_count; i++)
    if (entry->parameters[i] == variable)
      return true;
  return false;
}

static void
set_memory (VgpuIns *ins, const MemoryForm *form, const VgpuAddress *address)
{
  ins->imm = address->offset;
  ins->bytes = (uint8_t) form->bytes;
  ins->vec = (uint8_t) form->vec;
  ins->taint = VGPU_TAINT_HANDLED;
  if (address->wide)
    ins->flags |= VGPU_INS_WIDE_ADDRESS;
  if (form->is_strong)
    ins->flags |= VGPU_INS_STRONG;
  if (form->is_signed)
    ins->flags |= VGPU_INS_SIGNED;
}

bool
vgpu_decode_load (VgpuBuilder *builder, const VgpuStatement *statement)
{
  MemoryForm form;
  VgpuAddress address;
  VgpuDestination d[4];
  int32_t rows[4];
  if (statement->operand_count < 2)
    return vgpu_builder_fail (builder, "%s with too few operands", statement->opcode);
  const VgpuOperand *to = without_braces (&statement->operands[0]);
  if (!read_form (builder, &form) || !check_vector (builder, to, form.vec)
      || !vgpu_address (builder, &statement->operands[1], &address))
    return false;
  if (is_kernel_parameter (builder, address.variable))
    {
      uint64_t place;
      VgpuSpace space;
      return vgpu_variable_place (builder, statement->operands[1].list, &place, &space)
             && load_parameter (builder, statement, &form, place + (uint64_t) address.offset);
    }
  for (uint32_t i = 0; i < form.vec; i++)
    {
      d[i] = vgpu_destination (builder, form.vec > 1 ? &to->list[i] : to, row_bytes (form.bytes));
      rows[i] = d[i].row;
    }
  uint32_t extra = form.vec > 1 ? vgpu_extra (builder, rows, form.vec) : 0;
  VgpuIns *ins = vgpu_emit_rows (builder, load_op (builder, &form, &address, false), d[0].row,
                                 address.row, VGPU_NO_ROW, VGPU_NO_ROW);
  ins->extra = extra;
  set_memory (ins, &form, &address);
  if (form.is_strong && form.space != VGPU_SPACE_SHARED)
    builder->kernel->synchronises_blocks = true;
  for (uint32_t i = 0; i < form.vec; i++)
    vgpu_destination_done (builder, &d[i], form.is_signed);
  return !builder->failed;
}

bool
vgpu_decode_store (VgpuBuilder *builder, const VgpuStatement *statement)
{
  MemoryForm form;
  VgpuAddress address;
  int32_t rows[4];
  if (vgpu_opcode_has (statement->opcode, "async"))
    return vgpu_decode_store_async (builder, statement);
  if (statement->operand_count < 2)
    return vgpu_builder_fail (builder, "%s with too few operands", statement->opcode);
  const VgpuOperand *from = without_braces (&statement->operands[1]);
  if (!read_form (builder, &form) || !check_vector (builder, from, form.vec)
      || !vgpu_address (builder, &statement->operands[0], &address))
    return false;
  if (form.space == VGPU_SPACE_CONST)
    return vgpu_builder_unsupported (builder, "a store to constant memory");
  for (uint32_t i = 0; i < form.vec; i++)
    rows[i] =
        vgpu_source_row (builder, form.vec > 1 ? &from->list[i] : from, row_bytes (form.bytes));
  uint32_t extra = form.vec > 1 ? vgpu_extra (builder, rows, form.vec) : 0;
  VgpuIns *ins = vgpu_emit_rows (builder, load_op (builder, &form, &address, true), rows[0],
                                 address.row, VGPU_NO_ROW, VGPU_NO_ROW);
  ins->extra = extra;
  set_memory (ins, &form, &address);
  return !builder->failed;
}

bool
vgpu_read_atomic_code (const char *opcode, uint32_t *code, uint32_t *bytes)
{
  static const char *const kinds[VGPU_ATOM_KINDS] = {"add", "min", "max", "inc",  "dec",
                                                     "and", "or",  "xor", "exch", "cas"};
  static const struct
  {
    const char *name;
    VgpuType type;
  } types[] = {{"u32", VGPU_TYPE_U32},      {"s32", VGPU_TYPE_S32},   {"b32", VGPU_TYPE_U32},
               {"u64", VGPU_TYPE_U64},      {"s64", VGPU_TYPE_S64},   {"b64", VGPU_TYPE_U64},
               {"f32", VGPU_TYPE_F32},      {"f64", VGPU_TYPE_F64},   {"f16", VGPU_TYPE_F16},
               {"f16x2", VGPU_TYPE_F16X2},  {"bf16", VGPU_TYPE_BF16}, {"b16", VGPU_TYPE_U16},
               {"bf16x2", VGPU_TYPE_BF16X2}};
  const char *last = vgpu_opcode_last (opcode);
  int kind = -1, type = -1;
  for (int i = 0; i < VGPU_ATOM_KINDS; i++)
    if (vgpu_opcode_has (opcode, kinds[i]))
      kind = i;
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (strcmp (types[i].name, last) == 0)
      type = (int) types[i].type;
  if (kind < 0 || type < 0)
    return false;
  *bytes = vgpu_type_size (last);
  *code = VGPU_ATOM_CODE (kind, type);
  if (type == VGPU_TYPE_U16)
    return kind == VGPU_ATOM_CAS;
  return type < VGPU_TYPE_F16 || kind == VGPU_ATOM_ADD
         || (kind <= VGPU_ATOM_MAX && type != VGPU_TYPE_F32 && type != VGPU_TYPE_F64);
}

static bool
read_atomic (VgpuBuilder *builder, uint32_t *code, MemoryForm *form)
{
  const char *opcode = builder->statement->opcode;
  *form = (MemoryForm) {.space = VGPU_SPACE_GENERIC, .vec = 1};
  static const char *const lengths[] = {"v2", "v4", "v8"};
  for (uint32_t i = 0; i < 3; i++)
    if (vgpu_opcode_has (opcode, lengths[i]))
      form->vec = 2u << i;
  bool fits = vgpu_read_atomic_code (opcode, code, &form->bytes);
  if (fits && form->vec > 1)
    fits = *code % 256 >= VGPU_TYPE_F16 && *code % 256 != VGPU_TYPE_F64
           && form->vec * form->bytes <= 16;
  if (!fits)
    return vgpu_builder_unsupported (builder, NULL);
  if (vgpu_opcode_has (opcode, "global"))
    form->space = VGPU_SPACE_GLOBAL;
  else if (vgpu_opcode_has (opcode, "shared") || vgpu_opcode_has (opcode, "shared::cta")
           || vgpu_opcode_has (opcode, "shared::cluster"))
    form->space = VGPU_SPACE_SHARED;
  return true;
}

/* One element of an atomic, at its place behind the address. */
static bool
emit_atomic (VgpuBuilder *builder, const VgpuStatement *statement, uint32_t first, uint32_t code,
             const MemoryForm *form, VgpuAddress address, uint32_t element)
{
  static const VgpuOperand sink = {.kind = VGPU_OPERAND_SINK};
  const VgpuOperand *to = first > 0 ? without_braces (&statement->operands[0]) : &sink;
  const VgpuOperand *from = without_braces (&statement->operands[first + 1]);
  if (form->vec > 1)
    {
      to = first > 0 ? &to->list[element] : to;
      from = &from->list[element];
    }
  bool swap = code / 256 == VGPU_ATOM_CAS;
  int32_t b = vgpu_source_row (builder, from, form->bytes);
  int32_t c =
      swap ? vgpu_source_row (builder, &statement->operands[first + 2], form->bytes) : VGPU_NO_ROW;
  VgpuDestination d = vgpu_destination (builder, to, form->bytes);
  VgpuOp op = form->space == VGPU_SPACE_GLOBAL   ? VGPU_OP_ATOM_GLOBAL
              : form->space == VGPU_SPACE_SHARED ? VGPU_OP_ATOM_SHARED
                                                 : VGPU_OP_ATOM_GENERIC;
  VgpuIns *ins = vgpu_emit_rows (builder, op, d.row, address.row, b, c);
  const MemoryForm single = {.bytes = form->bytes, .vec = 1};
  address.offset += element * form->bytes;
  set_memory (ins, &single, &address);
  ins->target = code;
  /* Vectors are aligned as a whole; it is enough to look at the first. */
  ins->extra = element == 0 ? form->bytes * form->vec : form->bytes;
  vgpu_destination_done (builder, &d, false);
  /* Sums of floats depend on the order, and so does what anybody reads back. */
  bool floating = code % 256 >= VGPU_TYPE_F16;
  bool returned = first > 0 && vgpu_register_is_read (builder, to);
  if (op != VGPU_OP_ATOM_SHARED && (floating || returned))
    builder->kernel->order_matters = true;
  if (op != VGPU_OP_ATOM_SHARED && returned)
    builder->kernel->synchronises_blocks = true;
  return !builder->failed;
}

/* Each element of a vector is changed by an atomic of its own, as the PTX ISA has it. */
static bool
decode_atomic (VgpuBuilder *builder, const VgpuStatement *statement, uint32_t first)
{
  MemoryForm form = {0};
  VgpuAddress address;
  uint32_t code = 0;
  if (vgpu_opcode_has (statement->opcode, "async"))
    return vgpu_decode_store_async (builder, statement);
  if (statement->operand_count < first + 2)
    return vgpu_builder_fail (builder, "%s with too few operands", statement->opcode);
  if (!read_atomic (builder, &code, &form)
      || !vgpu_address (builder, &statement->operands[first], &address))
    return false;
  if (code / 256 == VGPU_ATOM_CAS && statement->operand_count < first + 3)
    return vgpu_builder_fail (builder, "%s with too few operands", statement->opcode);
  if (form.vec > 1
      && (!check_vector (builder, &statement->operands[first + 1], form.vec)
          || (first > 0 && statement->operands[0].kind != VGPU_OPERAND_SINK
              && !check_vector (builder, &statement->operands[0], form.vec))))
    return false;
  if (form.vec > 1 && first > 0 && statement->operands[0].kind == VGPU_OPERAND_SINK)
    return vgpu_builder_unsupported (builder, "a vector without a place for its results");
  for (uint32_t i = 0; i < form.vec; i++)
    if (!emit_atomic (builder, statement, first, code, &form, address, i))
      return false;
  return true;
}

bool
vgpu_decode_atomic (VgpuBuilder *builder, const VgpuStatement *statement)
{
  return decode_atomic (builder, statement, 1);
}

bool
vgpu_decode_reduction (VgpuBuilder *builder, const VgpuStatement *statement)
{
  return decode_atomic (builder, statement, 0);
}

/* Bytes to read where the last operand is a predicate that says to ignore the source. */
static int32_t
size_unless (VgpuBuilder *builder, const VgpuOperand *ignore, int32_t bytes)
{
  int32_t p = vgpu_predicate_row (builder, ignore);
  int32_t size = vgpu_new_row (builder, 4);
  int32_t none = vgpu_constant (builder, 4, 0);
  VgpuIns *ins = vgpu_emit_rows (builder, VGPU_OP_SELECT_32, size, none, bytes, p);
  ins->flags |= ignore->negated ? VGPU_INS_NEGATED : 0;
  return size;
}

/* cp.async copies at once; that nobody may look before the wait is for a check to see. */
bool
vgpu_decode_copy_async (VgpuBuilder *builder, const VgpuStatement *statement)
{
  const char *opcode = statement->opcode;
  VgpuAddress to, from;
  if (vgpu_opcode_has (opcode, "commit_group"))
    {
      vgpu_emit (builder, VGPU_OP_COPY_COMMIT);
      return true;
    }
  if (vgpu_opcode_has (opcode, "wait_group") || vgpu_opcode_has (opcode, "wait_all"))
    {
      int64_t left = statement->operand_count > 0 ? statement->operands[0].value : 0;
      VgpuIns *ins = vgpu_emit (builder, VGPU_OP_COPY_WAIT);
      ins->imm = left;
      ins->bytes = vgpu_opcode_has (opcode, "wait_all");
      return true;
    }
  bool plain = (vgpu_opcode_has (opcode, "ca") || vgpu_opcode_has (opcode, "cg"))
               && vgpu_opcode_has (opcode, "global");
  if (!plain || statement->operand_count < 3 || statement->operands[2].kind != VGPU_OPERAND_INTEGER)
    return vgpu_builder_unsupported (builder, NULL);
  int64_t bytes = statement->operands[2].value;
  if (bytes != 4 && bytes != 8 && bytes != 16)
    return vgpu_builder_fail (builder, "cp.async of %lld bytes", (long long) bytes);
  if (!vgpu_address (builder, &statement->operands[0], &to)
      || !vgpu_address (builder, &statement->operands[1], &from))
    return false;
  if (!from.wide)
    return vgpu_builder_unsupported (builder, "a global address of 32 bits");
  int32_t rows[2] = {vgpu_constant (builder, 4, (uint64_t) bytes), to.row};
  if (statement->operand_count > 3 && !vgpu_opcode_has (opcode, "L2::cache_hint"))
    {
      const VgpuOperand *size = &statement->operands[3];
      if (size->kind == VGPU_OPERAND_REGISTER && vgpu_register_bytes (builder, size) == 1)
        rows[0] = size_unless (builder, size, rows[0]);
      else
        rows[0] = vgpu_source_row (builder, size, 4);
    }
  /* a is the source; the further operands are source size, destination and its offset. */
  int32_t more[4] = {rows[0], rows[1], (int32_t) to.offset, to.wide};
  uint32_t extra = vgpu_extra (builder, more, 4);
  MemoryForm form = {.bytes = bytes < 8 ? 4 : 8, .vec = bytes == 16 ? 2 : 1};
  VgpuIns *ins =
      vgpu_emit_rows (builder, VGPU_OP_COPY_ASYNC, 0, from.row, VGPU_NO_ROW, VGPU_NO_ROW);
  set_memory (ins, &form, &from);
  ins->extra = extra;
  return !builder->failed;
}
