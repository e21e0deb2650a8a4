/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of what streams were given, and the three ways to work it off. */
#include "engine/vgpu/driver/work.h"

#include "engine/vgpu/ptx/arena.h"

#include <signal.h>
#include <stdlib.h>

/* One executor serves the process: items of all streams run in the order of submission, which is one
 * of the orders that streams allow. */
static pthread_cond_t given = PTHREAD_COND_INITIALIZER;
static pthread_cond_t advanced = PTHREAD_COND_INITIALIZER;
static pthread_t executor;
static bool executor_runs;
static CUcontext executor_context;

static bool
is_blocking (const struct CUstream_st *stream)
{
  return (stream->flags & 1) == 0;
}

static void
remove_first (CUcontext context)
{
  VgpuWork *item = context->queue;
  context->queue = item->next;
  if (context->queue == NULL)
    context->queue_tail = &context->queue;
  vgpu_work_clear (item);
  free (item);
}

static void *
execute (void *data)
{
  (void) data;
  pthread_mutex_lock (&vgpu_driver.lock);
  for (;;)
    {
      while (executor_context == NULL || executor_context->queue == NULL)
        pthread_cond_wait (&given, &vgpu_driver.lock);
      CUcontext context = executor_context;
      vgpu_work_run (context, context->queue);
      remove_first (context);
      pthread_cond_broadcast (&advanced);
    }
  return NULL;
}

static void
start_executor (CUcontext context)
{
  sigset_t all, old;
  executor_context = context;
  if (executor_runs)
    return;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &old);
  executor_runs = pthread_create (&executor, NULL, execute, NULL) == 0;
  pthread_sigmask (SIG_SETMASK, &old, NULL);
}

static bool
executor_serves (CUcontext context)
{
  return executor_runs && executor_context == context;
}

static void
append (CUcontext context, const VgpuWork *item)
{
  VgpuWork *kept = vgpu_take (sizeof *kept);
  *kept = *item;
  kept->next = NULL;
  *context->queue_tail = kept;
  context->queue_tail = &kept->next;
}

static void
number_item (CUcontext context, CUstream stream, VgpuWork *item)
{
  item->context = context;
  item->stream = stream;
  item->number = ++context->submitted;
  if (item->kind == VGPU_WORK_WAIT)
    item->record = item->event->number;
  if (item->kind != VGPU_WORK_RECORD)
    return;
  item->event->capture = NULL;
  item->event->recorded = true;
  item->event->done = false;
  item->event->number = item->number;
}

CUresult
vgpu_submit (CUcontext context, CUstream handle, const VgpuWork *work)
{
  VgpuWork item = *work;
  CUstream stream = vgpu_stream_of (context, handle);
  if (stream == NULL)
    {
      vgpu_work_clear (&item);
      return CUDA_ERROR_INVALID_HANDLE;
    }
  if (stream->capture == NULL && item.kind == VGPU_WORK_WAIT && item.event->capture != NULL)
    vgpu_capture_join (stream, item.event);
  if (stream->capture != NULL)
    return vgpu_capture_add (stream, &item);
  number_item (context, stream, &item);
  VgpuStreamMode mode = vgpu_driver.settings.streams;
  if (mode == VGPU_STREAMS_EAGER && context->queue == NULL)
    {
      CUresult result = vgpu_work_run (context, &item);
      vgpu_work_clear (&item);
      /* As on a device, the launch itself succeeds; what went wrong shows at the next call. */
      return result == context->sticky ? CUDA_SUCCESS : result;
    }
  append (context, &item);
  if (mode == VGPU_STREAMS_THREAD)
    {
      start_executor (context);
      pthread_cond_signal (&given);
    }
  return CUDA_SUCCESS;
}

CUresult
vgpu_submit_and_wait (CUcontext context, CUstream stream, const VgpuWork *item)
{
  CUresult result = vgpu_submit (context, stream, item);
  return result != CUDA_SUCCESS ? result : vgpu_wait_stream (context, stream);
}

/* ---- late: what is needed runs, and nothing else ---- */

static void
forget_wants (CUcontext context)
{
  context->legacy->wanted = context->per_thread->wanted = false;
  for (CUstream s = context->streams; s != NULL; s = s->next)
    s->wanted = false;
}

static void
want (CUcontext context, CUstream stream)
{
  stream->wanted = true;
  /* The legacy stream comes after everything that blocking streams were given before, and they
   * after it. */
  if (stream == context->legacy)
    {
      context->per_thread->wanted = true;
      for (CUstream s = context->streams; s != NULL; s = s->next)
        s->wanted = s->wanted || is_blocking (s);
    }
  else if (is_blocking (stream))
    context->legacy->wanted = true;
}

/* Marks, latest first, what the items marked `needed` rest on. */
static void
mark_needed (CUcontext context)
{
  size_t count = 0;
  for (VgpuWork *item = context->queue; item != NULL; item = item->next)
    count++;
  VgpuWork **items = vgpu_take (count * sizeof *items);
  count = 0;
  for (VgpuWork *item = context->queue; item != NULL; item = item->next)
    items[count++] = item;
  forget_wants (context);
  for (size_t i = count; i-- > 0;)
    {
      items[i]->needed = items[i]->needed || items[i]->stream->wanted;
      if (!items[i]->needed)
        continue;
      want (context, items[i]->stream);
      for (size_t j = 0; items[i]->kind == VGPU_WORK_WAIT && j < i; j++)
        if (items[j]->number == items[i]->record)
          items[j]->needed = true;
    }
  free (items);
}

static void
run_needed (CUcontext context)
{
  VgpuWork **link = &context->queue;
  while (*link != NULL)
    {
      VgpuWork *item = *link;
      if (!item->needed)
        {
          link = &item->next;
          continue;
        }
      *link = item->next;
      if (*link == NULL)
        context->queue_tail = link;
      vgpu_work_run (context, item);
      vgpu_work_clear (item);
      free (item);
      /* A host function may have let others in. */
      link = &context->queue;
    }
}

static void
run_through (CUcontext context, VgpuWork *last)
{
  last->needed = true;
  mark_needed (context);
  run_needed (context);
}

/* ---- waiting ---- */

static VgpuWork *
last_of (CUcontext context, CUstream stream)
{
  VgpuWork *last = NULL;
  for (VgpuWork *item = context->queue; item != NULL; item = item->next)
    if (stream == NULL || item->stream == stream)
      last = item;
  return last;
}

static bool
is_queued (CUcontext context, uint64_t number)
{
  for (VgpuWork *item = context->queue; item != NULL; item = item->next)
    if (item->number == number)
      return true;
  return false;
}

static void
await (CUcontext context, uint64_t number)
{
  pthread_cond_signal (&given);
  while (is_queued (context, number))
    pthread_cond_wait (&advanced, &vgpu_driver.lock);
}

static void
reach (CUcontext context, VgpuWork *last)
{
  if (last == NULL)
    return;
  if (executor_serves (context))
    await (context, last->number);
  else
    run_through (context, last);
}

CUresult
vgpu_wait_stream (CUcontext context, CUstream handle)
{
  CUstream stream = vgpu_stream_of (context, handle);
  if (stream == NULL)
    return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture != NULL)
    {
      stream->capture_broken = true;
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
  reach (context, last_of (context, stream));
  return context->sticky;
}

CUresult
vgpu_wait_event (CUcontext context, CUevent event)
{
  for (VgpuWork *item = context->queue; event->recorded && item != NULL; item = item->next)
    if (item->number == event->number)
      {
        reach (context, item);
        break;
      }
  return context->sticky;
}

CUresult
vgpu_wait_all (CUcontext context)
{
  for (VgpuWork *last = last_of (context, NULL); last != NULL; last = last_of (context, NULL))
    {
      if (!executor_serves (context))
        for (VgpuWork *item = context->queue; item != NULL; item = item->next)
          item->needed = true;
      reach (context, last);
    }
  return context->sticky;
}

static bool
poll_item (CUcontext context, VgpuWork *item)
{
  if (item == NULL)
    return true;
  if (!executor_serves (context))
    {
      context->polls++;
      if (context->polls % 2 == 0)
        run_through (context, item);
    }
  return false;
}

bool
vgpu_stream_is_idle (CUcontext context, CUstream handle)
{
  CUstream stream = vgpu_stream_of (context, handle);
  return stream == NULL || poll_item (context, last_of (context, stream));
}

bool
vgpu_event_is_done (CUcontext context, CUevent event)
{
  for (VgpuWork *item = context->queue; event->recorded && item != NULL; item = item->next)
    if (item->number == event->number)
      return poll_item (context, item);
  return true;
}

void
vgpu_streams_clear (CUcontext context)
{
  /* The executor may be at work in the first item: its lock was released only for a host function. */
  if (executor_serves (context))
    {
      vgpu_wait_all (context);
      executor_context = NULL;
    }
  while (context->queue != NULL)
    remove_first (context);
}
