/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/task/task.h"

G_BEGIN_DECLS

/* A task in words, for the Overview. No toolkit. */

typedef struct
{
  char *name, *value;
  gboolean silent; /* the task does not say; `value` tells that */
} AssayFact;

/* (transfer full): AssayFact, in reading order. */
GPtrArray *assay_task_facts (const AssayTask *task);
/* (transfer full): "cuda · host solve · -use_fast_math · by someone". */
char *assay_candidate_line (const AssayCandidate *candidate);
/* (transfer full): name, axes, inputs, tolerance, use. */
GStrv assay_workload_cells (const AssayTask *task, const AssayWorkload *workload);

G_END_DECLS
