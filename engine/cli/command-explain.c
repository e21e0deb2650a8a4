/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cli/command.h"

#include "engine/base/error.h"
#include "engine/findings/failure.h"

#include <stdio.h>
#include <string.h>

/* Logs beyond this are refused; the classifier reads the first and the last half MiB. */
#define MAX_LOG (256 * 1024 * 1024)

static GBytes *
read_log (const char *path, GError **error)
{
  g_autoptr (GFile) file =
      g_file_new_for_path (path && !g_str_equal (path, "-") ? path : "/dev/stdin");
  g_autoptr (GFileInputStream) stream = g_file_read (file, NULL, error);
  GBytes *bytes =
      stream ? g_input_stream_read_bytes (G_INPUT_STREAM (stream), MAX_LOG, NULL, error) : NULL;
  g_autoptr (GByteArray) all = g_byte_array_new ();
  while (bytes && g_bytes_get_size (bytes) > 0 && all->len < MAX_LOG)
    {
      g_byte_array_append (all, g_bytes_get_data (bytes, NULL), (guint) g_bytes_get_size (bytes));
      g_bytes_unref (bytes);
      bytes = all->len < MAX_LOG ? g_input_stream_read_bytes (G_INPUT_STREAM (stream),
                                                              MAX_LOG - all->len, NULL, error)
                                 : NULL;
    }
  g_clear_pointer (&bytes, g_bytes_unref);
  if (error && *error)
    return NULL;
  if (all->len >= MAX_LOG)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_LIMIT,
                   "the log has more than %d MiB: give its end alone, as tail -c 1M does",
                   MAX_LOG / (1024 * 1024));
      return NULL;
    }
  g_byte_array_append (all, (const guint8 *) "", 1);
  return g_byte_array_free_to_bytes (g_steal_pointer (&all));
}

/* The line around text[start], and its number from 1. */
static char *
line_at (const char *text, gsize start, gint64 *number)
{
  gsize from = start, to = start;
  *number = 1;
  for (gsize i = 0; i < start; i++)
    *number += text[i] == '\n';
  while (from > 0 && text[from - 1] != '\n')
    from--;
  while (text[to] && text[to] != '\n')
    to++;
  g_autofree char *line = g_strndup (text + from, to - from);
  g_autofree char *valid = g_utf8_make_valid (g_strstrip (line), -1);
  return g_steal_pointer (&valid);
}

static JsonNode *
to_json (const AssayFailureClass *is, const char *line, gint64 number)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  const char *const pairs[][2] = {
      {"class", is->failure_class},
      {"blame", is->undecided ? "undecided" : ASSAY_BLAMES[is->blame]},
      {"rule", is->rule},
      {"advice", is->advice},
      {"framework", is->framework},
      {"source", is->source},
      {"text", line},
  };
  json_builder_begin_object (builder);
  for (gsize i = 0; i < G_N_ELEMENTS (pairs); i++)
    if (pairs[i][1])
      {
        json_builder_set_member_name (builder, pairs[i][0]);
        json_builder_add_string_value (builder, pairs[i][1]);
      }
  if (line)
    {
      json_builder_set_member_name (builder, "line");
      json_builder_add_int_value (builder, number);
    }
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}

static void
print_text (const AssayFailureClass *is, const char *line, gint64 number)
{
  printf ("class    %s\n", is->failure_class);
  if (is->undecided)
    printf ("blame    undecided: run the reference, or another version, on the same target\n");
  else
    printf ("blame    %s\n", ASSAY_BLAMES[is->blame]);
  g_autofree char *shown = line ? assay_command_plain (line, 300) : NULL;
  if (shown)
    printf ("seen in  line %" G_GINT64_FORMAT ": %s\n", number, shown);
  printf ("advice   %s\n", is->advice);
  if (is->source)
    printf ("source   %s\n", is->source);
}

int
assay_command_explain (int argc, char **argv)
{
  g_autofree char *json = NULL, *name = NULL, *line = NULL;
  const GOptionEntry entries[] = {
      {"name", 0, 0, G_OPTION_ARG_STRING, &name,
       "a code or exception type known beside the text (CUDA_ERROR_…, SIGSEGV, timeout)", "NAME"},
      {"json", 0, 0, G_OPTION_ARG_FILENAME, &json, "write JSON to a file, - for stdout", "FILE"},
      {NULL},
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("[LOG]");
  g_autoptr (GError) error = NULL;
  gint64 number = 0;
  gsize start, end;
  g_option_context_set_summary (context, "Reads a log, from a file or standard input.");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!assay_command_parse (context, &argc, &argv))
    return ASSAY_EXIT_IMPOSSIBLE;
  g_autoptr (GBytes) log = read_log (argc > 1 ? argv[1] : NULL, &error);
  if (!log)
    return assay_command_fail ("explain", error);
  const char *text = g_bytes_get_data (log, NULL);
  const AssayFailureClass *is = assay_failure_explain (name, text, &start, &end);
  if (end > start)
    line = line_at (text, start, &number);
  if (g_strcmp0 (json, "-") != 0)
    print_text (is, line, number);
  if (json)
    {
      g_autoptr (JsonNode) node = to_json (is, line, number);
      if (!assay_command_write_json (node, json, &error))
        return assay_command_fail ("explain", error);
    }
  return is->framework ? ASSAY_EXIT_FINE : ASSAY_EXIT_FAULTS;
}
