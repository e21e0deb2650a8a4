/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/array.h"

#include "engine/base/error.h"
#include "engine/base/json.h"

/* NULL with an error; one that says what is expected where there is no description. */
static JsonNode *
load_description (const char *path, GError **error)
{
  g_autofree char *beside = g_strconcat (path, ".json", NULL);
  if (g_file_test (beside, G_FILE_TEST_EXISTS))
    return assay_json_load (beside, &ASSAY_JSON_LIMITS_TASK, error);
  g_set_error (
      error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
      "%s: expected a file ending in .npy, .npz or .safetensors, or raw data with %s beside it",
      path, beside);
  return NULL;
}

AssayArray *
assay_array_load (const char *path, const char *tensor, GError **error)
{
  gboolean npy = g_str_has_suffix (path, ".npy"), npz = g_str_has_suffix (path, ".npz");
  gboolean raw = !npy && !npz && !g_str_has_suffix (path, ".safetensors");
  g_autoptr (JsonNode) description = raw ? load_description (path, error) : NULL;
  if (raw && !description)
    return NULL;
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
  if (raw)
    return assay_raw_parse (bytes, description, path, error);
  if (npz)
    return assay_npz_parse (bytes, tensor, path, error);
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
