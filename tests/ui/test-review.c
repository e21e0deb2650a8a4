/* SPDX-License-Identifier: Apache-2.0 */
/* A review from the first look to the exported report, on a recorded run; and what goes wrong. */
#include "config.h"

#include "app/numerics-page.h"
#include "app/report-page.h"
#include "app/review-pane.h"
#include "app/palette.h"
#include "app/shortcuts.h"
#include "app/source-page.h"
#include "app/tolerance-explorer.h"
#include "tests/ui/fixture.h"
#include "widgets/notice.h"
#include "widgets/panes.h"
#include "widgets/plot-widget.h"

#include <glib/gstdio.h>

static AssayContext *
context_of (AssayUi *ui)
{
  return assay_window_get_context (ui->window);
}

static gboolean
is_open (gpointer data)
{
  AssayContext *context = context_of (data);

  return assay_context_get_run (context) != NULL && assay_context_get_draft (context) != NULL;
}

static AssayUi *
open_recorded (void)
{
  AssayUi *ui = assay_ui_start (NULL, NULL);

  assay_ui_wait (is_open, ui, "task, run and review");
  return ui;
}

static AssayReviewPane *
pane_of (AssayUi *ui)
{
  return ASSAY_REVIEW_PANE (assay_ui_find (GTK_WIDGET (ui->window), ASSAY_TYPE_REVIEW_PANE, NULL));
}

static const AssayScore *
score_of (AssayUi *ui, const char *criterion)
{
  return assay_review_score (assay_draft_get_review (assay_context_get_draft (context_of (ui))),
                             criterion);
}

static GtkTextBuffer *
words_of (AssayUi *ui, const char *id)
{
  return gtk_text_view_get_buffer (
      GTK_TEXT_VIEW (assay_ui_find (GTK_WIDGET (pane_of (ui)), GTK_TYPE_TEXT_VIEW, id)));
}

static AssayNotice *
notice_of (AssayUi *ui, const char *topic)
{
  return assay_notice_box_find (
      GTK_BOX (assay_ui_find (GTK_WIDGET (ui->window), GTK_TYPE_BOX, "notices")), topic);
}

static gboolean
plots_shown (gpointer data)
{
  AssayUi *ui = data;
  AssayNumericsPage *page =
      ASSAY_NUMERICS_PAGE (assay_ui_find (GTK_WIDGET (ui->window), ASSAY_TYPE_NUMERICS_PAGE, NULL));
  static const char *const ids[] = {"ulp", "error", "position", "margin"};

  for (gsize i = 0; i < G_N_ELEMENTS (ids); i++)
    {
      GtkWidget *plot = assay_ui_find (GTK_WIDGET (page), ASSAY_TYPE_PLOT_WIDGET, ids[i]);

      if (assay_plot_widget_get_scene (ASSAY_PLOT_WIDGET (plot)) == NULL)
        return FALSE;
    }
  return !assay_numerics_page_is_busy (page);
}

static gboolean
saved (gpointer data)
{
  return !assay_draft_is_dirty (assay_context_get_draft (context_of (data)));
}

static gboolean
export_told (gpointer data)
{
  return notice_of (data, "export") != NULL;
}

static char *
read_review_file (AssayUi *ui)
{
  g_autofree char *path = g_build_filename (
      assay_draft_get_folder (assay_context_get_draft (context_of (ui))), "review.json", NULL);
  char *text = NULL;

  g_file_get_contents (path, &text, NULL, NULL);
  return text;
}

static void
test_whole_path (void)
{
  g_autoptr (AssayUi) ui = open_recorded ();
  g_autofree char *json = NULL, *home = NULL;
  const AssayScore *score;
  static const char *const endings[] = {"md", "pdf", "json"};

  /* Look. */
  assay_window_show_page (ui->window, "numerics");
  assay_ui_wait (plots_shown, ui, "four plots");
  g_assert_nonnull (assay_ui_find_text (GTK_WIDGET (ui->window), "num.zero-output-passes"));
  /* Judge. */
  assay_review_pane_show_criterion (pane_of (ui), "tolerance-fitness");
  g_assert_cmpstr (assay_review_pane_get_criterion (pane_of (ui)), ==, "tolerance-fitness");
  assay_ui_activate (ui, "win.score", "s", "0");
  score = score_of (ui, "tolerance-fitness");
  g_assert_cmpstr (score->value, ==, "0");
  g_assert_cmpint (score->machine_suggestion, ==, 0); /* the blocker suggests as much */
  gtk_text_buffer_set_text (words_of (ui, "problem"), "All zeros pass.", -1);
  gtk_text_buffer_set_text (words_of (ui, "fix"), "atol 1e-12.", -1);
  /* Evidence. */
  gtk_widget_grab_focus (assay_ui_find (GTK_WIDGET (ui->window), ASSAY_TYPE_PLOT_WIDGET, "margin"));
  assay_ui_activate (ui, "win.attach", NULL);
  score = score_of (ui, "tolerance-fitness");
  g_assert_cmpuint (score->evidence->len, ==, 1);
  g_assert_cmpstr (((AssayEvidence *) g_ptr_array_index (score->evidence, 0))->ref, ==,
                   "numerics/margin/small/y");
  g_assert_cmpstr (score->problem, ==, "All zeros pass.");
  /* Saved by itself. */
  assay_ui_wait (saved, ui, "the autosave");
  json = read_review_file (ui);
  g_assert_nonnull (json);
  g_assert_nonnull (strstr (json, "All zeros pass."));
  g_assert_nonnull (strstr (json, "numerics/margin/small/y"));
  /* Exported, and not over what is there. */
  for (gsize i = 0; i < G_N_ELEMENTS (endings); i++)
    {
      g_autofree char *name = g_strdup_printf ("report.%s", endings[i]);
      g_autofree char *path = g_build_filename (ui->home, name, NULL);
      g_autofree char *text = NULL, *again = NULL;

      assay_ui_activate (ui, "win.export-path", "s", path);
      assay_ui_wait (export_told, ui, "the export");
      g_assert_true (
          g_str_has_prefix (assay_notice_get_text (notice_of (ui, "export")), "Exported"));
      g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
      if (g_str_equal (endings[i], "md"))
        g_assert_nonnull (strstr (text, "All zeros pass."));
      assay_ui_activate (ui, "win.export-path", "s", path);
      assay_ui_wait (export_told, ui, "the refusal");
      g_assert_nonnull (
          strstr (assay_notice_get_text (notice_of (ui, "export")), "exists already"));
      g_assert_true (g_file_get_contents (path, &again, NULL, NULL));
    }
}

static void
test_undo_is_over_scores_and_words (void)
{
  g_autoptr (AssayUi) ui = open_recorded ();
  g_autofree char *criterion = g_strdup (assay_review_pane_get_criterion (pane_of (ui)));
  g_autofree char *text = NULL;

  assay_ui_activate (ui, "win.score", "s", "2");
  gtk_text_buffer_set_text (words_of (ui, "problem"), "No bounds.", -1);
  assay_ui_activate (ui, "win.score", "s", "na");
  assay_ui_activate (ui, "win.undo", NULL);
  g_assert_cmpstr (score_of (ui, criterion)->value, ==, "2");
  assay_ui_activate (ui, "win.undo", NULL);
  g_assert_cmpstr (score_of (ui, criterion)->problem, ==, NULL);
  g_object_get (words_of (ui, "problem"), "text", &text, NULL);
  g_assert_cmpstr (text, ==, ""); /* the form shows what the review says */
  assay_ui_activate (ui, "win.undo", NULL);
  g_assert_null (score_of (ui, criterion)->value);
  g_assert_false (g_action_group_get_action_enabled (G_ACTION_GROUP (ui->window), "undo"));
  assay_ui_activate (ui, "win.redo", NULL);
  g_assert_cmpstr (score_of (ui, criterion)->value, ==, "2");
}

static gboolean
save_failed (gpointer data)
{
  return notice_of (data, "save") != NULL;
}

static gboolean
save_recovered (gpointer data)
{
  return notice_of (data, "save") == NULL && saved (data);
}

/* Where a folder should be stands a file: nothing can be written, as on a full disk. */
static void
test_failed_save_keeps_words (void)
{
  g_autoptr (AssayUi) ui = open_recorded ();
  g_autofree char *blocked = g_build_filename (ui->workspace, "reviews", NULL);
  g_autofree char *text = NULL, *json = NULL;

  g_assert_true (g_file_set_contents (blocked, "in the way", -1, NULL));
  gtk_text_buffer_set_text (words_of (ui, "problem"), "Not to be lost.", -1);
  assay_ui_wait (save_failed, ui, "the error to be told");
  g_object_get (words_of (ui, "problem"), "text", &text, NULL);
  g_assert_cmpstr (text, ==, "Not to be lost.");
  g_assert_cmpint (g_remove (blocked), ==, 0);
  assay_ui_wait (save_recovered, ui, "the retry");
  json = read_review_file (ui);
  g_assert_nonnull (strstr (json, "Not to be lost."));
}

/* Another program's eyes: what is on the disk when this one is killed. */
static void
test_review_comes_back (void)
{
  g_autoptr (AssayUi) ui = open_recorded ();
  AssaySession *session = assay_application_get_session (ui->application);
  g_autoptr (AssaySession) later = NULL;
  g_autoptr (AssayReview) review = NULL;
  g_autoptr (GError) error = NULL;

  assay_ui_activate (ui, "win.score", "s", "1");
  assay_ui_activate (ui, "win.save", NULL);
  assay_ui_wait (saved, ui, "the save");
  review = assay_review_load (assay_draft_get_folder (assay_context_get_draft (context_of (ui))),
                              &error);
  g_assert_no_error (error);
  g_assert_cmpstr (((AssayScore *) g_ptr_array_index (review->scores, 0))->value, ==, "1");
  g_assert_cmpstr (review->task.id, ==, "softmax_rows_f32");
  g_assert_cmpuint (review->history->len, ==, 1);
  /* The run that was looked at is where a report finds its figures. */
  g_assert_nonnull (review->runs);
  g_assert_cmpstr (review->runs[0], ==, "3f9c2a-fast");
  g_assert_nonnull (session);
}

static void
test_finding_leads_to_its_place (void)
{
  g_autoptr (AssayUi) ui = open_recorded ();
  AssaySourcePage *source =
      ASSAY_SOURCE_PAGE (assay_ui_find (GTK_WIDGET (ui->window), ASSAY_TYPE_SOURCE_PAGE, NULL));
  GListModel *findings = assay_run_model_get_findings (assay_context_get_run (context_of (ui)));
  AssayEvidence *evidence;

  for (guint i = 0; i < g_list_model_get_n_items (findings); i++)
    {
      g_autoptr (AssayFindingItem) item = g_list_model_get_item (findings, i);
      const AssayFinding *finding = assay_finding_item_get (item);

      if (!g_str_equal (finding->rule, "mem.bank-conflicts"))
        continue;
      assay_ui_activate (ui, "win.show-finding", "s", finding->id);
      g_assert_cmpstr (assay_window_get_page (ui->window), ==, "source");
      evidence = assay_source_page_get_selection (source);
      g_assert_cmpstr (evidence->ref, ==, "candidates/fast/kernel.cu");
      g_assert_cmpint (evidence->first_line, ==, 16);
      g_assert_nonnull (strstr (evidence->quote, "if (t < step)"));
      g_assert_nonnull (evidence->sha256);
      assay_evidence_free (evidence);
      return;
    }
  g_assert_not_reached ();
}

static gboolean
preview_drawn (gpointer data)
{
  AssayUi *ui = data;

  return assay_report_page_get_n_pages (ASSAY_REPORT_PAGE (
             assay_ui_find (GTK_WIDGET (ui->window), ASSAY_TYPE_REPORT_PAGE, NULL)))
         > 0;
}

static void
test_report_preview (void)
{
  g_autoptr (AssayUi) ui = open_recorded ();

  assay_window_show_page (ui->window, "report");
  assay_ui_wait (preview_drawn, ui, "pages");
  g_assert_nonnull (assay_ui_find_text (GTK_WIDGET (ui->window), "Submit the review"));
  g_assert_false (g_action_group_get_action_enabled (G_ACTION_GROUP (ui->window), "submit"));
}

static gboolean
is_folded (gpointer data)
{
  return assay_panes_get_folded (data);
}

static gboolean
is_wide (gpointer data)
{
  return !assay_panes_get_folded (data);
}

static void
test_narrow_window_folds (void)
{
  g_autoptr (AssayUi) ui = open_recorded ();
  AssayPanes *panes = ASSAY_PANES (assay_ui_find (GTK_WIDGET (ui->window), ASSAY_TYPE_PANES, NULL));
  gboolean shown = TRUE;
  int width, minimum;

  gtk_window_set_default_size (GTK_WINDOW (ui->window), 1024, 700);
  assay_ui_wait (is_folded, panes, "the panes to fold");
  assay_ui_settle (ui);
  g_object_get (panes, "show-end", &shown, NULL);
  g_assert_false (shown);
  assay_ui_activate (ui, "win.show-review", NULL);
  g_object_get (panes, "show-end", &shown, NULL);
  g_assert_true (shown);
  g_assert_true (assay_panes_close_overlays (panes));
  g_assert_false (assay_panes_close_overlays (panes));
  gtk_widget_measure (GTK_WIDGET (ui->window), GTK_ORIENTATION_HORIZONTAL, -1, &minimum, NULL, NULL,
                      NULL);
  g_assert_cmpint (minimum, <=, 1024); /* nothing is cut */
  width = gtk_widget_get_width (GTK_WIDGET (panes));
  g_assert_cmpint (width, <=, 1024);
  gtk_window_set_default_size (GTK_WINDOW (ui->window), 1600, 1000);
  assay_ui_wait (is_wide, panes, "the panes to come back");
  assay_ui_settle (ui);
  g_object_get (panes, "show-end", &shown, NULL);
  g_assert_true (shown);
}

/* Every command of the table exists on the window or the application. */
static void
test_actions_exist (void)
{
  g_autoptr (AssayUi) ui = open_recorded ();

  for (guint i = 0; i < ASSAY_N_SHORTCUTS; i++)
    {
      const char *action = ASSAY_SHORTCUTS[i].action;
      g_autofree char *name = NULL;
      g_autoptr (GVariant) target = NULL;
      const GVariantType *type = NULL;
      GActionGroup *group;

      if (action == NULL || g_str_has_prefix (action, "window."))
        continue;
      g_assert_true (g_action_parse_detailed_name (action, &name, &target, NULL));
      group = g_str_has_prefix (name, "app.") ? G_ACTION_GROUP (ui->application)
                                              : G_ACTION_GROUP (ui->window);
      if (!g_action_group_has_action (group, name + 4))
        g_error ("no action %s", name);
      type = g_action_group_get_action_parameter_type (group, name + 4);
      g_assert_true ((type == NULL) == (target == NULL));
      if (type != NULL)
        g_assert_true (g_variant_is_of_type (target, type));
    }
}

static void
test_palette_finds (void)
{
  g_autoptr (AssayUi) ui = open_recorded ();
  GtkWidget *palette = assay_ui_find (GTK_WIDGET (ui->window), ASSAY_TYPE_PALETTE, NULL);
  GtkWidget *entry = assay_ui_find (palette, GTK_TYPE_ENTRY, "entry");
  guint all;

  assay_ui_activate (ui, "win.palette", NULL);
  all = assay_palette_get_n_shown (ASSAY_PALETTE (palette));
  g_assert_cmpuint (all, >, 20);
  gtk_editable_set_text (GTK_EDITABLE (entry), "zero OUTPUT");
  g_assert_cmpuint (assay_palette_get_n_shown (ASSAY_PALETTE (palette)), ==, 1);
  g_signal_emit_by_name (entry, "activate");
  g_assert_false (gtk_widget_get_visible (palette));
  g_assert_cmpstr (assay_window_get_page (ui->window), ==, "numerics");
}

static void
test_judgement_of_a_finding (void)
{
  g_autoptr (AssayUi) ui = open_recorded ();
  AssayRunModel *run = assay_context_get_run (context_of (ui));
  g_autoptr (AssayFindingItem) item = g_list_model_get_item (assay_run_model_get_findings (run), 0);
  g_autofree char *id = g_strdup (assay_finding_item_get (item)->id);

  assay_review_pane_show_criterion (pane_of (ui), "tolerance-fitness");
  g_assert_nonnull (assay_ui_find_text (GTK_WIDGET (pane_of (ui)), "num.zero-output-passes"));
  assay_ui_activate (ui, "win.judge", "(ss)", id, "false_positive");
  g_assert_cmpint (assay_finding_item_get (item)->disposition, ==,
                   ASSAY_DISPOSITION_FALSE_POSITIVE);
  g_assert_nonnull (assay_ui_find_text (GTK_WIDGET (ui->window), "false positive"));
  /* It no longer speaks for a score. */
  g_assert_null (assay_ui_find_text (GTK_WIDGET (pane_of (ui)), "num.zero-output-passes"));
  assay_ui_activate (ui, "win.undo", NULL);
  g_assert_cmpint (assay_finding_item_get (item)->disposition, ==, ASSAY_DISPOSITION_OPEN);
}

static gboolean
closed (gpointer data)
{
  return gtk_application_get_windows (GTK_APPLICATION (((AssayUi *) data)->application)) == NULL;
}

static void
test_closing_loses_nothing (void)
{
  g_autoptr (AssayUi) ui = open_recorded ();
  g_autofree char *blocked = g_build_filename (ui->workspace, "reviews", NULL);
  g_autofree char *folder =
      g_strdup (assay_draft_get_folder (assay_context_get_draft (context_of (ui))));
  g_autoptr (AssayReview) review = NULL;
  g_autoptr (AssayWindow) window = g_object_ref (ui->window);

  g_assert_true (g_file_set_contents (blocked, "in the way", -1, NULL));
  gtk_text_buffer_set_text (words_of (ui, "fix"), "Said last.", -1);
  gtk_window_close (GTK_WINDOW (ui->window));
  g_assert_nonnull (notice_of (ui, "close"));
  g_assert_false (closed (ui));
  g_assert_cmpint (g_remove (blocked), ==, 0);
  gtk_window_close (GTK_WINDOW (ui->window));
  assay_ui_wait (closed, ui, "the window to close");
  review = assay_review_load (folder, NULL);
  g_assert_nonnull (review);
  g_assert_cmpstr (((AssayScore *) g_ptr_array_index (review->scores, 0))->fix, ==, "Said last.");
}

static void
test_session_is_remembered (void)
{
  g_autoptr (AssayUi) ui = open_recorded ();
  AssaySession *session = assay_application_get_session (ui->application);
  g_autoptr (AssaySession) later = NULL;
  g_auto (GStrv) tasks = NULL;

  assay_window_show_page (ui->window, "source");
  assay_session_flush (session);
  later = assay_session_new (ui->workspace);
  g_assert_cmpstr (assay_session_get_string (later, "page"), ==, "source");
  tasks = assay_session_get_last_tasks (later);
  g_assert_cmpuint (g_strv_length (tasks), ==, 1);
  g_assert_true (g_str_has_suffix (tasks[0], "softmax_rows_f32"));
  g_assert_cmpstr (assay_session_get_string (later, "current"), ==, tasks[0]);
}

static void
test_tolerance_explorer_follows_its_point (void)
{
  g_autoptr (AssayUi) ui = open_recorded ();
  AssayToleranceExplorer *explorer;
  AssayPlotWidget *plot;
  GtkLabel *living;
  double rtol, atol;

  assay_window_show_page (ui->window, "numerics");
  assay_ui_wait (plots_shown, ui, "four plots");
  explorer = ASSAY_TOLERANCE_EXPLORER (
      assay_ui_find (GTK_WIDGET (ui->window), ASSAY_TYPE_TOLERANCE_EXPLORER, NULL));
  plot = assay_tolerance_explorer_get_plot (explorer);
  living = GTK_LABEL (assay_ui_find (GTK_WIDGET (explorer), GTK_TYPE_LABEL, "living"));
  g_assert_nonnull (assay_plot_widget_get_scene (plot));
  g_assert_true (assay_plot_widget_get_point (plot, &rtol, &atol));
  g_assert_cmpfloat (rtol, ==, 1e-4); /* it starts on the gate */
  g_assert_cmpfloat (atol, ==, 1e-4);
  /* At the loosest corner every wrong answer of finite size lives; at the tightest none does. */
  assay_plot_widget_set_point (plot, 1e-9, 1e-14);
  g_signal_emit_by_name (plot, "point-moved", 1e-9, 1e-14);
  g_assert_true (g_str_has_prefix (gtk_label_get_text (living), "0 of "));
  assay_plot_widget_set_point (plot, 1.0, 1e2);
  g_signal_emit_by_name (plot, "point-moved", 1.0, 1e2);
  g_assert_false (g_str_has_prefix (gtk_label_get_text (living), "0 of "));
}

/* A button that is only a picture says in words what it does. */
static void
check_words (GtkWidget *widget)
{
  if ((GTK_IS_BUTTON (widget) && gtk_button_get_icon_name (GTK_BUTTON (widget)) != NULL)
      || (GTK_IS_MENU_BUTTON (widget)
          && gtk_menu_button_get_icon_name (GTK_MENU_BUTTON (widget)) != NULL))
    if (gtk_widget_get_tooltip_text (widget) == NULL
        && !GTK_IS_WINDOW_CONTROLS (gtk_widget_get_parent (widget)))
      g_error ("a button with the picture %s has no words",
               GTK_IS_BUTTON (widget) ? gtk_button_get_icon_name (GTK_BUTTON (widget))
                                      : gtk_menu_button_get_icon_name (GTK_MENU_BUTTON (widget)));
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    check_words (child);
}

static void
test_pictures_have_words (void)
{
  g_autoptr (AssayUi) ui = open_recorded ();

  check_words (GTK_WIDGET (ui->window));
}

int
main (int argc, char **argv)
{
  assay_ui_init (&argc, &argv);
  g_test_add_func ("/review/whole-path", test_whole_path);
  g_test_add_func ("/review/undo", test_undo_is_over_scores_and_words);
  g_test_add_func ("/review/failed-save", test_failed_save_keeps_words);
  g_test_add_func ("/review/comes-back", test_review_comes_back);
  g_test_add_func ("/review/finding-leads-to-its-place", test_finding_leads_to_its_place);
  g_test_add_func ("/review/report-preview", test_report_preview);
  g_test_add_func ("/review/narrow-window", test_narrow_window_folds);
  g_test_add_func ("/review/actions-exist", test_actions_exist);
  g_test_add_func ("/review/palette", test_palette_finds);
  g_test_add_func ("/review/judgement", test_judgement_of_a_finding);
  g_test_add_func ("/review/closing", test_closing_loses_nothing);
  g_test_add_func ("/review/session", test_session_is_remembered);
  g_test_add_func ("/review/pictures-have-words", test_pictures_have_words);
  g_test_add_func ("/review/explorer", test_tolerance_explorer_follows_its_point);
  return g_test_run ();
}
