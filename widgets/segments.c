/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "widgets/segments.h"

#define GAP 4
#define HEIGHT 5

typedef struct
{
  AssaySegment kind;
  double fraction;
} Bar;

struct _AssaySegments
{
  GtkWidget parent;
  GArray *bars; /* Bar */
};

G_DEFINE_FINAL_TYPE (AssaySegments, assay_segments, GTK_TYPE_WIDGET)

static const char *const colour_names[] = {
    [ASSAY_SEGMENT_EMPTY] = "assay_rule",    [ASSAY_SEGMENT_ACTIVE] = "theme_selected_bg_color",
    [ASSAY_SEGMENT_DONE] = "assay_accepted", [ASSAY_SEGMENT_FAULT] = "assay_rejected",
    [ASSAY_SEGMENT_SKIPPED] = "assay_dim",
};

void
assay_segments_set_count (AssaySegments *self, guint count)
{
  g_return_if_fail (ASSAY_IS_SEGMENTS (self));
  g_array_set_size (self->bars, count);
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

void
assay_segments_set (AssaySegments *self, guint index, AssaySegment segment, double fraction)
{
  Bar *bar;

  g_return_if_fail (ASSAY_IS_SEGMENTS (self) && index < self->bars->len);
  bar = &g_array_index (self->bars, Bar, index);
  if (bar->kind == segment && bar->fraction == fraction)
    return;
  *bar = (Bar) {segment, CLAMP (fraction, 0, 1)};
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static GdkRGBA
colour_of (GtkWidget *widget, AssaySegment kind)
{
  GdkRGBA colour = {0.5f, 0.5f, 0.5f, 1};

  gtk_style_context_lookup_color (gtk_widget_get_style_context (widget), colour_names[kind],
                                  &colour);
  return colour;
}

static void
assay_segments_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  AssaySegments *self = ASSAY_SEGMENTS (widget);
  float width = (float) gtk_widget_get_width (widget);
  float height = (float) gtk_widget_get_height (widget);
  guint count = self->bars->len;
  float step = (width + GAP) / (float) MAX (count, 1);

  for (guint i = 0; i < count; i++)
    {
      const Bar *bar = &g_array_index (self->bars, Bar, i);
      GdkRGBA colour = colour_of (widget, bar->kind);
      GdkRGBA empty = colour_of (widget, ASSAY_SEGMENT_EMPTY);
      float thick = bar->kind == ASSAY_SEGMENT_FAULT     ? 5
                    : bar->kind == ASSAY_SEGMENT_SKIPPED ? 1
                                                         : 3;
      float x = (float) i * step, w = MAX (step - GAP, 1), y = (height - thick) / 2;

      if (bar->kind == ASSAY_SEGMENT_ACTIVE)
        {
          gtk_snapshot_append_color (snapshot, &empty, &GRAPHENE_RECT_INIT (x, y, w, thick));
          w *= (float) bar->fraction;
        }
      gtk_snapshot_append_color (snapshot, &colour, &GRAPHENE_RECT_INIT (x, y, w, thick));
    }
}

static void
assay_segments_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
                        int *natural, int *minimum_baseline, int *natural_baseline)
{
  int count = (int) ASSAY_SEGMENTS (widget)->bars->len;

  if (orientation == GTK_ORIENTATION_VERTICAL)
    *minimum = *natural = HEIGHT;
  else
    {
      *minimum = count * (GAP + 4);
      *natural = count * (GAP + 24);
    }
}

static void
assay_segments_finalize (GObject *object)
{
  g_array_unref (ASSAY_SEGMENTS (object)->bars);
  G_OBJECT_CLASS (assay_segments_parent_class)->finalize (object);
}

static void
assay_segments_class_init (AssaySegmentsClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->finalize = assay_segments_finalize;
  widget_class->snapshot = assay_segments_snapshot;
  widget_class->measure = assay_segments_measure;
  gtk_widget_class_set_css_name (widget_class, "segments");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_PRESENTATION);
}

static void
assay_segments_init (AssaySegments *self)
{
  self->bars = g_array_new (FALSE, TRUE, sizeof (Bar));
}
