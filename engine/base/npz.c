/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/array.h"

#include "engine/base/error.h"

#include <gio/gio.h>
#include <string.h>

/* .npz: a zip archive of .npy files, stored or deflated (APPNOTE.TXT 6.3.10: §4.3.7 local header, §4.3.12
 * central directory, §4.3.14 to §4.3.16 its end, §4.5.3 sizes beyond 32 bits). */

#define MAX_MEMBERS 4096
#define MAX_UNPACKED (G_GUINT64_CONSTANT (1) << 36)
#define END_SIZE 22
#define CENTRAL_SIZE 46
#define LOCAL_SIZE 30

typedef struct
{
  const guint8 *data;
  gsize size;
  const char *source;
} Archive;

typedef struct
{
  char *name;
  guint method; /* 0 stored, 8 deflated */
  guint32 crc;
  guint64 packed, unpacked, offset;
} Member;

static void
clear_member (gpointer member)
{
  g_free (((Member *) member)->name);
}

static guint64
number_at (const guint8 *at, guint bytes)
{
  guint64 value = 0;
  for (guint i = 0; i < bytes; i++)
    value |= (guint64) at[i] << 8 * i;
  return value;
}

static gboolean
fail (const Archive *archive, GError **error, const char *what)
{
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "%s: not a readable .npz archive: %s",
               archive->source, what);
  return FALSE;
}

static guint32
checksum (const guint8 *data, gsize size)
{
  static guint32 table[256];
  static gsize ready = 0;
  if (g_once_init_enter (&ready))
    {
      for (guint32 i = 0; i < 256; i++)
        {
          guint32 value = i;
          for (int bit = 0; bit < 8; bit++)
            value = value & 1 ? 0xedb88320u ^ value >> 1 : value >> 1;
          table[i] = value;
        }
      g_once_init_leave (&ready, 1);
    }
  guint32 crc = G_MAXUINT32;
  for (gsize i = 0; i < size; i++)
    crc = table[(crc ^ data[i]) & 0xff] ^ crc >> 8;
  return ~crc;
}

/* Where the central directory starts, and how many members it has. */
static gboolean
find_directory (const Archive *archive, guint64 *start, guint64 *count, GError **error)
{
  gsize least = archive->size > 0xffff + END_SIZE ? archive->size - 0xffff - END_SIZE : 0;
  if (archive->size < END_SIZE)
    return fail (archive, error, "it is too short");
  gsize end = archive->size - END_SIZE;
  while (memcmp (archive->data + end, "PK\5\6", 4) != 0)
    if (end-- == least)
      return fail (archive, error, "its directory has no end");
  *count = number_at (archive->data + end + 10, 2);
  *start = number_at (archive->data + end + 16, 4);
  if ((*count != 0xffff && *start != 0xffffffff) || end < 20)
    return TRUE;
  const guint8 *locator = archive->data + end - 20;
  guint64 wide = number_at (locator + 8, 8);
  if (memcmp (locator, "PK\6\7", 4) != 0)
    return TRUE;
  if (wide > archive->size || archive->size - wide < 56
      || memcmp (archive->data + wide, "PK\6\6", 4) != 0)
    return fail (archive, error, "its 64-bit end of directory is not where it should be");
  *count = number_at (archive->data + wide + 32, 8);
  *start = number_at (archive->data + wide + 48, 8);
  return TRUE;
}

/* Sizes that do not fit 32 bits stand in an extra field, in this order, those that are needed. */
static void
take_wide (Member *member, const guint8 *extra, gsize size)
{
  guint64 *fields[] = {&member->unpacked, &member->packed, &member->offset};
  while (size >= 4)
    {
      gsize id = number_at (extra, 2), length = number_at (extra + 2, 2);
      if (length > size - 4)
        return;
      const guint8 *at = extra + 4, *end = at + length;
      for (guint i = 0; id == 1 && i < G_N_ELEMENTS (fields); i++)
        if (*fields[i] == 0xffffffff && end - at >= 8)
          {
            *fields[i] = number_at (at, 8);
            at += 8;
          }
      extra += 4 + length;
      size -= 4 + length;
    }
}

static GArray *
read_directory (const Archive *archive, GError **error)
{
  guint64 at, count;
  if (!find_directory (archive, &at, &count, error))
    return NULL;
  if (count > MAX_MEMBERS)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_LIMIT,
                   "%s: %" G_GUINT64_FORMAT " members, at most %d are read", archive->source, count,
                   MAX_MEMBERS);
      return NULL;
    }
  g_autoptr (GArray) members = g_array_new (FALSE, TRUE, sizeof (Member));
  g_array_set_clear_func (members, clear_member);
  for (guint64 i = 0; i < count; i++)
    {
      if (at > archive->size || archive->size - at < CENTRAL_SIZE
          || memcmp (archive->data + at, "PK\1\2", 4) != 0)
        {
          fail (archive, error, "its directory breaks off");
          return NULL;
        }
      const guint8 *head = archive->data + at;
      gsize name = number_at (head + 28, 2), extra = number_at (head + 30, 2);
      gsize comment = number_at (head + 32, 2);
      if (archive->size - at - CENTRAL_SIZE < name + extra + comment)
        {
          fail (archive, error, "its directory breaks off");
          return NULL;
        }
      Member member = {
          .name = g_strndup ((const char *) head + CENTRAL_SIZE, name),
          .method = (guint) number_at (head + 10, 2),
          .crc = (guint32) number_at (head + 16, 4),
          .packed = number_at (head + 20, 4),
          .unpacked = number_at (head + 24, 4),
          .offset = number_at (head + 42, 4),
      };
      take_wide (&member, head + CENTRAL_SIZE + name, extra);
      g_array_append_val (members, member);
      at += CENTRAL_SIZE + name + extra + comment;
    }
  return g_steal_pointer (&members);
}

static guint8 *
inflate (const Archive *archive, const guint8 *packed, const Member *member, GError **error)
{
  g_autofree guint8 *out = g_try_malloc (MAX (member->unpacked, 1));
  if (!out)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_LIMIT,
                   "%s: no memory for %s of %" G_GUINT64_FORMAT " bytes", archive->source,
                   member->name, member->unpacked);
      return NULL;
    }
  g_autoptr (GConverter) converter =
      G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_RAW));
  gsize from = 0, to = 0;
  GConverterResult result = G_CONVERTER_CONVERTED;
  while (result == G_CONVERTER_CONVERTED && to < member->unpacked)
    {
      gsize taken = 0, given = 0;
      result = g_converter_convert (converter, packed + from, member->packed - from, out + to,
                                    member->unpacked - to, G_CONVERTER_INPUT_AT_END, &taken, &given,
                                    NULL);
      from += taken;
      to += given;
    }
  if (to == member->unpacked)
    return g_steal_pointer (&out);
  fail (archive, error, "a member does not unpack to its size");
  return NULL;
}

static GBytes *
unpack (const Archive *archive, const Member *member, GError **error)
{
  if (member->offset > archive->size || archive->size - member->offset < LOCAL_SIZE
      || memcmp (archive->data + member->offset, "PK\3\4", 4) != 0)
    {
      fail (archive, error, "a member is not where the directory says");
      return NULL;
    }
  const guint8 *head = archive->data + member->offset;
  gsize start = LOCAL_SIZE + number_at (head + 26, 2) + number_at (head + 28, 2);
  gsize rest = archive->size - member->offset;
  if (start > rest || member->packed > rest - start
      || (member->method == 0 && member->packed != member->unpacked))
    {
      fail (archive, error, "a member does not fit into the file");
      return NULL;
    }
  /* Deflate gives at most 1032 bytes for one. */
  if (member->unpacked > MAX_UNPACKED || member->unpacked / 1032 > member->packed)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_LIMIT,
                   "%s: %s claims to unpack to %" G_GUINT64_FORMAT " bytes", archive->source,
                   member->name, member->unpacked);
      return NULL;
    }
  if (member->method != 0 && member->method != 8)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
                   "%s: %s is packed by method %u, expected 0 (stored) or 8 (deflated)",
                   archive->source, member->name, member->method);
      return NULL;
    }
  guint8 *data = member->method == 0 ? g_memdup2 (head + start, member->packed)
                                     : inflate (archive, head + start, member, error);
  if (!data && (member->method != 0 || member->packed))
    return NULL;
  g_autoptr (GBytes) bytes = g_bytes_new_take (data, member->unpacked);
  if (checksum (data, member->unpacked) == member->crc)
    return g_steal_pointer (&bytes);
  fail (archive, error, "a member's checksum is wrong");
  return NULL;
}

static char *
array_name (const Member *member)
{
  gsize length = strlen (member->name);
  return g_strndup (member->name, g_str_has_suffix (member->name, ".npy") ? length - 4 : length);
}

AssayArray *
assay_npz_parse (GBytes *bytes, const char *tensor, const char *source, GError **error)
{
  Archive archive = {.source = source};
  archive.data = g_bytes_get_data (bytes, &archive.size);
  g_autoptr (GArray) members = read_directory (&archive, error);
  if (!members)
    return NULL;
  g_autoptr (GString) names = g_string_new (NULL);
  const Member *found = NULL;
  for (guint i = 0; i < members->len; i++)
    {
      const Member *member = &g_array_index (members, Member, i);
      g_autofree char *name = array_name (member);
      g_string_append_printf (names, "%s%s", i ? ", " : "", name);
      if (tensor ? g_str_equal (name, tensor) : members->len == 1)
        found = member;
    }
  if (!found)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND, "%s: %s \"%s\"; it holds: %s", source,
                   tensor ? "no array" : "several arrays, say which: none is named",
                   tensor ? tensor : "", names->str);
      return NULL;
    }
  g_autoptr (GBytes) content = unpack (&archive, found, error);
  g_autofree char *where = g_strdup_printf ("%s: %s", source, found->name);
  return content ? assay_npy_parse (content, where, error) : NULL;
}
