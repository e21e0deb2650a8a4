/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/plot/scene.h"
#include "engine/record/run.h"

G_BEGIN_DECLS

/* Error over the size of the result, with the gate and half an ulp as lines; NULL without data. */
AssayPlotScene *assay_figure_magnitude_scene (const char *id, const AssayOutput *output);
/* Bits of error over the value of an input; NULL without data. */
AssayPlotScene *assay_figure_input_scene (const char *id, const AssayOutput *output);

G_END_DECLS
