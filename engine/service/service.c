/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/service/service-private.h"

#include "config.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/run/devices.h"
#include "engine/run/doctor.h"

#include <errno.h>
#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

G_DEFINE_FINAL_TYPE (AssayService, assay_service, G_TYPE_OBJECT)

typedef struct
{
  AssayService *service;
  SoupServerMessage *message;
  char **parts; /* the path, without "v1" */
  GHashTable *query;
} Call;

typedef void (*Handler) (const Call *call);

/* ---- jobs ---- */

/* Jobs beside one another would slow each other down; half of the processors each. */
static guint
most_running (void)
{
  return MAX (1, g_get_num_processors () / 2);
}

static void start_waiting (AssayService *service);

/* Events of old runs are let go; their folders stay. A stream that still reads one keeps its job. */
static void
retire (AssayService *service, AssayJob *job)
{
  g_queue_push_tail (&service->finished, g_strdup (assay_job_id (job)));
  while (service->finished.length > ASSAY_SERVICE_KEPT_JOBS)
    {
      g_autofree char *oldest = g_queue_pop_head (&service->finished);
      g_hash_table_remove (service->jobs, oldest);
    }
}

static void
on_job_changed (AssayService *service, AssayJob *job)
{
  if (!assay_job_is_finished (job) || !assay_events_finished (assay_job_events (job))
      || !g_object_get_data (G_OBJECT (job), "running"))
    return;
  g_object_set_data (G_OBJECT (job), "running", NULL);
  g_autoptr (AssayRunSummary) summary = assay_job_summary (job);
  g_autoptr (GError) error = NULL;
  if (!assay_store_put (service->store, summary, &error))
    g_warning ("%s", error->message);
  service->running--;
  retire (service, job);
  start_waiting (service);
}

static void
start_waiting (AssayService *service)
{
  while (service->running < most_running () && !g_queue_is_empty (&service->waiting))
    {
      AssayJob *job = g_queue_pop_head (&service->waiting);
      service->running++;
      g_object_set_data (G_OBJECT (job), "running", GINT_TO_POINTER (TRUE));
      assay_job_start (job);
    }
}

static void
add_job (AssayService *service, AssayJob *job)
{
  g_autoptr (AssayRunSummary) summary = assay_job_summary (job);
  g_autoptr (GError) error = NULL;
  if (!assay_store_put (service->store, summary, &error))
    g_warning ("%s", error->message);
  g_hash_table_insert (service->jobs, g_strdup (assay_job_id (job)), g_object_ref (job));
  g_signal_connect_object (job, "changed", G_CALLBACK (on_job_changed), service, G_CONNECT_SWAPPED);
  g_queue_push_tail (&service->waiting, job);
  start_waiting (service);
}

/* ---- work off the main loop ---- */

static void
reply_later (const Call *call, GTaskThreadFunc work, gpointer data, GDestroyNotify free_data,
             GAsyncReadyCallback done)
{
  g_autoptr (GTask) task = g_task_new (call->service, NULL, done, g_object_ref (call->message));
  g_task_set_task_data (task, data, free_data);
  soup_server_message_pause (call->message);
  g_task_run_in_thread (task, work);
}

/* ---- routes ---- */

static void
get_version (const Call *call)
{
  JsonObject *object = json_object_new ();
  json_object_set_string_member (object, "name", "assay-engine");
  json_object_set_string_member (object, "version", ASSAY_VERSION);
  json_object_set_int_member (object, "protocol", 1);
  json_object_set_int_member (object, "pid", getpid ());
  assay_respond_json (call->message, 200, object);
}

static void
list_devices (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  (void) source;
  (void) data;
  (void) cancellable;
  g_task_return_pointer (task, assay_devices_list (), (GDestroyNotify) g_ptr_array_unref);
}

static void
devices_listed (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (SoupServerMessage) message = data;
  g_autoptr (GPtrArray) devices = g_task_propagate_pointer (G_TASK (result), NULL);
  JsonObject *object = json_object_new ();
  JsonArray *list = json_array_new ();
  (void) source;
  for (guint i = 0; i < devices->len; i++)
    json_array_add_element (
        list, assay_json_table_write (&ASSAY_DEVICE_TABLE, g_ptr_array_index (devices, i)));
  json_object_set_array_member (object, "devices", list);
  assay_respond_json (message, 200, object);
  soup_server_message_unpause (message);
}

static void
get_devices (const Call *call)
{
  reply_later (call, list_devices, NULL, NULL, devices_listed);
}

static void
examine (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_autoptr (GPtrArray) checks = assay_doctor_examine ();
  g_task_return_pointer (task, assay_doctor_to_json (checks), (GDestroyNotify) json_node_unref);
}

static void
examined (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (SoupServerMessage) message = data;
  g_autoptr (JsonNode) node = g_task_propagate_pointer (G_TASK (result), NULL);
  assay_respond_json (message, 200, json_object_ref (json_node_get_object (node)));
  soup_server_message_unpause (message);
}

static void
get_doctor (const Call *call)
{
  reply_later (call, examine, NULL, NULL, examined);
}

static void
get_runs (const Call *call)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) rows = NULL;
  if (assay_store_reconcile (call->service->store, &error))
    rows = assay_store_list (call->service->store, &error);
  if (!rows)
    {
      assay_respond_error (call->message, error);
      return;
    }
  JsonObject *object = json_object_new ();
  JsonArray *list = json_array_new ();
  for (guint i = 0; i < rows->len; i++)
    json_array_add_element (
        list, assay_json_table_write (&ASSAY_RUN_SUMMARY_TABLE, g_ptr_array_index (rows, i)));
  json_object_set_array_member (object, "runs", list);
  assay_respond_json (call->message, 200, object);
}

/* What a client asks for, read by the same kind of table as everything else. */
typedef struct
{
  char *task, *candidate, *device, *checks;
  double seconds;
  gboolean consent_unsandboxed;
} Wish;

#define F(member_, kind_, ...) ASSAY_JSON_FIELD (Wish, member_, #member_, kind_, __VA_ARGS__)
static const AssayJsonField WISH_FIELDS[] = {
    F (task, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (candidate, STRING),
    F (device, STRING),
    F (checks, STRING),
    F (seconds, DOUBLE),
    F (consent_unsandboxed, BOOLEAN),
    ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable WISH_TABLE = {"request", sizeof (Wish), WISH_FIELDS, NULL};

static void
wish_free (gpointer wish)
{
  assay_json_table_free (&WISH_TABLE, wish);
}

static void
make_job (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Wish *wish = data;
  GError *error = NULL;
  (void) cancellable;
  AssayJobRequest request = {
      .task = wish->task,
      .candidate = wish->candidate,
      .device = wish->device,
      .checks = wish->checks,
      .workspace = ASSAY_SERVICE (source)->workspace,
      .seconds = wish->seconds,
      .consent_unsandboxed = wish->consent_unsandboxed,
  };
  AssayJob *job = g_path_is_absolute (wish->task) ? assay_job_new (&request, &error) : NULL;
  if (job)
    g_task_return_pointer (task, job, g_object_unref);
  else if (error)
    g_task_return_error (task, error);
  else
    g_task_return_new_error (task, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                             "task: expected an absolute path, found \"%s\"", wish->task);
}

static void
job_made (GObject *source, GAsyncResult *result, gpointer data)
{
  AssayService *service = ASSAY_SERVICE (source);
  g_autoptr (SoupServerMessage) message = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayJob) job = g_task_propagate_pointer (G_TASK (result), &error);
  if (job)
    {
      JsonObject *object = json_object_new ();
      add_job (service, job);
      json_object_set_string_member (object, "id", assay_job_id (job));
      json_object_set_string_member (object, "folder", assay_job_folder (job));
      assay_respond_json (message, 201, object);
    }
  else
    assay_respond_error (message, error);
  soup_server_message_unpause (message);
}

static void
post_runs (const Call *call)
{
  g_autoptr (GError) error = NULL;
  SoupMessageBody *body = soup_server_message_get_request_body (call->message);
  g_autoptr (JsonNode) node = assay_json_parse (body->data ? body->data : "", body->length,
                                                &ASSAY_JSON_LIMITS_MESSAGE, "body", &error);
  Wish *wish = node ? assay_json_table_read (&WISH_TABLE, node, "", NULL, &error) : NULL;
  if (wish)
    reply_later (call, make_job, wish, wish_free, job_made);
  else
    assay_respond_error (call->message, error);
}

/* The folder of run `id` (transfer full), or NULL after an answer. */
static char *
run_folder (const Call *call, const char *id)
{
  g_autoptr (GError) error = NULL;
  AssayJob *job = g_hash_table_lookup (call->service->jobs, id);
  if (job)
    return g_strdup (assay_job_folder (job));
  g_autoptr (AssayRunSummary) row = assay_store_find (call->service->store, id, &error);
  if (row)
    return g_strdup (row->folder);
  assay_respond_error (call->message, error);
  return NULL;
}

static void
get_run (const Call *call)
{
  g_autofree char *folder = run_folder (call, call->parts[1]);
  if (folder)
    assay_send_file (call->message, folder, "run.json");
}

static void
get_run_file (const Call *call)
{
  g_autofree char *folder = run_folder (call, call->parts[1]);
  g_autofree char *path = g_strjoinv ("/", call->parts + 3);
  if (folder)
    assay_send_file (call->message, folder, path);
}

static void
delete_run (const Call *call)
{
  AssayJob *job = g_hash_table_lookup (call->service->jobs, call->parts[1]);
  g_autofree char *folder = run_folder (call, call->parts[1]);
  if (!folder)
    return;
  if (job)
    assay_job_cancel (job);
  JsonObject *object = json_object_new ();
  json_object_set_string_member (object, "id", call->parts[1]);
  assay_respond_json (call->message, 202, object);
}

static void
get_events (const Call *call)
{
  AssayJob *job = g_hash_table_lookup (call->service->jobs, call->parts[1]);
  const char *since = call->query ? g_hash_table_lookup (call->query, "since") : NULL;
  guint64 number = 0;
  if (since && !g_ascii_string_to_unsigned (since, 10, 0, G_MAXINT64, &number, NULL))
    assay_respond_problem (call->message, 400, "invalid", "since: expected the number of an event",
                           NULL);
  else if (job)
    assay_stream_events (call->service, call->message, job, number);
  else
    {
      g_autofree char *folder = run_folder (call, call->parts[1]);
      if (folder)
        assay_respond_problem (call->message, 404, "not_found",
                               "this run belongs to an earlier engine, which took its events along",
                               "read its run.json");
    }
}

static void
post_matrix (const Call *call)
{
  assay_post_matrix (call->service, call->message);
}

static const AssayRoutePattern PATTERNS[] = {
    {"GET", "version"},
    {"GET", "devices"},
    {"GET", "runs"},
    {"POST", "runs"},
    {"GET", "runs/*"},
    {"DELETE", "runs/*"},
    {"GET", "runs/*/events"},
    {"GET", "runs/*/files/**"},
    {"POST", "matrix"},
    {"GET", "doctor"},
    {NULL, NULL},
};

static const Handler HANDLERS[] = {
    get_version, get_devices, get_runs,     post_runs,   get_run,
    delete_run,  get_events,  get_run_file, post_matrix, get_doctor,
};
G_STATIC_ASSERT (G_N_ELEMENTS (HANDLERS) + 1 == G_N_ELEMENTS (PATTERNS));

const AssayRoutePattern *
assay_service_routes (void)
{
  return PATTERNS;
}

static gboolean
matches (const char *pattern, char **parts)
{
  g_auto (GStrv) wanted = g_strsplit (pattern, "/", -1);
  guint i = 0;
  for (; wanted[i] && parts[i]; i++)
    {
      if (g_str_equal (wanted[i], "**"))
        return parts[i][0] != 0;
      if (parts[i][0] == 0 || (!g_str_equal (wanted[i], "*") && !g_str_equal (wanted[i], parts[i])))
        return FALSE;
    }
  return !wanted[i] && !parts[i];
}

static void
dispatch (const Call *call)
{
  const char *method = soup_server_message_get_method (call->message);
  gboolean known = FALSE;
  for (gsize i = 0; PATTERNS[i].method; i++)
    {
      if (!matches (PATTERNS[i].pattern, call->parts))
        continue;
      known = TRUE;
      if (g_str_equal (PATTERNS[i].method, method))
        {
          HANDLERS[i](call);
          return;
        }
    }
  if (known)
    assay_respond_problem (call->message, 405, "invalid", "this route has no such method", NULL);
  else
    assay_respond_problem (call->message, 404, "not_found", "no such route", NULL);
}

static void
on_request (SoupServer *server, SoupServerMessage *message, const char *path, GHashTable *query,
            gpointer data)
{
  (void) server;
  if (!g_str_has_prefix (path, "/v1/"))
    {
      assay_respond_problem (message, 404, "not_found", "no such route; the base is /v1", NULL);
      return;
    }
  g_auto (GStrv) parts = g_strsplit (path + strlen ("/v1/"), "/", -1);
  Call call = {data, message, parts, query};
  dispatch (&call);
}

/* ---- who may ask ---- */

/* As long for a wrong first character as for a wrong last one. */
static gboolean
same_token (const char *given, const char *token)
{
  gsize length = strlen (token);
  guint difference = 0;
  if (strlen (given) != length)
    return FALSE;
  for (gsize i = 0; i < length; i++)
    difference |= (guint) (guchar) (given[i] ^ token[i]);
  return difference == 0;
}

static gboolean
same_user (SoupServerMessage *message)
{
  GSocket *socket = soup_server_message_get_socket (message);
  g_autoptr (GCredentials) credentials = socket ? g_socket_get_credentials (socket, NULL) : NULL;
  return credentials && g_credentials_get_unix_user (credentials, NULL) == geteuid ();
}

/* Before any handler and any body. Early handlers of libsoup are not inherited by more special
 * routes, so that this hangs on the message itself. */
static void
on_got_headers (SoupServerMessage *message, gpointer data)
{
  AssayService *service = data;
  SoupMessageHeaders *headers = soup_server_message_get_request_headers (message);
  const char *given = soup_message_headers_get_one (headers, "Authorization");
  goffset length = soup_message_headers_get_content_length (headers);
  if (!same_user (message))
    assay_respond_problem (message, 403, "denied", "this engine serves another user", NULL);
  else if (!given || !g_str_has_prefix (given, "Bearer ")
           || !same_token (given + strlen ("Bearer "), service->token))
    assay_respond_problem (message, 401, "denied", "the token is missing or wrong",
                           "send Authorization: Bearer and the engine's token");
  else if (soup_message_headers_get_encoding (headers) == SOUP_ENCODING_CHUNKED
           || length > ASSAY_SERVICE_MAX_BODY)
    assay_respond_problem (message, 413, "limit", "the request is too large", NULL);
}

static void
on_request_started (SoupServer *server, SoupServerMessage *message, gpointer data)
{
  (void) server;
  g_signal_connect (message, "got-headers", G_CALLBACK (on_got_headers), data);
}

/* ---- the object ---- */

static gboolean
socket_answers (GSocketAddress *address)
{
  g_autoptr (GSocketClient) client = g_socket_client_new ();
  g_autoptr (GSocketConnection) connection =
      g_socket_client_connect (client, G_SOCKET_CONNECTABLE (address), NULL, NULL);
  return connection != NULL;
}

gboolean
assay_service_listen (AssayService *service, const char *socket_path, GError **error)
{
  g_autoptr (GSocketAddress) address = g_unix_socket_address_new (socket_path);
  GStatBuf status;
  if (g_lstat (socket_path, &status) == 0)
    {
      if (!S_ISSOCK (status.st_mode) || socket_answers (address))
        {
          g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "%s is in use", socket_path);
          return FALSE;
        }
      g_unlink (socket_path);
    }
  mode_t before = umask (0177);
  gboolean listening = soup_server_listen (service->server, address, 0, error);
  umask (before);
  if (listening)
    service->socket_path = g_strdup (socket_path);
  return listening;
}

void
assay_service_stop (AssayService *service)
{
  GHashTableIter iter;
  gpointer job;
  g_queue_clear (&service->waiting);
  g_hash_table_iter_init (&iter, service->jobs);
  while (g_hash_table_iter_next (&iter, NULL, &job))
    assay_job_cancel (job);
  g_autoptr (GList) jobs = g_hash_table_get_values (service->jobs);
  for (GList *at = jobs; at; at = at->next)
    g_object_ref (at->data);
  for (GList *at = jobs; at; at = at->next)
    {
      g_autoptr (AssayJob) ended = at->data;
      assay_job_join (ended);
      on_job_changed (service, ended);
    }
  soup_server_disconnect (service->server);
  if (service->socket_path)
    g_unlink (service->socket_path);
  g_clear_pointer (&service->socket_path, g_free);
}

AssayService *
assay_service_new (const char *workspace, const char *token, GError **error)
{
  g_autoptr (AssayService) service = g_object_new (ASSAY_TYPE_SERVICE, NULL);
  service->workspace = g_canonicalize_filename (workspace, NULL);
  service->token = g_strdup (token);
  service->store = assay_store_open (service->workspace, error);
  return service->store ? g_steal_pointer (&service) : NULL;
}

static void
assay_service_finalize (GObject *object)
{
  AssayService *service = ASSAY_SERVICE (object);
  g_clear_object (&service->server);
  g_clear_pointer (&service->jobs, g_hash_table_unref);
  g_clear_pointer (&service->store, assay_store_free);
  g_queue_clear (&service->waiting);
  g_queue_clear_full (&service->finished, g_free);
  g_free (service->workspace);
  g_free (service->token);
  g_free (service->socket_path);
  G_OBJECT_CLASS (assay_service_parent_class)->finalize (object);
}

static void
assay_service_class_init (AssayServiceClass *class)
{
  G_OBJECT_CLASS (class)->finalize = assay_service_finalize;
}

static void
assay_service_init (AssayService *service)
{
  g_queue_init (&service->waiting);
  g_queue_init (&service->finished);
  service->jobs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_object_unref);
  service->server = soup_server_new ("server-header", "assay-engine", NULL);
  g_signal_connect (service->server, "request-started", G_CALLBACK (on_request_started), service);
  soup_server_add_handler (service->server, NULL, on_request, service, NULL);
}
