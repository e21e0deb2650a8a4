/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* The objects of one array in a JSON text that may be far larger than memory, one after the other. The
 * text is `{…, "NAME": [ {…}, … ], …}`, or the array alone. Only the nesting is checked here; an object
 * is what the caller parses. Memory use does not grow with the text. */

/* Objects beyond this are an error. */
#define ASSAY_JSON_STREAM_OBJECT (4 * 1024 * 1024)

/* One object: its bytes, not terminated, and where it begins in the text. FALSE with error ends it. */
typedef gboolean (*AssayJsonStreamObject) (const char *text, gsize length, guint64 offset,
                                           gpointer user_data, GError **error);

typedef struct
{
  const char *name;                                     /* of the array */
  AssayJsonStreamObject object;                         /* NULL: only go through the text */
  void (*progress) (guint64 bytes, gpointer user_data); /* of text read so far; NULL */
  gpointer user_data;
} AssayJsonStream;

/* Reads `input` to its end. FALSE with error: what broke, at which byte. `objects`: how many there
 * were. */
gboolean assay_json_stream_read (const AssayJsonStream *self, GInputStream *input, guint64 *objects,
                                 GCancellable *cancellable, GError **error);

/* The members of one object, in order, without a tree: for callers that need a few of many. */
typedef struct
{
  const char *at, *end;
  gboolean broken; /* what was read so far is no object */
} AssayJsonMembers;

typedef struct
{
  const char *text; /* a string begins with its quote; not terminated */
  gsize length;
} AssayJsonSlice;

AssayJsonMembers assay_json_members (const char *object, gsize length);
/* FALSE at the end, or where the object is broken. The key is without its quotes, escapes as written. */
gboolean assay_json_next_member (AssayJsonMembers *self, AssayJsonSlice *key,
                                 AssayJsonSlice *value);
gboolean assay_json_slice_is (const AssayJsonSlice *self, const char *text);
/* A number, or a text that is one; NaN for all else. */
double assay_json_slice_number (const AssayJsonSlice *self);
/* A string, its escapes resolved and valid UTF-8 (transfer full); NULL for all else. */
char *assay_json_slice_string (const AssayJsonSlice *self);

/* A file, unpacked on the way where it begins like gzip (transfer full). `packed`: bytes on disk. */
GInputStream *assay_json_stream_open (const char *path, guint64 *packed, GError **error);

G_END_DECLS
