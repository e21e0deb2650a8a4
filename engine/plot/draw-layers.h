/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/plot/layout.h"

G_BEGIN_DECLS

/* Layers of one panel, drawn inside its frame; `cr` is clipped to the frame by the caller. */
void assay_draw_layer (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
                       const AssayLayer *layer);
/* Words that must stay readable: names of marks, rules, regions. After all layers, not clipped. */
void assay_draw_layer_words (cairo_t *cr, const AssayPlotStyle *style,
                             const AssayPanelLayout *panel, const AssayLayer *layer,
                             const GPtrArray *layers);
/* Where a region's words stand: as far up, then as far right in it as no mark of `layers` is covered.
 * FALSE where it has none, or no room for them. */
gboolean assay_region_words (const AssayPlotStyle *style, const AssayPanelLayout *panel,
                             const AssayLayer *layer, const GPtrArray *layers, AssayRect *box);
/* Names of the marks of all layers of a panel, placed where they hit neither marks nor each other. */
void assay_draw_mark_names (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
                            const GPtrArray *layers);
/* The little picture of a layer in the legend, centred at (x, y). */
void assay_draw_swatch (cairo_t *cr, const AssayPlotStyle *style, const AssayLayer *layer, double x,
                        double y);
void assay_set_role (cairo_t *cr, const AssayPlotStyle *style, AssayRole role, double alpha);

G_END_DECLS
