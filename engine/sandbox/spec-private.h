/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/sandbox/spec.h"

G_BEGIN_DECLS

typedef struct
{
  char *outside, *inside;
} AssaySandboxMount;

typedef struct
{
  AssayMemory *memory;
  int number;
} AssaySandboxShare;

struct _AssaySandboxSpec
{
  GPtrArray *argv;        /* char *, argv[0] a path inside */
  GPtrArray *mounts;      /* AssaySandboxMount * */
  GPtrArray *environment; /* char *, key and value in turn */
  GPtrArray *shares;      /* AssaySandboxShare * */
  gboolean gpu;
  AssaySandboxLimits limits;
};

/* A build with AddressSanitizer reserves more address space than any limit allows, and looks for leaks
 * by ptrace, which the filter refuses. */
#if defined(__SANITIZE_ADDRESS__)
#define ASSAY_SANITIZED TRUE
#else
#define ASSAY_SANITIZED FALSE
#endif

/* Descriptors that bwrap itself reads or writes, above all that a worker is given. */
#define ASSAY_FILTER_FD 250
#define ASSAY_STATUS_FD 251
#define ASSAY_STATUS_FD_WORD "251"
#define ASSAY_FIRST_DATA_FD 252

/* Descriptors opened for the command line, closed with it. */
typedef struct
{
  GPtrArray *argv; /* char *, NULL-terminated */
  GArray *opened;  /* int: descriptor ASSAY_FIRST_DATA_FD + i of the child */
} AssayBubblewrap;

/* Whether uid 65534 can be shown everything that `spec` shows: a whole toolkit below /root it cannot,
 * and bwrap then starts as root, still without any capability inside. */
gboolean assay_bubblewrap_can_drop (const AssaySandboxSpec *spec);

/* The command line of bwrap for `spec`. `dropped`: it will run as uid 65534, so that what others
 * cannot read is copied in instead of bound. NULL with `error`. */
AssayBubblewrap *assay_bubblewrap_new (const AssaySandboxSpec *spec, const char *bwrap,
                                       gboolean dropped, GError **error);
void assay_bubblewrap_free (AssayBubblewrap *command);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayBubblewrap, assay_bubblewrap_free)

G_END_DECLS
