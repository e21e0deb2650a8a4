/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/ptx/lexer.h"
#include "engine/vgpu/ptx/source.h"

/* Shared by the files of the parser. A failed parse unwinds by return values: every function
 * returns false once failed is set, and the first message stays. */

/* A run of registers %name0 … %name(count-1), or one register when count is 0. */
typedef struct
{
  const char *name;
  size_t length;
  uint32_t count;
  uint32_t first;
  uint32_t scope;
} VgpuRegisterRange;

typedef struct
{
  VgpuVariable *variable;
  uint32_t scope;
} VgpuScopedVariable;

typedef struct
{
  VgpuLexer lexer;
  VgpuToken token;
  VgpuSource *source;
  VgpuFunction *function;
  VgpuRegisterRange *ranges;
  size_t range_count;
  size_t range_capacity;
  VgpuScopedVariable *scoped;
  size_t scoped_count;
  size_t scoped_capacity;
  uint32_t scope;
  uint32_t location;
  VgpuVariable **variable_tail;
  VgpuFunction **function_tail;
  bool failed;
  char *error;
} VgpuParser;

bool vgpu_parser_fail (VgpuParser *parser, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
bool vgpu_parser_advance (VgpuParser *parser);
bool vgpu_parser_mark (VgpuParser *parser, char mark); /* consumes it if it is next */
bool vgpu_parser_expect (VgpuParser *parser, char mark);
bool vgpu_parser_word (VgpuParser *parser, const char *word);  /* consumes it if it is next */
char *vgpu_parser_take_word (VgpuParser *parser);              /* NULL if no word is next */
bool vgpu_parser_integer (VgpuParser *parser, int64_t *value); /* with sign */
bool vgpu_parser_skip_braces (VgpuParser *parser);
bool vgpu_parser_skip_statement (VgpuParser *parser); /* up to and with the semicolon */

/* A declaration after its space word, up to but without the semicolon or comma. */
VgpuVariable *vgpu_parser_variable (VgpuParser *parser, VgpuSpace space);
VgpuSpace vgpu_parser_space (const VgpuToken *token); /* VGPU_SPACE_NONE if it names none */

bool vgpu_parser_body (VgpuParser *parser);
bool vgpu_parser_file (VgpuParser *parser);
bool vgpu_parser_location (VgpuParser *parser);
