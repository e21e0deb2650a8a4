/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "app/run-model.h"
#include "engine/figures/figures.h"
#include "engine/figures/verdicts.h"

G_BEGIN_DECLS

/* Everything the Numerics page shows of one output, made on a thread. */
typedef struct
{
  AssayPlotScene *scenes[ASSAY_N_FIGURES]; /* NULL where the record holds no such data */
  AssayVerdict verdicts[ASSAY_N_QUESTIONS];
  gboolean judged;       /* there are verdicts */
  gboolean contradicted; /* what is called gold is a contradicted reference's */
  char *gold;            /* how gold was made */
  GPtrArray *worst;      /* GStrv */
  GPtrArray *worst_bits; /* char *, markup, by row */
  GArray *worst_indices; /* gint64 */
} AssayNumericsScenes;

extern const char *const ASSAY_WORST_COLUMNS[];

void assay_numerics_scenes_free (AssayNumericsScenes *scenes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayNumericsScenes, assay_numerics_scenes_free)

void assay_numerics_scenes_async (AssayRunModel *run, const char *workload, const char *output,
                                  GCancellable *cancellable, GAsyncReadyCallback callback,
                                  gpointer user_data);
AssayNumericsScenes *assay_numerics_scenes_finish (GAsyncResult *result, GError **error);

G_END_DECLS
