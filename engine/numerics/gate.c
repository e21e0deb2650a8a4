/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/gate-block.h"

#include "engine/base/error.h"

#include <math.h>
#include <string.h>

#define CHUNK ((gsize) 1 << 16)
#define BLOCK ASSAY_GATE_BLOCK

/* These loops are written to become vector code, which gcc does at its third level only. */
#if defined(__GNUC__) && !defined(__clang__)
#define VECTOR_LOOPS __attribute__ ((optimize ("O3")))
#else
#define VECTOR_LOOPS
#endif

gboolean
assay_rule_supported (int rule, GError **error)
{
  static const char *const WHY[] = {
      [ASSAY_RULE_BASELINE_RELATIVE] = "it needs the error of a baseline's own output",
      [ASSAY_RULE_MODEL_BOUND] = "it needs an accumulation model of the target",
      [ASSAY_RULE_CHECKER] = "the task's own program decides, which these functions do not run",
  };
  const char *why = (gsize) rule < G_N_ELEMENTS (WHY) ? WHY[rule] : NULL;
  if (!why)
    return TRUE;
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
               "tolerance rule %s cannot be evaluated here: %s", ASSAY_TOLERANCE_RULES[rule], why);
  return FALSE;
}

/* |c - r| and the magnitude that the relative term scales with, one entry an element. */
typedef struct
{
  double error[BLOCK], magnitude[BLOCK];
  guint8 equal[BLOCK], nan_both[BLOCK], finite[BLOCK];
  double allowed[BLOCK], ratio[BLOCK]; /* of the fast path */
} Block;

/* TRUE when every pair is finite: then the fast path may go on with these two rows. */
VECTOR_LOOPS static gboolean
fill_finite (const AssayGating *gating, const double *c, const double *r, gsize n, Block *block)
{
  const double *scaled = gating->tolerance->relative_to == ASSAY_RELATIVE_TO_CANDIDATE ? c : r;
  double poison = 0;
  for (gsize i = 0; i < n; i++)
    {
      block->error[i] = fabs (c[i] - r[i]);
      block->magnitude[i] = fabs (scaled[i]);
    }
  for (gsize i = 0; i < n; i++)
    poison += (c[i] - r[i]) * 0; /* NaN as soon as one is NaN or infinite */
  return poison == 0;
}

static void
fill_real (const AssayGating *gating, const double *c, const double *r, gsize n, Block *block)
{
  gboolean of_candidate = gating->tolerance->relative_to == ASSAY_RELATIVE_TO_CANDIDATE;
  for (gsize i = 0; i < n; i++)
    {
      block->error[i] = fabs (c[i] - r[i]);
      block->magnitude[i] = fabs (of_candidate ? c[i] : r[i]);
      block->equal[i] = c[i] == r[i];
      block->nan_both[i] = isnan (c[i]) && isnan (r[i]);
      block->finite[i] = isfinite (c[i]) && isfinite (r[i]);
    }
}

static void
fill_complex (const AssayGating *gating, const double *c, const double *r, gsize n, Block *block)
{
  gboolean of_candidate = gating->tolerance->relative_to == ASSAY_RELATIVE_TO_CANDIDATE;
  for (gsize i = 0; i < n; i++)
    {
      const double *a = c + 2 * i, *b = r + 2 * i, *s = of_candidate ? a : b;
      block->error[i] = hypot (a[0] - b[0], a[1] - b[1]);
      block->magnitude[i] = hypot (s[0], s[1]);
      block->equal[i] = a[0] == b[0] && a[1] == b[1];
      block->nan_both[i] = (isnan (a[0]) || isnan (a[1])) && (isnan (b[0]) || isnan (b[1]));
      block->finite[i] = isfinite (a[0]) && isfinite (a[1]) && isfinite (b[0]) && isfinite (b[1]);
    }
}

/* 64-bit integers do not fit doubles: equality and difference come from the integers. */
static void
correct_integers (const AssayGating *gating, gsize first, gsize n, Block *block)
{
  const AssayArray *candidate = gating->input->candidate, *reference = gating->input->reference;
  for (gsize i = 0; i < n; i++)
    {
      guint64 a = assay_dtype_load (gating->dtype, candidate->data, first + i);
      guint64 b = assay_dtype_load (gating->dtype, reference->data, first + i);
      block->equal[i] = a == b;
      block->error[i] = (double) assay_dtype_ulp_distance (gating->dtype, a, b);
    }
}

/* The rule as written, for a finite pair. */
static double
allowance (const AssayGating *gating, double magnitude)
{
  const AssayTolerance *t = gating->tolerance;
  switch (t->rule)
    {
    case ASSAY_RULE_ALLCLOSE:
      return t->atol + t->rtol * magnitude;
    case ASSAY_RULE_EITHER:
      return fmax (t->atol, t->rtol * magnitude);
    case ASSAY_RULE_RMS_SCALED:
      return gating->threshold;
    case ASSAY_RULE_ULP:
      return (double) t->ulp;
    default:
      return 0;
    }
}

/* allowance () for a whole block. */
VECTOR_LOOPS static void
fill_allowances (const AssayGating *gating, gsize n, Block *block)
{
  const AssayTolerance *t = gating->tolerance;
  double atol = t->atol, rtol = t->rtol;
  if (t->rule == ASSAY_RULE_ALLCLOSE)
    for (gsize i = 0; i < n; i++)
      block->allowed[i] = atol + rtol * block->magnitude[i];
  else if (t->rule == ASSAY_RULE_EITHER)
    for (gsize i = 0; i < n; i++)
      block->allowed[i] = rtol * block->magnitude[i] > atol ? rtol * block->magnitude[i] : atol;
  else
    for (gsize i = 0; i < n; i++)
      block->allowed[i] = allowance (gating, block->magnitude[i]);
}

/* ratio_of () for a whole block; returns the largest. */
VECTOR_LOOPS static double
fill_ratios (gsize n, Block *block)
{
  double largest = 0;
  for (gsize i = 0; i < n; i++)
    {
      double error = block->error[i], allowed = block->allowed[i];
      double ratio = error / (error == 0 ? 1 : allowed);
      double within = ratio > 1 ? 1 : ratio;
      double beyond = ratio < 1 + 0x1p-52 ? 1 + 0x1p-52 : ratio;
      block->ratio[i] = error <= allowed ? within : beyond;
    }
  for (gsize i = 0; i < n; i++)
    largest = block->ratio[i] > largest ? block->ratio[i] : largest;
  return largest;
}

static double
ratio_of (double error, double allowed)
{
  if (error == 0)
    return 0;
  double ratio = error / allowed;
  /* Never on the wrong side of 1 by the rounding of this division. */
  return error <= allowed ? fmin (ratio, 1) : fmax (ratio, 1 + 0x1p-52);
}

static double
ulp_error (const AssayGating *gating, gsize component)
{
  guint64 a = assay_dtype_load (gating->dtype, gating->input->candidate->data, component);
  guint64 b = assay_dtype_load (gating->dtype, gating->input->reference->data, component);
  return (double) assay_dtype_ulp_distance (gating->dtype, a, b);
}

static double
judge (const AssayGating *gating, const Block *block, gsize i, gsize element, double *error,
       double *allowed)
{
  const AssayTolerance *t = gating->tolerance;
  *error = block->error[i];
  *allowed = allowance (gating, block->magnitude[i]);
  if (block->equal[i] || (t->equal_nan && block->nan_both[i]))
    return 0;
  if (!block->finite[i])
    return INFINITY;
  if (t->rule == ASSAY_RULE_ULP)
    {
      gsize first = element * gating->components;
      *error = ulp_error (gating, first);
      for (gsize k = 1; k < gating->components; k++)
        *error = fmax (*error, ulp_error (gating, first + k));
    }
  return ratio_of (*error, *allowed);
}

static gboolean
is_tighter (const AssayGateTally *a, const AssayGateTally *b)
{
  if (a->margin != b->margin || a->tightest < 0)
    return a->margin > b->margin;
  return b->tightest < 0 || a->tightest < b->tightest;
}

static void
gate_block (const AssayGating *gating, gsize first, gsize n, const Block *block,
            AssayGateTally *out)
{
  const AssayTolerance *t = gating->tolerance;
  for (gsize i = 0; i < n; i++)
    {
      double error, allowed;
      double ratio = judge (gating, block, i, first + i, &error, &allowed);
      out->mismatches += ratio > 1;
      if (gating->ratios)
        gating->ratios[first + i] = ratio;
      if (block->finite[i])
        {
          out->max_abs = fmax (out->max_abs, block->error[i]);
          if (gating->needs_sums)
            {
              out->difference_squares += block->error[i] * block->error[i];
              out->reference_squares += block->magnitude[i] * block->magnitude[i];
            }
          out->capped |= block->error[i] > t->max_error_cap;
        }
      else if (ratio > 0)
        out->special = TRUE;
      AssayGateTally one = {.margin = ratio, .tightest = (gint64) (first + i)};
      if (ratio > 0 && is_tighter (&one, out))
        {
          out->margin = ratio;
          out->tightest = (gint64) (first + i);
          out->tightest_error = block->finite[i] ? error : NAN;
          out->tightest_allowed = allowed;
        }
    }
}

/* gate_block () for finite pairs of a rule that looks at differences: the same numbers. */
VECTOR_LOOPS static void
gate_finite_block (const AssayGating *gating, gsize first, gsize n, Block *block,
                   AssayGateTally *out)
{
  fill_allowances (gating, n, block);
  double largest = fill_ratios (n, block);
  if (gating->ratios)
    memcpy (gating->ratios + first, block->ratio, n * sizeof (double));
  gsize at = 0;
  while (largest > 0 && block->ratio[at] != largest)
    at++;
  AssayGateTally one = {.margin = largest, .tightest = (gint64) (first + at)};
  if (largest > 0 && is_tighter (&one, out))
    {
      out->margin = largest;
      out->tightest = one.tightest;
      out->tightest_error = block->error[at];
      out->tightest_allowed = block->allowed[at];
    }
  double max_abs = 0;
  guint64 mismatches = 0;
  for (gsize i = 0; i < n; i++)
    {
      mismatches += block->ratio[i] > 1;
      max_abs = block->error[i] > max_abs ? block->error[i] : max_abs;
    }
  out->mismatches += mismatches;
  out->max_abs = fmax (out->max_abs, max_abs);
  out->capped |= max_abs > gating->tolerance->max_error_cap;
  for (gsize i = 0; gating->needs_sums && i < n; i++)
    {
      out->difference_squares += block->error[i] * block->error[i];
      out->reference_squares += block->magnitude[i] * block->magnitude[i];
    }
}

static void
against_gold (const AssayGating *gating, gsize first, gsize n, const double *c, AssayGateTally *out)
{
  const double *gold = gating->input->gold ? gating->input->gold + first : NULL;
  const double *low = gating->input->gold_low ? gating->input->gold_low + first : NULL;
  double largest = out->max_abs_gold, squares = out->gold_squares;
  guint64 finite = 0;
  for (gsize i = 0; gold && i < n; i++)
    {
      double error = low ? (c[i] - gold[i]) - low[i] : c[i] - gold[i];
      if (!isfinite (error))
        continue;
      error = fabs (error);
      largest = error > largest ? error : largest;
      squares += error * error;
      finite++;
    }
  out->max_abs_gold = largest;
  out->gold_squares = squares;
  out->gold_finite += finite;
}

void
assay_gating_block (const AssayGating *gating, gsize first, gsize n, AssayGateTally *out)
{
  const AssayArray *candidate = gating->input->candidate, *reference = gating->input->reference;
  gsize parts = gating->components;
  gboolean wide = gating->dtype == ASSAY_DTYPE_INT64 || gating->dtype == ASSAY_DTYPE_UINT64;
  double c[2 * BLOCK], r[2 * BLOCK];
  Block block;
  assay_dtype_decode_array (gating->dtype, candidate->data, first * parts, n * parts, c);
  assay_dtype_decode_array (gating->dtype, reference->data, first * parts, n * parts, r);
  if (gating->fast && fill_finite (gating, c, r, n, &block))
    gate_finite_block (gating, first, n, &block, out);
  else
    {
      (parts == 2 ? fill_complex : fill_real) (gating, c, r, n, &block);
      if (wide)
        correct_integers (gating, first, n, &block);
      gate_block (gating, first, n, &block, out);
    }
  against_gold (gating, first * parts, n * parts, c, out);
}

static void
gate_chunk (gsize piece, gpointer user_data)
{
  const AssayGating *gating = user_data;
  gsize begin = piece * CHUNK, end = MIN (begin + CHUNK, gating->count);
  gating->results[piece].tightest = -1;
  for (gsize at = begin; at < end; at += BLOCK)
    assay_gating_block (gating, at, MIN (BLOCK, end - at), &gating->results[piece]);
}

void
assay_gate_tally_merge (AssayGateTally *into, const AssayGateTally *from)
{
  into->mismatches += from->mismatches;
  into->max_abs = fmax (into->max_abs, from->max_abs);
  into->max_abs_gold = fmax (into->max_abs_gold, from->max_abs_gold);
  into->special |= from->special;
  into->capped |= from->capped;
  into->difference_squares += from->difference_squares;
  into->reference_squares += from->reference_squares;
  into->gold_squares += from->gold_squares;
  into->gold_finite += from->gold_finite;
  if (!is_tighter (from, into))
    return;
  into->margin = from->margin;
  into->tightest = from->tightest;
  into->tightest_error = from->tightest_error;
  into->tightest_allowed = from->tightest_allowed;
}

/* The value that stands at `index` when sorted in descending order (Hoare's selection). */
static double
select_descending (double *values, gsize n, gsize index)
{
  gsize low = 0, high = n - 1;
  while (low < high)
    {
      double pivot = values[low + (high - low) / 2];
      gsize i = low, j = high;
      while (i <= j)
        {
          while (values[i] > pivot)
            i++;
          while (values[j] < pivot)
            j--;
          if (i > j)
            break;
          double swapped = values[i];
          values[i++] = values[j];
          values[j] = swapped;
          if (j-- == 0)
            break;
        }
      if (index <= j && j < high)
        high = j;
      else if (index >= i)
        low = i;
      else
        return values[index];
    }
  return values[index];
}

/* With a matched ratio below one the largest factors are forgiven. */
static guint64
forgiven (const AssayTolerance *tolerance, gsize count)
{
  double needed = ceil (tolerance->matched_ratio * (double) count - 1e-9 * (double) count);
  return needed >= (double) count ? 0 : count - (guint64) needed;
}

void
assay_gating_conclude (const AssayGating *gating, const AssayGateTally *sum, AssayGate *gate)
{
  const AssayTolerance *t = gating->tolerance;
  gate->count = gating->count;
  gate->mismatches = sum->mismatches;
  gate->max_abs = sum->max_abs;
  gate->needed_atol = sum->special ? INFINITY : sum->max_abs;
  gate->max_abs_gold = gating->input->gold ? sum->max_abs_gold : sum->max_abs;
  gate->rms_gold = sqrt (sum->gold_squares / (double) MAX (sum->gold_finite, 1));
  if (!gating->input->gold)
    gate->rms_gold = sqrt (sum->difference_squares / (double) MAX (gating->count, 1));
  gate->margin = sum->margin;
  gate->tightest = sum->tightest;
  gate->tightest_error = sum->tightest_error;
  gate->tightest_allowed = sum->tightest_allowed;
  gate->cap_exceeded = sum->capped;
  if (t->rule == ASSAY_RULE_GLOBAL_NORM)
    {
      gate->tightest_error = sqrt (sum->difference_squares);
      gate->tightest_allowed = t->atol + t->rtol * sqrt (sum->reference_squares);
      gate->margin =
          sum->special ? INFINITY : ratio_of (gate->tightest_error, gate->tightest_allowed);
      gate->mismatches = gate->margin > 1 ? gating->count : 0;
    }
  guint64 spare = gating->ratios ? forgiven (t, gating->count) : 0;
  if (spare && spare < gating->count)
    gate->margin = select_descending (gating->ratios, gating->count, spare);
  if (sum->capped)
    gate->margin = INFINITY;
  gate->mismatch_share = (double) gate->mismatches / (double) MAX (gating->count, 1);
  gate->accepted = gate->margin <= 1;
}

gboolean
assay_compare_same_form (const AssayArray *candidate, const AssayArray *reference, GError **error)
{
  const AssayArray *c = candidate, *r = reference;
  if (c->dtype == r->dtype && assay_array_same_shape (c, r))
    return TRUE;
  g_autofree char *a = assay_shape_to_string (c->shape, c->ndim);
  g_autofree char *b = assay_shape_to_string (r->shape, r->ndim);
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
               "cannot compare: expected %s %s, as the reference, found %s %s",
               assay_dtype_name (r->dtype), b, assay_dtype_name (c->dtype), a);
  return FALSE;
}

static gboolean
check_input (const AssayCompareInput *input, GError **error)
{
  return assay_compare_same_form (input->candidate, input->reference, error)
         && (!input->tolerance || assay_rule_supported (input->tolerance->rule, error));
}

static double
root_mean_square (const AssayArray *array)
{
  double values[BLOCK], sum = 0;
  guint64 finite = 0;
  gsize total = assay_array_components (array);
  for (gsize at = 0; at < total; at += BLOCK)
    {
      gsize n = MIN (BLOCK, total - at);
      assay_dtype_decode_array (array->dtype, array->data, at, n, values);
      for (gsize i = 0; i < n; i++)
        if (isfinite (values[i]))
          {
            sum += values[i] * values[i];
            finite++;
          }
    }
  finite /= (guint64) assay_dtype_format (array->dtype)->components;
  return sqrt (sum / (double) MAX (finite, 1));
}

gboolean
assay_gating_init (AssayGating *gating, const AssayCompareInput *input, GError **error)
{
  memset (gating, 0, sizeof *gating);
  if (!check_input (input, error))
    return FALSE;
  gating->exact = assay_tolerance_new ();
  gating->exact->rule = ASSAY_RULE_EXACT;
  const AssayTolerance *t = input->tolerance ? input->tolerance : gating->exact;
  const AssayFormat *format = assay_dtype_format (input->candidate->dtype);
  gboolean wide = format->kind != ASSAY_DTYPE_KIND_FLOAT && format->bits == 64;
  gating->input = input;
  gating->tolerance = t;
  gating->dtype = input->candidate->dtype;
  gating->components = (gsize) format->components;
  gating->count = input->candidate->count;
  gating->needs_sums = t->rule == ASSAY_RULE_GLOBAL_NORM || !input->gold;
  gating->fast = format->components == 1 && !wide && t->rule != ASSAY_RULE_ULP && !input->plain;
  if (t->matched_ratio < 1 && t->rule != ASSAY_RULE_GLOBAL_NORM)
    gating->ratios = g_new0 (double, MAX (gating->count, 1));
  if (t->rule == ASSAY_RULE_RMS_SCALED)
    gating->threshold = t->atol + t->rtol * root_mean_square (input->reference);
  return TRUE;
}

void
assay_gating_clear (AssayGating *gating)
{
  g_clear_pointer (&gating->exact, assay_tolerance_free);
  g_clear_pointer (&gating->ratios, g_free);
}

gboolean
assay_gating_by_element (const AssayGating *gating)
{
  return !gating->ratios && gating->tolerance->rule != ASSAY_RULE_GLOBAL_NORM;
}

gboolean
assay_gating_bound (const AssayGating *gating, AssayPairBound *bound)
{
  const AssayTolerance *t = gating->tolerance;
  *bound = (AssayPairBound) {0};
  switch (t->rule)
    {
    case ASSAY_RULE_ALLCLOSE:
    case ASSAY_RULE_EITHER:
      bound->slope = t->rtol;
      bound->offset = t->atol;
      bound->either = t->rule == ASSAY_RULE_EITHER;
      bound->of_candidate = t->relative_to == ASSAY_RELATIVE_TO_CANDIDATE;
      return TRUE;
    case ASSAY_RULE_RMS_SCALED:
      bound->offset = gating->threshold;
      return TRUE;
    default:
      return t->rule == ASSAY_RULE_EXACT;
    }
}

void
assay_gating_raise (const AssayGating *gating, double c, double r, gint64 index,
                    AssayGateTally *tally)
{
  double scaled = gating->tolerance->relative_to == ASSAY_RELATIVE_TO_CANDIDATE ? c : r;
  double error = fabs (c - r), allowed = allowance (gating, fabs (scaled));
  AssayGateTally one = {.margin = ratio_of (error, allowed), .tightest = index};
  if (one.margin == 0 || !is_tighter (&one, tally))
    return;
  tally->margin = one.margin;
  tally->tightest = index;
  tally->tightest_error = error;
  tally->tightest_allowed = allowed;
}

gboolean
assay_gate (const AssayCompareInput *input, AssayGate *gate, GCancellable *cancellable,
            GError **error)
{
  memset (gate, 0, sizeof *gate);
  AssayGating gating;
  if (!assay_gating_init (&gating, input, error))
    return FALSE;
  gsize chunks = (gating.count + CHUNK - 1) / CHUNK;
  g_autofree AssayGateTally *results = g_new0 (AssayGateTally, MAX (chunks, 1));
  gating.results = results;
  gboolean done = assay_parallel_for (chunks, input->threads, gate_chunk, &gating, input->progress,
                                      input->progress_data, cancellable, error);
  AssayGateTally sum = {.tightest = -1};
  for (gsize i = 0; i < chunks; i++)
    assay_gate_tally_merge (&sum, &results[i]);
  if (done)
    assay_gating_conclude (&gating, &sum, gate);
  assay_gating_clear (&gating);
  return done;
}
