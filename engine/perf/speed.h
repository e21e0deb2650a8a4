/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/perf/statistics.h"

G_BEGIN_DECLS

/* Which of two programs is faster, and whether their times can say so at all.
 *
 * The design that stands up: rounds in turn, each with samples of both; the median of a side's samples in a
 * round; the logarithm of the ratio of both medians, round by round. Whatever shifts both sides of a round
 * falls out. On those ratios: Student's paired test, and the estimate of Hodges and Lehmann with its interval.
 * Series taken one after the other (fewer than 6 rounds) are judged by a block bootstrap, at low confidence. */

#define ASSAY_SPEED_EQUIVALENT 0.01 /* an interval within this of 1 is no difference */
#define ASSAY_SPEED_DRIFT 0.01      /* a change of this much from first to last round is refused */
#define ASSAY_SPEED_CLOCK 0.01      /* … and of the clock */
#define ASSAY_SPEED_LEVEL 0.95
#define ASSAY_SPEED_FEWEST 20 /* independent samples a side must be worth */

typedef enum
{
  ASSAY_SPEED_FASTER,
  ASSAY_SPEED_SLOWER,
  ASSAY_SPEED_SAME, /* "equivalent" */
  ASSAY_SPEED_INCONCLUSIVE,
  ASSAY_SPEED_NOT_INTERPRETABLE,
} AssaySpeedVerdict;
extern const char *const ASSAY_SPEED_VERDICTS[];

/* Times in seconds, rounds one after the other, `samples` a side in each. */
typedef struct
{
  const double *candidate, *baseline;
  gsize rounds, samples;
  const double *clocks;       /* MHz, one a round, or NULL; 0 where not told */
  const char *const *reasons; /* why the device was throttled, NULL-terminated, or NULL */
} AssayTimings;

typedef struct
{
  AssaySpeedVerdict verdict;
  char *reason;            /* one sentence */
  double ratio, low, high; /* candidate's time over the baseline's; below 1 is faster */
  double probability;      /* of the paired test */
  double lag[2],
      effective;   /* correlation of neighbours, candidate and baseline; the lesser count */
  double drift[2]; /* relative, from the first round to the last */
  AssayModes modes[2];
  gboolean low_confidence; /* not taken in turn */
} AssaySpeed;

void assay_speed_clear (AssaySpeed *speed);
void assay_speed_judge (const AssayTimings *timings, AssaySpeed *speed);

/* Several shapes: the geometric mean of their ratios, never a ratio of summed times. */
typedef struct
{
  double ratio, low, high; /* NaN where no shape can say */
  guint counted, left_out; /* shapes whose times cannot be interpreted are left out */
  GArray *losers;          /* guint: indices of shapes that are slower */
} AssaySpeedSummary;

void assay_speed_summarise (const AssaySpeed *shapes, guint count, AssaySpeedSummary *summary);

G_END_DECLS
