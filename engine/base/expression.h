/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Integer arithmetic of task files: numbers, axis names, + - * / % and parentheses, ceil_div (a, b),
 * min (a, b), max (a, b); comparisons == != < <= > >= and && || for constraints (1 or 0). Division
 * truncates toward zero as in C. Every step is checked in 64 bits. */

typedef gboolean (*AssayExpressionLookup) (const char *name, gint64 *value, gpointer user_data);

/* FALSE with an error that quotes the expression and the place. */
gboolean assay_expression_evaluate (const char *text, AssayExpressionLookup lookup,
                                    gpointer user_data, gint64 *value, GError **error);

/* A lookup over a GHashTable of char * → gint64 *. */
gboolean assay_expression_lookup_table (const char *name, gint64 *value, gpointer table);

G_END_DECLS
