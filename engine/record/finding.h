/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/json-table.h"

G_BEGIN_DECLS

typedef enum
{
  ASSAY_SEVERITY_BLOCKER,
  ASSAY_SEVERITY_MAJOR,
  ASSAY_SEVERITY_MINOR,
  ASSAY_SEVERITY_INFO,
} AssaySeverity;

typedef enum
{
  ASSAY_BLAME_CANDIDATE,
  ASSAY_BLAME_TASK,
  ASSAY_BLAME_ENVIRONMENT,
  ASSAY_BLAME_INTERPRETER,
  ASSAY_BLAME_HARDWARE,
} AssayBlame;

typedef enum
{
  ASSAY_DISPOSITION_OPEN,
  ASSAY_DISPOSITION_CONFIRMED,
  ASSAY_DISPOSITION_FALSE_POSITIVE,
  ASSAY_DISPOSITION_DUPLICATE,
  ASSAY_DISPOSITION_FIXED,
  ASSAY_DISPOSITION_REGRESSED,
} AssayDisposition;

extern const char *const ASSAY_SEVERITIES[];
/* "1 blocker", "2 blockers", "3 major" (transfer full) */
char *assay_severity_count (int severity, guint count);
extern const char *const ASSAY_BLAMES[];
extern const char *const ASSAY_DISPOSITIONS[];

/* Where in the sources, the grid or the data. Zero line, NULL strings, -1 index: not known. */
typedef struct
{
  char *file; /* relative to the task folder */
  gint64 line, column;
  char *kernel;
  GArray *block, *thread; /* gint64 × 3, or empty */
  char *workload;
  char *output;
  gint64 index;
} AssayWhere;

/* One piece of evidence; the same struct serves findings and review scores. */
typedef struct
{
  char *kind; /* run | plot | log | source | array | metric | probe | finding | note */
  char *ref;  /* what of that kind: "numerics/margin/vocab/y", a path, a finding id, a probe name */
  gint64 first_line, last_line;
  char *sha256; /* of the file the lines are quoted from, to see when it is stale */
  char *quote;
  char *title; /* how a chip calls it */
} AssayEvidence;

typedef struct
{
  char
      *id; /* stable fingerprint: rule, candidate, kernel, text of the line; survives line shifts */
  char *rule; /* RULES: "num.zero-output-passes" */
  gint64 rule_version;
  char *axis; /* scope | validity | numerics | performance | integrity | safety | environment */
  int severity, blame;
  char *component; /* spec | reference | inputs | checker | tolerance | benchmark | … */
  char *candidate, *target;
  double confidence; /* 0 … 1 */
  char *title;       /* one line: facts and numbers */
  char *detail;      /* Markdown */
  AssayWhere where;
  GPtrArray *evidence; /* AssayEvidence * */
  char *reproduce;     /* a command */
  char *suggestion;
  guint64 count; /* occurrences */
  int disposition;
  char *reason;
} AssayFinding;

ASSAY_JSON_DECLARE (AssayEvidence, assay_evidence, ASSAY_EVIDENCE_TABLE)
ASSAY_JSON_DECLARE (AssayFinding, assay_finding, ASSAY_FINDING_TABLE)

/* Sets `id` from what does not move: rule, candidate, kernel, file, output, and `anchor` (the source
 * line's text, a probe's name); equal findings of two runs get equal ids. */
void assay_finding_fingerprint (AssayFinding *finding, const char *anchor);

G_END_DECLS
