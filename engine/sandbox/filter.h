/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The system call filter of every worker, as a BPF program in a memfd that bwrap reads from its
 * start. Default allow with a list of refusals: a GPU driver's own set of calls is undocumented and
 * changes, so a list of what is allowed would break it. The caller closes the descriptor. -1 with
 * `error` where libseccomp cannot build it. */
int assay_filter_open (GError **error);

G_END_DECLS
