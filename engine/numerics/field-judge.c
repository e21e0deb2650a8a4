/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/field-rules.h"

#include <math.h>
#include <string.h>

/* One comparison under way. */
typedef struct
{
  const AssayFieldRule *rule;
  AssayDtype stored; /* of the arrays */
  AssayDtype dtype;  /* that the rule calculates in */
  double atol, rtol, floor;
  double scale; /* rms (r), or the norm, for rules that need it */
} Judging;

/* What an element came to. */
typedef struct
{
  gboolean passes;
  double error, allowed;
} Element;

/* ---- arithmetic of the field ---- */

/* The result of one operation in the rule's arithmetic. Formats narrower than float32 are widened to it,
 * operated on, and rounded back; for + - * / a double rounded to float is the float operation's result. */
static double
rounded (const Judging *j, double x)
{
  float single = (float) x;
  if (j->rule->arithmetic == ASSAY_FIELD_IN_FLOAT32)
    return single;
  if (j->rule->arithmetic == ASSAY_FIELD_IN_DOUBLE || j->dtype == ASSAY_DTYPE_FLOAT64)
    return x;
  if (j->dtype == ASSAY_DTYPE_FLOAT32)
    return single;
  return assay_dtype_decode (j->dtype, assay_dtype_encode (j->dtype, single));
}

static double
constant (const Judging *j, double x)
{
  if (j->rule->arithmetic == ASSAY_FIELD_IN_DTYPE)
    return j->dtype == ASSAY_DTYPE_FLOAT64 ? x : (float) x;
  if (j->rule->arithmetic == ASSAY_FIELD_IN_DTYPE_ONLY && j->dtype != ASSAY_DTYPE_FLOAT64
      && j->dtype != ASSAY_DTYPE_FLOAT32)
    return assay_dtype_decode (j->dtype, assay_dtype_encode (j->dtype, x));
  return rounded (j, x);
}

/* NumPy's spacing of a magnitude: infinite at the largest, NaN at infinity. */
static double
spacing (const Judging *j, double magnitude)
{
  if (!isfinite (magnitude))
    return NAN;
  if (magnitude >= assay_dtype_format (j->dtype)->max_finite)
    return INFINITY;
  return assay_dtype_ulp (j->dtype, magnitude);
}

/* ---- elements ---- */

static Element
judge_sum (const Judging *j, double c, double r)
{
  double error = rounded (j, fabs (rounded (j, c - r)));
  double term = rounded (j, j->rtol * fabs (j->rule->of_candidate ? c : r));
  double allowed = rounded (j, j->atol + term);
  Element e = {FALSE, error, allowed};
  gboolean bounded = j->rule->finite_only || j->rule->overflow_fails;
  if (c == r)
    e.passes = !j->rule->finite_only || isfinite (c);
  else if (isnan (c) && isnan (r))
    e.passes = j->rule->equal_nan;
  else if (isfinite (c) && isfinite (r))
    e.passes = error <= allowed && (!bounded || isfinite (error));
  return e;
}

/* TransformerEngine's exemption: c and r are what the middle between them rounds to from either side. */
static gboolean
straddles_tie (const Judging *j, double c, double r)
{
  double middle = (c + r) / 2, width = fabs (middle) * 1e-6;
  double up = assay_dtype_decode (
      j->stored, assay_dtype_encode_as (j->stored, middle + width, ASSAY_ROUND_NEAREST_EVEN, TRUE));
  double down = assay_dtype_decode (
      j->stored, assay_dtype_encode_as (j->stored, middle - width, ASSAY_ROUND_NEAREST_EVEN, TRUE));
  return down == fmin (c, r) && up == fmax (c, r);
}

static Element
judge_either (const Judging *j, double c, double r)
{
  double error = fabs (c - r), size = r == 0 ? j->floor : fabs (r);
  gboolean beyond = error > j->atol && (size == 0 || error / size > j->rtol);
  Element e = {!beyond, error, fmax (j->atol, j->rtol * size)};
  if (beyond && j->rule->tie_exempt && j->stored != ASSAY_DTYPE_FLOAT32)
    e.passes = straddles_tie (j, c, r);
  return e;
}

static Element
judge_nulp (const Judging *j, double c, double r)
{
  double larger = fabs (c) > fabs (r) ? fabs (c) : fabs (r);
  double error = rounded (j, fabs (rounded (j, c - r)));
  double allowed = rounded (j, (double) j->rule->steps * spacing (j, larger));
  return (Element) {error <= allowed, error, allowed};
}

/* As signed integers of the type's own size, which wrap; the difference is then a float of that size. */
static Element
judge_max_ulp (const Judging *j, double c, double r)
{
  int bits = assay_dtype_format (j->dtype)->bits;
  gint64 keys[2];
  double values[2] = {isnan (c) ? NAN : c, isnan (r) ? NAN : r};
  for (int i = 0; i < 2; i++)
    {
      int shift = 64 - bits;
      guint64 code = assay_dtype_encode (j->dtype, isnan (values[i]) ? (double) NAN : values[i]);
      gint64 key = (gint64) (code << shift) >> shift;
      guint64 least = (guint64) 1 << (bits - 1);
      keys[i] = key < 0 ? (gint64) ((0 - least - (guint64) key) << shift) >> shift : key;
    }
  gint64 wrapped = (gint64) (((guint64) keys[0] - (guint64) keys[1]) << (64 - bits)) >> (64 - bits);
  double error = fabs (rounded (j, (double) wrapped));
  return (Element) {error <= (double) j->rule->steps, error, (double) j->rule->steps};
}

static Element
judge_decimal (const Judging *j, double c, double r)
{
  double error = rounded (j, fabs (rounded (j, c - r)));
  Element e = {error < j->atol, error, j->atol};
  if (isnan (c) || isnan (r))
    e.passes = isnan (c) && isnan (r);
  else if (isinf (c) || isinf (r))
    e.passes = c == r;
  return e;
}

static Element
judge_relative_sum (const Judging *j, double c, double r)
{
  double error = rounded (j, fabs (rounded (j, c - r)));
  double both = rounded (j, fabs (c) + fabs (r));
  gboolean near_zero = c == 0 || r == 0 || both < j->floor;
  double allowed = rounded (j, j->rtol * (near_zero ? j->floor : both));
  return (Element) {c == r || error < allowed, error, allowed};
}

static Element
judge_rms (const Judging *j, double c, double r)
{
  gboolean infinite = isinf (c) || isinf (r);
  double size = fmax (j->scale, fabs (r));
  double error = infinite ? 0 : c == r ? 0 : fabs (c - r) / size;
  return (Element) {infinite ? isinf (c) && isinf (r) : error <= j->rtol, error, j->rtol};
}

static Element
judge_rms_scaled (const Judging *j, double c, double r)
{
  double error = fabs (c - r), allowed = j->atol + j->rtol * j->scale;
  return (Element) {c == r || error <= allowed, error, allowed};
}

typedef Element (*JudgeElement) (const Judging *judging, double c, double r);
static const JudgeElement ELEMENTS[] = {
    [ASSAY_FIELD_SUM] = judge_sum,         [ASSAY_FIELD_EITHER] = judge_either,
    [ASSAY_FIELD_NULP] = judge_nulp,       [ASSAY_FIELD_MAX_ULP] = judge_max_ulp,
    [ASSAY_FIELD_DECIMAL] = judge_decimal, [ASSAY_FIELD_RELATIVE_SUM] = judge_relative_sum,
    [ASSAY_FIELD_RMS] = judge_rms,         [ASSAY_FIELD_RMS_SCALED] = judge_rms_scaled,
    [ASSAY_FIELD_BASELINE] = NULL,
};

/* ---- whole arrays ---- */

/* An element as the rule sees it. */
static double
operand (const Judging *j, const AssayArray *array, gsize index)
{
  double value = assay_array_get (array, index);
  return j->rule->arithmetic == ASSAY_FIELD_IN_FLOAT32 ? rounded (j, value) : value;
}

/* NaN is the greatest of all, as in PyTorch; then the larger, then the first. */
static void
raise_greatest (AssayFieldGreatest *greatest, double value, gint64 index)
{
  if (greatest->index >= 0
      && (isnan (greatest->value) || !(value > greatest->value || isnan (value))))
    return;
  greatest->value = value;
  greatest->index = index;
}

static void
count_mismatch (double c, double r, gint64 index, AssayFieldVerdict *verdict)
{
  verdict->mismatches++;
  raise_greatest (&verdict->greatest_abs, fabs (c - r), index);
  raise_greatest (&verdict->greatest_rel, fabs (c - r) / fabs (r), index);
}

/* How far beyond: a miss ranks above every pass. */
static double
rank (const Element *e)
{
  double ratio = e->error == 0 ? 0 : e->error / e->allowed;
  if (e->passes)
    return isnan (ratio) ? 0 : fmin (ratio, 1);
  return isnan (ratio) ? INFINITY : fmax (ratio, 1 + 0x1p-52);
}

static void
judge_elements (const Judging *j, const AssayArray *c, const AssayArray *r,
                AssayFieldVerdict *verdict)
{
  JudgeElement judge = ELEMENTS[j->rule->kind];
  gboolean integers = !assay_dtype_is_float (j->stored);
  double worst = 0, squares = 0;
  for (gsize i = 0; i < c->count; i++)
    {
      double a = operand (j, c, i), b = operand (j, r, i);
      Element e = judge (j, a, b);
      /* 64-bit integers do not fit doubles. */
      if (integers && e.error == 0)
        e.passes =
            assay_dtype_load (j->stored, c->data, i) == assay_dtype_load (j->stored, r->data, i)
            || e.allowed > 0;
      squares += e.error * e.error;
      if (!e.passes)
        count_mismatch (a, b, (gint64) i, verdict);
      double ratio = rank (&e);
      if (ratio <= worst)
        continue;
      worst = ratio;
      verdict->deciding = (gint64) i;
      verdict->candidate = a;
      verdict->reference = b;
      verdict->error = e.error;
      verdict->allowed = e.allowed;
    }
  double share = 1 - (double) verdict->mismatches / (double) MAX (c->count, 1);
  verdict->accepted = !(share < j->rule->matched_ratio);
  if (j->rule->kind != ASSAY_FIELD_RMS)
    return;
  double rms = sqrt (squares / (double) MAX (c->count, 1));
  if (verdict->accepted && !(rms <= j->rule->rms))
    {
      verdict->accepted = FALSE;
      verdict->deciding = -1;
      verdict->error = rms;
      verdict->allowed = j->rule->rms;
    }
}

/* Largest |c - x|, NaN when one is; where. */
static double
largest_difference (const AssayArray *c, const AssayArray *r, const double *gold, gint64 *index)
{
  double largest = 0;
  for (gsize i = 0; i < c->count; i++)
    {
      double difference = fabs (assay_array_get (c, i) - (gold ? gold[i] : assay_array_get (r, i)));
      if (!(difference <= largest))
        {
          largest = difference;
          *index = (gint64) i;
        }
      if (isnan (difference))
        break;
    }
  return largest;
}

static void
judge_baseline (const Judging *j, const AssayArray *c, const AssayArray *r, const double *gold,
                AssayFieldVerdict *verdict)
{
  gint64 other = -1;
  verdict->error = largest_difference (c, NULL, gold, &verdict->deciding);
  verdict->allowed = j->rtol * largest_difference (r, NULL, gold, &other) + j->atol;
}

static void
judge_max_norm (const Judging *j, const AssayArray *c, const AssayArray *r,
                AssayFieldVerdict *verdict)
{
  double most = -INFINITY;
  for (gsize i = 0; i < c->count; i++)
    most = fmax (most, fmax (assay_array_get (c, i), assay_array_get (r, i)));
  verdict->error = largest_difference (c, r, NULL, &verdict->deciding) / most;
  verdict->allowed = j->rtol;
}

static double
norm_of (const AssayArray *a, const AssayArray *b)
{
  double sum = 0;
  for (gsize i = 0; i < a->count; i++)
    {
      double value = assay_array_get (a, i) - (b ? assay_array_get (b, i) : 0);
      sum += value * value;
    }
  return sqrt (sum);
}

static void
judge_norm (const Judging *j, const AssayArray *c, const AssayArray *r, AssayFieldVerdict *verdict)
{
  double size = norm_of (r, NULL);
  if (j->rule->smaller_norm)
    size = fmin (size, norm_of (c, NULL));
  verdict->error = norm_of (c, r);
  verdict->allowed = j->atol + j->rtol * size;
}

/* ---- what a rule needs ---- */

static const AssayFieldConstants *
constants_for (const AssayFieldRule *rule, AssayDtype dtype)
{
  const char *name = assay_dtype_is_float (dtype) ? assay_dtype_name (dtype) : "integer";
  for (guint i = 0; i < rule->types->len; i++)
    {
      const AssayFieldConstants *constants = g_ptr_array_index (rule->types, i);
      if (g_str_equal (constants->name, name))
        return constants;
    }
  return NULL;
}

/* NULL, or why the rule cannot be applied. */
static char *
reason_against (const AssayFieldRule *rule, const AssayArray *array, const double *gold)
{
  const AssayFormat *format = assay_dtype_format (array->dtype);
  const char *name = assay_dtype_name (array->dtype);
  gboolean by_bits = rule->kind == ASSAY_FIELD_NULP || rule->kind == ASSAY_FIELD_MAX_ULP;
  if (format->components > 1)
    return g_strdup ("complex numbers are not judged by these rules");
  if (by_bits && array->dtype != ASSAY_DTYPE_FLOAT32 && array->dtype != ASSAY_DTYPE_FLOAT16
      && array->dtype != ASSAY_DTYPE_FLOAT64)
    return g_strdup_printf ("it knows float16, float32 and float64, not %s", name);
  if (rule->types->len && !constants_for (rule, array->dtype))
    return g_strdup_printf ("its table has no %s", name);
  if (rule->kind == ASSAY_FIELD_BASELINE && !gold)
    return g_strdup ("it needs the gold, values in higher precision");
  return NULL;
}

static AssayDtype
dtype_of_arithmetic (const AssayFieldRule *rule, AssayDtype stored)
{
  const AssayFormat *format = assay_dtype_format (stored);
  if (format->kind != ASSAY_DTYPE_KIND_FLOAT)
    return ASSAY_DTYPE_FLOAT64;
  gboolean foreign =
      stored == ASSAY_DTYPE_BFLOAT16 || stored == ASSAY_DTYPE_TFLOAT32 || format->bits <= 8;
  return rule->bfloat_to_float && foreign ? ASSAY_DTYPE_FLOAT32 : stored;
}

static double
root_mean_square (const AssayArray *r)
{
  double sum = 0;
  for (gsize i = 0; i < r->count; i++)
    {
      double value = assay_array_get (r, i);
      sum += isinf (value) ? 0 : value * value;
    }
  return sqrt (sum / (double) MAX (r->count, 1));
}

AssayFieldVerdict *
assay_field_rule_judge (const AssayFieldRule *rule, const AssayArray *candidate,
                        const AssayArray *reference, const double *gold)
{
  AssayFieldVerdict *verdict = assay_json_table_new (&ASSAY_FIELD_VERDICT_TABLE);
  verdict->name = g_strdup (rule->name);
  verdict->title = g_strdup (rule->title);
  verdict->count = reference->count;
  verdict->reason = reason_against (rule, reference, gold);
  verdict->applies = !verdict->reason;
  if (!verdict->applies)
    return verdict;
  const AssayFieldConstants *own = constants_for (rule, reference->dtype);
  double size = rule->times_size ? (double) reference->count : 1;
  verdict->atol = (own ? own->atol : rule->atol) * size;
  verdict->rtol = (own ? own->rtol : rule->rtol) * size;
  Judging j = {.rule = rule, .stored = reference->dtype};
  j.dtype = dtype_of_arithmetic (rule, reference->dtype);
  j.atol = constant (&j, verdict->atol);
  j.rtol = constant (&j, verdict->rtol);
  j.floor = constant (&j, rule->floor);
  if (rule->kind == ASSAY_FIELD_RMS || rule->kind == ASSAY_FIELD_RMS_SCALED)
    j.scale = root_mean_square (reference);
  gboolean whole = rule->kind == ASSAY_FIELD_BASELINE || rule->kind == ASSAY_FIELD_MAX_NORM
                   || rule->kind == ASSAY_FIELD_NORM;
  if (rule->kind == ASSAY_FIELD_BASELINE)
    judge_baseline (&j, candidate, reference, gold, verdict);
  else if (rule->kind == ASSAY_FIELD_MAX_NORM)
    judge_max_norm (&j, candidate, reference, verdict);
  else if (rule->kind == ASSAY_FIELD_NORM)
    judge_norm (&j, candidate, reference, verdict);
  else
    judge_elements (&j, candidate, reference, verdict);
  if (whole)
    {
      verdict->accepted = verdict->error <= verdict->allowed;
      verdict->mismatches = verdict->accepted ? 0 : verdict->count;
    }
  verdict->passing_share = 1 - (double) verdict->mismatches / (double) MAX (verdict->count, 1);
  return verdict;
}
