/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/error.h"
#include "engine/record/run.h"
#include "tests/plot/fixture.h"

#include <glib/gstdio.h>
#include <string.h>

static char *
bytes_of (const AssayRun *run)
{
  g_autoptr (JsonNode) node = assay_json_table_write (&ASSAY_RUN_TABLE, run);
  return assay_json_write (node);
}

static void
a_run_reads_back_as_it_was_written (void)
{
  g_autoptr (AssayRun) run = plot_fixture_run ();
  g_autofree char *folder = g_dir_make_tmp ("assay-record-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "run.json", NULL);
  g_autoptr (GError) error = NULL;
  g_assert_true (assay_run_save (run, folder, &error));
  g_autoptr (AssayRun) again = assay_run_load (folder, &error);
  g_assert_no_error (error);
  g_autofree char *before = bytes_of (run), *after = bytes_of (again);
  g_assert_cmpstr (before, ==, after);
  const AssayWorkloadRecord *workload = g_ptr_array_index (again->workloads, 0);
  const AssayOutput *output = g_ptr_array_index (workload->outputs, 0);
  g_assert_cmpuint (output->comparison->count, ==, 96 * 4096);
  g_assert_cmpfloat (output->comparison->margin, ==, 1.7e-7);
  g_remove (path);
  g_rmdir (folder);
}

static void
other_formats_and_versions_are_named (void)
{
  static const struct
  {
    const char *text, *message;
    int code;
  } CASES[] = {
      {"{\"format\":\"assay-run\",\"version\":7,\"id\":\"x\"}", "version 7",
       ASSAY_ERROR_UNSUPPORTED},
      {"{\"format\":\"assay-task\",\"version\":1,\"id\":\"x\"}", "format \"assay-task\"",
       ASSAY_ERROR_UNSUPPORTED},
      {"{\"version\":1,\"id\":\"x\"}", "format: missing", ASSAY_ERROR_INVALID},
      {"{\"format\":\"assay-run\",\"version\":1,\"id\":\"x\",\"state\":\"odd\"}",
       "state: expected one of pending", ASSAY_ERROR_INVALID},
  };
  g_autofree char *folder = g_dir_make_tmp ("assay-record-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "run.json", NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (CASES); i++)
    {
      g_autoptr (GError) error = NULL;
      g_assert_true (g_file_set_contents (path, CASES[i].text, -1, NULL));
      g_assert_null (assay_run_load (folder, &error));
      g_assert_true (g_error_matches (error, ASSAY_ERROR, CASES[i].code));
      g_assert_nonnull (strstr (error->message, CASES[i].message));
      g_assert_nonnull (strstr (error->message, path));
    }
  g_remove (path);
  g_rmdir (folder);
}

static AssayFinding *
finding_at (const char *rule, const char *file, gint64 line)
{
  AssayFinding *finding = assay_finding_new ();
  finding->rule = g_strdup (rule);
  finding->candidate = g_strdup ("fast");
  finding->where.file = g_strdup (file);
  finding->where.line = line;
  return finding;
}

static void
fingerprints_survive_line_shifts (void)
{
  g_autoptr (AssayFinding) here = finding_at ("mem.out-of-bounds", "kernel.cu", 12);
  g_autoptr (AssayFinding) shifted = finding_at ("mem.out-of-bounds", "kernel.cu", 40);
  g_autoptr (AssayFinding) elsewhere = finding_at ("mem.out-of-bounds", "other.cu", 12);
  g_autoptr (AssayFinding) otherwise = finding_at ("mem.misaligned", "kernel.cu", 12);
  assay_finding_fingerprint (here, "y[i] = x[i + 1];");
  assay_finding_fingerprint (shifted, "y[i] = x[i + 1];");
  assay_finding_fingerprint (elsewhere, "y[i] = x[i + 1];");
  assay_finding_fingerprint (otherwise, "y[i] = x[i + 1];");
  g_assert_cmpstr (here->id, ==, shifted->id);
  g_assert_cmpstr (here->id, !=, elsewhere->id);
  g_assert_cmpstr (here->id, !=, otherwise->id);
}

static void
tolerances_read_as_written (void)
{
  static const struct
  {
    const char *json, *words;
  } CASES[] = {
      {"{\"rule\":\"allclose\",\"atol\":0.0001,\"rtol\":0.00002}",
       "allclose(atol 1e-4, rtol 2e-5)"},
      {"{\"rule\":\"ulp\",\"ulp\":3}", "ulp(3 ulp)"},
      {"{\"rule\":\"exact\"}", "exact"},
      {"{\"rule\":\"allclose\",\"atol\":1,\"matched_ratio\":0.99,\"relative_to\":\"candidate\"}",
       "allclose(atol 1, rtol 0), 0.99 of the elements, relative to the candidate"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (CASES); i++)
    {
      g_autoptr (JsonNode) node =
          assay_json_parse (CASES[i].json, -1, &ASSAY_JSON_LIMITS_TASK, NULL, NULL);
      AssayTolerance *tolerance =
          assay_json_table_read (&ASSAY_TOLERANCE_TABLE, node, "", NULL, NULL);
      g_autofree char *words = assay_tolerance_describe (tolerance);
      g_assert_cmpstr (words, ==, CASES[i].words);
      assay_tolerance_free (tolerance);
    }
}

static void
severities_are_counted_in_words (void)
{
  static const struct
  {
    int severity;
    guint count;
    const char *words;
  } CASES[] = {{ASSAY_SEVERITY_BLOCKER, 1, "1 blocker"},
               {ASSAY_SEVERITY_BLOCKER, 2, "2 blockers"},
               {ASSAY_SEVERITY_MAJOR, 3, "3 major"},
               {ASSAY_SEVERITY_INFO, 1, "1 info"}};
  for (gsize i = 0; i < G_N_ELEMENTS (CASES); i++)
    {
      g_autofree char *words = assay_severity_count (CASES[i].severity, CASES[i].count);
      g_assert_cmpstr (words, ==, CASES[i].words);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/a-run-reads-back-as-it-was-written",
                   a_run_reads_back_as_it_was_written);
  g_test_add_func ("/record/other-formats-and-versions-are-named",
                   other_formats_and_versions_are_named);
  g_test_add_func ("/record/fingerprints-survive-line-shifts", fingerprints_survive_line_shifts);
  g_test_add_func ("/record/tolerances-read-as-written", tolerances_read_as_written);
  g_test_add_func ("/record/severities-are-counted-in-words", severities_are_counted_in_words);
  return g_test_run ();
}
