/* SPDX-License-Identifier: Apache-2.0 */
/* Rows, operands and emission: what all decoders are written in. */
#include "engine/vgpu/ptx/builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CODE ((size_t) 4 << 20)
#define MAX_WARP_ROWS ((size_t) 64 << 20)

bool
vgpu_builder_fail (VgpuBuilder *builder, const char *format, ...)
{
  if (builder->failed)
    return false;
  builder->failed = true;
  int line = builder->statement != NULL ? builder->statement->line : 0;
  int used = snprintf (builder->error, VGPU_ERROR_BYTES, "PTX line %d: ", line);
  va_list arguments;
  va_start (arguments, format);
  vsnprintf (builder->error + used, VGPU_ERROR_BYTES - (size_t) used, format, arguments);
  va_end (arguments);
  if (builder->statement == NULL)
    return false;
  VgpuPlace place = vgpu_source_place (builder->source, builder->statement->location);
  size_t length = strlen (builder->error);
  if (place.file != NULL)
    snprintf (builder->error + length, VGPU_ERROR_BYTES - length, " (%s:%d)", place.file,
              place.line);
  return false;
}

bool
vgpu_builder_unsupported (VgpuBuilder *builder, const char *why)
{
  const char *opcode = builder->statement->opcode;
  if (why == NULL)
    return vgpu_builder_fail (builder, "instruction %s is not supported by the virtual GPU",
                              opcode);
  return vgpu_builder_fail (builder, "instruction %s is not supported by the virtual GPU: %s",
                            opcode, why);
}

static VgpuTaint
taint_of (VgpuOp op)
{
  switch (vgpu_operations[op].kind)
    {
    case VGPU_KIND_SPECIAL:
      break;
    default:
      return VGPU_TAINT_MIX;
    }
  switch ((int) op)
    {
    case VGPU_OP_SELECT_16:
    case VGPU_OP_SELECT_32:
    case VGPU_OP_SELECT_64:
      return VGPU_TAINT_SELECT;
    case VGPU_OP_BRANCH:
    case VGPU_OP_BRANCH_BACK:
      return VGPU_TAINT_BRANCH;
    case VGPU_OP_PRED_MOV:
    case VGPU_OP_PRED_NOT:
    case VGPU_OP_PRED_AND:
    case VGPU_OP_PRED_OR:
    case VGPU_OP_PRED_XOR:
    case VGPU_OP_SET_MASK:
    case VGPU_OP_TESTP_F32:
    case VGPU_OP_TESTP_F64:
    case VGPU_OP_CVT_ANY:
    case VGPU_OP_DIV_APPROX:
    case VGPU_OP_BFI_32:
    case VGPU_OP_BFI_64:
      return VGPU_TAINT_MIX;
    case VGPU_OP_SHUFFLE:
    case VGPU_OP_VOTE:
    case VGPU_OP_MATCH:
    case VGPU_OP_REDUX:
    case VGPU_OP_ACTIVE_MASK:
    case VGPU_OP_CLOCK:
      return VGPU_TAINT_CLEAN;
    default:
      return VGPU_TAINT_NONE;
    }
}

VgpuIns *
vgpu_emit_rows (VgpuBuilder *builder, VgpuOp op, int32_t d, int32_t a, int32_t b, int32_t c)
{
  VgpuKernel *kernel = builder->kernel;
  if (kernel->code_count >= MAX_CODE)
    {
      vgpu_builder_fail (builder, "the kernel is too long once its calls are expanded");
      kernel->code_count = 0;
    }
  if (kernel->code_count == builder->code_capacity)
    {
      builder->code_capacity = builder->code_capacity > 0 ? builder->code_capacity * 2 : 64;
      kernel->code = vgpu_retake (kernel->code, builder->code_capacity * sizeof *kernel->code);
    }
  VgpuIns *ins = &kernel->code[kernel->code_count++];
  memset (ins, 0, sizeof *ins);
  ins->op = (uint16_t) op;
  ins->d = d;
  ins->a = a == VGPU_NO_ROW ? 0 : a;
  ins->b = b == VGPU_NO_ROW ? 0 : b;
  ins->c = c == VGPU_NO_ROW ? 0 : c;
  ins->vec = 1;
  ins->taint = (uint8_t) taint_of (op);
  ins->reconverge = VGPU_NONE;
  ins->location = builder->statement != NULL ? builder->statement->location : VGPU_NONE;
  ins->line = builder->statement != NULL ? builder->statement->line : 0;
  if (builder->guard != VGPU_NO_ROW)
    {
      ins->guard = builder->guard;
      ins->is_guarded = 1;
      if (builder->guard_negated)
        ins->flags |= VGPU_INS_GUARD_NEGATED;
    }
  /* Operands that are missing read the first constant row: harmless, and never dubious. */
  if (a == VGPU_NO_ROW)
    ins->a = -VGPU_LANES * 8;
  if (b == VGPU_NO_ROW)
    ins->b = -VGPU_LANES * 8;
  if (c == VGPU_NO_ROW)
    ins->c = -VGPU_LANES * 8;
  return ins;
}

VgpuIns *
vgpu_emit (VgpuBuilder *builder, VgpuOp op)
{
  return vgpu_emit_rows (builder, op, 0, VGPU_NO_ROW, VGPU_NO_ROW, VGPU_NO_ROW);
}

static size_t
row_size (uint32_t bytes)
{
  size_t size = (size_t) bytes * VGPU_LANES;
  return bytes <= 1 ? VGPU_ROW_UNIT : (size + VGPU_ROW_UNIT - 1) / VGPU_ROW_UNIT * VGPU_ROW_UNIT;
}

int32_t
vgpu_new_row (VgpuBuilder *builder, uint32_t bytes)
{
  VgpuKernel *kernel = builder->kernel;
  if (kernel->warp_row_bytes > MAX_WARP_ROWS)
    {
      vgpu_builder_fail (builder, "the kernel has too many registers");
      return 0;
    }
  int32_t row = (int32_t) kernel->warp_row_bytes;
  if (builder->owns_rows)
    {
      if (kernel->own_row_count == builder->own_row_capacity)
        {
          builder->own_row_capacity = builder->own_row_capacity * 2 + 32;
          kernel->own_rows =
              vgpu_retake (kernel->own_rows, builder->own_row_capacity * sizeof *kernel->own_rows);
        }
      kernel->own_rows[kernel->own_row_count++] = (VgpuRow) {row, bytes};
    }
  kernel->warp_row_bytes += row_size (bytes);
  return row;
}

static bool
is_shared_kind (VgpuRowKind kind)
{
  return kind != VGPU_ROW_TID && kind != VGPU_ROW_LANE && kind != VGPU_ROW_LANEMASK
         && kind != VGPU_ROW_WARP;
}

int32_t
vgpu_fixed_row (VgpuBuilder *builder, VgpuRowKind kind, uint32_t bytes, uint64_t value)
{
  VgpuKernel *kernel = builder->kernel;
  for (size_t i = 0; i < kernel->row_count; i++)
    if (kernel->rows[i].kind == kind && kernel->rows[i].bytes == bytes
        && kernel->rows[i].value == value)
      return kernel->rows[i].offset;
  if (kernel->row_count == builder->row_capacity)
    {
      builder->row_capacity = builder->row_capacity > 0 ? builder->row_capacity * 2 : 32;
      kernel->rows = vgpu_retake (kernel->rows, builder->row_capacity * sizeof *kernel->rows);
    }
  int32_t offset;
  if (is_shared_kind (kind))
    {
      kernel->shared_row_bytes += row_size (bytes);
      offset = -(int32_t) kernel->shared_row_bytes;
    }
  else
    offset = vgpu_new_row (builder, bytes);
  kernel->rows[kernel->row_count++] =
      (VgpuFixedRow) {.kind = kind, .bytes = (uint8_t) bytes, .offset = offset, .value = value};
  return offset;
}

int32_t
vgpu_constant (VgpuBuilder *builder, uint32_t bytes, uint64_t value)
{
  if (bytes < 8)
    value &= ((uint64_t) 1 << (bytes * 8)) - 1;
  return vgpu_fixed_row (builder, VGPU_ROW_IMMEDIATE, bytes, value);
}

uint32_t
vgpu_extra (VgpuBuilder *builder, const int32_t *rows, size_t count)
{
  VgpuKernel *kernel = builder->kernel;
  if (kernel->extra_count + count > builder->extra_capacity)
    {
      builder->extra_capacity = (kernel->extra_count + count) * 2;
      kernel->extra = vgpu_retake (kernel->extra, builder->extra_capacity * sizeof *kernel->extra);
    }
  memcpy (kernel->extra + kernel->extra_count, rows, count * sizeof *rows);
  kernel->extra_count += count;
  return (uint32_t) (kernel->extra_count - count);
}

uint32_t
vgpu_register_bytes (const VgpuBuilder *builder, const VgpuOperand *operand)
{
  uint8_t bits = builder->frame->function->registers[operand->reg].bits;
  return bits == 1 ? 1 : bits / 8u;
}

static int32_t
register_row (VgpuBuilder *builder, uint32_t reg)
{
  int32_t *row = &builder->frame->rows[reg];
  uint8_t bits = builder->frame->function->registers[reg].bits;
  if (bits > 64)
    {
      vgpu_builder_unsupported (builder, "registers of 128 bits");
      return 0;
    }
  if (*row == VGPU_NO_ROW)
    *row = vgpu_new_row (builder, bits == 1 ? 1 : bits / 8u);
  return *row;
}

void
vgpu_resize (VgpuBuilder *builder, int32_t from, uint32_t from_bytes, int32_t to, uint32_t to_bytes,
             bool is_signed)
{
  static const struct
  {
    uint8_t from, to;
    VgpuOp op, op_signed;
  } ops[] = {
      {2, 2, VGPU_OP_MOV_16, VGPU_OP_MOV_16},
      {4, 4, VGPU_OP_MOV_32, VGPU_OP_MOV_32},
      {8, 8, VGPU_OP_MOV_64, VGPU_OP_MOV_64},
      {4, 2, VGPU_OP_COPY_LOW_16_32, VGPU_OP_COPY_LOW_16_32},
      {8, 2, VGPU_OP_COPY_LOW_16_64, VGPU_OP_COPY_LOW_16_64},
      {8, 4, VGPU_OP_COPY_LOW_32_64, VGPU_OP_COPY_LOW_32_64},
      {2, 4, VGPU_OP_ZERO_EXTEND_32_16, VGPU_OP_SIGN_EXTEND_32_16},
      {2, 8, VGPU_OP_ZERO_EXTEND_64_16, VGPU_OP_SIGN_EXTEND_64_16},
      {4, 8, VGPU_OP_ZERO_EXTEND_64_32, VGPU_OP_SIGN_EXTEND_64_32},
  };
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
    if (ops[i].from == from_bytes && ops[i].to == to_bytes)
      {
        vgpu_emit_rows (builder, is_signed ? ops[i].op_signed : ops[i].op, to, from, VGPU_NO_ROW,
                        VGPU_NO_ROW);
        return;
      }
  vgpu_builder_unsupported (builder, "operand of an unexpected width");
}

static int32_t
special_row (VgpuBuilder *builder, const char *name)
{
  static const struct
  {
    const char *name;
    VgpuRowKind kind;
    uint32_t value;
  } specials[] = {
      {"%tid.x", VGPU_ROW_TID, 0},
      {"%tid.y", VGPU_ROW_TID, 1},
      {"%tid.z", VGPU_ROW_TID, 2},
      {"%ntid.x", VGPU_ROW_NTID, 0},
      {"%ntid.y", VGPU_ROW_NTID, 1},
      {"%ntid.z", VGPU_ROW_NTID, 2},
      {"%ctaid.x", VGPU_ROW_CTAID, 0},
      {"%ctaid.y", VGPU_ROW_CTAID, 1},
      {"%ctaid.z", VGPU_ROW_CTAID, 2},
      {"%nctaid.x", VGPU_ROW_NCTAID, 0},
      {"%nctaid.y", VGPU_ROW_NCTAID, 1},
      {"%nctaid.z", VGPU_ROW_NCTAID, 2},
      {"%laneid", VGPU_ROW_LANE, 0},
      {"%lanemask_eq", VGPU_ROW_LANEMASK, 0},
      {"%lanemask_le", VGPU_ROW_LANEMASK, 1},
      {"%lanemask_lt", VGPU_ROW_LANEMASK, 2},
      {"%lanemask_ge", VGPU_ROW_LANEMASK, 3},
      {"%lanemask_gt", VGPU_ROW_LANEMASK, 4},
      {"%warpid", VGPU_ROW_WARP, 0},
      {"%nwarpid", VGPU_ROW_WARPS, 0},
      {"%smid", VGPU_ROW_SM, 0},
      {"%nsmid", VGPU_ROW_SMS, 0},
      {"%gridid", VGPU_ROW_GRID, 0},
      {"%envreg1", VGPU_ROW_WORKSPACE, 32},
      {"%envreg2", VGPU_ROW_WORKSPACE, 0},
      {"%dynamic_smem_size", VGPU_ROW_DYNAMIC_SHARED, 0},
      {"%total_smem_size", VGPU_ROW_TOTAL_SHARED, 0},
      {"%reserved_smem_offset_begin", VGPU_ROW_RESERVED_SHARED, 0},
      {"%reserved_smem_offset_0", VGPU_ROW_RESERVED_SHARED, 0},
      {"%reserved_smem_offset_1", VGPU_ROW_RESERVED_SHARED, VGPU_RESERVED_SHARED / 4},
      {"%reserved_smem_offset_cap", VGPU_ROW_RESERVED_SHARED, VGPU_RESERVED_SHARED},
      {"%reserved_smem_offset_end", VGPU_ROW_RESERVED_SHARED, VGPU_RESERVED_SHARED},
      {"WARP_SZ", VGPU_ROW_IMMEDIATE, VGPU_LANES},
      {"%cluster_ctaid.x", VGPU_ROW_CLUSTER_CTAID, 0},
      {"%cluster_ctaid.y", VGPU_ROW_CLUSTER_CTAID, 1},
      {"%cluster_ctaid.z", VGPU_ROW_CLUSTER_CTAID, 2},
      {"%cluster_nctaid.x", VGPU_ROW_CLUSTER_NCTAID, 0},
      {"%cluster_nctaid.y", VGPU_ROW_CLUSTER_NCTAID, 1},
      {"%cluster_nctaid.z", VGPU_ROW_CLUSTER_NCTAID, 2},
      {"%clusterid.x", VGPU_ROW_CLUSTER_ID, 0},
      {"%clusterid.y", VGPU_ROW_CLUSTER_ID, 1},
      {"%clusterid.z", VGPU_ROW_CLUSTER_ID, 2},
      {"%nclusterid.x", VGPU_ROW_CLUSTERS, 0},
      {"%nclusterid.y", VGPU_ROW_CLUSTERS, 1},
      {"%nclusterid.z", VGPU_ROW_CLUSTERS, 2},
      {"%cluster_ctarank", VGPU_ROW_CLUSTER_RANK, 0},
      {"%cluster_nctarank", VGPU_ROW_CLUSTER_SIZE, 0},
  };
  for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++)
    if (strcmp (specials[i].name, name) == 0)
      {
        builder->kernel->uses_reserved |= specials[i].kind == VGPU_ROW_RESERVED_SHARED;
        return vgpu_fixed_row (builder, specials[i].kind, 4, specials[i].value);
      }
  vgpu_builder_fail (builder, "special register %s is not supported by the virtual GPU", name);
  return 0;
}

static uint64_t
literal_value (const VgpuOperand *operand, uint32_t bytes)
{
  if (operand->kind == VGPU_OPERAND_FLOAT64 && bytes == 4)
    {
      double wide;
      uint32_t bits;
      memcpy (&wide, &operand->value, sizeof wide);
      float narrow = (float) wide;
      memcpy (&bits, &narrow, sizeof bits);
      return bits;
    }
  if (operand->kind == VGPU_OPERAND_FLOAT32 && bytes == 8)
    {
      float narrow;
      uint64_t bits;
      memcpy (&narrow, &operand->value, sizeof narrow);
      double wide = narrow;
      memcpy (&bits, &wide, sizeof bits);
      return bits;
    }
  return (uint64_t) operand->value;
}

int32_t
vgpu_source_row (VgpuBuilder *builder, const VgpuOperand *operand, uint32_t bytes)
{
  int32_t row;
  uint32_t have = 4;
  uint64_t place;
  VgpuSpace space;
  switch (operand->kind)
    {
    case VGPU_OPERAND_REGISTER:
      row = register_row (builder, operand->reg);
      have = vgpu_register_bytes (builder, operand);
      if (have == 1)
        {
          vgpu_builder_fail (builder, "a predicate where a value is expected");
          return 0;
        }
      break;
    case VGPU_OPERAND_SPECIAL:
      row = special_row (builder, operand->name);
      break;
    case VGPU_OPERAND_INTEGER:
    case VGPU_OPERAND_FLOAT32:
    case VGPU_OPERAND_FLOAT64:
      return vgpu_constant (builder, bytes, literal_value (operand, bytes));
    case VGPU_OPERAND_SYMBOL:
      if (!vgpu_variable_place (builder, operand, &place, &space))
        return 0;
      place += (uint64_t) operand->value;
      if (builder->place_base == VGPU_NO_ROW || bytes != 8)
        return vgpu_constant (builder, bytes, place);
      row = vgpu_new_row (builder, 8);
      vgpu_emit_rows (builder, VGPU_OP_ADD_64, row, builder->place_base,
                      vgpu_constant (builder, 8, place), VGPU_NO_ROW);
      return row;
    default:
      vgpu_builder_fail (builder, "an unexpected kind of operand");
      return 0;
    }
  if (have == bytes)
    return row;
  int32_t other = vgpu_new_row (builder, bytes);
  vgpu_resize (builder, row, have, other, bytes, false);
  return other;
}

int32_t
vgpu_predicate_row (VgpuBuilder *builder, const VgpuOperand *operand)
{
  if (operand->kind == VGPU_OPERAND_INTEGER)
    return vgpu_constant (builder, 4, operand->value != 0 ? VGPU_FULL : 0);
  if (operand->kind == VGPU_OPERAND_REGISTER && vgpu_register_bytes (builder, operand) == 1)
    return register_row (builder, operand->reg);
  vgpu_builder_fail (builder, "a predicate expected");
  return 0;
}

VgpuDestination
vgpu_destination (VgpuBuilder *builder, const VgpuOperand *operand, uint32_t bytes)
{
  VgpuDestination destination = {.final = VGPU_NO_ROW, .bytes = bytes};
  if (operand->kind == VGPU_OPERAND_SINK)
    {
      destination.row = vgpu_new_row (builder, bytes);
      return destination;
    }
  if (operand->kind != VGPU_OPERAND_REGISTER || vgpu_register_bytes (builder, operand) == 1)
    {
      vgpu_builder_fail (builder, "a register expected as destination");
      return destination;
    }
  destination.row = register_row (builder, operand->reg);
  destination.final_bytes = vgpu_register_bytes (builder, operand);
  if (destination.final_bytes == bytes)
    return destination;
  destination.final = destination.row;
  destination.row = vgpu_new_row (builder, bytes);
  return destination;
}

void
vgpu_destination_done (VgpuBuilder *builder, const VgpuDestination *destination, bool is_signed)
{
  if (destination->final != VGPU_NO_ROW && !builder->failed)
    vgpu_resize (builder, destination->row, destination->bytes, destination->final,
                 destination->final_bytes, is_signed);
}

int32_t
vgpu_predicate_destination (VgpuBuilder *builder, const VgpuOperand *operand)
{
  if (operand->kind == VGPU_OPERAND_SINK)
    return vgpu_new_row (builder, 1);
  return vgpu_predicate_row (builder, operand);
}

static const VgpuBinding *
find_binding (const VgpuBinding *bindings, size_t count, const VgpuVariable *variable)
{
  for (size_t i = 0; i < count; i++)
    if (bindings[i].variable == variable)
      return &bindings[i];
  return NULL;
}

bool
vgpu_variable_place (VgpuBuilder *builder, const VgpuOperand *operand, uint64_t *place,
                     VgpuSpace *space)
{
  const VgpuVariable *variable = operand->variable;
  if (variable == NULL)
    variable = vgpu_source_variable (builder->source, operand->name);
  const VgpuFunction *function =
      variable == NULL ? vgpu_source_function (builder->source, operand->name) : NULL;
  builder->place_base = VGPU_NO_ROW;
  if (function != NULL)
    {
      *space = VGPU_SPACE_GLOBAL;
      *place = function->address;
      return true;
    }
  if (variable == NULL)
    return vgpu_builder_fail (builder, "unknown symbol %s", operand->name);
  *space = variable->space;
  *place = variable->place;
  if (variable->space == VGPU_SPACE_GLOBAL || variable->space == VGPU_SPACE_CONST)
    return variable->place != 0
           || vgpu_builder_fail (builder, "symbol %s is defined in no module", operand->name);
  const VgpuBinding *binding =
      variable->space == VGPU_SPACE_SHARED
          ? find_binding (builder->shared, builder->shared_count, variable)
          : find_binding (builder->frame->bindings, builder->frame->binding_count, variable);
  if (binding == NULL)
    return vgpu_builder_fail (builder, "symbol %s has no place", operand->name);
  *place = binding->offset;
  if (variable->space != VGPU_SPACE_SHARED)
    builder->place_base = builder->frame->base;
  return true;
}

static void
mark_reads (unsigned char *reads, const VgpuOperand *operand)
{
  if (operand->kind == VGPU_OPERAND_REGISTER)
    reads[operand->reg] = 1;
  for (uint32_t i = 0; i < operand->count; i++)
    mark_reads (reads, &operand->list[i]);
}

bool
vgpu_register_is_read (VgpuBuilder *builder, const VgpuOperand *operand)
{
  VgpuFrame *frame = builder->frame;
  const VgpuFunction *function = frame->function;
  if (operand->kind != VGPU_OPERAND_REGISTER)
    return false;
  if (frame->reads == NULL)
    {
      frame->reads = vgpu_arena_take (&builder->arena, function->register_count + 1);
      for (size_t i = 0; i < function->statement_count; i++)
        {
          const VgpuStatement *statement = &function->statements[i];
          if (statement->guard != VGPU_NONE)
            frame->reads[statement->guard] = 1;
          /* The first operand is the result, unless it is an address or the statement has none. */
          for (uint32_t j = 0; j < statement->operand_count; j++)
            if (j > 0 || statement->operands[j].kind == VGPU_OPERAND_ADDRESS
                || statement->operand_count == 1)
              mark_reads (frame->reads, &statement->operands[j]);
        }
    }
  return frame->reads[operand->reg] != 0;
}

bool
vgpu_address (VgpuBuilder *builder, const VgpuOperand *operand, VgpuAddress *address)
{
  if (operand->kind != VGPU_OPERAND_ADDRESS || operand->count != 1)
    return vgpu_builder_fail (builder, "an address in brackets expected");
  const VgpuOperand *base = operand->list;
  memset (address, 0, sizeof *address);
  address->offset = operand->value;
  address->wide = true;
  if (base->kind == VGPU_OPERAND_REGISTER)
    {
      uint32_t bytes = vgpu_register_bytes (builder, base);
      address->is_register = true;
      address->wide = bytes == 8;
      if (bytes != 8 && bytes != 4)
        return vgpu_builder_fail (builder, "an address in a register of %u bytes", bytes);
      address->row = register_row (builder, base->reg);
      return !builder->failed;
    }
  if (base->kind == VGPU_OPERAND_INTEGER)
    {
      address->row = vgpu_constant (builder, 8, (uint64_t) base->value);
      return true;
    }
  uint64_t place;
  VgpuSpace space;
  if (!vgpu_variable_place (builder, base, &place, &space))
    return false;
  address->variable = base->variable;
  if (builder->place_base == VGPU_NO_ROW)
    address->row = vgpu_constant (builder, 8, place);
  else
    {
      address->row = builder->place_base;
      address->offset += (int64_t) place;
    }
  return !builder->failed;
}

bool
vgpu_opcode_has (const char *opcode, const char *word)
{
  size_t length = strlen (word);
  for (const char *dot = strchr (opcode, '.'); dot != NULL; dot = strchr (dot + 1, '.'))
    if (strncmp (dot + 1, word, length) == 0 && (dot[1 + length] == '.' || dot[1 + length] == '\0'))
      return true;
  return false;
}

const char *
vgpu_opcode_last (const char *opcode)
{
  const char *dot = strrchr (opcode, '.');
  return dot != NULL ? dot + 1 : "";
}

uint32_t
vgpu_type_size (const char *type)
{
  char dotted[16];
  snprintf (dotted, sizeof dotted, ".%s", type);
  return vgpu_type_bytes (dotted, strlen (dotted));
}
