/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/review/editor.h"

#include "engine/base/error.h"

#define MOST_STEPS 500
#define MERGE_SECONDS 60

struct _AssayReviewEditor
{
  GObject parent_instance;
  AssayReview *review;
  const AssayRubric *rubric;
  GPtrArray *undo, *redo; /* AssayReview * as it was */
  char *last_text;        /* the field that typing goes on in */
  gint64 last_text_at;
};

enum
{
  CHANGED,
  N_SIGNALS,
};
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AssayReviewEditor, assay_review_editor, G_TYPE_OBJECT)

static void
assay_review_editor_finalize (GObject *object)
{
  AssayReviewEditor *self = ASSAY_REVIEW_EDITOR (object);
  g_clear_pointer (&self->review, assay_review_free);
  g_clear_pointer (&self->undo, g_ptr_array_unref);
  g_clear_pointer (&self->redo, g_ptr_array_unref);
  g_free (self->last_text);
  G_OBJECT_CLASS (assay_review_editor_parent_class)->finalize (object);
}

static void
assay_review_editor_class_init (AssayReviewEditorClass *class)
{
  G_OBJECT_CLASS (class)->finalize = assay_review_editor_finalize;
  signals[CHANGED] = g_signal_new ("changed", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 0);
}

static void
assay_review_editor_init (AssayReviewEditor *self)
{
  self->undo = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_review_free);
  self->redo = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_review_free);
}

AssayReviewEditor *
assay_review_editor_new (AssayReview *review, const AssayRubric *rubric)
{
  AssayReviewEditor *self = g_object_new (ASSAY_TYPE_REVIEW_EDITOR, NULL);
  self->review = review;
  self->rubric = rubric;
  return self;
}

const AssayReview *
assay_review_editor_review (AssayReviewEditor *self)
{
  return self->review;
}

const AssayRubric *
assay_review_editor_rubric (AssayReviewEditor *self)
{
  return self->rubric;
}

static void
record (AssayReviewEditor *self, const char *what, const char *from, const char *to)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  AssayHistoryEntry *entry = assay_json_table_new (&ASSAY_HISTORY_TABLE);
  entry->at = g_date_time_format_iso8601 (now);
  entry->what = g_strdup (what);
  entry->from = g_strdup (from);
  entry->to = g_strdup (to);
  g_ptr_array_add (self->review->history, entry);
}

/* Before a step: keep what was, and let go of what had been undone. */
static void
begin (AssayReviewEditor *self)
{
  g_ptr_array_add (self->undo, assay_review_copy (self->review));
  if (self->undo->len > MOST_STEPS)
    g_ptr_array_remove_index (self->undo, 0);
  g_ptr_array_set_size (self->redo, 0);
  g_clear_pointer (&self->last_text, g_free);
}

static void
end (AssayReviewEditor *self)
{
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
replace (char **at, const char *text)
{
  char *copy = g_strdup (text);
  g_free (*at);
  *at = copy;
}

void
assay_review_editor_set_score (AssayReviewEditor *self, const char *criterion, const char *value,
                               gint64 suggestion)
{
  AssayScore *score = assay_review_score (self->review, criterion);
  if (!score || g_strcmp0 (score->value, value) == 0)
    return;
  begin (self);
  g_autofree char *what = g_strdup_printf ("score %s", criterion);
  record (self, what, score->value, value);
  replace (&score->value, value);
  gint64 level = 0;
  score->machine_suggestion = suggestion;
  score->overridden = suggestion >= 0 && assay_score_level (score, &level) && level != suggestion;
  end (self);
}

void
assay_review_editor_set_confidence (AssayReviewEditor *self, const char *criterion,
                                    const char *confidence)
{
  AssayScore *score = assay_review_score (self->review, criterion);
  if (!score || g_strcmp0 (score->confidence, confidence) == 0)
    return;
  begin (self);
  g_autofree char *what = g_strdup_printf ("confidence %s", criterion);
  record (self, what, score->confidence, confidence);
  replace (&score->confidence, confidence);
  end (self);
}

/* One step of typing: goes on in the last history entry when it is the same field, soon enough. */
static void
set_typed_text (AssayReviewEditor *self, const char *what, char **at, const char *text)
{
  gint64 now = g_get_monotonic_time ();
  gboolean goes_on = g_strcmp0 (self->last_text, what) == 0 && self->review->history->len > 0
                     && now - self->last_text_at < MERGE_SECONDS * G_USEC_PER_SEC;
  if (goes_on)
    {
      AssayHistoryEntry *entry =
          g_ptr_array_index (self->review->history, self->review->history->len - 1);
      replace (&entry->to, text);
    }
  else
    {
      begin (self);
      record (self, what, *at, text);
      self->last_text = g_strdup (what);
      self->last_text_at = now;
    }
  replace (at, text);
  end (self);
}

void
assay_review_editor_set_text (AssayReviewEditor *self, const char *criterion, AssayReviewText field,
                              const char *text)
{
  static const char *const NAMES[] = {"problem", "evidence", "fix"};
  AssayScore *score = assay_review_score (self->review, criterion);
  if (!score)
    return;
  g_autofree char *what = g_strdup_printf ("%s %s", NAMES[field], criterion);
  /* begin () copies and may free nothing of the live review, so the place stays valid. */
  char **at = field == ASSAY_TEXT_PROBLEM    ? &score->problem
              : field == ASSAY_TEXT_EVIDENCE ? &score->evidence_text
                                             : &score->fix;
  if (g_strcmp0 (*at ? *at : "", text ? text : "") != 0)
    set_typed_text (self, what, at, text);
}

void
assay_review_editor_attach (AssayReviewEditor *self, const char *criterion,
                            const AssayEvidence *evidence)
{
  AssayScore *score = assay_review_score (self->review, criterion);
  for (guint i = 0; score && i < score->evidence->len; i++)
    {
      const AssayEvidence *other = g_ptr_array_index (score->evidence, i);
      if (g_strcmp0 (other->kind, evidence->kind) == 0 && g_strcmp0 (other->ref, evidence->ref) == 0
          && other->first_line == evidence->first_line && other->last_line == evidence->last_line)
        return;
    }
  if (!score)
    return;
  begin (self);
  g_autofree char *what = g_strdup_printf ("evidence %s", criterion);
  record (self, what, NULL, evidence->title ? evidence->title : evidence->ref);
  g_ptr_array_add (score->evidence, assay_evidence_copy (evidence));
  end (self);
}

void
assay_review_editor_detach (AssayReviewEditor *self, const char *criterion, guint index)
{
  AssayScore *score = assay_review_score (self->review, criterion);
  if (!score || index >= score->evidence->len)
    return;
  begin (self);
  AssayEvidence *evidence = g_ptr_array_index (score->evidence, index);
  g_autofree char *what = g_strdup_printf ("evidence %s", criterion);
  record (self, what, evidence->title ? evidence->title : evidence->ref, NULL);
  g_ptr_array_remove_index (score->evidence, index);
  assay_evidence_free (evidence);
  end (self);
}

void
assay_review_editor_set_verdict (AssayReviewEditor *self, const char *axis, const char *word)
{
  const char *before = assay_review_verdict (self->review, axis);
  if (g_strcmp0 (before, word) == 0)
    return;
  begin (self);
  g_autofree char *what = g_strdup_printf ("verdict %s", axis);
  record (self, what, before, word);
  if (!self->review->verdicts || !JSON_NODE_HOLDS_OBJECT (self->review->verdicts))
    {
      g_clear_pointer (&self->review->verdicts, json_node_unref);
      JsonObject *object = json_object_new ();
      self->review->verdicts = json_node_init_object (json_node_alloc (), object);
      json_object_unref (object);
    }
  JsonObject *verdicts = json_node_get_object (self->review->verdicts);
  if (word)
    json_object_set_string_member (verdicts, axis, word);
  else
    json_object_remove_member (verdicts, axis);
  end (self);
}

void
assay_review_editor_set_accept (AssayReviewEditor *self, const char *accept)
{
  if (g_strcmp0 (self->review->accept, accept) == 0)
    return;
  begin (self);
  record (self, "recommendation", self->review->accept, accept);
  replace (&self->review->accept, accept);
  end (self);
}

void
assay_review_editor_set_summary (AssayReviewEditor *self, const char *text)
{
  if (g_strcmp0 (self->review->summary ? self->review->summary : "", text ? text : "") != 0)
    set_typed_text (self, "summary", &self->review->summary, text);
}

void
assay_review_editor_judge (AssayReviewEditor *self, const char *finding,
                           AssayDisposition disposition, const char *reason)
{
  AssayFindingJudgement *judgement = NULL;
  for (guint i = 0; i < self->review->judgements->len && !judgement; i++)
    {
      AssayFindingJudgement *other = g_ptr_array_index (self->review->judgements, i);
      if (g_strcmp0 (other->finding, finding) == 0)
        judgement = other;
    }
  begin (self);
  g_autofree char *what = g_strdup_printf ("finding %s", finding);
  record (self, what, ASSAY_DISPOSITIONS[judgement ? judgement->disposition : 0],
          ASSAY_DISPOSITIONS[disposition]);
  if (!judgement)
    {
      judgement = assay_json_table_new (&ASSAY_JUDGEMENT_TABLE);
      judgement->finding = g_strdup (finding);
      g_ptr_array_add (self->review->judgements, judgement);
    }
  judgement->disposition = disposition;
  replace (&judgement->reason, reason);
  end (self);
}

void
assay_review_editor_add_run (AssayReviewEditor *self, const char *run_id)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  char **runs = self->review->runs;
  if (runs && g_strv_contains ((const char *const *) runs, run_id))
    return;
  if (runs)
    g_strv_builder_addv (builder, (const char **) runs);
  g_strv_builder_add (builder, run_id);
  self->review->runs = g_strv_builder_end (builder);
  g_strfreev (runs);
  end (self);
}

void
assay_review_editor_add_seconds (AssayReviewEditor *self, double seconds)
{
  self->review->seconds_active += seconds;
}

gboolean
assay_review_editor_submit (AssayReviewEditor *self, GError **error)
{
  g_autoptr (GPtrArray) missing = assay_review_missing (self->review, self->rubric);
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  if (missing->len)
    {
      const AssayMissing *first = g_ptr_array_index (missing, 0);
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "%u still missing; the first: %s: %s",
                   missing->len, first->title, first->what);
      return FALSE;
    }
  begin (self);
  g_free (self->review->submitted);
  self->review->submitted = g_date_time_format_iso8601 (now);
  record (self, "submitted", NULL, self->review->submitted);
  end (self);
  return TRUE;
}

/* Everything goes back but the history and the clock, which only grow. */
static void
travel (AssayReviewEditor *self, GPtrArray *from, GPtrArray *to, const char *what)
{
  if (!from->len)
    return;
  AssayReview *then = g_ptr_array_steal_index (from, from->len - 1);
  AssayReview *now = self->review;
  g_ptr_array_add (to, assay_review_copy (now));
  GPtrArray *history = then->history;
  then->history = now->history;
  now->history = history;
  then->seconds_active = now->seconds_active;
  self->review = then;
  assay_review_free (now);
  g_clear_pointer (&self->last_text, g_free);
  record (self, what, NULL, NULL);
  end (self);
}

gboolean
assay_review_editor_can_undo (AssayReviewEditor *self)
{
  return self->undo->len > 0;
}

gboolean
assay_review_editor_can_redo (AssayReviewEditor *self)
{
  return self->redo->len > 0;
}

void
assay_review_editor_undo (AssayReviewEditor *self)
{
  travel (self, self->undo, self->redo, "undo");
}

void
assay_review_editor_redo (AssayReviewEditor *self)
{
  travel (self, self->redo, self->undo, "redo");
}
