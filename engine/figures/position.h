/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/plot/scene.h"
#include "engine/record/run.h"

G_BEGIN_DECLS

AssayPlotScene *assay_figure_position_scene (const char *id, const AssayOutput *output);

G_END_DECLS
