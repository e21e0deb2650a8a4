/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/sandbox/memory.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* What compilers made, by the hash of everything that went in, under $XDG_CACHE_HOME/assay. A cache
 * that cannot be read or written is none: no errors. */

/* A key grows from parts; order and borders of the parts count. */
typedef struct _AssayCacheKey AssayCacheKey;
AssayCacheKey *assay_cache_key_new (const char *kind);
void assay_cache_key_free (AssayCacheKey *key);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayCacheKey, assay_cache_key_free)
void assay_cache_key_add (AssayCacheKey *key, const char *text);
/* A file by its path, size and time: for compilers, which are large. */
void assay_cache_key_add_program (AssayCacheKey *key, const char *path);
void assay_cache_key_add_file (AssayCacheKey *key, const char *path);

/* (transfer full): finished memory, with `note` (transfer full) as it was stored; NULL when the cache
 * does not have it. */
AssayMemory *assay_cache_load (AssayCacheKey *key, JsonNode **note);
/* `note` is an object; it gets "bytes". */
void assay_cache_store (AssayCacheKey *key, AssayMemory *memory, JsonNode *note);

G_END_DECLS
