/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/figures/source-lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_LINES 1000000

static void
add_line (GArray *heat, JsonObject *told)
{
  gint64 line = assay_json_int (told, "line", 0);
  gint64 executed = assay_json_int (told, "executed", 0);
  if (line <= 0 || line > MOST_LINES || executed <= 0)
    return;
  while (heat->len < line)
    {
      const AssayLineHeat cold = {.sectors = NAN, .bank = NAN};
      g_array_append_val (heat, cold);
    }
  AssayLineHeat *at = &g_array_index (heat, AssayLineHeat, line - 1);
  double lanes = assay_json_double (told, "active_lanes_mean", 0);
  double all = (double) at->executed + (double) executed;
  at->lanes = ((double) at->executed * at->lanes + (double) executed * lanes) / all;
  at->executed += (guint64) executed;
  at->sectors = fmax (at->sectors, assay_json_double (told, "sectors_per_request", NAN));
  at->bank = fmax (at->bank, assay_json_double (told, "bank_degree", NAN));
}

static void
add_launch (GArray *heat, const AssayLaunch *launch, const char *file)
{
  JsonArray *lines = launch->counters && JSON_NODE_HOLDS_OBJECT (launch->counters)
                         ? assay_json_array (json_node_get_object (launch->counters), "lines")
                         : NULL;
  for (guint i = 0; lines && i < json_array_get_length (lines); i++)
    {
      JsonNode *node = json_array_get_element (lines, i);
      if (JSON_NODE_HOLDS_OBJECT (node)
          && g_strcmp0 (assay_json_string (json_node_get_object (node), "file"), file) == 0)
        add_line (heat, json_node_get_object (node));
    }
}

GArray *
assay_line_heat (const AssayRun *run, const char *file)
{
  GArray *heat = g_array_new (FALSE, FALSE, sizeof (AssayLineHeat));
  for (guint w = 0; w < run->workloads->len; w++)
    {
      const AssayWorkloadRecord *workload = g_ptr_array_index (run->workloads, w);
      for (guint l = 0; l < workload->launches->len; l++)
        add_launch (heat, g_ptr_array_index (workload->launches, l), file);
    }
  return heat;
}

/* --- PTX ------------------------------------------------------------------------------------- */

typedef struct
{
  int file, line;
} Place;

static void
read_file (AssayPtxLines *self, const char *text)
{
  int number = 0;
  const char *start = strchr (text, '"'), *end = start ? strchr (start + 1, '"') : NULL;
  if (end && sscanf (text, " .file %d", &number) == 1)
    g_hash_table_replace (self->files, GINT_TO_POINTER (number),
                          g_strndup (start + 1, (gsize) (end - start - 1)));
}

AssayPtxLines *
assay_ptx_lines_new (const char *ptx)
{
  AssayPtxLines *self = g_new0 (AssayPtxLines, 1);
  Place place = {0, 0};
  self->files = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  self->lines = g_array_new (FALSE, FALSE, sizeof (Place));
  for (const char *at = ptx; at && *at;)
    {
      const char *end = strchrnul (at, '\n');
      const char *word = at + strspn (at, " \t");
      Place next;
      if (g_str_has_prefix (word, ".loc")
          && sscanf (word, ".loc %d %d", &next.file, &next.line) == 2)
        place = next;
      else if (g_str_has_prefix (word, ".file"))
        {
          g_autofree char *line = g_strndup (word, (gsize) (end - word));
          read_file (self, line);
        }
      else if (*word == '}')
        place = (Place) {0, 0};
      g_array_append_val (self->lines, place);
      at = *end ? end + 1 : end;
    }
  return self;
}

static int
number_of_file (AssayPtxLines *self, GHashTable *numbers, const char *path, gsize length)
{
  g_autofree char *name = g_strndup (path, length);
  int number = GPOINTER_TO_INT (g_hash_table_lookup (numbers, name));
  if (number > 0)
    return number;
  number = (int) g_hash_table_size (numbers) + 1;
  g_hash_table_insert (self->files, GINT_TO_POINTER (number), g_strdup (name));
  g_hash_table_insert (numbers, g_steal_pointer (&name), GINT_TO_POINTER (number));
  return number;
}

AssayPtxLines *
assay_sass_lines_new (const char *sass)
{
  static const char MARK[] = "//## File \"";
  AssayPtxLines *self = g_new0 (AssayPtxLines, 1);
  g_autoptr (GHashTable) numbers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Place place = {0, 0};
  self->files = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  self->lines = g_array_new (FALSE, FALSE, sizeof (Place));
  for (const char *at = sass; at && *at;)
    {
      const char *end = strchrnul (at, '\n');
      const char *word = at + strspn (at, " \t");
      const char *path = g_str_has_prefix (word, MARK) ? word + strlen (MARK) : NULL;
      const char *close = path ? memchr (path, '"', (gsize) (end - path)) : NULL;
      int line = 0;
      if (close && sscanf (close, "\", line %d", &line) == 1)
        place = (Place) {number_of_file (self, numbers, path, (gsize) (close - path)), line};
      else if (g_str_has_prefix (word, ".section"))
        place = (Place) {0, 0};
      g_array_append_val (self->lines, place);
      at = *end ? end + 1 : end;
    }
  return self;
}

void
assay_ptx_lines_free (AssayPtxLines *self)
{
  g_hash_table_unref (self->files);
  g_array_unref (self->lines);
  g_free (self);
}

/* Compilers name the file by where it lay in the sandbox. */
static gboolean
is_of (const AssayPtxLines *self, const Place *place, const char *file)
{
  const char *path = g_hash_table_lookup (self->files, GINT_TO_POINTER (place->file));
  gsize own = strlen (file), whole = path ? strlen (path) : 0;
  return whole >= own && g_str_equal (path + whole - own, file)
         && (whole == own || path[whole - own - 1] == '/');
}

int
assay_ptx_lines_find (const AssayPtxLines *self, const char *file, int line)
{
  int best = 0, best_line = G_MAXINT;
  for (guint i = 0; i < self->lines->len; i++)
    {
      const Place *place = &g_array_index (self->lines, Place, i);
      if (place->line >= line && place->line < best_line && is_of (self, place, file))
        {
          best = (int) i + 1;
          best_line = place->line;
        }
    }
  return best;
}

int
assay_ptx_lines_source (const AssayPtxLines *self, const char *file, int ptx_line)
{
  if (ptx_line < 1 || ptx_line > (int) self->lines->len)
    return 0;
  const Place *place = &g_array_index (self->lines, Place, ptx_line - 1);
  return is_of (self, place, file) ? place->line : 0;
}
