/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/plot/layout.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Draws a layout into a texture on a thread of its own, which keeps its fonts: no frame of a window
 * waits for a plot. `scale` is the number of device pixels a unit of the layout. */
void assay_plot_paint_async (AssayPlotLayout *layout, int scale, GAsyncReadyCallback callback,
                             gpointer user_data);
/* (transfer full) */
GdkTexture *assay_plot_paint_finish (GAsyncResult *result);
/* The layout that was painted; borrowed from the result. */
AssayPlotLayout *assay_plot_paint_layout (GAsyncResult *result);

G_END_DECLS
