/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds and alignment, lane by lane. */
#include "engine/target/cuda-abi.h"
#include "engine/vgpu/check/check.h"

#include <stdio.h>
#include <string.h>

static const char *
verb (VgpuAccess access)
{
  static const char *const verbs[] = {"reads", "writes", "changes"};
  return verbs[access];
}

static void
deny (VgpuWarp *warp, VgpuFinding *finding, const char *message, int code)
{
  finding->message = message;
  vgpu_report (warp, finding);
  vgpu_fault (warp, code, warp->worker->launch->first_fault_stops);
}

/* Where address lies as seen from the nearest allocation. */
static void
describe_miss (char *text, size_t size, const VgpuRequest *request, uint64_t address,
               const VgpuAllocation *near)
{
  if (address < 4096)
    snprintf (text, size, "%s %u bytes at address 0x%llx: a null pointer", verb (request->access),
              request->bytes, (unsigned long long) address);
  else if (near == NULL)
    snprintf (text, size, "%s %u bytes at 0x%llx, where nothing is allocated",
              verb (request->access), request->bytes, (unsigned long long) address);
  else if (address < near->lo)
    snprintf (text, size, "%s %u bytes, %llu bytes before allocation %s of %llu bytes",
              verb (request->access), request->bytes, (unsigned long long) (near->lo - address),
              near->name, (unsigned long long) (near->hi - near->lo));
  else if (address < near->hi)
    snprintf (text, size, "%s %u bytes, the last %llu past the end of allocation %s of %llu bytes",
              verb (request->access), request->bytes,
              (unsigned long long) (address + request->bytes - near->hi), near->name,
              (unsigned long long) (near->hi - near->lo));
  else
    snprintf (text, size, "%s %u bytes, %llu bytes past allocation %s of %llu bytes",
              verb (request->access), request->bytes, (unsigned long long) (address - near->hi),
              near->name, (unsigned long long) (near->hi - near->lo));
}

static bool
check_global (VgpuWarp *warp, const VgpuRequest *request, uint64_t address, VgpuFinding *finding)
{
  const VgpuMemory *memory = warp->worker->launch->memory;
  const VgpuAllocation *inside = vgpu_memory_find (memory, address);
  char text[320];
  bool fits = inside != NULL && inside->hi - address >= request->bytes;
  const VgpuAllocation *near = inside;
  /* What the instruction touched before is likelier meant than what happens to be near. */
  if (near == NULL && finding->ins->site < warp->kernel->site_count)
    near = warp->worker->sites[finding->ins->site].allocation;
  if (near == NULL || near->freed)
    near = inside != NULL ? inside : vgpu_memory_nearest (memory, address);
  if (address < 4096)
    near = NULL;
  finding->allocation = near;
  finding->offset = near != NULL ? (int64_t) (address - near->lo) : 0;
  if (fits && !inside->freed && !(inside->constant && request->access != VGPU_ACCESS_READ))
    return true;
  if (fits && inside->freed)
    {
      snprintf (text, sizeof text, "%s %u bytes of allocation %s, which has been freed",
                verb (request->access), request->bytes, inside->name);
      finding->rule = "mem.use-after-free";
    }
  else if (fits)
    snprintf (text, sizeof text, "%s %u bytes of constant %s", verb (request->access),
              request->bytes, inside->name);
  else
    describe_miss (text, sizeof text, request, address, near);
  deny (warp, finding, text, CUDA_ERROR_ILLEGAL_ADDRESS);
  return false;
}

static bool
check_window (VgpuWarp *warp, const VgpuRequest *request, uint64_t offset, uint64_t size,
              VgpuFinding *finding)
{
  static const char *const what[] = {[VGPU_SPACE_SHARED] = "shared memory",
                                     [VGPU_SPACE_LOCAL] = "local memory",
                                     [VGPU_SPACE_PARAM] = "kernel parameters"};
  char text[240];
  if (offset <= size && size - offset >= request->bytes)
    return true;
  if (offset >> 63)
    snprintf (text, sizeof text, "%s %u bytes, %llu bytes before the block's %s",
              verb (request->access), request->bytes, (unsigned long long) (0 - offset),
              what[request->space]);
  else
    snprintf (text, sizeof text, "%s %u bytes at offset %llu of %llu bytes of %s",
              verb (request->access), request->bytes, (unsigned long long) offset,
              (unsigned long long) size, what[request->space]);
  deny (warp, finding, text, CUDA_ERROR_ILLEGAL_ADDRESS);
  return false;
}

static bool
check_alignment (VgpuWarp *warp, const VgpuRequest *request, uint64_t address, VgpuFinding *finding)
{
  char text[160];
  if ((address & (request->align - 1)) == 0)
    return true;
  snprintf (text, sizeof text, "%s %u bytes at 0x%llx, which is no multiple of %u",
            verb (request->access), request->bytes, (unsigned long long) address, request->align);
  finding->rule = "mem.misaligned";
  deny (warp, finding, text, CUDA_ERROR_MISALIGNED_ADDRESS);
  return false;
}

uint32_t
vgpu_check_lanes (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request,
                  const uint64_t *addresses, uint32_t mask)
{
  const VgpuWorker *worker = warp->worker;
  uint32_t good = 0;
  for (uint32_t left = mask; left != 0; left &= left - 1)
    {
      uint32_t lane = (uint32_t) __builtin_ctz (left);
      VgpuFinding finding = vgpu_finding ("mem.out-of-bounds", ins, lane);
      finding.request = request;
      bool fine;
      if (request->space == VGPU_SPACE_SHARED)
        fine = check_window (warp, request, addresses[lane], worker->shared_bytes, &finding);
      else if (request->space == VGPU_SPACE_LOCAL)
        fine = check_window (warp, request, addresses[lane], warp->kernel->local_bytes, &finding);
      else if (request->space == VGPU_SPACE_PARAM)
        fine =
            check_window (warp, request, addresses[lane], warp->kernel->parameter_bytes, &finding);
      else
        fine = check_global (warp, request, addresses[lane], &finding);
      if (fine && check_alignment (warp, request, addresses[lane], &finding))
        good |= 1u << lane;
    }
  return good;
}
