/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/worker/roles.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>

#define LOG_LIMIT 65536

typedef struct
{
  const AssayWorkerRung *rung;
  char *output;
  GPid pid;
  int err; /* the compiler's stderr, a file */
  int status;
} Build;

/* gcc and clang alike; -O1 keeps the time low and, with contraction off, one rounding per written
 * operation. */
static GPtrArray *
compiler_words (const AssayWorkerRequest *request, const AssayWorkerRung *rung, const char *output)
{
  GPtrArray *words = g_ptr_array_new_with_free_func (g_free);
  const char *const fixed[] = {"-shared",
                               "-fPIC",
                               "-std=gnu11",
                               "-O1",
                               "-ffp-contract=off",
                               "-fno-math-errno",
                               "-Wall",
                               "-Werror=implicit-function-declaration",
                               "-o"};
  g_ptr_array_add (words, g_strdup (request->compiler));
  for (gsize i = 0; i < G_N_ELEMENTS (fixed); i++)
    g_ptr_array_add (words, g_strdup (fixed[i]));
  g_ptr_array_add (words, g_strdup (output));
  g_ptr_array_add (words, g_strdup_printf ("-DASSAY_REAL=%d", (int) rung->real));
  for (guint i = 0; request->includes && request->includes[i]; i++)
    g_ptr_array_add (words, g_strconcat ("-I", request->includes[i], NULL));
  for (guint i = 0; request->options && request->options[i]; i++)
    g_ptr_array_add (words, g_strdup (request->options[i]));
  g_ptr_array_add (words, g_strdup (request->wrapper_path));
  g_ptr_array_add (words, g_strdup ("-lquadmath"));
  g_ptr_array_add (words, g_strdup ("-lm"));
  g_ptr_array_add (words, NULL);
  return words;
}

static gboolean
start (const AssayWorkerRequest *request, Build *build, const char *folder, guint index,
       GError **error)
{
  g_autofree char *name = g_strdup_printf ("rung-%u.so", index);
  g_autofree char *log = g_strdup_printf ("rung-%u.log", index);
  g_autofree char *log_path = g_build_filename (folder, log, NULL);
  build->output = g_build_filename (folder, name, NULL);
  build->err = g_open (log_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  g_autoptr (GPtrArray) words = compiler_words (request, build->rung, build->output);
  return g_spawn_async_with_fds (NULL, (char **) words->pdata, NULL, G_SPAWN_DO_NOT_REAP_CHILD,
                                 NULL, NULL, &build->pid, -1, -1, build->err, error);
}

static void
fail_build (AssayChannel *channel, const Build *build)
{
  AssayWorkerError *error = assay_worker_error_new ();
  gsize bytes = 0;
  g_autofree char *raw = assay_worker_read_all (build->err, &bytes);
  g_autofree char *log = g_utf8_make_valid (raw, (gssize) MIN (bytes, LOG_LIMIT));
  g_auto (GStrv) lines = g_strsplit (log, "\n", -1);
  error->kind = g_strdup ("build");
  error->log = g_strdup (log);
  error->name = g_strdup_printf ("ASSAY_REAL=%d", (int) build->rung->real);
  for (guint i = 0; lines[i] && !error->message; i++)
    if (strstr (lines[i], "error") || strstr (lines[i], "undefined"))
      error->message = g_strdup (lines[i]);
  if (!error->message)
    error->message = g_strdup_printf ("the compiler ended with status %d", build->status);
  assay_channel_fail (channel, error);
}

static gboolean
hand_over (const Build *build, GError **error)
{
  g_autofree char *library = NULL;
  gsize bytes = 0;
  if (!g_file_get_contents (build->output, &library, &bytes, error))
    return FALSE;
  if (assay_worker_write_all ((int) build->rung->fd, library, bytes))
    return TRUE;
  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NOSPC, "a library cannot be handed over");
  return FALSE;
}

void
assay_worker_build (AssayChannel *channel, const AssayWorkerRequest *request)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("build-XXXXXX", &error);
  guint count = request->rungs->len;
  g_autofree Build *builds = g_new0 (Build, count);
  gboolean going = folder != NULL;
  const Build *failed = NULL;
  assay_channel_phase (channel, "compile");
  for (guint i = 0; i < count && going; i++)
    {
      builds[i].rung = g_ptr_array_index (request->rungs, i);
      going = start (request, &builds[i], folder, i, &error);
    }
  for (guint i = 0; i < count; i++)
    if (builds[i].pid > 0)
      {
        waitpid (builds[i].pid, &builds[i].status, 0);
        if (builds[i].status != 0 && !failed)
          failed = &builds[i];
      }
  if (going && failed)
    {
      fail_build (channel, failed);
      return;
    }
  assay_channel_phase (channel, "write");
  for (guint i = 0; i < count && going; i++)
    going = hand_over (&builds[i], &error);
  if (going)
    assay_channel_reply (channel, ASSAY_REPLY_DONE, json_object_new ());
  else
    assay_channel_fail_message (channel, "environment", "%s", error->message);
}
