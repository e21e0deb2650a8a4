/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/finding.h"

G_BEGIN_DECLS

/* A rubric is a file: criteria with an anchor text for every level of its scale, grouped by axes, each
 * axis with one closed set of verdict words. */

typedef struct
{
  gint64 min, max;
  char **labels; /* one a level, from min to max */
} AssayScaleWords;

typedef struct
{
  char *id, *title;
  char **verdicts;
} AssayAxisWords;

typedef struct
{
  gint64 required_at_or_below; /* a score at or below this needs it; min - 1: never */
  char **kinds;                /* evidence kinds that count; empty: any */
} AssayEvidenceRule;

typedef struct
{
  gint64 required_at_or_below;
  char **fields; /* problem, evidence, fix */
} AssayCommentRule;

typedef struct
{
  char *id, *title, *question, *axis;
  double weight;
  gboolean blocking;
  char **categories; /* empty: all */
  JsonNode *anchors; /* {"0": text, …} */
  char *example_good, *example_bad;
  AssayEvidenceRule evidence;
  AssayCommentRule comment;
  char **rules; /* finding rules that bear on it */
} AssayCriterion;

typedef struct
{
  char *format; /* "assay-rubric" */
  gint64 version;
  char *id;
  gint64 revision;
  char *title;
  char **categories;
  AssayScaleWords scale;
  GPtrArray *axes;     /* AssayAxisWords * */
  GPtrArray *criteria; /* AssayCriterion * */
  char *sha256;        /* of the file's bytes; not part of the file */
} AssayRubric;

extern const AssayJsonTable ASSAY_RUBRIC_TABLE;

/* Reads and checks: unique ids, known axes, an anchor for every level. */
AssayRubric *assay_rubric_load (const char *path, GError **error);
void assay_rubric_free (AssayRubric *rubric);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayRubric, assay_rubric_free)

const AssayCriterion *assay_rubric_criterion (const AssayRubric *rubric, const char *id);
const AssayAxisWords *assay_rubric_axis (const AssayRubric *rubric, const char *id);
/* Owned by the criterion. */
const char *assay_criterion_anchor (const AssayCriterion *criterion, gint64 level);
gboolean assay_criterion_applies (const AssayCriterion *criterion, const char *category);
/* Whether findings of a rule bear on it. */
gboolean assay_criterion_hears (const AssayCriterion *criterion, const char *rule);

/* What the findings (AssayFinding *) suggest: the level, or -1 for no suggestion; blocker 0, major 1,
 * minor 2 of the scale. `matched` (nullable) receives the findings behind it, borrowed. A finding the
 * reviewer called false or duplicate does not count. */
gint64 assay_criterion_suggest (const AssayCriterion *criterion, const AssayRubric *rubric,
                                const GPtrArray *findings, GPtrArray *matched);

G_END_DECLS
