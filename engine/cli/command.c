/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cli/command.h"

#include "engine/base/error.h"
#include "engine/base/json.h"

#include <errno.h>
#include <glib-unix.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

gboolean
assay_command_parse (GOptionContext *context, int *argc, char ***argv)
{
  g_autoptr (GError) error = NULL;
  const char *name = (*argv)[0];
  g_option_context_set_help_enabled (context, TRUE);
  if (g_option_context_parse (context, argc, argv, &error))
    return TRUE;
  g_printerr ("assay-engine %s: %s\nTry: assay-engine %s --help\n", name, error->message, name);
  return FALSE;
}

char *
assay_command_plain (const char *text, glong most)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *out = g_string_new (NULL);
  for (const char *at = valid; *at && most > 0; at = g_utf8_next_char (at), most--)
    {
      gunichar c = g_utf8_get_char (at);
      g_string_append_unichar (out, g_unichar_iscntrl (c) ? 0xfffd : c);
      if (most == 1 && *g_utf8_next_char (at))
        g_string_append (out, "…");
    }
  return g_string_free (out, FALSE);
}

static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};

static gboolean
on_signal (gpointer cancellable)
{
  g_cancellable_cancel (cancellable);
  return G_SOURCE_REMOVE;
}

/* Commands block their own thread, so signals are waited for on another. */
static gpointer
watch_signals (gpointer cancellable)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  for (gsize i = 0; i < G_N_ELEMENTS (SIGNALS); i++)
    {
      g_autoptr (GSource) source = g_unix_signal_source_new (SIGNALS[i]);
      g_source_set_callback (source, on_signal, cancellable, NULL);
      g_source_attach (source, context);
    }
  for (;;)
    g_main_context_iteration (context, TRUE);
  return NULL;
}

GCancellable *
assay_command_interruptible (void)
{
  static GCancellable *cancellable;
  if (!cancellable)
    {
      cancellable = g_cancellable_new ();
      g_thread_unref (g_thread_new ("signals", watch_signals, cancellable));
    }
  return cancellable;
}

int
assay_command_fail (const char *command, const GError *error)
{
  g_printerr ("assay-engine %s: %s\n", command, error->message);
  return ASSAY_EXIT_IMPOSSIBLE;
}

gboolean
assay_command_write_json (JsonNode *node, const char *target, GError **error)
{
  gboolean is_stdout = g_str_equal (target, "-");
  /* A device or a pipe is written to, never replaced by a file. */
  if (!is_stdout
      && (!g_file_test (target, G_FILE_TEST_EXISTS)
          || g_file_test (target, G_FILE_TEST_IS_REGULAR | G_FILE_TEST_IS_DIR)))
    return assay_json_save (node, target, error);
  g_autofree char *text = assay_json_write (node);
  FILE *file = is_stdout ? stdout : fopen (target, "w");
  gboolean done = file && fputs (text, file) >= 0 && fflush (file) == 0;
  if (!done)
    g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "cannot write %s: %s",
                 is_stdout ? "stdout" : target, g_strerror (errno));
  if (file && !is_stdout)
    fclose (file);
  return done;
}

struct _AssayTextTable
{
  guint columns;
  GPtrArray *cells; /* char *, titles first */
};

AssayTextTable *
assay_text_table_new (const char *first, ...)
{
  AssayTextTable *table = g_new0 (AssayTextTable, 1);
  table->cells = g_ptr_array_new_with_free_func (g_free);
  va_list titles;
  va_start (titles, first);
  for (const char *title = first; title; title = va_arg (titles, const char *))
    g_ptr_array_add (table->cells, g_strdup (title));
  va_end (titles);
  table->columns = table->cells->len;
  return table;
}

void
assay_text_table_free (AssayTextTable *table)
{
  g_ptr_array_unref (table->cells);
  g_free (table);
}

void
assay_text_table_add (AssayTextTable *table, const char *first, ...)
{
  va_list cells;
  va_start (cells, first);
  const char *cell = first;
  for (guint i = 0; i < table->columns; i++)
    {
      g_ptr_array_add (table->cells, assay_command_plain (cell ? cell : "–", 1000));
      if (i + 1 < table->columns)
        cell = va_arg (cells, const char *);
    }
  va_end (cells);
}

static const char *
cell_text (const AssayTextTable *table, guint index)
{
  const char *text = g_ptr_array_index (table->cells, index);
  return index < table->columns && text[0] == '>' ? text + 1 : text;
}

static void
print_cell (const char *text, gsize width, gboolean right, gboolean last)
{
  int blanks = (int) (width - (gsize) g_utf8_strlen (text, -1));
  if (right)
    printf ("%*s%s", blanks, "", text);
  else
    printf ("%s%*s", text, last ? 0 : blanks, "");
  fputs (last ? "\n" : "  ", stdout);
}

void
assay_text_table_print (const AssayTextTable *table, const char *indent)
{
  guint rows = table->cells->len / table->columns;
  g_autofree gsize *widths = g_new0 (gsize, table->columns);
  for (guint i = 0; i < table->cells->len; i++)
    {
      gsize *width = &widths[i % table->columns];
      *width = MAX (*width, (gsize) g_utf8_strlen (cell_text (table, i), -1));
    }
  for (guint row = 0; row < rows && rows > 1; row++)
    {
      fputs (indent, stdout);
      for (guint column = 0; column < table->columns; column++)
        {
          const char *title = g_ptr_array_index (table->cells, column);
          print_cell (cell_text (table, row * table->columns + column), widths[column],
                      title[0] == '>', column + 1 == table->columns);
        }
    }
}
