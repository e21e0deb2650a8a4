/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cli/command.h"

#include "engine/base/error.h"
#include "engine/run/devices.h"
#include "engine/run/doctor.h"

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
  g_autoptr (AssayTextTable) table =
      assay_text_table_new ("device", "name", "available", ">free", ">clock", NULL);
  for (guint i = 0; i < devices->len; i++)
    {
      const AssayDevice *device = g_ptr_array_index (devices, i);
      const AssayGpuState *gpu = device->gpu;
      g_autofree char *free_memory =
          gpu ? g_strdup_printf ("%.1f GiB", (double) gpu->memory_free_bytes / (1 << 30)) : NULL;
      g_autofree char *clock =
          gpu ? g_strdup_printf ("%" G_GINT64_FORMAT " MHz", gpu->sm_clock_mhz) : NULL;
      assay_text_table_add (table, device->id, device->name,
                            device->available ? "yes" : device->reason, free_memory, clock);
    }
  assay_text_table_print (table, "");
  return ASSAY_EXIT_FINE;
}

/* ---- doctor ---- */

int
assay_command_doctor (int argc, char **argv)
{
  g_autofree char *json = NULL;
  g_autoptr (GError) error = NULL;
  if (!parse_json_only (argc, argv, "– what works on this computer, and why not", &json))
    return ASSAY_EXIT_IMPOSSIBLE;
  g_autoptr (GPtrArray) checks = assay_doctor_examine ();
  g_autoptr (JsonNode) node = assay_doctor_to_json (checks);
  g_autoptr (AssayTextTable) table = assay_text_table_new ("", "part", "", NULL);
  for (guint i = 0; i < checks->len; i++)
    {
      const AssayCheck *check = g_ptr_array_index (checks, i);
      g_autofree char *text = check->advice ? g_strdup_printf ("%s. %s", check->text, check->advice)
                                            : g_strdup (check->text);
      assay_text_table_add (table, ASSAY_CHECK_STATES[check->state], check->name, text);
    }
  if (json && !assay_command_write_json (node, json, &error))
    return assay_command_fail ("doctor", error);
  if (!json)
    assay_text_table_print (table, "");
  return assay_doctor_is_healthy (checks) ? ASSAY_EXIT_FINE : ASSAY_EXIT_FAULTS;
}
