/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The words of PTX text. Opcodes and special registers keep their dots: "ld.global.v4.f32",
 * "%tid.x", ".reg" are one word each. */
typedef enum
{
  VGPU_TOKEN_END,
  VGPU_TOKEN_WORD,
  VGPU_TOKEN_INTEGER,
  VGPU_TOKEN_FLOAT32, /* 0fXXXXXXXX: value holds the bits */
  VGPU_TOKEN_FLOAT64, /* 0dX… or a decimal number: value holds the bits */
  VGPU_TOKEN_STRING,  /* text without the quotes, escapes as written */
  VGPU_TOKEN_MARK     /* one punctuation character, in mark */
} VgpuTokenKind;

typedef struct
{
  VgpuTokenKind kind;
  const char *text; /* into the source, not terminated */
  size_t length;
  uint64_t value;
  int line;
  char mark;
} VgpuToken;

typedef struct
{
  const char *at;
  const char *end;
  int line;
} VgpuLexer;

void vgpu_lexer_init (VgpuLexer *lexer, const char *text, size_t length);

/* Reads the next token; false for text that is no token (token says where). */
bool vgpu_lexer_next (VgpuLexer *lexer, VgpuToken *token);

bool vgpu_token_is_word (const VgpuToken *token, const char *word);
bool vgpu_token_is_mark (const VgpuToken *token, char mark);
