/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/run.h"

G_BEGIN_DECLS

/* A run of softmax_rows_f32 as an engine would record it: a float softmax with a modelled fast exp
 * and a strided sum is computed here and compared with a double one by engine/numerics; findings,
 * stages and compilations are told. Same bytes every time. */
AssayRun *assay_recorded_run (const char *candidate);
/* Writes it to <runs>/softmax_rows_f32/<run id>/run.json. */
void assay_recorded_write (const char *runs, const char *candidate);

G_END_DECLS
