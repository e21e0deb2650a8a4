/* SPDX-License-Identifier: Apache-2.0 */
/* Function bodies: registers, scopes, labels, instructions and their operands. */
#include "engine/vgpu/ptx/parser.h"

#include <string.h>

#define MAX_REGISTERS (1u << 20)
#define MAX_NESTING 64
#define MAX_COORDINATES 4

static uint32_t
open_scope (VgpuParser *parser, uint32_t parent)
{
  VgpuFunction *function = parser->function;
  function->scope_parents =
      vgpu_arena_grow (&parser->source->arena, function->scope_parents, function->scope_count,
                       &function->scope_capacity, sizeof *function->scope_parents);
  function->scope_parents[function->scope_count] = parent;
  return (uint32_t) function->scope_count++;
}

static bool
add_registers (VgpuParser *parser, const char *name, uint32_t count, uint8_t bits)
{
  VgpuFunction *function = parser->function;
  VgpuArena *arena = &parser->source->arena;
  if (count > MAX_REGISTERS || function->register_count + count > MAX_REGISTERS)
    return vgpu_parser_fail (parser, "too many registers");
  parser->ranges = vgpu_arena_grow (arena, parser->ranges, parser->range_count,
                                    &parser->range_capacity, sizeof *parser->ranges);
  parser->ranges[parser->range_count++] =
      (VgpuRegisterRange) {.name = name,
                           .length = strlen (name),
                           .count = count,
                           .first = (uint32_t) function->register_count,
                           .scope = parser->scope};
  for (uint32_t i = 0; i < (count > 0 ? count : 1); i++)
    {
      function->registers =
          vgpu_arena_grow (arena, function->registers, function->register_count,
                           &function->register_capacity, sizeof *function->registers);
      function->registers[function->register_count++] = (VgpuRegister) {.name = name, .bits = bits};
    }
  return true;
}

static bool
read_registers (VgpuParser *parser)
{
  uint32_t bytes = vgpu_type_bytes (parser->token.text, parser->token.length);
  uint8_t bits = (uint8_t) (bytes * 8);
  if (vgpu_token_is_word (&parser->token, ".pred"))
    bits = 1;
  else if (bytes == 0)
    return vgpu_parser_fail (parser, "unsupported register type %.*s", (int) parser->token.length,
                             parser->token.text);
  if (bits == 8)
    bits = 16;
  if (!vgpu_parser_advance (parser))
    return false;
  do
    {
      int64_t count = 0;
      char *name = vgpu_parser_take_word (parser);
      if (name == NULL)
        return vgpu_parser_fail (parser, "a register without a name");
      if (vgpu_parser_mark (parser, '<')
          && (!vgpu_parser_integer (parser, &count) || !vgpu_parser_expect (parser, '>')))
        return false;
      if (count < 0 || count > MAX_REGISTERS
          || !add_registers (parser, name, (uint32_t) count, bits))
        return vgpu_parser_fail (parser, "too many registers");
    }
  while (vgpu_parser_mark (parser, ','));
  return vgpu_parser_expect (parser, ';');
}

/* The register that a word names, innermost scope first; VGPU_NONE if it names none. */
static uint32_t
find_register (const VgpuParser *parser, const char *word, size_t length)
{
  size_t stem = length;
  while (stem > 0 && word[stem - 1] >= '0' && word[stem - 1] <= '9')
    stem--;
  for (size_t i = parser->range_count; i-- > 0;)
    {
      const VgpuRegisterRange *range = &parser->ranges[i];
      if (range->count == 0)
        {
          if (range->length == length && memcmp (range->name, word, length) == 0)
            return range->first;
          continue;
        }
      if (range->length < stem || range->length >= length
          || memcmp (range->name, word, range->length) != 0 || length - range->length > 7)
        continue;
      uint32_t number = 0;
      for (size_t at = range->length; at < length; at++)
        number = number * 10 + (uint32_t) (word[at] - '0');
      if (number < range->count)
        return range->first + number;
    }
  return VGPU_NONE;
}

static VgpuVariable *
find_variable (const VgpuParser *parser, const char *name)
{
  for (size_t i = parser->scoped_count; i-- > 0;)
    if (strcmp (parser->scoped[i].variable->name, name) == 0)
      return parser->scoped[i].variable;
  const VgpuFunction *function = parser->function;
  for (size_t i = 0; i < function->parameter_count; i++)
    if (strcmp (function->parameters[i]->name, name) == 0)
      return function->parameters[i];
  for (size_t i = 0; i < function->result_count; i++)
    if (strcmp (function->results[i]->name, name) == 0)
      return function->results[i];
  return NULL;
}

static bool read_operand (VgpuParser *parser, VgpuOperand *operand, int depth);

static bool
read_operand_list (VgpuParser *parser, VgpuOperand *operand, char close, int depth)
{
  size_t count = 0, capacity = 0;
  while (!vgpu_parser_mark (parser, close))
    {
      if (count > 0 && !vgpu_parser_expect (parser, ','))
        return false;
      operand->list = vgpu_arena_grow (&parser->source->arena, operand->list, count, &capacity,
                                       sizeof *operand->list);
      memset (&operand->list[count], 0, sizeof *operand->list);
      if (!read_operand (parser, &operand->list[count], depth + 1))
        return false;
      count++;
    }
  operand->count = (uint32_t) count;
  return true;
}

static bool
read_offset (VgpuParser *parser, int64_t *value)
{
  *value = 0;
  if (vgpu_parser_mark (parser, '+'))
    return vgpu_parser_integer (parser, value);
  if (vgpu_token_is_mark (&parser->token, '-'))
    return vgpu_parser_integer (parser, value);
  return !parser->failed;
}

/* What may follow an address inside its brackets: coordinates of textures and tensors. */
static bool
read_coordinates (VgpuParser *parser, VgpuOperand *operand, int depth)
{
  while (vgpu_parser_mark (parser, ','))
    {
      if (operand->count == MAX_COORDINATES + 1)
        return vgpu_parser_fail (parser, "too many coordinates");
      if (!read_operand (parser, &operand->list[operand->count++], depth + 1))
        return false;
    }
  return vgpu_parser_expect (parser, ']');
}

static bool
read_address (VgpuParser *parser, VgpuOperand *operand, int depth)
{
  operand->kind = VGPU_OPERAND_ADDRESS;
  operand->list =
      vgpu_arena_take (&parser->source->arena, (MAX_COORDINATES + 1) * sizeof *operand->list);
  operand->count = 1;
  if (!read_operand (parser, operand->list, depth + 1) || !read_offset (parser, &operand->value))
    return false;
  if (operand->list->kind != VGPU_OPERAND_REGISTER && operand->list->kind != VGPU_OPERAND_SYMBOL
      && operand->list->kind != VGPU_OPERAND_INTEGER)
    return vgpu_parser_fail (parser, "unsupported address");
  return read_coordinates (parser, operand, depth);
}

static bool
read_named_operand (VgpuParser *parser, VgpuOperand *operand)
{
  uint32_t reg = find_register (parser, parser->token.text, parser->token.length);
  operand->second = VGPU_NONE;
  if (reg == VGPU_NONE)
    {
      operand->name = vgpu_parser_take_word (parser);
      if (operand->name == NULL)
        return false;
      if (strcmp (operand->name, "_") == 0)
        operand->kind = VGPU_OPERAND_SINK;
      else if (operand->name[0] == '%' || strncmp (operand->name, "WARP_SZ", 8) == 0)
        operand->kind = VGPU_OPERAND_SPECIAL;
      else
        operand->kind = VGPU_OPERAND_SYMBOL;
      if (operand->kind == VGPU_OPERAND_SYMBOL)
        operand->variable = find_variable (parser, operand->name);
    }
  else
    {
      operand->kind = VGPU_OPERAND_REGISTER;
      operand->reg = reg;
      if (!vgpu_parser_advance (parser))
        return false;
    }
  if (!vgpu_parser_mark (parser, '|'))
    return !parser->failed;
  if (vgpu_parser_word (parser, "_"))
    return true;
  operand->second = find_register (parser, parser->token.text, parser->token.length);
  if (operand->second == VGPU_NONE)
    return vgpu_parser_fail (parser, "a register expected behind '|'");
  return vgpu_parser_advance (parser);
}

static bool
read_operand (VgpuParser *parser, VgpuOperand *operand, int depth)
{
  const VgpuToken *token = &parser->token;
  operand->second = VGPU_NONE;
  if (depth > MAX_NESTING)
    return vgpu_parser_fail (parser, "operands nested too deeply");
  if (vgpu_parser_mark (parser, '!'))
    operand->negated = true;
  if (parser->failed)
    return false;
  if (token->kind == VGPU_TOKEN_WORD)
    return read_named_operand (parser, operand)
           && (depth > 0 || operand->kind != VGPU_OPERAND_SYMBOL
               || read_offset (parser, &operand->value));
  if (vgpu_parser_mark (parser, '['))
    return read_address (parser, operand, depth);
  if (vgpu_parser_mark (parser, '{'))
    {
      operand->kind = VGPU_OPERAND_VECTOR;
      return read_operand_list (parser, operand, '}', depth);
    }
  if (vgpu_parser_mark (parser, '('))
    {
      operand->kind = VGPU_OPERAND_LIST;
      return read_operand_list (parser, operand, ')', depth);
    }
  if (token->kind == VGPU_TOKEN_FLOAT32 || token->kind == VGPU_TOKEN_FLOAT64)
    {
      operand->kind =
          token->kind == VGPU_TOKEN_FLOAT32 ? VGPU_OPERAND_FLOAT32 : VGPU_OPERAND_FLOAT64;
      operand->value = (int64_t) token->value;
      return vgpu_parser_advance (parser);
    }
  operand->kind = VGPU_OPERAND_INTEGER;
  return vgpu_parser_integer (parser, &operand->value);
}

static VgpuStatement *
add_statement (VgpuParser *parser, VgpuStatementKind kind, const char *opcode)
{
  VgpuFunction *function = parser->function;
  function->statements =
      vgpu_arena_grow (&parser->source->arena, function->statements, function->statement_count,
                       &function->statement_capacity, sizeof *function->statements);
  VgpuStatement *statement = &function->statements[function->statement_count++];
  *statement = (VgpuStatement) {.kind = kind,
                                .opcode = opcode,
                                .guard = VGPU_NONE,
                                .scope = parser->scope,
                                .location = parser->location,
                                .line = parser->token.line};
  return statement;
}

static bool
read_guard (VgpuParser *parser, uint32_t *guard, bool *negated)
{
  *guard = VGPU_NONE;
  *negated = false;
  if (!vgpu_parser_mark (parser, '@'))
    return !parser->failed;
  *negated = vgpu_parser_mark (parser, '!');
  *guard = find_register (parser, parser->token.text, parser->token.length);
  if (*guard == VGPU_NONE || parser->function->registers[*guard].bits != 1)
    return vgpu_parser_fail (parser, "a predicate register expected behind '@'");
  return vgpu_parser_advance (parser);
}

static bool
read_instruction (VgpuParser *parser, char *opcode, uint32_t guard, bool negated)
{
  VgpuOperand operands[VGPU_MAX_OPERANDS];
  uint32_t count = 0;
  VgpuStatement *statement = add_statement (parser, VGPU_STATEMENT_INSTRUCTION, opcode);
  statement->guard = guard;
  statement->guard_negated = negated;
  memset (operands, 0, sizeof operands);
  while (!vgpu_parser_mark (parser, ';'))
    {
      if (count > 0 && !vgpu_parser_expect (parser, ','))
        return false;
      if (count == VGPU_MAX_OPERANDS)
        return vgpu_parser_fail (parser, "too many operands");
      if (!read_operand (parser, &operands[count], 0))
        return false;
      count++;
    }
  statement->operands = vgpu_arena_take (&parser->source->arena, count * sizeof *operands);
  memcpy (statement->operands, operands, count * sizeof *operands);
  statement->operand_count = count;
  return true;
}

static bool
read_local_variable (VgpuParser *parser, VgpuSpace space)
{
  VgpuFunction *function = parser->function;
  do
    {
      VgpuVariable *variable = vgpu_parser_variable (parser, space);
      if (variable == NULL)
        return false;
      variable->next = function->variables;
      function->variables = variable;
      parser->scoped =
          vgpu_arena_grow (&parser->source->arena, parser->scoped, parser->scoped_count,
                           &parser->scoped_capacity, sizeof *parser->scoped);
      parser->scoped[parser->scoped_count++] = (VgpuScopedVariable) {variable, parser->scope};
    }
  while (vgpu_parser_mark (parser, ','));
  return vgpu_parser_expect (parser, ';');
}

static bool
read_body_directive (VgpuParser *parser, char *label)
{
  VgpuSpace space = vgpu_parser_space (&parser->token);
  if (space != VGPU_SPACE_NONE)
    return vgpu_parser_advance (parser) && read_local_variable (parser, space);
  if (vgpu_parser_word (parser, ".reg"))
    return read_registers (parser);
  if (vgpu_parser_word (parser, ".loc"))
    return vgpu_parser_location (parser);
  if (vgpu_parser_word (parser, ".pragma") || vgpu_parser_word (parser, ".callprototype"))
    return vgpu_parser_skip_statement (parser);
  if (label != NULL && vgpu_parser_word (parser, ".branchtargets"))
    {
      VgpuStatement *statement = add_statement (parser, VGPU_STATEMENT_TARGETS, label);
      VgpuOperand *list = vgpu_arena_take (&parser->source->arena, sizeof *list);
      statement->operands = list;
      statement->operand_count = 1;
      return read_operand_list (parser, list, ';', 0);
    }
  return vgpu_parser_fail (parser, "unsupported directive %.*s", (int) parser->token.length,
                           parser->token.text);
}

static void
close_scope (VgpuParser *parser)
{
  while (parser->range_count > 0 && parser->ranges[parser->range_count - 1].scope == parser->scope)
    parser->range_count--;
  while (parser->scoped_count > 0
         && parser->scoped[parser->scoped_count - 1].scope == parser->scope)
    parser->scoped_count--;
  parser->scope = parser->function->scope_parents[parser->scope];
}

static bool
read_word_statement (VgpuParser *parser)
{
  uint32_t guard;
  bool negated;
  if (parser->token.kind == VGPU_TOKEN_WORD && parser->token.text[0] == '.')
    return read_body_directive (parser, NULL);
  if (!read_guard (parser, &guard, &negated))
    return false;
  char *word = vgpu_parser_take_word (parser);
  if (word == NULL)
    return vgpu_parser_fail (parser, "an instruction expected");
  if (guard != VGPU_NONE || !vgpu_parser_mark (parser, ':'))
    return read_instruction (parser, word, guard, negated);
  if (vgpu_token_is_word (&parser->token, ".branchtargets")
      || vgpu_token_is_word (&parser->token, ".callprototype"))
    return read_body_directive (parser, word);
  add_statement (parser, VGPU_STATEMENT_LABEL, word);
  return true;
}

bool
vgpu_parser_body (VgpuParser *parser)
{
  int depth = 0;
  parser->range_count = 0;
  parser->scoped_count = 0;
  /* Before the first .loc of a body nothing is known about its place. */
  parser->location = VGPU_NONE;
  parser->scope = open_scope (parser, VGPU_NONE);
  do
    {
      if (vgpu_parser_mark (parser, '{'))
        {
          if (++depth > MAX_NESTING)
            return vgpu_parser_fail (parser, "braces nested too deeply");
          if (depth > 1)
            parser->scope = open_scope (parser, parser->scope);
        }
      else if (depth > 0 && vgpu_parser_mark (parser, '}'))
        {
          if (--depth > 0)
            close_scope (parser);
        }
      else if (depth == 0 || parser->token.kind == VGPU_TOKEN_END)
        return vgpu_parser_fail (parser, "a function body expected");
      else if (!vgpu_parser_mark (parser, ';') && !read_word_statement (parser))
        return false;
    }
  while (depth > 0 && !parser->failed);
  return !parser->failed;
}
