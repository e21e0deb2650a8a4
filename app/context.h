/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "app/draft.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_CONTEXT (assay_context_get_type ())
G_DECLARE_FINAL_TYPE (AssayContext, assay_context, ASSAY, CONTEXT, GObject)

/* What a window looks at: one task, one of its candidates, that candidate's latest run. Pages follow
 * these signals and know nothing of one another.
 *
 * "task-changed": another task, or it has been read. "candidate-changed". "run-changed"
 * (AssayRunChange): another run (all bits), or the run has grown. "draft-changed": another review, or
 * a step in it. "draft-saved". */
AssayContext *assay_context_new (void);
void assay_context_set_task (AssayContext *self, AssayTaskItem *task);
AssayTaskItem *assay_context_get_task_item (AssayContext *self);
/* NULL until there is one that could be read. */
const AssayTask *assay_context_get_task (AssayContext *self);
void assay_context_set_candidate (AssayContext *self, const char *candidate);
const char *assay_context_get_candidate (AssayContext *self);
AssayRunModel *assay_context_get_run (AssayContext *self);
void assay_context_set_draft (AssayContext *self, AssayDraft *draft);
/* NULL until it has been read. */
AssayDraft *assay_context_get_draft (AssayContext *self);
/* (transfer full): copies of the run's findings with the reviewer's judgements applied. */
GPtrArray *assay_context_get_findings (AssayContext *self);

G_END_DECLS
