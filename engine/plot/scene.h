/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/plot/axis.h"
#include "engine/plot/style.h"

G_BEGIN_DECLS

/* What a plot shows, without size, colours or a screen: panels side by side on a common height, each
 * with axes and layers. Built once by engine/figures, then only read; reference counted. */

typedef struct _AssayPlotScene AssayPlotScene;
typedef struct _AssayPanel AssayPanel;

typedef enum
{
  ASSAY_LAYER_REGION, /* filled background between two x values, a word in its upper corner */
  ASSAY_LAYER_BARS,   /* x0, x1, y: filled from the axis' floor */
  ASSAY_LAYER_STEPS,  /* the same as an outline */
  ASSAY_LAYER_LINE,   /* x, y polyline */
  ASSAY_LAYER_RULE,   /* a vertical line at one x; off the range: a tag at that edge */
  ASSAY_LAYER_MARKS,  /* x, y with shape, fill and label */
  ASSAY_LAYER_SPANS,  /* horizontal thick strokes x0 … x1 at y */
  ASSAY_LAYER_HEAT,   /* cells of equal size over the panel's axes */
  ASSAY_LAYER_TINTS, /* the same cells, each in the colour of the role `filled` names, y as alpha */
} AssayLayerKind;

typedef enum
{
  ASSAY_MARK_CIRCLE,
  ASSAY_MARK_DIAMOND,
  ASSAY_MARK_SQUARE,
  ASSAY_MARK_RING, /* a ring around something already drawn */
} AssayMark;

typedef struct
{
  AssayLayerKind kind;
  AssayRole role;
  char *label;         /* legend text, or the words of a RULE or REGION */
  GArray *x0, *x1, *y; /* double */
  GPtrArray *names;    /* char * per mark, may hold NULL; BARS: the number above each bar */
  GArray *filled;      /* gboolean per mark */
  AssayMark mark;
  double x; /* RULE; REGION: x … x_end; LINE: its width, 0 for the usual */
  double x_end;
  /* HEAT */
  int rows, columns;
  /* Data units a cell, and where the first begins; on a logarithmic axis the factor from one edge to the
   * next, and the first edge (0: 0, or 1). */
  double row_size, column_size, row_first, column_first;
  double low, high; /* the ramp's ends */
  gboolean counts;  /* HEAT: values are counts, coloured by their logarithm; none is not painted */
} AssayLayer;

struct _AssayPanel
{
  double weight; /* share of the width */
  AssayAxis x, y;
  gboolean own_y;    /* FALSE: the first panel's y axis, not drawn again */
  GPtrArray *layers; /* AssayLayer * */
};

/* One thing the cursor can stand on. x0 < x1: a bin; equal: a point at (x0, y). */
typedef struct
{
  guint panel;
  double x0, x1, y;
  char *heading;
  char *detail;   /* lines */
  gint64 payload; /* element index, probe number; -1 none */
} AssayDatum;

struct _AssayPlotScene
{
  gatomicrefcount references;
  char *id; /* "numerics/ulp/small/y": what evidence refers to */
  char *title, *subtitle;
  char *description; /* for screen readers and captions: one or two sentences with the numbers */
  GPtrArray *panels; /* AssayPanel * */
  GArray *data;      /* AssayDatum, in cursor order */
  GStrv columns;     /* table heads */
  GPtrArray *rows;   /* GStrv: plain digits, decimal point */
  gboolean ramp;     /* a colour ramp with its ends belongs in the title row */
};

AssayPlotScene *assay_plot_scene_new (const char *id, const char *title);
AssayPlotScene *assay_plot_scene_ref (AssayPlotScene *scene);
void assay_plot_scene_unref (AssayPlotScene *scene);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayPlotScene, assay_plot_scene_unref)

/* Panels and layers belong to the scene. */
AssayPanel *assay_plot_scene_add_panel (AssayPlotScene *scene, double weight);
void assay_axis_set (AssayAxis *axis, AssayScale scale, double min, double max, const char *title);
void assay_axis_set_categories (AssayAxis *axis, const char *const *labels);
AssayLayer *assay_panel_add (AssayPanel *panel, AssayLayerKind kind, AssayRole role,
                             const char *label);
/* Edge `i` of a HEAT or TINTS layer's cells along one of its axes. */
/* The cell that holds `value`, not checked against the layer's extent. */
int assay_layer_cell (const AssayAxis *axis, double first, double size, double value);
double assay_layer_edge (const AssayAxis *axis, double first, double size, double i);
void assay_layer_add_tint (AssayLayer *layer, AssayRole role, double alpha);
void assay_layer_add_bin (AssayLayer *layer, double x0, double x1, double y);
void assay_layer_add_mark (AssayLayer *layer, double x, double y, gboolean filled,
                           const char *name);
/* `heading` and `detail` are copied. */
void assay_plot_scene_add_datum (AssayPlotScene *scene, guint panel, double x0, double x1, double y,
                                 const char *heading, const char *detail, gint64 payload);
void assay_plot_scene_set_columns (AssayPlotScene *scene, const char *const *columns);
/* (transfer full) for `cells`. */
void assay_plot_scene_add_row (AssayPlotScene *scene, GStrv cells);
/* (transfer full): RFC 4180 text of the table. */
char *assay_plot_scene_csv (const AssayPlotScene *scene);

G_END_DECLS
