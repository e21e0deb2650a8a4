/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/plot/scene.h"
#include "engine/record/run.h"

G_BEGIN_DECLS

/* Every planted answer, the reference and the candidate on one axis: the factor on the tolerance from
 * which the rule would accept it. The gate stands at 1; what is accepted is filled. */
AssayPlotScene *assay_figure_margin_scene (const char *id, const AssayRun *run,
                                           const AssayWorkloadRecord *workload,
                                           const AssayOutput *output);

G_END_DECLS
