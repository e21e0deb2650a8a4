/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a launch: counts summed over workers, and laid out over source lines. */
#include "engine/vgpu/check/record.h"

#include "engine/target/cuda-abi.h"
#include "engine/vgpu/check/text.h"
#include "engine/vgpu/ptx/arena.h"
#include "engine/vgpu/ptx/operation.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct
{
  const char *file;
  int line;
  uint64_t warps, lanes;
  uint64_t requests, sectors;
  uint64_t shared_requests, ways;
} Line;

typedef struct
{
  uint64_t warps, lanes;
  uint64_t flops[3];            /* f32, f64, f16 */
  uint64_t read[3], written[3]; /* global, shared, local */
  uint64_t sectors, ideal;
  uint64_t shared_requests, ways;
  Line *lines;
  size_t line_count;
  size_t line_capacity;
} Totals;

static VgpuSite
sum_sites (const VgpuLaunch *launch, uint32_t site)
{
  VgpuSite sum = {0};
  for (uint32_t i = 0; i < launch->worker_count; i++)
    {
      const VgpuSite *one = &launch->workers[i].sites[site];
      sum.requests += one->requests;
      sum.lanes += one->lanes;
      sum.sectors += one->sectors;
      sum.ideal_sectors += one->ideal_sectors;
      sum.ways += one->ways;
    }
  return sum;
}

static void
sum_block (const VgpuLaunch *launch, size_t block, uint64_t *warps, uint64_t *lanes)
{
  *warps = *lanes = 0;
  for (uint32_t i = 0; i < launch->worker_count; i++)
    {
      *warps += launch->workers[i].block_warps[block];
      *lanes += launch->workers[i].block_lanes[block];
    }
}

static Line *
line_at (Totals *totals, VgpuPlace place)
{
  for (size_t i = totals->line_count; i-- > 0;)
    if (totals->lines[i].line == place.line && totals->lines[i].file == place.file)
      return &totals->lines[i];
  if (totals->line_count == totals->line_capacity)
    {
      totals->line_capacity = totals->line_capacity > 0 ? totals->line_capacity * 2 : 32;
      totals->lines = vgpu_retake (totals->lines, totals->line_capacity * sizeof (Line));
    }
  Line *line = &totals->lines[totals->line_count++];
  *line = (Line) {.file = place.file, .line = place.line};
  return line;
}

/* 0 global, 1 shared, 2 local; -1: no memory. Generic accesses count as global. */
static int
space_of (uint16_t op, bool *writes)
{
  static const struct
  {
    uint16_t op;
    int space;
    bool writes;
  } spaces[] = {
      {VGPU_OP_LOAD_GLOBAL, 0, false}, {VGPU_OP_LOAD_GENERIC, 0, false},
      {VGPU_OP_STORE_GLOBAL, 0, true}, {VGPU_OP_STORE_GENERIC, 0, true},
      {VGPU_OP_ATOM_GLOBAL, 0, true},  {VGPU_OP_ATOM_GENERIC, 0, true},
      {VGPU_OP_COPY_ASYNC, 0, false},  {VGPU_OP_LOAD_SHARED, 1, false},
      {VGPU_OP_STORE_SHARED, 1, true}, {VGPU_OP_ATOM_SHARED, 1, true},
      {VGPU_OP_LOAD_MATRIX, 1, false}, {VGPU_OP_STORE_MATRIX, 1, true},
      {VGPU_OP_LOAD_LOCAL, 2, false},  {VGPU_OP_STORE_LOCAL, 2, true},
  };
  for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
    if (spaces[i].op == op)
      {
        *writes = spaces[i].writes;
        return spaces[i].space;
      }
  return -1;
}

static void
add_site (Totals *totals, const VgpuLaunch *launch, const VgpuIns *ins, Line *line)
{
  bool writes;
  int space = space_of (ins->op, &writes);
  if (space < 0)
    return;
  VgpuSite site = sum_sites (launch, ins->site);
  uint64_t bytes = site.lanes * ins->bytes * ins->vec;
  bool atomic = ins->op == VGPU_OP_ATOM_GLOBAL || ins->op == VGPU_OP_ATOM_SHARED
                || ins->op == VGPU_OP_ATOM_GENERIC;
  if (writes)
    totals->written[space] += bytes;
  if (!writes || atomic)
    totals->read[space] += bytes;
  if (space == 1)
    {
      totals->shared_requests += site.requests;
      totals->ways += site.ways;
      line->shared_requests += site.requests;
      line->ways += site.ways;
      return;
    }
  line->requests += site.requests;
  line->sectors += site.sectors;
  if (!writes)
    {
      totals->sectors += site.sectors;
      totals->ideal += site.ideal_sectors;
    }
}

static Totals
sum_launch (const VgpuLaunch *launch)
{
  const VgpuKernel *kernel = launch->kernel;
  Totals totals = {0};
  uint64_t warps = 0, lanes = 0;
  int last_line = 0;
  const VgpuIns *code = kernel->listing != NULL ? kernel->listing : kernel->code;
  size_t count = kernel->listing != NULL ? kernel->listing_count : kernel->code_count;
  for (size_t i = 0; i < count; i++)
    {
      const VgpuIns *ins = &code[i];
      if (ins->op == VGPU_OP_BLOCK || ins->op == VGPU_OP_BLOCK_MEET)
        {
          const VgpuBasicBlock *block = &kernel->blocks[ins->site];
          sum_block (launch, ins->site, &warps, &lanes);
          totals.warps += warps * block->count;
          totals.lanes += lanes * block->count;
          totals.flops[0] += lanes * block->flops32;
          totals.flops[1] += lanes * block->flops64;
          totals.flops[2] += lanes * block->flops16;
          last_line = 0;
          continue;
        }
      Line *line = line_at (&totals, vgpu_source_place (kernel->source, ins->location));
      if (ins->line != last_line)
        {
          line->warps += warps;
          line->lanes += lanes;
        }
      last_line = ins->line;
      add_site (&totals, launch, ins, line);
    }
  return totals;
}

static void
add_lines (VgpuText *text, const Totals *totals, bool counted)
{
  bool first = true;
  vgpu_text_add (text, ",\"lines\":[");
  for (size_t i = 0; i < totals->line_count; i++)
    {
      const Line *line = &totals->lines[i];
      if (line->file == NULL || line->warps == 0)
        continue;
      vgpu_text_add (text, "%s{\"file\":", first ? "" : ",");
      first = false;
      vgpu_text_add_json (text, line->file);
      vgpu_text_add (text, ",\"line\":%d,\"executed\":%llu,\"active_lanes_mean\":%.6g", line->line,
                     (unsigned long long) line->warps, (double) line->lanes / (double) line->warps);
      if (counted && line->requests > 0)
        vgpu_text_add (text, ",\"sectors_per_request\":%.6g",
                       (double) line->sectors / (double) line->requests);
      if (counted && line->shared_requests > 0)
        vgpu_text_add (text, ",\"bank_degree\":%.6g",
                       (double) line->ways / 100 / (double) line->shared_requests);
      vgpu_text_add (text, "}");
    }
  vgpu_text_add (text, "]}");
}

static void
add_totals (VgpuText *text, const Totals *totals, bool counted)
{
  static const char *const spaces[] = {"global", "shared", "local"};
  vgpu_text_add (text, ",\"instructions\":%llu,\"thread_instructions\":%llu",
                 (unsigned long long) totals->warps, (unsigned long long) totals->lanes);
  vgpu_text_add (text, ",\"flops\":{\"f32\":%llu,\"f64\":%llu,\"f16\":%llu},\"bytes\":{",
                 (unsigned long long) totals->flops[0], (unsigned long long) totals->flops[1],
                 (unsigned long long) totals->flops[2]);
  for (int i = 0; i < 3; i++)
    vgpu_text_add (text, "%s\"%s_read\":%llu,\"%s_write\":%llu", i > 0 ? "," : "", spaces[i],
                   (unsigned long long) totals->read[i], spaces[i],
                   (unsigned long long) totals->written[i]);
  vgpu_text_add (text, "}");
  if (counted)
    vgpu_text_add (text, ",\"sectors_read\":%llu,\"ideal_sectors_read\":%llu",
                   (unsigned long long) totals->sectors, (unsigned long long) totals->ideal);
  if (counted && totals->shared_requests > 0)
    vgpu_text_add (text, ",\"bank_conflict_degree\":%.6g",
                   (double) totals->ways / 100 / (double) totals->shared_requests);
}

static const char *
result_name (int code)
{
#define NAME(symbol, value, sentence)                                                              \
  if (code == value)                                                                               \
    return #symbol;
  ASSAY_CUDA_RESULTS (NAME)
#undef NAME
  return "CUDA_ERROR_UNKNOWN";
}

void
vgpu_record_launch (const VgpuLaunch *launch)
{
  bool counted = launch->checks & VGPU_CHECK_COUNTS;
  vgpu_reports_count ();
  if (!vgpu_stream_is_open ())
    return;
  Totals totals = sum_launch (launch);
  VgpuText text = {0};
  vgpu_text_add (&text, "{\"type\":\"launch\",\"kernel\":");
  vgpu_text_add_json (&text, launch->kernel->name);
  vgpu_text_add (&text, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]", launch->grid[0],
                 launch->grid[1], launch->grid[2], launch->block[0], launch->block[1],
                 launch->block[2]);
  vgpu_text_add (&text, ",\"shared\":%u,\"registers\":null,\"status\":\"%s\"",
                 launch->kernel->static_shared + launch->dynamic_shared,
                 result_name (atomic_load (&launch->fault)));
  add_totals (&text, &totals, counted);
  add_lines (&text, &totals, counted);
  vgpu_stream_write (&text);
  vgpu_text_clear (&text);
  free (totals.lines);
}

/* Device printf */

struct VgpuPrinter
{
  pthread_mutex_t lock;
  VgpuText text;
  uint64_t cap;
  uint64_t kept;
  uint64_t dropped;
  bool to_stdout;
};

#define FLUSH_BYTES 16384

VgpuPrinter *
vgpu_printer_new (uint64_t cap, bool to_stdout)
{
  VgpuPrinter *printer = vgpu_take (sizeof *printer);
  pthread_mutex_init (&printer->lock, NULL);
  printer->cap = cap;
  printer->to_stdout = to_stdout;
  return printer;
}

static void
flush_printer (VgpuPrinter *printer)
{
  VgpuText line = {0};
  if (printer->text.length == 0)
    return;
  if (printer->to_stdout)
    {
      /* Through the program's own buffer, so that its order is kept. */
      fwrite (printer->text.data, 1, printer->text.length, stdout);
      vgpu_text_clear (&printer->text);
      return;
    }
  vgpu_text_add (&line, "{\"type\":\"print\",\"text\":");
  vgpu_text_add_json (&line, printer->text.data);
  vgpu_text_add (&line, "}");
  vgpu_stream_write (&line);
  vgpu_text_clear (&line);
  vgpu_text_clear (&printer->text);
}

void
vgpu_printer_add (VgpuPrinter *printer, const char *text, size_t length)
{
  pthread_mutex_lock (&printer->lock);
  if (printer->kept + length > printer->cap)
    printer->dropped += length;
  else
    {
      printer->kept += length;
      vgpu_text_add_bytes (&printer->text, text, length);
      if (printer->text.length >= FLUSH_BYTES)
        flush_printer (printer);
    }
  pthread_mutex_unlock (&printer->lock);
}

void
vgpu_printer_free (VgpuPrinter *printer)
{
  if (printer->dropped > 0)
    vgpu_text_add (&printer->text, "[%llu more bytes of output were dropped]\n",
                   (unsigned long long) printer->dropped);
  flush_printer (printer);
  if (printer->dropped > 0)
    {
      VgpuText line = {0};
      vgpu_text_add (&line, "{\"type\":\"dropped\",\"bytes\":%llu}",
                     (unsigned long long) printer->dropped);
      vgpu_stream_write (&line);
      vgpu_text_clear (&line);
    }
  pthread_mutex_destroy (&printer->lock);
  free (printer);
}
