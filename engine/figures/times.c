/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/figures/times.h"

#include "engine/perf/statistics.h"

#include <math.h>

#define BINS 40
#define MICRO 1e6

typedef struct
{
  const AssayTimedSide *side;
  AssayRole role;
  AssayMark mark;
  double shift; /* of the round's place, so that both sides can be told apart */
} Drawn;

char *
assay_figure_times_ref (const char *workload)
{
  return g_strconcat ("performance/time/", workload, NULL);
}

static const double *
times_of (const AssayTimedSide *side)
{
  return (const double *) (const void *) side->events->data;
}

static void
add_stroke (AssayPanel *panel, AssayRole role, double width, double x, double low, double high)
{
  AssayLayer *line = assay_panel_add (panel, ASSAY_LAYER_LINE, role, NULL);
  line->x = width;
  assay_layer_add_bin (line, x, x, low);
  assay_layer_add_bin (line, x, x, high);
}

static void
add_round (AssayPlotScene *scene, AssayPanel *panel, AssayLayer *marks, const Drawn *drawn,
           const AssayTiming *timing, gint64 round)
{
  static const double shares[] = {0, 0.25, 0.5, 0.75, 1};
  const double *samples = times_of (drawn->side) + round * timing->samples;
  double at[G_N_ELEMENTS (shares)], x = (double) round + 1 + drawn->shift;
  char **row = g_new0 (char *, 8);
  for (gsize i = 0; i < G_N_ELEMENTS (shares); i++)
    {
      at[i] = MICRO * assay_quantile (samples, (gsize) timing->samples, shares[i]);
      row[2 + i] = assay_double_to_string (at[i]);
    }
  row[0] = g_strdup_printf ("%" G_GINT64_FORMAT, round + 1);
  row[1] = g_strdup (drawn->side->name);
  assay_plot_scene_add_row (scene, row);
  add_stroke (panel, drawn->role, 1, x, at[0], at[4]);
  add_stroke (panel, drawn->role, 4, x, at[1], at[3]);
  assay_layer_add_mark (marks, x, at[2], TRUE, NULL);
  g_autofree char *heading =
      g_strdup_printf ("round %" G_GINT64_FORMAT ", %s", round + 1, drawn->side->name);
  g_autofree char *detail = g_strdup_printf (
      "median %.5g µs\nquartiles %.5g to %.5g\nrange %.5g to %.5g\n%" G_GINT64_FORMAT " samples",
      at[2], at[1], at[3], at[0], at[4], timing->samples);
  assay_plot_scene_add_datum (scene, 0, x, x, at[2], heading, detail, -1);
}

static void
find_range (const AssayTiming *timing, double *low, double *high)
{
  const AssayTimedSide *sides[] = {&timing->candidate, &timing->baseline};
  *low = INFINITY;
  *high = 0;
  for (int s = 0; s < 2; s++)
    for (guint i = 0; i < sides[s]->events->len; i++)
      {
        *low = MIN (*low, MICRO * times_of (sides[s])[i]);
        *high = MAX (*high, MICRO * times_of (sides[s])[i]);
      }
  double room = MAX (0.06 * (*high - *low), 1e-3 * *high);
  *low = MAX (*low - room, 0);
  *high += room;
}

static guint64
add_distribution (AssayPlotScene *scene, AssayPanel *panel, const Drawn *drawn, double low,
                  double high, gboolean filled)
{
  guint counts[BINS] = {0}, most = 0;
  double width = (high - low) / BINS;
  AssayLayer *layer = assay_panel_add (panel, filled ? ASSAY_LAYER_BARS : ASSAY_LAYER_STEPS,
                                       drawn->role, drawn->side->name);
  for (guint i = 0; i < drawn->side->events->len; i++)
    {
      double at = (MICRO * times_of (drawn->side)[i] - low) / width;
      counts[(int) CLAMP (at, 0, BINS - 1)]++;
    }
  for (int i = 0; i < BINS; i++)
    {
      double left = low + i * width;
      most = MAX (most, counts[i]);
      assay_layer_add_bin (layer, left, left + width, counts[i]);
      if (counts[i] == 0)
        continue;
      g_autofree char *heading =
          g_strdup_printf ("%s, %.5g to %.5g µs", drawn->side->name, left, left + width);
      g_autofree char *detail =
          g_strdup_printf ("%u of %u samples", counts[i], drawn->side->events->len);
      assay_plot_scene_add_datum (scene, 1, left, left + width, counts[i], heading, detail, -1);
    }
  return most;
}

AssayPlotScene *
assay_figure_times_scene (const AssayTiming *timing)
{
  static const char *const columns[] = {"round",     "side",  "min us", "q1 us",
                                        "median us", "q3 us", "max us", NULL};
  const Drawn drawn[] = {
      {&timing->baseline, ASSAY_ROLE_REFERENCE, ASSAY_MARK_DIAMOND, -0.16},
      {&timing->candidate, ASSAY_ROLE_CANDIDATE, ASSAY_MARK_CIRCLE, 0.16},
  };
  gint64 count = timing->rounds * timing->samples;
  double low, high;
  guint64 most = 0;
  if (count <= 0 || timing->candidate.events->len != (guint64) count
      || timing->baseline.events->len != (guint64) count)
    return NULL;
  g_autofree char *id = assay_figure_times_ref (timing->workload);
  AssayPlotScene *scene = assay_plot_scene_new (id, "Time by round");
  find_range (timing, &low, &high);
  assay_plot_scene_set_columns (scene, columns);
  AssayPanel *rounds = assay_plot_scene_add_panel (scene, 0.6);
  assay_axis_set (&rounds->x, ASSAY_SCALE_LINEAR, 0.5, (double) timing->rounds + 0.5,
                  "round; line: range, bar: quartiles, mark: median");
  assay_axis_set (&rounds->y, ASSAY_SCALE_LINEAR, low, high, "µs, device events");
  rounds->x.whole = TRUE;
  for (int s = 0; s < 2; s++)
    {
      AssayLayer *marks = assay_panel_add (rounds, ASSAY_LAYER_MARKS, drawn[s].role, NULL);
      marks->mark = drawn[s].mark;
      for (gint64 round = 0; round < timing->rounds; round++)
        add_round (scene, rounds, marks, &drawn[s], timing, round);
    }
  AssayPanel *both = assay_plot_scene_add_panel (scene, 0.4);
  both->own_y = TRUE;
  assay_axis_set (&both->x, ASSAY_SCALE_LINEAR, low, high, "µs");
  for (int s = 1; s >= 0; s--)
    most = MAX (most, add_distribution (scene, both, &drawn[s], low, high, s == 1));
  assay_axis_set (&both->y, ASSAY_SCALE_LINEAR, 0, 1.1 * (double) most, "samples");
  scene->subtitle = g_strdup_printf ("%s, %s", timing->workload, timing->cache);
  scene->description = g_strdup_printf (
      "%s takes %.4g µs, %s %.4g µs (medians of %" G_GINT64_FORMAT
      "); ratio %.4f, 95 %% interval %.4f to %.4f: %s, since %s.",
      timing->candidate.name, MICRO * timing->candidate.median,
      timing->against_itself ? "once more" : timing->baseline.name, MICRO * timing->baseline.median,
      count, timing->ratio, timing->low, timing->high, timing->verdict, timing->reason);
  return scene;
}
