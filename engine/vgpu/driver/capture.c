/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that record what they are given instead of running it. Other streams join a capture by waiting
 * for an event recorded in it. */
#include "engine/vgpu/driver/graph.h"

#include "engine/vgpu/ptx/arena.h"

#include <stdlib.h>
#include <string.h>

bool
vgpu_is_capturing (CUcontext context, CUstream handle)
{
  CUstream stream = vgpu_stream_of (context, handle);
  return stream != NULL && stream->capture != NULL;
}

static void
set_tips (CUgraphNode **tips, size_t *count, const CUgraphNode *from, size_t from_count)
{
  CUgraphNode *copy = vgpu_take ((from_count + 1) * sizeof *copy);
  if (from_count > 0)
    memcpy (copy, from, from_count * sizeof *copy);
  free (*tips);
  *tips = copy;
  *count = from_count;
}

static void
add_tips (CUstream stream, const CUgraphNode *from, size_t count)
{
  stream->tips = vgpu_retake (stream->tips, (stream->tip_count + count + 1) * sizeof *stream->tips);
  memcpy (stream->tips + stream->tip_count, from, count * sizeof *from);
  stream->tip_count += count;
}

CUresult
vgpu_capture_add (CUstream stream, const VgpuWork *work)
{
  VgpuWork item = *work;
  CUevent event = item.event;
  if (item.kind == VGPU_WORK_RECORD)
    {
      event->capture = stream->capture;
      event->recorded = true;
      set_tips (&event->tips, &event->tip_count, stream->tips, stream->tip_count);
      return CUDA_SUCCESS;
    }
  if (item.kind == VGPU_WORK_WAIT)
    {
      if (event->capture != stream->capture)
        {
          stream->capture_broken = stream->capture_broken || event->recorded;
          return event->recorded ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
        }
      add_tips (stream, event->tips, event->tip_count);
      return CUDA_SUCCESS;
    }
  CUgraphNode node = vgpu_graph_add (stream->capture, &item, stream->tips, stream->tip_count);
  set_tips (&stream->tips, &stream->tip_count, &node, 1);
  return CUDA_SUCCESS;
}

void
vgpu_capture_join (CUstream stream, CUevent event)
{
  stream->capture = event->capture;
  stream->capture_joined = true;
  stream->capture_broken = false;
  set_tips (&stream->tips, &stream->tip_count, event->tips, event->tip_count);
}

CUresult
cuStreamBeginCapture_v2 (CUstream handle, int mode)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  CUstream stream = vgpu_stream_of (context, handle);
  if (stream == NULL || mode < 0 || mode > 2)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  if (stream == context->legacy)
    return vgpu_leave (CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  if (stream->capture != NULL)
    return vgpu_leave (CUDA_ERROR_ILLEGAL_STATE);
  stream->capture = vgpu_graph_new ();
  stream->capture_mode = mode;
  stream->capture_broken = stream->capture_joined = false;
  set_tips (&stream->tips, &stream->tip_count, NULL, 0);
  return vgpu_leave (CUDA_SUCCESS);
}

/* Whether all of a joined stream's last nodes come before what the ending stream has last. */
static bool
is_before (CUgraphNode node, CUgraphNode last)
{
  if (node == last)
    return true;
  for (size_t i = 0; i < last->after_count; i++)
    if (is_before (node, last->after[i]))
      return true;
  return false;
}

static bool
leave_capture (CUcontext context, CUstream ending)
{
  bool joined = true;
  for (CUstream s = context->streams; s != NULL; s = s->next)
    {
      if (s == ending || s->capture != ending->capture)
        continue;
      for (size_t i = 0; i < s->tip_count; i++)
        {
          bool found = false;
          for (size_t j = 0; !found && j < ending->tip_count; j++)
            found = is_before (s->tips[i], ending->tips[j]);
          joined = joined && found;
        }
      ending->capture_broken = ending->capture_broken || s->capture_broken;
      s->capture = NULL;
    }
  return joined;
}

CUresult
cuStreamEndCapture (CUstream handle, CUgraph *graph)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  CUstream stream = vgpu_stream_of (context, handle);
  if (graph == NULL || stream == NULL)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  *graph = NULL;
  if (stream->capture == NULL)
    return vgpu_leave (CUDA_ERROR_ILLEGAL_STATE);
  if (stream->capture_joined)
    return vgpu_leave (CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  bool joined = leave_capture (context, stream);
  CUgraph made = stream->capture;
  stream->capture = NULL;
  if (joined && !stream->capture_broken)
    {
      *graph = made;
      return vgpu_leave (CUDA_SUCCESS);
    }
  vgpu_graph_free (made);
  return vgpu_leave ((stream->capture_broken ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                                             : CUDA_ERROR_STREAM_CAPTURE_UNJOINED));
}

CUresult
cuStreamIsCapturing (CUstream handle, int *status)
{
  return cuStreamGetCaptureInfo_v2 (handle, status, NULL, NULL, NULL, NULL);
}

CUresult
cuStreamGetCaptureInfo_v2 (CUstream handle, int *status, uint64_t *id, CUgraph *graph,
                           const CUgraphNode **nodes, size_t *count)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  CUstream stream = vgpu_stream_of (context, handle);
  if (stream == NULL || status == NULL)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  *status = stream->capture == NULL ? 0 : stream->capture_broken ? 2 : 1;
  if (stream->capture == NULL)
    return vgpu_leave (CUDA_SUCCESS);
  if (id != NULL)
    *id = (uintptr_t) stream->capture;
  if (graph != NULL)
    *graph = stream->capture;
  if (nodes != NULL)
    *nodes = stream->tips;
  if (count != NULL)
    *count = stream->tip_count;
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuThreadExchangeStreamCaptureMode (int *mode)
{
  static __thread int current;
  if (mode == NULL || *mode < 0 || *mode > 2)
    return CUDA_ERROR_INVALID_VALUE;
  int before = current;
  current = *mode;
  *mode = before;
  return CUDA_SUCCESS;
}
