/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "app/context.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_REVIEW_PANE (assay_review_pane_get_type ())
G_DECLARE_FINAL_TYPE (AssayReviewPane, assay_review_pane, ASSAY, REVIEW_PANE, GtkWidget)

/* The review at hand: one criterion after the other, then the conclusion, and what is still needed.
 * Signals: "finding" (id), "evidence" (AssayEvidence *, borrowed): show where it is. */
void assay_review_pane_set_context (AssayReviewPane *self, AssayContext *context);
/* One criterion on or back; the conclusion comes last. */
void assay_review_pane_step (AssayReviewPane *self, int step);
/* NULL: the conclusion. */
void assay_review_pane_show_criterion (AssayReviewPane *self, const char *criterion);
/* The first criterion of the review that findings of `rule` bear on; stays where the open one is such. */
void assay_review_pane_show_rule (AssayReviewPane *self, const char *rule);
/* NULL at the conclusion. */
const char *assay_review_pane_get_criterion (AssayReviewPane *self);
void assay_review_pane_score (AssayReviewPane *self, const char *value);
/* FALSE at the conclusion and without a review. */
gboolean assay_review_pane_attach (AssayReviewPane *self, const AssayEvidence *evidence);

G_END_DECLS
