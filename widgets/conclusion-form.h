/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "engine/review/editor.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_CONCLUSION_FORM (assay_conclusion_form_get_type ())
G_DECLARE_FINAL_TYPE (AssayConclusionForm, assay_conclusion_form, ASSAY, CONCLUSION_FORM, GtkWidget)

/* The end of a review: one verdict an axis, the recommendation, the summary in words. */
void assay_conclusion_form_show (AssayConclusionForm *self, AssayReviewEditor *editor);

G_END_DECLS
