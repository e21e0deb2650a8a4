/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/service/service-private.h"

#include <string.h>

#define HEARTBEAT_SECONDS 5
#define EVENTS_A_CHUNK 256

/* One client that reads the events of one job. At most one chunk is under way: what a client does not
 * read stays in the job's list and nowhere else. */
typedef struct
{
  AssayService *service;
  SoupServerMessage *message;
  AssayJob *job;
  guint64 sent;      /* number of the last event handed over */
  gboolean writing;  /* a chunk is on its way */
  gboolean complete; /* nothing comes after it */
  guint heartbeat;
} Stream;

static void
stream_free (gpointer data, GClosure *closure)
{
  Stream *stream = data;
  (void) closure;
  g_clear_handle_id (&stream->heartbeat, g_source_remove);
  stream->service->streams--;
  g_object_unref (stream->service);
  g_object_unref (stream->job);
  g_free (stream);
}

static void
send_text (Stream *stream, GString *text)
{
  SoupMessageBody *body = soup_server_message_get_response_body (stream->message);
  gsize length = text->len;
  char *data = g_string_free (text, FALSE);
  stream->writing = TRUE;
  soup_message_body_append_take (body, (guchar *) data, length);
  soup_server_message_unpause (stream->message);
}

static void
send_more (Stream *stream)
{
  AssayEvents *events = assay_job_events (stream->job);
  if (stream->writing || stream->complete)
    return;
  /* Asked in this order: an event that comes in between is sent by the next turn. */
  gboolean finished = assay_events_finished (events);
  g_autoptr (GPtrArray) lines = assay_events_since (events, stream->sent, EVENTS_A_CHUNK);
  if (lines->len > 0)
    {
      GString *text = g_string_new (NULL);
      for (guint i = 0; i < lines->len; i++)
        {
          g_string_append (text, g_ptr_array_index (lines, i));
          g_string_append_c (text, '\n');
        }
      stream->sent += lines->len;
      send_text (stream, text);
    }
  else if (finished)
    {
      stream->complete = TRUE;
      soup_message_body_complete (soup_server_message_get_response_body (stream->message));
      soup_server_message_unpause (stream->message);
    }
}

static void
on_wrote_chunk (SoupServerMessage *message, gpointer data)
{
  Stream *stream = data;
  (void) message;
  stream->writing = FALSE;
  send_more (stream);
}

static void
on_changed (AssayJob *job, gpointer data)
{
  (void) job;
  send_more (data);
}

/* Also how a client that left is noticed: a paused message learns of it only by writing. */
static gboolean
on_heartbeat (gpointer data)
{
  Stream *stream = data;
  if (stream->writing || stream->complete)
    return G_SOURCE_CONTINUE;
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "{\"n\":%" G_GUINT64_FORMAT ",\"type\":\"heartbeat\"}\n",
                          stream->sent);
  send_text (stream, text);
  return G_SOURCE_CONTINUE;
}

/* The message is over, whichever side ended it. */
static void
on_finished (SoupServerMessage *message, gpointer data)
{
  Stream *stream = data;
  stream->complete = TRUE;
  g_signal_handlers_disconnect_by_data (stream->job, stream);
  g_signal_handlers_disconnect_by_data (message, stream);
}

void
assay_stream_events (AssayService *service, SoupServerMessage *message, AssayJob *job,
                     guint64 since)
{
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (message);
  if (service->streams >= ASSAY_SERVICE_MAX_STREAMS)
    {
      assay_respond_problem (message, 503, "limit", "too many event streams are open",
                             "close one, or read with fewer");
      return;
    }
  Stream *stream = g_new0 (Stream, 1);
  stream->service = g_object_ref (service);
  stream->message = message;
  stream->job = g_object_ref (job);
  stream->sent = MIN (since, assay_events_last (assay_job_events (job)));
  service->streams++;
  soup_server_message_set_status (message, 200, NULL);
  soup_message_headers_set_encoding (headers, SOUP_ENCODING_CHUNKED);
  soup_message_headers_set_content_type (headers, "application/x-ndjson", NULL);
  soup_message_body_set_accumulate (soup_server_message_get_response_body (message), FALSE);
  stream->heartbeat = g_timeout_add_seconds (HEARTBEAT_SECONDS, on_heartbeat, stream);
  g_signal_connect (message, "wrote-chunk", G_CALLBACK (on_wrote_chunk), stream);
  g_signal_connect (job, "changed", G_CALLBACK (on_changed), stream);
  g_signal_connect_data (message, "finished", G_CALLBACK (on_finished), stream, stream_free, 0);
  send_more (stream);
}
