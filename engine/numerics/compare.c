/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/numbers.h"

#include "engine/base/error.h"

#include <math.h>
#include <stdlib.h>

static void
append (GArray *array, gconstpointer items, guint n)
{
  g_array_append_vals (array, items, n);
}

/* Keeps the bins from the first to the last that hold anything. */
static void
fill_histogram (AssayHistogram *histogram, const guint64 *negative, const guint64 *positive,
                gint64 n, gint64 bias, guint64 zero)
{
  gint64 first = 0, last = n - 1;
  while (first < n && !negative[first] && !positive[first])
    first++;
  while (last > first && !negative[last] && !positive[last])
    last--;
  histogram->zero = zero;
  histogram->first = first < n ? first - bias : 0;
  if (first == n)
    return;
  append (histogram->negative, negative + first, (guint) (last - first + 1));
  append (histogram->positive, positive + first, (guint) (last - first + 1));
}

static void
fill_extreme (AssayExtreme *extreme, const AssayCompareInput *input, AssayRanked ranked,
              gboolean against_gold)
{
  extreme->index = ranked.index;
  extreme->value = ranked.index < 0 ? 0 : ranked.key;
  if (ranked.index < 0)
    return;
  gsize at = (gsize) ranked.index;
  extreme->candidate = assay_array_get (input->candidate, at);
  extreme->reference =
      against_gold && input->gold ? input->gold[at] : assay_array_get (input->reference, at);
}

static void
fill_worst (AssayComparison *out, const AssayNumbers *numbers)
{
  const AssayCompareInput *input = numbers->input;
  for (guint i = 0; i < numbers->tally->n_worst; i++)
    {
      gsize at = (gsize) numbers->tally->worst[i].index;
      AssayWorst *worst = assay_json_table_new (&ASSAY_WORST_TABLE);
      double low = input->gold && input->gold_low ? input->gold_low[at] : 0;
      worst->index = (gint64) at;
      worst->candidate = assay_array_get (input->candidate, at);
      worst->reference = assay_array_get (input->reference, at);
      worst->gold = input->gold ? input->gold[at] : worst->reference;
      worst->candidate_bits = assay_dtype_load (numbers->dtype, input->candidate->data, at);
      worst->gold_bits = assay_dtype_encode_pair (numbers->component, worst->gold, low);
      worst->abs = fabs ((worst->candidate - worst->gold) - low);
      worst->rel = worst->gold != 0 ? worst->abs / fabs (worst->gold) : NAN;
      worst->ulp_real = assay_numbers_real_ulp (numbers, worst->candidate, worst->gold, low);
      worst->ulp =
          assay_dtype_ulp_distance (numbers->component, worst->candidate_bits, worst->gold_bits);
      g_ptr_array_add (out->worst, worst);
    }
}

/* Four significant digits: the map is looked at, not computed with, and stays short when written. */
static double
four_digits (double value)
{
  if (!isfinite (value) || value == 0)
    return value;
  int exponent = 3 - (int) floor (log10 (fabs (value)));
  if (exponent < -20 || exponent > 20)
    return value;
  double scale = pow (10, abs (exponent));
  return exponent >= 0 ? nearbyint (value * scale) / scale : nearbyint (value / scale) * scale;
}

static void
fill_position (AssayPosition *position, const AssayNumbers *numbers)
{
  position->rows = numbers->rows;
  position->columns = numbers->columns;
  position->cell_rows = numbers->cell_rows;
  position->cell_columns = numbers->cell_columns;
  position->rows_per_cell = numbers->rows_per_cell;
  position->columns_per_cell = numbers->columns_per_cell;
  for (gint64 i = 0; i < numbers->cell_rows * numbers->cell_columns; i++)
    {
      guint64 n = numbers->cell_count[i];
      double max = n ? four_digits (numbers->cell_max[i]) : NAN;
      double rms = n ? four_digits (sqrt (numbers->cell_squares[i] / (double) n)) : NAN;
      g_array_append_val (position->max_ulp, max);
      g_array_append_val (position->rms_ulp, rms);
    }
  for (gint64 row = 0; row < numbers->cell_rows; row++)
    {
      double sum = 0;
      guint64 n = 0;
      for (gint64 group = 0; group < numbers->groups; group++)
        {
          sum += numbers->sums[row * numbers->groups + group].ulp;
          n += numbers->sums[row * numbers->groups + group].ulp_count;
        }
      double mean = n ? four_digits (sum / (double) n) : NAN;
      g_array_append_val (position->row_mean, mean);
    }
}

static void
fill_means (AssayComparison *out, const AssayNumbers *numbers)
{
  AssaySums sum = {0};
  for (gint64 i = 0; i < numbers->cell_rows * numbers->groups; i++)
    {
      const AssaySums *s = &numbers->sums[i];
      sum.error += s->error;
      sum.error_squares += s->error_squares;
      sum.gold_squares += s->gold_squares;
      sum.ulp_squares += s->ulp_squares;
      sum.backward_squares += s->backward_squares;
      sum.ulp_count += s->ulp_count;
      sum.backward_count += s->backward_count;
      sum.finite += s->finite;
    }
  double finite = (double) MAX (sum.finite, 1);
  out->rms = sqrt (sum.error_squares / finite);
  out->rms_gold = sqrt (sum.gold_squares / finite);
  out->mean_signed = sum.error / finite;
  out->rms_ulp = sqrt (sum.ulp_squares / (double) MAX (sum.ulp_count, 1));
  if (!numbers->input->scale)
    return;
  static const guint64 none[ASSAY_BINS];
  const AssayTally *tally = numbers->tally;
  out->backward_error = assay_json_table_new (&ASSAY_BACKWARD_ERROR_TABLE);
  out->backward_error->condition_index = tally->max_condition.index;
  out->backward_error->condition_max =
      tally->max_condition.index < 0 ? 0 : tally->max_condition.key;
  out->backward_error->condition_unbounded = tally->condition_unbounded;
  fill_histogram (&out->backward_error->condition_histogram, none, tally->condition_bins,
                  ASSAY_BINS, ASSAY_BIN_BIAS, 0);
  out->backward_error->max = numbers->tally->max_backward;
  out->backward_error->rms = sqrt (sum.backward_squares / (double) MAX (sum.backward_count, 1));
  out->backward_error->scale = g_strdup (numbers->input->scale_name);
}

static void
fill_numbers (AssayComparison *out, const AssayNumbers *numbers)
{
  const AssayTally *t = numbers->tally;
  const AssayCompareInput *input = numbers->input;
  out->equal = t->equal;
  out->not_correctly_rounded = t->not_correctly_rounded;
  out->sign_of_zero = t->sign_of_zero;
  out->flushed = t->flushed;
  out->nan = t->nan;
  out->inf = t->inf;
  fill_extreme (&out->max_abs, input, t->max_abs, FALSE);
  fill_extreme (&out->max_rel, input, t->max_rel, FALSE);
  fill_extreme (&out->max_ulp_real, input, t->max_ulp_real, TRUE);
  out->max_ulp = t->max_ulp;
  out->max_ulp_index = t->max_ulp_index;
  out->max_gold = t->max_gold.index < 0 ? 0 : t->max_gold.key;
  out->toward_zero_share = t->inexact ? (double) t->toward_zero / (double) t->inexact : 0;
  fill_means (out, numbers);
  fill_histogram (&out->ulp_histogram, t->ulp_bins[0], t->ulp_bins[1], ASSAY_ULP_BINS, 0,
                  t->ulp_zero);
  fill_histogram (&out->abs_histogram, t->abs_bins[0], t->abs_bins[1], ASSAY_BINS, ASSAY_BIN_BIAS,
                  t->abs_zero);
  fill_histogram (&out->rel_histogram, t->rel_bins[0], t->rel_bins[1], ASSAY_BINS, ASSAY_BIN_BIAS,
                  t->rel_zero);
  fill_worst (out, numbers);
  fill_position (&out->position, numbers);
}

static char *
describe_verdict (const AssayTolerance *tolerance, const AssayGate *gate)
{
  g_autofree char *rule =
      tolerance ? assay_tolerance_describe (tolerance) : g_strdup ("exact equality");
  if (gate->count == 0)
    return g_strdup_printf ("Accepted by %s: the output is empty.", rule);
  if (gate->margin == 0 && gate->tightest < 0)
    return g_strdup_printf ("Accepted by %s: every element equals the reference.", rule);
  g_autoptr (GString) out = g_string_new (NULL);
  g_string_printf (out, "%s by %s: ", gate->accepted ? "Accepted" : "Rejected", rule);
  if (tolerance && tolerance->rule == ASSAY_RULE_GLOBAL_NORM)
    g_string_append_printf (out, "the norm of the difference is %.4g, %.4g allowed.",
                            gate->tightest_error, gate->tightest_allowed);
  else if (isnan (gate->tightest_error))
    g_string_append_printf (out,
                            "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                            " elements miss it; element %" G_GINT64_FORMAT
                            " is NaN or infinite on one side or, by this rule, on both.",
                            gate->mismatches, gate->count, gate->tightest);
  else
    g_string_append_printf (out,
                            "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                            " elements miss it; at the tightest, element %" G_GINT64_FORMAT
                            ", the error is %.4g and %.4g is allowed.",
                            gate->mismatches, gate->count, gate->tightest, gate->tightest_error,
                            gate->tightest_allowed);
  if (gate->cap_exceeded)
    g_string_append_printf (out, " An error exceeds the cap of %.4g.", tolerance->max_error_cap);
  return g_string_free (g_steal_pointer (&out), FALSE);
}

static void
fill_gate (AssayComparison *out, const AssayCompareInput *input, const AssayGate *gate)
{
  out->count = gate->count;
  out->mismatches = gate->mismatches;
  out->mismatch_share = gate->mismatch_share;
  out->accepted = gate->accepted;
  out->margin = gate->margin;
  out->headroom_bits = -log2 (gate->margin);
  out->verdict = describe_verdict (input->tolerance, gate);
  out->ulp_definition = g_strdup_printf (
      "real ulp: (candidate - gold) / Goldberg ulp of gold in %s, infinities as 2^(e_max+1); "
      "integer ulp: distance of ordered bits to gold rounded to nearest even",
      assay_dtype_name (input->candidate->dtype));
}

/* The gate needs a pass of its own where it sums, sorts, or counts otherwise than the numbers do. */
static gboolean
gate_apart (const AssayCompareInput *input, const AssayGating *gating)
{
  return !assay_gating_by_element (gating) || gating->components > 1 || input->gold;
}

AssayComparison *
assay_compare (const AssayCompareInput *input, GCancellable *cancellable, GError **error)
{
  AssayGating gating;
  if (!assay_gating_init (&gating, input, error))
    return NULL;
  AssayGate gate = {0};
  AssayCompareInput quiet = *input;
  quiet.progress = NULL;
  gboolean apart = gate_apart (input, &gating);
  AssayNumbers numbers;
  assay_numbers_init (&numbers, input, apart ? NULL : &gating);
  g_autoptr (AssayComparison) out = assay_comparison_new ();
  gboolean done =
      (!apart || assay_gate (&quiet, &gate, cancellable, error))
      && assay_parallel_for (assay_numbers_pieces (&numbers), input->threads, assay_numbers_piece,
                             &numbers, input->progress, input->progress_data, cancellable, error);
  if (done)
    {
      assay_numbers_finish (&numbers);
      if (!apart)
        assay_gating_conclude (&gating, &numbers.tally->gate, &gate);
      fill_gate (out, input, &gate);
      fill_numbers (out, &numbers);
    }
  assay_numbers_clear (&numbers);
  assay_gating_clear (&gating);
  return done ? g_steal_pointer (&out) : NULL;
}
