/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/run/pipeline.h"
#include "engine/worker/turns.h"

G_BEGIN_DECLS

/* One of the two programs that are timed in turn: a worker of its own that measures when it is told to. */

/* What is run: swapped with the candidate of a pipeline while something is made for it. */
typedef struct
{
  const AssayCandidate *candidate;
  AssayMemory *ptx, *host;
  char *entry;
} AssayProgram;

void assay_program_exchange (AssayProgram *program, AssayPipeline *pipeline);
void assay_program_clear (AssayProgram *program);

typedef struct
{
  AssayPipeline *pipeline;
  AssayPreparedLaunch launch;
  AssayMemory *memory;
  AssayTurns *turns; /* `memory`, mapped while the worker lives */
  GThread *thread;
  GCancellable *cancellable; /* of this worker alone */
  double limit;              /* seconds that one turn may take */
  char *late;                /* that one took longer, in words */
  AssayWorkerReply *reply;
  GError *error;
  gint ended;
  GArray *walls; /* double, seconds: of each round, by our clock */
} AssaySide;

/* Starts the worker for one case with the pipeline's present candidate. Whole seconds: of its life, of a turn. */
gboolean assay_side_start (AssaySide *side, AssayPipeline *pipeline, AssayCase *c, double seconds,
                           double limit, GError **error);
/* Lets it take one turn and waits for its end. FALSE when its worker ended instead, when it takes too
 * long, or on cancellation. */
gboolean assay_side_turn (AssaySide *side, gint turn, gint samples);
/* Ends its worker; `reply` or `error` say how it went, and what it measured is copied. */
void assay_side_stop (AssaySide *side);
/* (transfer full): `count` of its samples, in seconds; only after the stop. */
GArray *assay_side_events (const AssaySide *side, gsize count);
GArray *assay_side_hosts (const AssaySide *side, gsize count);
/* (transfer full): why it did not come to its end, NULL when it did. */
char *assay_side_trouble (const AssaySide *side);
void assay_side_clear (AssaySide *side);

G_END_DECLS
