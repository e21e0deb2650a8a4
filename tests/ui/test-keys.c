/* SPDX-License-Identifier: Apache-2.0 */
/* The whole path by keyboard alone: real key presses through the X server. */
#include "config.h"

#include "app/numerics-page.h"
#include "app/palette.h"
#include "app/queue-pane.h"
#include "app/review-pane.h"
#include "tests/ui/fixture.h"
#include "widgets/plot-widget.h"

#include <gdk/x11/gdkx.h>

typedef struct
{
  AssayUi *ui;
  gboolean done;
  GError *error;
} Press;

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

/* Blanks separate arguments; `last` (nullable) is one more, as it is. */
static void
xdotool_line (AssayUi *ui, const char *line, const char *last)
{
  Press press = {ui, FALSE, NULL};
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

static void
xdotool (AssayUi *ui, const char *verb, const char *text)
{
  xdotool_line (ui, verb, text);
}

static void
key (AssayUi *ui, const char *keys)
{
  xdotool (ui, "key", keys);
}

static AssayContext *
context_of (AssayUi *ui)
{
  return assay_window_get_context (ui->window);
}

static gboolean
is_open (gpointer data)
{
  AssayUi *ui = data;

  return assay_context_get_run (context_of (ui)) != NULL
         && assay_context_get_draft (context_of (ui)) != NULL;
}

static gboolean
has_focus (gpointer data)
{
  return gtk_window_is_active (GTK_WINDOW (((AssayUi *) data)->window));
}

static gboolean
plots_shown (gpointer data)
{
  GtkWidget *page =
      assay_ui_find (GTK_WIDGET (((AssayUi *) data)->window), ASSAY_TYPE_NUMERICS_PAGE, NULL);
  GtkWidget *plot = assay_ui_find (page, ASSAY_TYPE_PLOT_WIDGET, "margin");

  return assay_plot_widget_get_scene (ASSAY_PLOT_WIDGET (plot)) != NULL;
}

static const AssayScore *
open_score (AssayUi *ui)
{
  AssayReviewPane *pane =
      ASSAY_REVIEW_PANE (assay_ui_find (GTK_WIDGET (ui->window), ASSAY_TYPE_REVIEW_PANE, NULL));

  return assay_review_score (assay_draft_get_review (assay_context_get_draft (context_of (ui))),
                             assay_review_pane_get_criterion (pane));
}

static gulong
xid (AssayUi *ui)
{
  return gdk_x11_surface_get_xid (gtk_native_get_surface (GTK_NATIVE (ui->window)));
}

static void
focus_window (AssayUi *ui)
{
  g_autofree char *id = g_strdup_printf ("%lu", xid (ui));

  xdotool (ui, "windowfocus", id);
  assay_ui_wait (has_focus, ui, "the focus");
}

static void
test_keyboard_path (void)
{
  g_autoptr (AssayUi) ui = NULL;
  g_autofree char *tool = g_find_program_in_path ("xdotool");
  GtkWidget *palette, *plot;

  if (tool == NULL)
    {
      g_test_skip ("xdotool is not installed");
      return;
    }
  ui = assay_ui_start (NULL, NULL);
  assay_ui_wait (is_open, ui, "task, run and review");
  focus_window (ui);
  /* Pages. */
  key (ui, "ctrl+3");
  g_assert_cmpstr (assay_window_get_page (ui->window), ==, "numerics");
  assay_ui_wait (plots_shown, ui, "plots");
  /* To the criterion, by its name. */
  palette = assay_ui_find (GTK_WIDGET (ui->window), ASSAY_TYPE_PALETTE, NULL);
  key (ui, "ctrl+k");
  g_assert_true (gtk_widget_get_visible (palette));
  xdotool (ui, "type", "tolerance fit");
  g_assert_cmpuint (assay_palette_get_n_shown (ASSAY_PALETTE (palette)), ==, 1);
  key (ui, "Return");
  g_assert_false (gtk_widget_get_visible (palette));
  g_assert_cmpstr (open_score (ui)->criterion, ==, "tolerance-fitness");
  /* On the plot: the cursor, the evidence, the score. */
  plot = assay_ui_find (GTK_WIDGET (ui->window), ASSAY_TYPE_PLOT_WIDGET, "margin");
  gtk_widget_grab_focus (plot);
  key (ui, "Right");
  g_assert_cmpint (assay_plot_widget_get_cursor (ASSAY_PLOT_WIDGET (plot)), ==, 0);
  key (ui, "e");
  g_assert_cmpuint (open_score (ui)->evidence->len, ==, 1);
  key (ui, "0");
  g_assert_cmpstr (open_score (ui)->value, ==, "0");
  key (ui, "t");
  g_assert_true (assay_plot_widget_shows_table (ASSAY_PLOT_WIDGET (plot)));
  key (ui, "Escape");
  /* Words: plain keys are letters here. */
  gtk_widget_grab_focus (assay_ui_find (GTK_WIDGET (ui->window), GTK_TYPE_TEXT_VIEW, "problem"));
  xdotool (ui, "type", "n0 je");
  g_assert_cmpstr (open_score (ui)->problem, ==, "n0 je");
  g_assert_cmpstr (open_score (ui)->value, ==, "0");
  key (ui, "ctrl+z");
  g_assert_null (open_score (ui)->problem);
  /* On. */
  key (ui, "ctrl+Page_Down");
  g_assert_cmpstr (open_score (ui)->criterion, !=, "tolerance-fitness");
  key (ui, "alt+Down");
  g_assert_cmpstr (assay_window_get_page (ui->window), ==, "numerics");
  key (ui, "F9");
  g_assert_false (gtk_widget_get_child_visible (
      assay_ui_find (GTK_WIDGET (ui->window), ASSAY_TYPE_QUEUE_PANE, NULL)));
  key (ui, "F10");
  g_assert_false (gtk_widget_get_child_visible (
      assay_ui_find (GTK_WIDGET (ui->window), ASSAY_TYPE_REVIEW_PANE, NULL)));
}

/* To a place inside a widget, given as shares of its size. */
static void
move_to (AssayUi *ui, GtkWidget *widget, double across, double down)
{
  double x, y, dx, dy;
  g_autofree char *line = NULL;

  gtk_native_get_surface_transform (GTK_NATIVE (ui->window), &dx, &dy);
  g_assert_true (gtk_widget_translate_coordinates (widget, GTK_WIDGET (ui->window),
                                                   across * gtk_widget_get_width (widget),
                                                   down * gtk_widget_get_height (widget), &x, &y));
  line = g_strdup_printf ("mousemove --window %lu %d %d", xid (ui), (int) (x + dx), (int) (y + dy));
  xdotool_line (ui, line, NULL);
}

static gboolean
is_zoomed (gpointer plot)
{
  return assay_plot_widget_is_zoomed (plot);
}

static gboolean
is_fitted (gpointer plot)
{
  return !assay_plot_widget_is_zoomed (plot);
}

static void
test_pointer_on_plot (void)
{
  g_autoptr (AssayUi) ui = NULL;
  g_autofree char *tool = g_find_program_in_path ("xdotool");
  GtkWidget *plot;

  if (tool == NULL)
    {
      g_test_skip ("xdotool is not installed");
      return;
    }
  ui = assay_ui_start (NULL, NULL);
  assay_ui_wait (is_open, ui, "task, run and review");
  focus_window (ui);
  assay_window_show_page (ui->window, "numerics");
  assay_ui_wait (plots_shown, ui, "plots");
  plot = assay_ui_find (GTK_WIDGET (ui->window), ASSAY_TYPE_PLOT_WIDGET, "error");
  assay_ui_settle (ui);
  move_to (ui, plot, 0.4, 0.4);
  move_to (ui, plot, 0.5, 0.5);
  xdotool_line (ui, "mousedown 1", NULL);
  move_to (ui, plot, 0.6, 0.5);
  move_to (ui, plot, 0.8, 0.6);
  xdotool_line (ui, "mouseup 1", NULL);
  assay_ui_wait (is_zoomed, plot, "the zoom");
  xdotool_line (ui, "click --repeat 2 --delay 60 1", NULL);
  assay_ui_wait (is_fitted, plot, "the fit");
  move_to (ui, plot, 0.6, 0.5);
  xdotool_line (ui, "click 4", NULL); /* the wheel */
  assay_ui_wait (is_zoomed, plot, "the wheel's zoom");
}

int
main (int argc, char **argv)
{
  assay_ui_init (&argc, &argv);
  g_test_add_func ("/keys/whole-path", test_keyboard_path);
  g_test_add_func ("/keys/pointer-on-plot", test_pointer_on_plot);
  return g_test_run ();
}
