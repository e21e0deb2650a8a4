/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/run.h"
#include "engine/sandbox/spec.h"

G_BEGIN_DECLS

/* Fills in what this computer is and how it protects itself. */
void assay_environment_describe (AssayEnvironment *environment, AssaySandboxTier tier,
                                 const char *toolkit_root);

/* (transfer full): "2026-12-01T04:05:06Z", and a name for a run that sorts by time. */
char *assay_time_now (void);
char *assay_run_id_new (void);

G_END_DECLS
