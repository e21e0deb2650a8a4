/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/numerics-page.h"

#include "app/later.h"
#include "app/numerics-scenes.h"
#include "app/tolerance-explorer.h"
#include "app/verdict-strip.h"
#include "widgets/card.h"
#include "widgets/data-table.h"
#include "widgets/plot-widget.h"

typedef enum
{
  PLOT_ULP,
  PLOT_ERROR,
  PLOT_POSITION,
  PLOT_MARGIN,
  N_QUARTERS,
  PLOT_PLANE = N_QUARTERS,
  N_PLOTS
} Plot;

struct _AssayNumericsPage
{
  GtkWidget parent;
  GtkWidget *scroller;
  GtkDropDown *workload, *output, *candidate;
  GtkToggleButton *absolute, *magnitude, *input;
  GtkLabel *gold, *message;
  GtkWidget *lower;
  AssayPlotWidget *plots[N_PLOTS];
  AssayPlotWidget *ulp, *error, *position, *margin;
  AssayVerdictStrip *verdicts;
  GtkStack *worst_stack;
  AssayDataTable *worst;
  GtkLabel *bits;
  GtkWidget *quarters, *worst_card;
  AssayToleranceExplorer *explorer;
  GtkStringList *workloads, *outputs, *candidates;
  AssayContext *context;
  AssayNumericsScenes *scenes; /* what is shown */
  GCancellable *cancellable;
  AssayPlotWidget *grown, *last_plot;
  AssayLater *later;
  guint worst_source;
  gboolean filling, busy;
};

enum
{
  ATTACH,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AssayNumericsPage, assay_numerics_page, GTK_TYPE_WIDGET)

static const char *
chosen (GtkDropDown *chooser)
{
  GtkStringObject *object = gtk_drop_down_get_selected_item (chooser);

  return object != NULL ? gtk_string_object_get_string (object) : NULL;
}

/* The workload's name is what comes before the axes in the chooser's text. */
static char *
chosen_workload (AssayNumericsPage *self)
{
  const char *text = chosen (self->workload);
  const char *end = text != NULL ? strstr (text, "  ·  ") : NULL;

  return text == NULL  ? NULL
         : end != NULL ? g_strndup (text, (gsize) (end - text))
                       : g_strdup (text);
}

static char *
chosen_output (AssayNumericsPage *self)
{
  const char *text = chosen (self->output);
  const char *end = text != NULL ? strstr (text, "  ·  ") : NULL;

  return text == NULL  ? NULL
         : end != NULL ? g_strndup (text, (gsize) (end - text))
                       : g_strdup (text);
}

/* --- showing --------------------------------------------------------------------------------- */

static const char *
why_empty (AssayNumericsPage *self)
{
  AssayRunModel *run = assay_context_get_run (self->context);

  if (run == NULL)
    return "Not run yet. F5 compiles the candidate, runs it on every workload and compares.";
  if (assay_run_model_is_running (run))
    return "The run has not come to this yet; the plot appears when it does.";
  return "This run holds no such data. The Validity page says what stopped it.";
}

/* What the error quarter shows; an input's plot only where there is one. */
static AssayFigure
error_figure_of (AssayNumericsPage *self)
{
  if (gtk_toggle_button_get_active (self->absolute))
    return ASSAY_FIGURE_ABSOLUTE;
  if (gtk_toggle_button_get_active (self->magnitude))
    return ASSAY_FIGURE_MAGNITUDE;
  if (gtk_toggle_button_get_active (self->input))
    return ASSAY_FIGURE_INPUT;
  return ASSAY_FIGURE_RELATIVE;
}

static void
show_plots (AssayNumericsPage *self)
{
  AssayFigure error_figure = error_figure_of (self);
  const AssayFigure figures[N_QUARTERS] = {[PLOT_ULP] = ASSAY_FIGURE_ULP,
                                           [PLOT_ERROR] = error_figure,
                                           [PLOT_POSITION] = ASSAY_FIGURE_POSITION,
                                           [PLOT_MARGIN] = ASSAY_FIGURE_MARGIN};

  for (Plot plot = 0; plot < N_QUARTERS; plot++)
    assay_plot_widget_set_scene (self->plots[plot],
                                 self->scenes != NULL ? self->scenes->scenes[figures[plot]] : NULL,
                                 why_empty (self));
}

static void
show_explorer (AssayNumericsPage *self)
{
  g_autofree char *workload = chosen_workload (self), *output = chosen_output (self);

  assay_tolerance_explorer_show (
      self->explorer, assay_context_get_run (self->context), workload, output,
      self->scenes != NULL ? self->scenes->scenes[ASSAY_FIGURE_PLANE] : NULL, why_empty (self));
}

static void
show_bits (AssayNumericsPage *self, guint row)
{
  const GPtrArray *bits = self->scenes != NULL ? self->scenes->worst_bits : NULL;
  gboolean any = bits != NULL && row < bits->len;

  gtk_widget_set_visible (GTK_WIDGET (self->bits), any);
  if (any)
    gtk_label_set_markup (self->bits, g_ptr_array_index (bits, row));
}

/* After the frame that shows the plots. */
static gboolean
show_worst (gpointer data)
{
  AssayNumericsPage *self = data;
  gboolean rows = self->scenes != NULL && self->scenes->worst->len > 0;

  self->worst_source = 0;
  if (rows)
    assay_data_table_set (self->worst, ASSAY_WORST_COLUMNS, self->scenes->worst);
  g_object_set (self->worst_card, "subtitle",
                self->scenes != NULL && self->scenes->contradicted
                    ? "by real ulp against a reference that the cross-check contradicts"
                    : "by real ulp; Enter shows the place",
                NULL);
  show_bits (self, 0);
  gtk_stack_set_visible_child_name (self->worst_stack, rows ? "table" : "empty");
  return G_SOURCE_REMOVE;
}

static void
show (AssayNumericsPage *self)
{
  show_plots (self);
  assay_verdict_strip_show (
      self->verdicts, self->scenes != NULL && self->scenes->judged ? self->scenes->verdicts : NULL);
  show_explorer (self);
  gtk_label_set_text (self->gold,
                      self->scenes != NULL && self->scenes->gold != NULL ? self->scenes->gold : "");
  if (self->worst_source == 0)
    self->worst_source = g_idle_add (show_worst, self);
}

static void
scenes_ready (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (AssayNumericsPage) self = data;
  g_autoptr (GError) error = NULL;
  AssayNumericsScenes *scenes = assay_numerics_scenes_finish (result, &error);

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return; /* a newer one is on its way */
  self->busy = FALSE;
  if (self->context == NULL)
    {
      g_clear_pointer (&scenes, assay_numerics_scenes_free);
      return;
    }
  g_clear_pointer (&self->scenes, assay_numerics_scenes_free);
  self->scenes = scenes;
  show (self);
}

static void
refresh (gpointer data, guint what)
{
  AssayNumericsPage *self = data;
  AssayRunModel *run = assay_context_get_run (self->context);
  g_autofree char *workload = chosen_workload (self), *output = chosen_output (self);

  g_cancellable_cancel (self->cancellable);
  g_object_unref (self->cancellable);
  self->cancellable = g_cancellable_new ();
  if (run == NULL || workload == NULL || output == NULL)
    {
      self->busy = FALSE;
      g_clear_pointer (&self->scenes, assay_numerics_scenes_free);
      show (self);
      return;
    }
  self->busy = TRUE;
  assay_numerics_scenes_async (run, workload, output, self->cancellable, scenes_ready,
                               g_object_ref (self));
}

static void
refresh_soon (AssayNumericsPage *self)
{
  self->busy = TRUE;
  assay_later_push (self->later, 1);
}

/* --- choosers -------------------------------------------------------------------------------- */

static void
set_strings (GtkStringList *list, GPtrArray *texts)
{
  gboolean same = g_list_model_get_n_items (G_LIST_MODEL (list)) == texts->len;

  for (guint i = 0; same && i < texts->len; i++)
    same = g_strcmp0 (gtk_string_list_get_string (list, i), g_ptr_array_index (texts, i)) == 0;
  if (same)
    return;
  g_ptr_array_add (texts, NULL);
  gtk_string_list_splice (list, 0, g_list_model_get_n_items (G_LIST_MODEL (list)),
                          (const char *const *) texts->pdata);
  g_ptr_array_set_size (texts, (int) texts->len - 1);
}

static void
select_string (GtkDropDown *chooser, const char *start)
{
  GListModel *model = gtk_drop_down_get_model (chooser);

  for (guint i = 0; start != NULL && i < g_list_model_get_n_items (model); i++)
    {
      g_autoptr (GtkStringObject) object = g_list_model_get_item (model, i);

      if (g_str_has_prefix (gtk_string_object_get_string (object), start))
        {
          gtk_drop_down_set_selected (chooser, i);
          return;
        }
    }
}

static char *
workload_text (const AssayWorkloadRecord *record)
{
  const AssayOutput *first =
      record->outputs->len > 0 ? g_ptr_array_index (record->outputs, 0) : NULL;
  g_autoptr (GString) text = g_string_new (record->name);

  for (guint i = 0; first != NULL && i < first->shape->len; i++)
    {
      g_autofree char *size =
          assay_format_count ((guint64) g_array_index (first->shape, gint64, i));

      g_string_append_printf (text, "%s%s", i == 0 ? "  ·  " : " × ", size);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
fill_outputs (AssayNumericsPage *self)
{
  AssayRunModel *run = assay_context_get_run (self->context);
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *workload = chosen_workload (self);
  const AssayWorkloadRecord *record =
      run != NULL && workload != NULL ? assay_run_model_find_workload (run, workload) : NULL;

  for (guint i = 0; record != NULL && i < record->outputs->len; i++)
    {
      const AssayOutput *output = g_ptr_array_index (record->outputs, i);

      g_ptr_array_add (texts, g_strdup_printf ("%s  ·  %s", output->name, output->dtype));
    }
  set_strings (self->outputs, texts);
}

/* Where the eye should go first, before anybody has chosen; NULL: the first. */
static const char *
first_refused (const AssayRun *record)
{
  for (guint i = 0; record != NULL && i < record->workloads->len; i++)
    {
      const AssayWorkloadRecord *workload = g_ptr_array_index (record->workloads, i);

      if (workload->outputs->len > 0 && workload->status != ASSAY_WORKLOAD_PASSED)
        return workload->name;
    }
  return NULL;
}

static void
fill_workloads (AssayNumericsPage *self)
{
  AssayRunModel *run = assay_context_get_run (self->context);
  const AssayRun *record = run != NULL ? assay_run_model_get (run) : NULL;
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *before = chosen_workload (self);

  for (guint i = 0; record != NULL && i < record->workloads->len; i++)
    {
      const AssayWorkloadRecord *workload = g_ptr_array_index (record->workloads, i);

      if (workload->outputs->len > 0)
        g_ptr_array_add (texts, workload_text (workload));
    }
  self->filling = TRUE;
  set_strings (self->workloads, texts);
  select_string (self->workload, before != NULL ? before : first_refused (record));
  fill_outputs (self);
  self->filling = FALSE;
}

static void
fill_candidates (AssayNumericsPage *self)
{
  const AssayTask *task = assay_context_get_task (self->context);
  g_autoptr (GPtrArray) texts = g_ptr_array_new ();

  for (guint i = 0; task != NULL && i < task->candidates->len; i++)
    g_ptr_array_add (texts, ((AssayCandidate *) g_ptr_array_index (task->candidates, i))->name);
  self->filling = TRUE;
  set_strings (self->candidates, texts);
  select_string (self->candidate, assay_context_get_candidate (self->context));
  self->filling = FALSE;
}

static void
workload_chosen (AssayNumericsPage *self)
{
  if (self->filling || self->context == NULL)
    return;
  self->filling = TRUE;
  fill_outputs (self);
  self->filling = FALSE;
  refresh_soon (self);
}

static void
output_chosen (AssayNumericsPage *self)
{
  if (!self->filling && self->context != NULL)
    refresh_soon (self);
}

static void
candidate_chosen (AssayNumericsPage *self)
{
  if (!self->filling && self->context != NULL)
    assay_context_set_candidate (self->context, chosen (self->candidate));
}

static void
error_toggled (AssayNumericsPage *self)
{
  if (self->context != NULL)
    show_plots (self);
}

void
assay_numerics_page_choose (AssayNumericsPage *self, const char *workload, const char *output)
{
  g_return_if_fail (ASSAY_IS_NUMERICS_PAGE (self));
  select_string (self->workload, workload);
  select_string (self->output, output);
}

/* --- plots ----------------------------------------------------------------------------------- */

static void
grow (AssayNumericsPage *self, AssayPlotWidget *plot)
{
  self->grown = self->grown == plot ? NULL : plot;
  for (Plot i = 0; i < N_PLOTS; i++)
    {
      if (i < N_QUARTERS)
        gtk_widget_set_visible (GTK_WIDGET (self->plots[i]),
                                self->grown == NULL || self->grown == self->plots[i]);
      g_object_set (self->plots[i], "grown", self->grown == self->plots[i], NULL);
    }
  gtk_widget_set_visible (self->quarters, self->grown != self->plots[PLOT_PLANE]);
  gtk_widget_set_visible (self->worst_card, self->grown == NULL);
  gtk_widget_set_visible (self->lower,
                          self->grown == NULL || self->grown == self->plots[PLOT_PLANE]);
  gtk_widget_grab_focus (GTK_WIDGET (plot));
}

static void
plot_message (AssayNumericsPage *self, const char *text)
{
  gtk_label_set_text (self->message, text);
}

AssayEvidence *
assay_numerics_page_get_evidence (AssayNumericsPage *self)
{
  AssayPlotScene *scene =
      self->last_plot != NULL ? assay_plot_widget_get_scene (self->last_plot) : NULL;
  AssayRunModel *run = assay_context_get_run (self->context);
  g_autofree char *workload = chosen_workload (self), *title = NULL;
  AssayEvidence *evidence;

  if (scene == NULL || run == NULL)
    return NULL;
  evidence = assay_evidence_new ();
  evidence->kind = g_strdup ("plot");
  evidence->ref = g_strdup (scene->id);
  title = g_ascii_strdown (scene->title, -1);
  evidence->title = g_strdup_printf ("%s, %s", title, workload);
  evidence->quote = g_strdup (scene->description);
  return evidence;
}

static void
plot_attach (AssayNumericsPage *self, AssayPlotWidget *plot)
{
  AssayEvidence *evidence;

  self->last_plot = plot;
  evidence = assay_numerics_page_get_evidence (self);
  if (evidence == NULL)
    return;
  g_signal_emit (self, signals[ATTACH], 0, evidence);
  assay_evidence_free (evidence);
}

static void
plot_focused (AssayNumericsPage *self, GParamSpec *pspec, GtkEventControllerFocus *controller)
{
  if (gtk_event_controller_focus_contains_focus (controller))
    self->last_plot =
        ASSAY_PLOT_WIDGET (gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (controller)));
}

static void
worst_selected (AssayNumericsPage *self, guint row)
{
  show_bits (self, row);
}

/* From a line of the table to its cell in the heat map. */
static void
worst_activated (AssayNumericsPage *self, guint row)
{
  AssayRunModel *run = assay_context_get_run (self->context);
  AssayPlotScene *scene = assay_plot_widget_get_scene (self->plots[PLOT_POSITION]);
  g_autofree char *workload = chosen_workload (self), *output = chosen_output (self);
  const AssayWorkloadRecord *record =
      run != NULL ? assay_run_model_find_workload (run, workload) : NULL;
  const AssayOutput *shown = record != NULL ? assay_workload_find_output (record, output) : NULL;
  const AssayPosition *position;
  gint64 index, cell;

  if (shown == NULL || shown->comparison == NULL || scene == NULL || self->scenes == NULL
      || row >= self->scenes->worst_indices->len)
    return;
  position = &shown->comparison->position;
  index = g_array_index (self->scenes->worst_indices, gint64, row);
  if (position->columns <= 0 || position->columns_per_cell <= 0 || position->rows_per_cell <= 0)
    return;
  cell = index / position->columns / position->rows_per_cell * position->cell_columns
         + index % position->columns / position->columns_per_cell;
  assay_plot_widget_set_cursor (self->plots[PLOT_POSITION], (gint64) scene->data->len + cell);
  gtk_widget_grab_focus (GTK_WIDGET (self->plots[PLOT_POSITION]));
}

gboolean
assay_numerics_page_is_busy (AssayNumericsPage *self)
{
  return self->busy || self->worst_source != 0;
}

/* --- following ------------------------------------------------------------------------------- */

static void
run_changed (AssayNumericsPage *self, guint what)
{
  if (!(what & (ASSAY_RUN_CHANGED_WORKLOADS | ASSAY_RUN_CHANGED_AUDIT | ASSAY_RUN_CHANGED_STATE)))
    return;
  fill_workloads (self);
  refresh_soon (self);
}

static void
task_changed (AssayNumericsPage *self)
{
  fill_candidates (self);
  fill_workloads (self);
  gtk_label_set_text (self->message, "");
  refresh_soon (self);
}

void
assay_numerics_page_set_context (AssayNumericsPage *self, AssayContext *context)
{
  g_return_if_fail (ASSAY_IS_NUMERICS_PAGE (self));
  self->context = g_object_ref (context);
  g_signal_connect_object (context, "task-changed", G_CALLBACK (task_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (context, "candidate-changed", G_CALLBACK (fill_candidates), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (context, "run-changed", G_CALLBACK (run_changed), self,
                           G_CONNECT_SWAPPED);
  task_changed (self);
}

static void
assay_numerics_page_dispose (GObject *object)
{
  AssayNumericsPage *self = ASSAY_NUMERICS_PAGE (object);

  g_cancellable_cancel (self->cancellable);
  g_clear_handle_id (&self->worst_source, g_source_remove);
  g_clear_pointer (&self->later, assay_later_free);
  g_clear_pointer (&self->scroller, gtk_widget_unparent);
  g_clear_pointer (&self->scenes, assay_numerics_scenes_free);
  g_clear_object (&self->context);
  G_OBJECT_CLASS (assay_numerics_page_parent_class)->dispose (object);
}

static void
assay_numerics_page_finalize (GObject *object)
{
  g_clear_object (&ASSAY_NUMERICS_PAGE (object)->cancellable);
  G_OBJECT_CLASS (assay_numerics_page_parent_class)->finalize (object);
}

static void
bind_children (GtkWidgetClass *widget_class)
{
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, scroller);
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, workload);
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, output);
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, candidate);
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, absolute);
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, magnitude);
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, input);
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, gold);
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, message);
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, lower);
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, ulp);
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, error);
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, position);
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, margin);
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, verdicts);
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, worst_stack);
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, worst);
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, bits);
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, quarters);
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, worst_card);
  gtk_widget_class_bind_template_child (widget_class, AssayNumericsPage, explorer);
}

static void
assay_numerics_page_class_init (AssayNumericsPageClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = assay_numerics_page_dispose;
  G_OBJECT_CLASS (class)->finalize = assay_numerics_page_finalize;
  g_type_ensure (ASSAY_TYPE_CARD);
  g_type_ensure (ASSAY_TYPE_DATA_TABLE);
  g_type_ensure (ASSAY_TYPE_PLOT_WIDGET);
  g_type_ensure (ASSAY_TYPE_TOLERANCE_EXPLORER);
  g_type_ensure (ASSAY_TYPE_VERDICT_STRIP);
  signals[ATTACH] = g_signal_new ("attach", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 1, G_TYPE_POINTER);
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/assay/Assay/ui/numerics-page.ui");
  bind_children (widget_class);
  gtk_widget_class_bind_template_callback (widget_class, workload_chosen);
  gtk_widget_class_bind_template_callback (widget_class, output_chosen);
  gtk_widget_class_bind_template_callback (widget_class, candidate_chosen);
  gtk_widget_class_bind_template_callback (widget_class, error_toggled);
  gtk_widget_class_bind_template_callback (widget_class, worst_activated);
  gtk_widget_class_bind_template_callback (widget_class, worst_selected);
  gtk_widget_class_bind_template_callback (widget_class, grow);
  gtk_widget_class_bind_template_callback (widget_class, plot_attach);
  gtk_widget_class_bind_template_callback (widget_class, plot_message);
}

static GtkStringList *
give_strings (GtkDropDown *chooser)
{
  GtkStringList *list = gtk_string_list_new (NULL);

  gtk_drop_down_set_model (chooser, G_LIST_MODEL (list));
  g_object_unref (list); /* the chooser holds it */
  return list;
}

static void
assay_numerics_page_init (AssayNumericsPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->cancellable = g_cancellable_new ();
  self->later = assay_later_new (GTK_WIDGET (self), refresh);
  self->plots[PLOT_ULP] = self->ulp;
  self->plots[PLOT_ERROR] = self->error;
  self->plots[PLOT_POSITION] = self->position;
  self->plots[PLOT_MARGIN] = self->margin;
  self->plots[PLOT_PLANE] = assay_tolerance_explorer_get_plot (self->explorer);
  g_signal_connect_object (self->plots[PLOT_PLANE], "grow", G_CALLBACK (grow), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->plots[PLOT_PLANE], "attach", G_CALLBACK (plot_attach), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->plots[PLOT_PLANE], "message", G_CALLBACK (plot_message), self,
                           G_CONNECT_SWAPPED);
  self->workloads = give_strings (self->workload);
  self->outputs = give_strings (self->output);
  self->candidates = give_strings (self->candidate);
  for (Plot plot = 0; plot < N_PLOTS; plot++)
    {
      GtkEventController *focus = gtk_event_controller_focus_new ();

      g_signal_connect_object (focus, "notify::contains-focus", G_CALLBACK (plot_focused), self,
                               G_CONNECT_SWAPPED);
      gtk_widget_add_controller (GTK_WIDGET (self->plots[plot]), focus);
    }
}
