/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "engine/record/run.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_STAGE_STRIP (assay_stage_strip_get_type ())
G_DECLARE_FINAL_TYPE (AssayStageStrip, assay_stage_strip, ASSAY, STAGE_STRIP, GtkWidget)

/* The run in one line: which stage of eight, what it does just now, a segment for each stage, and a
 * button that emits "cancel". To assistive technology it is a progress bar. */

/* `statuses` has ASSAY_N_STAGES entries (AssayStatus). `current` is the running stage or -1;
 * `fraction` of it, 0 to 1. `headline` and `text` are what is written. */
void assay_stage_strip_show (AssayStageStrip *self, const int *statuses, int current,
                             double fraction, const char *headline, const char *text);
/* The sentence on the right can be left out where there is little room. */
void assay_stage_strip_set_compact (AssayStageStrip *self, gboolean compact);

G_END_DECLS
