/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events. */
#include "engine/vgpu/driver/work.h"

#include "engine/vgpu/ptx/arena.h"

#include <math.h>
#include <stdlib.h>

#define EVENT_WITHOUT_TIME 2u

CUstream
vgpu_stream_of (CUcontext context, CUstream stream)
{
  if (stream == NULL || stream == VGPU_STREAM_LEGACY)
    return context->legacy;
  if (stream == VGPU_STREAM_PER_THREAD)
    return context->per_thread;
  for (CUstream known = context->streams; known != NULL; known = known->next)
    if (known == stream)
      return stream;
  return NULL;
}

CUresult
cuStreamCreateWithPriority (CUstream *stream, unsigned int flags, int priority)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (stream == NULL || flags > 1)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  CUstream made = vgpu_take (sizeof *made);
  made->context = context;
  made->id = ++context->next_stream;
  made->flags = flags;
  made->priority = priority < -5 ? -5 : priority > 0 ? 0 : priority;
  made->next = context->streams;
  context->streams = made;
  *stream = made;
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuStreamCreate (CUstream *stream, unsigned int flags)
{
  return cuStreamCreateWithPriority (stream, flags, 0);
}

CUresult
cuStreamDestroy_v2 (CUstream stream)
{
  CUcontext context = vgpu_current ();
  if (context == NULL)
    return CUDA_ERROR_INVALID_CONTEXT;
  pthread_mutex_lock (&vgpu_driver.lock);
  for (CUstream *link = &context->streams; *link != NULL; link = &(*link)->next)
    if (*link == stream)
      {
        /* What it was given still runs; here it runs now. */
        if (stream->capture == NULL)
          vgpu_wait_stream (context, stream);
        *link = stream->next;
        free (stream->tips);
        free (stream);
        return vgpu_leave (CUDA_SUCCESS);
      }
  return vgpu_leave (CUDA_ERROR_INVALID_HANDLE);
}

CUresult
cuStreamSynchronize (CUstream stream)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  return result != CUDA_SUCCESS ? result : vgpu_leave (vgpu_wait_stream (context, stream));
}

CUresult
cuStreamQuery (CUstream stream)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (vgpu_is_capturing (context, stream))
    return vgpu_leave (CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  if (!vgpu_stream_is_idle (context, stream))
    return vgpu_leave (CUDA_ERROR_NOT_READY);
  return vgpu_leave (context->sticky);
}

/* Reads one property of a stream. */
static CUresult
look_at (CUstream handle, CUstream *stream)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  *stream = vgpu_stream_of (context, handle);
  return vgpu_leave (*stream != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}

CUresult
cuStreamGetPriority (CUstream stream, int *priority)
{
  CUstream found;
  CUresult result = look_at (stream, &found);
  if (result == CUDA_SUCCESS)
    *priority = found->priority;
  return result;
}

CUresult
cuStreamGetFlags (CUstream stream, unsigned int *flags)
{
  CUstream found;
  CUresult result = look_at (stream, &found);
  if (result == CUDA_SUCCESS)
    *flags = found->flags;
  return result;
}

CUresult
cuStreamGetId (CUstream stream, unsigned long long *id)
{
  CUstream found;
  CUresult result = look_at (stream, &found);
  if (result == CUDA_SUCCESS)
    *id = found->id;
  return result;
}

CUresult
cuStreamGetCtx (CUstream stream, CUcontext *context)
{
  CUstream found;
  CUresult result = look_at (stream, &found);
  if (result == CUDA_SUCCESS)
    *context = found->context;
  return result;
}

bool
vgpu_is_event (CUcontext context, CUevent event)
{
  const struct CUevent_st *known = context->events;
  while (known != NULL && known != event)
    known = known->next;
  return known != NULL;
}

static CUresult
submit_now (CUstream stream, const VgpuWork *item)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  bool for_event = item->kind == VGPU_WORK_WAIT || item->kind == VGPU_WORK_RECORD;
  if (result != CUDA_SUCCESS)
    return result;
  if (for_event && !vgpu_is_event (context, item->event))
    return vgpu_leave (CUDA_ERROR_INVALID_HANDLE);
  return vgpu_leave (vgpu_submit (context, stream, item));
}

/* Enters with an event that may be anything. */
static CUresult
enter_with (CUcontext *context, CUevent event)
{
  CUresult result = vgpu_enter (context);
  if (result == CUDA_SUCCESS && !vgpu_is_event (*context, event))
    result = vgpu_leave (CUDA_ERROR_INVALID_HANDLE);
  return result;
}

CUresult
cuLaunchHostFunc (CUstream stream, CUhostFn function, void *data)
{
  if (function == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  return submit_now (stream, &(VgpuWork) {.kind = VGPU_WORK_CALL, .call = {function, data}});
}

typedef struct
{
  CUstreamCallback callback;
  CUstream stream;
  CUcontext context;
  void *data;
} Callback;

static void
run_callback (void *data)
{
  Callback *callback = data;
  callback->callback (callback->stream, callback->context->sticky, callback->data);
  free (callback);
}

CUresult
cuStreamAddCallback (CUstream stream, CUstreamCallback callback, void *data, unsigned int flags)
{
  if (callback == NULL || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  Callback *kept = vgpu_take (sizeof *kept);
  *kept = (Callback) {callback, stream, vgpu_current (), data};
  return cuLaunchHostFunc (stream, run_callback, kept);
}

CUresult
cuStreamAttachMemAsync (CUstream stream, CUdeviceptr pointer, size_t bytes, unsigned int flags)
{
  (void) pointer;
  (void) bytes;
  (void) flags;
  return submit_now (stream, &(VgpuWork) {.kind = VGPU_WORK_NOTHING});
}

CUresult
cuStreamWriteValue32_v2 (CUstream stream, CUdeviceptr to, unsigned int value, unsigned int flags)
{
  (void) flags;
  VgpuWork item = {.kind = VGPU_WORK_WRITE,
                   .fill = {.to = to, .value = value, .size = 4, .width = 1, .height = 1}};
  return to % 4 != 0 ? CUDA_ERROR_INVALID_VALUE : submit_now (stream, &item);
}

CUresult
cuStreamWaitEvent (CUstream stream, CUevent event, unsigned int flags)
{
  (void) flags;
  return submit_now (stream, &(VgpuWork) {.kind = VGPU_WORK_WAIT, .event = event});
}

CUresult
cuEventCreate (CUevent *event, unsigned int flags)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (event == NULL)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  *event = vgpu_take (sizeof **event);
  (*event)->flags = flags;
  (*event)->next = context->events;
  context->events = *event;
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuEventDestroy_v2 (CUevent event)
{
  CUcontext context = vgpu_current ();
  if (context == NULL)
    return CUDA_ERROR_INVALID_CONTEXT;
  pthread_mutex_lock (&vgpu_driver.lock);
  CUevent *link = &context->events;
  while (*link != NULL && *link != event)
    link = &(*link)->next;
  if (*link == NULL)
    return vgpu_leave (CUDA_ERROR_INVALID_HANDLE);
  *link = event->next;
  for (VgpuWork *item = context->queue; item != NULL; item = item->next)
    if (item->event == event)
      item->event = NULL;
  free (event->tips);
  free (event);
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuEventRecordWithFlags (CUevent event, CUstream stream, unsigned int flags)
{
  (void) flags;
  return submit_now (stream, &(VgpuWork) {.kind = VGPU_WORK_RECORD, .event = event});
}

CUresult
cuEventRecord (CUevent event, CUstream stream)
{
  return cuEventRecordWithFlags (event, stream, 0);
}

CUresult
cuEventSynchronize (CUevent event)
{
  CUcontext context;
  CUresult result = enter_with (&context, event);
  if (result != CUDA_SUCCESS)
    return result;
  if (event->capture != NULL)
    return vgpu_leave (CUDA_ERROR_CAPTURED_EVENT);
  return vgpu_leave (vgpu_wait_event (context, event));
}

CUresult
cuEventQuery (CUevent event)
{
  CUcontext context;
  CUresult result = enter_with (&context, event);
  if (result != CUDA_SUCCESS)
    return result;
  if (event->capture != NULL)
    return vgpu_leave (CUDA_ERROR_CAPTURED_EVENT);
  if (!vgpu_event_is_done (context, event))
    return vgpu_leave (CUDA_ERROR_NOT_READY);
  return vgpu_leave (context->sticky);
}

/* There is no notion of time here, and a made-up number would be taken for a speed: NaN, unless the
 * host's own time or a model's was asked for by setting. */
CUresult
cuEventElapsedTime (float *milliseconds, CUevent from, CUevent to)
{
  CUcontext context;
  CUresult result = enter_with (&context, from);
  if (result != CUDA_SUCCESS)
    return result;
  if (milliseconds == NULL)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  if (!vgpu_is_event (context, to) || !from->recorded || !to->recorded
      || ((from->flags | to->flags) & EVENT_WITHOUT_TIME) != 0)
    return vgpu_leave (CUDA_ERROR_INVALID_HANDLE);
  if (!vgpu_event_is_done (context, from) || !vgpu_event_is_done (context, to))
    return vgpu_leave (CUDA_ERROR_NOT_READY);
  vgpu_time_told ();
  *milliseconds = vgpu_driver.settings.time != VGPU_TIME_NONE
                      ? (float) ((to->seconds - from->seconds) * 1e3)
                      : NAN;
  return vgpu_leave (context->sticky);
}
