/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/vgpu/exec/control.h"

#include "engine/target/cuda-abi.h"
#include "engine/vgpu/check/check.h"
#include "engine/vgpu/ptx/arena.h"
#include "engine/vgpu/ptx/operation.h"

#include <stdio.h>
#include <string.h>

/* A parked path whose lanes are among those; its number, or parked_count. */
static uint32_t
find_parked (const VgpuWarp *warp, uint32_t lanes)
{
  uint32_t i = 0;
  while (i < warp->parked_count && (warp->parked[i].mask & lanes) == 0)
    i++;
  return i;
}

static VgpuDivergence
take_parked (VgpuWarp *warp, uint32_t number)
{
  VgpuDivergence path = warp->parked[number];
  warp->parked[number] = warp->parked[--warp->parked_count];
  return path;
}

const VgpuIns *
vgpu_resume_waiting (VgpuWarp *warp)
{
  while (warp->depth > 0 || warp->parked_count > 0)
    {
      /* What is popped next may be where parked lanes are to meet the others: then nobody is left
       * that could come to them. */
      uint32_t next = warp->depth > 0 ? warp->stack[warp->depth - 1].mask : VGPU_FULL;
      uint32_t parked = find_parked (warp, next);
      bool gives_up = parked < warp->parked_count;
      VgpuDivergence path = gives_up ? take_parked (warp, parked) : warp->stack[--warp->depth];
      uint32_t lanes = path.mask & warp->alive;
      if (lanes == 0)
        continue;
      warp->gave_up = gives_up;
      warp->mask = lanes;
      warp->reconverge = path.reconverge;
      return path.pc;
    }
  warp->mask = 0;
  warp->state = VGPU_WARP_DONE;
  return NULL;
}

/* Whether lanes that are missing wait on the stack for their turn, apart from the path's own. */
static bool
can_come (const VgpuWarp *warp, uint32_t missing)
{
  for (uint32_t i = warp->depth; i-- > 0;)
    {
      uint32_t mask = warp->stack[i].mask;
      if ((mask & warp->mask) != 0)
        return false;
      if ((mask & missing) != 0)
        return true;
    }
  return false;
}

bool
vgpu_gather (VgpuWarp *warp, const VgpuIns *ins, uint32_t members, const VgpuIns **next)
{
  bool gave_up = warp->gave_up;
  warp->gave_up = false;
  if (ins->is_guarded || (members & warp->alive & ~warp->mask) == 0)
    return false;
  for (uint32_t i = 0; i < warp->parked_count;)
    {
      if (warp->parked[i].pc == ins && warp->parked[i].reconverge == warp->reconverge)
        warp->mask |= take_parked (warp, i).mask & warp->alive;
      else
        i++;
    }
  uint32_t missing = members & warp->alive & ~warp->mask;
  if (missing == 0 || gave_up || warp->parked_count == VGPU_MAX_PARKED || !can_come (warp, missing))
    return false;
  warp->parked[warp->parked_count++] = (VgpuDivergence) {ins, warp->mask, warp->reconverge};
  *next = vgpu_resume_waiting (warp);
  return true;
}

void
vgpu_push (VgpuWarp *warp, const VgpuIns *pc, uint32_t mask, uint32_t reconverge)
{
  /* Each entry splits lanes or closes a split of them: 64 are enough for 32 lanes, and one more for
   * each call that has not returned. */
  if (warp->depth == warp->stack_capacity && warp->depth < VGPU_MAX_DIVERGENCE)
    {
      warp->stack_capacity *= 2;
      warp->stack = vgpu_retake (warp->stack, warp->stack_capacity * sizeof *warp->stack);
    }
  if (warp->depth < warp->stack_capacity)
    warp->stack[warp->depth++] = (VgpuDivergence) {pc, mask, reconverge};
  else
    vgpu_fault (warp, CUDA_ERROR_HARDWARE_STACK_ERROR, true);
}

const VgpuIns *
vgpu_diverge (VgpuWarp *warp, const VgpuIns *ins, const VgpuIns *target, uint32_t taken)
{
  const VgpuKernel *kernel = warp->kernel;
  uint32_t meet = ins->reconverge;
  const VgpuIns *meeting = meet != VGPU_NONE ? kernel->code + kernel->blocks[meet].first : NULL;
  const VgpuIns *next = ins + 1;
  uint32_t others = warp->mask & ~taken;
  if (meet == VGPU_NONE)
    meet = warp->reconverge;
  else if (meet != warp->reconverge)
    vgpu_push (warp, meeting, warp->mask, warp->reconverge);
  warp->reconverge = meet;
  if (next == meeting)
    {
      warp->mask = taken;
      return target;
    }
  if (target != meeting)
    vgpu_push (warp, target, taken, meet);
  warp->mask = others;
  return next;
}

/* Lanes that spin on what other lanes of their warp hold would spin for ever while those wait at a
 * post-dominator: lets those that wait go first. Sound, since threads of a warp advance
 * independently; done only where nearly every turn of a loop looked at something that others may
 * change, since it costs convergence. */
static const VgpuIns *
rotate (VgpuWarp *warp, const VgpuIns *next)
{
  if (warp->depth == 0)
    return next;
  VgpuDivergence *top = &warp->stack[warp->depth - 1];
  uint32_t waiting = top->mask & warp->alive & ~warp->mask;
  if (waiting == 0 || find_parked (warp, waiting) < warp->parked_count)
    return next;
  VgpuDivergence spinning = {next, warp->mask, top->reconverge};
  const VgpuIns *pc = top->pc;
  warp->reconverge = top->reconverge;
  *top = spinning;
  warp->mask = waiting;
  return pc;
}

const VgpuIns *
vgpu_out_of_fuel (VgpuWarp *warp, const VgpuIns *next)
{
  VgpuWorker *worker = warp->worker;
  VgpuLaunch *launch = worker->launch;
  uint64_t fresh = worker->instructions - worker->counted;
  uint64_t total = atomic_fetch_add (&launch->instructions, fresh) + fresh;
  worker->counted = worker->instructions;
  bool spins = worker->strong - worker->strong_known >= (uint64_t) worker->fuel_full / 2;
  worker->fuel = worker->fuel_full;
  worker->strong_known = worker->strong;
  bool over = launch->max_instructions > 0 && total > launch->max_instructions;
  bool interrupted = launch->interrupt != NULL && atomic_load (launch->interrupt) != 0;
  if (over || interrupted)
    vgpu_fault (warp, CUDA_ERROR_LAUNCH_TIMEOUT, true);
  warp->pc = next;
  if (atomic_load (&launch->stop))
    return NULL;
  if (spins)
    warp->pc = rotate (warp, next);
  return worker->warp_count > 1 || launch->cooperative ? NULL : warp->pc;
}

/* Turns in vain until lanes of the same warp are let forward. */
#define PATIENCE 16

const VgpuIns *
vgpu_stall (VgpuWarp *warp, const VgpuIns *next)
{
  warp->stalled = true;
  warp->pc = next;
  if (++warp->stalls % PATIENCE == 0)
    warp->pc = rotate (warp, next);
  return NULL;
}

const VgpuIns *
vgpu_trap (VgpuWarp *warp, const VgpuIns *ins)
{
  vgpu_fault_at (warp, ins, CUDA_ERROR_LAUNCH_FAILED, "trap instruction executed");
  warp->pc = ins;
  return NULL;
}

static uint32_t
threads_of (const VgpuWarp *warp, const VgpuIns *ins, int32_t row, uint32_t missing)
{
  if (row == INT32_MIN)
    return missing;
  const uint32_t *values = (const uint32_t *) (warp->base[(uint32_t) row >> 31] + row);
  return values[__builtin_ctz (warp->mask)];
}

static uint64_t
operand (const VgpuWarp *warp, int32_t row, uint32_t lane, bool wide)
{
  const char *base = warp->base[(uint32_t) row >> 31] + row;
  return wide ? ((const uint64_t *) base)[lane] : ((const uint32_t *) base)[lane];
}

const VgpuIns *
vgpu_assert_fail (VgpuWarp *warp, const VgpuIns *ins)
{
  uint32_t lane = (uint32_t) __builtin_ctz (warp->mask);
  const int32_t *rows = warp->kernel->extra + ins->extra;
  char condition[160] = "?", file[200] = "?", text[512];
  vgpu_read_text (warp, lane, operand (warp, rows[0], lane, true), condition, sizeof condition);
  vgpu_read_text (warp, lane, operand (warp, rows[1], lane, true), file, sizeof file);
  snprintf (text, sizeof text, "assertion `%s' failed, %s:%u", condition, file,
            (uint32_t) operand (warp, rows[2], lane, false));
  vgpu_fault_at (warp, ins, CUDA_ERROR_ASSERT, text);
  warp->pc = ins;
  return NULL;
}

/* Barriers */

static void
write_reduction (VgpuWarp *warp, const VgpuBarrier *barrier)
{
  const VgpuIns *ins = warp->pc - 1;
  uint32_t all = barrier->reduced_and ? VGPU_FULL : 0;
  uint32_t any = barrier->reduced_or ? VGPU_FULL : 0;
  uint32_t *row = (uint32_t *) (warp->base[0] + ins->d);
  if (ins->op != warp->kernel->reduce_op)
    return;
  if (ins->imm == 0)
    {
      for (int lane = 0; lane < VGPU_LANES; lane++)
        if (warp->mask >> lane & 1)
          row[lane] = barrier->reduced_count;
      return;
    }
  *row = (*row & ~warp->mask) | ((ins->imm == 1 ? all : any) & warp->mask);
}

static void
release (VgpuWorker *worker, uint32_t id)
{
  VgpuBarrier *barrier = &worker->barriers[id];
  for (uint32_t i = 0; i < worker->warp_count; i++)
    {
      VgpuWarp *warp = &worker->warps[i];
      if (warp->state != VGPU_WARP_BARRIER || warp->barrier != id)
        continue;
      warp->state = VGPU_WARP_READY;
      warp->epoch++;
      write_reduction (warp, barrier);
    }
  memset (barrier, 0, sizeof *barrier);
  worker->epoch++;
}

static bool
is_complete (const VgpuWorker *worker, uint32_t id)
{
  const VgpuBarrier *barrier = &worker->barriers[id];
  if (barrier->needed > 0)
    return barrier->arrived >= barrier->needed;
  if (barrier->arrived == 0)
    return false;
  for (uint32_t i = 0; i < worker->warp_count; i++)
    {
      const VgpuWarp *warp = &worker->warps[i];
      bool waits = warp->state == VGPU_WARP_BARRIER && warp->barrier == id;
      if (warp->state != VGPU_WARP_DONE && !waits)
        return false;
    }
  return true;
}

void
vgpu_barriers_recheck (VgpuWorker *worker)
{
  for (uint32_t left = worker->barriers_used; left != 0; left &= left - 1)
    {
      uint32_t id = (uint32_t) __builtin_ctz (left);
      if (worker->barriers[id].arrived > 0 && is_complete (worker, id))
        release (worker, id);
    }
}

static bool
returns_at_once (const VgpuKernel *kernel, const VgpuIns *ins)
{
  for (int steps = 0; steps < 16; steps++)
    switch (ins->op)
      {
      case VGPU_OP_RETURN:
        return true;
      case VGPU_OP_JUMP:
        ins = kernel->code + ins->target;
        break;
      case VGPU_OP_BLOCK:
      case VGPU_OP_BLOCK_MEET:
      case VGPU_OP_NOTHING:
        ins++;
        break;
      default:
        return false;
      }
  return false;
}

/* Threads that have left for the end and do nothing more on the way are gone: a barrier waits for
 * the threads that have not exited (CUDA programming guide, compute capability 7 and later), so
 * an early return in front of it is sound. Here they may not have been run to their end yet. */
static void
retire_returning (VgpuWarp *warp)
{
  uint32_t known = warp->mask;
  for (uint32_t i = warp->depth; i > 0 && known != warp->alive; i--)
    {
      const VgpuDivergence *entry = &warp->stack[i - 1];
      uint32_t lanes = entry->mask & warp->alive & ~known;
      if (lanes != 0 && returns_at_once (warp->kernel, entry->pc))
        warp->alive &= ~lanes;
      known |= lanes;
    }
}

static void
check_barrier (VgpuWarp *warp, const VgpuIns *ins, const VgpuBarrier *barrier)
{
  const VgpuSource *source = warp->kernel->source;
  char text[200];
  if (!(warp->checks & VGPU_CHECK_SYNC))
    return;
  VgpuFinding finding =
      vgpu_finding ("sync.divergent-barrier", ins, (uint32_t) __builtin_ctz (warp->mask));
  finding.message = text;
  if (warp->mask != warp->alive)
    {
      snprintf (text, sizeof text, "only %d of the warp's %d running threads reach this barrier",
                __builtin_popcount (warp->mask), __builtin_popcount (warp->alive));
      vgpu_report (warp, &finding);
      return;
    }
  /* Barriers with a count join producers and consumers, who wait on lines of their own. */
  if (barrier->arrived == 0 || barrier->needed > 0 || ins->b != INT32_MIN
      || barrier->location == VGPU_NONE || ins->location == VGPU_NONE)
    return;
  VgpuPlace here = vgpu_source_place (source, ins->location);
  VgpuPlace there = vgpu_source_place (source, barrier->location);
  if (here.line == there.line)
    return;
  snprintf (text, sizeof text, "warps of one block wait at different barriers: lines %d and %d",
            there.line, here.line);
  finding.other_location = barrier->location;
  vgpu_report (warp, &finding);
}

static void
reduce (VgpuWarp *warp, const VgpuIns *ins, VgpuBarrier *barrier)
{
  uint32_t holds = *(const uint32_t *) (warp->base[(uint32_t) ins->c >> 31] + ins->c);
  if (ins->flags & VGPU_INS_NEGATED)
    holds = ~holds;
  holds &= warp->mask;
  if (barrier->arrived == 0)
    barrier->reduced_and = 1;
  barrier->reduced_and &= holds == warp->mask;
  barrier->reduced_or |= holds != 0;
  barrier->reduced_count += (uint32_t) __builtin_popcount (holds);
}

const VgpuIns *
vgpu_barrier (VgpuWarp *warp, const VgpuIns *ins, VgpuBarrierUse use)
{
  VgpuWorker *worker = warp->worker;
  uint32_t id = threads_of (warp, ins, ins->a, 0) % VGPU_BARRIERS;
  VgpuBarrier *barrier = &worker->barriers[id];
  const VgpuIns *elsewhere;
  if (warp->mask != warp->alive && vgpu_gather (warp, ins, warp->alive, &elsewhere))
    return elsewhere;
  if (warp->mask != warp->alive)
    retire_returning (warp);
  check_barrier (warp, ins, barrier);
  if (use == VGPU_BARRIER_REDUCE)
    reduce (warp, ins, barrier);
  if (barrier->arrived == 0)
    {
      barrier->location = ins->location;
      barrier->needed = threads_of (warp, ins, ins->b, 0);
    }
  barrier->arrived += VGPU_LANES;
  worker->barriers_used |= 1u << id;
  warp->pc = ins + 1;
  if (use == VGPU_BARRIER_ARRIVE)
    {
      if (is_complete (worker, id))
        release (worker, id);
      return ins + 1;
    }
  warp->state = VGPU_WARP_BARRIER;
  warp->barrier = id;
  if (!is_complete (worker, id))
    return NULL;
  release (worker, id);
  return warp->pc;
}

void
vgpu_check_members (VgpuWarp *warp, const VgpuIns *ins, uint32_t members)
{
  uint32_t missing = members & warp->alive & ~warp->mask;
  char text[160];
  if (missing == 0 || !(warp->checks & VGPU_CHECK_SYNC))
    return;
  snprintf (text, sizeof text,
            "member mask 0x%08x names lane %d, which is not here: only 0x%08x are", members,
            __builtin_ctz (missing), warp->mask);
  VgpuFinding finding =
      vgpu_finding ("sync.inactive-lane", ins, (uint32_t) __builtin_ctz (warp->mask));
  finding.message = text;
  vgpu_report (warp, &finding);
}

void
vgpu_check_whole_warp (VgpuWarp *warp, const VgpuIns *ins)
{
  if (warp->mask != VGPU_FULL && (warp->checks & VGPU_CHECK_SYNC))
    {
      VgpuFinding finding =
          vgpu_finding ("sync.inactive-lane", ins, (uint32_t) __builtin_ctz (warp->mask));
      finding.message = "a matrix instruction needs all 32 lanes of the warp, not all are here";
      vgpu_report (warp, &finding);
    }
}

const VgpuIns *
vgpu_warp_barrier (VgpuWarp *warp, const VgpuIns *ins)
{
  uint32_t members = ins->a == INT32_MIN ? VGPU_FULL : 0;
  const VgpuIns *elsewhere;
  /* Lanes may name different members, and then wait for those alone. */
  for (uint32_t left = ins->a == INT32_MIN ? 0 : warp->mask; left != 0; left &= left - 1)
    members |=
        ((const uint32_t *) (warp->base[(uint32_t) ins->a >> 31] + ins->a))[__builtin_ctz (left)];
  if (vgpu_gather (warp, ins, members, &elsewhere))
    return elsewhere;
  vgpu_check_members (warp, ins, members);
  warp->epoch++;
  return ins + 1;
}
