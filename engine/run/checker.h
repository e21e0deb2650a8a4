/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/numerics/probes.h"
#include "engine/run/pipeline.h"

G_BEGIN_DECLS

/* The corruption matrix: planted answers through the task's own checker, a Python function, in a sandboxed
 * process of its own. The smallest workload's outputs are used, one of them spoilt at a time. */
typedef struct _AssayCorruptions AssayCorruptions;

/* (transfer full) (nullable): NULL where the task has no checker. */
AssayCorruptions *assay_corruptions_new (AssayPipeline *p);
void assay_corruptions_free (AssayCorruptions *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayCorruptions, assay_corruptions_free)

/* Whether answers for this case are wanted; those that follow are of its output `index`. */
gboolean assay_corruptions_begin (AssayCorruptions *self, const AssayCase *c, guint index);
/* An AssayProbesInput's `seen`. */
void assay_corruptions_add (AssayProbeKind kind, const char *name, const char *family,
                            const AssayArray *answer, gpointer self);
/* Fills audit->checker, or says in audit->checker_reason why nothing could be judged. */
void assay_corruptions_judge (AssayCorruptions *self, AssayAudit *audit);

G_END_DECLS
