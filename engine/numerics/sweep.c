/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/sweep.h"

#include "engine/base/error.h"
#include "engine/number/half.h"

#include <math.h>
#include <string.h>

#define BLOCK 4096
#define BATCH ((gint64) 1 << 24)
#define PIECE ((gint64) 1 << 16)
#define WORST_KEPT 8

#define FIELD(member, KIND) ASSAY_JSON_FIELD (AssaySweep, member, #member, KIND)
#define WORST(member, KIND) ASSAY_JSON_FIELD (AssaySweepWorst, member, #member, KIND)

static const AssayJsonField WORST_FIELDS[] = {
    WORST (input, UINT),   WORST (result, UINT),     WORST (correct, UINT), WORST (x, DOUBLE),
    WORST (value, DOUBLE), WORST (ulp_real, DOUBLE), WORST (position, INT), ASSAY_JSON_END,
};

static const AssayJsonTable WORST_TABLE = {
    .name = "worst input",
    .size = sizeof (AssaySweepWorst),
    .fields = WORST_FIELDS,
};

static const AssayJsonField SWEEP_FIELDS[] = {
    ASSAY_JSON_FIELD (AssaySweep, function, "function", STRING, .flags = ASSAY_JSON_REQUIRED),
    ASSAY_JSON_FIELD (AssaySweep, precision, "precision", STRING, .flags = ASSAY_JSON_REQUIRED),
    ASSAY_JSON_FIELD (AssaySweep, of, "of", STRING, .flags = ASSAY_JSON_REQUIRED),
    FIELD (first, INT),
    FIELD (last, INT),
    FIELD (next, INT),
    FIELD (low, DOUBLE),
    FIELD (high, DOUBLE),
    FIELD (count, UINT),
    FIELD (misrounded, UINT),
    FIELD (above_one, UINT),
    FIELD (rechecked, UINT),
    FIELD (max_ulp, UINT),
    FIELD (max_abs, DOUBLE),
    ASSAY_JSON_FIELD (AssaySweep, worst, "worst", LIST, .table = &WORST_TABLE),
    FIELD (nan_spurious, UINT),
    FIELD (nan_missing, UINT),
    FIELD (infinity_spurious, UINT),
    FIELD (infinity_missing, UINT),
    FIELD (zero_sign, UINT),
    ASSAY_JSON_END,
};

const AssayJsonTable ASSAY_SWEEP_TABLE = {
    .name = "sweep",
    .size = sizeof (AssaySweep),
    .fields = SWEEP_FIELDS,
};

/* ---- positions ---- */

static gint64
infinity_code (AssayDtype dtype)
{
  return (gint64) assay_dtype_encode (dtype, INFINITY);
}

gint64
assay_sweep_positions (AssayDtype dtype)
{
  return 2 * (infinity_code (dtype) + 1);
}

guint64
assay_sweep_code (AssayDtype dtype, gint64 position)
{
  gint64 infinity = infinity_code (dtype);
  guint64 sign = (guint64) 1 << (assay_dtype_format (dtype)->bits - 1);
  return position <= infinity ? sign | (guint64) (infinity - position)
                              : (guint64) (position - infinity - 1);
}

gint64
assay_sweep_position (AssayDtype dtype, double value)
{
  gint64 infinity = infinity_code (dtype);
  gint64 magnitude = (gint64) assay_dtype_encode (dtype, fabs (value));
  return signbit (value) ? infinity - magnitude : infinity + 1 + magnitude;
}

/* ---- one piece ---- */

typedef struct
{
  guint64 count, misrounded, above_one, rechecked, max_ulp;
  guint64 nan_spurious, nan_missing, infinity_spurious, infinity_missing, zero_sign;
  double max_abs;
  AssaySweepWorst worst[WORST_KEPT];
  guint n_worst;
} Tally;

typedef struct
{
  const AssaySweepJob *job;
  gint64 first, end;      /* of the batch */
  const guint32 *results; /* of the batch, or NULL */
  Tally tally;
  GMutex lock;
  GError *error;
  /* of the format */
  double overflow, window;
  guint64 least, most, fraction;
  gint64 infinity;
  guint32 sign;
} Sweeping;

static void
keep_worst (Tally *tally, const AssaySweepWorst *worst)
{
  guint at = tally->n_worst;
  while (at > 0
         && (tally->worst[at - 1].ulp_real < worst->ulp_real
             || (tally->worst[at - 1].ulp_real == worst->ulp_real
                 && tally->worst[at - 1].position > worst->position)))
    at--;
  if (at == WORST_KEPT)
    return;
  guint last = MIN (tally->n_worst, WORST_KEPT - 1);
  memmove (&tally->worst[at + 1], &tally->worst[at], (last - at) * sizeof *worst);
  tally->worst[at] = *worst;
  tally->n_worst = last + 1;
}

static void
merge (Tally *into, const Tally *from)
{
  into->count += from->count;
  into->misrounded += from->misrounded;
  into->above_one += from->above_one;
  into->rechecked += from->rechecked;
  into->nan_spurious += from->nan_spurious;
  into->nan_missing += from->nan_missing;
  into->infinity_spurious += from->infinity_spurious;
  into->infinity_missing += from->infinity_missing;
  into->zero_sign += from->zero_sign;
  into->max_ulp = MAX (into->max_ulp, from->max_ulp);
  into->max_abs = MAX (into->max_abs, from->max_abs);
  for (guint i = 0; i < from->n_worst; i++)
    keep_worst (into, &from->worst[i]);
}

/* Everything about a block, decoded. */
typedef struct
{
  guint32 codes[BLOCK], results[BLOCK], correct[BLOCK];
  double x[BLOCK], exact[BLOCK], value[BLOCK], per_ulp[BLOCK];
  double error[BLOCK], off_tie[BLOCK]; /* in ulp; off_tie is the distance to the nearest tie */
} Block;

static inline double
inverse_ulp (const Sweeping *s, double exact)
{
  guint64 exponent = assay_double_bits (exact) >> 52 & 0x7ff, bits;
  double out;
  exponent = exponent < s->least ? s->least : exponent > s->most ? s->most : exponent;
  bits = (2 * 1023 - exponent + s->fraction) << 52;
  memcpy (&out, &bits, sizeof out);
  return out;
}

static double
real_ulp (const Sweeping *s, double value, double exact, double low)
{
  double bounded = CLAMP (value, -s->overflow, s->overflow);
  double target = CLAMP (exact, -s->overflow, s->overflow);
  return fabs ((bounded - target) - (target == exact ? low : 0)) * inverse_ulp (s, exact);
}

/* NaN and infinity: TRUE when the element is done with. */
static gboolean
judge_special (Tally *tally, double value, double exact, double rounded)
{
  if (isnan (value) || isnan (exact))
    {
      tally->nan_spurious += !isnan (exact);
      tally->nan_missing += !isnan (value);
      tally->misrounded += isnan (value) != isnan (exact);
      return TRUE;
    }
  gboolean opposite = isinf (value) && isinf (rounded) && value != rounded;
  tally->infinity_spurious += isinf (value) && (!isinf (rounded) || opposite);
  tally->infinity_missing += isinf (rounded) && (!isinf (value) || opposite);
  tally->misrounded += opposite;
  return isinf (value) && isinf (rounded);
}

/* One element by the definitions, MPFR deciding where the oracle cannot. */
static void
judge (const Sweeping *s, Tally *tally, const Block *block, gsize i, gint64 position)
{
  AssayDtype dtype = s->job->dtype;
  double high = block->exact[i], low = 0;
  if (fabs (high) < s->overflow && block->off_tie[i] < s->window)
    {
      assay_sweep_exact (s->job->function, block->x[i], &high, &low);
      tally->rechecked++;
    }
  guint64 correct = assay_dtype_encode_pair (dtype, high, low);
  double rounded = assay_dtype_decode (dtype, correct), value = block->value[i];
  if (judge_special (tally, value, high, rounded))
    return;
  guint64 distance = assay_dtype_ulp_distance (dtype, block->results[i], correct);
  double error = real_ulp (s, value, high, low);
  tally->misrounded += distance != 0;
  tally->zero_sign += value == 0 && rounded == 0 && signbit (value) != signbit (rounded);
  tally->above_one += error > 1;
  tally->max_ulp = MAX (tally->max_ulp, distance);
  if (isfinite (value) && isfinite (high))
    tally->max_abs = MAX (tally->max_abs, fabs (value - high));
  if (tally->n_worst < WORST_KEPT || error > tally->worst[WORST_KEPT - 1].ulp_real)
    keep_worst (tally, &(AssaySweepWorst) {block->codes[i], block->results[i], correct, block->x[i],
                                           high, error, position});
}

/* Ordinary values that are rounded right and rank low need no further look. */
static void
judge_block (const Sweeping *s, Tally *tally, Block *block, gsize n, gint64 first)
{
  for (gsize i = 0; i < n; i++)
    {
      double per_ulp = inverse_ulp (s, block->exact[i]);
      double steps = fabs (block->exact[i]) * per_ulp;
      block->error[i] = fabs (block->value[i] - block->exact[i]) * per_ulp;
      block->off_tie[i] = fabs (steps - (double) (gint64) steps - 0.5);
    }
  double kept = tally->n_worst == WORST_KEPT ? tally->worst[WORST_KEPT - 1].ulp_real : -1;
  double max_abs = tally->max_abs;
  tally->count += n;
  for (gsize i = 0; i < n; i++)
    {
      double error = block->error[i];
      gboolean plain = error < 0.5 && block->off_tie[i] >= s->window
                       && fabs (block->exact[i]) < s->overflow / 2 && error <= kept
                       && signbit (block->exact[i]) == signbit (block->value[i]);
      double difference = fabs (block->value[i] - block->exact[i]);
      if (plain)
        max_abs = difference > max_abs ? difference : max_abs;
      else
        {
          tally->max_abs = max_abs;
          judge (s, tally, block, i, first + (gint64) i);
          max_abs = tally->max_abs;
          kept = tally->n_worst == WORST_KEPT ? tally->worst[WORST_KEPT - 1].ulp_real : -1;
        }
    }
  tally->max_abs = max_abs;
}

/* Nothing but one infinity, or NaN, on both sides. */
static gboolean
is_dull (const Block *block, gsize n)
{
  double exact = block->exact[0];
  if (!isinf (exact) && !isnan (exact))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    if (isnan (exact) ? !isnan (block->exact[i]) || !isnan (block->value[i])
                      : block->exact[i] != exact || block->value[i] != exact)
      return FALSE;
  return TRUE;
}

static void
fill_library (const AssaySweepJob *job, gsize n, Block *block)
{
  float (*single) (float) = job->function->single;
  for (gsize i = 0; i < n; i++)
    {
      float result = single ((float) block->x[i]);
      block->results[i] = job->dtype == ASSAY_DTYPE_FLOAT32
                              ? assay_float_bits (result)
                              : (guint32) assay_dtype_encode (job->dtype, result);
    }
}

static gboolean
fill_block (Sweeping *s, gint64 first, gsize n, Block *block, GError **error)
{
  const AssaySweepJob *job = s->job;
  double (*wide) (double) = job->function->wide;
  for (gsize i = 0; i < n; i++)
    {
      gint64 magnitude = first + (gint64) i - s->infinity;
      block->codes[i] = magnitude <= 0 ? s->sign | (guint32) -magnitude : (guint32) (magnitude - 1);
    }
  if (job->dtype == ASSAY_DTYPE_FLOAT32)
    for (gsize i = 0; i < n; i++)
      block->x[i] = assay_float_from_bits (block->codes[i]);
  else
    for (gsize i = 0; i < n; i++)
      block->x[i] = assay_dtype_decode (job->dtype, block->codes[i]);
  if (s->results)
    memcpy (block->results, s->results + (first - s->first), n * sizeof (guint32));
  else if (!job->candidate)
    fill_library (job, n, block);
  else if (!job->candidate (first, n, block->results, job->user_data, error))
    return FALSE;
  if (job->dtype == ASSAY_DTYPE_FLOAT32)
    for (gsize i = 0; i < n; i++)
      block->value[i] = assay_float_from_bits (block->results[i]);
  else
    for (gsize i = 0; i < n; i++)
      block->value[i] = assay_dtype_decode (job->dtype, block->results[i]);
  for (gsize i = 0; i < n; i++)
    block->exact[i] = wide (block->x[i]);
  return TRUE;
}

static void
sweep_piece (gsize piece, gpointer data)
{
  Sweeping *s = data;
  g_autoptr (GError) error = NULL;
  g_autofree Block *block = g_new (Block, 1);
  Tally tally = {0};
  gint64 first = s->first + (gint64) piece * PIECE, end = MIN (first + PIECE, s->end);
  for (gint64 at = first; at < end && !error; at += BLOCK)
    {
      gsize n = (gsize) MIN (BLOCK, end - at);
      if (!fill_block (s, at, n, block, &error))
        break;
      if (is_dull (block, n))
        tally.count += n;
      else
        judge_block (s, &tally, block, n, at);
    }
  g_mutex_lock (&s->lock);
  merge (&s->tally, &tally);
  if (error && !s->error)
    s->error = g_steal_pointer (&error);
  g_mutex_unlock (&s->lock);
}

/* ---- batches ---- */

static void
clear_worst (AssaySweep *sweep)
{
  for (guint i = 0; i < sweep->worst->len; i++)
    assay_json_table_free (&WORST_TABLE, g_ptr_array_index (sweep->worst, i));
  g_ptr_array_set_size (sweep->worst, 0);
}

static void
take_tally (AssaySweep *sweep, const Tally *tally)
{
  Tally kept = {0};
  for (guint i = 0; i < sweep->worst->len; i++)
    keep_worst (&kept, g_ptr_array_index (sweep->worst, i));
  for (guint i = 0; i < tally->n_worst; i++)
    keep_worst (&kept, &tally->worst[i]);
  clear_worst (sweep);
  for (guint i = 0; i < kept.n_worst; i++)
    {
      AssaySweepWorst *worst = assay_json_table_new (&WORST_TABLE);
      *worst = kept.worst[i];
      g_ptr_array_add (sweep->worst, worst);
    }
  sweep->count += tally->count;
  sweep->misrounded += tally->misrounded;
  sweep->above_one += tally->above_one;
  sweep->rechecked += tally->rechecked;
  sweep->nan_spurious += tally->nan_spurious;
  sweep->nan_missing += tally->nan_missing;
  sweep->infinity_spurious += tally->infinity_spurious;
  sweep->infinity_missing += tally->infinity_missing;
  sweep->zero_sign += tally->zero_sign;
  sweep->max_ulp = MAX (sweep->max_ulp, tally->max_ulp);
  sweep->max_abs = MAX (sweep->max_abs, tally->max_abs);
}

static gboolean
run_batch (AssaySweep *sweep, Sweeping *s, GCancellable *cancellable, GError **error)
{
  g_autofree guint32 *results = NULL;
  gsize n = (gsize) (s->end - s->first);
  memset (&s->tally, 0, sizeof s->tally);
  s->results = NULL;
  if (s->job->whole)
    {
      results = g_new (guint32, n);
      if (!s->job->candidate (s->first, n, results, s->job->user_data, error))
        return FALSE;
      s->results = results;
    }
  gsize pieces = (n + PIECE - 1) / PIECE;
  if (!assay_parallel_for (pieces, s->job->threads, sweep_piece, s, NULL, NULL, cancellable, error))
    return FALSE;
  if (s->error)
    {
      g_propagate_error (error, g_steal_pointer (&s->error));
      return FALSE;
    }
  take_tally (sweep, &s->tally);
  sweep->next = s->end;
  return TRUE;
}

/* The eight worst as MPFR sees them. */
static void
confirm_worst (AssaySweep *sweep, const Sweeping *s)
{
  Tally kept = {0}, none = {0};
  for (guint i = 0; i < sweep->worst->len; i++)
    {
      AssaySweepWorst worst = *(AssaySweepWorst *) g_ptr_array_index (sweep->worst, i);
      double low;
      assay_sweep_exact (s->job->function, worst.x, &worst.value, &low);
      worst.ulp_real =
          real_ulp (s, assay_dtype_decode (s->job->dtype, worst.result), worst.value, low);
      keep_worst (&kept, &worst);
    }
  clear_worst (sweep);
  for (guint i = 0; i < kept.n_worst; i++)
    keep_worst (&none, &kept.worst[i]);
  take_tally (sweep, &none);
}

gboolean
assay_sweep_run (AssaySweep *sweep, const AssaySweepJob *job, GCancellable *cancellable,
                 GError **error)
{
  const AssayFormat *format = assay_dtype_format (job->dtype);
  Sweeping s = {
      .job = job,
      .overflow = 2 * exp2 (floor (log2 (format->max_finite))),
      .window = ldexp (1, -job->function->window_bits),
      .least = assay_double_bits (format->min_normal) >> 52,
      .most = assay_double_bits (format->max_finite) >> 52,
      .fraction = (guint64) format->fraction_bits,
      .infinity = infinity_code (job->dtype),
      .sign = (guint32) 1 << (format->bits - 1),
  };
  gint64 total = sweep->last - sweep->first + 1;
  gboolean going = TRUE;
  g_mutex_init (&s.lock);
  while (going && sweep->next <= sweep->last)
    {
      s.first = sweep->next;
      s.end = MIN (s.first + BATCH, sweep->last + 1);
      going = run_batch (sweep, &s, cancellable, error);
      if (going && job->progress)
        job->progress ((double) (sweep->next - sweep->first) / (double) total, job->progress_data);
      if (going && job->checkpoint)
        going = job->checkpoint (sweep, job->progress_data, error);
    }
  if (going)
    confirm_worst (sweep, &s);
  g_mutex_clear (&s.lock);
  return going;
}
