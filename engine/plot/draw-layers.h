/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/plot/layout.h"

G_BEGIN_DECLS

/* Layers of one panel, drawn inside its frame; `cr` is clipped to the frame by the caller. */
void assay_draw_layer (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
                       const AssayLayer *layer);
/* Words that must stay readable: names of marks, rules, regions. After all layers, not clipped. */
void assay_draw_layer_words (cairo_t *cr, const AssayPlotStyle *style,
                             const AssayPanelLayout *panel, const AssayLayer *layer);
/* Names of the marks of all layers of a panel, placed where they hit neither marks nor each other. */
void assay_draw_mark_names (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
                            const GPtrArray *layers);
/* The little picture of a layer in the legend, centred at (x, y). */
void assay_draw_swatch (cairo_t *cr, const AssayPlotStyle *style, const AssayLayer *layer, double x,
                        double y);
void assay_set_role (cairo_t *cr, const AssayPlotStyle *style, AssayRole role, double alpha);

G_END_DECLS
