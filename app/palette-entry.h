/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib-object.h>

#include "app/context.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_PALETTE_ENTRY (assay_palette_entry_get_type ())
G_DECLARE_FINAL_TYPE (AssayPaletteEntry, assay_palette_entry, ASSAY, PALETTE_ENTRY, GObject)

/* One line of the palette: what it is, its name, and the action that choosing it activates. */
const char *assay_palette_entry_get_kind (AssayPaletteEntry *self);
const char *assay_palette_entry_get_title (AssayPaletteEntry *self);
const char *assay_palette_entry_get_keys (AssayPaletteEntry *self); /* accelerator, or NULL */
const char *assay_palette_entry_get_action (AssayPaletteEntry *self);
GVariant *assay_palette_entry_get_target (AssayPaletteEntry *self); /* or NULL */
/* TRUE when each of `words` occurs in kind or title, whatever its case. */
gboolean assay_palette_entry_matches (AssayPaletteEntry *self, const char *const *words);

/* (transfer full) (element-type AssayPaletteEntry) */
GPtrArray *assay_palette_entries (AssayContext *context, GListModel *tasks);

G_END_DECLS
