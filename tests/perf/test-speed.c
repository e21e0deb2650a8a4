/* SPDX-License-Identifier: Apache-2.0 */
/* Rates over simulated series. What they are compared with was computed by SciPy 1.17.1 and NumPy 2.4.6 on
 * 20000 series of the same kinds (4000 for the bootstrap; its own generator, PCG64), with mannwhitneyu,
 * ttest_ind, ttest_1samp and quantiles of drawn medians; they
 * are the figures that the published guidance on benchmark design quotes from smaller simulations. */
#include "engine/perf/speed.h"
#include "tests/perf/series.h"

#include <math.h>
#include <string.h>

#define TRIALS 4000
#define MANY 20000 /* where a trial costs little */
#define ROUNDS 10
#define SAMPLES 10
#define COUNT (ROUNDS * SAMPLES)

static const char *const NAMES[] = {"normal", "outliers", "chain", "bimodal", "offset"};

static void
scale (double *times, double factor)
{
  for (int i = 0; i < COUNT; i++)
    times[i] *= factor;
}

static void
assert_rate (const char *what, SeriesKind kind, double gain, double rate, double expected)
{
  g_test_message ("%s, %s, gain %g: %.2f %%, SciPy %.2f %%", what, NAMES[kind], gain, rate,
                  expected);
  g_assert_cmpfloat (fabs (rate - expected), <=, 2);
}

/* ---- series taken one after the other ---- */

static void
test_one_after_the_other (void)
{
  static const struct
  {
    SeriesKind kind;
    double gain, mann_whitney, welch;
  } known[] = {
      {SERIES_NORMAL, 0, 5.02, 4.94},   {SERIES_NORMAL, 0.01, 100, 100},
      {SERIES_OUTLIERS, 0, 5.24, 1.88}, {SERIES_OUTLIERS, 0.01, 100, 32.06},
      {SERIES_CHAIN, 0, 65.26, 66.85},  {SERIES_CHAIN, 0.01, 99.86, 99.90},
      {SERIES_BIMODAL, 0, 4.84, 4.78},  {SERIES_BIMODAL, 0.01, 99.97, 99.56},
      {SERIES_OFFSET, 0, 91.97, 92.10}, {SERIES_OFFSET, 0.01, 93.97, 94.06},
  };
  for (gsize k = 0; k < G_N_ELEMENTS (known); k++)
    {
      guint64 state = 1001 + k;
      int ranks = 0, means = 0;
      for (int trial = 0; trial < MANY; trial++)
        {
          double a[COUNT], b[COUNT];
          series_fill (&state, known[k].kind, a, COUNT);
          series_fill (&state, known[k].kind, b, COUNT);
          scale (a, 1 - known[k].gain);
          ranks += assay_mann_whitney (a, COUNT, b, COUNT) < 0.05;
          means += assay_welch_t (a, COUNT, b, COUNT) < 0.05;
        }
      assert_rate ("Mann-Whitney", known[k].kind, known[k].gain, 100.0 * ranks / MANY,
                   known[k].mann_whitney);
      assert_rate ("Welch", known[k].kind, known[k].gain, 100.0 * means / MANY, known[k].welch);
    }
}

static void
test_blocks_mend_only_half_of_a_chain (void)
{
  static const struct
  {
    SeriesKind kind;
    gsize block;
    double different;
  } known[] = {
      {SERIES_NORMAL, 1, 4.60},
      {SERIES_NORMAL, 10, 7.45},
      {SERIES_CHAIN, 1, 58.75},
      {SERIES_CHAIN, 10, 26.53},
  };
  for (gsize k = 0; k < G_N_ELEMENTS (known); k++)
    {
      guint64 state = 1001 + k;
      int hits = 0;
      for (int trial = 0; trial < TRIALS; trial++)
        {
          double a[COUNT], b[COUNT];
          series_fill (&state, known[k].kind, a, COUNT);
          series_fill (&state, known[k].kind, b, COUNT);
          AssayInterval interval =
              assay_block_bootstrap (a, b, COUNT, known[k].block, 200, (guint64) trial, 0.95);
          hits += interval.low > 0 || interval.high < 0;
        }
      assert_rate ("bootstrap", known[k].kind, 0, 100.0 * hits / TRIALS, known[k].different);
    }
}

/* ---- rounds in turn ---- */

static void
fill_rounds (guint64 *state, SeriesKind kind, double gain, double *a, double *b)
{
  if (kind == SERIES_OFFSET)
    for (int round = 0; round < ROUNDS; round++)
      {
        double offset = exp (0.01 * series_normal (state));
        for (int i = 0; i < 2 * SAMPLES; i++)
          (i % 2 ? a : b)[round * SAMPLES + i / 2] = (1 + 0.005 * series_normal (state)) * offset;
      }
  else
    {
      series_fill (state, kind, a, COUNT);
      series_fill (state, kind, b, COUNT);
    }
  scale (a, 1 - gain);
}

typedef struct
{
  int different, covered, verdicts[ASSAY_SPEED_NOT_INTERPRETABLE + 1];
} Tally;

static Tally
judge_many (SeriesKind kind, double gain, guint64 seed)
{
  Tally tally = {0};
  guint64 state = seed;
  for (int trial = 0; trial < TRIALS; trial++)
    {
      double a[COUNT], b[COUNT];
      AssayTimings timings = {.candidate = a, .baseline = b, .rounds = ROUNDS, .samples = SAMPLES};
      AssaySpeed speed;
      fill_rounds (&state, kind, gain, a, b);
      assay_speed_judge (&timings, &speed);
      tally.different += speed.probability < 0.05;
      tally.covered += speed.low <= 1 - gain && speed.high >= 1 - gain;
      tally.verdicts[speed.verdict]++;
      assay_speed_clear (&speed);
    }
  return tally;
}

static void
test_in_turn (void)
{
  static const struct
  {
    SeriesKind kind;
    double gain, paired;
  } known[] = {
      {SERIES_NORMAL, 0, 5.40},       {SERIES_NORMAL, 0.01, 100}, {SERIES_OUTLIERS, 0, 4.88},
      {SERIES_OUTLIERS, 0.01, 100},   {SERIES_BIMODAL, 0, 5.17},  {SERIES_BIMODAL, 0.01, 49.85},
      {SERIES_BIMODAL, -0.02, 98.41}, {SERIES_OFFSET, 0, 5.14},
  };
  for (gsize k = 0; k < G_N_ELEMENTS (known); k++)
    {
      Tally tally = judge_many (known[k].kind, known[k].gain, 1 + k);
      assert_rate ("paired", known[k].kind, known[k].gain, 100.0 * tally.different / TRIALS,
                   known[k].paired);
      /* The interval of exact signed ranks for ten numbers holds 95.1 %. */
      g_assert_cmpfloat (fabs (100.0 * tally.covered / TRIALS - 95.1), <=, 2);
      /* Nothing that is the same is told faster or slower more often than one in twenty. */
      if (known[k].gain == 0)
        g_assert_cmpint (tally.verdicts[ASSAY_SPEED_FASTER] + tally.verdicts[ASSAY_SPEED_SLOWER],
                         <=, TRIALS / 20 + 20);
    }
}

/* Verdicts on data as clean as a GPU gives, and on a shared clock that wanders. */
static void
test_verdicts_are_the_right_ones (void)
{
  static const struct
  {
    SeriesKind kind;
    double gain;
    AssaySpeedVerdict verdict;
    double least; /* % */
  } known[] = {
      {SERIES_NORMAL, 0, ASSAY_SPEED_SAME, 99},
      {SERIES_NORMAL, -0.02, ASSAY_SPEED_SLOWER, 99},
      {SERIES_NORMAL, 0.02, ASSAY_SPEED_FASTER, 99},
      {SERIES_OFFSET, 0, ASSAY_SPEED_SAME, 98},
      {SERIES_OFFSET, -0.02, ASSAY_SPEED_SLOWER, 98},
      {SERIES_CHAIN, 0, ASSAY_SPEED_NOT_INTERPRETABLE, 99},
      {SERIES_CHAIN, -0.02, ASSAY_SPEED_NOT_INTERPRETABLE, 99},
  };
  for (gsize k = 0; k < G_N_ELEMENTS (known); k++)
    {
      Tally tally = judge_many (known[k].kind, known[k].gain, 101 + k);
      double rate = 100.0 * tally.verdicts[known[k].verdict] / TRIALS;
      g_test_message ("%s, gain %g: %s in %.2f %%", NAMES[known[k].kind], known[k].gain,
                      ASSAY_SPEED_VERDICTS[known[k].verdict], rate);
      g_assert_cmpfloat (rate, >=, known[k].least);
    }
}

/* ---- what cannot be interpreted ---- */

static double times[2][COUNT];

static AssayTimings
clean_timings (double gain)
{
  guint64 state = 77;
  fill_rounds (&state, SERIES_NORMAL, gain, times[0], times[1]);
  return (AssayTimings) {
      .candidate = times[0], .baseline = times[1], .rounds = ROUNDS, .samples = SAMPLES};
}

static void
assert_judged (const AssayTimings *timings, AssaySpeedVerdict verdict, const char *words)
{
  AssaySpeed speed;
  assay_speed_judge (timings, &speed);
  g_assert_cmpstr (ASSAY_SPEED_VERDICTS[speed.verdict], ==, ASSAY_SPEED_VERDICTS[verdict]);
  g_test_message ("%s", speed.reason);
  g_assert_nonnull (strstr (speed.reason, words));
  assay_speed_clear (&speed);
}

static void
test_drift_is_refused (void)
{
  AssayTimings timings = clean_timings (-0.02);
  for (int i = 0; i < COUNT; i++)
    times[0][i] *= 1 + 0.03 * (i / SAMPLES) / ROUNDS;
  assert_judged (&timings, ASSAY_SPEED_NOT_INTERPRETABLE, "candidate's times drift by +2.");
  /* Both at once leaves the ratio alone; the device is still not in a state to be timed. */
  for (int i = 0; i < COUNT; i++)
    times[1][i] *= 1 + 0.03 * (i / SAMPLES) / ROUNDS;
  assert_judged (&timings, ASSAY_SPEED_NOT_INTERPRETABLE, "drift");
}

static void
test_a_throttled_device_is_refused (void)
{
  static const char *const reasons[] = {"thermal, hardware", NULL}, *const none[] = {NULL};
  AssayTimings timings = clean_timings (-0.02);
  timings.reasons = none;
  assert_judged (&timings, ASSAY_SPEED_SLOWER, "excludes 1");
  timings.reasons = reasons;
  assert_judged (&timings, ASSAY_SPEED_NOT_INTERPRETABLE, "thermal, hardware");
}

static void
test_a_sinking_clock_is_refused (void)
{
  double clocks[ROUNDS];
  AssayTimings timings = clean_timings (0);
  timings.clocks = clocks;
  for (int i = 0; i < ROUNDS; i++)
    clocks[i] = i % 2 ? 1980 : 1965;
  assert_judged (&timings, ASSAY_SPEED_SAME, "within 1 %");
  for (int i = 0; i < ROUNDS; i++)
    clocks[i] = 1980 - 15 * i;
  assert_judged (&timings, ASSAY_SPEED_NOT_INTERPRETABLE, "1845 to 1980 MHz");
}

static void
test_what_is_no_time_is_refused (void)
{
  static const double wrong[] = {0, -1e-6, NAN, INFINITY};
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      AssayTimings timings = clean_timings (0);
      times[1][41] = wrong[i];
      assert_judged (&timings, ASSAY_SPEED_NOT_INTERPRETABLE, "sample 42 of the baseline");
    }
  AssayTimings none = {.candidate = times[0], .baseline = times[1]};
  assert_judged (&none, ASSAY_SPEED_NOT_INTERPRETABLE, "no samples");
}

/* A timer that counts in steps as long as its noise: equal medians are no division by zero. */
static void
test_a_coarse_timer_is_no_trouble (void)
{
  AssayTimings timings = clean_timings (0);
  for (int i = 0; i < COUNT; i++)
    times[0][i] = times[1][i] = 1;
  assert_judged (&timings, ASSAY_SPEED_SAME, "within 1 %");
  for (int i = 0; i < COUNT; i++)
    times[0][i] = 1.05;
  assert_judged (&timings, ASSAY_SPEED_SLOWER, "excludes 1");
}

static void
test_few_rounds_are_one_session_at_low_confidence (void)
{
  AssaySpeed speed;
  AssayTimings timings = clean_timings (-0.02);
  timings.rounds = 1;
  timings.samples = COUNT;
  assay_speed_judge (&timings, &speed);
  g_assert_true (speed.low_confidence);
  g_assert_cmpint (speed.verdict, ==, ASSAY_SPEED_SLOWER);
  g_assert_cmpfloat_with_epsilon (speed.ratio, 1.02, 0.003);
  assay_speed_clear (&speed);
  timings.samples = 3;
  assert_judged (&timings, ASSAY_SPEED_INCONCLUSIVE, "too few samples");
}

/* ---- several shapes ---- */

/* 1/2, 2 and 1: the geometric mean is 1, where the mean of the ratios is 7/6 and a ratio of summed times
 * follows the longest shape alone. */
static void
test_shapes_are_put_together_by_the_geometric_mean (void)
{
  AssaySpeed shapes[] = {
      {.verdict = ASSAY_SPEED_FASTER, .ratio = 0.5, .low = 0.5 / 1.1, .high = 0.5 * 1.1},
      {.verdict = ASSAY_SPEED_SLOWER, .ratio = 2, .low = 2 / 1.1, .high = 2 * 1.1},
      {.verdict = ASSAY_SPEED_SAME, .ratio = 1, .low = 1, .high = 1},
      {.verdict = ASSAY_SPEED_NOT_INTERPRETABLE, .ratio = 40, .low = 39, .high = 41},
  };
  AssaySpeedSummary summary;
  assay_speed_summarise (shapes, 4, &summary);
  g_assert_cmpfloat_with_epsilon (summary.ratio, 1, 1e-15);
  g_assert_cmpfloat_with_epsilon (log (summary.high), sqrt (2) * log (1.1) / 3, 1e-15);
  g_assert_cmpfloat_with_epsilon (summary.low * summary.high, 1, 1e-15);
  g_assert_cmpuint (summary.counted, ==, 3);
  g_assert_cmpuint (summary.left_out, ==, 1);
  g_assert_cmpuint (summary.losers->len, ==, 1);
  g_assert_cmpuint (g_array_index (summary.losers, guint, 0), ==, 1);
  g_array_unref (summary.losers);
  assay_speed_summarise (shapes + 3, 1, &summary);
  g_assert_true (isnan (summary.ratio));
  g_array_unref (summary.losers);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/speed/single-session", test_one_after_the_other);
  g_test_add_func ("/speed/blocks", test_blocks_mend_only_half_of_a_chain);
  g_test_add_func ("/speed/in-turn", test_in_turn);
  g_test_add_func ("/speed/verdicts", test_verdicts_are_the_right_ones);
  g_test_add_func ("/speed/drift", test_drift_is_refused);
  g_test_add_func ("/speed/throttled", test_a_throttled_device_is_refused);
  g_test_add_func ("/speed/clock", test_a_sinking_clock_is_refused);
  g_test_add_func ("/speed/no-time", test_what_is_no_time_is_refused);
  g_test_add_func ("/speed/coarse-timer", test_a_coarse_timer_is_no_trouble);
  g_test_add_func ("/speed/few-rounds", test_few_rounds_are_one_session_at_low_confidence);
  g_test_add_func ("/speed/shapes", test_shapes_are_put_together_by_the_geometric_mean);
  return g_test_run ();
}
