/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/run.h"
#include "engine/base/array.h"

G_BEGIN_DECLS

/* (transfer full): what `tolerance` leaves open on an output with these reference values. Shares are
 * taken over finite elements that are not zero: where the right answer is zero, zero is no excuse.
 * They stay NaN for rules without an absolute term of their own (ulp, exact, global_norm). */
AssayGateFacts *assay_gate_facts (const AssayArray *reference, const AssayTolerance *tolerance,
                                  const char *workload, const char *output);

G_END_DECLS
