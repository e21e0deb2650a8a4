/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/error.h"
#include "engine/store/store.h"
#include "tests/engine/fixture.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static void
write_run (const char *workspace, const char *id, int state, guint blockers)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayRun) run = assay_run_new ();
  g_autofree char *folder = g_build_filename (workspace, "runs", "task", id, NULL);
  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  run->id = g_strdup (id);
  run->task.id = g_strdup ("task");
  run->candidate = g_strdup ("only");
  run->device.kind = g_strdup ("virtual");
  run->device.target = g_strdup ("sm_80");
  run->started = g_strdup_printf ("2026-01-01T00:00:%sZ", id);
  run->state = state;
  for (guint i = 0; i < blockers; i++)
    {
      AssayFinding *finding = assay_finding_new ();
      finding->id = g_strdup_printf ("f%u", i);
      finding->rule = g_strdup ("num.candidate-wrong");
      finding->severity = ASSAY_SEVERITY_BLOCKER;
      g_ptr_array_add (run->findings, finding);
    }
  g_assert_true (assay_run_save (run, folder, &error));
}

static const AssayRunSummary *
row (GPtrArray *rows, guint index, const char *id)
{
  g_assert_cmpuint (index, <, rows->len);
  const AssayRunSummary *summary = g_ptr_array_index (rows, index);
  g_assert_cmpstr (summary->id, ==, id);
  return summary;
}

static void
test_rebuilt_from_folders (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *workspace = fixture_folder ();
  g_autofree char *path = g_build_filename (workspace, "runs.sqlite", NULL);
  write_run (workspace, "01", ASSAY_STATUS_PASSED, 0);
  write_run (workspace, "02", ASSAY_STATUS_FAILED, 2);
  for (int round = 0; round < 3; round++)
    {
      g_autoptr (AssayStore) store = assay_store_open (workspace, &error);
      g_assert_no_error (error);
      g_autoptr (GPtrArray) rows = assay_store_list (store, &error);
      g_assert_cmpuint (rows->len, ==, 2);
      g_assert_cmpint (row (rows, 0, "02")->blockers, ==, 2);
      g_assert_cmpint (row (rows, 1, "01")->state, ==, ASSAY_STATUS_PASSED);
      g_clear_pointer (&store, assay_store_free);
      /* Then the index is gone, and then it is rubbish. */
      if (round == 0)
        g_assert_cmpint (g_unlink (path), ==, 0);
      else
        g_assert_true (g_file_set_contents (path,
                                            "this is no database, and long enough to be read "
                                            "as a header of one hundred bytes by whoever tries",
                                            -1, NULL));
    }
  fixture_remove (workspace);
}

static void
test_runs_of_others_appear (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *workspace = fixture_folder ();
  g_autoptr (AssayStore) store = assay_store_open (workspace, &error);
  g_assert_no_error (error);
  write_run (workspace, "01", ASSAY_STATUS_PASSED, 1);
  g_assert_null (assay_store_find (store, "01", &error));
  g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_true (assay_store_reconcile (store, &error));
  g_autoptr (AssayRunSummary) found = assay_store_find (store, "01", &error);
  g_assert_no_error (error);
  g_assert_cmpstr (found->device, ==, "virtual:sm_80");
  fixture_remove (workspace);
}

/* Running while somebody holds the folder; lost when nobody does. */
static void
test_lost_runs (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *workspace = fixture_folder ();
  g_autofree char *folder = g_build_filename (workspace, "runs", "task", "01", NULL);
  write_run (workspace, "01", ASSAY_STATUS_RUNNING, 0);
  int lock = assay_run_folder_lock (folder);
  g_assert_cmpint (lock, >=, 0);
  g_assert_cmpint (assay_run_folder_lock (folder), ==, -1);
  g_autoptr (AssayStore) store = assay_store_open (workspace, &error);
  g_assert_no_error (error);
  g_autoptr (AssayRunSummary) held = assay_store_find (store, "01", &error);
  g_assert_cmpint (held->state, ==, ASSAY_STATUS_RUNNING);
  close (lock);
  g_assert_true (assay_store_reconcile (store, &error));
  g_autoptr (AssayRunSummary) lost = assay_store_find (store, "01", &error);
  g_assert_cmpint (lost->state, ==, ASSAY_STATUS_ERROR);
  fixture_remove (workspace);
}

static void
test_broken_folders_are_passed_over (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *workspace = fixture_folder ();
  g_autofree char *folder = g_build_filename (workspace, "runs", "task", "bad", NULL);
  g_autofree char *path = g_build_filename (folder, "run.json", NULL);
  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  g_assert_true (g_file_set_contents (path, "{ half a rec", -1, NULL));
  write_run (workspace, "01", ASSAY_STATUS_PASSED, 0);
  g_autoptr (AssayStore) store = assay_store_open (workspace, &error);
  g_assert_no_error (error);
  g_autoptr (GPtrArray) rows = assay_store_list (store, &error);
  g_assert_cmpuint (rows->len, ==, 1);
  fixture_remove (workspace);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/store/rebuilt-from-folders", test_rebuilt_from_folders);
  g_test_add_func ("/store/runs-of-others-appear", test_runs_of_others_appear);
  g_test_add_func ("/store/lost-runs", test_lost_runs);
  g_test_add_func ("/store/broken-folders-are-passed-over", test_broken_folders_are_passed_over);
  return g_test_run ();
}
