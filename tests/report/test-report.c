/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/report/pages.h"
#include "engine/review/editor.h"
#include "tests/plot/fixture.h"

#include <glib/gstdio.h>
#include <string.h>

typedef struct
{
  AssayRubric *rubric;
  AssayReviewEditor *editor;
  AssayRun *run;
  AssayDocument *report;
  char *folder;
} Fixture;

static void
add_finding (AssayRun *run, const char *rule, int severity, const char *title)
{
  AssayFinding *finding = assay_finding_new ();
  finding->rule = g_strdup (rule);
  finding->severity = severity;
  finding->blame = ASSAY_BLAME_TASK;
  finding->title = g_strdup (title);
  finding->component = g_strdup ("tolerance");
  finding->where.workload = g_strdup ("vocab");
  finding->suggestion = g_strdup ("rtol 2e-5 and atol 1e-12 keep every honest variant.");
  finding->reproduce = g_strdup ("assay-engine run softmax_rows_f32 --device virtual:sm_80");
  assay_finding_fingerprint (finding, title);
  g_ptr_array_add (run->findings, finding);
}

static void
add_stage (AssayRun *run, const char *name, int status, const char *reason)
{
  AssayStage *stage = assay_json_table_new (&ASSAY_STAGE_TABLE);
  stage->name = g_strdup (name);
  stage->status = status;
  stage->reason = g_strdup (reason);
  stage->seconds = 0.25;
  g_ptr_array_add (run->stages, stage);
}

static void
score_everything (Fixture *f)
{
  AssayEvidence margin = {.kind = (char *) "plot", .ref = (char *) "numerics/margin/vocab/y"};
  AssayEvidence ulp = {.kind = (char *) "plot", .ref = (char *) "numerics/ulp/vocab/y"};
  AssayEvidence place = {.kind = (char *) "plot", .ref = (char *) "numerics/position/vocab/y"};
  AssayEvidence lines = {.kind = (char *) "source",
                         .ref = (char *) "task.json",
                         .first_line = 40,
                         .last_line = 41,
                         .quote = (char *) "\"tolerance\": {\"rule\": \"allclose\",\n"
                                           "  \"atol\": 1e-4, \"rtol\": 1e-4,"};
  for (guint i = 0; i < f->rubric->criteria->len; i++)
    {
      const AssayCriterion *c = g_ptr_array_index (f->rubric->criteria, i);
      assay_review_editor_set_score (f->editor, c->id, i % 5 == 4 ? "2" : "3", -1);
      if (i % 5 == 4)
        assay_review_editor_set_text (f->editor, c->id, ASSAY_TEXT_PROBLEM,
                                      "Only the shapes of the benchmark are checked.");
    }
  assay_review_editor_set_score (f->editor, "tolerance-fitness", "0", 0);
  assay_review_editor_set_text (
      f->editor, "tolerance-fitness", ASSAY_TEXT_PROBLEM,
      "allclose(1e-4, 1e-4) is larger than every output of softmax over "
      "4096 columns (largest 6.3e-5). All zeros pass <vocab> & *wide*, `atol_` too.");
  assay_review_editor_set_text (f->editor, "tolerance-fitness", ASSAY_TEXT_FIX,
                                "Use rtol 2e-5 and atol 1e-12 against the double reference.");
  assay_review_editor_attach (f->editor, "tolerance-fitness", &margin);
  assay_review_editor_attach (f->editor, "tolerance-fitness", &lines);
  assay_review_editor_attach (f->editor, "candidate-right", &ulp);
  assay_review_editor_attach (f->editor, "candidate-right", &place);
  for (guint i = 0; i < f->rubric->axes->len; i++)
    {
      const AssayAxisWords *axis = g_ptr_array_index (f->rubric->axes, i);
      assay_review_editor_set_verdict (f->editor, axis->id, axis->verdicts[i % 3]);
    }
  assay_review_editor_set_accept (f->editor, "fix");
  assay_review_editor_set_summary (f->editor,
                                   "The task is well specified and runs where it says. Its gate "
                                   "cannot tell right from wrong: every output is smaller than "
                                   "atol, so all zeros pass. Cheap to repair.");
}

static void
set_up (Fixture *f, gconstpointer data)
{
  g_autofree char *path =
      g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "rubrics", "kernel-task.json", NULL);
  f->rubric = assay_rubric_load (path, NULL);
  AssayReview *review = assay_review_start (f->rubric, "softmax_rows_f32", "77d041c9aabbccdd0011",
                                            "fast", "generation", "reviewer A");
  g_free (review->id);
  review->id = g_strdup ("5b1f09a2");
  g_free (review->started);
  review->started = g_strdup ("2025-11-28T10:00:00.5Z");
  f->editor = assay_review_editor_new (review, f->rubric);
  f->run = plot_fixture_run ();
  f->run->device.kind = g_strdup ("virtual");
  f->run->device.name = g_strdup ("Virtual GPU");
  f->run->device.target = g_strdup ("sm_80");
  add_finding (f->run, "num.zero-output-passes", ASSAY_SEVERITY_BLOCKER,
               "All zeros pass allclose(1e-4, 1e-4) on 2 of 3 workloads");
  add_finding (f->run, "num.tolerance-too-loose", ASSAY_SEVERITY_MAJOR,
               "7 of 9 wrong answers live on vocab");
  add_finding (f->run, "num.error-structure", ASSAY_SEVERITY_MINOR, "Error differs by row");
  add_stage (f->run, "compile", ASSAY_STATUS_PASSED, NULL);
  add_stage (f->run, "bench", ASSAY_STATUS_SKIPPED, "the virtual GPU has no notion of time");
  score_everything (f);
  AssayDocumentInput input = {.review = assay_review_editor_review (f->editor),
                              .rubric = f->rubric,
                              .run = f->run,
                              .findings = f->run->findings,
                              .title = "Row-wise softmax, float32",
                              .category = "generation",
                              .framework = "cuda",
                              .licence = "MIT",
                              .training_allowed = "yes"};
  f->report = assay_document_new (&input);
  f->folder = g_dir_make_tmp ("assay-report-XXXXXX", NULL);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  g_autofree char *command = g_strdup_printf ("rm -rf '%s'", f->folder);
  g_spawn_command_line_sync (command, NULL, NULL, NULL, NULL);
  assay_document_free (f->report);
  assay_run_free (f->run);
  g_object_unref (f->editor);
  assay_rubric_free (f->rubric);
  g_free (f->folder);
}

static char *export(Fixture *f, const char *name)
{
  g_autoptr (GError) error = NULL;
  char *path = g_build_filename (f->folder, name, NULL);
  g_assert_true (assay_document_export (f->report, path, &error));
  g_assert_no_error (error);
  return path;
}

static char *
output_of (const char *program, const char *arguments, const char *path)
{
  char *out = NULL;
  g_autofree char *found = g_find_program_in_path (program);
  if (!found)
    {
      g_test_skip_printf ("%s is not installed (package poppler-utils)", program);
      return NULL;
    }
  g_autofree char *command = g_strdup_printf ("%s %s '%s' -", program, arguments, path);
  if (!g_str_equal (program, "pdftotext"))
    command[strlen (command) - 2] = 0;
  g_assert_true (g_spawn_command_line_sync (command, &out, NULL, NULL, NULL));
  return out;
}

static void
same_report_same_bytes (Fixture *f, gconstpointer data)
{
  static const char *const ENDINGS[] = {"pdf", "md", "json"};
  for (gsize i = 0; i < G_N_ELEMENTS (ENDINGS); i++)
    {
      g_autofree char *first = NULL, *second = NULL;
      g_autofree char *name = g_strconcat ("report.", ENDINGS[i], NULL);
      g_autofree char *path = export(f, name);
      gsize a = 0, b = 0;
      g_assert_true (g_file_get_contents (path, &first, &a, NULL));
      g_autofree char *again = export(f, name);
      g_assert_true (g_file_get_contents (again, &second, &b, NULL));
      g_assert_cmpmem (first, a, second, b);
    }
}

static void
pdf_holds_vectors_text_and_outline (Fixture *f, gconstpointer data)
{
  g_autofree char *path = export(f, "report.pdf");
  const char *keep = g_getenv ("ASSAY_KEEP_FIGURES");
  g_autofree char *images = output_of ("pdfimages", "-list", path);
  if (!images)
    return;
  g_auto (GStrv) lines = g_strsplit (g_strchomp (images), "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 2); /* the two head lines alone */
  g_autofree char *text = output_of ("pdftotext", "-layout", path);
  static const char *const WORDS[] = {
      "softmax_rows_f32",       "recommendation", "Tolerance fitness", "All zeros pass",
      "num.zero-output-passes", "allclose",       "page 1 of",         "How it was measured",
      "no notion of time",      "Figure 1.",      "reviewer A"};
  for (gsize i = 0; i < G_N_ELEMENTS (WORDS); i++)
    g_assert_nonnull (strstr (text, WORDS[i]));
  g_autofree char *info = output_of ("pdfinfo", "-dests", path);
  g_assert_nonnull (strstr (info, "heading-3"));
  g_autofree char *facts = output_of ("pdfinfo", "", path);
  g_assert_nonnull (strstr (facts, "Tagged:          yes"));
  g_assert_nonnull (strstr (facts, "softmax_rows_f32: kernel task review"));
  if (keep)
    {
      g_autofree char *command = g_strdup_printf ("cp '%s' '%s/report.pdf'", path, keep);
      g_spawn_command_line_sync (command, NULL, NULL, NULL, NULL);
    }
}

static void
nothing_leaves_its_page (Fixture *f, gconstpointer data)
{
  g_autoptr (AssayPages) pages = assay_pages_new (f->report);
  cairo_rectangle_t paper = {0, 0, ASSAY_PAGE_WIDTH, ASSAY_PAGE_HEIGHT};
  g_assert_cmpuint (assay_pages_count (pages), >=, 3);
  g_assert_cmpuint (assay_pages_unknown_glyphs (pages), ==, 0);
  for (guint i = 0; i < assay_pages_count (pages); i++)
    {
      cairo_surface_t *record = cairo_recording_surface_create (CAIRO_CONTENT_COLOR_ALPHA, NULL);
      cairo_t *cr = cairo_create (record);
      double x = 0, y = 0, width = 0, height = 0;
      assay_pages_draw (pages, i, cr);
      cairo_recording_surface_ink_extents (record, &x, &y, &width, &height);
      g_assert_cmpfloat (x, >=, 40);
      g_assert_cmpfloat (x + width, <=, paper.width - 40);
      g_assert_cmpfloat (y, >=, 20);
      g_assert_cmpfloat (y + height, <=, paper.height - 20);
      cairo_destroy (cr);
      cairo_surface_destroy (record);
    }
}

static void
markdown_escapes_the_reviewers_words (Fixture *f, gconstpointer data)
{
  g_autofree char *path = export(f, "my report.md");
  g_autofree char *text = NULL;
  g_autofree char *figure = g_build_filename (f->folder, "my report-figures", "figure-1.svg", NULL);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_nonnull (strstr (text, "# softmax_rows_f32\n"));
  g_assert_nonnull (strstr (text, "All zeros pass \\<vocab\\> & \\*wide\\*, `atol_` too."));
  g_assert_nonnull (strstr (text, "(my%20report-figures/figure-1.svg)"));
  g_assert_nonnull (strstr (text, "```\n\"tolerance\": {\"rule\": \"allclose\",\n"));
  g_assert_nonnull (strstr (text, "### blocker: All zeros pass"));
  g_assert_true (g_file_test (figure, G_FILE_TEST_EXISTS));
}

static void
json_reads_back_as_the_same_review (Fixture *f, gconstpointer data)
{
  g_autofree char *path = export(f, "report.json");
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) node = assay_json_load (path, &ASSAY_JSON_LIMITS_RECORD, &error);
  g_assert_no_error (error);
  JsonObject *object = json_node_get_object (node);
  AssayReview *again = assay_json_table_read (
      &ASSAY_REVIEW_TABLE, json_object_get_member (object, "review"), "", NULL, &error);
  g_assert_no_error (error);
  g_autoptr (JsonNode) before =
      assay_json_table_write (&ASSAY_REVIEW_TABLE, assay_review_editor_review (f->editor));
  g_autoptr (JsonNode) after = assay_json_table_write (&ASSAY_REVIEW_TABLE, again);
  g_autofree char *a = assay_json_write (before), *b = assay_json_write (after);
  g_assert_cmpstr (a, ==, b);
  g_assert_cmpuint (json_array_get_length (assay_json_array (object, "findings")), ==, 3);
  assay_review_free (again);
}

/* Reviews that other tools wrote may lack it. */
static void
a_start_that_is_not_recorded_is_not_told (Fixture *f, gconstpointer data)
{
  g_autoptr (AssayReview) review = assay_review_copy (assay_review_editor_review (f->editor));
  AssayDocumentInput input = {.review = review,
                              .rubric = f->rubric,
                              .run = f->run,
                              .findings = f->run->findings,
                              .title = "Row-wise softmax, float32"};
  g_clear_pointer (&review->started, g_free);
  AssayDocument *report = assay_document_new (&input);
  g_assert_true (g_str_has_suffix (report->status, " · draft"));
  assay_document_free (report);
  g_assert_true (g_str_has_suffix (f->report->status, " · draft, started 2025-11-28"));
}

static void
other_endings_are_refused (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_assert_false (assay_document_export (f->report, "report.docx", &error));
  g_assert_nonnull (strstr (error->message, ".md, .pdf or .json"));
  g_clear_error (&error);
  g_assert_false (assay_document_export (f->report, "/nowhere/at/all/report.pdf", &error));
  g_assert_nonnull (strstr (error->message, "/nowhere/at/all/report.pdf could not be written"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(path, function) g_test_add (path, Fixture, NULL, set_up, function, tear_down)
  ADD ("/report/same-report-same-bytes", same_report_same_bytes);
  ADD ("/report/pdf-holds-vectors-text-and-outline", pdf_holds_vectors_text_and_outline);
  ADD ("/report/nothing-leaves-its-page", nothing_leaves_its_page);
  ADD ("/report/markdown-escapes-the-reviewers-words", markdown_escapes_the_reviewers_words);
  ADD ("/report/json-reads-back-as-the-same-review", json_reads_back_as_the_same_review);
  ADD ("/report/no-start", a_start_that_is_not_recorded_is_not_told);
  ADD ("/report/other-endings-are-refused", other_endings_are_refused);
#undef ADD
  return g_test_run ();
}
