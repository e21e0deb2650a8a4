/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/exec.h"

#include "engine/base/error.h"
#include "engine/device/installation.h"
#include "engine/device/toolkit.h"
#include "engine/run/toolkit-show.h"
#include "engine/sandbox/preflight.h"

#define PTX_FD 10
#define LIBRARY_FD 11
#define DRIVER "/assay/driver/libcuda.so.1"

typedef struct
{
  const AssayExecRequest *request;
  AssayToolkit *toolkit;
  AssaySandboxTier tier;
  AssayMemory *ptx, *library;
} Exec;

static AssayWorkerReply *
compile (Exec *exec, GCancellable *cancellable, GError **error)
{
  g_autofree char *name = g_path_get_basename (exec->request->source);
  g_autofree char *inside = g_build_filename ("/src", name, NULL);
  g_autoptr (AssayWorkerRequest) request = assay_worker_request_new ();
  g_autoptr (AssaySandboxSpec) spec = assay_worker_spec_new (error);
  AssayWorkerSource *source = assay_worker_source_new ();
  g_ptr_array_add (request->sources, source);
  if (!spec)
    return NULL;
  assay_toolkit_show (exec->toolkit, spec);
  assay_sandbox_spec_show (spec, exec->request->source, inside);
  source->path = g_strdup (assay_sandbox_spec_path (spec, exec->tier, inside));
  source->name = g_strdup (name);
  request->request = ASSAY_REQUEST_COMPILE;
  request->nvcc = g_strdup (exec->toolkit->nvcc);
  request->target = g_strdup (exec->request->target);
  request->options = g_strdupv ((char **) exec->request->options);
  request->symbol = g_strdup ("main");
  request->host = TRUE;
  request->output_fd = PTX_FD;
  request->library_fd = LIBRARY_FD;
  assay_sandbox_spec_pass (spec, exec->ptx, PTX_FD);
  assay_sandbox_spec_pass (spec, exec->library, LIBRARY_FD);
  return assay_worker_call (spec, exec->tier, request, cancellable, error);
}

static void
add_setting (AssayWorkerRequest *request, const char *key, const char *value)
{
  AssayWorkerSetting *setting = assay_worker_setting_new ();
  setting->key = g_strdup (key);
  setting->value = g_strdup (value);
  g_ptr_array_add (request->settings, setting);
}

static char **
program_words (const AssayExecRequest *request)
{
  g_autoptr (GStrvBuilder) words = g_strv_builder_new ();
  g_strv_builder_add (words, request->source);
  for (guint i = 0; request->arguments && request->arguments[i]; i++)
    g_strv_builder_add (words, request->arguments[i]);
  return g_strv_builder_end (words);
}

static AssayWorkerReply *
run (Exec *exec, GCancellable *cancellable, GError **error)
{
  g_autoptr (AssayWorkerRequest) request = assay_worker_request_new ();
  g_autoptr (AssaySandboxSpec) spec = assay_worker_spec_new (error);
  g_autofree char *driver = assay_libexec_path ("driver/libcuda.so.1", error);
  if (!spec || !driver)
    return NULL;
  assay_sandbox_spec_show (spec, driver, DRIVER);
  request->request = ASSAY_REQUEST_RUN;
  request->driver = g_strdup (assay_sandbox_spec_path (spec, exec->tier, DRIVER));
  request->symbol = g_strdup ("main");
  request->host = request->program = TRUE;
  request->words = program_words (exec->request);
  request->image_fd = PTX_FD;
  request->library_fd = LIBRARY_FD;
  request->seconds = MAX (exec->request->seconds - 1, exec->request->seconds / 2);
  add_setting (request, "target", exec->request->target);
  add_setting (request, "checks", exec->request->checks);
  assay_sandbox_spec_limits (spec)->wall_seconds = exec->request->seconds;
  assay_sandbox_spec_pass (spec, exec->ptx, PTX_FD);
  assay_sandbox_spec_pass (spec, exec->library, LIBRARY_FD);
  return assay_worker_call (spec, exec->tier, request, cancellable, error);
}

static gboolean
prepare (Exec *exec, GError **error)
{
  exec->toolkit = assay_toolkit_find (error);
  if (!exec->toolkit)
    return FALSE;
  if (!exec->toolkit->nvcc)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND,
                   "no nvcc in %s: a program with host code needs it", exec->toolkit->root);
      return FALSE;
    }
  exec->ptx = assay_memory_new_growing ("ptx", error);
  exec->library = exec->ptx ? assay_memory_new_growing ("program", error) : NULL;
  return exec->library
         && assay_sandbox_choose (exec->request->consent_unsandboxed, &exec->tier, error);
}

AssayWorkerReply *
assay_exec (const AssayExecRequest *request, gboolean *compiled, GCancellable *cancellable,
            GError **error)
{
  Exec exec = {.request = request};
  g_autoptr (AssayWorkerReply) reply = NULL;
  *compiled = FALSE;
  if (prepare (&exec, error))
    reply = compile (&exec, cancellable, error);
  *compiled = reply && reply->outcome == ASSAY_OUTCOME_DONE;
  if (*compiled)
    {
      g_clear_pointer (&reply, assay_worker_reply_free);
      if (assay_memory_finish (exec.ptx, error) && assay_memory_finish (exec.library, error))
        reply = run (&exec, cancellable, error);
    }
  g_clear_pointer (&exec.toolkit, assay_toolkit_free);
  g_clear_pointer (&exec.ptx, assay_memory_unref);
  g_clear_pointer (&exec.library, assay_memory_unref);
  return g_steal_pointer (&reply);
}
