/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* A Python source as its syntax tree, which engine/python/syntax_tree.py writes: a node is an object
 * with its type under "_", line and column under "l" and "c", and its fields. Everything returned by
 * the functions on nodes is owned by the tree; NULL and 0 stand for "there is none". */
typedef JsonObject AssaySyntax;

typedef struct
{
  char *path;     /* as the user named it */
  JsonNode *tree; /* a Module */
  GHashTable
      *imports; /* local name → what it stands for: "np" → "numpy", "E" → "torch.cuda.Event" */
} AssayPython;

/* Takes the tree; `path` is copied. */
AssayPython *assay_python_new (const char *path, JsonNode *tree);
void assay_python_free (AssayPython *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayPython, assay_python_free)

AssaySyntax *assay_python_module (const AssayPython *self);

gboolean assay_syntax_is (AssaySyntax *node, const char *type);
gint64 assay_syntax_line (AssaySyntax *node);
/* A field that is a node; a list of nodes (and its length); a string. */
AssaySyntax *assay_syntax_get (AssaySyntax *node, const char *field);
JsonArray *assay_syntax_list (AssaySyntax *node, const char *field);
guint assay_syntax_length (AssaySyntax *node, const char *field);
AssaySyntax *assay_syntax_at (AssaySyntax *node, const char *field, guint i);
const char *assay_syntax_text (AssaySyntax *node, const char *field);
/* FALSE unless the node is a number, perhaps with a minus. */
gboolean assay_syntax_number (AssaySyntax *node, double *value);
/* The constant True, False; a text. */
gboolean assay_syntax_is_bool (AssaySyntax *node, gboolean value);
const char *assay_syntax_string (AssaySyntax *node);

/* The dotted name of a Name or Attribute, with imports resolved: "torch.cuda.synchronize"; what is not
 * a name is "()": "().elapsed_time". (transfer full), never NULL. */
char *assay_python_name (const AssayPython *self, AssaySyntax *expression);
/* The name of what a Call calls; "" for another node. */
char *assay_python_callee (const AssayPython *self, AssaySyntax *call);
/* The i-th positional argument; the keyword's value. */
AssaySyntax *assay_syntax_argument (AssaySyntax *call, guint i);
AssaySyntax *assay_syntax_keyword (AssaySyntax *call, const char *name);

/* Calls `visit` for a node and all below it, in the order of the source; where it returns FALSE, what
 * is below that node is left out. */
typedef gboolean (*AssaySyntaxVisit) (AssaySyntax *node, gpointer user_data);
void assay_syntax_walk (AssaySyntax *node, AssaySyntaxVisit visit, gpointer user_data);
/* The same for the nodes below a node of a field alone ("body"). */
void assay_syntax_walk_field (AssaySyntax *node, const char *field, AssaySyntaxVisit visit,
                              gpointer user_data);
/* Whether a Name below is read (or, stored) by this identifier; whether any identifier or attribute
 * below matches. */
gboolean assay_syntax_mentions (AssaySyntax *node, const char *identifier);
gboolean assay_syntax_matches (AssaySyntax *node, const GRegex *identifiers);

G_END_DECLS
