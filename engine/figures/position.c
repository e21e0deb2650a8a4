/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/figures/position.h"

#include "engine/figures/figures.h"
#include "engine/record/error-place.h"

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

#define MOST_TILES 20 /* more lines would cover the map */
#define MOST_SLICES 32

static void
add_line (AssayPanel *panel, AssayRole role, const char *label, double width, gboolean across,
          double at)
{
  AssayLayer *line = assay_panel_add (panel, ASSAY_LAYER_LINE, role, label);
  line->x = width;
  assay_layer_add_bin (line, across ? panel->x.min : at, 0, across ? at : panel->y.min);
  assay_layer_add_bin (line, across ? panel->x.max : at, 0, across ? at : panel->y.max);
}

/* Lines between the tiles that the grid of blocks makes of the output, where it makes any: blocks along x
 * on columns, along y on rows. A block for each row or element draws nothing. */
static void
add_tiles (AssayPlotScene *scene, AssayPanel *panel, const AssayPosition *position,
           const AssayLaunch *launch)
{
  const gint64 extents[] = {position->columns, position->rows};
  g_autoptr (GString) words = g_string_new (NULL);
  gint64 tile[2] = {0, 0};
  if (!launch || launch->grid->len < 2 || launch->block->len < 2)
    return;
  for (int d = 0; d < 2; d++)
    {
      gint64 blocks = g_array_index (launch->grid, gint64, d);
      gint64 threads = g_array_index (launch->block, gint64, d);
      if (blocks > 1 && blocks <= MOST_TILES && threads > 1 && blocks < extents[d]
          && (extents[d] + threads - 1) / threads == blocks)
        tile[d] = threads;
    }
  for (int d = 0; d < 2; d++)
    for (gint64 at = tile[d]; tile[d] && at < extents[d]; at += tile[d])
      add_line (panel, ASSAY_ROLE_AXIS, NULL, 0.6, d == 1, (double) at);
  if (!tile[0] && !tile[1])
    return;
  g_autofree char *subtitle = scene->subtitle;
  if (tile[1])
    g_string_append_printf (words, "%" G_GINT64_FORMAT " × ", tile[1]);
  g_string_append_printf (words, "%" G_GINT64_FORMAT, tile[0] ? tile[0] : position->columns);
  scene->subtitle = g_strdup_printf ("%s, blocks of %s", subtitle, words->str);
}

/* An output of more than two dimensions lies slice below slice. */
static void
add_slices (AssayPlotScene *scene, AssayPanel *panel, const AssayOutput *output)
{
  if (output->shape->len < 3)
    return;
  gint64 height = g_array_index (output->shape, gint64, output->shape->len - 2);
  gint64 slices = height > 0 ? output->comparison->position.rows / height : 0;
  if (slices < 2)
    return;
  for (gint64 i = 1; i < slices && slices <= MOST_SLICES; i++)
    add_line (panel, ASSAY_ROLE_TEXT, NULL, 1.2, TRUE, (double) (i * height));
  g_autofree char *subtitle = scene->subtitle;
  scene->subtitle = g_strdup_printf ("%s, %" G_GINT64_FORMAT " slices of %" G_GINT64_FORMAT " rows",
                                     subtitle, slices, height);
}

/* Cells hide a diagonal of single elements: it is drawn over them where the worst elements lie on one. */
static void
add_diagonal (AssayPlotScene *scene, AssayPanel *panel, const AssayOutput *output)
{
  AssayErrorPlace place = assay_error_place (output);
  if (place.kind != ASSAY_PLACE_DIAGONAL)
    return;
  double rows = panel->y.max, columns = panel->x.max, step = (double) place.step;
  double begin = fmax (0, -step), end = fmin (rows, columns - step);
  AssayLayer *line = assay_panel_add (panel, ASSAY_LAYER_LINE, ASSAY_ROLE_REJECTED, NULL);
  line->x = 1.6;
  assay_layer_add_bin (line, begin + step, 0, begin);
  assay_layer_add_bin (line, end + step, 0, end);
  g_autofree char *subtitle = scene->subtitle;
  scene->subtitle = g_strdup_printf ("rms ulp; line: column − row = %" G_GINT64_FORMAT, place.step);
}

AssayPlotScene *
assay_figure_position_scene (const char *id, const AssayOutput *output, const AssayLaunch *launch)
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
  add_tiles (scene, panel, position, launch);
  add_slices (scene, panel, output);
  add_diagonal (scene, panel, output);
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
