/* SPDX-License-Identifier: Apache-2.0 */
/* One comparison by every kernel, any number of threads, and element by element: the same record, bit
 * for bit. */
#include "engine/numerics/compare.h"
#include "engine/numerics/pairs.h"

#include <math.h>
#include <string.h>

static char *
record (const AssayCompareInput *input, gboolean plain, guint kernel, guint threads)
{
  AssayCompareInput copy = *input;
  copy.plain = plain;
  copy.kernel = kernel;
  copy.threads = threads;
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayComparison) out = assay_compare (&copy, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (JsonNode) node = assay_json_table_write (&ASSAY_COMPARISON_TABLE, out);
  return assay_json_write (node);
}

static const char *
first_difference (const char *a, const char *b)
{
  const char *line = b;
  for (; *a && *a == *b; a++, b++)
    if (*b == '\n')
      line = b + 1;
  return line;
}

static void
assert_one_record (const AssayCompareInput *input)
{
  g_autofree char *plain = record (input, TRUE, 0, 1);
  for (guint kernel = 1; kernel <= 3; kernel++)
    for (guint threads = 1; threads <= 3; threads += 2)
      {
        g_autofree char *fast = record (input, FALSE, kernel, threads);
        if (strcmp (plain, fast) != 0)
          g_test_message ("%s, %u threads: differs from the plain path at \"%.60s\"",
                          assay_pair_kernel (kernel)->name, threads,
                          first_difference (plain, fast));
        g_assert_cmpstr (plain, ==, fast);
      }
}

/* What a candidate may look like beside its reference. */
typedef enum
{
  EQUAL,
  A_FEW_STEPS,
  RELU,        /* half of it zeros, some of the wrong sign */
  LOW_BITS,    /* hundreds to thousands of steps */
  FAR_IN_PART, /* one in fifty has nothing to do with its reference */
  ANYTHING,    /* all magnitudes, zeros, infinities, NaN */
  N_KINDS,
} Kind;

static double
anything (GRand *random, AssayDtype dtype)
{
  static const double SPECIAL[] = {0.0, -0.0, INFINITY, -INFINITY, NAN};
  const AssayFormat *f = assay_dtype_format (dtype);
  if (g_rand_int_range (random, 0, 12) == 0)
    return SPECIAL[g_rand_int_range (random, 0, 5)];
  double low = log2 (f->min_subnormal), high = log2 (f->max_finite);
  double value = exp2 (g_rand_double_range (random, low - 2, high));
  return g_rand_boolean (random) ? value : -value;
}

static double
candidate_for (GRand *random, AssayDtype dtype, Kind kind, double r)
{
  double ulp = assay_dtype_ulp (dtype, r);
  switch (kind)
    {
    case EQUAL:
      return r;
    case A_FEW_STEPS:
      return r + ulp * g_rand_int_range (random, -7, 8);
    case RELU:
      return r == 0 ? (g_rand_int_range (random, 0, 40) ? 0.0 : -0.0) : r + ulp;
    case LOW_BITS:
      return r + ulp * g_rand_int_range (random, -6000, 9000);
    case FAR_IN_PART:
      if (g_rand_int_range (random, 0, 50))
        return r + ulp * g_rand_int_range (random, -1, 2);
      return anything (random, dtype);
    default:
      return g_rand_boolean (random) ? anything (random, dtype)
                                     : r * (1 + g_rand_double_range (random, -1e-2, 1e-2));
    }
}

static double
reference_of (GRand *random, AssayDtype dtype, Kind kind)
{
  if (kind == ANYTHING)
    return anything (random, dtype);
  double value = g_rand_double_range (random, -2, 2) * (1 - (kind == LOW_BITS) * 0.9);
  if (kind == RELU && value < 0)
    return 0;
  return value;
}

static void
fill (GRand *random, Kind kind, AssayArray *c, AssayArray *r)
{
  AssayDtype component = assay_dtype_component (r->dtype);
  for (gsize i = 0; i < assay_array_components (r); i++)
    {
      assay_array_set (r, i, reference_of (random, component, kind));
      assay_array_set (c, i, candidate_for (random, component, kind, assay_array_get (r, i)));
    }
}

static AssayTolerance *
tolerance_of (const char *text)
{
  g_autoptr (JsonNode) node = assay_json_parse (text, -1, &ASSAY_JSON_LIMITS_TASK, "rule", NULL);
  return assay_json_table_read (&ASSAY_TOLERANCE_TABLE, node, "", NULL, NULL);
}

static const AssayDtype DTYPES[] = {ASSAY_DTYPE_FLOAT32,         ASSAY_DTYPE_BFLOAT16,
                                    ASSAY_DTYPE_FLOAT16,         ASSAY_DTYPE_TFLOAT32,
                                    ASSAY_DTYPE_FLOAT8_E4M3FN,   ASSAY_DTYPE_FLOAT8_E5M2,
                                    ASSAY_DTYPE_FLOAT8_E5M2FNUZ, ASSAY_DTYPE_FLOAT4_E2M1,
                                    ASSAY_DTYPE_COMPLEX64,       ASSAY_DTYPE_FLOAT64};

static void
test_kinds_and_types (void)
{
  const gint64 shape[] = {23, 331};
  g_autoptr (GRand) random = g_rand_new_with_seed (4);
  for (gsize d = 0; d < G_N_ELEMENTS (DTYPES); d++)
    for (int kind = 0; kind < N_KINDS; kind++)
      {
        g_autoptr (AssayArray) c = assay_array_new (DTYPES[d], shape, 2, NULL);
        g_autoptr (AssayArray) r = assay_array_new (DTYPES[d], shape, 2, NULL);
        fill (random, (Kind) kind, c, r);
        AssayCompareInput input = {.candidate = c, .reference = r};
        assert_one_record (&input);
      }
}

/* Rows shorter and longer than a segment, one row, one column, cells narrow and wide. */
static void
test_shapes (void)
{
  static const gint64 SHAPES[][2] = {{1, 70003}, {70003, 1}, {20000, 3}, {130, 1025},
                                     {7, 2047},  {3, 5000},  {129, 300}, {2, 1}};
  g_autoptr (GRand) random = g_rand_new_with_seed (5);
  for (gsize s = 0; s < G_N_ELEMENTS (SHAPES); s++)
    for (int kind = A_FEW_STEPS; kind <= FAR_IN_PART; kind += 3)
      {
        g_autoptr (AssayArray) c = assay_array_new (ASSAY_DTYPE_FLOAT32, SHAPES[s], 2, NULL);
        g_autoptr (AssayArray) r = assay_array_new (ASSAY_DTYPE_FLOAT32, SHAPES[s], 2, NULL);
        fill (random, (Kind) kind, c, r);
        AssayCompareInput input = {.candidate = c, .reference = r};
        assert_one_record (&input);
      }
}

static void
test_rules (void)
{
  static const char *const RULES[] = {
      "{\"rule\":\"allclose\",\"atol\":1e-7,\"rtol\":1e-7}",
      "{\"rule\":\"allclose\",\"atol\":1e-2,\"rtol\":1e-2}",
      "{\"rule\":\"allclose\",\"rtol\":3e-7,\"relative_to\":\"candidate\"}",
      "{\"rule\":\"allclose\",\"atol\":1e-7}",
      "{\"rule\":\"either\",\"atol\":1e-7,\"rtol\":2e-7}",
      "{\"rule\":\"rms_scaled\",\"rtol\":1e-6,\"max_error_cap\":0.1}",
      "{\"rule\":\"ulp\",\"ulp\":3}",
      "{\"rule\":\"exact\",\"equal_nan\":true}",
      "{\"rule\":\"global_norm\",\"rtol\":1e-7}",
      "{\"rule\":\"allclose\",\"rtol\":1e-7,\"matched_ratio\":0.9}",
  };
  const gint64 shape[] = {9, 1111};
  g_autoptr (GRand) random = g_rand_new_with_seed (6);
  for (gsize t = 0; t < G_N_ELEMENTS (RULES); t++)
    for (int kind = 0; kind < N_KINDS; kind++)
      {
        g_autoptr (AssayTolerance) tolerance = tolerance_of (RULES[t]);
        g_autoptr (AssayArray) c = assay_array_new (ASSAY_DTYPE_FLOAT32, shape, 2, NULL);
        g_autoptr (AssayArray) r = assay_array_new (ASSAY_DTYPE_FLOAT32, shape, 2, NULL);
        fill (random, (Kind) kind, c, r);
        AssayCompareInput input = {.candidate = c, .reference = r, .tolerance = tolerance};
        assert_one_record (&input);
        /* The gate of the same pass is the gate alone. */
        AssayGate gate;
        g_autoptr (AssayComparison) out = assay_compare (&input, NULL, NULL);
        g_assert_true (assay_gate (&input, &gate, NULL, NULL));
        g_assert_cmpuint (gate.mismatches, ==, out->mismatches);
        g_assert_true (gate.margin == out->margin);
        g_assert_true (gate.accepted == out->accepted);
      }
}

/* Every pair around the limits of what is close: neighbours of powers of two, of the least magnitude, of
 * the largest, so many steps apart. */
static void
test_limits (void)
{
  static const AssayDtype NARROW[] = {ASSAY_DTYPE_FLOAT32, ASSAY_DTYPE_BFLOAT16,
                                      ASSAY_DTYPE_FLOAT16};
  for (gsize d = 0; d < G_N_ELEMENTS (NARROW); d++)
    {
      const AssayFormat *format = assay_dtype_format (NARROW[d]);
      gint64 infinity = ((gint64) 1 << format->exponent_bits) - 1;
      const gint64 top = infinity << format->fraction_bits;
      const gint64 binade = (gint64) 1 << format->fraction_bits;
      static const gint64 STEPS[] = {0, 1, 2, 3, 127, 128, 129, 1023, 1024, 1025, 8190, 8191, 8192};
      g_autoptr (GArray) codes = g_array_new (FALSE, FALSE, sizeof (gint64));
      for (gint64 power = 0; power <= top; power += binade)
        for (gint64 beside = -2; beside <= 2; beside++)
          for (gsize s = 0; s < G_N_ELEMENTS (STEPS); s++)
            for (int down = -1; down <= 1; down += 2)
              {
                gint64 reference = power + beside;
                gint64 pair[2] = {reference, reference + down * STEPS[s]};
                if (MIN (pair[0], pair[1]) >= 0 && MAX (pair[0], pair[1]) <= top + 1)
                  g_array_append_vals (codes, pair, 2);
              }
      const gint64 n = codes->len / 2;
      g_autoptr (AssayArray) c = assay_array_new (NARROW[d], &n, 1, NULL);
      g_autoptr (AssayArray) r = assay_array_new (NARROW[d], &n, 1, NULL);
      guint64 sign = G_GUINT64_CONSTANT (1) << (format->bits - 1);
      for (gint64 i = 0; i < n; i++)
        {
          guint64 s = i % 3 == 0 ? sign : 0;
          assay_dtype_store (NARROW[d], r->data, (gsize) i,
                             s | (guint64) g_array_index (codes, gint64, 2 * i));
          assay_dtype_store (NARROW[d], c->data, (gsize) i,
                             s | (guint64) g_array_index (codes, gint64, 2 * i + 1));
        }
      AssayCompareInput input = {.candidate = c, .reference = r};
      assert_one_record (&input);
    }
}

/* This machine's own: the tests above prove nothing about kernels that it cannot run. */
static void
test_widest_kernel_is_used (void)
{
  g_assert_cmpstr (assay_pair_kernel (1)->name, ==, "plain C");
#ifdef ASSAY_PAIRS_X86
  __builtin_cpu_init ();
  if (__builtin_cpu_supports ("avx512bw") && __builtin_cpu_supports ("avx512cd"))
    g_assert_cmpstr (assay_pair_kernel (0)->name, ==, "AVX-512");
  else if (__builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma"))
    g_assert_cmpstr (assay_pair_kernel (0)->name, ==, "AVX2");
#endif
  g_test_message ("widest: %s", assay_pair_kernel (0)->name);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pairs/kinds-and-types", test_kinds_and_types);
  g_test_add_func ("/pairs/shapes", test_shapes);
  g_test_add_func ("/pairs/rules", test_rules);
  g_test_add_func ("/pairs/limits", test_limits);
  g_test_add_func ("/pairs/widest", test_widest_kernel_is_used);
  return g_test_run ();
}
