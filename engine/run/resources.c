/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/resources.h"

#include <string.h>

/* "… N words of text …": the number right before `what`. */
static void
number_before (const char *line, const char *what, gint64 *value)
{
  const char *at = strstr (line, what);
  if (!at)
    return;
  while (at > line && at[-1] == ' ')
    at--;
  const char *start = at;
  while (start > line && g_ascii_isdigit (start[-1]))
    start--;
  if (start < at)
    *value = MAX (*value, g_ascii_strtoll (start, NULL, 10));
}

static gboolean
is_entry (const char *line, const char *wanted, const char *entry)
{
  const char *at = strstr (line, wanted);
  return at && (!entry || at[strlen (wanted)] == '\'');
}

gboolean
assay_resources_parse (const char *log, const char *entry, AssayCompile *compile)
{
  g_auto (GStrv) lines = g_strsplit (log, "\n", -1);
  g_autofree char *wanted = g_strdup_printf ("Compiling entry function '%s", entry ? entry : "");
  gboolean mine = FALSE, found = FALSE;
  for (guint i = 0; lines[i]; i++)
    {
      const char *line = lines[i];
      if (strstr (line, "Compiling entry function"))
        mine = is_entry (line, wanted, entry);
      if (!mine)
        continue;
      found = TRUE;
      if (strstr (line, "bytes stack frame"))
        {
          number_before (line, " bytes stack frame", &compile->stack_bytes);
          number_before (line, " bytes spill stores", &compile->spill_store_bytes);
          number_before (line, " bytes spill loads", &compile->spill_load_bytes);
        }
      if (strstr (line, "Used "))
        {
          compile->shared_bytes = MAX (compile->shared_bytes, 0);
          number_before (line, " registers", &compile->registers);
          number_before (line, " bytes smem", &compile->shared_bytes);
        }
    }
  return found;
}
