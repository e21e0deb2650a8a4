/* SPDX-License-Identifier: Apache-2.0 */
/* Against SciPy 1.17.1 and NumPy 2.4.6 on the same numbers: x and y are the first 40 and the next 37 of
 * 1 + 0.005 n and 1.002 + 0.005 n, n from series_normal () of seed 7; written anew in Python, the constants
 * came from mannwhitneyu (asymptotic), ttest_ind (equal_var=False), ttest_1samp, theilslopes, t.sf,
 * numpy.quantile, and from inverting wilcoxon (exact). */
#include "engine/perf/statistics.h"
#include "engine/perf/stop-rule.h"
#include "tests/perf/series.h"

#include <math.h>

static double x[40], y[37];

static void
fill (void)
{
  guint64 state = 7;
  for (gsize i = 0; i < G_N_ELEMENTS (x); i++)
    x[i] = 1 + 0.005 * series_normal (&state);
  for (gsize i = 0; i < G_N_ELEMENTS (y); i++)
    y[i] = 1.002 + 0.005 * series_normal (&state);
}

static void
assert_near (double found, double expected)
{
  g_assert_cmpfloat_with_epsilon (found, expected, 1e-11 * MAX (fabs (expected), 1e-3));
}

static void
test_the_series_is_the_one_of_the_constants (void)
{
  assert_near (x[0], 1.0068249614872862);
  assert_near (y[36], 0.9990127581779837);
}

static void
test_quantiles_are_those_of_numpy (void)
{
  static const double shares[] = {0, 0.1, 0.5, 0.9, 1};
  static const double expected[] = {0.990546837217643, 0.9945391192385341, 0.9987114025908874,
                                    1.0065088245821694, 1.0104297177074253};
  for (gsize i = 0; i < G_N_ELEMENTS (shares); i++)
    assert_near (assay_quantile (x, 40, shares[i]), expected[i]);
  g_assert_true (isnan (assay_median (x, 0)));
  assert_near (assay_median (x, 1), x[0]);
}

static void
test_probabilities_are_those_of_scipy (void)
{
  double coarse_x[40], coarse_y[37], differences[12];
  for (gsize i = 0; i < 40; i++)
    coarse_x[i] = rint (x[i] * 1000) / 1000;
  for (gsize i = 0; i < 37; i++)
    coarse_y[i] = rint (y[i] * 1000) / 1000;
  for (gsize i = 0; i < 12; i++)
    differences[i] = x[i] - y[i];
  assert_near (assay_mann_whitney (x, 40, y, 37), 0.05858665867300131);
  assert_near (assay_mann_whitney (coarse_x, 40, coarse_y, 37), 0.050863815911036565);
  assert_near (assay_welch_t (x, 40, y, 37), 0.06643761351414154);
  assert_near (assay_paired_t (differences, 12), 0.0875365911801906);
  assert_near (assay_trend (x, 20), 0.7702877264736667);
  assert_near (assay_trend (coarse_x, 20), 0.7944658956930625);
  assert_near (assay_slope (x, 20), 6.717052372367773e-05);
}

/* Two differences of mean t and scatter 1 have one degree of freedom; more have known tails. */
static void
test_the_tails_of_students_t (void)
{
  static const struct
  {
    double t, p; /* 9 degrees of freedom */
  } known[] = {{2, 0.07655282377070101}, {30, 2.4837047041582635e-10}};
  for (gsize i = 0; i < G_N_ELEMENTS (known); i++)
    {
      /* Ten numbers ±s about t s / sqrt (10) with variance 10 s^2 / 9. */
      double values[10];
      for (int k = 0; k < 10; k++)
        values[k] = (k % 2 ? 1 : -1) + known[i].t * sqrt (10.0 / 9 / 10);
      g_assert_cmpfloat_with_epsilon (assay_paired_t (values, 10), known[i].p, 1e-9 * known[i].p);
    }
  double same[3] = {2, 2, 2}, none[3] = {0};
  g_assert_cmpfloat (assay_paired_t (same, 3), ==, 0);
  g_assert_cmpfloat (assay_paired_t (none, 3), ==, 1);
  g_assert_true (isnan (assay_paired_t (same, 1)));
}

static void
test_the_interval_inverts_the_signed_rank_test (void)
{
  double differences[12], all[77];
  for (gsize i = 0; i < 12; i++)
    differences[i] = x[i] - y[i];
  AssayInterval interval = assay_hodges_lehmann (differences, 12, 0.95);
  assert_near (interval.estimate, -0.002847059479917785);
  assert_near (interval.low, -0.006919794369946053);
  assert_near (interval.high, 0.001607093242786739);
  for (gsize i = 0; i < 77; i++)
    all[i] = i < 40 ? x[i] : y[i - 40];
  interval = assay_hodges_lehmann (all, 77, 0.95);
  assert_near (interval.estimate, 1.000429113624922);
  assert_near (interval.low, 0.9993609731239381);
  assert_near (interval.high, 1.0014968800139834);
  interval = assay_hodges_lehmann (differences, 5, 0.95);
  g_assert_true (isinf (interval.low) && isinf (interval.high));
}

static void
test_correlation_is_told_whatever_the_length_of_rounds (void)
{
  static const gsize lengths[] = {10, 20, 100, 4000};
  guint64 state = 3;
  double chain[4000], free_ones[4000];
  series_fill (&state, SERIES_CHAIN, chain, 4000);
  series_fill (&state, SERIES_NORMAL, free_ones, 4000);
  for (gsize i = 0; i < G_N_ELEMENTS (lengths); i++)
    {
      /* The correction is of the first order: ten of a tight chain read too high. */
      double tight = assay_lag_one (chain, 4000, lengths[i]);
      g_assert_cmpfloat_with_epsilon (tight, 0.9, lengths[i] < 100 ? 0.1 : 0.06);
      g_assert_cmpfloat_with_epsilon (assay_lag_one (free_ones, 4000, lengths[i]), 0, 0.05);
    }
  /* numpy: -0.16737117878547011 as it stands, before the correction for 40. */
  assert_near (assay_lag_one (x, 40, 40), (-0.16737117878547011 + 1 / 40.0) / (1 - 4 / 40.0));
  assert_near (assay_effective_count (100, 0.9), 100 * 0.1 / 1.9);
  assert_near (assay_effective_count (100, -0.5), 100);
}

static void
test_two_modes_are_told_from_one (void)
{
  static const struct
  {
    SeriesKind kind;
    gsize least, most; /* of 200 series of 100 */
  } kinds[] = {{SERIES_NORMAL, 0, 2}, {SERIES_OUTLIERS, 0, 2}, {SERIES_BIMODAL, 198, 200}};
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      guint64 state = 11;
      gsize flagged = 0;
      for (int trial = 0; trial < 200; trial++)
        {
          double times[100];
          series_fill (&state, kinds[i].kind, times, 100);
          AssayModes modes = assay_modes (times, 100);
          flagged += modes.bimodal;
          if (!modes.bimodal || kinds[i].kind != SERIES_BIMODAL)
            continue;
          g_assert_cmpfloat_with_epsilon (modes.high / modes.low, 1.03, 0.006);
          g_assert_cmpfloat_with_epsilon (modes.upper_share, 0.5, 0.25);
        }
      g_test_message ("kind %d: %" G_GSIZE_FORMAT, (int) kinds[i].kind, flagged);
      g_assert_cmpuint (flagged, >=, kinds[i].least);
      g_assert_cmpuint (flagged, <=, kinds[i].most);
    }
}

/* ---- stop rules ---- */

static void
test_equal_times_stop_at_once (void)
{
  AssayStopRule entropy = {.kind = ASSAY_STOP_ENTROPY, .angle = 0.048, .r2 = 0.36};
  AssayStopRule error = {.kind = ASSAY_STOP_ERROR, .fewest = 5, .error = 0.0025};
  g_autoptr (AssayStop) one = assay_stop_new (&entropy), other = assay_stop_new (&error);
  for (int i = 0; i < 6; i++)
    {
      assay_stop_add (one, 42);
      assay_stop_add (other, 42);
      g_assert_true (assay_stop_reached (other) == (i >= 4));
    }
  g_assert_true (assay_stop_reached (one));
}

/* nvbench's own test (testing/entropy_criterion.cu, 66212f1): 0 1 2 3 4 5 5 5 … gives an arch of entropies whose
 * line has r2 about 0.5 and an angle about -1.83 degrees. */
static void
test_entropy_is_that_of_nvbench (void)
{
  static const struct
  {
    double r2, angle;
    gboolean stops;
  } rules[] = {{0.3, -1, TRUE}, {0.7, -1, FALSE}, {0.3, -2, FALSE}};
  for (gsize i = 0; i < G_N_ELEMENTS (rules); i++)
    {
      AssayStopRule rule = {.kind = ASSAY_STOP_ENTROPY, .angle = rules[i].angle, .r2 = rules[i].r2};
      g_autoptr (AssayStop) stop = assay_stop_new (&rule);
      for (int k = 0; k < 50; k++)
        {
          assay_stop_add (stop, MIN (k, 5));
          if (k == 5)
            assert_near (assay_stop_entropy (stop), log2 (6));
        }
      g_assert_true (assay_stop_reached (stop) == rules[i].stops);
    }
}

static void
test_the_window_of_entropies_slides (void)
{
  AssayStopRule rule = {.kind = ASSAY_STOP_ENTROPY, .angle = 0.048, .r2 = 0.36};
  g_autoptr (AssayStop) stop = assay_stop_new (&rule);
  /* All different: entropy is log2 n, which over samples 102 to 400 rises by 0.0066 bits a sample. */
  for (int k = 0; k < 400; k++)
    assay_stop_add (stop, 1 + k * 1e-3);
  assert_near (assay_stop_entropy (stop), log2 (400));
  g_assert_false (assay_stop_reached (stop)); /* 0.38 degrees */
  for (int k = 0; k < 40000; k++)
    assay_stop_add (stop, 1 + (k % 400) * 1e-3);
  g_assert_true (assay_stop_reached (stop));
}

static void
test_the_standard_error_stops (void)
{
  AssayStopRule rule = {.kind = ASSAY_STOP_ERROR, .fewest = 10, .seconds = 0.5, .error = 0.0005};
  g_autoptr (AssayStop) stop = assay_stop_new (&rule);
  guint64 state = 5;
  gsize count = 0;
  for (double t; !assay_stop_reached (stop) && count < 100000; count++)
    {
      series_fill (&state, SERIES_NORMAL, &t, 1);
      assay_stop_add (stop, 0.01 * t);
    }
  /* (0.5 % / 0.05 %)^2 = 100 samples. */
  g_assert_cmpuint (count, >=, 70);
  g_assert_cmpuint (count, <=, 140);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fill ();
  g_test_add_func ("/statistics/series", test_the_series_is_the_one_of_the_constants);
  g_test_add_func ("/statistics/quantiles", test_quantiles_are_those_of_numpy);
  g_test_add_func ("/statistics/probabilities", test_probabilities_are_those_of_scipy);
  g_test_add_func ("/statistics/student", test_the_tails_of_students_t);
  g_test_add_func ("/statistics/hodges-lehmann", test_the_interval_inverts_the_signed_rank_test);
  g_test_add_func ("/statistics/correlation",
                   test_correlation_is_told_whatever_the_length_of_rounds);
  g_test_add_func ("/statistics/modes", test_two_modes_are_told_from_one);
  g_test_add_func ("/stop/equal", test_equal_times_stop_at_once);
  g_test_add_func ("/stop/entropy", test_entropy_is_that_of_nvbench);
  g_test_add_func ("/stop/window", test_the_window_of_entropies_slides);
  g_test_add_func ("/stop/error", test_the_standard_error_stops);
  return g_test_run ();
}
