/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plot/draw-layers.h"
#include "engine/plot/text.h"

#include <math.h>
#include <string.h>

static void
draw_grid (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel)
{
  const AssayRect *f = &panel->frame;
  assay_set_role (cr, style, ASSAY_ROLE_GRID, 1.0);
  cairo_set_line_width (cr, 1.0);
  for (guint i = 0; i < panel->y_ticks->len && !panel->y.hidden; i++)
    {
      const AssayTick *tick = &g_array_index (panel->y_ticks, AssayTick, i);
      double y = floor (assay_panel_layout_y (panel, tick->value)) + 0.5;
      if (!tick->label || panel->y.scale == ASSAY_SCALE_CATEGORY)
        continue;
      cairo_move_to (cr, f->x, y);
      cairo_line_to (cr, f->x + f->width, y);
    }
  for (guint i = 0; i < panel->x_ticks->len && panel->x.scale != ASSAY_SCALE_CATEGORY; i++)
    {
      const AssayTick *tick = &g_array_index (panel->x_ticks, AssayTick, i);
      double x = floor (assay_panel_layout_x (panel, tick->value)) + 0.5;
      if (!tick->label)
        continue;
      cairo_move_to (cr, x, f->y);
      cairo_line_to (cr, x, f->y + f->height);
    }
  cairo_stroke (cr);
}

/* The title without its last clauses, until it fits: the quantity stands first. (transfer full) */
static char *
fitting_title (const AssayPlotStyle *style, const char *title, double room, double *width)
{
  char *text = g_strdup (title);
  for (;;)
    {
      assay_text_size (style, ASSAY_TEXT_LABEL, text, width, NULL);
      char *cut = strpbrk (text, ",;") ? text + strcspn (text, ",;") : NULL;
      for (char *next = cut; next; next = strpbrk (next + 1, ",;"))
        cut = next;
      if (*width <= room || !cut)
        return text;
      *cut = 0;
    }
}

static void
draw_x_axis (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
             double whole_width)
{
  const AssayRect *f = &panel->frame;
  double s = style->scale, bottom = floor (f->y + f->height) + 0.5;
  AssayColour dim = assay_colour (style->theme, ASSAY_ROLE_DIM);
  assay_set_role (cr, style, ASSAY_ROLE_AXIS, 1.0);
  cairo_set_line_width (cr, 1.0);
  cairo_move_to (cr, f->x, bottom);
  cairo_line_to (cr, f->x + f->width, bottom);
  for (guint i = 0; i < panel->x_ticks->len; i++)
    {
      const AssayTick *tick = &g_array_index (panel->x_ticks, AssayTick, i);
      double x = floor (assay_panel_layout_x (panel, tick->value)) + 0.5;
      cairo_move_to (cr, x, bottom);
      cairo_line_to (cr, x, bottom + (tick->label ? 4 : 2) * s);
    }
  cairo_stroke (cr);
  for (guint i = 0; i < panel->x_ticks->len; i++)
    {
      const AssayTick *tick = &g_array_index (panel->x_ticks, AssayTick, i);
      if (tick->label)
        assay_text_draw (cr, style, ASSAY_TEXT_TICK, dim, tick->label,
                         assay_panel_layout_x (panel, tick->value), bottom + 5 * s, 0.5, 0);
    }
  if (!panel->x.title)
    return;
  double width = 0;
  g_autofree char *title = fitting_title (style, panel->x.title, f->width + 20 * s, &width);
  double middle = MIN (f->x + f->width / 2, whole_width - width / 2 - 2 * s);
  assay_text_draw (cr, style, ASSAY_TEXT_LABEL, assay_colour (style->theme, ASSAY_ROLE_TEXT), title,
                   MAX (middle, width / 2 + 2 * s), bottom + 20 * s, 0.5, 0);
}

static void
draw_y_axis (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
             gboolean labels)
{
  const AssayRect *f = &panel->frame;
  double s = style->scale, left = floor (f->x) + 0.5, widest = 0;
  gboolean names = panel->y.scale == ASSAY_SCALE_CATEGORY;
  AssayColour ink = assay_colour (style->theme, names ? ASSAY_ROLE_TEXT : ASSAY_ROLE_DIM);
  assay_set_role (cr, style, ASSAY_ROLE_AXIS, 1.0);
  cairo_set_line_width (cr, 1.0);
  cairo_move_to (cr, left, f->y);
  cairo_line_to (cr, left, f->y + f->height);
  cairo_stroke (cr);
  if (!labels)
    return;
  for (guint i = 0; i < panel->y_ticks->len; i++)
    {
      const AssayTick *tick = &g_array_index (panel->y_ticks, AssayTick, i);
      double width = 0;
      if (!tick->label)
        continue;
      assay_text_size (style, ASSAY_TEXT_TICK, tick->label, &width, NULL);
      widest = MAX (widest, width);
      assay_text_draw (cr, style, ASSAY_TEXT_TICK, ink, tick->label, left - 5 * s,
                       assay_panel_layout_y (panel, tick->value), 1.0, 0.5);
    }
  if (panel->y.title)
    assay_text_draw_upward (cr, style, ASSAY_TEXT_LABEL,
                            assay_colour (style->theme, ASSAY_ROLE_TEXT), panel->y.title,
                            left - widest - 16 * s, f->y + f->height / 2);
}

static void
draw_panel (cairo_t *cr, const AssayPlotLayout *layout, guint index)
{
  const AssayPanelLayout *placed = &g_array_index (layout->panels, AssayPanelLayout, index);
  const AssayPanel *panel = g_ptr_array_index (layout->scene->panels, index);
  const AssayRect *f = &placed->frame;
  const AssayPlotStyle *style = &layout->style;
  cairo_save (cr);
  cairo_rectangle (cr, f->x, f->y, f->width, f->height);
  cairo_clip (cr);
  for (guint i = 0; i < panel->layers->len; i++)
    {
      const AssayLayer *layer = g_ptr_array_index (panel->layers, i);
      if (layer->kind == ASSAY_LAYER_REGION)
        assay_draw_layer (cr, style, placed, layer);
    }
  draw_grid (cr, style, placed);
  for (guint i = 0; i < panel->layers->len; i++)
    {
      const AssayLayer *layer = g_ptr_array_index (panel->layers, i);
      if (layer->kind != ASSAY_LAYER_REGION)
        assay_draw_layer (cr, style, placed, layer);
    }
  cairo_restore (cr);
  if (!placed->x.hidden)
    draw_x_axis (cr, style, placed, layout->width);
  if (!placed->y.hidden)
    draw_y_axis (cr, style, placed, panel->own_y);
  for (guint i = 0; i < panel->layers->len; i++)
    assay_draw_layer_words (cr, style, placed, g_ptr_array_index (panel->layers, i), panel->layers);
  assay_draw_mark_names (cr, style, placed, panel->layers);
}

/* low [ramp] high, at the right end of the title row. */
static void
draw_ramp (cairo_t *cr, const AssayPlotLayout *layout)
{
  const AssayPlotStyle *style = &layout->style;
  const AssayLayer *heat = NULL;
  for (guint p = 0; p < layout->scene->panels->len && !heat; p++)
    {
      const AssayPanel *panel = g_ptr_array_index (layout->scene->panels, p);
      for (guint l = 0; l < panel->layers->len; l++)
        {
          const AssayLayer *layer = g_ptr_array_index (panel->layers, l);
          if (layer->kind == ASSAY_LAYER_HEAT)
            heat = layer;
        }
    }
  if (!heat)
    return;
  double s = style->scale, y = 13 * s, right = layout->width - style->header_reserve - 6 * s;
  AssayColour dim = assay_colour (style->theme, ASSAY_ROLE_DIM);
  g_autofree char *low = assay_format_number (heat->low, 2);
  g_autofree char *high = assay_format_number (heat->high, 3);
  double high_width = 0;
  assay_text_size (style, ASSAY_TEXT_TICK, high, &high_width, NULL);
  double x1 = right - high_width - 5 * s, x0 = x1 - 62 * s;
  for (int i = 0; i < 62; i++)
    {
      AssayColour colour = assay_heat_colour (style->theme, i / 61.0);
      cairo_set_source_rgb (cr, colour.red, colour.green, colour.blue);
      cairo_rectangle (cr, x0 + i * s, y - 4 * s, s + 0.4, 8 * s);
      cairo_fill (cr);
    }
  assay_text_draw (cr, style, ASSAY_TEXT_TICK, dim, low, x0 - 5 * s, y, 1.0, 0.5);
  assay_text_draw (cr, style, ASSAY_TEXT_TICK, dim, high, x1 + 5 * s, y, 0, 0.5);
}

static void
draw_header (cairo_t *cr, const AssayPlotLayout *layout)
{
  const AssayPlotStyle *style = &layout->style;
  double s = style->scale, x = 2 * s, width = 0;
  if (!style->hide_title && layout->scene->title)
    {
      assay_text_draw (cr, style, ASSAY_TEXT_TITLE, assay_colour (style->theme, ASSAY_ROLE_TEXT),
                       layout->scene->title, x, 13 * s, 0, 0.5);
      assay_text_size (style, ASSAY_TEXT_TITLE, layout->scene->title, &width, NULL);
      x += width + 10 * s;
    }
  double subtitle = 0, ramp = layout->scene->ramp ? 130 * s : 0;
  if (layout->scene->subtitle)
    assay_text_size (style, ASSAY_TEXT_LABEL, layout->scene->subtitle, &subtitle, NULL);
  if (!style->hide_title && layout->scene->subtitle
      && x + subtitle <= layout->width - style->header_reserve - ramp)
    assay_text_draw (cr, style, ASSAY_TEXT_LABEL, assay_colour (style->theme, ASSAY_ROLE_DIM),
                     layout->scene->subtitle, x, 13 * s, 0, 0.5);
  for (guint i = 0; i < layout->legend->len; i++)
    {
      const AssayLegendItem *item = &g_array_index (layout->legend, AssayLegendItem, i);
      if (!item->shown)
        continue;
      assay_draw_swatch (cr, style, item->layer, item->x + 8 * s, item->y);
      assay_text_draw (cr, style, ASSAY_TEXT_LABEL, assay_colour (style->theme, ASSAY_ROLE_TEXT),
                       item->layer->label, item->x + 22 * s, item->y, 0, 0.5);
    }
  if (layout->scene->ramp)
    draw_ramp (cr, layout);
}

void
assay_plot_layout_draw (const AssayPlotLayout *layout, cairo_t *cr)
{
  cairo_save (cr);
  draw_header (cr, layout);
  for (guint i = 0; i < layout->panels->len; i++)
    draw_panel (cr, layout, i);
  cairo_restore (cr);
}
