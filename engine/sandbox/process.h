/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/sandbox/spec.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* One sandboxed process tree, from its start to the proof that all of it is dead. Every function
 * blocks: call them from a thread of a job, never from a main loop. */
typedef struct _AssaySandboxProcess AssaySandboxProcess;

typedef enum
{
  ASSAY_END_EXITED,    /* `code` is the exit status */
  ASSAY_END_SIGNAL,    /* `code` is the signal */
  ASSAY_END_TIMEOUT,   /* ran past wall_seconds, and was killed */
  ASSAY_END_MEMORY,    /* went beyond memory_bytes */
  ASSAY_END_PROCESSES, /* more processes than a worker has any use for */
  ASSAY_END_FLOOD,     /* sent more than channel_bytes, or a line longer than 1 MiB */
  ASSAY_END_STOPPED,   /* ended by us because its work was done */
  ASSAY_END_CANCELLED,
} AssaySandboxEndKind;

typedef struct
{
  AssaySandboxEndKind kind;
  int code;
  double seconds;
  guint64 peak_bytes; /* of the tree, as sampled */
  char *out, *err;    /* cleaned text, within log_bytes */
  guint64 out_bytes, err_bytes;
} AssaySandboxEnd;

void assay_sandbox_end_free (AssaySandboxEnd *end);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssaySandboxEnd, assay_sandbox_end_free)
/* (transfer full): "killed by signal 11 (Segmentation fault)", "no answer within 10 s". */
char *assay_sandbox_end_describe (const AssaySandboxEnd *end);

/* The child's descriptor 3 is one end of a socket; the other is ours. */
AssaySandboxProcess *assay_sandbox_process_start (const AssaySandboxSpec *spec,
                                                  AssaySandboxTier tier, GError **error);
/* Kills what still lives. */
void assay_sandbox_process_free (AssaySandboxProcess *process);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssaySandboxProcess, assay_sandbox_process_free)

/* Queues bytes for the channel; they leave while pumping, so a child that does not read cannot
 * block us. */
void assay_sandbox_process_send (AssaySandboxProcess *process, const char *data, gsize bytes);

/* One line from the channel, without its newline, not yet checked in any way. FALSE: enough, end the
 * process. */
typedef gboolean (*AssaySandboxLine) (const char *line, gsize bytes, gpointer user_data);

/* Serves the process until it ends, is ended, or breaks a limit; then kills the tree, and returns
 * when it is dead. NULL with ASSAY_ERROR_LOST when it would not die. */
AssaySandboxEnd *assay_sandbox_process_pump (AssaySandboxProcess *process, AssaySandboxLine on_line,
                                             gpointer user_data, GCancellable *cancellable,
                                             GError **error);
pid_t assay_sandbox_process_pid (AssaySandboxProcess *process);

G_END_DECLS
