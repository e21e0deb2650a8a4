/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/run/pipeline.h"

G_BEGIN_DECLS

/* The candidate's machine code, from its PTX by ptxas and nvdisasm in a sandbox, with the source's lines:
 * artifacts/<target>.sass. Without those programs there is none; what they refuse is logged. */
void assay_disassemble (AssayPipeline *pipeline);

G_END_DECLS
