/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "widgets/paper-view.h"

#define MARGIN 16
#define WIDEST 860
#define NARROWEST 320
#define RATIO 1.41428 /* A4 */

struct _AssayPaperView
{
  GtkWidget parent;
  GPtrArray *pages;
  int told_width;
};

enum
{
  RESIZED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AssayPaperView, assay_paper_view, GTK_TYPE_WIDGET)

static int
page_width (int width)
{
  return CLAMP (width - 2 * MARGIN, NARROWEST, WIDEST);
}

static int
page_height (int width)
{
  return (int) (page_width (width) * RATIO + 0.5);
}

int
assay_paper_view_wanted_width (AssayPaperView *self)
{
  int width = gtk_widget_get_width (GTK_WIDGET (self));

  return page_width (width > 0 ? width : WIDEST) * gtk_widget_get_scale_factor (GTK_WIDGET (self));
}

void
assay_paper_view_set_pages (AssayPaperView *self, GPtrArray *pages)
{
  g_autofree char *text = g_strdup_printf ("Preview, %u pages", pages->len);

  g_return_if_fail (ASSAY_IS_PAPER_VIEW (self));
  g_ptr_array_ref (pages);
  g_clear_pointer (&self->pages, g_ptr_array_unref);
  self->pages = pages;
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

guint
assay_paper_view_get_n_pages (AssayPaperView *self)
{
  return self->pages != NULL ? self->pages->len : 0;
}

static void
assay_paper_view_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  AssayPaperView *self = ASSAY_PAPER_VIEW (widget);
  int total = gtk_widget_get_width (widget);
  float width = (float) page_width (total), height = (float) page_height (total);
  float x = ((float) total - width) / 2;

  for (guint i = 0; i < assay_paper_view_get_n_pages (self); i++)
    {
      float y = MARGIN + (float) i * (height + MARGIN);
      graphene_rect_t page = GRAPHENE_RECT_INIT (x, y, width, height);
      GskRoundedRect outline;

      gsk_rounded_rect_init_from_rect (&outline, &page, 0);
      gtk_snapshot_append_outset_shadow (snapshot, &outline, &(GdkRGBA) {0, 0, 0, 0.3f}, 0, 1, 0,
                                         4);
      gtk_snapshot_append_texture (snapshot, g_ptr_array_index (self->pages, i), &page);
    }
}

static void
assay_paper_view_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
                          int *natural, int *minimum_baseline, int *natural_baseline)
{
  AssayPaperView *self = ASSAY_PAPER_VIEW (widget);
  int count = (int) MAX (assay_paper_view_get_n_pages (self), 1);

  if (orientation == GTK_ORIENTATION_HORIZONTAL)
    {
      *minimum = NARROWEST + 2 * MARGIN;
      *natural = WIDEST + 2 * MARGIN;
    }
  else
    *minimum = *natural =
        MARGIN + count * (page_height (for_size > 0 ? for_size : WIDEST) + MARGIN);
}

static void
assay_paper_view_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  AssayPaperView *self = ASSAY_PAPER_VIEW (widget);

  if (page_width (width) == self->told_width)
    return;
  self->told_width = page_width (width);
  g_signal_emit (self, signals[RESIZED], 0);
}

static GtkSizeRequestMode
assay_paper_view_get_request_mode (GtkWidget *widget)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
assay_paper_view_finalize (GObject *object)
{
  g_clear_pointer (&ASSAY_PAPER_VIEW (object)->pages, g_ptr_array_unref);
  G_OBJECT_CLASS (assay_paper_view_parent_class)->finalize (object);
}

static void
assay_paper_view_class_init (AssayPaperViewClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->finalize = assay_paper_view_finalize;
  widget_class->snapshot = assay_paper_view_snapshot;
  widget_class->measure = assay_paper_view_measure;
  widget_class->size_allocate = assay_paper_view_size_allocate;
  widget_class->get_request_mode = assay_paper_view_get_request_mode;
  signals[RESIZED] = g_signal_new ("resized", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 0);
  gtk_widget_class_set_css_name (widget_class, "paperview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
assay_paper_view_init (AssayPaperView *self)
{
}
