/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/worker/channel.h"

#include "engine/base/error.h"
#include "engine/base/json.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

struct _AssayChannel
{
  int fd;
  char *nonce;
  const char *phase;
  pthread_mutex_t lock; /* a line leaves whole */
};

AssayChannel *
assay_channel_new (int fd)
{
  AssayChannel *channel = g_new0 (AssayChannel, 1);
  channel->fd = fd;
  pthread_mutex_init (&channel->lock, NULL);
  return channel;
}

void
assay_channel_free (AssayChannel *channel)
{
  pthread_mutex_destroy (&channel->lock);
  g_free (channel->nonce);
  g_free (channel);
}

static gboolean
read_line (int fd, GString *line)
{
  char c;
  for (;;)
    {
      ssize_t n = read (fd, &c, 1);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return FALSE;
      if (c == '\n')
        return TRUE;
      g_string_append_c (line, c);
    }
}

AssayWorkerRequest *
assay_channel_receive (AssayChannel *channel, GError **error)
{
  g_autoptr (GString) line = g_string_new (NULL);
  if (!read_line (channel->fd, line))
    return NULL;
  g_autoptr (JsonNode) node = assay_json_parse (line->str, (gssize) line->len,
                                                &ASSAY_JSON_LIMITS_MESSAGE, "request", error);
  AssayWorkerRequest *request =
      node ? assay_json_table_read (&ASSAY_WORKER_REQUEST_TABLE, node, "", NULL, error) : NULL;
  if (!request)
    return NULL;
  g_free (channel->nonce);
  channel->nonce = g_strdup (request->nonce);
  channel->phase = NULL;
  return request;
}

static void
write_all (AssayChannel *channel, const char *text, gsize bytes)
{
  pthread_mutex_lock (&channel->lock);
  while (bytes > 0)
    {
      ssize_t n = write (channel->fd, text, bytes);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        break;
      text += n;
      bytes -= (gsize) n;
    }
  pthread_mutex_unlock (&channel->lock);
}

void
assay_channel_reply (AssayChannel *channel, AssayReplyKind kind, JsonObject *fields)
{
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
  json_node_take_object (node, fields);
  json_object_set_string_member (fields, "nonce", channel->nonce ? channel->nonce : "");
  json_object_set_string_member (fields, "reply", ASSAY_REPLIES[kind]);
  g_autofree char *text = assay_json_write_line (node);
  g_autofree char *line = g_strconcat (text, "\n", NULL);
  write_all (channel, line, strlen (line));
}

void
assay_channel_phase (AssayChannel *channel, const char *phase)
{
  JsonObject *fields = json_object_new ();
  json_object_set_string_member (fields, "phase", phase);
  channel->phase = phase;
  assay_channel_reply (channel, ASSAY_REPLY_PHASE, fields);
}

void
assay_channel_forward (AssayChannel *channel, const char *json_line)
{
  g_autofree char *line =
      g_strdup_printf ("{\"nonce\":\"%s\",\"reply\":\"finding\",\"record\":%s}\n",
                       channel->nonce ? channel->nonce : "", json_line);
  write_all (channel, line, strlen (line));
}

void
assay_channel_fail (AssayChannel *channel, AssayWorkerError *error)
{
  if (!error->phase)
    error->phase = g_strdup (channel->phase);
  g_autoptr (JsonNode) node = assay_json_table_write (&ASSAY_WORKER_ERROR_TABLE, error);
  JsonObject *fields = json_object_new ();
  json_object_set_member (fields, "error", g_steal_pointer (&node));
  assay_channel_reply (channel, ASSAY_REPLY_ERROR, fields);
  assay_worker_error_free (error);
}

void
assay_channel_fail_message (AssayChannel *channel, const char *kind, const char *format, ...)
{
  AssayWorkerError *error = assay_worker_error_new ();
  va_list arguments;
  va_start (arguments, format);
  error->kind = g_strdup (kind);
  error->message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  assay_channel_fail (channel, error);
}
