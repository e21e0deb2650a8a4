/* SPDX-License-Identifier: Apache-2.0 */
/* Functions expanded in place, and kernels as a whole. */
#include "engine/vgpu/ptx/builder.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LOCAL_BYTES ((uint64_t) 512 * 1024)

uint64_t
vgpu_align_to (uint64_t value, uint64_t align)
{
  return align > 1 ? (value + align - 1) / align * align : value;
}

void
vgpu_frame_bind (VgpuBuilder *builder, VgpuFrame *frame, const VgpuVariable *variable,
                 uint64_t offset)
{
  frame->bindings = vgpu_arena_grow (&builder->arena, frame->bindings, frame->binding_count,
                                     &frame->binding_capacity, sizeof *frame->bindings);
  frame->bindings[frame->binding_count++] = (VgpuBinding) {variable, offset};
}

static bool
place_locals (VgpuBuilder *builder, VgpuFrame *frame)
{
  uint64_t *used = frame->frame_bytes != NULL ? frame->frame_bytes : &builder->kernel->local_bytes;
  for (const VgpuVariable *v = frame->function->variables; v != NULL; v = v->next)
    {
      if (v->space != VGPU_SPACE_LOCAL && v->space != VGPU_SPACE_PARAM)
        continue;
      *used = vgpu_align_to (*used, v->align > 4 ? v->align : 4);
      vgpu_frame_bind (builder, frame, v, *used);
      *used += v->bytes;
      if (*used > MAX_LOCAL_BYTES)
        return vgpu_builder_fail (builder, "more than %llu bytes of local memory",
                                  (unsigned long long) MAX_LOCAL_BYTES);
    }
  return true;
}

VgpuFrame *
vgpu_frame_open (VgpuBuilder *builder, const VgpuFunction *function, VgpuFrame *caller)
{
  VgpuFrame *frame = vgpu_arena_take (&builder->arena, sizeof *frame);
  frame->function = function;
  frame->caller = caller;
  frame->base = caller != NULL ? caller->base : VGPU_NO_ROW;
  frame->frame_bytes = caller != NULL ? caller->frame_bytes : NULL;
  frame->rows = vgpu_arena_take (&builder->arena, function->register_count * sizeof *frame->rows);
  for (size_t i = 0; i < function->register_count; i++)
    frame->rows[i] = VGPU_NO_ROW;
  return frame;
}

static const VgpuLabel *
find_label (const VgpuFrame *frame, const char *name, uint32_t scope)
{
  for (;;)
    {
      for (size_t i = 0; i < frame->label_count; i++)
        if (frame->labels[i].scope == scope && strcmp (frame->labels[i].name, name) == 0)
          return &frame->labels[i];
      if (scope == VGPU_NONE || scope >= frame->function->scope_count)
        return NULL;
      scope = frame->function->scope_parents[scope];
    }
}

static void
add_label (VgpuBuilder *builder, const char *name, uint32_t scope)
{
  VgpuFrame *frame = builder->frame;
  frame->labels = vgpu_arena_grow (&builder->arena, frame->labels, frame->label_count,
                                   &frame->label_capacity, sizeof *frame->labels);
  frame->labels[frame->label_count++] =
      (VgpuLabel) {name, scope, (uint32_t) builder->kernel->code_count};
}

static bool
set_targets (VgpuBuilder *builder, VgpuFrame *frame)
{
  for (size_t i = 0; i < frame->jump_count; i++)
    {
      const VgpuLabel *label = find_label (frame, frame->jumps[i].name, frame->jumps[i].scope);
      if (label == NULL)
        return vgpu_builder_fail (builder, "no label %s", frame->jumps[i].name);
      builder->kernel->code[frame->jumps[i].at].target = label->at;
    }
  return true;
}

static VgpuOp
find_operation (VgpuBuilder *builder, const char *opcode, uint32_t *flags)
{
  uint32_t hash = 2166136261u;
  for (const char *c = opcode; *c != '\0'; c++)
    hash = (hash ^ (unsigned char) *c) * 16777619u;
  VgpuOpcodeMemo *memo = &builder->memo[hash % VGPU_MEMO_SLOTS];
  if (memo->opcode == NULL || memo->key != hash || strcmp (memo->opcode, opcode) != 0)
    {
      memo->key = hash;
      memo->opcode = opcode;
      memo->op = vgpu_operation_find (opcode, false, &memo->flags);
    }
  *flags = memo->flags;
  return memo->op;
}

static bool
decode_lanes (VgpuBuilder *builder, const VgpuStatement *statement, VgpuOp op, uint32_t flags)
{
  const VgpuOperation *operation = &vgpu_operations[op];
  uint32_t sources = operation->bytes[3] > 0 ? 3 : operation->bytes[2] > 0 ? 2 : 1;
  bool immediate = operation->kind == VGPU_KIND_LANE_IMMEDIATE;
  bool carry = operation->kind == VGPU_KIND_CARRY;
  if (carry)
    sources = statement->operand_count == 3 ? 2 : 3;
  if (statement->operand_count != sources + 1 + immediate)
    return vgpu_builder_fail (builder, "%s with %u operands", statement->opcode,
                              statement->operand_count);
  int32_t rows[3] = {VGPU_NO_ROW, VGPU_NO_ROW, VGPU_NO_ROW};
  for (uint32_t i = 0; i < sources; i++)
    rows[i] = vgpu_source_row (builder, &statement->operands[i + 1], operation->bytes[i + 1]);
  VgpuDestination d = vgpu_destination (builder, &statement->operands[0], operation->bytes[0]);
  if (operation->kind == VGPU_KIND_SINGLE
      && (flags & (VGPU_INS_FTZ | VGPU_INS_SAT | VGPU_INS_ROUND)))
    op = (VgpuOp) (op + 1);
  VgpuIns *ins = vgpu_emit_rows (builder, op, d.row, rows[0], rows[1], rows[2]);
  ins->flags |= flags;
  if (immediate)
    ins->imm = statement->operands[sources + 1].value;
  vgpu_destination_done (builder, &d, false);
  return !builder->failed;
}

static bool
decode_instruction (VgpuBuilder *builder, const VgpuStatement *statement)
{
  uint32_t flags;
  VgpuFamilyDecoder family = vgpu_family_find (statement->opcode);
  builder->guard = VGPU_NO_ROW;
  if (statement->guard != VGPU_NONE)
    {
      VgpuOperand guard = {.kind = VGPU_OPERAND_REGISTER, .reg = statement->guard};
      builder->guard = vgpu_predicate_row (builder, &guard);
      builder->guard_negated = statement->guard_negated;
    }
  bool lanes_first = family == NULL || family == vgpu_decode_convert || family == vgpu_decode_move
                     || family == vgpu_decode_logic;
  bool vectors = statement->operand_count > 1
                 && (statement->operands[0].kind == VGPU_OPERAND_VECTOR
                     || statement->operands[1].kind == VGPU_OPERAND_VECTOR);
  if (lanes_first && !(family == vgpu_decode_move && (vectors || statement->operand_count != 2)))
    {
      VgpuOp op = find_operation (builder, statement->opcode, &flags);
      bool special =
          family == vgpu_decode_move && statement->operands[1].kind == VGPU_OPERAND_SPECIAL;
      if (op != VGPU_OP_COUNT && !special)
        return decode_lanes (builder, statement, op, flags);
    }
  if (family == NULL)
    return vgpu_builder_unsupported (builder, NULL);
  if (family (builder, statement) && !builder->failed)
    return true;
  /* Whatever a decoder does not take has a reason by now. */
  return builder->failed ? false : vgpu_builder_unsupported (builder, NULL);
}

bool
vgpu_build_function (VgpuBuilder *builder, VgpuFrame *frame)
{
  const VgpuFunction *function = frame->function;
  const VgpuStatement *outer = builder->statement;
  VgpuFrame *caller = builder->frame;
  builder->frame = frame;
  if (!place_locals (builder, frame))
    return false;
  for (size_t i = 0; i < function->statement_count; i++)
    {
      const VgpuStatement *statement = &function->statements[i];
      builder->statement = statement;
      if (statement->kind == VGPU_STATEMENT_LABEL)
        add_label (builder, statement->opcode, statement->scope);
      else if (statement->kind == VGPU_STATEMENT_INSTRUCTION
               && !decode_instruction (builder, statement))
        return false;
    }
  builder->guard = VGPU_NO_ROW;
  if (frame->caller == NULL)
    vgpu_emit (builder, frame->base != VGPU_NO_ROW ? VGPU_OP_CALL_RETURN : VGPU_OP_RETURN);
  add_label (builder, "<return>", 0);
  bool good = set_targets (builder, frame);
  builder->statement = outer;
  builder->frame = caller;
  return good;
}

/* Shared variables that the function and what it calls mention. */
static void collect_shared (VgpuBuilder *builder, const VgpuFunction *function);

static void
add_shared (VgpuBuilder *builder, const VgpuVariable *variable)
{
  if (variable->space != VGPU_SPACE_SHARED)
    return;
  for (size_t i = 0; i < builder->shared_count; i++)
    if (builder->shared[i].variable == variable)
      return;
  builder->shared = vgpu_arena_grow (&builder->arena, builder->shared, builder->shared_count,
                                     &builder->shared_capacity, sizeof *builder->shared);
  builder->shared[builder->shared_count++] = (VgpuBinding) {variable, 0};
}

static void
collect_operand (VgpuBuilder *builder, const VgpuOperand *operand)
{
  for (uint32_t i = 0; i < operand->count; i++)
    collect_operand (builder, &operand->list[i]);
  if (operand->kind != VGPU_OPERAND_SYMBOL)
    return;
  const VgpuVariable *variable = operand->variable;
  if (variable == NULL)
    variable = vgpu_source_variable (builder->source, operand->name);
  if (variable != NULL)
    {
      add_shared (builder, variable);
      return;
    }
  const VgpuFunction *function = vgpu_source_function (builder->source, operand->name);
  if (function != NULL && function->has_body)
    collect_shared (builder, function);
}

static void
collect_shared (VgpuBuilder *builder, const VgpuFunction *function)
{
  for (size_t i = 0; i < builder->reached_count; i++)
    if (builder->reached[i] == function)
      return;
  builder->reached = vgpu_arena_grow (&builder->arena, builder->reached, builder->reached_count,
                                      &builder->reached_capacity, sizeof *builder->reached);
  builder->reached[builder->reached_count++] = function;
  bool calls_pointers = false;
  for (size_t i = 0; i < function->statement_count; i++)
    {
      const VgpuStatement *statement = &function->statements[i];
      calls_pointers = calls_pointers || vgpu_calls_pointer (statement);
      for (uint32_t j = 0; j < statement->operand_count; j++)
        collect_operand (builder, &statement->operands[j]);
    }
  if (!calls_pointers)
    return;
  vgpu_find_pointed (builder);
  for (size_t i = 0; i < builder->pointed_count; i++)
    collect_shared (builder, builder->pointed[i]);
}

/* Static variables first, in order of appearance; dynamic ones all begin behind them. */
static bool
place_shared (VgpuBuilder *builder)
{
  VgpuKernel *kernel = builder->kernel;
  uint64_t used = 0;
  uint32_t align = 16;
  for (size_t i = 0; i < builder->shared_count; i++)
    {
      const VgpuVariable *variable = builder->shared[i].variable;
      if (variable->external || variable->bytes == 0)
        {
          kernel->dynamic_shared = true;
          align = variable->align > align ? variable->align : align;
          continue;
        }
      used = vgpu_align_to (used, variable->align);
      builder->shared[i].offset = used;
      used += variable->bytes;
    }
  if (kernel->dynamic_shared)
    used = vgpu_align_to (used, align);
  for (size_t i = 0; i < builder->shared_count; i++)
    if (builder->shared[i].variable->external || builder->shared[i].variable->bytes == 0)
      builder->shared[i].offset = used;
  if (used > UINT32_MAX / 2)
    return vgpu_builder_fail (builder, "too much shared memory");
  kernel->static_shared = (uint32_t) used;
  kernel->shared_align = align;
  return true;
}

static void
place_parameters (VgpuBuilder *builder, VgpuFrame *frame)
{
  VgpuKernel *kernel = builder->kernel;
  const VgpuFunction *entry = kernel->function;
  kernel->parameters = vgpu_take (entry->parameter_count * sizeof *kernel->parameters);
  kernel->parameter_count = entry->parameter_count;
  for (size_t i = 0; i < entry->parameter_count; i++)
    {
      const VgpuVariable *variable = entry->parameters[i];
      kernel->parameter_bytes = vgpu_align_to (kernel->parameter_bytes, variable->align);
      kernel->parameters[i] = (VgpuParameter) {kernel->parameter_bytes, variable->bytes};
      vgpu_frame_bind (builder, frame, variable, kernel->parameter_bytes);
      kernel->parameter_bytes += variable->bytes;
    }
}

VgpuKernel *
vgpu_kernel_build (const VgpuSource *source, const VgpuFunction *entry, char *error)
{
  VgpuBuilder *builder = vgpu_take (sizeof *builder);
  VgpuKernel *kernel = vgpu_take (sizeof *kernel);
  builder->source = source;
  builder->kernel = kernel;
  builder->guard = VGPU_NO_ROW;
  builder->error = error;
  kernel->name = entry->name;
  kernel->source = source;
  kernel->function = entry;
  kernel->load_shared_op = VGPU_OP_LOAD_SHARED;
  kernel->store_shared_op = VGPU_OP_STORE_SHARED;
  kernel->store_generic_op = VGPU_OP_STORE_GENERIC;
  kernel->copy_op = VGPU_OP_COPY_ASYNC;
  kernel->bulk_op = VGPU_OP_BULK_COPY;
  kernel->tensor_op = VGPU_OP_BULK_TENSOR;
  kernel->reduce_op = VGPU_OP_BARRIER_REDUCE;
  /* The row that missing operands read. */
  vgpu_constant (builder, 8, 0);
  VgpuFrame *frame = vgpu_frame_open (builder, entry, NULL);
  place_parameters (builder, frame);
  collect_shared (builder, entry);
  bool good = place_shared (builder) && vgpu_build_function (builder, frame) && !builder->failed
              && vgpu_build_callables (builder) && vgpu_build_flow (builder);
  vgpu_arena_clear (&builder->arena);
  free (builder);
  if (good)
    return kernel;
  vgpu_kernel_free (kernel);
  return NULL;
}

void
vgpu_kernel_free (VgpuKernel *kernel)
{
  if (kernel == NULL)
    return;
  free (kernel->code);
  free (kernel->listing);
  for (int i = 0; i < VGPU_HOISTED; i++)
    free (kernel->hoisted[i]);
  free (kernel->extra);
  free (kernel->blocks);
  free (kernel->rows);
  free (kernel->parameters);
  free (kernel->callables);
  free (kernel->own_rows);
  free (kernel);
}
