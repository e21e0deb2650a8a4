/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/plot/scene.h"
#include "engine/record/run.h"

G_BEGIN_DECLS

/* `reference`: the task-precision reference's own comparison against gold, or NULL. */
AssayPlotScene *assay_figure_ulp_scene (const char *id, const AssayComparison *comparison,
                                        const AssayComparison *reference, const char *candidate);
/* `tolerance` NULL: no line for it. */
AssayPlotScene *assay_figure_error_scene (const char *id, const AssayComparison *comparison,
                                          const AssayComparison *reference, const char *candidate,
                                          const AssayTolerance *tolerance, gboolean relative);

G_END_DECLS
