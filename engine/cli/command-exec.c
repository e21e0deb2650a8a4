/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cli/command.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/run/exec.h"
#include "engine/run/job.h"
#include "engine/worker/ptx-signature.h"

#include <stdio.h>
#include <string.h>

typedef struct
{
  char *target, *checks, *json;
  char **options;
  double seconds;
  gboolean consent;
} Options;

static const char *
text_of (JsonObject *record, const char *key)
{
  const char *text = assay_json_string (record, key);
  return text ? text : "";
}

/* A fault stops the program; a report is what a checker saw. */
static gboolean
is_fault (JsonObject *record)
{
  const char *type = text_of (record, "type");
  return g_str_equal (type, "report") || g_str_equal (type, "fault");
}

static guint
count_faults (const AssayWorkerReply *reply)
{
  guint count = 0;
  for (guint i = 0; i < reply->findings->len; i++)
    count += is_fault (g_ptr_array_index (reply->findings, i));
  return count;
}

static void
print_device_output (const AssayWorkerReply *reply)
{
  for (guint i = 0; i < reply->findings->len; i++)
    {
      JsonObject *record = g_ptr_array_index (reply->findings, i);
      if (g_str_equal (text_of (record, "type"), "print"))
        fputs (text_of (record, "text"), stdout);
    }
}

static char *
place (JsonObject *record)
{
  g_autofree char *file = g_path_get_basename (text_of (record, "file"));
  gint64 line = assay_json_int (record, "line", 0);
  return line > 0 ? g_strdup_printf ("%s:%" G_GINT64_FORMAT, file, line) : NULL;
}

static void
print_reports (const AssayWorkerReply *reply)
{
  g_autoptr (AssayTextTable) table = assay_text_table_new ("rule", "kernel", "where", "what", NULL);
  for (guint i = 0; i < reply->findings->len; i++)
    {
      JsonObject *record = g_ptr_array_index (reply->findings, i);
      g_autofree char *where = place (record);
      g_autofree char *kernel = assay_plain_name (text_of (record, "kernel"));
      const char *rule = assay_json_string (record, "rule");
      if (is_fault (record))
        assay_text_table_add (table, rule ? rule : text_of (record, "name"), kernel, where,
                              text_of (record, "message"));
    }
  assay_text_table_print (table, "");
}

static gboolean
write_reports (const AssayWorkerReply *reply, gint64 status, const char *target, GError **error)
{
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *object = json_object_new ();
  JsonArray *records = json_array_new ();
  for (guint i = 0; i < reply->findings->len; i++)
    json_array_add_object_element (records,
                                   json_object_ref (g_ptr_array_index (reply->findings, i)));
  json_object_set_array_member (object, "records", records);
  json_object_set_int_member (object, "exit", status);
  json_object_set_string_member (object, "stdout", reply->end->out);
  json_object_set_string_member (object, "stderr", reply->end->err);
  json_node_take_object (node, object);
  return assay_command_write_json (node, target, error);
}

/* The program's own status when nothing was found, so that it can stand in for the program. */
static int
conclude (const AssayWorkerReply *reply, const Options *options)
{
  g_autoptr (GError) error = NULL;
  gint64 status = reply->done ? assay_json_int (reply->done, "exit", 0) : -1;
  guint faults = count_faults (reply);
  if (options->json && !write_reports (reply, status, options->json, &error))
    return assay_command_fail ("exec", error);
  if (g_strcmp0 (options->json, "-") != 0)
    {
      fputs (reply->end->out, stdout);
      print_device_output (reply);
      fputs (reply->end->err, stderr);
      print_reports (reply);
    }
  if (reply->outcome != ASSAY_OUTCOME_DONE)
    g_printerr ("assay-engine exec: %s\n", reply->message);
  g_printerr ("exit status %" G_GINT64_FORMAT ", %u reports\n", status, faults);
  return faults > 0 || status != 0 ? ASSAY_EXIT_FAULTS : ASSAY_EXIT_FINE;
}

static int
exec_program (char **argv, const Options *options)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *source = g_canonicalize_filename (argv[0], NULL);
  gboolean compiled = FALSE;
  if (!assay_run_check_seconds (options->seconds, &error)
      || (options->checks && !assay_run_check_checks (options->checks, &error)))
    return assay_command_fail ("exec", error);
  AssayExecRequest request = {
      .source = source,
      .arguments = (const char *const *) argv + 1,
      .options = (const char *const *) options->options,
      .target = options->target ? options->target : "sm_80",
      .checks = options->checks ? options->checks : "all",
      .seconds = options->seconds,
      .consent_unsandboxed = options->consent,
  };
  g_autoptr (AssayWorkerReply) reply = assay_exec (&request, &compiled, NULL, &error);
  if (!reply)
    return assay_command_fail ("exec", error);
  if (compiled)
    return conclude (reply, options);
  g_printerr ("%s\n", reply->error && reply->error->log ? reply->error->log : reply->message);
  return ASSAY_EXIT_IMPOSSIBLE;
}

int
assay_command_exec (int argc, char **argv)
{
  Options options = {.seconds = 60};
  const GOptionEntry entries[] = {
      {"target", 't', 0, G_OPTION_ARG_STRING, &options.target, "architecture (default sm_80)",
       "SM"},
      {"checks", 0, 0, G_OPTION_ARG_STRING, &options.checks,
       "all (default), none, or a list of uninit, race, race-global, sync, counts", "LIST"},
      {"option", 'X', 0, G_OPTION_ARG_STRING_ARRAY, &options.options,
       "passed to nvcc; may be given more than once", "OPTION"},
      {"timeout", 0, 0, G_OPTION_ARG_DOUBLE, &options.seconds, "seconds it may run (default 60)",
       "SECONDS"},
      {"json", 0, 0, G_OPTION_ARG_FILENAME, &options.json, "write the reports there; - is stdout",
       "FILE"},
      {"consent-unsandboxed", 0, 0, G_OPTION_ARG_NONE, &options.consent,
       "run it even where it cannot be confined", NULL},
      {NULL},
  };
  g_autoptr (GOptionContext) context = g_option_context_new (
      "PROGRAM.cu [-- ARGUMENTS] – run a whole CUDA program on the virtual GPU and watch it");
  g_option_context_add_main_entries (context, entries, NULL);
  int status = ASSAY_EXIT_IMPOSSIBLE;
  if (assay_command_parse (context, &argc, &argv))
    {
      if (argc > 2 && g_str_equal (argv[2], "--"))
        {
          memmove (&argv[2], &argv[3], (gsize) (argc - 2) * sizeof *argv);
          argc--;
        }
      if (argc >= 2)
        status = exec_program (argv + 1, &options);
      else
        g_printerr ("assay-engine exec: expected a .cu file\n");
    }
  g_free (options.target);
  g_free (options.checks);
  g_free (options.json);
  g_strfreev (options.options);
  return status;
}
