/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "app/task-item.h"
#include "engine/review/editor.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_DRAFT (assay_draft_get_type ())
G_DECLARE_FINAL_TYPE (AssayDraft, assay_draft, ASSAY, DRAFT, GObject)

/* The review of one candidate, kept in <workspace>/reviews/<id>/review.json. Every change is written
 * a few seconds later, on a thread, atomic and durable; a failed save is retried and told, and the
 * text stays.
 *
 * Signals: "changed": the review or its missing things. "saved": the state of saving. */

/* Finds the candidate's review in the workspace, or begins one. Nothing is written before the first
 * change. `rubric` must outlive the draft. */
void assay_draft_open_async (AssayTaskItem *task, const char *candidate, const char *workspace,
                             const AssayRubric *rubric, GCancellable *cancellable,
                             GAsyncReadyCallback callback, gpointer user_data);
AssayDraft *assay_draft_open_finish (GAsyncResult *result, GError **error);

AssayReviewEditor *assay_draft_get_editor (AssayDraft *self);
const AssayReview *assay_draft_get_review (AssayDraft *self);
const AssayRubric *assay_draft_get_rubric (AssayDraft *self);
const char *assay_draft_get_folder (AssayDraft *self);
gboolean assay_draft_is_submitted (AssayDraft *self);

/* AssayMissing *, as of now. */
GPtrArray *assay_draft_get_missing (AssayDraft *self);
/* Scores that need nothing more, out of all. */
void assay_draft_count (AssayDraft *self, guint *complete, guint *total);
gboolean assay_draft_criterion_complete (AssayDraft *self, const char *criterion);

/* Writes now rather than soon, still on a thread. */
void assay_draft_save (AssayDraft *self);
/* Writes on this thread, for the end of the program. FALSE with an error. */
gboolean assay_draft_flush (AssayDraft *self, GError **error);
gboolean assay_draft_is_dirty (AssayDraft *self);
/* NULL, or why the last save failed. */
const char *assay_draft_get_problem (AssayDraft *self);
/* Time of the last save as "14:22:08", NULL before the first. */
const char *assay_draft_get_saved_at (AssayDraft *self);

G_END_DECLS
