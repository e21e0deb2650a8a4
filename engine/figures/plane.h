/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/plot/scene.h"
#include "engine/record/run.h"

G_BEGIN_DECLS

/* rtol across, atol up: the share of the candidate's elements that pass as shading, where each
 * planted answer begins to pass as a line, the gate, and the proposal. */
AssayPlotScene *assay_figure_plane_scene (const char *id, const AssayRun *run,
                                          const AssayPlane *plane, const AssayTolerance *tolerance);

/* NULL where the audit has none for this output. Borrowed. */
const AssayPlane *assay_run_find_plane (const AssayRun *run, const char *workload,
                                        const char *output);

/* What the plane says of one tolerance, for the point that is dragged. */
typedef struct
{
  double share;          /* of the candidate's elements that pass; NaN without data */
  guint wrong, living;   /* planted wrong answers, and how many would be accepted */
  guint honest, refused; /* right ones, and how many would be rejected */
  gboolean
      reference_refused; /* the reference's own error would be; it is not among the right ones */
  const char *living_names[4]; /* the first few, borrowed */
} AssayPlanePoint;

AssayPlanePoint assay_plane_at (const AssayPlane *plane, double rtol, double atol);

G_END_DECLS
