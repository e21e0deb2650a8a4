/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/review/review.h"

#include <glib-object.h>

G_BEGIN_DECLS

/* The one way to change a review: every step is in the history, can be undone and redone, and emits
 * "changed". Text edits of one field within a minute are one step. */
#define ASSAY_TYPE_REVIEW_EDITOR (assay_review_editor_get_type ())
G_DECLARE_FINAL_TYPE (AssayReviewEditor, assay_review_editor, ASSAY, REVIEW_EDITOR, GObject)

typedef enum
{
  ASSAY_TEXT_PROBLEM,
  ASSAY_TEXT_EVIDENCE,
  ASSAY_TEXT_FIX,
} AssayReviewText;

/* (transfer full) for `review`; the rubric must outlive the editor. */
AssayReviewEditor *assay_review_editor_new (AssayReview *review, const AssayRubric *rubric);
/* Borrowed; replaced by undo and redo, so ask again after "changed". */
const AssayReview *assay_review_editor_review (AssayReviewEditor *self);
const AssayRubric *assay_review_editor_rubric (AssayReviewEditor *self);

/* `value`: a level, "na", "cannot_judge", or NULL to take the score back. `suggestion`: what the
 * machine proposed then, -1 for nothing. */
void assay_review_editor_set_score (AssayReviewEditor *self, const char *criterion,
                                    const char *value, gint64 suggestion);
void assay_review_editor_set_confidence (AssayReviewEditor *self, const char *criterion,
                                         const char *confidence);
void assay_review_editor_set_text (AssayReviewEditor *self, const char *criterion,
                                   AssayReviewText field, const char *text);
/* Copies `evidence`; the same kind, ref and lines twice are one. */
void assay_review_editor_attach (AssayReviewEditor *self, const char *criterion,
                                 const AssayEvidence *evidence);
void assay_review_editor_detach (AssayReviewEditor *self, const char *criterion, guint index);
void assay_review_editor_set_verdict (AssayReviewEditor *self, const char *axis, const char *word);
void assay_review_editor_set_accept (AssayReviewEditor *self, const char *accept);
void assay_review_editor_set_summary (AssayReviewEditor *self, const char *text);
void assay_review_editor_judge (AssayReviewEditor *self, const char *finding,
                                AssayDisposition disposition, const char *reason);
void assay_review_editor_add_run (AssayReviewEditor *self, const char *run_id);
/* Not a step: time passes. */
void assay_review_editor_add_seconds (AssayReviewEditor *self, double seconds);
/* FALSE with the error naming the first missing thing. */
gboolean assay_review_editor_submit (AssayReviewEditor *self, GError **error);

gboolean assay_review_editor_can_undo (AssayReviewEditor *self);
gboolean assay_review_editor_can_redo (AssayReviewEditor *self);
void assay_review_editor_undo (AssayReviewEditor *self);
void assay_review_editor_redo (AssayReviewEditor *self);

G_END_DECLS
