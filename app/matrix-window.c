/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/matrix-window.h"

#include "engine/base/json.h"
#include "engine/record/matrix.h"
#include "widgets/badge.h"
#include "widgets/card.h"

#include <math.h>

struct _AssayMatrixWindow
{
  GtkWindow parent;
  GtkGrid *grid;
  GtkLabel *summary, *chosen, *facts, *advice;
  GtkTextView *log;
  GtkWidget *again, *spinner;
  AssayEngineClient *engine;
  AssayTaskItem *task;
  AssayMatrix *matrix;
  GCancellable *cancellable;
  gboolean busy;
};

G_DEFINE_FINAL_TYPE (AssayMatrixWindow, assay_matrix_window, GTK_TYPE_WINDOW)

/* --- one cell -------------------------------------------------------------------------------- */

static gboolean
spills (const AssayMatrixCell *cell)
{
  return cell->base.spill_store_bytes + cell->base.spill_load_bytes > 0;
}

static char *
facts_of (const AssayMatrixCell *cell)
{
  g_autoptr (GString) text = g_string_new (NULL);
  const AssayCompile *base = &cell->base;

  if (base->registers >= 0)
    g_string_append_printf (
        text,
        "%" G_GINT64_FORMAT " registers · %" G_GINT64_FORMAT
        " B static shared memory · %" G_GINT64_FORMAT " B stack · %" G_GINT64_FORMAT
        " B stored and %" G_GINT64_FORMAT " B loaded by spills",
        base->registers, MAX (base->shared_bytes, 0), MAX (base->stack_bytes, 0),
        MAX (base->spill_store_bytes, 0), MAX (base->spill_load_bytes, 0));
  if (!isnan (cell->occupancy) && cell->limited_by != NULL)
    g_string_append_printf (
        text,
        "%s%" G_GINT64_FORMAT " blocks of %" G_GINT64_FORMAT
        " threads on a multiprocessor, %.0f %% of its warps, limited by %s (%s)",
        text->len > 0 ? "\n" : "", cell->blocks_per_sm, cell->threads, 100 * cell->occupancy,
        cell->limited_by, cell->workload);
  if (cell->compiler != NULL)
    g_string_append_printf (text, "%s%s", text->len > 0 ? "\n" : "", cell->compiler);
  if (cell->ptx_version != NULL)
    g_string_append_printf (text, " · PTX %s", cell->ptx_version);
  if (cell->warnings > 0)
    g_string_append_printf (text, " · %" G_GINT64_FORMAT " warning%s", cell->warnings,
                            cell->warnings == 1 ? "" : "s");
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
show_cell (AssayMatrixWindow *self, const AssayMatrixCell *cell)
{
  g_autofree char *title = g_strdup_printf ("%s · %s", cell->candidate, cell->base.target);
  g_autofree char *facts = facts_of (cell);
  g_autofree char *advice =
      cell->message == NULL
          ? NULL
          : g_strdup_printf ("%s, blame: %s. %s\n%s", cell->base.failure, cell->blame,
                             cell->message, cell->advice != NULL ? cell->advice : "");
  g_autofree char *log = g_utf8_make_valid (cell->text != NULL ? cell->text : "", -1);

  gtk_label_set_text (self->chosen, title);
  gtk_label_set_text (self->facts, facts);
  gtk_label_set_text (self->advice, advice != NULL ? advice : "");
  gtk_widget_set_visible (GTK_WIDGET (self->advice), advice != NULL);
  gtk_text_buffer_set_text (gtk_text_view_get_buffer (self->log), log, -1);
}

static void
cell_clicked (AssayMatrixWindow *self, GtkWidget *button)
{
  show_cell (self, g_object_get_data (G_OBJECT (button), "cell"));
}

static GtkWidget *
cell_new (AssayMatrixWindow *self, const AssayMatrixCell *cell)
{
  gboolean failed = cell->base.status != ASSAY_STATUS_PASSED;
  gboolean warned = spills (cell) || cell->warnings > 0;
  GtkWidget *button = gtk_button_new ();
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  g_autofree char *text = assay_matrix_cell_describe (cell);

  gtk_box_append (GTK_BOX (line),
                  assay_badge_image_new (!failed && warned
                                             ? assay_badge_severity (ASSAY_SEVERITY_MAJOR)
                                             : assay_badge_status (cell->base.status)));
  gtk_box_append (GTK_BOX (line), assay_cell_new (text, "numeric"));
  gtk_button_set_child (GTK_BUTTON (button), line);
  gtk_widget_add_css_class (button, "grid-cell");
  if (failed)
    gtk_widget_add_css_class (button, "failed");
  else if (warned)
    gtk_widget_add_css_class (button, "warned");
  gtk_widget_set_hexpand (button, TRUE);
  g_object_set_data (G_OBJECT (button), "cell", (gpointer) cell);
  g_signal_connect_object (button, "clicked", G_CALLBACK (cell_clicked), self, G_CONNECT_SWAPPED);
  return button;
}

/* --- the grid: targets down, candidates across ------------------------------------------------ */

static int
index_of (GPtrArray *names, const char *name)
{
  for (guint i = 0; i < names->len; i++)
    if (g_strcmp0 (g_ptr_array_index (names, i), name) == 0)
      return (int) i;
  g_ptr_array_add (names, g_strdup (name));
  return (int) names->len - 1;
}

/* Where several compilers are installed, each has a column of its own for every candidate. */
static char *
column_of (const AssayMatrix *matrix, const AssayMatrixCell *cell)
{
  gboolean several = matrix->toolkits != NULL && g_strv_length (matrix->toolkits) > 1;
  g_autofree char *folder =
      cell->toolkit != NULL ? g_path_get_basename (cell->toolkit) : g_strdup ("?");

  return several ? g_strdup_printf ("%s · %s", cell->candidate, folder)
                 : g_strdup (cell->candidate);
}

static void
fill_grid (AssayMatrixWindow *self)
{
  g_autoptr (GPtrArray) targets = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) columns = g_ptr_array_new_with_free_func (g_free);
  const AssayMatrixCell *worst = NULL;

  for (guint i = 0; i < self->matrix->cells->len; i++)
    {
      const AssayMatrixCell *cell = g_ptr_array_index (self->matrix->cells, i);
      g_autofree char *name = column_of (self->matrix, cell);
      int row = index_of (targets, cell->base.target) + 1;
      int column = index_of (columns, name) + 1;

      gtk_grid_attach (self->grid, cell_new (self, cell), column, row, 1, 1);
      if (worst == NULL
          || (worst->base.status == ASSAY_STATUS_PASSED
              && cell->base.status != ASSAY_STATUS_PASSED))
        worst = cell;
    }
  for (guint i = 0; i < targets->len; i++)
    {
      GtkWidget *name = assay_cell_new (g_ptr_array_index (targets, i), "row-title");

      gtk_widget_set_size_request (name, 80, -1);
      gtk_grid_attach (self->grid, name, 0, (int) i + 1, 1, 1);
    }
  for (guint i = 0; i < columns->len; i++)
    gtk_grid_attach (self->grid, assay_cell_new (g_ptr_array_index (columns, i), "column-title"),
                     (int) i + 1, 0, 1, 1);
  if (worst != NULL)
    show_cell (self, worst);
}

/* "python 3.11.7: torch 2.9.0, triton 3.5.0", and the task's pins that are not met. */
static void
add_environment (GString *text, const AssayMatrix *matrix)
{
  for (guint i = 0; i < matrix->pythons->len; i++)
    {
      const AssayPython *python = g_ptr_array_index (matrix->pythons, i);

      for (guint k = 0; k < python->packages->len; k++)
        {
          const AssayPackage *package = g_ptr_array_index (python->packages, k);

          if (k == 0)
            g_string_append_printf (text, "\npython %s: ", python->version);
          g_string_append_printf (text, "%s%s %s", k > 0 ? ", " : "", package->name,
                                  package->version);
        }
    }
  for (guint i = 0; i < matrix->pins->len; i++)
    {
      const AssayPin *pin = g_ptr_array_index (matrix->pins, i);

      if (!pin->met)
        g_string_append_printf (text, "\npin not met: %s %s, here %s", pin->name, pin->wanted,
                                pin->found != NULL ? pin->found : "not installed");
    }
}

static char *
summarise (const AssayMatrix *matrix)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint failed = 0, spilling = 0;

  for (guint i = 0; i < matrix->cells->len; i++)
    {
      const AssayMatrixCell *cell = g_ptr_array_index (matrix->cells, i);

      failed += cell->base.status != ASSAY_STATUS_PASSED;
      spilling += spills (cell);
    }
  g_string_append_printf (text, "%u builds in %.1f s: %u failed, %u with spills · ",
                          matrix->cells->len, matrix->seconds, failed, spilling);
  for (guint i = 0; matrix->toolkits != NULL && matrix->toolkits[i] != NULL; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", matrix->toolkits[i]);
  add_environment (text, matrix);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* --- asking ---------------------------------------------------------------------------------- */

static void
set_busy (AssayMatrixWindow *self, gboolean busy)
{
  self->busy = busy;
  gtk_spinner_set_spinning (GTK_SPINNER (self->spinner), busy);
  gtk_widget_set_visible (self->spinner, busy);
  gtk_widget_set_sensitive (self->again, !busy);
}

static void
made (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (AssayMatrixWindow) self = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *summary = NULL;
  g_autoptr (JsonNode) node =
      assay_engine_client_ask_finish (ASSAY_ENGINE_CLIENT (source), result, &error);

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  if (node != NULL)
    self->matrix = assay_json_table_read (&ASSAY_MATRIX_TABLE, node, "", NULL, &error);
  if (self->matrix != NULL)
    {
      fill_grid (self);
      summary = summarise (self->matrix);
    }
  gtk_label_set_text (self->summary, summary != NULL ? summary : error->message);
  set_busy (self, FALSE);
}

static void
make (AssayMatrixWindow *self)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) body = NULL;

  assay_clear_children (GTK_WIDGET (self->grid));
  g_clear_pointer (&self->matrix, assay_matrix_free);
  gtk_label_set_text (self->summary, "Compiling for every architecture…");
  set_busy (self, TRUE);
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "task");
  json_builder_add_string_value (builder, assay_task_item_get_folder (self->task));
  json_builder_end_object (builder);
  body = json_builder_get_root (builder);
  assay_engine_client_ask_async (self->engine, "POST", "/v1/matrix", body, self->cancellable, made,
                                 g_object_ref (self));
}

gboolean
assay_matrix_window_is_busy (AssayMatrixWindow *self)
{
  return self->busy;
}

/* --- the object ------------------------------------------------------------------------------ */

/* Closing the window ends the compilers: the engine sees the connection go. */
static void
assay_matrix_window_dispose (GObject *object)
{
  AssayMatrixWindow *self = ASSAY_MATRIX_WINDOW (object);

  g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->engine);
  g_clear_object (&self->task);
  G_OBJECT_CLASS (assay_matrix_window_parent_class)->dispose (object);
}

static void
assay_matrix_window_finalize (GObject *object)
{
  AssayMatrixWindow *self = ASSAY_MATRIX_WINDOW (object);

  g_clear_object (&self->cancellable);
  g_clear_pointer (&self->matrix, assay_matrix_free);
  G_OBJECT_CLASS (assay_matrix_window_parent_class)->finalize (object);
}

static gboolean
close_requested (GtkWindow *window)
{
  AssayMatrixWindow *self = ASSAY_MATRIX_WINDOW (window);

  g_cancellable_cancel (self->cancellable);
  return GTK_WINDOW_CLASS (assay_matrix_window_parent_class)->close_request (window);
}

static void
assay_matrix_window_class_init (AssayMatrixWindowClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = assay_matrix_window_dispose;
  G_OBJECT_CLASS (class)->finalize = assay_matrix_window_finalize;
  GTK_WINDOW_CLASS (class)->close_request = close_requested;
  g_type_ensure (ASSAY_TYPE_CARD);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/assay/Assay/ui/matrix-window.ui");
  gtk_widget_class_bind_template_child (widget_class, AssayMatrixWindow, grid);
  gtk_widget_class_bind_template_child (widget_class, AssayMatrixWindow, summary);
  gtk_widget_class_bind_template_child (widget_class, AssayMatrixWindow, chosen);
  gtk_widget_class_bind_template_child (widget_class, AssayMatrixWindow, facts);
  gtk_widget_class_bind_template_child (widget_class, AssayMatrixWindow, advice);
  gtk_widget_class_bind_template_child (widget_class, AssayMatrixWindow, log);
  gtk_widget_class_bind_template_child (widget_class, AssayMatrixWindow, again);
  gtk_widget_class_bind_template_child (widget_class, AssayMatrixWindow, spinner);
  gtk_widget_class_bind_template_callback (widget_class, make);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_Escape, 0, "window.close", NULL);
}

static void
assay_matrix_window_init (AssayMatrixWindow *self)
{
  self->cancellable = g_cancellable_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
}

GtkWidget *
assay_matrix_window_new (AssayEngineClient *engine, AssayTaskItem *task)
{
  AssayMatrixWindow *self = g_object_new (ASSAY_TYPE_MATRIX_WINDOW, NULL);
  g_autofree char *title =
      g_strdup_printf ("Every architecture: %s", assay_task_item_get_id (task));

  gtk_window_set_title (GTK_WINDOW (self), title);
  self->engine = g_object_ref (engine);
  self->task = g_object_ref (task);
  make (self);
  return GTK_WIDGET (self);
}
