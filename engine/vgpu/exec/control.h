/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/exec/machine.h"

/* Control flow that happens seldom enough to be compiled once. All return the next instruction, or
 * NULL when the warp must let others run (warp->pc then says where it goes on). */

/* The lanes on top of the stack that are still alive; ends the warp when there are none. */
const VgpuIns *vgpu_resume_waiting (VgpuWarp *warp);

/* Lanes that go on at pc when those that run now have come to their end. */
void vgpu_push (VgpuWarp *warp, const VgpuIns *pc, uint32_t mask, uint32_t reconverge);

/* Calls, in call.c. All lanes that run go into the function together, and on behind the call together. */
void vgpu_call_enter (VgpuWarp *warp, const VgpuIns *ins);
const VgpuIns *vgpu_call (VgpuWarp *warp, const VgpuIns *ins);
void vgpu_call_done (VgpuWarp *warp, const VgpuIns *ins);
const VgpuIns *vgpu_call_select (VgpuWarp *warp, const VgpuIns *ins);
void vgpu_calls_begin (VgpuWarp *warp);
void vgpu_calls_free (VgpuWarp *warp);

/* The heap of device code. */
const VgpuIns *vgpu_heap_take (VgpuWarp *warp, const VgpuIns *ins);
const VgpuIns *vgpu_heap_free (VgpuWarp *warp, const VgpuIns *ins);

/* Splits at a branch that only the lanes taken take. */
const VgpuIns *vgpu_diverge (VgpuWarp *warp, const VgpuIns *ins, const VgpuIns *target,
                             uint32_t taken);

/* Back edges between two looks at budget and stop flag; where blocks wait for one another, they take
 * shorter turns. */
#define VGPU_FUEL 4096
#define VGPU_FUEL_TOGETHER 256
const VgpuIns *vgpu_out_of_fuel (VgpuWarp *warp, const VgpuIns *next);

/* Lanes look at what others are to change: lets those run, of other warps and now and then of this one. */
const VgpuIns *vgpu_stall (VgpuWarp *warp, const VgpuIns *next);

const VgpuIns *vgpu_trap (VgpuWarp *warp, const VgpuIns *ins);
const VgpuIns *vgpu_assert_fail (VgpuWarp *warp, const VgpuIns *ins);
void vgpu_print (VgpuWarp *warp, const VgpuIns *ins);

typedef enum
{
  VGPU_BARRIER_SYNC,
  VGPU_BARRIER_ARRIVE,
  VGPU_BARRIER_REDUCE
} VgpuBarrierUse;

const VgpuIns *vgpu_barrier (VgpuWarp *warp, const VgpuIns *ins, VgpuBarrierUse use);
const VgpuIns *vgpu_warp_barrier (VgpuWarp *warp, const VgpuIns *ins);

/* Lets waiting warps go on when the one that ended was the last they waited for. */
void vgpu_barriers_recheck (VgpuWorker *worker);

/* Before a .sync instruction: lets the path wait for lanes of members that are alive but elsewhere,
 * as long as they can still come. True when it has to: next is then where the warp goes on. Lanes
 * that waited here join the path. */
bool vgpu_gather (VgpuWarp *warp, const VgpuIns *ins, uint32_t members, const VgpuIns **next);

/* Reports members of a .sync instruction that are alive but elsewhere. */
void vgpu_check_members (VgpuWarp *warp, const VgpuIns *ins, uint32_t members);

/* The same for instructions that the whole warp must execute together. */
void vgpu_check_whole_warp (VgpuWarp *warp, const VgpuIns *ins);

/* Reads bytes of one lane from a generic address; false if they are not all readable. */
bool vgpu_read_generic (const VgpuWarp *warp, uint32_t lane, uint64_t address, void *to,
                        uint32_t bytes);

/* A string in device memory; writes at most size bytes with the end. */
bool vgpu_read_text (const VgpuWarp *warp, uint32_t lane, uint64_t address, char *to, size_t size);
