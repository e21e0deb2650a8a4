/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/report/pages.h"

G_BEGIN_DECLS

/* The smallest things that cannot be torn: a line of text, a table row, a figure. */
typedef struct _AssayAtom AssayAtom;
typedef void (*AssayAtomDraw) (const AssayAtom *atom, cairo_t *cr, double x, double y,
                               double width);

struct _AssayAtom
{
  double height;
  double gap;         /* above it, none at the top of a page */
  gboolean keep_next; /* never the last of a page */
  const char *tag;    /* PDF structure: "P", "H1", … ; NULL: none */
  int heading;        /* number in the outline, or -1 */
  AssayAtomDraw draw;
  const AssayBlock *block;
  GPtrArray *layouts; /* PangoLayout *, one a cell */
  guint row;          /* of the block's rows, or the line of layouts[0] */
  gboolean last;      /* of its block: closes boxes */
};

/* Appends the atoms of every block; `width` in points. */
void assay_flow_blocks (const AssayDocument *report, double width, GPtrArray *atoms);
void assay_atom_free (AssayAtom *atom);

/* Text set in `width` points (negative: one line); family "Sans" or "Monospace". */
PangoLayout *assay_document_text (const char *markup, double size, gboolean mono, double width);
double assay_layout_height (PangoLayout *layout);
double assay_layout_width (PangoLayout *layout);

G_END_DECLS
