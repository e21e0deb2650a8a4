/* SPDX-License-Identifier: Apache-2.0 */
/* From lines of inlined code up to the line that the reader knows. */
#include "engine/vgpu/ptx/source.h"

#define MAX_INLINING 32

/* Locations by file, line and column; open addressing, VGPU_NONE where empty. */
typedef struct
{
  const VgpuSource *source;
  uint32_t *slots;
  uint32_t mask;
} Index;

static uint32_t
slot_of (const Index *index, int file, int line, int column)
{
  uint32_t hash = ((uint32_t) file * 31 + (uint32_t) line) * 2654435761u + (uint32_t) column * 97;
  return (hash ^ hash >> 15) & index->mask;
}

/* The slot of a location, or the empty one that it would take. */
static uint32_t
look_up (const Index *index, int file, int line, int column)
{
  uint32_t slot = slot_of (index, file, line, column);
  for (; index->slots[slot] != VGPU_NONE; slot = (slot + 1) & index->mask)
    {
      const VgpuLocation *location = &index->source->locations[index->slots[slot]];
      if (location->file == file && location->line == line && location->column == column)
        break;
    }
  return slot;
}

static const VgpuLocation *
find (const Index *index, int file, int line, int column)
{
  uint32_t number = index->slots[look_up (index, file, line, column)];
  return number != VGPU_NONE ? &index->source->locations[number] : NULL;
}

/* From here on the location of this number is meant where its file, line and column are named: a line of a
 * header is inlined in many places, and the one last spoken of counts. */
static void
add (Index *index, uint32_t number)
{
  const VgpuLocation *l = &index->source->locations[number];
  index->slots[look_up (index, l->file, l->line, l->column)] = number;
}

/* Whether a location was inlined somewhere; then moves to that place. */
static bool
go_out (const Index *index, const VgpuLocation **at, int *file, int *line)
{
  if (*at == NULL || (*at)->inlined_file == 0)
    return false;
  *file = (*at)->inlined_file;
  *line = (*at)->inlined_line;
  *at = find (index, *file, *line, (*at)->inlined_column);
  return true;
}

static VgpuPlace
resolve (const Index *index, const VgpuLocation *inner, int home)
{
  const VgpuSource *source = index->source;
  const VgpuLocation *at = inner;
  int file = inner->file, line = inner->line;
  int depth = 0;
  while (depth < MAX_INLINING && file != home && go_out (index, &at, &file, &line))
    depth++;
  VgpuPlace place = {.file = vgpu_source_file (source, file), .line = line};
  int outer_file = file, outer_line = line;
  while (depth < MAX_INLINING && go_out (index, &at, &outer_file, &outer_line))
    depth++;
  if (outer_file != file || outer_line != line)
    {
      place.outer_file = vgpu_source_file (source, outer_file);
      place.outer_line = outer_line;
    }
  if (inner->file != file || inner->line != line)
    {
      place.inner_file = vgpu_source_file (source, inner->file);
      place.inner_line = inner->line;
    }
  return place;
}

void
vgpu_source_resolve_places (VgpuSource *source)
{
  int home = source->file_count > 0 ? source->files[0].number : 0;
  Index index = {.source = source, .mask = 15};
  while (index.mask < source->location_count * 2)
    index.mask = index.mask * 2 + 1;
  index.slots = vgpu_arena_take (&source->arena, ((size_t) index.mask + 1) * sizeof *index.slots);
  for (uint32_t i = 0; i <= index.mask; i++)
    index.slots[i] = VGPU_NONE;
  for (uint32_t i = (uint32_t) source->location_count; i-- > 0;)
    add (&index, i);
  source->places =
      vgpu_arena_take (&source->arena, source->location_count * sizeof *source->places);
  for (uint32_t i = 0; i < source->location_count; i++)
    {
      add (&index, i);
      source->places[i] = resolve (&index, &source->locations[i], home);
    }
}

VgpuPlace
vgpu_source_place (const VgpuSource *source, uint32_t location)
{
  if (source->places == NULL || location >= source->location_count)
    return (VgpuPlace) {0};
  return source->places[location];
}
