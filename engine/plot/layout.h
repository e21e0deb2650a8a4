/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/plot/scene.h"

#include <cairo.h>

G_BEGIN_DECLS

/* A scene at a size: frames, ticks, legend. Pure; drawing and the cursor both use it. */

/* The visible part of one panel's axes, in data units; a NULL view shows everything. */
typedef struct
{
  guint panel;
  double x_min, x_max, y_min, y_max;
} AssayPlotView;

typedef struct
{
  double x, y, width, height;
} AssayRect;

typedef struct
{
  AssayRect frame;
  AssayAxis x, y; /* limited to the view; titles and categories borrowed from the scene */
  GArray *x_ticks, *y_ticks; /* AssayTick */
} AssayPanelLayout;

typedef struct
{
  const AssayLayer *layer;
  double x, y, width; /* left end, centre line */
  gboolean shown;
} AssayLegendItem;

/* Does not change once made: threads may share it. */
typedef struct
{
  gatomicrefcount references;
  AssayPlotScene *scene;
  AssayPlotStyle style;
  double width, height;
  GArray *panels; /* AssayPanelLayout */
  GArray *legend; /* AssayLegendItem */
} AssayPlotLayout;

AssayPlotLayout *assay_plot_layout_new (AssayPlotScene *scene, const AssayPlotStyle *style,
                                        double width, double height, const AssayPlotView *view);
AssayPlotLayout *assay_plot_layout_ref (AssayPlotLayout *layout);
void assay_plot_layout_unref (AssayPlotLayout *layout);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayPlotLayout, assay_plot_layout_unref)

void assay_plot_layout_draw (const AssayPlotLayout *layout, cairo_t *cr);

/* Cursor positions: the scene's data, then the cells of a heat layer row by row. */
guint assay_plot_layout_n_data (const AssayPlotLayout *layout);
/* The datum at (x, y), or -1. */
gint64 assay_plot_layout_hit (const AssayPlotLayout *layout, double x, double y);
/* Where datum `i` stands: its box on screen (a point has no size). `heading` and `detail` are
 * (transfer full). FALSE when it is outside the view. */
gboolean assay_plot_layout_datum (const AssayPlotLayout *layout, guint i, AssayRect *box,
                                  char **heading, char **detail, gint64 *payload);
/* The panel under (x, y) and the data values there; -1 outside all frames. */
int assay_plot_layout_locate (const AssayPlotLayout *layout, double x, double y, double *value_x,
                              double *value_y);

/* Screen position of a value on a panel. */
double assay_panel_layout_x (const AssayPanelLayout *panel, double value);
double assay_panel_layout_y (const AssayPanelLayout *panel, double value);

G_END_DECLS
