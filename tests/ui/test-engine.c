/* SPDX-License-Identifier: Apache-2.0 */
/* The workbench with the real engine: a run streams in, another is cancelled, the engine is killed. */
#include "config.h"

#include "app/numerics-page.h"
#include "app/source-page.h"
#include "tests/ui/fixture.h"
#include "widgets/notice.h"
#include "widgets/plot-widget.h"
#include "widgets/source-view.h"

#include <signal.h>

/* Beyond what a sleeping thread sees at the same time. Checked with -m perf only: what else the machine
 * does is in it. */
#define LONGEST_GAP_MS 50

static AssayContext *
context_of (AssayUi *ui)
{
  return assay_window_get_context (ui->window);
}

static AssayEngineClient *
engine_of (AssayUi *ui)
{
  return assay_session_get_engine (assay_application_get_session (ui->application));
}

static gboolean
can_run (gpointer data)
{
  AssayUi *ui = data;

  return g_action_group_get_action_enabled (G_ACTION_GROUP (ui->window), "run")
         && assay_context_get_draft (context_of (ui)) != NULL;
}

static AssayUi *
open_with_engine (void)
{
  g_autofree char *engine = g_build_filename (ASSAY_BUILD_DIR, "engine", "assay-engine", NULL);
  g_autofree char *tasks = g_build_filename (ASSAY_SOURCE_DIR, "data", "tasks", NULL);
  AssayUi *ui = assay_ui_start (tasks, engine);
  GListModel *all = assay_session_get_tasks (assay_application_get_session (ui->application));

  for (guint i = 0; i < g_list_model_get_n_items (all); i++)
    {
      g_autoptr (AssayTaskItem) item = g_list_model_get_item (all, i);

      if (g_str_has_suffix (assay_task_item_get_folder (item), "row_softmax"))
        assay_window_open_task (ui->window, item);
    }
  assay_ui_wait (can_run, ui, "task, review and engine");
  return ui;
}

static gboolean
has_finished (gpointer data)
{
  AssayRunModel *run = assay_context_get_run (context_of (data));

  return run != NULL && !assay_run_model_is_running (run)
         && assay_run_model_get (run)->finished != NULL;
}

static gboolean
has_begun (gpointer data)
{
  AssayRunModel *run = assay_context_get_run (context_of (data));

  return run != NULL && assay_run_model_is_running (run);
}

static gboolean
plots_shown (gpointer data)
{
  AssayUi *ui = data;
  GtkWidget *page = assay_ui_find (GTK_WIDGET (ui->window), ASSAY_TYPE_NUMERICS_PAGE, NULL);
  GtkWidget *margin = assay_ui_find (page, ASSAY_TYPE_PLOT_WIDGET, "margin");

  return !assay_numerics_page_is_busy (ASSAY_NUMERICS_PAGE (page))
         && assay_plot_widget_get_scene (ASSAY_PLOT_WIDGET (margin)) != NULL;
}

/* --- how long the main loop is away ---------------------------------------------------------- */

typedef struct
{
  gint64 last, longest; /* µs */
  gboolean stop;        /* atomic */
} Gap;

static void
note (Gap *gap)
{
  gint64 now = g_get_monotonic_time ();

  if (gap->last != 0)
    gap->longest = MAX (gap->longest, now - gap->last);
  gap->last = now;
}

static gboolean
main_tick (gpointer gap)
{
  note (gap);
  return G_SOURCE_CONTINUE;
}

static gpointer
sleeper (gpointer data)
{
  Gap *gap = data;

  while (!g_atomic_int_get (&gap->stop))
    {
      note (gap);
      g_usleep (2000);
    }
  return NULL;
}

static void
test_run_streams_in (void)
{
  g_autoptr (AssayUi) ui = open_with_engine ();
  Gap main_gap = {0}, sleeper_gap = {0};
  GThread *thread;
  guint ticker;
  const AssayRun *run;

  assay_window_show_page (ui->window, "numerics");
  assay_ui_settle (ui);
  thread = g_thread_new ("sleeper", sleeper, &sleeper_gap);
  ticker = g_timeout_add_full (G_PRIORITY_HIGH, 2, main_tick, &main_gap, NULL);
  assay_ui_activate (ui, "win.run", NULL);
  assay_ui_wait (has_finished, ui, "the run to end");
  assay_ui_wait (plots_shown, ui, "plots");
  g_source_remove (ticker);
  g_atomic_int_set (&sleeper_gap.stop, TRUE);
  g_thread_join (thread);
  run = assay_run_model_get (assay_context_get_run (context_of (ui)));
  g_assert_cmpint (run->state, ==, ASSAY_STATUS_PASSED);
  g_assert_cmpuint (run->workloads->len, ==, 3);
  g_assert_nonnull (run->audit);
  g_assert_nonnull (assay_ui_find_text (GTK_WIDGET (ui->window), "gold: reference in float128"));
  g_test_message ("longest gap: main loop %.1f ms, a sleeping thread %.1f ms",
                  (double) main_gap.longest / 1000, (double) sleeper_gap.longest / 1000);
  if (g_test_perf ())
    g_assert_cmpint (main_gap.longest, <, sleeper_gap.longest + LONGEST_GAP_MS * 1000);
}

/* --- the source, with what ran there and the PTX of it ---------------------------------------- */

static AssaySourceView *
side_of (gpointer ui, const char *name)
{
  return ASSAY_SOURCE_VIEW (assay_ui_find (
      assay_ui_find (GTK_WIDGET (((AssayUi *) ui)->window), ASSAY_TYPE_SOURCE_PAGE, NULL),
      ASSAY_TYPE_SOURCE_VIEW, name));
}

static gboolean
ptx_shown (gpointer data)
{
  return g_strcmp0 (assay_source_view_get_file (side_of (data, "reference_view")),
                    "artifacts/sm_80.ptx")
         == 0;
}

static void
test_source_heat_and_ptx (void)
{
  g_autoptr (AssayUi) ui = open_with_engine ();
  GtkWidget *page, *ptx;
  AssaySourceView *source, *listing;
  g_autofree char *loop = NULL, *comment = NULL, *before = NULL, *after = NULL;
  int first, last, at;

  assay_ui_activate (ui, "win.run", NULL);
  assay_ui_wait (has_finished, ui, "the run to end");
  assay_window_show_page (ui->window, "source");
  assay_ui_settle (ui);
  source = side_of (ui, "candidate_view");
  listing = side_of (ui, "reference_view");
  page = assay_ui_find (GTK_WIDGET (ui->window), ASSAY_TYPE_SOURCE_PAGE, NULL);
  ptx = assay_ui_find (page, GTK_TYPE_TOGGLE_BUTTON, "ptx");
  comment = assay_source_view_get_heat_text (source, 1);
  g_assert_null (comment); /* the licence's line is no code */
  for (at = 1; loop == NULL && at < 200; at++)
    loop = assay_source_view_get_heat_text (source, at);
  g_assert_nonnull (loop);
  g_assert_true (gtk_widget_get_sensitive (ptx));
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (ptx), TRUE);
  assay_ui_wait (ptx_shown, ui, "the PTX");
  /* From a line of the source to its PTX, and from further down there back to another line. */
  assay_source_view_go_to_line (source, at + 3);
  before = assay_source_view_get_selection (listing, &first, &last);
  g_assert_nonnull (strstr (before, ".loc"));
  assay_source_view_go_to_line (listing, first + 60);
  after = assay_source_view_get_selection (source, &first, &last);
  g_assert_cmpint (first, !=, at + 3);
  gtk_widget_measure (page, GTK_ORIENTATION_HORIZONTAL, -1, &at, NULL, NULL, NULL);
  g_assert_cmpint (at, <=, 1000); /* a window of 1024 has room for it, whatever the paths */
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (ptx), FALSE);
  g_assert_cmpstr (assay_source_view_get_file (listing), ==, "reference.c");
}

/* --- limits and failures ---------------------------------------------------------------------- */

static gboolean
failure_told (gpointer data)
{
  return assay_ui_find_text (GTK_WIDGET (((AssayUi *) data)->window), "decided by") != NULL;
}

static void
test_validity_tells_limits_and_failures (void)
{
  g_autoptr (AssayUi) ui = open_with_engine ();
  g_autofree char *kernel = g_build_filename (ui->home, "tasks", "row_softmax", "candidates",
                                              "warp_shuffle", "kernel.cu", NULL);
  GtkWidget *window = GTK_WIDGET (ui->window);

  assay_window_show_page (ui->window, "validity");
  assay_ui_activate (ui, "win.run", NULL);
  assay_ui_wait (has_finished, ui, "the run to end");
  assay_ui_settle (ui);
  g_assert_nonnull (assay_ui_find_text (window, "threads a block"));
  g_assert_nonnull (assay_ui_find_text (window, "row_softmax on sm_80"));
  /* CUDA's own calculator: 256 threads with 31 registers fill an A100's 64 warps. */
  g_assert_nonnull (assay_ui_find_text (window, "8 blocks of 8 warps a multiprocessor: 64 of 64"));
  g_assert_false (failure_told (ui));
  g_assert_true (g_file_set_contents (
      kernel, "extern \"C\" __global__ void row_softmax () { undeclared (); }\n", -1, NULL));
  assay_ui_wait (can_run, ui, "to be able to run again");
  assay_ui_activate (ui, "win.run", NULL);
  assay_ui_wait (failure_told, ui, "the failure's class");
  g_assert_nonnull (assay_ui_find_text (window, "COMPILE"));
  g_assert_nonnull (assay_ui_find_text (window, "advice"));
}

static gboolean
is_cancelled (gpointer data)
{
  AssayRunModel *run = assay_context_get_run (context_of (data));

  return run != NULL && !assay_run_model_is_running (run)
         && assay_run_model_get (run)->state != ASSAY_STATUS_PENDING
         && assay_run_model_get (run)->state != ASSAY_STATUS_RUNNING;
}

static void
test_stop (void)
{
  g_autoptr (AssayUi) ui = open_with_engine ();

  assay_ui_activate (ui, "win.run", NULL);
  assay_ui_wait (has_begun, ui, "the run to begin");
  assay_ui_activate (ui, "win.stop", NULL);
  assay_ui_wait (is_cancelled, ui, "the run to stop");
  assay_ui_wait (can_run, ui, "to be able to run again");
}

static AssayNotice *
engine_notice (AssayUi *ui)
{
  return assay_notice_box_find (
      GTK_BOX (assay_ui_find (GTK_WIDGET (ui->window), GTK_TYPE_BOX, "notices")), "engine");
}

static gboolean
loss_told (gpointer data)
{
  return engine_notice (data) != NULL;
}

static void
test_engine_killed (void)
{
  g_autoptr (AssayUi) ui = open_with_engine ();
  const char *pid = assay_engine_client_get_pid (engine_of (ui));
  const char *text;

  assay_ui_activate (ui, "win.score", "s", "2");
  assay_ui_activate (ui, "win.run", NULL);
  assay_ui_wait (has_begun, ui, "the run to begin");
  g_assert_nonnull (pid);
  g_assert_cmpint (kill ((pid_t) g_ascii_strtoll (pid, NULL, 10), SIGKILL), ==, 0);
  assay_ui_wait (loss_told, ui, "the loss to be told");
  text = assay_notice_get_text (engine_notice (ui));
  g_assert_nonnull (strstr (text, "stopped while running row_softmax"));
  g_assert_nonnull (strstr (text, "your review is intact"));
  g_assert_true (assay_run_model_is_lost (assay_context_get_run (context_of (ui))));
  g_assert_cmpstr (
      ((AssayScore *) g_ptr_array_index (
           assay_draft_get_review (assay_context_get_draft (context_of (ui)))->scores, 0))
          ->value,
      ==, "2");
  /* It comes back by itself, and works. */
  assay_ui_wait (can_run, ui, "the engine to come back");
  assay_ui_activate (ui, "win.run", NULL);
  assay_ui_wait (has_finished, ui, "a run of the new engine");
}

static gboolean
failed_told (gpointer data)
{
  return assay_notice_box_find (GTK_BOX (assay_ui_find (GTK_WIDGET (((AssayUi *) data)->window),
                                                        GTK_TYPE_BOX, "notices")),
                                "engine-failed")
         != NULL;
}

static void
test_no_engine (void)
{
  g_autoptr (AssayUi) ui = assay_ui_start (NULL, "/nowhere/assay-engine");

  assay_ui_wait (failed_told, ui, "the reason");
  g_assert_false (g_action_group_get_action_enabled (G_ACTION_GROUP (ui->window), "run"));
}

int
main (int argc, char **argv)
{
  assay_ui_init (&argc, &argv);
  g_test_add_func ("/engine/run-streams-in", test_run_streams_in);
  g_test_add_func ("/engine/source-heat-and-ptx", test_source_heat_and_ptx);
  g_test_add_func ("/engine/validity-tells-limits-and-failures",
                   test_validity_tells_limits_and_failures);
  g_test_add_func ("/engine/stop", test_stop);
  g_test_add_func ("/engine/killed", test_engine_killed);
  g_test_add_func ("/engine/none", test_no_engine);
  return g_test_run ();
}
