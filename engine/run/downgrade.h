/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/numerics/probes.h"
#include "engine/run/pipeline.h"

G_BEGIN_DECLS

/* What the reference gives when its inputs are rounded to a lower precision first: answers that a
 * sound tolerance must refuse. */
typedef struct
{
  char *name;         /* "inputs rounded to bfloat16" */
  GPtrArray *outputs; /* AssayArray *, by output */
} AssayDowngrade;

/* (transfer full) (element-type AssayDowngrade): one for each lower type that changes an input;
 * empty when the task's inputs are not floating, when the workload is too large to run the reference
 * again for this, or when the reference does not run. */
GPtrArray *assay_downgrades_run (AssayPipeline *pipeline, AssayCase *c);

/* What errors of a sum of products are held against: the reference on the magnitudes of its inputs, in
 * float64. (transfer full) (element-type AssayArray): by output; NULL when the task does not ask for
 * it, or the reference does not run. */
GPtrArray *assay_condition_scales (AssayPipeline *pipeline, AssayCase *c);

/* In stage-reference.c: one rung with other input values (AssayMemory *, by input; NULL for scalars),
 * its outputs rounded to the task's types, or floating ones to float64 when `wide`; NULL when it
 * fails. */
GPtrArray *assay_reference_run_with (AssayPipeline *pipeline, AssayCase *c, AssayReal real,
                                     GPtrArray *values, gboolean wide);

G_END_DECLS
