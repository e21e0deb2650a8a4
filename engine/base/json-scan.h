/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Bounds for foreign JSON. json-glib recurses without a limit and accepts much that is not JSON, so
 * every text passes this scanner before json-glib sees it. */
typedef struct
{
  gsize max_bytes;
  guint max_depth;
  gsize max_items; /* values of every kind, keys not counted */
} AssayJsonLimits;

extern const AssayJsonLimits ASSAY_JSON_LIMITS_TASK;    /* 4 MiB, depth 32, 100,000 items */
extern const AssayJsonLimits ASSAY_JSON_LIMITS_MESSAGE; /* 1 MiB a line, depth 32 */
extern const AssayJsonLimits ASSAY_JSON_LIMITS_RECORD;  /* 256 MiB, depth 48, 20 million items */

/* Checks that `text` is exactly one RFC 8259 value within `limits`: strict numbers, strict escapes,
 * valid UTF-8, no duplicate keys in one object, no trailing text. Does not recurse. The error names
 * `source`, line and column. */
gboolean assay_json_scan (const char *text, gsize length, const AssayJsonLimits *limits,
                          const char *source, GError **error);

G_END_DECLS
