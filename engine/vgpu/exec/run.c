/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks on worker threads, warps of a block one after another. */
#include "engine/vgpu/exec/run.h"

#include "engine/target/cuda-abi.h"
#include "engine/vgpu/check/check.h"
#include "engine/vgpu/check/record.h"
#include "engine/vgpu/exec/async.h"
#include "engine/vgpu/exec/control.h"
#include "engine/vgpu/exec/wgmma.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014. */
static uint64_t
draw (uint64_t *state)
{
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static void
fill_row (char *row, uint32_t bytes, uint64_t value)
{
  for (int lane = 0; lane < VGPU_LANES; lane++)
    memcpy (row + (size_t) lane * bytes, &value, bytes);
}

static uint64_t
parameter_value (const VgpuLaunch *launch, const VgpuFixedRow *row)
{
  uint64_t value = 0;
  memcpy (&value, launch->parameters + row->value, row->bytes);
  return value;
}

/* Where the system's part of shared memory begins. */
static uint64_t
reserved_at (const VgpuLaunch *launch)
{
  return ((uint64_t) launch->kernel->static_shared + launch->dynamic_shared + 15) / 16 * 16;
}

static uint64_t
fixed_value (const VgpuWorker *worker, const VgpuFixedRow *row)
{
  const VgpuLaunch *launch = worker->launch;
  switch (row->kind)
    {
    case VGPU_ROW_IMMEDIATE:
      return row->value;
    case VGPU_ROW_PARAMETER:
      return parameter_value (launch, row);
    case VGPU_ROW_NTID:
      return launch->block[row->value];
    case VGPU_ROW_NCTAID:
      return launch->grid[row->value];
    case VGPU_ROW_CTAID:
      return worker->block_id[row->value];
    case VGPU_ROW_CLUSTER_CTAID:
      return worker->block_id[row->value] % launch->cluster[row->value];
    case VGPU_ROW_CLUSTER_NCTAID:
      return launch->cluster[row->value];
    case VGPU_ROW_CLUSTER_ID:
      return worker->block_id[row->value] / launch->cluster[row->value];
    case VGPU_ROW_CLUSTERS:
      return launch->grid[row->value] / launch->cluster[row->value];
    case VGPU_ROW_CLUSTER_RANK:
      return worker->rank;
    case VGPU_ROW_CLUSTER_SIZE:
      return launch->team_size;
    case VGPU_ROW_WARPS:
      return worker->warp_count;
    case VGPU_ROW_SM:
      return worker->block_number % launch->sm_count;
    case VGPU_ROW_SMS:
      return launch->sm_count;
    case VGPU_ROW_DYNAMIC_SHARED:
      return launch->dynamic_shared;
    case VGPU_ROW_TOTAL_SHARED:
      return launch->kernel->static_shared + launch->dynamic_shared;
    case VGPU_ROW_RESERVED_SHARED:
      return reserved_at (launch) + row->value;
    case VGPU_ROW_WORKSPACE:
      return launch->grid_workspace >> row->value & UINT32_MAX;
    default:
      return 0;
    }
}

static uint32_t
lane_value (const VgpuLaunch *launch, const VgpuFixedRow *row, uint32_t warp, uint32_t lane)
{
  uint32_t thread = warp * VGPU_LANES + lane;
  uint32_t at = 1u << lane;
  switch (row->kind)
    {
    case VGPU_ROW_TID:
      if (row->value == 0)
        return thread % launch->block[0];
      if (row->value == 1)
        return thread / launch->block[0] % launch->block[1];
      return thread / launch->block[0] / launch->block[1];
    case VGPU_ROW_LANE:
      return lane;
    case VGPU_ROW_LANEMASK:
      {
        const uint32_t masks[] = {at, (at - 1) | at, at - 1, ~(at - 1), ~((at - 1) | at)};
        return masks[row->value];
      }
    default:
      return warp;
    }
}

static bool
varies_by_lane (VgpuRowKind kind)
{
  return kind == VGPU_ROW_TID || kind == VGPU_ROW_LANE || kind == VGPU_ROW_LANEMASK
         || kind == VGPU_ROW_WARP;
}

static void
fill_fixed_rows (VgpuWorker *worker)
{
  const VgpuKernel *kernel = worker->launch->kernel;
  char *shared_end = worker->rows + kernel->shared_row_bytes;
  for (size_t i = 0; i < kernel->row_count; i++)
    {
      const VgpuFixedRow *row = &kernel->rows[i];
      if (!varies_by_lane (row->kind))
        fill_row (shared_end + row->offset, row->bytes, fixed_value (worker, row));
      else
        for (uint32_t w = 0; w < worker->warp_count; w++)
          for (uint32_t lane = 0; lane < VGPU_LANES; lane++)
            {
              uint64_t value = lane_value (worker->launch, row, w, lane);
              memcpy (worker->warps[w].base[0] + row->offset + (size_t) lane * row->bytes, &value,
                      row->bytes);
            }
    }
}

static void
fill_block_rows (VgpuWorker *worker)
{
  const VgpuKernel *kernel = worker->launch->kernel;
  char *shared_end = worker->rows + kernel->shared_row_bytes;
  for (size_t i = 0; i < kernel->row_count; i++)
    {
      const VgpuFixedRow *row = &kernel->rows[i];
      if (row->kind == VGPU_ROW_CTAID || row->kind == VGPU_ROW_SM
          || row->kind == VGPU_ROW_CLUSTER_CTAID || row->kind == VGPU_ROW_CLUSTER_ID)
        fill_row (shared_end + row->offset, row->bytes, fixed_value (worker, row));
    }
}

/* Runs what is done beforehand, 0 and 2 for all warps of the block, 1 for this one. */
static void
run_hoisted (VgpuWarp *warp, int level)
{
  const VgpuKernel *kernel = warp->kernel;
  const VgpuIns *list = kernel->hoisted[level];
  const uint32_t mask = warp->mask, single = warp->single;
  warp->mask = VGPU_FULL;
  warp->single = 1;
  for (size_t i = 0; i < kernel->hoisted_count[level]; i++)
    list[i].run (warp, &list[i]);
  warp->mask = mask;
  warp->single = single;
}

static void
prepare_worker (VgpuWorker *worker, VgpuLaunch *launch)
{
  const VgpuKernel *kernel = launch->kernel;
  size_t taint_words = kernel->warp_row_bytes / VGPU_ROW_UNIT;
  worker->launch = launch;
  worker->warp_count = (launch->block_threads + VGPU_LANES - 1) / VGPU_LANES;
  worker->shared_bytes = (uint64_t) kernel->static_shared + launch->dynamic_shared;
  if (kernel->uses_reserved)
    worker->shared_bytes = reserved_at (launch) + VGPU_RESERVED_SHARED;
  worker->shared = vgpu_take_aligned (worker->shared_bytes + 64);
  worker->shared_valid = vgpu_take_aligned (worker->shared_bytes + 64);
  worker->warps = vgpu_take_aligned (worker->warp_count * sizeof *worker->warps);
  worker->rows =
      vgpu_take_aligned (kernel->shared_row_bytes + worker->warp_count * kernel->warp_row_bytes);
  worker->local = vgpu_take (worker->warp_count * kernel->local_bytes * VGPU_LANES);
  worker->poison = vgpu_take (worker->warp_count * taint_words * 2 * sizeof (uint32_t));
  worker->sites = vgpu_take_aligned (kernel->site_count * sizeof *worker->sites);
  worker->block_warps = vgpu_take (kernel->block_count * sizeof (uint64_t));
  worker->block_lanes = vgpu_take (kernel->block_count * sizeof (uint64_t));
  worker->fuel_full = launch->cooperative ? VGPU_FUEL_TOGETHER : VGPU_FUEL;
  worker->fuel = worker->fuel_full;
  worker->random = launch->seed;
  if (launch->checks & VGPU_CHECK_RACE)
    {
      worker->races = vgpu_take (vgpu_race_bytes (worker->shared_bytes));
      worker->race_log = vgpu_race_log_new (kernel, worker->shared_bytes);
      worker->quiet = vgpu_take ((worker->shared_bytes / 4 + 2) * sizeof *worker->quiet);
      worker->in_flight = vgpu_take ((worker->shared_bytes / 4 + 2) * sizeof *worker->in_flight);
    }
  for (uint32_t i = 0; i < worker->warp_count; i++)
    {
      VgpuWarp *warp = &worker->warps[i];
      warp->base[0] = worker->rows + kernel->shared_row_bytes + i * kernel->warp_row_bytes;
      warp->base[1] = worker->rows + kernel->shared_row_bytes;
      warp->worker = worker;
      warp->kernel = kernel;
      warp->index = i;
      warp->checks = launch->checks;
      warp->poison = worker->poison + i * taint_words * 2;
      warp->origin = warp->poison + taint_words;
      warp->local = worker->local + i * kernel->local_bytes * VGPU_LANES;
      warp->stack_capacity = VGPU_FIRST_DIVERGENCE;
      warp->stack = vgpu_take (warp->stack_capacity * sizeof *warp->stack);
    }
  fill_fixed_rows (worker);
  run_hoisted (&worker->warps[0], 0);
  for (uint32_t i = 0; i < worker->warp_count; i++)
    run_hoisted (&worker->warps[i], 1);
}

static void
clear_worker (VgpuWorker *worker)
{
  free (worker->shared);
  free (worker->shared_valid);
  for (uint32_t i = 0; i < worker->warp_count; i++)
    {
      vgpu_copies_free (&worker->warps[i]);
      vgpu_wgmma_free (&worker->warps[i]);
      vgpu_calls_free (&worker->warps[i]);
      free (worker->warps[i].stack);
    }
  free (worker->in_flight);
  free (worker->neighbours);
  free (worker->generic);
  free (worker->warps);
  free (worker->rows);
  free (worker->local);
  free (worker->poison);
  free (worker->sites);
  free (worker->block_warps);
  free (worker->block_lanes);
  free (worker->races);
  vgpu_race_log_free (worker->race_log);
  free (worker->quiet);
}

static void
start_block (VgpuWorker *worker, uint64_t number)
{
  VgpuLaunch *launch = worker->launch;
  worker->block_number = number;
  worker->block_id[0] = (uint32_t) (number % launch->grid[0]);
  worker->block_id[1] = (uint32_t) (number / launch->grid[0] % launch->grid[1]);
  worker->block_id[2] = (uint32_t) (number / launch->grid[0] / launch->grid[1]);
  worker->epoch++;
  /* What a kernel never wrote it finds as NaN or -1, in whatever order blocks run. */
  memset (worker->shared, 0xff, worker->shared_bytes);
  if (launch->checks & VGPU_CHECK_UNINIT)
    memset (worker->shared_valid, 0, worker->shared_bytes);
  if (worker->barriers_used != 0)
    memset (worker->barriers, 0, sizeof worker->barriers);
  worker->barriers_used = 0;
  worker->idle_turns = 0;
  worker->team->order++;
  vgpu_proxy_forget (worker);
  fill_block_rows (worker);
  run_hoisted (&worker->warps[0], 2);
  for (uint32_t i = 0; i < worker->warp_count; i++)
    {
      VgpuWarp *warp = &worker->warps[i];
      uint32_t left = launch->block_threads - i * VGPU_LANES;
      warp->alive = left >= VGPU_LANES ? VGPU_FULL : (1u << left) - 1;
      warp->mask = warp->alive;
      warp->reconverge = VGPU_NONE;
      warp->depth = 0;
      warp->carry = 0;
      warp->parked_count = 0;
      warp->gave_up = false;
      warp->stalls = 0;
      warp->cluster_arrived = 0;
      warp->cluster_phase = 0;
      if (warp->bulk_used)
        memset (warp->bulk_group, 0, sizeof warp->bulk_group);
      warp->bulk_used = false;
      warp->epoch = 0;
      warp->pc = launch->kernel->code;
      warp->state = VGPU_WARP_READY;
      if (warp->tainted)
        memset (warp->poison, 0,
                launch->kernel->warp_row_bytes / VGPU_ROW_UNIT * 2 * sizeof (uint32_t));
      warp->tainted = 0;
      vgpu_copies_forget (warp);
      vgpu_wgmma_forget (warp);
      vgpu_calls_begin (warp);
    }
}

static void
run_warp (VgpuWarp *warp)
{
  const VgpuIns *ins = warp->pc;
  if (warp->checks & VGPU_CHECK_UNINIT)
    while (ins != NULL)
      {
        if (warp->tainted && ins->taint != VGPU_TAINT_NONE)
          vgpu_taint (warp, ins);
        ins = ins->run (warp, ins);
      }
  else
    while (ins != NULL)
      ins = ins->run (warp, ins);
}

static void
report_deadlock (VgpuWorker *worker)
{
  for (uint32_t i = 0; i < worker->warp_count; i++)
    {
      VgpuWarp *warp = &worker->warps[i];
      if (warp->state == VGPU_WARP_DONE)
        continue;
      VgpuFinding finding =
          vgpu_finding ("sync.deadlock", warp->pc - 1, (uint32_t) __builtin_ctz (warp->mask));
      finding.message = "no thread of the block can go on: it waits here for ever";
      vgpu_report (warp, &finding);
      vgpu_fault (warp, CUDA_ERROR_LAUNCH_TIMEOUT, true);
      return;
    }
}

/* Every warp of a block that can go on does so once. False when none can any more. */
static bool
take_turns (VgpuWorker *worker)
{
  VgpuLaunch *launch = worker->launch;
  uint32_t order[64];
  bool progress = false, idle = true;
  uint64_t before = worker->strong + worker->team->changes;
  for (uint32_t i = 0; i < worker->warp_count; i++)
    order[i] = i;
  if (launch->seed != 0)
    for (uint32_t i = worker->warp_count - 1; i > 0; i--)
      {
        uint32_t j = (uint32_t) (draw (&worker->random) % (i + 1));
        uint32_t other = order[i];
        order[i] = order[j];
        order[j] = other;
      }
  for (uint32_t i = 0; i < worker->warp_count; i++)
    {
      VgpuWarp *warp = &worker->warps[order[i]];
      if (warp->state != VGPU_WARP_READY)
        continue;
      progress = true;
      warp->stalled = false;
      run_warp (warp);
      idle = idle && warp->stalled;
      if (atomic_load_explicit (&launch->stop, memory_order_relaxed))
        return false;
      if (warp->state == VGPU_WARP_DONE)
        {
          if (worker->barriers_used != 0)
            vgpu_barriers_recheck (worker);
          if (worker->team->arrived)
            vgpu_cluster_recheck (worker->team);
        }
    }
  idle = idle && before == worker->strong + worker->team->changes;
  worker->idle_turns = idle ? worker->idle_turns + 1 : 0;
  return progress;
}

static void
end_block (VgpuWorker *worker)
{
  if (atomic_load_explicit (&worker->launch->stop, memory_order_relaxed))
    return;
  for (uint32_t i = 0; i < worker->warp_count; i++)
    if (worker->warps[i].state != VGPU_WARP_DONE)
      {
        report_deadlock (worker);
        return;
      }
}

/* Turns in which nobody did anything but look at barriers that nobody changed: nobody ever will. */
#define IDLE_TURNS 256

/* Every block of a team takes its turn. False when it is at its end. */
static bool
take_team_turn (VgpuTeam *team)
{
  bool progress = false, idle = true;
  for (uint32_t i = 0; i < team->count; i++)
    {
      VgpuWorker *mate = team->mates[i];
      if (!take_turns (mate))
        continue;
      progress = true;
      idle = idle && mate->idle_turns > IDLE_TURNS;
    }
  return progress && !idle;
}

static void
end_team (VgpuTeam *team)
{
  vgpu_bulk_finish (team, NULL);
  for (uint32_t i = 0; i < team->count; i++)
    end_block (team->mates[i]);
}

/* The block of a rank in a cluster: x runs fastest in both. */
static uint64_t
block_of (const VgpuLaunch *launch, uint64_t number, uint32_t rank)
{
  uint64_t block[3];
  for (int i = 0; i < 3; i++)
    {
      uint64_t clusters = launch->grid[i] / launch->cluster[i];
      block[i] = number % clusters * launch->cluster[i] + rank % launch->cluster[i];
      number /= clusters;
      rank /= launch->cluster[i];
    }
  return block[0] + launch->grid[0] * (block[1] + launch->grid[1] * block[2]);
}

static void
start_team (VgpuTeam *team, uint64_t number)
{
  VgpuLaunch *launch = team->mates[0]->launch;
  team->copy_count = 0;
  team->phase = 0;
  team->arrived = false;
  for (uint32_t rank = 0; rank < team->count; rank++)
    start_block (team->mates[rank], block_of (launch, number, rank));
}

static void *
run_worker (void *data)
{
  VgpuTeam *team = data;
  VgpuLaunch *launch = team->mates[0]->launch;
  uint64_t next = 0, end = 0;
  for (;;)
    {
      if (next == end)
        {
          next = atomic_fetch_add (&launch->next_team, launch->team_stretch);
          end = next + launch->team_stretch;
        }
      if (next >= launch->team_total || atomic_load_explicit (&launch->stop, memory_order_relaxed))
        return NULL;
      if (launch->interrupt != NULL && atomic_load (launch->interrupt) != 0)
        {
          vgpu_fault (&team->mates[0]->warps[0], CUDA_ERROR_LAUNCH_TIMEOUT, true);
          return NULL;
        }
      start_team (team, launch->team_order != NULL ? launch->team_order[next] : next);
      next++;
      while (take_team_turn (team))
        ;
      end_team (team);
    }
}

/* Beyond this many blocks an order drawn beforehand would cost more than it tells. */
#define MAX_SHUFFLED ((uint64_t) 1 << 22)

static void
shuffle_blocks (VgpuLaunch *launch)
{
  uint64_t state = launch->seed ^ 0x6a09e667f3bcc909u;
  /* A block may wait for an earlier one, which then has to come first. */
  if (launch->seed == 0 || launch->kernel->synchronises_blocks || launch->team_total > MAX_SHUFFLED)
    return;
  launch->team_order = vgpu_take (launch->team_total * sizeof (uint64_t));
  for (uint64_t i = 0; i < launch->team_total; i++)
    {
      uint64_t j = draw (&state) % (i + 1);
      launch->team_order[i] = launch->team_order[j];
      launch->team_order[j] = i;
    }
}

static void
run_workers (VgpuLaunch *launch)
{
  pthread_t *threads = vgpu_take (launch->team_count * sizeof *threads);
  bool *started = vgpu_take (launch->team_count);
  sigset_t all, old;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &old);
  for (uint32_t i = 1; i < launch->team_count; i++)
    started[i] = pthread_create (&threads[i], NULL, run_worker, launch->teams[i]) == 0;
  pthread_sigmask (SIG_SETMASK, &old, NULL);
  run_worker (launch->teams[0]);
  for (uint32_t i = 1; i < launch->team_count; i++)
    if (started[i])
      pthread_join (threads[i], NULL);
  free (started);
  free (threads);
}

/* All blocks are under way: the teams, one a cluster, take turns. */
typedef struct
{
  VgpuLaunch *launch;
  uint32_t first, step;
} Share;

static void *
run_share (void *data)
{
  const Share *share = data;
  VgpuLaunch *launch = share->launch;
  bool *going = vgpu_take (launch->team_count);
  bool any = true;
  for (uint32_t i = share->first; i < launch->team_count; i += share->step)
    {
      start_team (launch->teams[i], i);
      going[i] = true;
    }
  while (any && !atomic_load (&launch->stop))
    {
      any = false;
      for (uint32_t i = share->first; i < launch->team_count; i += share->step)
        if (going[i])
          {
            going[i] = take_team_turn (launch->teams[i]);
            any = any || going[i];
            if (!going[i])
              end_team (launch->teams[i]);
          }
      if (launch->interrupt != NULL && atomic_load (launch->interrupt) != 0)
        vgpu_fault (&launch->teams[share->first]->mates[0]->warps[0], CUDA_ERROR_LAUNCH_TIMEOUT,
                    true);
    }
  free (going);
  return NULL;
}

static void
run_together (VgpuLaunch *launch, uint32_t thread_count)
{
  pthread_t *threads = vgpu_take (thread_count * sizeof *threads);
  Share *shares = vgpu_take (thread_count * sizeof *shares);
  bool *started = vgpu_take (thread_count);
  sigset_t all, old;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &old);
  for (uint32_t i = 0; i < thread_count; i++)
    shares[i] = (Share) {launch, i, thread_count};
  for (uint32_t i = 1; i < thread_count; i++)
    started[i] = pthread_create (&threads[i], NULL, run_share, &shares[i]) == 0;
  pthread_sigmask (SIG_SETMASK, &old, NULL);
  run_share (&shares[0]);
  for (uint32_t i = 1; i < thread_count; i++)
    if (started[i])
      pthread_join (threads[i], NULL);
  free (started);
  free (shares);
  free (threads);
}

#define THREADS_WORTH_A_WORKER 512
/* Neighbours often touch the same lines of memory: a thread takes some in a row, so many times that the
 * last to end is not much later than the others. */
#define STRETCHES 64

/* How many clusters are worked on at a time. */
static uint32_t
count_teams (const VgpuLaunch *launch)
{
  uint64_t count = launch->threads;
  if ((launch->kernel->order_matters && launch->seed == 0) || launch->kernel->uses_heap)
    return 1;
  if (count > launch->team_total)
    count = launch->team_total;
  /* Starting a thread costs more than running a few warps. */
  uint64_t most = launch->block_total * launch->block_threads / THREADS_WORTH_A_WORKER;
  if (count > most)
    count = most > 0 ? most : 1;
  return (uint32_t) count;
}

static void
measure_launch (VgpuLaunch *launch)
{
  launch->team_size = 1;
  for (int i = 0; i < 3; i++)
    {
      if (launch->cluster[i] == 0)
        launch->cluster[i] = 1;
      launch->team_size *= launch->cluster[i];
    }
  launch->block_total = (uint64_t) launch->grid[0] * launch->grid[1] * launch->grid[2];
  launch->team_total = launch->block_total / launch->team_size;
  launch->block_threads = launch->block[0] * launch->block[1] * launch->block[2];
}

static void
prepare_teams (VgpuLaunch *launch)
{
  launch->worker_count = launch->team_count * launch->team_size;
  launch->workers = vgpu_take_aligned (launch->worker_count * sizeof *launch->workers);
  launch->teams = vgpu_take (launch->team_count * sizeof (VgpuTeam *));
  for (uint32_t i = 0; i < launch->worker_count; i++)
    {
      VgpuWorker *worker = &launch->workers[i];
      if (i % launch->team_size == 0)
        {
          VgpuTeam *team = vgpu_take (sizeof *team);
          team->mates = vgpu_take (launch->team_size * sizeof *team->mates);
          team->count = launch->team_size;
          launch->teams[i / launch->team_size] = team;
        }
      worker->team = launch->teams[i / launch->team_size];
      worker->rank = i % launch->team_size;
      worker->team->mates[worker->rank] = worker;
      prepare_worker (worker, launch);
      worker->random += i;
    }
}

int
vgpu_launch_run (VgpuLaunch *launch)
{
  measure_launch (launch);
  /* Who comes after whom is not followed through atomics and flags. */
  if (launch->kernel->synchronises_blocks)
    launch->checks &= ~(uint32_t) VGPU_CHECK_RACE_GLOBAL;
  if (launch->checks & VGPU_CHECK_RACE_GLOBAL)
    vgpu_race_global_begin (launch->memory);
  uint32_t thread_count = count_teams (launch);
  launch->team_count = launch->cooperative ? (uint32_t) launch->team_total : thread_count;
  launch->team_stretch = launch->team_total / thread_count / STRETCHES;
  if (launch->team_stretch == 0)
    launch->team_stretch = 1;
  if (!launch->cooperative)
    shuffle_blocks (launch);
  launch->printer = vgpu_printer_new (launch->print_cap, launch->print_to_stdout);
  prepare_teams (launch);
  if (launch->cooperative)
    run_together (launch, thread_count);
  else
    run_workers (launch);
  vgpu_printer_free (launch->printer);
  vgpu_record_launch (launch);
  for (uint32_t i = 0; i < launch->worker_count; i++)
    {
      VgpuWorker *worker = &launch->workers[i];
      atomic_fetch_add (&launch->instructions, worker->instructions - worker->counted);
      clear_worker (worker);
    }
  for (uint32_t i = 0; i < launch->team_count; i++)
    vgpu_team_free (launch->teams[i]);
  free (launch->teams);
  free (launch->workers);
  free (launch->team_order);
  return atomic_load (&launch->fault);
}
