/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/run/pipeline.h"

G_BEGIN_DECLS

/* The task's second reference against its first, and against the candidate, by the task's own rule: a
 * precise reference of the wrong formula is wrong all the same. Arrays of one dtype and shape.
 * (transfer full) */
AssayCrossCheck *assay_cross_check_judge (AssayPipeline *pipeline, const AssayArray *cross_check,
                                          const AssayArray *reference, const AssayArray *candidate,
                                          const AssayTolerance *tolerance);

G_END_DECLS
