/* SPDX-License-Identifier: Apache-2.0 */
/* The shipped tasks, run as a reviewer would on the virtual GPU: each says which findings of weight it
 * must produce, and anything else of that weight is a fault of ours. */
#include "engine/findings/rules.h"
#include "engine/run/job.h"
#include "engine/task/task.h"
#include "tests/engine/fixture.h"

#include <string.h>

static char *workspace;

static gboolean
has (char **list, const char *rule)
{
  return list && g_strv_contains ((const char *const *) list, rule);
}

static gboolean
found (const AssayRun *run, const char *rule)
{
  for (guint i = 0; i < run->findings->len; i++)
    if (g_str_equal (((AssayFinding *) run->findings->pdata[i])->rule, rule))
      return TRUE;
  return FALSE;
}

static void
compare_with_expected (const AssayTask *task, const AssayRun *run)
{
  for (guint i = 0; i < run->findings->len; i++)
    {
      const AssayFinding *finding = g_ptr_array_index (run->findings, i);
      g_test_message ("%s: %s: %s", task->id, finding->rule, finding->title);
      if (finding->severity <= ASSAY_SEVERITY_MAJOR && !has (task->expect->findings, finding->rule))
        g_error ("%s: unexpected %s: %s", task->id, finding->rule, finding->title);
      if (has (task->expect->absent, finding->rule))
        g_error ("%s: %s shall be absent: %s", task->id, finding->rule, finding->title);
      g_assert_nonnull (finding->id);
      g_assert_nonnull (finding->reproduce);
    }
  for (char **rule = task->expect->findings; *rule; rule++)
    if (!found (run, *rule))
      g_error ("%s: expected %s, which did not fire", task->id, *rule);
}

static void
test_shipped_task (gconstpointer data)
{
  if (fixture_why_not ())
    {
      g_test_skip (fixture_why_not ());
      return;
    }
  g_autofree char *folder =
      g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "data", "tasks", data, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayTask) task = assay_task_load (folder, NULL, &error);
  g_assert_no_error (error);
  AssayJobRequest request = {
      .task = folder, .device = "virtual:sm_80", .workspace = workspace, .seconds = 60};
  g_autoptr (AssayJob) job = assay_job_new (&request, &error);
  g_assert_no_error (error);
  assay_job_start (job);
  assay_job_join (job);
  const AssayRun *run = assay_job_run (job);
  const AssayStage *compile = g_ptr_array_index (run->stages, ASSAY_STAGE_COMPILE);
  if (compile->status == ASSAY_STATUS_SKIPPED)
    g_test_skip (compile->reason);
  else
    compare_with_expected (task, run);
}

int
main (int argc, char **argv)
{
  static const char *const NAMES[] = {"row_softmax", "wide_softmax", "tiled_sgemm",
                                      "layer_norm",  "bf16_gemm",    "row_energy"};
  g_test_init (&argc, &argv, NULL);
  workspace = fixture_folder ();
  fixture_libexec (workspace, FALSE);
  for (gsize i = 0; i < G_N_ELEMENTS (NAMES); i++)
    {
      g_autofree char *path = g_strdup_printf ("/shipped/%s", NAMES[i]);
      g_test_add_data_func (path, NAMES[i], test_shipped_task);
    }
  int result = g_test_run ();
  fixture_remove (workspace);
  g_free (workspace);
  return result;
}
