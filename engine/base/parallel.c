/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/parallel.h"

#include "engine/base/error.h"

typedef struct
{
  gsize count;
  gsize next; /* atomic */
  AssayParallelPiece piece;
  gpointer user_data;
  GCancellable *cancellable;
} Work;

static gboolean
do_next (Work *work)
{
  gsize index = g_atomic_pointer_add (&work->next, 1);
  if (index >= work->count || g_cancellable_is_cancelled (work->cancellable))
    return FALSE;
  work->piece (index, work->user_data);
  return TRUE;
}

static gpointer
run_thread (gpointer data)
{
  while (do_next (data))
    ;
  return NULL;
}

gboolean
assay_parallel_for (gsize count, guint threads, AssayParallelPiece piece, gpointer user_data,
                    AssayProgress progress, gpointer progress_data, GCancellable *cancellable,
                    GError **error)
{
  Work work = {count, 0, piece, user_data, cancellable};
  gsize wanted = MIN (threads ? threads : g_get_num_processors (), count);
  GThread *others[64];
  guint started = 0;
  while (started + 1 < wanted && started < G_N_ELEMENTS (others))
    {
      others[started] = g_thread_try_new ("assay-parallel", run_thread, &work, NULL);
      if (!others[started])
        break;
      started++;
    }
  while (do_next (&work))
    if (progress)
      progress ((double) MIN (work.next, count) / (double) count, progress_data);
  for (guint i = 0; i < started; i++)
    g_thread_join (others[i]);
  if (!g_cancellable_is_cancelled (cancellable))
    return TRUE;
  g_set_error_literal (error, ASSAY_ERROR, ASSAY_ERROR_CANCELLED, "cancelled");
  return FALSE;
}
