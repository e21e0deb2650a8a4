/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/matrix.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct
{
  const char *subject;   /* a task's folder, or a .cu file, whose kernels are all listed */
  const char *candidate; /* NULL: all of them */
  char **targets;        /* "sm_90a"; NULL: what the compiler knows, and what else the task lists */
  char **options;        /* of the compiler, for a file; may be NULL */
  guint workers;         /* 0: one for each processor */
  gboolean consent_unsandboxed;
} AssayMatrixRequest;

/* Blocks. Errors: the subject cannot be read, there is no compiler, no sandbox; a candidate that does
 * not compile is a cell. */
AssayMatrix *assay_matrix_make (const AssayMatrixRequest *request, GCancellable *cancellable,
                                GError **error);

G_END_DECLS
