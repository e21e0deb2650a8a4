/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products by hand, and what is known of each way of summing. */
#include "engine/base/error.h"
#include "engine/numerics/compare.h"
#include "engine/numerics/contraction.h"

#include <math.h>
#include <string.h>

static AssayArray *
array_of (AssayDtype dtype, gint64 rows, gint64 columns, const double *values)
{
  const gint64 shape[] = {rows, columns};
  AssayArray *array = assay_array_new (dtype, shape, 2, NULL);
  for (gsize i = 0; i < (gsize) (rows * columns); i++)
    assay_array_set (array, i, values[i]);
  return array;
}

static const AssaySummation *
find (const char *name)
{
  for (gsize i = 0; i < ASSAY_N_SUMMATIONS; i++)
    if (strstr (ASSAY_SUMMATIONS[i].name, name))
      return &ASSAY_SUMMATIONS[i];
  g_error ("no way of summing is called %s", name);
}

static void
test_reading (void)
{
  static const char *const WRONG[] = {"",         "mk,kn",    "mk->m",   "mk,kn->mq", "mk,kn->mkn",
                                      "mm,kn->n", "Mk,kn->n", "mk,kn->", "mk,kn->mn "};
  g_autoptr (AssayContraction) right = assay_contraction_new ("bhqd,bhkd->bhqk", NULL);
  g_assert_nonnull (right);
  for (gsize i = 0; i < G_N_ELEMENTS (WRONG); i++)
    {
      g_autoptr (GError) error = NULL;
      g_assert_null (assay_contraction_new (WRONG[i], &error));
      g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID);
    }
}

/* [1 2 3; 4 5 6] by its transpose, and with one operand read the other way round. */
static void
test_values (void)
{
  const double values[] = {1, 2, 3, 4, 5, 6}, zeros[4] = {0};
  g_autoptr (AssayArray) a = array_of (ASSAY_DTYPE_FLOAT32, 2, 3, values);
  g_autoptr (AssayArray) like = array_of (ASSAY_DTYPE_FLOAT32, 2, 2, zeros);
  g_autoptr (AssayContraction) c = assay_contraction_new ("ik,jk->ij", NULL);
  static const double EXPECTED[] = {14, 32, 32, 77};
  g_assert_true (assay_contraction_fits (c, a, a, like));
  g_assert_cmpuint (assay_contraction_products (c), ==, 12);
  for (gsize i = 0; i < ASSAY_N_SUMMATIONS; i++)
    {
      const AssaySummation *way = &ASSAY_SUMMATIONS[i];
      g_autoptr (AssayArray) out = assay_contraction_run (c, way, a, a, like, 2, NULL);
      for (gsize k = 0; k < 4 && way->kind != ASSAY_PROBE_MUTANT; k++)
        g_assert_cmpfloat (assay_array_get (out, k), ==, EXPECTED[k]);
    }
  g_autoptr (AssayArray) short_by_one =
      assay_contraction_run (c, find ("last product skipped"), a, a, like, 1, NULL);
  g_assert_cmpfloat (assay_array_get (short_by_one, 0), ==, 5);
  g_autoptr (AssayArray) twice =
      assay_contraction_run (c, find ("added twice"), a, a, like, 1, NULL);
  g_assert_cmpfloat (assay_array_get (twice, 0), ==, 28);
  g_assert_false (assay_contraction_fits (c, a, like, like));
}

/* 2^24 + 1 + 1 in float32: one by one both ones are lost, as a tree none is. A bfloat16 accumulator holds at
 * 256; a tensor core cuts what lies below its bits, and never rounds up. */
static void
test_ways_differ_where_they_should (void)
{
  double row[512], ones[512], zero = 0;
  for (int i = 0; i < 512; i++)
    row[i] = ones[i] = 1;
  g_autoptr (AssayArray) a = array_of (ASSAY_DTYPE_BFLOAT16, 1, 512, row);
  g_autoptr (AssayArray) b = array_of (ASSAY_DTYPE_BFLOAT16, 1, 512, ones);
  g_autoptr (AssayArray) like = array_of (ASSAY_DTYPE_FLOAT32, 1, 1, &zero);
  g_autoptr (AssayContraction) c = assay_contraction_new ("ik,jk->ij", NULL);
  g_assert_true (assay_contraction_fits (c, a, b, like));
  g_autoptr (AssayArray) narrow =
      assay_contraction_run (c, find ("accumulator in bfloat16"), a, b, like, 1, NULL);
  g_assert_cmpfloat (assay_array_get (narrow, 0), ==, 256);
  row[0] = 16777216;
  row[1] = row[2] = 1;
  for (int i = 3; i < 512; i++)
    row[i] = 0;
  g_autoptr (AssayArray) large = array_of (ASSAY_DTYPE_FLOAT32, 1, 512, row);
  g_autoptr (AssayArray) plain =
      assay_contraction_run (c, find ("one by one"), large, b, like, 1, NULL);
  g_autoptr (AssayArray) core = assay_contraction_run (c, find ("Volta"), large, b, like, 1, NULL);
  g_autoptr (AssayArray) better =
      assay_contraction_run (c, find ("Hopper"), large, b, like, 1, NULL);
  g_assert_cmpfloat (assay_array_get (plain, 0), ==, 16777216);
  g_assert_cmpfloat (assay_array_get (core, 0), ==,
                     16777216); /* 23 bits below 2^24: ones are cut */
  g_assert_cmpfloat (assay_array_get (better, 0), ==, 16777218);
}

/* Positive data: cut sums lie below, and the more the fewer bits are kept. */
static void
test_truncation_is_a_bias (void)
{
  double row[1024], zero = 0, exact = 0;
  for (int i = 0; i < 1024; i++)
    {
      row[i] = (float) ldexp (1 + (i * 37 % 1000) / 1000.0, -(i % 3));
      exact += row[i];
    }
  double ones[1024];
  for (int i = 0; i < 1024; i++)
    ones[i] = 1;
  g_autoptr (AssayArray) a = array_of (ASSAY_DTYPE_FLOAT32, 1, 1024, row);
  g_autoptr (AssayArray) b = array_of (ASSAY_DTYPE_FLOAT32, 1, 1024, ones);
  g_autoptr (AssayArray) like = array_of (ASSAY_DTYPE_FLOAT64, 1, 1, &zero);
  g_autoptr (AssayContraction) c = assay_contraction_new ("ik,jk->ij", NULL);
  double last = 0;
  g_assert_true (assay_contraction_fits (c, a, b, like));
  static const char *const BETTER_AND_BETTER[] = {"FP8", "Volta", "Ampere", "Hopper"};
  for (gsize i = 0; i < G_N_ELEMENTS (BETTER_AND_BETTER); i++)
    {
      g_autoptr (AssayArray) out =
          assay_contraction_run (c, find (BETTER_AND_BETTER[i]), a, b, like, 1, NULL);
      double sum = assay_array_get (out, 0);
      g_assert_cmpfloat (sum, <, exact);
      g_assert_cmpfloat (sum, >, last);
      last = sum;
    }
  g_assert_cmpfloat ((exact - last) / exact, <, 1e-4);
}

/* Values near N(0, std): twelve uniform ones, added. */
static AssayArray *
normal (gint64 rows, gint64 columns, double std, guint64 seed)
{
  const gint64 shape[] = {rows, columns};
  AssayArray *array = assay_array_new (ASSAY_DTYPE_BFLOAT16, shape, 2, NULL);
  for (gsize i = 0; i < array->count; i++)
    {
      double sum = -6;
      for (int k = 0; k < 12; k++)
        {
          seed = seed * G_GUINT64_CONSTANT (6364136223846793005) + 1442695040888963407u;
          sum += (double) (seed >> 11) / 9007199254740992.0;
        }
      assay_array_set (array, i, sum * std);
    }
  return array;
}

/* How many of the wrong ways 1e-2/1e-2 refuses, and whether it accepts all right ones. */
static guint
killed_at (double std)
{
  g_autoptr (AssayArray) a = normal (24, 1024, std, 1), b = normal (1024, 24, std, 2);
  const gint64 shape[] = {24, 24};
  g_autoptr (AssayArray) like = assay_array_new (ASSAY_DTYPE_FLOAT32, shape, 2, NULL);
  g_autoptr (AssayContraction) c = assay_contraction_new ("mk,kn->mn", NULL);
  g_autoptr (AssayTolerance) tolerance = assay_tolerance_new ();
  guint killed = 0;
  tolerance->atol = tolerance->rtol = 1e-2;
  g_assert_true (assay_contraction_fits (c, a, b, like));
  g_autoptr (AssayArray) reference = assay_contraction_run (c, find ("tree"), a, b, like, 2, NULL);
  for (gsize i = 0; i < ASSAY_N_SUMMATIONS; i++)
    {
      const AssaySummation *way = &ASSAY_SUMMATIONS[i];
      g_autoptr (AssayArray) out = assay_contraction_run (c, way, a, b, like, 2, NULL);
      AssayCompareInput input = {.candidate = out, .reference = reference, .tolerance = tolerance};
      AssayGate gate;
      g_assert_true (assay_gate (&input, &gate, NULL, NULL));
      if (way->kind == ASSAY_PROBE_HONEST)
        g_assert_true (gate.accepted);
      else
        killed += !gate.accepted;
    }
  return killed;
}

/* The commonest rule of kernel tasks sees everything on N(0, 1), and little once inputs are N(0, 0.02). */
static void
test_a_tolerance_means_nothing_without_the_scale (void)
{
  g_assert_cmpuint (killed_at (1), ==, 6);
  g_assert_cmpuint (killed_at (0.02), <=, 2);
}

static void
test_what_applies (void)
{
  const AssaySummation *core = find ("Hopper"), *narrow = find ("accumulator in bfloat16");
  AssayDtype single = ASSAY_DTYPE_FLOAT32, half = ASSAY_DTYPE_FLOAT16;
  g_assert_true (assay_summation_applies (core, half, half, single));
  g_assert_false (assay_summation_applies (core, single, single, single));
  g_assert_true (assay_summation_applies (narrow, single, single, single));
  g_assert_false (assay_summation_applies (narrow, half, half, ASSAY_DTYPE_BFLOAT16));
  g_assert_false (assay_summation_applies (narrow, half, half, ASSAY_DTYPE_UNKNOWN));
  g_assert_false (
      assay_summation_applies (core, ASSAY_DTYPE_INT8, ASSAY_DTYPE_INT8, ASSAY_DTYPE_INT32));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/contraction/reading", test_reading);
  g_test_add_func ("/contraction/values", test_values);
  g_test_add_func ("/contraction/ways-differ-where-they-should",
                   test_ways_differ_where_they_should);
  g_test_add_func ("/contraction/truncation-is-a-bias", test_truncation_is_a_bias);
  g_test_add_func ("/contraction/scale", test_a_tolerance_means_nothing_without_the_scale);
  g_test_add_func ("/contraction/what-applies", test_what_applies);
  return g_test_run ();
}
