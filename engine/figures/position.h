/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/plot/scene.h"
#include "engine/record/run.h"

G_BEGIN_DECLS

/* `launch` (nullable): whose grid divides the output into tiles. */
AssayPlotScene *assay_figure_position_scene (const char *id, const AssayOutput *output,
                                             const AssayLaunch *launch);

G_END_DECLS
