/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/validity-page.h"

#include "app/later.h"
#include "app/limit-bars.h"
#include "app/times-card.h"
#include "engine/findings/failure.h"
#include "widgets/badge.h"
#include "widgets/card.h"

#define LONGEST_LOG (512 * 1024)

struct _AssayValidityPage
{
  GtkWidget parent;
  GtkWidget *scroller;
  AssayCard *grid_card, *log_card, *launch_card, *failure_card, *limit_card, *times_card;
  GtkGrid *grid, *stages, *launches, *limits, *failure, *environment;
  GtkLabel *limit_note;
  GtkGrid *times;
  AssayPlotWidget *times_plot;
  GtkTextView *log;
  GtkBox *checks;
  AssayContext *context;
  char *log_path; /* relative to the run folder; NULL: the session's own log */
  GCancellable *cancellable;
  AssayLater *later;
};

G_DEFINE_FINAL_TYPE (AssayValidityPage, assay_validity_page, GTK_TYPE_WIDGET)

static const AssayRun *
record_of (AssayValidityPage *self)
{
  AssayRunModel *run = assay_context_get_run (self->context);

  return run != NULL ? assay_run_model_get (run) : NULL;
}

/* --- logs ------------------------------------------------------------------------------------ */

static void
set_log (AssayValidityPage *self, const char *title, const char *text)
{
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (self->log);
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  gtk_text_buffer_set_text (buffer, valid, -1);
  assay_card_set_subtitle (self->log_card, title);
}

static void
read_log (GTask *task, gpointer source, gpointer path, GCancellable *cancellable)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GMappedFile) file = g_mapped_file_new (path, FALSE, &error);

  if (file == NULL)
    g_task_return_error (task, g_steal_pointer (&error));
  else
    g_task_return_pointer (task,
                           g_strndup (g_mapped_file_get_contents (file),
                                      MIN (g_mapped_file_get_length (file), LONGEST_LOG)),
                           g_free);
}

static void
log_read (GObject *source, GAsyncResult *result, gpointer data)
{
  AssayValidityPage *self = ASSAY_VALIDITY_PAGE (source);
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_task_propagate_pointer (G_TASK (result), &error);

  if (self->context == NULL || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  set_log (self, self->log_path, text != NULL ? text : error->message);
}

static void
show_log (AssayValidityPage *self, const char *relative)
{
  AssayRunModel *run = assay_context_get_run (self->context);
  g_autoptr (GTask) task = NULL;

  g_cancellable_cancel (self->cancellable);
  g_object_unref (self->cancellable);
  self->cancellable = g_cancellable_new ();
  g_free (self->log_path);
  self->log_path = g_strdup (relative);
  if (run == NULL)
    set_log (self, NULL, "Not run yet. Logs of compilers and of the candidate stand here.");
  else if (relative == NULL || assay_run_model_get_folder (run) == NULL)
    set_log (self, "this session", assay_run_model_get_log (run));
  else
    {
      task = g_task_new (self, self->cancellable, log_read, NULL);
      g_task_set_source_tag (task, show_log);
      g_task_set_task_data (
          task, g_build_filename (assay_run_model_get_folder (run), relative, NULL), g_free);
      g_task_run_in_thread (task, read_log);
    }
}

static void
cell_clicked (AssayValidityPage *self, GtkWidget *cell)
{
  show_log (self, g_object_get_data (G_OBJECT (cell), "log"));
}

/* The plot of times while it has the focus. */
static AssayEvidence *
evidence_of_times (AssayValidityPage *self)
{
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));
  GtkWidget *focus = root != NULL ? gtk_root_get_focus (root) : NULL;
  AssayPlotScene *scene = assay_plot_widget_get_scene (self->times_plot);
  AssayEvidence *evidence;

  if (scene == NULL || focus == NULL
      || (focus != GTK_WIDGET (self->times_plot)
          && !gtk_widget_is_ancestor (focus, GTK_WIDGET (self->times_plot))))
    return NULL;
  evidence = assay_evidence_new ();
  evidence->kind = g_strdup ("plot");
  evidence->ref = g_strdup (scene->id);
  evidence->title = g_strdup_printf ("%s, %s", scene->title, scene->subtitle);
  evidence->quote = g_strdup (scene->description);
  return evidence;
}

AssayEvidence *
assay_validity_page_get_evidence (AssayValidityPage *self)
{
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (self->log);
  AssayEvidence *evidence;
  GtkTextIter start, end;

  evidence = evidence_of_times (self);
  if (evidence != NULL || self->log_path == NULL)
    return evidence;
  evidence = assay_evidence_new ();
  evidence->kind = g_strdup ("log");
  evidence->ref = g_strdup (self->log_path);
  evidence->title = g_path_get_basename (self->log_path);
  if (gtk_text_buffer_get_selection_bounds (buffer, &start, &end))
    {
      evidence->first_line = gtk_text_iter_get_line (&start) + 1;
      evidence->last_line = gtk_text_iter_get_line (&end) + 1;
      evidence->quote = gtk_text_buffer_get_text (buffer, &start, &end, FALSE);
    }
  return evidence;
}

/* --- candidates × targets -------------------------------------------------------------------- */

static char *
compile_text (const AssayCompile *compile)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (compile->status != ASSAY_STATUS_PASSED)
    return g_strdup (compile->failure != NULL ? compile->failure : ASSAY_STATUSES[compile->status]);
  if (compile->registers >= 0)
    g_string_append_printf (text, "%" G_GINT64_FORMAT " reg", compile->registers);
  if (compile->shared_bytes > 0)
    g_string_append_printf (text, "%s%.1f KiB", text->len > 0 ? " · " : "",
                            (double) compile->shared_bytes / 1024);
  if (compile->spill_store_bytes + compile->spill_load_bytes > 0)
    g_string_append_printf (text, " · spills %" G_GINT64_FORMAT " B",
                            MAX (compile->spill_store_bytes, compile->spill_load_bytes));
  return g_string_free (text->len > 0 ? g_steal_pointer (&text) : g_string_new ("built"), FALSE);
}

static GtkWidget *
compile_cell (AssayValidityPage *self, const AssayCompile *compile)
{
  gboolean spills = compile->spill_store_bytes + compile->spill_load_bytes > 0;
  GtkWidget *cell = gtk_button_new ();
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  g_autofree char *text = compile_text (compile);

  gtk_box_append (GTK_BOX (line),
                  assay_badge_image_new (compile->status == ASSAY_STATUS_PASSED && spills
                                             ? assay_badge_severity (ASSAY_SEVERITY_MAJOR)
                                             : assay_badge_status (compile->status)));
  gtk_box_append (GTK_BOX (line), assay_cell_new (text, "numeric"));
  gtk_button_set_child (GTK_BUTTON (cell), line);
  gtk_widget_add_css_class (cell, "grid-cell");
  if (compile->status == ASSAY_STATUS_FAILED || compile->status == ASSAY_STATUS_ERROR)
    gtk_widget_add_css_class (cell, "failed");
  else if (spills)
    gtk_widget_add_css_class (cell, "warned");
  gtk_widget_set_hexpand (cell, TRUE);
  g_object_set_data_full (G_OBJECT (cell), "log", g_strdup (compile->log), g_free);
  g_signal_connect_object (cell, "clicked", G_CALLBACK (cell_clicked), self, G_CONNECT_SWAPPED);
  return cell;
}

/* A task lists "cuda:sm_80", a build says "sm_80". */
static gboolean
same_target (const char *a, const char *b)
{
  const char *left = a != NULL && g_str_has_prefix (a, "cuda:") ? a + strlen ("cuda:") : a;
  const char *right = b != NULL && g_str_has_prefix (b, "cuda:") ? b + strlen ("cuda:") : b;

  return g_strcmp0 (left, right) == 0;
}

static void
add_unknown (GPtrArray *targets, const char *target)
{
  for (guint i = 0; i < targets->len; i++)
    if (same_target (g_ptr_array_index (targets, i), target))
      return;
  g_ptr_array_add (targets, (gpointer) target);
}

/* Listed targets first, then whatever was built besides. */
static GPtrArray *
collect_targets (AssayTaskItem *item)
{
  const AssayTask *task = assay_task_item_get_task (item);
  GPtrArray *targets = g_ptr_array_new ();

  for (int i = 0; task->targets != NULL && task->targets[i] != NULL; i++)
    add_unknown (targets, task->targets[i]);
  for (guint c = 0; c < task->candidates->len; c++)
    {
      const AssayCandidate *candidate = g_ptr_array_index (task->candidates, c);
      AssayRunModel *run = assay_task_item_get_run (item, candidate->name);
      const GPtrArray *compiled = run != NULL ? assay_run_model_get (run)->compile : NULL;

      for (guint i = 0; compiled != NULL && i < compiled->len; i++)
        add_unknown (targets, ((AssayCompile *) g_ptr_array_index (compiled, i))->target);
    }
  return targets;
}

static const AssayCompile *
compile_for (AssayRunModel *run, const char *target)
{
  const GPtrArray *compiled = run != NULL ? assay_run_model_get (run)->compile : NULL;

  for (guint i = 0; compiled != NULL && i < compiled->len; i++)
    {
      const AssayCompile *compile = g_ptr_array_index (compiled, i);

      if (same_target (compile->target, target))
        return compile;
    }
  return NULL;
}

static void
fill_grid (AssayValidityPage *self)
{
  AssayTaskItem *item = assay_context_get_task_item (self->context);
  const AssayTask *task = assay_context_get_task (self->context);
  g_autoptr (GPtrArray) targets = NULL;

  assay_clear_children (GTK_WIDGET (self->grid));
  if (task == NULL)
    return;
  targets = collect_targets (item);
  for (guint t = 0; t < targets->len; t++)
    {
      GtkWidget *head = assay_cell_new (g_ptr_array_index (targets, t), "table-head");

      gtk_widget_set_margin_start (head, 11);
      gtk_widget_set_hexpand (head, TRUE);
      gtk_grid_attach (self->grid, head, (int) t + 1, 0, 1, 1);
    }
  for (guint c = 0; c < task->candidates->len; c++)
    {
      const AssayCandidate *candidate = g_ptr_array_index (task->candidates, c);
      AssayRunModel *run = assay_task_item_get_run (item, candidate->name);
      GtkWidget *name = assay_cell_new (candidate->name, "region-title");

      gtk_widget_set_margin_end (name, 24);
      gtk_grid_attach (self->grid, name, 0, (int) c + 1, 1, 1);
      for (guint t = 0; t < targets->len; t++)
        {
          const AssayCompile *compile = compile_for (run, g_ptr_array_index (targets, t));
          GtkWidget *cell = compile != NULL
                                ? compile_cell (self, compile)
                                : assay_cell_new (run != NULL ? "–  not built" : "–", "dim");

          if (compile == NULL)
            gtk_widget_set_margin_start (cell, 11);
          gtk_grid_attach (self->grid, cell, (int) t + 1, (int) c + 1, 1, 1);
        }
    }
}

/* --- stages ---------------------------------------------------------------------------------- */

static void
fill_stages (AssayValidityPage *self)
{
  AssayRunModel *run = assay_context_get_run (self->context);
  const AssayRun *record = record_of (self);
  int statuses[ASSAY_N_STAGES] = {0};

  assay_clear_children (GTK_WIDGET (self->stages));
  if (run != NULL)
    assay_run_model_get_stages (run, statuses);
  for (int i = 0; i < ASSAY_N_STAGES; i++)
    {
      const AssayStage *stage = NULL;
      g_autofree char *seconds = NULL;
      GtkWidget *reason;

      for (guint s = 0; record != NULL && s < record->stages->len; s++)
        if (g_strcmp0 (((AssayStage *) g_ptr_array_index (record->stages, s))->name,
                       ASSAY_STAGES[i])
            == 0)
          stage = g_ptr_array_index (record->stages, s);
      if (stage != NULL && stage->seconds > 0)
        seconds = g_strdup_printf ("%.2f s", stage->seconds);
      reason = assay_cell_new (stage != NULL && stage->reason != NULL ? stage->reason : "", "dim");
      gtk_widget_set_hexpand (reason, TRUE);
      gtk_grid_attach (self->stages, assay_badge_image_new (assay_badge_status (statuses[i])), 0, i,
                       1, 1);
      gtk_grid_attach (self->stages, assay_cell_new (ASSAY_STAGES[i], NULL), 1, i, 1, 1);
      gtk_grid_attach (self->stages, assay_cell_new (ASSAY_STATUSES[statuses[i]], "dim"), 2, i, 1,
                       1);
      gtk_grid_attach (self->stages, reason, 3, i, 1, 1);
      gtk_grid_attach (self->stages, assay_cell_new (seconds, "mono"), 4, i, 1, 1);
    }
}

/* --- launches -------------------------------------------------------------------------------- */

static char *
triple (const GArray *values)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < values->len; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "",
                            g_array_index (values, gint64, i));
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
add_launch (AssayValidityPage *self, const char *workload, const AssayLaunch *launch, int row)
{
  g_autofree char *grid = triple (launch->grid), *block = triple (launch->block);
  g_autofree char *shared = g_strdup_printf ("%" G_GINT64_FORMAT " B", launch->shared);
  g_autofree char *registers =
      launch->registers >= 0 ? g_strdup_printf ("%" G_GINT64_FORMAT, launch->registers) : NULL;
  const char *cells[] = {workload, launch->kernel, grid, block, shared, registers};

  for (int i = 0; i < (int) G_N_ELEMENTS (cells); i++)
    {
      GtkWidget *cell = assay_cell_new (cells[i], i > 0 ? "mono" : NULL);

      gtk_widget_set_hexpand (cell, i == 1);
      gtk_grid_attach (self->launches, cell, i, row, 1, 1);
    }
}

/* The launch that asks most: of threads, then of shared memory. */
static const AssayLaunch *
largest_launch (const AssayRun *record)
{
  const AssayLaunch *largest = NULL;
  gint64 most = -1;

  for (guint w = 0; record != NULL && w < record->workloads->len; w++)
    {
      const AssayWorkloadRecord *workload = g_ptr_array_index (record->workloads, w);

      for (guint l = 0; l < workload->launches->len; l++)
        {
          const AssayLaunch *launch = g_ptr_array_index (workload->launches, l);
          gint64 threads = 1;

          if (launch->grid->len != 3 || launch->block->len != 3)
            continue;
          for (guint i = 0; i < 3; i++)
            threads *= CLAMP (g_array_index (launch->block, gint64, i), 0, 1 << 20);
          if (threads > most || (threads == most && launch->shared > largest->shared))
            {
              most = threads;
              largest = launch;
            }
        }
    }
  return largest;
}

static void
fill_limits (AssayValidityPage *self)
{
  const AssayRun *record = record_of (self);
  const AssayLaunch *launch = largest_launch (record);
  AssayLaunchAsks asks = {0};
  g_autofree char *note = NULL, *title = NULL;

  for (guint i = 0; launch != NULL && i < 3; i++)
    {
      asks.grid[i] = g_array_index (launch->grid, gint64, i);
      asks.block[i] = g_array_index (launch->block, gint64, i);
    }
  if (launch != NULL)
    {
      asks.shared = launch->shared;
      asks.registers = launch->registers;
      title = g_strdup_printf ("%s on %s", launch->kernel, record->device.target);
    }
  gtk_widget_set_visible (
      GTK_WIDGET (self->limit_card),
      launch != NULL && assay_limit_bars_fill (self->limits, record->device.target, &asks, &note));
  assay_card_set_subtitle (self->limit_card, title);
  gtk_label_set_text (self->limit_note, note != NULL ? note : "");
}

static void
fill_launches (AssayValidityPage *self)
{
  static const char *const heads[] = {"workload", "kernel", "grid", "block", "shared", "registers"};
  const AssayRun *record = record_of (self);
  int row = 0;

  assay_clear_children (GTK_WIDGET (self->launches));
  for (int i = 0; i < (int) G_N_ELEMENTS (heads); i++)
    gtk_grid_attach (self->launches, assay_cell_new (heads[i], "table-head"), i, 0, 1, 1);
  for (guint w = 0; record != NULL && w < record->workloads->len; w++)
    {
      const AssayWorkloadRecord *workload = g_ptr_array_index (record->workloads, w);

      for (guint l = 0; l < workload->launches->len && row < 200; l++)
        add_launch (self, l == 0 ? workload->name : "", g_ptr_array_index (workload->launches, l),
                    ++row);
    }
  assay_card_set_subtitle (self->launch_card,
                           row > 0 ? "as the driver saw them" : "none recorded yet");
  fill_limits (self);
}

/* --- times ----------------------------------------------------------------------------------- */

static void
fill_times (AssayValidityPage *self)
{
  const AssayRun *record = record_of (self);
  const AssayTimingSummary *benchmark = record != NULL ? record->benchmark : NULL;
  g_autofree char *words = NULL;

  gtk_widget_set_visible (GTK_WIDGET (self->times_card),
                          benchmark != NULL && benchmark->timings->len > 0);
  if (benchmark == NULL || benchmark->timings->len == 0)
    return;
  words = assay_times_describe (benchmark);
  assay_card_set_subtitle (self->times_card, words);
  assay_times_fill (self->times, self->times_plot, benchmark);
}

static void
times_grow (AssayValidityPage *self)
{
  gboolean grown = FALSE;

  g_object_get (self->times_plot, "grown", &grown, NULL);
  gtk_widget_set_size_request (GTK_WIDGET (self->times_plot), -1, grown ? 250 : 520);
  g_object_set (self->times_plot, "grown", !grown, NULL);
}

static void
times_attached (AssayValidityPage *self)
{
  gtk_widget_activate_action (GTK_WIDGET (self), "win.attach", NULL);
}

/* --- failure class --------------------------------------------------------------------------- */

static void
add_failure_fact (AssayValidityPage *self, int row, const char *name, const char *value)
{
  GtkWidget *words = assay_words_new (value, NULL);

  gtk_widget_set_hexpand (words, TRUE);
  gtk_grid_attach (self->failure, assay_cell_new (name, "name"), 0, row, 1, 1);
  gtk_grid_attach (self->failure, words, 1, row, 1, 1);
}

/* The first build or workload that did not come to its end, as the classifier sees it. */
static const char *
what_failed (const AssayRun *record, const char **name, const char **where)
{
  *name = NULL;
  for (guint i = 0; i < record->workloads->len; i++)
    {
      const AssayWorkloadRecord *workload = g_ptr_array_index (record->workloads, i);

      if (workload->reason == NULL
          || (workload->status != ASSAY_WORKLOAD_RUNTIME_ERROR
              && workload->status != ASSAY_WORKLOAD_TIMEOUT
              && workload->status != ASSAY_WORKLOAD_COMPILE_ERROR
              && workload->status != ASSAY_WORKLOAD_INCONCLUSIVE))
        continue;
      *where = workload->name;
      if (workload->status == ASSAY_WORKLOAD_TIMEOUT)
        *name = "timeout";
      return workload->reason;
    }
  return NULL;
}

static void
fill_failure (AssayValidityPage *self)
{
  const AssayRun *record = record_of (self);
  const char *name = NULL, *where = NULL;
  const char *text = record != NULL ? what_failed (record, &name, &where) : NULL;
  const AssayFailureClass *is;
  g_autofree char *quote = NULL, *blame = NULL;
  gsize start, end;

  assay_clear_children (GTK_WIDGET (self->failure));
  gtk_widget_set_visible (GTK_WIDGET (self->failure_card), text != NULL);
  if (text == NULL)
    return;
  is = assay_failure_explain (name, text, &start, &end);
  quote = end > start ? g_strndup (text + start, end - start) : g_strdup (name);
  blame = g_strdup_printf ("%s%s", ASSAY_BLAMES[is->blame],
                           is->undecided ? ", unless a second run shows otherwise" : "");
  assay_card_set_subtitle (self->failure_card, where);
  add_failure_fact (self, 0, "class", is->failure_class);
  add_failure_fact (self, 1, "blame", blame);
  add_failure_fact (self, 2, "decided by", quote != NULL ? quote : "nothing that is known");
  add_failure_fact (self, 3, "it says", text);
  add_failure_fact (self, 4, "advice", is->advice != NULL ? is->advice : "–");
}

/* --- checks and environment ------------------------------------------------------------------ */

static const char *const check_families[] = {"mem.", "race.", "sync.", "launch.", "build."};

static gboolean
is_check (const AssayFinding *finding)
{
  for (gsize i = 0; i < G_N_ELEMENTS (check_families); i++)
    if (g_str_has_prefix (finding->rule, check_families[i]))
      return TRUE;
  return FALSE;
}

static void
add_check (AssayValidityPage *self, const AssayFinding *finding)
{
  GtkWidget *button = gtk_button_new (), *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  GtkWidget *title = assay_cell_new (finding->title, NULL);
  g_autofree char *count = g_strdup_printf ("%" G_GUINT64_FORMAT " ×", finding->count);

  gtk_widget_set_hexpand (title, TRUE);
  gtk_box_append (GTK_BOX (line), assay_badge_image_new (assay_badge_severity (finding->severity)));
  gtk_box_append (GTK_BOX (line), assay_cell_new (finding->rule, "mono"));
  gtk_box_append (GTK_BOX (line), title);
  gtk_box_append (GTK_BOX (line), assay_cell_new (count, "dim"));
  gtk_button_set_child (GTK_BUTTON (button), line);
  gtk_widget_add_css_class (button, "needed");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.show-finding");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "s", finding->id);
  gtk_box_append (self->checks, button);
}

static void
fill_checks (AssayValidityPage *self)
{
  AssayRunModel *run = assay_context_get_run (self->context);
  GListModel *findings = run != NULL ? assay_run_model_get_findings (run) : NULL;
  int statuses[ASSAY_N_STAGES] = {0};
  guint shown = 0;

  assay_clear_children (GTK_WIDGET (self->checks));
  for (guint i = 0; findings != NULL && i < g_list_model_get_n_items (findings) && shown < 50; i++)
    {
      g_autoptr (AssayFindingItem) item = g_list_model_get_item (findings, i);

      if (is_check (assay_finding_item_get (item)))
        {
          add_check (self, assay_finding_item_get (item));
          shown++;
        }
    }
  if (run != NULL)
    assay_run_model_get_stages (run, statuses);
  if (shown == 0)
    gtk_box_append (self->checks,
                    assay_words_new (statuses[ASSAY_STAGE_CHECK] == ASSAY_STATUS_PASSED
                                         ? "Bounds, initialisation, races and barriers: nothing "
                                           "found."
                                         : "The checkers have not run; the stage above says why.",
                                     "dim"));
}

static void
add_fact (AssayValidityPage *self, const char *name, const char *value)
{
  int row = 0;

  if (value == NULL || *value == '\0')
    return;
  while (gtk_grid_get_child_at (self->environment, 0, row) != NULL)
    row++;
  gtk_grid_attach (self->environment, assay_cell_new (name, "name"), 0, row, 1, 1);
  gtk_grid_attach (self->environment, assay_cell_new (value, NULL), 1, row, 1, 1);
}

static void
fill_environment (AssayValidityPage *self)
{
  const AssayRun *record = record_of (self);

  assay_clear_children (GTK_WIDGET (self->environment));
  if (record == NULL)
    {
      add_fact (self, "run", "not run yet");
      return;
    }
  add_fact (self, "device", record->device.name);
  add_fact (self, "target", record->device.target);
  add_fact (self, "math", record->device.math_mode);
  add_fact (self, "checks", record->device.checks);
  add_fact (self, "driver", record->device.driver);
  add_fact (self, "toolkit", record->device.toolkit);
  add_fact (self, "sandbox", record->environment.sandbox);
  add_fact (self, "system", record->environment.os);
  add_fact (self, "processor", record->environment.cpu);
  add_fact (self, "started", record->started);
  add_fact (self, "finished", record->finished);
}

/* --- following ------------------------------------------------------------------------------- */

static void
show_first_log (AssayValidityPage *self)
{
  const AssayRun *record = record_of (self);
  const AssayCompile *first =
      record != NULL && record->compile->len > 0 ? g_ptr_array_index (record->compile, 0) : NULL;

  show_log (self, first != NULL ? first->log : NULL);
}

static void
show (gpointer data, guint what)
{
  AssayValidityPage *self = data;

  if (what & (ASSAY_RUN_CHANGED_COMPILE | ASSAY_RUN_CHANGED_STATE))
    fill_grid (self);
  if (what & (ASSAY_RUN_CHANGED_STAGES | ASSAY_RUN_CHANGED_STATE))
    fill_stages (self);
  if (what & ASSAY_RUN_CHANGED_WORKLOADS)
    {
      fill_launches (self);
      fill_failure (self);
    }
  if (what & ASSAY_RUN_CHANGED_TIMES)
    fill_times (self);
  if (what & (ASSAY_RUN_CHANGED_FINDINGS | ASSAY_RUN_CHANGED_STATE))
    fill_checks (self);
  if (what & ASSAY_RUN_CHANGED_STATE)
    fill_environment (self);
  if (what == ASSAY_RUN_CHANGED_ALL)
    show_first_log (self);
  else if ((what & ASSAY_RUN_CHANGED_LOG) && self->log_path == NULL)
    show_log (self, NULL);
}

static void
run_changed (AssayValidityPage *self, guint what)
{
  assay_later_push (self->later, what);
}

static void
task_changed (AssayValidityPage *self)
{
  assay_later_push (self->later, ASSAY_RUN_CHANGED_ALL);
}

void
assay_validity_page_set_context (AssayValidityPage *self, AssayContext *context)
{
  g_return_if_fail (ASSAY_IS_VALIDITY_PAGE (self));
  self->context = g_object_ref (context);
  g_signal_connect_object (context, "task-changed", G_CALLBACK (task_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (context, "run-changed", G_CALLBACK (run_changed), self,
                           G_CONNECT_SWAPPED);
  task_changed (self);
}

static void
assay_validity_page_dispose (GObject *object)
{
  AssayValidityPage *self = ASSAY_VALIDITY_PAGE (object);

  g_clear_pointer (&self->later, assay_later_free);
  g_cancellable_cancel (self->cancellable);
  g_clear_pointer (&self->scroller, gtk_widget_unparent);
  g_clear_object (&self->context);
  G_OBJECT_CLASS (assay_validity_page_parent_class)->dispose (object);
}

static void
assay_validity_page_finalize (GObject *object)
{
  AssayValidityPage *self = ASSAY_VALIDITY_PAGE (object);

  g_clear_object (&self->cancellable);
  g_free (self->log_path);
  G_OBJECT_CLASS (assay_validity_page_parent_class)->finalize (object);
}

static void
assay_validity_page_class_init (AssayValidityPageClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = assay_validity_page_dispose;
  G_OBJECT_CLASS (class)->finalize = assay_validity_page_finalize;
  g_type_ensure (ASSAY_TYPE_CARD);
  g_type_ensure (ASSAY_TYPE_PLOT_WIDGET);
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/assay/Assay/ui/validity-page.ui");
  gtk_widget_class_bind_template_child (widget_class, AssayValidityPage, scroller);
  gtk_widget_class_bind_template_child (widget_class, AssayValidityPage, grid_card);
  gtk_widget_class_bind_template_child (widget_class, AssayValidityPage, log_card);
  gtk_widget_class_bind_template_child (widget_class, AssayValidityPage, launch_card);
  gtk_widget_class_bind_template_child (widget_class, AssayValidityPage, failure_card);
  gtk_widget_class_bind_template_child (widget_class, AssayValidityPage, limit_card);
  gtk_widget_class_bind_template_child (widget_class, AssayValidityPage, times_card);
  gtk_widget_class_bind_template_child (widget_class, AssayValidityPage, times);
  gtk_widget_class_bind_template_child (widget_class, AssayValidityPage, times_plot);
  gtk_widget_class_bind_template_callback (widget_class, times_attached);
  gtk_widget_class_bind_template_callback (widget_class, times_grow);
  gtk_widget_class_bind_template_child (widget_class, AssayValidityPage, failure);
  gtk_widget_class_bind_template_child (widget_class, AssayValidityPage, limits);
  gtk_widget_class_bind_template_child (widget_class, AssayValidityPage, limit_note);
  gtk_widget_class_bind_template_child (widget_class, AssayValidityPage, grid);
  gtk_widget_class_bind_template_child (widget_class, AssayValidityPage, stages);
  gtk_widget_class_bind_template_child (widget_class, AssayValidityPage, launches);
  gtk_widget_class_bind_template_child (widget_class, AssayValidityPage, environment);
  gtk_widget_class_bind_template_child (widget_class, AssayValidityPage, log);
  gtk_widget_class_bind_template_child (widget_class, AssayValidityPage, checks);
}

static void
assay_validity_page_init (AssayValidityPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->later = assay_later_new (GTK_WIDGET (self), show);
  self->cancellable = g_cancellable_new ();
}
