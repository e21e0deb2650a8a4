/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "app/engine-client.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_COMPUTER_WINDOW (assay_computer_window_get_type ())
G_DECLARE_FINAL_TYPE (AssayComputerWindow, assay_computer_window, ASSAY, COMPUTER_WINDOW, GtkWindow)

/* What works on this computer, as the engine's doctor says it. */
GtkWidget *assay_computer_window_new (AssayEngineClient *engine);
/* TRUE while the engine is being asked. */
gboolean assay_computer_window_is_busy (AssayComputerWindow *self);

G_END_DECLS
