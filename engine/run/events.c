/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/events.h"

#include "engine/base/json.h"

#include <pthread.h>

struct _AssayEvents
{
  gatomicrefcount references;
  pthread_mutex_t lock;
  GPtrArray *lines; /* GRefString: event n is line n - 1 */
  gboolean finished;
  void (*notify) (gpointer data);
  gpointer notify_data;
};

AssayEvents *
assay_events_new (void)
{
  AssayEvents *events = g_new0 (AssayEvents, 1);
  g_atomic_ref_count_init (&events->references);
  pthread_mutex_init (&events->lock, NULL);
  events->lines = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ref_string_release);
  return events;
}

AssayEvents *
assay_events_ref (AssayEvents *events)
{
  g_atomic_ref_count_inc (&events->references);
  return events;
}

void
assay_events_unref (AssayEvents *events)
{
  if (!g_atomic_ref_count_dec (&events->references))
    return;
  pthread_mutex_destroy (&events->lock);
  g_ptr_array_unref (events->lines);
  g_free (events);
}

void
assay_events_set_notify (AssayEvents *events, void (*notify) (gpointer data), gpointer data)
{
  events->notify = notify;
  events->notify_data = data;
}

static void
add (AssayEvents *events, const char *type, JsonObject *fields, gboolean last)
{
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
  json_node_take_object (node, fields);
  json_object_set_string_member (fields, "type", type);
  pthread_mutex_lock (&events->lock);
  gboolean open = !events->finished;
  if (open)
    {
      json_object_set_int_member (fields, "n", (gint64) events->lines->len + 1);
      g_autofree char *line = assay_json_write_line (node);
      g_ptr_array_add (events->lines, g_ref_string_new (line));
      events->finished = last;
    }
  pthread_mutex_unlock (&events->lock);
  if (open && events->notify)
    events->notify (events->notify_data);
}

void
assay_events_add (AssayEvents *events, const char *type, JsonObject *fields)
{
  add (events, type, fields, FALSE);
}

void
assay_events_add_record (AssayEvents *events, const char *type, JsonNode *record)
{
  JsonObject *fields = json_object_new ();
  json_object_set_member (fields, "record", record);
  add (events, type, fields, FALSE);
}

void
assay_events_finish (AssayEvents *events, JsonObject *fields)
{
  add (events, "finished", fields, TRUE);
}

guint64
assay_events_last (AssayEvents *events)
{
  pthread_mutex_lock (&events->lock);
  guint64 last = events->lines->len;
  pthread_mutex_unlock (&events->lock);
  return last;
}

gboolean
assay_events_finished (AssayEvents *events)
{
  pthread_mutex_lock (&events->lock);
  gboolean finished = events->finished;
  pthread_mutex_unlock (&events->lock);
  return finished;
}

GPtrArray *
assay_events_since (AssayEvents *events, guint64 since, guint limit)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ref_string_release);
  pthread_mutex_lock (&events->lock);
  for (guint64 i = since; i < events->lines->len && (limit == 0 || lines->len < limit); i++)
    g_ptr_array_add (lines, g_ref_string_acquire (g_ptr_array_index (events->lines, (guint) i)));
  pthread_mutex_unlock (&events->lock);
  return lines;
}
