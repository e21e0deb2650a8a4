/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/device/toolkit.h"
#include "engine/sandbox/spec.h"

G_BEGIN_DECLS

/* Makes a toolkit visible to a compiling worker, at its own path, so that includes and library paths
 * stay true; what lies below /usr is visible anyway. */
void assay_toolkit_show (const AssayToolkit *toolkit, AssaySandboxSpec *spec);

G_END_DECLS
