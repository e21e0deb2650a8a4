/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/figures/plane.h"

#include "engine/figures/figures.h"

#include <math.h>

#define LOWEST 1e-14
#define HIGHEST 1e2

const AssayPlane *
assay_run_find_plane (const AssayRun *run, const char *workload, const char *output)
{
  for (guint i = 0; run->audit && i < run->audit->planes->len; i++)
    {
      const AssayPlane *plane = g_ptr_array_index (run->audit->planes, i);
      if (g_strcmp0 (plane->workload, workload) == 0 && g_strcmp0 (plane->output, output) == 0)
        return plane;
    }
  return NULL;
}

static gboolean
is_right (int kind)
{
  return kind == ASSAY_PROBE_HONEST || kind == ASSAY_PROBE_REFERENCE;
}

/* log-log interpolation between neighbouring columns; a frontier falls as rtol grows. */
static double
frontier_at (const GArray *rtol, const GArray *atol, double at)
{
  guint k = 0;
  while (k + 1 < rtol->len && g_array_index (rtol, double, k + 1) <= at)
    k++;
  double left = g_array_index (atol, double, k);
  if (k + 1 >= rtol->len || at <= g_array_index (rtol, double, k))
    return left;
  double right = g_array_index (atol, double, k + 1);
  double t = log (at / g_array_index (rtol, double, k))
             / log (g_array_index (rtol, double, k + 1) / g_array_index (rtol, double, k));
  return left > 0 && right > 0 && isfinite (left) ? left * pow (right / left, t)
                                                  : left + t * (right - left);
}

AssayPlanePoint
assay_plane_at (const AssayPlane *plane, double rtol, double atol)
{
  AssayPlanePoint point = {.share = NAN};
  guint columns = plane->rtol->len, row = 0, column = 0;
  for (guint i = 0; i < plane->frontiers->len; i++)
    {
      const AssayFrontier *frontier = g_ptr_array_index (plane->frontiers, i);
      /* The rule adds where the frontier subtracts: an answer on the line is on its right side. */
      gboolean passes = atol * (1 + 1e-9) >= frontier_at (plane->rtol, frontier->atol, rtol);
      if (frontier->kind == ASSAY_PROBE_REFERENCE)
        {
          point.reference_refused |= !passes;
          continue;
        }
      if (is_right (frontier->kind))
        {
          point.honest++;
          point.refused += !passes;
          continue;
        }
      if (passes && point.living < G_N_ELEMENTS (point.living_names))
        point.living_names[point.living] = frontier->name;
      point.wrong++;
      point.living += passes;
    }
  while (column + 1 < columns && g_array_index (plane->rtol, double, column + 1) <= rtol)
    column++;
  while (row + 1 < plane->share_atol->len
         && g_array_index (plane->share_atol, double, row + 1) <= atol)
    row++;
  if (plane->share->len && plane->share->len == columns * plane->share_atol->len)
    point.share = g_array_index (plane->share, double, row *columns + column);
  return point;
}

static void
add_frontier (AssayPlotScene *scene, AssayPanel *panel, const AssayPlane *plane, const GArray *atol,
              AssayRole role, const char *legend, const char *name)
{
  AssayLayer *line = assay_panel_add (panel, ASSAY_LAYER_LINE, role, legend);
  for (guint k = 0; k < plane->rtol->len; k++)
    {
      double y = g_array_index (atol, double, k);
      double x = g_array_index (plane->rtol, double, k);
      assay_layer_add_bin (line, x, x, y > 0 ? CLAMP (y, LOWEST, HIGHEST) : LOWEST);
    }
  g_autofree char *first = assay_double_to_string (g_array_index (atol, double, 0));
  char **row = g_new0 (char *, 4);
  row[0] = g_strdup (legend);
  row[1] = g_strdup (name ? name : "");
  row[2] = g_strdup (first);
  assay_plot_scene_add_row (scene, row);
}

static void
add_point (AssayPlotScene *scene, AssayPanel *panel, const AssayPlane *plane, AssayRole role,
           AssayMark mark, gboolean filled, double rtol, double atol, const char *name)
{
  if (!(rtol >= 0) || !(atol >= 0))
    return;
  double x = CLAMP (rtol, panel->x.min, panel->x.max), y = CLAMP (atol, LOWEST, HIGHEST);
  AssayLayer *layer = assay_panel_add (panel, ASSAY_LAYER_MARKS, role, NULL);
  AssayPlanePoint at = assay_plane_at (plane, rtol, atol);
  g_autofree char *r = assay_format_number (rtol, 2), *a = assay_format_number (atol, 2);
  g_autofree char *heading = g_strdup_printf ("%s: rtol %s, atol %s", name, r, a);
  g_autofree char *detail = g_strdup_printf ("wrong answers accepted %u of %u\nright ones rejected "
                                             "%u of %u",
                                             at.living, at.wrong, at.refused, at.honest);
  layer->mark = mark;
  assay_layer_add_mark (layer, x, y, filled, name);
  assay_plot_scene_add_datum (scene, 0, x, x, y, heading, detail, -1);
}

/* What a tolerance in this part of the plane does: green where every right answer passes and no wrong one
 * does, vermilion where right ones are refused, purple where wrong ones pass; and, over it in the
 * candidate's blue, the share of its elements that pass. */
static void
add_zones (AssayPlotScene *scene, AssayPanel *panel, const AssayPlane *plane)
{
  int columns = (int) plane->rtol->len, rows = (int) plane->share_atol->len;
  if (columns < 2 || rows < 2 || plane->share->len != plane->rtol->len * plane->share_atol->len)
    return;
  AssayLayer *zones = assay_panel_add (panel, ASSAY_LAYER_TINTS, ASSAY_ROLE_ACCEPTED_GROUND, NULL);
  AssayLayer *shares = assay_panel_add (panel, ASSAY_LAYER_TINTS, ASSAY_ROLE_CANDIDATE, NULL);
  AssayLayer *both[] = {zones, shares};
  for (int i = 0; i < 2; i++)
    {
      both[i]->rows = rows;
      both[i]->columns = columns;
      both[i]->column_first = g_array_index (plane->rtol, double, 0);
      both[i]->column_size = g_array_index (plane->rtol, double, 1) / both[i]->column_first;
      both[i]->row_first = g_array_index (plane->share_atol, double, 0);
      both[i]->row_size = g_array_index (plane->share_atol, double, 1) / both[i]->row_first;
    }
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < columns; c++)
      {
        /* In the middle of the cell, on logarithmic axes. */
        double rtol = g_array_index (plane->rtol, double, c) * sqrt (zones->column_size);
        double atol = g_array_index (plane->share_atol, double, r) * sqrt (zones->row_size);
        AssayPlanePoint at = assay_plane_at (plane, rtol, atol);
        gboolean refused = at.refused || at.reference_refused;
        AssayRole role = refused     ? ASSAY_ROLE_REJECTED_GROUND
                         : at.living ? ASSAY_ROLE_WRONG
                                     : ASSAY_ROLE_ACCEPTED;
        double alpha = refused ? 1 : at.living ? 0.10 + 0.14 * at.living / at.wrong : 0.28;
        assay_layer_add_tint (zones, role, at.wrong + at.honest > 0 ? alpha : 0);
        assay_layer_add_tint (shares, ASSAY_ROLE_CANDIDATE,
                              isnan (at.share) ? 0 : 0.16 * floor (at.share * 10) / 10);
      }
}

AssayPlotScene *
assay_figure_plane_scene (const char *id, const AssayRun *run, const AssayPlane *plane,
                          const AssayTolerance *tolerance)
{
  static const char *const COLUMNS[] = {"kind", "answer", "atol needed at the smallest rtol", NULL};
  AssayPlotScene *scene = assay_plot_scene_new (id, "Tolerance explorer");
  AssayPanel *panel = assay_plot_scene_add_panel (scene, 1.0);
  double least = g_array_index (plane->rtol, double, 0);
  double most = g_array_index (plane->rtol, double, plane->rtol->len - 1);
  assay_axis_set (&panel->x, ASSAY_SCALE_LOG, least, most, "rtol");
  assay_axis_set (&panel->y, ASSAY_SCALE_LOG, LOWEST, HIGHEST, "atol");
  assay_plot_scene_set_columns (scene, COLUMNS);
  add_zones (scene, panel, plane);
  for (guint i = 0; i < plane->frontiers->len; i++)
    {
      const AssayFrontier *frontier = g_ptr_array_index (plane->frontiers, i);
      gboolean right = is_right (frontier->kind);
      add_frontier (scene, panel, plane, frontier->atol,
                    frontier->kind == ASSAY_PROBE_REFERENCE ? ASSAY_ROLE_REFERENCE
                    : right                                 ? ASSAY_ROLE_HONEST
                                                            : ASSAY_ROLE_WRONG,
                    frontier->kind == ASSAY_PROBE_REFERENCE ? "reference"
                    : right                                 ? "right"
                                                            : "wrong",
                    frontier->name);
    }
  if (plane->candidate->len == plane->rtol->len)
    {
      add_frontier (scene, panel, plane, plane->candidate, ASSAY_ROLE_CANDIDATE, "candidate",
                    assay_run_candidate_name (run));
      ((AssayLayer *) g_ptr_array_index (panel->layers, panel->layers->len - 1))->x = 2.6;
    }
  if (tolerance->rule == ASSAY_RULE_ALLCLOSE)
    add_point (scene, panel, plane, ASSAY_ROLE_ACCEPTED, ASSAY_MARK_CIRCLE, TRUE, tolerance->rtol,
               tolerance->atol, "gate");
  add_point (scene, panel, plane, ASSAY_ROLE_ACCEPTED, ASSAY_MARK_SQUARE, FALSE,
             plane->proposed_rtol, plane->proposed_atol, "proposed");
  scene->description =
      g_strdup_printf ("Where each answer begins to pass |y − r| ≤ atol + "
                       "rtol·|r|: above its line it is accepted. Green: all right answers "
                       "pass and no wrong one does; purple: wrong ones pass; "
                       "vermilion: right ones are refused. %s",
                       plane->proposal ? plane->proposal : "");
  return scene;
}
