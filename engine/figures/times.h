/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/plot/scene.h"
#include "engine/record/timing.h"

G_BEGIN_DECLS

/* (transfer full): both sides' times, by round (range, quartiles, median) and as distributions; NULL when there
 * are none. Microseconds. */
AssayPlotScene *assay_figure_times_scene (const AssayTiming *timing);
/* (transfer full): "performance/time/<workload>", which assay_figure_from_ref () knows too. */
char *assay_figure_times_ref (const char *workload);

G_END_DECLS
