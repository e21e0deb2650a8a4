/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/finding-row.h"

#include "widgets/badge.h"

struct _AssayFindingRow
{
  GtkWidget parent;
  GtkWidget *box;
  GtkImage *icon;
  GtkLabel *severity, *rule, *title, *place, *blame, *count, *disposition;
  GSignalGroup *changes;
};

G_DEFINE_FINAL_TYPE (AssayFindingRow, assay_finding_row, GTK_TYPE_WIDGET)

static void
show_disposition (AssayFindingRow *self)
{
  g_autoptr (AssayFindingItem) item = g_signal_group_dup_target (self->changes);
  g_autofree char *word = NULL;

  if (item == NULL)
    return;
  word = g_strdup (ASSAY_DISPOSITIONS[assay_finding_item_get (item)->disposition]);
  gtk_label_set_text (self->disposition, g_strdelimit (word, "_", ' '));
}

static void
show (AssayFindingRow *self, const AssayFinding *finding)
{
  const AssayBadge *badge = assay_badge_severity (finding->severity);
  g_autofree char *place = assay_finding_place (finding);
  g_autofree char *blame = g_strdup_printf ("blame: %s", ASSAY_BLAMES[finding->blame]);
  g_autofree char *count =
      finding->count > 1 ? g_strdup_printf ("%" G_GUINT64_FORMAT " ×", finding->count) : NULL;

  assay_badge_image_set (self->icon, badge);
  gtk_label_set_text (self->severity, badge->word);
  for (int i = 0; i <= ASSAY_SEVERITY_INFO; i++)
    gtk_widget_remove_css_class (GTK_WIDGET (self->severity), assay_badge_severity (i)->css);
  gtk_widget_add_css_class (GTK_WIDGET (self->severity), badge->css);
  gtk_label_set_text (self->rule, finding->rule);
  gtk_label_set_text (self->title, finding->title);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->title), finding->title);
  gtk_label_set_text (self->place, place);
  gtk_label_set_text (self->blame, blame);
  gtk_label_set_text (self->count, count != NULL ? count : "");
}

void
assay_finding_row_set_item (AssayFindingRow *self, AssayFindingItem *item)
{
  g_return_if_fail (ASSAY_IS_FINDING_ROW (self));
  g_signal_group_set_target (self->changes, item);
  if (item == NULL)
    return;
  show (self, assay_finding_item_get (item));
  show_disposition (self);
}

static void
assay_finding_row_dispose (GObject *object)
{
  g_clear_object (&ASSAY_FINDING_ROW (object)->changes);
  g_clear_pointer (&ASSAY_FINDING_ROW (object)->box, gtk_widget_unparent);
  G_OBJECT_CLASS (assay_finding_row_parent_class)->dispose (object);
}

static void
assay_finding_row_class_init (AssayFindingRowClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = assay_finding_row_dispose;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/assay/Assay/ui/finding-row.ui");
  gtk_widget_class_bind_template_child (widget_class, AssayFindingRow, box);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingRow, icon);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingRow, severity);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingRow, rule);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingRow, title);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingRow, place);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingRow, blame);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingRow, count);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingRow, disposition);
}

static void
assay_finding_row_init (AssayFindingRow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->changes = g_signal_group_new (ASSAY_TYPE_FINDING_ITEM);
  g_signal_group_connect_swapped (self->changes, "notify::disposition",
                                  G_CALLBACK (show_disposition), self);
}
