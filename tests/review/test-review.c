/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/error.h"
#include "engine/review/editor.h"

#include <glib/gstdio.h>
#include <string.h>

static AssayRubric *
shipped_rubric (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path =
      g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "rubrics", "kernel-task.json", NULL);
  AssayRubric *rubric = assay_rubric_load (path, &error);
  g_assert_no_error (error);
  return rubric;
}

static AssayReviewEditor *
editor_for (const AssayRubric *rubric)
{
  return assay_review_editor_new (
      assay_review_start (rubric, "softmax", "77d0", "fast", "generation", "A"), rubric);
}

static char *
bytes_of (const AssayReview *review)
{
  g_autoptr (JsonNode) node = assay_json_table_write (&ASSAY_REVIEW_TABLE, review);
  return assay_json_write (node);
}

static void
shipped_rubric_is_whole (void)
{
  g_autoptr (AssayRubric) rubric = shipped_rubric ();
  g_assert_cmpuint (rubric->criteria->len, ==, 14);
  g_assert_cmpuint (rubric->axes->len, ==, 7);
  g_assert_cmpuint (strlen (rubric->sha256), ==, 64);
  for (guint i = 0; i < rubric->criteria->len; i++)
    {
      const AssayCriterion *criterion = g_ptr_array_index (rubric->criteria, i);
      g_assert_nonnull (criterion->example_good);
      g_assert_nonnull (criterion->example_bad);
      g_assert_true (assay_criterion_applies (criterion, "debugging"));
    }
}

static void
broken_rubrics_say_where (void)
{
  static const struct
  {
    const char *change, *to, *message;
  } CASES[] = {
      {"\"id\": \"safe\"", "\"id\": \"scope-fit\"", "stands twice"},
      {"\"axis\": \"safety\"", "\"axis\": \"luck\"", "found \"luck\""},
      {"\"3\": \"bounded, licence stated and fitting\"", "\"4\": \"x\"", "no text for level 3"},
      {"\"version\": 1", "\"version\": 9", "version 9"},
      {"\"max\": 3", "\"max\": 0", "2 to 11 levels"},
  };
  g_autofree char *path =
      g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "rubrics", "kernel-task.json", NULL);
  g_autofree char *text = NULL;
  g_autofree char *folder = g_dir_make_tmp ("assay-rubric-XXXXXX", NULL);
  g_autofree char *broken = g_build_filename (folder, "broken.json", NULL);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (CASES); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GString) changed = g_string_new (text);
      g_assert_cmpuint (g_string_replace (changed, CASES[i].change, CASES[i].to, 1), ==, 1);
      g_assert_true (g_file_set_contents (broken, changed->str, -1, NULL));
      g_assert_null (assay_rubric_load (broken, &error));
      g_assert_nonnull (strstr (error->message, CASES[i].message));
      g_assert_nonnull (strstr (error->message, "broken.json"));
    }
  g_remove (broken);
  g_rmdir (folder);
}

static void
two_saves_are_the_same_bytes (void)
{
  g_autoptr (AssayRubric) rubric = shipped_rubric ();
  g_autoptr (AssayReviewEditor) editor = editor_for (rubric);
  g_autofree char *folder = g_dir_make_tmp ("assay-review-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "review.json", NULL);
  g_autofree char *first = NULL, *second = NULL;
  g_autoptr (GError) error = NULL;
  assay_review_editor_set_score (editor, "tolerance-fitness", "0", 0);
  assay_review_editor_set_text (editor, "tolerance-fitness", ASSAY_TEXT_PROBLEM, "zeros pass “ü”");
  g_assert_true (assay_review_save (assay_review_editor_review (editor), folder, &error));
  g_assert_true (g_file_get_contents (path, &first, NULL, NULL));
  g_autoptr (AssayReview) again = assay_review_load (folder, &error);
  g_assert_no_error (error);
  g_assert_true (assay_review_save (again, folder, &error));
  g_assert_true (g_file_get_contents (path, &second, NULL, NULL));
  g_assert_cmpstr (first, ==, second);
  g_assert_nonnull (strstr (first, "\"value\": 0"));
  g_remove (path);
  g_rmdir (folder);
}

static guint
missing_of (const AssayReview *review, const AssayRubric *rubric, const char *what)
{
  g_autoptr (GPtrArray) missing = assay_review_missing (review, rubric);
  guint n = 0;
  for (guint i = 0; i < missing->len; i++)
    n += g_str_equal (((AssayMissing *) g_ptr_array_index (missing, i))->what, what);
  return n;
}

static void
low_scores_need_words_and_evidence (void)
{
  g_autoptr (AssayRubric) rubric = shipped_rubric ();
  g_autoptr (AssayReviewEditor) editor = editor_for (rubric);
  AssayEvidence note = {.kind = (char *) "note", .ref = (char *) "x"};
  AssayEvidence plot = {.kind = (char *) "plot", .ref = (char *) "numerics/margin/a/y"};
  g_assert_cmpuint (missing_of (assay_review_editor_review (editor), rubric, "score"), ==, 14);
  assay_review_editor_set_score (editor, "tolerance-fitness", "1", -1);
  g_assert_cmpuint (missing_of (assay_review_editor_review (editor), rubric, "score"), ==, 13);
  g_assert_cmpuint (missing_of (assay_review_editor_review (editor), rubric, "evidence"), ==, 1);
  assay_review_editor_attach (editor, "tolerance-fitness", &note); /* not a kind that counts */
  g_assert_cmpuint (missing_of (assay_review_editor_review (editor), rubric, "evidence"), ==, 1);
  assay_review_editor_attach (editor, "tolerance-fitness", &plot);
  assay_review_editor_attach (editor, "tolerance-fitness", &plot); /* once only */
  g_assert_cmpuint (
      assay_review_score (assay_review_editor_review (editor), "tolerance-fitness")->evidence->len,
      ==, 2);
  g_assert_cmpuint (missing_of (assay_review_editor_review (editor), rubric, "evidence"), ==, 0);
  g_assert_cmpuint (missing_of (assay_review_editor_review (editor), rubric, "problem in words"),
                    ==, 1);
  assay_review_editor_set_score (editor, "tolerance-fitness", "3", -1);
  g_assert_cmpuint (missing_of (assay_review_editor_review (editor), rubric, "problem in words"),
                    ==, 0);
  assay_review_editor_set_score (editor, "safe", "na", -1);
  g_assert_cmpuint (missing_of (assay_review_editor_review (editor), rubric, "reason in words"), ==,
                    1);
}

/* Every step back gives the bytes from before, history and clock apart; every step forward again. */
static void
undo_and_redo_walk_the_same_path (void)
{
  g_autoptr (AssayRubric) rubric = shipped_rubric ();
  g_autoptr (AssayReviewEditor) editor = editor_for (rubric);
  g_autoptr (GPtrArray) states = g_ptr_array_new_with_free_func (g_free);
  AssayEvidence plot = {.kind = (char *) "plot", .ref = (char *) "numerics/ulp/a/y"};
  for (int step = 0; step < 9; step++)
    {
      AssayReview *plain = assay_review_copy (assay_review_editor_review (editor));
      while (plain->history->len)
        assay_json_table_free (&ASSAY_HISTORY_TABLE,
                               g_ptr_array_steal_index (plain->history, plain->history->len - 1));
      g_ptr_array_add (states, bytes_of (plain));
      assay_review_free (plain);
      switch (step % 4)
        {
        case 0:
          assay_review_editor_set_score (editor, "safe", step % 8 ? "1" : "2", 3);
          break;
        case 1:
          assay_review_editor_attach (editor, step == 1 ? "safe" : "scope-fit", &plot);
          break;
        case 2:
          assay_review_editor_set_verdict (editor, "safety", step == 2 ? "safe" : "unsafe");
          break;
        default:
          assay_review_editor_judge (editor, "f1", step == 3 ? 1 : 2, "because");
          break;
        }
    }
  for (int step = 8; step >= 0; step--)
    {
      g_assert_true (assay_review_editor_can_undo (editor));
      assay_review_editor_undo (editor);
      AssayReview *plain = assay_review_copy (assay_review_editor_review (editor));
      while (plain->history->len)
        assay_json_table_free (&ASSAY_HISTORY_TABLE,
                               g_ptr_array_steal_index (plain->history, plain->history->len - 1));
      g_autofree char *bytes = bytes_of (plain);
      g_assert_cmpstr (bytes, ==, g_ptr_array_index (states, step));
      assay_review_free (plain);
    }
  g_assert_false (assay_review_editor_can_undo (editor));
  for (int step = 0; step < 9; step++)
    assay_review_editor_redo (editor);
  g_assert_false (assay_review_editor_can_redo (editor));
  g_assert_cmpstr (assay_review_verdict (assay_review_editor_review (editor), "safety"), ==,
                   "unsafe");
  g_assert_cmpuint (assay_review_editor_review (editor)->history->len, ==, 9 + 18);
}

static void
typing_is_one_step (void)
{
  g_autoptr (AssayRubric) rubric = shipped_rubric ();
  g_autoptr (AssayReviewEditor) editor = editor_for (rubric);
  assay_review_editor_set_text (editor, "safe", ASSAY_TEXT_FIX, "u");
  assay_review_editor_set_text (editor, "safe", ASSAY_TEXT_FIX, "us");
  assay_review_editor_set_text (editor, "safe", ASSAY_TEXT_FIX, "use");
  assay_review_editor_set_text (editor, "safe", ASSAY_TEXT_PROBLEM, "p");
  g_assert_cmpuint (assay_review_editor_review (editor)->history->len, ==, 2);
  assay_review_editor_undo (editor);
  g_assert_cmpstr (assay_review_score (assay_review_editor_review (editor), "safe")->fix, ==,
                   "use");
  assay_review_editor_undo (editor);
  g_assert_null (assay_review_score (assay_review_editor_review (editor), "safe")->fix);
}

static void
suggestions_come_from_findings (void)
{
  g_autoptr (AssayRubric) rubric = shipped_rubric ();
  g_autoptr (GPtrArray) findings =
      g_ptr_array_new_with_free_func ((GDestroyNotify) assay_finding_free);
  g_autoptr (GPtrArray) matched = g_ptr_array_new ();
  const AssayCriterion *fitness = assay_rubric_criterion (rubric, "tolerance-fitness");
  AssayFinding *zero = assay_finding_new (), *loose = assay_finding_new ();
  g_ptr_array_add (findings, zero);
  g_ptr_array_add (findings, loose);
  zero->rule = g_strdup ("num.zero-output-passes");
  zero->severity = ASSAY_SEVERITY_BLOCKER;
  loose->rule = g_strdup ("num.tolerance-too-loose");
  loose->severity = ASSAY_SEVERITY_MAJOR;
  g_assert_cmpint (assay_criterion_suggest (fitness, rubric, findings, matched), ==, 0);
  g_assert_cmpuint (matched->len, ==, 2);
  zero->disposition = ASSAY_DISPOSITION_FALSE_POSITIVE;
  g_assert_cmpint (assay_criterion_suggest (fitness, rubric, findings, NULL), ==, 1);
  g_assert_cmpint (
      assay_criterion_suggest (assay_rubric_criterion (rubric, "safe"), rubric, findings, NULL), ==,
      -1);
}

static void
submission_needs_everything (void)
{
  g_autoptr (AssayRubric) rubric = shipped_rubric ();
  g_autoptr (AssayReviewEditor) editor = editor_for (rubric);
  g_autoptr (GError) error = NULL;
  g_assert_false (assay_review_editor_submit (editor, &error));
  g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID);
  for (guint i = 0; i < rubric->criteria->len; i++)
    assay_review_editor_set_score (
        editor, ((AssayCriterion *) g_ptr_array_index (rubric->criteria, i))->id, "3", -1);
  for (guint i = 0; i < rubric->axes->len; i++)
    {
      const AssayAxisWords *axis = g_ptr_array_index (rubric->axes, i);
      assay_review_editor_set_verdict (editor, axis->id, axis->verdicts[0]);
    }
  assay_review_editor_set_accept (editor, "use");
  assay_review_editor_set_summary (editor, "Sound.");
  g_clear_error (&error);
  g_assert_true (assay_review_editor_submit (editor, &error));
  g_assert_no_error (error);
  g_assert_nonnull (assay_review_editor_review (editor)->submitted);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/review/shipped-rubric-is-whole", shipped_rubric_is_whole);
  g_test_add_func ("/review/broken-rubrics-say-where", broken_rubrics_say_where);
  g_test_add_func ("/review/two-saves-are-the-same-bytes", two_saves_are_the_same_bytes);
  g_test_add_func ("/review/low-scores-need-words-and-evidence",
                   low_scores_need_words_and_evidence);
  g_test_add_func ("/review/undo-and-redo-walk-the-same-path", undo_and_redo_walk_the_same_path);
  g_test_add_func ("/review/typing-is-one-step", typing_is_one_step);
  g_test_add_func ("/review/suggestions-come-from-findings", suggestions_come_from_findings);
  g_test_add_func ("/review/submission-needs-everything", submission_needs_everything);
  return g_test_run ();
}
