/* SPDX-License-Identifier: Apache-2.0 */
/* Data races in shared memory. Each word remembers its last writer and its readers since the last
 * block barrier; two threads that touch it between the same barriers, one of them writing, race
 * whatever order they happened to run in. Threads of one warp are ordered by __syncwarp as well. */
#include "engine/vgpu/check/race.h"
#include "engine/vgpu/ptx/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct
{
  uint32_t epoch; /* of the block barriers; 0: never */
  uint16_t thread;
  uint8_t bytes; /* of the word, one bit each */
  uint8_t many;  /* 1: several threads of one warp, 2: of several warps */
  uint32_t warp_epoch;
  uint32_t ins;
} Touch;

struct VgpuRaceCell
{
  Touch write;
  Touch read;
  uint8_t write_atomic;
  uint64_t value; /* what was written, to tell a race that does not matter */
};

size_t
vgpu_race_bytes (uint64_t shared_bytes)
{
  return (size_t) (shared_bytes / 4 + 2) * sizeof (VgpuRaceCell);
}

/* Whether a remembered touch and thread, which is now in warp, are unordered. */
static bool
unordered (const Touch *touch, const VgpuWarp *warp, uint32_t thread, uint8_t bytes)
{
  if (touch->epoch != warp->worker->epoch || (touch->bytes & bytes) == 0)
    return false;
  if (touch->many == 2 || touch->thread / VGPU_LANES != warp->index)
    return true;
  if (touch->thread == thread && touch->many == 0)
    return false;
  return touch->warp_epoch == warp->epoch;
}

static void
report_race (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request, uint32_t lane,
             const Touch *other, bool other_writes, bool same_value)
{
  const VgpuIns *other_ins = &warp->kernel->code[other->ins];
  char text[240];
  VgpuFinding finding = vgpu_finding (same_value ? "race.same-value" : "race.shared", ins, lane);
  const char *mine = request->access == VGPU_ACCESS_READ ? "read" : "written";
  const char *theirs = other_writes ? "written" : "read";
  bool one_warp = other->thread / VGPU_LANES == warp->index;
  if (same_value)
    snprintf (text, sizeof text,
              "several threads write the same value to one word of shared "
              "memory without a barrier between them");
  else
    snprintf (text, sizeof text,
              "a word of shared memory is %s here and %s by another thread of %s without a "
              "barrier between them",
              mine, theirs, one_warp ? "the warp" : "the block");
  if (other_ins->op == warp->kernel->copy_op || other_ins->op == warp->kernel->bulk_op
      || other_ins->op == warp->kernel->tensor_op)
    {
      finding.rule = "race.async-copy";
      snprintf (text, sizeof text,
                "a word of shared memory is %s here, and another thread's asynchronous copy writes "
                "it: no barrier lies between that thread's wait and this",
                mine);
    }
  finding.message = text;
  finding.request = request;
  finding.other_location = other_ins->location;
  finding.other_thread = other->thread;
  vgpu_report (warp, &finding);
}

static void
report_in_flight (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request, uint32_t lane,
                  const Touch *copy)
{
  VgpuFinding finding = vgpu_finding ("race.async-copy", ins, lane);
  finding.message = "reads shared memory that an asynchronous copy is still writing: nothing has "
                    "waited for it";
  finding.request = request;
  finding.other_location = warp->kernel->code[copy->ins].location;
  finding.other_thread = copy->thread;
  vgpu_report (warp, &finding);
}

static void
remember (Touch *touch, const VgpuWarp *warp, const VgpuIns *ins, uint32_t thread, uint8_t bytes)
{
  bool again = touch->epoch == warp->worker->epoch;
  if (again && touch->thread / VGPU_LANES != warp->index)
    touch->many = 2;
  else if (again && touch->thread != thread && touch->warp_epoch == warp->epoch)
    touch->many = touch->many == 2 ? 2 : 1;
  else if (!again || touch->many != 2)
    touch->many = 0;
  touch->bytes = again ? touch->bytes | bytes : bytes;
  touch->epoch = warp->worker->epoch;
  touch->thread = (uint16_t) thread;
  touch->warp_epoch = warp->epoch;
  touch->ins = (uint32_t) (ins - warp->kernel->code);
}

/* Lets the next reads of the word pass unseen if they can add nothing. */
static void
hush (const VgpuWarp *warp, const VgpuRaceCell *cell, uint64_t *quiet, const uint16_t *in_flight)
{
  uint32_t epoch = warp->worker->epoch;
  if (cell->write.epoch == epoch || cell->read.bytes != 0xf || cell->read.many == 0
      || *in_flight != 0)
    return;
  *quiet = cell->read.many == 2 ? VGPU_QUIET (epoch, VGPU_ANY_WARP, 0)
                                : VGPU_QUIET (epoch, warp->index, warp->epoch);
}

static void
touch_word (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request, uint64_t word,
            uint32_t lane, uint8_t bytes, uint64_t value)
{
  VgpuRaceCell *cell = &warp->worker->races[word];
  uint64_t *quiet = &warp->worker->quiet[word];
  uint32_t thread = warp->index * VGPU_LANES + lane;
  bool strong = request->access == VGPU_ACCESS_ATOMIC || (ins->flags & VGPU_INS_STRONG);
  bool excused = strong && cell->write_atomic;
  if (!excused && warp->worker->in_flight[word] == 0
      && unordered (&cell->write, warp, thread, bytes))
    report_race (warp, ins, request, lane, &cell->write, true,
                 request->access == VGPU_ACCESS_WRITE && !cell->write_atomic
                     && cell->value == value);
  if (request->access == VGPU_ACCESS_READ)
    {
      if (warp->worker->in_flight[word] != 0)
        report_in_flight (warp, ins, request, lane, &cell->write);
      remember (&cell->read, warp, ins, thread, bytes);
      hush (warp, cell, quiet, &warp->worker->in_flight[word]);
      return;
    }
  *quiet = 0;
  /* A strong read is remembered like any: a plain write beside it still races. */
  if (!strong && unordered (&cell->read, warp, thread, bytes))
    report_race (warp, ins, request, lane, &cell->read, false, false);
  /* An atomic of the same thread does not make up for its plain write. */
  if (strong && !cell->write_atomic && cell->write.thread == thread
      && cell->write.epoch == warp->worker->epoch && cell->write.warp_epoch == warp->epoch)
    return;
  if (cell->write.epoch != warp->worker->epoch)
    memset (&cell->write, 0, sizeof cell->write);
  cell->write.many = 0;
  remember (&cell->write, warp, ins, thread, bytes);
  cell->write.bytes = bytes;
  cell->write.many = 0;
  cell->write_atomic = strong;
  cell->value = value;
}

/* What a store of lane puts into the word at offset of its request. Atomics and the like count as
 * different from everything. */
static uint64_t
stored_word (const VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, uint64_t offset,
             const char *values)
{
  if (ins->op != warp->kernel->store_shared_op && ins->op != warp->kernel->store_generic_op)
    return (uint64_t) 1 << 32 | (warp->index * VGPU_LANES + lane);
  uint32_t element = (uint32_t) (offset / ins->bytes);
  int32_t row = ins->vec == 1 ? ins->d : warp->kernel->extra[ins->extra + element];
  uint32_t size = ins->bytes == 1 ? 2 : ins->bytes;
  const char *from = values != NULL ? values + (size_t) element * size * VGPU_LANES
                                    : warp->base[(uint32_t) row >> 31] + row;
  uint32_t word = 0;
  memcpy (&word, from + (size_t) lane * size + offset % ins->bytes,
          ins->bytes < 4 ? ins->bytes : 4);
  return word;
}

/* Lanes whose access must be looked at. Of reads, those of words that may be read without being
 * looked at again are none of them; of several lanes in a row that read the same, two stand for all. */
static uint32_t
loud_lanes (const VgpuWarp *warp, const VgpuRequest *request, uint64_t first,
            const int32_t *relative, uint32_t mask)
{
  const VgpuWorker *worker = warp->worker;
  const uint64_t all = VGPU_QUIET (worker->epoch, VGPU_ANY_WARP, 0);
  const uint64_t own = VGPU_QUIET (worker->epoch, warp->index, warp->epoch);
  uint32_t loud = 0, again = 0;
  if (request->access != VGPU_ACCESS_READ || request->bytes % 4 != 0)
    return mask;
  for (uint32_t left = mask; left != 0; left &= left - 1)
    {
      const int lane = __builtin_ctz (left);
      const uint64_t *quiet = worker->quiet + (first + (uint64_t) (int64_t) relative[lane]) / 4;
      for (uint32_t part = 0; part < request->bytes / 4; part++)
        loud |= (uint32_t) (quiet[part] != all && quiet[part] != own) << lane;
      if (lane > 0)
        again |= (uint32_t) (relative[lane] == relative[lane - 1]) << lane;
    }
  again &= mask << 1;
  return loud & ~(again & again << 1);
}

void
vgpu_race_exactly (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request, uint64_t first,
                   const int32_t *relative, uint32_t mask, const char *values)
{
  uint32_t left = loud_lanes (warp, request, first, relative, mask);
  for (; left != 0; left &= left - 1)
    {
      uint32_t lane = (uint32_t) __builtin_ctz (left);
      uint64_t from = first + (uint64_t) (int64_t) relative[lane];
      uint64_t end = from + request->bytes;
      for (uint64_t word = from / 4; word * 4 < end; word++)
        {
          uint64_t low = word * 4 < from ? from - word * 4 : 0;
          uint64_t high = end - word * 4 < 4 ? end - word * 4 : 4;
          uint8_t bytes = (uint8_t) ((0xfu >> (4 - (high - low))) << low);
          uint64_t value = 0;
          if (request->access == VGPU_ACCESS_WRITE)
            value = stored_word (warp, ins, lane, word * 4 < from ? 0 : word * 4 - from, values);
          touch_word (warp, ins, request, word, lane, bytes, value);
        }
    }
}

/* Asynchronous copies */

typedef struct
{
  uint32_t group;
  uint32_t mask;
  uint32_t bytes;
  const VgpuIns *ins;
  uint32_t to[VGPU_LANES];
} Copy;

struct VgpuCopies
{
  uint32_t group; /* the one that is being filled */
  Copy *list;
  size_t count, capacity;
};

void
vgpu_copy_flies (VgpuWarp *warp, uint64_t to, uint32_t bytes)
{
  VgpuWorker *worker = warp->worker;
  for (uint64_t word = to / 4; word < (to + bytes) / 4; word++)
    {
      worker->in_flight[word] = (uint16_t) (warp->index + 1);
      worker->quiet[word] = 0;
    }
}

void
vgpu_copy_lands (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, uint64_t to, uint32_t bytes)
{
  VgpuWorker *worker = warp->worker;
  for (uint64_t word = to / 4; word < (to + bytes) / 4; word++)
    {
      Touch *write = &worker->races[word].write;
      memset (write, 0, sizeof *write);
      remember (write, warp, ins, warp->index * VGPU_LANES + lane, 0xf);
      worker->races[word].write_atomic = 0;
      worker->in_flight[word] = 0;
      worker->quiet[word] = 0;
    }
}

void
vgpu_copies_add (VgpuWarp *warp, const VgpuIns *ins, const uint64_t *to, uint32_t mask,
                 uint32_t bytes)
{
  if (warp->copies == NULL)
    warp->copies = vgpu_take (sizeof *warp->copies);
  VgpuCopies *copies = warp->copies;
  if (copies->count == copies->capacity)
    {
      copies->capacity = copies->capacity > 0 ? copies->capacity * 2 : 16;
      copies->list = vgpu_retake (copies->list, copies->capacity * sizeof *copies->list);
    }
  Copy *copy = &copies->list[copies->count++];
  *copy = (Copy) {.group = copies->group, .mask = mask, .bytes = bytes, .ins = ins};
  for (uint32_t left = mask; left != 0; left &= left - 1)
    {
      uint32_t lane = (uint32_t) __builtin_ctz (left);
      copy->to[lane] = (uint32_t) to[lane];
      vgpu_copy_flies (warp, to[lane], bytes);
    }
}

void
vgpu_copies_commit (VgpuWarp *warp)
{
  if (warp->copies != NULL)
    warp->copies->group++;
}

/* The copy is done: from now on it counts as a write of its thread. */
static void
land (VgpuWarp *warp, const Copy *copy)
{
  for (uint32_t left = copy->mask; left != 0; left &= left - 1)
    {
      uint32_t lane = (uint32_t) __builtin_ctz (left);
      vgpu_copy_lands (warp, copy->ins, lane, copy->to[lane], copy->bytes);
    }
}

void
vgpu_copies_wait (VgpuWarp *warp, uint32_t latest, bool everything)
{
  VgpuCopies *copies = warp->copies;
  size_t kept = 0;
  if (copies == NULL)
    return;
  for (size_t i = 0; i < copies->count; i++)
    {
      const Copy *copy = &copies->list[i];
      if (everything || copy->group + latest < copies->group)
        land (warp, copy);
      else
        copies->list[kept++] = *copy;
    }
  copies->count = kept;
}

/* At the end of a block. */
void
vgpu_copies_forget (VgpuWarp *warp)
{
  VgpuCopies *copies = warp->copies;
  if (copies == NULL)
    return;
  for (size_t i = 0; i < copies->count; i++)
    land (warp, &copies->list[i]);
  copies->count = 0;
  copies->group = 0;
}

void
vgpu_copies_free (VgpuWarp *warp)
{
  if (warp->copies != NULL)
    free (warp->copies->list);
  free (warp->copies);
}
