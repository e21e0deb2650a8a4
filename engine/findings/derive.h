/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/findings/findings.h"
#include "engine/findings/rules.h"

G_BEGIN_DECLS

/* What the families of rules share while findings are derived. Inside this room only. */
typedef struct
{
  AssayRun *run;
  const AssayFacts *facts;
  GHashTable *broken; /* set of workloads in which memory, races or barriers were reported */
} AssayDeriving;

/* A finding of this rule with its defaults, already in run->findings, without fingerprint. */
AssayFinding *assay_derive_add (AssayDeriving *deriving, const char *rule);
/* Sets the title (transfer full) and the fingerprint; `anchor` is what does not move. */
void assay_derive_finish (AssayDeriving *deriving, AssayFinding *finding, char *title,
                          const char *anchor);
/* Adds evidence; strings are copied, NULL allowed but for kind. */
AssayEvidence *assay_derive_evidence (AssayFinding *finding, const char *kind, const char *ref,
                                      const char *title);
/* "1,234"; "1 element", "1,234 elements"; "2 of 3 workloads", "both workloads" (transfer full) */
char *assay_derive_count (guint64 count);
char *assay_derive_elements (guint64 count);
char *assay_derive_workloads (guint some, guint all);
/* TRUE when some finding's rule begins so. */
gboolean assay_derive_has (const AssayDeriving *deriving, const char *prefix);

/* The families, in this order. */
void assay_derive_reports (AssayDeriving *deriving);
void assay_derive_failures (AssayDeriving *deriving);
void assay_derive_numbers (AssayDeriving *deriving);
void assay_derive_off_list (AssayDeriving *deriving);
void assay_derive_audit (AssayDeriving *deriving);
void assay_derive_checker (AssayDeriving *deriving);
void assay_derive_task (AssayDeriving *deriving);
void assay_derive_skipped (AssayDeriving *deriving);

/* The limit of `target` that a launch breaks: the rule, with a sentence in `text`; NULL when it fits
 * or the target is not known. Values outside 32 bits are cut to the largest; registers are per
 * thread, 0 or less when not known. */
const char *assay_derive_launch_rule (const char *target, const gint64 *grid, const gint64 *block,
                                      gint64 shared, gint64 registers, char *text, gsize size);
/* Bytes of device memory of the target's typical part; 0 when it is not known. */
guint64 assay_derive_target_memory (const char *target);

G_END_DECLS
