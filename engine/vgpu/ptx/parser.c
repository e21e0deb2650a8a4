/* SPDX-License-Identifier: Apache-2.0 */
/* Module level: versions, variables, function heads. */
#include "engine/vgpu/ptx/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool
vgpu_parser_fail (VgpuParser *parser, const char *format, ...)
{
  if (parser->failed)
    return false;
  parser->failed = true;
  int used = snprintf (parser->error, VGPU_ERROR_BYTES, "PTX line %d: ", parser->token.line);
  va_list arguments;
  va_start (arguments, format);
  vsnprintf (parser->error + used, VGPU_ERROR_BYTES - (size_t) used, format, arguments);
  va_end (arguments);
  return false;
}

bool
vgpu_parser_advance (VgpuParser *parser)
{
  if (parser->failed)
    return false;
  if (!vgpu_lexer_next (&parser->lexer, &parser->token))
    return vgpu_parser_fail (parser, "unreadable text near '%.*s'",
                             (int) (parser->token.length < 20 ? parser->token.length : 20),
                             parser->token.text);
  return true;
}

bool
vgpu_parser_mark (VgpuParser *parser, char mark)
{
  return !parser->failed && vgpu_token_is_mark (&parser->token, mark)
         && vgpu_parser_advance (parser);
}

bool
vgpu_parser_expect (VgpuParser *parser, char mark)
{
  if (vgpu_parser_mark (parser, mark))
    return true;
  return vgpu_parser_fail (parser, "'%c' expected before '%.*s'", mark,
                           (int) (parser->token.length < 40 ? parser->token.length : 40),
                           parser->token.text);
}

bool
vgpu_parser_word (VgpuParser *parser, const char *word)
{
  return !parser->failed && vgpu_token_is_word (&parser->token, word)
         && vgpu_parser_advance (parser);
}

char *
vgpu_parser_take_word (VgpuParser *parser)
{
  if (parser->failed || parser->token.kind != VGPU_TOKEN_WORD)
    return NULL;
  char *text = vgpu_arena_text (&parser->source->arena, parser->token.text, parser->token.length);
  return vgpu_parser_advance (parser) ? text : NULL;
}

bool
vgpu_parser_integer (VgpuParser *parser, int64_t *value)
{
  bool negative = vgpu_parser_mark (parser, '-');
  if (parser->failed || parser->token.kind != VGPU_TOKEN_INTEGER)
    return vgpu_parser_fail (parser, "a number expected");
  uint64_t magnitude = parser->token.value;
  *value = (int64_t) (negative ? 0 - magnitude : magnitude);
  return vgpu_parser_advance (parser);
}

bool
vgpu_parser_skip_braces (VgpuParser *parser)
{
  int depth = 0;
  do
    {
      if (vgpu_token_is_mark (&parser->token, '{'))
        depth++;
      else if (vgpu_token_is_mark (&parser->token, '}'))
        depth--;
      else if (parser->token.kind == VGPU_TOKEN_END)
        return vgpu_parser_fail (parser, "the text ends inside braces");
      if (!vgpu_parser_advance (parser))
        return false;
    }
  while (depth > 0);
  return true;
}

bool
vgpu_parser_skip_statement (VgpuParser *parser)
{
  while (!vgpu_token_is_mark (&parser->token, ';'))
    {
      if (parser->token.kind == VGPU_TOKEN_END)
        return vgpu_parser_fail (parser, "the text ends inside a statement");
      if (!vgpu_parser_advance (parser))
        return false;
    }
  return vgpu_parser_advance (parser);
}

static bool
read_parameters (VgpuParser *parser, VgpuVariable ***list, size_t *count, size_t *capacity)
{
  if (!vgpu_parser_mark (parser, '('))
    return !parser->failed;
  while (!vgpu_parser_mark (parser, ')'))
    {
      if (*count > 0 && !vgpu_parser_expect (parser, ','))
        return false;
      if (vgpu_token_is_word (&parser->token, ".reg"))
        return vgpu_parser_fail (parser, "parameters in registers are unsupported");
      if (!vgpu_parser_word (parser, ".param"))
        return vgpu_parser_fail (parser, ".param expected");
      VgpuVariable *variable = vgpu_parser_variable (parser, VGPU_SPACE_PARAM);
      if (variable == NULL)
        return false;
      *list = vgpu_arena_grow (&parser->source->arena, *list, *count, capacity, sizeof **list);
      (*list)[(*count)++] = variable;
    }
  return true;
}

/* One to three numbers; those that are not there are 1. */
static bool
read_counts (VgpuParser *parser, uint32_t *counts)
{
  for (int axis = 0; axis < 3; axis++)
    counts[axis] = 1;
  for (int axis = 0; axis < 3; axis++)
    {
      int64_t value;
      if (!vgpu_parser_integer (parser, &value))
        return false;
      counts[axis] = (uint32_t) value;
      if (!vgpu_parser_mark (parser, ','))
        break;
    }
  return !parser->failed;
}

/* What may stand between a function's parameters and its body. */
static bool
read_function_directives (VgpuParser *parser, VgpuFunction *function)
{
  while (parser->token.kind == VGPU_TOKEN_WORD && parser->token.text[0] == '.')
    {
      if (vgpu_parser_word (parser, ".maxntid"))
        {
          if (!read_counts (parser, function->max_threads))
            return false;
        }
      else if (vgpu_parser_word (parser, ".reqntid"))
        {
          function->threads_required = true;
          if (!read_counts (parser, function->max_threads))
            return false;
        }
      else if (vgpu_parser_word (parser, ".reqnctapercluster"))
        {
          if (!read_counts (parser, function->cluster))
            return false;
        }
      else if (vgpu_parser_word (parser, ".explicitcluster"))
        continue;
      else if (vgpu_parser_word (parser, ".maxclusterrank"))
        {
          int64_t value;
          if (!vgpu_parser_integer (parser, &value))
            return false;
        }
      else if (vgpu_parser_word (parser, ".maxnreg"))
        {
          int64_t value;
          if (!vgpu_parser_integer (parser, &value))
            return false;
          function->max_registers = (uint32_t) value;
        }
      else if (vgpu_parser_word (parser, ".pragma"))
        {
          if (!vgpu_parser_skip_statement (parser))
            return false;
        }
      else if (vgpu_parser_word (parser, ".minnctapersm") || vgpu_parser_word (parser, ".noreturn"))
        {
          int64_t value;
          if (parser->token.kind == VGPU_TOKEN_INTEGER && !vgpu_parser_integer (parser, &value))
            return false;
        }
      else
        return vgpu_parser_fail (parser, "unsupported directive %.*s", (int) parser->token.length,
                                 parser->token.text);
    }
  return !parser->failed;
}

static bool
read_function (VgpuParser *parser, bool is_entry, VgpuLinkage linkage)
{
  VgpuSource *source = parser->source;
  VgpuFunction *function = vgpu_arena_take (&source->arena, sizeof *function);
  function->is_entry = is_entry;
  function->linkage = linkage;
  function->line = parser->token.line;
  if (!read_parameters (parser, &function->results, &function->result_count,
                        &function->result_capacity))
    return false;
  function->name = vgpu_parser_take_word (parser);
  if (function->name == NULL)
    return vgpu_parser_fail (parser, "a function without a name");
  if (!read_parameters (parser, &function->parameters, &function->parameter_count,
                        &function->parameter_capacity)
      || !read_function_directives (parser, function))
    return false;
  *parser->function_tail = function;
  parser->function_tail = &function->next;
  if (vgpu_parser_mark (parser, ';'))
    return true;
  parser->function = function;
  function->has_body = true;
  return vgpu_parser_body (parser);
}

static bool
read_variable (VgpuParser *parser, VgpuSpace space, VgpuLinkage linkage)
{
  do
    {
      VgpuVariable *variable = vgpu_parser_variable (parser, space);
      if (variable == NULL)
        return false;
      variable->linkage = linkage;
      variable->external = linkage == VGPU_LINKAGE_EXTERN;
      *parser->variable_tail = variable;
      parser->variable_tail = &variable->next;
    }
  while (vgpu_parser_mark (parser, ','));
  return vgpu_parser_expect (parser, ';');
}

static bool
read_version (VgpuParser *parser)
{
  /* "9.0" was read as a decimal float. */
  double version = 0;
  if (parser->token.kind == VGPU_TOKEN_FLOAT64)
    memcpy (&version, &parser->token.value, sizeof version);
  else
    return vgpu_parser_fail (parser, ".version without a number");
  parser->source->version_major = (int) version;
  parser->source->version_minor = (int) (version * 10 + 0.5) % 10;
  return vgpu_parser_advance (parser);
}

static bool
read_target (VgpuParser *parser)
{
  char *name = vgpu_parser_take_word (parser);
  if (name == NULL)
    return vgpu_parser_fail (parser, ".target without a name");
  parser->source->target = name;
  while (vgpu_parser_mark (parser, ','))
    if (vgpu_parser_take_word (parser) == NULL)
      return vgpu_parser_fail (parser, ".target without a name");
  return true;
}

static bool
read_section (VgpuParser *parser)
{
  while (!vgpu_token_is_mark (&parser->token, '{'))
    if (parser->token.kind == VGPU_TOKEN_END || !vgpu_parser_advance (parser))
      return vgpu_parser_fail (parser, ".section without a body");
  return vgpu_parser_skip_braces (parser);
}

static bool
read_linkage (VgpuParser *parser, VgpuLinkage *linkage)
{
  static const struct
  {
    const char *word;
    VgpuLinkage linkage;
  } words[] = {
      {".visible", VGPU_LINKAGE_VISIBLE},
      {".weak", VGPU_LINKAGE_WEAK},
      {".common", VGPU_LINKAGE_WEAK},
      {".extern", VGPU_LINKAGE_EXTERN},
  };
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (vgpu_parser_word (parser, words[i].word))
      {
        *linkage = words[i].linkage;
        return true;
      }
  return false;
}

static bool
read_directive (VgpuParser *parser)
{
  VgpuLinkage linkage = VGPU_LINKAGE_LOCAL;
  int64_t value;
  while (read_linkage (parser, &linkage))
    ;
  VgpuSpace space = vgpu_parser_space (&parser->token);
  if (space != VGPU_SPACE_NONE)
    return vgpu_parser_advance (parser) && read_variable (parser, space, linkage);
  if (vgpu_parser_word (parser, ".entry"))
    return read_function (parser, true, linkage);
  if (vgpu_parser_word (parser, ".func"))
    return read_function (parser, false, linkage);
  if (vgpu_parser_word (parser, ".version"))
    return read_version (parser);
  if (vgpu_parser_word (parser, ".target"))
    return read_target (parser);
  if (vgpu_parser_word (parser, ".file"))
    return vgpu_parser_file (parser);
  if (vgpu_parser_word (parser, ".section"))
    return read_section (parser);
  if (vgpu_parser_word (parser, ".alias") || vgpu_parser_word (parser, ".pragma"))
    return vgpu_parser_skip_statement (parser);
  if (vgpu_parser_word (parser, ".loc"))
    return vgpu_parser_location (parser);
  if (vgpu_parser_word (parser, ".address_size"))
    {
      if (!vgpu_parser_integer (parser, &value))
        return false;
      return value == 64 || vgpu_parser_fail (parser, "only 64-bit addresses are supported");
    }
  return vgpu_parser_fail (parser, "unsupported text '%.*s'",
                           (int) (parser->token.length < 60 ? parser->token.length : 60),
                           parser->token.text);
}

bool
vgpu_source_parse (VgpuSource *source, const char *text, size_t length, char *error)
{
  VgpuParser parser = {.source = source, .error = error};
  memset (source, 0, sizeof *source);
  parser.variable_tail = &source->variables;
  parser.function_tail = &source->functions;
  vgpu_lexer_init (&parser.lexer, text, length);
  if (!vgpu_parser_advance (&parser))
    return false;
  while (parser.token.kind != VGPU_TOKEN_END)
    if (!read_directive (&parser))
      return false;
  if (source->version_major == 0)
    return vgpu_parser_fail (&parser, "no .version: this is not PTX");
  vgpu_source_resolve_places (source);
  return true;
}

void
vgpu_source_clear (VgpuSource *source)
{
  vgpu_arena_clear (&source->arena);
}

VgpuFunction *
vgpu_source_function (const VgpuSource *source, const char *name)
{
  VgpuFunction *declared = NULL;
  for (VgpuFunction *function = source->functions; function != NULL; function = function->next)
    if (strcmp (function->name, name) == 0)
      {
        if (function->has_body)
          return function;
        declared = function;
      }
  return declared;
}

VgpuVariable *
vgpu_source_variable (const VgpuSource *source, const char *name)
{
  for (VgpuVariable *variable = source->variables; variable != NULL; variable = variable->next)
    if (strcmp (variable->name, name) == 0)
      return variable;
  return NULL;
}

const char *
vgpu_source_file (const VgpuSource *source, int number)
{
  for (size_t i = 0; i < source->file_count; i++)
    if (source->files[i].number == number)
      return source->files[i].path;
  return NULL;
}
