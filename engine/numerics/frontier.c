/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/frontier.h"

#include <math.h>
#include <string.h>

#define CHUNK ((gsize) 1 << 14)
#define PER_DECADE 4
#define DECADES 9
#define COLUMNS (DECADES * PER_DECADE + 1)
#define SHARE_DECADES 16 /* atol 1e-14 … 1e2 */
#define SHARE_ROWS (SHARE_DECADES * PER_DECADE + 1)
/* A window that starts at an exact answer has no ratio; this far below the wrong answers counts. */
#define TINY 0x1p-40

AssayPlane *
assay_plane_new (const char *workload, const char *output)
{
  AssayPlane *plane = assay_json_table_new (&ASSAY_PLANE_TABLE);
  plane->workload = g_strdup (workload);
  plane->output = g_strdup (output);
  for (int i = 0; i < COLUMNS; i++)
    {
      double rtol = pow (10, (double) i / PER_DECADE - DECADES);
      g_array_append_val (plane->rtol, rtol);
    }
  return plane;
}

void
assay_plane_set_gate (AssayPlane *plane, double rtol)
{
  double place = (log10 (rtol) + DECADES) * PER_DECADE;
  if (rtol > 0 && place >= 0 && place <= COLUMNS - 1)
    g_array_index (plane->rtol, double, lround (place)) = rtol;
}

typedef struct
{
  const AssayCompareInput *input;
  const GArray *rtol;
  gsize count;
  double *needed;  /* pieces × columns */
  guint64 *passes; /* pieces × SHARE_ROWS × columns, or NULL: first row that passes */
} Sweep;

/* The row of atol from which `needed` passes; SHARE_ROWS when none does. */
static int
row_of (double needed)
{
  if (needed <= 0)
    return 0;
  double row = ceil ((log10 (needed) + SHARE_DECADES - 2) * PER_DECADE - 1e-9);
  return row <= 0 ? 0 : row > SHARE_ROWS ? SHARE_ROWS : (int) row;
}

/* One element against every rtol; gcc makes vector code of it at its third level only. */
#if defined(__GNUC__) && !defined(__clang__)
__attribute__ ((optimize ("O3")))
#endif
static void
raise_needed (double *restrict needed, const double *restrict rtol, gsize columns, double error,
              double size)
{
  for (gsize k = 0; k < columns; k++)
    {
      double atol = error - rtol[k] * size;
      needed[k] = atol > needed[k] ? atol : needed[k];
    }
}

static void
sweep_values (const Sweep *sweep, gsize piece, const double *c, const double *r, gsize n)
{
  const gsize columns = sweep->rtol->len;
  double *needed = sweep->needed + piece * columns;
  guint64 *passes = sweep->passes ? sweep->passes + piece * SHARE_ROWS * columns : NULL;
  const double *rtol = (const double *) (void *) sweep->rtol->data;
  for (gsize i = 0; i < n; i++)
    {
      gboolean same = c[i] == r[i] || (isnan (c[i]) && isnan (r[i]));
      double error = same ? 0 : fabs (c[i] - r[i]);
      double size = isfinite (r[i]) ? fabs (r[i]) : 0;
      if (!same && !(isfinite (c[i]) && isfinite (r[i])))
        error = INFINITY;
      /* What is needed falls as rtol grows: an element below the last one changes nothing. */
      if (error > needed[columns - 1])
        raise_needed (needed, rtol, columns, error, size);
      for (gsize k = 0; passes && k < columns; k++)
        {
          int row = row_of (error - rtol[k] * size);
          if (row < SHARE_ROWS)
            passes[(gsize) row * columns + k]++;
        }
    }
}

static void
sweep_piece (gsize piece, gpointer user_data)
{
  const Sweep *sweep = user_data;
  const AssayArray *candidate = sweep->input->candidate, *reference = sweep->input->reference;
  gsize begin = piece * CHUNK, n = MIN (CHUNK, sweep->count - begin);
  g_autofree double *c = g_new (double, n), *r = g_new (double, n);
  assay_dtype_decode_array (candidate->dtype, candidate->data, begin, n, c);
  assay_dtype_decode_array (reference->dtype, reference->data, begin, n, r);
  sweep_values (sweep, piece, c, r, n);
}

static gboolean
sweep_all (Sweep *sweep, gsize pieces, GCancellable *cancellable, GError **error)
{
  return assay_parallel_for (pieces, sweep->input->threads, sweep_piece, sweep, NULL, NULL,
                             cancellable, error);
}

static void
merge_needed (const Sweep *sweep, gsize pieces, GArray *atol)
{
  g_array_set_size (atol, 0);
  for (gsize k = 0; k < sweep->rtol->len; k++)
    {
      double most = 0;
      for (gsize piece = 0; piece < pieces; piece++)
        most = fmax (most, sweep->needed[piece * sweep->rtol->len + k]);
      g_array_append_val (atol, most);
    }
}

gboolean
assay_frontier (const AssayCompareInput *input, const GArray *rtol, GArray *atol,
                GCancellable *cancellable, GError **error)
{
  g_return_val_if_fail (rtol->len > 0, FALSE);
  gsize count = assay_array_components (input->reference), pieces = (count + CHUNK - 1) / CHUNK;
  g_autofree double *needed = g_new0 (double, MAX (pieces, 1) * rtol->len);
  Sweep sweep = {input, rtol, count, needed, NULL};
  if (!sweep_all (&sweep, pieces, cancellable, error))
    return FALSE;
  merge_needed (&sweep, pieces, atol);
  return TRUE;
}

gboolean
assay_plane_add (AssayPlane *plane, int kind, const char *name, const AssayCompareInput *input,
                 GCancellable *cancellable, GError **error)
{
  AssayFrontier *frontier = assay_json_table_new (&ASSAY_FRONTIER_TABLE);
  frontier->kind = kind;
  frontier->name = g_strdup (name);
  g_ptr_array_add (plane->frontiers, frontier);
  return assay_frontier (input, plane->rtol, frontier->atol, cancellable, error);
}

/* At most 2^20 elements are looked at for the shares, evenly spread, since a share needs no more. */
static AssayArray *
thinned (const AssayArray *array)
{
  gsize step = assay_array_components (array) / ((gsize) 1 << 20) + 1;
  gint64 shape = (gint64) ((assay_array_components (array) + step - 1) / step);
  AssayArray *out = assay_array_new (ASSAY_DTYPE_FLOAT64, &shape, 1, NULL);
  for (gint64 i = 0; out && i < shape; i++)
    assay_array_set (out, (gsize) i, assay_array_get (array, (gsize) i * step));
  return out;
}

static void
fill_shares (AssayPlane *plane, const Sweep *sweep, gsize pieces)
{
  g_array_set_size (plane->share, 0);
  g_array_set_size (plane->share_atol, 0);
  const gsize columns = sweep->rtol->len;
  g_autofree guint64 *passed = g_new0 (guint64, columns);
  for (gsize row = 0; row < SHARE_ROWS; row++)
    {
      double atol = pow (10, (double) row / PER_DECADE - (SHARE_DECADES - 2));
      g_array_append_val (plane->share_atol, atol);
      for (gsize k = 0; k < columns; k++)
        {
          for (gsize piece = 0; piece < pieces; piece++)
            passed[k] += sweep->passes[(piece * SHARE_ROWS + row) * columns + k];
          double share = (double) passed[k] / (double) MAX (sweep->count, 1);
          g_array_append_val (plane->share, share);
        }
    }
}

gboolean
assay_plane_set_candidate (AssayPlane *plane, const AssayCompareInput *input,
                           GCancellable *cancellable, GError **error)
{
  if (!assay_frontier (input, plane->rtol, plane->candidate, cancellable, error))
    return FALSE;
  g_autoptr (AssayArray) candidate = thinned (input->candidate);
  g_autoptr (AssayArray) reference = thinned (input->reference);
  if (!candidate || !reference)
    return TRUE; /* no memory for the shares: the frontier alone */
  AssayCompareInput thin = {
      .candidate = candidate, .reference = reference, .threads = input->threads};
  gsize count = candidate->count, pieces = (count + CHUNK - 1) / CHUNK;
  gsize columns = plane->rtol->len;
  g_autofree double *needed = g_new0 (double, MAX (pieces, 1) * columns);
  g_autofree guint64 *passes = g_new0 (guint64, MAX (pieces, 1) * SHARE_ROWS * columns);
  Sweep sweep = {&thin, plane->rtol, count, needed, passes};
  if (!sweep_all (&sweep, pieces, cancellable, error))
    return FALSE;
  fill_shares (plane, &sweep, pieces);
  return TRUE;
}

typedef struct
{
  double rtol, atol; /* what the right answers need: the corner of the sound window */
  double factor;     /* on both, from which a wrong answer passes */
  const char *honest_name, *wrong_name;
} Window;

static gboolean
is_right (const AssayFrontier *frontier)
{
  return frontier->kind == ASSAY_PROBE_HONEST || frontier->kind == ASSAY_PROBE_REFERENCE;
}

/* What all right answers need at this rtol, and which of them needs most. */
static double
needed_at (const AssayPlane *plane, guint column, const char **name)
{
  double most = 0;
  *name = "an exact answer";
  for (guint i = 0; i < plane->frontiers->len; i++)
    {
      const AssayFrontier *frontier = g_ptr_array_index (plane->frontiers, i);
      double atol = g_array_index (frontier->atol, double, column);
      if (!is_right (frontier) || !(atol > most))
        continue;
      most = atol;
      *name = frontier->name;
    }
  return most;
}

/* The first wrong answer that passes with this atol at this rtol; NULL: none. */
static const char *
first_passing (const AssayPlane *plane, guint column, double atol)
{
  for (guint i = 0; i < plane->frontiers->len; i++)
    {
      const AssayFrontier *frontier = g_ptr_array_index (plane->frontiers, i);
      if (!is_right (frontier) && atol >= g_array_index (frontier->atol, double, column))
        return frontier->name;
    }
  return NULL;
}

/* From what the right answers need at this rtol, both terms are widened together, column by column, until
 * a wrong answer passes. */
static Window
window_at (const AssayPlane *plane, guint column)
{
  Window window = {.rtol = g_array_index (plane->rtol, double, column), .factor = INFINITY};
  window.atol = needed_at (plane, column, &window.honest_name);
  for (guint k = column; k < plane->rtol->len; k++)
    {
      double factor = g_array_index (plane->rtol, double, k) / window.rtol;
      window.wrong_name = first_passing (plane, k, window.atol * factor);
      if (!window.wrong_name)
        continue;
      window.factor = factor;
      break;
    }
  return window;
}

static gboolean
has_wrong (const AssayPlane *plane)
{
  for (guint i = 0; i < plane->frontiers->len; i++)
    if (!is_right (g_ptr_array_index (plane->frontiers, i)))
      return TRUE;
  return FALSE;
}

void
assay_plane_propose (AssayPlane *plane)
{
  Window best = {.factor = 1}, last = {0};
  g_free (plane->proposal);
  plane->proposed_rtol = plane->proposed_atol = NAN;
  for (guint k = 0; k < plane->rtol->len && has_wrong (plane); k++)
    {
      last = window_at (plane, k);
      /* On a plateau the smallest rtol says most with least. */
      if (isfinite (last.atol) && isfinite (last.factor) && last.factor > best.factor * (1 + 1e-9))
        best = last;
    }
  if (!best.wrong_name)
    {
      Window window = window_at (plane, 0);
      plane->proposal =
          has_wrong (plane) ? g_strdup_printf (
              "No proposal: no rtol leaves room between the right answers (worst: "
              "%s) and the wrong ones (nearest: %s).",
              window.honest_name, window.wrong_name ? window.wrong_name : "none")
                            : g_strdup ("No proposal: no wrong answer was planted here.");
      return;
    }
  gboolean narrow = best.factor < 16;
  double wider = narrow ? sqrt (best.factor) : 4;
  plane->proposed_rtol = best.rtol * wider;
  plane->proposed_atol = best.atol * wider;
  plane->proposal = g_strdup_printf ("%s what the worst right answer needs (%s); the nearest wrong "
                                     "one (%s) needs %.3g times that.",
                                     narrow ? "The geometric middle above" : "Four times",
                                     best.honest_name, best.wrong_name, best.factor);
}
