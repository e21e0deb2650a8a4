/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/array.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

#include <glib/gstdio.h>
#include <string.h>

static void
assert_message (const GError *error, const char *part)
{
  g_assert_nonnull (error);
  if (!strstr (error->message, part))
    g_error ("expected “%s” in “%s”", part, error->message);
}

static AssayArray *
filled (AssayDtype dtype, const gint64 *shape, guint ndim)
{
  AssayArray *array = assay_array_new (dtype, shape, ndim, NULL);
  for (gsize i = 0; i < assay_array_components (array); i++)
    assay_array_set (array, i, (double) (i % 7) - 2);
  return array;
}

static void
test_every_dtype_survives_both_containers (void)
{
  const gint64 shape[] = {3, 1, 5};
  for (int d = 0; d < ASSAY_N_DTYPES; d++)
    {
      g_autoptr (AssayArray) array = filled ((AssayDtype) d, shape, 3);
      AssayArray *list[] = {array};
      const char *name = "t";
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) container = assay_safetensors_format (&name, list, 1, &error);
      g_assert_no_error (error);
      g_autoptr (AssayArray) back = assay_safetensors_parse (container, NULL, "x", &error);
      g_assert_no_error (error);
      g_assert_cmpint (back->dtype, ==, d);
      g_assert_true (assay_array_same_shape (array, back));
      g_assert_cmpmem (back->data, back->bytes, array->data, array->bytes);
      g_autoptr (GBytes) npy = assay_npy_format (array, &error);
      g_assert_true ((npy != NULL) == assay_array_npy_has ((AssayDtype) d));
      if (!npy)
        {
          assert_message (error, ".npy has no");
          continue;
        }
      g_autoptr (AssayArray) again = assay_npy_parse (npy, "x", &error);
      g_assert_no_error (error);
      g_assert_cmpint (again->dtype, ==, d);
      g_assert_cmpmem (again->data, again->bytes, array->data, array->bytes);
    }
}

static GBytes *
npy_of (const char *header, const void *data, gsize size)
{
  GByteArray *out = g_byte_array_new ();
  guint8 start[10] = "\x93NUMPY\1";
  start[8] = (guint8) strlen (header);
  g_byte_array_append (out, start, 10);
  g_byte_array_append (out, (const guint8 *) header, (guint) strlen (header));
  g_byte_array_append (out, data, (guint) size);
  return g_byte_array_free_to_bytes (out);
}

static void
test_npy_of_other_writers (void)
{
  /* Column-major big-endian [[1, 2, 3], [4, 5, 6]], as numpy.save writes it for such an array. */
  const guint8 data[] = {0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6};
  g_autoptr (GBytes) bytes = npy_of (
      "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }       \n", data, sizeof data);
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayArray) array = assay_npy_parse (bytes, "x.npy", &error);
  g_assert_no_error (error);
  for (gsize i = 0; i < 6; i++)
    g_assert_cmpfloat (assay_array_get (array, i), ==, (double) (i + 1));
}

typedef struct
{
  const char *header;
  const char *message;
} Broken;

/* clang-format off */
static const Broken BROKEN[] = {
  {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "element type '|O'"},
  {"{'descr': [('a','<f4')], 'fortran_order': False, 'shape': (1,), }", "structured or pickled"},
  {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "promises 12 bytes of data, found 4"},
  {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }", "neither True nor False"},
  {"{'descr': '<f4', 'shape': (1,), }", "is missing"},
  {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "integers"},
  {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "64 bits"},
  {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "overflows"},
  {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", "up to eight"},
  {"{'descr': '<f4', 'fortran_order': False, 'shape': (1", "integers"},
  {"{'descr': '<f4'", "ends early"},
  {"['descr']", "not a dictionary"},
};
/* clang-format on */

static void
test_broken_npy_is_refused (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (BROKEN); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) bytes = npy_of (BROKEN[i].header, "abcd", 4);
      g_assert_null (assay_npy_parse (bytes, "x.npy", &error));
      assert_message (error, BROKEN[i].message);
      assert_message (error, "x.npy");
    }
}

static GBytes *
safetensors_of (const char *header, gsize data)
{
  gsize length = strlen (header);
  guint8 *all = g_malloc0 (8 + length + data);
  all[0] = (guint8) length;
  memcpy (all + 8, header, length);
  return g_bytes_new_take (all, 8 + length + data);
}

/* clang-format off */
static const Broken BROKEN_TENSORS[] = {
  {"{\"t\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", "takes 8 bytes, found 4"},
  {"{\"t\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", "outside the file"},
  {"{\"t\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,400]}}", "outside the file"},
  {"{\"t\":{\"dtype\":\"Q4\",\"shape\":[1],\"data_offsets\":[0,4]}}", "element type Q4"},
  {"{\"t\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", "non-negative"},
  {"{\"t\":{\"dtype\":\"F32\"}}", "expected dtype, shape"},
  {"{\"u\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", "expected a tensor \"t\", found u"},
  {"{\"t\":1", "x.safetensors"},
};
/* clang-format on */

static void
test_broken_safetensors_are_refused (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (BROKEN_TENSORS); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) bytes = safetensors_of (BROKEN_TENSORS[i].header, 4);
      g_assert_null (assay_safetensors_parse (bytes, "t", "x.safetensors", &error));
      assert_message (error, BROKEN_TENSORS[i].message);
    }
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) cut = g_bytes_new_static ("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  g_assert_null (assay_safetensors_parse (cut, "t", "x", &error));
  assert_message (error, "longer than the file");
}

/* Files with random damage are refused or read; what is read has the size it says. */
static void
test_damage_is_survived (void)
{
  const gint64 shape[] = {3, 5};
  g_autoptr (AssayArray) array = filled (ASSAY_DTYPE_FLOAT32, shape, 2);
  AssayArray *list[] = {array};
  const char *name = "t";
  g_autoptr (GBytes) npy = assay_npy_format (array, NULL);
  g_autoptr (GBytes) tensors = assay_safetensors_format (&name, list, 1, NULL);
  g_autoptr (GRand) random = g_rand_new_with_seed (3);
  guint read = 0;
  for (int k = 0; k < 20000; k++)
    {
      GBytes *sound = k & 1 ? npy : tensors;
      gsize size = g_bytes_get_size (sound);
      g_autofree guint8 *damaged = g_memdup2 (g_bytes_get_data (sound, NULL), size);
      for (int i = g_rand_int_range (random, 1, 4); i > 0; i--)
        damaged[g_rand_int_range (random, 0, (gint32) size)] =
            (guint8) g_rand_int_range (random, 0, 256);
      if (k % 5 == 0)
        size = (gsize) g_rand_int_range (random, 0, (gint32) size);
      g_autoptr (GBytes) bytes = g_bytes_new (damaged, size);
      g_autoptr (GError) error = NULL;
      g_autoptr (AssayArray) back = k & 1 ? assay_npy_parse (bytes, "x", &error)
                                          : assay_safetensors_parse (bytes, NULL, "x", &error);
      g_assert_true ((back == NULL) == (error != NULL));
      read += back != NULL;
      if (back && back->bytes)
        g_assert_cmpuint (back->data[back->bytes - 1], <=, 255);
    }
  g_assert_cmpuint (read, >, 100);
}

static void
test_files (void)
{
  g_autofree char *folder = g_dir_make_tmp ("assay-array-XXXXXX", NULL);
  const gint64 shape[] = {2, 3};
  g_autoptr (AssayArray) array = filled (ASSAY_DTYPE_BFLOAT16, shape, 2);
  g_autofree char *path = g_build_filename (folder, "a.safetensors", NULL);
  g_autoptr (GError) error = NULL;
  g_assert_true (assay_array_save (array, path, &error));
  g_autoptr (AssayArray) back = assay_array_load (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (back->data, back->bytes, array->data, array->bytes);
  g_autofree char *missing = g_build_filename (folder, "b.npy", NULL);
  g_assert_null (assay_array_load (missing, NULL, &error));
  g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND);
  g_remove (path);
  g_rmdir (folder);
}

static void
test_sizes_are_checked (void)
{
  g_autoptr (GError) error = NULL;
  const gint64 negative[] = {4, -1};
  g_assert_null (assay_array_new (ASSAY_DTYPE_FLOAT32, negative, 2, &error));
  assert_message (error, "dimension 1 is -1");
  g_clear_error (&error);
  const gint64 empty[] = {4, 0};
  g_autoptr (AssayArray) none = assay_array_new (ASSAY_DTYPE_FLOAT32, empty, 2, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (none->count, ==, 0);
  const gint64 large[] = {G_GINT64_CONSTANT (1) << 50};
  g_assert_null (assay_array_new (ASSAY_DTYPE_FLOAT64, large, 1, &error));
  assert_message (error, "no memory");
}

static void
add_piece (gsize piece, gpointer user_data)
{
  ((guint8 *) user_data)[piece]++;
}

static void
test_every_piece_is_done_once (void)
{
  guint8 done[1000] = {0};
  g_assert_true (
      assay_parallel_for (G_N_ELEMENTS (done), 4, add_piece, done, NULL, NULL, NULL, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (done); i++)
    g_assert_cmpuint (done[i], ==, 1);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_cancellable_cancel (cancellable);
  g_autoptr (GError) error = NULL;
  g_assert_false (assay_parallel_for (10, 2, add_piece, done, NULL, NULL, cancellable, &error));
  g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_CANCELLED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/array/containers", test_every_dtype_survives_both_containers);
  g_test_add_func ("/array/npy-foreign", test_npy_of_other_writers);
  g_test_add_func ("/array/npy-broken", test_broken_npy_is_refused);
  g_test_add_func ("/array/safetensors-broken", test_broken_safetensors_are_refused);
  g_test_add_func ("/array/damage", test_damage_is_survived);
  g_test_add_func ("/array/files", test_files);
  g_test_add_func ("/array/sizes", test_sizes_are_checked);
  g_test_add_func ("/parallel/once", test_every_piece_is_done_once);
  return g_test_run ();
}
