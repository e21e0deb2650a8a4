/* SPDX-License-Identifier: Apache-2.0 */
/* Writes pictures of every page, light and dark, for people to look at:
 * shoot OUT [TASKS [TASK [PAGE]]] below Xvfb. With PAGE that page alone, in both sizes. */
#include "config.h"

#include "app/findings-bar.h"
#include "app/palette.h"
#include "app/source-page.h"
#include "tests/ui/fixture.h"
#include "widgets/plot-widget.h"

static const char *const pages[] = {"overview", "validity", "numerics", "source", "report", NULL};
static const char *const schemes[] = {"light", "dark", NULL};

typedef struct
{
  gint64 until;
} Pause;

static gboolean
pause_over (gpointer data)
{
  return g_get_monotonic_time () > ((Pause *) data)->until;
}

/* Pictures are not a test: threads that load get the time they need. */
static void
rest (AssayUi *ui, int ms)
{
  Pause pause = {g_get_monotonic_time () + ms * 1000};

  assay_ui_wait (pause_over, &pause, "a rest");
  assay_ui_settle (ui);
}

static void
shoot (AssayUi *ui, const char *out, const char *page, const char *scheme, const char *size)
{
  g_autofree char *name = g_strdup_printf ("%s-%s%s.png", page, scheme, size);
  g_autofree char *path = g_build_filename (out, name, NULL);

  if (!assay_ui_shoot (ui, path))
    g_printerr ("no picture %s\n", path);
}

static void
shoot_pages (AssayUi *ui, const char *out, const char *scheme, const char *size)
{
  for (int p = 0; pages[p] != NULL; p++)
    {
      assay_window_show_page (ui->window, pages[p]);
      rest (ui, 400);
      shoot (ui, out, pages[p], scheme, size);
    }
}

static void
open_task (AssayUi *ui, const char *name)
{
  GListModel *tasks = assay_session_get_tasks (assay_application_get_session (ui->application));

  for (guint i = 0; i < g_list_model_get_n_items (tasks); i++)
    {
      g_autoptr (AssayTaskItem) item = g_list_model_get_item (tasks, i);

      if (g_str_has_suffix (assay_task_item_get_folder (item), name))
        assay_window_open_task (ui->window, item);
    }
}

/* With an engine: one run of the task, so that its own numbers are seen. */
static void
run_first (AssayUi *ui, const char *action)
{
  rest (ui, 1500);
  if (g_action_group_get_action_enabled (G_ACTION_GROUP (ui->window), "run-all"))
    {
      assay_ui_activate (ui, action, NULL);
      rest (ui, 400);
      while (!g_action_group_get_action_enabled (G_ACTION_GROUP (ui->window), "run-all"))
        rest (ui, 100);
    }
}

/* States that a page alone does not show. */
static void
shoot_states (AssayUi *ui, const char *out, const char *scheme)
{
  GtkWidget *window = GTK_WIDGET (ui->window);
  GtkWidget *plot = assay_ui_find (window, ASSAY_TYPE_PLOT_WIDGET, "error");

  assay_window_show_page (ui->window, "numerics");
  rest (ui, 300);
  assay_plot_widget_set_cursor (ASSAY_PLOT_WIDGET (plot), 9);
  g_signal_emit_by_name (plot, "grow");
  rest (ui, 200);
  shoot (ui, out, "grown", scheme, "");
  gtk_widget_activate_action (plot, "plot.table", NULL);
  rest (ui, 200);
  shoot (ui, out, "table", scheme, "");
  gtk_widget_activate_action (plot, "plot.table", NULL);
  g_signal_emit_by_name (plot, "grow");
  assay_ui_activate (ui, "win.palette", NULL);
  rest (ui, 200);
  shoot (ui, out, "palette", scheme, "");
  g_signal_emit_by_name (assay_ui_find (window, ASSAY_TYPE_PALETTE, NULL), "closed");
  assay_ui_activate (ui, "win.show-criterion", "s", "tolerance-fitness");
  assay_ui_activate (ui, "win.score", "s", "0");
  gtk_widget_grab_focus (assay_ui_find (window, ASSAY_TYPE_PLOT_WIDGET, "margin"));
  assay_ui_activate (ui, "win.attach", NULL);
  assay_ui_activate (ui, "win.finding-step", "i", 1);
  rest (ui, 200);
  shoot (ui, out, "scored", scheme, "");
  g_signal_emit_by_name (assay_ui_find (assay_ui_find (window, ASSAY_TYPE_FINDINGS_BAR, NULL),
                                        GTK_TYPE_LIST_VIEW, "list"),
                         "activate", 0u);
  rest (ui, 200);
  shoot (ui, out, "finding", scheme, "");
  assay_ui_activate (ui, "win.show-criterion", "s", "");
  rest (ui, 200);
  shoot (ui, out, "conclusion", scheme, "");
  assay_window_show_page (ui->window, "source");
  gtk_toggle_button_set_active (
      GTK_TOGGLE_BUTTON (assay_ui_find (assay_ui_find (window, ASSAY_TYPE_SOURCE_PAGE, NULL),
                                        GTK_TYPE_TOGGLE_BUTTON, "ptx")),
      TRUE);
  rest (ui, 400);
  shoot (ui, out, "ptx", scheme, "");
  GtkWidget *sass = assay_ui_find (assay_ui_find (window, ASSAY_TYPE_SOURCE_PAGE, NULL),
                                   GTK_TYPE_TOGGLE_BUTTON, "sass");
  if (gtk_widget_get_sensitive (sass))
    {
      gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (sass), TRUE);
      rest (ui, 400);
      shoot (ui, out, "sass", scheme, "");
    }
}

static void
shoot_page (AssayUi *ui, const char *out, const char *page)
{
  assay_window_show_page (ui->window, page);
  for (int size = 0; size < 2; size++)
    {
      for (int s = 0; schemes[s] != NULL; s++)
        {
          g_action_group_change_action_state (G_ACTION_GROUP (ui->application), "color-scheme",
                                              g_variant_new_string (schemes[s]));
          rest (ui, 600);
          shoot (ui, out, page, schemes[s], size > 0 ? "-1024" : "");
        }
      gtk_window_set_default_size (GTK_WINDOW (ui->window), 1024, 700);
    }
}

int
main (int argc, char **argv)
{
  g_autoptr (AssayUi) ui = NULL;

  assay_ui_init (&argc, &argv);
  if (argc < 2)
    {
      g_printerr ("usage: shoot OUT [TASKS [TASK [PAGE]]]\n");
      return 2;
    }
  g_mkdir_with_parents (argv[1], 0755);
  ui = assay_ui_start (argc > 2 ? argv[2] : NULL, g_getenv ("ASSAY_SHOOT_ENGINE"));
  if (argc > 3)
    open_task (ui, argv[3]);
  run_first (ui, argc > 4 ? "win.run" : "win.run-all");
  if (argc > 4)
    {
      shoot_page (ui, argv[1], argv[4]);
      return 0;
    }
  for (int s = 0; schemes[s] != NULL; s++)
    {
      g_action_group_change_action_state (G_ACTION_GROUP (ui->application), "color-scheme",
                                          g_variant_new_string (schemes[s]));
      shoot_pages (ui, argv[1], schemes[s], "");
      shoot_states (ui, argv[1], schemes[s]);
    }
  gtk_window_set_default_size (GTK_WINDOW (ui->window), 1024, 700);
  rest (ui, 500);
  shoot_pages (ui, argv[1], "dark", "-1024");
  assay_ui_activate (ui, "win.show-review", NULL);
  rest (ui, 300);
  shoot (ui, argv[1], "review", "dark", "-1024");
  return 0;
}
