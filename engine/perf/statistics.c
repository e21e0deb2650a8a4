/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/perf/statistics.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define EXACT_SIGNED_RANKS 60
#define SHORTEST_PIECE 8 /* below, the correction multiplies chance */
#define EM_STEPS 100

static int
by_size (const void *left, const void *right)
{
  double a = *(const double *) left, b = *(const double *) right;
  return (a > b) - (a < b);
}

static double *
sorted (const double *values, gsize count)
{
  double *copy = g_memdup2 (values, count * sizeof *values);
  qsort (copy, count, sizeof *copy, by_size);
  return copy;
}

static double
quantile_of_sorted (const double *values, gsize count, double share)
{
  double place = share * (double) (count - 1);
  gsize below = (gsize) place;
  gsize above = MIN (below + 1, count - 1);
  return values[below] + (place - (double) below) * (values[above] - values[below]);
}

double
assay_quantile (const double *values, gsize count, double share)
{
  if (count == 0)
    return NAN;
  g_autofree double *copy = sorted (values, count);
  return quantile_of_sorted (copy, count, share);
}

double
assay_median (const double *values, gsize count)
{
  return assay_quantile (values, count, 0.5);
}

static double
mean_of (const double *values, gsize count)
{
  double sum = 0;
  for (gsize i = 0; i < count; i++)
    sum += values[i];
  return sum / (double) count;
}

/* Unbiased. */
static double
variance_of (const double *values, gsize count, double mean)
{
  double sum = 0;
  for (gsize i = 0; i < count; i++)
    sum += (values[i] - mean) * (values[i] - mean);
  return sum / (double) (count - 1);
}

/* Whether a sum of squares about the mean is what rounding leaves of equal numbers. */
static gboolean
is_constant (double squares, gsize count, double size)
{
  double step = 8 * DBL_EPSILON * size;
  return squares <= (double) count * step * step;
}

/* ---- order ---- */

double
assay_lag_one (const double *values, gsize count, gsize length)
{
  double products = 0, squares = 0;
  if (length < SHORTEST_PIECE || count < length)
    return NAN;
  for (gsize start = 0; start + length <= count; start += length)
    {
      const double *piece = values + start;
      double mean = mean_of (piece, length);
      for (gsize i = 0; i < length; i++)
        {
          double step = piece[i] - mean;
          squares += step * step;
          products += i + 1 < length ? step * (piece[i + 1] - mean) : 0;
        }
    }
  if (is_constant (squares, count, values[0]))
    return 0;
  double n = (double) length, rho = products / squares;
  return CLAMP ((rho + 1 / n) / (1 - 4 / n), -1.0, 1.0);
}

double
assay_effective_count (gsize count, double rho)
{
  double n = (double) count;
  return isnan (rho) || rho <= 0 ? n : n * (1 - rho) / (1 + rho);
}

double
assay_slope (const double *values, gsize count)
{
  if (count < 2)
    return NAN;
  g_autofree double *slopes = g_new (double, count *(count - 1) / 2);
  gsize found = 0;
  for (gsize i = 0; i < count; i++)
    for (gsize k = i + 1; k < count; k++)
      slopes[found++] = (values[k] - values[i]) / (double) (k - i);
  return assay_median (slopes, found);
}

/* Sum over groups of equal numbers of `weigh (size)`. */
static double
over_ties (const double *in_order, gsize count, double (*weigh) (double size))
{
  double sum = 0;
  for (gsize start = 0, end; start < count; start = end)
    {
      for (end = start + 1; end < count && in_order[end] == in_order[start];)
        end++;
      sum += weigh ((double) (end - start));
    }
  return sum;
}

static double
kendall_weight (double t)
{
  return t * (t - 1) * (2 * t + 5);
}

static double
rank_weight (double t)
{
  return t * t * t - t;
}

double
assay_trend (const double *values, gsize count)
{
  double score = 0, n = (double) count;
  if (count < 4)
    return NAN;
  for (gsize i = 0; i < count; i++)
    for (gsize k = i + 1; k < count; k++)
      score += (values[k] > values[i]) - (values[k] < values[i]);
  g_autofree double *in_order = sorted (values, count);
  double variance = (n * (n - 1) * (2 * n + 5) - over_ties (in_order, count, kendall_weight)) / 18;
  if (!(variance > 0))
    return 1;
  double z = MAX (fabs (score) - 1, 0) / sqrt (variance);
  return erfc (z / M_SQRT2);
}

/* ---- tests ---- */

/* The regularised incomplete beta function by its continued fraction (DLMF 8.17.22), modified Lentz. */
static double
beta_fraction (double a, double b, double x)
{
  const double tiny = 1e-300;
  double c = 1, d = 1 / MAX (1 - (a + b) * x / (a + 1), tiny), h = d;
  for (int m = 1; m <= 400; m++)
    {
      double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
      double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
      for (int k = 0; k < 2; k++)
        {
          double term = k == 0 ? even : odd;
          d = 1 + term * d;
          d = 1 / (fabs (d) < tiny ? tiny : d);
          c = 1 + term / c;
          c = fabs (c) < tiny ? tiny : c;
          h *= d * c;
        }
      if (fabs (d * c - 1) < 1e-16)
        break;
    }
  return h;
}

static double
incomplete_beta (double a, double b, double x)
{
  if (!(x > 0) || x >= 1)
    return x >= 1 ? 1 : 0;
  double front = exp (lgamma (a + b) - lgamma (a) - lgamma (b) + a * log (x) + b * log1p (-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction (a, b, x) / a
                                   : 1 - front * beta_fraction (b, a, 1 - x) / b;
}

/* The probability of a |t| at least as large. */
static double
student (double t, double freedom)
{
  return isinf (t) ? 0 : incomplete_beta (freedom / 2, 0.5, freedom / (freedom + t * t));
}

static double
t_of (double difference, double error, double freedom)
{
  if (error > 0)
    return student (difference / error, freedom);
  return difference == 0 ? 1 : 0;
}

double
assay_paired_t (const double *differences, gsize count)
{
  if (count < 2)
    return NAN;
  double n = (double) count, mean = mean_of (differences, count);
  return t_of (mean, sqrt (variance_of (differences, count, mean) / n), n - 1);
}

double
assay_welch_t (const double *left, gsize left_count, const double *right, gsize right_count)
{
  if (left_count < 2 || right_count < 2)
    return NAN;
  double n = (double) left_count, m = (double) right_count;
  double a = mean_of (left, left_count), b = mean_of (right, right_count);
  double u = variance_of (left, left_count, a) / n, v = variance_of (right, right_count, b) / m;
  double freedom = (u + v) * (u + v) / (u * u / (n - 1) + v * v / (m - 1));
  return t_of (a - b, sqrt (u + v), freedom);
}

double
assay_mann_whitney (const double *left, gsize left_count, const double *right, gsize right_count)
{
  gsize total = left_count + right_count, below = 0, upto = 0;
  double u = 0, n = (double) left_count, m = (double) right_count, all = n + m;
  if (left_count == 0 || right_count == 0)
    return NAN;
  g_autofree double *a = sorted (left, left_count), *b = sorted (right, right_count);
  for (gsize i = 0; i < left_count; i++)
    {
      while (below < right_count && b[below] < a[i])
        below++;
      while (upto < right_count && b[upto] <= a[i])
        upto++;
      u += 0.5 * (double) (below + upto);
    }
  g_autofree double *both = g_new (double, total);
  memcpy (both, a, left_count * sizeof *a);
  memcpy (both + left_count, b, right_count * sizeof *b);
  qsort (both, total, sizeof *both, by_size);
  double variance =
      n * m / 12 * (all + 1 - over_ties (both, total, rank_weight) / (all * (all - 1)));
  if (!(variance > 0))
    return 1;
  double z = MAX (fabs (u - n * m / 2) - 0.5, 0) / sqrt (variance);
  return erfc (z / M_SQRT2);
}

/* ---- Hodges and Lehmann ---- */

/* How many of the smallest averages lie below the interval: the largest k with P (W < k) <= tail, where W is
 * the sum of signed ranks. 0: no interval of that level. */
static gsize
exact_rank (gsize count, double tail)
{
  gsize largest = count * (count + 1) / 2;
  g_autofree double *ways = g_new0 (double, largest + 1);
  double below = 0, all = ldexp (1, (int) count);
  ways[0] = 1;
  for (gsize rank = 1; rank <= count; rank++)
    for (gsize sum = largest + 1; sum-- > rank;)
      ways[sum] += ways[sum - rank];
  for (gsize k = 0; k <= largest; k++)
    {
      below += ways[k] / all;
      if (below > tail)
        return k;
    }
  return 0;
}

/* The deviate that a share `tail` of the normal distribution lies above. */
static double
normal_deviate (double tail)
{
  double low = 0, high = 40;
  for (int i = 0; i < 100; i++)
    {
      double middle = 0.5 * (low + high);
      *(0.5 * erfc (middle / M_SQRT2) > tail ? &low : &high) = middle;
    }
  return low;
}

static gsize
signed_rank (gsize count, double tail)
{
  double n = (double) count, mean = n * (n + 1) / 4;
  if (count <= EXACT_SIGNED_RANKS)
    return exact_rank (count, tail);
  double k = mean - normal_deviate (tail) * sqrt (mean * (2 * n + 1) / 6);
  return k > 0 ? (gsize) k : 0;
}

AssayInterval
assay_hodges_lehmann (const double *values, gsize count, double level)
{
  AssayInterval interval = {NAN, -INFINITY, INFINITY};
  gsize pairs = count * (count + 1) / 2, found = 0;
  if (count == 0)
    return interval;
  g_autofree double *averages = g_new (double, pairs);
  for (gsize i = 0; i < count; i++)
    for (gsize k = i; k < count; k++)
      averages[found++] = 0.5 * (values[i] + values[k]);
  qsort (averages, pairs, sizeof *averages, by_size);
  gsize rank = signed_rank (count, (1 - level) / 2);
  interval.estimate = quantile_of_sorted (averages, pairs, 0.5);
  if (rank > 0)
    {
      interval.low = averages[rank - 1];
      interval.high = averages[pairs - rank];
    }
  return interval;
}

/* ---- bootstrap ---- */

static guint64
next_random (guint64 *state) /* splitmix64 */
{
  guint64 z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* A series, and for each of its numbers the place among them in order. */
typedef struct
{
  double *in_order;
  guint *rank, *drawn; /* `drawn`: how often each place came up */
  gsize count;
} Ranked;

static Ranked
rank_series (const double *values, gsize count)
{
  Ranked ranked = {sorted (values, count), g_new (guint, count), g_new (guint, count), count};
  for (gsize i = 0; i < count; i++)
    {
      const double *at = bsearch (&values[i], ranked.in_order, count, sizeof *values, by_size);
      ranked.rank[i] = (guint) (at - ranked.in_order);
    }
  return ranked;
}

static void
ranked_clear (Ranked *ranked)
{
  g_free (ranked->in_order);
  g_free (ranked->rank);
  g_free (ranked->drawn);
}

static double
drawn_median (Ranked *ranked, gsize block, guint64 *state)
{
  gsize count = ranked->count, seen = 0, at = 0;
  memset (ranked->drawn, 0, count * sizeof *ranked->drawn);
  for (gsize filled = 0; filled < count;)
    {
      gsize start = (gsize) (next_random (state) % (count - block + 1));
      for (gsize i = 0; i < block && filled < count; i++, filled++)
        ranked->drawn[ranked->rank[start + i]]++;
    }
  while ((seen += ranked->drawn[at]) < (count + 1) / 2)
    at++;
  double lower = ranked->in_order[at];
  if (count % 2 == 1 || seen > count / 2)
    return lower;
  do
    at++;
  while (ranked->drawn[at] == 0);
  return 0.5 * (lower + ranked->in_order[at]);
}

AssayInterval
assay_block_bootstrap (const double *left, const double *right, gsize count, gsize block,
                       guint draws, guint64 seed, double level)
{
  AssayInterval interval = {NAN, -INFINITY, INFINITY};
  if (count == 0 || draws == 0)
    return interval;
  block = CLAMP (block, 1, count);
  g_autofree double *ratios = g_new (double, draws);
  Ranked top = rank_series (left, count), bottom = rank_series (right, count);
  for (guint i = 0; i < draws; i++)
    {
      double median = drawn_median (&top, block, &seed);
      ratios[i] = log (median / drawn_median (&bottom, block, &seed));
    }
  ranked_clear (&top);
  ranked_clear (&bottom);
  interval.estimate = log (assay_median (left, count) / assay_median (right, count));
  interval.low = assay_quantile (ratios, draws, (1 - level) / 2);
  interval.high = assay_quantile (ratios, draws, (1 + level) / 2);
  return interval;
}

/* ---- two modes ---- */

typedef struct
{
  double mean[2], variance[2], share[2];
} Mixture;

/* The cut of the sorted numbers with the least variance within both sides. */
static Mixture
best_cut (const double *in_order, gsize count, double floor)
{
  Mixture best = {0};
  double least = INFINITY, all = 0, squares = 0, below = 0, below_squares = 0;
  double centre = in_order[count / 2], n = (double) count;
  for (gsize i = 0; i < count; i++)
    {
      all += in_order[i] - centre;
      squares += (in_order[i] - centre) * (in_order[i] - centre);
    }
  for (gsize cut = 1; cut + 2 <= count; cut++)
    {
      double step = in_order[cut - 1] - centre, share = (double) cut / n;
      below += step;
      below_squares += step * step;
      double mean[2] = {below / (double) cut, (all - below) / (double) (count - cut)};
      double variance[2] = {below_squares / (double) cut - mean[0] * mean[0],
                            (squares - below_squares) / (double) (count - cut) - mean[1] * mean[1]};
      double within = share * variance[0] + (1 - share) * variance[1];
      if (cut < 2 || within >= least)
        continue;
      least = within;
      best = (Mixture) {
          {mean[0] + centre, mean[1] + centre}, {variance[0], variance[1]}, {share, 1 - share}};
    }
  for (int k = 0; k < 2; k++)
    best.variance[k] = MAX (best.variance[k], floor);
  return best;
}

static double
log_density (double value, double mean, double variance)
{
  return -0.5 * (log (2 * G_PI * variance) + (value - mean) * (value - mean) / variance);
}

/* One step of expectation and maximisation; returns the log likelihood before it. */
static double
improve (Mixture *m, const double *values, gsize count, double floor)
{
  double weight[2] = {0}, sum[2] = {0}, square[2] = {0}, likelihood = 0;
  for (gsize i = 0; i < count; i++)
    {
      double a = log (m->share[0]) + log_density (values[i], m->mean[0], m->variance[0]);
      double b = log (m->share[1]) + log_density (values[i], m->mean[1], m->variance[1]);
      double most = MAX (a, b), all = most + log (exp (a - most) + exp (b - most));
      double part[2] = {exp (a - all), exp (b - all)};
      likelihood += all;
      for (int k = 0; k < 2; k++)
        {
          double step = values[i] - m->mean[k];
          weight[k] += part[k];
          sum[k] += part[k] * step;
          square[k] += part[k] * step * step;
        }
    }
  for (int k = 0; k < 2; k++)
    {
      double shift = sum[k] / MAX (weight[k], 1e-12);
      m->mean[k] += shift;
      m->variance[k] = MAX (square[k] / MAX (weight[k], 1e-12) - shift * shift, floor);
      m->share[k] = CLAMP (weight[k] / (double) count, 1e-9, 1 - 1e-9);
    }
  return likelihood;
}

AssayModes
assay_modes (const double *values, gsize count)
{
  AssayModes modes = {NAN, NAN, NAN, 0, FALSE};
  if (count < 20)
    return modes;
  g_autofree double *in_order = sorted (values, count);
  double mean = mean_of (in_order, count), variance = variance_of (in_order, count, mean);
  double floor = variance * 1e-4, likelihood = -INFINITY, single = 0;
  if (is_constant (variance, 1, mean))
    return modes;
  Mixture m = best_cut (in_order, count, floor);
  for (int step = 0; step < EM_STEPS; step++)
    {
      double now = improve (&m, in_order, count, floor);
      if (now - likelihood < 1e-5 * fabs (now))
        break;
      likelihood = now;
    }
  for (gsize i = 0; i < count; i++)
    single += log_density (in_order[i], mean, variance);
  int upper = m.mean[1] > m.mean[0];
  modes.low = m.mean[!upper];
  modes.high = m.mean[upper];
  modes.upper_share = m.share[upper];
  modes.separation = M_SQRT2 * (modes.high - modes.low) / sqrt (m.variance[0] + m.variance[1]);
  /* Three parameters more; ten is "very strong" (Kass and Raftery 1995). */
  gboolean better = 2 * (likelihood - single) - 3 * log ((double) count) > 10;
  modes.bimodal = better && modes.separation > 2 && MIN (m.share[0], m.share[1]) > 0.1;
  return modes;
}
