/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/device/installation.h"

#include "config.h"
#include "engine/base/error.h"

#include <stdlib.h>
#include <string.h>

/* Where a name of the installation lies in the build tree. */
static const struct
{
  const char *name, *built;
} BUILT[] = {
    {"assay-worker", "engine/assay-worker"},
    {"assay-engine", "engine/assay-engine"},
    {"driver/libcuda.so.1", "engine/vgpu/driver/libcuda.so.1"},
    {"driver/libcudart.so.13", "engine/vgpu/runtime/libcudart.so.13"},
    {"driver/libcublas.so.13", "engine/vgpu/blas/libcublas.so.13"},
    {"driver/libcublasLt.so.13", "engine/vgpu/blas/libcublasLt.so.13"},
};

/* The build tree counts only for a program that runs out of it. */
static gboolean
runs_from_build_tree (void)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *tree = realpath (ASSAY_BUILD_DIR, NULL);
  return self && tree && g_str_has_prefix (self, tree) && self[strlen (tree)] == '/';
}

/* The first of `places` that exists; NULL entries are passed over. */
static char *
first_existing (char *const *places, gsize count)
{
  for (gsize i = 0; i < count; i++)
    if (places[i] && g_file_test (places[i], G_FILE_TEST_EXISTS))
      return g_strdup (places[i]);
  return NULL;
}

char *
assay_libexec_path (const char *name, GError **error)
{
  const char *named = g_getenv ("ASSAY_LIBEXEC");
  const char *built = name;
  for (gsize i = 0; i < G_N_ELEMENTS (BUILT); i++)
    if (g_str_equal (BUILT[i].name, name))
      built = BUILT[i].built;
  g_autofree char *chosen = named ? g_build_filename (named, name, NULL) : NULL;
  g_autofree char *tree = g_build_filename (ASSAY_BUILD_DIR, built, NULL);
  g_autofree char *installed = g_build_filename (ASSAY_LIBEXECDIR, name, NULL);
  char *const places[] = {chosen, runs_from_build_tree () ? tree : NULL, installed};
  char *found = first_existing (places, G_N_ELEMENTS (places));
  if (!found)
    g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND,
                 "%s is not installed: it belongs into %s (ASSAY_LIBEXEC names another folder)",
                 name, ASSAY_LIBEXECDIR);
  return found;
}

char *
assay_data_path (const char *name, GError **error)
{
  const char *named = g_getenv ("ASSAY_DATA");
  g_autofree char *chosen = named ? g_build_filename (named, name, NULL) : NULL;
  g_autofree char *tree = g_build_filename (ASSAY_SOURCE_DIR, "data", name, NULL);
  g_autofree char *installed = g_build_filename (ASSAY_DATADIR, name, NULL);
  /* Rubrics have a folder of their own at the top of the source tree. */
  g_autofree char *top = g_build_filename (ASSAY_SOURCE_DIR, name, NULL);
  gboolean here = runs_from_build_tree ();
  char *const places[] = {chosen, here ? tree : NULL, here ? top : NULL, installed};
  char *found = first_existing (places, G_N_ELEMENTS (places));
  if (!found)
    g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND,
                 "%s is not installed: it belongs into %s (ASSAY_DATA names another folder)", name,
                 ASSAY_DATADIR);
  return found;
}
