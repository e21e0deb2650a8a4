/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/verdict-strip.h"

#include "widgets/badge.h"

typedef struct
{
  GtkWidget *box;
  GtkImage *icon;
  GtkLabel *question, *word, *text;
} Card;

struct _AssayVerdictStrip
{
  GtkWidget parent;
  Card cards[ASSAY_N_QUESTIONS];
};

G_DEFINE_FINAL_TYPE (AssayVerdictStrip, assay_verdict_strip, GTK_TYPE_WIDGET)

static const struct
{
  int status; /* whose icon it borrows */
  const char *css;
} answers[] = {
    [ASSAY_ANSWER_GOOD] = {ASSAY_STATUS_PASSED, "passed"},
    [ASSAY_ANSWER_DOUBTFUL] = {ASSAY_STATUS_ERROR, "doubtful"},
    [ASSAY_ANSWER_BAD] = {ASSAY_STATUS_FAILED, "failed"},
    [ASSAY_ANSWER_UNKNOWN] = {ASSAY_STATUS_SKIPPED, "unknown"},
};

static void
show_card (Card *card, const AssayVerdict *verdict)
{
  AssayBadge badge = *assay_badge_status (answers[verdict->answer].status);
  g_autofree char *whole =
      g_strdup_printf ("%s: %s. %s", verdict->question, verdict->word, verdict->text);

  badge.word = verdict->word;
  badge.css = answers[verdict->answer].css;
  for (gsize i = 0; i < G_N_ELEMENTS (answers); i++)
    gtk_widget_remove_css_class (card->box, answers[i].css);
  gtk_widget_add_css_class (card->box, badge.css);
  assay_badge_image_set (card->icon, &badge);
  gtk_label_set_text (card->question, verdict->question);
  gtk_label_set_text (card->word, verdict->word);
  gtk_label_set_text (card->text, verdict->text);
  gtk_widget_set_tooltip_text (card->box, whole);
}

void
assay_verdict_strip_show (AssayVerdictStrip *self, const AssayVerdict *verdicts)
{
  g_return_if_fail (ASSAY_IS_VERDICT_STRIP (self));
  gtk_widget_set_visible (GTK_WIDGET (self), verdicts != NULL);
  for (int i = 0; verdicts != NULL && i < ASSAY_N_QUESTIONS; i++)
    show_card (&self->cards[i], &verdicts[i]);
}

static GtkLabel *
add_label (GtkWidget *box, const char *css)
{
  GtkLabel *label = GTK_LABEL (gtk_label_new (NULL));

  gtk_label_set_xalign (label, 0);
  gtk_widget_add_css_class (GTK_WIDGET (label), css);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (label));
  return label;
}

static void
card_init (Card *card, GtkWidget *parent)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);

  card->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  gtk_widget_add_css_class (card->box, "verdict");
  card->icon = GTK_IMAGE (gtk_image_new ());
  gtk_box_append (GTK_BOX (head), GTK_WIDGET (card->icon));
  card->question = add_label (head, "dim");
  card->word = add_label (head, "word");
  gtk_label_set_ellipsize (card->word, PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand (GTK_WIDGET (card->word), TRUE);
  gtk_box_append (GTK_BOX (card->box), head);
  card->text = add_label (card->box, "small");
  gtk_label_set_wrap (card->text, TRUE);
  gtk_label_set_wrap_mode (card->text, PANGO_WRAP_WORD_CHAR);
  gtk_label_set_lines (card->text, 4);
  gtk_label_set_ellipsize (card->text, PANGO_ELLIPSIZE_END);
  gtk_label_set_width_chars (card->text, 20);
  gtk_widget_set_parent (card->box, parent);
}

static void
assay_verdict_strip_dispose (GObject *object)
{
  AssayVerdictStrip *self = ASSAY_VERDICT_STRIP (object);

  for (int i = 0; i < ASSAY_N_QUESTIONS; i++)
    g_clear_pointer (&self->cards[i].box, gtk_widget_unparent);
  G_OBJECT_CLASS (assay_verdict_strip_parent_class)->dispose (object);
}

static void
assay_verdict_strip_class_init (AssayVerdictStripClass *class)
{
  G_OBJECT_CLASS (class)->dispose = assay_verdict_strip_dispose;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (class), GTK_TYPE_BOX_LAYOUT);
}

static void
assay_verdict_strip_init (AssayVerdictStrip *self)
{
  GtkBoxLayout *layout = GTK_BOX_LAYOUT (gtk_widget_get_layout_manager (GTK_WIDGET (self)));

  gtk_box_layout_set_homogeneous (layout, TRUE);
  gtk_box_layout_set_spacing (layout, 8);
  for (int i = 0; i < ASSAY_N_QUESTIONS; i++)
    card_init (&self->cards[i], GTK_WIDGET (self));
}
