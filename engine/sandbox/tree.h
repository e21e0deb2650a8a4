/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* A process and all its descendants, as /proc shows them. */
typedef struct
{
  guint processes;
  guint64 resident_bytes; /* summed; pages that two processes share count twice */
} AssayTreeUse;

AssayTreeUse assay_tree_use (pid_t root);

/* A memory cgroup for one process tree: where this computer lets us make one, the kernel holds the
 * limit; elsewhere the engine watches. */
typedef struct _AssayGroup AssayGroup;

/* NULL where no memory controller is writable (that is not an error). */
AssayGroup *assay_group_new (guint64 memory_bytes);
/* Removes the group; its processes must be dead. */
void assay_group_free (AssayGroup *group);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayGroup, assay_group_free)

/* Opened for writing by the child that joins; owned by the group. */
int assay_group_fd (AssayGroup *group);
/* Whether the kernel killed something in it for want of memory. */
gboolean assay_group_ran_out (AssayGroup *group);
/* What holds the limit here, in words: "cgroup v2", "cgroup v1", "watchdog". */
const char *assay_group_describe (void);

G_END_DECLS
