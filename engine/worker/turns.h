/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The memory over which the engine lets two workers measure in turn, one each. The engine raises `go`; the worker
 * whose `done` is lower measures and then writes it. What a worker writes here is a claim. */

#define ASSAY_TURNS_STOP G_MAXUINT32
#define ASSAY_TURNS_MOST_ROUNDS 64
#define ASSAY_TURNS_MOST_SAMPLES 64 /* in one round */
#define ASSAY_TURNS_TIMES (ASSAY_TURNS_MOST_ROUNDS * ASSAY_TURNS_MOST_SAMPLES)
#define ASSAY_TURNS_POLL_MICROSECONDS 100

/* The name of the error with which a worker declines: its driver is the virtual GPU. */
#define ASSAY_TURNS_NO_TIME "no-time"

typedef struct
{
  /* By the engine: the turn that may begin, from 1 (which warms up), or ASSAY_TURNS_STOP; and how many samples to
   * take in it. */
  gint go, samples;
  /* By the worker: the last turn that is over; after the first one, how many samples a round needs for a standard
   * error of 0.25 %, how many it took to warm up, and whether the times then stood still. */
  gint done, wanted, warmed, steady;
  /* Seconds, round after round without gaps: by the device's events, and by the worker's own clock from before the
   * first event to after the last. */
  double events[ASSAY_TURNS_TIMES], hosts[ASSAY_TURNS_TIMES];
} AssayTurns;

G_END_DECLS
