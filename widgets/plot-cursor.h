/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "engine/plot/layout.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_PLOT_CURSOR (assay_plot_cursor_get_type ())
G_DECLARE_FINAL_TYPE (AssayPlotCursor, assay_plot_cursor, ASSAY, PLOT_CURSOR, GtkWidget)

/* What lies over a plot: the datum under the cursor with its readout, and the rubber band of a zoom.
 * Lets events through. */

/* `box`: where the datum stands; `frame`: of its panel; NULL heading: nothing is shown. */
void assay_plot_cursor_show (AssayPlotCursor *self, const AssayPlotStyle *style,
                             const AssayRect *frame, const AssayRect *box, const char *heading,
                             const char *detail);
void assay_plot_cursor_hide (AssayPlotCursor *self);
/* A ring that the reader moves, with its coordinates as lines across `frame`; NULL box: none. */
void assay_plot_cursor_set_point (AssayPlotCursor *self, const AssayPlotStyle *style,
                                  const AssayRect *frame, const AssayRect *box);
/* NULL takes the band away. */
void assay_plot_cursor_set_band (AssayPlotCursor *self, const AssayRect *band);

G_END_DECLS
