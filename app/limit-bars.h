/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* What a launch asks of a target, against what the target has: a row and a bar a quantity. Apart from the
 * pages: the target's launch and the record's share a name. */

typedef struct
{
  gint64 grid[3], block[3];
  gint64 shared;    /* bytes, static and dynamic */
  gint64 registers; /* a thread; 0 or less: not known */
} AssayLaunchAsks;

/* Empties the grid and fills it; FALSE, and nothing in it, where the target is not known. `note` (transfer
 * full) says what a multiprocessor holds of it, or which limit it breaks. */
gboolean assay_limit_bars_fill (GtkGrid *grid, const char *target, const AssayLaunchAsks *asks,
                                char **note);

G_END_DECLS
