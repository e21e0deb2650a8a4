/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plot/layout.h"

#include "engine/plot/text.h"

#include <math.h>

#define TITLE_ROW 26.0
#define LEGEND_SWATCH 16.0
#define LEGEND_GAP 14.0
#define PANEL_GAP 22.0

double
assay_panel_layout_x (const AssayPanelLayout *panel, double value)
{
  return panel->frame.x + assay_axis_position (&panel->x, value) * panel->frame.width;
}

double
assay_panel_layout_y (const AssayPanelLayout *panel, double value)
{
  return panel->frame.y + (1.0 - assay_axis_position (&panel->y, value)) * panel->frame.height;
}

static gboolean
in_legend (const AssayLayer *layer)
{
  return layer->label && layer->kind != ASSAY_LAYER_REGION && layer->kind != ASSAY_LAYER_HEAT
         && layer->kind != ASSAY_LAYER_TINTS && layer->kind != ASSAY_LAYER_RULE
         && (layer->kind != ASSAY_LAYER_MARKS || layer->mark != ASSAY_MARK_RING);
}

/* Same words once, whatever panel they come from. */
static void
collect_legend (AssayPlotLayout *layout)
{
  const AssayPlotScene *scene = layout->scene;
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint p = 0; p < scene->panels->len; p++)
    {
      AssayPanel *panel = g_ptr_array_index (scene->panels, p);
      for (guint l = 0; l < panel->layers->len; l++)
        {
          AssayLayer *layer = g_ptr_array_index (panel->layers, l);
          if (!in_legend (layer) || !g_hash_table_add (seen, layer->label))
            continue;
          AssayLegendItem item = {.layer = layer};
          assay_text_size (&layout->style, ASSAY_TEXT_LABEL, layer->label, &item.width, NULL);
          item.width += (LEGEND_SWATCH + 6) * layout->style.scale;
          g_array_append_val (layout->legend, item);
        }
    }
}

/* Right-aligned in the title row, or in a row of its own below; returns the header's height. */
static double
place_legend (AssayPlotLayout *layout)
{
  const AssayPlotStyle *style = &layout->style;
  double row = TITLE_ROW * style->scale, total = 0, title = 0, subtitle = 0;
  if (!style->hide_title && layout->scene->title)
    assay_text_size (style, ASSAY_TEXT_TITLE, layout->scene->title, &title, NULL);
  if (!style->hide_title && layout->scene->subtitle)
    assay_text_size (style, ASSAY_TEXT_LABEL, layout->scene->subtitle, &subtitle, NULL);
  for (guint i = 0; i < layout->legend->len; i++)
    total += g_array_index (layout->legend, AssayLegendItem, i).width + LEGEND_GAP * style->scale;
  if (layout->scene->ramp)
    total += 130 * style->scale;
  double room = layout->width - style->header_reserve - title - subtitle - 28 * style->scale;
  gboolean own_row = total > room && layout->legend->len > 0;
  double header = (style->hide_title && !layout->legend->len && !layout->scene->ramp)
                      ? 4 * style->scale
                  : own_row && !style->hide_title ? 2 * row - 4 * style->scale
                                                  : row;
  double x = own_row ? 2 * style->scale
                     : layout->width - style->header_reserve - total + LEGEND_GAP * style->scale
                           - 4 * style->scale;
  for (guint i = 0; i < layout->legend->len; i++)
    {
      AssayLegendItem *item = &g_array_index (layout->legend, AssayLegendItem, i);
      /* What finds no room is left to the cursor. */
      item->shown = x + item->width <= layout->width;
      item->x = x;
      item->y = header - row / 2;
      x += item->width + LEGEND_GAP * style->scale;
    }
  return header;
}

static double
widest_label (const AssayPlotStyle *style, const GArray *ticks)
{
  double widest = 0;
  for (guint i = 0; i < ticks->len; i++)
    {
      double width = 0;
      const char *label = g_array_index (ticks, AssayTick, i).label;
      if (label)
        assay_text_size (style, ASSAY_TEXT_TICK, label, &width, NULL);
      widest = MAX (widest, width);
    }
  return widest;
}

static void
limit_axis (AssayAxis *axis, double min, double max)
{
  axis->min = min;
  axis->max = max;
}

static AssayAxis
axis_in_view (const AssayAxis *axis, guint panel, const AssayPlotView *view, gboolean vertical)
{
  AssayAxis copy = *axis;
  if (view && view->panel == panel)
    limit_axis (&copy, vertical ? view->y_min : view->x_min, vertical ? view->y_max : view->x_max);
  return copy;
}

static double
left_margin (const AssayPlotLayout *layout, const AssayPanel *panel, const AssayAxis *y,
             double height)
{
  const AssayPlotStyle *style = &layout->style;
  if (!panel->own_y || y->hidden)
    return 2 * style->scale;
  double spacing = y->scale == ASSAY_SCALE_CATEGORY ? 1 : 22 * style->scale;
  g_autoptr (GArray) ticks = assay_axis_ticks (y, height, spacing);
  double title = y->title && *y->title ? 20 * style->scale : 4 * style->scale;
  return title + widest_label (style, ticks) + 8 * style->scale;
}

/* Category labels get as much room as the longest one needs. */
static GArray *
ticks_along_x (const AssayPlotLayout *layout, const AssayAxis *axis, double length)
{
  double spacing = 46 * layout->style.scale;
  if (axis->scale == ASSAY_SCALE_CATEGORY)
    {
      g_autoptr (GArray) all = assay_axis_ticks (axis, 1e9, 1);
      spacing = widest_label (&layout->style, all) + 6 * layout->style.scale;
    }
  else if (axis->whole)
    spacing = 58 * layout->style.scale;
  return assay_axis_ticks (axis, length, spacing);
}

/* Room on the right for what a label at the end of the axis reaches over it. */
static double
right_margin (const AssayPlotLayout *layout, const AssayPlotView *view)
{
  const AssayPlotStyle *style = &layout->style;
  guint last = layout->scene->panels->len - 1;
  AssayPanel *panel = g_ptr_array_index (layout->scene->panels, last);
  AssayAxis x = axis_in_view (&panel->x, last, view, FALSE);
  double width = 0, least = 10 * style->scale;
  g_autoptr (GArray) ticks = ticks_along_x (layout, &x, layout->width * panel->weight);
  for (guint i = 0; i < ticks->len && x.scale != ASSAY_SCALE_CATEGORY; i++)
    {
      const AssayTick *tick = &g_array_index (ticks, AssayTick, i);
      if (!tick->label || assay_axis_position (&x, tick->value) < 0.94)
        continue;
      assay_text_size (style, ASSAY_TEXT_TICK, tick->label, &width, NULL);
      least = MAX (least, width / 2 + 3 * style->scale);
    }
  return least;
}

static void
place_panels (AssayPlotLayout *layout, double header, const AssayPlotView *view)
{
  const AssayPlotStyle *style = &layout->style;
  GPtrArray *panels = layout->scene->panels;
  gboolean x_title = FALSE;
  double weights = 0, margins = 0;
  for (guint p = 0; p < panels->len; p++)
    {
      AssayPanel *panel = g_ptr_array_index (panels, p);
      weights += panel->weight;
      x_title |= panel->x.title && *panel->x.title;
    }
  double bottom = (x_title ? 38 : 22) * style->scale;
  double height = MAX (8.0, layout->height - header - bottom - 4 * style->scale);
  g_autofree double *margin = g_new0 (double, panels->len + 1);
  for (guint p = 0; p < panels->len; p++)
    {
      AssayPanel *panel = g_ptr_array_index (panels, p);
      AssayAxis y = axis_in_view (&panel->y, p, view, TRUE);
      margin[p] = left_margin (layout, panel, &y, height);
      margins += margin[p] + (p ? PANEL_GAP * style->scale : 0);
    }
  double right = panels->len ? right_margin (layout, view) : 0;
  double room = MAX (8.0, layout->width - margins - right), x = 0;
  for (guint p = 0; p < panels->len; p++)
    {
      AssayPanel *panel = g_ptr_array_index (panels, p);
      AssayPanel *first = g_ptr_array_index (panels, 0);
      AssayPanelLayout placed = {0};
      x += margin[p] + (p ? PANEL_GAP * style->scale : 0);
      placed.frame =
          (AssayRect) {x, header + 2 * style->scale, room * panel->weight / weights, height};
      placed.x = axis_in_view (&panel->x, p, view, FALSE);
      placed.y =
          axis_in_view (panel->own_y ? &panel->y : &first->y, panel->own_y ? p : 0, view, TRUE);
      placed.x_ticks = ticks_along_x (layout, &placed.x, placed.frame.width);
      placed.y_ticks = assay_axis_ticks (
          &placed.y, height, placed.y.scale == ASSAY_SCALE_CATEGORY ? 1 : 26 * style->scale);
      g_array_append_val (layout->panels, placed);
      x += placed.frame.width;
    }
}

static void
clear_panel (gpointer data)
{
  AssayPanelLayout *panel = data;
  g_array_unref (panel->x_ticks);
  g_array_unref (panel->y_ticks);
}

AssayPlotLayout *
assay_plot_layout_new (AssayPlotScene *scene, const AssayPlotStyle *style, double width,
                       double height, const AssayPlotView *view)
{
  AssayPlotLayout *layout = g_new0 (AssayPlotLayout, 1);
  g_atomic_ref_count_init (&layout->references);
  layout->scene = assay_plot_scene_ref (scene);
  layout->style = *style;
  layout->width = width;
  layout->height = height;
  layout->panels = g_array_new (FALSE, FALSE, sizeof (AssayPanelLayout));
  g_array_set_clear_func (layout->panels, clear_panel);
  layout->legend = g_array_new (FALSE, FALSE, sizeof (AssayLegendItem));
  collect_legend (layout);
  place_panels (layout, place_legend (layout), view);
  return layout;
}

AssayPlotLayout *
assay_plot_layout_ref (AssayPlotLayout *layout)
{
  g_atomic_ref_count_inc (&layout->references);
  return layout;
}

void
assay_plot_layout_unref (AssayPlotLayout *layout)
{
  if (!g_atomic_ref_count_dec (&layout->references))
    return;
  assay_plot_scene_unref (layout->scene);
  g_array_unref (layout->panels);
  g_array_unref (layout->legend);
  g_free (layout);
}

static const AssayLayer *
heat_layer (const AssayPlotLayout *layout, guint *panel)
{
  for (guint p = 0; p < layout->scene->panels->len; p++)
    {
      AssayPanel *candidate = g_ptr_array_index (layout->scene->panels, p);
      for (guint l = 0; l < candidate->layers->len; l++)
        {
          const AssayLayer *layer = g_ptr_array_index (candidate->layers, l);
          *panel = p;
          if (layer->kind == ASSAY_LAYER_HEAT)
            return layer;
        }
    }
  return NULL;
}

guint
assay_plot_layout_n_data (const AssayPlotLayout *layout)
{
  guint panel = 0;
  const AssayLayer *heat = heat_layer (layout, &panel);
  return layout->scene->data->len + (heat ? (guint) (heat->rows * heat->columns) : 0);
}

int
assay_plot_layout_locate (const AssayPlotLayout *layout, double x, double y, double *value_x,
                          double *value_y)
{
  for (guint p = 0; p < layout->panels->len; p++)
    {
      const AssayPanelLayout *panel = &g_array_index (layout->panels, AssayPanelLayout, p);
      const AssayRect *f = &panel->frame;
      if (x < f->x || x > f->x + f->width || y < f->y || y > f->y + f->height)
        continue;
      if (value_x)
        *value_x = assay_axis_value (&panel->x, (x - f->x) / f->width);
      if (value_y)
        *value_y = assay_axis_value (&panel->y, 1.0 - (y - f->y) / f->height);
      return (int) p;
    }
  return -1;
}

static gint64
hit_heat (const AssayPlotLayout *layout, double x, double y)
{
  guint panel = 0;
  double vx = 0, vy = 0;
  const AssayLayer *heat = heat_layer (layout, &panel);
  if (!heat || assay_plot_layout_locate (layout, x, y, &vx, &vy) != (int) panel)
    return -1;
  const AssayPanel *of = g_ptr_array_index (layout->scene->panels, panel);
  int column = assay_layer_cell (&of->x, heat->column_first, heat->column_size, vx);
  int row = assay_layer_cell (&of->y, heat->row_first, heat->row_size, vy);
  if (row < 0 || column < 0 || row >= heat->rows || column >= heat->columns)
    return -1;
  return (gint64) layout->scene->data->len + row * heat->columns + column;
}

gint64
assay_plot_layout_hit (const AssayPlotLayout *layout, double x, double y)
{
  double nearest = 14.0 * layout->style.scale;
  gint64 found = -1, bin = -1;
  int under = assay_plot_layout_locate (layout, x, y, NULL, NULL);
  for (guint i = 0; under >= 0 && i < layout->scene->data->len; i++)
    {
      const AssayDatum *datum = &g_array_index (layout->scene->data, AssayDatum, i);
      const AssayPanelLayout *panel =
          &g_array_index (layout->panels, AssayPanelLayout, datum->panel);
      if ((int) datum->panel != under)
        continue;
      double left = assay_panel_layout_x (panel, datum->x0);
      if (datum->x1 > datum->x0)
        {
          if (x >= left && x < assay_panel_layout_x (panel, datum->x1))
            bin = i;
          continue;
        }
      double distance = hypot (left - x, assay_panel_layout_y (panel, datum->y) - y);
      if (distance < nearest)
        {
          nearest = distance;
          found = i;
        }
    }
  return found >= 0 ? found : bin >= 0 ? bin : hit_heat (layout, x, y);
}

/* "rows 4…7" of whole places, "|gold| 1e-3 to 2e-3" of quantities. */
static char *
cell_range (const AssayAxis *axis, double low, double high)
{
  const char *title = axis->title ? axis->title : "";
  if (axis->whole)
    return g_strdup_printf ("%s %.0f…%.0f", title, low, fmin (high, axis->max) - 1);
  g_autofree char *from = assay_format_number (low, 2), *to = assay_format_number (high, 2);
  return g_strdup_printf ("%s %s to %s", title, from, to);
}

static gboolean
heat_datum (const AssayPlotLayout *layout, guint cell, AssayRect *box, char **heading,
            char **detail, gint64 *payload)
{
  guint p = 0;
  const AssayLayer *heat = heat_layer (layout, &p);
  if (!heat || cell >= (guint) (heat->rows * heat->columns))
    return FALSE;
  const AssayPanelLayout *panel = &g_array_index (layout->panels, AssayPanelLayout, p);
  double row = cell / (guint) heat->columns, column = cell % (guint) heat->columns;
  double x0 = assay_layer_edge (&panel->x, heat->column_first, heat->column_size, column);
  double x1 = assay_layer_edge (&panel->x, heat->column_first, heat->column_size, column + 1);
  double y0 = assay_layer_edge (&panel->y, heat->row_first, heat->row_size, row);
  double y1 = assay_layer_edge (&panel->y, heat->row_first, heat->row_size, row + 1);
  double left = assay_panel_layout_x (panel, x0), top = assay_panel_layout_y (panel, y0);
  *box = (AssayRect) {left, top, assay_panel_layout_x (panel, x1) - left,
                      assay_panel_layout_y (panel, y1) - top};
  if (box->height < 0)
    {
      box->y += box->height;
      box->height = -box->height;
    }
  g_autofree char *value = assay_format_number (g_array_index (heat->y, double, cell), 3);
  g_autofree char *across = cell_range (&panel->x, x0, x1), *down = cell_range (&panel->y, y0, y1);
  if (heading)
    *heading = panel->y.title ? g_strdup_printf ("%s, %s", down, across) : g_strdup (across);
  if (detail)
    *detail = g_strdup_printf ("%s %s", heat->label ? heat->label : "value", value);
  if (payload)
    *payload = -1;
  return panel->x.max >= x0 && panel->x.min <= x1;
}

gboolean
assay_plot_layout_datum (const AssayPlotLayout *layout, guint i, AssayRect *box, char **heading,
                         char **detail, gint64 *payload)
{
  if (i >= layout->scene->data->len)
    return heat_datum (layout, i - layout->scene->data->len, box, heading, detail, payload);
  const AssayDatum *datum = &g_array_index (layout->scene->data, AssayDatum, i);
  const AssayPanelLayout *panel = &g_array_index (layout->panels, AssayPanelLayout, datum->panel);
  const AssayRect *f = &panel->frame;
  double left = assay_panel_layout_x (panel, datum->x0);
  double right = assay_panel_layout_x (panel, datum->x1);
  double y = assay_panel_layout_y (panel, datum->y);
  *box = (AssayRect) {left, isfinite (y) ? CLAMP (y, f->y, f->y + f->height) : f->y + f->height,
                      right - left, 0};
  box->height = datum->x1 > datum->x0 ? f->y + f->height - box->y : 0;
  if (heading)
    *heading = g_strdup (datum->heading);
  if (detail)
    *detail = g_strdup (datum->detail);
  if (payload)
    *payload = datum->payload;
  return right >= f->x && left <= f->x + f->width;
}
