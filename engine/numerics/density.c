/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/density.h"

#include <math.h>
#include <string.h>

#define CHUNK ((gsize) 1 << 18)
#define SIDE 96      /* bins along the input's values */
#define BITS 64      /* of error */
#define EXPONENTS 96 /* at most, of magnitudes and of errors: from the largest down */

typedef struct
{
  const AssayCompareInput *input;
  const AssayArray *values; /* by input */
  double low, high;         /* by input: the range of the values */
  int x_top, y_top;         /* by magnitude: the largest exponents */
  gint64 x_bins, y_bins;
  GMutex lock;
  guint64 *counts; /* merged */
  guint64 exact;
} Density;

typedef struct
{
  double candidate[2048], gold[2048], values[2048];
} Block;

/* Candidate, gold and, where there are any, values of at most 2048 components. */
static void
load (const Density *density, gsize first, gsize n, Block *block)
{
  const AssayCompareInput *input = density->input;
  AssayDtype dtype = input->candidate->dtype;
  assay_dtype_decode_array (dtype, input->candidate->data, first, n, block->candidate);
  if (input->gold)
    memcpy (block->gold, input->gold + first, n * sizeof (double));
  else
    assay_dtype_decode_array (dtype, input->reference->data, first, n, block->gold);
  if (density->values)
    assay_dtype_decode_array (density->values->dtype, density->values->data, first, n,
                              block->values);
}

static double
error_at (const Density *density, const Block *block, gsize first, gsize i)
{
  double low = density->input->gold_low ? density->input->gold_low[first + i] : 0;
  return fabs ((block->candidate[i] - block->gold[i]) - low);
}

/* ---- the largest exponents ---- */

static void
find_top (gsize piece, gpointer user_data)
{
  Density *density = user_data;
  gsize components = assay_array_components (density->input->candidate);
  gsize end = MIN ((piece + 1) * CHUNK, components);
  double most_gold = 0, most_error = 0, low = INFINITY, high = -INFINITY;
  g_autofree Block *block = g_new (Block, 1);
  for (gsize first = piece * CHUNK; first < end; first += 2048)
    {
      gsize n = MIN (2048, end - first);
      load (density, first, n, block);
      for (gsize i = 0; i < n; i++)
        {
          double error = error_at (density, block, first, i);
          if (isfinite (block->gold[i]))
            most_gold = fmax (most_gold, fabs (block->gold[i]));
          if (isfinite (error))
            most_error = fmax (most_error, error);
          if (density->values && isfinite (block->values[i]))
            {
              low = fmin (low, block->values[i]);
              high = fmax (high, block->values[i]);
            }
        }
    }
  g_mutex_lock (&density->lock);
  if (most_gold > 0)
    density->x_top = MAX (density->x_top, ilogb (most_gold));
  if (most_error > 0)
    density->y_top = MAX (density->y_top, ilogb (most_error));
  density->low = fmin (density->low, low);
  density->high = fmax (density->high, high);
  g_mutex_unlock (&density->lock);
}

/* ---- counting ---- */

/* What lies below the window stands in its lowest bin. */
static gint64
exponent_bin (double value, int top, gint64 bins)
{
  gint64 bin = (gint64) ilogb (value) - top + bins - 1;
  return CLAMP (bin, 0, bins - 1);
}

static gint64
cell_of (const Density *density, const Block *block, gsize i, double error)
{
  double gold = fabs (block->gold[i]);
  if (!density->values)
    return gold > 0 ? exponent_bin (error, density->y_top, density->y_bins) * density->x_bins
                          + exponent_bin (gold, density->x_top, density->x_bins)
                    : -1;
  double at = (block->values[i] - density->low) / (density->high - density->low);
  double ulp = assay_dtype_ulp (density->input->candidate->dtype, block->gold[i]);
  if (!(at >= 0 && at <= 1))
    return -1;
  gint64 x = MIN ((gint64) (at * SIDE), SIDE - 1);
  gint64 y = MIN ((gint64) log2 (1 + error / ulp), BITS - 1);
  return y * density->x_bins + x;
}

static void
count_piece (gsize piece, gpointer user_data)
{
  Density *density = user_data;
  gsize components = assay_array_components (density->input->candidate);
  gsize end = MIN ((piece + 1) * CHUNK, components);
  gsize cells = (gsize) (density->x_bins * density->y_bins);
  g_autofree guint64 *counts = g_new0 (guint64, cells);
  g_autofree Block *block = g_new (Block, 1);
  guint64 exact = 0;
  for (gsize first = piece * CHUNK; first < end; first += 2048)
    {
      gsize n = MIN (2048, end - first);
      load (density, first, n, block);
      for (gsize i = 0; i < n; i++)
        {
          double error = error_at (density, block, first, i);
          if (!isfinite (error) || !isfinite (block->gold[i]))
            continue;
          exact += error == 0;
          if (error == 0 && !density->values)
            continue;
          gint64 cell = cell_of (density, block, i, error);
          if (cell >= 0)
            counts[cell]++;
        }
    }
  g_mutex_lock (&density->lock);
  density->exact += exact;
  for (gsize i = 0; i < cells; i++)
    density->counts[i] += counts[i];
  g_mutex_unlock (&density->lock);
}

/* ---- the record ---- */

/* Rows and columns without an element at the ends are cut off. */
static void
find_occupied (const Density *density, gint64 *x0, gint64 *x1, gint64 *y1, gint64 *y0)
{
  *x0 = density->x_bins;
  *y0 = density->y_bins;
  *x1 = *y1 = -1;
  for (gint64 y = 0; y < density->y_bins; y++)
    for (gint64 x = 0; x < density->x_bins; x++)
      if (density->counts[y * density->x_bins + x])
        {
          *x0 = MIN (*x0, x);
          *x1 = MAX (*x1, x);
          *y0 = MIN (*y0, y);
          *y1 = MAX (*y1, y);
        }
}

static AssayDensity *
record (const Density *density, const char *name)
{
  gint64 x0, x1, y1, y0;
  find_occupied (density, &x0, &x1, &y1, &y0);
  if (x1 < 0)
    return NULL;
  if (density->values)
    {
      x0 = y0 = 0;
      x1 = density->x_bins - 1;
    }
  AssayDensity *out = assay_json_table_new (&ASSAY_DENSITY_TABLE);
  out->input = g_strdup (name);
  out->columns = x1 - x0 + 1;
  out->rows = y1 - y0 + 1;
  out->exact = density->exact;
  out->low = density->values ? density->low : x0 + density->x_top - density->x_bins + 1.0;
  out->high = density->values ? density->high : out->low + (double) out->columns;
  out->first_row = density->values ? 0 : y0 + density->y_top - density->y_bins + 1;
  for (gint64 y = y0; y <= y1; y++)
    for (gint64 x = x0; x <= x1; x++)
      g_array_append_val (out->counts, density->counts[y * density->x_bins + x]);
  return out;
}

static AssayDensity *
measure (Density *density, const char *name, GCancellable *cancellable)
{
  const AssayCompareInput *input = density->input;
  gsize pieces = (assay_array_components (input->candidate) + CHUNK - 1) / CHUNK;
  AssayDensity *out = NULL;
  if (!assay_dtype_is_float (assay_dtype_component (input->candidate->dtype)) || pieces == 0)
    return NULL;
  density->low = INFINITY;
  density->high = -INFINITY;
  density->x_top = density->y_top = G_MININT / 2;
  g_mutex_init (&density->lock);
  density->counts = g_new0 (guint64, (gsize) (density->x_bins * density->y_bins));
  if (assay_parallel_for (pieces, input->threads, find_top, density, NULL, NULL, cancellable, NULL)
      && (!density->values || density->high > density->low)
      && assay_parallel_for (pieces, input->threads, count_piece, density, NULL, NULL, cancellable,
                             NULL))
    out = record (density, name);
  g_free (density->counts);
  g_mutex_clear (&density->lock);
  return out;
}

AssayDensity *
assay_density_by_magnitude (const AssayCompareInput *input, GCancellable *cancellable)
{
  Density density = {.input = input, .x_bins = EXPONENTS, .y_bins = EXPONENTS};
  return measure (&density, NULL, cancellable);
}

AssayDensity *
assay_density_by_input (const AssayCompareInput *input, const AssayArray *values, const char *name,
                        GCancellable *cancellable)
{
  Density density = {.input = input, .values = values, .x_bins = SIDE, .y_bins = BITS};
  if (assay_array_components (values) != assay_array_components (input->candidate)
      || assay_dtype_format (input->candidate->dtype)->components != 1)
    return NULL;
  return measure (&density, name, cancellable);
}
