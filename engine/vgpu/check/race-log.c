/* SPDX-License-Identifier: Apache-2.0 */
/* Most of what a block does to its shared memory between two barriers cannot race, and to see that
 * takes far less than race.c notes of every word: per 16 words, which were read and written and by
 * whom. Requests are put down in a log meanwhile. The first that might race makes race.c go through
 * the log, and what the block does until its next barrier goes there at once: what is reported is
 * what race.c alone would report. */
#include "engine/vgpu/check/race.h"
#include "engine/vgpu/exec/async.h"
#include "engine/vgpu/ptx/arena.h"
#include "engine/vgpu/ptx/operation.h"

#include <stdlib.h>
#include <string.h>

#define LINE_WORDS 16
#define SEVERAL UINT32_MAX
#define FIRST_BYTES ((size_t) 64 << 10)
#define MOST_BYTES ((size_t) 8 << 20)

typedef struct
{
  uint32_t epoch; /* of the block barriers; the rest is about it */
  uint32_t warp;  /* the only one, or SEVERAL */
  uint32_t warp_epoch;
  uint32_t
      threads; /* which thread touches what, if always the same one: see threads_of; or SEVERAL */
  uint16_t read, written; /* words */
  uint16_t changed;       /* words, by atomics and the like */
  uint16_t many;          /* words that several warps read, wholly */
} Line;

typedef struct
{
  uint32_t bytes; /* of the entry */
  uint32_t ins;
  uint32_t mask;
  uint32_t first;
  uint32_t lane_bytes;
  uint32_t warp, warp_epoch;
  uint8_t shape, access;
  bool has_values;
} Entry;

struct VgpuRaceLog
{
  Line *lines;
  char *entries;
  size_t used, capacity;
  uint32_t epoch;
  bool exact; /* until the next barrier */
};

/* Copies that come later than their instruction are for race.c alone. */
static bool
is_simple (const VgpuKernel *kernel)
{
  for (size_t i = 0; i < kernel->code_count; i++)
    switch ((int) kernel->code[i].op)
      {
      case VGPU_OP_COPY_ASYNC:
      case VGPU_OP_COPY_ARRIVE:
      case VGPU_OP_BULK_COPY:
      case VGPU_OP_BULK_TENSOR:
      case VGPU_OP_MBARRIER_CHANGE:
      case VGPU_OP_MBARRIER_ARRIVE:
      case VGPU_OP_MBARRIER_WAIT:
        return false;
      default:
        break;
      }
  return !kernel->plain;
}

VgpuRaceLog *
vgpu_race_log_new (const VgpuKernel *kernel, uint64_t shared_bytes)
{
  if (!is_simple (kernel))
    return NULL;
  VgpuRaceLog *log = vgpu_take (sizeof *log);
  log->lines = vgpu_take ((shared_bytes / (4 * LINE_WORDS) + 2) * sizeof *log->lines);
  return log;
}

void
vgpu_race_log_free (VgpuRaceLog *log)
{
  if (log == NULL)
    return;
  free (log->lines);
  free (log->entries);
  free (log);
}

/* A number that two runs share only if every byte of both belongs to the same thread: the place where
 * thread 0 would be, and how far apart threads are. */
static uint32_t
threads_of (const VgpuWarp *warp, uint64_t offset, const VgpuRun *run, uint32_t bytes)
{
  if (run->together || bytes > 16)
    return SEVERAL;
  uint32_t thread = warp->index * VGPU_LANES + run->lane;
  return ((uint32_t) offset - thread * bytes) << 5 | bytes;
}

typedef struct
{
  const VgpuWarp *warp;
  uint32_t threads;
  bool reads, strong, whole, together;
  bool adds; /* something that is not known yet */
} Touch;

static bool
may_race (const Touch *touch, const Line *line, uint32_t mask)
{
  const VgpuWarp *warp = touch->warp;
  uint32_t others = line->written;
  if (!touch->strong)
    others |= touch->reads ? line->changed : (uint32_t) line->changed | line->read;
  if ((others & mask) == 0 || (touch->threads != SEVERAL && touch->threads == line->threads))
    return false;
  return line->warp != warp->index || line->warp_epoch == warp->epoch;
}

/* Notes the words of mask; false if this might race. */
static bool
touch_line (Touch *touch, Line *line, uint32_t mask)
{
  const VgpuWarp *warp = touch->warp;
  uint32_t epoch = warp->worker->epoch;
  if (line->epoch != epoch)
    *line = (Line) {
        .epoch = epoch, .warp = warp->index, .warp_epoch = warp->epoch, .threads = touch->threads};
  else if (may_race (touch, line, mask))
    return false;
  if (touch->reads && (mask & ~(uint32_t) line->many) == 0)
    return true;
  touch->adds = true;
  if (line->warp != warp->index)
    {
      if (touch->reads && touch->whole)
        line->many |= (uint16_t) (mask & line->read & ~(line->written | line->changed));
      line->warp = SEVERAL;
    }
  line->warp_epoch = warp->epoch;
  if (line->threads != touch->threads)
    line->threads = SEVERAL;
  if (touch->reads)
    line->read |= (uint16_t) mask;
  else if (touch->strong)
    line->changed |= (uint16_t) mask;
  else
    line->written |= (uint16_t) mask;
  return true;
}

static bool
touch_run (VgpuRaceLog *log, Touch *touch, uint64_t offset, const VgpuRun *run, uint32_t bytes)
{
  uint64_t word = offset / 4, end = (offset + run->bytes + 3) / 4;
  touch->threads = threads_of (touch->warp, offset, run, bytes);
  touch->whole = (offset | run->bytes) % 4 == 0;
  /* Several lanes write one word. */
  if (!touch->reads && !touch->strong && run->together)
    return false;
  while (word < end)
    {
      uint64_t number = word / LINE_WORDS, next = (number + 1) * LINE_WORDS;
      uint32_t count = (uint32_t) ((end < next ? end : next) - word);
      if (!touch_line (touch, &log->lines[number], ((1u << count) - 1) << word % LINE_WORDS))
        return false;
      word = next;
    }
  return true;
}

static bool
make_room (VgpuRaceLog *log, size_t bytes)
{
  if (log->capacity - log->used >= bytes)
    return true;
  size_t wanted = log->capacity > 0 ? log->capacity * 2 : FIRST_BYTES;
  if (wanted > MOST_BYTES)
    return false;
  log->entries = vgpu_retake (log->entries, wanted);
  log->capacity = wanted;
  return true;
}

/* Rows that a store writes from are put down too: they may hold something else later. */
static size_t
row_bytes (const VgpuIns *ins)
{
  return (size_t) (ins->bytes == 1 ? 2 : ins->bytes) * VGPU_LANES;
}

static bool
put_down (VgpuRaceLog *log, const VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request,
          const VgpuReach *reach)
{
  const VgpuKernel *kernel = warp->kernel;
  bool stores = ins->op == kernel->store_shared_op || ins->op == kernel->store_generic_op;
  size_t places = reach->shape == VGPU_SHAPE_MIXED ? VGPU_LANES * sizeof (int32_t) : 0;
  size_t values = stores ? row_bytes (ins) : 0;
  size_t total = sizeof (Entry) + places + values * ins->vec;
  if (!make_room (log, total))
    return false;
  char *to = log->entries + log->used;
  Entry entry = {.bytes = (uint32_t) total,
                 .ins = (uint32_t) (ins - kernel->code),
                 .mask = reach->mask,
                 .first = (uint32_t) reach->first,
                 .lane_bytes = reach->bytes,
                 .warp = warp->index,
                 .warp_epoch = warp->epoch,
                 .shape = (uint8_t) reach->shape,
                 .access = (uint8_t) request->access,
                 .has_values = stores};
  log->used += total;
  memcpy (to, &entry, sizeof entry);
  to += sizeof entry;
  if (places > 0)
    memcpy (to, reach->relative, places);
  to += places;
  for (uint32_t element = 0; stores && element < ins->vec; element++, to += values)
    {
      int32_t row = ins->vec == 1 ? ins->d : kernel->extra[ins->extra + element];
      memcpy (to, warp->base[(uint32_t) row >> 31] + row, values);
    }
  return true;
}

/* Lets race.c know all that was put down. */
static void
go_through (VgpuRaceLog *log, VgpuWorker *worker)
{
  for (size_t at = 0; at < log->used;)
    {
      const char *from = log->entries + at;
      Entry entry;
      int32_t relative[VGPU_LANES];
      memcpy (&entry, from, sizeof entry);
      at += entry.bytes;
      from += sizeof entry;
      VgpuWarp *warp = &worker->warps[entry.warp];
      const VgpuRequest request = {.space = VGPU_SPACE_SHARED,
                                   .access = entry.access,
                                   .bytes = entry.lane_bytes,
                                   .align = entry.lane_bytes};
      if (entry.shape == VGPU_SHAPE_MIXED)
        {
          memcpy (relative, from, sizeof relative);
          from += sizeof relative;
        }
      else
        for (int lane = 0; lane < VGPU_LANES; lane++)
          relative[lane] = entry.shape == VGPU_SHAPE_SAME
                               ? 0
                               : (lane - __builtin_ctz (entry.mask)) * (int32_t) entry.lane_bytes;
      uint32_t now = warp->epoch;
      warp->epoch = entry.warp_epoch;
      vgpu_race_exactly (warp, &warp->kernel->code[entry.ins], &request, entry.first, relative,
                         entry.mask, entry.has_values ? from : NULL);
      warp->epoch = now;
    }
  log->used = 0;
  log->exact = true;
}

void
vgpu_race_shared (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request,
                  const VgpuReach *reach)
{
  VgpuWorker *worker = warp->worker;
  VgpuRaceLog *log = worker->race_log;
  if (worker->team->count > 1)
    vgpu_neighbours_own (warp, ins, request, reach);
  if (warp->kernel->reads_async && request->access != VGPU_ACCESS_READ)
    vgpu_proxy_written (warp, ins, reach);
  if (log != NULL && log->epoch != worker->epoch)
    {
      log->epoch = worker->epoch;
      log->used = 0;
      log->exact = false;
    }
  if (log != NULL && !log->exact)
    {
      Touch touch = {.warp = warp,
                     .reads = request->access == VGPU_ACCESS_READ,
                     .strong = request->access == VGPU_ACCESS_ATOMIC
                               || (ins->flags & VGPU_INS_STRONG) != 0};
      bool clean = true;
      for (uint32_t i = 0; clean && i < reach->count; i++)
        clean = touch_run (log, &touch, reach->first + (uint64_t) (int64_t) reach->runs[i].from,
                           &reach->runs[i], reach->bytes);
      if (clean && (!touch.adds || put_down (log, warp, ins, request, reach)))
        return;
      go_through (log, worker);
    }
  vgpu_race_exactly (warp, ins, request, reach->first, reach->relative, reach->mask, NULL);
}
