/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cli/command.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/run/exec.h"
#include "engine/run/job.h"
#include "engine/worker/ptx-signature.h"

#include <gio/gio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define INPUT_LIMIT ((gsize) 256 << 20)

typedef struct
{
  char *target, *checks, *settings, *json;
  char **options;
  double seconds, gibibytes;
  gboolean consent;
} Options;

static const char *
text_of (JsonObject *record, const char *key)
{
  const char *text = assay_json_string (record, key);
  return text ? text : "";
}

static char *
place (JsonObject *record, const char *file_key, const char *line_key)
{
  g_autofree char *file = g_path_get_basename (text_of (record, file_key));
  gint64 line = assay_json_int (record, line_key, 0);
  return line > 0 ? g_strdup_printf ("%s:%" G_GINT64_FORMAT, file, line) : NULL;
}

/* "block (1,0,0), thread (31,0,0)", or nothing. */
static char *
position (JsonObject *record)
{
  static const char *const keys[] = {"block", "thread"};
  g_autoptr (GString) text = g_string_new (NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      JsonArray *at = assay_json_array (record, keys[i]);
      if (at && json_array_get_length (at) == 3)
        g_string_append_printf (text, "%s%s (%d,%d,%d)", text->len ? ", " : "", keys[i],
                                (int) json_array_get_int_element (at, 0),
                                (int) json_array_get_int_element (at, 1),
                                (int) json_array_get_int_element (at, 2));
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
print_line (const char *what, const char *text)
{
  if (text && *text)
    g_printerr ("=========     %s%s\n", what, text);
}

/* One report, in the manner of compute-sanitizer, when it is made. */
static void
print_report (JsonObject *record, gpointer data)
{
  (void) data;
  const char *rule = assay_json_string (record, "rule");
  g_autofree char *where = place (record, "file", "line");
  g_autofree char *inner = place (record, "inner_file", "inner_line");
  g_autofree char *outer = place (record, "outer_file", "outer_line");
  g_autofree char *kernel = assay_plain_name (text_of (record, "kernel"));
  g_autofree char *at = position (record);
  JsonObject *other = assay_json_object (record, "other");
  if (!assay_exec_is_report (record))
    return;
  g_printerr ("========= %s%s%s%s%s\n", rule ? rule : text_of (record, "name"),
              *kernel ? " in " : "", kernel, where ? " at " : "", where ? where : "");
  print_line ("", text_of (record, "message"));
  print_line ("", at);
  print_line ("in code inlined from ", inner);
  print_line ("which the kernel has at ", outer);
  if (other)
    {
      g_autofree char *other_where = place (other, "file", "line");
      g_autofree char *other_at = position (other);
      print_line ("the other side: ", other_where);
      print_line ("the other side: ", other_at);
    }
}

static gboolean
write_reports (const AssayExecReply *reply, int status, const char *target, GError **error)
{
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *object = json_object_new ();
  JsonArray *records = json_array_new ();
  for (guint i = 0; i < reply->records->len; i++)
    json_array_add_object_element (records,
                                   json_object_ref (g_ptr_array_index (reply->records, i)));
  json_object_set_array_member (object, "records", records);
  json_object_set_int_member (object, "exit", status);
  json_object_set_string_member (object, "stdout", reply->end->out);
  json_object_set_string_member (object, "stderr", reply->end->err);
  json_node_take_object (node, object);
  return assay_command_write_json (node, target, error);
}

/* The program's own status, so that this command can stand in for it; what a shell would give where a
 * signal ended it; and a fault where the program itself saw none. */
static int
conclude (const AssayExecReply *reply, const Options *options)
{
  g_autoptr (GError) error = NULL;
  const AssaySandboxEnd *end = reply->end;
  int status = end->kind == ASSAY_END_EXITED   ? end->code
               : end->kind == ASSAY_END_SIGNAL ? 128 + end->code
                                               : 124;
  if (options->json && !write_reports (reply, status, options->json, &error))
    return assay_command_fail ("exec", error);
  if (g_strcmp0 (options->json, "-") != 0)
    {
      fputs (end->out, stdout);
      fflush (stdout);
      fputs (end->err, stderr);
    }
  if (end->kind != ASSAY_END_EXITED)
    {
      g_autofree char *how = assay_sandbox_end_describe (end);
      g_printerr ("assay-engine exec: the program was %s\n", how);
    }
  g_printerr ("exit status %d, %u reports\n", status, reply->reports);
  return status == 0 && reply->reports > 0 ? ASSAY_EXIT_FAULTS : status;
}

/* All of our own standard input, unless a person sits in front of it. */
static GBytes *
read_input (GError **error)
{
  g_autoptr (GByteArray) all = g_byte_array_new ();
  guint8 chunk[65536];
  while (!isatty (STDIN_FILENO))
    {
      gssize got = read (STDIN_FILENO, chunk, sizeof chunk);
      if (got <= 0)
        break;
      g_byte_array_append (all, chunk, (guint) got);
      if (all->len > INPUT_LIMIT)
        {
          g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "standard input: more than %u MiB",
                       (guint) (INPUT_LIMIT >> 20));
          return NULL;
        }
    }
  return g_byte_array_free_to_bytes (g_steal_pointer (&all));
}

static int
exec_program (char **argv, const Options *options)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *source = g_canonicalize_filename (argv[0], NULL);
  const char *target = options->target ? options->target : "sm_80";
  if (!assay_run_check_seconds (options->seconds, &error)
      || (options->checks && !assay_run_check_checks (options->checks, &error)))
    return assay_command_fail ("exec", error);
  if (!g_str_has_prefix (target, "sm_") || options->gibibytes <= 0)
    {
      g_printerr ("assay-engine exec: %s\n",
                  options->gibibytes <= 0 ? "memory: expected more than 0"
                                          : "target: expected an architecture such as sm_80");
      return ASSAY_EXIT_IMPOSSIBLE;
    }
  g_autoptr (GBytes) input = read_input (&error);
  if (!input)
    return assay_command_fail ("exec", error);
  AssayExecRequest request = {
      .source = source,
      .arguments = (const char *const *) argv + 1,
      .options = (const char *const *) options->options,
      .target = target,
      .checks = options->checks ? options->checks : "all",
      .settings = options->settings,
      .input = g_bytes_get_data (input, &request.input_bytes),
      .seconds = options->seconds,
      .memory_bytes = (guint64) (options->gibibytes * 1073741824.0),
      .consent_unsandboxed = options->consent,
      .reported = g_strcmp0 (options->json, "-") != 0 ? print_report : NULL,
  };
  request.input_bytes = g_bytes_get_size (input);
  g_autoptr (AssayExecReply) reply = assay_exec (&request, assay_command_interruptible (), &error);
  if (!reply)
    return assay_command_fail ("exec", error);
  if (reply->end)
    return conclude (reply, options);
  g_printerr ("%s\n", reply->log);
  return ASSAY_EXIT_IMPOSSIBLE;
}

int
assay_command_exec (int argc, char **argv)
{
  Options options = {.seconds = 60, .gibibytes = 8};
  const GOptionEntry entries[] = {
      {"target", 't', 0, G_OPTION_ARG_STRING, &options.target, "architecture (default sm_80)",
       "SM"},
      {"checks", 0, 0, G_OPTION_ARG_STRING, &options.checks,
       "all (default), none, or a list of uninit, race, race-global, sync, counts, leak", "LIST"},
      {"set", 0, 0, G_OPTION_ARG_STRING, &options.settings,
       "settings of the virtual GPU, such as \"streams=late;seed=3\"", "KEY=VALUE;…"},
      {"option", 'X', 0, G_OPTION_ARG_STRING_ARRAY, &options.options,
       "passed to nvcc; may be given more than once", "OPTION"},
      {"timeout", 0, 0, G_OPTION_ARG_DOUBLE, &options.seconds, "seconds it may run (default 60)",
       "SECONDS"},
      {"memory", 0, 0, G_OPTION_ARG_DOUBLE, &options.gibibytes,
       "GiB for the program and its device (default 8)", "GIB"},
      {"json", 0, 0, G_OPTION_ARG_FILENAME, &options.json, "write the reports there; - is stdout",
       "FILE"},
      {"consent-unsandboxed", 0, 0, G_OPTION_ARG_NONE, &options.consent,
       "run it even where it cannot be confined", NULL},
      {NULL},
  };
  g_autoptr (GOptionContext) context =
      g_option_context_new ("PROGRAM.cu|PROGRAM [-- ARGUMENTS] – run a whole CUDA program on the "
                            "virtual GPU and watch it");
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
        g_printerr ("assay-engine exec: expected a .cu file or a program\n");
    }
  g_free (options.target);
  g_free (options.checks);
  g_free (options.settings);
  g_free (options.json);
  g_strfreev (options.options);
  return status;
}
