/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/json.h"

#include "engine/base/error.h"

#include <math.h>
#include <string.h>

JsonNode *
assay_json_parse (const char *text, gssize length, const AssayJsonLimits *limits,
                  const char *source, GError **error)
{
  gsize bytes = length < 0 ? strlen (text) : (gsize) length;
  if (!assay_json_scan (text, bytes, limits, source, error))
    return NULL;
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();
  if (!json_parser_load_from_data (parser, text, (gssize) bytes, error))
    {
      g_prefix_error (error, "%s: ", source ? source : "JSON");
      return NULL;
    }
  return json_parser_steal_root (parser);
}

JsonNode *
assay_json_load (const char *path, const AssayJsonLimits *limits, GError **error)
{
  g_autofree char *text = NULL;
  gsize length = 0;
  g_autoptr (GError) local = NULL;
  if (!g_file_get_contents (path, &text, &length, &local))
    {
      gboolean missing = g_error_matches (local, G_FILE_ERROR, G_FILE_ERROR_NOENT);
      g_set_error_literal (error, ASSAY_ERROR, missing ? ASSAY_ERROR_NOT_FOUND : ASSAY_ERROR_FAILED,
                           local->message);
      return NULL;
    }
  return assay_json_parse (text, (gssize) length, limits, path, error);
}

static void
format_digits (char *buffer, int digits, double value)
{
  char format[8];
  g_snprintf (format, sizeof format, "%%.%dg", digits);
  g_ascii_formatd (buffer, G_ASCII_DTOSTR_BUF_SIZE, format, value);
}

char *
assay_double_to_string (double value)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  if (isnan (value))
    return g_strdup ("NaN");
  if (isinf (value))
    return g_strdup (value > 0 ? "Infinity" : "-Infinity");
  /* One digit more never reads back worse: the least sufficient number is found by halving. */
  int least = 1, enough = 17;
  while (least < enough)
    {
      int digits = (least + enough) / 2;
      format_digits (buffer, digits, value);
      if (g_ascii_strtod (buffer, NULL) == value)
        enough = digits;
      else
        least = digits + 1;
    }
  format_digits (buffer, enough, value);
  return g_strdup (buffer);
}

static void
write_string (GString *out, const char *text)
{
  g_string_append_c (out, '"');
  for (const guchar *c = (const guchar *) text; *c; c++)
    {
      static const char named[] = "\"\\\b\f\n\r\t";
      static const char letter[] = "\"\\bfnrt";
      const char *at = strchr (named, *c);
      if (at && *at)
        g_string_append_printf (out, "\\%c", letter[at - named]);
      else if (*c < 0x20)
        g_string_append_printf (out, "\\u%04x", *c);
      else
        g_string_append_c (out, (char) *c);
    }
  g_string_append_c (out, '"');
}

static void
write_value (GString *out, JsonNode *node)
{
  GType type = json_node_get_value_type (node);
  if (type == G_TYPE_STRING)
    write_string (out, json_node_get_string (node));
  else if (type == G_TYPE_BOOLEAN)
    g_string_append (out, json_node_get_boolean (node) ? "true" : "false");
  else if (type == G_TYPE_INT64)
    g_string_append_printf (out, "%" G_GINT64_FORMAT, json_node_get_int (node));
  else
    {
      double value = json_node_get_double (node);
      g_autofree char *text = assay_double_to_string (value);
      g_string_append_printf (out, isfinite (value) ? "%s" : "\"%s\"", text);
    }
}

static void
new_line (GString *out, int depth)
{
  if (depth < 0)
    return;
  g_string_append_c (out, '\n');
  for (int i = 0; i < depth; i++)
    g_string_append (out, "  ");
}

static int
compare_keys (gconstpointer a, gconstpointer b)
{
  return strcmp (a, b);
}

static void write_node (GString *out, JsonNode *node, int depth);

static void
write_object (GString *out, JsonObject *object, int depth)
{
  int inner = depth < 0 ? -1 : depth + 1;
  g_autoptr (GList) keys = g_list_sort (json_object_get_members (object), compare_keys);
  g_string_append_c (out, '{');
  for (GList *key = keys; key; key = key->next)
    {
      new_line (out, inner);
      write_string (out, key->data);
      g_string_append (out, depth < 0 ? ":" : ": ");
      write_node (out, json_object_get_member (object, key->data), inner);
      if (key->next)
        g_string_append_c (out, ',');
    }
  if (keys)
    new_line (out, depth);
  g_string_append_c (out, '}');
}

static void
write_array (GString *out, JsonArray *array, int depth)
{
  int inner = depth < 0 ? -1 : depth + 1;
  guint length = json_array_get_length (array);
  g_string_append_c (out, '[');
  for (guint i = 0; i < length; i++)
    {
      new_line (out, inner);
      write_node (out, json_array_get_element (array, i), inner);
      if (i + 1 < length)
        g_string_append_c (out, ',');
    }
  if (length)
    new_line (out, depth);
  g_string_append_c (out, ']');
}

/* depth -1: everything on one line. */
static void
write_node (GString *out, JsonNode *node, int depth)
{
  switch (json_node_get_node_type (node))
    {
    case JSON_NODE_OBJECT:
      write_object (out, json_node_get_object (node), depth);
      break;
    case JSON_NODE_ARRAY:
      write_array (out, json_node_get_array (node), depth);
      break;
    case JSON_NODE_VALUE:
      write_value (out, node);
      break;
    case JSON_NODE_NULL:
    default:
      g_string_append (out, "null");
      break;
    }
}

char *
assay_json_write (JsonNode *node)
{
  GString *out = g_string_new (NULL);
  write_node (out, node, 0);
  g_string_append_c (out, '\n');
  return g_string_free (out, FALSE);
}

char *
assay_json_write_line (JsonNode *node)
{
  GString *out = g_string_new (NULL);
  write_node (out, node, -1);
  return g_string_free (out, FALSE);
}

gboolean
assay_json_save (JsonNode *node, const char *path, GError **error)
{
  g_autofree char *text = assay_json_write (node);
  return g_file_set_contents_full (
      path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0644, error);
}

static JsonNode *
member_of_kind (JsonObject *object, const char *key, JsonNodeType kind)
{
  JsonNode *node = object ? json_object_get_member (object, key) : NULL;
  return node && json_node_get_node_type (node) == kind ? node : NULL;
}

const char *
assay_json_string (JsonObject *object, const char *key)
{
  JsonNode *node = member_of_kind (object, key, JSON_NODE_VALUE);
  return node && json_node_get_value_type (node) == G_TYPE_STRING ? json_node_get_string (node)
                                                                  : NULL;
}

gint64
assay_json_int (JsonObject *object, const char *key, gint64 otherwise)
{
  JsonNode *node = member_of_kind (object, key, JSON_NODE_VALUE);
  return node && json_node_get_value_type (node) == G_TYPE_INT64 ? json_node_get_int (node)
                                                                 : otherwise;
}

double
assay_json_double (JsonObject *object, const char *key, double otherwise)
{
  JsonNode *node = member_of_kind (object, key, JSON_NODE_VALUE);
  GType type = node ? json_node_get_value_type (node) : G_TYPE_INVALID;
  if (type == G_TYPE_STRING)
    {
      const char *text = json_node_get_string (node);
      if (g_str_equal (text, "NaN"))
        return NAN;
      if (g_str_equal (text, "Infinity"))
        return INFINITY;
      if (g_str_equal (text, "-Infinity"))
        return -INFINITY;
    }
  return type == G_TYPE_INT64 || type == G_TYPE_DOUBLE ? json_node_get_double (node) : otherwise;
}

gboolean
assay_json_bool (JsonObject *object, const char *key, gboolean otherwise)
{
  JsonNode *node = member_of_kind (object, key, JSON_NODE_VALUE);
  return node && json_node_get_value_type (node) == G_TYPE_BOOLEAN ? json_node_get_boolean (node)
                                                                   : otherwise;
}

JsonObject *
assay_json_object (JsonObject *object, const char *key)
{
  JsonNode *node = member_of_kind (object, key, JSON_NODE_OBJECT);
  return node ? json_node_get_object (node) : NULL;
}

JsonArray *
assay_json_array (JsonObject *object, const char *key)
{
  JsonNode *node = member_of_kind (object, key, JSON_NODE_ARRAY);
  return node ? json_node_get_array (node) : NULL;
}
