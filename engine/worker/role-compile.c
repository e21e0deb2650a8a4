/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/worker/roles.h"

#include "engine/device/nvrtc.h"
#include "engine/worker/ptx-signature.h"
#include "engine/worker/shims.h"

#include <gio/gio.h>
#include <string.h>

#define LOG_LIMIT 65536

typedef struct
{
  char *ptx, *log, *compiler;
  char *lowered; /* of a symbol that is a C++ expression, or NULL */
  gboolean compiled;
} Outcome;

static void
outcome_clear (Outcome *outcome)
{
  g_free (outcome->ptx);
  g_free (outcome->log);
  g_free (outcome->compiler);
  g_free (outcome->lowered);
}

/* One file is compiled under its own name; several become one unit that includes them in turn. */
static char *
read_unit (const AssayWorkerRequest *request, const char **name, char **reason)
{
  GString *unit = g_string_new (NULL);
  guint units = 0;
  *name = "candidate.cu";
  for (guint i = 0; i < request->sources->len; i++)
    {
      const AssayWorkerSource *source = g_ptr_array_index (request->sources, i);
      g_autoptr (GError) error = NULL;
      g_autofree char *text = NULL;
      if (!g_str_has_suffix (source->name, ".cu") && i > 0)
        continue;
      if (!g_file_get_contents (source->path, &text, NULL, &error))
        {
          *reason = g_strdup (error->message);
          g_string_free (unit, TRUE);
          return NULL;
        }
      if (units++ > 0)
        g_string_append_printf (unit, "\n#line 1 \"%s\"\n", source->name);
      else
        *name = source->name;
      g_string_append (unit, text);
    }
  return g_string_free (unit, FALSE);
}

static GPtrArray *
nvrtc_options (const AssayWorkerRequest *request)
{
  GPtrArray *options = g_ptr_array_new_with_free_func (g_free);
  const char *digits = strpbrk (request->target ? request->target : "", "0123456789");
  g_autoptr (GHashTable) folders = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_ptr_array_add (options,
                   g_strdup_printf ("--gpu-architecture=%s_%s",
                                    request->resources ? "sm" : "compute", digits ? digits : "80"));
  g_ptr_array_add (options, g_strdup ("-lineinfo"));
  g_ptr_array_add (options, g_strdup ("-default-device"));
  if (request->resources)
    g_ptr_array_add (options, g_strdup ("--ptxas-options=-v"));
  for (guint i = 0; i < request->sources->len; i++)
    {
      const AssayWorkerSource *source = g_ptr_array_index (request->sources, i);
      char *folder = g_path_get_dirname (source->path);
      if (g_hash_table_add (folders, folder))
        g_ptr_array_add (options, g_strconcat ("-I", folder, NULL));
    }
  for (guint i = 0; request->includes && request->includes[i]; i++)
    g_ptr_array_add (options, g_strconcat ("-I", request->includes[i], NULL));
  for (guint i = 0; request->options && request->options[i]; i++)
    g_ptr_array_add (options, g_strdup (request->options[i]));
  return options;
}

static char *
nvrtc_log (const AssayNvrtc *nvrtc, AssayNvrtcProgram *program)
{
  gsize bytes = 0;
  if (nvrtc->nvrtcGetProgramLogSize (program, &bytes) != 0 || bytes == 0)
    return g_strdup ("");
  char *log = g_malloc0 (bytes + 1);
  nvrtc->nvrtcGetProgramLog (program, log);
  return log;
}

/* A template instance or a scoped name can be asked for only before compiling, and an unknown one
 * stops the compilation; plain names are looked up in the PTX instead. */
static gboolean
is_expression (const char *symbol)
{
  return symbol && (strchr (symbol, '<') || strstr (symbol, "::"));
}

static void
compile_nvrtc (const AssayNvrtc *nvrtc, const AssayWorkerRequest *request, const char *unit,
               const char *name, Outcome *outcome)
{
  AssayNvrtcProgram *program = NULL;
  AssayShims shims = assay_shims (request->includes && request->includes[0]);
  g_autoptr (GPtrArray) options = nvrtc_options (request);
  int major = 0, minor = 0;
  gsize bytes = 0;
  nvrtc->nvrtcVersion (&major, &minor);
  outcome->compiler = g_strdup_printf ("NVRTC %d.%d", major, minor);
  int code =
      nvrtc->nvrtcCreateProgram (&program, unit, name, shims.count, shims.texts, shims.names);
  if (code == 0 && is_expression (request->symbol))
    code = nvrtc->nvrtcAddNameExpression (program, request->symbol);
  if (code == 0)
    code = nvrtc->nvrtcCompileProgram (program, (int) options->len,
                                       (const char *const *) options->pdata);
  outcome->log = program ? nvrtc_log (nvrtc, program) : g_strdup ("");
  if (code == 0)
    code = nvrtc->nvrtcGetPTXSize (program, &bytes);
  if (code == 0)
    {
      outcome->ptx = g_malloc0 (bytes + 1);
      code = nvrtc->nvrtcGetPTX (program, outcome->ptx);
    }
  const char *lowered = NULL;
  if (code == 0 && is_expression (request->symbol)
      && nvrtc->nvrtcGetLoweredName (program, request->symbol, &lowered) == 0)
    outcome->lowered = g_strdup (lowered);
  outcome->compiled = code == 0;
  if (code != 0 && outcome->log[0] == 0)
    {
      g_free (outcome->log);
      outcome->log = g_strdup (nvrtc->nvrtcGetErrorString (code));
    }
  if (program)
    nvrtc->nvrtcDestroyProgram (&program);
}

/* Words that tell a file with host code, which NVRTC cannot read and nvcc can. */
static gboolean
has_host_code (const char *unit)
{
  static const char *const words[] = {
      "<<<",        "int main",          "cudaMalloc",
      "cudaLaunch", "#include <vector>", "#include <iostream>",
      "thrust/",    "cub/cub.cuh",
  };
  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    if (strstr (unit, words[i]))
      return TRUE;
  return FALSE;
}

/* nvcc writes into the folder it runs in, which only this sandbox has. */
static void
compile_nvcc (const AssayWorkerRequest *request, Outcome *outcome)
{
  const AssayWorkerSource *source = g_ptr_array_index (request->sources, 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  g_autofree char *folder = g_dir_make_tmp ("nvcc-XXXXXX", &error);
  g_autofree char *output = g_build_filename (folder ? folder : ".", "unit.ptx", NULL);
  g_autofree char *arch = g_strconcat ("-arch=compute_", request->target + strlen ("sm_"), NULL);
  g_autofree char *said = NULL;
  const char *fixed[] = {request->nvcc, "-ptx", "-lineinfo", arch, "-o", output, source->path};
  int status = -1;
  gsize bytes;
  for (gsize i = 0; i < G_N_ELEMENTS (fixed); i++)
    g_ptr_array_add (argv, (gpointer) fixed[i]);
  for (guint i = 0; request->options && request->options[i]; i++)
    g_ptr_array_add (argv, request->options[i]);
  g_ptr_array_add (argv, NULL);
  gboolean ran = g_spawn_sync (NULL, (char **) argv->pdata, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL,
                               NULL, NULL, &said, &status, &error);
  g_free (outcome->log);
  outcome->log = g_strdup (ran ? said : error->message);
  g_free (outcome->compiler);
  outcome->compiler = g_strdup ("nvcc");
  outcome->compiled =
      ran && status == 0 && g_file_get_contents (output, &outcome->ptx, &bytes, NULL);
}

static char *
short_log (const char *log)
{
  return g_utf8_make_valid (log, (gssize) MIN (strlen (log), LOG_LIMIT));
}

/* The first line that says error, or the first line. */
static char *
first_error (const char *log)
{
  g_auto (GStrv) lines = g_strsplit (log, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    if (strstr (lines[i], "error"))
      return g_strdup (lines[i]);
  return g_strdup (lines[0] ? lines[0] : "");
}

static void
fail_compile (AssayChannel *channel, const Outcome *outcome)
{
  AssayWorkerError *error = assay_worker_error_new ();
  error->kind = g_strdup ("compile");
  error->message = first_error (outcome->log);
  error->log = short_log (outcome->log);
  error->name = g_strdup (outcome->compiler);
  assay_channel_fail (channel, error);
}

static void
fail_symbol (AssayChannel *channel, const char *symbol, GPtrArray *entries)
{
  AssayWorkerError *error = assay_worker_error_new ();
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  for (guint i = 0; i < entries->len; i++)
    g_strv_builder_add (names, ((AssayPtxEntry *) g_ptr_array_index (entries, i))->plain);
  error->kind = g_strdup ("symbol");
  error->names = g_strv_builder_end (names);
  g_autofree char *list = g_strjoinv (", ", error->names);
  error->message =
      entries->len
          ? g_strdup_printf ("no kernel \"%s\" in the sources; they have: %s", symbol, list)
          : g_strdup_printf ("no kernel \"%s\": the sources have no kernel", symbol);
  assay_channel_fail (channel, error);
}

static void
finish (AssayChannel *channel, const AssayWorkerRequest *request, const Outcome *outcome)
{
  g_autoptr (GPtrArray) entries = assay_ptx_entries (outcome->ptx);
  const char *symbol = outcome->lowered ? outcome->lowered : request->symbol;
  const AssayPtxEntry *entry = symbol ? assay_ptx_find (entries, symbol) : NULL;
  if (symbol && !entry)
    {
      fail_symbol (channel, request->symbol, entries);
      return;
    }
  assay_channel_phase (channel, "write");
  if (!assay_worker_write_all ((int) request->output_fd, outcome->ptx, strlen (outcome->ptx)))
    {
      assay_channel_fail_message (channel, "environment", "the PTX cannot be handed over");
      return;
    }
  JsonObject *fields = json_object_new ();
  g_autofree char *log = short_log (outcome->log);
  json_object_set_string_member (fields, "entry", entry ? entry->name : "");
  json_object_set_string_member (fields, "compiler", outcome->compiler);
  json_object_set_string_member (fields, "log", log);
  assay_channel_reply (channel, ASSAY_REPLY_DONE, fields);
}

void
assay_worker_compile (AssayChannel *channel, const AssayWorkerRequest *request)
{
  AssayNvrtc nvrtc;
  g_autoptr (GError) error = NULL;
  g_autofree char *reason = NULL;
  const char *name = NULL;
  Outcome outcome = {0};
  assay_channel_phase (channel, "load");
  g_autofree char *unit = read_unit (request, &name, &reason);
  if (!unit || request->sources->len == 0)
    {
      assay_channel_fail_message (channel, "request", "no source to compile: %s",
                                  reason ? reason : "none named");
      return;
    }
  if (!assay_nvrtc_open (&nvrtc, request->nvrtc ? request->nvrtc : "", &error))
    {
      assay_channel_fail_message (channel, "environment", "%s", error->message);
      return;
    }
  assay_channel_phase (channel, "compile");
  compile_nvrtc (&nvrtc, request, unit, name, &outcome);
  if (!outcome.compiled && request->nvcc && !request->resources && has_host_code (unit))
    compile_nvcc (request, &outcome);
  if (outcome.compiled)
    finish (channel, request, &outcome);
  else
    fail_compile (channel, &outcome);
  outcome_clear (&outcome);
}
