/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/review/rubric.h"

G_BEGIN_DECLS

/* One reviewer's judgement of one candidate, one canonical JSON file. The machine's suggestion stands
 * beside the reviewer's score and never in its place. Dates are ISO 8601 in UTC. */

typedef struct
{
  char *criterion;
  char *value;      /* a level of the scale, "na" or "cannot_judge"; NULL: not scored yet */
  char *confidence; /* low | medium | high, or NULL */
  char *problem, *evidence_text, *fix;
  GPtrArray *evidence;       /* AssayEvidence * */
  gint64 machine_suggestion; /* -1: none */
  gboolean overridden;       /* scored otherwise than suggested */
} AssayScore;

typedef struct
{
  char *file;
  gint64 line;
  char *text;
} AssayNote;

typedef struct
{
  char *at, *what, *from, *to, *reason;
} AssayHistoryEntry;

typedef struct
{
  char *finding; /* id */
  int disposition;
  char *reason;
} AssayFindingJudgement;

typedef struct
{
  char *id, *sha256;
} AssayReviewedTask;

typedef struct
{
  char *id;
  gint64 revision;
  char *sha256;
} AssayReviewRubric;

typedef struct
{
  char *format; /* "assay-review" */
  gint64 version;
  char *id;
  AssayReviewedTask task;
  char *candidate;
  AssayReviewRubric rubric;
  char *reviewer;
  gboolean blind;
  char **visible;
  char *started, *submitted;
  double seconds_active;
  char *accept; /* use | fix | reject, NULL until decided */
  char *supersedes;
  GPtrArray *scores;  /* AssayScore *, in the rubric's order */
  JsonNode *verdicts; /* {axis: word} */
  char *summary;
  GPtrArray *notes;      /* AssayNote * */
  GPtrArray *history;    /* AssayHistoryEntry *, append-only */
  GPtrArray *judgements; /* AssayFindingJudgement * */
  char **runs;           /* run ids */
} AssayReview;

ASSAY_JSON_DECLARE (AssayReview, assay_review, ASSAY_REVIEW_TABLE)
extern const AssayJsonTable ASSAY_SCORE_TABLE;
extern const AssayJsonTable ASSAY_HISTORY_TABLE;
extern const AssayJsonTable ASSAY_NOTE_TABLE;
extern const AssayJsonTable ASSAY_JUDGEMENT_TABLE;

/* A fresh review with an empty score for each criterion that applies to `category`. */
AssayReview *assay_review_start (const AssayRubric *rubric, const char *task_id,
                                 const char *task_sha256, const char *candidate,
                                 const char *category, const char *reviewer);
/* `<folder>/review.json`, atomic and durable; the folder is made. */
gboolean assay_review_save (const AssayReview *review, const char *folder, GError **error);
AssayReview *assay_review_load (const char *folder, GError **error);

AssayScore *assay_review_score (const AssayReview *review, const char *criterion);
/* Owned by the review; NULL where none was given. */
const char *assay_review_verdict (const AssayReview *review, const char *axis);
/* TRUE with `level` when the score is a level, not n.a. or cannot judge. */
gboolean assay_score_level (const AssayScore *score, gint64 *level);

/* What is still missing before it can be submitted. */
typedef struct
{
  char *criterion; /* id, or NULL for the review as a whole */
  char *title;     /* of the criterion or axis */
  char *what;      /* "score", "problem in words", "evidence", "fix in words", "verdict", … */
} AssayMissing;

void assay_missing_free (AssayMissing *missing);
/* (transfer full): AssayMissing *, in the rubric's order. */
GPtrArray *assay_review_missing (const AssayReview *review, const AssayRubric *rubric);

/* TRUE when the lines that the evidence quotes are no longer in the file of `task_folder`. */
gboolean assay_evidence_is_stale (const AssayEvidence *evidence, const char *task_folder);

/* Applies the reviewer's judgements to findings (AssayFinding *) of a run. */
void assay_review_judge_findings (const AssayReview *review, GPtrArray *findings);

G_END_DECLS
