/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define ASSAY_TYPE_DATA_TABLE (assay_data_table_get_type ())
G_DECLARE_FINAL_TYPE (AssayDataTable, assay_data_table, ASSAY, DATA_TABLE, GtkWidget)

/* Rows of text cells in dense columns; numbers stand right, click on a head sorts. Rows become
 * objects only when they are seen, so that tens of thousands cost nothing.
 *
 * Signals "activated" (row) and "selected" (row): position in the array that was given. */

/* `columns` NULL-terminated; `rows` (element-type GStrv) must not change afterwards and is
 * kept by reference. */
void assay_data_table_set (AssayDataTable *self, const char *const *columns, GPtrArray *rows);
guint assay_data_table_get_n_rows (AssayDataTable *self);
/* (transfer full): the table, or its selected row, as lines of tab-separated cells. */
char *assay_data_table_text (AssayDataTable *self, gboolean selected_only);
void assay_data_table_select (AssayDataTable *self, guint row);

G_END_DECLS
