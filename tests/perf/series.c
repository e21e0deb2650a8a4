/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/perf/series.h"

#include <math.h>

#define NOISE 0.005

double
series_uniform (guint64 *state)
{
  guint64 z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return ((double) ((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

double
series_normal (guint64 *state)
{
  double radius = sqrt (-2 * log (series_uniform (state)));
  return radius * cos (2 * G_PI * series_uniform (state));
}

void
series_fill (guint64 *state, SeriesKind kind, double *times, gsize count)
{
  double offset = kind == SERIES_OFFSET ? exp (0.01 * series_normal (state)) : 1;
  double chain = series_normal (state);
  for (gsize i = 0; i < count; i++)
    {
      double z = kind == SERIES_CHAIN ? chain : series_normal (state);
      chain = 0.9 * chain + sqrt (1 - 0.81) * series_normal (state);
      times[i] = (1 + NOISE * z) * offset;
      if (kind == SERIES_OUTLIERS && series_uniform (state) < 0.03)
        times[i] *= 1 - 0.3 * log (series_uniform (state));
      if (kind == SERIES_BIMODAL && series_uniform (state) < 0.5)
        times[i] *= 1.03;
    }
}
