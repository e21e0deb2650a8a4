/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define ASSAY_TYPE_CARD (assay_card_get_type ())
G_DECLARE_FINAL_TYPE (AssayCard, assay_card, ASSAY, CARD, GtkBox)

/* A framed region: a header with "title" and "subtitle", children below. In templates
 * <child type="header"> goes to the header's end. */
void assay_card_set_subtitle (AssayCard *self, const char *subtitle);

/* Empties a box, grid or flow box. */
void assay_clear_children (GtkWidget *parent);
/* A label for cells: left-aligned, ellipsized, with `css` (nullable) and the text as tooltip. */
GtkWidget *assay_cell_new (const char *text, const char *css);
/* The same, wrapping. */
GtkWidget *assay_words_new (const char *text, const char *css);

G_END_DECLS
