/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/review-pane.h"

#include "app/later.h"
#include "widgets/card.h"
#include "widgets/conclusion-form.h"
#include "widgets/rubric-form.h"
#include "widgets/segments.h"

#define MOST_NEEDED 6 /* lines of the list; the rest is a number */

struct _AssayReviewPane
{
  GtkWidget parent;
  GtkWidget *box;
  GtkLabel *rubric, *place, *missing;
  AssaySegments *segments;
  GtkStack *stack;
  GtkScrolledWindow *scroller;
  AssayRubricForm *form;
  AssayConclusionForm *conclusion;
  GtkBox *needed;
  GtkWidget *needed_title;
  GtkButton *previous, *next;
  GtkLabel *empty;
  AssayContext *context;
  AssayLater *later;
  int position; /* of the criterion among the review's scores; the conclusion stands after the last */
};

enum
{
  FINDING,
  EVIDENCE,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AssayReviewPane, assay_review_pane, GTK_TYPE_WIDGET)

static const AssayReview *
review_of (AssayReviewPane *self)
{
  AssayDraft *draft = self->context != NULL ? assay_context_get_draft (self->context) : NULL;

  return draft != NULL ? assay_draft_get_review (draft) : NULL;
}

const char *
assay_review_pane_get_criterion (AssayReviewPane *self)
{
  const AssayReview *review = review_of (self);

  if (review == NULL || self->position >= (int) review->scores->len)
    return NULL;
  return ((AssayScore *) g_ptr_array_index (review->scores, self->position))->criterion;
}

/* --- what is shown --------------------------------------------------------------------------- */

static void
show_segments (AssayReviewPane *self, AssayDraft *draft)
{
  const AssayReview *review = assay_draft_get_review (draft);

  assay_segments_set_count (self->segments, review->scores->len);
  for (guint i = 0; i < review->scores->len; i++)
    {
      const AssayScore *score = g_ptr_array_index (review->scores, i);
      gboolean complete = assay_draft_criterion_complete (draft, score->criterion);

      assay_segments_set (self->segments, i,
                          (int) i == self->position ? ASSAY_SEGMENT_ACTIVE
                          : complete                ? ASSAY_SEGMENT_DONE
                                                    : ASSAY_SEGMENT_EMPTY,
                          1.0);
    }
}

static void
needed_clicked (AssayReviewPane *self, GtkWidget *button)
{
  const char *criterion = g_object_get_data (G_OBJECT (button), "criterion");

  assay_review_pane_show_criterion (self, criterion);
  if (criterion != NULL)
    assay_rubric_form_focus_text (self->form);
}

static void
add_needed (AssayReviewPane *self, const AssayMissing *missing)
{
  GtkWidget *button = gtk_button_new ();
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 7);
  GtkWidget *icon = gtk_image_new_from_icon_name ("assay-missing-symbolic");
  GtkWidget *title = assay_cell_new (missing->title, "dim");

  gtk_widget_add_css_class (icon, "failed");
  gtk_image_set_pixel_size (GTK_IMAGE (icon), 12);
  gtk_widget_set_hexpand (title, TRUE);
  gtk_label_set_xalign (GTK_LABEL (title), 1);
  gtk_box_append (GTK_BOX (line), icon);
  gtk_box_append (GTK_BOX (line), gtk_label_new (missing->what));
  gtk_box_append (GTK_BOX (line), title);
  gtk_box_append (GTK_BOX (line), gtk_image_new_from_icon_name ("pan-end-symbolic"));
  gtk_button_set_child (GTK_BUTTON (button), line);
  gtk_widget_add_css_class (button, "needed");
  g_object_set_data_full (G_OBJECT (button), "criterion", g_strdup (missing->criterion), g_free);
  g_signal_connect_object (button, "clicked", G_CALLBACK (needed_clicked), self, G_CONNECT_SWAPPED);
  gtk_box_append (self->needed, button);
}

static void
show_needed (AssayReviewPane *self, AssayDraft *draft)
{
  GPtrArray *missing = assay_draft_get_missing (draft);
  g_autofree char *text = NULL;

  assay_clear_children (GTK_WIDGET (self->needed));
  for (guint i = 0; i < missing->len && i < MOST_NEEDED; i++)
    add_needed (self, g_ptr_array_index (missing, i));
  if (missing->len > MOST_NEEDED)
    {
      g_autofree char *more = g_strdup_printf ("and %u more", missing->len - MOST_NEEDED);

      gtk_box_append (self->needed, assay_cell_new (more, "dim"));
    }
  gtk_widget_set_visible (self->needed_title, missing->len > 0);
  if (assay_draft_is_submitted (draft))
    text = g_strdup ("submitted");
  else if (missing->len == 0)
    text = g_strdup ("nothing missing");
  else
    text = g_strdup_printf ("%u missing", missing->len);
  gtk_label_set_text (self->missing, text);
}

static void
show_head (AssayReviewPane *self, AssayDraft *draft)
{
  const AssayReview *review = assay_draft_get_review (draft);
  const AssayRubric *rubric = assay_draft_get_rubric (draft);
  g_autofree char *name =
      g_strdup_printf ("%s rubric %" G_GINT64_FORMAT, rubric->id, rubric->revision);
  g_autofree char *place = NULL;

  if (self->position < (int) review->scores->len)
    place = g_strdup_printf ("%d of %u", self->position + 1, review->scores->len);
  else
    place = g_strdup ("conclusion");
  gtk_label_set_text (self->rubric, name);
  gtk_label_set_text (self->place, place);
}

static void
show_form (AssayReviewPane *self, AssayDraft *draft)
{
  g_autoptr (GPtrArray) findings = assay_context_get_findings (self->context);
  const char *criterion = assay_review_pane_get_criterion (self);

  if (criterion == NULL)
    {
      assay_conclusion_form_show (self->conclusion, assay_draft_get_editor (draft));
      gtk_stack_set_visible_child_name (self->stack, "conclusion");
      return;
    }
  assay_rubric_form_show (self->form, assay_draft_get_editor (draft), criterion, findings,
                          assay_task_item_get_folder (assay_context_get_task_item (self->context)));
  gtk_stack_set_visible_child_name (self->stack, "criterion");
}

static void
refresh (AssayReviewPane *self)
{
  AssayDraft *draft = assay_context_get_draft (self->context);
  gboolean any = draft != NULL && assay_draft_get_review (draft)->scores->len > 0;

  gtk_widget_set_visible (GTK_WIDGET (self->segments), any);
  gtk_widget_set_sensitive (GTK_WIDGET (self->previous), any && self->position > 0);
  gtk_widget_set_sensitive (
      GTK_WIDGET (self->next),
      any && self->position < (int) assay_draft_get_review (draft)->scores->len);
  if (!any)
    {
      gtk_label_set_text (self->rubric, "");
      gtk_label_set_text (self->place, "");
      gtk_label_set_text (self->missing, "");
      assay_clear_children (GTK_WIDGET (self->needed));
      gtk_widget_set_visible (self->needed_title, FALSE);
      assay_rubric_form_show (self->form, NULL, NULL, NULL, NULL);
      gtk_stack_set_visible_child_name (self->stack, "empty");
      return;
    }
  show_head (self, draft);
  show_segments (self, draft);
  show_form (self, draft);
  show_needed (self, draft);
}

static void
to_top (AssayReviewPane *self)
{
  gtk_adjustment_set_value (gtk_scrolled_window_get_vadjustment (self->scroller), 0);
}

void
assay_review_pane_step (AssayReviewPane *self, int step)
{
  const AssayReview *review = review_of (self);

  g_return_if_fail (ASSAY_IS_REVIEW_PANE (self));
  if (review == NULL)
    return;
  self->position = CLAMP (self->position + step, 0, (int) review->scores->len);
  refresh (self);
  to_top (self);
}

void
assay_review_pane_show_criterion (AssayReviewPane *self, const char *criterion)
{
  const AssayReview *review = review_of (self);

  g_return_if_fail (ASSAY_IS_REVIEW_PANE (self));
  if (review == NULL)
    return;
  self->position = (int) review->scores->len;
  for (guint i = 0; criterion != NULL && i < review->scores->len; i++)
    if (g_strcmp0 (((AssayScore *) g_ptr_array_index (review->scores, i))->criterion, criterion)
        == 0)
      self->position = (int) i;
  refresh (self);
  to_top (self);
}

void
assay_review_pane_show_rule (AssayReviewPane *self, const char *rule)
{
  const AssayReview *review = review_of (self);
  const AssayRubric *rubric =
      review != NULL ? assay_draft_get_rubric (assay_context_get_draft (self->context)) : NULL;
  const char *open = assay_review_pane_get_criterion (self);

  g_return_if_fail (ASSAY_IS_REVIEW_PANE (self));
  if (review == NULL
      || (open != NULL && assay_criterion_hears (assay_rubric_criterion (rubric, open), rule)))
    return;
  for (guint i = 0; i < review->scores->len; i++)
    {
      const AssayScore *score = g_ptr_array_index (review->scores, i);

      if (assay_criterion_hears (assay_rubric_criterion (rubric, score->criterion), rule))
        {
          assay_review_pane_show_criterion (self, score->criterion);
          return;
        }
    }
}

void
assay_review_pane_score (AssayReviewPane *self, const char *value)
{
  if (assay_review_pane_get_criterion (self) != NULL)
    assay_rubric_form_score (self->form, value);
}

gboolean
assay_review_pane_attach (AssayReviewPane *self, const AssayEvidence *evidence)
{
  const char *criterion = assay_review_pane_get_criterion (self);

  if (criterion == NULL || assay_draft_is_submitted (assay_context_get_draft (self->context)))
    return FALSE;
  assay_review_editor_attach (assay_draft_get_editor (assay_context_get_draft (self->context)),
                              criterion, evidence);
  return TRUE;
}

static void
previous_clicked (AssayReviewPane *self)
{
  assay_review_pane_step (self, -1);
}

static void
next_clicked (AssayReviewPane *self)
{
  assay_review_pane_step (self, 1);
}

static void
form_finding (AssayReviewPane *self, const char *id)
{
  g_signal_emit (self, signals[FINDING], 0, id);
}

static void
form_evidence (AssayReviewPane *self, guint index)
{
  const AssayScore *score =
      assay_review_score (review_of (self), assay_review_pane_get_criterion (self));

  if (score != NULL && index < score->evidence->len)
    g_signal_emit (self, signals[EVIDENCE], 0, g_ptr_array_index (score->evidence, index));
}

static void
show_suggestions (gpointer self, guint what)
{
  refresh (self);
}

/* --- following ------------------------------------------------------------------------------- */

static void
run_changed (AssayReviewPane *self, guint what)
{
  assay_later_push (self->later, what & ASSAY_RUN_CHANGED_FINDINGS);
}

static void
draft_changed (AssayReviewPane *self)
{
  const AssayReview *review = review_of (self);

  if (review != NULL)
    self->position = MIN (self->position, (int) review->scores->len);
  refresh (self);
}

static void
task_changed (AssayReviewPane *self)
{
  self->position = 0;
  to_top (self);
}

void
assay_review_pane_set_context (AssayReviewPane *self, AssayContext *context)
{
  g_return_if_fail (ASSAY_IS_REVIEW_PANE (self));
  self->context = g_object_ref (context);
  g_signal_connect_object (context, "task-changed", G_CALLBACK (task_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (context, "draft-changed", G_CALLBACK (draft_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (context, "run-changed", G_CALLBACK (run_changed), self,
                           G_CONNECT_SWAPPED);
  refresh (self);
}

static void
assay_review_pane_dispose (GObject *object)
{
  AssayReviewPane *self = ASSAY_REVIEW_PANE (object);

  g_clear_pointer (&self->later, assay_later_free);
  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_object (&self->context);
  G_OBJECT_CLASS (assay_review_pane_parent_class)->dispose (object);
}

static void
bind_children (GtkWidgetClass *widget_class)
{
  gtk_widget_class_bind_template_child (widget_class, AssayReviewPane, box);
  gtk_widget_class_bind_template_child (widget_class, AssayReviewPane, rubric);
  gtk_widget_class_bind_template_child (widget_class, AssayReviewPane, place);
  gtk_widget_class_bind_template_child (widget_class, AssayReviewPane, missing);
  gtk_widget_class_bind_template_child (widget_class, AssayReviewPane, segments);
  gtk_widget_class_bind_template_child (widget_class, AssayReviewPane, stack);
  gtk_widget_class_bind_template_child (widget_class, AssayReviewPane, scroller);
  gtk_widget_class_bind_template_child (widget_class, AssayReviewPane, form);
  gtk_widget_class_bind_template_child (widget_class, AssayReviewPane, conclusion);
  gtk_widget_class_bind_template_child (widget_class, AssayReviewPane, needed);
  gtk_widget_class_bind_template_child (widget_class, AssayReviewPane, needed_title);
  gtk_widget_class_bind_template_child (widget_class, AssayReviewPane, previous);
  gtk_widget_class_bind_template_child (widget_class, AssayReviewPane, next);
  gtk_widget_class_bind_template_child (widget_class, AssayReviewPane, empty);
}

static void
assay_review_pane_class_init (AssayReviewPaneClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  GType type = G_TYPE_FROM_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = assay_review_pane_dispose;
  g_type_ensure (ASSAY_TYPE_RUBRIC_FORM);
  g_type_ensure (ASSAY_TYPE_CONCLUSION_FORM);
  g_type_ensure (ASSAY_TYPE_SEGMENTS);
  signals[FINDING] = g_signal_new ("finding", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                   G_TYPE_NONE, 1, G_TYPE_STRING);
  signals[EVIDENCE] = g_signal_new ("evidence", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                    G_TYPE_NONE, 1, G_TYPE_POINTER);
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "reviewpane");
  gtk_widget_class_set_template_from_resource (widget_class, "/org/assay/Assay/ui/review-pane.ui");
  bind_children (widget_class);
  gtk_widget_class_bind_template_callback (widget_class, previous_clicked);
  gtk_widget_class_bind_template_callback (widget_class, next_clicked);
  gtk_widget_class_bind_template_callback (widget_class, form_finding);
  gtk_widget_class_bind_template_callback (widget_class, form_evidence);
}

static void
assay_review_pane_init (AssayReviewPane *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->later = assay_later_new (GTK_WIDGET (self), show_suggestions);
  gtk_widget_add_css_class (GTK_WIDGET (self), "side-pane");
}
