/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* fork and exec with nothing inherited that was not asked for. All children are started by one
 * thread that lives as long as the engine: a parent-death signal fires when the *thread* that forked
 * goes away, and a pool thread does that in the middle of a run. */

typedef struct
{
  int source, target; /* descriptor here, descriptor there */
} AssayDescriptor;

typedef struct
{
  int resource; /* RLIMIT_… */
  guint64 value;
} AssayResourceLimit;

typedef struct
{
  const char *const *argv; /* argv[0] is a path */
  const char *const *environment;
  const AssayDescriptor *descriptors; /* 0 is /dev/null where it is not among them */
  gsize descriptor_count;
  const AssayResourceLimit *limits;
  gsize limit_count;
  int group_fd;             /* cgroup.procs to join before exec, or -1 */
  gboolean drop_privileges; /* become uid and gid 65534 */
  gboolean new_session;     /* a process group of its own, to be killed as one */
} AssayLaunchPlan;

/* The child is killed when this process ends. TRUE once the program itself runs; `pidfd` becomes readable when it ends (waitid with P_PIDFD).
 * FALSE with `error` when it cannot be executed. Blocks for a few milliseconds. */
gboolean assay_launcher_start (const AssayLaunchPlan *plan, pid_t *pid, int *pidfd, GError **error);

G_END_DECLS
