/* SPDX-License-Identifier: Apache-2.0 */
/* The whole path by keyboard alone: real key presses through the X server. */
#include "config.h"

#include "app/numerics-page.h"
#include "app/palette.h"
#include "app/queue-pane.h"
#include "app/review-pane.h"
#include "tests/ui/keyboard.h"
#include "widgets/plot-widget.h"

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

static void
test_keyboard_path (void)
{
  g_autoptr (AssayUi) ui = NULL;
  GtkWidget *palette, *plot;

  if (!assay_ui_has_keyboard ())
    return;
  ui = assay_ui_start (NULL, NULL);
  assay_ui_wait (is_open, ui, "task, run and review");
  assay_ui_focus (ui, GTK_WINDOW (ui->window));
  /* Pages. */
  assay_ui_key (ui, "ctrl+3");
  g_assert_cmpstr (assay_window_get_page (ui->window), ==, "numerics");
  assay_ui_wait (plots_shown, ui, "plots");
  /* To the criterion, by its name. */
  palette = assay_ui_find (GTK_WIDGET (ui->window), ASSAY_TYPE_PALETTE, NULL);
  assay_ui_key (ui, "ctrl+k");
  g_assert_true (gtk_widget_get_visible (palette));
  assay_ui_type (ui, "tolerance fit");
  g_assert_cmpuint (assay_palette_get_n_shown (ASSAY_PALETTE (palette)), ==, 1);
  assay_ui_key (ui, "Return");
  g_assert_false (gtk_widget_get_visible (palette));
  g_assert_cmpstr (open_score (ui)->criterion, ==, "tolerance-fitness");
  /* On the plot: the cursor, the evidence, the score. */
  plot = assay_ui_find (GTK_WIDGET (ui->window), ASSAY_TYPE_PLOT_WIDGET, "margin");
  gtk_widget_grab_focus (plot);
  assay_ui_key (ui, "Right");
  g_assert_cmpint (assay_plot_widget_get_cursor (ASSAY_PLOT_WIDGET (plot)), ==, 0);
  assay_ui_key (ui, "e");
  g_assert_cmpuint (open_score (ui)->evidence->len, ==, 1);
  assay_ui_key (ui, "0");
  g_assert_cmpstr (open_score (ui)->value, ==, "0");
  assay_ui_key (ui, "t");
  g_assert_true (assay_plot_widget_shows_table (ASSAY_PLOT_WIDGET (plot)));
  assay_ui_key (ui, "Escape");
  /* Words: plain keys are letters here. */
  gtk_widget_grab_focus (assay_ui_find (GTK_WIDGET (ui->window), GTK_TYPE_TEXT_VIEW, "problem"));
  assay_ui_type (ui, "n0 je");
  g_assert_cmpstr (open_score (ui)->problem, ==, "n0 je");
  g_assert_cmpstr (open_score (ui)->value, ==, "0");
  assay_ui_key (ui, "ctrl+z");
  g_assert_null (open_score (ui)->problem);
  /* On. */
  assay_ui_key (ui, "ctrl+Page_Down");
  g_assert_cmpstr (open_score (ui)->criterion, !=, "tolerance-fitness");
  assay_ui_key (ui, "alt+Down");
  g_assert_cmpstr (assay_window_get_page (ui->window), ==, "numerics");
  assay_ui_key (ui, "F9");
  g_assert_false (gtk_widget_get_child_visible (
      assay_ui_find (GTK_WIDGET (ui->window), ASSAY_TYPE_QUEUE_PANE, NULL)));
  assay_ui_key (ui, "F10");
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
  line = g_strdup_printf ("mousemove --window %lu %d %d", assay_ui_xid (GTK_WINDOW (ui->window)),
                          (int) (x + dx), (int) (y + dy));
  assay_ui_xdotool (ui, line, NULL);
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
  GtkWidget *plot;

  if (!assay_ui_has_keyboard ())
    return;
  ui = assay_ui_start (NULL, NULL);
  assay_ui_wait (is_open, ui, "task, run and review");
  assay_ui_focus (ui, GTK_WINDOW (ui->window));
  assay_window_show_page (ui->window, "numerics");
  assay_ui_wait (plots_shown, ui, "plots");
  plot = assay_ui_find (GTK_WIDGET (ui->window), ASSAY_TYPE_PLOT_WIDGET, "error");
  assay_ui_settle (ui);
  move_to (ui, plot, 0.4, 0.4);
  move_to (ui, plot, 0.5, 0.5);
  assay_ui_xdotool (ui, "mousedown 1", NULL);
  move_to (ui, plot, 0.6, 0.5);
  move_to (ui, plot, 0.8, 0.6);
  assay_ui_xdotool (ui, "mouseup 1", NULL);
  assay_ui_wait (is_zoomed, plot, "the zoom");
  assay_ui_xdotool (ui, "click --repeat 2 --delay 60 1", NULL);
  assay_ui_wait (is_fitted, plot, "the fit");
  move_to (ui, plot, 0.6, 0.5);
  assay_ui_xdotool (ui, "click 4", NULL); /* the wheel */
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
