/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/service/serve.h"

#include "config.h"
#include "engine/base/error.h"
#include "engine/service/service.h"

#include <errno.h>
#include <glib-unix.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TOKEN_LENGTH 64

/* The first line of stdin, without reading beyond it. */
static char *
read_token (GError **error)
{
  GString *line = g_string_new (NULL);
  char c = 0;
  while (line->len <= TOKEN_LENGTH)
    {
      ssize_t n = read (STDIN_FILENO, &c, 1);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0 || c == '\n')
        break;
      g_string_append_c (line, c);
    }
  gboolean good =
      line->len == TOKEN_LENGTH && strspn (line->str, "0123456789abcdef") == TOKEN_LENGTH;
  if (!good)
    g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                 "the first line of stdin must be a token of %d lower-case hexadecimal digits",
                 TOKEN_LENGTH);
  return g_string_free (line, !good);
}

/* Nothing more is expected on stdin: its end means that whoever started us is gone. */
static gboolean
on_stdin (gint fd, GIOCondition condition, gpointer loop)
{
  char block[256];
  (void) condition;
  ssize_t n = read (fd, block, sizeof block);
  if (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)))
    return G_SOURCE_CONTINUE;
  g_main_loop_quit (loop);
  return G_SOURCE_REMOVE;
}

static gboolean
on_signal (gpointer loop)
{
  g_main_loop_quit (loop);
  return G_SOURCE_CONTINUE;
}

static int
serve (const char *socket_path, const char *workspace)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *token = read_token (&error);
  g_autoptr (AssayService) service = token ? assay_service_new (workspace, token, &error) : NULL;
  if (!service || !assay_service_listen (service, socket_path, &error))
    {
      g_printerr ("assay-engine serve: %s\n", error->message);
      return 2;
    }
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  guint input = g_unix_fd_add (STDIN_FILENO, G_IO_IN | G_IO_HUP | G_IO_ERR, on_stdin, loop);
  guint interrupt = g_unix_signal_add (SIGINT, on_signal, loop);
  guint terminate = g_unix_signal_add (SIGTERM, on_signal, loop);
  printf ("ready {\"protocol\":1,\"version\":\"%s\",\"pid\":%d}\n", ASSAY_VERSION, getpid ());
  fflush (stdout);
  g_main_loop_run (loop);
  assay_service_stop (service);
  g_source_remove (interrupt);
  g_source_remove (terminate);
  GSource *left = g_main_context_find_source_by_id (NULL, input);
  if (left)
    g_source_destroy (left);
  return 0;
}

int
assay_command_serve (int argc, char **argv)
{
  g_autofree char *socket_path = NULL, *workspace = NULL;
  g_autoptr (GError) error = NULL;
  const GOptionEntry entries[] = {
      {"socket", 0, 0, G_OPTION_ARG_FILENAME, &socket_path, "where to listen", "PATH"},
      {"workspace", 'w', 0, G_OPTION_ARG_FILENAME, &workspace, "where runs are kept", "DIR"},
      {NULL},
  };
  g_autoptr (GOptionContext) context =
      g_option_context_new ("– serve the workbench; the token is the first line of stdin");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    {
      g_printerr ("assay-engine serve: %s\n", error->message);
      return 2;
    }
  if (!socket_path || !workspace)
    {
      g_printerr ("assay-engine serve: --socket and --workspace are needed\n");
      return 2;
    }
  return serve (socket_path, workspace);
}
