/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Memory that lives as long as one module. Everything is freed at once; running out of memory
 * aborts, as nothing sensible could follow. */
typedef struct VgpuArenaChunk VgpuArenaChunk;

typedef struct
{
  VgpuArenaChunk *chunks;
  size_t used;
} VgpuArena;

/* Zeroed memory, aligned to 16 bytes. */
void *vgpu_arena_take (VgpuArena *arena, size_t bytes);

/* A terminated copy of length bytes. */
char *vgpu_arena_text (VgpuArena *arena, const char *text, size_t length);

void vgpu_arena_clear (VgpuArena *arena);

/* Moves all of the other arena into this one. */
void vgpu_arena_join (VgpuArena *arena, VgpuArena *other);

/* Makes room for one more element in a growing array kept in the arena: returns the array, moved
 * if need be. capacity is updated. */
void *vgpu_arena_grow (VgpuArena *arena, void *array, size_t count, size_t *capacity,
                       size_t element);

/* malloc, calloc-like and realloc that abort instead of returning NULL; freed with free(). */
void *vgpu_take (size_t bytes);
void *vgpu_retake (void *memory, size_t bytes);

/* Zeroed memory aligned to a cache line, at least one byte; freed with free(). */
void *vgpu_take_aligned (size_t bytes);
