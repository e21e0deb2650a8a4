/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "app/context.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_FINDINGS_BAR (assay_findings_bar_get_type ())
G_DECLARE_FINAL_TYPE (AssayFindingsBar, assay_findings_bar, ASSAY, FINDINGS_BAR, GtkWidget)

/* All findings of the run, one line each; this page's or all. Folds to its head. Properties:
 * expanded. Signal "activated" (AssayFindingItem): show where it is. */
void assay_findings_bar_set_context (AssayFindingsBar *self, AssayContext *context);
/* The page whose findings "this page" means. */
void assay_findings_bar_set_page (AssayFindingsBar *self, const char *page);
/* Selects the next or previous line and activates it. */
void assay_findings_bar_step (AssayFindingsBar *self, int step);
/* (nullable) */
AssayFindingItem *assay_findings_bar_get_selected (AssayFindingsBar *self);
void assay_findings_bar_select (AssayFindingsBar *self, const char *finding_id);

G_END_DECLS
