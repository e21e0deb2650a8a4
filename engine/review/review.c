/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/review/review.h"

#include "engine/base/error.h"

#include <errno.h>
#include <string.h>

#define REVIEW_VERSION 1

#define FIELD(Type, member, kind, ...) ASSAY_JSON_FIELD (Type, member, #member, kind, __VA_ARGS__)

#define F(member, kind, ...) FIELD (AssayScore, member, kind, __VA_ARGS__)
static const AssayJsonField SCORE_FIELDS[] = {
    F (criterion, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (value, EXPR, .flags = ASSAY_JSON_KEEP_NULL),
    F (confidence, STRING),
    F (problem, STRING),
    F (evidence_text, STRING),
    F (fix, STRING),
    F (evidence, LIST, .table = &ASSAY_EVIDENCE_TABLE),
    F (machine_suggestion, INT),
    F (overridden, BOOLEAN),
    ASSAY_JSON_END,
};
#undef F
static void
no_suggestion (gpointer self)
{
  ((AssayScore *) self)->machine_suggestion = -1;
}
const AssayJsonTable ASSAY_SCORE_TABLE = {"score", sizeof (AssayScore), SCORE_FIELDS,
                                          no_suggestion};

#define F(member, kind, ...) FIELD (AssayNote, member, kind, __VA_ARGS__)
static const AssayJsonField NOTE_FIELDS[] = {
    F (file, STRING),
    F (line, INT),
    F (text, STRING),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_NOTE_TABLE = {"note", sizeof (AssayNote), NOTE_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayHistoryEntry, member, kind, __VA_ARGS__)
static const AssayJsonField HISTORY_FIELDS[] = {
    F (at, STRING), F (what, STRING),   F (from, STRING),
    F (to, STRING), F (reason, STRING), ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_HISTORY_TABLE = {"history entry", sizeof (AssayHistoryEntry),
                                            HISTORY_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayFindingJudgement, member, kind, __VA_ARGS__)
static const AssayJsonField JUDGEMENT_FIELDS[] = {
    F (finding, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (disposition, ENUM, .words = ASSAY_DISPOSITIONS),
    F (reason, STRING),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_JUDGEMENT_TABLE = {"judgement", sizeof (AssayFindingJudgement),
                                              JUDGEMENT_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayReviewedTask, member, kind, __VA_ARGS__)
static const AssayJsonField TASK_FIELDS[] = {F (id, STRING), F (sha256, STRING), ASSAY_JSON_END};
#undef F
static const AssayJsonTable TASK_TABLE = {"task", sizeof (AssayReviewedTask), TASK_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayReviewRubric, member, kind, __VA_ARGS__)
static const AssayJsonField RUBRIC_FIELDS[] = {
    F (id, STRING),
    F (revision, INT),
    F (sha256, STRING),
    ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable RUBRIC_TABLE = {"rubric", sizeof (AssayReviewRubric), RUBRIC_FIELDS,
                                            NULL};

#define F(member, kind, ...) FIELD (AssayReview, member, kind, __VA_ARGS__)
static const AssayJsonField REVIEW_FIELDS[] = {
    F (format, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (version, INT, .flags = ASSAY_JSON_REQUIRED),
    F (id, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (task, STRUCT, .table = &TASK_TABLE),
    F (candidate, STRING),
    F (rubric, STRUCT, .table = &RUBRIC_TABLE),
    F (reviewer, STRING),
    F (blind, BOOLEAN),
    F (visible, STRV),
    F (started, STRING),
    F (submitted, STRING),
    F (seconds_active, DOUBLE),
    F (accept, STRING),
    F (supersedes, STRING),
    F (scores, LIST, .table = &ASSAY_SCORE_TABLE),
    F (verdicts, NODE),
    F (summary, STRING),
    F (notes, LIST, .table = &ASSAY_NOTE_TABLE),
    F (history, LIST, .table = &ASSAY_HISTORY_TABLE),
    F (judgements, LIST, .table = &ASSAY_JUDGEMENT_TABLE),
    F (runs, STRV),
    ASSAY_JSON_END,
};
#undef F
static void
initialise_review (gpointer self)
{
  AssayReview *review = self;
  review->format = g_strdup ("assay-review");
  review->version = REVIEW_VERSION;
  review->seconds_active = 0;
}
const AssayJsonTable ASSAY_REVIEW_TABLE = {"review", sizeof (AssayReview), REVIEW_FIELDS,
                                           initialise_review};

AssayReview *
assay_review_start (const AssayRubric *rubric, const char *task_id, const char *task_sha256,
                    const char *candidate, const char *category, const char *reviewer)
{
  AssayReview *review = assay_review_new ();
  g_autofree char *uuid = g_uuid_string_random ();
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  JsonObject *verdicts = json_object_new ();
  review->id = g_strdup_printf ("%.8s%.4s", uuid, uuid + 9);
  review->task.id = g_strdup (task_id);
  review->task.sha256 = g_strdup (task_sha256);
  review->candidate = g_strdup (candidate);
  review->rubric.id = g_strdup (rubric->id);
  review->rubric.revision = rubric->revision;
  review->rubric.sha256 = g_strdup (rubric->sha256);
  review->reviewer = g_strdup (reviewer);
  review->started = g_date_time_format_iso8601 (now);
  review->verdicts = json_node_init_object (json_node_alloc (), verdicts);
  json_object_unref (verdicts);
  for (guint i = 0; i < rubric->criteria->len; i++)
    {
      const AssayCriterion *criterion = g_ptr_array_index (rubric->criteria, i);
      if (!assay_criterion_applies (criterion, category))
        continue;
      AssayScore *score = assay_json_table_new (&ASSAY_SCORE_TABLE);
      score->criterion = g_strdup (criterion->id);
      g_ptr_array_add (review->scores, score);
    }
  return review;
}

gboolean
assay_review_save (const AssayReview *review, const char *folder, GError **error)
{
  g_autofree char *path = g_build_filename (folder, "review.json", NULL);
  g_autoptr (JsonNode) node = assay_json_table_write (&ASSAY_REVIEW_TABLE, review);
  if (g_mkdir_with_parents (folder, 0755) != 0)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "cannot make the folder %s: %s", folder,
                   g_strerror (errno));
      return FALSE;
    }
  return assay_json_save (node, path, error);
}

AssayReview *
assay_review_load (const char *folder, GError **error)
{
  g_autofree char *path = g_build_filename (folder, "review.json", NULL);
  g_autoptr (JsonNode) node = assay_json_load (path, &ASSAY_JSON_LIMITS_RECORD, error);
  if (!node)
    return NULL;
  g_autoptr (AssayReview) review =
      assay_json_table_read (&ASSAY_REVIEW_TABLE, node, "", NULL, error);
  if (!review)
    {
      g_prefix_error (error, "%s: ", path);
      return NULL;
    }
  if (!g_str_equal (review->format, "assay-review") || review->version > REVIEW_VERSION)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
                   "%s: format \"%s\" version %" G_GINT64_FORMAT
                   "; this Assay reads \"assay-review\" up to version %d",
                   path, review->format, review->version, REVIEW_VERSION);
      return NULL;
    }
  return g_steal_pointer (&review);
}

AssayScore *
assay_review_score (const AssayReview *review, const char *criterion)
{
  for (guint i = 0; i < review->scores->len; i++)
    {
      AssayScore *score = g_ptr_array_index (review->scores, i);
      if (g_strcmp0 (score->criterion, criterion) == 0)
        return score;
    }
  return NULL;
}

const char *
assay_review_verdict (const AssayReview *review, const char *axis)
{
  if (!review->verdicts || !JSON_NODE_HOLDS_OBJECT (review->verdicts))
    return NULL;
  return assay_json_string (json_node_get_object (review->verdicts), axis);
}

gboolean
assay_score_level (const AssayScore *score, gint64 *level)
{
  return score && score->value
         && g_ascii_string_to_signed (score->value, 10, G_MININT64, G_MAXINT64, level, NULL);
}

void
assay_missing_free (AssayMissing *missing)
{
  g_free (missing->criterion);
  g_free (missing->title);
  g_free (missing->what);
  g_free (missing);
}

static void
add_missing (GPtrArray *list, const char *criterion, const char *title, const char *what)
{
  AssayMissing *missing = g_new0 (AssayMissing, 1);
  missing->criterion = g_strdup (criterion);
  missing->title = g_strdup (title);
  missing->what = g_strdup (what);
  g_ptr_array_add (list, missing);
}

static gboolean
is_blank (const char *text)
{
  return !text || text[strspn (text, " \t\r\n")] == 0;
}

static gboolean
has_evidence (const AssayScore *score, char **kinds)
{
  for (guint i = 0; i < score->evidence->len; i++)
    {
      const AssayEvidence *evidence = g_ptr_array_index (score->evidence, i);
      if (!kinds || !kinds[0] || g_strv_contains ((const char *const *) kinds, evidence->kind))
        return TRUE;
    }
  return FALSE;
}

static void
add_missing_of_score (GPtrArray *list, const AssayCriterion *criterion, const AssayScore *score)
{
  gint64 level = 0;
  const char *const *fields = (const char *const *) criterion->comment.fields;
  if (!score->value)
    {
      add_missing (list, criterion->id, criterion->title, "score");
      return;
    }
  if (!assay_score_level (score, &level))
    {
      if (is_blank (score->problem))
        add_missing (list, criterion->id, criterion->title, "reason in words");
      return;
    }
  gboolean comment = level <= criterion->comment.required_at_or_below && fields;
  if (comment && g_strv_contains (fields, "problem") && is_blank (score->problem))
    add_missing (list, criterion->id, criterion->title, "problem in words");
  if (level <= criterion->evidence.required_at_or_below
      && !has_evidence (score, criterion->evidence.kinds))
    add_missing (list, criterion->id, criterion->title, "evidence");
  if (comment && g_strv_contains (fields, "fix") && is_blank (score->fix))
    add_missing (list, criterion->id, criterion->title, "fix in words");
}

GPtrArray *
assay_review_missing (const AssayReview *review, const AssayRubric *rubric)
{
  GPtrArray *list = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_missing_free);
  for (guint i = 0; i < review->scores->len; i++)
    {
      const AssayScore *score = g_ptr_array_index (review->scores, i);
      const AssayCriterion *criterion = assay_rubric_criterion (rubric, score->criterion);
      if (criterion)
        add_missing_of_score (list, criterion, score);
    }
  for (guint i = 0; i < rubric->axes->len; i++)
    {
      const AssayAxisWords *axis = g_ptr_array_index (rubric->axes, i);
      if (!assay_review_verdict (review, axis->id))
        add_missing (list, NULL, axis->title, "verdict");
    }
  if (!review->accept)
    add_missing (list, NULL, "Recommendation", "use, fix or reject");
  if (is_blank (review->summary))
    add_missing (list, NULL, "Summary", "summary in words");
  return list;
}

gboolean
assay_evidence_is_stale (const AssayEvidence *evidence, const char *task_folder)
{
  g_autofree char *text = NULL;
  gsize length = 0;
  if (!evidence->sha256 || !evidence->ref || !g_str_equal (evidence->kind, "source"))
    return FALSE;
  g_autofree char *path = g_build_filename (task_folder, evidence->ref, NULL);
  if (!g_file_get_contents (path, &text, &length, NULL))
    return TRUE;
  g_autofree char *sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (guchar *) text, length);
  return !g_str_equal (sum, evidence->sha256)
         && !(evidence->quote && strstr (text, evidence->quote));
}

void
assay_review_judge_findings (const AssayReview *review, GPtrArray *findings)
{
  for (guint f = 0; f < findings->len; f++)
    {
      AssayFinding *finding = g_ptr_array_index (findings, f);
      for (guint i = 0; i < review->judgements->len; i++)
        {
          const AssayFindingJudgement *judgement = g_ptr_array_index (review->judgements, i);
          if (g_strcmp0 (judgement->finding, finding->id) != 0)
            continue;
          finding->disposition = judgement->disposition;
          g_free (finding->reason);
          finding->reason = g_strdup (judgement->reason);
        }
    }
}
