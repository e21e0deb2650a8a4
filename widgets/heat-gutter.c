/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "widgets/heat-gutter.h"

#include "engine/plot/style.h"
#include "widgets/color-scheme.h"

#include <math.h>

#define CELL 46
#define PAD 4
#define GAP 6 /* to the text */

struct _AssayHeatGutter
{
  GtkSourceGutterRenderer parent;
  GArray *heat; /* (nullable) */
  guint64 hottest;
  PangoLayout *layout;
};

G_DEFINE_FINAL_TYPE (AssayHeatGutter, assay_heat_gutter, GTK_SOURCE_TYPE_GUTTER_RENDERER)

static const AssayLineHeat *
heat_at (AssayHeatGutter *self, guint line)
{
  const AssayLineHeat *heat = self->heat != NULL && line < self->heat->len
                                  ? &g_array_index (self->heat, AssayLineHeat, line)
                                  : NULL;

  return heat != NULL && heat->executed > 0 ? heat : NULL;
}

void
assay_heat_gutter_set (AssayHeatGutter *self, GArray *heat)
{
  g_return_if_fail (ASSAY_IS_HEAT_GUTTER (self));
  if (heat != NULL)
    g_array_ref (heat);
  g_clear_pointer (&self->heat, g_array_unref);
  self->heat = heat;
  self->hottest = 0;
  for (guint i = 0; heat != NULL && i < heat->len; i++)
    self->hottest = MAX (self->hottest, g_array_index (heat, AssayLineHeat, i).executed);
  gtk_widget_set_visible (GTK_WIDGET (self), self->hottest > 0);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* Three figures: 960, 1.54k, 12.3M. */
static char *
short_count (guint64 count)
{
  static const char *const units[] = {"", "k", "M", "G", "T", "P"};
  double value = (double) count;
  gsize unit = 0;

  while (value >= 999.5 && unit + 1 < G_N_ELEMENTS (units))
    {
      value /= 1000;
      unit++;
    }
  if (unit == 0)
    return g_strdup_printf ("%.0f", value);
  return g_strdup_printf (value < 9.995   ? "%.2f%s"
                          : value < 99.95 ? "%.1f%s"
                                          : "%.0f%s",
                          value, units[unit]);
}

char *
assay_heat_gutter_text (AssayHeatGutter *self, int line)
{
  const AssayLineHeat *heat = line > 0 ? heat_at (self, (guint) line - 1) : NULL;

  return heat != NULL ? short_count (heat->executed) : NULL;
}

static void
assay_heat_gutter_snapshot_line (GtkSourceGutterRenderer *renderer, GtkSnapshot *snapshot,
                                 GtkSourceGutterLines *lines, guint line)
{
  AssayHeatGutter *self = ASSAY_HEAT_GUTTER (renderer);
  const AssayLineHeat *heat = heat_at (self, line);
  AssayTheme theme = assay_color_scheme_is_dark () ? ASSAY_THEME_DARK : ASSAY_THEME_LIGHT;
  g_autofree char *text = NULL;
  AssayColour ground;
  GdkRGBA ink;
  int y, height, text_width, text_height;
  double share;

  if (heat == NULL)
    return;
  text = short_count (heat->executed);
  share = self->hottest > 1 ? log1p ((double) heat->executed) / log1p ((double) self->hottest) : 1;
  ground = assay_heat_colour (theme, share);
  gtk_source_gutter_lines_get_line_yrange (
      lines, line, GTK_SOURCE_GUTTER_RENDERER_ALIGNMENT_MODE_CELL, &y, &height);
  gtk_snapshot_append_color (
      snapshot, &(GdkRGBA) {(float) ground.red, (float) ground.green, (float) ground.blue, 1},
      &GRAPHENE_RECT_INIT (0, (float) y, CELL, (float) height));
  /* Ink by the ground's own lightness. */
  ink = 0.3 * ground.red + 0.59 * ground.green + 0.11 * ground.blue > 0.5
            ? (GdkRGBA) {0.10f, 0.11f, 0.12f, 1}
            : (GdkRGBA) {1, 1, 1, 1};
  if (self->layout == NULL)
    self->layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), NULL);
  pango_layout_set_text (self->layout, text, -1);
  pango_layout_get_pixel_size (self->layout, &text_width, &text_height);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot,
                          &GRAPHENE_POINT_INIT ((float) (CELL - PAD - text_width),
                                                (float) (y + (height - text_height) / 2)));
  gtk_snapshot_append_layout (snapshot, self->layout, &ink);
  gtk_snapshot_restore (snapshot);
}

static gboolean
assay_heat_gutter_query_tooltip (GtkWidget *widget, int x, int y, gboolean keyboard,
                                 GtkTooltip *tooltip)
{
  AssayHeatGutter *self = ASSAY_HEAT_GUTTER (widget);
  GtkTextView *view =
      GTK_TEXT_VIEW (gtk_source_gutter_renderer_get_view (GTK_SOURCE_GUTTER_RENDERER (self)));
  g_autoptr (GString) text = g_string_new (NULL);
  const AssayLineHeat *heat;
  GtkTextIter iter;
  int buffer_y;

  gtk_text_view_window_to_buffer_coords (view, GTK_TEXT_WINDOW_LEFT, 0, y, NULL, &buffer_y);
  gtk_text_view_get_line_at_y (view, &iter, buffer_y, NULL);
  heat = heat_at (self, (guint) gtk_text_iter_get_line (&iter));
  if (heat == NULL)
    return FALSE;
  g_string_append_printf (text,
                          "executed %" G_GUINT64_FORMAT " times by warps, %.3g of 32 lanes active",
                          heat->executed, heat->lanes);
  if (!isnan (heat->sectors))
    g_string_append_printf (text, "\n%.3g sectors a global request", heat->sectors);
  if (!isnan (heat->bank))
    g_string_append_printf (text, "\nbank conflict degree %.3g", heat->bank);
  gtk_tooltip_set_text (tooltip, text->str);
  return TRUE;
}

static void
assay_heat_gutter_measure (GtkWidget *widget, GtkOrientation orientation, int for_size,
                           int *minimum, int *natural, int *minimum_baseline, int *natural_baseline)
{
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? CELL + GAP : 0;
}

static void
assay_heat_gutter_dispose (GObject *object)
{
  AssayHeatGutter *self = ASSAY_HEAT_GUTTER (object);

  g_clear_pointer (&self->heat, g_array_unref);
  g_clear_object (&self->layout);
  G_OBJECT_CLASS (assay_heat_gutter_parent_class)->dispose (object);
}

static void
assay_heat_gutter_class_init (AssayHeatGutterClass *class)
{
  GTK_SOURCE_GUTTER_RENDERER_CLASS (class)->snapshot_line = assay_heat_gutter_snapshot_line;
  GTK_WIDGET_CLASS (class)->measure = assay_heat_gutter_measure;
  GTK_WIDGET_CLASS (class)->query_tooltip = assay_heat_gutter_query_tooltip;
  G_OBJECT_CLASS (class)->dispose = assay_heat_gutter_dispose;
}

static void
assay_heat_gutter_init (AssayHeatGutter *self)
{
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
}
