/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "app/context.h"
#include "app/session.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_WINDOW (assay_window_get_type ())
G_DECLARE_FINAL_TYPE (AssayWindow, assay_window, ASSAY, WINDOW, GtkApplicationWindow)

AssayWindow *assay_window_new (GtkApplication *application, AssaySession *session);
/* Shows the task; saves what is open first. */
void assay_window_open_task (AssayWindow *self, AssayTaskItem *task);
void assay_window_show_page (AssayWindow *self, const char *page);
const char *assay_window_get_page (AssayWindow *self);
AssayContext *assay_window_get_context (AssayWindow *self);

G_END_DECLS
