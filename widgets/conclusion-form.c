/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "widgets/conclusion-form.h"

#include "widgets/card.h"

struct _AssayConclusionForm
{
  GtkWidget parent;
  GtkWidget *box;
  GtkGrid *verdicts;
  GtkBox *accept;
  GtkTextView *summary;
  AssayReviewEditor *editor;
  const AssayRubric *built_for;
  gboolean filling;
};

G_DEFINE_FINAL_TYPE (AssayConclusionForm, assay_conclusion_form, GTK_TYPE_WIDGET)

static void
verdict_chosen (AssayConclusionForm *self, GParamSpec *pspec, GtkDropDown *chooser)
{
  GtkStringObject *word = gtk_drop_down_get_selected_item (chooser);
  gboolean none = gtk_drop_down_get_selected (chooser) == 0;

  if (!self->filling && word != NULL)
    assay_review_editor_set_verdict (self->editor, gtk_widget_get_name (GTK_WIDGET (chooser)),
                                     none ? NULL : gtk_string_object_get_string (word));
}

static void
build (AssayConclusionForm *self, const AssayRubric *rubric)
{
  if (self->built_for == rubric)
    return;
  self->built_for = rubric;
  assay_clear_children (GTK_WIDGET (self->verdicts));
  for (guint i = 0; i < rubric->axes->len; i++)
    {
      const AssayAxisWords *axis = g_ptr_array_index (rubric->axes, i);
      GtkStringList *words = gtk_string_list_new ((const char *[]) {"not given", NULL});
      GtkWidget *chooser;

      for (int w = 0; axis->verdicts[w] != NULL; w++)
        gtk_string_list_append (words, axis->verdicts[w]);
      chooser = gtk_drop_down_new (G_LIST_MODEL (words), NULL);
      gtk_widget_set_name (chooser, axis->id);
      gtk_widget_set_hexpand (chooser, TRUE);
      gtk_accessible_update_property (GTK_ACCESSIBLE (chooser), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                      axis->title, -1);
      g_signal_connect_object (chooser, "notify::selected", G_CALLBACK (verdict_chosen), self,
                               G_CONNECT_SWAPPED);
      gtk_grid_attach (self->verdicts, assay_cell_new (axis->title, NULL), 0, (int) i, 1, 1);
      gtk_grid_attach (self->verdicts, chooser, 1, (int) i, 1, 1);
    }
}

static void
show_verdicts (AssayConclusionForm *self)
{
  const AssayRubric *rubric = assay_review_editor_rubric (self->editor);

  for (guint i = 0; i < rubric->axes->len; i++)
    {
      const AssayAxisWords *axis = g_ptr_array_index (rubric->axes, i);
      const char *word = assay_review_verdict (assay_review_editor_review (self->editor), axis->id);
      guint selected = 0;

      for (guint w = 0; axis->verdicts[w] != NULL; w++)
        if (g_strcmp0 (axis->verdicts[w], word) == 0)
          selected = w + 1;
      gtk_drop_down_set_selected (
          GTK_DROP_DOWN (gtk_grid_get_child_at (self->verdicts, 1, (int) i)), selected);
    }
}

static void
accept_toggled (AssayConclusionForm *self, GtkCheckButton *button)
{
  if (!self->filling && self->editor != NULL && gtk_check_button_get_active (button))
    assay_review_editor_set_accept (self->editor, gtk_widget_get_name (GTK_WIDGET (button)));
}

static void
summary_changed (AssayConclusionForm *self)
{
  g_autofree char *text = NULL;

  if (self->filling || self->editor == NULL)
    return;
  g_object_get (gtk_text_view_get_buffer (self->summary), "text", &text, NULL);
  assay_review_editor_set_summary (self->editor, text);
}

static void
show_summary (AssayConclusionForm *self, const char *text)
{
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (self->summary);
  g_autofree char *now = NULL;

  g_object_get (buffer, "text", &now, NULL);
  if (g_strcmp0 (now, text != NULL ? text : "") != 0)
    gtk_text_buffer_set_text (buffer, text != NULL ? text : "", -1);
}

void
assay_conclusion_form_show (AssayConclusionForm *self, AssayReviewEditor *editor)
{
  const AssayReview *review;

  g_return_if_fail (ASSAY_IS_CONCLUSION_FORM (self));
  g_set_object (&self->editor, editor);
  if (editor == NULL)
    return;
  review = assay_review_editor_review (editor);
  self->filling = TRUE;
  build (self, assay_review_editor_rubric (editor));
  show_verdicts (self);
  for (GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (self->accept)); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    g_object_set (child, "active", g_strcmp0 (gtk_widget_get_name (child), review->accept) == 0,
                  NULL);
  show_summary (self, review->summary);
  gtk_widget_set_sensitive (self->box, review->submitted == NULL);
  self->filling = FALSE;
}

static void
assay_conclusion_form_dispose (GObject *object)
{
  AssayConclusionForm *self = ASSAY_CONCLUSION_FORM (object);

  self->filling = TRUE;
  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_object (&self->editor);
  G_OBJECT_CLASS (assay_conclusion_form_parent_class)->dispose (object);
}

static void
assay_conclusion_form_class_init (AssayConclusionFormClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = assay_conclusion_form_dispose;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/assay/Assay/ui/conclusion-form.ui");
  gtk_widget_class_bind_template_child (widget_class, AssayConclusionForm, box);
  gtk_widget_class_bind_template_child (widget_class, AssayConclusionForm, verdicts);
  gtk_widget_class_bind_template_child (widget_class, AssayConclusionForm, accept);
  gtk_widget_class_bind_template_child (widget_class, AssayConclusionForm, summary);
  gtk_widget_class_bind_template_callback (widget_class, accept_toggled);
  gtk_widget_class_bind_template_callback (widget_class, summary_changed);
}

static void
assay_conclusion_form_init (AssayConclusionForm *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
