/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/task/task.h"

#include "engine/base/error.h"

#include <gio/gio.h>
#include <string.h>

#define MAX_TEXT (16u << 20)
#define MAX_FILES 4096
#define MAX_TOTAL (1ull << 30)

/* Format and version first: a newer file may have other fields, and should not be told they are wrong. */
static gboolean
check_format (JsonNode *root, GError **error)
{
  JsonObject *object = JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  const char *format = object ? assay_json_string (object, "format") : NULL;
  if (g_strcmp0 (format, "assay-task") != 0)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "format: expected \"assay-task\", found %s%s%s", format ? "\"" : "",
                   format ? format : "nothing", format ? "\"" : "");
      return FALSE;
    }
  gint64 version = assay_json_int (object, "version", -1);
  if (version == ASSAY_TASK_VERSION)
    return TRUE;
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
               "version: expected %d, found %" G_GINT64_FORMAT "%s", ASSAY_TASK_VERSION, version,
               version > ASSAY_TASK_VERSION ? "; a newer Assay wrote this task" : "");
  return FALSE;
}

AssayTask *
assay_task_load_unchecked (const char *folder, GPtrArray *warnings, GError **error)
{
  g_autofree char *path = g_build_filename (folder, ASSAY_TASK_FILE, NULL);
  g_autoptr (JsonNode) root = assay_json_load (path, &ASSAY_JSON_LIMITS_TASK, error);
  if (!root)
    return NULL;
  AssayTask *task = NULL;
  if (check_format (root, error))
    task = assay_json_table_read (&ASSAY_TASK_TABLE, root, "", warnings, error);
  if (!task)
    {
      g_prefix_error (error, "%s: ", ASSAY_TASK_FILE);
      return NULL;
    }
  task->folder = g_canonicalize_filename (folder, NULL);
  return task;
}

AssayTask *
assay_task_load (const char *folder, GPtrArray *warnings, GError **error)
{
  g_autoptr (AssayTask) task = assay_task_load_unchecked (folder, warnings, error);
  if (!task)
    return NULL;
  g_autoptr (GPtrArray) problems = assay_task_problems (task);
  if (problems->len == 0)
    return g_steal_pointer (&task);
  g_ptr_array_add (problems, NULL);
  g_autofree char *text = g_strjoinv ("\n", (char **) problems->pdata);
  g_set_error_literal (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, text);
  return NULL;
}

static gboolean
set_problem (GError **error, int code, const char *relative, const char *what)
{
  g_set_error (error, ASSAY_ERROR, code, "expected %s, found \"%s\"", what, relative);
  return FALSE;
}

static gboolean
is_plain_relative (const char *relative, GError **error)
{
  if (!*relative || g_path_is_absolute (relative))
    return set_problem (error, ASSAY_ERROR_DENIED, relative, "a path relative to the task folder");
  g_auto (GStrv) parts = g_strsplit (relative, "/", -1);
  if (g_strv_contains ((const char *const *) parts, ".."))
    return set_problem (error, ASSAY_ERROR_DENIED, relative, "a path inside the task folder");
  return TRUE;
}

char *
assay_task_path (const AssayTask *task, const char *relative, GError **error)
{
  if (!is_plain_relative (relative, error))
    return NULL;
  g_autofree char *path = g_build_filename (task->folder, relative, NULL);
  g_autofree char *home = realpath (task->folder, NULL);
  g_autofree char *real = realpath (path, NULL);
  if (!home || !real)
    {
      set_problem (error, ASSAY_ERROR_NOT_FOUND, relative, "a file that exists");
      return NULL;
    }
  gsize length = strlen (home);
  if (strncmp (real, home, length) != 0 || (real[length] != '/' && real[length] != 0))
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_DENIED,
                   "expected a file inside the task folder, found \"%s\", a link to %s", relative,
                   real);
      return NULL;
    }
  return g_steal_pointer (&path);
}

char *
assay_task_read_text (const AssayTask *task, const char *relative, GError **error)
{
  g_autofree char *path = assay_task_path (task, relative, error);
  if (!path)
    {
      g_prefix_error (error, "%s: ", relative);
      return NULL;
    }
  g_autoptr (GError) inner = NULL;
  g_autoptr (GMappedFile) file = g_mapped_file_new (path, FALSE, &inner);
  if (!file)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "%s: %s", relative, inner->message);
      return NULL;
    }
  gsize length = g_mapped_file_get_length (file);
  const char *text = length ? g_mapped_file_get_contents (file) : "";
  if (length > MAX_TEXT || !g_utf8_validate_len (text, length, NULL))
    {
      g_set_error (error, ASSAY_ERROR, length > MAX_TEXT ? ASSAY_ERROR_LIMIT : ASSAY_ERROR_INVALID,
                   "%s: expected UTF-8 text of at most 16 MiB, found %s", relative,
                   length > MAX_TEXT ? "a larger file" : "other bytes");
      return NULL;
    }
  return g_strndup (text, length);
}

typedef struct
{
  JsonObject *hashes;
  guint files;
  guint64 bytes;
  GError **error;
} Hashing;

static gboolean
hash_file (Hashing *hashing, const char *path, const char *relative)
{
  g_autoptr (GError) inner = NULL;
  g_autoptr (GMappedFile) file = g_mapped_file_new (path, FALSE, &inner);
  if (!file)
    {
      g_set_error (hashing->error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "%s: %s", relative,
                   inner->message);
      return FALSE;
    }
  gsize length = g_mapped_file_get_length (file);
  hashing->bytes += length;
  if (++hashing->files > MAX_FILES || hashing->bytes > MAX_TOTAL)
    {
      g_set_error (hashing->error, ASSAY_ERROR, ASSAY_ERROR_LIMIT,
                   "%s: expected a task folder of at most %d files and 1 GiB", relative, MAX_FILES);
      return FALSE;
    }
  const char *data = length ? g_mapped_file_get_contents (file) : "";
  g_autofree char *sum =
      g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) data, length);
  json_object_set_string_member (hashing->hashes, relative, sum);
  return TRUE;
}

static gboolean
hash_folder (Hashing *hashing, const char *folder, const char *prefix, guint depth)
{
  g_autoptr (GDir) dir = depth < 16 ? g_dir_open (folder, 0, NULL) : NULL;
  if (!dir)
    {
      g_set_error (hashing->error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "cannot read the folder %s",
                   folder);
      return FALSE;
    }
  for (const char *name; (name = g_dir_read_name (dir));)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autofree char *relative = g_strconcat (prefix, *prefix ? "/" : "", name, NULL);
      if (name[0] == '.' || g_file_test (path, G_FILE_TEST_IS_SYMLINK))
        continue;
      gboolean good = TRUE;
      if (g_file_test (path, G_FILE_TEST_IS_DIR))
        good = hash_folder (hashing, path, relative, depth + 1);
      else if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
        good = hash_file (hashing, path, relative);
      if (!good)
        return FALSE;
    }
  return TRUE;
}

JsonNode *
assay_task_hashes (const AssayTask *task, GError **error)
{
  JsonObject *object = json_object_new ();
  g_autoptr (JsonNode) node = json_node_init_object (json_node_alloc (), object);
  json_object_unref (object);
  Hashing hashing = {object, 0, 0, error};
  return hash_folder (&hashing, task->folder, "", 0) ? g_steal_pointer (&node) : NULL;
}
