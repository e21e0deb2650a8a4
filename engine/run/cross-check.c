/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/cross-check.h"

#include "engine/numerics/compare.h"

#include <math.h>

static gboolean
accepts (AssayPipeline *p, const AssayArray *answer, const AssayArray *against,
         const AssayTolerance *tolerance)
{
  AssayCompareInput input = {.candidate = answer, .reference = against, .tolerance = tolerance};
  AssayGate gate;
  return assay_gate (&input, &gate, p->cancellable, NULL) && gate.accepted;
}

/* Where two arrays of one shape stand furthest apart; a NaN on one side only is as far as it gets. */
static void
find_difference (const AssayArray *a, const AssayArray *b, AssayCrossCheck *out)
{
  gsize n = assay_array_components (a), parts = n / MAX (a->count, 1);
  out->index = -1;
  for (gsize i = 0; i < n; i++)
    {
      double x = assay_array_get (a, i), y = assay_array_get (b, i);
      double apart = isnan (x) != isnan (y) ? INFINITY : x == y ? 0 : fabs (x - y);
      if (out->index >= 0 && !(apart > out->max_abs))
        continue;
      out->max_abs = apart;
      out->index = (gint64) (i / MAX (parts, 1));
      out->reference = x;
      out->cross_check = y;
    }
}

AssayCrossCheck *
assay_cross_check_judge (AssayPipeline *p, const AssayArray *cross_check,
                         const AssayArray *reference, const AssayArray *candidate,
                         const AssayTolerance *tolerance)
{
  AssayCrossCheck *out = assay_json_table_new (&ASSAY_CROSS_CHECK_TABLE);
  out->reference_accepted = accepts (p, reference, cross_check, tolerance);
  out->candidate_accepted = accepts (p, candidate, cross_check, tolerance);
  find_difference (reference, cross_check, out);
  return out;
}
