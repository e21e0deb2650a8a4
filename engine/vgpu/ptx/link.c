/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/vgpu/ptx/link.h"

#include <stdio.h>
#include <string.h>

typedef struct
{
  const char *from, *to;
} Renaming;

typedef struct
{
  VgpuSource *into;
  VgpuSource *part;
  size_t number;
  Renaming *renamings;
  size_t count, capacity;
} Link;

static bool
is_known (const VgpuSource *source, const char *name)
{
  return vgpu_source_variable (source, name) != NULL || vgpu_source_function (source, name) != NULL;
}

static const char *
new_name (const Link *link, const char *name)
{
  for (size_t i = 0; i < link->count; i++)
    if (strcmp (link->renamings[i].from, name) == 0)
      return link->renamings[i].to;
  return name;
}

static void
rename_if_taken (Link *link, const char **name)
{
  char text[1024];
  if (!is_known (link->into, *name))
    return;
  link->renamings = vgpu_arena_grow (&link->part->arena, link->renamings, link->count,
                                     &link->capacity, sizeof *link->renamings);
  int length = snprintf (text, sizeof text, "%.1000s$%zu", *name, link->number);
  link->renamings[link->count++] =
      (Renaming) {*name, vgpu_arena_text (&link->part->arena, text, (size_t) length)};
}

static void
collect_renamings (Link *link)
{
  for (VgpuVariable *v = link->part->variables; v != NULL; v = v->next)
    if (v->linkage == VGPU_LINKAGE_LOCAL)
      rename_if_taken (link, &v->name);
  for (VgpuFunction *f = link->part->functions; f != NULL; f = f->next)
    if (f->linkage == VGPU_LINKAGE_LOCAL && f->has_body)
      rename_if_taken (link, &f->name);
}

static void
rename_operand (const Link *link, VgpuOperand *operand)
{
  for (uint32_t i = 0; i < operand->count; i++)
    rename_operand (link, &operand->list[i]);
  if (operand->kind == VGPU_OPERAND_SYMBOL && operand->variable == NULL)
    operand->name = new_name (link, operand->name);
}

static void
adapt_statement (const Link *link, VgpuStatement *statement)
{
  if (statement->location != VGPU_NONE)
    statement->location += (uint32_t) link->into->location_count;
  for (uint32_t i = 0; link->count > 0 && i < statement->operand_count; i++)
    rename_operand (link, &statement->operands[i]);
}

static void
adapt_names (Link *link)
{
  for (VgpuVariable *v = link->part->variables; v != NULL; v = v->next)
    {
      v->name = new_name (link, v->name);
      for (VgpuRelocation *r = v->relocations; r != NULL; r = r->next)
        r->symbol = new_name (link, r->symbol);
    }
  for (VgpuFunction *f = link->part->functions; f != NULL; f = f->next)
    {
      f->name = new_name (link, f->name);
      for (size_t i = 0; i < f->statement_count; i++)
        adapt_statement (link, &f->statements[i]);
    }
}

/* Files are known by number: those of each part get a range of their own. */
#define FILES_A_PART 100000

static void
take_lines (Link *link)
{
  VgpuSource *into = link->into;
  int base = (int) link->number * FILES_A_PART;
  for (size_t i = 0; i < link->part->file_count; i++)
    {
      into->files = vgpu_arena_grow (&into->arena, into->files, into->file_count,
                                     &into->file_capacity, sizeof *into->files);
      into->files[into->file_count] = link->part->files[i];
      into->files[into->file_count++].number += base;
    }
  for (size_t i = 0; i < link->part->location_count; i++)
    {
      VgpuLocation location = link->part->locations[i];
      location.file += location.file > 0 ? base : 0;
      location.inlined_file += location.inlined_file > 0 ? base : 0;
      into->locations = vgpu_arena_grow (&into->arena, into->locations, into->location_count,
                                         &into->location_capacity, sizeof location);
      into->locations[into->location_count++] = location;
    }
}

static bool
fail_twice (char *error, const char *name)
{
  snprintf (error, VGPU_ERROR_BYTES, "%s is defined in two parts of the program", name);
  return false;
}

static bool
take_variables (Link *link, char *error)
{
  VgpuVariable *next;
  for (VgpuVariable *v = link->part->variables; v != NULL; v = next)
    {
      VgpuVariable **tail = &link->into->variables;
      next = v->next;
      v->next = NULL;
      while (*tail != NULL && strcmp ((*tail)->name, v->name) != 0)
        tail = &(*tail)->next;
      VgpuVariable *known = *tail;
      if (known == NULL)
        *tail = v;
      else if (known->external && !v->external)
        {
          v->next = known->next;
          *tail = v;
        }
      else if (known->align < v->align && known->space == VGPU_SPACE_SHARED)
        known->align = v->align;
      else if (!v->external && v->linkage == VGPU_LINKAGE_VISIBLE
               && known->linkage == VGPU_LINKAGE_VISIBLE)
        return fail_twice (error, v->name);
    }
  return true;
}

static bool
take_functions (Link *link, char *error)
{
  VgpuFunction *next;
  VgpuFunction **tail = &link->into->functions;
  while (*tail != NULL)
    tail = &(*tail)->next;
  for (VgpuFunction *f = link->part->functions; f != NULL; f = next)
    {
      const VgpuFunction *known = vgpu_source_function (link->into, f->name);
      next = f->next;
      f->next = NULL;
      if (known != NULL && (known->has_body || !f->has_body))
        {
          if (f->has_body && f->linkage == VGPU_LINKAGE_VISIBLE
              && known->linkage == VGPU_LINKAGE_VISIBLE)
            return fail_twice (error, f->name);
          continue;
        }
      *tail = f;
      tail = &f->next;
    }
  return true;
}

/* The part of the newest architecture says which device is needed. */
static void
take_version (VgpuSource *into, const VgpuSource *part)
{
  if (into->target == NULL || strcmp (part->target, into->target) > 0)
    into->target = part->target;
  if (part->version_major * 10 + part->version_minor
      > into->version_major * 10 + into->version_minor)
    {
      into->version_major = part->version_major;
      into->version_minor = part->version_minor;
    }
}

bool
vgpu_source_link (VgpuSource *into, VgpuSource *parts, size_t count, char *error)
{
  bool good = true;
  memset (into, 0, sizeof *into);
  for (size_t i = 0; i < count; i++)
    {
      Link link = {.into = into, .part = &parts[i], .number = i};
      if (good)
        {
          collect_renamings (&link);
          adapt_names (&link);
          take_lines (&link);
          take_version (into, &parts[i]);
          good = take_variables (&link, error) && take_functions (&link, error);
        }
      vgpu_arena_join (&into->arena, &parts[i].arena);
    }
  vgpu_source_resolve_places (into);
  return good;
}
