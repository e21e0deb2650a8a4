/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/window-private.h"

#include "app/computer-window.h"
#include "app/matrix-window.h"
#include "app/shortcuts.h"

void
assay_window_enable (AssayWindow *self, const char *action, gboolean enabled)
{
  GAction *found = g_action_map_lookup_action (G_ACTION_MAP (self), action);

  g_return_if_fail (G_IS_SIMPLE_ACTION (found));
  g_simple_action_set_enabled (G_SIMPLE_ACTION (found), enabled);
}

void
assay_window_show_finding (AssayWindow *self, AssayFindingItem *item)
{
  const AssayFinding *finding = assay_finding_item_get (item);
  const char *page = assay_finding_page (finding);

  if (g_str_equal (page, "source")
      || (finding->where.line > 0 && finding->where.file != NULL
          && g_str_equal (assay_window_get_page (self), "source")))
    {
      assay_window_show_page (self, "source");
      assay_source_page_open (self->source, finding->where.file, (int) finding->where.line);
      return;
    }
  if (g_str_equal (page, "numerics") && finding->where.workload != NULL)
    assay_numerics_page_choose (self->numerics, finding->where.workload, finding->where.output);
  assay_window_show_page (self, page);
}

/* --- run ------------------------------------------------------------------------------------- */

static void
run (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  AssayWindow *self = data;

  assay_window_run_candidate (self, assay_context_get_candidate (self->context), FALSE);
}

static void
run_unsandboxed (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  AssayWindow *self = data;

  assay_window_run_candidate (self, assay_context_get_candidate (self->context), TRUE);
}

static void
run_candidate (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  assay_window_run_candidate (data, g_variant_get_string (parameter, NULL), FALSE);
}

static void
run_all (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  assay_window_run_everything (data);
}

static void
stop (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  assay_window_stop_run (data);
}

static void
restart_engine (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  assay_engine_client_start (assay_session_get_engine (ASSAY_WINDOW (data)->session));
}

/* --- look ------------------------------------------------------------------------------------ */

static void
page (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  assay_window_show_page (data, g_variant_get_string (parameter, NULL));
}

static void
task_step (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  assay_queue_pane_step (ASSAY_WINDOW (data)->queue, g_variant_get_int32 (parameter));
}

static void
finding_step (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  AssayWindow *self = data;
  AssayFindingItem *item;

  assay_findings_bar_step (self->findings, g_variant_get_int32 (parameter));
  item = assay_findings_bar_get_selected (self->findings);
  if (item != NULL)
    assay_review_pane_show_rule (self->review, assay_finding_item_get (item)->rule);
}

static void
open_source (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  AssayWindow *self = data;
  const char *path;
  int line;

  g_variant_get (parameter, "(&si)", &path, &line);
  assay_window_show_page (self, "source");
  assay_source_page_open (self->source, path, line);
}

static void
show_finding (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  assay_findings_bar_select (ASSAY_WINDOW (data)->findings, g_variant_get_string (parameter, NULL));
}

static void
palette (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  AssayWindow *self = data;

  if (!gtk_widget_get_visible (GTK_WIDGET (self->palette)))
    g_set_weak_pointer (&self->focus_before, gtk_window_get_focus (GTK_WINDOW (self)));
  gtk_widget_set_visible (GTK_WIDGET (self->palette), TRUE);
  assay_palette_open (self->palette);
}

static void
filter (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  AssayWindow *self = data;

  g_object_set (self->panes, "show-start", TRUE, NULL);
  assay_queue_pane_focus_filter (self->queue);
}

static void
shortcuts (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GtkWidget *window = assay_shortcuts_window_new ();

  gtk_window_set_transient_for (GTK_WINDOW (window), data);
  gtk_window_present (GTK_WINDOW (window));
  g_object_unref (window);
}

static void
computer (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  AssayWindow *self = data;
  GtkWidget *window = assay_computer_window_new (assay_session_get_engine (self->session));

  gtk_window_set_transient_for (GTK_WINDOW (window), GTK_WINDOW (self));
  gtk_window_present (GTK_WINDOW (window));
}

static void
matrix (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  AssayWindow *self = data;
  AssayTaskItem *task = assay_context_get_task_item (self->context);
  GtkWidget *window;

  if (task == NULL)
    return;
  window = assay_matrix_window_new (assay_session_get_engine (self->session), task);
  gtk_window_set_transient_for (GTK_WINDOW (window), GTK_WINDOW (self));
  gtk_window_present (GTK_WINDOW (window));
}

static void
folder_chosen (GtkNativeDialog *dialog, int response, AssayWindow *self)
{
  g_autoptr (GFile) file = NULL;
  g_autofree char *path = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    {
      file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
      path = file != NULL ? g_file_get_path (file) : NULL;
    }
  if (path != NULL)
    g_action_group_activate_action (G_ACTION_GROUP (self), "open-path",
                                    g_variant_new_string (path));
  g_object_unref (dialog);
}

static void
open_folder (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new (
      "Open a task folder", data, GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, "Open", "Cancel");

  g_signal_connect_object (dialog, "response", G_CALLBACK (folder_chosen), data, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static void
open_path (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  AssayWindow *self = data;
  const char *path = g_variant_get_string (parameter, NULL);
  GListModel *tasks = assay_session_get_tasks (self->session);
  guint before = g_list_model_get_n_items (tasks);

  if (!assay_session_add_tasks_below (self->session, path))
    {
      g_autofree char *text = g_strdup_printf (
          "%s holds no task: neither it nor a folder in it has a task.json.", path);

      assay_window_notify (self, ASSAY_NOTICE_ERROR, "open", text, NULL);
      return;
    }
  if (g_list_model_get_n_items (tasks) > before)
    {
      g_autoptr (AssayTaskItem) item = g_list_model_get_item (tasks, before);

      assay_window_open_task (self, item);
    }
  else
    assay_window_open_task (self, assay_session_add_task (self->session, path));
}

static const GActionEntry entries[] = {
    {.name = "run", .activate = run},
    {.name = "run-unsandboxed", .activate = run_unsandboxed},
    {.name = "run-candidate", .activate = run_candidate, .parameter_type = "s"},
    {.name = "run-all", .activate = run_all},
    {.name = "stop", .activate = stop},
    {.name = "restart-engine", .activate = restart_engine},
    {.name = "page", .activate = page, .parameter_type = "s", .state = "'overview'"},
    {.name = "task-step", .activate = task_step, .parameter_type = "i"},
    {.name = "finding-step", .activate = finding_step, .parameter_type = "i"},
    {.name = "open-source", .activate = open_source, .parameter_type = "(si)"},
    {.name = "show-finding", .activate = show_finding, .parameter_type = "s"},
    {.name = "palette", .activate = palette},
    {.name = "filter", .activate = filter},
    {.name = "shortcuts", .activate = shortcuts},
    {.name = "computer", .activate = computer},
    {.name = "matrix", .activate = matrix},
    {.name = "open", .activate = open_folder},
    {.name = "open-path", .activate = open_path, .parameter_type = "s"},
};

static void
add_property_action (AssayWindow *self, const char *name, gpointer object, const char *property)
{
  g_autoptr (GPropertyAction) action = g_property_action_new (name, object, property);

  g_action_map_add_action (G_ACTION_MAP (self), G_ACTION (action));
}

void
assay_window_actions_init (AssayWindow *self)
{
  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  add_property_action (self, "show-queue", self->panes, "show-start");
  add_property_action (self, "show-review", self->panes, "show-end");
  add_property_action (self, "show-findings", self->findings, "expanded");
}
