/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/report/flow.h"

G_BEGIN_DECLS

void assay_draw_text_line (const AssayAtom *atom, cairo_t *cr, double x, double y, double width);
void assay_draw_title (const AssayAtom *atom, cairo_t *cr, double x, double y, double width);
void assay_draw_heading (const AssayAtom *atom, cairo_t *cr, double x, double y, double width);
void assay_draw_facts (const AssayAtom *atom, cairo_t *cr, double x, double y, double width);
void assay_draw_table_head (const AssayAtom *atom, cairo_t *cr, double x, double y, double width);
void assay_draw_table_row (const AssayAtom *atom, cairo_t *cr, double x, double y, double width);
void assay_draw_verdict (const AssayAtom *atom, cairo_t *cr, double x, double y, double width);
void assay_draw_figure (const AssayAtom *atom, cairo_t *cr, double x, double y, double width);
void assay_draw_code_line (const AssayAtom *atom, cairo_t *cr, double x, double y, double width);
void assay_draw_finding (const AssayAtom *atom, cairo_t *cr, double x, double y, double width);

G_END_DECLS
