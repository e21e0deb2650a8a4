/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define ASSAY_TYPE_TAB_ROW (assay_tab_row_get_type ())
G_DECLARE_FINAL_TYPE (AssayTabRow, assay_tab_row, ASSAY, TAB_ROW, GtkWidget)

/* One flat row of tabs over the pages of a GtkStack (property "stack"). A tab's title and visibility
 * follow its page. Left and Right move between tabs. */

G_END_DECLS
