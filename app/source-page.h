/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "app/context.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_SOURCE_PAGE (assay_source_page_get_type ())
G_DECLARE_FINAL_TYPE (AssaySourcePage, assay_source_page, ASSAY, SOURCE_PAGE, GtkWidget)

/* Reference and candidate beside one another, findings in the gutter. */
void assay_source_page_set_context (AssaySourcePage *self, AssayContext *context);
/* Shows a file of the task on its side; a candidate's file chooses that side's file. */
void assay_source_page_open (AssaySourcePage *self, const char *path, int line);
/* (transfer full) (nullable): the lines selected on the side that has, or last had, the focus. */
AssayEvidence *assay_source_page_get_selection (AssaySourcePage *self);

G_END_DECLS
