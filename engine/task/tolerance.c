/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/error.h"
#include "engine/task/task.h"

#include <math.h>

#define PER_OUTPUT "outputs"

/* Copies the members of `from` over those of `into`, without the map of outputs. */
static gboolean
overlay (JsonObject *into, JsonNode *from, const char *path, GError **error)
{
  if (!from || JSON_NODE_HOLDS_NULL (from))
    return TRUE;
  if (!JSON_NODE_HOLDS_OBJECT (from))
    {
      g_autofree char *found = assay_json_write_line (from);
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "%s: expected an object, found %s",
                   path, found);
      return FALSE;
    }
  JsonObject *object = json_node_get_object (from);
  g_autoptr (GList) keys = json_object_get_members (object);
  for (GList *key = keys; key; key = key->next)
    if (!g_str_equal (key->data, PER_OUTPUT))
      json_object_set_member (into, key->data,
                              json_node_copy (json_object_get_member (object, key->data)));
  return TRUE;
}

static JsonNode *
for_output (JsonNode *tolerance, const char *output)
{
  if (!tolerance || !output || !JSON_NODE_HOLDS_OBJECT (tolerance))
    return NULL;
  JsonObject *outputs = assay_json_object (json_node_get_object (tolerance), PER_OUTPUT);
  return outputs ? json_object_get_member (outputs, output) : NULL;
}

gboolean
assay_tolerance_in_range (const AssayTolerance *tolerance, const char *path, GError **error)
{
  const struct
  {
    const char *key;
    double value;
    gboolean good;
    const char *expected;
  } checks[] = {
      {"atol", tolerance->atol, tolerance->atol >= 0 && isfinite (tolerance->atol),
       "a finite number, 0 or more"},
      {"rtol", tolerance->rtol, tolerance->rtol >= 0 && isfinite (tolerance->rtol),
       "a finite number, 0 or more"},
      {"matched_ratio", tolerance->matched_ratio,
       tolerance->matched_ratio > 0 && tolerance->matched_ratio <= 1,
       "a number above 0 and at most 1"},
      {"max_error_cap", tolerance->max_error_cap, !(tolerance->max_error_cap < 0),
       "a number, 0 or more, or null"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (checks); i++)
    if (!checks[i].good)
      {
        g_autofree char *found = assay_double_to_string (checks[i].value);
        g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "%s.%s: expected %s, found %s", path,
                     checks[i].key, checks[i].expected, found);
        return FALSE;
      }
  return TRUE;
}

AssayTolerance *
assay_task_tolerance (const AssayTask *task, const AssayWorkload *workload, const char *output,
                      GError **error)
{
  g_autofree char *path = workload ? g_strdup_printf ("workloads.%s.tolerance", workload->name)
                                   : g_strdup ("tolerance");
  JsonObject *merged = json_object_new ();
  g_autoptr (JsonNode) node = json_node_init_object (json_node_alloc (), merged);
  json_object_unref (merged);
  JsonNode *own = workload ? workload->tolerance : NULL;
  if (!overlay (merged, task->tolerance, "tolerance", error)
      || !overlay (merged, for_output (task->tolerance, output), "tolerance.outputs", error)
      || !overlay (merged, own, path, error)
      || !overlay (merged, for_output (own, output), path, error))
    return NULL;
  g_autoptr (AssayTolerance) tolerance =
      assay_json_table_read (&ASSAY_TOLERANCE_TABLE, node, path, NULL, error);
  return tolerance && assay_tolerance_in_range (tolerance, path, error)
             ? g_steal_pointer (&tolerance)
             : NULL;
}
