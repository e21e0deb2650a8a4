/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/import/json-stream.h"

#include "engine/base/error.h"
#include "engine/base/json.h"

#include <math.h>
#include <string.h>

#define CHUNK (1024 * 1024)
#define DEEPEST 512
#define LONGEST_KEY 64

typedef struct
{
  const AssayJsonStream *stream;
  guint64 offset; /* of the chunk in the text */
  guint depth;
  gboolean in_string, escaped, ended;
  char open[DEEPEST]; /* '{' or '[' by depth */
  /* the last string seen at depth 1, which may be the array's key */
  gboolean keeps_key;
  char key[LONGEST_KEY];
  gsize key_length;
  guint array_depth;   /* depth within the array; 0: not in it */
  gboolean in_object;  /* of the array */
  guint64 object_at;   /* offset of its '{' */
  gsize chunk_from;    /* where in this chunk what belongs to it begins */
  GByteArray *carried; /* what of it came in earlier chunks */
  guint64 objects;
} Reader;

static gboolean
fail (const Reader *self, guint64 at, const char *what, GError **error)
{
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "byte %" G_GUINT64_FORMAT ": %s",
               self->offset + at, what);
  return FALSE;
}

static gboolean
carry (Reader *self, const char *chunk, gsize to, GError **error)
{
  if (self->carried->len + (to - self->chunk_from) > ASSAY_JSON_STREAM_OBJECT)
    return fail (self, to, "an object of the array is larger than 4 MiB", error);
  g_byte_array_append (self->carried, (const guint8 *) chunk + self->chunk_from,
                       (guint) (to - self->chunk_from));
  return TRUE;
}

static gboolean
end_object (Reader *self, const char *chunk, gsize to, GError **error)
{
  const char *text = chunk + self->chunk_from;
  gsize length = to - self->chunk_from;
  self->objects++;
  self->in_object = FALSE;
  if (self->carried->len > 0)
    {
      if (!carry (self, chunk, to, error))
        return FALSE;
      text = (const char *) self->carried->data;
      length = self->carried->len;
    }
  gboolean fine =
      !self->stream->object
      || self->stream->object (text, length, self->object_at, self->stream->user_data, error);
  g_byte_array_set_size (self->carried, 0);
  return fine;
}

static gboolean
open_bracket (Reader *self, const char *chunk, gsize at, GError **error)
{
  if (self->ended)
    return fail (self, at, "text after the end of the JSON value", error);
  if (self->depth == DEEPEST)
    return fail (self, at, "nested more than 512 deep", error);
  char c = chunk[at];
  gboolean named = self->depth == 1 && self->open[0] == '{'
                   && self->key_length == strlen (self->stream->name)
                   && memcmp (self->key, self->stream->name, self->key_length) == 0;
  if (c == '[' && self->array_depth == 0 && (self->depth == 0 || named))
    self->array_depth = self->depth + 1;
  else if (c == '{' && self->array_depth && self->depth == self->array_depth)
    {
      self->in_object = TRUE;
      self->object_at = self->offset + at;
      self->chunk_from = at;
    }
  self->open[self->depth++] = c;
  return TRUE;
}

static gboolean
close_bracket (Reader *self, const char *chunk, gsize at, GError **error)
{
  char opened = chunk[at] == '}' ? '{' : '[';
  if (self->depth == 0 || self->open[self->depth - 1] != opened)
    return fail (self, at, "a bracket closes what was not opened", error);
  self->depth--;
  self->ended = self->depth == 0;
  if (self->in_object && self->depth == self->array_depth)
    return end_object (self, chunk, at + 1, error);
  if (self->array_depth && self->depth < self->array_depth)
    self->array_depth = 0;
  return TRUE;
}

/* The rest of a string that began before `at`; returns where reading goes on. */
static gsize
skip_string (Reader *self, const char *chunk, gsize at, gsize length)
{
  while (at < length)
    {
      char c = chunk[at++];
      if (self->escaped)
        self->escaped = FALSE;
      else if (c == '\\')
        self->escaped = TRUE;
      else if (c == '"')
        {
          self->in_string = FALSE;
          return at;
        }
      if (self->keeps_key && self->key_length < LONGEST_KEY)
        self->key[self->key_length++] = c;
    }
  return at;
}

static gboolean
read_chunk (Reader *self, const char *chunk, gsize length, GError **error)
{
  self->chunk_from = 0;
  for (gsize at = 0; at < length;)
    {
      if (self->in_string)
        {
          at = skip_string (self, chunk, at, length);
          continue;
        }
      char c = chunk[at];
      if (c == '"')
        {
          self->in_string = TRUE;
          self->keeps_key = self->depth == 1;
          if (self->keeps_key)
            self->key_length = 0;
        }
      else if (c == '{' || c == '[')
        {
          if (!open_bracket (self, chunk, at, error))
            return FALSE;
        }
      else if ((c == '}' || c == ']') && !close_bracket (self, chunk, at, error))
        return FALSE;
      else if (self->depth == 0 && c != '}' && c != ']' && !g_ascii_isspace (c))
        return fail (self, at,
                     self->ended ? "text after the end of the JSON value"
                                 : "this is not a JSON object or array",
                     error);
      at++;
    }
  return !self->in_object || carry (self, chunk, length, error);
}

gboolean
assay_json_stream_read (const AssayJsonStream *stream, GInputStream *input, guint64 *objects,
                        GCancellable *cancellable, GError **error)
{
  g_autoptr (GByteArray) carried = g_byte_array_new ();
  g_autofree char *chunk = g_malloc (CHUNK);
  Reader self = {.stream = stream, .carried = carried};
  for (;;)
    {
      gsize length = 0;
      if (!g_input_stream_read_all (input, chunk, CHUNK, &length, cancellable, error))
        return FALSE;
      if (length == 0)
        break;
      if (!read_chunk (&self, chunk, length, error))
        return FALSE;
      self.offset += length;
      if (stream->progress)
        stream->progress (self.offset, stream->user_data);
    }
  *objects = self.objects;
  return self.ended
         || fail (&self, 0, self.offset ? "the text ends in the middle" : "the file is empty",
                  error);
}

/* ---- members ---- */

static void
skip_space (AssayJsonMembers *self)
{
  while (self->at < self->end && g_ascii_isspace (*self->at))
    self->at++;
}

/* Past a string that begins at its quote. */
static const char *
after_string (const char *at, const char *end)
{
  for (at++; at < end && *at != '"'; at++)
    if (*at == '\\')
      at++;
  return at < end ? at + 1 : NULL;
}

static const char *
after_value (const char *at, const char *end)
{
  int depth = 0;
  if (at < end && *at == '"')
    return after_string (at, end);
  for (; at && at < end; at++)
    {
      if (*at == '"')
        {
          at = after_string (at, end);
          if (!at)
            return NULL;
          at--;
        }
      else if (*at == '{' || *at == '[')
        depth++;
      else if (depth == 0 && (*at == ',' || *at == '}' || *at == ']'))
        return at;
      else if ((*at == '}' || *at == ']') && --depth == 0)
        return at + 1;
    }
  return NULL;
}

AssayJsonMembers
assay_json_members (const char *object, gsize length)
{
  gboolean fine = length >= 2 && object[0] == '{' && object[length - 1] == '}';
  return (AssayJsonMembers) {object + 1, object + length, !fine};
}

gboolean
assay_json_next_member (AssayJsonMembers *self, AssayJsonSlice *key, AssayJsonSlice *value)
{
  if (self->broken)
    return FALSE;
  skip_space (self);
  if (self->at < self->end && *self->at == ',')
    {
      self->at++;
      skip_space (self);
    }
  if (self->at < self->end && *self->at == '}')
    return FALSE;
  self->broken = TRUE;
  const char *after =
      self->at < self->end && *self->at == '"' ? after_string (self->at, self->end) : NULL;
  if (!after)
    return FALSE;
  *key = (AssayJsonSlice) {self->at + 1, (gsize) (after - self->at) - 2};
  self->at = after;
  skip_space (self);
  if (self->at >= self->end || *self->at++ != ':')
    return FALSE;
  skip_space (self);
  after = after_value (self->at, self->end);
  if (!after || after == self->at)
    return FALSE;
  *value = (AssayJsonSlice) {self->at, (gsize) (after - self->at)};
  while (value->length > 0 && g_ascii_isspace (value->text[value->length - 1]))
    value->length--;
  self->at = after;
  self->broken = FALSE;
  return TRUE;
}

gboolean
assay_json_slice_is (const AssayJsonSlice *self, const char *text)
{
  gsize length = strlen (text);
  return self->length == length && memcmp (self->text, text, length) == 0;
}

double
assay_json_slice_number (const AssayJsonSlice *self)
{
  char copy[64], *end = NULL;
  gsize quote = self->length > 1 && self->text[0] == '"' ? 1 : 0;
  gsize length = self->length - 2 * quote;
  if (length == 0 || length >= sizeof copy)
    return NAN;
  memcpy (copy, self->text + quote, length);
  copy[length] = '\0';
  if (!g_ascii_isdigit (copy[0]) && copy[0] != '-')
    return NAN;
  double value = g_ascii_strtod (copy, &end);
  return end == copy + length ? value : NAN;
}

char *
assay_json_slice_string (const AssayJsonSlice *self)
{
  if (self->length < 2 || self->text[0] != '"')
    return NULL;
  if (!memchr (self->text, '\\', self->length))
    return g_utf8_make_valid (self->text + 1, (gssize) self->length - 2);
  g_autofree char *wrapped = g_strdup_printf ("[%.*s]", (int) self->length, self->text);
  g_autoptr (JsonNode) node =
      assay_json_parse (wrapped, -1, &ASSAY_JSON_LIMITS_MESSAGE, "a string", NULL);
  return node ? g_strdup (json_array_get_string_element (json_node_get_array (node), 0)) : NULL;
}

GInputStream *
assay_json_stream_open (const char *path, guint64 *packed, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GFileInputStream) raw = g_file_read (file, NULL, error);
  if (!raw)
    return NULL;
  g_autoptr (GFileInfo) info =
      g_file_input_stream_query_info (raw, G_FILE_ATTRIBUTE_STANDARD_SIZE, NULL, NULL);
  guint8 magic[2] = {0, 0};
  gsize read = 0;
  if (!g_input_stream_read_all (G_INPUT_STREAM (raw), magic, 2, &read, NULL, error)
      || !g_seekable_seek (G_SEEKABLE (raw), 0, G_SEEK_SET, NULL, error))
    return NULL;
  *packed = info ? (guint64) g_file_info_get_size (info) : 0;
  if (magic[0] != 0x1f || magic[1] != 0x8b)
    return G_INPUT_STREAM (g_steal_pointer (&raw));
  g_autoptr (GZlibDecompressor) unpack = g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP);
  return g_converter_input_stream_new (G_INPUT_STREAM (raw), G_CONVERTER (unpack));
}
