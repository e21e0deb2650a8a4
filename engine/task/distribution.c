/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/task/distribution.h"

#include "engine/task/generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014: Fast splittable pseudorandom number
 * generators), applied to key + counter · 2^64 / golden ratio. */
static inline guint64
mix (guint64 z)
{
  z = (z ^ (z >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return z ^ (z >> 31);
}

guint64
assay_draw_bits (guint64 key, guint64 counter)
{
  return mix (mix (key + counter * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15)) ^ key);
}

guint64
assay_draw_key (guint64 seed, const char *name)
{
  guint64 hash = G_GUINT64_CONSTANT (0xcbf29ce484222325); /* FNV-1a */
  for (const char *c = name; *c; c++)
    hash = (hash ^ (guint8) *c) * G_GUINT64_CONSTANT (0x100000001b3);
  return mix (mix (seed + G_GUINT64_CONSTANT (0x632be59bd9b4e019)) ^ hash);
}

/* [0, 1), 53 bits. */
static inline double
unit (guint64 bits)
{
  return (double) (bits >> 11) * 0x1p-53;
}

/* Logarithm by 2 artanh ((m - 1) / (m + 1)) on [sqrt 1/2, sqrt 2): below 1e-15 relative. */
static double
plain_log (double x)
{
  int exponent = 0;
  double m = frexp (x, &exponent);
  if (m < 0.70710678118654752440)
    {
      m *= 2;
      exponent--;
    }
  double s = (m - 1) / (m + 1), square = s * s, sum = 0;
  for (int k = 12; k >= 0; k--)
    sum = sum * square + 1.0 / (2 * k + 1);
  return 2 * s * sum + exponent * 0.69314718055994530942;
}

/* Exponential by reduction to |r| <= log (2) / 2 and its series. */
static double
plain_exp (double x)
{
  double k = floor (x * 1.44269504088896340736 + 0.5);
  double r = (x - k * 0x1.62e42fefa3800p-1) - k * 0x1.ef35793c76730p-45;
  double sum = 1;
  for (int n = 16; n >= 1; n--)
    sum = 1 + r / n * sum;
  return ldexp (sum, (int) fmax (fmin (k, 2000), -2000));
}

/* Marsaglia's polar method; the second value of a pair is not used, so that every element stands
 * alone. */
static double
normal (guint64 key)
{
  for (guint64 attempt = 0;; attempt += 2)
    {
      double x = 2 * unit (assay_draw_bits (key, attempt)) - 1;
      double y = 2 * unit (assay_draw_bits (key, attempt + 1)) - 1;
      double s = x * x + y * y;
      if (s > 0 && s < 1)
        return x * sqrt (-2 * plain_log (s) / s);
    }
}

static double
student_3 (guint64 key)
{
  double a = normal (assay_draw_bits (key, 1)), b = normal (assay_draw_bits (key, 2));
  double c = normal (assay_draw_bits (key, 3));
  return normal (key) / sqrt ((a * a + b * b + c * c) / 3);
}

static double
integer_in (guint64 bits, double low, double high)
{
  double value = low + floor (unit (bits) * (high - low));
  return value < high ? value : high - 1;
}

static double
subnormal (guint64 bits, AssayDtype dtype)
{
  const AssayFormat *format = assay_dtype_format (dtype);
  double codes = ldexp (1, format->fraction_bits) - 1;
  double magnitude = (1 + floor (unit (bits) * codes)) * format->min_subnormal;
  return bits & 1 ? -magnitude : magnitude;
}

static double
special (const AssayGenerator *g, guint64 key)
{
  const double shares[] = {g->share_zero, g->share_negative_zero, g->share_infinity,
                           g->share_negative_infinity, g->share_nan};
  const double values[] = {0.0, -0.0, INFINITY, -INFINITY, NAN};
  double u = unit (assay_draw_bits (key, 99));
  for (gsize i = 0; i < G_N_ELEMENTS (shares); i++)
    {
      if (u < shares[i])
        return values[i];
      u -= shares[i];
    }
  return g->mean + g->std * normal (key);
}

static double
draw (const AssayGenerator *g, AssayDtype dtype, guint64 key)
{
  switch (g->distribution)
    {
    case ASSAY_DISTRIBUTION_UNIFORM:
      return g->low + (g->high - g->low) * unit (key);
    case ASSAY_DISTRIBUTION_LOGNORMAL:
      return plain_exp (g->mean + g->std * normal (key));
    case ASSAY_DISTRIBUTION_INTEGERS:
      return integer_in (key, g->low, g->high);
    case ASSAY_DISTRIBUTION_HEAVY_TAIL:
      return g->mean + g->std * student_3 (key);
    case ASSAY_DISTRIBUTION_SUBNORMAL:
      return subnormal (key, dtype);
    case ASSAY_DISTRIBUTION_SPECIAL:
      return special (g, key);
    default:
      return g->mean + g->std * normal (key);
    }
}

gboolean
assay_distribution_is_by_row (int distribution)
{
  return distribution == ASSAY_DISTRIBUTION_PERMUTATION
         || distribution == ASSAY_DISTRIBUTION_ONE_HOT || distribution == ASSAY_DISTRIBUTION_SORTED;
}

void
assay_distribution_fill (const AssayGenerator *generator, AssayDtype dtype, guint64 key,
                         gsize first, gsize n, double *values)
{
  for (gsize i = 0; i < n; i++)
    switch (generator->type)
      {
      case ASSAY_GENERATOR_RAMP:
        values[i] = generator->start + generator->step * (double) (first + i);
        break;
      case ASSAY_GENERATOR_RANDOM:
        values[i] = draw (generator, dtype, assay_draw_bits (key, first + i));
        break;
      default:
        values[i] = generator->value;
        break;
      }
}

static int
ascending (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

/* Fisher and Yates. */
static void
permute (guint64 key, gsize n, double *values)
{
  for (gsize i = 0; i < n; i++)
    values[i] = (double) i;
  for (gsize i = n; i > 1; i--)
    {
      gsize j = (gsize) integer_in (assay_draw_bits (key, i), 0, (double) i);
      double swapped = values[i - 1];
      values[i - 1] = values[j];
      values[j] = swapped;
    }
}

void
assay_distribution_fill_row (const AssayGenerator *generator, guint64 key, gsize row, gsize n,
                             double *values)
{
  guint64 row_key = assay_draw_bits (key, row);
  if (n == 0)
    return;
  if (generator->distribution == ASSAY_DISTRIBUTION_PERMUTATION)
    {
      permute (row_key, n, values);
      return;
    }
  if (generator->distribution == ASSAY_DISTRIBUTION_ONE_HOT)
    {
      memset (values, 0, n * sizeof *values);
      values[(gsize) integer_in (row_key, 0, (double) n)] = 1;
      return;
    }
  for (gsize i = 0; i < n; i++)
    values[i] =
        generator->low + (generator->high - generator->low) * unit (assay_draw_bits (row_key, i));
  qsort (values, n, sizeof *values, ascending);
}
