/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/vgpu/exec/memory.h"

#include "engine/vgpu/exec/pages.h"
#include "engine/vgpu/ptx/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE ((uint64_t) 4096)
/* Between neighbours, so that an overrun hits nobody and is known by whose end it is near. These
 * pages are never touched: they cost addresses, not memory. */
#define GAP ((uint64_t) 4 << 20)
/* A worker's addresses are limited too, and a header may bring a thousand variables: these, and
 * what comes after the first few hundred allocations, stand closer. */
#define NARROW_GAP ((uint64_t) 64 << 10)
#define WIDE_GAPS 256
#define QUARANTINE_BYTES ((uint64_t) 64 << 20)
/* Addresses of the device's heap, each used once, and what it may hold unless somebody says more. */
#define HEAP_ADDRESSES ((uint64_t) 64 << 30)
#define HEAP_BYTES ((uint64_t) 8 << 20)
#define HEAP_GAP ((uint64_t) 64)
/* Behind the bytes that say what is initialised, so that they can be looked at several at a time. */
#define VALID_SPARE ((uint64_t) 64)

struct VgpuMemory
{
  VgpuAllocation **sorted; /* by lo */
  size_t count;
  size_t capacity;
  uint64_t used;
  uint64_t quarantined;
  uint64_t next_id;
  uint64_t wide;                                  /* how many have been given the wide gap */
  uint64_t heap, heap_end, heap_used, heap_limit; /* 0: none yet */
};

VgpuMemory *
vgpu_memory_new (void)
{
  return vgpu_take (sizeof (VgpuMemory));
}

static void
forget_valid (VgpuAllocation *allocation)
{
  vgpu_pages_give (allocation->valid, allocation->hi - allocation->lo, VALID_SPARE);
  allocation->valid = NULL;
}

static void
forget_checks (VgpuAllocation *allocation)
{
  forget_valid (allocation);
  free (allocation->races);
  vgpu_pages_give (allocation->race_lines, allocation->race_line_bytes, 0);
  allocation->races = NULL;
  allocation->race_lines = NULL;
}

static void
discard (VgpuAllocation *allocation)
{
  forget_checks (allocation);
  if (allocation->mapped > 0)
    vgpu_pages_give ((void *) (uintptr_t) allocation->lo, allocation->mapped, 0);
  free (allocation);
}

/* Index of the first allocation that begins above address. */
static size_t
above (const VgpuMemory *memory, uint64_t address)
{
  size_t low = 0, high = memory->count;
  while (low < high)
    {
      size_t middle = low + (high - low) / 2;
      if (memory->sorted[middle]->lo <= address)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

static void
insert (VgpuMemory *memory, VgpuAllocation *allocation)
{
  size_t at = above (memory, allocation->lo);
  if (memory->count == memory->capacity)
    {
      memory->capacity = memory->capacity > 0 ? memory->capacity * 2 : 16;
      memory->sorted = vgpu_retake (memory->sorted, memory->capacity * sizeof *memory->sorted);
    }
  memmove (memory->sorted + at + 1, memory->sorted + at,
           (memory->count - at) * sizeof *memory->sorted);
  memory->sorted[at] = allocation;
  memory->count++;
}

static void
remove_at (VgpuMemory *memory, size_t at)
{
  memory->count--;
  memmove (memory->sorted + at, memory->sorted + at + 1,
           (memory->count - at) * sizeof *memory->sorted);
}

void
vgpu_memory_free (VgpuMemory *memory)
{
  if (memory == NULL)
    return;
  for (size_t i = 0; i < memory->count; i++)
    {
      VgpuAllocation *allocation = memory->sorted[i];
      discard (allocation);
    }
  if (memory->heap_end > 0)
    munmap ((void *) (uintptr_t) (memory->heap_end - HEAP_ADDRESSES), HEAP_ADDRESSES);
  free (memory->sorted);
  free (memory);
}

static VgpuAllocation *
describe (VgpuMemory *memory, void *data, uint64_t bytes, const char *name)
{
  VgpuAllocation *allocation = vgpu_take (sizeof *allocation);
  allocation->lo = (uint64_t) (uintptr_t) data;
  allocation->hi = allocation->lo + bytes;
  allocation->id = ++memory->next_id;
  if (name != NULL)
    snprintf (allocation->name, sizeof allocation->name, "%s", name);
  else
    snprintf (allocation->name, sizeof allocation->name, "#%llu",
              (unsigned long long) allocation->id);
  memory->used += bytes;
  insert (memory, allocation);
  return allocation;
}

VgpuAllocation *
vgpu_memory_allocate (VgpuMemory *memory, uint64_t bytes, const char *name, bool track)
{
  if (bytes == 0 || bytes > (uint64_t) 1 << 46)
    return NULL;
  uint64_t gap = name != NULL || memory->wide >= WIDE_GAPS ? NARROW_GAP : GAP;
  uint64_t spare = (bytes + PAGE - 1) / PAGE * PAGE - bytes + gap + bytes / 4 / PAGE * PAGE;
  void *data = vgpu_pages_take (bytes, spare);
  if (data == NULL)
    return NULL;
  VgpuAllocation *allocation = describe (memory, data, bytes, name);
  allocation->mapped = bytes + spare;
  memory->wide += gap == GAP;
  if (track)
    vgpu_allocation_mark (allocation, allocation->lo, bytes, false);
  return allocation;
}

bool
vgpu_memory_adopt (VgpuMemory *memory, uint64_t pointer, uint64_t bytes)
{
  size_t at = above (memory, pointer);
  if (pointer > UINT64_MAX - bytes || (at > 0 && memory->sorted[at - 1]->hi > pointer)
      || (at < memory->count && memory->sorted[at]->lo < pointer + bytes))
    return false;
  VgpuAllocation *allocation = describe (memory, (void *) (uintptr_t) pointer, bytes, NULL);
  allocation->kind = VGPU_MEMORY_REGISTERED;
  memory->used -= bytes;
  return true;
}

bool
vgpu_memory_disown (VgpuMemory *memory, uint64_t pointer)
{
  size_t at = above (memory, pointer);
  if (at == 0 || memory->sorted[at - 1]->lo != pointer
      || memory->sorted[at - 1]->kind != VGPU_MEMORY_REGISTERED)
    return false;
  VgpuAllocation *allocation = memory->sorted[at - 1];
  remove_at (memory, at - 1);
  discard (allocation);
  return true;
}

void
vgpu_memory_heap_limit (VgpuMemory *memory, uint64_t bytes)
{
  memory->heap_limit = bytes;
}

VgpuAllocation *
vgpu_memory_heap_take (VgpuMemory *memory, uint64_t bytes, bool track)
{
  uint64_t limit = memory->heap_limit > 0 ? memory->heap_limit : HEAP_BYTES;
  if (memory->heap_end == 0)
    {
      void *data = mmap (NULL, HEAP_ADDRESSES, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (data == MAP_FAILED)
        return NULL;
      memory->heap = (uint64_t) (uintptr_t) data;
      memory->heap_end = memory->heap + HEAP_ADDRESSES;
    }
  uint64_t step = (bytes + 15) / 16 * 16 + HEAP_GAP;
  if (bytes == 0 || bytes > limit || memory->heap_used > limit - bytes
      || step > memory->heap_end - memory->heap)
    return NULL;
  VgpuAllocation *taken = describe (memory, (void *) (uintptr_t) memory->heap, bytes, NULL);
  snprintf (taken->name, sizeof taken->name, "heap #%llu", (unsigned long long) taken->id);
  taken->kind = VGPU_MEMORY_HEAP;
  memory->used -= bytes;
  memory->heap += step;
  memory->heap_used += bytes;
  if (track)
    vgpu_allocation_mark (taken, taken->lo, bytes, false);
  return taken;
}

bool
vgpu_memory_heap_free (VgpuMemory *memory, uint64_t pointer)
{
  VgpuAllocation *taken = vgpu_memory_find (memory, pointer);
  if (taken == NULL || taken->kind != VGPU_MEMORY_HEAP || taken->lo != pointer || taken->freed)
    return false;
  memory->heap_used -= taken->hi - taken->lo;
  memory->used += taken->hi - taken->lo;
  return vgpu_memory_release (memory, pointer);
}

/* Gives the oldest freed allocations back to the host until little enough is kept. */
static void
shrink_quarantine (VgpuMemory *memory)
{
  while (memory->quarantined > QUARANTINE_BYTES)
    {
      size_t oldest = memory->count;
      for (size_t i = 0; i < memory->count; i++)
        if (memory->sorted[i]->freed && !memory->sorted[i]->graph
            && (oldest == memory->count || memory->sorted[i]->id < memory->sorted[oldest]->id))
          oldest = i;
      if (oldest == memory->count)
        return;
      VgpuAllocation *allocation = memory->sorted[oldest];
      memory->quarantined -= allocation->hi - allocation->lo;
      remove_at (memory, oldest);
      discard (allocation);
    }
}

bool
vgpu_memory_release (VgpuMemory *memory, uint64_t pointer)
{
  VgpuAllocation *allocation = vgpu_memory_find (memory, pointer);
  if (allocation == NULL || allocation->lo != pointer || allocation->freed)
    return false;
  allocation->freed = true;
  memory->used -= allocation->hi - allocation->lo;
  if (allocation->graph)
    return true;
  memory->quarantined += allocation->hi - allocation->lo;
  forget_checks (allocation);
  shrink_quarantine (memory);
  return true;
}

bool
vgpu_memory_revive (VgpuMemory *memory, uint64_t pointer, bool track)
{
  VgpuAllocation *allocation = vgpu_memory_find (memory, pointer);
  if (allocation == NULL || allocation->lo != pointer || !allocation->graph)
    return false;
  if (allocation->freed)
    memory->used += allocation->hi - allocation->lo;
  allocation->freed = false;
  if (track)
    vgpu_allocation_mark (allocation, pointer, allocation->hi - allocation->lo, false);
  return true;
}

VgpuAllocation *
vgpu_memory_find (const VgpuMemory *memory, uint64_t address)
{
  size_t at = above (memory, address);
  if (at == 0 || address >= memory->sorted[at - 1]->hi)
    return NULL;
  return memory->sorted[at - 1];
}

VgpuAllocation *
vgpu_memory_nearest (const VgpuMemory *memory, uint64_t address)
{
  size_t at = above (memory, address);
  VgpuAllocation *before = at > 0 ? memory->sorted[at - 1] : NULL;
  VgpuAllocation *after = at < memory->count ? memory->sorted[at] : NULL;
  if (before == NULL || after == NULL)
    return before != NULL ? before : after;
  /* An overrun is likelier than an underrun of the same size. */
  return address < before->hi || address - before->hi <= after->lo - address ? before : after;
}

void
vgpu_allocation_mark (VgpuAllocation *allocation, uint64_t pointer, uint64_t bytes,
                      bool initialised)
{
  uint64_t size = allocation->hi - allocation->lo;
  if (initialised && bytes == size)
    {
      forget_valid (allocation);
      return;
    }
  if (allocation->valid == NULL)
    {
      if (initialised)
        return;
      allocation->tracked = true;
      allocation->valid = vgpu_pages_take (size, VALID_SPARE);
      if (allocation->valid == NULL)
        abort ();
      /* Fresh pages say that nothing is. */
      if (bytes == size)
        return;
      memset (allocation->valid, 0xff, size);
    }
  memset (allocation->valid + (pointer - allocation->lo), initialised ? 0xff : 0, bytes);
}

uint64_t
vgpu_memory_used (const VgpuMemory *memory)
{
  return memory->used;
}

void
vgpu_memory_each (VgpuMemory *memory, void (*visit) (VgpuAllocation *allocation, void *data),
                  void *data)
{
  for (size_t i = 0; i < memory->count; i++)
    if (!memory->sorted[i]->freed)
      visit (memory->sorted[i], data);
}
