/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sandbox/orphans.h"

#include "engine/sandbox/spec-private.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *
read_proc (pid_t pid, const char *file, gsize *bytes)
{
  char path[64];
  char *text = NULL;
  g_snprintf (path, sizeof path, "/proc/%d/%s", pid, file);
  g_file_get_contents (path, &text, bytes, NULL);
  return text;
}

void
assay_orphans_kill_children (pid_t bwrap)
{
  char file[64];
  kill (bwrap, SIGSTOP);
  g_snprintf (file, sizeof file, "task/%d/children", bwrap);
  g_autofree char *children = read_proc (bwrap, file, NULL);
  for (char *at = children, *end; at; at = end)
    {
      pid_t child = (pid_t) strtol (at, &end, 10);
      if (end == at)
        return;
      kill (child, SIGKILL);
    }
}

/* Whether `pid` is a bwrap of ours, by the words that only we give it. */
static gboolean
is_our_bwrap (pid_t pid)
{
  gsize bytes = 0;
  g_autofree char *words = read_proc (pid, "cmdline", &bytes);
  if (!words || bytes == 0 || words[bytes - 1] != 0)
    return FALSE;
  g_autofree char *name = g_path_get_basename (words);
  static const char mark[] = "--json-status-fd\0" ASSAY_STATUS_FD_WORD;
  return g_str_equal (name, "bwrap") && memmem (words, bytes, mark, sizeof mark) != NULL;
}

/* The first process of a namespace whose bwrap is gone. */
static gboolean
is_orphan (pid_t pid)
{
  int parent = 0, outside = 0, inside = 0;
  g_autofree char *status = is_our_bwrap (pid) ? read_proc (pid, "status", NULL) : NULL;
  const char *parent_line = status ? strstr (status, "\nPPid:") : NULL;
  const char *space_line = status ? strstr (status, "\nNSpid:") : NULL;
  if (!parent_line || !space_line || sscanf (parent_line, "\nPPid: %d", &parent) != 1)
    return FALSE;
  return sscanf (space_line, "\nNSpid: %d %d", &outside, &inside) == 2 && inside == 1
         && !is_our_bwrap (parent);
}

guint
assay_orphans_sweep (void)
{
  guint ended = 0;
  g_autoptr (GDir) proc = g_dir_open ("/proc", 0, NULL);
  for (const char *name; proc && (name = g_dir_read_name (proc));)
    {
      pid_t pid = g_ascii_isdigit (name[0]) ? (pid_t) atoi (name) : 0;
      int fd = pid > 0 && is_orphan (pid) ? (int) syscall (SYS_pidfd_open, pid, 0) : -1;
      if (fd < 0)
        continue;
      /* Asked again now that the number cannot pass to another. */
      if (is_orphan (pid) && syscall (SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == 0)
        ended++;
      close (fd);
    }
  return ended;
}
