/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "app/context.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_REPORT_PAGE (assay_report_page_get_type ())
G_DECLARE_FINAL_TYPE (AssayReportPage, assay_report_page, ASSAY, REPORT_PAGE, GtkWidget)

/* The document as it would be exported now, what is missing, and the export. Pages are drawn again a
 * moment after each change, and only while the page is seen. */
void assay_report_page_set_context (AssayReportPage *self, AssayContext *context);
guint assay_report_page_get_n_pages (AssayReportPage *self);

G_END_DECLS
