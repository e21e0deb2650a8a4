/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/ui/fixture.h"

G_BEGIN_DECLS

/* Real key presses and pointer moves, through the X server. */

/* FALSE, with the test skipped, where xdotool is not installed. */
gboolean assay_ui_has_keyboard (void);
/* Runs `xdotool LINE [LAST]` and lets the window follow; blanks separate the words of `line`, `last`
 * (nullable) is one more word as it is. */
void assay_ui_xdotool (AssayUi *ui, const char *line, const char *last);
void assay_ui_key (AssayUi *ui, const char *keys);
void assay_ui_type (AssayUi *ui, const char *text);
/* Gives a window the focus, as a window manager does with one that opens. */
void assay_ui_focus (AssayUi *ui, GtkWindow *window);
gulong assay_ui_xid (GtkWindow *window);

G_END_DECLS
