/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* bwrap starts the first process of its namespaces and then writes that one's user map. When bwrap is
 * killed in between, the process waits for ever for a word that cannot come: it has no parent-death
 * signal yet. It holds nothing but descriptors, but it is there. */

/* Stops `bwrap`, then kills its children, so that nothing is left when it is killed next. */
void assay_orphans_kill_children (pid_t bwrap);

/* Ends what engines that were killed left in this state, of this user; returns how many. */
guint assay_orphans_sweep (void);

G_END_DECLS
