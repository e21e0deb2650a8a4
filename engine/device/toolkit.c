/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/device/toolkit.h"

#include "config.h"
#include "engine/base/error.h"

#include <stdlib.h>
#include <string.h>

static const char *const LIBRARY_FOLDERS[] = {
    "lib64",
    "lib",
    "lib/x86_64-linux-gnu",
    "targets/x86_64-linux/lib",
    "targets/sbsa-linux/lib",
    "nvidia/cu13/lib",
    "nvidia/cuda_nvrtc/lib",
    "cuda_nvrtc/lib",
};

static const char *const INCLUDE_FOLDERS[] = {
    "include",
    "targets/x86_64-linux/include",
    "targets/sbsa-linux/include",
    "nvidia/cu13/include",
    "nvidia/cuda_runtime/include",
    "cuda_runtime/include",
    "nvidia/cuda_nvrtc/include",
};

static const char *const NVCC_PLACES[] = {
    "bin/nvcc",
    "nvidia/cu13/bin/nvcc",
    "nvidia/cuda_nvcc/bin/nvcc",
};

static char *
find_nvcc (const char *root)
{
  for (gsize i = 0; i < G_N_ELEMENTS (NVCC_PLACES); i++)
    {
      g_autofree char *path = g_build_filename (root, NVCC_PLACES[i], NULL);
      if (g_file_test (path, G_FILE_TEST_IS_EXECUTABLE))
        return g_steal_pointer (&path);
    }
  return NULL;
}

/* The library's name carries the major version, and wheels have no unversioned link. */
static char *
find_nvrtc (const char *root)
{
  for (gsize i = 0; i < G_N_ELEMENTS (LIBRARY_FOLDERS); i++)
    {
      g_autofree char *folder = g_build_filename (root, LIBRARY_FOLDERS[i], NULL);
      g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
      g_autofree char *best = NULL;
      for (const char *name; dir && (name = g_dir_read_name (dir));)
        if (g_str_has_prefix (name, "libnvrtc.so") && (!best || strcmp (name, best) > 0))
          {
            g_free (best);
            best = g_strdup (name);
          }
      if (best)
        return g_build_filename (folder, best, NULL);
    }
  return NULL;
}

static char **
find_includes (const char *root)
{
  g_autoptr (GStrvBuilder) found = g_strv_builder_new ();
  for (gsize i = 0; i < G_N_ELEMENTS (INCLUDE_FOLDERS); i++)
    {
      g_autofree char *folder = g_build_filename (root, INCLUDE_FOLDERS[i], NULL);
      g_autofree char *probe = g_build_filename (folder, "cuda_fp16.h", NULL);
      g_autofree char *cccl = g_build_filename (folder, "cccl", NULL);
      if (!g_file_test (probe, G_FILE_TEST_EXISTS))
        continue;
      g_strv_builder_add (found, folder);
      if (g_file_test (cccl, G_FILE_TEST_IS_DIR))
        g_strv_builder_add (found, cccl);
      break;
    }
  return g_strv_builder_end (found);
}

AssayToolkit *
assay_toolkit_at (const char *root)
{
  g_autofree char *nvrtc = find_nvrtc (root);
  if (!nvrtc)
    return NULL;
  AssayToolkit *toolkit = g_new0 (AssayToolkit, 1);
  toolkit->root = g_strdup (root);
  toolkit->nvrtc = g_steal_pointer (&nvrtc);
  toolkit->includes = find_includes (root);
  toolkit->nvcc = find_nvcc (root);
  return toolkit;
}

AssayToolkit *
assay_toolkit_find (GError **error)
{
  g_autofree char *own = g_build_filename (g_get_user_data_dir (), "assay", "toolkit", NULL);
  const char *named = g_getenv ("ASSAY_TOOLKIT");
  /* Naming a folder by hand means that one and no other. */
  const char *places[] = {
      named, own, ASSAY_TOOLKIT_ROOT, "/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda", "/usr"};
  gsize count = named ? 1 : G_N_ELEMENTS (places);
  g_autoptr (GString) looked = g_string_new (NULL);
  for (gsize i = named ? 0 : 1; i < count; i++)
    {
      AssayToolkit *toolkit = assay_toolkit_at (places[i]);
      if (toolkit)
        return toolkit;
      if (!strstr (looked->str, places[i]))
        g_string_append_printf (looked, "%s%s", looked->len ? ", " : "", places[i]);
    }
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND,
               "no CUDA compiler (libnvrtc) in %s; install the CUDA toolkit, or name its folder in "
               "ASSAY_TOOLKIT",
               looked->str);
  return NULL;
}

static void
add_toolkit (GPtrArray *toolkits, GHashTable *known, const char *root)
{
  g_autoptr (AssayToolkit) toolkit = assay_toolkit_at (root);
  g_autofree char *real = toolkit ? realpath (toolkit->nvrtc, NULL) : NULL;
  if (real && g_hash_table_add (known, g_strdup (real)))
    g_ptr_array_add (toolkits, g_steal_pointer (&toolkit));
}

static gint
by_name (gconstpointer left, gconstpointer right)
{
  return strcmp (*(char *const *) left, *(char *const *) right);
}

/* Folders in `parent` whose names begin so, in order. */
static void
add_folders (GPtrArray *toolkits, GHashTable *known, const char *parent, const char *prefix)
{
  g_autoptr (GDir) dir = g_dir_open (parent, 0, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  for (const char *name; dir && (name = g_dir_read_name (dir));)
    if (g_str_has_prefix (name, prefix))
      g_ptr_array_add (names, g_build_filename (parent, name, NULL));
  g_ptr_array_sort (names, by_name);
  for (guint i = 0; i < names->len; i++)
    add_toolkit (toolkits, known, g_ptr_array_index (names, i));
}

GPtrArray *
assay_toolkit_list (void)
{
  GPtrArray *toolkits = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_toolkit_free);
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (AssayToolkit) first = assay_toolkit_find (NULL);
  g_autofree char *own = g_build_filename (g_get_user_data_dir (), "assay", "toolkits", NULL);
  const char *named = g_getenv ("ASSAY_TOOLKITS");
  g_auto (GStrv) roots = g_strsplit (named ? named : "", ":", -1);
  if (first)
    add_toolkit (toolkits, known, first->root);
  for (guint i = 0; roots[i]; i++)
    if (roots[i][0])
      add_toolkit (toolkits, known, roots[i]);
  if (!g_getenv ("ASSAY_TOOLKIT"))
    {
      add_folders (toolkits, known, own, "");
      add_folders (toolkits, known, "/usr/local", "cuda-");
    }
  return toolkits;
}

void
assay_toolkit_free (AssayToolkit *toolkit)
{
  g_free (toolkit->root);
  g_free (toolkit->nvrtc);
  g_free (toolkit->nvcc);
  g_strfreev (toolkit->includes);
  g_free (toolkit);
}
