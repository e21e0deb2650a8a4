/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/matrix.h"
#include "engine/task/task.h"

G_BEGIN_DECLS

/* The Pythons of this computer and the frameworks in each: python3 of the PATH, of $VIRTUAL_ENV, and those that
 * $ASSAY_PYTHONS names (paths, colons between). Every one is asked itself. (transfer full): AssayPython *. */
GPtrArray *assay_frameworks_list (void);

/* (transfer full): AssayPin *, by name: the task's environment.pins against what is here. "cuda" is the compilers'
 * version: `compilers` holds texts such as "NVRTC 13.0", or is NULL. Empty where nothing is pinned. */
GPtrArray *assay_pins_check (const AssayTask *task, GPtrArray *pythons, char **compilers);

/* Whether a version is one that is wanted: "3.4" (any 3.4.*), "==3.4.0", ">=3.1,<4", "~=3.4", "!=2.0"; local parts
 * ("+cu126") count only where they are wanted. */
gboolean assay_version_fits (const char *version, const char *wanted);

/* Both into a matrix. `task` may be NULL. */
void assay_frameworks_fill (AssayMatrix *matrix, const AssayTask *task);

G_END_DECLS
