/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/findings/findings.h"

G_BEGIN_DECLS

/* The failure classifier: which of the closed list of classes (docs/findings.md) an error is, who is to
 * blame, and what to do. The patterns are data (data/failure-patterns.json), asked in three tiers:
 *   specific  a name (what the engine itself saw, a driver code, the type of an exception), then the text
 *             of the last traceback, its first cause first, then the earliest place in the whole text;
 *   general   which part of a framework threw which kind of exception, then what tools say around a true
 *             cause ("error building extension");
 *   words     what the lines that speak of a failure are about. It names a class and leaves the blame
 *             undecided wherever words do not settle it; undecided counts against the candidate. */
typedef struct
{
  char *failure_class; /* "ILLEGAL_ACCESS"; never NULL: "UNKNOWN" */
  int blame; /* AssayBlame; where undecided, whom it counts against until shown otherwise */
  gboolean
      undecided;   /* a second run decides: the reference fails alike, or another version works */
  char *advice;    /* what the reviewer does next */
  char *rule;      /* the finding it leads to */
  char *framework; /* "triton", "cuda", "any", …; NULL: nothing matched */
  char *source;    /* where the message is defined; NULL where it is not recorded */
} AssayFailureClass;

/* (transfer none), never NULL, lives as long as the process. */
const AssayFailureClass *assay_failure_classify (const AssayFailure *failure);

/* The same for a whole log: `name` may be NULL. The bytes of `text` that decided are
 * [*start, *end); both are 0 where the name decided, or nothing did. At most the first and the last
 * half MiB of the text are read. */
const AssayFailureClass *assay_failure_explain (const char *name, const char *text, gsize *start,
                                                gsize *end);

G_END_DECLS
