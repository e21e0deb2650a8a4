/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/vgpu/ptx/arena.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t) 64 * 1024)
#define LINE_BYTES 64

struct VgpuArenaChunk
{
  VgpuArenaChunk *next;
  size_t bytes;
  _Alignas(16) unsigned char data[];
};

void *
vgpu_take (size_t bytes)
{
  void *memory = calloc (1, bytes > 0 ? bytes : 1);
  if (memory == NULL)
    abort ();
  return memory;
}

void *
vgpu_retake (void *memory, size_t bytes)
{
  void *moved = realloc (memory, bytes > 0 ? bytes : 1);
  if (moved == NULL)
    abort ();
  return moved;
}

void *
vgpu_take_aligned (size_t bytes)
{
  size_t rounded = (bytes + LINE_BYTES) / LINE_BYTES * LINE_BYTES;
  void *memory = aligned_alloc (LINE_BYTES, rounded);
  if (memory == NULL)
    abort ();
  memset (memory, 0, rounded);
  return memory;
}

void *
vgpu_arena_take (VgpuArena *arena, size_t bytes)
{
  bytes = (bytes + 15) & ~(size_t) 15;
  if (arena->chunks == NULL || arena->chunks->bytes - arena->used < bytes)
    {
      size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
      VgpuArenaChunk *chunk = vgpu_take (sizeof *chunk + size);
      chunk->bytes = size;
      chunk->next = arena->chunks;
      arena->chunks = chunk;
      arena->used = 0;
    }
  void *memory = arena->chunks->data + arena->used;
  arena->used += bytes;
  return memory;
}

char *
vgpu_arena_text (VgpuArena *arena, const char *text, size_t length)
{
  char *copy = vgpu_arena_take (arena, length + 1);
  memcpy (copy, text, length);
  return copy;
}

void *
vgpu_arena_grow (VgpuArena *arena, void *array, size_t count, size_t *capacity, size_t element)
{
  if (count < *capacity)
    return array;
  size_t larger = *capacity > 0 ? *capacity * 2 : 8;
  void *moved = vgpu_arena_take (arena, larger * element);
  if (count > 0)
    memcpy (moved, array, count * element);
  *capacity = larger;
  return moved;
}

void
vgpu_arena_join (VgpuArena *arena, VgpuArena *other)
{
  VgpuArenaChunk **tail = &arena->chunks;
  while (*tail != NULL)
    tail = &(*tail)->next;
  if (arena->chunks == NULL)
    arena->used = other->used;
  *tail = other->chunks;
  *other = (VgpuArena) {0};
}

void
vgpu_arena_clear (VgpuArena *arena)
{
  while (arena->chunks != NULL)
    {
      VgpuArenaChunk *next = arena->chunks->next;
      free (arena->chunks);
      arena->chunks = next;
    }
  arena->used = 0;
}
