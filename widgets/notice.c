/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "widgets/notice.h"

struct _AssayNotice
{
  GtkWidget parent;
  GtkWidget *box;
  GtkImage *icon;
  GtkLabel *label;
  GtkWidget *copy;
  GtkBox *actions;
  char *topic, *detail;
};

G_DEFINE_FINAL_TYPE (AssayNotice, assay_notice, GTK_TYPE_WIDGET)

static const struct
{
  const char *icon, *css, *word;
} kinds[] = {
    [ASSAY_NOTICE_GOOD] = {"assay-passed-symbolic", "good", "done"},
    [ASSAY_NOTICE_WARNING] = {"assay-major-symbolic", "warning", "warning"},
    [ASSAY_NOTICE_ERROR] = {"assay-blocker-symbolic", "error", "error"},
};

static void
copy_clicked (AssayNotice *self)
{
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)), self->detail);
}

static void
close_clicked (AssayNotice *self)
{
  GtkWidget *parent = gtk_widget_get_parent (GTK_WIDGET (self));

  if (GTK_IS_BOX (parent))
    gtk_box_remove (GTK_BOX (parent), GTK_WIDGET (self));
}

GtkWidget *
assay_notice_new (AssayNoticeKind kind, const char *topic, const char *text, const char *detail)
{
  AssayNotice *self = g_object_new (ASSAY_TYPE_NOTICE, NULL);

  self->topic = g_strdup (topic);
  self->detail = detail != NULL ? g_strdup_printf ("%s\n\n%s\n", text, detail)
                                : g_strdup_printf ("%s\n", text);
  gtk_image_set_from_icon_name (self->icon, kinds[kind].icon);
  gtk_label_set_text (self->label, text);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->label), detail != NULL ? detail : text);
  gtk_widget_set_visible (self->copy, kind == ASSAY_NOTICE_ERROR || detail != NULL);
  gtk_widget_add_css_class (GTK_WIDGET (self), kinds[kind].css);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->icon), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  kinds[kind].word, -1);
  return GTK_WIDGET (self);
}

void
assay_notice_add_action (AssayNotice *self, const char *label, const char *action, GVariant *target)
{
  GtkWidget *button = gtk_button_new_with_label (label);

  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), action);
  if (target != NULL)
    gtk_actionable_set_action_target_value (GTK_ACTIONABLE (button), target);
  gtk_box_append (self->actions, button);
}

const char *
assay_notice_get_topic (AssayNotice *self)
{
  return self->topic;
}

const char *
assay_notice_get_text (AssayNotice *self)
{
  return gtk_label_get_text (self->label);
}

AssayNotice *
assay_notice_box_find (GtkBox *box, const char *topic)
{
  for (GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (box)); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    if (ASSAY_IS_NOTICE (child) && g_strcmp0 (ASSAY_NOTICE (child)->topic, topic) == 0)
      return ASSAY_NOTICE (child);
  return NULL;
}

void
assay_notice_box_remove (GtkBox *box, const char *topic)
{
  AssayNotice *found = assay_notice_box_find (box, topic);

  if (found != NULL)
    gtk_box_remove (box, GTK_WIDGET (found));
}

void
assay_notice_box_add (GtkBox *box, AssayNotice *notice)
{
  assay_notice_box_remove (box, notice->topic);
  gtk_box_append (box, GTK_WIDGET (notice));
}

static void
assay_notice_dispose (GObject *object)
{
  AssayNotice *self = ASSAY_NOTICE (object);

  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_pointer (&self->topic, g_free);
  g_clear_pointer (&self->detail, g_free);
  G_OBJECT_CLASS (assay_notice_parent_class)->dispose (object);
}

static void
assay_notice_class_init (AssayNoticeClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = assay_notice_dispose;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_ALERT);
  gtk_widget_class_set_css_name (widget_class, "notice");
  gtk_widget_class_set_template_from_resource (widget_class, "/org/assay/Assay/ui/notice.ui");
  gtk_widget_class_bind_template_child (widget_class, AssayNotice, box);
  gtk_widget_class_bind_template_child (widget_class, AssayNotice, icon);
  gtk_widget_class_bind_template_child (widget_class, AssayNotice, label);
  gtk_widget_class_bind_template_child (widget_class, AssayNotice, copy);
  gtk_widget_class_bind_template_child (widget_class, AssayNotice, actions);
  gtk_widget_class_bind_template_callback (widget_class, copy_clicked);
  gtk_widget_class_bind_template_callback (widget_class, close_clicked);
}

static void
assay_notice_init (AssayNotice *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_widget_add_css_class (GTK_WIDGET (self), "notice");
}
