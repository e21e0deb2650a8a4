/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define ASSAY_TYPE_MARKDOWN_VIEW (assay_markdown_view_get_type ())
G_DECLARE_FINAL_TYPE (AssayMarkdownView, assay_markdown_view, ASSAY, MARKDOWN_VIEW, GtkTextView)

/* Markdown (CommonMark with tables and strike-through) as tagged text: headings, emphasis, code,
 * lists, quotes, tables set in aligned monospace. No images, no HTML, links shown with their
 * address: what a task says is foreign text. */

void assay_markdown_view_set_text (AssayMarkdownView *self, const char *markdown);

G_END_DECLS
