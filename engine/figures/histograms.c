/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/figures/histograms.h"

#include <math.h>
#include <string.h>

#define MOST_BINS 14 /* a side */
#define COUNT_FLOOR 0.5

static guint64
bin (const GArray *bins, gint64 i)
{
  return i >= 0 && i < bins->len ? g_array_index (bins, guint64, i) : 0;
}

static gint64
last_occupied (const AssayHistogram *histogram)
{
  for (gint64 i = (gint64) histogram->positive->len - 1; i >= 0; i--)
    if (bin (histogram->positive, i) || bin (histogram->negative, i))
      return i;
  return -1;
}

static void
set_count_axis (AssayAxis *axis, guint64 most)
{
  double top = pow (10.0, ceil (log10 (MAX (10.0, (double) most)) + 0.15));
  assay_axis_set (axis, ASSAY_SCALE_LOG, COUNT_FLOOR, top, "elements, log");
  axis->counts = TRUE;
}

/* 1, 2, … 512, then 2¹⁰. */
static char *
power_label (gint64 exponent, gboolean negative)
{
  static const char *const DIGITS[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const char *sign = negative ? "−" : "";
  if (exponent < 10)
    return g_strdup_printf ("%s%d", sign, 1 << exponent);
  return g_strconcat (sign, "2", DIGITS[exponent / 10], DIGITS[exponent % 10], NULL);
}

/* Count of the signed bin at category position `at` (0 … 2 side), the last of each side holding all
 * beyond it. */
static guint64
signed_count (const AssayHistogram *histogram, gint64 at, gint64 side)
{
  gint64 offset = at - side;
  if (offset == 0)
    return histogram->zero;
  const GArray *bins = offset < 0 ? histogram->negative : histogram->positive;
  gint64 index = ABS (offset) - 1 - histogram->first;
  guint64 count = bin (bins, index);
  for (gint64 i = index + 1; ABS (offset) == side && i < bins->len; i++)
    count += bin (bins, i);
  return count;
}

static char *
signed_heading (gint64 at, gint64 side, gboolean open)
{
  gint64 offset = at - side, magnitude = ABS (offset) - 1;
  const char *sign = offset < 0 ? "−" : "+";
  if (offset == 0)
    return g_strdup ("0 ulp: correctly rounded");
  guint64 low = (guint64) 1 << MIN (magnitude, 62), high = low * 2 - 1;
  if (open)
    return g_strdup_printf ("%s%" G_GUINT64_FORMAT " ulp and more", sign, low);
  if (low == high)
    return g_strdup_printf ("%s%" G_GUINT64_FORMAT " ulp", sign, low);
  return g_strdup_printf ("%s%" G_GUINT64_FORMAT " to %s%" G_GUINT64_FORMAT " ulp", sign, low, sign,
                          high);
}

static void
add_special_panel (AssayPlotScene *scene, const AssayComparison *comparison)
{
  static const char *const LABELS[] = {"NaN", "inf", "±0", "ftz", NULL};
  static const char *const HEADINGS[] = {
      "NaN on one side only", "infinity on one side, or of the other sign",
      "zero of the other sign", "equal once subnormal numbers are flushed to zero"};
  const guint64 counts[] = {
      comparison->nan.candidate_only + comparison->nan.reference_only,
      comparison->inf.opposite + comparison->inf.candidate_only + comparison->inf.reference_only,
      comparison->sign_of_zero,
      comparison->flushed,
  };
  /* The fourth stands there only where it counts something: it would crowd the others. */
  const guint shown = comparison->flushed ? 4 : 3;
  const char *labels[5] = {NULL};
  memcpy (labels, LABELS, shown * sizeof *labels);
  AssayPanel *panel = assay_plot_scene_add_panel (scene, shown == 4 ? 0.42 : 0.32);
  assay_axis_set_categories (&panel->x, labels);
  panel->x.title = g_strdup ("special values");
  AssayLayer *bars = assay_panel_add (panel, ASSAY_LAYER_BARS, ASSAY_ROLE_CANDIDATE, NULL);
  for (guint i = 0; i < shown; i++)
    {
      assay_layer_add_bin (bars, i - 0.4, i + 0.4, (double) counts[i]);
      g_ptr_array_add (bars->names, assay_format_count (counts[i]));
      g_autofree char *detail = g_strdup_printf ("%" G_GUINT64_FORMAT " elements", counts[i]);
      assay_plot_scene_add_datum (scene, 1, i - 0.5, i + 0.5, (double) counts[i], HEADINGS[i],
                                  detail, -1);
    }
}

/* Bars, outline, cursor positions and table rows of the signed bins; returns the fullest bin. */
static guint64
add_signed_bins (AssayPlotScene *scene, AssayPanel *panel, const AssayHistogram *candidate,
                 const AssayHistogram *reference, gint64 side, guint64 total, const char *name)
{
  AssayLayer *bars = assay_panel_add (panel, ASSAY_LAYER_BARS, ASSAY_ROLE_CANDIDATE, name);
  AssayLayer *steps =
      reference ? assay_panel_add (panel, ASSAY_LAYER_STEPS, ASSAY_ROLE_REFERENCE, "reference")
                : NULL;
  guint64 most = 0;
  for (gint64 i = 0; i <= 2 * side; i++)
    {
      guint64 count = signed_count (candidate, i, side);
      guint64 other = reference ? signed_count (reference, i, side) : 0;
      g_autofree char *heading = signed_heading (i, side, i == 0 || i == 2 * side);
      g_autofree char *own = assay_format_count (count), *its = assay_format_count (other);
      g_autofree char *all = assay_format_count (total);
      g_autofree char *detail =
          reference ? g_strdup_printf ("candidate %s\nreference %s\nof %s elements", own, its, all)
                    : g_strdup_printf ("candidate %s\nof %s elements", own, all);
      assay_layer_add_bin (bars, i - 0.4, i + 0.4, (double) count);
      if (steps)
        assay_layer_add_bin (steps, i - 0.5, i + 0.5, (double) other);
      assay_plot_scene_add_datum (scene, 0, i - 0.5, i + 0.5, (double) count, heading, detail, -1);
      char *cells[] = {heading, g_strdup_printf ("%" G_GUINT64_FORMAT, count),
                       g_strdup_printf ("%" G_GUINT64_FORMAT, other), NULL};
      assay_plot_scene_add_row (scene, g_strdupv (cells));
      g_free (cells[1]);
      g_free (cells[2]);
      most = MAX (most, MAX (count, other));
    }
  return most;
}

AssayPlotScene *
assay_figure_ulp_scene (const char *id, const AssayComparison *comparison,
                        const AssayComparison *reference, const char *candidate)
{
  static const char *const COLUMNS[] = {"signed ulp distance", "candidate", "reference", NULL};
  AssayPlotScene *scene = assay_plot_scene_new (id, "ULP distribution");
  const AssayHistogram *own = &comparison->ulp_histogram;
  const AssayHistogram *its = reference ? &reference->ulp_histogram : NULL;
  gint64 side = MAX (last_occupied (own) + own->first, its ? last_occupied (its) + its->first : -1);
  side = CLAMP (side + 2, 3, MOST_BINS);
  g_autoptr (GStrvBuilder) labels = g_strv_builder_new ();
  for (gint64 i = 0; i <= 2 * side; i++)
    {
      g_autofree char *power =
          i == side ? g_strdup ("0") : power_label (ABS (i - side) - 1, i < side);
      g_autofree char *label = i == 0          ? g_strconcat ("≤", power, NULL)
                               : i == 2 * side ? g_strconcat ("≥", power, NULL)
                                               : g_strdup (power);
      g_strv_builder_add (labels, label);
    }
  g_auto (GStrv) names = g_strv_builder_end (labels);
  AssayPanel *panel = assay_plot_scene_add_panel (scene, 0.8);
  assay_axis_set_categories (&panel->x, (const char *const *) names);
  panel->x.title = g_strdup ("signed ulp, ordered-bit distance to RN(gold), log2 bins");
  assay_plot_scene_set_columns (scene, COLUMNS);
  guint64 most = add_signed_bins (scene, panel, own, its, side, comparison->count, candidate);
  set_count_axis (&panel->y, most);
  add_special_panel (scene, comparison);
  scene->description =
      g_strdup_printf ("Signed ULP distance of %" G_GUINT64_FORMAT
                       " elements to the correctly rounded gold value: %" G_GUINT64_FORMAT
                       " are correctly rounded, the largest distance is %" G_GUINT64_FORMAT ".",
                       comparison->count, comparison->count - comparison->not_correctly_rounded,
                       comparison->max_ulp);
  return scene;
}

/* Magnitudes: negative and positive together. */
static guint64
magnitude_count (const AssayHistogram *histogram, gint64 exponent)
{
  gint64 index = exponent - histogram->first;
  return bin (histogram->positive, index) + bin (histogram->negative, index);
}

static void
occupied_range (const AssayHistogram *histogram, gint64 *low, gint64 *high)
{
  for (gint64 i = 0; i < histogram->positive->len; i++)
    if (bin (histogram->positive, i) || bin (histogram->negative, i))
      {
        *low = MIN (*low, histogram->first + i);
        *high = MAX (*high, histogram->first + i);
      }
}

/* The band in which the reference's own errors lie, from its 0.1 % quantile up. */
static void
add_reference_band (AssayPanel *panel, const AssayHistogram *reference)
{
  guint64 total = 0, below = 0;
  gint64 low = G_MAXINT64, high = G_MININT64, start;
  occupied_range (reference, &low, &high);
  if (low > high)
    return;
  for (gint64 e = low; e <= high; e++)
    total += magnitude_count (reference, e);
  for (start = low; start < high; start++)
    {
      below += magnitude_count (reference, start);
      if (below * 1000 > total)
        break;
    }
  AssayLayer *band = assay_panel_add (panel, ASSAY_LAYER_REGION, ASSAY_ROLE_REFERENCE, NULL);
  band->x = ldexp (1.0, (int) start);
  band->x_end = ldexp (1.0, (int) high + 1);
}

static void
add_magnitude_bins (AssayPlotScene *scene, AssayPanel *panel, const AssayHistogram *own,
                    const AssayHistogram *its, gint64 low, gint64 high, const char *name,
                    guint64 total)
{
  AssayLayer *bars = assay_panel_add (panel, ASSAY_LAYER_BARS, ASSAY_ROLE_CANDIDATE, name);
  AssayLayer *steps =
      its ? assay_panel_add (panel, ASSAY_LAYER_STEPS, ASSAY_ROLE_REFERENCE, "reference") : NULL;
  for (gint64 e = low; e <= high; e++)
    {
      double x0 = ldexp (1.0, (int) e), x1 = ldexp (1.0, (int) e + 1);
      guint64 count = magnitude_count (own, e), other = its ? magnitude_count (its, e) : 0;
      g_autofree char *from = assay_format_number (x0, 2), *to = assay_format_number (x1, 2);
      g_autofree char *heading = g_strdup_printf ("%s to %s", from, to);
      g_autofree char *mine = assay_format_count (count), *theirs = assay_format_count (other);
      g_autofree char *all = assay_format_count (total);
      g_autofree char *detail =
          its ? g_strdup_printf ("candidate %s\nreference %s\nof %s elements", mine, theirs, all)
              : g_strdup_printf ("candidate %s\nof %s elements", mine, all);
      assay_layer_add_bin (bars, x0, x1, (double) count);
      if (steps)
        assay_layer_add_bin (steps, x0, x1, (double) other);
      assay_plot_scene_add_datum (scene, 1, x0, x1, (double) count, heading, detail, -1);
      char *cells[] = {assay_double_to_string (x0), assay_double_to_string (x1),
                       g_strdup_printf ("%" G_GUINT64_FORMAT, count),
                       g_strdup_printf ("%" G_GUINT64_FORMAT, other), NULL};
      char **row = g_new0 (char *, G_N_ELEMENTS (cells));
      for (gsize i = 0; cells[i]; i++)
        row[i] = cells[i];
      assay_plot_scene_add_row (scene, row);
    }
}

/* Exact elements stand in a panel of their own, since a logarithm has no place for them. */
static void
add_exact_panel (AssayPlotScene *scene, const AssayHistogram *own, const AssayHistogram *its)
{
  static const char *const LABELS[] = {"exact", NULL};
  AssayPanel *panel = assay_plot_scene_add_panel (scene, 0.09);
  assay_axis_set_categories (&panel->x, LABELS);
  AssayLayer *bars = assay_panel_add (panel, ASSAY_LAYER_BARS, ASSAY_ROLE_CANDIDATE, NULL);
  assay_layer_add_bin (bars, -0.4, 0.4, (double) own->zero);
  if (its)
    assay_layer_add_bin (assay_panel_add (panel, ASSAY_LAYER_STEPS, ASSAY_ROLE_REFERENCE, NULL),
                         -0.5, 0.5, (double) its->zero);
  g_autofree char *mine = assay_format_count (own->zero);
  g_autofree char *theirs = assay_format_count (its ? its->zero : 0);
  g_autofree char *detail = g_strdup_printf ("candidate %s\nreference %s", mine, theirs);
  assay_plot_scene_add_datum (scene, 0, -0.5, 0.5, (double) own->zero, "error exactly 0", detail,
                              -1);
}

static guint64
fullest (const AssayHistogram *histogram, gint64 low, gint64 high)
{
  guint64 most = histogram->zero;
  for (gint64 e = low; e <= high; e++)
    most = MAX (most, magnitude_count (histogram, e));
  return most;
}

/* The least that the rule allows any element: to its left all are accepted, to its right it depends on the
 * element. Only where that is a statement about the bars: allclose, and a line within the axis. */
static void
add_gate (AssayPanel *panel, const AssayTolerance *tolerance, double least)
{
  if (tolerance->rule != ASSAY_RULE_ALLCLOSE || !(least > panel->x.min && least < panel->x.max))
    return;
  g_autofree char *value = assay_format_number (least, 2);
  g_autofree char *words = g_strdup_printf ("all accepted below %s", value);
  assay_panel_add (panel, ASSAY_LAYER_RULE, ASSAY_ROLE_ACCEPTED, words)->x = least;
}

AssayPlotScene *
assay_figure_error_scene (const char *id, const AssayComparison *comparison,
                          const AssayComparison *reference, const char *candidate,
                          const AssayTolerance *tolerance, gboolean relative)
{
  static const char *const COLUMNS[] = {"error from", "error to", "candidate", "reference", NULL};
  const AssayHistogram *own = relative ? &comparison->rel_histogram : &comparison->abs_histogram;
  const AssayHistogram *its = !reference ? NULL
                              : relative ? &reference->rel_histogram
                                         : &reference->abs_histogram;
  gint64 low = G_MAXINT64, high = G_MININT64;
  AssayPlotScene *scene = assay_plot_scene_new (id, "Error histogram");
  occupied_range (own, &low, &high);
  if (its)
    occupied_range (its, &low, &high);
  if (low > high)
    low = high = relative ? -24 : -30;
  low = MAX (low, high - 60);
  add_exact_panel (scene, own, its);
  AssayPanel *panel = assay_plot_scene_add_panel (scene, 0.91);
  assay_axis_set (&panel->x, ASSAY_SCALE_LOG, pow (10.0, floor (log10 (ldexp (1.0, (int) low)))),
                  pow (10.0, ceil (log10 (ldexp (1.0, (int) high + 1)) + 0.05)),
                  relative ? "relative error |y − gold| / |gold|" : "absolute error |y − gold|");
  if (its)
    add_reference_band (panel, its);
  assay_plot_scene_set_columns (scene, COLUMNS);
  add_magnitude_bins (scene, panel, own, its, low, high, candidate, comparison->count);
  AssayPanel *first = g_ptr_array_index (scene->panels, 0);
  set_count_axis (&first->y, MAX (fullest (own, low, high), its ? fullest (its, low, high) : 0));
  if (tolerance)
    add_gate (panel, tolerance,
              relative ? tolerance->rtol + tolerance->atol / comparison->max_gold
                       : tolerance->atol);
  g_autofree char *worst =
      assay_format_number (relative ? comparison->max_rel.value : comparison->max_abs.value, 3);
  g_autofree char *rms = assay_format_number (comparison->rms, 3);
  scene->description = g_strdup_printf (
      "%s error of %" G_GUINT64_FORMAT " elements against gold; %" G_GUINT64_FORMAT
      " are exact; the largest against the reference is %s, the rms absolute error %s.",
      relative ? "Relative" : "Absolute", comparison->count, own->zero, worst, rms);
  return scene;
}
