/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/run-event.h"

#include "engine/base/error.h"

static const struct
{
  const char *word;
  AssayEventType type;
  const AssayJsonTable *table;
} types[] = {
    {"stage", ASSAY_EVENT_STAGE, NULL},
    {"log", ASSAY_EVENT_LOG, NULL},
    {"workload", ASSAY_EVENT_WORKLOAD, &ASSAY_WORKLOAD_RECORD_TABLE},
    {"finding", ASSAY_EVENT_FINDING, &ASSAY_FINDING_TABLE},
    {"audit", ASSAY_EVENT_AUDIT, &ASSAY_AUDIT_TABLE},
    {"timing", ASSAY_EVENT_TIMING, &ASSAY_TIMING_TABLE},
    {"compile", ASSAY_EVENT_COMPILE, &ASSAY_COMPILE_TABLE},
    {"finished", ASSAY_EVENT_FINISHED, NULL},
    {"heartbeat", ASSAY_EVENT_HEARTBEAT, NULL},
};

int
assay_word_index (const char *const *words, const char *word, int otherwise)
{
  for (int i = 0; words[i] != NULL; i++)
    if (g_strcmp0 (words[i], word) == 0)
      return i;
  return otherwise;
}

static gboolean
read_record (AssayRunEvent *event, JsonObject *object, const AssayJsonTable *table, GError **error)
{
  JsonNode *node = json_object_get_member (object, "record");

  if (node == NULL)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "event %" G_GINT64_FORMAT ": no record",
                   event->n);
      return FALSE;
    }
  event->record = assay_json_table_read (table, node, "record", NULL, error);
  event->table = table;
  return event->record != NULL;
}

AssayRunEvent *
assay_run_event_parse (const char *line, gsize length, GError **error)
{
  g_autoptr (JsonNode) node = NULL;
  g_autoptr (AssayRunEvent) event = g_new0 (AssayRunEvent, 1);
  JsonObject *object;
  const AssayJsonTable *table = NULL;

  node = assay_json_parse (line, (gssize) length, &ASSAY_JSON_LIMITS_RECORD, "event", error);
  if (node == NULL)
    return NULL;
  if (!JSON_NODE_HOLDS_OBJECT (node))
    {
      g_set_error_literal (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "event: not an object");
      return NULL;
    }
  object = json_node_get_object (node);
  event->n = assay_json_int (object, "n", 0);
  event->type = ASSAY_EVENT_UNKNOWN;
  for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
    if (g_strcmp0 (assay_json_string (object, "type"), types[i].word) == 0)
      {
        event->type = types[i].type;
        table = types[i].table;
      }
  event->stage = assay_word_index (ASSAY_STAGES, assay_json_string (object, "stage"), -1);
  event->status = assay_word_index (
      ASSAY_STATUSES,
      assay_json_string (object, event->type == ASSAY_EVENT_FINISHED ? "state" : "status"),
      ASSAY_STATUS_PENDING);
  event->fraction = assay_json_double (object, "fraction", 0);
  event->reason = g_strdup (assay_json_string (object, "reason"));
  event->text = g_strdup (assay_json_string (object, "text"));
  event->folder = g_strdup (assay_json_string (object, "folder"));
  if (table != NULL && !read_record (event, object, table, error))
    return NULL;
  return g_steal_pointer (&event);
}

void
assay_run_event_free (AssayRunEvent *event)
{
  if (event->record != NULL)
    assay_json_table_free (event->table, event->record);
  g_free (event->reason);
  g_free (event->text);
  g_free (event->folder);
  g_free (event);
}
