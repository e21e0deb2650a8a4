/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/pipeline.h"

#include "engine/base/json.h"
#include "engine/sandbox/capture.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>

void
assay_pipeline_progress (AssayPipeline *p, double fraction, const char *format, ...)
{
  JsonObject *fields = json_object_new ();
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  json_object_set_string_member (fields, "stage", ASSAY_STAGES[p->stage]);
  json_object_set_int_member (fields, "index", p->stage);
  json_object_set_int_member (fields, "of", ASSAY_N_STAGES);
  json_object_set_string_member (fields, "status", ASSAY_STATUSES[ASSAY_STATUS_RUNNING]);
  json_object_set_null_member (fields, "reason");
  json_object_set_double_member (fields, "fraction", fraction);
  json_object_set_string_member (fields, "text", text);
  assay_events_add (p->events, "stage", fields);
}

void
assay_pipeline_log (AssayPipeline *p, const char *text)
{
  JsonObject *fields = json_object_new ();
  g_autofree char *clean = assay_text_clean (text, (gssize) MIN (strlen (text), 16384));
  json_object_set_string_member (fields, "stage", ASSAY_STAGES[p->stage]);
  json_object_set_string_member (fields, "text", clean);
  assay_events_add (p->events, "log", fields);
}

gboolean
assay_pipeline_cancelled (AssayPipeline *p)
{
  return g_cancellable_is_cancelled (p->cancellable);
}

/* How the engine's own observation is called, where a worker could not say anything. */
static char *
observed_name (const AssayWorkerReply *reply)
{
  switch (reply->outcome)
    {
    case ASSAY_OUTCOME_CRASHED:
      return g_strdup_printf (
          "SIG%s", sigabbrev_np (reply->end->code) ? sigabbrev_np (reply->end->code) : "UNKNOWN");
    case ASSAY_OUTCOME_TIMEOUT:
      return g_strdup ("timeout");
    case ASSAY_OUTCOME_MEMORY:
      return g_strdup ("memory");
    case ASSAY_OUTCOME_FLOOD:
      return g_strdup ("flood");
    case ASSAY_OUTCOME_VIOLATION:
      return g_strdup ("contract");
    case ASSAY_OUTCOME_EXITED:
      return g_strdup ("exit");
    default:
      return NULL;
    }
}

AssayFailure *
assay_pipeline_fail (AssayPipeline *p, const char *workload, const char *role,
                     const AssayWorkerReply *reply, const char *message)
{
  AssayFailure *failure = g_new0 (AssayFailure, 1);
  failure->workload = g_strdup (workload);
  failure->role = g_strdup (role);
  failure->message = g_strdup (message);
  failure->phase = g_strdup (reply ? reply->phase : NULL);
  if (reply && reply->error)
    {
      failure->code = reply->error->code;
      failure->name = g_strdup (reply->error->name ? reply->error->name : reply->error->kind);
    }
  else if (reply)
    {
      failure->name = observed_name (reply);
      failure->code = reply->end->code;
    }
  else if (!g_str_equal (role, "generate") && !g_str_equal (role, "reference"))
    failure->name = g_strdup ("environment");
  pthread_mutex_lock (&p->lock);
  g_ptr_array_add (assay_pipeline_cancelled (p) ? p->set_aside : p->facts.failures, failure);
  pthread_mutex_unlock (&p->lock);
  return failure;
}

char *
assay_pipeline_relative (const char *folder, const char *name)
{
  g_autofree char *safe = g_strdup (name);
  g_strdelimit (safe, "/\\", '_');
  return g_build_filename (folder, safe, NULL);
}

void
assay_pipeline_unsaved (AssayPipeline *p, GError *error)
{
  g_autofree char *text =
      g_strdup_printf ("the run is not saved in full: %s", error ? error->message : "?");
  g_clear_error (&error);
  if (g_atomic_pointer_compare_and_exchange (&p->unsaved, NULL, text))
    text = NULL;
}

char *
assay_pipeline_write (AssayPipeline *p, const char *folder, const char *name, const char *data,
                      gssize bytes)
{
  g_autofree char *relative = assay_pipeline_relative (folder, name);
  g_autofree char *path = g_build_filename (p->folder, relative, NULL);
  GError *error = NULL;
  if (!g_file_set_contents_full (path, data, bytes, G_FILE_SET_CONTENTS_CONSISTENT, 0600, &error))
    {
      assay_pipeline_unsaved (p, error);
      return NULL;
    }
  return g_steal_pointer (&relative);
}

AssaySandboxSpec *
assay_pipeline_worker (AssayPipeline *p, char **sources, GError **error)
{
  g_autoptr (AssaySandboxSpec) spec = assay_worker_spec_new (error);
  for (guint i = 0; spec && sources && sources[i]; i++)
    {
      g_autofree char *outside = assay_task_path (p->task, sources[i], error);
      g_autofree char *inside = g_build_filename ("/src", sources[i], NULL);
      if (!outside)
        return NULL;
      assay_sandbox_spec_show (spec, outside, inside);
    }
  return g_steal_pointer (&spec);
}
