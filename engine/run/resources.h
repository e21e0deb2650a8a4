/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/run.h"

G_BEGIN_DECLS

/* Reads what ptxas says with -v about `entry` out of a compiler's log: registers, shared memory,
 * spills, stack; NULL: the largest of each over all kernels. Fields start at -1 and stay there where
 * the log tells nothing. FALSE when it says nothing about this entry. */
gboolean assay_resources_parse (const char *log, const char *entry, AssayCompile *compile);

G_END_DECLS
