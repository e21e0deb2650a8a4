/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A launch on a target: what a multiprocessor holds of it, or why it does not start. */
typedef struct
{
  gboolean known;         /* the target's limits are in the table; the rest is 0 otherwise */
  char problem[256];      /* a sentence naming the limit it breaks; "" when it starts */
  gint64 blocks, warps;   /* a multiprocessor at a time */
  double share;           /* of the warps it could hold */
  const char *limited_by; /* "registers"; NULL when it does not start */
} AssayLaunchFit;

/* Extents, dynamic and static bytes of shared memory, registers a thread (0 or less: not known). */
void assay_launch_fit (const char *target, const gint64 *grid, const gint64 *block,
                       gint64 dynamic_shared, gint64 static_shared, gint64 registers,
                       AssayLaunchFit *fit);

G_END_DECLS
