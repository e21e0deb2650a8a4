/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/array.h"

#include "engine/base/error.h"

#include <string.h>

/* The .npy format, NumPy enhancement proposal 1 and numpy.lib.format: magic, version, header length,
 * a Python dictionary literal with exactly three keys, then the data. */

#define MAGIC "\x93NUMPY"
#define MAX_HEADER (1 << 16)

static const struct
{
  const char *descr; /* without the byte order */
  AssayDtype dtype;
} DESCRS[] = {
    {"f8", ASSAY_DTYPE_FLOAT64},   {"f4", ASSAY_DTYPE_FLOAT32},     {"f2", ASSAY_DTYPE_FLOAT16},
    {"i8", ASSAY_DTYPE_INT64},     {"i4", ASSAY_DTYPE_INT32},       {"i2", ASSAY_DTYPE_INT16},
    {"i1", ASSAY_DTYPE_INT8},      {"u8", ASSAY_DTYPE_UINT64},      {"u4", ASSAY_DTYPE_UINT32},
    {"u2", ASSAY_DTYPE_UINT16},    {"u1", ASSAY_DTYPE_UINT8},       {"b1", ASSAY_DTYPE_BOOL},
    {"c8", ASSAY_DTYPE_COMPLEX64}, {"c16", ASSAY_DTYPE_COMPLEX128},
};

typedef struct
{
  const char *at, *end;
  const char *source;
  GError **error;
  AssayDtype dtype;
  gboolean big_endian, fortran;
  gint64 shape[ASSAY_ARRAY_MAX_DIMS];
  guint ndim;
  guint seen; /* bit per key */
} Header;

enum
{
  SEEN_DESCR = 1,
  SEEN_FORTRAN = 2,
  SEEN_SHAPE = 4,
  SEEN_ALL = 7,
};

static gboolean
fail (const char *source, GError **error, const char *what)
{
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "%s: not a readable .npy file: %s", source,
               what);
  return FALSE;
}

static void
skip_blanks (Header *header)
{
  while (header->at < header->end && strchr (" \t\n", *header->at))
    header->at++;
}

static gboolean
take (Header *header, const char *word)
{
  skip_blanks (header);
  gsize length = strlen (word);
  if ((gsize) (header->end - header->at) < length || strncmp (header->at, word, length) != 0)
    return FALSE;
  header->at += length;
  return TRUE;
}

/* A Python string literal without escapes. */
static char *
take_string (Header *header)
{
  skip_blanks (header);
  char quote = header->at < header->end ? *header->at : 0;
  if (quote != '\'' && quote != '"')
    return NULL;
  const char *start = header->at + 1;
  const char *stop = memchr (start, quote, (gsize) (header->end - start));
  if (!stop || memchr (start, '\\', (gsize) (stop - start)))
    return NULL;
  header->at = stop + 1;
  return g_strndup (start, (gsize) (stop - start));
}

static gboolean
read_descr (Header *header)
{
  g_autofree char *text = take_string (header);
  if (!text)
    return fail (header->source, header->error, "'descr' is no plain type (structured or pickled)");
  header->big_endian = text[0] == '>';
  for (gsize i = 0; i < G_N_ELEMENTS (DESCRS); i++)
    if (strchr ("<>|=", text[0]) && text[0] && g_str_equal (text + 1, DESCRS[i].descr))
      {
        header->dtype = DESCRS[i].dtype;
        return TRUE;
      }
  g_set_error (header->error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
               "%s: element type '%s' is not one we read (float, int, uint, bool and complex are)",
               header->source, text);
  return FALSE;
}

static gboolean
read_shape (Header *header)
{
  if (!take (header, "("))
    return fail (header->source, header->error, "'shape' is not a tuple");
  while (!take (header, ")"))
    {
      skip_blanks (header);
      gint64 extent = 0;
      const char *start = header->at;
      for (; header->at < header->end && g_ascii_isdigit (*header->at); header->at++)
        if (__builtin_mul_overflow (extent, 10, &extent)
            || __builtin_add_overflow (extent, *header->at - '0', &extent))
          return fail (header->source, header->error, "an extent does not fit 64 bits");
      if (header->at == start || header->ndim == ASSAY_ARRAY_MAX_DIMS)
        return fail (header->source, header->error, "'shape' is not up to eight integers");
      header->shape[header->ndim++] = extent;
      take (header, "L");
      if (!take (header, ",") && (skip_blanks (header), *header->at != ')'))
        return fail (header->source, header->error, "'shape' is not a tuple of integers");
    }
  return TRUE;
}

static gboolean
read_entry (Header *header)
{
  g_autofree char *key = take_string (header);
  if (!key || !take (header, ":"))
    return fail (header->source, header->error, "the header is not a dictionary");
  if (g_str_equal (key, "descr"))
    {
      header->seen |= SEEN_DESCR;
      return read_descr (header);
    }
  if (g_str_equal (key, "shape"))
    {
      header->seen |= SEEN_SHAPE;
      return read_shape (header);
    }
  if (!g_str_equal (key, "fortran_order"))
    return fail (header->source, header->error, "the header has an unknown key");
  header->seen |= SEEN_FORTRAN;
  header->fortran = take (header, "True");
  return header->fortran || take (header, "False")
         || fail (header->source, header->error, "'fortran_order' is neither True nor False");
}

static gboolean
read_header (Header *header)
{
  if (!take (header, "{"))
    return fail (header->source, header->error, "the header is not a dictionary");
  while (!take (header, "}"))
    {
      if (!read_entry (header))
        return FALSE;
      if (!take (header, ",") && (skip_blanks (header), header->at >= header->end))
        return fail (header->source, header->error, "the header ends early");
    }
  return header->seen == SEEN_ALL
         || fail (header->source, header->error, "descr, fortran_order or shape is missing");
}

static void
swap_bytes (AssayArray *array)
{
  gsize width = (gsize) assay_dtype_format (array->dtype)->component_bytes;
  for (gsize at = 0; at < array->bytes; at += width)
    for (gsize i = 0; i < width / 2; i++)
      {
        guint8 byte = array->data[at + i];
        array->data[at + i] = array->data[at + width - 1 - i];
        array->data[at + width - 1 - i] = byte;
      }
}

/* Copies column-major data into a row-major array. */
static void
copy_fortran (AssayArray *array, const guint8 *data)
{
  gsize item = (gsize) assay_dtype_format (array->dtype)->item_bytes;
  gint64 index[ASSAY_ARRAY_MAX_DIMS] = {0};
  for (gsize i = 0; i < array->count; i++)
    {
      gsize from = 0;
      for (guint d = array->ndim; d-- > 0;)
        from = from * (gsize) array->shape[d] + (gsize) index[d];
      memcpy (array->data + i * item, data + from * item, item);
      for (guint d = array->ndim; d-- > 0;)
        {
          if (++index[d] < array->shape[d])
            break;
          index[d] = 0;
        }
    }
}

static AssayArray *
build (const Header *header, GBytes *bytes, gsize offset, GError **error)
{
  gsize count = 0, size = 0;
  if (!assay_shape_size (header->dtype, header->shape, header->ndim, &count, &size, error))
    {
      g_prefix_error (error, "%s: ", header->source);
      return NULL;
    }
  gsize there = g_bytes_get_size (bytes) - offset;
  if (there != size)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "%s: the header promises %" G_GSIZE_FORMAT
                   " bytes of data, found %" G_GSIZE_FORMAT,
                   header->source, size, there);
      return NULL;
    }
  g_autoptr (GBytes) data = g_bytes_new_from_bytes (bytes, offset, size);
  gboolean turn = header->fortran && header->ndim > 1;
  /* A mapping is used as it is where the data are aligned for their type, as .npy aligns them. */
  gboolean aligned = ((gsize) g_bytes_get_data (data, NULL) & 15) == 0;
  if (!turn && !header->big_endian && aligned)
    return assay_array_new_from_bytes (header->dtype, header->shape, header->ndim, data, error);
  AssayArray *array = assay_array_new (header->dtype, header->shape, header->ndim, error);
  if (!array)
    return NULL;
  if (turn)
    copy_fortran (array, g_bytes_get_data (data, NULL));
  else if (size)
    memcpy (array->data, g_bytes_get_data (data, NULL), size);
  if (header->big_endian)
    swap_bytes (array);
  return array;
}

AssayArray *
assay_npy_parse (GBytes *bytes, const char *source, GError **error)
{
  gsize size = 0;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  if (size < 10 || memcmp (data, MAGIC, 6) != 0)
    {
      fail (source, error, "it does not begin with \\x93NUMPY");
      return NULL;
    }
  gsize start = data[6] == 1 ? 10 : 12;
  if (data[6] < 1 || data[6] > 3 || size < start)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
                   "%s: .npy version %u, expected 1, 2 or 3", source, data[6]);
      return NULL;
    }
  gsize length = data[8] | (gsize) data[9] << 8;
  if (start == 12)
    length |= (gsize) data[10] << 16 | (gsize) data[11] << 24;
  if (length > MAX_HEADER || length > size - start)
    {
      fail (source, error, "the header is longer than the file or 64 KiB");
      return NULL;
    }
  g_autofree char *text = g_strndup ((const char *) data + start, length);
  Header header = {.at = text, .end = text + strlen (text), .source = source, .error = error};
  return read_header (&header) ? build (&header, bytes, start + length, error) : NULL;
}

gboolean
assay_array_npy_has (AssayDtype dtype)
{
  for (gsize i = 0; i < G_N_ELEMENTS (DESCRS); i++)
    if (DESCRS[i].dtype == dtype)
      return TRUE;
  return FALSE;
}

GBytes *
assay_npy_format (const AssayArray *array, GError **error)
{
  const char *descr = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (DESCRS); i++)
    if (DESCRS[i].dtype == array->dtype)
      descr = DESCRS[i].descr;
  if (!descr)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED, ".npy has no %s; use .safetensors",
                   assay_dtype_name (array->dtype));
      return NULL;
    }
  char order = assay_dtype_format (array->dtype)->component_bytes == 1 ? '|' : '<';
  g_autoptr (GString) header = g_string_new (NULL);
  g_string_printf (header, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", order, descr);
  for (guint i = 0; i < array->ndim; i++)
    g_string_append_printf (header, "%" G_GINT64_FORMAT "%s", array->shape[i],
                            array->ndim == 1      ? ","
                            : i + 1 < array->ndim ? ", "
                                                  : "");
  g_string_append (header, "), }");
  while ((10 + header->len + 1) % 64 != 0)
    g_string_append_c (header, ' ');
  g_string_append_c (header, '\n');
  GByteArray *out = g_byte_array_sized_new ((guint) (10 + header->len));
  guint8 start[10] = MAGIC "\1";
  start[8] = (guint8) (header->len & 0xff);
  start[9] = (guint8) (header->len >> 8);
  g_byte_array_append (out, start, sizeof start);
  g_byte_array_append (out, (const guint8 *) header->str, (guint) header->len);
  gsize length = out->len + array->bytes;
  guint8 *all = g_try_malloc (length);
  if (all)
    {
      memcpy (all, out->data, out->len);
      if (array->bytes)
        memcpy (all + out->len, array->data, array->bytes);
    }
  else
    g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_LIMIT,
                 "no memory to write %" G_GSIZE_FORMAT " bytes", length);
  g_byte_array_unref (out);
  return all ? g_bytes_new_take (all, length) : NULL;
}
