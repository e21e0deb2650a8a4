/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/read-python.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/sandbox/process.h"
#include "syntax-tree-text.h"

#include <string.h>

#define LARGEST_SOURCE (1024 * 1024)
#define MOST_FILES 10000
#define BATCH_BYTES (4 * 1024 * 1024)
#define SOURCES_FD 4
#define TREES_FD 5

static const AssayJsonLimits TREE_LIMITS = {128 * 1024 * 1024, 800, 20 * 1000 * 1000};

void
assay_unread_free (AssayUnread *self)
{
  g_free (self->path);
  g_free (self->reason);
  g_free (self);
}

static void
add_unread (GPtrArray *unread, const char *path, char *reason)
{
  AssayUnread *one = g_new0 (AssayUnread, 1);
  one->path = g_strdup (path);
  one->reason = reason;
  g_ptr_array_add (unread, one);
}

/* ---- which files ---- */

static gboolean
is_skipped (const char *name)
{
  return name[0] == '.' || g_str_equal (name, "__pycache__") || g_str_equal (name, "venv")
         || g_str_equal (name, "node_modules") || g_str_equal (name, "site-packages");
}

static gboolean
add_folder (GPtrArray *files, const char *path, GError **error)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, error);
  if (!folder)
    return FALSE;
  for (const char *name = g_dir_read_name (folder); name; name = g_dir_read_name (folder))
    {
      g_autofree char *child = g_build_filename (path, name, NULL);
      if (is_skipped (name) || g_file_test (child, G_FILE_TEST_IS_SYMLINK))
        continue;
      if (g_file_test (child, G_FILE_TEST_IS_DIR) && !add_folder (files, child, error))
        return FALSE;
      if (g_str_has_suffix (name, ".py") && g_file_test (child, G_FILE_TEST_IS_REGULAR))
        g_ptr_array_add (files, g_steal_pointer (&child));
      if (files->len > MOST_FILES)
        {
          g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_LIMIT,
                       "%s: more than %d Python files; name a folder below it", path, MOST_FILES);
          return FALSE;
        }
    }
  return TRUE;
}

static int
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

GPtrArray *
assay_python_files (const char *const *paths, GError **error)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  for (gsize i = 0; paths[i]; i++)
    if (g_file_test (paths[i], G_FILE_TEST_IS_DIR))
      {
        if (!add_folder (files, paths[i], error))
          return NULL;
      }
    else if (g_file_test (paths[i], G_FILE_TEST_EXISTS))
      g_ptr_array_add (files, g_strdup (paths[i]));
    else
      {
        g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND, "%s: no such file or folder",
                     paths[i]);
        return NULL;
      }
  g_ptr_array_sort (files, by_name);
  return g_steal_pointer (&files);
}

/* ---- one process for a batch ---- */

typedef struct
{
  GPtrArray *paths; /* of those whose bytes are in `bytes` */
  GArray *sizes;    /* gsize */
  GByteArray *bytes;
} Batch;

static void
batch_clear (Batch *self)
{
  g_ptr_array_set_size (self->paths, 0);
  g_array_set_size (self->sizes, 0);
  g_byte_array_set_size (self->bytes, 0);
}

static void
batch_add (Batch *self, const char *path, GPtrArray *unread)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  gsize size = 0;
  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
    add_unread (unread, path, g_strdup ("not a regular file"));
  else if (!g_file_get_contents (path, &text, &size, &error))
    add_unread (unread, path, g_strdup (error->message));
  else if (size > LARGEST_SOURCE)
    add_unread (unread, path, g_strdup ("larger than 1 MiB"));
  else
    {
      g_ptr_array_add (self->paths, (gpointer) path);
      g_array_append_val (self->sizes, size);
      g_byte_array_append (self->bytes, (const guint8 *) text, (guint) size);
    }
}

static AssayMemory *
batch_memory (const Batch *self, GError **error)
{
  g_autoptr (GString) head = g_string_new ("[");
  for (guint i = 0; i < self->sizes->len; i++)
    g_string_append_printf (head, "%s%" G_GSIZE_FORMAT, i ? "," : "",
                            g_array_index (self->sizes, gsize, i));
  g_string_append (head, "]\n");
  g_string_append_len (head, (const char *) self->bytes->data, (gssize) self->bytes->len);
  return assay_memory_new_from_data ("sources", head->str, head->len, error);
}

/* Python of the system, since a sandbox shows /usr; another where there is none. */
static char *
find_python (GError **error)
{
  g_autofree char *python = g_file_test ("/usr/bin/python3", G_FILE_TEST_IS_EXECUTABLE)
                                ? g_strdup ("/usr/bin/python3")
                                : g_find_program_in_path ("python3");
  if (!python)
    g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND,
                 "no python3 on this computer: install Python 3.9 or newer to read .py sources");
  return g_steal_pointer (&python);
}

static AssaySandboxSpec *
reader_spec (AssayMemory *sources, AssayMemory *trees, GError **error)
{
  g_autofree char *python = find_python (error);
  if (!python)
    return NULL;
  AssaySandboxSpec *spec = assay_sandbox_spec_new (python);
  const char *const arguments[] = {"-I", "-S", "-B", "-c", python_syntax_tree};
  for (gsize i = 0; i < G_N_ELEMENTS (arguments); i++)
    assay_sandbox_spec_add_argument (spec, arguments[i]);
  if (!g_str_has_prefix (python, "/usr/"))
    {
      g_autofree char *bin = g_path_get_dirname (python);
      g_autofree char *prefix = g_path_get_dirname (bin);
      assay_sandbox_spec_show (spec, prefix, prefix);
    }
  assay_sandbox_spec_pass (spec, sources, SOURCES_FD);
  assay_sandbox_spec_pass (spec, trees, TREES_FD);
  return spec;
}

static gboolean
ignore_line (G_GNUC_UNUSED const char *line, G_GNUC_UNUSED gsize bytes,
             G_GNUC_UNUSED gpointer user_data)
{
  return TRUE;
}

static AssayMemory *
run_reader (const Batch *batch, AssaySandboxTier tier, GCancellable *cancellable, GError **error)
{
  g_autoptr (AssayMemory) sources = batch_memory (batch, error);
  g_autoptr (AssayMemory) trees = sources ? assay_memory_new_growing ("trees", error) : NULL;
  g_autoptr (AssaySandboxSpec) spec = trees ? reader_spec (sources, trees, error) : NULL;
  g_autoptr (AssaySandboxProcess) process =
      spec ? assay_sandbox_process_start (spec, tier, error) : NULL;
  g_autoptr (AssaySandboxEnd) end =
      process ? assay_sandbox_process_pump (process, ignore_line, NULL, cancellable, error) : NULL;
  if (!end)
    return NULL;
  if (end->kind == ASSAY_END_CANCELLED)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "cancelled");
      return NULL;
    }
  if (end->kind != ASSAY_END_EXITED || end->code != 0)
    {
      g_autofree char *how = assay_sandbox_end_describe (end);
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED,
                   "the reader of Python sources failed near %s: %s\n%s",
                   (char *) g_ptr_array_index (batch->paths, 0), how, end->err);
      return NULL;
    }
  return assay_memory_finish (trees, error) ? g_steal_pointer (&trees) : NULL;
}

/* One line of the reader's answer. */
static void
take_tree (const char *path, const char *line, gsize length, GPtrArray *out, GPtrArray *unread)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) tree = assay_json_parse (line, (gssize) length, &TREE_LIMITS, path, &error);
  JsonObject *object = tree && JSON_NODE_HOLDS_OBJECT (tree) ? json_node_get_object (tree) : NULL;
  const char *reason = object ? assay_json_string (object, "error") : NULL;
  if (reason)
    {
      gint64 line = assay_json_int (object, "line", 0);
      add_unread (unread, path,
                  line > 0 ? g_strdup_printf ("line %" G_GINT64_FORMAT ": %s", line, reason)
                           : g_strdup (reason));
    }
  else if (!object || !assay_syntax_is (object, "Module"))
    add_unread (unread, path, g_strdup (error ? error->message : "no syntax tree came back"));
  else
    g_ptr_array_add (out, assay_python_new (path, g_steal_pointer (&tree)));
}

static gboolean
read_batch (Batch *batch, AssaySandboxTier tier, GPtrArray *out, GPtrArray *unread,
            GCancellable *cancellable, GError **error)
{
  gsize size = 0, at = 0;
  if (batch->paths->len == 0)
    return TRUE;
  g_autoptr (AssayMemory) trees = run_reader (batch, tier, cancellable, error);
  const char *text = trees ? assay_memory_data (trees, &size, error) : NULL;
  if (!text)
    return FALSE;
  for (guint i = 0; i < batch->paths->len; i++)
    {
      const char *end = at < size ? memchr (text + at, '\n', size - at) : NULL;
      gsize length = end ? (gsize) (end - text) - at : 0;
      take_tree (g_ptr_array_index (batch->paths, i), text + at, length, out, unread);
      at += length + 1;
    }
  batch_clear (batch);
  return TRUE;
}

GPtrArray *
assay_read_python (GPtrArray *files, AssaySandboxTier tier, GPtrArray *unread,
                   GCancellable *cancellable, GError **error)
{
  g_autoptr (GPtrArray) out = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_python_free);
  g_autoptr (GPtrArray) paths = g_ptr_array_new ();
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (gsize));
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  Batch batch = {paths, sizes, bytes};
  for (guint i = 0; i < files->len; i++)
    {
      batch_add (&batch, g_ptr_array_index (files, i), unread);
      if (bytes->len > BATCH_BYTES && !read_batch (&batch, tier, out, unread, cancellable, error))
        return NULL;
    }
  return read_batch (&batch, tier, out, unread, cancellable, error) ? g_steal_pointer (&out) : NULL;
}
