/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "app/session.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_APPLICATION (assay_application_get_type ())
G_DECLARE_FINAL_TYPE (AssayApplication, assay_application, ASSAY, APPLICATION, GtkApplication)

/* `assay [--workspace DIR] [--version] [TASK…]`. */
AssayApplication *assay_application_new (void);
/* With that workspace, apart from any other instance. */
AssayApplication *assay_application_new_for (const char *workspace);
/* NULL before the application has started. */
AssaySession *assay_application_get_session (AssayApplication *self);

G_END_DECLS
