/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/figures/position.h"

#include "engine/figures/figures.h"

#include <math.h>

static void
fill_heat (AssayLayer *heat, const AssayPosition *position)
{
  double low = INFINITY, high = 0;
  for (guint i = 0; i < position->rms_ulp->len; i++)
    {
      double value = g_array_index (position->rms_ulp, double, i);
      assay_layer_add_bin (heat, 0, 0, value);
      if (isfinite (value))
        {
          low = fmin (low, value);
          high = fmax (high, value);
        }
    }
  heat->rows = (int) position->cell_rows;
  heat->columns = (int) position->cell_columns;
  heat->row_size = (double) position->rows_per_cell;
  heat->column_size = (double) position->columns_per_cell;
  heat->low = isfinite (low) && low < high ? low : 0.0;
  heat->high = high;
}

static void
add_row_means (AssayPlotScene *scene, const AssayPosition *position)
{
  double reach = 0;
  AssayPanel *panel = assay_plot_scene_add_panel (scene, 0.14);
  AssayLayer *line = assay_panel_add (panel, ASSAY_LAYER_LINE, ASSAY_ROLE_CANDIDATE, NULL);
  for (guint i = 0; i < position->row_mean->len; i++)
    {
      double mean = g_array_index (position->row_mean, double, i);
      double row = (i + 0.5) * position->rows_per_cell;
      if (!isfinite (mean))
        continue;
      reach = fmax (reach, fabs (mean));
      assay_layer_add_bin (line, mean, mean, fmin (row, (double) position->rows));
    }
  reach = reach > 0 ? reach * 1.15 : 1.0;
  assay_axis_set (&panel->x, ASSAY_SCALE_LINEAR, -reach, reach, "row mean");
}

static void
add_table (AssayPlotScene *scene, const AssayPosition *position)
{
  static const char *const COLUMNS[] = {"first row", "first column", "rms ulp", "max ulp", NULL};
  assay_plot_scene_set_columns (scene, COLUMNS);
  for (guint i = 0; i < position->rms_ulp->len; i++)
    {
      gint64 r = i / position->cell_columns, c = i % position->cell_columns;
      char **row = g_new0 (char *, 5);
      row[0] = g_strdup_printf ("%" G_GINT64_FORMAT, r * position->rows_per_cell);
      row[1] = g_strdup_printf ("%" G_GINT64_FORMAT, c * position->columns_per_cell);
      row[2] = assay_double_to_string (g_array_index (position->rms_ulp, double, i));
      row[3] = assay_double_to_string (g_array_index (position->max_ulp, double, i));
      assay_plot_scene_add_row (scene, row);
    }
}

AssayPlotScene *
assay_figure_position_scene (const char *id, const AssayOutput *output)
{
  const AssayComparison *comparison = output->comparison;
  const AssayPosition *position = &comparison->position;
  if (position->rms_ulp->len == 0 || position->columns <= 0)
    return NULL;
  AssayPlotScene *scene = assay_plot_scene_new (id, "Error by position");
  scene->subtitle = g_strdup_printf ("rms ulp, cell %" G_GINT64_FORMAT " × %" G_GINT64_FORMAT,
                                     position->rows_per_cell, position->columns_per_cell);
  scene->ramp = TRUE;
  AssayPanel *panel = assay_plot_scene_add_panel (scene, position->rows > 1 ? 0.86 : 1.0);
  assay_axis_set (&panel->x, ASSAY_SCALE_LINEAR, 0, (double) position->columns,
                  position->rows == 1 ? "element" : "column");
  assay_axis_set (&panel->y, ASSAY_SCALE_LINEAR, 0, (double) position->rows,
                  position->rows == 1 ? NULL : "row");
  panel->x.whole = panel->y.whole = panel->y.reversed = TRUE;
  fill_heat (assay_panel_add (panel, ASSAY_LAYER_HEAT, ASSAY_ROLE_CANDIDATE, "rms ulp"), position);
  const AssayExtreme *worst = &comparison->max_ulp_real;
  g_autofree char *place = assay_format_index (output->shape, worst->index);
  g_autofree char *value = assay_format_number (fabs (worst->value), 3);
  if (worst->index >= 0 && fabs (worst->value) > 0.5)
    {
      AssayLayer *ring = assay_panel_add (panel, ASSAY_LAYER_MARKS, ASSAY_ROLE_REJECTED, NULL);
      double x = (double) (worst->index % position->columns) + 0.5;
      double y = (double) (worst->index / position->columns) + 0.5;
      g_autofree char *words = g_strdup_printf ("worst %s ulp at %s", value, place);
      ring->mark = ASSAY_MARK_RING;
      assay_layer_add_mark (ring, x, y, FALSE, words);
      assay_plot_scene_add_datum (scene, 0, x, x, y, words, "the worst element", worst->index);
    }
  if (position->rows > 1)
    add_row_means (scene, position);
  add_table (scene, position);
  scene->description = g_strdup_printf ("Root mean square ULP error over %" G_GINT64_FORMAT
                                        " rows and %" G_GINT64_FORMAT
                                        " columns; the worst element, %s ulp, stands at %s.",
                                        position->rows, position->columns, value, place);
  return scene;
}
