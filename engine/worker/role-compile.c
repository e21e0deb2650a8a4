/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/worker/compile.h"
#include "engine/worker/roles.h"

#include "engine/device/nvrtc.h"
#include "engine/worker/ptx-signature.h"
#include "engine/worker/shims.h"

#include <gio/gio.h>
#include <string.h>

void
assay_compiled_clear (AssayCompiled *outcome)
{
  g_free (outcome->ptx);
  g_free (outcome->log);
  g_free (outcome->compiler);
  g_free (outcome->lowered);
  g_free (outcome->library);
}

char *
assay_compile_read (const AssayWorkerRequest *request, const char **name, char **reason)
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
  const char *digits = strpbrk (request->target, "0123456789");
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

void
assay_compile_nvrtc (const AssayNvrtc *nvrtc, const AssayWorkerRequest *request, const char *unit,
                     const char *name, AssayCompiled *outcome)
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

gboolean
assay_compile_has_host_code (const char *unit)
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

/* nvcc as a separate program, in a folder that only this sandbox has. */
typedef struct
{
  const AssayWorkerRequest *request;
  GPtrArray *words;
  char *output; /* file */
  char *said;
  gboolean made;
} Nvcc;

static void
nvcc_begin (Nvcc *nvcc, const AssayWorkerRequest *request, const char *folder, const char *name)
{
  *nvcc = (Nvcc) {.request = request, .output = g_build_filename (folder, name, NULL)};
  nvcc->words = g_ptr_array_new_with_free_func (g_free);
  const char *const fixed[] = {request->nvcc, "-lineinfo", "-o", nvcc->output};
  for (gsize i = 0; i < G_N_ELEMENTS (fixed); i++)
    g_ptr_array_add (nvcc->words, g_strdup (fixed[i]));
  for (guint i = 0; request->options && request->options[i]; i++)
    g_ptr_array_add (nvcc->words, g_strdup (request->options[i]));
}

static void
nvcc_add (Nvcc *nvcc, const char *first, ...)
{
  va_list words;
  va_start (words, first);
  for (const char *word = first; word; word = va_arg (words, const char *))
    g_ptr_array_add (nvcc->words, g_strdup (word));
  va_end (words);
}

static void
nvcc_clear (Nvcc *nvcc)
{
  g_ptr_array_unref (nvcc->words);
  g_free (nvcc->output);
  g_free (nvcc->said);
}

static gpointer
nvcc_run (gpointer data)
{
  Nvcc *nvcc = data;
  g_autoptr (GError) error = NULL;
  int status = -1;
  g_ptr_array_add (nvcc->words, NULL);
  gboolean ran = g_spawn_sync (NULL, (char **) nvcc->words->pdata, NULL, G_SPAWN_STDOUT_TO_DEV_NULL,
                               NULL, NULL, NULL, &nvcc->said, &status, &error);
  if (!ran)
    nvcc->said = g_strdup (error->message);
  nvcc->made = ran && status == 0;
  return NULL;
}

/* What nvcc reads: the one source itself, or a file that holds all of them. */
static char *
unit_path (const AssayWorkerRequest *request, const char *folder, const char *unit)
{
  guint units = 0;
  for (guint i = 0; i < request->sources->len; i++)
    units += g_str_has_suffix (
        ((AssayWorkerSource *) g_ptr_array_index (request->sources, i))->name, ".cu");
  if (units <= 1)
    return g_strdup (((AssayWorkerSource *) g_ptr_array_index (request->sources, 0))->path);
  char *path = g_build_filename (folder, "unit.cu", NULL);
  g_file_set_contents (path, unit, -1, NULL);
  return path;
}

static void
add_unit (Nvcc *nvcc, const char *path)
{
  const AssayWorkerRequest *request = nvcc->request;
  for (guint i = 0; i < request->sources->len; i++)
    {
      const AssayWorkerSource *source = g_ptr_array_index (request->sources, i);
      g_autofree char *folder = g_path_get_dirname (source->path);
      nvcc_add (nvcc, "-I", folder, NULL);
    }
  nvcc_add (nvcc, path, NULL);
}

static void
prepare_ptx (Nvcc *nvcc, const AssayWorkerRequest *request, const char *folder, const char *path)
{
  g_autofree char *arch = g_strconcat ("-arch=compute_", request->target + strlen ("sm_"), NULL);
  nvcc_begin (nvcc, request, folder, "unit.ptx");
  nvcc_add (nvcc, "-ptx", arch, NULL);
  add_unit (nvcc, path);
}

/* Without a runtime: the worker that opens the library has one. */
static void
prepare_library (Nvcc *nvcc, const AssayWorkerRequest *request, const char *folder,
                 const char *path)
{
  const char *digits = request->target + strlen ("sm_");
  g_autofree char *code = g_strdup_printf ("arch=compute_%s,code=sm_%s", digits, digits);
  nvcc_begin (nvcc, request, folder, "unit.so");
  nvcc_add (nvcc, "-shared", "-Xcompiler", "-fPIC", "-cudart", "none", "-gencode", code, "-Xptxas",
            "-v", NULL);
  add_unit (nvcc, path);
}

void
assay_compile_nvcc (const AssayWorkerRequest *request, const char *unit, AssayCompiled *outcome)
{
  g_autofree char *folder = g_dir_make_tmp ("nvcc-XXXXXX", NULL);
  g_autofree char *path = unit_path (request, folder ? folder : ".", unit);
  Nvcc ptx = {0}, library = {0};
  GThread *second = NULL;
  prepare_ptx (&ptx, request, folder ? folder : ".", path);
  if (request->host)
    {
      prepare_library (&library, request, folder ? folder : ".", path);
      second = g_thread_new ("library", nvcc_run, &library);
    }
  nvcc_run (&ptx);
  if (second)
    g_thread_join (second);
  g_free (outcome->log);
  outcome->log = g_strdup (second && ptx.made ? library.said : ptx.said);
  g_free (outcome->compiler);
  outcome->compiler = g_strdup ("nvcc");
  outcome->compiled = ptx.made && (!second || library.made)
                      && g_file_get_contents (ptx.output, &outcome->ptx, NULL, NULL);
  if (second)
    {
      outcome->library = g_strdup (library.output);
      nvcc_clear (&library);
    }
  nvcc_clear (&ptx);
}

char *
assay_compile_log (const char *log)
{
  return g_utf8_make_valid (log, (gssize) MIN (strlen (log), ASSAY_COMPILE_LOG_LIMIT));
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
fail_compile (AssayChannel *channel, const AssayCompiled *outcome)
{
  AssayWorkerError *error = assay_worker_error_new ();
  error->kind = g_strdup ("compile");
  error->message = first_error (outcome->log);
  error->log = assay_compile_log (outcome->log);
  error->name = g_strdup (outcome->compiler);
  assay_channel_fail (channel, error);
}

static void
fail_symbol (AssayChannel *channel, const char *what, const char *symbol, char **names)
{
  AssayWorkerError *error = assay_worker_error_new ();
  g_autofree char *list = g_strjoinv (", ", names);
  error->kind = g_strdup ("symbol");
  error->names = g_strdupv (names);
  error->message =
      names[0] ? g_strdup_printf ("no %s \"%s\" in the sources; they have: %s", what, symbol, list)
               : g_strdup_printf ("no %s \"%s\": the sources have none", what, symbol);
  assay_channel_fail (channel, error);
}

static char **
kernel_names (GPtrArray *entries)
{
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  for (guint i = 0; i < entries->len; i++)
    g_strv_builder_add (names, ((AssayPtxEntry *) g_ptr_array_index (entries, i))->plain);
  return g_strv_builder_end (names);
}

/* The functions that a library exports, by binutils' nm: "0000000000001139 T name". */
static char **
exported_names (const char *library)
{
  const char *argv[] = {"nm", "-D", "--defined-only", library, NULL};
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  g_autofree char *text = NULL;
  if (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL,
                    NULL, NULL, &text, NULL, NULL, NULL)
      && text)
    {
      g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
      for (guint i = 0; lines[i]; i++)
        {
          const char *at = strstr (lines[i], " T ");
          if (at)
            g_strv_builder_add (names, at + 3);
        }
    }
  return g_strv_builder_end (names);
}

/* By its exact name, or by the only C++ name that it is the last part of. (transfer full) */
static char *
find_exported (char **names, const char *symbol)
{
  const char *found = NULL;
  guint count = 0;
  for (guint i = 0; names[i]; i++)
    {
      g_autofree char *plain = assay_plain_name (names[i]);
      if (g_str_equal (names[i], symbol))
        return g_strdup (symbol);
      if (!g_str_equal (plain, symbol))
        continue;
      found = names[i];
      count++;
    }
  return count == 1 ? g_strdup (found) : NULL;
}

static gboolean
hand_over (AssayChannel *channel, const AssayWorkerRequest *request, const AssayCompiled *outcome)
{
  gsize bytes = 0;
  g_autofree char *library = NULL;
  assay_channel_phase (channel, "write");
  gboolean written =
      assay_worker_write_all ((int) request->output_fd, outcome->ptx, strlen (outcome->ptx));
  if (written && request->host)
    written = g_file_get_contents (outcome->library, &library, &bytes, NULL)
              && assay_worker_write_all ((int) request->library_fd, library, bytes);
  if (!written)
    assay_channel_fail_message (channel, "environment", "what was compiled cannot be handed over");
  return written;
}

/* The name to look for at run time; NULL after the request was ended. (transfer full) */
static char *
find_symbol (AssayChannel *channel, const AssayWorkerRequest *request, const AssayCompiled *outcome)
{
  const char *symbol = outcome->lowered ? outcome->lowered : request->symbol;
  g_autoptr (GPtrArray) entries = assay_ptx_entries (outcome->ptx);
  g_auto (GStrv) names = request->host ? exported_names (outcome->library) : kernel_names (entries);
  if (request->host)
    {
      char *found = find_exported (names, symbol);
      if (!found)
        fail_symbol (channel, "function", request->symbol, names);
      return found;
    }
  const AssayPtxEntry *entry = assay_ptx_find (entries, symbol);
  if (!entry)
    fail_symbol (channel, "kernel", request->symbol, names);
  return entry ? g_strdup (entry->name) : NULL;
}

static void
finish (AssayChannel *channel, const AssayWorkerRequest *request, const AssayCompiled *outcome)
{
  g_autofree char *entry = find_symbol (channel, request, outcome);
  if (!entry || !hand_over (channel, request, outcome))
    return;
  JsonObject *fields = json_object_new ();
  g_autofree char *log = assay_compile_log (outcome->log);
  json_object_set_string_member (fields, "entry", entry);
  json_object_set_string_member (fields, "compiler", outcome->compiler);
  json_object_set_string_member (fields, "log", log);
  assay_channel_reply (channel, ASSAY_REPLY_DONE, fields);
}

/* FALSE when the request was ended. */
static gboolean
compile_device (AssayChannel *channel, const AssayWorkerRequest *request, const char *unit,
                const char *name, AssayCompiled *outcome)
{
  AssayNvrtc nvrtc;
  g_autoptr (GError) error = NULL;
  if (!assay_nvrtc_open (&nvrtc, request->nvrtc ? request->nvrtc : "", &error))
    {
      assay_channel_fail_message (channel, "environment", "%s", error->message);
      return FALSE;
    }
  assay_channel_phase (channel, "compile");
  assay_compile_nvrtc (&nvrtc, request, unit, name, outcome);
  if (!outcome->compiled && request->nvcc && assay_compile_has_host_code (unit))
    assay_compile_nvcc (request, unit, outcome);
  return TRUE;
}

static gboolean
compile_host (AssayChannel *channel, const AssayWorkerRequest *request, const char *unit,
              AssayCompiled *outcome)
{
  if (!request->nvcc)
    {
      assay_channel_fail_message (channel, "environment",
                                  "no nvcc in the toolkit: a candidate with host code needs it");
      return FALSE;
    }
  assay_channel_phase (channel, "compile");
  assay_compile_nvcc (request, unit, outcome);
  return TRUE;
}

void
assay_worker_compile (AssayChannel *channel, const AssayWorkerRequest *request)
{
  g_autofree char *reason = NULL;
  const char *name = NULL;
  AssayCompiled outcome = {0};
  assay_channel_phase (channel, "load");
  g_autofree char *unit = assay_compile_read (request, &name, &reason);
  if (!unit || request->sources->len == 0 || !request->symbol || !request->target)
    {
      assay_channel_fail_message (channel, "request", "no source to compile: %s",
                                  reason ? reason : "none named");
      return;
    }
  gboolean going = request->host ? compile_host (channel, request, unit, &outcome)
                                 : compile_device (channel, request, unit, name, &outcome);
  if (going && outcome.compiled)
    finish (channel, request, &outcome);
  else if (going)
    fail_compile (channel, &outcome);
  assay_compiled_clear (&outcome);
}
