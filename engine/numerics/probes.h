/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/numerics/compare.h"
#include "engine/record/run.h"

G_BEGIN_DECLS

/* The tolerance audit: planted answers through the task's own rule. Wrong ones must be refused
 * (zeros, a constant, a copy of an input, lower precision, mutants), right ones accepted (the gold
 * rounded correctly, rounded the other way, and jittered by one unit in the last place). */

typedef struct
{
  const char *name;
  const AssayArray *array;
} AssayProbeInput;

/* An answer of the caller's own making: what the reference gives for inputs of lower precision, say. */
typedef struct
{
  AssayProbeKind kind;
  const char *name, *family;
  const AssayArray *array; /* dtype and shape of the reference */
} AssayProbeAnswer;

typedef struct
{
  const char *workload, *output;
  const AssayArray *reference;
  const double *gold, *gold_low; /* or NULL, as in AssayCompareInput */
  const AssayTolerance *tolerance;
  const AssayProbeInput
      *inputs; /* arrays that might be copied; those of another shape are left out */
  guint n_inputs;
  const AssayProbeAnswer *answers;
  guint n_answers;
  const AssayArray *stale;     /* what another workload's run left behind: same shape, or NULL */
  const char *compute;         /* the promised dtype, or NULL: downgrades are what lies below it */
  gboolean tf32_allowed;       /* the specification lets float32 be computed in tfloat32 */
  const AssayArray *candidate; /* its frontier and shares join the plane; or NULL */
  guint threads;
  /* Sees every planted answer, right ones as well; may be NULL. */
  void (*seen) (AssayProbeKind kind, const char *name, const char *family, const AssayArray *answer,
                gpointer user_data);
  gpointer seen_data;
} AssayProbesInput;

/* The types that are a downgrade of `dtype` for this task: fewer bits of precision than it has and
 * than the promised type of computation, and not tfloat32 where that is allowed. Returns how many;
 * `types` has room for ASSAY_N_DTYPES. */
guint assay_probes_lower_types (AssayDtype dtype, const char *compute, gboolean tf32_allowed,
                                AssayDtype *types);

/* Appends AssayProbe records of this output to audit->probes, and its plane to audit->planes. A probe that cannot differ from the
 * right answer (all rows alike, an output that is zero) is left out: it would prove nothing. */
gboolean assay_probes_run (const AssayProbesInput *input, AssayAudit *audit,
                           GCancellable *cancellable, GError **error);

/* After all outputs: sets audit->grade and audit->summary from the probes.
 * too_loose: a wrong answer was accepted by every workload that judged it; too_tight: a right one was
 * refused by one of them; sound; unknown without probes. Loose wins over tight; the sentence names the
 * witnesses. */
void assay_audit_conclude (AssayAudit *audit);

AssayAudit *assay_audit_new (void);
void assay_audit_free (AssayAudit *audit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayAudit, assay_audit_free)

G_END_DECLS
