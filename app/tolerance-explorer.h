/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "app/run-model.h"
#include "engine/plot/scene.h"
#include "widgets/plot-widget.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_TOLERANCE_EXPLORER (assay_tolerance_explorer_get_type ())
G_DECLARE_FINAL_TYPE (AssayToleranceExplorer, assay_tolerance_explorer, ASSAY, TOLERANCE_EXPLORER,
                      GtkWidget)

/* The plane of tolerances with a point to drag, and what the gate would do there: share that passes,
 * wrong answers that live, right ones that are rejected. Shows the audit in words where an output has
 * no plane. Signals as of the plot: "grow", "attach", "message". */

/* `scene` NULL: no plane; `why` says so. */
void assay_tolerance_explorer_show (AssayToleranceExplorer *self, AssayRunModel *run,
                                    const char *workload, const char *output, AssayPlotScene *scene,
                                    const char *why);
AssayPlotWidget *assay_tolerance_explorer_get_plot (AssayToleranceExplorer *self);

G_END_DECLS
