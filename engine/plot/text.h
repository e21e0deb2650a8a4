/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/plot/style.h"

#include <cairo.h>
#include <pango/pango.h>

G_BEGIN_DECLS

typedef enum
{
  ASSAY_TEXT_TICK,  /* 11 px at scale 1 */
  ASSAY_TEXT_LABEL, /* 12 px */
  ASSAY_TEXT_TITLE, /* 13 px, bold */
} AssayTextSize;

/* Text through Pango, in px, with metrics that do not depend on a screen. */
void assay_text_size (const AssayPlotStyle *style, AssayTextSize size, const char *text,
                      double *width, double *height);
/* Draws with (x, y) at the fraction (ax, ay) of the text's box: 0 left or top, 1 right or bottom. */
void assay_text_draw (cairo_t *cr, const AssayPlotStyle *style, AssayTextSize size,
                      AssayColour colour, const char *text, double x, double y, double ax,
                      double ay);
/* The same with a halo of the ground's colour, for words that stand on data. */
void assay_text_draw_on_data (cairo_t *cr, const AssayPlotStyle *style, AssayTextSize size,
                              AssayColour colour, const char *text, double x, double y, double ax,
                              double ay);
/* Turned a quarter to the left, centred at (x, y). */
void assay_text_draw_upward (cairo_t *cr, const AssayPlotStyle *style, AssayTextSize size,
                             AssayColour colour, const char *text, double x, double y);

G_END_DECLS
