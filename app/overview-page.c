/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/overview-page.h"

#include "app/later.h"
#include "app/task-facts.h"
#include "widgets/badge.h"
#include "widgets/card.h"
#include "widgets/markdown-view.h"

struct _AssayOverviewPage
{
  GtkWidget parent;
  GtkWidget *scroller;
  GtkLabel *title;
  GtkLabel *task_id;
  GtkWidget *problem;
  GtkLabel *problem_text;
  AssayCard *spec_card;
  AssayMarkdownView *spec;
  GtkGrid *facts;
  GtkBox *candidates;
  AssayCard *workloads_card;
  GtkGrid *workloads;
  GtkFlowBox *sources;
  AssayContext *context;
  AssayLater *later;
};

G_DEFINE_FINAL_TYPE (AssayOverviewPage, assay_overview_page, GTK_TYPE_WIDGET)

static void
fill_facts (AssayOverviewPage *self, AssayTaskItem *item)
{
  g_autoptr (GPtrArray) facts = assay_task_facts (assay_task_item_get_task (item));

  assay_clear_children (GTK_WIDGET (self->facts));
  for (guint i = 0; i < facts->len; i++)
    {
      const AssayFact *fact = g_ptr_array_index (facts, i);
      GtkWidget *name = assay_words_new (fact->name, "name");
      GtkWidget *value = assay_words_new (fact->value, fact->silent ? "dim" : NULL);

      gtk_label_set_selectable (GTK_LABEL (value), TRUE);
      gtk_widget_set_can_focus (value, FALSE);
      gtk_widget_set_hexpand (value, TRUE);
      gtk_grid_attach (self->facts, name, 0, (int) i, 1, 1);
      gtk_grid_attach (self->facts, value, 1, (int) i, 1, 1);
    }
}

/* --- candidates ------------------------------------------------------------------------------ */

static GtkWidget *
verdict_chip (AssayRunModel *run)
{
  const AssayRun *record;
  guint passed = 0;
  g_autofree char *text = NULL;

  if (run == NULL)
    return assay_chip_new (assay_badge_status (ASSAY_STATUS_PENDING), "not run");
  record = assay_run_model_get (run);
  if (assay_run_model_is_running (run))
    return assay_chip_new (assay_badge_status (ASSAY_STATUS_RUNNING), "running");
  if (assay_run_model_is_lost (run))
    return assay_chip_new (assay_badge_status (ASSAY_STATUS_ERROR), "lost");
  for (guint i = 0; i < record->workloads->len; i++)
    {
      const AssayWorkloadRecord *workload = g_ptr_array_index (record->workloads, i);

      passed += workload->status == ASSAY_WORKLOAD_PASSED;
    }
  text = record->workloads->len > 0
             ? g_strdup_printf ("%u of %u workloads pass", passed, record->workloads->len)
             : g_strdup (ASSAY_STATUSES[record->state]);
  return assay_chip_new (assay_badge_status (record->workloads->len == 0 ? record->state
                                             : passed == record->workloads->len
                                                 ? ASSAY_STATUS_PASSED
                                                 : ASSAY_STATUS_FAILED),
                         text);
}

static GtkWidget *
finding_chip (AssayRunModel *run)
{
  guint counts[4];
  g_autofree char *text = NULL;

  if (run == NULL)
    return NULL;
  assay_run_model_count (run, counts);
  for (int severity = 0; severity <= ASSAY_SEVERITY_MINOR; severity++)
    if (counts[severity] > 0)
      {
        GtkWidget *chip;

        text = assay_severity_count (severity, counts[severity]);
        chip = assay_chip_new (assay_badge_severity (severity), text);
        return chip;
      }
  return NULL;
}

static GtkWidget *
candidate_row (AssayOverviewPage *self, AssayTaskItem *item, const AssayCandidate *candidate)
{
  AssayRunModel *run = assay_task_item_get_run (item, candidate->name);
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  GtkWidget *words = gtk_box_new (GTK_ORIENTATION_VERTICAL, 1);
  GtkWidget *button = gtk_button_new_with_label ("Run");
  GtkWidget *findings = finding_chip (run);
  g_autofree char *line = assay_candidate_line (candidate);

  gtk_widget_add_css_class (row, "table-row");
  gtk_widget_set_hexpand (words, TRUE);
  gtk_widget_set_margin_top (words, 4);
  gtk_widget_set_margin_bottom (words, 4);
  gtk_box_append (GTK_BOX (words), assay_cell_new (candidate->name, "region-title"));
  gtk_box_append (GTK_BOX (words), assay_cell_new (line, "dim"));
  gtk_widget_add_css_class (gtk_widget_get_last_child (words), "small");
  gtk_box_append (GTK_BOX (row), words);
  if (findings != NULL)
    gtk_box_append (GTK_BOX (row), findings);
  gtk_box_append (GTK_BOX (row), verdict_chip (run));
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (button, "small");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.run-candidate");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "s", candidate->name);
  gtk_box_append (GTK_BOX (row), button);
  return row;
}

static void
fill_candidates (AssayOverviewPage *self, AssayTaskItem *item)
{
  const AssayTask *task = assay_task_item_get_task (item);

  assay_clear_children (GTK_WIDGET (self->candidates));
  for (guint i = 0; i < task->candidates->len; i++)
    gtk_box_append (self->candidates,
                    candidate_row (self, item, g_ptr_array_index (task->candidates, i)));
  if (task->candidates->len == 0)
    gtk_box_append (self->candidates,
                    assay_words_new ("The task lists no candidate. Add one under \"candidates\" in "
                                     "task.json to have it compiled, run and compared.",
                                     "dim"));
}

/* --- workloads ------------------------------------------------------------------------------- */

static GtkWidget *
workload_status (AssayContext *context, const char *name)
{
  AssayRunModel *run = assay_context_get_run (context);
  const AssayWorkloadRecord *record =
      run != NULL ? assay_run_model_find_workload (run, name) : NULL;
  g_autofree char *word = NULL;
  GtkWidget *chip;

  if (record == NULL)
    return assay_cell_new ("not run", "dim");
  word = g_ascii_strdown (ASSAY_WORKLOAD_STATUSES[record->status], -1);
  g_strdelimit (word, "_", ' ');
  chip = assay_chip_new (assay_badge_workload (record->status), word);
  gtk_widget_set_halign (chip, GTK_ALIGN_START);
  gtk_widget_set_tooltip_text (chip, record->reason != NULL ? record->reason : word);
  return chip;
}

static void
fill_workloads (AssayOverviewPage *self)
{
  static const char *const heads[] = {"name", "axes", "inputs", "tolerance", "use", "last run"};
  AssayTaskItem *item = assay_context_get_task_item (self->context);
  const AssayTask *task = assay_task_item_get_task (item);
  g_autofree char *subtitle = NULL;

  assay_clear_children (GTK_WIDGET (self->workloads));
  for (gsize i = 0; i < G_N_ELEMENTS (heads); i++)
    gtk_grid_attach (self->workloads, assay_cell_new (heads[i], "table-head"), (int) i, 0, 1, 1);
  for (guint i = 0; i < task->workloads->len; i++)
    {
      const AssayWorkload *workload = g_ptr_array_index (task->workloads, i);
      g_auto (GStrv) cells = assay_workload_cells (task, workload);

      for (int c = 0; cells[c] != NULL; c++)
        {
          GtkWidget *cell = assay_cell_new (cells[c], c == 0 ? "region-title" : "numeric");

          gtk_widget_set_hexpand (cell, c >= 1 && c <= 3);
          gtk_grid_attach (self->workloads, cell, c, (int) i + 1, 1, 1);
        }
      gtk_grid_attach (self->workloads, workload_status (self->context, workload->name),
                       (int) G_N_ELEMENTS (heads) - 1, (int) i + 1, 1, 1);
    }
  if (assay_context_get_candidate (self->context) != NULL)
    subtitle =
        g_strdup_printf ("last run of candidate %s", assay_context_get_candidate (self->context));
  assay_card_set_subtitle (self->workloads_card, subtitle);
}

/* --- sources --------------------------------------------------------------------------------- */

static void
add_source (AssayOverviewPage *self, const char *path)
{
  GtkWidget *button = gtk_button_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 5);

  gtk_box_append (GTK_BOX (box), gtk_image_new_from_icon_name ("assay-code-symbolic"));
  gtk_box_append (GTK_BOX (box), assay_cell_new (path, "mono"));
  gtk_button_set_child (GTK_BUTTON (button), box);
  gtk_widget_add_css_class (button, "chip");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.open-source");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "(si)", path, 0);
  gtk_flow_box_insert (self->sources, button, -1);
  gtk_widget_set_focusable (gtk_widget_get_parent (button), FALSE);
}

static void
fill_sources (AssayOverviewPage *self, const AssayTask *task)
{
  assay_clear_children (GTK_WIDGET (self->sources));
  for (int i = 0; task->reference != NULL && task->reference->sources != NULL
                  && task->reference->sources[i] != NULL;
       i++)
    add_source (self, task->reference->sources[i]);
  for (guint c = 0; c < task->candidates->len; c++)
    {
      const AssayCandidate *candidate = g_ptr_array_index (task->candidates, c);

      for (int i = 0; candidate->sources != NULL && candidate->sources[i] != NULL; i++)
        add_source (self, candidate->sources[i]);
    }
  add_source (self, ASSAY_TASK_FILE);
}

static void
task_changed (AssayOverviewPage *self)
{
  AssayTaskItem *item = assay_context_get_task_item (self->context);
  const AssayTask *task = assay_context_get_task (self->context);
  const char *problem = item != NULL ? assay_task_item_get_problem (item) : NULL;

  gtk_widget_set_visible (self->scroller, task != NULL);
  if (task == NULL)
    return;
  gtk_label_set_text (self->title, task->title != NULL ? task->title : task->id);
  gtk_label_set_text (self->task_id, assay_task_item_get_folder (item));
  gtk_widget_set_visible (self->problem, problem != NULL);
  gtk_label_set_text (self->problem_text, problem != NULL ? problem : "");
  assay_markdown_view_set_text (
      self->spec, assay_task_item_get_spec (item) != NULL
                      ? assay_task_item_get_spec (item)
                      : "*The task has no specification.* Name a Markdown file under `spec` in "
                        "`task.json`; without one a reviewer cannot say what is asked.");
  assay_card_set_subtitle (self->spec_card, task->spec);
  fill_facts (self, item);
  fill_candidates (self, item);
  fill_workloads (self);
  fill_sources (self, task);
}

static void
show_run (gpointer data, guint what)
{
  AssayOverviewPage *self = data;

  if (assay_context_get_task (self->context) == NULL)
    return;
  fill_candidates (self, assay_context_get_task_item (self->context));
  fill_workloads (self);
}

static void
run_changed (AssayOverviewPage *self, guint what)
{
  assay_later_push (
      self->later,
      what & (ASSAY_RUN_CHANGED_STATE | ASSAY_RUN_CHANGED_WORKLOADS | ASSAY_RUN_CHANGED_FINDINGS));
}

void
assay_overview_page_set_context (AssayOverviewPage *self, AssayContext *context)
{
  g_return_if_fail (ASSAY_IS_OVERVIEW_PAGE (self));
  self->context = g_object_ref (context);
  g_signal_connect_object (context, "task-changed", G_CALLBACK (task_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (context, "run-changed", G_CALLBACK (run_changed), self,
                           G_CONNECT_SWAPPED);
  task_changed (self);
}

static void
assay_overview_page_dispose (GObject *object)
{
  AssayOverviewPage *self = ASSAY_OVERVIEW_PAGE (object);

  g_clear_pointer (&self->later, assay_later_free);
  g_clear_pointer (&self->scroller, gtk_widget_unparent);
  g_clear_object (&self->context);
  G_OBJECT_CLASS (assay_overview_page_parent_class)->dispose (object);
}

static void
assay_overview_page_class_init (AssayOverviewPageClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = assay_overview_page_dispose;
  g_type_ensure (ASSAY_TYPE_CARD);
  g_type_ensure (ASSAY_TYPE_MARKDOWN_VIEW);
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/assay/Assay/ui/overview-page.ui");
  gtk_widget_class_bind_template_child (widget_class, AssayOverviewPage, scroller);
  gtk_widget_class_bind_template_child (widget_class, AssayOverviewPage, title);
  gtk_widget_class_bind_template_child (widget_class, AssayOverviewPage, task_id);
  gtk_widget_class_bind_template_child (widget_class, AssayOverviewPage, problem);
  gtk_widget_class_bind_template_child (widget_class, AssayOverviewPage, problem_text);
  gtk_widget_class_bind_template_child (widget_class, AssayOverviewPage, spec_card);
  gtk_widget_class_bind_template_child (widget_class, AssayOverviewPage, spec);
  gtk_widget_class_bind_template_child (widget_class, AssayOverviewPage, facts);
  gtk_widget_class_bind_template_child (widget_class, AssayOverviewPage, candidates);
  gtk_widget_class_bind_template_child (widget_class, AssayOverviewPage, workloads_card);
  gtk_widget_class_bind_template_child (widget_class, AssayOverviewPage, workloads);
  gtk_widget_class_bind_template_child (widget_class, AssayOverviewPage, sources);
}

static void
assay_overview_page_init (AssayOverviewPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->later = assay_later_new (GTK_WIDGET (self), show_run);
}
