/* SPDX-License-Identifier: Apache-2.0 */
/* Variables, their initialisers, and the line table directives. */
#include "engine/vgpu/ptx/parser.h"

#include <stdlib.h>
#include <string.h>

#define MAX_VARIABLE_BYTES ((uint64_t) 1 << 32)

uint32_t
vgpu_type_bytes (const char *type, size_t length)
{
  static const struct
  {
    const char *name;
    uint32_t bytes;
  } types[] = {
      {".b8", 1},  {".u8", 1},  {".s8", 1},   {".b16", 2},   {".u16", 2},
      {".s16", 2}, {".f16", 2}, {".bf16", 2}, {".f16x2", 4}, {".bf16x2", 4},
      {".b32", 4}, {".u32", 4}, {".s32", 4},  {".f32", 4},   {".b64", 8},
      {".u64", 8}, {".s64", 8}, {".f64", 8},  {".b128", 16},
  };
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (strlen (types[i].name) == length && memcmp (types[i].name, type, length) == 0)
      return types[i].bytes;
  return 0;
}

VgpuSpace
vgpu_parser_space (const VgpuToken *token)
{
  static const struct
  {
    const char *name;
    VgpuSpace space;
  } spaces[] = {
      {".global", VGPU_SPACE_GLOBAL}, {".const", VGPU_SPACE_CONST}, {".shared", VGPU_SPACE_SHARED},
      {".local", VGPU_SPACE_LOCAL},   {".param", VGPU_SPACE_PARAM},
  };
  for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
    if (vgpu_token_is_word (token, spaces[i].name))
      return spaces[i].space;
  return VGPU_SPACE_NONE;
}

static bool
read_align (VgpuParser *parser, uint32_t *align)
{
  int64_t value;
  if (!vgpu_parser_integer (parser, &value))
    return false;
  if (value < 1 || value > 1024 * 1024 || (value & (value - 1)) != 0)
    return vgpu_parser_fail (parser, "alignment %lld is no power of two", (long long) value);
  *align = (uint32_t) value;
  return true;
}

/* .ptr .global .align 16 behind a parameter's type: a promise about the pointer, not kept. */
static bool
skip_pointer_promise (VgpuParser *parser)
{
  uint32_t ignored;
  if (!vgpu_parser_word (parser, ".ptr"))
    return true;
  if (vgpu_parser_space (&parser->token) != VGPU_SPACE_NONE && !vgpu_parser_advance (parser))
    return false;
  return !vgpu_parser_word (parser, ".align") || read_align (parser, &ignored);
}

/* .attribute (.managed): all memory is the host's here. */
static bool
skip_attribute (VgpuParser *parser)
{
  if (!vgpu_parser_expect (parser, '('))
    return false;
  while (!vgpu_parser_mark (parser, ')'))
    if (parser->token.kind == VGPU_TOKEN_END || !vgpu_parser_advance (parser))
      return vgpu_parser_fail (parser, "an attribute without an end");
  return true;
}

static bool
read_type (VgpuParser *parser, VgpuVariable *variable)
{
  uint32_t vector = 1;
  while (parser->token.kind == VGPU_TOKEN_WORD && parser->token.text[0] == '.')
    {
      if (vgpu_parser_word (parser, ".align"))
        {
          if (!read_align (parser, &variable->align))
            return false;
          continue;
        }
      if (vgpu_parser_word (parser, ".attribute"))
        {
          if (!skip_attribute (parser))
            return false;
          continue;
        }
      uint32_t bytes = vgpu_type_bytes (parser->token.text, parser->token.length);
      if (vgpu_token_is_word (&parser->token, ".v2"))
        vector = 2;
      else if (vgpu_token_is_word (&parser->token, ".v4"))
        vector = 4;
      else if (bytes > 0)
        variable->element = bytes;
      else
        return vgpu_parser_fail (parser, "unsupported type %.*s", (int) parser->token.length,
                                 parser->token.text);
      if (!vgpu_parser_advance (parser))
        return false;
      if (bytes > 0 && !skip_pointer_promise (parser))
        return false;
    }
  if (variable->element == 0)
    return vgpu_parser_fail (parser, "a declaration without a type");
  variable->element *= vector;
  if (variable->align == 0)
    variable->align = variable->element;
  return true;
}

static bool
read_dimensions (VgpuParser *parser, VgpuVariable *variable)
{
  variable->bytes = variable->element;
  while (vgpu_parser_mark (parser, '['))
    {
      int64_t count = 0;
      if (!vgpu_token_is_mark (&parser->token, ']') && !vgpu_parser_integer (parser, &count))
        return false;
      if (count < 0 || (uint64_t) count > MAX_VARIABLE_BYTES)
        return vgpu_parser_fail (parser, "an array of %lld elements", (long long) count);
      variable->bytes *= (uint64_t) count;
      if (variable->bytes > MAX_VARIABLE_BYTES)
        return vgpu_parser_fail (parser, "a variable of more than 4 GiB");
      if (!vgpu_parser_expect (parser, ']'))
        return false;
    }
  return true;
}

static bool
add_relocation (VgpuParser *parser, VgpuVariable *variable, uint64_t offset)
{
  bool generic = vgpu_parser_word (parser, "generic") && vgpu_parser_expect (parser, '(');
  VgpuRelocation *entry = vgpu_arena_take (&parser->source->arena, sizeof *entry);
  entry->symbol = vgpu_parser_take_word (parser);
  entry->offset = offset;
  if (entry->symbol == NULL)
    return vgpu_parser_fail (parser, "an initialiser that is no constant");
  if (generic && !vgpu_parser_expect (parser, ')'))
    return false;
  if (vgpu_parser_mark (parser, '+') && !vgpu_parser_integer (parser, &entry->addend))
    return false;
  entry->next = variable->relocations;
  variable->relocations = entry;
  return true;
}

static bool
read_initial_value (VgpuParser *parser, VgpuVariable *variable, uint64_t *offset)
{
  uint64_t bits = 0;
  if (*offset + variable->element > variable->bytes)
    return vgpu_parser_fail (parser, "too many initial values for %s", variable->name);
  if (parser->token.kind == VGPU_TOKEN_WORD)
    {
      if (variable->element != 8)
        return vgpu_parser_fail (parser, "an address as initial value of %u bytes",
                                 variable->element);
      if (!add_relocation (parser, variable, *offset))
        return false;
    }
  else if (parser->token.kind == VGPU_TOKEN_FLOAT32 || parser->token.kind == VGPU_TOKEN_FLOAT64)
    {
      bits = parser->token.value;
      if (!vgpu_parser_advance (parser))
        return false;
    }
  else
    {
      int64_t value;
      if (!vgpu_parser_integer (parser, &value))
        return false;
      bits = (uint64_t) value;
    }
  memcpy (variable->initial + *offset, &bits, variable->element < 8 ? variable->element : 8);
  *offset += variable->element;
  return true;
}

static bool
read_initialiser (VgpuParser *parser, VgpuVariable *variable)
{
  uint64_t offset = 0;
  int depth = 0;
  variable->initial = vgpu_arena_take (&parser->source->arena, variable->bytes);
  do
    {
      while (vgpu_parser_mark (parser, '{'))
        depth++;
      if (!vgpu_token_is_mark (&parser->token, '}')
          && !read_initial_value (parser, variable, &offset))
        return false;
      while (depth > 0 && vgpu_parser_mark (parser, '}'))
        depth--;
    }
  while (depth > 0 && vgpu_parser_expect (parser, ','));
  return !parser->failed;
}

VgpuVariable *
vgpu_parser_variable (VgpuParser *parser, VgpuSpace space)
{
  VgpuVariable *variable = vgpu_arena_take (&parser->source->arena, sizeof *variable);
  variable->space = space;
  if (!read_type (parser, variable))
    return NULL;
  variable->name = vgpu_parser_take_word (parser);
  if (variable->name == NULL)
    {
      vgpu_parser_fail (parser, "a declaration without a name");
      return NULL;
    }
  if (!read_dimensions (parser, variable))
    return NULL;
  if (vgpu_parser_mark (parser, '=') && !read_initialiser (parser, variable))
    return NULL;
  return variable;
}

bool
vgpu_parser_file (VgpuParser *parser)
{
  VgpuSource *source = parser->source;
  int64_t number;
  if (!vgpu_parser_integer (parser, &number))
    return false;
  if (parser->token.kind != VGPU_TOKEN_STRING)
    return vgpu_parser_fail (parser, ".file without a name");
  source->files = vgpu_arena_grow (&source->arena, source->files, source->file_count,
                                   &source->file_capacity, sizeof *source->files);
  VgpuFile *file = &source->files[source->file_count++];
  file->number = (int) number;
  file->path = vgpu_arena_text (&source->arena, parser->token.text, parser->token.length);
  if (!vgpu_parser_advance (parser))
    return false;
  /* Time stamp and size may follow. */
  while (vgpu_parser_mark (parser, ','))
    if (!vgpu_parser_integer (parser, &number))
      return false;
  return true;
}

static bool
read_inlined_at (VgpuParser *parser, VgpuLocation *location)
{
  int64_t values[3] = {0};
  while (vgpu_parser_mark (parser, ','))
    {
      if (vgpu_parser_word (parser, "function_name"))
        {
          int64_t offset;
          if (vgpu_parser_take_word (parser) == NULL
              || (vgpu_parser_mark (parser, '+') && !vgpu_parser_integer (parser, &offset)))
            return vgpu_parser_fail (parser, "function_name without a label");
        }
      else if (vgpu_parser_word (parser, "inlined_at"))
        {
          for (int i = 0; i < 3; i++)
            if (!vgpu_parser_integer (parser, &values[i]))
              return false;
        }
      else
        return vgpu_parser_fail (parser, "unknown part of .loc");
    }
  location->inlined_file = (int) values[0];
  location->inlined_line = (int) values[1];
  location->inlined_column = (int) values[2];
  return true;
}

bool
vgpu_parser_location (VgpuParser *parser)
{
  VgpuSource *source = parser->source;
  int64_t values[3];
  for (int i = 0; i < 3; i++)
    if (!vgpu_parser_integer (parser, &values[i]))
      return false;
  VgpuLocation location = {
      .file = (int) values[0], .line = (int) values[1], .column = (int) values[2]};
  if (!read_inlined_at (parser, &location))
    return false;
  source->locations = vgpu_arena_grow (&source->arena, source->locations, source->location_count,
                                       &source->location_capacity, sizeof location);
  parser->location = (uint32_t) source->location_count;
  /* Line 0 stands for compiler-made code: it keeps the place that came before. */
  if (location.line == 0 && source->location_count > 0)
    parser->location--;
  else
    source->locations[source->location_count++] = location;
  return true;
}
