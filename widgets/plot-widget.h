/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "engine/plot/layout.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_PLOT_WIDGET (assay_plot_widget_get_type ())
G_DECLARE_FINAL_TYPE (AssayPlotWidget, assay_plot_widget, ASSAY, PLOT_WIDGET, GtkWidget)

/* A scene of engine/plot on the screen: crosshair with exact values, drag to zoom, scroll, Shift-drag
 * to pan, double click to fit, arrow keys by datum, Enter to grow, t for the table, c to copy, e to
 * attach as evidence, a menu to save PNG, SVG, PDF and CSV.
 *
 * The plot is drawn once a change, into a picture, on a thread (plot-painter.h); what follows the
 * pointer is a child of its own over it.
 *
 * Signals: "grow": toggle between a quarter and the whole page. "attach": this plot as evidence.
 * "message" (text): something was copied or saved, or could not be. "point-moved" (x, y). Property
 * "grown". */

/* NULL scene: `empty` says what would be here and how to get it. */
void assay_plot_widget_set_scene (AssayPlotWidget *self, AssayPlotScene *scene, const char *empty);
AssayPlotScene *assay_plot_widget_get_scene (AssayPlotWidget *self);
/* Puts the cursor on a datum (engine/plot/layout.h counts them), -1 takes it away. */
void assay_plot_widget_set_cursor (AssayPlotWidget *self, gint64 datum);
gint64 assay_plot_widget_get_cursor (AssayPlotWidget *self);
/* A point of the first panel that the reader moves by dragging and with the arrow keys, instead of
 * zooming and stepping; NaN takes it away. */
void assay_plot_widget_set_point (AssayPlotWidget *self, double x, double y);
gboolean assay_plot_widget_get_point (AssayPlotWidget *self, double *x, double *y);
gboolean assay_plot_widget_is_zoomed (AssayPlotWidget *self);
gboolean assay_plot_widget_shows_table (AssayPlotWidget *self);
/* What is on the screen is the scene at this size, view and colour, not a picture of before. */
gboolean assay_plot_widget_is_painted (AssayPlotWidget *self);
/* Writes on a thread; the ending chooses the format. "message" tells the outcome. */
void assay_plot_widget_save (AssayPlotWidget *self, const char *path);

G_END_DECLS
