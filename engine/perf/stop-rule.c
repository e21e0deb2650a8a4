/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/perf/stop-rule.h"

#include <float.h>
#include <math.h>

#define WINDOW 299

struct _AssayStop
{
  AssayStopRule rule;
  gsize count;
  double total, mean, squares; /* Welford */
  GHashTable *seen;            /* double → how often */
  double counts_logs;          /* sum over symbols of n log2 n */
  double window[WINDOW];       /* entropies, a ring */
  gsize held;
};

AssayStop *
assay_stop_new (const AssayStopRule *rule)
{
  AssayStop *stop = g_new0 (AssayStop, 1);
  stop->rule = *rule;
  stop->seen = g_hash_table_new_full (g_double_hash, g_double_equal, g_free, NULL);
  return stop;
}

void
assay_stop_free (AssayStop *stop)
{
  g_hash_table_unref (stop->seen);
  g_free (stop);
}

static double
weight (gsize count)
{
  return count > 0 ? (double) count * log2 ((double) count) : 0;
}

double
assay_stop_entropy (const AssayStop *stop)
{
  if (stop->count == 0)
    return 0;
  return MAX (log2 ((double) stop->count) - stop->counts_logs / (double) stop->count, 0);
}

double
assay_stop_error (const AssayStop *stop)
{
  double n = (double) stop->count;
  return stop->count < 2 ? INFINITY : sqrt (stop->squares / (n - 1) / n) / stop->mean;
}

void
assay_stop_add (AssayStop *stop, double seconds)
{
  gsize before = GPOINTER_TO_SIZE (g_hash_table_lookup (stop->seen, &seconds));
  double step = seconds - stop->mean;
  stop->count++;
  stop->total += seconds;
  stop->mean += step / (double) stop->count;
  stop->squares += step * (seconds - stop->mean);
  stop->counts_logs += weight (before + 1) - weight (before);
  g_hash_table_replace (stop->seen, g_memdup2 (&seconds, sizeof seconds),
                        GSIZE_TO_POINTER (before + 1));
  stop->window[(stop->count - 1) % WINDOW] = assay_stop_entropy (stop);
  stop->held = MIN (stop->held + 1, WINDOW);
}

/* Least squares through the window, oldest first. */
static gboolean
is_flat (const AssayStop *stop)
{
  double n = (double) stop->held, x_mean = (n - 1) / 2, y_mean = 0, xy = 0, xx = 0, yy = 0;
  gsize first = stop->count > WINDOW ? stop->count % WINDOW : 0;
  for (gsize i = 0; i < stop->held; i++)
    y_mean += stop->window[i] / n;
  for (gsize i = 0; i < stop->held; i++)
    {
      double x = (double) i - x_mean, y = stop->window[(first + i) % WINDOW] - y_mean;
      xy += x * y;
      xx += x * x;
      yy += y * y;
    }
  double slope = xy / xx;
  double r2 = yy / n < DBL_EPSILON ? 1 : xy * xy / (xx * yy);
  return atan (slope) * 180 / G_PI <= stop->rule.angle && r2 >= stop->rule.r2;
}

gboolean
assay_stop_reached (const AssayStop *stop)
{
  if (stop->count < MAX (stop->rule.fewest, 2) || stop->total < stop->rule.seconds)
    return FALSE;
  if (stop->rule.kind == ASSAY_STOP_ERROR)
    return assay_stop_error (stop) <= stop->rule.error;
  return stop->count % 2 == 0 && is_flat (stop);
}
