/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/gate-facts.h"

#include "engine/base/parallel.h"

#include <math.h>

#define CHUNK ((gsize) 1 << 16)

typedef struct
{
  gsize finite, below, decided;
} Counts;

typedef struct
{
  const AssayArray *reference;
  double atol, rtol;
  Counts *counts; /* by piece */
} Counting;

static void
count_piece (gsize piece, gpointer user_data)
{
  const Counting *counting = user_data;
  gsize components = assay_array_components (counting->reference);
  gsize first = piece * CHUNK, n = MIN (CHUNK, components - first);
  g_autofree double *values = g_new (double, n);
  assay_dtype_decode_array (counting->reference->dtype, counting->reference->data, first, n,
                            values);
  for (gsize i = 0; i < n; i++)
    {
      double size = fabs (values[i]);
      if (!isfinite (size) || size == 0)
        continue;
      counting->counts[piece].finite++;
      counting->counts[piece].below += size <= counting->atol;
      counting->counts[piece].decided += counting->atol > counting->rtol * size;
    }
}

AssayGateFacts *
assay_gate_facts (const AssayArray *reference, const AssayTolerance *tolerance,
                  const char *workload, const char *output)
{
  AssayGateFacts *facts = assay_json_table_new (&ASSAY_GATE_FACTS_TABLE);
  gsize pieces = (assay_array_components (reference) + CHUNK - 1) / CHUNK;
  g_autofree Counts *counts = g_new0 (Counts, MAX (pieces, 1));
  Counting counting = {reference, tolerance->atol, tolerance->rtol, counts};
  Counts all = {0, 0, 0};
  facts->workload = g_strdup (workload);
  facts->output = g_strdup (output);
  facts->spare = (gint64) ((1 - tolerance->matched_ratio) * (double) reference->count);
  if (!isnan (tolerance->max_error_cap))
    facts->spare = 0;
  assay_parallel_for (pieces, 0, count_piece, &counting, NULL, NULL, NULL, NULL);
  for (gsize i = 0; i < pieces; i++)
    {
      all.finite += counts[i].finite;
      all.below += counts[i].below;
      all.decided += counts[i].decided;
    }
  facts->count = (gint64) all.finite;
  gboolean absolute =
      tolerance->rule == ASSAY_RULE_ALLCLOSE || tolerance->rule == ASSAY_RULE_EITHER;
  facts->below_atol = absolute && all.finite ? (double) all.below / (double) all.finite : NAN;
  facts->atol_decides = absolute && all.finite ? (double) all.decided / (double) all.finite : NAN;
  return facts;
}
