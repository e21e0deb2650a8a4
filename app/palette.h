/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "app/context.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_PALETTE (assay_palette_get_type ())
G_DECLARE_FINAL_TYPE (AssayPalette, assay_palette, ASSAY, PALETTE, GtkWidget)

/* One entry over everything that has a name: commands, tasks, findings, criteria, source files. Every
 * word typed must occur. Signal "closed". */
void assay_palette_set_sources (AssayPalette *self, AssayContext *context, GListModel *tasks);
/* Empties the entry, lists anew and takes the focus. */
void assay_palette_open (AssayPalette *self);
guint assay_palette_get_n_shown (AssayPalette *self);

G_END_DECLS
