/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/vgpu/ptx/lexer.h"

#include <stdlib.h>
#include <string.h>

void
vgpu_lexer_init (VgpuLexer *lexer, const char *text, size_t length)
{
  lexer->at = text;
  lexer->end = text + length;
  lexer->line = 1;
}

static bool
is_digit (char c)
{
  return c >= '0' && c <= '9';
}

static bool
starts_word (char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%'
         || c == '.';
}

static bool
continues_word (char c)
{
  return starts_word (c) || is_digit (c);
}

static int
hex_digit (char c)
{
  if (is_digit (c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

static bool
skip_comment (VgpuLexer *lexer)
{
  if (lexer->end - lexer->at < 2 || lexer->at[0] != '/')
    return false;
  bool block = lexer->at[1] == '*';
  if (!block && lexer->at[1] != '/')
    return false;
  lexer->at += 2;
  while (lexer->at < lexer->end)
    {
      char c = *lexer->at;
      if (!block && c == '\n')
        return true;
      lexer->line += c == '\n';
      lexer->at++;
      if (block && c == '*' && lexer->at < lexer->end && *lexer->at == '/')
        {
          lexer->at++;
          return true;
        }
    }
  return true;
}

static void
skip_blanks (VgpuLexer *lexer)
{
  while (lexer->at < lexer->end)
    {
      char c = *lexer->at;
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v')
        {
          lexer->line += c == '\n';
          lexer->at++;
        }
      else if (!skip_comment (lexer))
        return;
    }
}

static void
read_word (VgpuLexer *lexer)
{
  bool directive = *lexer->at++ == '.';
  while (lexer->at < lexer->end)
    {
      /* ".reg.b32" is two words. */
      if (directive && *lexer->at == '.')
        return;
      if (continues_word (*lexer->at))
        lexer->at++;
      else if (lexer->end - lexer->at > 2 && lexer->at[0] == ':' && lexer->at[1] == ':'
               && continues_word (lexer->at[2]))
        lexer->at += 2;
      else
        return;
    }
}

/* Digits of a base from at on; returns how many. */
static size_t
read_digits (VgpuLexer *lexer, int base, uint64_t *value)
{
  size_t count = 0;
  *value = 0;
  while (lexer->at < lexer->end)
    {
      int digit = hex_digit (*lexer->at);
      if (digit < 0 || digit >= base)
        break;
      *value = *value * (unsigned) base + (unsigned) digit;
      lexer->at++;
      count++;
    }
  return count;
}

static bool
read_decimal_float (VgpuLexer *lexer, VgpuToken *token)
{
  char buffer[64];
  size_t length = 0;
  lexer->at = token->text;
  while (lexer->at < lexer->end && length < sizeof buffer - 1
         && (is_digit (*lexer->at) || strchr (".eE", *lexer->at) != NULL
             || (strchr ("+-", *lexer->at) != NULL && length > 0
                 && strchr ("eE", buffer[length - 1]) != NULL)))
    buffer[length++] = *lexer->at++;
  buffer[length] = '\0';
  char *stop;
  double value = strtod (buffer, &stop);
  memcpy (&token->value, &value, sizeof value);
  token->kind = VGPU_TOKEN_FLOAT64;
  return *stop == '\0';
}

static bool
read_number (VgpuLexer *lexer, VgpuToken *token)
{
  char second = lexer->end - lexer->at > 1 && lexer->at[0] == '0' ? lexer->at[1] : '\0';
  token->kind = VGPU_TOKEN_INTEGER;
  if (second == 'f' || second == 'F' || second == 'd' || second == 'D')
    {
      bool single = second == 'f' || second == 'F';
      token->kind = single ? VGPU_TOKEN_FLOAT32 : VGPU_TOKEN_FLOAT64;
      lexer->at += 2;
      return read_digits (lexer, 16, &token->value) == (single ? 8 : 16);
    }
  int base = 10;
  if (second == 'x' || second == 'X')
    base = 16;
  else if (second == 'b' || second == 'B')
    base = 2;
  else if (is_digit (second))
    base = 8;
  if (base == 16 || base == 2)
    lexer->at += 2;
  if (read_digits (lexer, base, &token->value) == 0)
    return false;
  if (lexer->at < lexer->end && base == 10 && *lexer->at == '.')
    return read_decimal_float (lexer, token);
  if (lexer->at < lexer->end && *lexer->at == 'U')
    lexer->at++;
  return true;
}

static bool
read_string (VgpuLexer *lexer, VgpuToken *token)
{
  token->kind = VGPU_TOKEN_STRING;
  token->text = ++lexer->at;
  while (lexer->at < lexer->end && *lexer->at != '"' && *lexer->at != '\n')
    lexer->at += *lexer->at == '\\' && lexer->end - lexer->at > 1 ? 2 : 1;
  if (lexer->at >= lexer->end || *lexer->at != '"')
    return false;
  token->length = (size_t) (lexer->at - token->text);
  lexer->at++;
  return true;
}

bool
vgpu_lexer_next (VgpuLexer *lexer, VgpuToken *token)
{
  skip_blanks (lexer);
  memset (token, 0, sizeof *token);
  token->line = lexer->line;
  token->text = lexer->at;
  if (lexer->at >= lexer->end || *lexer->at == '\0')
    {
      token->kind = VGPU_TOKEN_END;
      return true;
    }
  if (*lexer->at == '"')
    return read_string (lexer, token);
  bool good = true;
  if (starts_word (*lexer->at))
    {
      token->kind = VGPU_TOKEN_WORD;
      read_word (lexer);
    }
  else if (is_digit (*lexer->at))
    good = read_number (lexer, token);
  else
    {
      token->kind = VGPU_TOKEN_MARK;
      token->mark = *lexer->at;
      good = strchr (",;{}()[]+-!@|<>=:~*&", *lexer->at) != NULL;
      lexer->at++;
    }
  token->length = (size_t) (lexer->at - token->text);
  return good;
}

bool
vgpu_token_is_word (const VgpuToken *token, const char *word)
{
  return token->kind == VGPU_TOKEN_WORD && strlen (word) == token->length
         && memcmp (word, token->text, token->length) == 0;
}

bool
vgpu_token_is_mark (const VgpuToken *token, char mark)
{
  return token->kind == VGPU_TOKEN_MARK && token->mark == mark;
}
