/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/perf/speed.h"

#include <math.h>

#define FEWEST_ROUNDS 6 /* the least that give an interval at 0.95 */
#define CORRELATED 0.3
#define CHANCE 0.01 /* below: a trend is no accident */
#define BLOCK 10
#define DRAWS 1000

const char *const ASSAY_SPEED_VERDICTS[] = {
    "faster", "slower", "equivalent", "inconclusive", "not interpretable", NULL};
static const char *const SIDES[] = {"candidate", "baseline"};

void
assay_speed_clear (AssaySpeed *speed)
{
  g_clear_pointer (&speed->reason, g_free);
}

static void
say (AssaySpeed *speed, AssaySpeedVerdict verdict, char *reason)
{
  g_free (speed->reason);
  speed->verdict = verdict;
  speed->reason = reason;
}

static gboolean
are_times (const AssayTimings *t, AssaySpeed *speed)
{
  for (gsize i = 0; i < t->rounds * t->samples; i++)
    for (int side = 0; side < 2; side++)
      {
        double time = (side == 0 ? t->candidate : t->baseline)[i];
        if (isfinite (time) && time > 0)
          continue;
        say (speed, ASSAY_SPEED_NOT_INTERPRETABLE,
             g_strdup_printf ("sample %" G_GSIZE_FORMAT " of the %s is %g s: no time", i + 1,
                              SIDES[side], time));
        return FALSE;
      }
  if (t->rounds * t->samples > 0)
    return TRUE;
  say (speed, ASSAY_SPEED_NOT_INTERPRETABLE, g_strdup ("there are no samples"));
  return FALSE;
}

static double *
round_medians (const double *times, const AssayTimings *t)
{
  double *medians = g_new (double, t->rounds);
  for (gsize i = 0; i < t->rounds; i++)
    medians[i] = assay_median (times + i * t->samples, t->samples);
  return medians;
}

/* Relative change from the first to the last, by the median slope; 0 unless it is more than chance. */
static double
drift_of (const double *values, gsize count)
{
  if (count < FEWEST_ROUNDS || !(assay_trend (values, count) < CHANCE))
    return 0;
  return assay_slope (values, count) * (double) (count - 1) / assay_median (values, count);
}

static double
drift_of_series (const double *times, const AssayTimings *t)
{
  /* A single session is cut into pieces that are long enough for a median. */
  gsize pieces = t->rounds >= FEWEST_ROUNDS ? t->rounds : 10;
  gsize length = t->rounds * t->samples / pieces;
  if (length == 0)
    return 0;
  AssayTimings cut = {.rounds = pieces, .samples = length};
  g_autofree double *medians = round_medians (times, &cut);
  return drift_of (medians, pieces);
}

static void
describe (const AssayTimings *t, AssaySpeed *speed)
{
  gsize count = t->rounds * t->samples;
  gsize piece = t->rounds >= FEWEST_ROUNDS ? t->samples : count;
  speed->effective = INFINITY;
  for (int side = 0; side < 2; side++)
    {
      const double *times = side == 0 ? t->candidate : t->baseline;
      speed->lag[side] = assay_lag_one (times, count, piece);
      speed->drift[side] = drift_of_series (times, t);
      speed->modes[side] = assay_modes (times, count);
      speed->effective = MIN (speed->effective, assay_effective_count (count, speed->lag[side]));
    }
}

static void
look_at_clocks (const AssayTimings *t, AssaySpeed *speed)
{
  double least = INFINITY, most = 0;
  if (t->reasons && t->reasons[0])
    {
      say (speed, ASSAY_SPEED_NOT_INTERPRETABLE,
           g_strdup_printf ("the device was throttled while it was timed: %s", t->reasons[0]));
      return;
    }
  for (gsize i = 0; t->clocks && i < t->rounds; i++)
    {
      least = t->clocks[i] > 0 ? MIN (least, t->clocks[i]) : least;
      most = MAX (most, t->clocks[i]);
    }
  double change = t->clocks && most > 0 ? drift_of (t->clocks, t->rounds) : 0;
  if (fabs (change) > ASSAY_SPEED_CLOCK)
    say (speed, ASSAY_SPEED_NOT_INTERPRETABLE,
         g_strdup_printf ("the clock ran from %.0f to %.0f MHz, in one direction, while it was "
                          "timed",
                          least, most));
}

/* Whether neighbours of a side, or the sides' drift, forbid any statement. */
static void
look_at_order (const AssayTimings *t, AssaySpeed *speed)
{
  for (int side = 0; side < 2 && !speed->reason; side++)
    if (fabs (speed->drift[side]) > ASSAY_SPEED_DRIFT)
      say (speed, ASSAY_SPEED_NOT_INTERPRETABLE,
           g_strdup_printf ("the %s's times drift by %+.1f %% from the first round to the last",
                            SIDES[side], 100 * speed->drift[side]));
  for (int side = 0; side < 2 && !speed->reason; side++)
    {
      gsize count = t->rounds * t->samples;
      double worth = assay_effective_count (count, speed->lag[side]);
      if (speed->lag[side] > CORRELATED && worth < ASSAY_SPEED_FEWEST)
        say (speed, ASSAY_SPEED_NOT_INTERPRETABLE,
             g_strdup_printf ("neighbouring times of the %s hang together (%.2f): %" G_GSIZE_FORMAT
                              " samples are worth %.0f, at least %d are needed",
                              SIDES[side], speed->lag[side], count, worth, ASSAY_SPEED_FEWEST));
    }
}

static AssayInterval
estimate (const AssayTimings *t, AssaySpeed *speed)
{
  if (t->rounds < FEWEST_ROUNDS)
    {
      gsize count = t->rounds * t->samples;
      speed->low_confidence = TRUE;
      if (count < 2 * BLOCK)
        return (AssayInterval) {
            log (assay_median (t->candidate, count) / assay_median (t->baseline, count)), -INFINITY,
            INFINITY};
      speed->probability = assay_mann_whitney (t->candidate, t->rounds * t->samples, t->baseline,
                                               t->rounds * t->samples);
      return assay_block_bootstrap (t->candidate, t->baseline, t->rounds * t->samples, BLOCK, DRAWS,
                                    1, ASSAY_SPEED_LEVEL);
    }
  g_autofree double *ours = round_medians (t->candidate, t);
  g_autofree double *theirs = round_medians (t->baseline, t);
  for (gsize i = 0; i < t->rounds; i++)
    ours[i] = log (ours[i] / theirs[i]);
  speed->probability = assay_paired_t (ours, t->rounds);
  return assay_hodges_lehmann (ours, t->rounds, ASSAY_SPEED_LEVEL);
}

static void
conclude (AssaySpeed *speed)
{
  gboolean excludes = speed->low > 1 || speed->high < 1;
  gboolean differs =
      excludes && (speed->low_confidence || speed->probability < 1 - ASSAY_SPEED_LEVEL);
  double half = 0.5 * (speed->high - speed->low) / speed->ratio;
  if (speed->low > 1 - ASSAY_SPEED_EQUIVALENT && speed->high < 1 + ASSAY_SPEED_EQUIVALENT)
    say (speed, ASSAY_SPEED_SAME,
         g_strdup_printf ("the interval lies within %g %% of 1", 100 * ASSAY_SPEED_EQUIVALENT));
  else if (differs)
    say (speed, speed->ratio < 1 ? ASSAY_SPEED_FASTER : ASSAY_SPEED_SLOWER,
         g_strdup_printf ("the interval excludes 1 (p = %.2g)", speed->probability));
  else if (isfinite (half))
    say (speed, ASSAY_SPEED_INCONCLUSIVE,
         g_strdup_printf ("the interval, ±%.2g %%, neither excludes 1 nor lies within %g %% of it",
                          100 * half, 100 * ASSAY_SPEED_EQUIVALENT));
  else
    say (speed, ASSAY_SPEED_INCONCLUSIVE, g_strdup ("too few samples for an interval"));
}

void
assay_speed_judge (const AssayTimings *t, AssaySpeed *speed)
{
  *speed = (AssaySpeed) {.ratio = NAN, .low = NAN, .high = NAN, .probability = NAN};
  if (!are_times (t, speed))
    return;
  describe (t, speed);
  AssayInterval logs = estimate (t, speed);
  speed->ratio = exp (logs.estimate);
  speed->low = exp (logs.low);
  speed->high = exp (logs.high);
  look_at_clocks (t, speed);
  if (!speed->reason)
    look_at_order (t, speed);
  if (!speed->reason)
    conclude (speed);
}

void
assay_speed_summarise (const AssaySpeed *shapes, guint count, AssaySpeedSummary *summary)
{
  double logs = 0, squares = 0;
  *summary = (AssaySpeedSummary) {.ratio = NAN, .low = NAN, .high = NAN};
  summary->losers = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < count; i++)
    {
      const AssaySpeed *shape = &shapes[i];
      if (shape->verdict == ASSAY_SPEED_NOT_INTERPRETABLE)
        {
          summary->left_out++;
          continue;
        }
      double half = 0.5 * (log (shape->high) - log (shape->low));
      summary->counted++;
      logs += log (shape->ratio);
      squares += half * half;
      if (shape->verdict == ASSAY_SPEED_SLOWER)
        g_array_append_val (summary->losers, i);
    }
  if (summary->counted == 0)
    return;
  double n = summary->counted;
  summary->ratio = exp (logs / n);
  summary->low = exp ((logs - sqrt (squares)) / n);
  summary->high = exp ((logs + sqrt (squares)) / n);
}
