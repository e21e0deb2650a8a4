/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/json-scan.h"

#include "engine/base/error.h"

#include <math.h>
#include <string.h>

const AssayJsonLimits ASSAY_JSON_LIMITS_TASK = {4u << 20, 32, 100000};
const AssayJsonLimits ASSAY_JSON_LIMITS_MESSAGE = {1u << 20, 32, 100000};
const AssayJsonLimits ASSAY_JSON_LIMITS_RECORD = {256u << 20, 48, 20000000};

typedef struct
{
  const char *text, *at, *end;
  const char *source;
  const AssayJsonLimits *limits;
  gsize items;
  GByteArray *kinds; /* '{' or '[' of every open container */
  GPtrArray *keys;   /* a set of keys for every open container, NULL for arrays */
  GError **error;
} Scan;

static gboolean
fail (Scan *scan, const char *where, int code, const char *what)
{
  guint line = 1;
  const char *start = scan->text;
  for (const char *c = scan->text; c < where; c++)
    if (*c == '\n')
      {
        line++;
        start = c + 1;
      }
  g_set_error (scan->error, ASSAY_ERROR, code, "%s:%u:%d: %s", scan->source ? scan->source : "JSON",
               line, (int) (where - start) + 1, what);
  return FALSE;
}

static void
skip_blanks (Scan *scan)
{
  while (scan->at < scan->end && *scan->at && strchr (" \t\r\n", *scan->at))
    scan->at++;
}

static gboolean
scan_escape (Scan *scan)
{
  const char *start = scan->at - 1;
  if (scan->at >= scan->end)
    return fail (scan, start, ASSAY_ERROR_INVALID, "string ends inside an escape");
  char c = *scan->at++;
  if (c != 0 && strchr ("\"\\/bfnrt", c))
    return TRUE;
  if (c != 'u')
    return fail (scan, start, ASSAY_ERROR_INVALID, "unknown escape in a string");
  guint value = 0;
  for (int i = 0; i < 4; i++, scan->at++)
    {
      if (scan->at >= scan->end || !g_ascii_isxdigit (*scan->at))
        return fail (scan, start, ASSAY_ERROR_INVALID, "\\u needs four hexadecimal digits");
      value = value * 16 + (guint) g_ascii_xdigit_value (*scan->at);
    }
  if (value == 0)
    return fail (scan, start, ASSAY_ERROR_INVALID, "NUL characters are not accepted in strings");
  return TRUE;
}

static gboolean
scan_string (Scan *scan)
{
  const char *start = scan->at++;
  while (scan->at < scan->end)
    {
      guchar c = (guchar) *scan->at++;
      if (c == '"')
        return TRUE;
      if (c < 0x20)
        return fail (scan, scan->at - 1, ASSAY_ERROR_INVALID,
                     "control character in a string: write it as an escape");
      if (c == '\\' && !scan_escape (scan))
        return FALSE;
    }
  return fail (scan, start, ASSAY_ERROR_INVALID, "string without an end");
}

static gboolean
scan_digits (Scan *scan)
{
  const char *start = scan->at;
  while (scan->at < scan->end && g_ascii_isdigit (*scan->at))
    scan->at++;
  return scan->at > start;
}

static gboolean
scan_number (Scan *scan)
{
  const char *start = scan->at;
  if (*scan->at == '-')
    scan->at++;
  const char *digits = scan->at;
  if (!scan_digits (scan))
    return fail (scan, start, ASSAY_ERROR_INVALID, "not a JSON value");
  if (*digits == '0' && scan->at - digits > 1)
    return fail (scan, start, ASSAY_ERROR_INVALID, "number with a leading zero");
  if (scan->at - digits > 18 && (scan->at >= scan->end || !strchr (".eE", *scan->at)))
    return fail (scan, start, ASSAY_ERROR_LIMIT,
                 "integer of more than 18 digits: write it as a string");
  if (scan->at < scan->end && *scan->at == '.')
    {
      scan->at++;
      if (!scan_digits (scan))
        return fail (scan, start, ASSAY_ERROR_INVALID, "number without digits after the point");
    }
  if (scan->at < scan->end && (*scan->at == 'e' || *scan->at == 'E'))
    {
      scan->at++;
      if (scan->at < scan->end && (*scan->at == '+' || *scan->at == '-'))
        scan->at++;
      if (!scan_digits (scan))
        return fail (scan, start, ASSAY_ERROR_INVALID, "number without digits in its exponent");
      g_autofree char *text = g_strndup (start, (gsize) (scan->at - start));
      if (!isfinite (g_ascii_strtod (text, NULL)))
        return fail (scan, start, ASSAY_ERROR_LIMIT, "number beyond the range of a double");
    }
  return TRUE;
}

static gboolean
scan_word (Scan *scan, const char *word)
{
  gsize length = strlen (word);
  if ((gsize) (scan->end - scan->at) < length || strncmp (scan->at, word, length) != 0)
    return fail (scan, scan->at, ASSAY_ERROR_INVALID,
                 "not a JSON value (expected true, false or null)");
  scan->at += length;
  return TRUE;
}

static gboolean
open_container (Scan *scan, char kind)
{
  if (scan->kinds->len >= scan->limits->max_depth)
    return fail (scan, scan->at, ASSAY_ERROR_LIMIT, "nested deeper than accepted");
  guint8 byte = (guint8) kind;
  g_byte_array_append (scan->kinds, &byte, 1);
  g_ptr_array_add (scan->keys, kind == '{'
                                   ? g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL)
                                   : NULL);
  scan->at++;
  return TRUE;
}

static void
close_container (Scan *scan)
{
  g_byte_array_set_size (scan->kinds, scan->kinds->len - 1);
  g_ptr_array_set_size (scan->keys, (gint) scan->keys->len - 1);
  scan->at++;
}

static gboolean
scan_key (Scan *scan)
{
  skip_blanks (scan);
  const char *start = scan->at;
  if (scan->at >= scan->end || *scan->at != '"')
    return fail (scan, scan->at, ASSAY_ERROR_INVALID, "expected a key in double quotes");
  if (!scan_string (scan))
    return FALSE;
  GHashTable *seen = g_ptr_array_index (scan->keys, scan->keys->len - 1);
  if (!g_hash_table_add (seen, g_strndup (start, (gsize) (scan->at - start))))
    return fail (scan, start, ASSAY_ERROR_INVALID, "the same key twice in one object");
  skip_blanks (scan);
  if (scan->at >= scan->end || *scan->at != ':')
    return fail (scan, scan->at, ASSAY_ERROR_INVALID, "expected ':' after a key");
  scan->at++;
  return TRUE;
}

/* One value, or the opening of a container. */
static gboolean
scan_value (Scan *scan, gboolean *opened)
{
  *opened = FALSE;
  skip_blanks (scan);
  if (scan->at >= scan->end)
    return fail (scan, scan->at, ASSAY_ERROR_INVALID, "the text ends where a value should be");
  if (++scan->items > scan->limits->max_items)
    return fail (scan, scan->at, ASSAY_ERROR_LIMIT, "more values than accepted");
  switch (*scan->at)
    {
    case '{':
    case '[':
      *opened = TRUE;
      return open_container (scan, *scan->at);
    case '"':
      return scan_string (scan);
    case 't':
      return scan_word (scan, "true");
    case 'f':
      return scan_word (scan, "false");
    case 'n':
      return scan_word (scan, "null");
    default:
      return scan_number (scan);
    }
}

/* After a value: a comma and the next key, or closing brackets, as many as follow. */
static gboolean
scan_after (Scan *scan, gboolean *done)
{
  for (;;)
    {
      skip_blanks (scan);
      *done = scan->kinds->len == 0;
      if (*done)
        return scan->at == scan->end
               || fail (scan, scan->at, ASSAY_ERROR_INVALID, "text after the end of the value");
      char open = (char) scan->kinds->data[scan->kinds->len - 1];
      char c = scan->at < scan->end ? *scan->at : 0;
      if (c == ',')
        {
          scan->at++;
          return open == '[' || scan_key (scan);
        }
      if (c != (open == '{' ? '}' : ']'))
        return fail (scan, scan->at, ASSAY_ERROR_INVALID,
                     open == '{' ? "expected ',' or '}'" : "expected ',' or ']'");
      close_container (scan);
    }
}

static gboolean
scan_all (Scan *scan)
{
  gboolean done = FALSE;
  while (!done)
    {
      gboolean opened = FALSE;
      if (!scan_value (scan, &opened))
        return FALSE;
      if (opened)
        {
          char open = (char) scan->kinds->data[scan->kinds->len - 1];
          skip_blanks (scan);
          gboolean empty = scan->at < scan->end && *scan->at == (open == '{' ? '}' : ']');
          if (!empty)
            {
              if (open == '{' && !scan_key (scan))
                return FALSE;
              continue;
            }
          close_container (scan);
        }
      if (!scan_after (scan, &done))
        return FALSE;
    }
  return TRUE;
}

static void
key_set_free (gpointer set)
{
  if (set)
    g_hash_table_unref (set);
}

gboolean
assay_json_scan (const char *text, gsize length, const AssayJsonLimits *limits, const char *source,
                 GError **error)
{
  const char *bad = NULL;
  Scan scan = {text, text, text + length, source, limits, 0, NULL, NULL, error};
  if (length > limits->max_bytes)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_LIMIT,
                   "%s: %" G_GSIZE_FORMAT " bytes of JSON, at most %" G_GSIZE_FORMAT
                   " are accepted",
                   source ? source : "JSON", length, limits->max_bytes);
      return FALSE;
    }
  if (!g_utf8_validate_len (text, length, &bad))
    return fail (&scan, bad, ASSAY_ERROR_INVALID, "not valid UTF-8, or a NUL byte");
  g_autoptr (GByteArray) kinds = g_byte_array_new ();
  g_autoptr (GPtrArray) keys = g_ptr_array_new_with_free_func (key_set_free);
  scan.kinds = kinds;
  scan.keys = keys;
  return scan_all (&scan);
}
