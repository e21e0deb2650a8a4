/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/queue-pane.h"

#include "app/queue-row.h"

struct _AssayQueuePane
{
  GtkWidget parent;
  GtkWidget *box;
  GtkLabel *count;
  GtkSearchEntry *filter;
  GtkListView *list;
  GtkStringFilter *string_filter;
  GtkSingleSelection *selection;
  GListModel *tasks;
  gboolean quiet;
};

enum
{
  CHOSEN,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AssayQueuePane, assay_queue_pane, GTK_TYPE_WIDGET)

static void
update_count (AssayQueuePane *self)
{
  guint count = g_list_model_get_n_items (self->tasks), done = 0;
  g_autofree char *text = NULL;

  for (guint i = 0; i < count; i++)
    {
      g_autoptr (AssayTaskItem) item = g_list_model_get_item (self->tasks, i);

      done += assay_task_item_get_state (item) == ASSAY_REVIEW_SUBMITTED;
    }
  text = g_strdup_printf ("%u of %u done", done, count);
  gtk_label_set_text (self->count, text);
}

static void
tasks_changed (AssayQueuePane *self, guint position, guint removed, guint added)
{
  for (guint i = position; i < position + added; i++)
    {
      g_autoptr (AssayTaskItem) item = g_list_model_get_item (self->tasks, i);

      g_signal_connect_object (item, "notify::state", G_CALLBACK (update_count), self,
                               G_CONNECT_SWAPPED);
    }
  update_count (self);
}

static void
selection_changed (AssayQueuePane *self)
{
  AssayTaskItem *item = gtk_single_selection_get_selected_item (self->selection);

  if (!self->quiet && item != NULL)
    g_signal_emit (self, signals[CHOSEN], 0, item);
}

void
assay_queue_pane_set_tasks (AssayQueuePane *self, GListModel *tasks)
{
  GtkExpression *expression = gtk_property_expression_new (ASSAY_TYPE_TASK_ITEM, NULL, "id");
  GtkFilterListModel *filtered;

  g_return_if_fail (ASSAY_IS_QUEUE_PANE (self));
  self->tasks = g_object_ref (tasks);
  self->string_filter = gtk_string_filter_new (expression);
  gtk_string_filter_set_match_mode (self->string_filter, GTK_STRING_FILTER_MATCH_MODE_SUBSTRING);
  filtered = gtk_filter_list_model_new (g_object_ref (tasks), GTK_FILTER (self->string_filter));
  self->selection = gtk_single_selection_new (G_LIST_MODEL (filtered));
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_single_selection_set_can_unselect (self->selection, FALSE);
  g_signal_connect_object (self->selection, "notify::selected-item", G_CALLBACK (selection_changed),
                           self, G_CONNECT_SWAPPED);
  gtk_list_view_set_model (self->list, GTK_SELECTION_MODEL (self->selection));
  g_signal_connect_object (tasks, "items-changed", G_CALLBACK (tasks_changed), self,
                           G_CONNECT_SWAPPED);
  tasks_changed (self, 0, 0, g_list_model_get_n_items (tasks));
}

static void
show_position (AssayQueuePane *self, guint position)
{
  gtk_widget_activate_action (GTK_WIDGET (self->list), "list.scroll-to-item", "u", position);
}

void
assay_queue_pane_select (AssayQueuePane *self, AssayTaskItem *task)
{
  GListModel *model = G_LIST_MODEL (self->selection);

  for (guint i = 0; i < g_list_model_get_n_items (model); i++)
    {
      g_autoptr (AssayTaskItem) item = g_list_model_get_item (model, i);

      if (item != task)
        continue;
      self->quiet = TRUE;
      gtk_single_selection_set_selected (self->selection, i);
      self->quiet = FALSE;
      show_position (self, i);
    }
}

void
assay_queue_pane_step (AssayQueuePane *self, int step)
{
  guint count = g_list_model_get_n_items (G_LIST_MODEL (self->selection));
  guint selected = gtk_single_selection_get_selected (self->selection);
  gint64 next = selected == GTK_INVALID_LIST_POSITION ? 0 : (gint64) selected + step;

  if (count == 0 || next < 0 || next >= count)
    return;
  gtk_single_selection_set_selected (self->selection, (guint) next);
  show_position (self, (guint) next);
}

void
assay_queue_pane_focus_filter (AssayQueuePane *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self->filter));
}

static void
filter_changed (AssayQueuePane *self)
{
  if (self->string_filter == NULL)
    return;
  /* What is open stays open while the list narrows. */
  self->quiet = TRUE;
  gtk_string_filter_set_search (self->string_filter,
                                gtk_editable_get_text (GTK_EDITABLE (self->filter)));
  self->quiet = FALSE;
}

static void
row_setup (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  gtk_list_item_set_child (item, g_object_new (ASSAY_TYPE_QUEUE_ROW, NULL));
}

static void
row_bind (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  assay_queue_row_set_task (ASSAY_QUEUE_ROW (gtk_list_item_get_child (item)),
                            gtk_list_item_get_item (item));
}

static void
row_unbind (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  assay_queue_row_set_task (ASSAY_QUEUE_ROW (gtk_list_item_get_child (item)), NULL);
}

static void
assay_queue_pane_dispose (GObject *object)
{
  AssayQueuePane *self = ASSAY_QUEUE_PANE (object);

  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_object (&self->selection);
  g_clear_object (&self->tasks);
  G_OBJECT_CLASS (assay_queue_pane_parent_class)->dispose (object);
}

static void
assay_queue_pane_class_init (AssayQueuePaneClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = assay_queue_pane_dispose;
  signals[CHOSEN] = g_signal_new ("chosen", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 1, ASSAY_TYPE_TASK_ITEM);
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "queuepane");
  gtk_widget_class_set_template_from_resource (widget_class, "/org/assay/Assay/ui/queue-pane.ui");
  gtk_widget_class_bind_template_child (widget_class, AssayQueuePane, box);
  gtk_widget_class_bind_template_child (widget_class, AssayQueuePane, count);
  gtk_widget_class_bind_template_child (widget_class, AssayQueuePane, filter);
  gtk_widget_class_bind_template_child (widget_class, AssayQueuePane, list);
  gtk_widget_class_bind_template_callback (widget_class, filter_changed);
}

static void
assay_queue_pane_init (AssayQueuePane *self)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();

  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_widget_add_css_class (GTK_WIDGET (self), "side-pane");
  g_signal_connect (factory, "setup", G_CALLBACK (row_setup), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (row_bind), NULL);
  g_signal_connect (factory, "unbind", G_CALLBACK (row_unbind), NULL);
  gtk_list_view_set_factory (self->list, factory);
  g_object_unref (factory);
}
