/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/parallel.h"
#include "engine/task/plan.h"

G_BEGIN_DECLS

/* Values of inputs. Every element is a function of (workload seed, input name, element number), made
 * of integer mixing and IEEE basic operations and square roots only (no libm), so that the same
 * workload is the same bytes on every machine and with any number of threads. */

typedef struct
{
  AssayArray *values;  /* logical shape, contiguous: what the reference sees */
  AssayArray *storage; /* what the candidate's memory holds; the same array when contiguous */
  gint64 offset;       /* of the first element in storage, in elements */
  gint64 strides[ASSAY_ARRAY_MAX_DIMS]; /* of storage, in elements */
} AssayInput;

/* One input of a plan; scalars have no dimensions. Errors name workload and input: a file that does
 * not fit the shape or dtype, a custom generator (which the reference's worker must run), no memory. */
AssayInput *assay_generate (const AssayPlan *plan, const AssayPlannedArray *input,
                            GCancellable *cancellable, GError **error);
void assay_input_free (AssayInput *input);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayInput, assay_input_free)

/* The two halves of a draw, for tests and for other users of the same stream: 64 random bits of
 * (key, counter), and the key of a name under a seed. */
guint64 assay_draw_key (guint64 seed, const char *name);
guint64 assay_draw_bits (guint64 key, guint64 counter);

G_END_DECLS
