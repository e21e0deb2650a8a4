/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/finding.h"

G_BEGIN_DECLS

/* Every rule, what it means for whom by default, and what must have happened for it to be able to
 * fire. A rule whose need is not met is listed as skipped, with the reason. */
typedef enum
{
  ASSAY_NEEDS_NOTHING,
  ASSAY_NEEDS_RUN,     /* the candidate ran on some device */
  ASSAY_NEEDS_COMPARE, /* outputs were compared with a reference */
  ASSAY_NEEDS_GOLD,    /* and with gold */
  ASSAY_NEEDS_AUDIT,   /* planted answers were judged */
  ASSAY_NEEDS_REPEAT,  /* the candidate ran twice */
  ASSAY_NEEDS_COMPILE, /* the compile matrix */
  ASSAY_NEEDS_VGPU,    /* the virtual GPU, whatever it checks */
  ASSAY_NEEDS_UNINIT,  /* … with this check on, and so on */
  ASSAY_NEEDS_RACE,
  ASSAY_NEEDS_RACE_GLOBAL,
  ASSAY_NEEDS_SYNC,
  ASSAY_NEEDS_DEVICE,      /* a real device, timed */
  ASSAY_NEEDS_PROFILE,     /* an imported profile or counters read by perf */
  ASSAY_NEEDS_START,       /* a starting point that was run beside the candidate */
  ASSAY_NEEDS_CROSS_CHECK, /* a second reference that ran */
  ASSAY_NEEDS_OFF_LIST,    /* the candidate on what the task allows and does not list */
  ASSAY_NEEDS_CHECKER,     /* the task's own checker or harness */
  ASSAY_NEEDS_PROBE,       /* probe runs that this version does not make */
  ASSAY_NEEDS_FRAMEWORK,   /* another framework's worker */
  ASSAY_NEEDS_REVIEWER,    /* a human reading */
} AssayRuleNeed;

typedef struct
{
  const char *id;
  const char *axis; /* of DESIGN: scope, validity, numerics, performance, integrity, safety, … */
  AssaySeverity severity;
  AssayBlame blame;
  const char *component;
  AssayRuleNeed needs;
  const char *suggestion; /* what to do about it, or NULL */
} AssayRule;

extern const AssayRule ASSAY_RULES[];
extern const gsize ASSAY_N_RULES;

/* NULL for an identifier we do not know. */
const AssayRule *assay_rule_find (const char *id);

G_END_DECLS
