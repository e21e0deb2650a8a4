/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/run/pipeline.h"

G_BEGIN_DECLS

/* The same rule on other inputs: the smallest workload with its floating inputs drawn from each of a few
 * distributions, and the planted answers judged again. A tolerance has no meaning without the size of the
 * output; this shows how much of one. Fills audit->sensitivity. A distribution for which the reference has
 * no stable gold is left out. */
void assay_sensitivity_run (AssayPipeline *pipeline, AssayAudit *audit);

G_END_DECLS
