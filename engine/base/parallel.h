/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Work on one of `count` numbered pieces; called from several threads, each piece once. */
typedef void (*AssayParallelPiece) (gsize piece, gpointer user_data);
/* Called now and then from the calling thread; fraction from 0 to 1. */
typedef void (*AssayProgress) (double fraction, gpointer user_data);

/* Does every piece on at most `threads` threads (0: one for each processor), the caller among them.
 * Which thread does a piece is not fixed: pieces must not depend on one another, and a caller that
 * sums must sum per piece and add up in order. FALSE only when cancelled; then some pieces are not
 * done. `progress` may be NULL. */
gboolean assay_parallel_for (gsize count, guint threads, AssayParallelPiece piece,
                             gpointer user_data, AssayProgress progress, gpointer progress_data,
                             GCancellable *cancellable, GError **error);

G_END_DECLS
