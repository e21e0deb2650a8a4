/* SPDX-License-Identifier: Apache-2.0 */
/* Data races in global memory: two blocks of one launch, which nothing orders, touch a word and one
 * of them writes. */
#include "engine/vgpu/check/check.h"
#include "engine/vgpu/exec/pages.h"
#include "engine/vgpu/ptx/arena.h"

#include <stdio.h>
#include <string.h>

/* What is known of one word. Written without locks; a lost update costs a missed report, never a
 * false one. */
struct VgpuGlobalCell
{
  uint32_t writer; /* block + 1, 0: none */
  uint32_t reader;
  uint32_t ins;   /* that wrote */
  uint16_t epoch; /* launch that the rest is about */
  uint8_t write_bytes : 4;
  uint8_t read_bytes : 4;
  uint8_t write_atomic : 1;
  uint8_t readers : 1; /* several blocks read these bytes */
};

/* Sixteen words, as long as few blocks touch them, as whole words and not atomically: then this
 * says the same as their cells would, which are not used before it no longer can. */
#define LINE_BYTES 64
#define LINE_EXACT 1u /* the cells say it */
#define LINE_SPLIT 2u /* several instructions wrote: the cells say which */

struct VgpuGlobalLine
{
  uint16_t epoch; /* launch that the rest is about */
  uint16_t flags;
  uint32_t lock;
  uint32_t reader[2]; /* blocks + 1 that were the first to read some words */
  uint32_t writer;    /* the only one */
  uint32_t ins;       /* that wrote */
  uint16_t read[2];   /* those words */
  uint16_t many;      /* words that several blocks read */
  uint16_t written;
};

static uint16_t launch_epoch;

/* Cells may take four times the memory of what they watch: larger allocations are not followed. */
#define MAX_FOLLOWED_BYTES ((uint64_t) 256 << 20)

static void
begin_allocation (VgpuAllocation *allocation, void *data)
{
  size_t bytes = (size_t) (allocation->hi - allocation->lo);
  size_t words = bytes / 4 + LINE_BYTES / 4 + 1, lines = bytes / LINE_BYTES + 2;
  if (bytes > MAX_FOLLOWED_BYTES)
    return;
  if (allocation->races == NULL)
    {
      allocation->race_line_bytes = lines * sizeof (VgpuGlobalLine);
      allocation->race_lines = vgpu_pages_take (allocation->race_line_bytes, 0);
      allocation->races =
          allocation->race_lines != NULL ? vgpu_take (words * sizeof (VgpuGlobalCell)) : NULL;
    }
  else if (launch_epoch == 1)
    {
      memset (allocation->races, 0, words * sizeof (VgpuGlobalCell));
      memset (allocation->race_lines, 0, lines * sizeof (VgpuGlobalLine));
    }
}

void
vgpu_race_global_begin (VgpuMemory *memory)
{
  if (++launch_epoch == 0)
    launch_epoch = 1;
  vgpu_memory_each (memory, begin_allocation, NULL);
}

static void
report_global_race (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request, uint32_t lane,
                    const VgpuAllocation *allocation, uint64_t offset, uint32_t other_block,
                    uint32_t other_ins, bool other_writes)
{
  char text[240];
  VgpuFinding finding = vgpu_finding ("race.global", ins, lane);
  snprintf (text, sizeof text, "%s at offset %llu is %s here and %s by another block",
            allocation->name, (unsigned long long) offset,
            request->access == VGPU_ACCESS_READ ? "read" : "written",
            other_writes ? "written" : "read");
  finding.message = text;
  finding.request = request;
  finding.allocation = allocation;
  finding.offset = (int64_t) offset;
  finding.other_block = (int64_t) other_block - 1;
  if (other_writes)
    finding.other_location = warp->kernel->code[other_ins].location;
  vgpu_report (warp, &finding);
}

/* Remembers a reader, or that there are several. Of blocks that read different bytes of the word
 * only the last is kept. */
static void
remember_reader (VgpuGlobalCell *cell, uint32_t block, uint8_t bytes)
{
  uint8_t common = cell->read_bytes & bytes;
  if (cell->reader == block)
    cell->read_bytes |= bytes;
  else if (cell->reader != 0 && common != 0)
    {
      cell->readers = 1;
      cell->read_bytes = common;
    }
  else
    {
      cell->reader = block;
      cell->read_bytes = bytes;
      cell->readers = 0;
    }
}

static void
touch_global (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request,
              const VgpuAllocation *allocation, uint64_t offset, uint32_t lane)
{
  VgpuGlobalCell *cell = &allocation->races[offset / 4];
  uint32_t block = (uint32_t) warp->worker->block_number + 1;
  uint32_t count = request->bytes < 4 ? request->bytes : 4;
  uint8_t bytes = (uint8_t) ((0xfu >> (4 - count)) << (offset & 3));
  bool strong = request->access == VGPU_ACCESS_ATOMIC || (ins->flags & VGPU_INS_STRONG);
  if (cell->epoch != launch_epoch)
    *cell = (VgpuGlobalCell) {.epoch = launch_epoch};
  if (cell->writer != 0 && cell->writer != block && (cell->write_bytes & bytes)
      && !(strong && cell->write_atomic))
    report_global_race (warp, ins, request, lane, allocation, offset, cell->writer, cell->ins,
                        true);
  if (request->access == VGPU_ACCESS_READ)
    {
      if (!strong)
        remember_reader (cell, block, bytes);
      return;
    }
  bool others = cell->reader != 0 && (cell->reader != block || cell->readers);
  if (others && (cell->read_bytes & bytes))
    report_global_race (warp, ins, request, lane, allocation, offset, cell->reader, cell->ins,
                        false);
  cell->write_bytes = cell->writer == block ? cell->write_bytes | bytes : bytes;
  cell->writer = block;
  cell->write_atomic = strong;
  cell->ins = (uint32_t) (ins - warp->kernel->code);
}

/* Lines */

static void
lock_line (VgpuGlobalLine *line)
{
  while (__atomic_exchange_n (&line->lock, 1, __ATOMIC_ACQUIRE) != 0)
    while (__atomic_load_n (&line->lock, __ATOMIC_RELAXED) != 0)
      ;
}

static void
unlock_line (VgpuGlobalLine *line)
{
  __atomic_store_n (&line->lock, 0, __ATOMIC_RELEASE);
}

/* From here on the cells of these words are used. */
static void
use_cells (VgpuGlobalLine *line, VgpuGlobalCell *cells)
{
  for (uint32_t i = 0; i < LINE_BYTES / 4; i++)
    {
      uint32_t at = 1u << i;
      uint32_t ins = line->flags & LINE_SPLIT ? cells[i].ins : line->ins;
      VgpuGlobalCell cell = {.epoch = launch_epoch};
      for (int slot = 0; slot < 2; slot++)
        if (line->read[slot] & at)
          {
            cell.reader = line->reader[slot];
            cell.read_bytes = 0xf;
          }
      cell.readers = (line->many & at) != 0;
      if (line->written & at)
        {
          cell.writer = line->writer;
          cell.write_bytes = 0xf;
          cell.ins = ins;
        }
      cells[i] = cell;
    }
  line->flags = LINE_EXACT;
}

/* Notes that block reads the words of mask; false if the line cannot say so. */
static bool
read_line (VgpuGlobalLine *line, uint32_t mask, uint32_t block)
{
  if ((line->written & mask) != 0 && line->writer != block)
    return false;
  uint32_t left = mask;
  for (int slot = 0; slot < 2; slot++)
    {
      uint32_t again = left & line->read[slot];
      if (line->reader[slot] != block)
        line->many |= (uint16_t) again;
      left &= ~again;
    }
  for (int slot = 0; slot < 2 && left != 0; slot++)
    if (line->reader[slot] == block || line->read[slot] == 0)
      {
        line->reader[slot] = block;
        line->read[slot] |= (uint16_t) left;
        return true;
      }
  return left == 0;
}

static void
note_writer (VgpuGlobalLine *line, VgpuGlobalCell *cells, uint32_t mask, uint32_t ins)
{
  bool split = (line->flags & LINE_SPLIT) != 0;
  if (!split && line->ins != ins && (line->written & ~mask) != 0)
    {
      for (uint32_t left = line->written; left != 0; left &= left - 1)
        cells[__builtin_ctz (left)].ins = line->ins;
      line->flags |= LINE_SPLIT;
      split = true;
    }
  line->ins = ins;
  for (uint32_t left = split ? mask : 0; left != 0; left &= left - 1)
    cells[__builtin_ctz (left)].ins = ins;
}

static bool
write_line (VgpuGlobalLine *line, VgpuGlobalCell *cells, uint32_t mask, uint32_t block,
            uint32_t ins)
{
  if ((line->written != 0 && line->writer != block) || (line->many & mask) != 0)
    return false;
  for (int slot = 0; slot < 2; slot++)
    if (line->reader[slot] != block && (line->read[slot] & mask) != 0)
      return false;
  note_writer (line, cells, mask, ins);
  line->writer = block;
  line->written |= (uint16_t) mask;
  return true;
}

/* Whether the line says all that this access could add. Read without the lock: at worst a report is
 * missed. */
static inline bool
is_known (const VgpuGlobalLine *line, uint32_t mask, uint32_t block, uint32_t ins, bool reads)
{
  uint32_t own = (line->reader[0] == block ? line->read[0] : 0u)
                 | (line->reader[1] == block ? line->read[1] : 0u);
  if (line->epoch != launch_epoch || (line->flags & LINE_EXACT))
    return false;
  if (reads)
    return (mask & ~(own | line->many)) == 0
           && ((line->written & mask) == 0 || line->writer == block);
  return line->writer == block && (mask & ~(uint32_t) line->written) == 0 && line->ins == ins
         && (line->flags & LINE_SPLIT) == 0 && (line->many & mask) == 0
         && ((line->read[0] | line->read[1]) & mask & ~own) == 0;
}

typedef struct
{
  const VgpuAllocation *allocation;
  uint32_t block, ins;
  bool reads, whole; /* whole: words, neither atomically nor strongly, and lines may be used */
  bool alone;        /* no other thread is at it */
  bool exact;        /* found: some of the lines must be looked at word by word */
} Touch;

/* The words of a line that one request touches. */
static void
touch_line (Touch *touch, uint64_t number, uint32_t mask)
{
  VgpuGlobalLine *line = &touch->allocation->race_lines[number];
  VgpuGlobalCell *cells = &touch->allocation->races[number * (LINE_BYTES / 4)];
  bool fits = touch->whole;
  if (fits && is_known (line, mask, touch->block, touch->ins, touch->reads))
    return;
  if (!touch->alone)
    lock_line (line);
  if (line->epoch != launch_epoch)
    {
      uint32_t lock = line->lock;
      *line = (VgpuGlobalLine) {.epoch = launch_epoch, .lock = lock};
    }
  if (!(line->flags & LINE_EXACT))
    {
      fits = fits
             && (touch->reads ? read_line (line, mask, touch->block)
                              : write_line (line, cells, mask, touch->block, touch->ins));
      if (!fits)
        use_cells (line, cells);
    }
  touch->exact |= (line->flags & LINE_EXACT) != 0;
  if (!touch->alone)
    unlock_line (line);
}

/* A stretch of bytes, all of them touched. */
static void
touch_stretch (Touch *touch, uint64_t offset, uint64_t bytes)
{
  uint64_t word = offset / 4, end = (offset + bytes + 3) / 4;
  touch->whole = touch->whole && (offset | bytes) % 4 == 0;
  while (word < end)
    {
      uint64_t number = word / (LINE_BYTES / 4);
      uint64_t next = (number + 1) * (LINE_BYTES / 4);
      uint32_t first = (uint32_t) (word % (LINE_BYTES / 4));
      uint32_t count = (uint32_t) ((end < next ? end : next) - word);
      touch_line (touch, number, ((1u << count) - 1) << first);
      word = next;
    }
}

/* Word by word, in the order of lanes. */
static void
touch_words (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request,
             const VgpuAllocation *allocation, uint64_t offset, uint32_t lane)
{
  for (uint32_t done = 0; done < request->bytes; done += 4, offset += 4)
    if (allocation->race_lines[offset / LINE_BYTES].flags & LINE_EXACT)
      touch_global (warp, ins, request, allocation, offset, lane);
}

static bool
is_followed (const VgpuAllocation *allocation)
{
  return allocation != NULL && allocation->races != NULL && !allocation->constant;
}

/* Whether all runs lie in one allocation. */
static bool
is_inside (const VgpuAllocation *allocation, const VgpuReach *reach)
{
  uint64_t at = reach->first - allocation->lo, size = allocation->hi - allocation->lo;
  for (uint32_t i = 0; i < reach->count; i++)
    {
      const VgpuRun *run = &reach->runs[i];
      uint64_t from = at + (uint64_t) (int64_t) run->from;
      if (from > size || size - from < run->bytes)
        return false;
    }
  return true;
}

/* Lanes that lie in allocations of their own. */
static void
touch_apart (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request, Touch *touch,
             const VgpuReach *reach)
{
  const bool plain = touch->whole;
  for (uint32_t left = reach->mask; left != 0; left &= left - 1)
    {
      uint32_t lane = (uint32_t) __builtin_ctz (left);
      uint64_t address = reach->first + (uint64_t) (int64_t) reach->relative[lane];
      touch->allocation = vgpu_memory_find (warp->worker->launch->memory, address);
      touch->whole = plain;
      if (!is_followed (touch->allocation))
        continue;
      touch_stretch (touch, address - touch->allocation->lo, reach->bytes);
      touch_words (warp, ins, request, touch->allocation, address - touch->allocation->lo, lane);
    }
}

void
vgpu_race_global (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request,
                  const VgpuReach *reach)
{
  const VgpuAllocation *allocation = warp->worker->sites[ins->site].allocation;
  const VgpuRun *before = NULL;
  Touch touch = {.allocation = allocation,
                 .block = (uint32_t) warp->worker->block_number + 1,
                 .ins = (uint32_t) (ins - warp->kernel->code),
                 .reads = request->access == VGPU_ACCESS_READ,
                 .alone = warp->worker->launch->worker_count == 1};
  bool plain = request->access != VGPU_ACCESS_ATOMIC && !(ins->flags & VGPU_INS_STRONG)
               && !warp->kernel->plain;
  touch.whole = plain;
  if (allocation == NULL || !is_inside (allocation, reach))
    {
      touch_apart (warp, ins, request, &touch, reach);
      return;
    }
  if (!is_followed (allocation))
    return;
  uint64_t at = reach->first - allocation->lo;
  for (uint32_t i = 0; i < reach->count; i++)
    {
      const VgpuRun *run = &reach->runs[i];
      /* Rows of a block that are narrower than a warp often touch the same. */
      if (before != NULL && before->from == run->from && before->bytes == run->bytes)
        continue;
      before = run;
      touch_stretch (&touch, at + (uint64_t) (int64_t) run->from, run->bytes);
      touch.whole = plain;
    }
  for (uint32_t left = touch.exact ? reach->mask : 0; left != 0; left &= left - 1)
    {
      uint32_t lane = (uint32_t) __builtin_ctz (left);
      touch_words (warp, ins, request, allocation, at + (uint64_t) (int64_t) reach->relative[lane],
                   lane);
    }
}
