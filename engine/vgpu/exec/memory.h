/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Global memory: the allocations a kernel may touch. Device addresses are host addresses.
 *
 * Changing the set needs exclusion from launches, which the driver gives; looking up does not. */

typedef struct VgpuGlobalCell VgpuGlobalCell;
typedef struct VgpuGlobalLine VgpuGlobalLine;

typedef enum
{
  VGPU_MEMORY_DEVICE,
  VGPU_MEMORY_MANAGED,    /* host and device */
  VGPU_MEMORY_HOST,       /* the host's, allocated here */
  VGPU_MEMORY_REGISTERED, /* the host's, allocated by the program */
  VGPU_MEMORY_HEAP        /* the device's, allocated by a kernel */
} VgpuMemoryKind;

typedef struct VgpuAllocation
{
  uint64_t lo, hi; /* hi is one past the end */
  uint64_t mapped; /* bytes taken from the host, with the gap behind; 0: none */
  VgpuMemoryKind kind;
  uint64_t id;
  char name[64];
  unsigned char *valid;       /* a byte per byte, 0xff where initialised; NULL: all of it is */
  VgpuGlobalCell *races;      /* of every word */
  VgpuGlobalLine *race_lines; /* of every 16 words; NULL together with races */
  uint64_t race_line_bytes;
  bool tracked;  /* some of it was not initialised once */
  bool freed;    /* kept for a while so that a late access is recognised */
  bool graph;    /* of a node: keeps its address, and comes back whenever the node runs */
  bool module;   /* belongs to a module, not to cuMemFree */
  bool constant; /* of the .const space: kernels may not write */
} VgpuAllocation;

typedef struct VgpuMemory VgpuMemory;

VgpuMemory *vgpu_memory_new (void);
void vgpu_memory_free (VgpuMemory *memory);

/* A zeroed allocation of at least one byte; NULL when the host has no memory. The bytes count as
 * uninitialised if track is set. */
VgpuAllocation *vgpu_memory_allocate (VgpuMemory *memory, uint64_t bytes, const char *name,
                                      bool track);

/* false: pointer is no live allocation's start. */
bool vgpu_memory_release (VgpuMemory *memory, uint64_t pointer);

/* Memory of a graph again, as new; false if it is not there. */
bool vgpu_memory_revive (VgpuMemory *memory, uint64_t pointer, bool track);

/* Lets kernels touch memory that is the program's own; false if part of it is known already. */
bool vgpu_memory_adopt (VgpuMemory *memory, uint64_t pointer, uint64_t bytes);
/* Ends that; false if pointer was not adopted. */
bool vgpu_memory_disown (VgpuMemory *memory, uint64_t pointer);

/* Memory for device code; NULL when that heap has no room. */
VgpuAllocation *vgpu_memory_heap_take (VgpuMemory *memory, uint64_t bytes, bool track);
/* false: pointer is nothing that was taken and not freed. */
bool vgpu_memory_heap_free (VgpuMemory *memory, uint64_t pointer);
/* Bytes that device code may hold at a time. */
void vgpu_memory_heap_limit (VgpuMemory *memory, uint64_t bytes);

/* The allocation, live or freed, that contains address; NULL if none does. */
VgpuAllocation *vgpu_memory_find (const VgpuMemory *memory, uint64_t address);

/* The allocation nearest to address; NULL if there is none at all. */
VgpuAllocation *vgpu_memory_nearest (const VgpuMemory *memory, uint64_t address);

/* Declares bytes initialised or not; tracking begins with the first call for an allocation. */
void vgpu_allocation_mark (VgpuAllocation *allocation, uint64_t pointer, uint64_t bytes,
                           bool initialised);

/* Bytes in live allocations. */
uint64_t vgpu_memory_used (const VgpuMemory *memory);

/* Calls visit for every live allocation. */
void vgpu_memory_each (VgpuMemory *memory, void (*visit) (VgpuAllocation *allocation, void *data),
                       void *data);
