/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/run/pipeline.h"

G_BEGIN_DECLS

/* The candidate on what the task allows and its checks do not list: workloads for the benchmark alone,
 * every free extent one less, every free extent one, and normally distributed inputs of other
 * magnitude. Fills run->off_list. Only for a candidate that is right on everything listed: another one
 * needs no further witness.
 *
 * A variation is left out where a constraint of the task forbids it, where it is large, where the
 * reference has no stable gold there, and when the time for all of them is spent. */
void assay_off_list_run (AssayPipeline *pipeline);

G_END_DECLS
