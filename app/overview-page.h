/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "app/context.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_OVERVIEW_PAGE (assay_overview_page_get_type ())
G_DECLARE_FINAL_TYPE (AssayOverviewPage, assay_overview_page, ASSAY, OVERVIEW_PAGE, GtkWidget)

/* What the task says of itself, and how its candidates have done. */
void assay_overview_page_set_context (AssayOverviewPage *self, AssayContext *context);

G_END_DECLS
