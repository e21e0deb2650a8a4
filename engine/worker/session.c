/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/worker/session.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/device/installation.h"
#include "engine/sandbox/capture.h"

#include <string.h>
#include <sys/random.h>

#define FINDINGS_LIMIT 10000
#define TEXT_LIMIT 4096
#define LOG_LIMIT 65536

typedef struct
{
  const AssayWorkerRequest *request;
  AssayWorkerReply *reply;
  int phase; /* index of the last one, -1 before any */
  gboolean answered;
} Session;

void
assay_worker_reply_free (AssayWorkerReply *reply)
{
  g_free (reply->message);
  g_clear_pointer (&reply->error, assay_worker_error_free);
  g_clear_pointer (&reply->done, json_object_unref);
  g_ptr_array_unref (reply->launches);
  g_ptr_array_unref (reply->findings);
  g_ptr_array_unref (reply->caveats);
  g_clear_pointer (&reply->end, assay_sandbox_end_free);
  g_free (reply);
}

static AssayWorkerReply *
reply_new (void)
{
  AssayWorkerReply *reply = g_new0 (AssayWorkerReply, 1);
  reply->launches = g_ptr_array_new_with_free_func ((GDestroyNotify) json_object_unref);
  reply->findings = g_ptr_array_new_with_free_func ((GDestroyNotify) json_object_unref);
  reply->caveats = g_ptr_array_new_with_free_func (g_free);
  return reply;
}

static gboolean violate (Session *session, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Always FALSE: enough of this worker. */
static gboolean
violate (Session *session, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_autofree char *clean = assay_text_clean (what, (gssize) MIN (strlen (what), TEXT_LIMIT));
  session->reply->outcome = ASSAY_OUTCOME_VIOLATION;
  session->reply->message = g_strdup_printf ("the worker broke its contract: %s", clean);
  session->answered = TRUE;
  return FALSE;
}

static gboolean
on_phase (Session *session, JsonObject *line)
{
  const char *name = assay_json_string (line, "phase");
  const char *const *phases = ASSAY_PHASES[session->request->request];
  for (int i = 0; name && phases[i]; i++)
    if (g_str_equal (phases[i], name))
      {
        if (i <= session->phase)
          return violate (session, "phase %s came twice or too late", name);
        session->phase = i;
        session->reply->phase = phases[i];
        return TRUE;
      }
  return violate (session, "unknown phase %s", name ? name : "(none)");
}

static gboolean
on_launch (Session *session, JsonObject *line)
{
  if (session->request->request != ASSAY_REQUEST_RUN)
    return violate (session, "a launch where none was asked for");
  if (session->reply->launches->len < FINDINGS_LIMIT)
    g_ptr_array_add (session->reply->launches, json_object_ref (line));
  return TRUE;
}

static gboolean
on_finding (Session *session, JsonObject *line)
{
  JsonObject *record = assay_json_object (line, "record");
  if (!record)
    return violate (session, "a finding without a record");
  if (session->reply->findings->len < FINDINGS_LIMIT)
    g_ptr_array_add (session->reply->findings, json_object_ref (record));
  return TRUE;
}

static gboolean
on_caveat (Session *session, JsonObject *line)
{
  const char *text = assay_json_string (line, "text");
  if (text && session->reply->caveats->len < 100)
    g_ptr_array_add (session->reply->caveats, assay_text_clean (text, -1));
  return TRUE;
}

/* Clean text of at most `limit` bytes, in which files are named as the task names them, not as they
 * lay in the sandbox. */
static void
tidy (char **text, gsize limit)
{
  if (!*text)
    return;
  g_autofree char *clean = assay_text_clean (*text, (gssize) MIN (strlen (*text), limit));
  g_autoptr (GString) out = g_string_new (clean);
  g_string_replace (out, "/src/", "", 0);
  g_string_replace (out, "/scratch/", "", 0);
  g_free (*text);
  *text = g_strdup (out->str);
}

static gboolean
on_error (Session *session, JsonObject *line)
{
  g_autoptr (GError) error = NULL;
  JsonNode *node = json_object_get_member (line, "error");
  AssayWorkerError *told =
      node ? assay_json_table_read (&ASSAY_WORKER_ERROR_TABLE, node, "error", NULL, &error) : NULL;
  if (!told)
    return violate (session, "an error without its fields: %s", error ? error->message : "none");
  tidy (&told->message, TEXT_LIMIT);
  tidy (&told->log, LOG_LIMIT);
  session->reply->error = told;
  session->reply->outcome = ASSAY_OUTCOME_ERROR;
  session->reply->message = g_strdup (told->message);
  session->answered = TRUE;
  return FALSE;
}

static gboolean
on_done (Session *session, JsonObject *line)
{
  session->reply->outcome = ASSAY_OUTCOME_DONE;
  session->reply->done = json_object_ref (line);
  session->answered = TRUE;
  return FALSE;
}

typedef gboolean (*Handler) (Session *session, JsonObject *line);
static const Handler HANDLERS[ASSAY_N_REPLIES] = {on_phase,  on_launch, on_finding,
                                                  on_caveat, on_error,  on_done};

static gboolean
on_line (const char *text, gsize bytes, gpointer data)
{
  Session *session = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) node =
      assay_json_parse (text, (gssize) bytes, &ASSAY_JSON_LIMITS_MESSAGE, "worker", &error);
  if (!node)
    return violate (session, "%s", error->message);
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return violate (session, "a line that is no object");
  JsonObject *line = json_node_get_object (node);
  const char *nonce = assay_json_string (line, "nonce");
  const char *kind = assay_json_string (line, "reply");
  if (!nonce || !g_str_equal (nonce, session->request->nonce))
    return violate (session, "a reply without this request's nonce");
  for (int i = 0; kind && i < ASSAY_N_REPLIES; i++)
    if (g_str_equal (kind, ASSAY_REPLIES[i]))
      return HANDLERS[i](session, line);
  return violate (session, "unknown reply %s", kind ? kind : "(none)");
}

static const AssayOutcome END_OUTCOMES[] = {
    [ASSAY_END_EXITED] = ASSAY_OUTCOME_EXITED,     [ASSAY_END_SIGNAL] = ASSAY_OUTCOME_CRASHED,
    [ASSAY_END_TIMEOUT] = ASSAY_OUTCOME_TIMEOUT,   [ASSAY_END_MEMORY] = ASSAY_OUTCOME_MEMORY,
    [ASSAY_END_PROCESSES] = ASSAY_OUTCOME_FLOOD,   [ASSAY_END_FLOOD] = ASSAY_OUTCOME_FLOOD,
    [ASSAY_END_STOPPED] = ASSAY_OUTCOME_VIOLATION, [ASSAY_END_CANCELLED] = ASSAY_OUTCOME_EXITED,
};

/* How the process ended counts for more than what it said, except that a worker which answered was
 * ended by us. */
static void
conclude (Session *session)
{
  AssayWorkerReply *reply = session->reply;
  if (session->answered)
    return;
  g_autofree char *how = assay_sandbox_end_describe (reply->end);
  reply->outcome = END_OUTCOMES[reply->end->kind];
  /* A worker that left by itself has mostly said why: a loader's or a library's last words. */
  g_autofree char *said = g_strstrip (g_strndup (reply->end->err, 300));
  gboolean telling = reply->outcome == ASSAY_OUTCOME_EXITED && said[0];
  reply->message =
      g_strdup_printf ("%s%s%s%s%s", how, reply->phase ? ", in phase " : "",
                       reply->phase ? reply->phase : "", telling ? ": " : "", telling ? said : "");
}

static char *
new_nonce (void)
{
  guint64 words[2] = {0, 0};
  gsize got = 0;
  while (got < sizeof words)
    got += (gsize) MAX (getrandom ((char *) words + got, sizeof words - got, 0), 0);
  return g_strdup_printf ("%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x", words[0],
                          words[1]);
}

AssaySandboxSpec *
assay_worker_spec_new (GError **error)
{
  g_autofree char *program = assay_libexec_path ("assay-worker", error);
  if (!program)
    return NULL;
  AssaySandboxSpec *spec = assay_sandbox_spec_new ("/assay/worker");
  assay_sandbox_spec_show (spec, program, "/assay/worker");
  return spec;
}

AssayWorkerReply *
assay_worker_call (AssaySandboxSpec *spec, AssaySandboxTier tier, AssayWorkerRequest *request,
                   GCancellable *cancellable, GError **error)
{
  g_autoptr (AssayWorkerReply) reply = reply_new ();
  Session session = {.request = request, .reply = reply, .phase = -1};
  g_free (request->nonce);
  request->nonce = new_nonce ();
  g_autoptr (JsonNode) node = assay_json_table_write (&ASSAY_WORKER_REQUEST_TABLE, request);
  g_autofree char *text = assay_json_write_line (node);
  g_autofree char *line = g_strconcat (text, "\n", NULL);
  g_autoptr (AssaySandboxProcess) process = assay_sandbox_process_start (spec, tier, error);
  if (!process)
    return NULL;
  assay_sandbox_process_send (process, line, strlen (line));
  reply->end = assay_sandbox_process_pump (process, on_line, &session, cancellable, error);
  if (!reply->end)
    return NULL;
  if (reply->end->kind == ASSAY_END_CANCELLED)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_CANCELLED, "cancelled");
      return NULL;
    }
  conclude (&session);
  return g_steal_pointer (&reply);
}
