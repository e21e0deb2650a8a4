/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "engine/review/editor.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_RUBRIC_FORM (assay_rubric_form_get_type ())
G_DECLARE_FINAL_TYPE (AssayRubricForm, assay_rubric_form, ASSAY, RUBRIC_FORM, GtkWidget)

/* One criterion of a review: levels with their anchor texts, the machine's suggestion beside them,
 * problem, evidence and fix. Every edit goes through the review editor.
 *
 * Signals: "evidence" (index): a chip was activated. "finding" (id): a finding behind the suggestion. */

/* `findings` (element-type AssayFinding): judged ones of the run; `task_folder` to see what is stale.
 * NULL editor empties the form. */
void assay_rubric_form_show (AssayRubricForm *self, AssayReviewEditor *editor,
                             const char *criterion, GPtrArray *findings, const char *task_folder);
const char *assay_rubric_form_get_criterion (AssayRubricForm *self);
/* Sets the score as the keys do: a level, "na" or "cannot_judge". */
void assay_rubric_form_score (AssayRubricForm *self, const char *value);
/* To the first text that is still missing, or the problem. */
void assay_rubric_form_focus_text (AssayRubricForm *self);

G_END_DECLS
