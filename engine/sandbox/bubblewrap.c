/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sandbox/spec-private.h"

#include "engine/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The part that is the same for every worker. No --as-pid-1: as the first process of a namespace the
 * program would ignore the signals that must end it. --disable-userns needs --unshare-user by name. */
static const char *const FIXED[] = {
    "--unshare-all",
    "--unshare-user",
    "--disable-userns",
    "--die-with-parent",
    "--new-session",
    "--hostname",
    "box",
    "--cap-drop",
    "ALL",
    "--clearenv",
    "--ro-bind",
    "/usr",
    "/usr",
    "--ro-bind-try",
    "/etc/ld.so.cache",
    "/etc/ld.so.cache",
    "--ro-bind-try",
    "/etc/alternatives",
    "/etc/alternatives",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    NULL,
};

/* What a merged /usr keeps as links, and an older system as folders. */
static const char *const SYSTEM_FOLDERS[] = {"bin", "sbin", "lib", "lib32", "lib64", "libx32"};

static const char *const GPU_NODES[] = {
    "/dev/nvidiactl",   "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset",
    "/dev/nvidia-caps", "/dev/nvidia0",    "/dev/nvidia1",          "/dev/nvidia2",
    "/dev/nvidia3",     "/dev/nvidia4",    "/dev/nvidia5",          "/dev/nvidia6",
    "/dev/nvidia7",
};

#define COPIED_FILES 64

static void
add (AssayBubblewrap *command, const char *first, ...)
{
  va_list words;
  va_start (words, first);
  for (const char *word = first; word; word = va_arg (words, const char *))
    g_ptr_array_add (command->argv, g_strdup (word));
  va_end (words);
}

static void
add_system_folders (AssayBubblewrap *command)
{
  for (gsize i = 0; i < G_N_ELEMENTS (SYSTEM_FOLDERS); i++)
    {
      g_autofree char *path = g_strconcat ("/", SYSTEM_FOLDERS[i], NULL);
      g_autofree char *link = g_file_read_link (path, NULL);
      if (link)
        add (command, "--symlink", link, path, NULL);
      else if (g_file_test (path, G_FILE_TEST_IS_DIR))
        add (command, "--ro-bind", path, path, NULL);
    }
}

/* Whether uid 65534 could reach and read `path`, which has no links, by the permission bits for others. */
static gboolean
others_can_read (const char *path)
{
  g_autofree char *at = g_strdup (path);
  GStatBuf status;
  if (g_stat (at, &status) != 0)
    return FALSE;
  mode_t wanted = S_ISDIR (status.st_mode) ? S_IROTH | S_IXOTH : S_IROTH;
  while ((status.st_mode & wanted) == wanted)
    {
      if (g_str_equal (at, "/"))
        return TRUE;
      char *parent = g_path_get_dirname (at);
      g_free (at);
      at = parent;
      wanted = S_IXOTH;
      if (g_stat (at, &status) != 0)
        return FALSE;
    }
  return FALSE;
}

static gboolean
add_copy (AssayBubblewrap *command, const char *outside, const char *inside, GError **error)
{
  int fd = open (outside, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND, "%s: %s", outside,
                   g_strerror (errno));
      return FALSE;
    }
  g_autofree char *number = g_strdup_printf ("%u", ASSAY_FIRST_DATA_FD + command->opened->len);
  g_array_append_val (command->opened, fd);
  add (command, "--perms", "0555", "--ro-bind-data", number, inside, NULL);
  return TRUE;
}

static gboolean
add_copies (AssayBubblewrap *command, const char *outside, const char *inside, GError **error)
{
  if (!g_file_test (outside, G_FILE_TEST_IS_DIR))
    return add_copy (command, outside, inside, error);
  g_autoptr (GDir) folder = g_dir_open (outside, 0, error);
  if (!folder)
    return FALSE;
  for (const char *name; (name = g_dir_read_name (folder));)
    {
      g_autofree char *from = g_build_filename (outside, name, NULL);
      g_autofree char *to = g_build_filename (inside, name, NULL);
      if (g_file_test (from, G_FILE_TEST_IS_REGULAR) && !add_copy (command, from, to, error))
        return FALSE;
    }
  return TRUE;
}

/* A file, or a folder of a few files: what a worker can get as a copy. */
static gboolean
can_copy (const char *path)
{
  guint files = 0;
  if (!g_file_test (path, G_FILE_TEST_IS_DIR))
    return TRUE;
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  for (const char *name; folder && (name = g_dir_read_name (folder));)
    {
      g_autofree char *inner = g_build_filename (path, name, NULL);
      if (!g_file_test (inner, G_FILE_TEST_IS_REGULAR) || ++files > COPIED_FILES)
        return FALSE;
    }
  return folder != NULL;
}

gboolean
assay_bubblewrap_can_drop (const AssaySandboxSpec *spec)
{
  for (guint i = 0; i < spec->mounts->len; i++)
    {
      const AssaySandboxMount *mount = g_ptr_array_index (spec->mounts, i);
      g_autofree char *real = realpath (mount->outside, NULL);
      const char *outside = real ? real : mount->outside;
      if (!others_can_read (outside) && !can_copy (outside))
        return FALSE;
    }
  return TRUE;
}

static gboolean
add_mounts (AssayBubblewrap *command, const AssaySandboxSpec *spec, gboolean dropped,
            GError **error)
{
  for (guint i = 0; i < spec->mounts->len; i++)
    {
      const AssaySandboxMount *mount = g_ptr_array_index (spec->mounts, i);
      /* bwrap follows links with fewer rights than we have. */
      g_autofree char *real = realpath (mount->outside, NULL);
      const char *outside = real ? real : mount->outside;
      if (!dropped || others_can_read (outside))
        add (command, "--ro-bind", outside, mount->inside, NULL);
      else if (!add_copies (command, outside, mount->inside, error))
        return FALSE;
    }
  return TRUE;
}

static void
add_gpu (AssayBubblewrap *command)
{
  for (gsize i = 0; i < G_N_ELEMENTS (GPU_NODES); i++)
    add (command, "--dev-bind-try", GPU_NODES[i], GPU_NODES[i], NULL);
  add (command, "--ro-bind", "/sys", "/sys", NULL);
}

static void
add_environment (AssayBubblewrap *command, const AssaySandboxSpec *spec)
{
  static const char *const fixed[] = {
      "PATH",    "/usr/local/cuda/bin:/usr/bin:/bin", "HOME", "/scratch", "TMPDIR", "/tmp", "LANG",
      "C.UTF-8",
  };
  for (gsize i = 0; i < G_N_ELEMENTS (fixed); i += 2)
    add (command, "--setenv", fixed[i], fixed[i + 1], NULL);
  if (ASSAY_SANITIZED)
    add (command, "--setenv", "ASAN_OPTIONS",
         "detect_leaks=0:handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0:"
         "handle_sigill=0",
         NULL);
  for (guint i = 0; i + 1 < spec->environment->len; i += 2)
    add (command, "--setenv", g_ptr_array_index (spec->environment, i),
         g_ptr_array_index (spec->environment, i + 1), NULL);
}

static void
close_descriptor (gpointer data)
{
  close (*(int *) data);
}

AssayBubblewrap *
assay_bubblewrap_new (const AssaySandboxSpec *spec, const char *bwrap, gboolean dropped,
                      GError **error)
{
  g_autoptr (AssayBubblewrap) command = g_new0 (AssayBubblewrap, 1);
  command->argv = g_ptr_array_new_with_free_func (g_free);
  command->opened = g_array_new (FALSE, FALSE, sizeof (int));
  g_array_set_clear_func (command->opened, close_descriptor);
  g_autofree char *scratch = g_strdup_printf ("%" G_GUINT64_FORMAT, spec->limits.scratch_bytes);
  g_autofree char *filter = g_strdup_printf ("%d", ASSAY_FILTER_FD);
  g_autofree char *status = g_strdup_printf ("%d", ASSAY_STATUS_FD);
  add (command, bwrap, "--seccomp", filter, "--json-status-fd", status, NULL);
  for (gsize i = 0; FIXED[i]; i++)
    add (command, FIXED[i], NULL);
  add_system_folders (command);
  add (command, "--size", scratch, "--tmpfs", "/tmp", "--size", scratch, "--tmpfs", "/scratch",
       "--chdir", "/scratch", NULL);
  if (spec->gpu)
    add_gpu (command);
  if (!add_mounts (command, spec, dropped, error))
    return NULL;
  add_environment (command, spec);
  add (command, "--remount-ro", "/", "--", NULL);
  for (guint i = 0; i < spec->argv->len; i++)
    add (command, g_ptr_array_index (spec->argv, i), NULL);
  g_ptr_array_add (command->argv, NULL);
  return g_steal_pointer (&command);
}

void
assay_bubblewrap_free (AssayBubblewrap *command)
{
  g_ptr_array_unref (command->argv);
  g_array_unref (command->opened);
  g_free (command);
}
