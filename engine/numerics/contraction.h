/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/array.h"
#include "engine/record/run.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* Sums of products as einsum writes them, "mk,kn->mn", summed in ways that the reference does not know:
 * right answers of other kernels and other hardware, and wrong ones of narrower accumulators and
 * skipped terms. */

typedef struct _AssayContraction AssayContraction;

/* Two operands and a result, each of one to eight letters; every letter of the result stands in an
 * operand. ASSAY_ERROR_INVALID says what is expected. */
AssayContraction *assay_contraction_new (const char *text, GError **error);
void assay_contraction_free (AssayContraction *contraction);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayContraction, assay_contraction_free)

/* Whether arrays of these shapes fit the letters; each letter has one extent. */
gboolean assay_contraction_fits (AssayContraction *contraction, const AssayArray *a,
                                 const AssayArray *b, const AssayArray *result);
/* Products in the whole result; what one way of summing costs. */
gsize assay_contraction_products (const AssayContraction *contraction);

/* One way of summing. The models of tensor cores follow the bits kept and the products added at once that
 * Fasi, Higham, Mikaitis and Pranesh (2021) and Khattak and Mikaitis (arXiv 2512.07004) found: addends are
 * cut to so many fractional bits below the largest, added exactly, and the sum is cut to float32. They
 * have not been held against hardware here, and their names say so. */
typedef struct
{
  int kind; /* AssayProbeKind */
  const char *name;
  const char *family;
  int products;  /* added at once; 0: IEEE additions */
  int kept;      /* fractional bits */
  int precision; /* of the accumulator, in bits; 24 for float32 */
  int order;     /* 0 one by one, 1 tree, 2 eight parts */
  int skipped;   /* of the last products */
  int repeated;  /* of the first products, added twice */
} AssaySummation;

extern const AssaySummation ASSAY_SUMMATIONS[];
extern const gsize ASSAY_N_SUMMATIONS;

/* Whether this way is one that the task's promises make right or wrong: accumulators narrower than
 * `accumulate` (a dtype, or unknown) are wrong, models of tensor cores are right for operands of at most
 * eleven bits and a promise of float32. */
gboolean assay_summation_applies (const AssaySummation *summation, AssayDtype a, AssayDtype b,
                                  AssayDtype accumulate);

/* (transfer full) (nullable): the result summed this way, rounded once to `dtype`; NULL when cancelled. */
AssayArray *assay_contraction_run (AssayContraction *contraction, const AssaySummation *summation,
                                   const AssayArray *a, const AssayArray *b, const AssayArray *like,
                                   guint threads, GCancellable *cancellable);

G_END_DECLS
