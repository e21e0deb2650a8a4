/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/numerics/compare.h"
#include "engine/record/run.h"

G_BEGIN_DECLS

/* How many elements have which error at which size: what plots of 10^8 elements are drawn from. One
 * pass, on every processor; counts do not depend on the number of threads. */

/* (transfer full) (nullable): |c - g| over |g|, both in powers of two. NULL without a finite element,
 * for integers, and when cancelled. */
AssayDensity *assay_density_by_magnitude (const AssayCompareInput *input,
                                          GCancellable *cancellable);
/* (transfer full) (nullable): bits of error, log2 (1 + |c - g| / ulp (g)), over the value of `values`, which
 * has as many components; for functions of one argument, element by element. */
AssayDensity *assay_density_by_input (const AssayCompareInput *input, const AssayArray *values,
                                      const char *name, GCancellable *cancellable);

G_END_DECLS
