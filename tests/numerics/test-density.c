/* SPDX-License-Identifier: Apache-2.0 */
/* Densities against counting one element at a time, and what a rule leaves open. */
#include "engine/numerics/density.h"
#include "engine/numerics/gate-facts.h"

#include <math.h>

#define N 600000 /* several pieces */

static AssayArray *
array_of (double (*value) (gint64))
{
  const gint64 shape = N;
  AssayArray *array = assay_array_new (ASSAY_DTYPE_FLOAT32, &shape, 1, NULL);
  for (gint64 i = 0; i < N; i++)
    assay_array_set (array, (gsize) i, value (i));
  return array;
}

static double
gold_at (gint64 i)
{
  return ldexp (1 + (double) (i % 997) / 997, (int) (i % 23) - 11) * (i % 2 ? -1 : 1);
}

/* Every fifth is exact; the others are off by 2^-20 to 2^-16 of themselves. */
static double
candidate_at (gint64 i)
{
  double gold = (float) gold_at (i);
  return i % 5 ? gold * (1 + ldexp (1, -20 + (int) (i % 5))) : gold;
}

static double
input_at (gint64 i)
{
  return (double) i / N * 8 - 4;
}

static guint64
count_at (const AssayDensity *density, gint64 row, gint64 column)
{
  if (row < 0 || row >= density->rows || column < 0 || column >= density->columns)
    return 0;
  return g_array_index (density->counts, guint64, row * density->columns + column);
}

static void
test_by_magnitude (void)
{
  g_autoptr (AssayArray) candidate = array_of (candidate_at);
  g_autoptr (AssayArray) reference = array_of (gold_at);
  AssayCompareInput input = {.candidate = candidate, .reference = reference, .threads = 3};
  AssayDensity *density = assay_density_by_magnitude (&input, NULL);
  guint64 exact = 0, counted = 0;
  g_autoptr (GHashTable) expected = g_hash_table_new (NULL, NULL);
  for (gint64 i = 0; i < N; i++)
    {
      double gold = assay_array_get (reference, (gsize) i);
      double error = fabs (assay_array_get (candidate, (gsize) i) - gold);
      exact += error == 0;
      if (error == 0)
        continue;
      gint64 column = ilogb (gold) - (gint64) density->low;
      gint64 row = ilogb (error) - density->first_row;
      gpointer key = GINT_TO_POINTER (1 + row * 4096 + column);
      g_hash_table_insert (
          expected, key,
          GUINT_TO_POINTER (1 + GPOINTER_TO_UINT (g_hash_table_lookup (expected, key))));
    }
  g_assert_cmpuint (density->exact, ==, exact);
  for (gint64 row = 0; row < density->rows; row++)
    for (gint64 column = 0; column < density->columns; column++)
      {
        gpointer key = GINT_TO_POINTER (1 + row * 4096 + column);
        g_assert_cmpuint (count_at (density, row, column), ==,
                          GPOINTER_TO_UINT (g_hash_table_lookup (expected, key)));
        counted += count_at (density, row, column);
      }
  g_assert_cmpuint (counted + exact, ==, N);
  assay_json_table_free (&ASSAY_DENSITY_TABLE, density);
}

static void
test_by_input (void)
{
  g_autoptr (AssayArray) candidate = array_of (candidate_at);
  g_autoptr (AssayArray) reference = array_of (gold_at);
  g_autoptr (AssayArray) values = array_of (input_at);
  AssayCompareInput input = {.candidate = candidate, .reference = reference, .threads = 2};
  AssayDensity *density = assay_density_by_input (&input, values, "x", NULL);
  guint64 counted = 0;
  g_assert_cmpstr (density->input, ==, "x");
  g_assert_cmpfloat (density->low, ==, -4);
  for (guint i = 0; i < density->counts->len; i++)
    counted += g_array_index (density->counts, guint64, i);
  g_assert_cmpuint (counted, ==, N);
  /* 2^-16 of a number just below a power of two is 256 ulp: nine bits at most. */
  g_assert_cmpint (density->rows, <=, 9);
  g_assert_cmpint (density->rows, >=, 7);
  assay_json_table_free (&ASSAY_DENSITY_TABLE, density);
}

static void
test_threads_do_not_matter (void)
{
  g_autoptr (AssayArray) candidate = array_of (candidate_at);
  g_autoptr (AssayArray) reference = array_of (gold_at);
  AssayCompareInput input = {.candidate = candidate, .reference = reference, .threads = 1};
  AssayDensity *one = assay_density_by_magnitude (&input, NULL);
  input.threads = 4;
  AssayDensity *four = assay_density_by_magnitude (&input, NULL);
  g_autoptr (JsonNode) a = assay_json_table_write (&ASSAY_DENSITY_TABLE, one);
  g_autoptr (JsonNode) b = assay_json_table_write (&ASSAY_DENSITY_TABLE, four);
  g_assert_true (json_node_equal (a, b));
  assay_json_table_free (&ASSAY_DENSITY_TABLE, one);
  assay_json_table_free (&ASSAY_DENSITY_TABLE, four);
}

static double
decade_at (gint64 i)
{
  return i % 4 == 0 ? 0 : pow (10, -(double) (i % 4)); /* 0, 1e-1, 1e-2, 1e-3 */
}

static void
test_gate_facts (void)
{
  g_autoptr (AssayArray) reference = array_of (decade_at);
  g_autoptr (AssayTolerance) tolerance = assay_tolerance_new ();
  tolerance->rule = ASSAY_RULE_ALLCLOSE;
  tolerance->atol = 0.02;
  tolerance->rtol = 1;
  tolerance->matched_ratio = 0.99;
  tolerance->max_error_cap = NAN;
  AssayGateFacts *facts = assay_gate_facts (reference, tolerance, "w", "y");
  /* Zeros are not counted; 1e-2 and 1e-3 lie below 0.02, and there atol is the larger part. */
  g_assert_cmpint (facts->count, ==, N / 4 * 3);
  g_assert_cmpfloat_with_epsilon (facts->below_atol, 2.0 / 3, 1e-12);
  g_assert_cmpfloat_with_epsilon (facts->atol_decides, 2.0 / 3, 1e-12);
  g_assert_cmpint (facts->spare, ==, N / 100);
  assay_json_table_free (&ASSAY_GATE_FACTS_TABLE, facts);
  tolerance->rule = ASSAY_RULE_GLOBAL_NORM;
  tolerance->max_error_cap = 1;
  facts = assay_gate_facts (reference, tolerance, "w", "y");
  g_assert_true (isnan (facts->below_atol));
  g_assert_cmpint (facts->spare, ==, 0);
  assay_json_table_free (&ASSAY_GATE_FACTS_TABLE, facts);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/density/by-magnitude", test_by_magnitude);
  g_test_add_func ("/density/by-input", test_by_input);
  g_test_add_func ("/density/threads", test_threads_do_not_matter);
  g_test_add_func ("/density/gate-facts", test_gate_facts);
  return g_test_run ();
}
