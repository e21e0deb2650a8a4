/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of block-scaled formats as files hold them, against values that make-blocks.py decoded exactly from
 * the specifications. */
#include "engine/base/blocked.h"

#include "engine/base/error.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static char *folder;

static GByteArray *
from_hex (const char *text)
{
  GByteArray *bytes = g_byte_array_new ();
  for (; *text; text += 2)
    {
      guint8 byte = (guint8) (g_ascii_xdigit_value (text[0]) << 4 | g_ascii_xdigit_value (text[1]));
      g_byte_array_append (bytes, &byte, 1);
    }
  return bytes;
}

static char *
write_raw (JsonObject *t, const char *packing, const char *extra)
{
  g_autoptr (GByteArray) codes = from_hex (
      json_object_get_string_member (t, g_str_equal (packing, "bytes") ? "codes" : packing));
  g_autoptr (GByteArray) scales = from_hex (json_object_get_string_member (t, "scales"));
  char *path = g_build_filename (folder, "raw.bin", NULL);
  g_autofree char *beside = g_strconcat (path, ".json", NULL);
  g_autofree char *text = g_strdup_printf (
      "{\"dtype\": \"%s\", \"shape\": [3, 50], \"packing\": \"%s\", \"tensor_scale\": %.17g%s}",
      json_object_get_string_member (t, "format"), packing,
      json_object_get_double_member (t, "tensor_scale"), extra);
  g_byte_array_append (codes, scales->data, scales->len);
  g_assert_true (g_file_set_contents (path, (char *) codes->data, codes->len, NULL));
  g_assert_true (g_file_set_contents (beside, text, -1, NULL));
  return path;
}

static AssayArray *
piece (AssayDtype dtype, gint64 rows, gint64 columns, const char *hex)
{
  const gint64 shape[] = {rows, columns};
  g_autoptr (GByteArray) bytes = from_hex (hex);
  AssayArray *array = assay_array_new (dtype, shape, 2, NULL);
  g_assert_cmpuint (array->bytes, ==, bytes->len);
  memcpy (array->data, bytes->data, bytes->len);
  return array;
}

static char *
write_pieces (JsonObject *t, gboolean packed, const char *scale_ending)
{
  AssayBlockType type = assay_block_from_name (json_object_get_string_member (t, "format"));
  const AssayBlockFormat *format = assay_block_format (type);
  JsonArray *scale_shape = json_object_get_array_member (t, "scale_shape");
  g_autoptr (AssayArray) codes =
      piece (ASSAY_DTYPE_UINT8, 3, packed ? 25 : 50,
             json_object_get_string_member (t, packed ? "low_first" : "codes"));
  g_autoptr (AssayArray) scales =
      piece (format->scale, 3, json_array_get_int_element (scale_shape, 1),
             json_object_get_string_member (t, "scales"));
  g_autoptr (AssayArray) whole =
      piece (ASSAY_DTYPE_FLOAT32, 1, 1, json_object_get_string_member (t, "tensor_scale_bytes"));
  g_autofree char *scale_name = g_strconcat ("w", scale_ending, NULL);
  const char *names[] = {"w", scale_name, "w_scale_2"};
  AssayArray *arrays[] = {codes, scales, whole};
  g_autoptr (GBytes) bytes = assay_safetensors_format (names, arrays, 3, NULL);
  char *path = g_build_filename (folder, "pieces.safetensors", NULL);
  g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes), NULL));
  return path;
}

static void
check_values (JsonObject *t, const AssayBlocked *blocked)
{
  JsonArray *values = json_object_get_array_member (t, "values");
  g_autoptr (AssayArray) decoded = assay_blocked_decode (blocked, NULL);
  g_assert_cmpuint (decoded->count, ==, json_array_get_length (values));
  for (guint i = 0; i < decoded->count; i++)
    {
      double expected = g_strtod (json_array_get_string_element (values, i), NULL);
      double ours = assay_array_get (decoded, i);
      if (!(ours == expected || (isnan (ours) && isnan (expected))))
        g_error ("%s %u: %a, expected %a", json_object_get_string_member (t, "format"), i, ours,
                 expected);
    }
}

static void
check_tensor (JsonObject *t)
{
  g_autoptr (GError) error = NULL;
  AssayBlockType type = assay_block_from_name (json_object_get_string_member (t, "format"));
  gboolean four = strlen (json_object_get_string_member (t, "low_first")) > 0;
  static const char *const PACKINGS[] = {"bytes", "low_first", "high_first"};
  for (gsize i = 0; i < (four ? 3 : 1); i++)
    {
      g_autofree char *path = write_raw (t, PACKINGS[i], "");
      g_assert_cmpint (assay_blocked_type_of (path), ==, type);
      g_autoptr (AssayBlocked) raw = assay_blocked_load (path, NULL, ASSAY_BLOCK_UNKNOWN, &error);
      g_assert_no_error (error);
      check_values (t, raw);
    }
  static const char *const ENDINGS[] = {".scale", "_scale", "_scales"};
  for (gsize i = 0; i < G_N_ELEMENTS (ENDINGS); i++)
    {
      g_autofree char *path = write_pieces (t, four && i == 1, ENDINGS[i]);
      g_autoptr (AssayBlocked) pieces = assay_blocked_load (path, "w", type, &error);
      g_assert_no_error (error);
      check_values (t, pieces);
      AssayBlockDifference same;
      g_assert_true (assay_blocked_compare (pieces, pieces, &same, &error));
      g_assert_cmpuint (same.differ + same.other_scale + same.nan_differs, ==, 0);
    }
}

static JsonArray *
tensors (JsonParser *parser)
{
  g_autofree char *path =
      g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "tests", "base", "blocks.json", NULL);
  g_assert_true (json_parser_load_from_file (parser, path, NULL));
  return json_object_get_array_member (json_node_get_object (json_parser_get_root (parser)),
                                       "tensors");
}

static void
test_every_format_decodes_exactly (void)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonArray *all = tensors (parser);
  g_assert_cmpuint (json_array_get_length (all), ==, ASSAY_N_BLOCK_TYPES);
  for (guint i = 0; i < json_array_get_length (all); i++)
    check_tensor (json_array_get_object_element (all, i));
}

static JsonObject *
find (JsonArray *all, const char *name)
{
  for (guint i = 0; i < json_array_get_length (all); i++)
    {
      JsonObject *t = json_array_get_object_element (all, i);
      if (g_str_equal (json_object_get_string_member (t, "format"), name))
        return t;
    }
  g_error ("no %s", name);
}

/* A code by one step, under the same scale; and the same values under scales that differ. */
static void
test_scales_and_codes_are_told_apart (void)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *t = find (tensors (parser), "mxfp4");
  g_autofree char *path = write_raw (t, "bytes", "");
  g_autoptr (AssayBlocked) a = assay_blocked_load (path, NULL, ASSAY_BLOCK_MXFP4, NULL);
  g_autoptr (AssayBlocked) b = assay_blocked_load (path, NULL, ASSAY_BLOCK_MXFP4, NULL);
  AssayBlockDifference d;
  a->scales->data[2] = b->scales->data[2] = 127;
  a->codes->data[60] = 5;
  b->codes->data[60] = 6;
  g_assert_true (assay_blocked_compare (a, b, &d, NULL));
  g_assert_cmpuint (d.blocks, ==, 6);
  g_assert_cmpuint (d.differ, ==, 1);
  g_assert_cmpuint (d.max_steps, ==, 1);
  g_assert_cmpuint (d.max_steps_at, ==, 60);
  g_assert_cmpuint (d.max_error_at, ==, 60);
  b->scales->data[3] = (guint8) (a->scales->data[3] == 100 ? 101 : 100);
  g_assert_true (assay_blocked_compare (a, b, &d, NULL));
  g_assert_cmpuint (d.other_scale, ==, 1);
  g_assert_cmpuint (d.elements, ==, 150 - 18);
}

static void
test_what_does_not_fit_is_refused (void)
{
  static const struct
  {
    const char *packing, *extra, *part;
  } WRONG[] = {
      {"bytes", ", \"offset\": 1", "bytes of codes at 1"},
      {"bytes", ", \"scales_offset\": 151", "6 scales at 151"},
      {"bytes", ", \"offset\": -1", "at -1"},
      {"low_first", ", \"scales_offset\": 999999999999999999", "scales at 999999999999999999"}};
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonArray *all = tensors (parser);
  for (gsize i = 0; i < G_N_ELEMENTS (WRONG); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *path = write_raw (find (all, "mxfp4"), WRONG[i].packing, WRONG[i].extra);
      g_assert_null (assay_blocked_load (path, NULL, ASSAY_BLOCK_UNKNOWN, &error));
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, WRONG[i].part));
    }
  g_autoptr (GError) error = NULL;
  g_autofree char *six = write_pieces (find (all, "mxfp6_e2m3"), FALSE, ".scale");
  g_autoptr (AssayBlocked) right = assay_blocked_load (six, "w", ASSAY_BLOCK_MXFP6_E3M2, &error);
  g_assert_no_error (error);
  g_assert_null (assay_blocked_load (six, "w", ASSAY_BLOCK_MXFP4, &error));
  g_assert_nonnull (strstr (error->message, "a code of 4 bits"));
  g_clear_error (&error);
  g_assert_null (assay_blocked_load (six, "w", ASSAY_BLOCK_NVFP4, &error));
  g_assert_nonnull (strstr (error->message, "do not go together"));
  g_clear_error (&error);
  g_assert_null (assay_blocked_load (six, "w.scale", ASSAY_BLOCK_MXFP8_E4M3, &error));
  g_assert_nonnull (strstr (error->message, "no scales"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("assay-blocked-XXXXXX", NULL);
  g_test_add_func ("/blocked/decode", test_every_format_decodes_exactly);
  g_test_add_func ("/blocked/compare", test_scales_and_codes_are_told_apart);
  g_test_add_func ("/blocked/refused", test_what_does_not_fit_is_refused);
  int status = g_test_run ();
  static const char *const FILES[] = {"raw.bin", "raw.bin.json", "pieces.safetensors"};
  for (gsize i = 0; i < G_N_ELEMENTS (FILES); i++)
    {
      g_autofree char *path = g_build_filename (folder, FILES[i], NULL);
      g_remove (path);
    }
  g_rmdir (folder);
  g_free (folder);
  return status;
}
