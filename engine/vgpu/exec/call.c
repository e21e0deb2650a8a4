/* SPDX-License-Identifier: Apache-2.0 */
/* Calls. A function has one set of rows: a call of one that is still running for some lane of the warp keeps
 * what it holds, and puts it back afterwards, lane by lane. */
#include "engine/target/cuda-abi.h"
#include "engine/vgpu/check/check.h"
#include "engine/vgpu/exec/control.h"
#include "engine/vgpu/ptx/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct
{
  uint32_t callable;
  uint32_t mask; /* lanes that have not returned */
  char *rows;    /* what the function held before, or NULL */
  uint32_t *poison;
} Call;

struct VgpuCalls
{
  uint32_t *running; /* per callable: calls that have not returned */
  Call *list;
  size_t count, capacity;
};

static uint64_t *
wide_row (const VgpuWarp *warp, int32_t row)
{
  return (uint64_t *) (warp->base[(uint32_t) row >> 31] + row);
}

static void
drop (VgpuCalls *calls, size_t at)
{
  calls->running[calls->list[at].callable]--;
  free (calls->list[at].rows);
  free (calls->list[at].poison);
  calls->count--;
  memmove (calls->list + at, calls->list + at + 1, (calls->count - at) * sizeof *calls->list);
}

void
vgpu_calls_begin (VgpuWarp *warp)
{
  const VgpuKernel *kernel = warp->kernel;
  if (kernel->callable_count == 0)
    return;
  if (warp->calls == NULL)
    {
      warp->calls = vgpu_take (sizeof *warp->calls);
      warp->calls->running = vgpu_take (kernel->callable_count * sizeof (uint32_t));
    }
  /* Lanes that ended inside a function have left their calls behind. */
  while (warp->calls->count > 0)
    drop (warp->calls, warp->calls->count - 1);
  uint64_t *stack = wide_row (warp, kernel->stack_row);
  for (int lane = 0; lane < VGPU_LANES; lane++)
    stack[lane] = kernel->stack_start;
}

void
vgpu_calls_free (VgpuWarp *warp)
{
  if (warp->calls == NULL)
    return;
  while (warp->calls->count > 0)
    drop (warp->calls, warp->calls->count - 1);
  free (warp->calls->running);
  free (warp->calls->list);
  free (warp->calls);
}

/* d: where the frames of the function about to be called begin. */
void
vgpu_call_enter (VgpuWarp *warp, const VgpuIns *ins)
{
  uint64_t *to = wide_row (warp, ins->d);
  const uint64_t *stack = wide_row (warp, warp->kernel->stack_row);
  for (uint32_t left = warp->mask; left != 0; left &= left - 1)
    to[__builtin_ctz (left)] = stack[__builtin_ctz (left)];
}

/* The words of a warp that a row has for the uninitialised-read check. */
static size_t
poison_of (const VgpuRow *row)
{
  return (size_t) row->offset / VGPU_ROW_UNIT;
}

static size_t
row_bytes (const VgpuRow *row)
{
  return row->bytes == 1 ? sizeof (uint32_t) : (size_t) row->bytes * VGPU_LANES;
}

static void
keep_rows (const VgpuWarp *warp, const VgpuCallable *callable, Call *call)
{
  const VgpuRow *rows = warp->kernel->own_rows + callable->first_row;
  size_t bytes = 0;
  for (uint32_t i = 0; i < callable->row_count; i++)
    bytes += row_bytes (&rows[i]);
  call->rows = vgpu_take (bytes);
  call->poison = vgpu_take (callable->row_count * sizeof *call->poison);
  char *to = call->rows;
  for (uint32_t i = 0; i < callable->row_count; i++)
    {
      memcpy (to, warp->base[0] + rows[i].offset, row_bytes (&rows[i]));
      to += row_bytes (&rows[i]);
      call->poison[i] = warp->poison[poison_of (&rows[i])];
    }
}

static void
put_rows_back (VgpuWarp *warp, const VgpuCallable *callable, const Call *call, uint32_t lanes)
{
  const VgpuRow *rows = warp->kernel->own_rows + callable->first_row;
  const char *from = call->rows;
  for (uint32_t i = 0; i < callable->row_count; i++)
    {
      char *to = warp->base[0] + rows[i].offset;
      uint32_t *poison = &warp->poison[poison_of (&rows[i])];
      if (rows[i].bytes == 1)
        *(uint32_t *) to = (*(uint32_t *) to & ~lanes) | (*(const uint32_t *) from & lanes);
      else
        for (uint32_t left = lanes; left != 0; left &= left - 1)
          {
            size_t at = (size_t) __builtin_ctz (left) * rows[i].bytes;
            memcpy (to + at, from + at, rows[i].bytes);
          }
      *poison = (*poison & ~lanes) | (call->poison[i] & lanes);
      from += row_bytes (&rows[i]);
    }
}

static const VgpuCallable *
find_callable (const VgpuKernel *kernel, uint64_t address)
{
  for (size_t i = 0; i < kernel->callable_count; i++)
    if (kernel->callables[i].address == address && address != 0)
      return &kernel->callables[i];
  return NULL;
}

static const VgpuCallable *
called (VgpuWarp *warp, const VgpuIns *ins)
{
  char text[200];
  if (!(ins->flags & VGPU_INS_WIDE_ADDRESS))
    return &warp->kernel->callables[ins->imm];
  uint64_t address = wide_row (warp, ins->a)[__builtin_ctz (warp->mask)];
  const VgpuCallable *found = find_callable (warp->kernel, address);
  if (found != NULL)
    return found;
  snprintf (text, sizeof text,
            "a call through a pointer that holds 0x%llx: no function of the module that takes "
            "these arguments is there",
            (unsigned long long) address);
  vgpu_fault_at (warp, ins, CUDA_ERROR_INVALID_PC, text);
  return NULL;
}

static bool
has_stack (VgpuWarp *warp, const VgpuIns *ins, const VgpuCallable *callable)
{
  const uint64_t *stack = wide_row (warp, warp->kernel->stack_row);
  char text[200];
  for (uint32_t left = warp->mask; left != 0; left &= left - 1)
    {
      uint64_t used = stack[__builtin_ctz (left)];
      if (used + callable->frame_bytes <= warp->kernel->local_bytes)
        continue;
      snprintf (text, sizeof text, "the stack of %llu bytes is used up by calls of %.100s",
                (unsigned long long) (warp->kernel->local_bytes - warp->kernel->stack_start),
                callable->function->name);
      vgpu_fault_at (warp, ins, CUDA_ERROR_HARDWARE_STACK_ERROR, text);
      return false;
    }
  return true;
}

const VgpuIns *
vgpu_call (VgpuWarp *warp, const VgpuIns *ins)
{
  VgpuCalls *calls = warp->calls;
  const VgpuCallable *callable = called (warp, ins);
  if (callable == NULL || !has_stack (warp, ins, callable))
    {
      warp->pc = ins;
      return NULL;
    }
  uint32_t number = (uint32_t) (callable - warp->kernel->callables);
  if (calls->count == calls->capacity)
    {
      calls->capacity = calls->capacity > 0 ? calls->capacity * 2 : 8;
      calls->list = vgpu_retake (calls->list, calls->capacity * sizeof *calls->list);
    }
  Call *call = &calls->list[calls->count++];
  *call = (Call) {.callable = number, .mask = warp->mask};
  if (calls->running[number]++ > 0)
    keep_rows (warp, callable, call);
  uint64_t *stack = wide_row (warp, warp->kernel->stack_row);
  uint64_t *base = wide_row (warp, callable->base_row);
  for (uint32_t left = warp->mask; left != 0; left &= left - 1)
    {
      int lane = __builtin_ctz (left);
      base[lane] = stack[lane];
      stack[lane] += callable->frame_bytes;
    }
  vgpu_push (warp, ins + 1, warp->mask, warp->reconverge);
  warp->reconverge = VGPU_NONE;
  return warp->kernel->code + callable->entry;
}

void
vgpu_call_done (VgpuWarp *warp, const VgpuIns *ins)
{
  VgpuCalls *calls = warp->calls;
  uint64_t *stack = wide_row (warp, warp->kernel->stack_row);
  uint32_t left = warp->mask;
  (void) ins;
  /* The latest call of a lane is the one it returns from. */
  for (size_t i = calls->count; left != 0 && i-- > 0;)
    {
      Call *call = &calls->list[i];
      const VgpuCallable *callable = &warp->kernel->callables[call->callable];
      uint32_t lanes = call->mask & left;
      if (lanes == 0)
        continue;
      if (call->rows != NULL)
        put_rows_back (warp, callable, call, lanes);
      for (uint32_t back = lanes; back != 0; back &= back - 1)
        stack[__builtin_ctz (back)] -= callable->frame_bytes;
      call->mask &= ~lanes & warp->alive;
      left &= ~lanes;
      if (call->mask == 0)
        drop (calls, i);
    }
}

/* Goes on with the lanes whose pointer in a is that of the first lane; the others come here again. */
const VgpuIns *
vgpu_call_select (VgpuWarp *warp, const VgpuIns *ins)
{
  const uint64_t *pointers = wide_row (warp, ins->a);
  uint64_t first = pointers[__builtin_ctz (warp->mask)];
  uint32_t same = 0;
  for (uint32_t left = warp->mask; left != 0; left &= left - 1)
    if (pointers[__builtin_ctz (left)] == first)
      same |= 1u << __builtin_ctz (left);
  uint32_t others = warp->mask & ~same;
  return others != 0 ? vgpu_diverge (warp, ins, ins, others) : ins + 1;
}
