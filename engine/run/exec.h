/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/worker/session.h"

G_BEGIN_DECLS

/* A whole CUDA program, from its source, on the virtual GPU: compiled by nvcc in a sandbox, its main ()
 * called in another, with every checker watching. */

typedef struct
{
  const char *source;           /* a .cu file */
  const char *const *arguments; /* after argv[0]; NULL: none */
  const char *const *options;   /* of nvcc; or NULL */
  const char *target;           /* "sm_80" */
  const char *checks;           /* as for a run */
  double seconds;
  gboolean consent_unsandboxed;
} AssayExecRequest;

/* Blocks. The reply of the worker that was asked last: `compiled` says whether that was the one which
 * ran the program. NULL with an error when no worker could be had, or no nvcc. */
AssayWorkerReply *assay_exec (const AssayExecRequest *request, gboolean *compiled,
                              GCancellable *cancellable, GError **error);

G_END_DECLS
