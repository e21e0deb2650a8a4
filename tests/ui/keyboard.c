/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/ui/keyboard.h"

#include <gdk/x11/gdkx.h>

typedef struct
{
  gboolean done;
  GError *error;
} Press;

gboolean
assay_ui_has_keyboard (void)
{
  g_autofree char *tool = g_find_program_in_path ("xdotool");

  if (tool == NULL)
    g_test_skip ("xdotool is not installed");
  return tool != NULL;
}

static void
pressed (GObject *source, GAsyncResult *result, gpointer data)
{
  Press *press = data;

  g_subprocess_wait_check_finish (G_SUBPROCESS (source), result, &press->error);
  press->done = TRUE;
}

static gboolean
is_done (gpointer data)
{
  return ((Press *) data)->done;
}

void
assay_ui_xdotool (AssayUi *ui, const char *line, const char *last)
{
  Press press = {FALSE, NULL};
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) words = g_strsplit (line, " ", -1), argv = NULL;
  g_autoptr (GSubprocess) process = NULL;

  g_strv_builder_add (builder, "xdotool");
  g_strv_builder_addv (builder, (const char **) words);
  if (last != NULL)
    g_strv_builder_add (builder, last);
  argv = g_strv_builder_end (builder);
  process = g_subprocess_newv ((const char *const *) argv, G_SUBPROCESS_FLAGS_NONE, &press.error);
  g_assert_no_error (press.error);
  g_subprocess_wait_check_async (process, NULL, pressed, &press);
  assay_ui_wait (is_done, &press, "xdotool");
  g_assert_no_error (press.error);
  assay_ui_settle (ui);
}

void
assay_ui_key (AssayUi *ui, const char *keys)
{
  assay_ui_xdotool (ui, "key", keys);
}

void
assay_ui_type (AssayUi *ui, const char *text)
{
  assay_ui_xdotool (ui, "type", text);
}

gulong
assay_ui_xid (GtkWindow *window)
{
  return gdk_x11_surface_get_xid (gtk_native_get_surface (GTK_NATIVE (window)));
}

static gboolean
has_focus (gpointer window)
{
  return gtk_window_is_active (window);
}

void
assay_ui_focus (AssayUi *ui, GtkWindow *window)
{
  g_autofree char *id = g_strdup_printf ("%lu", assay_ui_xid (window));

  assay_ui_xdotool (ui, "windowfocus", id);
  assay_ui_wait (has_focus, window, "the focus");
}
