/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gio/gio.h>

#include "engine/record/finding.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_FINDING_ITEM (assay_finding_item_get_type ())
G_DECLARE_FINAL_TYPE (AssayFindingItem, assay_finding_item, ASSAY, FINDING_ITEM, GObject)

/* A finding in a list, with a copy of its own. Property: disposition, the reviewer's. */
AssayFindingItem *assay_finding_item_new (const AssayFinding *finding);
const AssayFinding *assay_finding_item_get (AssayFindingItem *self);
void assay_finding_item_set_disposition (AssayFindingItem *self, int disposition);

/* Blockers first, then by rule and place. */
int assay_finding_compare (gconstpointer a, gconstpointer b);

/* The page that shows what a finding is about: "numerics", "validity", "source" or "overview". */
const char *assay_finding_page (const AssayFinding *finding);

/* Whether a page's own list of findings names it. */
gboolean assay_finding_concerns (const AssayFinding *finding, const char *page);

/* (transfer full): "kernel.cu 57 · vocab · y[2, 17]", empty where nothing is known. */
char *assay_finding_place (const AssayFinding *finding);

G_END_DECLS
