/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sandbox/tree.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define V1_MEMORY "/sys/fs/cgroup/memory"
#define TREE_LIMIT 4096 /* processes looked at; more than any limit lets live */

static gsize
read_small (const char *path, char *buffer, gsize size)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read (fd, buffer, size - 1);
  if (fd >= 0)
    close (fd);
  buffer[MAX (n, 0)] = 0;
  return (gsize) MAX (n, 0);
}

static void
add_children (pid_t pid, GArray *pids)
{
  char path[64], text[8192];
  g_snprintf (path, sizeof path, "/proc/%d/task", pid);
  GDir *tasks = g_dir_open (path, 0, NULL);
  if (!tasks)
    return;
  for (const char *task; (task = g_dir_read_name (tasks));)
    {
      char children[96];
      g_snprintf (children, sizeof children, "/proc/%d/task/%s/children", pid, task);
      read_small (children, text, sizeof text);
      for (char *at = text, *end; pids->len < TREE_LIMIT; at = end)
        {
          pid_t child = (pid_t) strtol (at, &end, 10);
          if (end == at)
            break;
          g_array_append_val (pids, child);
        }
    }
  g_dir_close (tasks);
}

AssayTreeUse
assay_tree_use (pid_t root)
{
  AssayTreeUse use = {0, 0};
  g_autoptr (GArray) pids = g_array_new (FALSE, FALSE, sizeof (pid_t));
  guint64 page = (guint64) sysconf (_SC_PAGESIZE);
  g_array_append_val (pids, root);
  for (guint i = 0; i < pids->len; i++)
    {
      pid_t pid = g_array_index (pids, pid_t, i);
      char path[64], text[256];
      unsigned long long resident = 0;
      g_snprintf (path, sizeof path, "/proc/%d/statm", pid);
      if (read_small (path, text, sizeof text) == 0)
        continue;
      if (sscanf (text, "%*u %llu", &resident) == 1)
        use.resident_bytes += resident * page;
      use.processes++;
      add_children (pid, pids);
    }
  return use;
}

struct _AssayGroup
{
  char *folder;
  int fd;
  gboolean v2;
};

static gboolean
write_value (const char *folder, const char *file, guint64 value)
{
  g_autofree char *path = g_build_filename (folder, file, NULL);
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, value);
  int fd = open (path, O_WRONLY | O_CLOEXEC);
  gboolean written = fd >= 0 && write (fd, text, strlen (text)) == (ssize_t) strlen (text);
  if (fd >= 0)
    close (fd);
  return written;
}

/* The folder of our own v2 group, when it may hand the memory controller on. */
static char *
find_v2_parent (void)
{
  g_autofree char *own = NULL;
  if (!g_file_get_contents ("/proc/self/cgroup", &own, NULL, NULL))
    return NULL;
  g_auto (GStrv) lines = g_strsplit (own, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    if (g_str_has_prefix (lines[i], "0::"))
      {
        g_autofree char *folder = g_build_filename ("/sys/fs/cgroup", lines[i] + 3, NULL);
        g_autofree char *control = g_build_filename (folder, "cgroup.subtree_control", NULL);
        g_autofree char *controllers = NULL;
        if (g_file_get_contents (control, &controllers, NULL, NULL)
            && strstr (controllers, "memory") && access (folder, W_OK) == 0)
          return g_steal_pointer (&folder);
      }
  return NULL;
}

static char *
find_parent (gboolean *v2)
{
  *v2 = FALSE;
  if (g_file_test (V1_MEMORY "/memory.limit_in_bytes", G_FILE_TEST_EXISTS))
    return access (V1_MEMORY, W_OK) == 0 ? g_strdup (V1_MEMORY) : NULL;
  *v2 = TRUE;
  return find_v2_parent ();
}

/* Groups of engines that were killed: empty, since their workers died with them. */
static void
sweep (const char *parent)
{
  g_autoptr (GDir) dir = g_dir_open (parent, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name (dir));)
    {
      int pid = 0;
      if (sscanf (name, "assay-%d-", &pid) != 1)
        continue;
      g_autofree char *process = g_strdup_printf ("/proc/%d", pid);
      g_autofree char *path = g_build_filename (parent, name, NULL);
      if (!g_file_test (process, G_FILE_TEST_EXISTS))
        g_rmdir (path);
    }
}

AssayGroup *
assay_group_new (guint64 memory_bytes)
{
  static int counter;
  gboolean v2;
  g_autofree char *parent = find_parent (&v2);
  if (!parent)
    return NULL;
  static gsize swept;
  if (g_once_init_enter (&swept))
    {
      sweep (parent);
      g_once_init_leave (&swept, 1);
    }
  g_autofree char *name =
      g_strdup_printf ("assay-%d-%d", getpid (), g_atomic_int_add (&counter, 1));
  g_autofree char *folder = g_build_filename (parent, name, NULL);
  g_autofree char *procs = g_build_filename (folder, "cgroup.procs", NULL);
  if (g_mkdir (folder, 0700) != 0)
    return NULL;
  gboolean limited =
      write_value (folder, v2 ? "memory.max" : "memory.limit_in_bytes", memory_bytes);
  int fd = limited ? open (procs, O_WRONLY | O_CLOEXEC) : -1;
  if (fd < 0)
    {
      g_rmdir (folder);
      return NULL;
    }
  /* Swap would hide the limit; without swap accounting these files do not exist. */
  write_value (folder, v2 ? "memory.swap.max" : "memory.memsw.limit_in_bytes",
               v2 ? 0 : memory_bytes);
  AssayGroup *group = g_new0 (AssayGroup, 1);
  group->folder = g_steal_pointer (&folder);
  group->fd = fd;
  group->v2 = v2;
  return group;
}

void
assay_group_free (AssayGroup *group)
{
  close (group->fd);
  for (int tries = 0; g_rmdir (group->folder) != 0 && tries < 50; tries++)
    g_usleep (2000);
  g_free (group->folder);
  g_free (group);
}

int
assay_group_fd (AssayGroup *group)
{
  return group->fd;
}

gboolean
assay_group_ran_out (AssayGroup *group)
{
  char text[512];
  g_autofree char *path =
      g_build_filename (group->folder, group->v2 ? "memory.events" : "memory.oom_control", NULL);
  read_small (path, text, sizeof text);
  const char *at = strstr (text, "oom_kill ");
  return at && g_ascii_strtoll (at + strlen ("oom_kill "), NULL, 10) > 0;
}

const char *
assay_group_describe (void)
{
  gboolean v2;
  g_autofree char *parent = find_parent (&v2);
  return !parent ? "watchdog" : v2 ? "cgroup v2" : "cgroup v1";
}
