/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "app/finding-item.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_FINDING_ROW (assay_finding_row_get_type ())
G_DECLARE_FINAL_TYPE (AssayFindingRow, assay_finding_row, ASSAY, FINDING_ROW, GtkWidget)

/* A finding in one line; NULL unbinds. */
void assay_finding_row_set_item (AssayFindingRow *self, AssayFindingItem *item);

G_END_DECLS
