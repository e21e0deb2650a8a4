/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "widgets/plot-cursor.h"

#include "engine/plot/text.h"

#include <math.h>

#define PAD 7
#define AWAY 12 /* from the datum to its readout */
#define LINE_GAP 2

struct _AssayPlotCursor
{
  GtkWidget parent;
  AssayPlotStyle style;
  AssayRect frame, box, band;
  char *heading;
  GStrv lines;
  gboolean has_band;
  AssayRect point, point_frame;
  gboolean has_point;
};

G_DEFINE_FINAL_TYPE (AssayPlotCursor, assay_plot_cursor, GTK_TYPE_WIDGET)

void
assay_plot_cursor_show (AssayPlotCursor *self, const AssayPlotStyle *style, const AssayRect *frame,
                        const AssayRect *box, const char *heading, const char *detail)
{
  g_return_if_fail (ASSAY_IS_PLOT_CURSOR (self));
  self->style = *style;
  self->frame = *frame;
  self->box = *box;
  g_free (self->heading);
  self->heading = g_strdup (heading);
  g_strfreev (self->lines);
  self->lines = g_strsplit (detail != NULL ? detail : "", "\n", 8);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
assay_plot_cursor_hide (AssayPlotCursor *self)
{
  if (self->heading == NULL)
    return;
  g_clear_pointer (&self->heading, g_free);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
assay_plot_cursor_set_band (AssayPlotCursor *self, const AssayRect *band)
{
  self->has_band = band != NULL;
  if (band != NULL)
    self->band = *band;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
assay_plot_cursor_set_point (AssayPlotCursor *self, const AssayPlotStyle *style,
                             const AssayRect *frame, const AssayRect *box)
{
  self->has_point = box != NULL;
  if (box != NULL)
    {
      self->style = *style;
      self->point_frame = *frame;
      self->point = *box;
    }
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
set_source (cairo_t *cr, AssayColour colour, double alpha)
{
  cairo_set_source_rgba (cr, colour.red, colour.green, colour.blue, alpha);
}

static void
draw_mark (AssayPlotCursor *self, cairo_t *cr)
{
  AssayColour text = assay_colour (self->style.theme, ASSAY_ROLE_TEXT);
  double x = self->box.x + self->box.width / 2, y = self->box.y + self->box.height / 2;

  set_source (cr, text, 0.55);
  cairo_set_line_width (cr, 1);
  cairo_set_dash (cr, (double[]) {3, 3}, 2, 0);
  cairo_move_to (cr, floor (x) + 0.5, self->frame.y);
  cairo_line_to (cr, floor (x) + 0.5, self->frame.y + self->frame.height);
  cairo_stroke (cr);
  cairo_set_dash (cr, NULL, 0, 0);
  set_source (cr, text, 0.95);
  cairo_set_line_width (cr, 1.6);
  if (self->box.width > 2 || self->box.height > 2)
    cairo_rectangle (cr, self->box.x, self->box.y, fmax (self->box.width, 2),
                     fmax (self->box.height, 2));
  else
    cairo_arc (cr, x, y, 6, 0, 2 * G_PI);
  cairo_stroke (cr);
}

static void
measure_readout (AssayPlotCursor *self, double *width, double *height)
{
  double w, h;

  assay_text_size (&self->style, ASSAY_TEXT_LABEL, self->heading, &w, &h);
  *width = w * 1.08; /* the heading is bold */
  *height = h;
  for (int i = 0; self->lines[i] != NULL; i++)
    {
      assay_text_size (&self->style, ASSAY_TEXT_LABEL, self->lines[i], &w, &h);
      *width = fmax (*width, w);
      *height += h + LINE_GAP;
    }
  *width += 2 * PAD;
  *height += 2 * PAD;
}

/* Beside the datum, on the side that has room, inside the widget. */
static void
place_readout (AssayPlotCursor *self, double width, double height, double *x, double *y)
{
  double total = gtk_widget_get_width (GTK_WIDGET (self));
  double tall = gtk_widget_get_height (GTK_WIDGET (self));

  *x = self->box.x + self->box.width + AWAY;
  if (*x + width > total - 2)
    *x = self->box.x - AWAY - width;
  *x = CLAMP (*x, 2, fmax (total - width - 2, 2));
  *y = CLAMP (self->box.y + self->box.height / 2 - height / 2, 2, fmax (tall - height - 2, 2));
}

static void
rounded (cairo_t *cr, double x, double y, double width, double height, double radius)
{
  cairo_new_sub_path (cr);
  cairo_arc (cr, x + width - radius, y + radius, radius, -G_PI / 2, 0);
  cairo_arc (cr, x + width - radius, y + height - radius, radius, 0, G_PI / 2);
  cairo_arc (cr, x + radius, y + height - radius, radius, G_PI / 2, G_PI);
  cairo_arc (cr, x + radius, y + radius, radius, G_PI, 3 * G_PI / 2);
  cairo_close_path (cr);
}

static void
draw_readout (AssayPlotCursor *self, cairo_t *cr)
{
  AssayColour ground = assay_colour (self->style.theme, ASSAY_ROLE_TEXT);
  AssayColour ink = assay_colour (self->style.theme, ASSAY_ROLE_BASE);
  double width, height, x, y, w, h;

  measure_readout (self, &width, &height);
  place_readout (self, width, height, &x, &y);
  set_source (cr, ground, 0.95);
  rounded (cr, x, y, width, height, 4);
  cairo_fill (cr);
  assay_text_draw (cr, &self->style, ASSAY_TEXT_LABEL, ink, self->heading, x + PAD, y + PAD, 0, 0);
  assay_text_draw (cr, &self->style, ASSAY_TEXT_LABEL, ink, self->heading, x + PAD + 0.4, y + PAD,
                   0, 0);
  assay_text_size (&self->style, ASSAY_TEXT_LABEL, self->heading, &w, &h);
  y += PAD + h + LINE_GAP;
  for (int i = 0; self->lines[i] != NULL; i++, y += h + LINE_GAP)
    assay_text_draw (cr, &self->style, ASSAY_TEXT_LABEL, ink, self->lines[i], x + PAD, y, 0, 0);
}

static void
draw_point (AssayPlotCursor *self, cairo_t *cr)
{
  AssayColour text = assay_colour (self->style.theme, ASSAY_ROLE_TEXT);
  AssayColour base = assay_colour (self->style.theme, ASSAY_ROLE_BASE);
  const AssayRect *frame = &self->point_frame;
  double x = self->point.x, y = self->point.y;

  set_source (cr, text, 0.7);
  cairo_set_line_width (cr, 1);
  cairo_set_dash (cr, (double[]) {2, 3}, 2, 0);
  cairo_move_to (cr, floor (x) + 0.5, frame->y);
  cairo_line_to (cr, floor (x) + 0.5, frame->y + frame->height);
  cairo_move_to (cr, frame->x, floor (y) + 0.5);
  cairo_line_to (cr, frame->x + frame->width, floor (y) + 0.5);
  cairo_stroke (cr);
  cairo_set_dash (cr, NULL, 0, 0);
  cairo_arc (cr, x, y, 7, 0, 2 * G_PI);
  set_source (cr, base, 1);
  cairo_set_line_width (cr, 4.5);
  cairo_stroke_preserve (cr);
  set_source (cr, text, 1);
  cairo_set_line_width (cr, 2);
  cairo_stroke (cr);
}

static void
assay_plot_cursor_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  AssayPlotCursor *self = ASSAY_PLOT_CURSOR (widget);
  cairo_t *cr;

  if (self->heading == NULL && !self->has_band && !self->has_point)
    return;
  cr = gtk_snapshot_append_cairo (snapshot,
                                  &GRAPHENE_RECT_INIT (0, 0, (float) gtk_widget_get_width (widget),
                                                       (float) gtk_widget_get_height (widget)));
  if (self->has_point)
    draw_point (self, cr);
  if (self->heading != NULL)
    {
      draw_mark (self, cr);
      draw_readout (self, cr);
    }
  if (self->has_band)
    {
      AssayColour text = assay_colour (self->style.theme, ASSAY_ROLE_TEXT);

      cairo_rectangle (cr, self->band.x, self->band.y, self->band.width, self->band.height);
      set_source (cr, text, 0.12);
      cairo_fill_preserve (cr);
      set_source (cr, text, 0.7);
      cairo_set_line_width (cr, 1);
      cairo_stroke (cr);
    }
  cairo_destroy (cr);
}

static void
assay_plot_cursor_finalize (GObject *object)
{
  AssayPlotCursor *self = ASSAY_PLOT_CURSOR (object);

  g_free (self->heading);
  g_strfreev (self->lines);
  G_OBJECT_CLASS (assay_plot_cursor_parent_class)->finalize (object);
}

static void
assay_plot_cursor_class_init (AssayPlotCursorClass *class)
{
  G_OBJECT_CLASS (class)->finalize = assay_plot_cursor_finalize;
  GTK_WIDGET_CLASS (class)->snapshot = assay_plot_cursor_snapshot;
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (class), GTK_ACCESSIBLE_ROLE_PRESENTATION);
}

static void
assay_plot_cursor_init (AssayPlotCursor *self)
{
  gtk_widget_set_can_target (GTK_WIDGET (self), FALSE);
}
