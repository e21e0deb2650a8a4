/* SPDX-License-Identifier: Apache-2.0 */
/* From the open window to an exported PDF, by key presses alone, with the real engine, compiler and
 * virtual GPU: at most eight actions. */
#include "config.h"

#include "app/numerics-page.h"
#include "app/review-pane.h"
#include "tests/ui/keyboard.h"
#include "widgets/notice.h"
#include "widgets/plot-widget.h"

#define MOST_ACTIONS 8
#define PDF "wide_softmax-online.pdf"

static AssayContext *
context_of (AssayUi *ui)
{
  return assay_window_get_context (ui->window);
}

static const AssayReview *
review_of (AssayUi *ui)
{
  return assay_draft_get_review (assay_context_get_draft (context_of (ui)));
}

/* What the reviewer does, one after the other. */
static void
press (AssayUi *ui, guint *actions, const char *keys)
{
  g_test_message ("action %u: %s", ++*actions, keys);
  assay_ui_key (ui, keys);
}

/* --- what the reviewer sees and waits for ---------------------------------------------------- */

static gboolean
can_run (gpointer data)
{
  AssayUi *ui = data;

  return g_action_group_get_action_enabled (G_ACTION_GROUP (ui->window), "run")
         && assay_context_get_draft (context_of (ui)) != NULL;
}

static gboolean
run_ended (gpointer data)
{
  AssayRunModel *run = assay_context_get_run (context_of (data));

  return run != NULL && !assay_run_model_is_running (run)
         && assay_run_model_get (run)->finished != NULL;
}

static gboolean
plots_shown (gpointer data)
{
  static const char *const plots[] = {"ulp", "error", "position", "margin"};
  GtkWidget *page =
      assay_ui_find (GTK_WIDGET (((AssayUi *) data)->window), ASSAY_TYPE_NUMERICS_PAGE, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (plots); i++)
    {
      GtkWidget *plot = assay_ui_find (page, ASSAY_TYPE_PLOT_WIDGET, plots[i]);

      if (assay_plot_widget_get_scene (ASSAY_PLOT_WIDGET (plot)) == NULL)
        return FALSE;
    }
  return TRUE;
}

static GtkWindow *
dialog_of (AssayUi *ui)
{
  g_autoptr (GList) windows = gtk_window_list_toplevels ();

  for (GList *link = windows; link != NULL; link = link->next)
    if (GTK_IS_FILE_CHOOSER (link->data) && gtk_widget_get_mapped (link->data))
      return link->data;
  return NULL;
}

static gboolean
dialog_shown (gpointer data)
{
  return dialog_of (data) != NULL;
}

static AssayNotice *
export_notice (AssayUi *ui)
{
  return assay_notice_box_find (
      GTK_BOX (assay_ui_find (GTK_WIDGET (ui->window), GTK_TYPE_BOX, "notices")), "export");
}

static gboolean
export_told (gpointer data)
{
  return export_notice (data) != NULL;
}

/* --- what lies on the disk afterwards --------------------------------------------------------- */

static char *
output_of (const char *program, const char *first, const char *path, const char *last)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) process =
      g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error, program, first, path, last, NULL);
  char *text = NULL;

  g_assert_no_error (error);
  g_assert_true (g_subprocess_communicate_utf8 (process, NULL, NULL, &text, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (g_subprocess_get_successful (process));
  return text;
}

static void
has_words (const char *text, const char *words)
{
  if (strstr (text, words) == NULL)
    g_error ("the PDF lacks “%s”:\n%s", words, text);
}

static void
check_pdf (const char *path, const AssayFinding *finding)
{
  g_autofree char *text = output_of ("pdftotext", "-layout", path, "-");
  g_autofree char *images = output_of ("pdfimages", "-list", path, NULL);
  g_auto (GStrv) lines = g_strsplit (g_strchomp (images), "\n", -1);

  has_words (text, "Softmax over rows of 16,384, float32");
  has_words (text, finding->rule);
  has_words (text, "Tolerance fitness: 0");
  g_assert_cmpuint (g_strv_length (lines), ==, 2); /* the heading alone: every figure is a vector */
}

static AssayUi *
open_story (void)
{
  g_autofree char *engine = g_build_filename (ASSAY_BUILD_DIR, "engine", "assay-engine", NULL);
  g_autofree char *tasks = g_build_filename (ASSAY_SOURCE_DIR, "data", "tasks", NULL);
  AssayUi *ui = assay_ui_start (tasks, engine);
  GListModel *all = assay_session_get_tasks (assay_application_get_session (ui->application));

  /* The one that a first start opens. */
  for (guint i = 0; i < g_list_model_get_n_items (all); i++)
    {
      g_autoptr (AssayTaskItem) item = g_list_model_get_item (all, i);

      if (g_str_has_suffix (assay_task_item_get_folder (item), "wide_softmax"))
        assay_window_open_task (ui->window, item);
    }
  assay_ui_wait (can_run, ui, "task, review and engine");
  assay_ui_focus (ui, GTK_WINDOW (ui->window));
  return ui;
}

static void
test_main_job (void)
{
  g_autoptr (AssayUi) ui = NULL;
  g_autofree char *path = g_build_filename (g_get_home_dir (), PDF, NULL);
  const AssayFinding *finding;
  const AssayEvidence *evidence;
  const AssayScore *score;
  guint actions = 0;

  if (!assay_ui_has_keyboard ())
    return;
  ui = open_story ();
  press (ui, &actions, "F5");
  press (ui, &actions, "ctrl+3");
  assay_ui_wait (run_ended, ui, "the run to end");
  assay_ui_wait (plots_shown, ui, "four plots");
  press (ui, &actions, "alt+Down"); /* the worst finding; the review opens where it bears */
  press (ui, &actions, "e");
  press (ui, &actions, "0");
  finding = g_ptr_array_index (
      assay_run_model_get (assay_context_get_run (context_of (ui)))->findings, 0);
  score = assay_review_score (review_of (ui), "tolerance-fitness");
  g_assert_cmpstr (score->value, ==, "0");
  g_assert_cmpuint (score->evidence->len, ==, 1);
  evidence = g_ptr_array_index (score->evidence, 0);
  g_assert_cmpstr (evidence->ref, ==, finding->id);

  press (ui, &actions, "ctrl+e");
  assay_ui_wait (dialog_shown, ui, "where to export to");
  assay_ui_focus (ui, dialog_of (ui));
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
  press (ui, &actions, "Return");
  assay_ui_wait (export_told, ui, "the export");
  g_assert_cmpuint (actions, <=, MOST_ACTIONS);
  g_assert_true (g_str_has_prefix (assay_notice_get_text (export_notice (ui)), "Exported"));
  check_pdf (path, finding);
}

int
main (int argc, char **argv)
{
  assay_ui_init (&argc, &argv);
  g_test_add_func ("/main-job/from-window-to-pdf", test_main_job);
  return g_test_run ();
}
