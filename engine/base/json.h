/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/json-scan.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* Bounded parsing and one canonical writer. */

/* (transfer full) (nullable): NULL with `error`; `source` names the text in messages. */
JsonNode *assay_json_parse (const char *text, gssize length, const AssayJsonLimits *limits,
                            const char *source, GError **error);
/* The same for a file; a missing file is ASSAY_ERROR_NOT_FOUND. */
JsonNode *assay_json_load (const char *path, const AssayJsonLimits *limits, GError **error);

/* Canonical text: sorted keys, two spaces, one item a line, shortest round-trip doubles, NaN and
 * infinities as strings, newline at the end. Two writes of equal trees are the same bytes. */
char *assay_json_write (JsonNode *node);
/* The same values on one line without a newline, for streams. */
char *assay_json_write_line (JsonNode *node);
/* Durable and atomic: the old file or the new one is there at any moment, never a mixture. */
gboolean assay_json_save (JsonNode *node, const char *path, GError **error);

/* The shortest decimal that reads back as `value`; "NaN", "Infinity", "-Infinity" unquoted. */
char *assay_double_to_string (double value);

/* Convenience over objects, for small messages: NULL, `otherwise`, where the key is absent or of
 * another kind. Strings stay owned by the object. */
const char *assay_json_string (JsonObject *object, const char *key);
gint64 assay_json_int (JsonObject *object, const char *key, gint64 otherwise);
double assay_json_double (JsonObject *object, const char *key, double otherwise);
gboolean assay_json_bool (JsonObject *object, const char *key, gboolean otherwise);
JsonObject *assay_json_object (JsonObject *object, const char *key);
JsonArray *assay_json_array (JsonObject *object, const char *key);

G_END_DECLS
