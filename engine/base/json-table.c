/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/json-table.h"

#include "engine/base/error.h"

#include <math.h>
#include <string.h>

#define EXACT_INTEGERS (G_GINT64_CONSTANT (1) << 53)

typedef struct
{
  GPtrArray *warnings;
  GError **error;
} Reading;

static gboolean read_struct (const AssayJsonTable *table, JsonNode *node, gpointer self,
                             const char *path, Reading *reading);
static void clear_struct (const AssayJsonTable *table, gpointer self);

static const char *const KIND_WORDS[] = {
    "a string",
    "true or false",
    "an integer",
    "a non-negative integer",
    "a number",
    "a word",
    "an array of strings",
    "an integer or an expression",
    "an array of integers or expressions",
    "an array of integers",
    "an array of non-negative integers",
    "an array of numbers",
    "an object",
    "an object",
    "an array of objects",
    "an object of named objects",
    "any value",
};

static char *
found_text (JsonNode *node)
{
  if (JSON_NODE_HOLDS_OBJECT (node))
    return g_strdup ("an object");
  if (JSON_NODE_HOLDS_ARRAY (node))
    return g_strdup ("an array");
  char *text = assay_json_write_line (node);
  if (g_utf8_strlen (text, -1) > 60)
    {
      char *cut = g_utf8_substring (text, 0, 57);
      g_free (text);
      text = g_strconcat (cut, "…", NULL);
      g_free (cut);
    }
  return text;
}

static gboolean
wrong_kind (Reading *reading, const char *path, const char *expected, JsonNode *node)
{
  g_autofree char *found = found_text (node);
  g_set_error (reading->error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "%s: expected %s, found %s",
               *path ? path : "top level", expected, found);
  return FALSE;
}

static GType
value_type (JsonNode *node)
{
  return JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;
}

static gboolean
is_string (JsonNode *node)
{
  return value_type (node) == G_TYPE_STRING;
}

static gboolean
to_uint (JsonNode *node, guint64 *value)
{
  if (is_string (node))
    return g_ascii_string_to_unsigned (json_node_get_string (node), 10, 0, G_MAXUINT64, value,
                                       NULL);
  if (value_type (node) != G_TYPE_INT64 || json_node_get_int (node) < 0)
    return FALSE;
  *value = (guint64) json_node_get_int (node);
  return TRUE;
}

static gboolean
to_int (JsonNode *node, gint64 *value)
{
  if (value_type (node) == G_TYPE_INT64)
    *value = json_node_get_int (node);
  else if (is_string (node))
    return g_ascii_string_to_signed (json_node_get_string (node), 10, G_MININT64, G_MAXINT64, value,
                                     NULL);
  return value_type (node) == G_TYPE_INT64;
}

static gboolean
to_double (JsonNode *node, double *value)
{
  GType type = value_type (node);
  if (type == G_TYPE_INT64 || type == G_TYPE_DOUBLE)
    {
      *value = json_node_get_double (node);
      return TRUE;
    }
  if (JSON_NODE_HOLDS_NULL (node))
    {
      *value = NAN;
      return TRUE;
    }
  const char *text = is_string (node) ? json_node_get_string (node) : "";
  if (g_str_equal (text, "NaN"))
    *value = NAN;
  else if (g_str_equal (text, "Infinity"))
    *value = INFINITY;
  else if (g_str_equal (text, "-Infinity"))
    *value = -INFINITY;
  else
    return FALSE;
  return TRUE;
}

static char *
to_expression (JsonNode *node)
{
  if (is_string (node))
    return g_strdup (json_node_get_string (node));
  if (value_type (node) == G_TYPE_INT64)
    return g_strdup_printf ("%" G_GINT64_FORMAT, json_node_get_int (node));
  return NULL;
}

static gboolean
read_enum (const AssayJsonField *field, JsonNode *node, int *value, const char *path,
           Reading *reading)
{
  const char *text = is_string (node) ? json_node_get_string (node) : "";
  for (int i = 0; field->words[i]; i++)
    if (g_str_equal (field->words[i], text))
      {
        *value = i;
        return TRUE;
      }
  g_autofree char *choices = g_strjoinv (", ", (char **) field->words);
  g_autofree char *expected = g_strconcat ("one of ", choices, NULL);
  return wrong_kind (reading, path, expected, node);
}

static gboolean
read_strings (const AssayJsonField *field, JsonNode *node, char ***value, const char *path,
              Reading *reading)
{
  if (!JSON_NODE_HOLDS_ARRAY (node))
    return wrong_kind (reading, path, KIND_WORDS[field->kind], node);
  JsonArray *array = json_node_get_array (node);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      JsonNode *item = json_array_get_element (array, i);
      g_autofree char *text = field->kind == ASSAY_JSON_EXPRS ? to_expression (item)
                              : is_string (item) ? g_strdup (json_node_get_string (item))
                                                 : NULL;
      g_autofree char *inner = g_strdup_printf ("%s[%u]", path, i);
      if (!text)
        return wrong_kind (reading, inner,
                           field->kind == ASSAY_JSON_EXPRS ? KIND_WORDS[ASSAY_JSON_EXPR]
                                                           : KIND_WORDS[ASSAY_JSON_STRING],
                           item);
      g_strv_builder_add (builder, text);
    }
  g_strfreev (*value);
  *value = g_strv_builder_end (builder);
  return TRUE;
}

static gboolean
read_numbers (const AssayJsonField *field, JsonNode *node, GArray *array, const char *path,
              Reading *reading)
{
  if (!JSON_NODE_HOLDS_ARRAY (node))
    return wrong_kind (reading, path, KIND_WORDS[field->kind], node);
  JsonArray *items = json_node_get_array (node);
  for (guint i = 0; i < json_array_get_length (items); i++)
    {
      JsonNode *item = json_array_get_element (items, i);
      union
      {
        gint64 i;
        guint64 u;
        double d;
      } value = {0};
      gboolean good = field->kind == ASSAY_JSON_INTS    ? to_int (item, &value.i)
                      : field->kind == ASSAY_JSON_UINTS ? to_uint (item, &value.u)
                                                        : to_double (item, &value.d);
      g_autofree char *inner = g_strdup_printf ("%s[%u]", path, i);
      if (!good)
        return wrong_kind (reading, inner, "a number of that kind", item);
      g_array_append_val (array, value);
    }
  return TRUE;
}

static gboolean
read_list (const AssayJsonField *field, JsonNode *node, GPtrArray *list, const char *path,
           Reading *reading)
{
  if (!JSON_NODE_HOLDS_ARRAY (node))
    return wrong_kind (reading, path, KIND_WORDS[field->kind], node);
  JsonArray *items = json_node_get_array (node);
  for (guint i = 0; i < json_array_get_length (items); i++)
    {
      g_autofree char *inner = g_strdup_printf ("%s[%u]", path, i);
      gpointer item = assay_json_table_new (field->table);
      g_ptr_array_add (list, item);
      if (!read_struct (field->table, json_array_get_element (items, i), item, inner, reading))
        return FALSE;
    }
  return TRUE;
}

static gboolean
read_map (const AssayJsonField *field, JsonNode *node, GPtrArray *list, const char *path,
          Reading *reading)
{
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return wrong_kind (reading, path, KIND_WORDS[field->kind], node);
  JsonObject *object = json_node_get_object (node);
  g_autoptr (GList) keys = json_object_get_members (object);
  for (GList *key = keys; key; key = key->next)
    {
      g_autofree char *inner = g_strdup_printf ("%s.%s", path, (char *) key->data);
      gpointer item = assay_json_table_new (field->table);
      *(char **) item = g_strdup (key->data);
      g_ptr_array_add (list, item);
      if (!read_struct (field->table, json_object_get_member (object, key->data), item, inner,
                        reading))
        return FALSE;
    }
  return TRUE;
}

static gboolean
read_scalar (const AssayJsonField *field, JsonNode *node, gpointer at, const char *path,
             Reading *reading)
{
  gboolean good = FALSE;
  switch (field->kind)
    {
    case ASSAY_JSON_STRING:
      good = is_string (node);
      if (good)
        g_free (g_steal_pointer ((char **) at)),
            *(char **) at = g_strdup (json_node_get_string (node));
      break;
    case ASSAY_JSON_BOOLEAN:
      good = value_type (node) == G_TYPE_BOOLEAN;
      if (good)
        *(gboolean *) at = json_node_get_boolean (node);
      break;
    case ASSAY_JSON_INT:
      good = to_int (node, at);
      break;
    case ASSAY_JSON_UINT:
      good = to_uint (node, at);
      break;
    case ASSAY_JSON_DOUBLE:
      good = to_double (node, at);
      break;
    case ASSAY_JSON_EXPR:
      g_free (*(char **) at);
      *(char **) at = to_expression (node);
      good = *(char **) at != NULL;
      break;
    default:
      g_assert_not_reached ();
    }
  return good || wrong_kind (reading, path, KIND_WORDS[field->kind], node);
}

/* json_node_copy () shares objects and arrays; a record owns its own. */
static JsonNode *
deep_copy (JsonNode *node)
{
  g_autofree char *text = assay_json_write_line (node);
  g_autoptr (JsonParser) parser = json_parser_new ();
  json_parser_load_from_data (parser, text, -1, NULL);
  return json_parser_steal_root (parser);
}

static gboolean
read_field (const AssayJsonField *field, JsonNode *node, gpointer at, const char *path,
            Reading *reading)
{
  /* null reads as "not given" everywhere; NaN for doubles, a scalar's shape for expressions. */
  if (JSON_NODE_HOLDS_NULL (node) && field->kind != ASSAY_JSON_NODE
      && field->kind != ASSAY_JSON_DOUBLE)
    return !(field->flags & ASSAY_JSON_REQUIRED) || field->kind == ASSAY_JSON_EXPRS
           || wrong_kind (reading, path, KIND_WORDS[field->kind], node);
  switch (field->kind)
    {
    case ASSAY_JSON_ENUM:
      return read_enum (field, node, at, path, reading);
    case ASSAY_JSON_STRV:
    case ASSAY_JSON_EXPRS:
      return read_strings (field, node, at, path, reading);
    case ASSAY_JSON_INTS:
    case ASSAY_JSON_UINTS:
    case ASSAY_JSON_DOUBLES:
      return read_numbers (field, node, *(GArray **) at, path, reading);
    case ASSAY_JSON_STRUCT:
      return read_struct (field->table, node, at, path, reading);
    case ASSAY_JSON_POINTER:
      *(gpointer *) at = assay_json_table_new (field->table);
      return read_struct (field->table, node, *(gpointer *) at, path, reading);
    case ASSAY_JSON_LIST:
      return read_list (field, node, *(GPtrArray **) at, path, reading);
    case ASSAY_JSON_MAP:
      return read_map (field, node, *(GPtrArray **) at, path, reading);
    case ASSAY_JSON_NODE:
      *(JsonNode **) at = deep_copy (node);
      return TRUE;
    default:
      return read_scalar (field, node, at, path, reading);
    }
}

static void
warn_unknown (const AssayJsonTable *table, JsonObject *object, const char *path, Reading *reading)
{
  if (!reading->warnings)
    return;
  g_autoptr (GList) keys = json_object_get_members (object);
  for (GList *key = keys; key; key = key->next)
    {
      const AssayJsonField *field = table->fields;
      while (field->name && !g_str_equal (field->name, key->data))
        field++;
      if (!field->name)
        g_ptr_array_add (reading->warnings, g_strdup_printf ("%s%s%s: unknown key, ignored", path,
                                                             *path ? "." : "", (char *) key->data));
    }
}

static gboolean
read_struct (const AssayJsonTable *table, JsonNode *node, gpointer self, const char *path,
             Reading *reading)
{
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return wrong_kind (reading, path, "an object", node);
  JsonObject *object = json_node_get_object (node);
  for (const AssayJsonField *field = table->fields; field->name; field++)
    {
      JsonNode *member = json_object_get_member (object, field->name);
      g_autofree char *inner = g_strconcat (path, *path ? "." : "", field->name, NULL);
      if (!member && (field->flags & ASSAY_JSON_REQUIRED))
        {
          g_set_error (reading->error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "%s: missing; expected %s",
                       inner, KIND_WORDS[field->kind]);
          return FALSE;
        }
      if (member
          && !read_field (field, member, G_STRUCT_MEMBER_P (self, field->offset), inner, reading))
        return FALSE;
    }
  warn_unknown (table, object, path, reading);
  return TRUE;
}

gpointer
assay_json_table_read (const AssayJsonTable *table, JsonNode *node, const char *path,
                       GPtrArray *warnings, GError **error)
{
  Reading reading = {warnings, error};
  gpointer self = assay_json_table_new (table);
  if (read_struct (table, node, self, path ? path : "", &reading))
    return self;
  assay_json_table_free (table, self);
  return NULL;
}

static JsonNode *
uint_node (guint64 value)
{
  if (value <= EXACT_INTEGERS)
    return json_node_init_int (json_node_alloc (), (gint64) value);
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, value);
  return json_node_init_string (json_node_alloc (), text);
}

static JsonNode *
int_node (gint64 value)
{
  if (value <= EXACT_INTEGERS && value >= -EXACT_INTEGERS)
    return json_node_init_int (json_node_alloc (), value);
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, value);
  return json_node_init_string (json_node_alloc (), text);
}

static JsonNode *
expression_node (const char *text)
{
  gint64 value = 0;
  if (g_ascii_string_to_signed (text, 10, G_MININT64, G_MAXINT64, &value, NULL))
    return json_node_init_int (json_node_alloc (), value);
  return json_node_init_string (json_node_alloc (), text);
}

static JsonNode *
strings_node (char **strings, gboolean expressions)
{
  JsonArray *array = json_array_new ();
  for (char **s = strings; s && *s; s++)
    json_array_add_element (array, expressions ? expression_node (*s)
                                               : json_node_init_string (json_node_alloc (), *s));
  JsonNode *node = json_node_init_array (json_node_alloc (), array);
  json_array_unref (array);
  return node;
}

static JsonNode *
numbers_node (const GArray *numbers, AssayJsonKind kind)
{
  JsonArray *array = json_array_new ();
  for (guint i = 0; numbers && i < numbers->len; i++)
    json_array_add_element (
        array,
        kind == ASSAY_JSON_INTS ? int_node (g_array_index (numbers, gint64, i))
        : kind == ASSAY_JSON_UINTS
            ? uint_node (g_array_index (numbers, guint64, i))
            : json_node_init_double (json_node_alloc (), g_array_index (numbers, double, i)));
  JsonNode *node = json_node_init_array (json_node_alloc (), array);
  json_array_unref (array);
  return node;
}

static JsonNode *
list_node (const AssayJsonField *field, const GPtrArray *list)
{
  JsonArray *array = json_array_new ();
  for (guint i = 0; list && i < list->len; i++)
    json_array_add_element (array,
                            assay_json_table_write (field->table, g_ptr_array_index (list, i)));
  JsonNode *node = json_node_init_array (json_node_alloc (), array);
  json_array_unref (array);
  return node;
}

static JsonNode *
map_node (const AssayJsonField *field, const GPtrArray *list)
{
  JsonObject *object = json_object_new ();
  for (guint i = 0; list && i < list->len; i++)
    {
      gpointer item = g_ptr_array_index (list, i);
      json_object_set_member (object, *(char **) item, assay_json_table_write (field->table, item));
    }
  JsonNode *node = json_node_init_object (json_node_alloc (), object);
  json_object_unref (object);
  return node;
}

static JsonNode *
write_field (const AssayJsonField *field, gconstpointer at)
{
  const char *text = NULL;
  gpointer pointer = NULL;
  switch (field->kind)
    {
    case ASSAY_JSON_STRING:
      text = *(char *const *) at;
      return text ? json_node_init_string (json_node_alloc (), text) : NULL;
    case ASSAY_JSON_BOOLEAN:
      return json_node_init_boolean (json_node_alloc (), *(const gboolean *) at);
    case ASSAY_JSON_INT:
      return int_node (*(const gint64 *) at);
    case ASSAY_JSON_UINT:
      return uint_node (*(const guint64 *) at);
    case ASSAY_JSON_DOUBLE:
      return json_node_init_double (json_node_alloc (), *(const double *) at);
    case ASSAY_JSON_ENUM:
      return json_node_init_string (json_node_alloc (), field->words[*(const int *) at]);
    case ASSAY_JSON_EXPR:
      text = *(char *const *) at;
      return text ? expression_node (text) : NULL;
    case ASSAY_JSON_STRV:
    case ASSAY_JSON_EXPRS:
      pointer = *(char **const *) at;
      return pointer ? strings_node (pointer, field->kind == ASSAY_JSON_EXPRS) : NULL;
    case ASSAY_JSON_INTS:
    case ASSAY_JSON_UINTS:
    case ASSAY_JSON_DOUBLES:
      return numbers_node (*(GArray *const *) at, field->kind);
    case ASSAY_JSON_STRUCT:
      return assay_json_table_write (field->table, at);
    case ASSAY_JSON_POINTER:
      pointer = *(gpointer const *) at;
      return pointer ? assay_json_table_write (field->table, pointer) : NULL;
    case ASSAY_JSON_LIST:
      return list_node (field, *(GPtrArray *const *) at);
    case ASSAY_JSON_MAP:
      return map_node (field, *(GPtrArray *const *) at);
    case ASSAY_JSON_NODE:
    default:
      pointer = *(JsonNode *const *) at;
      return pointer ? deep_copy (pointer) : NULL;
    }
}

JsonNode *
assay_json_table_write (const AssayJsonTable *table, gconstpointer self)
{
  JsonObject *object = json_object_new ();
  for (const AssayJsonField *field = table->fields; field->name; field++)
    {
      JsonNode *node = write_field (field, G_STRUCT_MEMBER_P (self, field->offset));
      gboolean nan =
          field->kind == ASSAY_JSON_DOUBLE && node && isnan (json_node_get_double (node));
      if (node && !nan)
        json_object_set_member (object, field->name, node);
      else
        {
          g_clear_pointer (&node, json_node_unref);
          if (field->flags & ASSAY_JSON_KEEP_NULL)
            json_object_set_null_member (object, field->name);
        }
    }
  JsonNode *node = json_node_init_object (json_node_alloc (), object);
  json_object_unref (object);
  return node;
}

/* A GPtrArray's free function has no user data, so elements are freed by hand in clear_field. */
static void
initialise_struct (const AssayJsonTable *table, gpointer self)
{
  for (const AssayJsonField *field = table->fields; field->name; field++)
    {
      gpointer at = G_STRUCT_MEMBER_P (self, field->offset);
      if (field->kind == ASSAY_JSON_LIST || field->kind == ASSAY_JSON_MAP)
        *(GPtrArray **) at = g_ptr_array_new ();
      else if (field->kind == ASSAY_JSON_INTS || field->kind == ASSAY_JSON_UINTS
               || field->kind == ASSAY_JSON_DOUBLES)
        *(GArray **) at = g_array_new (FALSE, FALSE, sizeof (gint64));
      else if (field->kind == ASSAY_JSON_STRUCT)
        initialise_struct (field->table, at);
      else if (field->kind == ASSAY_JSON_DOUBLE)
        *(double *) at = NAN;
    }
  if (table->initialise)
    table->initialise (self);
}

gpointer
assay_json_table_new (const AssayJsonTable *table)
{
  gpointer self = g_malloc0 (table->size);
  initialise_struct (table, self);
  return self;
}

static void
clear_list (const AssayJsonField *field, GPtrArray *list)
{
  for (guint i = 0; list && i < list->len; i++)
    {
      gpointer item = g_ptr_array_index (list, i);
      if (field->kind == ASSAY_JSON_MAP)
        g_free (*(char **) item);
      assay_json_table_free (field->table, item);
    }
  g_clear_pointer (&list, g_ptr_array_unref);
}

static void
clear_struct (const AssayJsonTable *table, gpointer self)
{
  for (const AssayJsonField *field = table->fields; field->name; field++)
    {
      gpointer at = G_STRUCT_MEMBER_P (self, field->offset);
      switch (field->kind)
        {
        case ASSAY_JSON_STRING:
        case ASSAY_JSON_EXPR:
          g_free (*(char **) at);
          break;
        case ASSAY_JSON_STRV:
        case ASSAY_JSON_EXPRS:
          g_strfreev (*(char ***) at);
          break;
        case ASSAY_JSON_INTS:
        case ASSAY_JSON_UINTS:
        case ASSAY_JSON_DOUBLES:
          g_clear_pointer ((GArray **) at, g_array_unref);
          break;
        case ASSAY_JSON_STRUCT:
          clear_struct (field->table, at);
          break;
        case ASSAY_JSON_POINTER:
          assay_json_table_free (field->table, *(gpointer *) at);
          break;
        case ASSAY_JSON_LIST:
        case ASSAY_JSON_MAP:
          clear_list (field, *(GPtrArray **) at);
          break;
        case ASSAY_JSON_NODE:
          g_clear_pointer ((JsonNode **) at, json_node_unref);
          break;
        default:
          break;
        }
    }
}

void
assay_json_table_free (const AssayJsonTable *table, gpointer self)
{
  if (!self)
    return;
  clear_struct (table, self);
  g_free (self);
}

gpointer
assay_json_table_copy (const AssayJsonTable *table, gconstpointer self)
{
  g_autoptr (JsonNode) node = assay_json_table_write (table, self);
  return assay_json_table_read (table, node, "", NULL, NULL);
}
