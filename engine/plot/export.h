/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/plot/scene.h"

G_BEGIN_DECLS

/* Writes the scene, print style, as PNG (twice the size in px), SVG, PDF or CSV by the ending of
 * `path`; vectors stay vectors. The file is complete or absent. */
gboolean assay_plot_export (AssayPlotScene *scene, const char *path, double width, double height,
                            GError **error);

G_END_DECLS
