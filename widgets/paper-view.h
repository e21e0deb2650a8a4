/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define ASSAY_TYPE_PAPER_VIEW (assay_paper_view_get_type ())
G_DECLARE_FINAL_TYPE (AssayPaperView, assay_paper_view, ASSAY, PAPER_VIEW, GtkWidget)

/* Pages of a document below one another. Signal "resized": pictures of another width would be
 * sharper; see `assay_paper_view_wanted_width`. */

/* (element-type GdkTexture); kept by reference. */
void assay_paper_view_set_pages (AssayPaperView *self, GPtrArray *pages);
guint assay_paper_view_get_n_pages (AssayPaperView *self);
/* Device pixels that a page is wide. */
int assay_paper_view_wanted_width (AssayPaperView *self);

G_END_DECLS
