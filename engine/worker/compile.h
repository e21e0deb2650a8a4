/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/device/nvrtc.h"
#include "engine/worker/channel.h"

G_BEGIN_DECLS

/* Compiling in a worker, for the roles that do it. */

#define ASSAY_COMPILE_LOG_LIMIT 65536 /* bytes of a compiler's text that are handed on */

typedef struct
{
  char *ptx, *log, *compiler;
  char *lowered; /* of a symbol that is a C++ expression, or NULL */
  char *library; /* host: file */
  gboolean compiled;
} AssayCompiled;

void assay_compiled_clear (AssayCompiled *outcome);

/* One file is compiled under its own name; several become one unit that includes them in turn.
 * (transfer full); NULL with `reason` (transfer full). */
char *assay_compile_read (const AssayWorkerRequest *request, const char **name, char **reason);
/* Words that tell a file with host code, which NVRTC cannot read and nvcc can. */
gboolean assay_compile_has_host_code (const char *unit);

/* For request->target; with request->resources down to machine code. */
void assay_compile_nvrtc (const AssayNvrtc *nvrtc, const AssayWorkerRequest *request,
                          const char *unit, const char *name, AssayCompiled *outcome);
void assay_compile_nvcc (const AssayWorkerRequest *request, const char *unit,
                         AssayCompiled *outcome);

/* (transfer full): valid UTF-8, at most the limit. */
char *assay_compile_log (const char *log);

G_END_DECLS
