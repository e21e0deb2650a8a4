/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about tolerances and accumulators that were published or measured elsewhere, reproduced with our
 * own generators and models. */
#include "engine/numerics/contraction.h"
#include "engine/numerics/frontier.h"
#include "engine/numerics/probes.h"

#include <math.h>
#include <string.h>

/* Seeded, uniform or normal by Box and Muller; rounded to the array's type. */
static AssayArray *
random_array (AssayDtype dtype, gint64 rows, gint64 columns, gboolean normal, double scale,
              guint32 seed)
{
  const gint64 shape[] = {rows, columns};
  AssayArray *array = assay_array_new (dtype, shape, 2, NULL);
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  for (gsize i = 0; i < array->count; i++)
    {
      double u = 1 - g_rand_double (random), v = g_rand_double (random);
      double value = normal ? sqrt (-2 * log (u)) * cos (2 * G_PI * v) : v;
      assay_array_set (array, i, scale * value);
    }
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

/* ---- the signed fingerprint of accumulators ---- */

/* Mean relative error on uniform positive data, simulated for the publications that contraction.h names:
 * cut sums lie below by this much, IEEE sums by next to nothing. */
typedef struct
{
  const char *name;
  gint64 terms;
  double bias;
} Bias;

static const Bias BIASES[] = {
    {"Volta", 1024, -7.7e-6},   {"Ampere", 1024, -3.7e-6},  {"Hopper", 1024, -1.7e-6},
    {"FP8", 1024, -2.0e-2},     {"Volta", 4096, -5.7e-5},   {"Ampere", 4096, -2.7e-5},
    {"Hopper", 4096, -1.1e-5},  {"FP8", 4096, -7.7e-2},     {"Volta", 16384, -2.9e-4},
    {"Ampere", 16384, -1.5e-4}, {"Hopper", 16384, -7.2e-5}, {"FP8", 16384, -26e-2},
    {"one by one", 4096, 0},
};

static void
test_signed_fingerprint (void)
{
  enum
  {
    SIDE = 12
  };
  const gint64 shape[] = {SIDE, SIDE};
  g_autoptr (AssayArray) like = assay_array_new (ASSAY_DTYPE_FLOAT64, shape, 2, NULL);
  for (gsize k = 0; k < G_N_ELEMENTS (BIASES); k++)
    {
      const Bias *bias = &BIASES[k];
      g_autoptr (AssayArray) a =
          random_array (ASSAY_DTYPE_BFLOAT16, SIDE, bias->terms, FALSE, 1, 1);
      g_autoptr (AssayArray) b =
          random_array (ASSAY_DTYPE_BFLOAT16, SIDE, bias->terms, FALSE, 1, 2);
      g_autoptr (AssayContraction) c = assay_contraction_new ("ik,jk->ij", NULL);
      g_assert_true (assay_contraction_fits (c, a, b, like));
      g_autoptr (AssayArray) out =
          assay_contraction_run (c, find (bias->name), a, b, like, 0, NULL);
      double sum = 0;
      guint below = 0;
      for (gsize i = 0; i < out->count; i++)
        {
          double exact = 0;
          for (gint64 t = 0; t < bias->terms; t++)
            exact += assay_array_get (a, i / SIDE * (gsize) bias->terms + (gsize) t)
                     * assay_array_get (b, i % SIDE * (gsize) bias->terms + (gsize) t);
          double error = (assay_array_get (out, i) - exact) / exact;
          sum += error;
          below += error < 0;
        }
      double mean = sum / (double) out->count;
      g_test_message ("%s, %" G_GINT64_FORMAT " terms: %.3g, %u of %u below", bias->name,
                      bias->terms, mean, below, (guint) out->count);
      if (bias->bias == 0)
        {
          g_assert_cmpfloat (fabs (mean), <, 1e-6);
          continue;
        }
      g_assert_cmpfloat (fabs (mean / bias->bias - 1), <=, 0.2);
      g_assert_cmpuint (below, ==, out->count);
    }
}

/* ---- what 1e-2 lets through ---- */

typedef struct
{
  guint wrong, killed, right, rejected;
} Tally;

static Tally
count_probes (const AssayAudit *audit)
{
  Tally tally = {0};
  for (guint i = 0; i < audit->probes->len; i++)
    {
      const AssayProbe *probe = g_ptr_array_index (audit->probes, i);
      gboolean right = probe->kind == ASSAY_PROBE_HONEST || probe->kind == ASSAY_PROBE_REFERENCE;
      tally.right += right;
      tally.rejected += right && !probe->accepted;
      tally.wrong += !right;
      tally.killed += !right && !probe->accepted;
      if (right != probe->accepted)
        g_test_message ("%s %s", probe->name, right ? "is refused" : "gets through");
    }
  g_test_message ("killed %u of %u, refused %u of %u right ones", tally.killed, tally.wrong,
                  tally.rejected, tally.right);
  return tally;
}

static Tally
audit_product (double scale)
{
  enum
  {
    SIDE = 32,
    TERMS = 4096
  };
  const gint64 shape[] = {SIDE, SIDE};
  g_autoptr (AssayArray) a = random_array (ASSAY_DTYPE_BFLOAT16, SIDE, TERMS, TRUE, scale, 3);
  g_autoptr (AssayArray) b = random_array (ASSAY_DTYPE_BFLOAT16, SIDE, TERMS, TRUE, scale, 4);
  g_autoptr (AssayArray) like = assay_array_new (ASSAY_DTYPE_BFLOAT16, shape, 2, NULL);
  g_autofree double *gold = g_new (double, like->count);
  for (gsize i = 0; i < like->count; i++)
    {
      gold[i] = 0;
      for (gsize t = 0; t < TERMS; t++)
        gold[i] +=
            assay_array_get (a, i / SIDE * TERMS + t) * assay_array_get (b, i % SIDE * TERMS + t);
      assay_array_set (like, i, gold[i]);
    }
  g_autoptr (AssayContraction) c = assay_contraction_new ("ik,jk->ij", NULL);
  g_assert_true (assay_contraction_fits (c, a, b, like));
  g_autoptr (GPtrArray) arrays =
      g_ptr_array_new_with_free_func ((GDestroyNotify) assay_array_unref);
  g_autofree AssayProbeAnswer *answers = g_new0 (AssayProbeAnswer, ASSAY_N_SUMMATIONS);
  guint n = 0;
  for (gsize i = 0; i < ASSAY_N_SUMMATIONS; i++)
    {
      const AssaySummation *s = &ASSAY_SUMMATIONS[i];
      if (!assay_summation_applies (s, ASSAY_DTYPE_BFLOAT16, ASSAY_DTYPE_BFLOAT16,
                                    ASSAY_DTYPE_FLOAT32))
        continue;
      AssayArray *out = assay_contraction_run (c, s, a, b, like, 0, NULL);
      g_ptr_array_add (arrays, out);
      answers[n++] = (AssayProbeAnswer) {(AssayProbeKind) s->kind, s->name, s->family, out};
    }
  g_autoptr (AssayTolerance) tolerance = assay_tolerance_new ();
  tolerance->atol = tolerance->rtol = 1e-2;
  AssayProbesInput input = {.workload = "w",
                            .output = "y",
                            .reference = like,
                            .gold = gold,
                            .tolerance = tolerance,
                            .answers = answers,
                            .n_answers = n};
  g_autoptr (AssayAudit) audit = assay_audit_new ();
  g_assert_true (assay_probes_run (&input, audit, NULL, NULL));
  return count_probes (audit);
}

/* allclose (1e-2, 1e-2) on sums of 4096 products with bfloat16 in and out: right for N(0, 1), whose
 * outputs are of the size of 64, and blind for N(0, 0.02), whose outputs are of the size of 0.03. */
static void
test_one_tolerance_two_scales (void)
{
  Tally wide = audit_product (1), narrow = audit_product (0.02);
  g_assert_cmpuint (wide.rejected, ==, 0);
  g_assert_cmpuint (narrow.rejected, ==, 0);
  g_assert_cmpuint (wide.wrong, >=, 12);
  g_assert_cmpuint (wide.killed, ==, wide.wrong);
  g_assert_cmpuint (3 * narrow.killed, <, 2 * narrow.wrong);
}

/* Rows of 4096 sum to one: outputs are of the size of 2.4e-4, and every wrong answer is below atol. */
static void
test_softmax_hides_below_the_absolute_term (void)
{
  enum
  {
    ROWS = 16,
    COLUMNS = 4096
  };
  g_autoptr (AssayArray) x = random_array (ASSAY_DTYPE_FLOAT32, ROWS, COLUMNS, TRUE, 1, 5);
  g_autoptr (AssayArray) y = assay_array_copy (x, NULL);
  g_autofree double *gold = g_new (double, x->count);
  for (gsize row = 0; row < ROWS; row++)
    {
      double sum = 0;
      for (gsize i = 0; i < COLUMNS; i++)
        sum += gold[row * COLUMNS + i] = exp (assay_array_get (x, row * COLUMNS + i));
      for (gsize i = 0; i < COLUMNS; i++)
        assay_array_set (y, row * COLUMNS + i, gold[row * COLUMNS + i] /= sum);
    }
  g_autoptr (AssayTolerance) tolerance = assay_tolerance_new ();
  tolerance->atol = tolerance->rtol = 1e-2;
  AssayProbeInput copied = {"x", x};
  AssayProbesInput input = {.workload = "w",
                            .output = "y",
                            .reference = y,
                            .gold = gold,
                            .tolerance = tolerance,
                            .inputs = &copied,
                            .n_inputs = 1};
  g_autoptr (AssayAudit) audit = assay_audit_new ();
  g_assert_true (assay_probes_run (&input, audit, NULL, NULL));
  Tally tally = count_probes (audit);
  g_assert_cmpuint (tally.rejected, ==, 0);
  g_assert_cmpuint (2 * tally.killed, <, tally.wrong);
}

/* ---- the frontier is the smallest atol ---- */

/* Over lists of any length: the plane's own, a single slope, and ten thousand. */
static void
check_frontier (const AssayArray *c, const AssayArray *r, guint length)
{
  AssayCompareInput input = {.candidate = c, .reference = r};
  g_autoptr (GArray) rtol = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) atol = g_array_new (FALSE, FALSE, sizeof (double));
  for (guint k = 0; k < length; k++)
    {
      double slope = pow (10, -9 + 9.0 * (k + 1) / length);
      g_array_append_val (rtol, slope);
    }
  g_assert_true (assay_frontier (&input, rtol, atol, NULL, NULL));
  g_assert_cmpuint (atol->len, ==, length);
  for (guint k = 0; k < length; k++)
    {
      double least = 0, slope = g_array_index (rtol, double, k);
      for (gsize i = 0; i < r->count; i++)
        least = fmax (least, fabs (assay_array_get (c, i) - assay_array_get (r, i))
                                 - slope * fabs (assay_array_get (r, i)));
      double ours = g_array_index (atol, double, k);
      if (ours != least)
        g_test_message ("rtol %g: %.17g, brute %.17g", slope, ours, least);
      g_assert_cmpfloat (fabs (ours - least), <=, assay_dtype_ulp (ASSAY_DTYPE_FLOAT64, least));
    }
}

static void
test_frontier_is_the_brute_minimum (void)
{
  static const struct
  {
    gint64 elements;
    guint slopes;
  } SIZES[] = {{10000, 37}, {10000, 1}, {10000, 7}, {300, 10000}, {40000, 64}};
  g_autoptr (GRand) random = g_rand_new_with_seed (9);
  for (gsize s = 0; s < G_N_ELEMENTS (SIZES); s++)
    {
      g_autoptr (AssayArray) c = assay_array_new (ASSAY_DTYPE_FLOAT64, &SIZES[s].elements, 1, NULL);
      g_autoptr (AssayArray) r = assay_array_new (ASSAY_DTYPE_FLOAT64, &SIZES[s].elements, 1, NULL);
      for (gsize i = 0; i < r->count; i++)
        {
          double value =
              g_rand_double_range (random, -1, 1) * exp2 (g_rand_double_range (random, -20, 5));
          assay_array_set (r, i, value);
          assay_array_set (c, i,
                           value + g_rand_double_range (random, -1e-4, 1e-4) * (1 + fabs (value)));
        }
      check_frontier (c, r, SIZES[s].slopes);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/truths/signed-fingerprint", test_signed_fingerprint);
  g_test_add_func ("/truths/one-tolerance-two-scales", test_one_tolerance_two_scales);
  g_test_add_func ("/truths/softmax", test_softmax_hides_below_the_absolute_term);
  g_test_add_func ("/truths/frontier", test_frontier_is_the_brute_minimum);
  return g_test_run ();
}
