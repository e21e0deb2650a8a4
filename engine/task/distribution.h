/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/task/task.h"

G_BEGIN_DECLS

/* Random values as doubles, before they are rounded to a dtype. Inside this room only. Integer mixing,
 * IEEE basic operations and square roots: the same bits everywhere. */

/* TRUE for distributions whose elements depend on their row along the last axis. */
gboolean assay_distribution_is_by_row (int distribution);
/* Elements `first` to `first + n - 1`. */
void assay_distribution_fill (const AssayGenerator *generator, AssayDtype dtype, guint64 key,
                              gsize first, gsize n, double *values);
/* The whole row `row` of `n` elements. */
void assay_distribution_fill_row (const AssayGenerator *generator, guint64 key, gsize row, gsize n,
                                  double *values);

G_END_DECLS
