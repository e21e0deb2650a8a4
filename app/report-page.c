/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/report-page.h"

#include "app/report-job.h"
#include "widgets/card.h"
#include "widgets/paper-view.h"

#define DRAW_AFTER_MS 250

struct _AssayReportPage
{
  GtkWidget parent;
  GtkWidget *box;
  GtkLabel *state, *problem;
  GtkStack *stack;
  AssayPaperView *paper;
  GtkBox *missing;
  AssayCard *missing_card;
  AssayContext *context;
  GCancellable *cancellable;
  guint draw_source;
  gboolean stale;
};

G_DEFINE_FINAL_TYPE (AssayReportPage, assay_report_page, GTK_TYPE_WIDGET)

static void
pages_ready (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (AssayReportPage) self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) pages = assay_report_preview_finish (result, &error);
  g_autofree char *text = NULL;

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) || self->context == NULL)
    return;
  if (pages == NULL)
    {
      gtk_label_set_text (self->problem, error->message);
      gtk_stack_set_visible_child_name (self->stack, "problem");
      return;
    }
  assay_paper_view_set_pages (self->paper, pages);
  text = g_strdup_printf ("%u %s, A4", pages->len, pages->len == 1 ? "page" : "pages");
  gtk_label_set_text (self->state, text);
  gtk_stack_set_visible_child_name (self->stack, "pages");
}

static gboolean
draw (gpointer data)
{
  AssayReportPage *self = data;

  self->draw_source = 0;
  if (!gtk_widget_get_mapped (GTK_WIDGET (self)))
    return G_SOURCE_REMOVE;
  self->stale = FALSE;
  g_cancellable_cancel (self->cancellable);
  g_object_unref (self->cancellable);
  self->cancellable = g_cancellable_new ();
  assay_report_preview_async (self->context, assay_paper_view_wanted_width (self->paper),
                              self->cancellable, pages_ready, g_object_ref (self));
  return G_SOURCE_REMOVE;
}

static void
draw_soon (AssayReportPage *self)
{
  self->stale = TRUE;
  if (self->draw_source == 0 && gtk_widget_get_mapped (GTK_WIDGET (self)))
    self->draw_source = g_timeout_add (DRAW_AFTER_MS, draw, self);
}

static void
show_missing (AssayReportPage *self)
{
  AssayDraft *draft = assay_context_get_draft (self->context);
  GPtrArray *missing = draft != NULL ? assay_draft_get_missing (draft) : NULL;
  g_autofree char *count = NULL;

  assay_clear_children (GTK_WIDGET (self->missing));
  for (guint i = 0; missing != NULL && i < missing->len; i++)
    {
      const AssayMissing *item = g_ptr_array_index (missing, i);
      GtkWidget *button = gtk_button_new (), *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
      GtkWidget *title = assay_cell_new (item->title, "dim");

      gtk_widget_set_hexpand (title, TRUE);
      gtk_label_set_xalign (GTK_LABEL (title), 1);
      gtk_label_set_max_width_chars (GTK_LABEL (title), 18);
      gtk_box_append (GTK_BOX (line), gtk_label_new (item->what));
      gtk_box_append (GTK_BOX (line), title);
      gtk_button_set_child (GTK_BUTTON (button), line);
      gtk_widget_add_css_class (button, "needed");
      gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.show-criterion");
      gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "s",
                                        item->criterion != NULL ? item->criterion : "");
      gtk_box_append (self->missing, button);
    }
  if (missing == NULL)
    return;
  if (missing->len == 0)
    gtk_box_append (self->missing,
                    assay_words_new (assay_draft_is_submitted (draft)
                                         ? "The review is submitted."
                                         : "Nothing is missing. The review can be submitted.",
                                     "dim"));
  count = g_strdup_printf ("%u", missing->len);
  assay_card_set_subtitle (self->missing_card, count);
}

static void
changed (AssayReportPage *self)
{
  show_missing (self);
  draw_soon (self);
}

static void
run_changed (AssayReportPage *self, guint what)
{
  if (what & ~(guint) (ASSAY_RUN_CHANGED_LOG | ASSAY_RUN_CHANGED_STAGES))
    draw_soon (self);
}

static void
assay_report_page_map (GtkWidget *widget)
{
  AssayReportPage *self = ASSAY_REPORT_PAGE (widget);

  GTK_WIDGET_CLASS (assay_report_page_parent_class)->map (widget);
  if (self->stale && self->context != NULL)
    draw_soon (self);
}

guint
assay_report_page_get_n_pages (AssayReportPage *self)
{
  return self->stale ? 0 : assay_paper_view_get_n_pages (self->paper);
}

void
assay_report_page_set_context (AssayReportPage *self, AssayContext *context)
{
  g_return_if_fail (ASSAY_IS_REPORT_PAGE (self));
  self->context = g_object_ref (context);
  g_signal_connect_object (context, "task-changed", G_CALLBACK (changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (context, "draft-changed", G_CALLBACK (changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (context, "run-changed", G_CALLBACK (run_changed), self,
                           G_CONNECT_SWAPPED);
  self->stale = TRUE;
}

static void
assay_report_page_dispose (GObject *object)
{
  AssayReportPage *self = ASSAY_REPORT_PAGE (object);

  g_cancellable_cancel (self->cancellable);
  g_clear_handle_id (&self->draw_source, g_source_remove);
  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_object (&self->context);
  G_OBJECT_CLASS (assay_report_page_parent_class)->dispose (object);
}

static void
assay_report_page_finalize (GObject *object)
{
  g_clear_object (&ASSAY_REPORT_PAGE (object)->cancellable);
  G_OBJECT_CLASS (assay_report_page_parent_class)->finalize (object);
}

static void
assay_report_page_class_init (AssayReportPageClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = assay_report_page_dispose;
  G_OBJECT_CLASS (class)->finalize = assay_report_page_finalize;
  widget_class->map = assay_report_page_map;
  g_type_ensure (ASSAY_TYPE_CARD);
  g_type_ensure (ASSAY_TYPE_PAPER_VIEW);
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/assay/Assay/ui/report-page.ui");
  gtk_widget_class_bind_template_child (widget_class, AssayReportPage, box);
  gtk_widget_class_bind_template_child (widget_class, AssayReportPage, state);
  gtk_widget_class_bind_template_child (widget_class, AssayReportPage, problem);
  gtk_widget_class_bind_template_child (widget_class, AssayReportPage, stack);
  gtk_widget_class_bind_template_child (widget_class, AssayReportPage, paper);
  gtk_widget_class_bind_template_child (widget_class, AssayReportPage, missing);
  gtk_widget_class_bind_template_child (widget_class, AssayReportPage, missing_card);
  gtk_widget_class_bind_template_callback (widget_class, draw_soon);
}

static void
assay_report_page_init (AssayReportPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->cancellable = g_cancellable_new ();
}
