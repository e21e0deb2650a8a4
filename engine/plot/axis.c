/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plot/axis.h"

#include <math.h>
#include <string.h>

double
assay_axis_position (const AssayAxis *axis, double value)
{
  double position;
  if (axis->scale == ASSAY_SCALE_LOG)
    position = value > 0
                   ? (log10 (value) - log10 (axis->min)) / (log10 (axis->max) - log10 (axis->min))
                   : NAN;
  else
    position = (value - axis->min) / (axis->max - axis->min);
  return axis->reversed ? 1.0 - position : position;
}

double
assay_axis_value (const AssayAxis *axis, double position)
{
  if (axis->reversed)
    position = 1.0 - position;
  if (axis->scale == ASSAY_SCALE_LOG)
    return pow (10.0, log10 (axis->min) + position * (log10 (axis->max) - log10 (axis->min)));
  return axis->min + position * (axis->max - axis->min);
}

char *
assay_format_number (double value, int digits)
{
  char buffer[48];
  if (isnan (value))
    return g_strdup ("NaN");
  if (isinf (value))
    return g_strdup (value > 0 ? "+inf" : "−inf");
  if (value == 0)
    return g_strdup ("0");
  double magnitude = fabs (value);
  if (magnitude >= 1e-3 && magnitude < 1e5)
    {
      int before = (int) floor (log10 (magnitude)) + 1;
      g_snprintf (buffer, sizeof buffer, "%.*f", MAX (0, digits - before), value);
      return g_strdup (buffer);
    }
  g_snprintf (buffer, sizeof buffer, "%.*e", digits - 1, value);
  char *e = strchr (buffer, 'e');
  int exponent = (int) g_ascii_strtoll (e + 1, NULL, 10);
  *e = 0;
  return g_strdup_printf ("%se%d", buffer, exponent);
}

char *
assay_format_count (guint64 count)
{
  g_autofree char *digits = g_strdup_printf ("%" G_GUINT64_FORMAT, count);
  gsize length = strlen (digits);
  GString *out = g_string_new (NULL);
  for (gsize i = 0; i < length; i++)
    {
      if (i && (length - i) % 3 == 0)
        g_string_append (out, "\u202f");
      g_string_append_c (out, digits[i]);
    }
  return g_string_free (out, FALSE);
}

static char *
count_label (int exponent)
{
  static const char *const suffix[] = {"", "\u202fk", "\u202fM", "\u202fG", "\u202fT"};
  static const char *const lead[] = {"1", "10", "100"};
  if (exponent < 0 || exponent >= 15)
    return g_strdup_printf ("1e%d", exponent);
  return g_strconcat (lead[exponent % 3], suffix[exponent / 3], NULL);
}

static void
add_tick (GArray *ticks, double value, char *label)
{
  AssayTick tick = {value, label};
  g_array_append_val (ticks, tick);
}

static void
clear_tick (gpointer tick)
{
  g_free (((AssayTick *) tick)->label);
}

static void
log_ticks (const AssayAxis *axis, GArray *ticks, double length, int most)
{
  int first = (int) floor (log10 (axis->min) + 1e-9), last = (int) ceil (log10 (axis->max) - 1e-9);
  static const int STEPS[] = {1, 2, 3, 5, 10, 20, 50, 100};
  int step = 100;
  for (gsize i = 0; i < G_N_ELEMENTS (STEPS); i++)
    if ((last - first) / STEPS[i] + 1 <= most)
      {
        step = STEPS[i];
        break;
      }
  gboolean minor = last > first && length / (last - first) >= 60;
  for (int e = first; e <= last; e++)
    for (int m = 1; m <= (minor ? 9 : 1); m++)
      {
        double value = m * pow (10.0, e);
        if (value < axis->min * (1 - 1e-9) || value > axis->max * (1 + 1e-9))
          continue;
        gboolean named = m == 1 && ((e % step) + step) % step == 0;
        add_tick (ticks, value,
                  !named         ? NULL
                  : axis->counts ? count_label (e)
                  : e == 0       ? g_strdup ("1")
                                 : g_strdup_printf ("1e%d", e));
      }
}

static void
linear_ticks (const AssayAxis *axis, GArray *ticks, int most)
{
  double span = axis->max - axis->min;
  double raw = span / MAX (1, most);
  double decade = pow (10.0, floor (log10 (raw)));
  double step = decade * 10;
  static const double NICE[] = {1, 2, 5, 10};
  for (gsize i = 0; i < G_N_ELEMENTS (NICE); i++)
    if (NICE[i] * decade >= raw * (1 - 1e-9))
      {
        step = NICE[i] * decade;
        break;
      }
  if (axis->whole)
    step = MAX (1.0, step);
  int places = step >= 1 ? 0 : (int) ceil (-log10 (step) - 1e-9);
  for (double i = ceil (axis->min / step - 1e-9); i * step <= axis->max + step * 1e-9; i++)
    {
      double value = i * step + 0.0; /* no negative zero */
      /* As many digits as tell neighbours apart. */
      int digits = value == 0 ? 1 : (int) floor (log10 (fabs (value) / step) + 1e-9) + 2;
      gboolean huge = fabs (value) >= 1e6 || (value != 0 && fabs (value) < 1e-4);
      add_tick (ticks, value,
                axis->whole && fabs (value) < 1e15 ? g_strdup_printf ("%.0f", value)
                : huge ? g_strdup_printf ("%.*g", CLAMP (digits, 1, 17), value)
                       : g_strdup_printf ("%.*f", places, value));
    }
}

static void
category_ticks (const AssayAxis *axis, GArray *ticks, int most)
{
  int n = axis->categories ? (int) g_strv_length (axis->categories) : 0;
  int every = MAX (1, (n + most - 1) / MAX (1, most));
  int middle = n / 2; /* symmetric bins keep their centre named */
  for (int i = 0; i < n; i++)
    if (i >= axis->min && i <= axis->max)
      add_tick (ticks, i, abs (i - middle) % every == 0 ? g_strdup (axis->categories[i]) : NULL);
}

GArray *
assay_axis_ticks (const AssayAxis *axis, double length, double spacing)
{
  GArray *ticks = g_array_new (FALSE, FALSE, sizeof (AssayTick));
  g_array_set_clear_func (ticks, clear_tick);
  int most = MAX (1, (int) (length / MAX (1.0, spacing)));
  if (!(axis->max > axis->min))
    return ticks;
  if (axis->scale == ASSAY_SCALE_LOG)
    log_ticks (axis, ticks, length, most);
  else if (axis->scale == ASSAY_SCALE_LINEAR)
    linear_ticks (axis, ticks, most);
  else
    category_ticks (axis, ticks, most);
  return ticks;
}
