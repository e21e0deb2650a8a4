/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/worker/ptx-signature.h"

#include <string.h>

static void
entry_free (gpointer data)
{
  AssayPtxEntry *entry = data;
  g_free (entry->name);
  g_free (entry->plain);
  g_array_unref (entry->parameters);
  g_free (entry);
}

/* Itanium C++ ABI, 5.1.3: a name is its length and its letters; a nested one is a chain of these
 * between N and E. The last one before the types is the function's own. */
char *
assay_plain_name (const char *name)
{
  const char *at = name;
  char *last = NULL;
  if (!g_str_has_prefix (name, "_Z"))
    return g_strdup (name);
  at += 2;
  gboolean nested = *at == 'N';
  if (nested)
    at++;
  while (*at == 'L' || *at == 'K')
    at++;
  while (g_ascii_isdigit (*at))
    {
      char *letters;
      guint64 length = g_ascii_strtoull (at, &letters, 10);
      if (length > strlen (letters))
        break;
      g_free (last);
      last = g_strndup (letters, length);
      at = letters + length;
      if (!nested)
        break;
    }
  return last ? last : g_strdup (name);
}

static const struct
{
  const char *type;
  gsize bytes;
} TYPES[] = {
    {"u8", 1},  {"s8", 1},  {"b8", 1},  {"u16", 2}, {"s16", 2},   {"b16", 2},
    {"f16", 2}, {"u32", 4}, {"s32", 4}, {"b32", 4}, {"f32", 4},   {"f16x2", 4},
    {"u64", 8}, {"s64", 8}, {"b64", 8}, {"f64", 8}, {"b128", 16},
};

/* One ".param …" of a list: its type is the first directive that names one; ".ptr" and state spaces
 * pass by. */
static gboolean
read_parameter (const char *text, gsize length, gsize *end, AssayPtxParameter *parameter)
{
  g_autofree char *copy = g_strndup (text, length);
  gsize size = 0, count = 1, alignment = 0;
  g_auto (GStrv) words = g_strsplit_set (copy, " \t\r\n", -1);
  for (guint i = 0; words[i]; i++)
    {
      for (gsize k = 0; k < G_N_ELEMENTS (TYPES) && words[i][0] == '.' && size == 0; k++)
        if (g_str_equal (words[i] + 1, TYPES[k].type))
          {
            g_strlcpy (parameter->type, TYPES[k].type, sizeof parameter->type);
            size = TYPES[k].bytes;
          }
      if (g_str_equal (words[i], ".align") && words[i + 1] && size == 0 && alignment == 0)
        alignment = (gsize) g_ascii_strtoull (words[i + 1], NULL, 10);
      const char *bracket = strchr (words[i], '[');
      if (bracket)
        count = (gsize) g_ascii_strtoull (bracket + 1, NULL, 10);
    }
  if (size == 0 || count > 65536)
    return FALSE;
  alignment = MAX (alignment, size);
  parameter->bytes = size * count;
  parameter->offset = (*end + alignment - 1) / alignment * alignment;
  *end = parameter->offset + parameter->bytes;
  return TRUE;
}

static void
read_parameters (const char *list, gsize length, GArray *parameters)
{
  gsize end = 0;
  const char *stop = list + length;
  while (list < stop)
    {
      const char *comma = memchr (list, ',', (gsize) (stop - list));
      const char *part_end = comma ? comma : stop;
      AssayPtxParameter parameter = {0};
      if (read_parameter (list, (gsize) (part_end - list), &end, &parameter))
        g_array_append_val (parameters, parameter);
      list = part_end + 1;
    }
}

GPtrArray *
assay_ptx_entries (const char *ptx)
{
  GPtrArray *entries = g_ptr_array_new_with_free_func (entry_free);
  for (const char *at = strstr (ptx, ".entry"); at; at = strstr (at, ".entry"))
    {
      at += strlen (".entry");
      const char *name = at + strspn (at, " \t\r\n");
      gsize length = strcspn (name, " \t\r\n(;{");
      if (name == at || length == 0)
        continue;
      AssayPtxEntry *entry = g_new0 (AssayPtxEntry, 1);
      entry->name = g_strndup (name, length);
      entry->plain = assay_plain_name (entry->name);
      entry->parameters = g_array_new (FALSE, FALSE, sizeof (AssayPtxParameter));
      const char *open = name + length + strspn (name + length, " \t\r\n");
      const char *close = *open == '(' ? strchr (open, ')') : NULL;
      if (close)
        read_parameters (open + 1, (gsize) (close - open - 1), entry->parameters);
      g_ptr_array_add (entries, entry);
      at = close ? close : name + length;
    }
  return entries;
}

const AssayPtxEntry *
assay_ptx_find (GPtrArray *entries, const char *symbol)
{
  const AssayPtxEntry *found = NULL;
  guint count = 0;
  for (guint i = 0; i < entries->len; i++)
    {
      const AssayPtxEntry *entry = g_ptr_array_index (entries, i);
      if (g_str_equal (entry->name, symbol))
        return entry;
      if (!g_str_equal (entry->plain, symbol))
        continue;
      found = entry;
      count++;
    }
  return count == 1 ? found : NULL;
}
