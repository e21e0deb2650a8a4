/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "widgets/rubric-form.h"

#include "widgets/badge.h"
#include "widgets/card.h"

struct _AssayRubricForm
{
  GtkWidget parent;
  GtkWidget *box;
  GtkLabel *title, *axis, *question;
  GtkBox *radios, *levels, *confidence;
  GtkWidget *suggestion;
  GtkLabel *suggestion_level;
  GtkFlowBox *suggestion_rules;
  GtkTextView *problem, *fix;
  GtkLabel *problem_need, *evidence_need, *fix_need;
  GtkFlowBox *evidence;
  GtkWidget *stale;
  GtkLabel *stale_text;
  GtkExpander *history_expander;
  GtkBox *history;
  AssayReviewEditor *editor;
  char *criterion, *task_folder;
  GPtrArray *findings;
  gint64 suggested;
  char *built_for; /* what radios and levels stand for now */
  gboolean filling;
};

enum
{
  EVIDENCE,
  FINDING,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AssayRubricForm, assay_rubric_form, GTK_TYPE_WIDGET)

static const AssayCriterion *
criterion_of (AssayRubricForm *self)
{
  return self->editor != NULL
             ? assay_rubric_criterion (assay_review_editor_rubric (self->editor), self->criterion)
             : NULL;
}

static const AssayScore *
score_of (AssayRubricForm *self)
{
  return assay_review_score (assay_review_editor_review (self->editor), self->criterion);
}

/* --- score ----------------------------------------------------------------------------------- */

void
assay_rubric_form_score (AssayRubricForm *self, const char *value)
{
  g_return_if_fail (ASSAY_IS_RUBRIC_FORM (self));
  if (self->editor != NULL && self->criterion != NULL)
    assay_review_editor_set_score (self->editor, self->criterion, value, self->suggested);
}

static void
button_toggled (AssayRubricForm *self, GtkWidget *button)
{
  gboolean active = FALSE;

  if (self->filling)
    return;
  g_object_get (button, "active", &active, NULL);
  if (active)
    assay_rubric_form_score (self, gtk_widget_get_name (button));
}

static void
add_radio (AssayRubricForm *self, GtkCheckButton **group, const char *value, const char *label,
           const char *tooltip)
{
  GtkWidget *radio = gtk_check_button_new_with_label (label);

  gtk_widget_set_name (radio, value);
  gtk_widget_set_tooltip_text (radio, tooltip);
  gtk_check_button_set_group (GTK_CHECK_BUTTON (radio), *group);
  if (*group == NULL)
    *group = GTK_CHECK_BUTTON (radio);
  g_signal_connect_object (radio, "toggled", G_CALLBACK (button_toggled), self, G_CONNECT_SWAPPED);
  gtk_box_append (self->radios, radio);
}

static void
add_level (AssayRubricForm *self, GtkToggleButton **group, const char *value, const char *anchor)
{
  GtkWidget *button = gtk_toggle_button_new ();
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 10);
  GtkWidget *number = assay_words_new (value, "number"), *words = assay_words_new (anchor, NULL);

  gtk_widget_add_css_class (button, "level");
  gtk_widget_set_name (button, value);
  gtk_widget_set_focusable (button, FALSE); /* the radios take the keyboard */
  gtk_toggle_button_set_group (GTK_TOGGLE_BUTTON (button), *group);
  if (*group == NULL)
    *group = GTK_TOGGLE_BUTTON (button);
  gtk_label_set_width_chars (GTK_LABEL (number), 2);
  gtk_widget_set_hexpand (words, TRUE);
  gtk_box_append (GTK_BOX (line), number);
  gtk_box_append (GTK_BOX (line), words);
  gtk_button_set_child (GTK_BUTTON (button), line);
  g_signal_connect_object (button, "toggled", G_CALLBACK (button_toggled), self, G_CONNECT_SWAPPED);
  gtk_box_append (self->levels, button);
}

static void
build_levels (AssayRubricForm *self, const AssayCriterion *criterion)
{
  const AssayScaleWords *scale = &assay_review_editor_rubric (self->editor)->scale;
  GtkCheckButton *radios = NULL;
  GtkToggleButton *levels = NULL;

  if (g_strcmp0 (self->built_for, criterion->id) == 0)
    return;
  g_free (self->built_for);
  self->built_for = g_strdup (criterion->id);
  assay_clear_children (GTK_WIDGET (self->radios));
  assay_clear_children (GTK_WIDGET (self->levels));
  for (gint64 level = scale->min; level <= scale->max; level++)
    {
      g_autofree char *value = g_strdup_printf ("%" G_GINT64_FORMAT, level);
      const char *anchor = assay_criterion_anchor (criterion, level);

      add_radio (self, &radios, value, value, anchor);
      add_level (self, &levels, value, anchor);
    }
  add_radio (self, &radios, "na", "n.a.", "not applicable (n)");
  add_radio (self, &radios, "cannot_judge", "can't judge", "cannot judge (j)");
}

static void
show_active (GtkBox *box, const char *value)
{
  for (GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (box)); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    g_object_set (child, "active", g_strcmp0 (gtk_widget_get_name (child), value) == 0, NULL);
}

static void
show_score (AssayRubricForm *self, const AssayScore *score)
{
  show_active (self->radios, score->value);
  show_active (self->levels, score->value);
  show_active (self->confidence, score->confidence);
}

static void
confidence_toggled (AssayRubricForm *self, GtkToggleButton *button)
{
  if (self->filling || self->editor == NULL)
    return;
  if (gtk_toggle_button_get_active (button))
    assay_review_editor_set_confidence (self->editor, self->criterion,
                                        gtk_widget_get_name (GTK_WIDGET (button)));
}

/* --- suggestion ------------------------------------------------------------------------------ */

static void
rule_clicked (AssayRubricForm *self, GtkWidget *button)
{
  g_signal_emit (self, signals[FINDING], 0, gtk_widget_get_name (button));
}

static void
add_rule (AssayRubricForm *self, const AssayFinding *finding)
{
  GtkWidget *button = gtk_button_new ();
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 5);

  gtk_box_append (GTK_BOX (line), assay_badge_image_new (assay_badge_severity (finding->severity)));
  gtk_box_append (GTK_BOX (line), assay_cell_new (finding->rule, "mono"));
  gtk_button_set_child (GTK_BUTTON (button), line);
  gtk_button_set_has_frame (GTK_BUTTON (button), FALSE);
  gtk_widget_add_css_class (button, "needed");
  gtk_widget_set_name (button, finding->id);
  gtk_widget_set_tooltip_text (button, finding->title);
  g_signal_connect_object (button, "clicked", G_CALLBACK (rule_clicked), self, G_CONNECT_SWAPPED);
  gtk_flow_box_insert (self->suggestion_rules, button, -1);
  gtk_widget_set_focusable (gtk_widget_get_parent (button), FALSE);
}

static void
show_suggestion (AssayRubricForm *self, const AssayCriterion *criterion)
{
  g_autoptr (GPtrArray) matched = g_ptr_array_new ();
  g_autofree char *level = NULL;

  self->suggested =
      self->findings != NULL ? assay_criterion_suggest (
          criterion, assay_review_editor_rubric (self->editor), self->findings, matched)
                             : -1;
  gtk_widget_set_visible (self->suggestion, self->suggested >= 0);
  if (self->suggested < 0)
    return;
  level = g_strdup_printf ("%" G_GINT64_FORMAT, self->suggested);
  gtk_label_set_text (self->suggestion_level, level);
  assay_clear_children (GTK_WIDGET (self->suggestion_rules));
  for (guint i = 0; i < matched->len && i < 6; i++)
    add_rule (self, g_ptr_array_index (matched, i));
}

/* --- words ----------------------------------------------------------------------------------- */

static char *
text_of (GtkTextView *view)
{
  char *text = NULL;

  g_object_get (gtk_text_view_get_buffer (view), "text", &text, NULL);
  return text;
}

/* Typing is not disturbed by what it causes. */
static void
show_text (GtkTextView *view, const char *text)
{
  g_autofree char *now = text_of (view);

  if (g_strcmp0 (now, text != NULL ? text : "") != 0)
    gtk_text_buffer_set_text (gtk_text_view_get_buffer (view), text != NULL ? text : "", -1);
}

static void
problem_changed (AssayRubricForm *self)
{
  g_autofree char *text = text_of (self->problem);

  if (!self->filling && self->editor != NULL)
    assay_review_editor_set_text (self->editor, self->criterion, ASSAY_TEXT_PROBLEM, text);
}

static void
fix_changed (AssayRubricForm *self)
{
  g_autofree char *text = text_of (self->fix);

  if (!self->filling && self->editor != NULL)
    assay_review_editor_set_text (self->editor, self->criterion, ASSAY_TEXT_FIX, text);
}

static void
show_need (GtkLabel *label, const char *text)
{
  gtk_label_set_text (label, text != NULL ? text : "");
}

static void
show_needs (AssayRubricForm *self)
{
  g_autoptr (GPtrArray) missing = assay_review_missing (assay_review_editor_review (self->editor),
                                                        assay_review_editor_rubric (self->editor));
  const char *problem = NULL, *evidence = NULL, *fix = NULL;

  for (guint i = 0; i < missing->len; i++)
    {
      const AssayMissing *item = g_ptr_array_index (missing, i);

      if (g_strcmp0 (item->criterion, self->criterion) != 0)
        continue;
      if (g_str_has_prefix (item->what, "problem"))
        problem = "required at this score";
      else if (g_str_has_prefix (item->what, "fix"))
        fix = "required at this score";
      else if (g_str_has_prefix (item->what, "evidence"))
        evidence = "required at this score";
    }
  show_need (self->problem_need, problem);
  show_need (self->evidence_need, evidence);
  show_need (self->fix_need, fix);
}

void
assay_rubric_form_focus_text (AssayRubricForm *self)
{
  gboolean fix = *gtk_label_get_text (self->problem_need) == '\0'
                 && *gtk_label_get_text (self->fix_need) != '\0';

  gtk_widget_grab_focus (GTK_WIDGET (fix ? self->fix : self->problem));
}

/* --- evidence -------------------------------------------------------------------------------- */

static void
chip_clicked (AssayRubricForm *self, GtkWidget *button)
{
  g_signal_emit (self, signals[EVIDENCE], 0,
                 GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "index")));
}

static void
chip_removed (AssayRubricForm *self, GtkWidget *button)
{
  assay_review_editor_detach (self->editor, self->criterion,
                              GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "index")));
}

static GtkWidget *
chip_button (AssayRubricForm *self, guint index, GCallback callback, const char *css,
             const char *label)
{
  GtkWidget *button = gtk_button_new ();

  gtk_widget_add_css_class (button, css);
  g_object_set_data (G_OBJECT (button), "index", GUINT_TO_POINTER (index));
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                  -1);
  g_signal_connect_object (button, "clicked", callback, self, G_CONNECT_SWAPPED);
  return button;
}

static void
add_chip (AssayRubricForm *self, const AssayEvidence *evidence, guint index)
{
  const char *title = evidence->title != NULL ? evidence->title : evidence->ref;
  GtkWidget *chip = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 3);
  GtkWidget *body = chip_button (self, index, G_CALLBACK (chip_clicked), "body", title);
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 5);
  GtkWidget *away = chip_button (self, index, G_CALLBACK (chip_removed), "away", "Remove evidence");
  GtkWidget *label = assay_cell_new (title, NULL);

  gtk_label_set_max_width_chars (GTK_LABEL (label), 22);
  gtk_box_append (GTK_BOX (line),
                  gtk_image_new_from_icon_name (assay_badge_evidence_icon (evidence->kind)));
  gtk_box_append (GTK_BOX (line), label);
  gtk_button_set_child (GTK_BUTTON (body), line);
  gtk_button_set_icon_name (GTK_BUTTON (away), "assay-cancel-symbolic");
  gtk_widget_set_tooltip_text (body, evidence->quote != NULL ? evidence->quote : evidence->ref);
  gtk_widget_set_tooltip_text (away, "Remove");
  gtk_widget_add_css_class (chip, "chip");
  gtk_box_append (GTK_BOX (chip), body);
  gtk_box_append (GTK_BOX (chip), away);
  gtk_flow_box_insert (self->evidence, chip, -1);
  gtk_widget_set_focusable (gtk_widget_get_parent (chip), FALSE);
}

static void
add_attach_button (AssayRubricForm *self)
{
  GtkWidget *button = gtk_button_new_from_icon_name ("list-add-symbolic");

  gtk_widget_set_tooltip_text (button, "Attach the selection, finding or plot (e)");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.attach");
  gtk_widget_set_halign (button, GTK_ALIGN_START);
  gtk_widget_add_css_class (button, "small");
  gtk_flow_box_insert (self->evidence, button, -1);
  gtk_widget_set_focusable (gtk_widget_get_parent (button), FALSE);
}

static void
show_evidence (AssayRubricForm *self, const AssayScore *score)
{
  g_autoptr (GString) stale = g_string_new (NULL);

  assay_clear_children (GTK_WIDGET (self->evidence));
  for (guint i = 0; i < score->evidence->len; i++)
    {
      const AssayEvidence *evidence = g_ptr_array_index (score->evidence, i);

      add_chip (self, evidence, i);
      if (self->task_folder != NULL && assay_evidence_is_stale (evidence, self->task_folder))
        g_string_append_printf (stale, "%s%s", stale->len > 0 ? ", " : "",
                                evidence->title != NULL ? evidence->title : evidence->ref);
    }
  add_attach_button (self);
  gtk_widget_set_visible (self->stale, stale->len > 0);
  if (stale->len > 0)
    {
      g_string_append (stale, " is no longer in the file as it was quoted.");
      gtk_label_set_text (self->stale_text, stale->str);
    }
}

/* --- history --------------------------------------------------------------------------------- */

static void
show_history (AssayRubricForm *self)
{
  const AssayReview *review = assay_review_editor_review (self->editor);

  assay_clear_children (GTK_WIDGET (self->history));
  for (guint i = 0, shown = 0; i < review->history->len && shown < 30; i++)
    {
      const AssayHistoryEntry *entry =
          g_ptr_array_index (review->history, review->history->len - 1 - i);
      g_autofree char *line = NULL;
      GtkWidget *label;

      if (strstr (entry->what, self->criterion) == NULL)
        continue;
      line = g_strdup_printf (
          "%.5s   %.*s   %s → %s", strlen (entry->at) > 15 ? entry->at + 11 : "",
          (int) strcspn (entry->what, " "), entry->what, entry->from != NULL ? entry->from : "–",
          entry->to != NULL ? entry->to : "–");
      g_strdelimit (line, "\n", ' ');
      label = assay_cell_new (line, "small");
      gtk_box_append (self->history, label);
      shown++;
    }
}

/* --- showing --------------------------------------------------------------------------------- */

static void
refresh (AssayRubricForm *self)
{
  const AssayCriterion *criterion = criterion_of (self);
  const AssayScore *score = criterion != NULL ? score_of (self) : NULL;
  const AssayAxisWords *axis;
  g_autofree char *line = NULL;

  gtk_widget_set_visible (self->box, score != NULL);
  if (score == NULL)
    return;
  self->filling = TRUE;
  axis = assay_rubric_axis (assay_review_editor_rubric (self->editor), criterion->axis);
  line = g_strdup_printf ("%s · weight %g%s", axis != NULL ? axis->title : criterion->axis,
                          criterion->weight, criterion->blocking ? " · blocking" : "");
  gtk_label_set_text (self->title, criterion->title);
  gtk_label_set_text (self->axis, line);
  gtk_label_set_text (self->question, criterion->question);
  build_levels (self, criterion);
  show_score (self, score);
  show_suggestion (self, criterion);
  show_text (self->problem, score->problem);
  show_text (self->fix, score->fix);
  show_evidence (self, score);
  show_needs (self);
  show_history (self);
  gtk_widget_set_sensitive (self->box,
                            assay_review_editor_review (self->editor)->submitted == NULL);
  self->filling = FALSE;
}

void
assay_rubric_form_show (AssayRubricForm *self, AssayReviewEditor *editor, const char *criterion,
                        GPtrArray *findings, const char *task_folder)
{
  g_return_if_fail (ASSAY_IS_RUBRIC_FORM (self));
  if (self->editor != editor)
    g_clear_pointer (&self->built_for, g_free);
  g_set_object (&self->editor, editor);
  if (self->criterion != criterion)
    {
      g_free (self->criterion);
      self->criterion = g_strdup (criterion);
    }
  if (findings != NULL)
    g_ptr_array_ref (findings);
  g_clear_pointer (&self->findings, g_ptr_array_unref);
  self->findings = findings;
  g_free (self->task_folder);
  self->task_folder = g_strdup (task_folder);
  refresh (self);
}

const char *
assay_rubric_form_get_criterion (AssayRubricForm *self)
{
  return self->criterion;
}

static void
assay_rubric_form_dispose (GObject *object)
{
  AssayRubricForm *self = ASSAY_RUBRIC_FORM (object);

  self->filling = TRUE;
  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_object (&self->editor);
  g_clear_pointer (&self->findings, g_ptr_array_unref);
  g_clear_pointer (&self->criterion, g_free);
  g_clear_pointer (&self->task_folder, g_free);
  g_clear_pointer (&self->built_for, g_free);
  G_OBJECT_CLASS (assay_rubric_form_parent_class)->dispose (object);
}

static void
bind_children (GtkWidgetClass *widget_class)
{
  gtk_widget_class_bind_template_child (widget_class, AssayRubricForm, box);
  gtk_widget_class_bind_template_child (widget_class, AssayRubricForm, title);
  gtk_widget_class_bind_template_child (widget_class, AssayRubricForm, axis);
  gtk_widget_class_bind_template_child (widget_class, AssayRubricForm, question);
  gtk_widget_class_bind_template_child (widget_class, AssayRubricForm, radios);
  gtk_widget_class_bind_template_child (widget_class, AssayRubricForm, levels);
  gtk_widget_class_bind_template_child (widget_class, AssayRubricForm, confidence);
  gtk_widget_class_bind_template_child (widget_class, AssayRubricForm, suggestion);
  gtk_widget_class_bind_template_child (widget_class, AssayRubricForm, suggestion_level);
  gtk_widget_class_bind_template_child (widget_class, AssayRubricForm, suggestion_rules);
  gtk_widget_class_bind_template_child (widget_class, AssayRubricForm, problem);
  gtk_widget_class_bind_template_child (widget_class, AssayRubricForm, fix);
  gtk_widget_class_bind_template_child (widget_class, AssayRubricForm, problem_need);
  gtk_widget_class_bind_template_child (widget_class, AssayRubricForm, evidence_need);
  gtk_widget_class_bind_template_child (widget_class, AssayRubricForm, fix_need);
  gtk_widget_class_bind_template_child (widget_class, AssayRubricForm, evidence);
  gtk_widget_class_bind_template_child (widget_class, AssayRubricForm, stale);
  gtk_widget_class_bind_template_child (widget_class, AssayRubricForm, stale_text);
  gtk_widget_class_bind_template_child (widget_class, AssayRubricForm, history_expander);
  gtk_widget_class_bind_template_child (widget_class, AssayRubricForm, history);
}

static void
assay_rubric_form_class_init (AssayRubricFormClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  GType type = G_TYPE_FROM_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = assay_rubric_form_dispose;
  signals[EVIDENCE] = g_signal_new ("evidence", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                    G_TYPE_NONE, 1, G_TYPE_UINT);
  signals[FINDING] = g_signal_new ("finding", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                   G_TYPE_NONE, 1, G_TYPE_STRING);
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/assay/Assay/ui/rubric-form.ui");
  bind_children (widget_class);
  gtk_widget_class_bind_template_callback (widget_class, confidence_toggled);
  gtk_widget_class_bind_template_callback (widget_class, problem_changed);
  gtk_widget_class_bind_template_callback (widget_class, fix_changed);
}

static void
assay_rubric_form_init (AssayRubricForm *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->suggested = -1;
}
