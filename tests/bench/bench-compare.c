/* SPDX-License-Identifier: Apache-2.0 */
/* One comparison of two arrays, all fields and a tolerance, beside the time to read the two arrays, as
 * float32 and as bfloat16.
 *
 * bench-compare DTYPE COUNT ROUNDS THREADS: prints one JSON line, best of all rounds in seconds. */
#include "engine/numerics/compare.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct
{
  const AssayArray *a, *b;
  guint32 *sums; /* one a piece */
} Reading;

#define PIECE ((gsize) 1 << 22)

__attribute__ ((optimize ("O3"))) static void
read_piece (gsize piece, gpointer data)
{
  const Reading *reading = data;
  gsize first = piece * PIECE / 4, end = MIN (first + PIECE / 4, reading->a->bytes / 4);
  const guint32 *a = (const guint32 *) reading->a->data;
  const guint32 *b = (const guint32 *) reading->b->data;
  guint32 sum = 0;
  for (gsize i = first; i < end; i++)
    sum += a[i] ^ b[i];
  reading->sums[piece] = sum;
}

static double
seconds_since (gint64 start)
{
  return (double) (g_get_monotonic_time () - start) / G_TIME_SPAN_SECOND;
}

/* References spread evenly over (-1, 1), candidates up to seven steps above. */
static void
fill (AssayArray *candidate, AssayArray *reference)
{
  double step = candidate->dtype == ASSAY_DTYPE_FLOAT32 ? 0x1p-23 : 0x1p-7;
  guint64 state = 12345;
  for (gsize i = 0; i < candidate->count; i++)
    {
      state = state * 6364136223846793005u + 1442695040888963407u;
      assay_array_set (reference, i, (double) (gint32) (state >> 32) * 0x1p-31);
      double r = assay_array_get (reference, i);
      assay_array_set (candidate, i, r * (1 + (double) (state >> 24 & 7) * step));
    }
}

/* Takes turns, so that other work on the machine slows both. */
static void
measure (const AssayArray *c, const AssayArray *r, int rounds, guint threads)
{
  gsize pieces = (c->bytes + PIECE - 1) / PIECE;
  g_autofree guint32 *sums = g_new0 (guint32, pieces);
  g_autoptr (AssayTolerance) tolerance = assay_tolerance_new ();
  tolerance->atol = tolerance->rtol = 0.1; /* accepts all, as a right candidate is */
  Reading reading = {c, r, sums};
  double read = G_MAXDOUBLE, compare = G_MAXDOUBLE;
  guint64 equal = 0, sum = 0;
  for (int i = 0; i < rounds; i++)
    {
      gint64 start = g_get_monotonic_time ();
      assay_parallel_for (pieces, threads, read_piece, &reading, NULL, NULL, NULL, NULL);
      read = MIN (read, seconds_since (start));
      AssayCompareInput input = {
          .candidate = c, .reference = r, .tolerance = tolerance, .threads = threads};
      start = g_get_monotonic_time ();
      g_autoptr (AssayComparison) out = assay_compare (&input, NULL, NULL);
      compare = MIN (compare, seconds_since (start));
      equal = out->equal;
    }
  for (gsize i = 0; i < pieces; i++)
    sum += sums[i];
  printf ("{\"device\":\"compare\",\"dtype\":\"%s\",\"count\":%" G_GSIZE_FORMAT
          ",\"threads\":%u,\"read\":%.6f,\"compare\":%.6f,\"equal\":%" G_GUINT64_FORMAT
          ",\"sum\":%" G_GUINT64_FORMAT "}\n",
          assay_dtype_name (c->dtype), c->count, threads, read, compare, equal, sum);
}

int
main (int argc, char **argv)
{
  AssayDtype dtype = argc == 5 ? assay_dtype_from_name (argv[1]) : ASSAY_DTYPE_UNKNOWN;
  if (dtype != ASSAY_DTYPE_FLOAT32 && dtype != ASSAY_DTYPE_BFLOAT16)
    return 2;
  const gint64 shape[2] = {atoll (argv[2]) / 1000, 1000};
  g_autoptr (AssayArray) c = assay_array_new (dtype, shape, 2, NULL);
  g_autoptr (AssayArray) r = assay_array_new (dtype, shape, 2, NULL);
  if (!c || !r)
    return 2;
  fill (c, r);
  measure (c, r, atoi (argv[3]), (guint) atoi (argv[4]));
  return 0;
}
