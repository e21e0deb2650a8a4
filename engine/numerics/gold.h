/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/array.h"

G_BEGIN_DECLS

/* From what the rungs of a reference wrote to gold values and to the task's own reference.
 *
 * `real` says what the memory holds: 1 float, 2 double, 3 __float128 (as ASSAY_REAL), 0 int64_t. */

/* As unevaluated pairs: high is the value rounded to double, low what is left of it, rounded again.
 * `low` may be NULL where the precision of a double is enough (see compare.h). */
void assay_gold_split (int real, const void *values, gsize n, double *high, double *low);

/* An array of `dtype`, every component rounded once from the rung's own precision. */
AssayArray *assay_gold_round (int real, const void *values, AssayDtype dtype, const gint64 *shape,
                              guint ndim, GError **error);

/* How far two rungs stand apart: the largest |a - b| in ulp of the output's dtype; infinite where
 * one of them is not a number and the other is. Pairs as above; the lows may be NULL. */
double assay_gold_rung_difference (AssayDtype dtype, const double *a_high, const double *a_low,
                                   const double *b_high, const double *b_low, gsize n);

/* Rungs agree when they differ by less than this, in ulp of the output. */
#define ASSAY_GOLD_STABLE_ULP 0x1p-10

G_END_DECLS
