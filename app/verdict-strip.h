/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "engine/figures/verdicts.h"

G_BEGIN_DECLS

/* The four questions side by side: an icon and a word each, and under them what the numbers say. */
#define ASSAY_TYPE_VERDICT_STRIP (assay_verdict_strip_get_type ())
G_DECLARE_FINAL_TYPE (AssayVerdictStrip, assay_verdict_strip, ASSAY, VERDICT_STRIP, GtkWidget)

/* NULL hides it. The verdicts are copied. */
void assay_verdict_strip_show (AssayVerdictStrip *self, const AssayVerdict *verdicts);

G_END_DECLS
