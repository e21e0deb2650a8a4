/* SPDX-License-Identifier: Apache-2.0 */
/* What NVIDIA's own tools found, read into the words that everything else here uses. */
#include "engine/cli/command.h"

#include "engine/base/error.h"
#include "engine/device/tools.h"
#include "engine/import/counters.h"
#include "engine/import/sanitizer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_SHOWN 40

/* The file's bytes; "-" or none is standard input. */
static gboolean
read_input (const char *path, char **text, gsize *bytes, GError **error)
{
  gboolean standard = !path || g_str_equal (path, "-");
  return g_file_get_contents (standard ? "/dev/stdin" : path, text, bytes, error);
}

static void
print_notes (char **notes)
{
  for (guint i = 0; notes && notes[i]; i++)
    printf ("note: %s\n", notes[i]);
}

/* ---- compute-sanitizer ---- */

static JsonNode *
log_to_json (const AssaySanitizerLog *log)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *object = json_object_new ();
  JsonArray *findings = json_array_new (), *notes = json_array_new ();
  for (guint i = 0; i < log->findings->len; i++)
    json_array_add_element (
        findings,
        assay_json_table_write (&ASSAY_FINDING_TABLE, g_ptr_array_index (log->findings, i)));
  for (guint i = 0; log->notes[i]; i++)
    json_array_add_string_element (notes, log->notes[i]);
  json_object_set_array_member (object, "findings", findings);
  json_object_set_array_member (object, "notes", notes);
  json_object_set_int_member (object, "reports", (gint64) log->reports);
  json_object_set_int_member (object, "told", (gint64) log->told);
  json_node_take_object (node, object);
  return node;
}

static void
print_log (const AssaySanitizerLog *log)
{
  g_autoptr (AssayTextTable) table =
      assay_text_table_new ("severity", "rule", ">count", "where", "report", NULL);
  for (guint i = 0; i < log->findings->len; i++)
    {
      const AssayFinding *finding = g_ptr_array_index (log->findings, i);
      g_autofree char *count = g_strdup_printf ("%" G_GUINT64_FORMAT, finding->count);
      g_autofree char *place =
          finding->where.file
              ? g_strdup_printf ("%s:%" G_GINT64_FORMAT, finding->where.file, finding->where.line)
              : g_strdup (finding->where.kernel);
      g_autofree char *title = g_strndup (finding->title, 100);
      assay_text_table_add (table, ASSAY_SEVERITIES[finding->severity], finding->rule, count, place,
                            title);
    }
  assay_text_table_print (table, "");
  print_notes (log->notes);
  printf ("%" G_GUINT64_FORMAT " report%s, %u different\n", log->reports,
          log->reports == 1 ? "" : "s", log->findings->len);
}

int
assay_command_import_sanitizer (int argc, char **argv)
{
  g_autofree char *json = NULL, *text = NULL;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_FILENAME, &json, "write JSON to a file, - for stdout", "FILE"},
      {NULL},
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("[LOG]");
  g_autoptr (GError) error = NULL;
  gsize bytes = 0;
  g_option_context_set_summary (context,
                                "Reads what compute-sanitizer (memcheck, racecheck, initcheck, "
                                "synccheck) printed.");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!assay_command_parse (context, &argc, &argv))
    return ASSAY_EXIT_IMPOSSIBLE;
  if (!read_input (argc > 1 ? argv[1] : NULL, &text, &bytes, &error))
    return assay_command_fail ("import-sanitizer", error);
  g_autoptr (AssaySanitizerLog) log = assay_sanitizer_read (text, bytes, &error);
  if (!log)
    return assay_command_fail ("import-sanitizer", error);
  if (g_strcmp0 (json, "-") != 0)
    print_log (log);
  if (json)
    {
      g_autoptr (JsonNode) node = log_to_json (log);
      if (!assay_command_write_json (node, json, &error))
        return assay_command_fail ("import-sanitizer", error);
    }
  if (log->findings->len > 0 || log->told > 0 || log->api_errors > 0)
    return ASSAY_EXIT_FAULTS;
  return log->whole ? ASSAY_EXIT_FINE : ASSAY_EXIT_IMPOSSIBLE;
}

/* ---- Nsight Compute ---- */

/* A report of the tool's own format is turned into CSV by the tool, where it is installed. */
static gboolean
convert (const char *path, char **text, gsize *bytes, GError **error)
{
  g_autoptr (AssayToolkit) toolkit = assay_toolkit_find (NULL);
  g_autofree char *tool = assay_tool_find (toolkit, "ncu");
  const char *ncu[] = {tool,  "--import",      path,   "--csv", "--page",
                       "raw", "--print-units", "base", NULL};
  g_autofree char *out = NULL, *said = NULL;
  int status = 0;
  if (!tool)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND,
                   "%s is read by ncu, which is not installed. %s", path,
                   assay_tool_advice ("ncu"));
      return FALSE;
    }
  if (!g_spawn_sync (NULL, (char **) ncu, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out, &said, &status,
                     error))
    return FALSE;
  if (!g_spawn_check_wait_status (status, NULL))
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "%s does not read %s: %s", tool, path,
                   g_strstrip (said[0] ? said : out));
      return FALSE;
    }
  *bytes = strlen (out);
  *text = g_steal_pointer (&out);
  return TRUE;
}

static void
print_counters (const AssayCounters *counters)
{
  g_autoptr (AssayTextTable) table =
      assay_text_table_new ("id", "kernel", "metric", ">value", "unit", NULL);
  guint shown = 0, all = 0;
  for (guint k = 0; k < counters->kernels->len; k++)
    {
      const AssayKernelCounters *kernel = g_ptr_array_index (counters->kernels, k);
      g_autofree char *name = g_strndup (kernel->kernel ? kernel->kernel : "", 40);
      for (guint i = 0; i < kernel->metrics->len; i++, all++)
        {
          const AssayMetric *metric = g_ptr_array_index (kernel->metrics, i);
          g_autofree char *value = isnan (metric->value) ? g_strdup (metric->text)
                                                         : g_strdup_printf ("%.6g", metric->value);
          if (isnan (metric->value) || shown++ >= MOST_SHOWN)
            continue;
          assay_text_table_add (table, kernel->id, name, metric->name, value, metric->unit);
        }
    }
  assay_text_table_print (table, "");
  print_notes (counters->notes);
  printf ("%u launches, %u values; --json writes them all\n", counters->kernels->len, all);
}

int
assay_command_import_counters (int argc, char **argv)
{
  g_autofree char *json = NULL, *text = NULL;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_FILENAME, &json, "write JSON to a file, - for stdout", "FILE"},
      {NULL},
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("[FILE]");
  g_autoptr (GError) error = NULL;
  const char *path;
  gsize bytes = 0;
  g_option_context_set_summary (
      context, "Reads counters of Nsight Compute: ncu --csv, with or without --page "
               "raw; .ncu-rep through the installed ncu.");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!assay_command_parse (context, &argc, &argv))
    return ASSAY_EXIT_IMPOSSIBLE;
  path = argc > 1 ? argv[1] : NULL;
  gboolean foreign = path && g_str_has_suffix (path, ".ncu-rep");
  if (!(foreign ? convert (path, &text, &bytes, &error) : read_input (path, &text, &bytes, &error)))
    return assay_command_fail ("import-counters", error);
  g_autoptr (AssayCounters) counters = assay_counters_read (text, bytes, &error);
  if (!counters)
    return assay_command_fail ("import-counters", error);
  if (g_strcmp0 (json, "-") != 0)
    print_counters (counters);
  if (json)
    {
      g_autoptr (JsonNode) node = assay_json_table_write (&ASSAY_COUNTERS_TABLE, counters);
      if (!assay_command_write_json (node, json, &error))
        return assay_command_fail ("import-counters", error);
    }
  return ASSAY_EXIT_FINE;
}
