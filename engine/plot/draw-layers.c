/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plot/draw-layers.h"

#include "engine/plot/text.h"

#include <math.h>

#define MARK_RADIUS 4.6

void
assay_set_role (cairo_t *cr, const AssayPlotStyle *style, AssayRole role, double alpha)
{
  AssayColour colour = assay_colour (style->theme, role);
  cairo_set_source_rgba (cr, colour.red, colour.green, colour.blue, alpha);
}

static double
item (const GArray *array, guint i)
{
  return g_array_index (array, double, i);
}

static double
floor_of (const AssayPanelLayout *panel)
{
  return panel->frame.y + panel->frame.height;
}

/* Top of a bar; empty bins have none. */
static gboolean
bar_top (const AssayPanelLayout *panel, double value, double *top)
{
  *top = assay_panel_layout_y (panel, value);
  return isfinite (*top) && *top < floor_of (panel);
}

static void
draw_bars (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
           const AssayLayer *layer)
{
  assay_set_role (cr, style, layer->role, 1.0);
  for (guint i = 0; i < layer->y->len; i++)
    {
      double top = 0;
      if (!bar_top (panel, item (layer->y, i), &top))
        continue;
      double left = assay_panel_layout_x (panel, item (layer->x0, i));
      double right = assay_panel_layout_x (panel, item (layer->x1, i));
      double gap = right - left > 4 ? 0.5 : 0;
      cairo_rectangle (cr, left + gap, top, right - left - 2 * gap, floor_of (panel) - top);
    }
  cairo_fill (cr);
}

static void
draw_steps (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
            const AssayLayer *layer)
{
  double bottom = floor_of (panel), end = NAN;
  for (guint i = 0; i < layer->y->len; i++)
    {
      double top = 0;
      double left = assay_panel_layout_x (panel, item (layer->x0, i));
      double right = assay_panel_layout_x (panel, item (layer->x1, i));
      if (!bar_top (panel, item (layer->y, i), &top))
        top = bottom;
      if (isnan (end) || fabs (end - left) > 0.5)
        {
          if (!isnan (end))
            cairo_line_to (cr, end, bottom);
          cairo_move_to (cr, left, bottom);
        }
      cairo_line_to (cr, left, top);
      cairo_line_to (cr, right, top);
      end = right;
    }
  if (!isnan (end))
    cairo_line_to (cr, end, bottom);
  assay_set_role (cr, style, layer->role, 1.0);
  cairo_set_line_width (cr, 1.6 * style->scale);
  cairo_stroke (cr);
}

static void
draw_line (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
           const AssayLayer *layer)
{
  for (guint i = 0; i < layer->y->len; i++)
    {
      double x = assay_panel_layout_x (panel, item (layer->x0, i));
      double y = assay_panel_layout_y (panel, item (layer->y, i));
      if (isfinite (x) && isfinite (y))
        cairo_line_to (cr, x, y);
    }
  assay_set_role (cr, style, layer->role, 1.0);
  cairo_set_line_width (cr, (layer->x > 0 ? layer->x : 1.1) * style->scale);
  cairo_stroke (cr);
}

static void
draw_region (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
             const AssayLayer *layer)
{
  double left = MAX (panel->frame.x, assay_panel_layout_x (panel, layer->x));
  double right =
      MIN (panel->frame.x + panel->frame.width, assay_panel_layout_x (panel, layer->x_end));
  if (!(right > left))
    return;
  gboolean band = layer->role == ASSAY_ROLE_REFERENCE;
  assay_set_role (cr, style, layer->role, band ? 0.16 : 1.0);
  cairo_rectangle (cr, left, panel->frame.y, right - left, panel->frame.height);
  cairo_fill (cr);
}

static gboolean
rule_position (const AssayPanelLayout *panel, const AssayLayer *layer, double *x)
{
  *x = assay_panel_layout_x (panel, layer->x);
  return isfinite (*x) && *x >= panel->frame.x - 0.5
         && *x <= panel->frame.x + panel->frame.width + 0.5;
}

static void
draw_rule (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
           const AssayLayer *layer)
{
  double x = 0;
  if (!rule_position (panel, layer, &x))
    return;
  assay_set_role (cr, style, layer->role, 1.0);
  cairo_set_line_width (cr, 2.4 * style->scale);
  cairo_move_to (cr, x, panel->frame.y);
  cairo_line_to (cr, x, floor_of (panel));
  cairo_stroke (cr);
}

static void
mark_path (cairo_t *cr, AssayMark mark, double x, double y, double radius)
{
  cairo_new_sub_path (cr);
  switch (mark)
    {
    case ASSAY_MARK_DIAMOND:
      cairo_move_to (cr, x, y - radius * 1.25);
      cairo_line_to (cr, x + radius * 1.25, y);
      cairo_line_to (cr, x, y + radius * 1.25);
      cairo_line_to (cr, x - radius * 1.25, y);
      cairo_close_path (cr);
      break;
    case ASSAY_MARK_SQUARE:
      cairo_rectangle (cr, x - radius, y - radius, 2 * radius, 2 * radius);
      break;
    case ASSAY_MARK_RING:
      cairo_arc (cr, x, y, radius * 1.6, 0, 2 * G_PI);
      break;
    case ASSAY_MARK_CIRCLE:
    default:
      cairo_arc (cr, x, y, radius, 0, 2 * G_PI);
      break;
    }
}

static void
draw_mark (cairo_t *cr, const AssayPlotStyle *style, const AssayLayer *layer, double x, double y,
           gboolean filled)
{
  mark_path (cr, layer->mark, x, y, MARK_RADIUS * style->scale);
  if (layer->mark == ASSAY_MARK_RING)
    {
      assay_set_role (cr, style, ASSAY_ROLE_BASE, 1.0);
      cairo_set_line_width (cr, 4.0 * style->scale);
      cairo_stroke_preserve (cr);
    }
  else
    {
      assay_set_role (cr, style, filled ? layer->role : ASSAY_ROLE_BASE, 1.0);
      cairo_fill_preserve (cr);
    }
  assay_set_role (cr, style, layer->role, 1.0);
  cairo_set_line_width (cr, 1.6 * style->scale);
  cairo_stroke (cr);
}

static void
draw_marks (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
            const AssayLayer *layer)
{
  for (guint i = 0; i < layer->y->len; i++)
    {
      double x = assay_panel_layout_x (panel, item (layer->x0, i));
      double y = assay_panel_layout_y (panel, item (layer->y, i));
      if (isfinite (x) && isfinite (y))
        draw_mark (cr, style, layer, x, y, g_array_index (layer->filled, gboolean, i));
    }
}

static void
draw_spans (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
            const AssayLayer *layer)
{
  assay_set_role (cr, style, layer->role, 0.75);
  for (guint i = 0; i < layer->y->len; i++)
    {
      double left = MAX (panel->frame.x, assay_panel_layout_x (panel, item (layer->x0, i)));
      double right = assay_panel_layout_x (panel, item (layer->x1, i));
      double y = assay_panel_layout_y (panel, item (layer->y, i));
      if (right > left && isfinite (y))
        cairo_rectangle (cr, left, y - 5 * style->scale, right - left, 10 * style->scale);
    }
  cairo_fill (cr);
}

static AssayColour
cell_colour (const AssayPlotStyle *style, const AssayLayer *layer, guint cell)
{
  double value = item (layer->y, cell);
  double low = layer->counts ? 0 : layer->low;
  double high = layer->counts ? log2 (fmax (layer->high, 1)) : layer->high;
  double span = high > low ? high - low : 1.0;
  if (layer->counts)
    return assay_heat_colour (style->theme, 0.2 + 0.8 * log2 (fmax (value, 1)) / span);
  return isnan (value) ? assay_colour (style->theme, ASSAY_ROLE_REJECTED)
                       : assay_heat_colour (style->theme, (value - low) / span);
}

static double
cell_x (const AssayPanelLayout *panel, const AssayLayer *layer, double column)
{
  return assay_panel_layout_x (
      panel, assay_layer_edge (&panel->x, layer->column_first, layer->column_size, column));
}

static double
cell_y (const AssayPanelLayout *panel, const AssayLayer *layer, double row)
{
  return assay_panel_layout_y (
      panel, assay_layer_edge (&panel->y, layer->row_first, layer->row_size, row));
}

static gboolean
is_empty (const AssayLayer *layer, guint cell)
{
  return layer->counts && !(item (layer->y, cell) > 0);
}

/* A rectangle a cell: for paper, where everything stays a vector. */
static void
draw_heat_cells (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
                 const AssayLayer *layer)
{
  for (int r = 0; r < layer->rows; r++)
    for (int c = 0; c < layer->columns; c++)
      {
        AssayColour colour = cell_colour (style, layer, (guint) (r * layer->columns + c));
        double x0 = cell_x (panel, layer, c);
        double x1 = fmin (cell_x (panel, layer, c + 1), panel->frame.x + panel->frame.width);
        double y0 = cell_y (panel, layer, r), y1 = cell_y (panel, layer, r + 1);
        double least = panel->frame.y, most = least + panel->frame.height;
        y0 = CLAMP (y0, least, most);
        y1 = CLAMP (y1, least, most);
        if (is_empty (layer, (guint) (r * layer->columns + c)))
          continue;
        cairo_set_source_rgb (cr, colour.red, colour.green, colour.blue);
        cairo_rectangle (cr, x0, MIN (y0, y1), x1 - x0 + 0.4, fabs (y1 - y0) + 0.4);
        cairo_fill (cr);
      }
}

/* A pixel a cell, stretched: for the screen, where tens of thousands of rectangles take too long. */
static void
draw_heat_image (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
                 const AssayLayer *layer)
{
  cairo_surface_t *image =
      cairo_image_surface_create (CAIRO_FORMAT_ARGB32, layer->columns, layer->rows);
  guint32 *pixels = (guint32 *) (void *) cairo_image_surface_get_data (image);
  int stride = cairo_image_surface_get_stride (image) / 4;
  for (int r = 0; pixels && r < layer->rows; r++)
    for (int c = 0; c < layer->columns; c++)
      {
        AssayColour colour = cell_colour (style, layer, (guint) (r * layer->columns + c));
        if (is_empty (layer, (guint) (r * layer->columns + c)))
          continue;
        pixels[r * stride + c] = 0xff000000u | (guint32) lround (colour.red * 255) << 16
                                 | (guint32) lround (colour.green * 255) << 8
                                 | (guint32) lround (colour.blue * 255);
      }
  cairo_surface_mark_dirty (image);
  double left = cell_x (panel, layer, 0), right = cell_x (panel, layer, layer->columns);
  double top = cell_y (panel, layer, 0), bottom = cell_y (panel, layer, layer->rows);
  cairo_translate (cr, left, top);
  cairo_scale (cr, (right - left) / layer->columns, (bottom - top) / layer->rows);
  cairo_set_source_surface (cr, image, 0, 0);
  cairo_pattern_set_filter (cairo_get_source (cr), CAIRO_FILTER_NEAREST);
  cairo_rectangle (cr, 0, 0, layer->columns, layer->rows);
  cairo_fill (cr);
  cairo_surface_destroy (image);
}

static void
draw_heat (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
           const AssayLayer *layer)
{
  cairo_surface_type_t type = cairo_surface_get_type (cairo_get_target (cr));
  gboolean paper = style->theme == ASSAY_THEME_PRINT || type == CAIRO_SURFACE_TYPE_PDF
                   || type == CAIRO_SURFACE_TYPE_SVG;
  cairo_save (cr);
  cairo_set_antialias (cr, CAIRO_ANTIALIAS_NONE);
  (paper ? draw_heat_cells : draw_heat_image) (cr, style, panel, layer);
  cairo_restore (cr);
}

/* Runs of one tint along a row are one rectangle. */
static void
draw_tints (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
            const AssayLayer *layer)
{
  cairo_save (cr);
  cairo_set_antialias (cr, CAIRO_ANTIALIAS_NONE);
  for (int r = 0; r < layer->rows; r++)
    for (int c = 0, end; c < layer->columns; c = end)
      {
        guint first = (guint) (r * layer->columns + c);
        int role = g_array_index (layer->filled, int, first);
        for (end = c + 1; end < layer->columns; end++)
          {
            guint at = (guint) (r * layer->columns + end);
            if (g_array_index (layer->filled, int, at) != role
                || fabs (item (layer->y, at) - item (layer->y, first)) > 0.01)
              break;
          }
        if (!(item (layer->y, first) > 0))
          continue;
        double x0 = cell_x (panel, layer, c), x1 = cell_x (panel, layer, end);
        double y0 = cell_y (panel, layer, r), y1 = cell_y (panel, layer, r + 1);
        assay_set_role (cr, style, (AssayRole) role, item (layer->y, first));
        cairo_rectangle (cr, x0, MIN (y0, y1), x1 - x0, fabs (y1 - y0));
        cairo_fill (cr);
      }
  cairo_restore (cr);
}

typedef void (*DrawLayer) (cairo_t *, const AssayPlotStyle *, const AssayPanelLayout *,
                           const AssayLayer *);

void
assay_draw_layer (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
                  const AssayLayer *layer)
{
  static const DrawLayer DRAW[] = {
      [ASSAY_LAYER_REGION] = draw_region, [ASSAY_LAYER_BARS] = draw_bars,
      [ASSAY_LAYER_STEPS] = draw_steps,   [ASSAY_LAYER_LINE] = draw_line,
      [ASSAY_LAYER_RULE] = draw_rule,     [ASSAY_LAYER_MARKS] = draw_marks,
      [ASSAY_LAYER_SPANS] = draw_spans,   [ASSAY_LAYER_HEAT] = draw_heat,
      [ASSAY_LAYER_TINTS] = draw_tints,
  };
  DRAW[layer->kind](cr, style, panel, layer);
}

static void
tag (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
     const AssayLayer *layer, gboolean right)
{
  double width = 0, height = 0;
  g_autofree char *words = g_strconcat (right ? "" : "‹ ", layer->label, right ? " ›" : "", NULL);
  assay_text_size (style, ASSAY_TEXT_LABEL, words, &width, &height);
  double box = width + 14 * style->scale;
  double x = right ? panel->frame.x + panel->frame.width - box : panel->frame.x;
  double y = panel->frame.y + 4 * style->scale;
  cairo_rectangle (cr, x, y, box, height + 6 * style->scale);
  assay_set_role (cr, style, ASSAY_ROLE_ACCEPTED_GROUND, 1.0);
  cairo_fill_preserve (cr);
  assay_set_role (cr, style, layer->role, 1.0);
  cairo_set_line_width (cr, 1.0);
  cairo_stroke (cr);
  assay_text_draw (cr, style, ASSAY_TEXT_LABEL, assay_colour (style->theme, ASSAY_ROLE_TEXT), words,
                   x + 7 * style->scale, y + 3 * style->scale, 0, 0);
}

static void
rule_words (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
            const AssayLayer *layer, double x)
{
  double width = 0, gap = 6 * style->scale;
  assay_text_size (style, ASSAY_TEXT_LABEL, layer->label, &width, NULL);
  gboolean right = x + gap + width < panel->frame.x + panel->frame.width;
  assay_text_draw_on_data (cr, style, ASSAY_TEXT_LABEL, assay_colour (style->theme, layer->role),
                           layer->label, right ? x + gap : x - gap,
                           panel->frame.y + 2 * style->scale, right ? 0.0 : 1.0, 0.0);
}

/* Numbers above bars, where a layer gives them. */
static void
bar_names (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
           const AssayLayer *layer)
{
  for (guint i = 0; i < layer->names->len; i++)
    {
      double top = 0;
      double left = assay_panel_layout_x (panel, item (layer->x0, i));
      double right = assay_panel_layout_x (panel, item (layer->x1, i));
      if (!bar_top (panel, item (layer->y, i), &top))
        top = floor_of (panel);
      assay_text_draw (cr, style, ASSAY_TEXT_TICK, assay_colour (style->theme, ASSAY_ROLE_DIM),
                       g_ptr_array_index (layer->names, i), (left + right) / 2,
                       top - 2 * style->scale, 0.5, 1.0);
    }
}

void
assay_draw_layer_words (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
                        const AssayLayer *layer, const GPtrArray *layers)
{
  AssayRect box;
  double x = 0;
  if (layer->kind == ASSAY_LAYER_BARS)
    bar_names (cr, style, panel, layer);
  if (!layer->label)
    return;
  if (layer->kind == ASSAY_LAYER_RULE && isfinite (layer->x))
    {
      if (rule_position (panel, layer, &x))
        rule_words (cr, style, panel, layer, x);
      else
        tag (cr, style, panel, layer, layer->x > panel->x.min);
    }
  if (!assay_region_words (style, panel, layer, layers, &box))
    return;
  gboolean accepted = layer->role == ASSAY_ROLE_ACCEPTED_GROUND;
  assay_text_draw (
      cr, style, ASSAY_TEXT_LABEL,
      assay_colour (style->theme, accepted ? ASSAY_ROLE_ACCEPTED : ASSAY_ROLE_REJECTED),
      layer->label, box.x, box.y, 0, 0);
}

void
assay_draw_swatch (cairo_t *cr, const AssayPlotStyle *style, const AssayLayer *layer, double x,
                   double y)
{
  double s = style->scale;
  assay_set_role (cr, style, layer->role, layer->kind == ASSAY_LAYER_SPANS ? 0.75 : 1.0);
  if (layer->kind == ASSAY_LAYER_MARKS)
    {
      draw_mark (cr, style, layer, x, y, TRUE);
      return;
    }
  if (layer->kind == ASSAY_LAYER_BARS || layer->kind == ASSAY_LAYER_SPANS)
    {
      cairo_rectangle (cr, x - 5 * s, y - 5 * s, 10 * s, 10 * s);
      cairo_fill (cr);
      return;
    }
  cairo_set_line_width (cr, (layer->kind == ASSAY_LAYER_RULE ? 2.4 : 1.8) * s);
  cairo_move_to (cr, x - 8 * s, y);
  cairo_line_to (cr, x + 8 * s, y);
  cairo_stroke (cr);
}
