/* SPDX-License-Identifier: Apache-2.0 */
/* What the workbench knows without a screen: events, runs, findings, keys, words of a task. */
#include "config.h"

#include "app/run-model.h"
#include "app/shortcuts.h"
#include "app/task-facts.h"
#include "engine/base/error.h"
#include "tests/ui/recorded.h"

#include <glib/gstdio.h>

static AssayRunEvent *
parse (const char *line)
{
  g_autoptr (GError) error = NULL;
  AssayRunEvent *event = assay_run_event_parse (line, strlen (line), &error);

  g_assert_no_error (error);
  return event;
}

static void
apply (AssayRunModel *model, const char *line)
{
  g_autoptr (AssayRunEvent) event = parse (line);

  assay_run_model_apply (model, event);
}

static void
test_event_fields (void)
{
  g_autoptr (AssayRunEvent) event =
      parse ("{\"n\":7,\"type\":\"stage\",\"stage\":\"compare\",\"index\":3,\"of\":8,"
             "\"status\":\"running\",\"reason\":null,\"fraction\":0.4,\"text\":\"y of vocab\"}");

  g_assert_cmpint (event->n, ==, 7);
  g_assert_cmpint (event->type, ==, ASSAY_EVENT_STAGE);
  g_assert_cmpint (event->stage, ==, ASSAY_STAGE_COMPARE);
  g_assert_cmpint (event->status, ==, ASSAY_STATUS_RUNNING);
  g_assert_cmpfloat (event->fraction, ==, 0.4);
  g_assert_cmpstr (event->text, ==, "y of vocab");
}

static void
test_event_refuses (void)
{
  static const char *const bad[] = {"",
                                    "[]",
                                    "{\"n\":1,\"type\":\"finding\"}",
                                    "{\"n\":1,\"type\":\"finding\",\"record\":[]}",
                                    "{\"n\":1,\"type\":\"stage\"",
                                    "{\"n\":1,\"type\":\"finding\",\"record\":{\"rule\":7}}"};

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (assay_run_event_parse (bad[i], strlen (bad[i]), &error));
      g_assert_nonnull (error);
      g_assert_cmpint (error->domain, ==, ASSAY_ERROR);
    }
}

static void
test_event_of_newer_engine (void)
{
  g_autoptr (AssayRunEvent) event = parse ("{\"n\":3,\"type\":\"temperature\",\"text\":\"62\"}");
  g_autoptr (AssayRunModel) model = assay_run_model_new ("r", NULL);

  g_assert_cmpint (event->type, ==, ASSAY_EVENT_UNKNOWN);
  assay_run_model_apply (model, event);
  g_assert_cmpint (assay_run_model_get_last_event (model), ==, 3);
}

static void
apply_finding (AssayRunModel *model, int n, const char *id, const char *rule, const char *severity,
               int count)
{
  g_autofree char *line = g_strdup_printf ("{\"n\":%d,\"type\":\"finding\",\"record\":{\"id\":\"%"
                                           "s\",\"rule\":\"%s\",\"severity\":\"%s\","
                                           "\"title\":\"t\",\"count\":%d}}",
                                           n, id, rule, severity, count);

  apply (model, line);
}

static void
test_times_come_with_the_run (void)
{
  g_autoptr (AssayRunModel) model = assay_run_model_new ("r", NULL);
  const AssayTimingSummary *benchmark;

  g_assert_null (assay_run_model_get (model)->benchmark);
  apply (model, "{\"n\":1,\"type\":\"timing\",\"record\":{\"workload\":\"wide\",\"rounds\":1,"
                "\"samples\":2,\"candidate\":{\"name\":\"fast\",\"events\":[1e-6,2e-6]},"
                "\"verdict\":\"faster\",\"ratio\":0.5}}");
  apply (model, "{\"n\":2,\"type\":\"timing\",\"record\":{\"workload\":\"narrow\"}}");
  benchmark = assay_run_model_get (model)->benchmark;
  g_assert_nonnull (benchmark);
  g_assert_cmpuint (benchmark->timings->len, ==, 2);
  g_assert_cmpstr (((AssayTiming *) g_ptr_array_index (benchmark->timings, 0))->workload, ==,
                   "wide");
  g_assert_cmpuint (
      ((AssayTiming *) g_ptr_array_index (benchmark->timings, 0))->candidate.events->len, ==, 2);
}

static void
test_findings_sorted_and_merged (void)
{
  g_autoptr (AssayRunModel) model = assay_run_model_new ("r", NULL);
  GListModel *findings = assay_run_model_get_findings (model);
  static const char *const expected[] = {"mem.out-of-bounds", "num.nan", "race.shared", "mem.leak"};
  guint counts[4];

  apply_finding (model, 1, "a", "mem.leak", "minor", 1);
  apply_finding (model, 2, "b", "race.shared", "major", 1);
  apply_finding (model, 3, "c", "num.nan", "blocker", 1);
  apply_finding (model, 4, "d", "mem.out-of-bounds", "blocker", 1);
  apply_finding (model, 5, "b", "race.shared", "major", 40); /* seen again */
  g_assert_cmpuint (g_list_model_get_n_items (findings), ==, 4);
  for (guint i = 0; i < 4; i++)
    {
      g_autoptr (AssayFindingItem) item = g_list_model_get_item (findings, i);

      g_assert_cmpstr (assay_finding_item_get (item)->rule, ==, expected[i]);
      if (i == 2)
        g_assert_cmpuint (assay_finding_item_get (item)->count, ==, 40);
    }
  assay_run_model_count (model, counts);
  g_assert_cmpuint (counts[ASSAY_SEVERITY_BLOCKER], ==, 2);
  g_assert_cmpuint (counts[ASSAY_SEVERITY_MAJOR], ==, 1);
  g_assert_cmpuint (counts[ASSAY_SEVERITY_MINOR], ==, 1);
}

static void
test_repeated_events_count_once (void)
{
  g_autoptr (AssayRunModel) model = assay_run_model_new ("r", NULL);

  apply (model, "{\"n\":1,\"type\":\"log\",\"stage\":\"compile\",\"text\":\"one\"}");
  apply (model, "{\"n\":2,\"type\":\"log\",\"stage\":\"compile\",\"text\":\"two\"}");
  /* A stream that was resumed too early. */
  apply (model, "{\"n\":2,\"type\":\"log\",\"stage\":\"compile\",\"text\":\"two\"}");
  apply (model, "{\"n\":3,\"type\":\"heartbeat\"}");
  g_assert_cmpstr (assay_run_model_get_log (model), ==, "one\ntwo\n");
  g_assert_cmpint (assay_run_model_get_last_event (model), ==, 3);
}

static void
test_stages_and_end (void)
{
  g_autoptr (AssayRunModel) model = assay_run_model_new ("r", NULL);
  int statuses[ASSAY_N_STAGES];
  double fraction;
  const char *text;

  apply (model, "{\"n\":1,\"type\":\"stage\",\"stage\":\"validate\",\"status\":\"passed\"}");
  apply (model, "{\"n\":2,\"type\":\"stage\",\"stage\":\"compile\",\"status\":\"running\","
                "\"fraction\":0.5,\"text\":\"kernel.cu\"}");
  g_assert_true (assay_run_model_is_running (model));
  g_assert_cmpint (assay_run_model_get_current (model, &fraction, &text), ==, ASSAY_STAGE_COMPILE);
  g_assert_cmpstr (text, ==, "kernel.cu");
  apply (model, "{\"n\":3,\"type\":\"finished\",\"state\":\"cancelled\",\"folder\":\"/f\"}");
  g_assert_false (assay_run_model_is_running (model));
  assay_run_model_get_stages (model, statuses);
  g_assert_cmpint (statuses[ASSAY_STAGE_VALIDATE], ==, ASSAY_STATUS_PASSED);
  g_assert_cmpint (statuses[ASSAY_STAGE_COMPILE], ==, ASSAY_STATUS_CANCELLED);
  g_assert_cmpint (statuses[ASSAY_STAGE_RUN], ==, ASSAY_STATUS_PENDING);
  g_assert_cmpstr (assay_run_model_get_folder (model), ==, "/f");
}

static void
test_lost_run (void)
{
  g_autoptr (AssayRunModel) model = assay_run_model_new ("r", NULL);
  const AssayStage *stage;
  int statuses[ASSAY_N_STAGES];

  apply (model, "{\"n\":1,\"type\":\"stage\",\"stage\":\"run\",\"status\":\"running\"}");
  assay_run_model_mark_lost (model, "gone");
  assay_run_model_get_stages (model, statuses);
  g_assert_true (assay_run_model_is_lost (model));
  g_assert_false (assay_run_model_is_running (model));
  g_assert_cmpint (statuses[ASSAY_STAGE_RUN], ==, ASSAY_STATUS_ERROR);
  stage = g_ptr_array_index (assay_run_model_get (model)->stages, 0);
  g_assert_cmpstr (stage->reason, ==, "gone");
}

/* What was shown once must stay readable for threads that still look at it. */
static void
test_snapshot_survives_changes (void)
{
  g_autoptr (AssayRunModel) model = assay_run_model_new ("r", NULL);
  AssayRunSnapshot *snapshot;
  const AssayWorkloadRecord *first;

  apply (model,
         "{\"n\":1,\"type\":\"workload\",\"record\":{\"name\":\"a\",\"status\":\"PASSED\"}}");
  snapshot = assay_run_model_snapshot (model);
  apply (model,
         "{\"n\":2,\"type\":\"workload\",\"record\":{\"name\":\"a\",\"status\":\"TIMEOUT\"}}");
  apply (model,
         "{\"n\":3,\"type\":\"workload\",\"record\":{\"name\":\"b\",\"status\":\"PASSED\"}}");
  g_assert_cmpuint (snapshot->run.workloads->len, ==, 1);
  first = g_ptr_array_index (snapshot->run.workloads, 0);
  g_assert_cmpint (first->status, ==, ASSAY_WORKLOAD_PASSED);
  g_assert_cmpint (assay_run_model_find_workload (model, "a")->status, ==, ASSAY_WORKLOAD_TIMEOUT);
  assay_run_snapshot_free (snapshot);
}

static void
test_finding_pages (void)
{
  static const struct
  {
    const char *rule;
    int line;
    const char *page;
  } cases[] = {
      {"num.candidate-wrong", 0, "numerics"}, {"mem.out-of-bounds", 12, "source"},
      {"mem.out-of-bounds", 0, "validity"},   {"build.failed", 3, "validity"},
      {"task.input-coverage", 0, "overview"}, {"numb.not-a-family", 0, "overview"},
      {"bench.warm-cache", 0, "overview"},
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AssayFinding) finding = assay_finding_new ();

      finding->rule = g_strdup (cases[i].rule);
      finding->where.line = cases[i].line;
      g_assert_cmpstr (assay_finding_page (finding), ==, cases[i].page);
    }
}

/* Plain keys of the window and of the plot share one space: where a plot has the focus both listen. */
static void
test_shortcuts_unique (void)
{
  g_autoptr (GHashTable) accels = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) plain = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < ASSAY_N_SHORTCUTS; i++)
    {
      const AssayShortcut *shortcut = &ASSAY_SHORTCUTS[i];
      g_auto (GStrv) keys = g_strsplit (shortcut->keys != NULL ? shortcut->keys : "", " ", -1);

      for (int k = 0; keys[k] != NULL && *keys[k] != '\0'; k++)
        {
          guint key;
          GdkModifierType state;
          char *name;

          g_assert_true (gtk_accelerator_parse (keys[k], &key, &state));
          if (shortcut->scope == ASSAY_KEYS_ACCEL)
            g_assert_true (state != 0 || (key >= GDK_KEY_F1 && key <= GDK_KEY_F12));
          name = gtk_accelerator_name (key, state);
          if (!g_hash_table_add (shortcut->scope == ASSAY_KEYS_ACCEL ? accels : plain, name))
            g_error ("%s is given twice, again for “%s”", keys[k], shortcut->title);
        }
    }
}

static void
test_shortcut_actions_parse (void)
{
  for (guint i = 0; i < ASSAY_N_SHORTCUTS; i++)
    if (ASSAY_SHORTCUTS[i].action != NULL)
      {
        g_autofree char *name = NULL;
        g_autoptr (GVariant) target = NULL;
        g_autoptr (GError) error = NULL;

        g_action_parse_detailed_name (ASSAY_SHORTCUTS[i].action, &name, &target, &error);
        g_assert_no_error (error);
      }
}

static void
test_task_in_words (void)
{
  g_autofree char *folder =
      g_build_filename (ASSAY_SOURCE_DIR, "tests", "ui", "tasks", "softmax_rows_f32", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayTask) task = assay_task_load (folder, NULL, &error);
  g_autoptr (GPtrArray) facts = NULL;
  g_auto (GStrv) cells = NULL;
  const char *tolerance = NULL;

  g_assert_no_error (error);
  facts = assay_task_facts (task);
  for (guint i = 0; i < facts->len; i++)
    {
      const AssayFact *fact = g_ptr_array_index (facts, i);

      if (g_str_equal (fact->name, "tolerance"))
        tolerance = fact->value;
    }
  g_assert_cmpstr (tolerance, ==, "allclose(atol 1e-4, rtol 1e-4)");
  cells = assay_workload_cells (task, assay_task_workload (task, "vocab"));
  g_assert_cmpstr (cells[0], ==, "vocab");
  g_assert_nonnull (strstr (cells[1], "cols 8200"));
  g_assert_nonnull (strstr (cells[2], "uniform [-8, 0)"));
}

static void
test_recorded_run_round_trip (void)
{
  g_autoptr (AssayRun) run = assay_recorded_run ("fast");
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("assay-XXXXXX", &error);
  g_autofree char *file = g_build_filename (folder, "run.json", NULL);
  g_autoptr (AssayRun) again = NULL;

  g_assert_no_error (error);
  g_assert_true (assay_run_save (run, folder, &error));
  again = assay_run_load (folder, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (again->workloads->len, ==, 2);
  g_assert_cmpuint (again->audit->probes->len, ==, run->audit->probes->len);
  g_assert_cmpuint (again->audit->probes->len, >, 10);
  g_assert_cmpint (g_remove (file), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/model/event/fields", test_event_fields);
  g_test_add_func ("/model/event/refuses", test_event_refuses);
  g_test_add_func ("/model/event/of-newer-engine", test_event_of_newer_engine);
  g_test_add_func ("/model/times", test_times_come_with_the_run);
  g_test_add_func ("/model/findings-sorted-and-merged", test_findings_sorted_and_merged);
  g_test_add_func ("/model/repeated-events-count-once", test_repeated_events_count_once);
  g_test_add_func ("/model/stages-and-end", test_stages_and_end);
  g_test_add_func ("/model/lost-run", test_lost_run);
  g_test_add_func ("/model/snapshot-survives-changes", test_snapshot_survives_changes);
  g_test_add_func ("/model/finding-pages", test_finding_pages);
  g_test_add_func ("/model/shortcuts-unique", test_shortcuts_unique);
  g_test_add_func ("/model/shortcut-actions-parse", test_shortcut_actions_parse);
  g_test_add_func ("/model/task-in-words", test_task_in_words);
  g_test_add_func ("/model/recorded-run-round-trip", test_recorded_run_round_trip);
  return g_test_run ();
}
