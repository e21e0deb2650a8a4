/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/figures/source-lines.h"

#include <gtksourceview/gtksource.h>

G_BEGIN_DECLS

#define ASSAY_TYPE_HEAT_GUTTER (assay_heat_gutter_get_type ())
G_DECLARE_FINAL_TYPE (AssayHeatGutter, assay_heat_gutter, ASSAY, HEAT_GUTTER,
                      GtkSourceGutterRenderer)

/* How often each line ran, as a number on the colour of a heat map (logarithmic: a loop runs thousands of
 * times more often than what stands before it); the tooltip has the other counts. Hidden without any. */

/* `heat` (AssayLineHeat by line; nullable) is kept. */
void assay_heat_gutter_set (AssayHeatGutter *self, GArray *heat);
/* What the cell of a line says, counting from 1; NULL where it did not run. (transfer full) */
char *assay_heat_gutter_text (AssayHeatGutter *self, int line);

G_END_DECLS
