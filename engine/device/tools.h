/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/device/toolkit.h"

G_BEGIN_DECLS

/* NVIDIA's programs beside the compilers: ptxas, nvdisasm, cuobjdump, compute-sanitizer, ncu, nsys. None is needed,
 * and none is fetched. */

/* (transfer full) (nullable): where `program` is: beside nvcc, in the toolkit's other folders (wheels put
 * them elsewhere than installers), in a triton package in the toolkit's folder, on the PATH. `toolkit` may be
 * NULL. */
char *assay_tool_find (const AssayToolkit *toolkit, const char *program);
/* What to install for one that is not there: static. */
const char *assay_tool_advice (const char *program);
/* NULL-terminated: those that may be there beside a compiler. */
extern const char *const ASSAY_TOOLS[];

G_END_DECLS
