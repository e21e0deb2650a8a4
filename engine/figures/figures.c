/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/figures/figures.h"

#include "engine/figures/density.h"
#include "engine/figures/histograms.h"
#include "engine/figures/margin.h"
#include "engine/figures/plane.h"
#include "engine/figures/position.h"
#include "engine/figures/times.h"

#include <math.h>

static const char *const NAMES[ASSAY_N_FIGURES] = {"ulp",   "absolute", "relative", "magnitude",
                                                   "input", "position", "margin",   "plane"};

char *
assay_figure_ref (AssayFigure figure, const char *workload, const char *output)
{
  return g_strdup_printf ("numerics/%s/%s/%s", NAMES[figure], workload, output);
}

const char *
assay_run_candidate_name (const AssayRun *run)
{
  return run->candidate && *run->candidate ? run->candidate : "candidate";
}

gboolean
assay_output_is_contradicted (const AssayOutput *output)
{
  return output->cross_check && !output->cross_check->reference_accepted;
}

static AssayPlotScene *
make_scene (AssayFigure figure, const char *id, const AssayRun *run,
            const AssayWorkloadRecord *workload, const AssayOutput *output)
{
  const AssayComparison *comparison = output->comparison;
  const AssayComparison *reference = output->gold ? output->gold->reference : NULL;
  const AssayPlane *plane = assay_run_find_plane (run, workload->name, output->name);
  switch (figure)
    {
    case ASSAY_FIGURE_ULP:
      return assay_figure_ulp_scene (id, comparison, reference, assay_run_candidate_name (run));
    case ASSAY_FIGURE_ABSOLUTE:
    case ASSAY_FIGURE_RELATIVE:
      return assay_figure_error_scene (id, comparison, reference, assay_run_candidate_name (run),
                                       assay_output_is_contradicted (output) ? NULL
                                                                             : output->tolerance,
                                       figure == ASSAY_FIGURE_RELATIVE);
    case ASSAY_FIGURE_MAGNITUDE:
      return assay_figure_magnitude_scene (id, output);
    case ASSAY_FIGURE_INPUT:
      return assay_figure_input_scene (id, output);
    case ASSAY_FIGURE_POSITION:
      return assay_figure_position_scene (
          id, output, workload->launches->len ? g_ptr_array_index (workload->launches, 0) : NULL);
    case ASSAY_FIGURE_PLANE:
      return plane ? assay_figure_plane_scene (id, run, plane, output->tolerance) : NULL;
    case ASSAY_FIGURE_MARGIN:
    default:
      return assay_figure_margin_scene (id, run, workload, output);
    }
}

/* What a contradicted reference is worth stands on every picture that takes it for the gold. */
static void
say_contradicted (AssayPlotScene *scene)
{
  g_autofree char *subtitle = scene->subtitle, *description = scene->description;
  /* Beside a ramp there is no room for more. */
  scene->subtitle = subtitle && !scene->ramp
                        ? g_strdup_printf ("%s; reference contradicted", subtitle)
                        : g_strdup ("reference contradicted");
  scene->description =
      g_strdup_printf ("%s The gold here is the reference in higher precision, and the cross-check "
                       "contradicts the reference.",
                       description ? description : "");
}

AssayPlotScene *
assay_figure_new (AssayFigure figure, const AssayRun *run, const AssayWorkloadRecord *workload,
                  const AssayOutput *output)
{
  if (!output->comparison || !output->tolerance)
    return NULL;
  g_autofree char *id = assay_figure_ref (figure, workload->name, output->name);
  AssayPlotScene *scene = make_scene (figure, id, run, workload, output);
  if (scene && assay_output_is_contradicted (output))
    say_contradicted (scene);
  return scene;
}

const AssayWorkloadRecord *
assay_run_find_workload (const AssayRun *run, const char *name)
{
  for (guint i = 0; i < run->workloads->len; i++)
    {
      const AssayWorkloadRecord *workload = g_ptr_array_index (run->workloads, i);
      if (g_strcmp0 (workload->name, name) == 0)
        return workload;
    }
  return NULL;
}

const AssayOutput *
assay_workload_find_output (const AssayWorkloadRecord *workload, const char *name)
{
  for (guint i = 0; workload && i < workload->outputs->len; i++)
    {
      const AssayOutput *output = g_ptr_array_index (workload->outputs, i);
      if (g_strcmp0 (output->name, name) == 0)
        return output;
    }
  return NULL;
}

static AssayPlotScene *
times_from_ref (const AssayRun *run, const char *ref)
{
  for (guint i = 0; run->benchmark && i < run->benchmark->timings->len; i++)
    {
      const AssayTiming *timing = g_ptr_array_index (run->benchmark->timings, i);
      g_autofree char *own = assay_figure_times_ref (timing->workload);
      if (g_str_equal (own, ref))
        return assay_figure_times_scene (timing);
    }
  return NULL;
}

AssayPlotScene *
assay_figure_from_ref (const AssayRun *run, const char *ref)
{
  if (g_str_has_prefix (ref, "performance/"))
    return times_from_ref (run, ref);
  g_auto (GStrv) parts = g_strsplit (ref, "/", 4);
  if (g_strv_length (parts) != 4 || !g_str_equal (parts[0], "numerics"))
    return NULL;
  const AssayWorkloadRecord *workload = assay_run_find_workload (run, parts[2]);
  const AssayOutput *output = assay_workload_find_output (workload, parts[3]);
  for (int figure = 0; output && figure < ASSAY_N_FIGURES; figure++)
    if (g_str_equal (parts[1], NAMES[figure]))
      return assay_figure_new (figure, run, workload, output);
  return NULL;
}

char *
assay_format_index (const GArray *shape, gint64 index)
{
  GString *out = g_string_new ("]");
  if (index < 0)
    {
      g_string_free (out, TRUE);
      return g_strdup ("–");
    }
  for (gint64 d = (gint64) shape->len - 1; d >= 0; d--)
    {
      gint64 size = MAX (1, g_array_index (shape, gint64, d));
      g_autofree char *part = g_strdup_printf (d ? ", %" G_GINT64_FORMAT : "%" G_GINT64_FORMAT,
                                               d ? index % size : index);
      g_string_prepend (out, part);
      index /= size;
    }
  g_string_prepend_c (out, '[');
  return g_string_free (out, FALSE);
}
