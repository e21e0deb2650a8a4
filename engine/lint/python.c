/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/lint/python.h"

#include <string.h>

/* ---- nodes ---- */

static JsonNode *
member (AssaySyntax *node, const char *field)
{
  return node ? json_object_get_member (node, field) : NULL;
}

static AssaySyntax *
as_node (JsonNode *value)
{
  return value && JSON_NODE_HOLDS_OBJECT (value) ? json_node_get_object (value) : NULL;
}

const char *
assay_syntax_text (AssaySyntax *node, const char *field)
{
  JsonNode *value = member (node, field);
  return value && JSON_NODE_HOLDS_VALUE (value) && json_node_get_value_type (value) == G_TYPE_STRING
             ? json_node_get_string (value)
             : NULL;
}

gboolean
assay_syntax_is (AssaySyntax *node, const char *type)
{
  return g_strcmp0 (assay_syntax_text (node, "_"), type) == 0;
}

gint64
assay_syntax_line (AssaySyntax *node)
{
  JsonNode *line = member (node, "l");
  return line && JSON_NODE_HOLDS_VALUE (line) ? json_node_get_int (line) : 0;
}

AssaySyntax *
assay_syntax_get (AssaySyntax *node, const char *field)
{
  return as_node (member (node, field));
}

JsonArray *
assay_syntax_list (AssaySyntax *node, const char *field)
{
  JsonNode *value = member (node, field);
  return value && JSON_NODE_HOLDS_ARRAY (value) ? json_node_get_array (value) : NULL;
}

guint
assay_syntax_length (AssaySyntax *node, const char *field)
{
  JsonArray *list = assay_syntax_list (node, field);
  return list ? json_array_get_length (list) : 0;
}

AssaySyntax *
assay_syntax_at (AssaySyntax *node, const char *field, guint i)
{
  return i < assay_syntax_length (node, field)
             ? as_node (json_array_get_element (assay_syntax_list (node, field), i))
             : NULL;
}

static JsonNode *
constant (AssaySyntax *node)
{
  JsonNode *value = assay_syntax_is (node, "Constant") ? member (node, "v") : NULL;
  return value && JSON_NODE_HOLDS_VALUE (value) ? value : NULL;
}

gboolean
assay_syntax_number (AssaySyntax *node, double *value)
{
  if (assay_syntax_is (node, "UnaryOp") && assay_syntax_is (assay_syntax_get (node, "op"), "USub"))
    {
      gboolean is = assay_syntax_number (assay_syntax_get (node, "operand"), value);
      *value = is ? -*value : 0;
      return is;
    }
  JsonNode *number = constant (node);
  GType type = number ? json_node_get_value_type (number) : G_TYPE_INVALID;
  if (type != G_TYPE_INT64 && type != G_TYPE_DOUBLE)
    return FALSE;
  *value = json_node_get_double (number);
  return TRUE;
}

gboolean
assay_syntax_is_bool (AssaySyntax *node, gboolean value)
{
  JsonNode *is = constant (node);
  return is && json_node_get_value_type (is) == G_TYPE_BOOLEAN
         && !json_node_get_boolean (is) == !value;
}

const char *
assay_syntax_string (AssaySyntax *node)
{
  return assay_syntax_is (node, "Constant") ? assay_syntax_text (node, "v") : NULL;
}

AssaySyntax *
assay_syntax_argument (AssaySyntax *call, guint i)
{
  return assay_syntax_at (call, "args", i);
}

AssaySyntax *
assay_syntax_keyword (AssaySyntax *call, const char *name)
{
  for (guint i = 0; i < assay_syntax_length (call, "keywords"); i++)
    {
      AssaySyntax *keyword = assay_syntax_at (call, "keywords", i);
      if (g_strcmp0 (assay_syntax_text (keyword, "arg"), name) == 0)
        return assay_syntax_get (keyword, "value");
    }
  return NULL;
}

/* ---- walking ---- */

static void
walk_value (JsonNode *value, AssaySyntaxVisit visit, gpointer user_data)
{
  if (JSON_NODE_HOLDS_OBJECT (value))
    assay_syntax_walk (json_node_get_object (value), visit, user_data);
  for (guint i = 0;
       JSON_NODE_HOLDS_ARRAY (value) && i < json_array_get_length (json_node_get_array (value));
       i++)
    walk_value (json_array_get_element (json_node_get_array (value), i), visit, user_data);
}

void
assay_syntax_walk (AssaySyntax *node, AssaySyntaxVisit visit, gpointer user_data)
{
  if (!visit (node, user_data))
    return;
  JsonObjectIter iter;
  const char *field;
  JsonNode *value;
  json_object_iter_init_ordered (&iter, node);
  while (json_object_iter_next_ordered (&iter, &field, &value))
    walk_value (value, visit, user_data);
}

void
assay_syntax_walk_field (AssaySyntax *node, const char *field, AssaySyntaxVisit visit,
                         gpointer user_data)
{
  JsonNode *value = member (node, field);
  if (value)
    walk_value (value, visit, user_data);
}

typedef struct
{
  const char *identifier;
  const GRegex *identifiers;
  gboolean found;
} Search;

static gboolean
search (AssaySyntax *node, gpointer user_data)
{
  Search *self = user_data;
  static const char *const FIELDS[] = {"id", "attr", "arg", "name"};
  for (gsize i = 0; !self->found && i < G_N_ELEMENTS (FIELDS); i++)
    {
      const char *text = assay_syntax_text (node, FIELDS[i]);
      self->found = text
                    && (self->identifier ? i == 0 && g_str_equal (text, self->identifier)
                                         : g_regex_match (self->identifiers, text, 0, NULL));
    }
  return !self->found;
}

gboolean
assay_syntax_mentions (AssaySyntax *node, const char *identifier)
{
  Search self = {.identifier = identifier};
  if (node)
    assay_syntax_walk (node, search, &self);
  return self.found;
}

gboolean
assay_syntax_matches (AssaySyntax *node, const GRegex *identifiers)
{
  Search self = {.identifiers = identifiers};
  if (node)
    assay_syntax_walk (node, search, &self);
  return self.found;
}

/* ---- modules ---- */

static void
add_import (AssayPython *self, const char *local, char *stands_for)
{
  g_hash_table_replace (self->imports, g_strdup (local), stands_for);
}

static gboolean
collect_imports (AssaySyntax *node, gpointer user_data)
{
  AssayPython *self = user_data;
  gboolean from = assay_syntax_is (node, "ImportFrom");
  const char *module = from ? assay_syntax_text (node, "module") : NULL;
  for (guint i = 0;
       (from || assay_syntax_is (node, "Import")) && i < assay_syntax_length (node, "names"); i++)
    {
      AssaySyntax *alias = assay_syntax_at (node, "names", i);
      const char *name = assay_syntax_text (alias, "name");
      const char *as = assay_syntax_text (alias, "asname");
      if (from)
        add_import (self, as ? as : name, g_strconcat (module ? module : "", ".", name, NULL));
      else if (as)
        add_import (self, as, g_strdup (name));
    }
  return TRUE;
}

AssayPython *
assay_python_new (const char *path, JsonNode *tree)
{
  AssayPython *self = g_new0 (AssayPython, 1);
  self->path = g_strdup (path);
  self->tree = tree;
  self->imports = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  assay_syntax_walk (assay_python_module (self), collect_imports, self);
  return self;
}

void
assay_python_free (AssayPython *self)
{
  g_free (self->path);
  json_node_unref (self->tree);
  g_hash_table_unref (self->imports);
  g_free (self);
}

AssaySyntax *
assay_python_module (const AssayPython *self)
{
  return json_node_get_object (self->tree);
}

char *
assay_python_name (const AssayPython *self, AssaySyntax *expression)
{
  if (assay_syntax_is (expression, "Attribute"))
    {
      g_autofree char *of = assay_python_name (self, assay_syntax_get (expression, "value"));
      return g_strconcat (of, ".", assay_syntax_text (expression, "attr"), NULL);
    }
  if (!assay_syntax_is (expression, "Name"))
    return g_strdup ("()");
  const char *id = assay_syntax_text (expression, "id");
  const char *stands_for = g_hash_table_lookup (self->imports, id);
  return g_strdup (stands_for ? stands_for : id);
}

char *
assay_python_callee (const AssayPython *self, AssaySyntax *call)
{
  return assay_syntax_is (call, "Call") ? assay_python_name (self, assay_syntax_get (call, "func"))
                                        : g_strdup ("");
}
