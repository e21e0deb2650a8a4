/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plot/text.h"

#include <pango/pangocairo.h>

static const struct
{
  double pixels;
  PangoWeight weight;
} SIZES[] = {
    [ASSAY_TEXT_TICK] = {11, PANGO_WEIGHT_NORMAL},
    [ASSAY_TEXT_LABEL] = {12, PANGO_WEIGHT_NORMAL},
    [ASSAY_TEXT_TITLE] = {13, PANGO_WEIGHT_BOLD},
};

static PangoLayout *
layout_for (const AssayPlotStyle *style, AssayTextSize size, const char *text)
{
  static GPrivate context_key = G_PRIVATE_INIT (g_object_unref);
  PangoContext *context = g_private_get (&context_key);
  if (!context)
    {
      context = pango_font_map_create_context (pango_cairo_font_map_get_default ());
      cairo_font_options_t *options = cairo_font_options_create ();
      cairo_font_options_set_hint_style (options, CAIRO_HINT_STYLE_NONE);
      cairo_font_options_set_hint_metrics (options, CAIRO_HINT_METRICS_OFF);
      cairo_font_options_set_antialias (options, CAIRO_ANTIALIAS_GRAY);
      pango_cairo_context_set_font_options (context, options);
      cairo_font_options_destroy (options);
      g_private_set (&context_key, context);
    }
  g_autoptr (PangoFontDescription) font = pango_font_description_new ();
  pango_font_description_set_family (font, style->family);
  pango_font_description_set_weight (font, SIZES[size].weight);
  pango_font_description_set_absolute_size (font, SIZES[size].pixels * style->scale * PANGO_SCALE);
  PangoLayout *layout = pango_layout_new (context);
  pango_layout_set_font_description (layout, font);
  pango_layout_set_text (layout, text, -1);
  return layout;
}

void
assay_text_size (const AssayPlotStyle *style, AssayTextSize size, const char *text, double *width,
                 double *height)
{
  g_autoptr (PangoLayout) layout = layout_for (style, size, text);
  int w = 0, h = 0;
  pango_layout_get_size (layout, &w, &h);
  if (width)
    *width = (double) w / PANGO_SCALE;
  if (height)
    *height = (double) h / PANGO_SCALE;
}

static void
draw (cairo_t *cr, const AssayPlotStyle *style, AssayTextSize size, AssayColour colour,
      const char *text, double x, double y, double ax, double ay, gboolean halo)
{
  g_autoptr (PangoLayout) layout = layout_for (style, size, text);
  int w = 0, h = 0;
  pango_layout_get_size (layout, &w, &h);
  cairo_save (cr);
  cairo_move_to (cr, x - ax * w / PANGO_SCALE, y - ay * h / PANGO_SCALE);
  if (halo)
    {
      AssayColour base = assay_colour (style->theme, ASSAY_ROLE_BASE);
      double left = 0, top = 0;
      cairo_get_current_point (cr, &left, &top);
      cairo_set_source_rgba (cr, base.red, base.green, base.blue, 0.92);
      cairo_set_line_width (cr, 3.5 * style->scale);
      cairo_set_line_join (cr, CAIRO_LINE_JOIN_ROUND);
      pango_cairo_layout_path (cr, layout);
      cairo_stroke (cr);
      cairo_move_to (cr, left, top);
    }
  cairo_set_source_rgb (cr, colour.red, colour.green, colour.blue);
  pango_cairo_show_layout (cr, layout);
  cairo_restore (cr);
}

void
assay_text_draw (cairo_t *cr, const AssayPlotStyle *style, AssayTextSize size, AssayColour colour,
                 const char *text, double x, double y, double ax, double ay)
{
  draw (cr, style, size, colour, text, x, y, ax, ay, FALSE);
}

void
assay_text_draw_on_data (cairo_t *cr, const AssayPlotStyle *style, AssayTextSize size,
                         AssayColour colour, const char *text, double x, double y, double ax,
                         double ay)
{
  draw (cr, style, size, colour, text, x, y, ax, ay, TRUE);
}

void
assay_text_draw_upward (cairo_t *cr, const AssayPlotStyle *style, AssayTextSize size,
                        AssayColour colour, const char *text, double x, double y)
{
  cairo_save (cr);
  cairo_translate (cr, x, y);
  cairo_rotate (cr, -G_PI / 2);
  draw (cr, style, size, colour, text, 0, 0, 0.5, 0.5, FALSE);
  cairo_restore (cr);
}
