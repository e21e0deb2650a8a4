/* SPDX-License-Identifier: Apache-2.0 */
/* What one item of a stream does. */
#include "engine/vgpu/driver/work.h"

#include "engine/vgpu/ptx/arena.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static double
host_seconds (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

static VgpuAllocation *
live (CUcontext context, uint64_t address)
{
  VgpuAllocation *found = vgpu_memory_find (context->memory, address);
  return found != NULL && !found->freed ? found : NULL;
}

/* What is known of the bytes goes with them: a copy of what nobody has written has not written. */
static void
copy_marks (CUcontext context, uint64_t to, uint64_t from, size_t bytes)
{
  VgpuAllocation *target = live (context, to);
  VgpuAllocation *source = live (context, from);
  if (target == NULL)
    return;
  if (source == NULL || source->valid == NULL)
    {
      vgpu_allocation_mark (target, to, bytes, true);
      return;
    }
  if (target->valid == NULL)
    {
      if (!target->tracked || memchr (source->valid + (from - source->lo), 0, bytes) == NULL)
        return;
      vgpu_allocation_mark (target, to, bytes, false);
    }
  memmove (target->valid + (to - target->lo), source->valid + (from - source->lo), bytes);
}

static void
run_copy (CUcontext context, const VgpuCopy *copy)
{
  bool over_bus = copy->staged != NULL || live (context, copy->to) == NULL
                  || live (context, copy->from) == NULL;
  context->modelled +=
      vgpu_time_of_bytes ((uint64_t) copy->width * copy->height * copy->depth, over_bus);
  for (size_t z = 0; z < copy->depth; z++)
    for (size_t y = 0; y < copy->height; y++)
      {
        uint64_t to = copy->to + (z * copy->to_rows + y) * copy->to_pitch;
        uint64_t offset = (z * copy->from_rows + y) * copy->from_pitch;
        const char *from = copy->staged != NULL ? (const char *) copy->staged + offset
                                                : (const char *) (uintptr_t) (copy->from + offset);
        memmove ((void *) (uintptr_t) to, from, copy->width);
        copy_marks (context, to, copy->staged != NULL ? 0 : copy->from + offset, copy->width);
      }
}

static void
run_fill (CUcontext context, const VgpuFill *fill)
{
  context->modelled +=
      vgpu_time_of_bytes ((uint64_t) fill->width * fill->size * fill->height, false);
  for (size_t y = 0; y < fill->height; y++)
    {
      uint64_t row = fill->to + y * fill->pitch;
      VgpuAllocation *allocation = live (context, row);
      if (fill->size == 1)
        memset ((void *) (uintptr_t) row, (int) fill->value, fill->width);
      else
        for (size_t i = 0; i < fill->width; i++)
          memcpy ((char *) (uintptr_t) row + i * fill->size, &fill->value, fill->size);
      if (allocation != NULL)
        vgpu_allocation_mark (allocation, row, fill->width * fill->size, true);
    }
}

/* A host function may take long, and other threads may want the driver meanwhile. */
static void
run_call (const VgpuWork *item)
{
  vgpu_leave (CUDA_SUCCESS);
  item->call.function (item->call.data);
  pthread_mutex_lock (&vgpu_driver.lock);
}

CUresult
vgpu_work_run (CUcontext context, const VgpuWork *item)
{
  if (item->kind == VGPU_WORK_RECORD && item->event != NULL && item->event->number == item->number)
    {
      item->event->done = true;
      item->event->seconds =
          vgpu_driver.settings.time == VGPU_TIME_MODEL ? context->modelled : host_seconds ();
    }
  /* A context with an error does nothing any more. */
  if (context->sticky != CUDA_SUCCESS)
    return context->sticky;
  switch (item->kind)
    {
    case VGPU_WORK_LAUNCH:
      return vgpu_launch_work (context, &item->launch);
    case VGPU_WORK_COPY:
      run_copy (context, &item->copy);
      return CUDA_SUCCESS;
    case VGPU_WORK_FILL:
    case VGPU_WORK_WRITE:
      run_fill (context, &item->fill);
      return CUDA_SUCCESS;
    case VGPU_WORK_CALL:
      run_call (item);
      return CUDA_SUCCESS;
    case VGPU_WORK_FREE:
      vgpu_memory_release (context->memory, item->free);
      return CUDA_SUCCESS;
    case VGPU_WORK_TAKE:
      return vgpu_memory_revive (context->memory, item->free,
                                 (vgpu_driver.settings.checks & VGPU_CHECK_UNINIT) != 0)
                 ? CUDA_SUCCESS
                 : CUDA_ERROR_INVALID_VALUE;
    case VGPU_WORK_GRAPH:
      return vgpu_graph_run (context, item->graph);
    case VGPU_WORK_NOTHING:
    case VGPU_WORK_RECORD:
    case VGPU_WORK_WAIT:
      break;
    }
  return CUDA_SUCCESS;
}

void
vgpu_work_clear (VgpuWork *item)
{
  if (item->kind == VGPU_WORK_LAUNCH)
    free (item->launch.parameters);
  if (item->kind == VGPU_WORK_COPY)
    free (item->copy.staged);
  item->kind = VGPU_WORK_NOTHING;
}

VgpuWork
vgpu_work_copy (const VgpuWork *item)
{
  VgpuWork copy = *item;
  if (item->kind == VGPU_WORK_LAUNCH)
    {
      size_t bytes = item->launch.function->kernel->parameter_bytes + 16;
      copy.launch.parameters = vgpu_take (bytes);
      memcpy (copy.launch.parameters, item->launch.parameters, bytes);
    }
  copy.next = NULL;
  return copy;
}
