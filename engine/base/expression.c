/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/expression.h"

#include "engine/base/error.h"

#include <string.h>

#define DEEPEST 64

typedef struct
{
  const char *text, *at;
  AssayExpressionLookup lookup;
  gpointer user_data;
  guint depth;
  GError **error;
} Parse;

static gboolean parse_level (Parse *parse, guint level, gint64 *value);

static gboolean
fail (Parse *parse, const char *what)
{
  g_set_error (parse->error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "expression \"%s\", column %d: %s",
               parse->text, (int) (parse->at - parse->text) + 1, what);
  return FALSE;
}

static void
skip_blanks (Parse *parse)
{
  while (g_ascii_isspace (*parse->at))
    parse->at++;
}

static gboolean
expect (Parse *parse, char c)
{
  char what[] = "expected ' '";
  what[sizeof what - 3] = c;
  skip_blanks (parse);
  if (*parse->at != c)
    return fail (parse, what);
  parse->at++;
  return TRUE;
}

static gboolean
divide (Parse *parse, char operation, gint64 a, gint64 b, gint64 *value)
{
  if (b == 0)
    return fail (parse, "division by zero");
  if (a == G_MININT64 && b == -1)
    return fail (parse, "the result does not fit 64 bits");
  *value = operation == '/' ? a / b : a % b;
  return TRUE;
}

/* The three named functions of two arguments; `name` has been read. */
static gboolean
parse_function (Parse *parse, const char *name, gint64 *value)
{
  gint64 a = 0, b = 0;
  if (!expect (parse, '(') || !parse_level (parse, 0, &a) || !expect (parse, ',')
      || !parse_level (parse, 0, &b) || !expect (parse, ')'))
    return FALSE;
  if (g_str_equal (name, "min"))
    *value = MIN (a, b);
  else if (g_str_equal (name, "max"))
    *value = MAX (a, b);
  else if (b <= 0)
    return fail (parse, "ceil_div needs a positive divisor");
  else
    *value = a / b + (a % b > 0);
  return TRUE;
}

static gboolean
parse_name (Parse *parse, gint64 *value)
{
  const char *start = parse->at;
  while (g_ascii_isalnum (*parse->at) || *parse->at == '_')
    parse->at++;
  g_autofree char *name = g_strndup (start, (gsize) (parse->at - start));
  skip_blanks (parse);
  if (*parse->at == '('
      && (g_str_equal (name, "min") || g_str_equal (name, "max") || g_str_equal (name, "ceil_div")))
    return parse_function (parse, name, value);
  if (parse->lookup && parse->lookup (name, value, parse->user_data))
    return TRUE;
  g_autofree char *what = g_strdup_printf ("there is no axis or scalar \"%s\"", name);
  parse->at = start;
  return fail (parse, what);
}

static gboolean
parse_number (Parse *parse, gint64 *value)
{
  *value = 0;
  for (; g_ascii_isdigit (*parse->at); parse->at++)
    if (__builtin_mul_overflow (*value, 10, value)
        || __builtin_add_overflow (*value, *parse->at - '0', value))
      return fail (parse, "the number does not fit 64 bits");
  if (*parse->at == '.' || g_ascii_isalpha (*parse->at))
    return fail (parse, "only integers are accepted here");
  return TRUE;
}

static gboolean
parse_operand (Parse *parse, gint64 *value)
{
  if (++parse->depth > DEEPEST)
    return fail (parse, "nested too deeply");
  gboolean good = FALSE;
  skip_blanks (parse);
  if (*parse->at == '(')
    {
      parse->at++;
      good = parse_level (parse, 0, value) && expect (parse, ')');
    }
  else if (*parse->at == '-')
    {
      parse->at++;
      good = parse_operand (parse, value);
      if (good && __builtin_sub_overflow ((gint64) 0, *value, value))
        good = fail (parse, "the result does not fit 64 bits");
    }
  else if (g_ascii_isdigit (*parse->at))
    good = parse_number (parse, value);
  else if (g_ascii_isalpha (*parse->at) || *parse->at == '_')
    good = parse_name (parse, value);
  else
    good =
        fail (parse, *parse->at ? "expected a number, a name or '('" : "the expression ends early");
  parse->depth--;
  return good;
}

/* Binary operators by binding strength; longer spellings first. */
static const struct
{
  const char *spelling;
  guint level;
} OPERATORS[] = {
    {"||", 0}, {"&&", 1}, {"==", 2}, {"!=", 2}, {"<=", 3}, {">=", 3}, {"<", 3},
    {">", 3},  {"+", 4},  {"-", 4},  {"*", 5},  {"/", 5},  {"%", 5},
};
#define LEVELS 6

static const char *
match_operator (Parse *parse, guint level)
{
  skip_blanks (parse);
  for (gsize i = 0; i < G_N_ELEMENTS (OPERATORS); i++)
    if (g_str_has_prefix (parse->at, OPERATORS[i].spelling))
      return OPERATORS[i].level == level ? OPERATORS[i].spelling : NULL;
  return NULL;
}

static gboolean
apply (Parse *parse, const char *operation, gint64 a, gint64 b, gint64 *value)
{
  gboolean overflow = FALSE;
  switch (operation[0])
    {
    case '+':
      overflow = __builtin_add_overflow (a, b, value);
      break;
    case '-':
      overflow = __builtin_sub_overflow (a, b, value);
      break;
    case '*':
      overflow = __builtin_mul_overflow (a, b, value);
      break;
    case '/':
    case '%':
      return divide (parse, operation[0], a, b, value);
    case '<':
      *value = operation[1] ? a <= b : a < b;
      break;
    case '>':
      *value = operation[1] ? a >= b : a > b;
      break;
    case '=':
      *value = a == b;
      break;
    case '!':
      *value = a != b;
      break;
    case '&':
      *value = a && b;
      break;
    default:
      *value = a || b;
      break;
    }
  return !overflow || fail (parse, "the result does not fit 64 bits");
}

static gboolean
parse_level (Parse *parse, guint level, gint64 *value)
{
  if (level == LEVELS)
    return parse_operand (parse, value);
  if (!parse_level (parse, level + 1, value))
    return FALSE;
  for (const char *operation; (operation = match_operator (parse, level));)
    {
      gint64 right = 0;
      parse->at += strlen (operation);
      if (!parse_level (parse, level + 1, &right)
          || !apply (parse, operation, *value, right, value))
        return FALSE;
    }
  return TRUE;
}

gboolean
assay_expression_evaluate (const char *text, AssayExpressionLookup lookup, gpointer user_data,
                           gint64 *value, GError **error)
{
  Parse parse = {text, text, lookup, user_data, 0, error};
  if (!parse_level (&parse, 0, value))
    return FALSE;
  skip_blanks (&parse);
  return *parse.at == 0 || fail (&parse, "unexpected text after the expression");
}

gboolean
assay_expression_lookup_table (const char *name, gint64 *value, gpointer table)
{
  gint64 *found = g_hash_table_lookup (table, name);
  if (found)
    *value = *found;
  return found != NULL;
}
