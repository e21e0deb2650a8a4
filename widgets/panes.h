/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define ASSAY_TYPE_PANES (assay_panes_get_type ())
G_DECLARE_FINAL_TYPE (AssayPanes, assay_panes, ASSAY, PANES, GtkWidget)

/* Three children side by side: "start" and "end" of a fixed, draggable width, and "center" with the
 * rest. Below `fold-width` pixels the side panes fold away and show as overlays over the centre.
 * In templates: <child type="start|center|end">.
 *
 * Properties: show-start, show-end (what the user asked for; kept apart for wide and folded windows,
 * so that narrowing a window hides the panes and widening brings them back), start-width, end-width,
 * fold-width, folded (read only). */

gboolean assay_panes_get_folded (AssayPanes *self);
/* Closes whatever overlays the centre; TRUE where something did. */
gboolean assay_panes_close_overlays (AssayPanes *self);

G_END_DECLS
