/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "widgets/plot-widget.h"

#include "widgets/data-table.h"
#include "widgets/plot-cursor.h"

G_BEGIN_DECLS

/* plot-widget.c draws and owns; plot-gestures.c turns pointer and keys into view and cursor. */
struct _AssayPlotWidget
{
  GtkWidget parent;
  AssayPlotScene *scene;
  AssayPlotLayout *layout;
  GdkTexture *picture; /* of the layout, or of the one before while it is painted */
  gboolean painting, painted;
  GtkWidget *empty_label;
  GtkWidget *buttons;
  GtkWidget *grow;
  AssayPlotCursor *cursor_layer;
  AssayDataTable *table; /* NULL until asked for */
  gint64 cursor;         /* by keyboard or table; -1 none */
  gint64 hover;          /* by pointer; -1 none */
  gboolean zoomed;
  AssayPlotView view;
  gboolean grown;
  gboolean has_point;
  double point_x, point_y; /* data of the first panel */
  double pointer_x, pointer_y;
  /* of a drag */
  AssayPlotView drag_view;
  double drag_x, drag_y;
  int drag_panel;
  gboolean drag_pans;
};

void assay_plot_gestures_init (AssayPlotWidget *self);
void assay_plot_gestures_class_init (GtkWidgetClass *widget_class);

void assay_plot_widget_set_view (AssayPlotWidget *self, const AssayPlotView *view);
void assay_plot_widget_set_hover (AssayPlotWidget *self, gint64 datum);
/* As the reader does: tells. */
void assay_plot_widget_move_point (AssayPlotWidget *self, double x, double y);
void assay_plot_widget_emit_grow (AssayPlotWidget *self);
void assay_plot_widget_tell (AssayPlotWidget *self, const char *text);

G_END_DECLS
