/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/error-place.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_ULP 8.0
#define FACTOR 16.0

static int
ascending (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

static double
median (double *values, gsize n)
{
  qsort (values, n, sizeof *values, ascending);
  return n ? values[n / 2] : NAN;
}

static gboolean
is_hot (double value, double usual, double expected)
{
  return value > LEAST_ULP && value > FACTOR * fmax (fmax (usual, expected), 0.25);
}

/* ---- bands ---- */

/* Medians along a line of cells: one cancelling element does not move them. */
static gsize
line_medians (const AssayPosition *p, gboolean rows, double *medians)
{
  gsize lines = (gsize) (rows ? p->cell_rows : p->cell_columns);
  gsize across = (gsize) (rows ? p->cell_columns : p->cell_rows);
  g_autofree double *line = g_new (double, MAX (across, 1));
  for (gsize i = 0; i < lines; i++)
    {
      gsize n = 0;
      for (gsize k = 0; k < across; k++)
        {
          gsize at = rows ? i * across + k : k * lines + i;
          double value = g_array_index (p->rms_ulp, double, at);
          if (!isnan (value))
            line[n++] = value;
        }
      medians[i] = n >= 4 ? median (line, n) : 0;
    }
  return across >= 4 ? lines : 0;
}

static gboolean
find_band (const AssayPosition *p, const AssayPosition *reference, gboolean rows, gint64 *first,
           gint64 *last)
{
  gsize lines = (gsize) (rows ? p->cell_rows : p->cell_columns);
  g_autofree double *medians = g_new0 (double, MAX (lines, 1));
  g_autofree double *expected = g_new0 (double, MAX (lines, 1));
  g_autofree double *sorted = g_new0 (double, MAX (lines, 1));
  gsize n = line_medians (p, rows, medians), high = 0;
  if (line_medians (reference, rows, expected) != n)
    return FALSE;
  for (gsize i = 0; i < n; i++)
    sorted[i] = medians[i];
  double usual = median (sorted, n);
  *first = -1;
  for (gsize i = 0; i < n; i++)
    if (is_hot (medians[i], usual, expected[i]))
      {
        *first = *first < 0 ? (gint64) i : *first;
        *last = (gint64) i;
        high++;
      }
  /* A band holds together: most lines from its first to its last are hot. */
  return n >= 4 && high > 0 && high * 4 <= n && high * 2 > (gsize) (*last - *first);
}

static gboolean
set_band (const AssayOutput *output, AssayErrorPlace *place)
{
  const AssayPosition *p = &output->comparison->position;
  const AssayComparison *reference = output->gold ? output->gold->reference : NULL;
  gint64 first = 0, last = 0;
  for (int rows = 1; rows >= 0; rows--)
    if (reference && p->rms_ulp->len && find_band (p, &reference->position, rows, &first, &last))
      {
        gint64 per_cell = rows ? p->rows_per_cell : p->columns_per_cell;
        place->kind = rows ? ASSAY_PLACE_ROWS : ASSAY_PLACE_COLUMNS;
        place->extent = rows ? p->rows : p->columns;
        place->first = first * per_cell;
        place->last = MIN ((last + 1) * per_cell, place->extent) - 1;
        return TRUE;
      }
  return FALSE;
}

char *
assay_error_band (const AssayOutput *output)
{
  AssayErrorPlace place = {0};
  if (!set_band (output, &place))
    return NULL;
  return g_strdup_printf ("%s %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT,
                          place.kind == ASSAY_PLACE_ROWS ? "rows" : "columns", place.first,
                          place.last, place.extent);
}

/* ---- every so many elements ---- */

/* The worst elements fall on at most two remainders of a step, and on several of its multiples. */
static gboolean
fits_step (const GPtrArray *worst, guint n, gint64 step, gint64 *remainder)
{
  gint64 seen[2] = {-1, -1}, least = G_MAXINT64, most = -1;
  for (guint i = 0; i < n; i++)
    {
      gint64 index = ((AssayWorst *) g_ptr_array_index (worst, i))->index;
      gint64 rest = index % step;
      least = MIN (least, index / step);
      most = MAX (most, index / step);
      if (seen[0] == rest || seen[1] == rest)
        continue;
      if (seen[1] >= 0)
        return FALSE;
      seen[seen[0] >= 0] = rest;
    }
  *remainder = seen[1] >= 0 ? MIN (seen[0], seen[1]) : seen[0];
  return most - least >= 3;
}

static gboolean
set_steps (const AssayOutput *output, AssayErrorPlace *place)
{
  const AssayComparison *c = output->comparison;
  guint n = (guint) MIN (c->mismatches, c->worst->len);
  if (c->accepted || n < 6 || c->mismatch_share > 0.1)
    return FALSE;
  for (gint64 step = 1024; step >= 16; step /= 2)
    if (fits_step (c->worst, n, step, &place->first))
      {
        place->kind = ASSAY_PLACE_STEPS;
        place->step = step;
        return TRUE;
      }
  return FALSE;
}

/* ---- on a diagonal ---- */

#define DIAGONAL 16

static gboolean
set_diagonal (const AssayOutput *output, AssayErrorPlace *place)
{
  const AssayComparison *c = output->comparison;
  gint64 columns = c->position.columns, first = 0;
  g_autoptr (GHashTable) rows = g_hash_table_new (NULL, NULL);
  if (c->accepted || columns < 4 || c->position.rows < 8 || c->mismatches < DIAGONAL
      || c->worst->len < DIAGONAL)
    return FALSE;
  for (guint i = 0; i < DIAGONAL; i++)
    {
      gint64 index = ((AssayWorst *) g_ptr_array_index (c->worst, i))->index;
      gint64 offset = index % columns - index / columns;
      first = i == 0 ? offset : first;
      if (offset != first)
        return FALSE;
      g_hash_table_add (rows, GINT_TO_POINTER ((int) (index / columns) + 1));
    }
  if (g_hash_table_size (rows) < 8)
    return FALSE;
  place->kind = ASSAY_PLACE_DIAGONAL;
  place->step = first;
  return TRUE;
}

/* ---- cells ---- */

static void
count_hot (const AssayOutput *output, AssayErrorPlace *place)
{
  const AssayPosition *p = &output->comparison->position;
  const AssayComparison *reference = output->gold ? output->gold->reference : NULL;
  const GArray *expected = reference ? reference->position.rms_ulp : NULL;
  g_autofree double *sorted = g_new (double, MAX (p->rms_ulp->len, 1));
  gsize n = 0;
  for (guint i = 0; i < p->rms_ulp->len; i++)
    if (!isnan (g_array_index (p->rms_ulp, double, i)))
      sorted[n++] = g_array_index (p->rms_ulp, double, i);
  double usual = n ? median (sorted, n) : 0;
  place->cells = p->rms_ulp->len;
  for (guint i = 0; i < p->rms_ulp->len; i++)
    {
      double value = g_array_index (p->rms_ulp, double, i);
      double its = expected && i < expected->len ? g_array_index (expected, double, i) : 0;
      place->hot += isnan (value) || is_hot (value, usual, isnan (its) ? 0 : its);
    }
}

/* ---- parts ---- */

#define MOST_OF_IT 0.95

/* Squares of the error along each line. Cells beyond what 19 of 20 inexact ones have count as that much, so
 * that a few elements that cancel do not make a place. */
static gsize
line_squares (const AssayPosition *p, gboolean rows, double *squares)
{
  gsize lines = (gsize) (rows ? p->cell_rows : p->cell_columns);
  gsize across = (gsize) (rows ? p->cell_columns : p->cell_rows), n = 0;
  g_autofree double *inexact = g_new (double, MAX (p->rms_ulp->len, 1));
  for (guint i = 0; i < p->rms_ulp->len; i++)
    if (g_array_index (p->rms_ulp, double, i) > 0)
      inexact[n++] = g_array_index (p->rms_ulp, double, i);
  qsort (inexact, n, sizeof *inexact, ascending);
  double most = n ? inexact[n * 19 / 20] : 0;
  for (gsize i = 0; i < lines; i++)
    for (gsize k = 0; k < across; k++)
      {
        double value = g_array_index (p->rms_ulp, double, rows ? i *across + k : k *lines + i);
        squares[i] += value > 0 ? fmin (value, most) * fmin (value, most) : 0;
      }
  return across >= 4 && n >= 64 ? lines : 0;
}

/* The shortest run of lines that holds nearly all of the squared error. FALSE when it is more than two
 * fifths of them. */
static gboolean
find_part (const AssayPosition *p, gboolean rows, gint64 *first, gint64 *last, double *share)
{
  gsize lines = (gsize) (rows ? p->cell_rows : p->cell_columns), shortest = G_MAXSIZE;
  g_autofree double *sums = g_new0 (double, lines + 1), *squares = g_new0 (double, MAX (lines, 1));
  gsize n = line_squares (p, rows, squares);
  for (gsize i = 0; i < n; i++)
    sums[i + 1] = sums[i] + squares[i];
  for (gsize end = 1, begin = 0; end <= n && sums[n] > 0; end++)
    {
      while (sums[end] - sums[begin + 1] >= MOST_OF_IT * sums[n])
        begin++;
      double held = sums[end] - sums[begin];
      if (held < MOST_OF_IT * sums[n] || end - begin >= shortest)
        continue;
      shortest = end - begin;
      *first = (gint64) begin;
      *last = (gint64) end - 1;
    }
  if (n < 8 || shortest > n || shortest * 5 > n * 2)
    return FALSE;
  /* What begins near an edge is said to begin there. */
  if ((gsize) *first * 5 <= shortest)
    *first = 0;
  if ((n - 1 - (gsize) *last) * 5 <= shortest)
    *last = (gint64) n - 1;
  *share = (sums[*last + 1] - sums[*first]) / sums[n];
  return TRUE;
}

static gboolean
set_part (const AssayOutput *output, AssayErrorPlace *place)
{
  const AssayPosition *p = &output->comparison->position;
  gint64 first = 0, last = 0;
  for (int rows = 1; p->rms_ulp->len && rows >= 0; rows--)
    if (find_part (p, rows, &first, &last, &place->share))
      {
        gint64 per_cell = rows ? p->rows_per_cell : p->columns_per_cell;
        place->kind = rows ? ASSAY_PLACE_PART_ROWS : ASSAY_PLACE_PART_COLUMNS;
        place->extent = rows ? p->rows : p->columns;
        place->first = first * per_cell;
        place->last = MIN ((last + 1) * per_cell, place->extent) - 1;
        return TRUE;
      }
  return FALSE;
}

AssayErrorPlace
assay_error_place (const AssayOutput *output)
{
  const AssayComparison *c = output->comparison;
  AssayErrorPlace place = {.kind = ASSAY_PLACE_EVEN};
  guint64 special = c->nan.candidate_only + c->nan.reference_only + c->inf.candidate_only
                    + c->inf.reference_only + c->inf.opposite;
  if (c->not_correctly_rounded == 0 && c->mismatches == 0 && special == 0)
    {
      place.kind = ASSAY_PLACE_NOWHERE;
      return place;
    }
  if (set_steps (output, &place) || set_diagonal (output, &place))
    return place;
  if (!(c->mismatch_share > 0.5) && set_band (output, &place))
    return place;
  count_hot (output, &place);
  place.kind = c->mismatch_share > 0.5 ? ASSAY_PLACE_EVERYWHERE : ASSAY_PLACE_EVEN;
  if (c->mismatch_share > 0.5)
    return place;
  if (place.hot > 0 && !c->accepted)
    place.kind = ASSAY_PLACE_CELLS;
  else
    set_part (output, &place);
  return place;
}
