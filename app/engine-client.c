/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/engine-client.h"

#include "app/event-stream.h"
#include "engine/base/error.h"
#include "engine/base/json.h"

#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <libsoup/soup.h>
#include <signal.h>

#define BASE "http://localhost"
#define MOST_CONNECTIONS 16 /* two by default: two event streams would block everything else */
#define MOST_RESTARTS 6
#define FIRST_PAUSE_MS 250
#define STEADY_US (20 * G_USEC_PER_SEC) /* an engine that lived so long counts as sound again */

struct _AssayEngineClient
{
  GObject parent;
  char *workspace, *program;
  AssayEngineState state;
  char *problem;
  char *directory, *socket, *token;
  GSubprocess *process;
  GDataInputStream *output;
  SoupSession *session;
  GListStore *devices;
  GPtrArray *streams; /* AssayEventStream * */
  GCancellable *cancellable;
  guint restarts, restart_source;
  gint64 started;
  gboolean stopping;
};

enum
{
  PROP_0,
  PROP_STATE,
  N_PROPS
};

enum
{
  LOST,
  N_SIGNALS
};

static GParamSpec *properties[N_PROPS];
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AssayEngineClient, assay_engine_client, G_TYPE_OBJECT)

static void spawn (AssayEngineClient *self);

static void
set_state (AssayEngineClient *self, AssayEngineState state, const char *problem)
{
  g_free (self->problem);
  self->problem = g_strdup (problem);
  if (self->state == state)
    return;
  self->state = state;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_STATE]);
}

/* --- requests -------------------------------------------------------------------------------- */

static SoupMessage *
message_new (AssayEngineClient *self, const char *method, const char *path)
{
  g_autofree char *address = g_strconcat (BASE, path, NULL);
  g_autofree char *authorization = g_strdup_printf ("Bearer %s", self->token);
  SoupMessage *message = soup_message_new (method, address);

  soup_message_headers_replace (soup_message_get_request_headers (message), "Authorization",
                                authorization);
  return message;
}

/* The reply as JSON, or the engine's problem object as an error of our domain. */
static JsonNode *
read_reply (SoupMessage *message, GBytes *body, GError **error)
{
  static const char *const codes[] = {"failed", "invalid",   "unsupported", "limit", "not_found",
                                      "denied", "cancelled", "lost",        NULL};
  gsize length;
  const char *text = g_bytes_get_data (body, &length);
  g_autoptr (JsonNode) node = NULL;
  JsonObject *problem;
  const char *hint;

  node =
      assay_json_parse (text, (gssize) length, &ASSAY_JSON_LIMITS_RECORD, "engine's reply", error);
  if (node == NULL)
    return NULL;
  if (SOUP_STATUS_IS_SUCCESSFUL (soup_message_get_status (message)))
    return g_steal_pointer (&node);
  problem = JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  hint = problem != NULL ? assay_json_string (problem, "hint") : NULL;
  g_set_error (error, ASSAY_ERROR,
               problem != NULL ? assay_word_index (codes, assay_json_string (problem, "code"), 0)
                               : 0,
               "%s%s%s",
               problem != NULL && assay_json_string (problem, "message") != NULL
                   ? assay_json_string (problem, "message")
                   : soup_message_get_reason_phrase (message),
               hint != NULL ? ". " : "", hint != NULL ? hint : "");
  return NULL;
}

static void
devices_read (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (AssayEngineClient) self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) body =
      soup_session_send_and_read_finish (SOUP_SESSION (source), result, &error);
  g_autoptr (JsonNode) node = NULL;
  g_autoptr (GPtrArray) items = NULL;
  JsonArray *devices = NULL;

  if (body != NULL)
    node = read_reply (soup_session_get_async_result_message (SOUP_SESSION (source), result), body,
                       &error);
  if (node != NULL && JSON_NODE_HOLDS_OBJECT (node))
    devices = assay_json_array (json_node_get_object (node), "devices");
  if (devices == NULL)
    {
      if (error == NULL || !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        g_warning ("no list of devices: %s", error != NULL ? error->message : "wrong shape");
      return;
    }
  items = g_ptr_array_new_with_free_func (g_object_unref);
  for (guint i = 0; i < json_array_get_length (devices); i++)
    {
      JsonNode *element = json_array_get_element (devices, i);

      if (JSON_NODE_HOLDS_OBJECT (element))
        g_ptr_array_add (items, assay_device_item_new_from_json (json_node_get_object (element)));
    }
  g_list_store_splice (self->devices, 0, g_list_model_get_n_items (G_LIST_MODEL (self->devices)),
                       items->pdata, items->len);
}

static void
answered (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GTask) task = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) body =
      soup_session_send_and_read_finish (SOUP_SESSION (source), result, &error);
  JsonNode *node = NULL;

  if (body != NULL)
    node = read_reply (soup_session_get_async_result_message (SOUP_SESSION (source), result), body,
                       &error);
  if (node != NULL)
    g_task_return_pointer (task, node, (GDestroyNotify) json_node_unref);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

void
assay_engine_client_ask_async (AssayEngineClient *self, const char *method, const char *path,
                               JsonNode *body, GCancellable *cancellable,
                               GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (self, cancellable, callback, user_data);
  g_autoptr (SoupMessage) message = NULL;

  g_task_set_source_tag (task, assay_engine_client_ask_async);
  if (self->state != ASSAY_ENGINE_READY)
    {
      g_task_return_new_error (task, ASSAY_ERROR, ASSAY_ERROR_FAILED, "the engine does not run%s%s",
                               self->problem != NULL ? ": " : "",
                               self->problem != NULL ? self->problem : "");
      return;
    }
  message = message_new (self, method, path);
  if (body != NULL)
    {
      g_autofree char *text = assay_json_write_line (body);
      g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));

      soup_message_set_request_body_from_bytes (message, "application/json", bytes);
    }
  soup_session_send_and_read_async (self->session, message, G_PRIORITY_DEFAULT, cancellable,
                                    answered, g_steal_pointer (&task));
}

JsonNode *
assay_engine_client_ask_finish (AssayEngineClient *self, GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

static void
ask_devices (AssayEngineClient *self)
{
  g_autoptr (SoupMessage) message = message_new (self, "GET", "/v1/devices");

  soup_session_send_and_read_async (self->session, message, G_PRIORITY_DEFAULT, self->cancellable,
                                    devices_read, g_object_ref (self));
}

static void
stream_ended (AssayEngineClient *self, AssayEventStream *stream)
{
  AssayRunModel *run = assay_event_stream_get_run (stream);

  assay_run_model_reload (run);
  assay_event_stream_stop (stream);
  g_ptr_array_remove (self->streams, stream);
}

static void
run_started (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GTask) task = data;
  AssayEngineClient *self = g_task_get_source_object (task);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) body =
      soup_session_send_and_read_finish (SOUP_SESSION (source), result, &error);
  g_autoptr (JsonNode) node = NULL;
  g_autoptr (AssayRunModel) run = NULL;
  AssayEventStream *stream;
  const char *id;

  if (body != NULL)
    node = read_reply (soup_session_get_async_result_message (SOUP_SESSION (source), result), body,
                       &error);
  if (node == NULL)
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }
  id = JSON_NODE_HOLDS_OBJECT (node) ? assay_json_string (json_node_get_object (node), "id") : NULL;
  if (id == NULL)
    {
      g_task_return_new_error (task, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                               "the engine started a run without saying its id");
      return;
    }
  run = assay_run_model_new (id, assay_json_string (json_node_get_object (node), "folder"));
  stream = assay_event_stream_new (self->session, BASE, self->token, run);
  g_signal_connect_object (stream, "ended", G_CALLBACK (stream_ended), self, G_CONNECT_SWAPPED);
  g_ptr_array_add (self->streams, stream);
  g_task_return_pointer (task, g_steal_pointer (&run), g_object_unref);
}

static char *
run_request (const char *task_folder, const char *candidate, const char *device, gboolean consent)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "task");
  json_builder_add_string_value (builder, task_folder);
  if (candidate != NULL)
    {
      json_builder_set_member_name (builder, "candidate");
      json_builder_add_string_value (builder, candidate);
    }
  json_builder_set_member_name (builder, "device");
  json_builder_add_string_value (builder, device);
  json_builder_set_member_name (builder, "checks");
  json_builder_add_string_value (builder, "all");
  json_builder_set_member_name (builder, "consent_unsandboxed");
  json_builder_add_boolean_value (builder, consent);
  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  return assay_json_write_line (root);
}

void
assay_engine_client_run_async (AssayEngineClient *self, const char *task_folder,
                               const char *candidate, const char *device,
                               gboolean consent_unsandboxed, GCancellable *cancellable,
                               GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (self, cancellable, callback, user_data);
  g_autoptr (SoupMessage) message = NULL;
  g_autoptr (GBytes) body = NULL;
  char *text;

  g_task_set_source_tag (task, assay_engine_client_run_async);
  if (self->state != ASSAY_ENGINE_READY)
    {
      g_task_return_new_error (task, ASSAY_ERROR, ASSAY_ERROR_FAILED,
                               "the engine is not running%s%s", self->problem != NULL ? ": " : "",
                               self->problem != NULL ? self->problem : "");
      return;
    }
  text = run_request (task_folder, candidate, device, consent_unsandboxed);
  body = g_bytes_new_take (text, strlen (text));
  message = message_new (self, "POST", "/v1/runs");
  soup_message_set_request_body_from_bytes (message, "application/json", body);
  soup_session_send_and_read_async (self->session, message, G_PRIORITY_DEFAULT, cancellable,
                                    run_started, g_steal_pointer (&task));
}

AssayRunModel *
assay_engine_client_run_finish (AssayEngineClient *self, GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

static void
cancelled (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) body =
      soup_session_send_and_read_finish (SOUP_SESSION (source), result, &error);

  if (body == NULL)
    g_message ("the run could not be cancelled: %s", error->message);
}

void
assay_engine_client_cancel_run (AssayEngineClient *self, AssayRunModel *run)
{
  g_autofree char *path = g_strdup_printf ("/v1/runs/%s", assay_run_model_get_id (run));
  g_autoptr (SoupMessage) message = NULL;

  if (self->state != ASSAY_ENGINE_READY)
    return;
  message = message_new (self, "DELETE", path);
  soup_session_send_and_read_async (self->session, message, G_PRIORITY_DEFAULT, self->cancellable,
                                    cancelled, NULL);
}

/* --- the process ----------------------------------------------------------------------------- */

static void
end_streams (AssayEngineClient *self, gboolean will_restart)
{
  gboolean told = FALSE;

  while (self->streams->len > 0)
    {
      g_autoptr (AssayEventStream) stream = g_ptr_array_steal_index (self->streams, 0);
      AssayRunModel *run = assay_event_stream_get_run (stream);

      assay_event_stream_stop (stream);
      assay_run_model_mark_lost (run, "the engine stopped meanwhile");
      if (!self->stopping)
        g_signal_emit (self, signals[LOST], 0, run, will_restart);
      told = TRUE;
    }
  if (!told && !self->stopping && self->state == ASSAY_ENGINE_READY)
    g_signal_emit (self, signals[LOST], 0, NULL, will_restart);
}

static void
remove_private_place (AssayEngineClient *self)
{
  if (self->socket != NULL)
    g_unlink (self->socket);
  if (self->directory != NULL)
    g_rmdir (self->directory);
}

static void
clear_process (AssayEngineClient *self)
{
  g_clear_object (&self->process);
  g_clear_object (&self->output);
  g_clear_object (&self->session);
  remove_private_place (self);
  g_clear_pointer (&self->socket, g_free);
  g_clear_pointer (&self->directory, g_free);
  g_clear_pointer (&self->token, g_free);
}

static gboolean
restart (gpointer data)
{
  AssayEngineClient *self = data;

  self->restart_source = 0;
  spawn (self);
  return G_SOURCE_REMOVE;
}

static void
process_ended (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (AssayEngineClient) self = data;
  g_autoptr (GError) error = NULL;
  gboolean again;

  g_subprocess_wait_check_finish (G_SUBPROCESS (source), result, &error);
  if (self->process != G_SUBPROCESS (source))
    return;
  if (g_get_monotonic_time () - self->started > STEADY_US)
    self->restarts = 0;
  again = !self->stopping && self->restarts < MOST_RESTARTS;
  end_streams (self, again);
  clear_process (self);
  if (self->stopping)
    set_state (self, ASSAY_ENGINE_STOPPED, NULL);
  else if (again)
    {
      set_state (self, ASSAY_ENGINE_STARTING, error != NULL ? error->message : "it ended");
      self->restart_source = g_timeout_add (FIRST_PAUSE_MS << self->restarts, restart, self);
      self->restarts++;
    }
  else
    set_state (self, ASSAY_ENGINE_FAILED, error != NULL ? error->message : "it ends at once");
}

static void
open_session (AssayEngineClient *self)
{
  g_autoptr (GSocketAddress) address = g_unix_socket_address_new (self->socket);

  self->session = soup_session_new_with_options (
      "remote-connectable", address, "max-conns", MOST_CONNECTIONS, "max-conns-per-host",
      MOST_CONNECTIONS, "timeout", 0, "idle-timeout", 0, NULL);
}

static void
ready_read (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (AssayEngineClient) self = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *line = NULL;
  g_autoptr (JsonNode) node = NULL;

  line = g_data_input_stream_read_line_finish (G_DATA_INPUT_STREAM (source), result, NULL, &error);
  if (self->output != G_DATA_INPUT_STREAM (source) || line == NULL)
    return; /* the end of the process is told by process_ended */
  if (g_str_has_prefix (line, "ready "))
    node = assay_json_parse (line + strlen ("ready "), -1, &ASSAY_JSON_LIMITS_MESSAGE,
                             "engine's first line", &error);
  if (node == NULL || !JSON_NODE_HOLDS_OBJECT (node)
      || assay_json_int (json_node_get_object (node), "protocol", 0) != 1)
    {
      self->restarts = MOST_RESTARTS; /* another version will not get better by itself */
      g_warning ("the engine speaks another protocol: %s", line);
      g_subprocess_force_exit (self->process);
      return;
    }
  open_session (self);
  set_state (self, ASSAY_ENGINE_READY, NULL);
  ask_devices (self);
}

static void
token_written (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (AssayEngineClient) self = data;
  g_autoptr (GError) error = NULL;

  if (!g_output_stream_write_all_finish (G_OUTPUT_STREAM (source), result, NULL, &error))
    g_message ("the engine does not listen: %s", error->message);
}

static gboolean
make_private_place (AssayEngineClient *self, GError **error)
{
  guint8 random[32];
  g_autoptr (GString) hex = g_string_new (NULL);
  const char *runtime = g_getenv ("XDG_RUNTIME_DIR");
  g_autofree char *pattern = NULL;

  /* Socket paths have 107 bytes: a short place, ours alone. */
  pattern = g_build_filename (runtime != NULL ? runtime : g_get_tmp_dir (), "assay-XXXXXX", NULL);
  if (g_mkdtemp_full (pattern, 0700) == NULL)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED,
                   "no folder for the engine's socket: %s: %s", pattern, g_strerror (errno));
      return FALSE;
    }
  self->directory = g_steal_pointer (&pattern);
  self->socket = g_build_filename (self->directory, "engine", NULL);
  if (getentropy (random, sizeof random) != 0)
    {
      g_set_error_literal (error, ASSAY_ERROR, ASSAY_ERROR_FAILED,
                           "the system gives no randomness");
      return FALSE;
    }
  for (gsize i = 0; i < sizeof random; i++)
    g_string_append_printf (hex, "%02x", random[i]);
  self->token = g_string_free (g_steal_pointer (&hex), FALSE);
  return TRUE;
}

static void
watch_process (AssayEngineClient *self)
{
  g_autofree char *line = g_strconcat (self->token, "\n", NULL);
  g_autoptr (GBytes) bytes = g_bytes_new (line, strlen (line));

  self->started = g_get_monotonic_time ();
  self->output = g_data_input_stream_new (g_subprocess_get_stdout_pipe (self->process));
  g_subprocess_wait_check_async (self->process, NULL, process_ended, g_object_ref (self));
  g_data_input_stream_read_line_async (self->output, G_PRIORITY_DEFAULT, self->cancellable,
                                       ready_read, g_object_ref (self));
  g_object_set_data_full (G_OBJECT (self->process), "token", g_bytes_ref (bytes),
                          (GDestroyNotify) g_bytes_unref);
  g_output_stream_write_all_async (g_subprocess_get_stdin_pipe (self->process),
                                   g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes),
                                   G_PRIORITY_DEFAULT, NULL, token_written, g_object_ref (self));
}

static void
spawn (AssayEngineClient *self)
{
  g_autoptr (GError) error = NULL;

  set_state (self, ASSAY_ENGINE_STARTING, NULL);
  if (make_private_place (self, &error))
    self->process = g_subprocess_new (
        G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error, self->program,
        "serve", "--socket", self->socket, "--workspace", self->workspace, NULL);
  if (self->process == NULL)
    {
      clear_process (self);
      set_state (self, ASSAY_ENGINE_FAILED, error->message);
      return;
    }
  watch_process (self);
}

static char *
find_program (void)
{
  static const char *const places[] = {"assay-engine", "../engine/assay-engine",
                                       "../libexec/assay/assay-engine", NULL};
  const char *named = g_getenv ("ASSAY_ENGINE");
  g_autofree char *self_path = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = self_path != NULL ? g_path_get_dirname (self_path) : NULL;
  char *on_path;

  if (named != NULL)
    return g_strdup (named);
  for (int i = 0; folder != NULL && places[i] != NULL; i++)
    {
      g_autofree char *path = g_build_filename (folder, places[i], NULL);

      if (g_file_test (path, G_FILE_TEST_IS_EXECUTABLE))
        return g_steal_pointer (&path);
    }
  on_path = g_find_program_in_path ("assay-engine");
  return on_path != NULL ? on_path : g_strdup ("assay-engine");
}

AssayEngineClient *
assay_engine_client_new (const char *workspace, const char *program)
{
  AssayEngineClient *self = g_object_new (ASSAY_TYPE_ENGINE_CLIENT, NULL);

  self->workspace = g_strdup (workspace);
  self->program = program != NULL ? g_strdup (program) : find_program ();
  return self;
}

void
assay_engine_client_start (AssayEngineClient *self)
{
  g_return_if_fail (ASSAY_IS_ENGINE_CLIENT (self));
  if (self->process != NULL || self->restart_source != 0)
    return;
  self->stopping = FALSE;
  self->restarts = 0;
  spawn (self);
}

void
assay_engine_client_stop (AssayEngineClient *self)
{
  g_return_if_fail (ASSAY_IS_ENGINE_CLIENT (self));
  self->stopping = TRUE;
  g_clear_handle_id (&self->restart_source, g_source_remove);
  if (self->process != NULL)
    g_output_stream_close (g_subprocess_get_stdin_pipe (self->process), NULL, NULL);
  remove_private_place (self); /* the program may be gone before the engine is */
}

AssayEngineState
assay_engine_client_get_state (AssayEngineClient *self)
{
  return self->state;
}

const char *
assay_engine_client_get_problem (AssayEngineClient *self)
{
  return self->problem;
}

GListModel *
assay_engine_client_get_devices (AssayEngineClient *self)
{
  return G_LIST_MODEL (self->devices);
}

const char *
assay_engine_client_get_pid (AssayEngineClient *self)
{
  return self->process != NULL ? g_subprocess_get_identifier (self->process) : NULL;
}

static void
assay_engine_client_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_STATE)
    g_value_set_int (value, (int) ASSAY_ENGINE_CLIENT (object)->state);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
assay_engine_client_finalize (GObject *object)
{
  AssayEngineClient *self = ASSAY_ENGINE_CLIENT (object);

  g_clear_handle_id (&self->restart_source, g_source_remove);
  clear_process (self);
  g_ptr_array_unref (self->streams);
  g_clear_object (&self->devices);
  g_clear_object (&self->cancellable);
  g_free (self->workspace);
  g_free (self->program);
  g_free (self->problem);
  G_OBJECT_CLASS (assay_engine_client_parent_class)->finalize (object);
}

static void
assay_engine_client_class_init (AssayEngineClientClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  /* An engine that died before it read its token must not take us along. */
  signal (SIGPIPE, SIG_IGN);
  object_class->finalize = assay_engine_client_finalize;
  object_class->get_property = assay_engine_client_get_property;
  properties[PROP_STATE] =
      g_param_spec_int ("state", NULL, NULL, 0, ASSAY_ENGINE_FAILED, 0,
                        G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  signals[LOST] = g_signal_new ("lost", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 2, ASSAY_TYPE_RUN_MODEL, G_TYPE_BOOLEAN);
}

static void
assay_engine_client_init (AssayEngineClient *self)
{
  self->devices = g_list_store_new (ASSAY_TYPE_DEVICE_ITEM);
  self->streams = g_ptr_array_new_with_free_func (g_object_unref);
  self->cancellable = g_cancellable_new ();
}
