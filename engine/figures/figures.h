/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/plot/scene.h"
#include "engine/record/run.h"

G_BEGIN_DECLS

/* From a run's record to a plot's scene, the one place: the screen and the report show the same. */

typedef enum
{
  ASSAY_FIGURE_ULP, /* signed ULP distance to RN(gold), logarithmic bins, special values apart */
  ASSAY_FIGURE_ABSOLUTE,  /* |candidate - gold| against the reference's own error */
  ASSAY_FIGURE_RELATIVE,  /* the same divided by |gold| */
  ASSAY_FIGURE_MAGNITUDE, /* error over the size of the result */
  ASSAY_FIGURE_INPUT,     /* bits of error over the value of an input */
  ASSAY_FIGURE_POSITION,  /* rms ULP by place in the output, row means beside it */
  ASSAY_FIGURE_MARGIN,    /* every planted answer against the gate */
  ASSAY_FIGURE_PLANE,     /* the plane of tolerances: who passes where */
  ASSAY_N_FIGURES,
} AssayFigure;

/* (transfer full): NULL when the record holds no such data (nothing compared, no audit yet). */
AssayPlotScene *assay_figure_new (AssayFigure figure, const AssayRun *run,
                                  const AssayWorkloadRecord *workload, const AssayOutput *output);

/* What evidence refers to: "numerics/ulp/<workload>/<output>". (transfer full) */
char *assay_figure_ref (AssayFigure figure, const char *workload, const char *output);
/* (transfer full) (nullable): the scene an evidence reference names, from this run. */
AssayPlotScene *assay_figure_from_ref (const AssayRun *run, const char *ref);

/* A cross-check, written from the specification, says that the reference calculates something else: what
 * is called gold is then that, more precisely. */
gboolean assay_output_is_contradicted (const AssayOutput *output);

/* "[17, 402]" for a flat index of an array of this shape. (transfer full) */
char *assay_format_index (const GArray *shape, gint64 index);

/* The candidate's name, "candidate" while a run has not said it. Borrowed. */
const char *assay_run_candidate_name (const AssayRun *run);
const AssayWorkloadRecord *assay_run_find_workload (const AssayRun *run, const char *name);
const AssayOutput *assay_workload_find_output (const AssayWorkloadRecord *workload,
                                               const char *name);

G_END_DECLS
