/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cli/command.h"

#include "engine/base/error.h"
#include "engine/lint/lint.h"
#include "engine/run/read-python.h"
#include "engine/sandbox/preflight.h"

#include <stdio.h>

typedef struct
{
  guint files;
  GPtrArray *findings; /* AssayFinding *, by file and line */
  GPtrArray *unread;   /* AssayUnread * */
} Result;

static gboolean
read_and_judge (Result *result, char **paths, gboolean unsandboxed, GError **error)
{
  AssaySandboxTier tier;
  g_autoptr (GPtrArray) files = assay_python_files ((const char *const *) paths, error);
  if (!files || !assay_sandbox_choose (unsandboxed, &tier, error))
    return FALSE;
  g_autoptr (GPtrArray) sources =
      assay_read_python (files, tier, result->unread, assay_command_interruptible (), error);
  if (!sources)
    return FALSE;
  result->files = sources->len;
  for (guint i = 0; i < sources->len; i++)
    {
      g_autoptr (GPtrArray) found = assay_lint_python (g_ptr_array_index (sources, i));
      g_ptr_array_extend_and_steal (result->findings, g_steal_pointer (&found));
    }
  return TRUE;
}

static JsonNode *
to_json (const Result *result)
{
  g_autoptr (JsonArray) findings = json_array_new ();
  g_autoptr (JsonArray) unread = json_array_new ();
  JsonObject *root = json_object_new ();
  JsonNode *node = json_node_alloc ();
  for (guint i = 0; i < result->findings->len; i++)
    json_array_add_element (
        findings,
        assay_json_table_write (&ASSAY_FINDING_TABLE, g_ptr_array_index (result->findings, i)));
  for (guint i = 0; i < result->unread->len; i++)
    {
      const AssayUnread *one = g_ptr_array_index (result->unread, i);
      JsonObject *object = json_object_new ();
      json_object_set_string_member (object, "path", one->path);
      json_object_set_string_member (object, "reason", one->reason);
      json_array_add_object_element (unread, object);
    }
  json_object_set_int_member (root, "files", result->files);
  json_object_set_array_member (root, "findings", json_array_ref (findings));
  json_object_set_array_member (root, "unread", json_array_ref (unread));
  return json_node_init_object (node, root);
}

static void
print_result (const Result *result)
{
  const char *file = NULL;
  for (guint i = 0; i < result->findings->len; i++)
    {
      const AssayFinding *one = g_ptr_array_index (result->findings, i);
      g_autofree char *shown = assay_command_plain (one->where.file, 4096);
      if (g_strcmp0 (file, one->where.file) != 0)
        printf ("%s%s\n", file ? "\n" : "", shown);
      file = one->where.file;
      printf ("%6" G_GINT64_FORMAT "  %-7s %-24s %s\n", one->where.line,
              ASSAY_SEVERITIES[one->severity], one->rule, one->title);
      if (one->detail && one->detail[0])
        printf ("        %s\n", one->detail);
    }
  for (guint i = 0; i < result->unread->len; i++)
    {
      const AssayUnread *one = g_ptr_array_index (result->unread, i);
      g_autofree char *path = assay_command_plain (one->path, 4096);
      fprintf (stderr, "not read: %s: %s\n", path, one->reason);
    }
  printf ("%s%u source%s read, %u hint%s\n", file ? "\n" : "", result->files,
          result->files == 1 ? "" : "s", result->findings->len,
          result->findings->len == 1 ? "" : "s");
}

static int
status_of (const Result *result)
{
  for (guint i = 0; i < result->findings->len; i++)
    {
      const AssayFinding *one = g_ptr_array_index (result->findings, i);
      if (one->severity <= ASSAY_SEVERITY_MAJOR)
        return ASSAY_EXIT_FAULTS;
    }
  return result->files == 0 && result->unread->len > 0 ? ASSAY_EXIT_IMPOSSIBLE : ASSAY_EXIT_FINE;
}

int
assay_command_lint (int argc, char **argv)
{
  g_autofree char *json = NULL;
  gboolean unsandboxed = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_FILENAME, &json, "write JSON to a file, - for stdout", "FILE"},
      {"consent-unsandboxed", 0, 0, G_OPTION_ARG_NONE, &unsandboxed,
       "read the sources without a sandbox where none works", NULL},
      {NULL},
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("FILE|FOLDER…");
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) findings =
      g_ptr_array_new_with_free_func ((GDestroyNotify) assay_finding_free);
  g_autoptr (GPtrArray) unread =
      g_ptr_array_new_with_free_func ((GDestroyNotify) assay_unread_free);
  Result result = {0, findings, unread};
  g_option_context_set_summary (
      context, "Reads Python harnesses, checkers, input generators and candidates by their syntax "
               "tree, without running\nthem, and tells what may be wrong with how they time, check "
               "and draw inputs. Exit status 1: something of weight.");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!assay_command_parse (context, &argc, &argv))
    return ASSAY_EXIT_IMPOSSIBLE;
  if (argc < 2)
    {
      g_set_error (&error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "name a .py file or a folder");
      return assay_command_fail ("lint", error);
    }
  if (!read_and_judge (&result, argv + 1, unsandboxed, &error))
    return assay_command_fail ("lint", error);
  if (g_strcmp0 (json, "-") != 0)
    print_result (&result);
  if (json)
    {
      g_autoptr (JsonNode) node = to_json (&result);
      if (!assay_command_write_json (node, json, &error))
        return assay_command_fail ("lint", error);
    }
  return status_of (&result);
}
