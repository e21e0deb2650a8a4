/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/report/report.h"

#include <cairo.h>
#include <pango/pango.h>

G_BEGIN_DECLS

/* A report set on A4 pages, in points. The preview and the PDF draw the same pages. */
#define ASSAY_PAGE_WIDTH 595.28
#define ASSAY_PAGE_HEIGHT 841.89

typedef struct _AssayPages AssayPages;

/* The report must outlive the pages. */
AssayPages *assay_pages_new (const AssayDocument *report);
void assay_pages_free (AssayPages *pages);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayPages, assay_pages_free)

guint assay_pages_count (const AssayPages *pages);
/* Draws page `index` (from 0) at the origin, ink only: the caller paints the paper. */
void assay_pages_draw (const AssayPages *pages, guint index, cairo_t *cr);
/* Glyphs that no installed font has, over the whole document. */
guint assay_pages_unknown_glyphs (const AssayPages *pages);

/* Headings with the page they stand on, for outlines: `level` 1 or 2; title borrowed. FALSE past the
 * last. The link target of heading i is "heading-i". */
gboolean assay_pages_heading (const AssayPages *pages, guint i, const char **title, int *level,
                              guint *page);

G_END_DECLS
