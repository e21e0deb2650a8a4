/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cli/command.h"

#include "engine/base/error.h"
#include "engine/device/installation.h"
#include "engine/device/toolkit.h"
#include "engine/run/devices.h"
#include "engine/sandbox/preflight.h"
#include "engine/sandbox/tree.h"

#include <stdio.h>

static JsonNode *
devices_node (GPtrArray *devices)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *object = json_object_new ();
  JsonArray *list = json_array_new ();
  for (guint i = 0; i < devices->len; i++)
    json_array_add_element (
        list, assay_json_table_write (&ASSAY_DEVICE_TABLE, g_ptr_array_index (devices, i)));
  json_object_set_array_member (object, "devices", list);
  json_node_take_object (node, object);
  return node;
}

static gboolean
parse_json_only (int argc, char **argv, const char *summary, char **json)
{
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_FILENAME, json, "write it there; - is stdout", "FILE"},
      {NULL},
  };
  g_autoptr (GOptionContext) context = g_option_context_new (summary);
  g_option_context_add_main_entries (context, entries, NULL);
  return assay_command_parse (context, &argc, &argv);
}

int
assay_command_devices (int argc, char **argv)
{
  g_autofree char *json = NULL;
  g_autoptr (GError) error = NULL;
  if (!parse_json_only (argc, argv, "– devices a run can be asked for", &json))
    return ASSAY_EXIT_IMPOSSIBLE;
  g_autoptr (GPtrArray) devices = assay_devices_list ();
  g_autoptr (JsonNode) node = devices_node (devices);
  if (json && !assay_command_write_json (node, json, &error))
    return assay_command_fail ("devices", error);
  if (json)
    return ASSAY_EXIT_FINE;
  g_autoptr (AssayTextTable) table = assay_text_table_new ("device", "name", "available", NULL);
  for (guint i = 0; i < devices->len; i++)
    {
      const AssayDevice *device = g_ptr_array_index (devices, i);
      assay_text_table_add (table, device->id, device->name,
                            device->available ? "yes" : device->reason);
    }
  assay_text_table_print (table, "");
  return ASSAY_EXIT_FINE;
}

/* ---- doctor ---- */

typedef struct
{
  const char *name;
  gboolean works, needed;
  char *text;
} Check;

static void
add_check (GArray *checks, const char *name, gboolean needed, gboolean works, char *text)
{
  Check check = {name, works, needed, text};
  g_array_append_val (checks, check);
}

static void
clear_check (gpointer data)
{
  g_free (((Check *) data)->text);
}

static void
check_file (GArray *checks, const char *name, gboolean data, const char *file)
{
  g_autoptr (GError) error = NULL;
  char *path = data ? assay_data_path (file, &error) : assay_libexec_path (file, &error);
  add_check (checks, name, TRUE, path != NULL, path ? path : g_strdup (error->message));
}

static void
check_sandbox (GArray *checks)
{
  const AssaySandboxPreflight *preflight = assay_sandbox_preflight ();
  add_check (checks, "sandbox", TRUE, preflight->works,
             preflight->works
                 ? g_strdup (preflight->tier)
                 : g_strdup_printf ("%s%s%s", preflight->reason, preflight->advice ? "; " : "",
                                    preflight->advice ? preflight->advice : ""));
  add_check (checks, "memory limit", FALSE, TRUE, g_strdup (assay_group_describe ()));
}

static void
check_compilers (GArray *checks)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayToolkit) toolkit = assay_toolkit_find (&error);
  char *cc = g_find_program_in_path ("cc");
  add_check (checks, "CUDA compiler", TRUE, toolkit != NULL,
             g_strdup (toolkit ? toolkit->nvrtc : error->message));
  add_check (checks, "nvcc, for files with host code", FALSE, toolkit && toolkit->nvcc,
             g_strdup (toolkit && toolkit->nvcc ? toolkit->nvcc : "not found"));
  add_check (checks, "C compiler, for references", TRUE, cc != NULL,
             cc ? cc : g_strdup ("cc not found; install gcc or clang"));
}

static void
check_devices (GArray *checks)
{
  g_autoptr (GPtrArray) devices = assay_devices_list ();
  for (guint i = 0; i < devices->len; i++)
    {
      const AssayDevice *device = g_ptr_array_index (devices, i);
      if (g_str_equal (device->kind, "cuda"))
        add_check (checks, "CUDA device", FALSE, device->available,
                   g_strdup (device->available ? device->name : device->reason));
    }
}

static gboolean
write_checks (GArray *checks, const char *json, GError **error)
{
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *object = json_object_new ();
  JsonArray *list = json_array_new ();
  for (guint i = 0; i < checks->len; i++)
    {
      const Check *check = &g_array_index (checks, Check, i);
      JsonObject *item = json_object_new ();
      json_object_set_string_member (item, "name", check->name);
      json_object_set_boolean_member (item, "works", check->works);
      json_object_set_boolean_member (item, "needed", check->needed);
      json_object_set_string_member (item, "text", check->text);
      json_array_add_object_element (list, item);
    }
  json_object_set_array_member (object, "checks", list);
  json_node_take_object (node, object);
  return assay_command_write_json (node, json, error);
}

int
assay_command_doctor (int argc, char **argv)
{
  g_autofree char *json = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) checks = g_array_new (FALSE, FALSE, sizeof (Check));
  gboolean healthy = TRUE;
  if (!parse_json_only (argc, argv, "– what works on this computer, and why not", &json))
    return ASSAY_EXIT_IMPOSSIBLE;
  g_array_set_clear_func (checks, clear_check);
  check_sandbox (checks);
  check_file (checks, "worker", FALSE, "assay-worker");
  check_file (checks, "virtual GPU", FALSE, "driver/libcuda.so.1");
  check_file (checks, "reference header", TRUE, "reference/assay_reference.h");
  check_compilers (checks);
  check_devices (checks);
  g_autoptr (AssayTextTable) table = assay_text_table_new ("", "part", "", NULL);
  for (guint i = 0; i < checks->len; i++)
    {
      const Check *check = &g_array_index (checks, Check, i);
      healthy = healthy && (check->works || !check->needed);
      assay_text_table_add (table,
                            check->works    ? "works"
                            : check->needed ? "FAILS"
                                            : "absent",
                            check->name, check->text);
    }
  if (json && !write_checks (checks, json, &error))
    return assay_command_fail ("doctor", error);
  if (!json)
    assay_text_table_print (table, "");
  return healthy ? ASSAY_EXIT_FINE : ASSAY_EXIT_FAULTS;
}
