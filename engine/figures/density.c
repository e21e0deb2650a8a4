/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/figures/density.h"

#include "engine/number/dtype.h"

#include <math.h>

static const AssayDensity *
find_density (const AssayOutput *output, gboolean by_input)
{
  for (guint i = 0; i < output->densities->len; i++)
    {
      const AssayDensity *density = g_ptr_array_index (output->densities, i);
      if ((density->input != NULL) == by_input && density->rows > 0 && density->columns > 0
          && density->counts->len == density->rows * density->columns)
        return density;
    }
  return NULL;
}

static AssayLayer *
add_heat (AssayPlotScene *scene, AssayPanel *panel, const AssayDensity *density)
{
  AssayLayer *heat = assay_panel_add (panel, ASSAY_LAYER_HEAT, ASSAY_ROLE_CANDIDATE, "elements");
  heat->counts = TRUE;
  heat->rows = (int) density->rows;
  heat->columns = (int) density->columns;
  heat->low = 1;
  for (guint i = 0; i < density->counts->len; i++)
    {
      double count = (double) g_array_index (density->counts, guint64, i);
      assay_layer_add_bin (heat, 0, 0, count);
      heat->high = fmax (heat->high, count);
    }
  scene->ramp = TRUE;
  return heat;
}

static void
add_table (AssayPlotScene *scene, const AssayDensity *density)
{
  static const char *const COLUMNS[] = {"column", "row", "elements", NULL};
  assay_plot_scene_set_columns (scene, COLUMNS);
  for (guint i = 0; i < density->counts->len; i++)
    {
      guint64 count = g_array_index (density->counts, guint64, i);
      if (!count)
        continue;
      char **row = g_new0 (char *, 4);
      row[0] = g_strdup_printf ("%" G_GINT64_FORMAT, i % density->columns);
      row[1] = g_strdup_printf ("%" G_GINT64_FORMAT, i / density->columns);
      row[2] = g_strdup_printf ("%" G_GUINT64_FORMAT, count);
      assay_plot_scene_add_row (scene, row);
    }
}

/* What the rule allows a result of size `gold`; NaN where it does not depend on the element alone. */
static double
allowed (const AssayTolerance *t, double gold)
{
  if (t->rule == ASSAY_RULE_ALLCLOSE)
    return t->atol + t->rtol * gold;
  if (t->rule == ASSAY_RULE_EITHER)
    return fmax (t->atol, t->rtol * gold);
  return NAN;
}

static void
add_curves (AssayPanel *panel, const AssayOutput *output)
{
  AssayDtype dtype = assay_dtype_component (assay_dtype_from_name (output->dtype));
  AssayLayer *gate = NULL;
  AssayLayer *floor = assay_panel_add (panel, ASSAY_LAYER_LINE, ASSAY_ROLE_GOLD, "½ ulp");
  double ratio = pow (panel->x.max / panel->x.min, 1.0 / 64);
  for (double x = panel->x.min; x < panel->x.max; x *= 2)
    {
      double half = assay_dtype_ulp (dtype, x) / 2;
      if (half < panel->y.min || half > panel->y.max)
        continue;
      assay_layer_add_bin (floor, x, x, half);
      assay_layer_add_bin (floor, 2 * x, 2 * x, half);
    }
  for (int i = 0; i <= 64; i++)
    {
      double x = panel->x.min * pow (ratio, i), y = allowed (output->tolerance, x);
      if (!(y >= panel->y.min && y <= panel->y.max))
        continue;
      if (!gate)
        gate = assay_panel_add (panel, ASSAY_LAYER_LINE, ASSAY_ROLE_ACCEPTED, "gate");
      gate->x = 2.4;
      assay_layer_add_bin (gate, x, x, y);
    }
}

AssayPlotScene *
assay_figure_magnitude_scene (const char *id, const AssayOutput *output)
{
  const AssayDensity *density = find_density (output, FALSE);
  if (!density)
    return NULL;
  AssayPlotScene *scene = assay_plot_scene_new (id, "Error by magnitude");
  AssayPanel *panel = assay_plot_scene_add_panel (scene, 1.0);
  double x0 = ldexp (1, (int) density->low), x1 = ldexp (1, (int) density->high);
  double y0 = ldexp (1, (int) density->first_row);
  double y1 = ldexp (1, (int) (density->first_row + density->rows));
  double most = allowed (output->tolerance, x1), least = allowed (output->tolerance, x0);
  double low = y0, high = y1;
  /* The gate belongs in the picture, unless it would leave nothing of the rest. */
  if (most > high && most < high * 1e8)
    high = most * 2;
  if (least > 0 && least < low && least > low * 1e-8)
    low = least / 2;
  assay_axis_set (&panel->x, ASSAY_SCALE_LOG, x0, x1, "|gold|");
  assay_axis_set (&panel->y, ASSAY_SCALE_LOG, low, high, "|y − gold|");
  AssayLayer *heat = add_heat (scene, panel, density);
  heat->column_size = heat->row_size = 2;
  heat->column_first = x0;
  heat->row_first = y0;
  add_curves (panel, output);
  add_table (scene, density);
  scene->description = g_strdup_printf (
      "Elements by the size of the result and of the error, both in powers of two; "
      "%" G_GUINT64_FORMAT
      " elements without error are not drawn. What lies above the gate is refused.",
      density->exact);
  return scene;
}

/* The most bits lost in each column. */
static void
add_most (AssayPanel *panel, const AssayDensity *density)
{
  double step = (density->high - density->low) / (double) density->columns;
  AssayLayer *line = assay_panel_add (panel, ASSAY_LAYER_LINE, ASSAY_ROLE_REJECTED, "most");
  line->x = 1.6;
  for (gint64 c = 0; c < density->columns; c++)
    for (gint64 r = density->rows - 1; r >= 0; r--)
      if (g_array_index (density->counts, guint64, r * density->columns + c))
        {
          double x = density->low + ((double) c + 0.5) * step;
          assay_layer_add_bin (line, x, x, (double) r + 1);
          break;
        }
}

AssayPlotScene *
assay_figure_input_scene (const char *id, const AssayOutput *output)
{
  const AssayDensity *density = find_density (output, TRUE);
  if (!density)
    return NULL;
  AssayPlotScene *scene = assay_plot_scene_new (id, "Bits of error by input");
  AssayPanel *panel = assay_plot_scene_add_panel (scene, 1.0);
  g_autofree char *title = g_strdup_printf ("value of input %s", density->input);
  assay_axis_set (&panel->x, ASSAY_SCALE_LINEAR, density->low, density->high, title);
  assay_axis_set (&panel->y, ASSAY_SCALE_LINEAR, 0, (double) MAX (density->rows, 4),
                  "bits of error, log2 (1 + ulp)");
  AssayLayer *heat = add_heat (scene, panel, density);
  heat->column_first = density->low;
  heat->column_size = (density->high - density->low) / (double) density->columns;
  heat->row_size = 1;
  add_most (panel, density);
  add_table (scene, density);
  scene->description = g_strdup_printf (
      "Bits of error against gold over the value of input %s at the same place; at "
      "most %" G_GINT64_FORMAT " bits are lost.",
      density->input, density->rows);
  return scene;
}
