/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "app/context.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_NUMERICS_PAGE (assay_numerics_page_get_type ())
G_DECLARE_FINAL_TYPE (AssayNumericsPage, assay_numerics_page, ASSAY, NUMERICS_PAGE, GtkWidget)

/* Four plots of one output, a summary in plain words, the worst elements, the tolerance audit.
 * Signal "attach" (AssayEvidence *, borrowed): the plot is to be evidence. */
void assay_numerics_page_set_context (AssayNumericsPage *self, AssayContext *context);
/* NULL output: the first. */
void assay_numerics_page_choose (AssayNumericsPage *self, const char *workload, const char *output);
/* (transfer full) (nullable): the plot that has, or last had, the focus. */
AssayEvidence *assay_numerics_page_get_evidence (AssayNumericsPage *self);
/* TRUE while plots are being made. */
gboolean assay_numerics_page_is_busy (AssayNumericsPage *self);

G_END_DECLS
