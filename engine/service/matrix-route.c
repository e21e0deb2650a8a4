/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/service/service-private.h"

#include "engine/base/error.h"
#include "engine/run/matrix.h"

typedef struct
{
  char *task, *candidate;
  char **targets;
  gboolean consent_unsandboxed;
} Wish;

#define F(member_, kind_, ...) ASSAY_JSON_FIELD (Wish, member_, #member_, kind_, __VA_ARGS__)
static const AssayJsonField WISH_FIELDS[] = {
    F (task, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (candidate, STRING),
    F (targets, STRV),
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
make_matrix (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Wish *wish = data;
  GError *error = NULL;
  AssayMatrix *matrix = NULL;
  AssayMatrixRequest request = {
      .subject = wish->task,
      .candidate = wish->candidate,
      .targets = wish->targets,
      .consent_unsandboxed = wish->consent_unsandboxed,
  };
  if (g_path_is_absolute (wish->task))
    matrix = assay_matrix_make (&request, cancellable, &error);
  else
    g_set_error (&error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                 "task: expected an absolute path, found \"%s\"", wish->task);
  if (matrix)
    g_task_return_pointer (task, matrix, (GDestroyNotify) assay_matrix_free);
  else
    g_task_return_error (task, error);
}

static void
matrix_made (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (SoupServerMessage) message = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayMatrix) matrix = g_task_propagate_pointer (G_TASK (result), &error);
  if (matrix)
    {
      g_autoptr (JsonNode) node = assay_json_table_write (&ASSAY_MATRIX_TABLE, matrix);
      assay_respond_json (message, 200, json_object_ref (json_node_get_object (node)));
    }
  else
    assay_respond_error (message, error);
  soup_server_message_unpause (message);
}

/* The compilers end with the client that asked. */
void
assay_post_matrix (AssayService *service, SoupServerMessage *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  SoupMessageBody *body = soup_server_message_get_request_body (message);
  g_autoptr (JsonNode) node = assay_json_parse (body->data ? body->data : "", body->length,
                                                &ASSAY_JSON_LIMITS_MESSAGE, "body", &error);
  Wish *wish = node ? assay_json_table_read (&WISH_TABLE, node, "", NULL, &error) : NULL;
  if (!wish)
    {
      assay_respond_error (message, error);
      return;
    }
  g_autoptr (GTask) task = g_task_new (service, cancellable, matrix_made, g_object_ref (message));
  g_task_set_task_data (task, wish, wish_free);
  g_task_set_return_on_cancel (task, FALSE);
  g_signal_connect_object (message, "disconnected", G_CALLBACK (g_cancellable_cancel), cancellable,
                           G_CONNECT_SWAPPED);
  soup_server_message_pause (message);
  g_task_run_in_thread (task, make_matrix);
}
