/* SPDX-License-Identifier: Apache-2.0 */
/* The service over its real socket, by bytes: what a client library hides is what is tested here. */
#include "engine/base/json.h"
#include "engine/service/service.h"
#include "tests/engine/fixture.h"

#include <gio/gunixsocketaddress.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOKEN "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static char *folder;

typedef struct
{
  GSubprocess *process;
  char *socket, *workspace;
} Engine;

static void
engine_start (Engine *engine)
{
  static int number;
  g_autoptr (GError) error = NULL;
  g_autofree char *program =
      g_build_filename (g_getenv ("ASSAY_BUILD_DIR"), "engine", "assay-engine", NULL);
  g_autofree char *name = g_strdup_printf ("s%d", number++);
  engine->socket = g_build_filename (folder, name, NULL);
  engine->workspace = g_build_filename (folder, "workspace", NULL);
  engine->process = g_subprocess_new (
      G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error, program, "serve",
      "--socket", engine->socket, "--workspace", engine->workspace, NULL);
  g_assert_no_error (error);
  GOutputStream *in = g_subprocess_get_stdin_pipe (engine->process);
  g_assert_true (g_output_stream_write_all (in, TOKEN "\n", 65, NULL, NULL, &error));
  g_assert_true (g_output_stream_flush (in, NULL, &error));
  g_autoptr (GDataInputStream) out =
      g_data_input_stream_new (g_subprocess_get_stdout_pipe (engine->process));
  g_filter_input_stream_set_close_base_stream (G_FILTER_INPUT_STREAM (out), FALSE);
  g_autofree char *line = g_data_input_stream_read_line (out, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_str_has_prefix (line, "ready {\"protocol\":1,"));
}

/* By what its starter does when it dies: closing stdin. */
static void
engine_stop (Engine *engine)
{
  g_autoptr (GError) error = NULL;
  if (engine->process)
    {
      g_output_stream_close (g_subprocess_get_stdin_pipe (engine->process), NULL, NULL);
      g_assert_true (g_subprocess_wait (engine->process, NULL, &error));
      g_assert_true (g_subprocess_get_successful (engine->process));
    }
  g_clear_object (&engine->process);
  g_clear_pointer (&engine->socket, g_free);
  g_clear_pointer (&engine->workspace, g_free);
}

static GSocketConnection *
connect_to (const Engine *engine)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSocketClient) client = g_socket_client_new ();
  g_autoptr (GSocketAddress) address = g_unix_socket_address_new (engine->socket);
  GSocketConnection *connection =
      g_socket_client_connect (client, G_SOCKET_CONNECTABLE (address), NULL, &error);
  g_assert_no_error (error);
  return connection;
}

static void
send_request (GSocketConnection *connection, const char *method, const char *path,
              const char *token, const char *body)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *authorization =
      token ? g_strdup_printf ("Authorization: Bearer %s\r\n", token) : g_strdup ("");
  g_autofree char *text =
      g_strdup_printf ("%s /v1/%s HTTP/1.1\r\nHost: engine\r\nConnection: "
                       "close\r\n%sContent-Length: %" G_GSIZE_FORMAT "\r\n\r\n%s",
                       method, path, authorization, body ? strlen (body) : 0, body ? body : "");
  GOutputStream *out = g_io_stream_get_output_stream (G_IO_STREAM (connection));
  g_assert_true (g_output_stream_write_all (out, text, strlen (text), NULL, NULL, &error));
}

/* Everything until the engine closes. */
static char *
read_all (GSocketConnection *connection)
{
  GString *all = g_string_new (NULL);
  char block[4096];
  gssize n;
  GInputStream *in = g_io_stream_get_input_stream (G_IO_STREAM (connection));
  while ((n = g_input_stream_read (in, block, sizeof block, NULL, NULL)) > 0)
    g_string_append_len (all, block, n);
  return g_string_free (all, FALSE);
}

static int
ask (const Engine *engine, const char *method, const char *path, const char *token,
     const char *body, JsonNode **answer)
{
  g_autoptr (GSocketConnection) connection = connect_to (engine);
  int status = 0;
  send_request (connection, method, path, token, body);
  g_autofree char *all = read_all (connection);
  g_assert_cmpint (sscanf (all, "HTTP/1.%*d %d", &status), ==, 1);
  const char *content = strstr (all, "\r\n\r\n");
  if (answer)
    *answer = content
                  ? assay_json_parse (content + 4, -1, &ASSAY_JSON_LIMITS_RECORD, "answer", NULL)
                  : NULL;
  return status;
}

static char *
start_run (const Engine *engine, const char *task, double seconds)
{
  g_autoptr (JsonNode) answer = NULL;
  g_autofree char *body = g_strdup_printf (
      "{\"task\":\"%s\",\"device\":\"virtual:sm_80\",\"seconds\":%g}", task, seconds);
  g_assert_cmpint (ask (engine, "POST", "runs", TOKEN, body, &answer), ==, 201);
  g_assert_nonnull (answer);
  return g_strdup (assay_json_string (json_node_get_object (answer), "id"));
}

/* Lines of a chunked answer, which are whole JSON objects that begin with a brace. */
static GPtrArray *
event_lines (const char *all)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) raw = g_strsplit (all, "\n", -1);
  for (guint i = 0; raw[i]; i++)
    if (raw[i][0] == '{')
      g_ptr_array_add (lines, g_strdup (raw[i]));
  return lines;
}

static gint64
event_number (const char *line, char **type)
{
  g_autoptr (JsonNode) node = assay_json_parse (line, -1, &ASSAY_JSON_LIMITS_RECORD, "event", NULL);
  g_assert_nonnull (node);
  JsonObject *event = json_node_get_object (node);
  if (type)
    *type = g_strdup (assay_json_string (event, "type"));
  return assay_json_int (event, "n", -1);
}

static gboolean
cannot_run (void)
{
  if (fixture_why_not ())
    g_test_skip (fixture_why_not ());
  return fixture_why_not () != NULL;
}

/* ---- who may ask ---- */

static void
test_every_route_refuses (void)
{
  Engine engine = {0};
  engine_start (&engine);
  static const char *const tokens[] = {NULL, "", "0", TOKEN "0",
                                       "ff112233445566778899aabbccddeeff00112233445566778899aabbccd"
                                       "deeff"};
  const AssayRoutePattern *routes = assay_service_routes ();
  g_assert_cmpstr (routes[0].method, ==, "GET");
  for (gsize i = 0; routes[i].method; i++)
    for (gsize k = 0; k < G_N_ELEMENTS (tokens); k++)
      {
        g_autoptr (JsonNode) answer = NULL;
        g_autofree char *path = g_strdelimit (g_strdup (routes[i].pattern), "*", 'x');
        g_assert_cmpint (ask (&engine, routes[i].method, path, tokens[k], NULL, &answer), ==, 401);
        g_assert_cmpstr (assay_json_string (json_node_get_object (answer), "code"), ==, "denied");
      }
  g_assert_cmpint (ask (&engine, "GET", "nowhere", NULL, NULL, NULL), ==, 401);
  g_assert_cmpint (ask (&engine, "GET", "version", TOKEN, NULL, NULL), ==, 200);
  engine_stop (&engine);
}

static void
test_socket_is_private (void)
{
  Engine engine = {0};
  struct stat status;
  engine_start (&engine);
  g_assert_cmpint (stat (engine.socket, &status), ==, 0);
  g_assert_cmpint (status.st_mode & 0077, ==, 0);
  g_autofree char *socket = g_strdup (engine.socket);
  engine_stop (&engine);
  g_assert_cmpint (stat (socket, &status), !=, 0);
}

static void
test_problems (void)
{
  static const struct
  {
    const char *method, *path, *body;
    int status;
    const char *code;
  } cases[] = {
      {"GET", "nowhere", NULL, 404, "not_found"},
      {"GET", "runs/none", NULL, 404, "not_found"},
      {"GET", "runs/none/events", NULL, 404, "not_found"},
      {"DELETE", "runs/none", NULL, 404, "not_found"},
      {"GET", "runs/none/files/run.json", NULL, 404, "not_found"},
      {"PUT", "runs", NULL, 405, "invalid"},
      {"POST", "runs", "no json", 400, "invalid"},
      {"POST", "runs", "{}", 400, "invalid"},
      {"POST", "runs", "{\"task\":7}", 400, "invalid"},
      {"POST", "runs", "{\"task\":\"relative\"}", 400, "invalid"},
      {"POST", "runs", "{\"task\":\"/nonexistent\"}", 404, "not_found"},
      {"POST", "runs", "{\"task\":\"/nonexistent\",\"seconds\":-1}", 400, "invalid"},
      {"POST", "runs", "{\"task\":\"/nonexistent\",\"checks\":\"\"}", 400, "invalid"},
  };
  Engine engine = {0};
  engine_start (&engine);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (JsonNode) answer = NULL;
      int status = ask (&engine, cases[i].method, cases[i].path, TOKEN, cases[i].body, &answer);
      g_assert_cmpint (status, ==, cases[i].status);
      JsonObject *problem = json_node_get_object (answer);
      g_assert_cmpstr (assay_json_string (problem, "code"), ==, cases[i].code);
      g_assert_nonnull (assay_json_string (problem, "message"));
    }
  g_autofree char *large = g_strnfill (ASSAY_SERVICE_MAX_BODY + 1, ' ');
  g_assert_cmpint (ask (&engine, "POST", "runs", TOKEN, large, NULL), ==, 413);
  engine_stop (&engine);
}

static void
test_devices (void)
{
  Engine engine = {0};
  g_autoptr (JsonNode) answer = NULL;
  engine_start (&engine);
  g_assert_cmpint (ask (&engine, "GET", "devices", TOKEN, NULL, &answer), ==, 200);
  JsonArray *devices = assay_json_array (json_node_get_object (answer), "devices");
  g_assert_cmpuint (json_array_get_length (devices), >, 3);
  JsonObject *first = json_array_get_object_element (devices, 0);
  g_assert_true (g_str_has_prefix (assay_json_string (first, "id"), "virtual:sm_"));
  engine_stop (&engine);
}

/* ---- runs ---- */

static void
test_run_and_events (void)
{
  if (cannot_run ())
    return;
  Engine engine = {0};
  FixtureTask fixture = {.id = "served"};
  g_autofree char *task = fixture_task (folder, &fixture);
  engine_start (&engine);
  g_autofree char *id = start_run (&engine, task, 10);
  g_autofree char *path = g_strdup_printf ("runs/%s/events", id);
  g_autoptr (GSocketConnection) connection = connect_to (&engine);
  send_request (connection, "GET", path, TOKEN, NULL);
  g_autofree char *all = read_all (connection);
  g_autoptr (GPtrArray) lines = event_lines (all);
  g_assert_cmpuint (lines->len, >, 16);
  for (guint i = 0; i < lines->len; i++)
    g_assert_cmpint (event_number (g_ptr_array_index (lines, i), NULL), ==, i + 1);
  g_autofree char *type = NULL;
  event_number (g_ptr_array_index (lines, lines->len - 1), &type);
  g_assert_cmpstr (type, ==, "finished");

  /* Resumed in the middle: the same tail, to the byte. */
  g_autofree char *resumed_path = g_strdup_printf ("runs/%s/events?since=%u", id, lines->len - 5);
  g_autoptr (GSocketConnection) again = connect_to (&engine);
  send_request (again, "GET", resumed_path, TOKEN, NULL);
  g_autofree char *rest = read_all (again);
  g_autoptr (GPtrArray) tail = event_lines (rest);
  g_assert_cmpuint (tail->len, ==, 5);
  for (guint i = 0; i < 5; i++)
    g_assert_cmpstr (g_ptr_array_index (tail, i), ==,
                     g_ptr_array_index (lines, lines->len - 5 + i));

  g_autofree char *run_path = g_strdup_printf ("runs/%s", id);
  g_autoptr (JsonNode) run = NULL;
  g_assert_cmpint (ask (&engine, "GET", run_path, TOKEN, NULL, &run), ==, 200);
  g_assert_cmpstr (assay_json_string (json_node_get_object (run), "id"), ==, id);
  engine_stop (&engine);
}

static void
test_files (void)
{
  if (cannot_run ())
    return;
  static const struct
  {
    const char *file;
    int status;
  } cases[] = {
      {"run.json", 200},
      {"artifacts/sm_80.ptx", 200},
      {"arrays", 404},
      {"../../../secret", 404},
      {"..%2f..%2f..%2fsecret", 404},
      {"%2e%2e/%2e%2e/%2e%2e/secret", 404},
      {"link", 404},
      {"arrays/none.npy", 404},
      {"", 404},
  };
  Engine engine = {0};
  FixtureTask fixture = {.id = "files"};
  g_autofree char *task = fixture_task (folder, &fixture);
  engine_start (&engine);
  g_autofree char *id = start_run (&engine, task, 10);
  g_autofree char *path = g_strdup_printf ("runs/%s/events", id);
  g_assert_cmpint (ask (&engine, "GET", path, TOKEN, NULL, NULL), ==, 200);
  g_autofree char *secret = g_build_filename (engine.workspace, "secret", NULL);
  g_autofree char *link = g_build_filename (engine.workspace, "runs", "files", id, "link", NULL);
  g_assert_true (g_file_set_contents (secret, "secret", -1, NULL));
  g_assert_cmpint (symlink (secret, link), ==, 0);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *file = g_strdup_printf ("runs/%s/files/%s", id, cases[i].file);
      int status = ask (&engine, "GET", file, TOKEN, NULL, NULL);
      /* libsoup itself refuses some of the ways out. */
      if (status != cases[i].status && !(cases[i].status == 404 && status == 400))
        g_error ("%s: %d", cases[i].file, status);
    }
  engine_stop (&engine);
}

static void
test_cancel_and_list (void)
{
  if (cannot_run ())
    return;
  Engine engine = {0};
  FixtureTask fixture = {.id = "hanging", .symbol = "hang"};
  g_autofree char *task = fixture_task (folder, &fixture);
  engine_start (&engine);
  g_autofree char *id = start_run (&engine, task, 60);
  g_autofree char *path = g_strdup_printf ("runs/%s", id);
  g_autofree char *events = g_strdup_printf ("runs/%s/events", id);
  while (fixture_workers_alive () == 0)
    g_usleep (10000);
  g_assert_cmpint (ask (&engine, "DELETE", path, TOKEN, NULL, NULL), ==, 202);
  g_autoptr (GSocketConnection) connection = connect_to (&engine);
  send_request (connection, "GET", events, TOKEN, NULL);
  g_autofree char *all = read_all (connection);
  g_assert_nonnull (strstr (all, "\"state\":\"cancelled\""));
  g_assert_cmpuint (fixture_workers_alive (), ==, 0);
  g_autoptr (JsonNode) list = NULL;
  g_assert_cmpint (ask (&engine, "GET", "runs", TOKEN, NULL, &list), ==, 200);
  JsonArray *runs = assay_json_array (json_node_get_object (list), "runs");
  gboolean found = FALSE;
  for (guint i = 0; i < json_array_get_length (runs); i++)
    {
      JsonObject *run = json_array_get_object_element (runs, i);
      if (g_str_equal (assay_json_string (run, "id"), id))
        {
          found = TRUE;
          g_assert_cmpstr (assay_json_string (run, "state"), ==, "cancelled");
          g_assert_cmpstr (assay_json_string (run, "task"), ==, "hanging");
        }
    }
  g_assert_true (found);
  engine_stop (&engine);
}

/* Ten clients that never read, one that goes away: others are served, and the engine ends. */
static void
test_stalled_and_gone (void)
{
  if (cannot_run ())
    return;
  Engine engine = {0};
  FixtureTask fixture = {.id = "stalled", .symbol = "hang"};
  g_autofree char *task = fixture_task (folder, &fixture);
  engine_start (&engine);
  g_autofree char *id = start_run (&engine, task, 60);
  g_autofree char *events = g_strdup_printf ("runs/%s/events", id);
  GSocketConnection *stalled[10];
  for (gsize i = 0; i < G_N_ELEMENTS (stalled); i++)
    {
      stalled[i] = connect_to (&engine);
      send_request (stalled[i], "GET", events, TOKEN, NULL);
    }
  g_clear_object (&stalled[0]);
  for (int i = 0; i < 20; i++)
    g_assert_cmpint (ask (&engine, "GET", "version", TOKEN, NULL, NULL), ==, 200);
  g_autofree char *path = g_strdup_printf ("runs/%s", id);
  g_assert_cmpint (ask (&engine, "GET", path, TOKEN, NULL, NULL), ==, 200);
  engine_stop (&engine);
  g_assert_cmpuint (fixture_workers_alive (), ==, 0);
  for (gsize i = 1; i < G_N_ELEMENTS (stalled); i++)
    g_object_unref (stalled[i]);
}

static void
test_too_many_streams (void)
{
  if (cannot_run ())
    return;
  Engine engine = {0};
  FixtureTask fixture = {.id = "streams", .symbol = "hang"};
  g_autofree char *task = fixture_task (folder, &fixture);
  engine_start (&engine);
  g_autofree char *id = start_run (&engine, task, 60);
  g_autofree char *events = g_strdup_printf ("runs/%s/events", id);
  g_autoptr (GPtrArray) open = g_ptr_array_new_with_free_func (g_object_unref);
  for (int i = 0; i < ASSAY_SERVICE_MAX_STREAMS; i++)
    {
      char byte;
      GSocketConnection *connection = connect_to (&engine);
      send_request (connection, "GET", events, TOKEN, NULL);
      /* Answered, so counted. */
      g_assert_cmpint (g_input_stream_read (g_io_stream_get_input_stream (G_IO_STREAM (connection)),
                                            &byte, 1, NULL, NULL),
                       ==, 1);
      g_ptr_array_add (open, connection);
    }
  g_autoptr (JsonNode) answer = NULL;
  g_assert_cmpint (ask (&engine, "GET", events, TOKEN, NULL, &answer), ==, 503);
  g_assert_cmpstr (assay_json_string (json_node_get_object (answer), "code"), ==, "limit");
  engine_stop (&engine);
}

/* While a run is silent its stream is not: the number is that of the last event. */
static void
test_heartbeat (void)
{
  if (cannot_run ())
    return;
  Engine engine = {0};
  g_autoptr (GError) error = NULL;
  FixtureTask fixture = {.id = "heartbeat", .symbol = "hang"};
  g_autofree char *task = fixture_task (folder, &fixture);
  engine_start (&engine);
  g_autofree char *id = start_run (&engine, task, 60);
  g_autofree char *events = g_strdup_printf ("runs/%s/events", id);
  g_autoptr (GSocketConnection) connection = connect_to (&engine);
  send_request (connection, "GET", events, TOKEN, NULL);
  g_autoptr (GDataInputStream) in =
      g_data_input_stream_new (g_io_stream_get_input_stream (G_IO_STREAM (connection)));
  gint64 last = 0;
  for (;;)
    {
      g_autofree char *type = NULL;
      g_autofree char *line = g_data_input_stream_read_line (in, NULL, NULL, &error);
      g_assert_nonnull (line);
      if (line[0] != '{')
        continue;
      gint64 number = event_number (line, &type);
      g_assert_cmpint (number, ==, g_str_equal (type, "heartbeat") ? last : last + 1);
      if (g_str_equal (type, "heartbeat"))
        break;
      last = number;
    }
  g_assert_cmpint (last, >, 0);
  engine_stop (&engine);
}

/* ---- ends ---- */

static void
test_end_of_stdin_ends_everything (void)
{
  if (cannot_run ())
    return;
  Engine engine = {0};
  FixtureTask fixture = {.id = "orphan", .symbol = "hang"};
  g_autofree char *task = fixture_task (folder, &fixture);
  engine_start (&engine);
  g_autofree char *id = start_run (&engine, task, 60);
  while (fixture_workers_alive () == 0)
    g_usleep (10000);
  engine_stop (&engine);
  g_assert_cmpuint (fixture_workers_alive (), ==, 0);
}

/* Killed without a chance to clean up: workers go with it, and the next engine finds the run lost. */
static void
test_killed_engine (void)
{
  if (cannot_run ())
    return;
  Engine engine = {0};
  g_autoptr (GError) error = NULL;
  FixtureTask fixture = {.id = "killed", .symbol = "hang"};
  g_autofree char *task = fixture_task (folder, &fixture);
  engine_start (&engine);
  g_autofree char *id = start_run (&engine, task, 60);
  while (fixture_workers_alive () == 0)
    g_usleep (10000);
  g_subprocess_force_exit (engine.process);
  g_assert_true (g_subprocess_wait (engine.process, NULL, &error));
  for (int tries = 0; tries < 500 && fixture_workers_alive () > 0; tries++)
    g_usleep (10000);
  g_assert_cmpuint (fixture_workers_alive (), ==, 0);
  g_clear_object (&engine.process);
  engine_stop (&engine);

  engine_start (&engine);
  g_autoptr (JsonNode) list = NULL;
  g_assert_cmpint (ask (&engine, "GET", "runs", TOKEN, NULL, &list), ==, 200);
  JsonArray *runs = assay_json_array (json_node_get_object (list), "runs");
  const char *state = NULL;
  for (guint i = 0; i < json_array_get_length (runs); i++)
    {
      JsonObject *run = json_array_get_object_element (runs, i);
      if (g_str_equal (assay_json_string (run, "id"), id))
        state = assay_json_string (run, "state");
    }
  g_assert_cmpstr (state, ==, "error");
  engine_stop (&engine);
}

static void
test_wrong_token_line (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *program =
      g_build_filename (g_getenv ("ASSAY_BUILD_DIR"), "engine", "assay-engine", NULL);
  g_autofree char *socket = g_build_filename (folder, "never", NULL);
  g_autoptr (GSubprocess) process =
      g_subprocess_new (G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error,
                        program, "serve", "--socket", socket, "--workspace", folder, NULL);
  g_autofree char *err = NULL;
  g_assert_true (g_subprocess_communicate_utf8 (process, "short\n", NULL, NULL, &err, &error));
  g_assert_cmpint (g_subprocess_get_exit_status (process), ==, 2);
  g_assert_nonnull (strstr (err, "64"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  folder = fixture_folder ();
  g_autofree char *cache = g_build_filename (folder, "cache", NULL);
  g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  fixture_libexec (folder, TRUE);
  g_test_add_func ("/service/every-route-refuses", test_every_route_refuses);
  g_test_add_func ("/service/socket-is-private", test_socket_is_private);
  g_test_add_func ("/service/problems", test_problems);
  g_test_add_func ("/service/devices", test_devices);
  g_test_add_func ("/service/run-and-events", test_run_and_events);
  g_test_add_func ("/service/files", test_files);
  g_test_add_func ("/service/cancel-and-list", test_cancel_and_list);
  g_test_add_func ("/service/stalled-and-gone", test_stalled_and_gone);
  g_test_add_func ("/service/too-many-streams", test_too_many_streams);
  g_test_add_func ("/service/heartbeat", test_heartbeat);
  g_test_add_func ("/service/end-of-stdin-ends-everything", test_end_of_stdin_ends_everything);
  g_test_add_func ("/service/killed-engine", test_killed_engine);
  g_test_add_func ("/service/wrong-token-line", test_wrong_token_line);
  int status = g_test_run ();
  fixture_remove (folder);
  return status;
}
