/* SPDX-License-Identifier: Apache-2.0 */
/* The windows beside the workbench, with the real engine: this computer, every architecture. */
#include "config.h"

#include "app/computer-window.h"
#include "app/matrix-window.h"
#include "tests/ui/fixture.h"

#include <string.h>

static gboolean
can_run (gpointer data)
{
  AssayUi *ui = data;

  return g_action_group_get_action_enabled (G_ACTION_GROUP (ui->window), "run")
         && assay_context_get_draft (assay_window_get_context (ui->window)) != NULL;
}

static AssayUi *
open_with_engine (const char *name)
{
  g_autofree char *engine = g_build_filename (ASSAY_BUILD_DIR, "engine", "assay-engine", NULL);
  g_autofree char *tasks = g_build_filename (ASSAY_SOURCE_DIR, "data", "tasks", NULL);
  AssayUi *ui = assay_ui_start (tasks, engine);
  GListModel *all = assay_session_get_tasks (assay_application_get_session (ui->application));

  for (guint i = 0; i < g_list_model_get_n_items (all); i++)
    {
      g_autoptr (AssayTaskItem) item = g_list_model_get_item (all, i);

      if (g_str_has_suffix (assay_task_item_get_folder (item), name))
        assay_window_open_task (ui->window, item);
    }
  assay_ui_wait (can_run, ui, "task, review and engine");
  return ui;
}

/* Where a folder is named, the windows are kept as pictures. */
static void
keep (GtkWidget *window, const char *name)
{
  const char *folder = g_getenv ("ASSAY_SHOTS");
  g_autofree char *path = folder != NULL ? g_build_filename (folder, name, NULL) : NULL;

  if (path != NULL)
    g_assert_true (assay_ui_shoot_widget (window, path));
}

static gboolean
computer_examined (gpointer data)
{
  GtkWidget *window = assay_ui_window (ASSAY_TYPE_COMPUTER_WINDOW);

  return window != NULL && !assay_computer_window_is_busy (ASSAY_COMPUTER_WINDOW (window));
}

static gboolean
text_copied (gpointer data)
{
  char **text = data;

  return *text != NULL;
}

static void
clipboard_read (GObject *source, GAsyncResult *result, gpointer data)
{
  *(char **) data = gdk_clipboard_read_text_finish (GDK_CLIPBOARD (source), result, NULL);
}

static void
test_this_computer (void)
{
  g_autoptr (AssayUi) ui = open_with_engine ("row_softmax");
  g_autofree char *copied = NULL;
  GtkWidget *window, *copy;

  assay_ui_activate (ui, "win.computer", NULL);
  assay_ui_wait (computer_examined, ui, "the doctor");
  assay_ui_settle (ui);
  window = assay_ui_window (ASSAY_TYPE_COMPUTER_WINDOW);
  keep (window, "computer.png");
  g_assert_nonnull (assay_ui_find_text (window, "virtual GPU"));
  g_assert_nonnull (assay_ui_find_text (window, "CUDA compiler"));
  copy = gtk_widget_get_ancestor (assay_ui_find_text (window, "Copy as text"), GTK_TYPE_BUTTON);
  g_signal_emit_by_name (copy, "clicked");
  gdk_clipboard_read_text_async (gtk_widget_get_clipboard (window), NULL, clipboard_read, &copied);
  assay_ui_wait (text_copied, &copied, "the clipboard");
  g_assert_nonnull (strstr (copied, "works   virtual GPU"));
  gtk_window_destroy (GTK_WINDOW (window));
}

static gboolean
matrix_made (gpointer data)
{
  GtkWidget *window = assay_ui_window (ASSAY_TYPE_MATRIX_WINDOW);

  return window != NULL && !assay_matrix_window_is_busy (ASSAY_MATRIX_WINDOW (window));
}

static void
test_every_architecture (void)
{
  g_autoptr (AssayUi) ui = open_with_engine ("tiled_sgemm");
  GtkWidget *window, *cell;

  assay_ui_activate (ui, "win.matrix", NULL);
  assay_ui_wait (matrix_made, ui, "the matrix");
  assay_ui_settle (ui);
  window = assay_ui_window (ASSAY_TYPE_MATRIX_WINDOW);
  g_assert_nonnull (assay_ui_find_text (window, "sm_75"));
  g_assert_nonnull (assay_ui_find_text (window, "sm_120"));
  g_assert_nonnull (assay_ui_find_text (window, "100 % by warps"));
  cell = gtk_widget_get_ancestor (assay_ui_find_text (window, "100 % by warps"), GTK_TYPE_BUTTON);
  g_signal_emit_by_name (cell, "clicked");
  assay_ui_settle (ui);
  g_assert_nonnull (assay_ui_find_text (window, "of its warps, limited by warps"));
  keep (window, "matrix.png");
  gtk_window_destroy (GTK_WINDOW (window));
}

/* An engine that is not there is said in the window. */
static void
test_without_an_engine (void)
{
  g_autoptr (AssayUi) ui = assay_ui_start (NULL, NULL);
  GtkWidget *window;

  assay_ui_activate (ui, "win.computer", NULL);
  assay_ui_wait (computer_examined, ui, "the answer");
  window = assay_ui_window (ASSAY_TYPE_COMPUTER_WINDOW);
  g_assert_nonnull (assay_ui_find_text (window, "the engine does not run"));
  gtk_window_destroy (GTK_WINDOW (window));
}

int
main (int argc, char **argv)
{
  assay_ui_init (&argc, &argv);
  g_test_add_func ("/windows/computer", test_this_computer);
  g_test_add_func ("/windows/matrix", test_every_architecture);
  g_test_add_func ("/windows/no-engine", test_without_an_engine);
  return g_test_run ();
}
