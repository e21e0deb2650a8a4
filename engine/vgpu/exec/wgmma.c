/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/vgpu/exec/wgmma.h"

#include "engine/target/cuda-abi.h"
#include "engine/vgpu/check/check.h"
#include "engine/vgpu/check/race.h"
#include "engine/vgpu/exec/control.h"
#include "engine/vgpu/ptx/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT 16

/* A product that has not been waited for, and what it has read from shared memory. */
typedef struct
{
  const VgpuIns *ins;
  uint32_t number;
  uint64_t descriptors[2]; /* of a (or 0) and b */
  VgpuWgmmaBytes *bytes;
} Flight;

struct VgpuWgmmas
{
  Flight *flights;
  size_t count, capacity;
  uint32_t issued, committed_to, completed; /* numbers of products */
  uint32_t *groups;                         /* the last number of each group that is under way */
  size_t group_count, group_capacity;
  uint32_t *marks; /* by row: the last product that writes it */
  size_t mark_count;
  bool fenced;
};

static const char *
row_of (const VgpuWarp *warp, int32_t row)
{
  return warp->base[(uint32_t) row >> 31] + row;
}

/* A matrix in shared memory, as its descriptor says: PTX ISA, "Matrix Descriptor Format". Distances in
 * bytes. */
typedef struct
{
  uint64_t start, leading, stride;
  uint32_t swizzle; /* bits of the address that change */
} Descriptor;

static bool
read_descriptor (VgpuWarp *warp, const VgpuIns *ins, uint64_t word, Descriptor *descriptor)
{
  static const uint8_t swizzles[] = {0, 3, 2, 1};
  *descriptor = (Descriptor) {.start = (word & 0x3fff) << 4,
                              .leading = (word >> 16 & 0x3fff) << 4,
                              .stride = (word >> 32 & 0x3fff) << 4,
                              .swizzle = swizzles[word >> 62]};
  if ((word >> 49 & 7) == 0)
    return true;
  vgpu_fault_at (warp, ins, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                 "a matrix descriptor with a base offset: begin the tile at a multiple of its "
                 "swizzle pattern");
  return false;
}

/* Where the 16 bytes with element (line, k) lie: line is a row of a or a column of b, unit counts 16 bytes
 * along what is contiguous, across the other. The canonical layouts of the PTX ISA, "Strides". */
static uint64_t
place_of (const Descriptor *d, bool turned, uint32_t line, uint32_t byte)
{
  uint64_t address = d->start;
  uint32_t wide = 1u << d->swizzle; /* units in a row of the pattern */
  if (!turned)
    {
      uint32_t unit = byte / UNIT;
      address += line / 8 * d->stride + line % 8 * (uint64_t) wide * UNIT;
      address += d->swizzle == 0 ? unit * d->leading : (uint64_t) unit * UNIT;
    }
  else
    {
      /* Elements of 16 bits: eight lines in a unit, k is the other direction. */
      uint32_t unit = line / 8, k = byte / 2;
      address += k % 8 * (uint64_t) wide * UNIT;
      if (d->swizzle == 0)
        address += unit * d->stride + k / 8 * d->leading;
      else
        address += unit % wide * UNIT + unit / wide * d->leading + k / 8 * d->stride;
    }
  return address ^ (address >> 7 & (wide - 1)) << 4;
}

/* Copies one operand; false when some of it lies outside. */
static bool
copy_lines (const VgpuWorker *worker, const Descriptor *d, bool turned, uint32_t first,
            uint32_t count, unsigned char (*to)[VGPU_WGMMA_BYTES], uint64_t *outside)
{
  uint32_t step = turned ? 2 : UNIT;
  for (uint32_t line = 0; line < count; line++)
    for (uint32_t byte = 0; byte < VGPU_WGMMA_BYTES; byte += step)
      {
        uint64_t at = place_of (d, turned, first + line, byte);
        uint64_t in_unit = turned ? (first + line) % 8 * 2 : 0;
        if (at + UNIT > worker->shared_bytes)
          {
            *outside = at;
            return false;
          }
        memcpy (to[line] + byte, worker->shared + at + in_unit, step);
      }
  return true;
}

static uint64_t
wide_of (const VgpuWarp *warp, int32_t row)
{
  uint64_t word;
  memcpy (&word, row_of (warp, row) + 8 * (uint32_t) __builtin_ctz (warp->mask), sizeof word);
  return word;
}

static bool
copy_operands (VgpuWarp *warp, const VgpuIns *ins, const VgpuWgmmaForm *form, const uint64_t *words,
               VgpuWgmmaBytes *bytes, uint64_t *outside)
{
  Descriptor d;
  uint32_t first = warp->index % 4 * VGPU_WGMMA_ROWS;
  if (!read_descriptor (warp, ins, words[1], &d)
      || !copy_lines (warp->worker, &d, form->turned_b, 0, (uint32_t) form->n, bytes->b, outside))
    return false;
  return !form->in_memory
         || (read_descriptor (warp, ins, words[0], &d)
             && copy_lines (warp->worker, &d, form->turned_a, first, VGPU_WGMMA_ROWS, bytes->a,
                            outside));
}

/* Rows of a from the fragment in registers: that of mma.m16n8 of the same width. */
static void
copy_registers (const VgpuWarp *warp, const VgpuWgmmaForm *form, VgpuWgmmaBytes *bytes)
{
  for (uint32_t reg = 0; reg < 4; reg++)
    for (uint32_t lane = 0; lane < VGPU_LANES; lane++)
      memcpy (bytes->a[lane / 4 + 8 * (reg & 1)] + lane % 4 * 4 + reg / 2 * UNIT,
              row_of (warp, form->a_rows[reg]) + 4 * lane, 4);
}

/* Walks the units of an operand, 32 at a time, as reads of shared memory. */
typedef struct
{
  uint64_t first;
  int32_t relative[VGPU_LANES];
  uint32_t count;
} Reads;

static void
flush_reads (VgpuWarp *warp, const VgpuIns *ins, Reads *reads)
{
  const VgpuRequest request = {
      .space = VGPU_SPACE_SHARED, .access = VGPU_ACCESS_READ, .bytes = UNIT, .align = UNIT};
  uint32_t mask = reads->count == 32 ? VGPU_FULL : (1u << reads->count) - 1;
  VgpuReach reach;
  if (reads->count == 0)
    return;
  vgpu_reach_lanes (&reach, reads->first, reads->relative, mask, UNIT);
  vgpu_race_shared (warp, ins, &request, &reach);
  memset (reads, 0, sizeof *reads);
}

static bool
check_units (VgpuWarp *warp, const VgpuIns *ins, const VgpuWgmmaForm *form, uint64_t word,
             bool turned, uint32_t first, uint32_t count)
{
  Descriptor d;
  Reads reads = {.count = 0};
  bool valid = true;
  (void) form;
  if (!read_descriptor (warp, ins, word, &d))
    return true;
  for (uint32_t line = first; line < first + count; line += turned ? 8 : 1)
    for (uint32_t byte = 0; byte < VGPU_WGMMA_BYTES; byte += turned ? 2 : UNIT)
      {
        uint64_t at = place_of (&d, turned, line, byte);
        if (warp->checks & VGPU_CHECK_UNINIT)
          valid = valid && memchr (warp->worker->shared_valid + at, 0, UNIT) == NULL;
        if (warp->checks & VGPU_CHECK_RACE)
          vgpu_proxy_read (warp, ins, 0, warp->worker, at, UNIT);
        if (reads.count == 0)
          reads.first = at;
        reads.relative[reads.count++] = (int32_t) (at - reads.first);
        if (reads.count == VGPU_LANES && (warp->checks & VGPU_CHECK_RACE))
          flush_reads (warp, ins, &reads);
        reads.count %= VGPU_LANES;
      }
  if (warp->checks & VGPU_CHECK_RACE)
    flush_reads (warp, ins, &reads);
  return valid;
}

static void
tell (VgpuWarp *warp, const VgpuIns *ins, const char *rule, const char *message, uint32_t other)
{
  VgpuFinding finding = vgpu_finding (rule, ins, 0);
  finding.message = message;
  finding.other_location = other;
  vgpu_report (warp, &finding);
}

bool
vgpu_wgmma_read (VgpuWarp *warp, const VgpuIns *ins, const VgpuWgmmaForm *form,
                 VgpuWgmmaBytes *bytes)
{
  const uint64_t words[2] = {form->in_memory ? wide_of (warp, form->a_rows[0]) : 0,
                             wide_of (warp, form->b_row)};
  uint64_t outside = 0;
  char text[160];
  vgpu_check_whole_warp (warp, ins);
  if (!form->in_memory)
    copy_registers (warp, form, bytes);
  if (!copy_operands (warp, ins, form, words, bytes, &outside))
    {
      VgpuFinding finding = vgpu_finding ("mem.out-of-bounds", ins, 0);
      snprintf (text, sizeof text,
                "a matrix descriptor leads to offset %llu of %llu bytes of shared memory",
                (unsigned long long) outside, (unsigned long long) warp->worker->shared_bytes);
      finding.message = text;
      vgpu_report (warp, &finding);
      vgpu_fault (warp, CUDA_ERROR_ILLEGAL_ADDRESS, warp->worker->launch->first_fault_stops);
      return false;
    }
  if (!(warp->checks & (VGPU_CHECK_UNINIT | VGPU_CHECK_RACE)))
    return true;
  bool valid = check_units (warp, ins, form, words[1], form->turned_b, 0, (uint32_t) form->n);
  if (form->in_memory)
    valid = check_units (warp, ins, form, words[0], form->turned_a,
                         warp->index % 4 * VGPU_WGMMA_ROWS, VGPU_WGMMA_ROWS)
            && valid;
  if (!valid)
    tell (warp, ins, "mem.uninitialised",
          "multiplies a tile of shared memory that nothing has written all of", VGPU_NONE);
  return true;
}

/* ---- what is under way ---- */

static VgpuWgmmas *
own (VgpuWarp *warp)
{
  if (warp->wgmmas == NULL)
    {
      warp->wgmmas = vgpu_take (sizeof *warp->wgmmas);
      warp->wgmmas->mark_count = warp->kernel->warp_row_bytes / VGPU_ROW_UNIT + 1;
      warp->wgmmas->marks = vgpu_take (warp->wgmmas->mark_count * sizeof (uint32_t));
    }
  return warp->wgmmas;
}

void
vgpu_wgmma_begin (VgpuWarp *warp, const VgpuIns *ins, const VgpuWgmmaForm *form,
                  const VgpuWgmmaBytes *bytes)
{
  const int32_t *rows = warp->kernel->extra + ins->extra + VGPU_WGMMA_WORDS;
  /* What has been multiplied is fresh. */
  for (int32_t i = 0; warp->tainted && i < form->registers; i++)
    warp->poison[rows[i] / VGPU_ROW_UNIT] = 0;
  if (!(warp->checks & VGPU_CHECK_RACE))
    return;
  VgpuWgmmas *all = own (warp);
  if (!all->fenced)
    tell (warp, ins, "race.async-copy",
          "the first wgmma of a warp reads registers without a wgmma.fence before it", VGPU_NONE);
  all->fenced = true;
  all->issued++;
  for (int32_t i = 0; i < form->registers; i++)
    all->marks[rows[i] / VGPU_ROW_UNIT] = all->issued;
  if (all->count == all->capacity)
    {
      all->capacity = all->capacity * 2 + 8;
      all->flights = vgpu_retake (all->flights, all->capacity * sizeof *all->flights);
    }
  Flight *flight = &all->flights[all->count++];
  *flight = (Flight) {.ins = ins,
                      .number = all->issued,
                      .descriptors = {form->in_memory ? wide_of (warp, form->a_rows[0]) : 0,
                                      wide_of (warp, form->b_row)},
                      .bytes = vgpu_take (sizeof *flight->bytes)};
  *flight->bytes = *bytes;
}

void
vgpu_wgmma_fence (VgpuWarp *warp)
{
  if (warp->checks & VGPU_CHECK_RACE)
    own (warp)->fenced = true;
}

void
vgpu_wgmma_commit (VgpuWarp *warp)
{
  if (!(warp->checks & VGPU_CHECK_RACE))
    return;
  VgpuWgmmas *all = own (warp);
  if (all->group_count == all->group_capacity)
    {
      all->group_capacity = all->group_capacity * 2 + 8;
      all->groups = vgpu_retake (all->groups, all->group_capacity * sizeof *all->groups);
    }
  all->groups[all->group_count++] = all->issued;
}

/* Whether what the product has read is there still. */
static void
look_again (VgpuWarp *warp, const Flight *flight)
{
  VgpuWgmmaForm form;
  VgpuWgmmaBytes *now = vgpu_take (sizeof *now);
  uint64_t outside;
  memcpy (&form, warp->kernel->extra + flight->ins->extra, sizeof form);
  if (!form.in_memory)
    memcpy (now->a, flight->bytes->a, sizeof now->a);
  copy_operands (warp, flight->ins, &form, flight->descriptors, now, &outside);
  if (memcmp (now->a, flight->bytes->a, sizeof now->a) != 0
      || memcmp (now->b, flight->bytes->b, (size_t) form.n * VGPU_WGMMA_BYTES) != 0)
    tell (warp, flight->ins, "race.async-copy",
          "shared memory that this wgmma reads is written before it has been waited for",
          VGPU_NONE);
  free (now);
}

static void
complete (VgpuWarp *warp, uint32_t number, bool look)
{
  VgpuWgmmas *all = warp->wgmmas;
  size_t kept = 0;
  for (size_t i = 0; i < all->count; i++)
    if (all->flights[i].number > number)
      all->flights[kept++] = all->flights[i];
    else
      {
        if (look)
          look_again (warp, &all->flights[i]);
        free (all->flights[i].bytes);
      }
  all->count = kept;
  all->completed = number > all->completed ? number : all->completed;
}

void
vgpu_wgmma_wait (VgpuWarp *warp, uint32_t latest)
{
  VgpuWgmmas *all = warp->wgmmas;
  if (all == NULL || all->group_count <= latest)
    return;
  size_t done = all->group_count - latest;
  complete (warp, all->groups[done - 1], true);
  memmove (all->groups, all->groups + done, latest * sizeof *all->groups);
  all->group_count = latest;
}

void
vgpu_wgmma_watch (VgpuWarp *warp, const VgpuIns *ins)
{
  VgpuWgmmas *all = warp->wgmmas;
  int32_t rows[VGPU_READ_ROWS];
  if (all == NULL || all->issued == all->completed)
    return;
  if (ins->flags & VGPU_INS_MOVES)
    {
      /* Compilers move accumulators about; who moves one reads nothing. */
      if (ins->d >= 0)
        all->marks[ins->d / VGPU_ROW_UNIT] = ins->a < 0 ? 0 : all->marks[ins->a / VGPU_ROW_UNIT];
      return;
    }
  uint32_t count = vgpu_read_rows (warp->kernel, ins, rows);
  for (uint32_t i = 0; i < count; i++)
    if (rows[i] >= 0 && all->marks[rows[i] / VGPU_ROW_UNIT] > all->completed)
      {
        uint32_t *mark = &all->marks[rows[i] / VGPU_ROW_UNIT];
        uint32_t other = VGPU_NONE;
        for (size_t f = 0; f < all->count; f++)
          if (all->flights[f].number == *mark)
            other = all->flights[f].ins->location;
        tell (warp, ins, "race.async-copy",
              "uses an accumulator of a wgmma that has not been waited for", other);
        *mark = 0;
      }
}

void
vgpu_wgmma_forget (VgpuWarp *warp)
{
  VgpuWgmmas *all = warp->wgmmas;
  if (all == NULL)
    return;
  complete (warp, all->issued, false);
  all->group_count = 0;
  all->fenced = false;
  memset (all->marks, 0, all->mark_count * sizeof *all->marks);
}

void
vgpu_wgmma_free (VgpuWarp *warp)
{
  if (warp->wgmmas == NULL)
    return;
  complete (warp, warp->wgmmas->issued, false);
  free (warp->wgmmas->flights);
  free (warp->wgmmas->groups);
  free (warp->wgmmas->marks);
  free (warp->wgmmas);
  warp->wgmmas = NULL;
}
