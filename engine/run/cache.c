/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/cache.h"

#include "engine/base/json.h"

#include <glib/gstdio.h>
#include <string.h>

struct _AssayCacheKey
{
  char *kind;
  GChecksum *checksum;
};

AssayCacheKey *
assay_cache_key_new (const char *kind)
{
  AssayCacheKey *key = g_new0 (AssayCacheKey, 1);
  key->kind = g_strdup (kind);
  key->checksum = g_checksum_new (G_CHECKSUM_SHA256);
  assay_cache_key_add (key, "assay-cache 1");
  return key;
}

void
assay_cache_key_free (AssayCacheKey *key)
{
  g_free (key->kind);
  g_checksum_free (key->checksum);
  g_free (key);
}

void
assay_cache_key_add (AssayCacheKey *key, const char *text)
{
  gsize length = text ? strlen (text) : G_MAXSIZE;
  g_checksum_update (key->checksum, (const guchar *) &length, sizeof length);
  if (text)
    g_checksum_update (key->checksum, (const guchar *) text, (gssize) length);
}

void
assay_cache_key_add_program (AssayCacheKey *key, const char *path)
{
  GStatBuf status;
  g_autofree char *text = NULL;
  if (path && g_stat (path, &status) == 0)
    text = g_strdup_printf ("%s %lld %lld", path, (long long) status.st_size,
                            (long long) status.st_mtime);
  assay_cache_key_add (key, text);
}

void
assay_cache_key_add_file (AssayCacheKey *key, const char *path)
{
  g_autofree char *text = NULL;
  g_file_get_contents (path, &text, NULL, NULL);
  assay_cache_key_add (key, text);
}

/* The folder is made, private to the user. */
static char *
entry_path (AssayCacheKey *key, const char *ending)
{
  g_autofree char *folder = g_build_filename (g_get_user_cache_dir (), "assay", key->kind, NULL);
  g_autoptr (GChecksum) copy = g_checksum_copy (key->checksum);
  g_autofree char *name = g_strconcat (g_checksum_get_string (copy), ending, NULL);
  g_mkdir_with_parents (folder, 0700);
  return g_build_filename (folder, name, NULL);
}

AssayMemory *
assay_cache_load (AssayCacheKey *key, JsonNode **note)
{
  g_autofree char *data_path = entry_path (key, "");
  g_autofree char *note_path = entry_path (key, ".json");
  g_autofree char *data = NULL;
  gsize bytes = 0;
  g_autoptr (JsonNode) node = assay_json_load (note_path, &ASSAY_JSON_LIMITS_TASK, NULL);
  if (!node || !JSON_NODE_HOLDS_OBJECT (node)
      || !g_file_get_contents (data_path, &data, &bytes, NULL))
    return NULL;
  /* The note is written last and says how much there is: half an entry is none. */
  if (assay_json_int (json_node_get_object (node), "bytes", -1) != (gint64) bytes)
    return NULL;
  AssayMemory *memory = assay_memory_new_from_data ("cached", data, bytes, NULL);
  if (memory && note)
    *note = g_steal_pointer (&node);
  return memory;
}

void
assay_cache_store (AssayCacheKey *key, AssayMemory *memory, JsonNode *note)
{
  g_autofree char *data_path = entry_path (key, "");
  g_autofree char *note_path = entry_path (key, ".json");
  gsize bytes = 0;
  const char *data = assay_memory_data (memory, &bytes, NULL);
  json_object_set_int_member (json_node_get_object (note), "bytes", (gint64) bytes);
  g_autofree char *text = assay_json_write (note);
  if (data
      && g_file_set_contents_full (data_path, data, (gssize) bytes, G_FILE_SET_CONTENTS_CONSISTENT,
                                   0600, NULL))
    g_file_set_contents_full (note_path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL);
}
