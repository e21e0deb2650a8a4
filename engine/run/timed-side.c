/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/timed-side.h"

#include <errno.h>
#include <sys/mman.h>

#define TURNS_FD 9

#define SWAP(a, b)                                                                                 \
  do                                                                                               \
    {                                                                                              \
      __typeof__ (a) kept = a;                                                                     \
      a = b;                                                                                       \
      b = kept;                                                                                    \
    }                                                                                              \
  while (0)

void
assay_program_exchange (AssayProgram *program, AssayPipeline *p)
{
  SWAP (program->candidate, p->candidate);
  SWAP (program->ptx, p->ptx);
  SWAP (program->host, p->host);
  SWAP (program->entry, p->entry);
}

void
assay_program_clear (AssayProgram *program)
{
  g_clear_pointer (&program->ptx, assay_memory_unref);
  g_clear_pointer (&program->host, assay_memory_unref);
  g_clear_pointer (&program->entry, g_free);
}

static gpointer
run_worker (gpointer data)
{
  AssaySide *side = data;
  side->reply = assay_worker_call (side->launch.spec, side->pipeline->tier, side->launch.request,
                                   side->cancellable, &side->error);
  g_atomic_int_set (&side->ended, 1);
  return NULL;
}

static gboolean
map_turns (AssaySide *side, GError **error)
{
  side->memory = assay_memory_new ("turns", sizeof (AssayTurns), error);
  if (!side->memory)
    return FALSE;
  side->turns = mmap (NULL, sizeof (AssayTurns), PROT_READ | PROT_WRITE, MAP_SHARED,
                      assay_memory_fd (side->memory), 0);
  if (side->turns != MAP_FAILED)
    return TRUE;
  side->turns = NULL;
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno), "the turns: %s",
               g_strerror (errno));
  return FALSE;
}

gboolean
assay_side_start (AssaySide *side, AssayPipeline *p, AssayCase *c, double seconds, double limit,
                  GError **error)
{
  *side = (AssaySide) {.pipeline = p,
                       .limit = limit,
                       .cancellable = g_cancellable_new (),
                       .walls = g_array_new (FALSE, FALSE, sizeof (double))};
  if (!map_turns (side, error) || !assay_candidate_prepare (p, c, &side->launch, error))
    return FALSE;
  side->launch.request->request = ASSAY_REQUEST_BENCH;
  side->launch.request->turns_fd = TURNS_FD;
  assay_sandbox_spec_limits (side->launch.spec)->wall_seconds = seconds;
  assay_sandbox_spec_pass (side->launch.spec, side->memory, TURNS_FD);
  side->thread = g_thread_new ("timed side", run_worker, side);
  return TRUE;
}

gboolean
assay_side_turn (AssaySide *side, gint turn, gint samples)
{
  gint64 started = g_get_monotonic_time ();
  g_atomic_int_set (&side->turns->samples, samples);
  g_atomic_int_set (&side->turns->go, turn);
  while (g_atomic_int_get (&side->turns->done) != turn)
    {
      double spent = (double) (g_get_monotonic_time () - started) / G_TIME_SPAN_SECOND;
      if (spent > side->limit)
        side->late = g_strdup_printf ("no answer within %g s, %s", side->limit,
                                      turn == 1 ? "while warming up" : "in a round");
      if (side->late || assay_pipeline_cancelled (side->pipeline))
        g_cancellable_cancel (side->cancellable);
      if (side->late || g_atomic_int_get (&side->ended)
          || assay_pipeline_cancelled (side->pipeline))
        return FALSE;
      g_usleep (ASSAY_TURNS_POLL_MICROSECONDS);
    }
  double wall = (double) (g_get_monotonic_time () - started) / G_TIME_SPAN_SECOND;
  if (turn > 1)
    g_array_append_val (side->walls, wall);
  return TRUE;
}

void
assay_side_stop (AssaySide *side)
{
  if (!side->thread)
    return;
  g_atomic_int_set (&side->turns->go, (gint) ASSAY_TURNS_STOP);
  g_thread_join (g_steal_pointer (&side->thread));
}

static GArray *
copy (const double *times, gsize count)
{
  GArray *array = g_array_new (FALSE, FALSE, sizeof (double));
  return g_array_append_vals (array, times, (guint) MIN (count, ASSAY_TURNS_TIMES));
}

GArray *
assay_side_events (const AssaySide *side, gsize count)
{
  return copy (side->turns->events, count);
}

GArray *
assay_side_hosts (const AssaySide *side, gsize count)
{
  return copy (side->turns->hosts, count);
}

char *
assay_side_trouble (const AssaySide *side)
{
  if (side->late)
    return g_strdup (side->late);
  if (side->error)
    return g_strdup (side->error->message);
  if (side->reply && side->reply->outcome != ASSAY_OUTCOME_DONE)
    return g_strdup (side->reply->message);
  return NULL;
}

void
assay_side_clear (AssaySide *side)
{
  assay_side_stop (side);
  if (side->turns)
    munmap (side->turns, sizeof (AssayTurns));
  side->turns = NULL;
  g_clear_pointer (&side->memory, assay_memory_unref);
  g_clear_pointer (&side->reply, assay_worker_reply_free);
  g_clear_error (&side->error);
  g_clear_pointer (&side->late, g_free);
  g_clear_object (&side->cancellable);
  g_clear_pointer (&side->walls, g_array_unref);
  assay_prepared_launch_clear (&side->launch);
}
