/* SPDX-License-Identifier: Apache-2.0 */
/* One comparison of float32 arrays, all fields, beside the time to read the two arrays.
 *
 * bench-compare COUNT ROUNDS THREADS: prints one JSON line, best of all rounds in seconds. */
#include "engine/numerics/compare.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct
{
  const float *a, *b;
  gsize count;
  double *sums;
} Reading;

#define PIECE ((gsize) 1 << 20)

/* Both streams, four sums each, so that memory and not an addition's latency is waited for. */
__attribute__ ((optimize ("O3"))) static void
read_piece (gsize piece, gpointer data)
{
  const Reading *reading = data;
  gsize first = piece * PIECE, end = MIN (first + PIECE, reading->count);
  const guint32 *a = (const guint32 *) reading->a, *b = (const guint32 *) reading->b;
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

static void
fill (AssayArray *candidate, AssayArray *reference)
{
  float *c = (float *) candidate->data, *r = (float *) reference->data;
  guint64 state = 12345;
  for (gsize i = 0; i < candidate->count; i++)
    {
      state = state * 6364136223846793005u + 1442695040888963407u;
      r[i] = (float) (gint32) (state >> 32) * 0x1p-31f;
      c[i] = r[i] * (1 + (float) (gint32) (state >> 24 & 7) * 0x1p-23f);
    }
}

int
main (int argc, char **argv)
{
  if (argc != 4)
    return 2;
  const gint64 shape[2] = {atoll (argv[1]) / 1000, 1000};
  int rounds = atoi (argv[2]);
  guint threads = (guint) atoi (argv[3]);
  g_autoptr (AssayArray) c = assay_array_new (ASSAY_DTYPE_FLOAT32, shape, 2, NULL);
  g_autoptr (AssayArray) r = assay_array_new (ASSAY_DTYPE_FLOAT32, shape, 2, NULL);
  if (!c || !r)
    return 2;
  fill (c, r);
  gsize pieces = (c->count + PIECE - 1) / PIECE;
  g_autofree double *sums = g_new0 (double, pieces);
  Reading reading = {(const float *) c->data, (const float *) r->data, c->count, sums};
  double read = G_MAXDOUBLE, compare = G_MAXDOUBLE, checksum = 0;
  for (int i = 0; i < rounds; i++)
    {
      gint64 start = g_get_monotonic_time ();
      assay_parallel_for (pieces, threads, read_piece, &reading, NULL, NULL, NULL, NULL);
      read = MIN (read, seconds_since (start));
      AssayCompareInput input = {.candidate = c, .reference = r, .threads = threads};
      start = g_get_monotonic_time ();
      g_autoptr (AssayComparison) out = assay_compare (&input, NULL, NULL);
      compare = MIN (compare, seconds_since (start));
      checksum = (double) out->equal;
    }
  for (gsize i = 0; i < pieces; i++)
    reading.sums[0] += i ? sums[i] : 0;
  printf ("{\"device\":\"compare\",\"count\":%" G_GSIZE_FORMAT
          ",\"threads\":%u,\"read\":%.6f,\"compare\":%.6f,\"equal\":%.0f,\"sum\":%.0f}\n",
          c->count, threads, read, compare, checksum, reading.sums[0]);
  return 0;
}
