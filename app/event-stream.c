/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/event-stream.h"

#define RESUME_MS 300
#define MOST_RESUMES 20
#define APPLY_BUDGET_US 4000 /* of the main loop, before it may do something else */

struct _AssayEventStream
{
  GObject parent;
  SoupSession *session;
  char *base, *token;
  AssayRunModel *run;
  GCancellable *cancellable;
  GDataInputStream *lines;
  GThreadPool *parser; /* one thread: order is kept */
  GMutex lock;
  GQueue parsed;      /* AssayRunEvent *, under `lock` */
  guint apply_source; /* under `lock` */
  guint resume_source;
  guint resumes;
  gboolean finished, stopped;
};

enum
{
  ENDED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AssayEventStream, assay_event_stream, G_TYPE_OBJECT)

static void connect_stream (AssayEventStream *self);

typedef struct
{
  AssayEventStream *stream;
  GBytes *line;
} Job;

static AssayRunEvent *
next_event (AssayEventStream *self)
{
  AssayRunEvent *event;

  g_mutex_lock (&self->lock);
  event = g_queue_pop_head (&self->parsed);
  if (event == NULL)
    self->apply_source = 0;
  g_mutex_unlock (&self->lock);
  return event;
}

static gboolean
apply_events (gpointer data)
{
  AssayEventStream *self = data;
  gint64 until = g_get_monotonic_time () + APPLY_BUDGET_US;
  AssayRunEvent *event;

  while ((event = next_event (self)) != NULL)
    {
      gboolean finished = event->type == ASSAY_EVENT_FINISHED;

      if (!self->stopped)
        {
          self->resumes = 0;
          assay_run_model_apply (self->run, event);
        }
      assay_run_event_free (event);
      if (finished && !self->stopped)
        {
          self->finished = TRUE;
          g_signal_emit (self, signals[ENDED], 0);
        }
      if (g_get_monotonic_time () > until)
        return G_SOURCE_CONTINUE;
    }
  return G_SOURCE_REMOVE;
}

static gboolean
let_go (gpointer data)
{
  return G_SOURCE_REMOVE;
}

static void
parse_job (gpointer data, gpointer user_data)
{
  Job *job = data;
  AssayEventStream *self = job->stream;
  g_autoptr (GError) error = NULL;
  gsize length;
  const char *line = g_bytes_get_data (job->line, &length);
  AssayRunEvent *event = assay_run_event_parse (line, length, &error);

  if (event == NULL)
    g_warning ("an event of the engine cannot be read: %s", error->message);
  else
    {
      g_mutex_lock (&self->lock);
      g_queue_push_tail (&self->parsed, event);
      if (self->apply_source == 0)
        self->apply_source = g_idle_add_full (G_PRIORITY_DEFAULT_IDLE, apply_events,
                                              g_object_ref (self), g_object_unref);
      g_mutex_unlock (&self->lock);
    }
  g_bytes_unref (job->line);
  /* The last reference must not go on this thread. */
  g_idle_add_full (G_PRIORITY_LOW, let_go, self, g_object_unref);
  g_free (job);
}

static gboolean
resume (gpointer data)
{
  AssayEventStream *self = data;

  self->resume_source = 0;
  connect_stream (self);
  return G_SOURCE_REMOVE;
}

static void
schedule_resume (AssayEventStream *self)
{
  g_clear_object (&self->lines);
  if (self->stopped || self->finished || self->resumes >= MOST_RESUMES || self->resume_source != 0)
    return;
  self->resumes++;
  self->resume_source = g_timeout_add (RESUME_MS, resume, self);
}

static void
line_read (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (AssayEventStream) self = data;
  g_autoptr (GError) error = NULL;
  gsize length;
  char *line =
      g_data_input_stream_read_line_finish (G_DATA_INPUT_STREAM (source), result, &length, &error);

  if (self->stopped)
    {
      g_free (line);
      return;
    }
  if (line == NULL)
    {
      if (error != NULL)
        g_debug ("event stream: %s", error->message);
      schedule_resume (self);
      return;
    }
  if (length > 0)
    {
      Job *job = g_new (Job, 1);

      *job = (Job) {g_object_ref (self), g_bytes_new_take (line, length)};
      g_thread_pool_push (self->parser, job, NULL);
    }
  else
    g_free (line);
  g_data_input_stream_read_line_async (self->lines, G_PRIORITY_DEFAULT_IDLE, self->cancellable,
                                       line_read, g_object_ref (self));
}

static void
stream_opened (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (AssayEventStream) self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GInputStream) body = soup_session_send_finish (SOUP_SESSION (source), result, &error);

  if (self->stopped)
    return;
  if (body == NULL)
    {
      g_debug ("event stream: %s", error->message);
      schedule_resume (self);
      return;
    }
  self->lines = g_data_input_stream_new (body);
  g_buffered_input_stream_set_buffer_size (G_BUFFERED_INPUT_STREAM (self->lines), 256 * 1024);
  g_data_input_stream_read_line_async (self->lines, G_PRIORITY_DEFAULT_IDLE, self->cancellable,
                                       line_read, g_object_ref (self));
}

static void
connect_stream (AssayEventStream *self)
{
  g_autofree char *address = NULL, *authorization = NULL;
  g_autoptr (SoupMessage) message = NULL;

  address = g_strdup_printf ("%s/v1/runs/%s/events?since=%" G_GINT64_FORMAT, self->base,
                             assay_run_model_get_id (self->run),
                             assay_run_model_get_last_event (self->run));
  message = soup_message_new ("GET", address);
  authorization = g_strdup_printf ("Bearer %s", self->token);
  soup_message_headers_replace (soup_message_get_request_headers (message), "Authorization",
                                authorization);
  soup_session_send_async (self->session, message, G_PRIORITY_DEFAULT_IDLE, self->cancellable,
                           stream_opened, g_object_ref (self));
}

AssayEventStream *
assay_event_stream_new (SoupSession *session, const char *base, const char *token,
                        AssayRunModel *run)
{
  AssayEventStream *self = g_object_new (ASSAY_TYPE_EVENT_STREAM, NULL);

  self->session = g_object_ref (session);
  self->base = g_strdup (base);
  self->token = g_strdup (token);
  self->run = g_object_ref (run);
  connect_stream (self);
  return self;
}

AssayRunModel *
assay_event_stream_get_run (AssayEventStream *self)
{
  return self->run;
}

void
assay_event_stream_stop (AssayEventStream *self)
{
  g_return_if_fail (ASSAY_IS_EVENT_STREAM (self));
  self->stopped = TRUE;
  g_clear_handle_id (&self->resume_source, g_source_remove);
  g_cancellable_cancel (self->cancellable);
}

static void
assay_event_stream_finalize (GObject *object)
{
  AssayEventStream *self = ASSAY_EVENT_STREAM (object);

  g_clear_handle_id (&self->resume_source, g_source_remove);
  g_thread_pool_free (self->parser, FALSE, TRUE);
  g_queue_clear_full (&self->parsed, (GDestroyNotify) assay_run_event_free);
  g_mutex_clear (&self->lock);
  g_clear_object (&self->lines);
  g_clear_object (&self->cancellable);
  g_clear_object (&self->run);
  g_clear_object (&self->session);
  g_free (self->base);
  g_free (self->token);
  G_OBJECT_CLASS (assay_event_stream_parent_class)->finalize (object);
}

static void
assay_event_stream_class_init (AssayEventStreamClass *class)
{
  G_OBJECT_CLASS (class)->finalize = assay_event_stream_finalize;
  signals[ENDED] = g_signal_new ("ended", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0, NULL,
                                 NULL, NULL, G_TYPE_NONE, 0);
}

static void
assay_event_stream_init (AssayEventStream *self)
{
  self->cancellable = g_cancellable_new ();
  self->parser = g_thread_pool_new (parse_job, NULL, 1, FALSE, NULL);
  g_mutex_init (&self->lock);
  g_queue_init (&self->parsed);
}
