/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/sandbox/spec.h"

G_BEGIN_DECLS

/* Whether this computer can protect itself from a worker, found by trying once. */
typedef struct
{
  gboolean works;
  char *tier;   /* "bubblewrap, seccomp" */
  char *reason; /* why it does not work, in words a reviewer can act on; NULL when it does */
  char *advice; /* what to do about it, or NULL */
} AssaySandboxPreflight;

/* The same answer for the whole life of the process; blocks for some 20 ms the first time. */
const AssaySandboxPreflight *assay_sandbox_preflight (void);

/* bubblewrap when it works, `none` with consent; otherwise FALSE with ASSAY_ERROR_DENIED, reason and
 * advice. */
gboolean assay_sandbox_choose (gboolean consent_unsandboxed, AssaySandboxTier *tier,
                               GError **error);
/* For run.environment.sandbox; owned by the program. */
const char *assay_sandbox_tier_describe (AssaySandboxTier tier);

/* What bwrap's complaint means here. Static text; `advice` may become NULL. */
const char *assay_sandbox_explain (const char *complaint, const char **advice);

/* $ASSAY_BWRAP, or bwrap from PATH; NULL where there is none. */
const char *assay_sandbox_bwrap_path (void);

G_END_DECLS
