/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "app/context.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_VALIDITY_PAGE (assay_validity_page_get_type ())
G_DECLARE_FINAL_TYPE (AssayValidityPage, assay_validity_page, ASSAY, VALIDITY_PAGE, GtkWidget)

/* Does it build, launch and stay inside its memory: candidates × targets, the log of a cell, the
 * stages, the launches against the target's limits, the checkers' findings, the environment. */
void assay_validity_page_set_context (AssayValidityPage *self, AssayContext *context);
/* (transfer full) (nullable): the log that is shown. */
AssayEvidence *assay_validity_page_get_evidence (AssayValidityPage *self);

G_END_DECLS
