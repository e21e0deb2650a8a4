/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/error.h"
#include "engine/numerics/compare.h"

#include <float.h>
#include <math.h>
#include <string.h>

static AssayArray *
array_1d (AssayDtype dtype, const double *values, gsize n)
{
  const gint64 shape = (gint64) n / assay_dtype_format (dtype)->components;
  AssayArray *array = assay_array_new (dtype, &shape, 1, NULL);
  for (gsize i = 0; i < n; i++)
    assay_array_set (array, i, values[i]);
  return array;
}

typedef struct
{
  const char *rule; /* a tolerance as JSON */
  AssayDtype dtype;
  guint n;
  double candidate[4], reference[4];
  gboolean accepted;
  guint64 mismatches;
  double margin; /* NaN: do not look */
} RuleCase;

#define NO NAN
#define INF INFINITY
/* clang-format off */
static const RuleCase RULES[] = {
  /* allclose: |c - r| <= atol + rtol |r|; the operand of the relative term decides at 10 and 9. */
  {"{\"rule\":\"allclose\",\"rtol\":0.1}", ASSAY_DTYPE_FLOAT64, 1, {10}, {9}, FALSE, 1, 1 / 0.9},
  {"{\"rule\":\"allclose\",\"rtol\":0.1}", ASSAY_DTYPE_FLOAT64, 1, {9}, {10}, TRUE, 0, 1},
  {"{\"rule\":\"allclose\",\"rtol\":0.1,\"relative_to\":\"candidate\"}", ASSAY_DTYPE_FLOAT64, 1, {10}, {9}, TRUE, 0, 1},
  {"{\"rule\":\"allclose\",\"atol\":0.5,\"rtol\":0.5}", ASSAY_DTYPE_FLOAT32, 2, {1.5, 3}, {2, 2}, TRUE, 0, 1 / 1.5},
  {"{\"rule\":\"either\",\"atol\":0.5,\"rtol\":0.25}", ASSAY_DTYPE_FLOAT32, 2, {2.5, 3}, {2, 2}, FALSE, 1, 2},
  {"{\"rule\":\"either\",\"atol\":0.5,\"rtol\":0.25}", ASSAY_DTYPE_FLOAT32, 2, {2.5, 10}, {2, 8}, TRUE, 0, 1},
  /* ||c - r|| = 5, ||r|| = 10. */
  {"{\"rule\":\"global_norm\",\"rtol\":0.5}", ASSAY_DTYPE_FLOAT32, 2, {9, 12}, {6, 8}, TRUE, 0, 1},
  {"{\"rule\":\"global_norm\",\"rtol\":0.25}", ASSAY_DTYPE_FLOAT32, 2, {9, 12}, {6, 8}, FALSE, 2, 2},
  /* rms of (3, 4, 0, 0) is 2.5. */
  {"{\"rule\":\"rms_scaled\",\"rtol\":0.4}", ASSAY_DTYPE_FLOAT32, 4, {4, 4, 0, 1}, {3, 4, 0, 0}, TRUE, 0, 1},
  {"{\"rule\":\"rms_scaled\",\"rtol\":0.2}", ASSAY_DTYPE_FLOAT32, 4, {4, 4, 0, 1}, {3, 4, 0, 0}, FALSE, 2, 2},
  {"{\"rule\":\"ulp\",\"ulp\":2}", ASSAY_DTYPE_FLOAT32, 2, {1 + 0x1p-22, -0x1p-149}, {1, 0x1p-149}, TRUE, 0, 1},
  {"{\"rule\":\"ulp\",\"ulp\":1}", ASSAY_DTYPE_FLOAT32, 2, {1 + 0x1p-22, 0}, {1, 0}, FALSE, 1, 2},
  {"{\"rule\":\"exact\"}", ASSAY_DTYPE_FLOAT32, 2, {1, -0.0}, {1, 0.0}, TRUE, 0, 0},
  {"{\"rule\":\"exact\"}", ASSAY_DTYPE_INT32, 2, {1, 7}, {1, 8}, FALSE, 1, INF},
  /* Special values: equal infinities match, a finite value never matches an infinity. */
  {"{\"rule\":\"allclose\",\"atol\":1e30,\"rtol\":1}", ASSAY_DTYPE_FLOAT32, 2, {INF, -INF}, {INF, -INF}, TRUE, 0, 0},
  {"{\"rule\":\"allclose\",\"atol\":1e30,\"rtol\":1}", ASSAY_DTYPE_FLOAT32, 2, {1, INF}, {INF, 1}, FALSE, 2, INF},
  {"{\"rule\":\"allclose\",\"atol\":1}", ASSAY_DTYPE_FLOAT32, 1, {NAN}, {NAN}, FALSE, 1, INF},
  {"{\"rule\":\"allclose\",\"atol\":1,\"equal_nan\":true}", ASSAY_DTYPE_FLOAT32, 2, {NAN, NAN}, {NAN, 1}, FALSE, 1, INF},
  {"{\"rule\":\"allclose\",\"atol\":1,\"equal_nan\":true}", ASSAY_DTYPE_FLOAT32, 1, {NAN}, {NAN}, TRUE, 0, 0},
  /* Three of four must match; the cap holds for the fourth too. */
  {"{\"rule\":\"allclose\",\"atol\":1,\"matched_ratio\":0.75}", ASSAY_DTYPE_FLOAT32, 4, {1, 2, 3, 99}, {1, 2.5, 3, 4}, TRUE, 1, 0.5},
  {"{\"rule\":\"allclose\",\"atol\":1,\"matched_ratio\":0.75}", ASSAY_DTYPE_FLOAT32, 4, {1, 9, 3, 99}, {1, 2, 3, 4}, FALSE, 2, 7},
  {"{\"rule\":\"allclose\",\"atol\":1,\"matched_ratio\":0.75,\"max_error_cap\":50}", ASSAY_DTYPE_FLOAT32, 4, {1, 2, 3, 99}, {1, 2.5, 3, 4}, FALSE, 1, INF},
  /* Complex: the modulus of the difference, 5, against that of the reference, 10. */
  {"{\"rule\":\"allclose\",\"rtol\":0.5}", ASSAY_DTYPE_COMPLEX64, 2, {9, 12}, {6, 8}, TRUE, 0, 1},
  {"{\"rule\":\"allclose\",\"rtol\":0.25}", ASSAY_DTYPE_COMPLEX64, 2, {9, 12}, {6, 8}, FALSE, 1, 2},
};
/* clang-format on */

static AssayTolerance *
tolerance_of (const char *text)
{
  g_autoptr (JsonNode) node = assay_json_parse (text, -1, &ASSAY_JSON_LIMITS_TASK, "rule", NULL);
  return assay_json_table_read (&ASSAY_TOLERANCE_TABLE, node, "", NULL, NULL);
}

static void
test_rules_as_written (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (RULES); i++)
    {
      const RuleCase *k = &RULES[i];
      g_autoptr (AssayTolerance) tolerance = tolerance_of (k->rule);
      g_autoptr (AssayArray) c = array_1d (k->dtype, k->candidate, k->n);
      g_autoptr (AssayArray) r = array_1d (k->dtype, k->reference, k->n);
      AssayCompareInput input = {.candidate = c, .reference = r, .tolerance = tolerance};
      g_autoptr (GError) error = NULL;
      g_autoptr (AssayComparison) out = assay_compare (&input, NULL, &error);
      g_assert_no_error (error);
      g_test_message ("%" G_GSIZE_FORMAT " %s: %s", i, k->rule, out->verdict);
      g_assert_cmpint (out->accepted, ==, k->accepted);
      g_assert_cmpuint (out->mismatches, ==, k->mismatches);
      if (!isnan (k->margin))
        g_assert_true (out->margin == k->margin
                       || fabs (out->margin - k->margin) < 1e-12 * k->margin);
    }
}

static void
test_rules_that_need_more_are_refused_by_name (void)
{
  static const char *const REFUSED[] = {"baseline_relative", "model_bound", "checker"};
  const double one = 1;
  g_autoptr (AssayArray) a = array_1d (ASSAY_DTYPE_FLOAT32, &one, 1);
  for (gsize i = 0; i < G_N_ELEMENTS (REFUSED); i++)
    {
      g_autofree char *text = g_strdup_printf ("{\"rule\":\"%s\"}", REFUSED[i]);
      g_autoptr (AssayTolerance) tolerance = tolerance_of (text);
      AssayCompareInput input = {.candidate = a, .reference = a, .tolerance = tolerance};
      g_autoptr (GError) error = NULL;
      g_assert_null (assay_compare (&input, NULL, &error));
      g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED);
      g_assert_nonnull (strstr (error->message, REFUSED[i]));
    }
}

static void
test_other_shapes_and_dtypes_are_refused (void)
{
  const double values[2] = {1, 2};
  g_autoptr (AssayArray) a = array_1d (ASSAY_DTYPE_FLOAT32, values, 2);
  g_autoptr (AssayArray) b = array_1d (ASSAY_DTYPE_FLOAT32, values, 1);
  g_autoptr (AssayArray) c = array_1d (ASSAY_DTYPE_FLOAT16, values, 2);
  const AssayArray *others[] = {b, c};
  for (gsize i = 0; i < 2; i++)
    {
      AssayCompareInput input = {.candidate = others[i], .reference = a};
      g_autoptr (GError) error = NULL;
      g_assert_null (assay_compare (&input, NULL, &error));
      g_assert_nonnull (strstr (error->message, "expected float32 [2]"));
    }
}

/* The edge table: distances and counters of special pairs, float32. */
typedef struct
{
  double candidate, gold;
  guint64 distance;
  double real; /* signed real ulp; NaN: none */
  guint64 spurious_nan, missing_nan, inf_candidate_only, inf_reference_only, zero_signs, flushed;
} Edge;

/* clang-format off */
static const Edge EDGES[] = {
  {0.0, -0.0, 0, 0, 0, 0, 0, 0, 1},
  {NAN, NAN, 0, NAN, 0, 0, 0, 0, 0},
  {NAN, 1, 0, NAN, 1, 0, 0, 0, 0},
  {1, NAN, 0, NAN, 0, 1, 0, 0, 0},
  {INF, FLT_MAX, 1, 1, 0, 0, 1, 0, 0},
  {FLT_MAX, INF, 1, -1, 0, 0, 0, 1, 0},
  {INF, INF, 0, 0, 0, 0, 0, 0, 0},
  {-INF, INF, 4278190080u, -0x1p25, 0, 0, 0, 0, 0},
  {0x1p-149, -0x1p-149, 2, 2, 0, 0, 0, 0, 0, 1},
  {-FLT_MAX, FLT_MAX, 4278190078u, -(2.0 * FLT_MAX) / 0x1p104, 0, 0, 0, 0, 0},
  {1 - 0x1p-24, 1, 1, -0.5, 0, 0, 0, 0, 0},
  {1 + 0x1p-23, 1, 1, 1, 0, 0, 0, 0, 0},
  {0x1p-149, 0, 1, 1, 0, 0, 0, 0, 0, 1},
  {0, 0x1.fffffcp-127, 0x7fffff, -(double) 0x7fffff, 0, 0, 0, 0, 0, 1},
  {0, 0x1p-126, 0x800000, -0x1p23, 0, 0, 0, 0, 0, 0},
  {2, -2, 0x80000000u, 0x1p24, 0, 0, 0, 0, 0},
  {1, 0, 0x3f800000, 0x1p149, 0, 0, 0, 0, 0},
};
/* clang-format on */

static void
test_edge_table (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (EDGES); i++)
    {
      const Edge *e = &EDGES[i];
      g_autoptr (AssayArray) c = array_1d (ASSAY_DTYPE_FLOAT32, &e->candidate, 1);
      g_autoptr (AssayArray) r = array_1d (ASSAY_DTYPE_FLOAT32, &e->gold, 1);
      AssayCompareInput input = {.candidate = c, .reference = r, .gold = &e->gold};
      g_autoptr (AssayComparison) out = assay_compare (&input, NULL, NULL);
      g_test_message ("%g against %g", e->candidate, e->gold);
      g_assert_cmpuint (out->max_ulp, ==, e->distance);
      g_assert_cmpuint (out->nan.candidate_only, ==, e->spurious_nan);
      g_assert_cmpuint (out->nan.reference_only, ==, e->missing_nan);
      g_assert_cmpuint (out->inf.candidate_only, ==, e->inf_candidate_only);
      g_assert_cmpuint (out->inf.reference_only, ==, e->inf_reference_only);
      g_assert_cmpuint (out->sign_of_zero, ==, e->zero_signs);
      g_assert_cmpuint (out->flushed, ==, e->flushed);
      /* A reference of zero gives no relative error: the absolute one is what there is. */
      if (e->gold == 0)
        g_assert_cmpint (out->max_rel.index, ==, -1);
      if (isnan (e->real) || e->real == 0)
        g_assert_cmpuint (out->worst->len, ==, 0);
      else
        g_assert_cmpfloat (((AssayWorst *) g_ptr_array_index (out->worst, 0))->ulp_real, ==,
                           e->real);
    }
}

/* Half a float32 ulp and a little: rounding to nearest is 0.5 off, one code beside is 0.5 on the
 * other side; only the pair tells which of the two is correctly rounded. */
static void
test_the_tail_of_gold_decides_ties (void)
{
  const double gold = 1 + 0x1p-24, up = 1e-30, down = -1e-30, high = 1 + 0x1p-23;
  g_autoptr (AssayArray) c = array_1d (ASSAY_DTYPE_FLOAT32, &high, 1);
  AssayCompareInput input = {.candidate = c, .reference = c, .gold = &gold, .gold_low = &up};
  g_autoptr (AssayComparison) above = assay_compare (&input, NULL, NULL);
  g_assert_cmpuint (above->not_correctly_rounded, ==, 0);
  input.gold_low = &down;
  g_autoptr (AssayComparison) below = assay_compare (&input, NULL, NULL);
  g_assert_cmpuint (below->not_correctly_rounded, ==, 1);
  const double x = 1, tail = 0x1p-55;
  g_autoptr (AssayArray) d = array_1d (ASSAY_DTYPE_FLOAT64, &x, 1);
  AssayCompareInput wide = {.candidate = d, .reference = d, .gold = &x, .gold_low = &tail};
  g_autoptr (AssayComparison) out = assay_compare (&wide, NULL, NULL);
  g_assert_cmpfloat (out->max_ulp_real.value, ==, 0.125);
}

static void
test_wide_integers_are_compared_as_integers (void)
{
  const gint64 shape = 2;
  g_autoptr (AssayArray) c = assay_array_new (ASSAY_DTYPE_INT64, &shape, 1, NULL);
  g_autoptr (AssayArray) r = assay_array_new (ASSAY_DTYPE_INT64, &shape, 1, NULL);
  assay_dtype_store (ASSAY_DTYPE_INT64, c->data, 0, (G_GUINT64_CONSTANT (1) << 60) + 1);
  assay_dtype_store (ASSAY_DTYPE_INT64, r->data, 0, G_GUINT64_CONSTANT (1) << 60);
  AssayCompareInput input = {.candidate = c, .reference = r};
  AssayGate gate;
  g_assert_true (assay_gate (&input, &gate, NULL, NULL));
  g_assert_false (gate.accepted);
  g_assert_cmpuint (gate.mismatches, ==, 1);
  g_assert_cmpfloat (gate.max_abs, ==, 1);
}

/* A slow twin, written from the definitions alone: one loop, long double, no chunks. */
typedef struct
{
  guint64 equal, misrounded, mismatches, max_ulp, toward, inexact;
  double max_abs, max_real;
  long double squares, signed_sum;
  guint64 finite;
} Naive;

static guint64
steps_between (const double *sorted, guint n, double a, double b)
{
  guint i = 0, j = 0;
  while (i < n && sorted[i] < a)
    i++;
  while (j < n && sorted[j] < b)
    j++;
  return i > j ? i - j : j - i;
}

static double
goldberg (double x, int least, int precision)
{
  int e = x == 0 ? least : ilogb (x);
  return exp2 ((e < least ? least : e) - precision + 1);
}

static int
ascending (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

/* float16 has few enough values to list: distances are counted, nearest is searched. */
static void
test_equals_a_slow_twin (void)
{
  enum
  {
    ROWS = 331,
    COLUMNS = 517
  };
  const gint64 shape[] = {ROWS, COLUMNS};
  const gsize total = ROWS * COLUMNS;
  g_autofree double *sorted = g_new (double, 65536);
  guint n = 0;
  for (guint code = 0; code < 65536; code++)
    {
      double value = assay_dtype_decode (ASSAY_DTYPE_FLOAT16, code);
      if (isfinite (value) && code != 0x8000)
        sorted[n++] = value;
    }
  qsort (sorted, n, sizeof (double), ascending);
  g_autoptr (AssayArray) c = assay_array_new (ASSAY_DTYPE_FLOAT16, shape, 2, NULL);
  g_autoptr (AssayArray) r = assay_array_new (ASSAY_DTYPE_FLOAT16, shape, 2, NULL);
  g_autofree double *gold = g_new (double, total);
  g_autoptr (GRand) random = g_rand_new_with_seed (5);
  Naive naive = {0};
  for (gsize i = 0; i < total; i++)
    {
      gold[i] = g_rand_double_range (random, -2, 2) * exp2 (g_rand_int_range (random, -18, 9));
      assay_array_set (r, i, gold[i] * (1 + g_rand_double_range (random, -1e-3, 1e-3)));
      assay_array_set (c, i, gold[i] * (1 + g_rand_double_range (random, -2e-3, 2e-3)));
    }
  for (gsize i = 0; i < total; i++)
    {
      double cv = assay_array_get (c, i), rv = assay_array_get (r, i);
      double error = cv - gold[i];
      double real = fabs (error) / goldberg (gold[i], -14, 11);
      naive.equal += cv == rv;
      naive.mismatches += !(fabs (cv - rv) <= 1e-3 + 1e-3 * fabs (rv));
      naive.max_abs = fmax (naive.max_abs, fabs (cv - rv));
      naive.max_real = fmax (naive.max_real, real);
      naive.squares += (long double) error * error;
      naive.signed_sum += error;
      naive.finite++;
      if (i % 97 == 0)
        {
          guint64 steps = steps_between (sorted, n, cv, (double) (_Float16) gold[i]);
          guint64 ours = assay_dtype_ulp_distance (
              ASSAY_DTYPE_FLOAT16, assay_dtype_load (ASSAY_DTYPE_FLOAT16, c->data, i),
              assay_dtype_encode (ASSAY_DTYPE_FLOAT16, gold[i]));
          g_assert_cmpuint (steps, ==, ours);
        }
      naive.misrounded += cv != (double) (_Float16) gold[i];
      naive.inexact += error != 0;
      naive.toward += error != 0 && fabs (cv) < fabs (gold[i]);
    }
  g_autoptr (AssayTolerance) tolerance =
      tolerance_of ("{\"rule\":\"allclose\",\"atol\":1e-3,\"rtol\":1e-3}");
  AssayCompareInput input = {.candidate = c, .reference = r, .gold = gold, .tolerance = tolerance};
  g_autoptr (AssayComparison) out = assay_compare (&input, NULL, NULL);
  g_assert_cmpuint (out->count, ==, total);
  g_assert_cmpuint (out->equal, ==, naive.equal);
  g_assert_cmpuint (out->mismatches, ==, naive.mismatches);
  g_assert_cmpuint (out->not_correctly_rounded, ==, naive.misrounded);
  g_assert_cmpfloat (out->max_abs.value, ==, naive.max_abs);
  g_assert_cmpfloat (out->max_ulp_real.value, ==, naive.max_real);
  g_assert_cmpfloat_with_epsilon (out->rms, sqrt ((double) (naive.squares / total)), 1e-12);
  g_assert_cmpfloat_with_epsilon (out->mean_signed, (double) (naive.signed_sum / total), 1e-12);
  g_assert_cmpfloat_with_epsilon (out->toward_zero_share,
                                  (double) naive.toward / (double) naive.inexact, 1e-12);
  guint64 binned = out->ulp_histogram.zero;
  for (guint i = 0; i < out->ulp_histogram.positive->len; i++)
    binned += g_array_index (out->ulp_histogram.positive, guint64, i)
              + g_array_index (out->ulp_histogram.negative, guint64, i);
  g_assert_cmpuint (binned, ==, total);
}

static AssayComparison *
with_threads (const AssayArray *c, const AssayArray *r, const double *gold, guint threads)
{
  AssayCompareInput input = {.candidate = c, .reference = r, .gold = gold, .threads = threads};
  return assay_compare (&input, NULL, NULL);
}

static void
test_threads_change_nothing (void)
{
  static const gint64 SHAPES[][2] = {{1, 400000}, {400000, 1}, {600, 601}, {3, 70000}};
  for (gsize s = 0; s < G_N_ELEMENTS (SHAPES); s++)
    {
      g_autoptr (AssayArray) c = assay_array_new (ASSAY_DTYPE_FLOAT32, SHAPES[s], 2, NULL);
      g_autoptr (AssayArray) r = assay_array_new (ASSAY_DTYPE_FLOAT32, SHAPES[s], 2, NULL);
      g_autofree double *gold = g_new (double, c->count);
      g_autoptr (GRand) random = g_rand_new_with_seed (9);
      for (gsize i = 0; i < c->count; i++)
        {
          gold[i] = g_rand_double_range (random, -1, 1);
          assay_array_set (r, i, gold[i]);
          assay_array_set (c, i, gold[i] * (1 + (i % 1000 == 0 ? NAN : 1e-7)));
        }
      g_autofree char *texts[3] = {NULL};
      const guint threads[] = {1, 2, 7};
      for (gsize t = 0; t < 3; t++)
        {
          g_autoptr (AssayComparison) out = with_threads (c, r, gold, threads[t]);
          g_autoptr (JsonNode) node = assay_json_table_write (&ASSAY_COMPARISON_TABLE, out);
          texts[t] = assay_json_write (node);
        }
      g_assert_cmpstr (texts[0], ==, texts[1]);
      g_assert_cmpstr (texts[0], ==, texts[2]);
      g_free (texts[1]);
      g_free (texts[2]);
    }
}

static char *
as_text (const AssayCompareInput *input, gboolean plain)
{
  AssayCompareInput copy = *input;
  copy.plain = plain;
  g_autoptr (AssayComparison) out = assay_compare (&copy, NULL, NULL);
  g_autoptr (JsonNode) node = assay_json_table_write (&ASSAY_COMPARISON_TABLE, out);
  return assay_json_write (node);
}

/* Values of every kind a format has: all magnitudes, subnormals, zeros of both signs, specials. */
static double
any_value (GRand *random, AssayDtype dtype)
{
  const AssayFormat *f = assay_dtype_format (dtype);
  static const double SPECIAL[] = {0.0, -0.0, INFINITY, -INFINITY, NAN};
  if (g_rand_int_range (random, 0, 12) == 0)
    return SPECIAL[g_rand_int_range (random, 0, 5)];
  double low = log2 (f->min_subnormal), high = log2 (f->max_finite);
  double value = exp2 (g_rand_double_range (random, low - 2, high));
  return g_rand_boolean (random) ? value : -value;
}

static void
test_fast_path_equals_the_plain_one (void)
{
  static const AssayDtype DTYPES[] = {ASSAY_DTYPE_FLOAT32,       ASSAY_DTYPE_TFLOAT32,
                                      ASSAY_DTYPE_FLOAT16,       ASSAY_DTYPE_BFLOAT16,
                                      ASSAY_DTYPE_FLOAT8_E4M3FN, ASSAY_DTYPE_FLOAT8_E5M2FNUZ,
                                      ASSAY_DTYPE_FLOAT4_E2M1,   ASSAY_DTYPE_COMPLEX64,
                                      ASSAY_DTYPE_FLOAT64,       ASSAY_DTYPE_INT32};
  static const char *const TOLERANCES[] = {
      "{\"rule\":\"allclose\",\"atol\":1e-3,\"rtol\":1e-2}",
      "{\"rule\":\"either\",\"atol\":1e-3,\"rtol\":1e-2,\"matched_ratio\":0.5}",
      "{\"rule\":\"rms_scaled\",\"rtol\":1e-2,\"max_error_cap\":3}",
      "{\"rule\":\"exact\",\"equal_nan\":true}",
      "{\"rule\":\"global_norm\",\"rtol\":1e-2}",
      "{\"rule\":\"ulp\",\"ulp\":3}",
  };
  const gint64 shape[] = {19, 67};
  g_autoptr (GRand) random = g_rand_new_with_seed (77);
  for (gsize k = 0; k < G_N_ELEMENTS (DTYPES) * G_N_ELEMENTS (TOLERANCES); k++)
    {
      AssayDtype dtype = DTYPES[k % G_N_ELEMENTS (DTYPES)];
      g_autoptr (AssayTolerance) t = tolerance_of (TOLERANCES[k / G_N_ELEMENTS (DTYPES)]);
      g_autoptr (AssayArray) c = assay_array_new (dtype, shape, 2, NULL);
      g_autoptr (AssayArray) r = assay_array_new (dtype, shape, 2, NULL);
      gsize n = assay_array_components (c);
      g_autofree double *gold = g_new (double, n);
      g_autofree double *low = g_new (double, n);
      for (gsize i = 0; i < n; i++)
        {
          gold[i] = any_value (random, dtype);
          low[i] = isfinite (gold[i]) ? gold[i] * 1e-17 : 0;
          assay_array_set (r, i, gold[i]);
          gboolean near = g_rand_boolean (random);
          double factor = 1 + g_rand_double_range (random, -1e-2, 1e-2);
          assay_array_set (c, i, near ? gold[i] * factor : any_value (random, dtype));
        }
      g_autofree double *scale = g_new (double, n);
      for (gsize i = 0; i < n; i++)
        scale[i] = i % 7 ? (double) i : 0;
      AssayCompareInput input = {.candidate = c, .reference = r, .tolerance = t, .scale = scale};
      for (int with = 0; with < 3; with++)
        {
          input.gold = with ? gold : NULL;
          input.gold_low = with == 2 ? low : NULL;
          g_autofree char *fast = as_text (&input, FALSE);
          g_autofree char *plain = as_text (&input, TRUE);
          g_assert_cmpstr (fast, ==, plain);
        }
    }
}

/* Four sums of products: their scales, golds and conditions by hand. */
static void
test_condition_of_each_element (void)
{
  const double gold[] = {1, -2, 0, 0.25}, scale[] = {1, 8, 5, 1024},
               candidate[] = {1, -2.5, 0, 0.5};
  g_autoptr (AssayArray) c = array_1d (ASSAY_DTYPE_FLOAT32, candidate, 4);
  g_autoptr (AssayArray) r = array_1d (ASSAY_DTYPE_FLOAT32, gold, 4);
  AssayCompareInput input = {
      .candidate = c, .reference = r, .gold = gold, .scale = scale, .scale_name = "by hand"};
  g_autoptr (AssayComparison) out = assay_compare (&input, NULL, NULL);
  const AssayBackwardError *b = out->backward_error;
  g_assert_cmpfloat (b->max, ==, 0.0625);
  g_assert_cmpfloat (b->condition_max, ==, 4096);
  g_assert_cmpint (b->condition_index, ==, 3);
  g_assert_cmpuint (b->condition_unbounded, ==, 1);
  g_assert_cmpint (b->condition_histogram.first, ==, 0);
  g_assert_cmpuint (b->condition_histogram.positive->len, ==, 13);
  g_assert_cmpuint (g_array_index (b->condition_histogram.positive, guint64, 0), ==, 1);
  g_assert_cmpuint (g_array_index (b->condition_histogram.positive, guint64, 2), ==, 1);
  g_assert_cmpuint (g_array_index (b->condition_histogram.positive, guint64, 12), ==, 1);
}

static void
test_position_shows_where (void)
{
  const gint64 shape[] = {1000, 300};
  g_autoptr (AssayArray) c = assay_array_new (ASSAY_DTYPE_FLOAT32, shape, 2, NULL);
  g_autoptr (AssayArray) r = assay_array_new (ASSAY_DTYPE_FLOAT32, shape, 2, NULL);
  for (gsize i = 0; i < c->count; i++)
    {
      assay_array_set (r, i, 1);
      assay_array_set (c, i, i / 300 == 999 && i % 300 == 299 ? 1.5 : 1);
    }
  AssayCompareInput input = {.candidate = c, .reference = r};
  g_autoptr (AssayComparison) out = assay_compare (&input, NULL, NULL);
  const AssayPosition *p = &out->position;
  g_assert_cmpint (p->rows, ==, 1000);
  g_assert_cmpint (p->columns, ==, 300);
  g_assert_cmpint (p->rows_per_cell, ==, 8);
  g_assert_cmpint (p->columns_per_cell, ==, 2);
  for (guint i = 0; i < p->max_ulp->len; i++)
    g_assert_cmpfloat (g_array_index (p->max_ulp, double, i), ==,
                       i + 1 == p->max_ulp->len ? 4194000 : 0); /* 2^22, four digits */
}

static void
test_empty_and_cancelled (void)
{
  const gint64 shape = 0;
  g_autoptr (AssayArray) none = assay_array_new (ASSAY_DTYPE_FLOAT32, &shape, 1, NULL);
  AssayCompareInput input = {.candidate = none, .reference = none};
  g_autoptr (AssayComparison) out = assay_compare (&input, NULL, NULL);
  g_assert_true (out->accepted);
  g_assert_cmpuint (out->count, ==, 0);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_cancellable_cancel (cancellable);
  g_autoptr (GError) error = NULL;
  g_assert_null (assay_compare (&input, cancellable, &error));
  g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_CANCELLED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compare/rules", test_rules_as_written);
  g_test_add_func ("/compare/refused-rules", test_rules_that_need_more_are_refused_by_name);
  g_test_add_func ("/compare/refused-shapes", test_other_shapes_and_dtypes_are_refused);
  g_test_add_func ("/compare/edges", test_edge_table);
  g_test_add_func ("/compare/tail", test_the_tail_of_gold_decides_ties);
  g_test_add_func ("/compare/integers", test_wide_integers_are_compared_as_integers);
  g_test_add_func ("/compare/twin", test_equals_a_slow_twin);
  g_test_add_func ("/compare/threads", test_threads_change_nothing);
  g_test_add_func ("/compare/fast", test_fast_path_equals_the_plain_one);
  g_test_add_func ("/compare/condition", test_condition_of_each_element);
  g_test_add_func ("/compare/position", test_position_shows_where);
  g_test_add_func ("/compare/empty", test_empty_and_cancelled);
  return g_test_run ();
}
