/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/findings/findings.h"

G_BEGIN_DECLS

/* The failure classifier: which of the closed list of classes (docs/findings.md) an error is, who is to
 * blame, and what to do. Evidence in order: what the engine itself saw (timeout, signal), driver
 * codes, exception types, then text. */
typedef struct
{
  const char *failure_class; /* "ILLEGAL_ACCESS"; never NULL: "UNKNOWN" */
  int blame;                 /* AssayBlame */
  const char *advice;        /* what the reviewer does next */
  const char *rule;          /* the finding it leads to, or NULL: env.* by class, or run.failed */
} AssayFailureClass;

const AssayFailureClass *assay_failure_classify (const AssayFailure *failure);

G_END_DECLS
