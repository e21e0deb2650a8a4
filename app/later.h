/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Gathers changes and shows them a moment later, together, and only while the widget is seen: a run
 * may tell something new a hundred times a second. */
typedef struct _AssayLater AssayLater;
typedef void (*AssayLaterFunc) (gpointer widget, guint what);

/* Belongs to `widget`, which frees it in dispose. `what` are bits that `show` gets or-ed. */
AssayLater *assay_later_new (GtkWidget *widget, AssayLaterFunc show);
void assay_later_push (AssayLater *self, guint what);
void assay_later_free (AssayLater *self);

G_END_DECLS
