/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/exec.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/device/installation.h"
#include "engine/device/toolkit.h"
#include "engine/run/toolkit-show.h"
#include "engine/sandbox/preflight.h"

#include <dlfcn.h>
#include <glib/gstdio.h>
#include <string.h>

#define PROGRAM_FD 11
#define INPUT_FD 12
#define RECORDS_LIMIT 10000
#define LOG_BYTES ((guint64) 64 << 20)
#define CHANNEL_BYTES ((guint64) 4 << 30)
#define MEMORY_BYTES ((guint64) 8 << 30)
#define SOURCE_FOLDER "/src"

typedef struct
{
  const AssayExecRequest *request;
  AssayToolkit *toolkit; /* NULL where there is none */
  AssaySandboxTier tier;
  AssayExecReply *reply;
  char *folder;  /* of our own, for what was compiled */
  char *program; /* in it, or as given */
} Exec;

void
assay_exec_reply_free (AssayExecReply *reply)
{
  g_free (reply->log);
  g_clear_pointer (&reply->end, assay_sandbox_end_free);
  g_ptr_array_unref (reply->records);
  g_free (reply);
}

gboolean
assay_exec_is_report (JsonObject *record)
{
  const char *type = assay_json_string (record, "type");
  const char *rule = assay_json_string (record, "rule");
  return (g_strcmp0 (type, "report") == 0 || g_strcmp0 (type, "fault") == 0)
         && !(rule && g_str_has_prefix (rule, "env."));
}

/* ---- compiling ---- */

/* nvcc writes beside itself, and what it made leaves through a descriptor. */
static const char COMPILE[] =
    "d=$(mktemp -d) || exit 1\n"
    "cd \"$1\" && shift && \"$@\" -o \"$d/program\" && cat \"$d/program\" >/proc/self/fd/11\n"
    "s=$?\nrm -rf \"$d\"\nexit $s\n";

static void
add_words (AssaySandboxSpec *spec, const char *const *words)
{
  for (guint i = 0; words && words[i]; i++)
    assay_sandbox_spec_add_argument (spec, words[i]);
}

static AssaySandboxSpec *
compile_spec (Exec *exec, AssayMemory *program)
{
  const AssayExecRequest *request = exec->request;
  AssaySandboxSpec *spec = assay_sandbox_spec_new ("/bin/sh");
  g_autofree char *folder = g_path_get_dirname (request->source);
  g_autofree char *name = g_path_get_basename (request->source);
  const char *digits = request->target + strlen ("sm_");
  g_autofree char *code = g_strdup_printf ("arch=compute_%s,code=compute_%s", digits, digits);
  assay_toolkit_show (exec->toolkit, spec);
  assay_sandbox_spec_show (spec, folder, SOURCE_FOLDER);
  const char *const words[] = {"-c",
                               COMPILE,
                               "compile",
                               assay_sandbox_spec_path (spec, exec->tier, SOURCE_FOLDER),
                               exec->toolkit->nvcc,
                               "-cudart",
                               "shared",
                               "-lineinfo",
                               "-gencode",
                               code,
                               "-I.",
                               NULL};
  add_words (spec, words);
  add_words (spec, request->options);
  assay_sandbox_spec_add_argument (spec, name);
  assay_sandbox_spec_pass (spec, program, PROGRAM_FD);
  assay_sandbox_spec_limits (spec)->wall_seconds = 600;
  assay_sandbox_spec_limits (spec)->scratch_bytes = (guint64) 1 << 30;
  return spec;
}

/* FALSE without an error: nvcc refused it, the log says why. */
static gboolean
compile (Exec *exec, GCancellable *cancellable, GError **error)
{
  g_autoptr (AssayMemory) memory = assay_memory_new_growing ("program", error);
  g_autofree char *name = g_path_get_basename (exec->request->source);
  gsize bytes = 0;
  if (!memory)
    return FALSE;
  g_autoptr (AssaySandboxSpec) spec = compile_spec (exec, memory);
  g_autoptr (AssaySandboxProcess) process = assay_sandbox_process_start (spec, exec->tier, error);
  g_autoptr (AssaySandboxEnd) end =
      process ? assay_sandbox_process_pump (process, NULL, NULL, cancellable, error) : NULL;
  if (!end)
    return FALSE;
  if (end->kind != ASSAY_END_EXITED || end->code != 0)
    {
      exec->reply->log = g_strconcat (end->out, end->err, NULL);
      return FALSE;
    }
  const void *data =
      assay_memory_finish (memory, error) ? assay_memory_data (memory, &bytes, error) : NULL;
  exec->folder = data ? g_dir_make_tmp ("assay-exec-XXXXXX", error) : NULL;
  if (!exec->folder)
    return FALSE;
  name[strlen (name) - strlen (".cu")] = '\0';
  exec->program = g_build_filename (exec->folder, name, NULL);
  /* The sandbox may run as nobody. */
  g_chmod (exec->folder, 0755);
  return g_file_set_contents_full (exec->program, data, (gssize) bytes, G_FILE_SET_CONTENTS_NONE,
                                   0755, error);
}

/* ---- running ---- */

/* The program runs in a folder that it may write to, in which it sees what lies beside its source. */
static const char RUN[] = "for f in \"$1\"/* ; do ln -s \"$f\" . 2>/dev/null ; done\n"
                          "shift\nexport LD_PRELOAD=\"$ASSAY_PRELOAD\"\nunset ASSAY_PRELOAD\n"
                          "exec \"$@\" </proc/self/fd/12\n";
/* Without a sandbox it runs beside its source. */
static const char RUN_FREE[] = "cd \"$1\"\nshift\nexport LD_PRELOAD=\"$ASSAY_PRELOAD\"\n"
                               "unset ASSAY_PRELOAD\nexec \"$@\" </proc/self/fd/12\n";

/* Where this build is a sanitized one, so are the libraries, and the program must load the sanitizer
 * first. NULL otherwise. */
static const char *
sanitizer_path (void)
{
  static Dl_info info;
  const void *start = dlsym (RTLD_DEFAULT, "__asan_init");
  return start && dladdr (start, &info) ? info.dli_fname : NULL;
}

static gboolean
show_libraries (Exec *exec, AssaySandboxSpec *spec, GError **error)
{
  static const char *const names[] = {"libcuda.so.1", "libcudart.so.13", "libcublas.so.13",
                                      "libcublasLt.so.13"};
  g_autoptr (GString) preload = g_string_new (sanitizer_path ());
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *name = g_build_filename ("driver", names[i], NULL);
      g_autofree char *path = assay_libexec_path (name, error);
      g_autofree char *inside = g_build_filename ("/assay/driver", names[i], NULL);
      if (!path)
        return FALSE;
      assay_sandbox_spec_show (spec, path, inside);
      g_string_append_printf (preload, "%s%s", preload->len > 0 ? " " : "",
                              assay_sandbox_spec_path (spec, exec->tier, inside));
    }
  assay_sandbox_spec_set_environment (spec, "ASSAY_PRELOAD", preload->str);
  return TRUE;
}

static void
set_limits (const AssayExecRequest *request, AssaySandboxSpec *spec)
{
  AssaySandboxLimits *limits = assay_sandbox_spec_limits (spec);
  limits->wall_seconds = request->seconds;
  limits->cpu_seconds = (guint) (request->seconds * g_get_num_processors ()) + 1;
  limits->memory_bytes = request->memory_bytes > 0 ? request->memory_bytes : MEMORY_BYTES;
  limits->log_bytes = LOG_BYTES;
  limits->channel_bytes = CHANNEL_BYTES;
}

static AssaySandboxSpec *
run_spec (Exec *exec, AssayMemory *input, GError **error)
{
  const AssayExecRequest *request = exec->request;
  g_autoptr (AssaySandboxSpec) spec = assay_sandbox_spec_new ("/bin/sh");
  g_autofree char *folder = g_path_get_dirname (request->source);
  g_autofree char *name = g_path_get_basename (exec->program);
  g_autofree char *inside = g_build_filename ("/program", name, NULL);
  g_autofree char *settings = g_strdup_printf (
      "target=%s;checks=%s;print=stdout;time=model;report_fd=3%s%s", request->target,
      request->checks, request->settings ? ";" : "", request->settings ? request->settings : "");
  if (exec->toolkit)
    assay_toolkit_show (exec->toolkit, spec);
  assay_sandbox_spec_show (spec, exec->program, inside);
  assay_sandbox_spec_show (spec, folder, SOURCE_FOLDER);
  assay_sandbox_spec_set_environment (spec, "ASSAY_VGPU", settings);
  if (!show_libraries (exec, spec, error))
    return NULL;
  const char *const words[] = {"-c",
                               exec->tier == ASSAY_TIER_NONE ? RUN_FREE : RUN,
                               "run",
                               assay_sandbox_spec_path (spec, exec->tier, SOURCE_FOLDER),
                               assay_sandbox_spec_path (spec, exec->tier, inside),
                               NULL};
  add_words (spec, words);
  add_words (spec, request->arguments);
  assay_sandbox_spec_pass (spec, input, INPUT_FD);
  set_limits (request, spec);
  return g_steal_pointer (&spec);
}

/* Files are named as they were given, not as they lay in the sandbox. */
static void
shorten (JsonObject *record, const char *key)
{
  const char *path = assay_json_string (record, key);
  if (path && g_str_has_prefix (path, SOURCE_FOLDER "/"))
    {
      g_autofree char *rest = g_strdup (path + strlen (SOURCE_FOLDER "/"));
      json_object_set_string_member (record, key, rest);
    }
}

static gboolean
on_line (const char *text, gsize bytes, gpointer data)
{
  Exec *exec = data;
  g_autoptr (JsonNode) node =
      assay_json_parse (text, (gssize) bytes, &ASSAY_JSON_LIMITS_MESSAGE, "report", NULL);
  if (!node || !JSON_NODE_HOLDS_OBJECT (node))
    return TRUE;
  JsonObject *record = json_node_get_object (node);
  JsonObject *other = assay_json_object (record, "other");
  shorten (record, "file");
  shorten (record, "inner_file");
  shorten (record, "outer_file");
  if (other)
    shorten (other, "file");
  if (exec->reply->records->len < RECORDS_LIMIT)
    g_ptr_array_add (exec->reply->records, json_object_ref (record));
  exec->reply->reports += assay_exec_is_report (record);
  if (exec->request->reported)
    exec->request->reported (record, exec->request->data);
  return TRUE;
}

static gboolean
run (Exec *exec, GCancellable *cancellable, GError **error)
{
  const AssayExecRequest *request = exec->request;
  g_autoptr (AssayMemory) input = assay_memory_new_from_data (
      "input", request->input ? request->input : "", request->input_bytes, error);
  g_autoptr (AssaySandboxSpec) spec = input ? run_spec (exec, input, error) : NULL;
  g_autoptr (AssaySandboxProcess) process =
      spec ? assay_sandbox_process_start (spec, exec->tier, error) : NULL;
  if (process)
    exec->reply->end = assay_sandbox_process_pump (process, on_line, exec, cancellable, error);
  return exec->reply->end != NULL;
}

static gboolean
prepare (Exec *exec, gboolean is_source, GError **error)
{
  if (!g_file_test (exec->request->source, G_FILE_TEST_IS_REGULAR))
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND, "%s: no such file",
                   exec->request->source);
      return FALSE;
    }
  exec->toolkit = assay_toolkit_find (is_source ? error : NULL);
  if (is_source && !exec->toolkit)
    return FALSE;
  if (is_source && !exec->toolkit->nvcc)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND,
                   "no nvcc in %s: a program with host code needs it", exec->toolkit->root);
      return FALSE;
    }
  return assay_sandbox_choose (exec->request->consent_unsandboxed, &exec->tier, error);
}

static void
clear (Exec *exec)
{
  if (exec->folder)
    {
      g_unlink (exec->program);
      g_rmdir (exec->folder);
    }
  g_clear_pointer (&exec->toolkit, assay_toolkit_free);
  g_free (exec->folder);
  g_free (exec->program);
}

AssayExecReply *
assay_exec (const AssayExecRequest *request, GCancellable *cancellable, GError **error)
{
  g_autoptr (AssayExecReply) reply = g_new0 (AssayExecReply, 1);
  g_autoptr (GError) failure = NULL;
  Exec exec = {.request = request, .reply = reply};
  gboolean is_source = g_str_has_suffix (request->source, ".cu");
  reply->records = g_ptr_array_new_with_free_func ((GDestroyNotify) json_object_unref);
  gboolean good = prepare (&exec, is_source, &failure);
  if (good && is_source)
    good = compile (&exec, cancellable, &failure);
  else if (good)
    exec.program = g_strdup (request->source);
  if (good)
    run (&exec, cancellable, &failure);
  clear (&exec);
  if (!failure)
    return g_steal_pointer (&reply);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}
