/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/findings/derive.h"

#include <string.h>

/* What the virtual GPU's checkers and the guard bands reported: one finding for each rule, kernel, line
 * and allocation; a race for each pair of lines, whichever side was seen first. */

typedef struct
{
  const AssayReport *first;
  char *key;
  GHashTable *counts; /* workload → guint64 *, the largest of its runs */
  guint order;
} Group;

static JsonObject *
object_of (const AssayReport *report)
{
  return JSON_NODE_HOLDS_OBJECT (report->report) ? json_node_get_object (report->report) : NULL;
}

static const char *
text_of (JsonObject *object, const char *key)
{
  const char *text = object ? assay_json_string (object, key) : NULL;
  return text ? text : "";
}

static char *
key_of (JsonObject *report)
{
  const char *rule = text_of (report, "rule");
  JsonObject *other = assay_json_object (report, "other");
  JsonObject *allocation = assay_json_object (report, "allocation");
  gint64 line = assay_json_int (report, "line", 0);
  gint64 second = other && g_str_has_prefix (rule, "race.") ? assay_json_int (other, "line", 0) : 0;
  return g_strdup_printf ("%s|%s|%s|%" G_GINT64_FORMAT "|%" G_GINT64_FORMAT "|%s", rule,
                          text_of (report, "kernel"), text_of (report, "file"),
                          MIN (line, second ? second : line), MAX (line, second),
                          text_of (allocation, "name"));
}

static void
free_group (gpointer data)
{
  Group *group = data;
  g_free (group->key);
  g_hash_table_unref (group->counts);
  g_free (group);
}

static Group *
group_for (GPtrArray *groups, const AssayReport *report, JsonObject *object)
{
  g_autofree char *key = key_of (object);
  for (guint i = 0; i < groups->len; i++)
    if (g_str_equal (((Group *) g_ptr_array_index (groups, i))->key, key))
      return g_ptr_array_index (groups, i);
  Group *group = g_new0 (Group, 1);
  group->first = report;
  group->key = g_steal_pointer (&key);
  group->counts = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  g_ptr_array_add (groups, group);
  return group;
}

static void
raise_count (Group *group, const char *workload, guint64 count)
{
  guint64 *known = g_hash_table_lookup (group->counts, workload);
  if (!known)
    g_hash_table_insert (group->counts, (gpointer) workload, g_memdup2 (&count, sizeof count));
  else if (count > *known)
    *known = count;
}

/* "count" records tell how often the report with that number has happened since. */
static GPtrArray *
collect (AssayDeriving *deriving)
{
  GPtrArray *groups = g_ptr_array_new_with_free_func (free_group);
  g_autoptr (GHashTable) by_number = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; deriving->facts->reports && i < deriving->facts->reports->len; i++)
    {
      const AssayReport *report = g_ptr_array_index (deriving->facts->reports, i);
      JsonObject *object = object_of (report);
      const char *type = text_of (object, "type");
      const char *workload = report->workload ? report->workload : "";
      guint64 count = object ? (guint64) MAX (assay_json_int (object, "count", 1), 1) : 1;
      g_autofree char *number = g_strdup_printf ("%s#%" G_GINT64_FORMAT, workload,
                                                 object ? assay_json_int (object, "id", 0) : 0);
      Group *group = NULL;
      if (g_str_equal (type, "report"))
        {
          group = group_for (groups, report, object);
          g_hash_table_replace (by_number, g_strdup (number), group);
        }
      else if (g_str_equal (type, "count"))
        group = g_hash_table_lookup (by_number, number);
      if (group)
        raise_count (group, workload, count);
    }
  return groups;
}

static void
copy_triple (JsonObject *report, const char *key, GArray *into)
{
  JsonArray *items = assay_json_array (report, key);
  for (guint i = 0; items && i < json_array_get_length (items) && i < 3; i++)
    {
      gint64 value = json_array_get_int_element (items, i);
      g_array_append_val (into, value);
    }
}

/* (transfer full) (nullable): the text of a line of a task file. */
static char *
line_text (const AssayTask *task, const char *file, gint64 line)
{
  g_autofree char *text = *file && line > 0 ? assay_task_read_text (task, file, NULL) : NULL;
  const char *at = text;
  for (gint64 i = 1; at && i < line; i++)
    {
      at = strchr (at, '\n');
      at = at ? at + 1 : NULL;
    }
  if (!at)
    return NULL;
  const char *end = strchr (at, '\n');
  return g_strstrip (end ? g_strndup (at, (gsize) (end - at)) : g_strdup (at));
}

static void
quote_source (AssayDeriving *deriving, AssayFinding *finding, const char *file, gint64 line,
              const char *title)
{
  g_autofree char *quote = line_text (deriving->facts->task, file, line);
  if (!quote)
    return;
  AssayEvidence *evidence = assay_derive_evidence (finding, "source", file, title);
  JsonNode *hashes = deriving->run->task.sha256;
  JsonObject *object =
      hashes && JSON_NODE_HOLDS_OBJECT (hashes) ? json_node_get_object (hashes) : NULL;
  evidence->first_line = evidence->last_line = line;
  evidence->sha256 = g_strdup (object ? assay_json_string (object, file) : NULL);
  evidence->quote = g_steal_pointer (&quote);
}

static char *
triple_text (const GArray *triple)
{
  if (triple->len < 3)
    return g_strdup ("?");
  return g_strdup_printf ("(%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ")",
                          g_array_index (triple, gint64, 0), g_array_index (triple, gint64, 1),
                          g_array_index (triple, gint64, 2));
}

/* Where an access lies against its array: "past the end of x (7,200 bytes)". */
static char *
bounds_text (JsonObject *report)
{
  JsonObject *allocation = assay_json_object (report, "allocation");
  const char *name = allocation ? assay_json_string (allocation, "name") : NULL;
  if (!name || !assay_json_string (report, "access")
      || !json_object_has_member (allocation, "offset"))
    return NULL;
  gint64 bytes = assay_json_int (allocation, "bytes", 0);
  gint64 offset = assay_json_int (allocation, "offset", 0);
  g_autofree char *size = assay_derive_count ((guint64) MAX (bytes, 0));
  guint64 away = (guint64) (offset < 0 ? -offset : MAX (offset - bytes, 0));
  g_autofree char *count = assay_derive_count (away);
  g_autofree char *at = away ? g_strconcat (count, " bytes", NULL) : g_strdup ("right");
  return g_strdup_printf ("A %s of %" G_GINT64_FORMAT " bytes lies %s %s %s (%s bytes)",
                          text_of (report, "access"), assay_json_int (report, "bytes", 0), at,
                          offset < 0 ? "before the start of" : "past the end of", name, size);
}

/* Both lines of a race: "Race in shared memory: line 21 writes what line 26 touches". */
static char *
race_text (JsonObject *report)
{
  JsonObject *other = assay_json_object (report, "other");
  gint64 line = assay_json_int (report, "line", 0);
  gint64 second = other ? assay_json_int (other, "line", 0) : 0;
  const char *access = text_of (report, "access");
  if (!line || !second || !*access)
    return NULL;
  return g_strdup_printf (
      "Race in %s memory: line %" G_GINT64_FORMAT " %s what line %" G_GINT64_FORMAT
      " of another thread touches, with no order between them",
      text_of (report, "space"), line, g_str_equal (access, "write") ? "writes" : "reads", second);
}

static char *
sentence_of (JsonObject *report)
{
  const char *rule = text_of (report, "rule");
  char *text = g_str_equal (rule, "mem.out-of-bounds") ? bounds_text (report)
               : g_str_has_prefix (rule, "race.")      ? race_text (report)
                                                       : NULL;
  if (text)
    return text;
  text = g_strdup (text_of (report, "message"));
  gsize length = strlen (text);
  while (length && text[length - 1] == '.')
    text[--length] = 0;
  text[0] = g_ascii_toupper (text[0]);
  return text;
}

static char *
title_of (JsonObject *report, const AssayFinding *finding, guint workloads)
{
  g_autofree char *sentence = sentence_of (report);
  g_autoptr (GString) title = g_string_new (sentence);
  if (finding->count > 1)
    {
      g_autofree char *count = assay_derive_count (finding->count);
      g_string_append_printf (title, " · %s times", count);
    }
  if (workloads > 1)
    g_string_append_printf (title, " in %u workloads", workloads);
  return g_string_free (g_steal_pointer (&title), FALSE);
}

static char *
detail_of (JsonObject *report, const AssayFinding *finding)
{
  g_autofree char *block = triple_text (finding->where.block);
  g_autofree char *thread = triple_text (finding->where.thread);
  JsonObject *allocation = assay_json_object (report, "allocation");
  JsonObject *other = assay_json_object (report, "other");
  GString *out = g_string_new (NULL);
  g_string_append_printf (out, "The virtual GPU says: %s.\n\n", text_of (report, "message"));
  g_string_append_printf (out, "First seen in kernel `%s`, block %s, thread %s",
                          text_of (report, "kernel"), block, thread);
  if (finding->where.workload)
    g_string_append_printf (out, ", workload `%s`", finding->where.workload);
  g_string_append (out, ".");
  if (assay_json_string (report, "access"))
    g_string_append_printf (out, " The access is a %s of %" G_GINT64_FORMAT " bytes in %s memory.",
                            text_of (report, "access"), assay_json_int (report, "bytes", 0),
                            text_of (report, "space"));
  if (allocation && assay_json_string (allocation, "name"))
    g_string_append_printf (out, " The array is `%s`", text_of (allocation, "name"));
  if (allocation && json_object_has_member (allocation, "bytes"))
    g_string_append_printf (out, " (%" G_GINT64_FORMAT " bytes), at byte %" G_GINT64_FORMAT ".",
                            assay_json_int (allocation, "bytes", 0),
                            assay_json_int (allocation, "offset", 0));
  if (other && assay_json_int (other, "line", 0) > 0)
    g_string_append_printf (out, "\n\nThe other access is at %s:%" G_GINT64_FORMAT ".",
                            text_of (other, "file"), assay_json_int (other, "line", 0));
  return g_string_free (out, FALSE);
}

/* Lines move when a file is edited; their text does not. */
static char *
anchor_of (AssayDeriving *deriving, JsonObject *report)
{
  JsonObject *other = assay_json_object (report, "other");
  JsonObject *allocation = assay_json_object (report, "allocation");
  g_autofree char *own = line_text (deriving->facts->task, text_of (report, "file"),
                                    assay_json_int (report, "line", 0));
  g_autofree char *far = line_text (deriving->facts->task, text_of (other, "file"),
                                    other ? assay_json_int (other, "line", 0) : 0);
  gboolean swap = g_strcmp0 (own, far) > 0;
  return g_strconcat (swap && far ? far
                      : own       ? own
                                  : "",
                      "|",
                      swap  ? own
                      : far ? far
                            : "",
                      "|", text_of (allocation, "name"), NULL);
}

static void
mark_broken (AssayDeriving *deriving, const Group *group, const char *rule)
{
  static const char *const FAMILIES[] = {"mem.", "race.", "sync.", "launch."};
  GHashTableIter iter;
  gpointer workload;
  for (gsize i = 0; i < G_N_ELEMENTS (FAMILIES); i++)
    if (g_str_has_prefix (rule, FAMILIES[i]))
      {
        g_hash_table_iter_init (&iter, group->counts);
        while (g_hash_table_iter_next (&iter, &workload, NULL))
          g_hash_table_add (deriving->broken, workload);
      }
}

static void
add_group (AssayDeriving *deriving, const Group *group)
{
  JsonObject *report = object_of (group->first);
  const char *rule = text_of (report, "rule");
  const char *file = text_of (report, "file");
  JsonObject *other = assay_json_object (report, "other");
  AssayFinding *finding = assay_derive_add (deriving, rule);
  AssayWhere *where = &finding->where;
  where->kernel = g_strdup (assay_json_string (report, "kernel"));
  where->file = *file ? g_strdup (file) : NULL;
  where->line = assay_json_int (report, "line", 0);
  where->workload = g_strdup (group->first->workload);
  copy_triple (report, "block", where->block);
  copy_triple (report, "thread", where->thread);
  finding->count = 0;
  GHashTableIter iter;
  gpointer count;
  g_hash_table_iter_init (&iter, group->counts);
  while (g_hash_table_iter_next (&iter, NULL, &count))
    finding->count += *(guint64 *) count;
  finding->detail = detail_of (report, finding);
  quote_source (deriving, finding, file, where->line, "the access");
  if (other)
    quote_source (deriving, finding, text_of (other, "file"), assay_json_int (other, "line", 0),
                  "the other access");
  mark_broken (deriving, group, rule);
  g_autofree char *anchor = anchor_of (deriving, report);
  assay_derive_finish (deriving, finding,
                       title_of (report, finding, g_hash_table_size (group->counts)), anchor);
}

/* One finding for all workloads; the one that printed most is named. */
static void
add_dropped (AssayDeriving *deriving)
{
  const GPtrArray *workloads = deriving->run->workloads;
  const AssayWorkloadRecord *most = NULL;
  guint count = 0;
  for (guint i = 0; i < workloads->len; i++)
    {
      const AssayWorkloadRecord *workload = g_ptr_array_index (workloads, i);
      count += workload->dropped > 0;
      if (workload->dropped > (most ? most->dropped : 0))
        most = workload;
    }
  if (!most)
    return;
  AssayFinding *finding = assay_derive_add (deriving, "run.output-dropped");
  g_autofree char *bytes = assay_derive_count (most->dropped);
  g_autofree char *on = assay_derive_workloads (count, workloads->len);
  g_autofree char *log = g_strdup_printf ("logs/run-%s.log", most->name);
  finding->where.workload = g_strdup (most->name);
  finding->count = count;
  assay_derive_evidence (finding, "log", log, "what was kept of it");
  assay_derive_finish (
      deriving, finding,
      g_strdup_printf ("It prints more than is kept on %s: %s bytes were dropped on "
                       "workload %s",
                       on, bytes, most->name),
      "printf");
}

void
assay_derive_reports (AssayDeriving *deriving)
{
  g_autoptr (GPtrArray) groups = collect (deriving);
  for (guint i = 0; i < groups->len; i++)
    add_group (deriving, g_ptr_array_index (groups, i));
  add_dropped (deriving);
}
