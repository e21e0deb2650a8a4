/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "engine/record/finding.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_SOURCE_VIEW (assay_source_view_get_type ())
G_DECLARE_FINAL_TYPE (AssaySourceView, assay_source_view, ASSAY, SOURCE_VIEW, GtkWidget)

/* One source file, read only: highlighting by file name, line numbers, a mark for each finding in
 * the gutter with its words in the tooltip. Follows the application's light or dark theme.
 * Signal "line-changed" (int): the cursor went to another line. */

/* Language is guessed from `file`. */
void assay_source_view_set_text (AssaySourceView *self, const char *file, const char *text);
const char *assay_source_view_get_file (AssaySourceView *self);
/* Marks of `findings` (AssayFinding *) whose `where.file` is this file; replaces earlier ones. */
void assay_source_view_set_findings (AssaySourceView *self, GPtrArray *findings);
/* How often each line ran (AssayLineHeat by line), in the gutter; NULL or empty takes it away. */
void assay_source_view_set_heat (AssaySourceView *self, GArray *heat);
/* What the gutter says of a line; NULL where it did not run. (transfer full) */
char *assay_source_view_get_heat_text (AssaySourceView *self, int line);
/* Lines count from 1. Puts the cursor there and scrolls. */
void assay_source_view_go_to_line (AssaySourceView *self, int line);
/* The selected lines, or the cursor's line where nothing is selected. (transfer full) quote. */
char *assay_source_view_get_selection (AssaySourceView *self, int *first_line, int *last_line);
/* Number of gutter marks, for tests and the line above the source. */
guint assay_source_view_get_n_marks (AssaySourceView *self);

G_END_DECLS
