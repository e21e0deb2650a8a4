/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/finding-detail.h"

#include "app/finding-item.h"
#include "widgets/badge.h"
#include "widgets/card.h"
#include "widgets/markdown-view.h"

struct _AssayFindingDetail
{
  GtkWidget parent;
  GtkWidget *box;
  AssayMarkdownView *detail;
  GtkLabel *facts;
  GtkFlowBox *evidence;
  GtkWidget *again;
  GtkLabel *command;
  GtkBox *dispositions;
  char *id;
  gboolean filling;
};

G_DEFINE_FINAL_TYPE (AssayFindingDetail, assay_finding_detail, GTK_TYPE_WIDGET)

static char *
facts_line (const AssayFinding *finding)
{
  g_autofree char *place = assay_finding_place (finding);
  g_autoptr (GString) text = g_string_new (finding->rule);

  g_string_append_printf (text, "  ·  blame %s", ASSAY_BLAMES[finding->blame]);
  if (finding->component != NULL)
    g_string_append_printf (text, ", %s", finding->component);
  if (*place != '\0')
    g_string_append_printf (text, "  ·  %s", place);
  g_string_append_printf (text, "  ·  confidence %.2g", finding->confidence);
  if (finding->count > 1)
    g_string_append_printf (text, "  ·  %" G_GUINT64_FORMAT " times", finding->count);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
fill_evidence (AssayFindingDetail *self, const AssayFinding *finding)
{
  assay_clear_children (GTK_WIDGET (self->evidence));
  for (guint i = 0; i < finding->evidence->len; i++)
    {
      const AssayEvidence *evidence = g_ptr_array_index (finding->evidence, i);
      const AssayBadge badge = {assay_badge_evidence_icon (evidence->kind), evidence->kind, "dim"};
      GtkWidget *chip =
          assay_chip_new (&badge, evidence->title != NULL ? evidence->title : evidence->ref);

      gtk_widget_set_tooltip_text (chip, evidence->quote != NULL ? evidence->quote : evidence->ref);
      gtk_flow_box_insert (self->evidence, chip, -1);
      gtk_widget_set_focusable (gtk_widget_get_parent (chip), FALSE);
    }
  gtk_widget_set_visible (GTK_WIDGET (self->evidence), finding->evidence->len > 0);
}

static void
disposition_toggled (AssayFindingDetail *self, GtkToggleButton *button)
{
  if (!self->filling && self->id != NULL && gtk_toggle_button_get_active (button))
    gtk_widget_activate_action (GTK_WIDGET (self), "win.judge", "(ss)", self->id,
                                gtk_widget_get_name (GTK_WIDGET (button)));
}

static void
show_disposition (AssayFindingDetail *self, const AssayFinding *finding)
{
  self->filling = TRUE;
  g_free (self->id);
  self->id = g_strdup (finding->id);
  for (GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (self->dispositions));
       child != NULL; child = gtk_widget_get_next_sibling (child))
    gtk_toggle_button_set_active (
        GTK_TOGGLE_BUTTON (child),
        g_str_equal (gtk_widget_get_name (child), ASSAY_DISPOSITIONS[finding->disposition]));
  self->filling = FALSE;
}

void
assay_finding_detail_show (AssayFindingDetail *self, const AssayFinding *finding)
{
  g_autofree char *facts = facts_line (finding);
  g_autofree char *text = g_strdup_printf (
      "**%s**\n\n%s%s%s", finding->title, finding->detail != NULL ? finding->detail : "",
      finding->suggestion != NULL ? "\n\n**Suggestion.** " : "",
      finding->suggestion != NULL ? finding->suggestion : "");

  g_return_if_fail (ASSAY_IS_FINDING_DETAIL (self));
  assay_markdown_view_set_text (self->detail, text);
  gtk_label_set_text (self->facts, facts);
  gtk_widget_set_visible (self->again, finding->reproduce != NULL);
  gtk_label_set_text (self->command, finding->reproduce != NULL ? finding->reproduce : "");
  fill_evidence (self, finding);
  show_disposition (self, finding);
}

static void
copy_command (AssayFindingDetail *self)
{
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)),
                          gtk_label_get_text (self->command));
}

static void
assay_finding_detail_dispose (GObject *object)
{
  g_clear_pointer (&ASSAY_FINDING_DETAIL (object)->box, gtk_widget_unparent);
  g_clear_pointer (&ASSAY_FINDING_DETAIL (object)->id, g_free);
  G_OBJECT_CLASS (assay_finding_detail_parent_class)->dispose (object);
}

static void
assay_finding_detail_class_init (AssayFindingDetailClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = assay_finding_detail_dispose;
  g_type_ensure (ASSAY_TYPE_MARKDOWN_VIEW);
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/assay/Assay/ui/finding-detail.ui");
  gtk_widget_class_bind_template_child (widget_class, AssayFindingDetail, box);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingDetail, detail);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingDetail, facts);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingDetail, evidence);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingDetail, again);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingDetail, command);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingDetail, dispositions);
  gtk_widget_class_bind_template_callback (widget_class, copy_command);
  gtk_widget_class_bind_template_callback (widget_class, disposition_toggled);
}

static void
assay_finding_detail_init (AssayFindingDetail *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
