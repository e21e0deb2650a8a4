/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "app/engine-client.h"
#include "app/task-item.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_MATRIX_WINDOW (assay_matrix_window_get_type ())
G_DECLARE_FINAL_TYPE (AssayMatrixWindow, assay_matrix_window, ASSAY, MATRIX_WINDOW, GtkWindow)

/* A task's candidates × every architecture that the compiler knows, with the log of the chosen cell. */
GtkWidget *assay_matrix_window_new (AssayEngineClient *engine, AssayTaskItem *task);
/* TRUE while the compilers work. */
gboolean assay_matrix_window_is_busy (AssayMatrixWindow *self);

G_END_DECLS
