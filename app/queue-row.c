/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/queue-row.h"

#include "widgets/badge.h"

struct _AssayQueueRow
{
  GtkWidget parent;
  GtkWidget *box;
  GtkImage *state;
  GtkLabel *id;
  GtkLabel *subtitle;
  GtkBox *worst;
  GtkImage *severity;
  GtkLabel *count;
  GBindingGroup *bindings;
  GSignalGroup *changes;
};

G_DEFINE_FINAL_TYPE (AssayQueueRow, assay_queue_row, GTK_TYPE_WIDGET)

static const struct
{
  const char *icon, *word;
} states[] = {
    [ASSAY_REVIEW_NEW] = {"assay-new-symbolic", "not begun"},
    [ASSAY_REVIEW_DRAFT] = {"assay-draft-symbolic", "draft"},
    [ASSAY_REVIEW_SUBMITTED] = {"assay-submitted-symbolic", "submitted"},
};

static void
show_state (AssayQueueRow *self)
{
  g_autoptr (AssayTaskItem) task = g_signal_group_dup_target (self->changes);
  int severity = -1;

  if (task == NULL)
    return;
  gtk_image_set_from_icon_name (self->state, states[assay_task_item_get_state (task)].icon);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->state),
                               states[assay_task_item_get_state (task)].word);
  g_object_get (task, "severity", &severity, NULL);
  gtk_widget_set_visible (GTK_WIDGET (self->worst), severity >= 0);
  for (int i = 0; i <= ASSAY_SEVERITY_INFO; i++)
    gtk_widget_remove_css_class (GTK_WIDGET (self->worst), assay_badge_severity (i)->css);
  if (severity >= 0)
    {
      gtk_widget_add_css_class (GTK_WIDGET (self->worst), assay_badge_severity (severity)->css);
      assay_badge_image_set (self->severity, assay_badge_severity (severity));
    }
}

void
assay_queue_row_set_task (AssayQueueRow *self, AssayTaskItem *task)
{
  g_return_if_fail (ASSAY_IS_QUEUE_ROW (self));
  g_binding_group_set_source (self->bindings, task);
  g_signal_group_set_target (self->changes, task);
  show_state (self);
}

static void
assay_queue_row_dispose (GObject *object)
{
  AssayQueueRow *self = ASSAY_QUEUE_ROW (object);

  g_clear_object (&self->bindings);
  g_clear_object (&self->changes);
  g_clear_pointer (&self->box, gtk_widget_unparent);
  G_OBJECT_CLASS (assay_queue_row_parent_class)->dispose (object);
}

static void
assay_queue_row_class_init (AssayQueueRowClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = assay_queue_row_dispose;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/assay/Assay/ui/queue-row.ui");
  gtk_widget_class_bind_template_child (widget_class, AssayQueueRow, box);
  gtk_widget_class_bind_template_child (widget_class, AssayQueueRow, state);
  gtk_widget_class_bind_template_child (widget_class, AssayQueueRow, id);
  gtk_widget_class_bind_template_child (widget_class, AssayQueueRow, subtitle);
  gtk_widget_class_bind_template_child (widget_class, AssayQueueRow, worst);
  gtk_widget_class_bind_template_child (widget_class, AssayQueueRow, severity);
  gtk_widget_class_bind_template_child (widget_class, AssayQueueRow, count);
}

static void
assay_queue_row_init (AssayQueueRow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->bindings = g_binding_group_new ();
  g_binding_group_bind (self->bindings, "id", self->id, "label", G_BINDING_SYNC_CREATE);
  g_binding_group_bind (self->bindings, "subtitle", self->subtitle, "label", G_BINDING_SYNC_CREATE);
  g_binding_group_bind (self->bindings, "count-text", self->count, "label", G_BINDING_SYNC_CREATE);
  self->changes = g_signal_group_new (ASSAY_TYPE_TASK_ITEM);
  g_signal_group_connect_swapped (self->changes, "notify::state", G_CALLBACK (show_state), self);
  g_signal_group_connect_swapped (self->changes, "notify::severity", G_CALLBACK (show_state), self);
}
