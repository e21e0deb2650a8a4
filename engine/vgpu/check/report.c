/* SPDX-License-Identifier: Apache-2.0 */
/* Findings on their way to the report stream: the first of a kind at once, then only counted. */
#include "engine/target/cuda-abi.h"
#include "engine/vgpu/check/check.h"
#include "engine/vgpu/check/record.h"
#include "engine/vgpu/check/text.h"
#include "engine/vgpu/ptx/arena.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct
{
  char key[320];
  uint64_t count;
  uint64_t told;
} Seen;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Seen *seen;
static size_t seen_count;
static uint64_t most_reports = 200;
static uint64_t not_shown;
static uint64_t not_shown_told;

void
vgpu_reports_limit (uint64_t most)
{
  most_reports = most;
}

void
vgpu_reports_forget (void)
{
  pthread_mutex_lock (&lock);
  free (seen);
  seen = NULL;
  seen_count = 0;
  not_shown = not_shown_told = 0;
  pthread_mutex_unlock (&lock);
}

/* The number of a report, 0 if it is not to be written. */
static size_t
number_of (const char *key)
{
  for (size_t i = 0; i < seen_count; i++)
    if (strcmp (seen[i].key, key) == 0)
      {
        seen[i].count++;
        return 0;
      }
  if (seen_count >= most_reports)
    {
      not_shown++;
      return 0;
    }
  seen = vgpu_retake (seen, (seen_count + 1) * sizeof *seen);
  memset (&seen[seen_count], 0, sizeof *seen);
  snprintf (seen[seen_count].key, sizeof seen->key, "%s", key);
  seen[seen_count].count = seen[seen_count].told = 1;
  return ++seen_count;
}

void
vgpu_reports_count (void)
{
  pthread_mutex_lock (&lock);
  for (size_t i = 0; i < seen_count; i++)
    if (seen[i].count != seen[i].told)
      {
        VgpuText text = {0};
        vgpu_text_add (&text, "{\"type\":\"count\",\"id\":%zu,\"count\":%llu}", i + 1,
                       (unsigned long long) seen[i].count);
        vgpu_stream_write (&text);
        vgpu_text_clear (&text);
        seen[i].told = seen[i].count;
      }
  if (not_shown != not_shown_told)
    {
      VgpuText text = {0};
      vgpu_text_add (&text, "{\"type\":\"dropped\",\"count\":%llu}",
                     (unsigned long long) not_shown);
      vgpu_stream_write (&text);
      vgpu_text_clear (&text);
      not_shown_told = not_shown;
    }
  pthread_mutex_unlock (&lock);
}

VgpuFinding
vgpu_finding (const char *rule, const VgpuIns *ins, uint32_t lane)
{
  return (VgpuFinding) {.rule = rule,
                        .ins = ins,
                        .lane = lane,
                        .location = VGPU_NONE,
                        .other_location = VGPU_NONE,
                        .other_thread = -1,
                        .other_block = -1};
}

static const char *
space_name (VgpuSpace space)
{
  static const char *const names[] = {"none",   "generic", "global", "const",
                                      "shared", "local",   "param"};
  return names[space];
}

static const char *
access_name (VgpuAccess access)
{
  static const char *const names[] = {"read", "write", "atomic"};
  return names[access];
}

static void
add_triple (VgpuText *text, const char *name, const uint32_t *size, uint64_t number)
{
  uint64_t y = number / size[0];
  vgpu_text_add (text, ",\"%s\":[%llu,%llu,%llu]", name, (unsigned long long) (number % size[0]),
                 (unsigned long long) (y % size[1]), (unsigned long long) (y / size[1]));
}

static void
add_place (VgpuText *text, const VgpuSource *source, uint32_t location)
{
  VgpuPlace place = vgpu_source_place (source, location);
  vgpu_text_add (text, ",\"file\":");
  vgpu_text_add_json (text, place.file);
  if (place.file != NULL)
    vgpu_text_add (text, ",\"line\":%d", place.line);
  else
    vgpu_text_add (text, ",\"line\":null");
  if (place.inner_file != NULL)
    {
      vgpu_text_add (text, ",\"inner_file\":");
      vgpu_text_add_json (text, place.inner_file);
      vgpu_text_add (text, ",\"inner_line\":%d", place.inner_line);
    }
  if (place.outer_file != NULL)
    {
      vgpu_text_add (text, ",\"outer_file\":");
      vgpu_text_add_json (text, place.outer_file);
      vgpu_text_add (text, ",\"outer_line\":%d", place.outer_line);
    }
}

static void
add_access (VgpuText *text, const VgpuFinding *finding)
{
  const VgpuAllocation *allocation = finding->allocation;
  if (finding->request != NULL)
    vgpu_text_add (text, ",\"access\":\"%s\",\"space\":\"%s\",\"bytes\":%u",
                   access_name (finding->request->access), space_name (finding->request->space),
                   finding->request->bytes);
  if (allocation == NULL)
    return;
  vgpu_text_add (text, ",\"allocation\":{\"name\":");
  vgpu_text_add_json (text, allocation->name);
  vgpu_text_add (text, ",\"bytes\":%llu,\"offset\":%lld}",
                 (unsigned long long) (allocation->hi - allocation->lo),
                 (long long) finding->offset);
}

static void
add_other_side (VgpuText *text, const VgpuWarp *warp, const VgpuFinding *finding)
{
  const VgpuLaunch *launch = warp->worker->launch;
  if (finding->other_location == VGPU_NONE && finding->other_thread < 0 && finding->other_block < 0)
    return;
  vgpu_text_add (text, ",\"other\":{\"of\":\"access\"");
  add_place (text, warp->kernel->source, finding->other_location);
  if (finding->other_block >= 0)
    add_triple (text, "block", launch->grid, (uint64_t) finding->other_block);
  if (finding->other_thread >= 0)
    add_triple (text, "thread", launch->block, (uint64_t) finding->other_thread);
  vgpu_text_add (text, "}");
}

void
vgpu_report (VgpuWarp *warp, const VgpuFinding *finding)
{
  const VgpuWorker *worker = warp->worker;
  const VgpuKernel *kernel = warp->kernel;
  uint32_t location = finding->location != VGPU_NONE ? finding->location : finding->ins->location;
  VgpuPlace place = vgpu_source_place (kernel->source, location);
  char key[320];
  snprintf (key, sizeof key, "%s|%.80s|%.120s|%d|%llu", finding->rule, kernel->name,
            place.file != NULL ? place.file : "",
            place.file != NULL ? place.line : finding->ins->line,
            (unsigned long long) (finding->allocation != NULL ? finding->allocation->id : 0));
  pthread_mutex_lock (&lock);
  size_t id = number_of (key);
  if (id > 0 && vgpu_stream_is_open ())
    {
      VgpuText text = {0};
      vgpu_text_add (&text, "{\"type\":\"report\",\"id\":%zu,\"rule\":\"%s\",\"message\":", id,
                     finding->rule);
      vgpu_text_add_json (&text, finding->message);
      vgpu_text_add (&text, ",\"kernel\":");
      vgpu_text_add_json (&text, kernel->name);
      add_triple (&text, "block", worker->launch->grid, worker->block_number);
      add_triple (&text, "thread", worker->launch->block,
                  (uint64_t) warp->index * VGPU_LANES + finding->lane);
      add_place (&text, kernel->source, location);
      vgpu_text_add (&text, ",\"ptx_line\":%d", finding->ins->line);
      add_access (&text, finding);
      add_other_side (&text, warp, finding);
      vgpu_text_add (&text, "}");
      vgpu_stream_write (&text);
      vgpu_text_clear (&text);
    }
  pthread_mutex_unlock (&lock);
}

void
vgpu_report_launch (const char *rule, const char *message, const char *kernel)
{
  char key[320];
  snprintf (key, sizeof key, "%s|%.80s|%.160s", rule, kernel != NULL ? kernel : "", message);
  pthread_mutex_lock (&lock);
  size_t id = number_of (key);
  if (id > 0)
    {
      VgpuText text = {0};
      vgpu_text_add (&text, "{\"type\":\"report\",\"id\":%zu,\"rule\":\"%s\",\"message\":", id,
                     rule);
      vgpu_text_add_json (&text, message);
      vgpu_text_add (&text, ",\"kernel\":");
      vgpu_text_add_json (&text, kernel);
      vgpu_text_add (&text, "}");
      vgpu_stream_write (&text);
      vgpu_text_clear (&text);
    }
  pthread_mutex_unlock (&lock);
}

void
vgpu_fault (VgpuWarp *warp, int code, bool stop)
{
  VgpuLaunch *launch = warp->worker->launch;
  int none = 0;
  atomic_compare_exchange_strong (&launch->fault, &none, code);
  if (stop)
    atomic_store (&launch->stop, 1);
}

void
vgpu_fault_at (VgpuWarp *warp, const VgpuIns *ins, int code, const char *message)
{
  const VgpuLaunch *launch = warp->worker->launch;
  VgpuText text = {0};
  const char *name = "CUDA_ERROR_UNKNOWN";
#define NAME(symbol, value, sentence)                                                              \
  if (code == value)                                                                               \
    name = #symbol;
  ASSAY_CUDA_RESULTS (NAME)
#undef NAME
  vgpu_text_add (&text, "{\"type\":\"fault\",\"code\":%d,\"name\":\"%s\",\"message\":", code, name);
  vgpu_text_add_json (&text, message);
  vgpu_text_add (&text, ",\"kernel\":");
  vgpu_text_add_json (&text, warp->kernel->name);
  add_triple (&text, "block", launch->grid, warp->worker->block_number);
  add_triple (&text, "thread", launch->block,
              (uint64_t) warp->index * VGPU_LANES + (uint32_t) __builtin_ctz (warp->mask));
  add_place (&text, warp->kernel->source, ins->location);
  vgpu_text_add (&text, "}");
  vgpu_stream_write (&text);
  vgpu_text_clear (&text);
  vgpu_fault (warp, code, true);
}
