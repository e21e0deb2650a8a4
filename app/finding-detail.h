/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "engine/record/finding.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_FINDING_DETAIL (assay_finding_detail_get_type ())
G_DECLARE_FINAL_TYPE (AssayFindingDetail, assay_finding_detail, ASSAY, FINDING_DETAIL, GtkWidget)

/* Everything a finding says: detail, suggestion, where, evidence, the command that repeats it. */
void assay_finding_detail_show (AssayFindingDetail *self, const AssayFinding *finding);

G_END_DECLS
