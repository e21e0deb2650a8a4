/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/sandbox/process.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* A whole CUDA program on the virtual GPU: from a .cu file, which nvcc compiles in a sandbox, or as it was
 * built. It runs in a sandbox of its own with the virtual GPU's driver, runtime and cuBLAS in front.
 * The folder that the file lies in can be read there, and is where the program seems to run. */

typedef struct
{
  const char *source;           /* a .cu file, or a program */
  const char *const *arguments; /* after argv[0]; NULL: none */
  const char *const *options;   /* of nvcc; or NULL */
  const char *target;           /* "sm_80" */
  const char *checks;           /* as for a run */
  const char *settings;         /* further ones of the virtual GPU, "key=value;…"; or NULL */
  gconstpointer input;          /* what it reads from its standard input; NULL: nothing */
  gsize input_bytes;
  double seconds;
  guint64 memory_bytes; /* of the program and its device; 0: 8 GiB */
  gboolean consent_unsandboxed;
  /* Hears of every report when it is made; may be NULL. */
  void (*reported) (JsonObject *record, gpointer data);
  gpointer data;
} AssayExecRequest;

typedef struct
{
  char *log;            /* of nvcc, when that failed; else NULL */
  AssaySandboxEnd *end; /* of the program; NULL when it was not compiled */
  GPtrArray *records;   /* JsonObject *: reports, faults, launches */
  guint reports;        /* reports and faults among them, env.* left out */
} AssayExecReply;

void assay_exec_reply_free (AssayExecReply *reply);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayExecReply, assay_exec_reply_free)

/* Blocks. NULL with an error when it could not be tried: no such file, no nvcc, no sandbox. */
AssayExecReply *assay_exec (const AssayExecRequest *request, GCancellable *cancellable,
                            GError **error);

/* Whether a record is a report or a fault of the program, rather than a count or a launch. */
gboolean assay_exec_is_report (JsonObject *record);

G_END_DECLS
