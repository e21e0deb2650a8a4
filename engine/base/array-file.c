/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/array.h"

#include "engine/base/error.h"

AssayArray *
assay_array_load (const char *path, const char *tensor, GError **error)
{
  gboolean npy = g_str_has_suffix (path, ".npy");
  if (!npy && !g_str_has_suffix (path, ".safetensors"))
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
                   "%s: expected a file ending in .npy or .safetensors", path);
      return NULL;
    }
  g_autoptr (GError) inner = NULL;
  g_autoptr (GMappedFile) file = g_mapped_file_new (path, FALSE, &inner);
  if (!file)
    {
      gboolean missing = g_error_matches (inner, G_FILE_ERROR, G_FILE_ERROR_NOENT);
      g_set_error (error, ASSAY_ERROR, missing ? ASSAY_ERROR_NOT_FOUND : ASSAY_ERROR_FAILED,
                   "%s: %s", path, missing ? "no such file" : inner->message);
      return NULL;
    }
  g_autoptr (GBytes) bytes = g_mapped_file_get_bytes (file);
  return npy ? assay_npy_parse (bytes, path, error)
             : assay_safetensors_parse (bytes, tensor, path, error);
}

gboolean
assay_array_save (const AssayArray *array, const char *path, GError **error)
{
  const char *name = "array";
  AssayArray *arrays[] = {(AssayArray *) array};
  g_autoptr (GBytes) bytes = g_str_has_suffix (path, ".npy")
                                 ? assay_npy_format (array, error)
                                 : assay_safetensors_format (&name, arrays, 1, error);
  if (!bytes)
    {
      g_prefix_error (error, "%s: ", path);
      return FALSE;
    }
  g_autoptr (GError) inner = NULL;
  if (g_file_set_contents_full (path, g_bytes_get_data (bytes, NULL),
                                (gssize) g_bytes_get_size (bytes), G_FILE_SET_CONTENTS_CONSISTENT,
                                0644, &inner))
    return TRUE;
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "cannot write %s: %s", path, inner->message);
  return FALSE;
}
