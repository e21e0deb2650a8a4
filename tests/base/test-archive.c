/* SPDX-License-Identifier: Apache-2.0 */
/* .npz archives and raw data: what NumPy wrote is read back, and whatever is broken is an error. */
#include "engine/base/array.h"
#include "engine/base/error.h"
#include "engine/base/json.h"

#include <glib/gstdio.h>
#include <string.h>

/* numpy.savez and numpy.savez_compressed (NumPy 2.4) of a = arange (6, float32) as (2, 3), over 4, and
 * b = int64 [1, -2, 3, 2^40]; base64. */
static const char STORED[] =
    "UEsDBC0AAAAAAAAAIQAKnACk//////////8FABQAYS5ucHkBABAAmAAAAAAAAACYAAAAAAAAAJNOVU1QWQEAdgB7J2"
    "Rlc2NyJzogJzxmNCcsICdmb3J0cmFuX29yZGVyJzogRmFsc2UsICdzaGFwZSc6ICgyLCAzKSwgfSAgICAgICAgICAg"
    "ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAKAAAAAAAAgD4AAAA/AABAPwAAgD"
    "8AAKA/UEsDBC0AAAAAAAAAIQCBazGt//////////8FABQAYi5ucHkBABAAoAAAAAAAAACgAAAAAAAAAJNOVU1QWQEA"
    "dgB7J2Rlc2NyJzogJzxpOCcsICdmb3J0cmFuX29yZGVyJzogRmFsc2UsICdzaGFwZSc6ICg0LCksIH0gICAgICAgIC"
    "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAKAQAAAAAAAAD+////////"
    "/wMAAAAAAAAAAAAAAAABAABQSwECLQMtAAAAAAAAACEACpwApJgAAACYAAAABQAAAAAAAAAAAAAAgAEAAAAAYS5ucH"
    "lQSwECLQMtAAAAAAAAACEAgWsxraAAAACgAAAABQAAAAAAAAAAAAAAgAHPAAAAYi5ucHlQSwUGAAAAAAIAAgBmAAAA"
    "pgEAAAAA";

static const char DEFLATED[] =
    "UEsDBC0AAAAIAAAAIQAKnACk//////////8FABQAYS5ucHkBABAAmAAAAAAAAABWAAAAAAAAAJvsF+obEMnIUMZQrZ"
    "6SWpxcpG6loG6TZqKuo6Cell9UUpSYF59flJIKEndLzClOBYoXZyQWpAL5GkY6CsaaOgq1CmQDLgYwaLADEvYMDA5A"
    "3ADEC+wBUEsDBC0AAAAIAAAAIQCBazGt//////////8FABQAYi5ucHkBABAAoAAAAAAAAABRAAAAAAAAAJvsF+obEM"
    "nIUMZQrZ6SWpxcpG6loG6TaaGuo6Cell9UUpSYF59flJIKEndLzClOBYoXZyQWpAL5GiY6mjoKtQoUAC5GBgj49x8C"
    "mBmQAFASAFBLAQItAy0AAAAIAAAAIQAKnACkVgAAAJgAAAAFAAAAAAAAAAAAAACAAQAAAABhLm5weVBLAQItAy0AAA"
    "AIAAAAIQCBazGtUQAAAKAAAAAFAAAAAAAAAAAAAACAAY0AAABiLm5weVBLBQYAAAAAAgACAGYAAAAVAQAAAAA=";

static GBytes *
archive (const char *text)
{
  gsize size;
  guchar *data = g_base64_decode (text, &size);
  return g_bytes_new_take (data, size);
}

static void
test_what_numpy_wrote (gconstpointer text)
{
  g_autoptr (GBytes) bytes = archive (text);
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayArray) a = assay_npz_parse (bytes, "a", "x.npz", &error);
  g_assert_no_error (error);
  g_autoptr (AssayArray) b = assay_npz_parse (bytes, "b", "x.npz", &error);
  g_assert_no_error (error);
  g_assert_cmpint (a->dtype, ==, ASSAY_DTYPE_FLOAT32);
  g_assert_cmpuint (a->ndim, ==, 2);
  g_assert_cmpint (a->shape[0], ==, 2);
  g_assert_cmpint (a->shape[1], ==, 3);
  for (gsize i = 0; i < 6; i++)
    g_assert_cmpfloat (assay_array_get (a, i), ==, (double) i / 4);
  static const double B[] = {1, -2, 3, 0x1p40};
  g_assert_cmpint (b->dtype, ==, ASSAY_DTYPE_INT64);
  for (gsize i = 0; i < 4; i++)
    g_assert_cmpfloat (assay_array_get (b, i), ==, B[i]);
}

static void
test_names_are_asked_for (void)
{
  g_autoptr (GBytes) bytes = archive (STORED);
  g_autoptr (GError) none = NULL, wrong = NULL;
  g_assert_null (assay_npz_parse (bytes, NULL, "x.npz", &none));
  g_assert_error (none, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND);
  g_assert_nonnull (strstr (none->message, "a, b"));
  g_assert_null (assay_npz_parse (bytes, "c", "x.npz", &wrong));
  g_assert_error (wrong, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND);
}

/* Every single byte changed, in turn: an error, or an array that was not touched. Data is protected by
 * its checksum, so no change of it goes unseen. */
static void
test_every_changed_byte (gconstpointer text)
{
  g_autoptr (GBytes) good = archive (text);
  gsize size;
  const guint8 *data = g_bytes_get_data (good, &size);
  g_autoptr (AssayArray) expected = assay_npz_parse (good, "a", "x.npz", NULL);
  guint refused = 0;
  for (gsize at = 0; at < size; at++)
    for (int bit = 0; bit < 8; bit += 3)
      {
        g_autofree guint8 *copy = g_memdup2 (data, size);
        copy[at] ^= (guint8) (1 << bit);
        g_autoptr (GBytes) bytes = g_bytes_new (copy, size);
        g_autoptr (GError) error = NULL;
        g_autoptr (AssayArray) array = assay_npz_parse (bytes, "a", "x.npz", &error);
        g_assert_true ((array == NULL) == (error != NULL));
        refused += !array;
        if (array)
          g_assert_cmpmem (array->data, array->bytes, expected->data, expected->bytes);
      }
  g_assert_cmpuint (refused, >, 100);
}

static void
test_cut_off_and_random (gconstpointer text)
{
  g_autoptr (GBytes) good = archive (text);
  gsize size;
  const guint8 *data = g_bytes_get_data (good, &size);
  g_autoptr (GRand) random = g_rand_new_with_seed (12);
  for (gsize cut = 0; cut < size; cut++)
    {
      g_autoptr (GBytes) bytes = g_bytes_new (data, cut);
      g_autoptr (GError) error = NULL;
      g_assert_null (assay_npz_parse (bytes, "a", "x.npz", &error));
      g_assert_nonnull (error);
    }
  for (int turn = 0; turn < 20000; turn++)
    {
      g_autofree guint8 *copy = g_memdup2 (data, size);
      for (int k = g_rand_int_range (random, 1, 12); k > 0; k--)
        copy[g_rand_int_range (random, 0, (gint32) size)] = (guint8) g_rand_int (random);
      g_autoptr (GBytes) bytes = g_bytes_new (copy, size);
      g_autoptr (GError) error = NULL;
      g_autoptr (AssayArray) array =
          assay_npz_parse (bytes, turn % 2 ? "a" : NULL, "x.npz", &error);
      g_assert_true ((array == NULL) == (error != NULL));
    }
}

typedef struct
{
  const char *description;
  gsize size;
  const char *complaint; /* part of the message; NULL: it is read */
} RawCase;

static const RawCase RAW[] = {
    {"{\"dtype\":\"float32\",\"shape\":[2]}", 8, NULL},
    {"{\"dtype\":\"float32\",\"shape\":[2],\"byte_order\":\"big\"}", 8, NULL},
    {"{\"dtype\":\"float32\",\"shape\":[2],\"offset\":4}", 12, NULL},
    {"{\"dtype\":\"float4_e2m1\",\"shape\":[8]}", 8, NULL},
    {"{\"dtype\":\"float32\",\"shape\":[2]}", 9, "expected 8 bytes"},
    {"{\"dtype\":\"float32\",\"shape\":[2],\"offset\":-4}", 8, "offset -4"},
    {"{\"dtype\":\"float32\",\"shape\":[2],\"offset\":9007199254740991}", 8, "offset"},
    {"{\"dtype\":\"float33\",\"shape\":[2]}", 8, "float33"},
    {"{\"dtype\":\"float32\",\"shape\":[4503599627370496,4096]}", 8, "shape"},
    {"{\"dtype\":\"float32\",\"shape\":[-2]}", 8, "shape"},
    {"{\"dtype\":\"float32\",\"shape\":[2],\"byte_order\":\"middle\"}", 8, "middle"},
    {"{\"shape\":[2]}", 8, "dtype"},
    {"[]", 8, "x.bin"},
};

static void
test_raw_data (void)
{
  const guint8 data[12] = {0, 0, 128, 63, 0, 0, 0, 64, 63, 128, 0, 0};
  for (gsize i = 0; i < G_N_ELEMENTS (RAW); i++)
    {
      g_autoptr (JsonNode) node =
          assay_json_parse (RAW[i].description, -1, &ASSAY_JSON_LIMITS_TASK, "x", NULL);
      g_autoptr (GBytes) bytes = g_bytes_new (data, RAW[i].size);
      g_autoptr (GError) error = NULL;
      g_autoptr (AssayArray) array = assay_raw_parse (bytes, node, "x.bin", &error);
      g_assert_true ((array == NULL) == (RAW[i].complaint != NULL));
      if (RAW[i].complaint)
        g_assert_nonnull (strstr (error->message, RAW[i].complaint));
    }
  g_autoptr (JsonNode) big =
      assay_json_parse ("{\"dtype\":\"float32\",\"shape\":[],\"byte_order\":\"big\",\"offset\":8}",
                        -1, &ASSAY_JSON_LIMITS_TASK, "x", NULL);
  g_autoptr (GBytes) bytes = g_bytes_new (data, 12);
  g_autoptr (AssayArray) one = assay_raw_parse (bytes, big, "x.bin", NULL);
  g_assert_cmpfloat (assay_array_get (one, 0), ==, 1);
}

static void
test_files_by_their_ending (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("assay-archive-XXXXXX", &error);
  g_autofree char *npz = g_build_filename (folder, "x.npz", NULL);
  g_autofree char *raw = g_build_filename (folder, "y.bin", NULL);
  g_autofree char *beside = g_build_filename (folder, "y.bin.json", NULL);
  g_autoptr (GBytes) bytes = archive (DEFLATED);
  const guint8 codes[2] = {0x38, 0x7e};
  g_file_set_contents (npz, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes),
                       NULL);
  g_file_set_contents (raw, (const char *) codes, 2, NULL);
  g_autoptr (AssayArray) b = assay_array_load (npz, "b", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (b->count, ==, 4);
  g_autoptr (GError) bare = NULL;
  g_assert_null (assay_array_load (raw, NULL, &bare));
  g_assert_nonnull (strstr (bare->message, "y.bin.json"));
  g_file_set_contents (beside, "{\"dtype\":\"float8_e4m3fn\",\"shape\":[2]}", -1, NULL);
  g_autoptr (AssayArray) y = assay_array_load (raw, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (assay_array_get (y, 0), ==, 1);
  g_assert_cmpfloat (assay_array_get (y, 1), ==, 448);
  g_remove (npz);
  g_remove (raw);
  g_remove (beside);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/archive/stored", STORED, test_what_numpy_wrote);
  g_test_add_data_func ("/archive/deflated", DEFLATED, test_what_numpy_wrote);
  g_test_add_func ("/archive/names", test_names_are_asked_for);
  g_test_add_data_func ("/archive/changed-stored", STORED, test_every_changed_byte);
  g_test_add_data_func ("/archive/changed-deflated", DEFLATED, test_every_changed_byte);
  g_test_add_data_func ("/archive/random-stored", STORED, test_cut_off_and_random);
  g_test_add_data_func ("/archive/random-deflated", DEFLATED, test_cut_off_and_random);
  g_test_add_func ("/archive/raw", test_raw_data);
  g_test_add_func ("/archive/files", test_files_by_their_ending);
  return g_test_run ();
}
