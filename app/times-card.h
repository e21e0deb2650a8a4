/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "engine/record/timing.h"
#include "widgets/plot-widget.h"

G_BEGIN_DECLS

/* What was timed: a row a workload with both medians, the ratio with its interval and the verdict; the workload whose
 * row was activated is plotted. */
void assay_times_fill (GtkGrid *grid, AssayPlotWidget *plot, const AssayTimingSummary *benchmark);
/* (transfer full): one line over all workloads. */
char *assay_times_describe (const AssayTimingSummary *benchmark);

G_END_DECLS
