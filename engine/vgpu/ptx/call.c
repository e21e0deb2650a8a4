/* SPDX-License-Identifier: Apache-2.0 */
/* Calls. Most functions are expanded in place; those that call themselves, or are called through a pointer,
 * become callables with frames on a stack. */
#include "engine/vgpu/ptx/builder.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CALL_DEPTH 24
#define STACK_BYTES ((uint64_t) 64 * 1024)

static bool
bind_arguments (VgpuBuilder *builder, VgpuFrame *frame, VgpuVariable *const *parameters,
                size_t count, const VgpuOperand *arguments)
{
  if (count != (arguments != NULL ? arguments->count : 0))
    return vgpu_builder_fail (builder, "call of %s with another number of arguments",
                              frame->function->name);
  for (size_t i = 0; i < count; i++)
    {
      uint64_t place;
      VgpuSpace space;
      const VgpuOperand *argument = &arguments->list[i];
      if (argument->kind != VGPU_OPERAND_SYMBOL)
        return vgpu_builder_unsupported (builder, "arguments that are no .param variables");
      if (!vgpu_variable_place (builder, argument, &place, &space))
        return false;
      if (space != VGPU_SPACE_PARAM)
        return vgpu_builder_unsupported (builder, "arguments that are no .param variables");
      vgpu_frame_bind (builder, frame, parameters[i], place);
    }
  return true;
}

/* A load or store of bytes between a row and local memory, offset from what another row holds. */
static void
access_local (VgpuBuilder *builder, VgpuOp op, int32_t row, uint32_t bytes, int32_t base,
              uint64_t offset)
{
  if (base == VGPU_NO_ROW)
    {
      base = vgpu_constant (builder, 8, offset);
      offset = 0;
    }
  VgpuIns *ins = vgpu_emit_rows (builder, op, row, base, VGPU_NO_ROW, VGPU_NO_ROW);
  ins->bytes = (uint8_t) bytes;
  ins->imm = (int64_t) offset;
  ins->flags |= VGPU_INS_WIDE_ADDRESS;
}

/* The place of a .param variable of the caller: base row and offset. */
static bool
argument_place (VgpuBuilder *builder, const VgpuOperand *argument, int32_t *base, uint64_t *offset)
{
  VgpuSpace space;
  if (argument->kind != VGPU_OPERAND_SYMBOL
      || !vgpu_variable_place (builder, argument, offset, &space))
    return vgpu_builder_unsupported (builder, "arguments that are no .param variables");
  *base = builder->place_base;
  return true;
}

/* A row with what a .param variable of the caller holds. */
static int32_t
argument_row (VgpuBuilder *builder, const VgpuOperand *argument, uint32_t bytes)
{
  int32_t base = VGPU_NO_ROW;
  uint64_t offset = 0;
  if (!argument_place (builder, argument, &base, &offset))
    return 0;
  int32_t row = vgpu_new_row (builder, bytes);
  access_local (builder, VGPU_OP_LOAD_LOCAL, row, bytes, base, offset);
  return row;
}

/* Puts a row where the caller wants the result, if it wants one. */
static bool
store_result (VgpuBuilder *builder, const VgpuOperand *results, int32_t row, uint32_t bytes)
{
  int32_t base = VGPU_NO_ROW;
  uint64_t offset = 0;
  if (results == NULL || results->count != 1)
    return !builder->failed;
  if (!argument_place (builder, &results->list[0], &base, &offset))
    return false;
  access_local (builder, VGPU_OP_STORE_LOCAL, row, bytes, base, offset);
  return !builder->failed;
}

static bool
call_vprintf (VgpuBuilder *builder, const VgpuOperand *results, const VgpuOperand *arguments)
{
  if (arguments == NULL || arguments->count != 2)
    return vgpu_builder_fail (builder, "vprintf needs two arguments");
  int32_t format = argument_row (builder, &arguments->list[0], 8);
  int32_t values = argument_row (builder, &arguments->list[1], 8);
  int32_t result = vgpu_new_row (builder, 4);
  vgpu_emit_rows (builder, VGPU_OP_PRINT, result, format, values, VGPU_NO_ROW);
  builder->kernel->order_matters = true;
  return store_result (builder, results, result, 4);
}

static bool
call_assertfail (VgpuBuilder *builder, const VgpuOperand *results, const VgpuOperand *arguments)
{
  (void) results;
  if (arguments == NULL || arguments->count < 4)
    return vgpu_builder_fail (builder, "__assertfail needs five arguments");
  int32_t rows[4];
  for (int i = 0; i < 4; i++)
    rows[i] = argument_row (builder, &arguments->list[i], i == 2 ? 4 : 8);
  uint32_t extra = vgpu_extra (builder, rows, 4);
  vgpu_emit (builder, VGPU_OP_ASSERT_FAIL)->extra = extra;
  return !builder->failed;
}

static bool
call_malloc (VgpuBuilder *builder, const VgpuOperand *results, const VgpuOperand *arguments)
{
  if (arguments == NULL || arguments->count != 1)
    return vgpu_builder_fail (builder, "malloc needs one argument");
  int32_t size = argument_row (builder, &arguments->list[0], 8);
  int32_t result = vgpu_new_row (builder, 8);
  vgpu_emit_rows (builder, VGPU_OP_HEAP_TAKE, result, size, VGPU_NO_ROW, VGPU_NO_ROW);
  builder->kernel->uses_heap = true;
  return store_result (builder, results, result, 8);
}

static bool
call_free (VgpuBuilder *builder, const VgpuOperand *results, const VgpuOperand *arguments)
{
  (void) results;
  if (arguments == NULL || arguments->count != 1)
    return vgpu_builder_fail (builder, "free needs one argument");
  int32_t pointer = argument_row (builder, &arguments->list[0], 8);
  vgpu_emit_rows (builder, VGPU_OP_HEAP_FREE, 0, pointer, VGPU_NO_ROW, VGPU_NO_ROW);
  builder->kernel->uses_heap = true;
  return !builder->failed;
}

/* Functions that are the system's. */
static const struct
{
  const char *name;
  bool (*call) (VgpuBuilder *builder, const VgpuOperand *results, const VgpuOperand *arguments);
} system_functions[] = {
    {"vprintf", call_vprintf},
    {"__assertfail", call_assertfail},
    {"malloc", call_malloc},
    {"free", call_free},
};

/* ---- callables ---- */

/* Results come first in a frame, then parameters: where they lie depends on nothing else. */
static uint64_t
lay_out (VgpuVariable *const *variables, size_t count, uint64_t offset, uint64_t *places)
{
  for (size_t i = 0; i < count; i++)
    {
      offset = vgpu_align_to (offset, variables[i]->align > 4 ? variables[i]->align : 4);
      if (places != NULL)
        places[i] = offset;
      offset += variables[i]->bytes;
    }
  return offset;
}

static uint32_t
add_callable (VgpuBuilder *builder, const VgpuFunction *function)
{
  VgpuKernel *kernel = builder->kernel;
  for (size_t i = 0; i < kernel->callable_count; i++)
    if (kernel->callables[i].function == function)
      return (uint32_t) i;
  if (kernel->callable_count == builder->callable_capacity)
    {
      builder->callable_capacity = builder->callable_capacity * 2 + 4;
      kernel->callables =
          vgpu_retake (kernel->callables, builder->callable_capacity * sizeof *kernel->callables);
    }
  if (kernel->callable_count == 0)
    {
      bool owns = builder->owns_rows;
      builder->owns_rows = false;
      kernel->stack_row = vgpu_new_row (builder, 8);
      builder->owns_rows = owns;
    }
  kernel->callables[kernel->callable_count] =
      (VgpuCallable) {.function = function, .address = function->address};
  return (uint32_t) kernel->callable_count++;
}

/* Copies bytes between places in local memory, by words as long as that goes. */
static void
copy_local (VgpuBuilder *builder, int32_t to, uint64_t to_offset, int32_t from,
            uint64_t from_offset, uint64_t bytes)
{
  while (bytes > 0 && !builder->failed)
    {
      uint32_t step = bytes >= 4 ? 4 : bytes >= 2 ? 2 : 1;
      int32_t row = vgpu_new_row (builder, step < 2 ? 2 : step);
      access_local (builder, VGPU_OP_LOAD_LOCAL, row, step, from, from_offset);
      access_local (builder, VGPU_OP_STORE_LOCAL, row, step, to, to_offset);
      to_offset += step;
      from_offset += step;
      bytes -= step;
    }
}

typedef struct
{
  int32_t frame; /* row: where the called function's frame will be */
  uint64_t places[VGPU_MAX_ARGUMENTS];
  size_t count, result_count;
} Passing;

/* Lays the variables that a call names out as the called function will find them. */
static bool
pass (VgpuBuilder *builder, const VgpuOperand *results, const VgpuOperand *arguments,
      Passing *passing)
{
  VgpuVariable *variables[VGPU_MAX_ARGUMENTS];
  const VgpuOperand *lists[] = {results, arguments};
  for (int side = 0; side < 2; side++)
    {
      for (uint32_t i = 0; lists[side] != NULL && i < lists[side]->count; i++)
        {
          if (passing->count == VGPU_MAX_ARGUMENTS)
            return vgpu_builder_unsupported (builder, "more than 64 arguments");
          if (lists[side]->list[i].variable == NULL)
            return vgpu_builder_unsupported (builder, "arguments that are no .param variables");
          variables[passing->count++] = lists[side]->list[i].variable;
        }
      if (side == 0)
        passing->result_count = passing->count;
    }
  lay_out (variables, passing->count, 0, passing->places);
  passing->frame = vgpu_new_row (builder, 8);
  vgpu_emit (builder, VGPU_OP_CALL_ENTER)->d = passing->frame;
  for (size_t i = passing->result_count; i < passing->count && !builder->failed; i++)
    {
      int32_t base = VGPU_NO_ROW;
      uint64_t offset = 0;
      if (!argument_place (builder, &arguments->list[i - passing->result_count], &base, &offset))
        return false;
      copy_local (builder, passing->frame, passing->places[i], base, offset, variables[i]->bytes);
    }
  return !builder->failed;
}

static bool
fetch_results (VgpuBuilder *builder, const VgpuOperand *results, const Passing *passing)
{
  for (size_t i = 0; i < passing->result_count && !builder->failed; i++)
    {
      int32_t base = VGPU_NO_ROW;
      uint64_t offset = 0;
      if (!argument_place (builder, &results->list[i], &base, &offset))
        return false;
      copy_local (builder, base, offset, passing->frame, passing->places[i],
                  results->list[i].variable->bytes);
    }
  return !builder->failed;
}

static bool
call_callable (VgpuBuilder *builder, const VgpuFunction *function, const VgpuOperand *results,
               const VgpuOperand *arguments)
{
  Passing passing = {0};
  uint32_t number = add_callable (builder, function);
  if (!pass (builder, results, arguments, &passing))
    return false;
  vgpu_emit (builder, VGPU_OP_CALL)->imm = number;
  vgpu_emit (builder, VGPU_OP_CALL_DONE);
  return fetch_results (builder, results, &passing);
}

static bool
sizes_agree (VgpuVariable *const *variables, size_t count, const VgpuOperand *list)
{
  if (count != (list != NULL ? list->count : 0))
    return false;
  for (size_t i = 0; i < count; i++)
    if (list->list[i].variable == NULL || list->list[i].variable->bytes != variables[i]->bytes)
      return false;
  return true;
}

/* Lanes that hold different pointers call one after the other, and meet again behind. */
static bool
call_pointer (VgpuBuilder *builder, const VgpuOperand *pointer, const VgpuOperand *results,
              const VgpuOperand *arguments)
{
  VgpuKernel *kernel = builder->kernel;
  Passing passing = {0};
  vgpu_find_pointed (builder);
  for (size_t i = 0; i < builder->pointed_count; i++)
    {
      const VgpuFunction *f = builder->pointed[i];
      if (sizes_agree (f->results, f->result_count, results)
          && sizes_agree (f->parameters, f->parameter_count, arguments))
        add_callable (builder, f);
    }
  if (kernel->callable_count == 0)
    return vgpu_builder_fail (builder, "a call through a pointer, and no function of the module "
                                       "takes these arguments");
  int32_t row = vgpu_source_row (builder, pointer, 8);
  if (!pass (builder, results, arguments, &passing))
    return false;
  size_t select = kernel->code_count;
  vgpu_emit_rows (builder, VGPU_OP_CALL_SELECT, 0, row, VGPU_NO_ROW, VGPU_NO_ROW);
  VgpuIns *ins = vgpu_emit_rows (builder, VGPU_OP_CALL, 0, row, VGPU_NO_ROW, VGPU_NO_ROW);
  ins->flags |= VGPU_INS_WIDE_ADDRESS;
  vgpu_emit (builder, VGPU_OP_CALL_DONE);
  kernel->code[select].target = (uint32_t) kernel->code_count;
  vgpu_emit (builder, VGPU_OP_NOTHING);
  return fetch_results (builder, results, &passing);
}

static bool
build_callable (VgpuBuilder *builder, size_t number)
{
  VgpuKernel *kernel = builder->kernel;
  const VgpuFunction *function = kernel->callables[number].function;
  uint64_t frame_bytes = 0, places[VGPU_MAX_ARGUMENTS];
  VgpuFrame *frame = vgpu_frame_open (builder, function, NULL);
  if (function->result_count + function->parameter_count > VGPU_MAX_ARGUMENTS)
    return vgpu_builder_fail (builder, "%s has more than 64 arguments", function->name);
  uint32_t first_row = (uint32_t) kernel->own_row_count;
  builder->owns_rows = true;
  frame->base = vgpu_new_row (builder, 8);
  frame->frame_bytes = &frame_bytes;
  frame_bytes = lay_out (function->results, function->result_count, 0, places);
  for (size_t i = 0; i < function->result_count; i++)
    vgpu_frame_bind (builder, frame, function->results[i], places[i]);
  frame_bytes = lay_out (function->parameters, function->parameter_count, frame_bytes, places);
  for (size_t i = 0; i < function->parameter_count; i++)
    vgpu_frame_bind (builder, frame, function->parameters[i], places[i]);
  uint32_t entry = (uint32_t) kernel->code_count;
  bool good = vgpu_build_function (builder, frame) && !builder->failed;
  builder->owns_rows = false;
  VgpuCallable *callable = &kernel->callables[number];
  callable->entry = entry;
  callable->base_row = frame->base;
  callable->frame_bytes = vgpu_align_to (frame_bytes, 16);
  callable->first_row = first_row;
  callable->row_count = (uint32_t) kernel->own_row_count - first_row;
  return good;
}

bool
vgpu_build_callables (VgpuBuilder *builder)
{
  VgpuKernel *kernel = builder->kernel;
  for (size_t i = 0; i < kernel->callable_count; i++)
    if (!build_callable (builder, i))
      return false;
  if (kernel->callable_count == 0)
    return true;
  kernel->stack_start = vgpu_align_to (kernel->local_bytes, 16);
  kernel->local_bytes = kernel->stack_start + STACK_BYTES;
  return true;
}

/* ---- what is called ---- */

typedef struct
{
  const VgpuOperand *results, *name, *arguments;
} CallForm;

static CallForm
read_call (const VgpuStatement *statement)
{
  CallForm form = {0};
  for (uint32_t i = 0; i < statement->operand_count; i++)
    {
      const VgpuOperand *operand = &statement->operands[i];
      if (operand->kind == VGPU_OPERAND_LIST && form.name == NULL)
        form.results = operand;
      else if (operand->kind == VGPU_OPERAND_LIST)
        form.arguments = operand;
      else if (form.name == NULL)
        form.name = operand;
    }
  return form;
}

static bool
is_call (const VgpuStatement *statement)
{
  return statement->kind == VGPU_STATEMENT_INSTRUCTION
         && strncmp (statement->opcode, "call", 4) == 0
         && (statement->opcode[4] == '\0' || statement->opcode[4] == '.');
}

bool
vgpu_calls_pointer (const VgpuStatement *statement)
{
  if (!is_call (statement))
    return false;
  const VgpuOperand *name = read_call (statement).name;
  return name != NULL && name->kind == VGPU_OPERAND_REGISTER;
}

static void
add_pointed (VgpuBuilder *builder, const char *name)
{
  const VgpuFunction *function = vgpu_source_function (builder->source, name);
  if (function == NULL || !function->has_body || function->is_entry)
    return;
  for (size_t i = 0; i < builder->pointed_count; i++)
    if (builder->pointed[i] == function)
      return;
  builder->pointed = vgpu_arena_grow (&builder->arena, builder->pointed, builder->pointed_count,
                                      &builder->pointed_capacity, sizeof *builder->pointed);
  builder->pointed[builder->pointed_count++] = function;
}

void
vgpu_find_pointed (VgpuBuilder *builder)
{
  if (builder->pointed_known)
    return;
  builder->pointed_known = true;
  for (const VgpuVariable *v = builder->source->variables; v != NULL; v = v->next)
    for (const VgpuRelocation *r = v->relocations; r != NULL; r = r->next)
      add_pointed (builder, r->symbol);
  for (const VgpuFunction *f = builder->source->functions; f != NULL; f = f->next)
    for (size_t i = 0; i < f->statement_count; i++)
      {
        const VgpuStatement *statement = &f->statements[i];
        for (uint32_t j = 0; !is_call (statement) && j < statement->operand_count; j++)
          if (statement->operands[j].kind == VGPU_OPERAND_SYMBOL
              && statement->operands[j].variable == NULL)
            add_pointed (builder, statement->operands[j].name);
      }
}

static bool
call_function (VgpuBuilder *builder, const VgpuFunction *function, const VgpuOperand *results,
               const VgpuOperand *arguments)
{
  int depth = 0;
  for (const VgpuFrame *frame = builder->frame; frame != NULL; frame = frame->caller)
    if (frame->function == function || ++depth > MAX_CALL_DEPTH)
      return call_callable (builder, function, results, arguments);
  VgpuFrame *frame = vgpu_frame_open (builder, function, builder->frame);
  return bind_arguments (builder, frame, function->parameters, function->parameter_count, arguments)
         && bind_arguments (builder, frame, function->results, function->result_count, results)
         && vgpu_build_function (builder, frame);
}

static bool
call_named (VgpuBuilder *builder, const char *name, const CallForm *form)
{
  for (size_t i = 0; i < sizeof system_functions / sizeof system_functions[0]; i++)
    if (strcmp (system_functions[i].name, name) == 0)
      return system_functions[i].call (builder, form->results, form->arguments);
  const VgpuFunction *function = vgpu_source_function (builder->source, name);
  if (function == NULL || !function->has_body)
    return vgpu_builder_fail (builder, "function %s is not defined in this module", name);
  return call_function (builder, function, form->results, form->arguments);
}

bool
vgpu_decode_call (VgpuBuilder *builder, const VgpuStatement *statement)
{
  CallForm form = read_call (statement);
  if (form.name == NULL
      || (form.name->kind != VGPU_OPERAND_SYMBOL && form.name->kind != VGPU_OPERAND_REGISTER))
    return vgpu_builder_fail (builder, "a call without a function");
  int32_t guard = builder->guard;
  size_t around = builder->kernel->code_count;
  if (guard != VGPU_NO_ROW)
    {
      builder->guard = VGPU_NO_ROW;
      VgpuIns *ins = vgpu_emit (builder, VGPU_OP_BRANCH);
      ins->guard = guard;
      ins->flags |= builder->guard_negated ? 0 : VGPU_INS_GUARD_NEGATED;
    }
  bool good = form.name->kind == VGPU_OPERAND_REGISTER
                  ? call_pointer (builder, form.name, form.results, form.arguments)
                  : call_named (builder, form.name->name, &form);
  if (guard != VGPU_NO_ROW && good)
    builder->kernel->code[around].target = (uint32_t) builder->kernel->code_count;
  return good;
}
