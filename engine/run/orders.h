/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/numerics/probes.h"
#include "engine/run/pipeline.h"

G_BEGIN_DECLS

/* Other ways to the same answer, from what the task declares of its sums: the reference, in the task's own
 * precision, with its inputs in another order along the free axes (`numerics.free_order`), and the sums
 * of a contraction (`numerics.contraction`) by other orders, tensor cores and narrower accumulators. */
typedef struct
{
  AssayProbeKind kind;
  char *name;
  const char *family;
  guint output;
  AssayArray *array;
} AssayOrder;

/* (transfer full) (element-type AssayOrder): empty where the task declares nothing, for large workloads,
 * and where the reference does not run. */
GPtrArray *assay_orders_run (AssayPipeline *pipeline, AssayCase *c);

G_END_DECLS
