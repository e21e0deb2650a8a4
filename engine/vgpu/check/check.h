/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/check/reach.h"
#include "engine/vgpu/exec/machine.h"
#include "engine/vgpu/exec/memory.h"

/* The checkers. They run on the slow side: a handler calls them when its quick test fails, or when
 * a check was asked for. */

typedef enum
{
  VGPU_ACCESS_READ,
  VGPU_ACCESS_WRITE,
  VGPU_ACCESS_ATOMIC
} VgpuAccess;

/* What one request of a warp touches. */
typedef struct
{
  VgpuSpace space;
  VgpuAccess access;
  uint32_t bytes; /* of one lane, all elements */
  uint32_t align;
} VgpuRequest;

/* Decides lane by lane which accesses are allowed, and reports those that are not. Addresses of
 * the shared, local and parameter space are offsets. Returns the lanes that may go on. */
uint32_t vgpu_check_lanes (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request,
                           const uint64_t *addresses, uint32_t mask);

/* A report about one lane of a warp. Fields that do not apply are zero. */
typedef struct
{
  const char *rule;
  const char *message;
  const VgpuIns *ins;
  uint32_t lane;
  const VgpuRequest *request; /* NULL: not about memory */
  const VgpuAllocation *allocation;
  int64_t offset;          /* into the allocation */
  uint32_t location;       /* overrides that of ins unless VGPU_NONE */
  uint32_t other_location; /* VGPU_NONE: no other side */
  int32_t other_thread;    /* in the block; -1: unknown */
  int64_t other_block;     /* -1: the same */
} VgpuFinding;

/* A finding about lane with nothing else set. */
VgpuFinding vgpu_finding (const char *rule, const VgpuIns *ins, uint32_t lane);

/* Writes the first finding of its kind to the report stream and counts the others. */
void vgpu_report (VgpuWarp *warp, const VgpuFinding *finding);

/* Notes the first fault of a launch; stops it if asked to. code is a CUresult. */
void vgpu_fault (VgpuWarp *warp, int code, bool stop);

/* The same with a line in the report stream; stops the launch. */
void vgpu_fault_at (VgpuWarp *warp, const VgpuIns *ins, int code, const char *message);

/* Uninitialised values. */
void vgpu_taint (VgpuWarp *warp, const VgpuIns *ins);
void vgpu_taint_used (VgpuWarp *warp, const VgpuIns *ins, int32_t row, uint32_t mask,
                      const char *how);

/* Races in shared memory; offsets are into the block's shared memory. */
size_t vgpu_race_bytes (uint64_t shared_bytes);
VgpuRaceLog *vgpu_race_log_new (const VgpuKernel *kernel, uint64_t shared_bytes);
void vgpu_race_log_free (VgpuRaceLog *log);
void vgpu_race_shared (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request,
                       const VgpuReach *reach);
/* Asynchronous copies into shared memory: from their issue until their warp has waited for them
 * nobody may read what they write. Destinations are offsets. */
void vgpu_copies_add (VgpuWarp *warp, const VgpuIns *ins, const uint64_t *to, uint32_t mask,
                      uint32_t bytes);
void vgpu_copies_commit (VgpuWarp *warp);
/* All but the latest groups, and with everything also what no group holds. */
void vgpu_copies_wait (VgpuWarp *warp, uint32_t latest, bool everything);
/* One that completes on a barrier: is under way from here on, has come. */
void vgpu_copy_flies (VgpuWarp *warp, uint64_t to, uint32_t bytes);
void vgpu_copy_lands (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, uint64_t to,
                      uint32_t bytes);
void vgpu_copies_forget (VgpuWarp *warp);
void vgpu_copies_free (VgpuWarp *warp);

/* Races between blocks of a cluster in one another's shared memory. Own accesses are told too: offset is
 * into the shared memory of owner. */
void vgpu_neighbours_touch (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request,
                            VgpuWorker *owner, uint32_t lane, uint64_t offset);
void vgpu_neighbours_own (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request,
                          const VgpuReach *reach);

/* Stores to shared memory, of kernels that read it asynchronously; such reads; a new block. Fences count
 * in VgpuWorker. */
void vgpu_proxy_written (VgpuWarp *warp, const VgpuIns *ins, const VgpuReach *reach);
void vgpu_proxy_read (VgpuWarp *warp, const VgpuIns *ins, uint32_t lane, const VgpuWorker *owner,
                      uint64_t offset, uint64_t bytes);
void vgpu_proxy_forget (VgpuWorker *worker);

/* Races between blocks in global memory. */
void vgpu_race_global (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request,
                       const VgpuReach *reach);
void vgpu_race_global_begin (VgpuMemory *memory);

/* Sectors and bank conflicts of one request. */
void vgpu_count_global (VgpuSite *site, VgpuShape shape, uint64_t first, const int32_t *relative,
                        uint32_t mask, uint32_t bytes);
void vgpu_count_shared (VgpuSite *site, VgpuShape shape, uint64_t first, const int32_t *relative,
                        uint32_t mask, uint32_t bytes);
