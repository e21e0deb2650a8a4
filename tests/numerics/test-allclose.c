/* SPDX-License-Identifier: Apache-2.0 */
/* allclose of a million pairs against what NumPy said of the same ones (allclose-digests.json, made by
 * make-allclose-digests.py), in both orders of the operands, special values among them. */
#include "engine/base/json.h"
#include "engine/numerics/compare.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum
{
  COUNT = 1000000,
  RUN = 20
};

static const double SPECIAL[16] = {0.0,       -0.0,      INFINITY, -INFINITY, NAN,      0x1p-149,
                                   -0x1p-149, 0x1p-1074, FLT_MAX,  -FLT_MAX,  0x1p-126, 1.0,
                                   -1.0,      1e-8,      1e-5,     0.5};
static const double STEPS[16] = {0, 0.5,      0.9,  0.99, 0.999999, 1,  1,  1,
                                 1, 1.000001, 1.01, 1.1,  -0.5,     -1, -1, -1.000001};

/* SplitMix64. */
static guint64
mixed (guint64 number, guint64 seed)
{
  guint64 z = (number + 1 + seed * COUNT) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return z ^ z >> 31;
}

static void
make_pairs (double atol, double rtol, AssayArray *candidate, AssayArray *reference)
{
  const gboolean single = candidate->dtype == ASSAY_DTYPE_FLOAT32;
  for (gsize i = 0; i < COUNT; i++)
    {
      guint64 a = mixed (i, 0), b = mixed (i, 1);
      guint64 bits = (a & G_GUINT64_CONSTANT (1) << 63) | (a % 31 + 1023 - 21) << 52
                     | (a >> 5 & ((G_GUINT64_CONSTANT (1) << 52) - 1));
      double r;
      memcpy (&r, &bits, sizeof r);
      r = single ? (double) (float) r : r;
      double c = r + STEPS[b & 15] * (atol + rtol * fabs (r));
      gboolean both = (b >> 4) % 16 == 0;
      assay_array_set (candidate, i, both ? SPECIAL[b >> 8 & 15] : c);
      assay_array_set (reference, i, both ? SPECIAL[b >> 12 & 15] : r);
    }
}

static guint8
misses_in (const AssayArray *candidate, const AssayArray *reference, gsize first,
           const AssayTolerance *tolerance)
{
  const gint64 n = RUN;
  gsize item = assay_dtype_format (candidate->dtype)->item_bytes;
  g_autoptr (AssayArray) c = assay_array_new (candidate->dtype, &n, 1, NULL);
  g_autoptr (AssayArray) r = assay_array_new (reference->dtype, &n, 1, NULL);
  memcpy (c->data, candidate->data + first * item, RUN * item);
  memcpy (r->data, reference->data + first * item, RUN * item);
  AssayCompareInput input = {.candidate = c, .reference = r, .tolerance = tolerance, .threads = 1};
  AssayGate gate;
  g_assert_true (assay_gate (&input, &gate, NULL, NULL));
  return (guint8) gate.mismatches;
}

/* The whole at once counts as its parts do. */
static guint64
misses_at_once (const AssayArray *candidate, const AssayArray *reference,
                const AssayTolerance *tolerance)
{
  AssayCompareInput input = {
      .candidate = candidate, .reference = reference, .tolerance = tolerance};
  g_autoptr (AssayComparison) out = assay_compare (&input, NULL, NULL);
  return out->mismatches;
}

static void
check_row (JsonObject *row)
{
  const gint64 n = COUNT;
  AssayDtype dtype = assay_dtype_from_name (json_object_get_string_member (row, "dtype"));
  g_autoptr (AssayTolerance) tolerance = assay_tolerance_new ();
  tolerance->atol = json_object_get_double_member (row, "atol");
  tolerance->rtol = json_object_get_double_member (row, "rtol");
  tolerance->equal_nan = json_object_get_boolean_member (row, "equal_nan");
  if (json_object_get_boolean_member (row, "swapped"))
    tolerance->relative_to = ASSAY_RELATIVE_TO_CANDIDATE;
  g_autoptr (AssayArray) c = assay_array_new (dtype, &n, 1, NULL);
  g_autoptr (AssayArray) r = assay_array_new (dtype, &n, 1, NULL);
  make_pairs (tolerance->atol, tolerance->rtol, c, r);
  guint64 misses = 0;
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  for (gsize first = 0; first < COUNT; first += RUN)
    {
      guint8 few = misses_in (c, r, first, tolerance);
      misses += few;
      g_checksum_update (sum, &few, 1);
    }
  g_test_message ("%s atol %g rtol %g: %" G_GUINT64_FORMAT " misses", assay_dtype_name (dtype),
                  tolerance->atol, tolerance->rtol, misses);
  g_assert_cmpuint (misses, ==, (guint64) json_object_get_int_member (row, "mismatches"));
  g_assert_cmpstr (g_checksum_get_string (sum), ==, json_object_get_string_member (row, "digest"));
  g_assert_cmpuint (misses_at_once (c, r, tolerance), ==, misses);
}

static void
test_numpy_agrees (void)
{
  g_autofree char *path = g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "tests", "numerics",
                                            "allclose-digests.json", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonParser) parser = json_parser_new ();
  json_parser_load_from_file (parser, path, &error);
  g_assert_no_error (error);
  JsonObject *root = json_node_get_object (json_parser_get_root (parser));
  JsonArray *rows = json_object_get_array_member (root, "rows");
  g_assert_cmpuint (json_array_get_length (rows), ==, 32);
  for (guint i = 0; i < json_array_get_length (rows); i++)
    check_row (json_array_get_object_element (rows, i));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/allclose/million", test_numpy_agrees);
  return g_test_run ();
}
