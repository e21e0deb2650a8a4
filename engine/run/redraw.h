/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/run/downgrade.h"

G_BEGIN_DECLS

/* What the reference gives when one input is drawn with another seed. A tolerance that accepts it
 * cannot see that input at all. */
typedef AssayDowngrade AssayRedraw; /* name and outputs, in the same way */

/* (transfer full) (element-type AssayRedraw): one for each drawn array that the reference is given;
 * empty for large workloads, and when the reference does not run. */
GPtrArray *assay_redraws_run (AssayPipeline *pipeline, AssayCase *c);

G_END_DECLS
