/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/task/fixture.h"

#include "engine/findings/failure.h"
#include "engine/findings/findings.h"
#include "engine/findings/rules.h"
#include "engine/numerics/compare.h"
#include "engine/numerics/probes.h"

#include <math.h>

typedef struct
{
  TaskFixture fixture;
  AssayTask *task;
  AssayRun *run;
  AssayFacts facts;
} Scene;

static void
scene_init (Scene *scene, const char *find, const char *replace)
{
  g_autoptr (GError) error = NULL;
  scene->fixture = task_fixture_new ();
  write_in (scene->fixture.folder, "kernel.cu", "// first\nx[i] = 1;\ny[i] = tile[j];\n// last\n");
  if (find)
    task_fixture_change (&scene->fixture, find, replace);
  scene->task = assay_task_load (scene->fixture.folder, NULL, &error);
  g_assert_no_error (error);
  scene->run = assay_run_new ();
  scene->run->candidate = g_strdup ("plain");
  scene->run->device.kind = g_strdup ("virtual");
  scene->run->task.path = g_strdup (scene->fixture.folder);
  scene->facts = (AssayFacts) {
      .task = scene->task,
      .candidate = assay_task_candidate (scene->task, NULL),
      .target = "sm_80",
      .reports = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_report_free),
      .failures = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_failure_free),
      .repeats = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_repeat_free),
      .checks = "all",
  };
}

static void
scene_clear (Scene *scene)
{
  g_ptr_array_unref (scene->facts.reports);
  g_ptr_array_unref (scene->facts.failures);
  g_ptr_array_unref (scene->facts.repeats);
  assay_run_free (scene->run);
  assay_task_free (scene->task);
  task_fixture_clear (&scene->fixture);
}

static void
report (Scene *scene, const char *workload, const char *text)
{
  g_autoptr (GError) error = NULL;
  JsonNode *node = assay_json_parse (text, -1, &ASSAY_JSON_LIMITS_MESSAGE, "report", &error);
  g_assert_no_error (error);
  g_ptr_array_add (scene->facts.reports, assay_report_new (workload, node));
}

static void
fail (Scene *scene, const char *workload, const char *role, const char *name, const char *message)
{
  AssayFailure *failure = g_new0 (AssayFailure, 1);
  failure->workload = g_strdup (workload);
  failure->role = g_strdup (role);
  failure->name = g_strdup (name);
  failure->message = g_strdup (message);
  g_ptr_array_add (scene->facts.failures, failure);
}

static guint
count_rule (const Scene *scene, const char *rule)
{
  guint n = 0;
  for (guint i = 0; i < scene->run->findings->len; i++)
    n += g_str_equal (((AssayFinding *) scene->run->findings->pdata[i])->rule, rule);
  return n;
}

static AssayFinding *
find_rule (const Scene *scene, const char *rule)
{
  for (guint i = 0; i < scene->run->findings->len; i++)
    if (g_str_equal (((AssayFinding *) scene->run->findings->pdata[i])->rule, rule))
      return scene->run->findings->pdata[i];
  return NULL;
}

#define ACCESS                                                                                     \
  "\"kernel\":\"scale\",\"block\":[3,0,0],\"thread\":[17,0,0],\"access\":\"read\","                \
  "\"space\":\"global\",\"bytes\":4,"

#define OUT_OF_BOUNDS                                                                              \
  "{\"type\":\"report\",\"id\":1,\"rule\":\"mem.out-of-bounds\","                                  \
  "\"message\":\"read of 4 bytes past the end of x\"," ACCESS "\"file\":\"kernel.cu\",\"line\":3," \
  "\"allocation\":{\"name\":\"x\",\"bytes\":800,\"offset\":816}}"

static void
test_reports_of_one_line_are_one_finding (void)
{
  Scene scene;
  scene_init (&scene, NULL, NULL);
  report (&scene, "small", OUT_OF_BOUNDS);
  report (&scene, "small", "{\"type\":\"count\",\"id\":1,\"count\":1500}");
  /* The same again from the second, shuffled run: not counted twice. */
  report (&scene, "small", OUT_OF_BOUNDS);
  report (&scene, "small", "{\"type\":\"count\",\"id\":1,\"count\":1500}");
  assay_findings_derive (scene.run, &scene.facts);
  g_assert_cmpuint (count_rule (&scene, "mem.out-of-bounds"), ==, 1);
  const AssayFinding *finding = find_rule (&scene, "mem.out-of-bounds");
  g_assert_cmpuint (finding->count, ==, 1500);
  g_assert_cmpint (finding->severity, ==, ASSAY_SEVERITY_BLOCKER);
  g_assert_cmpint (finding->where.line, ==, 3);
  g_assert_cmpint (g_array_index (finding->where.thread, gint64, 0), ==, 17);
  g_assert_cmpstr (finding->title, ==,
                   "A read of 4 bytes lies 16 bytes past the end of x (800 bytes) · 1,500 times");
  g_assert_cmpstr (finding->where.file, ==, "kernel.cu");
  g_assert_nonnull (strstr (finding->title, "1,500 times"));
  const AssayEvidence *evidence = g_ptr_array_index (finding->evidence, 0);
  g_assert_cmpstr (evidence->quote, ==, "y[i] = tile[j];");
  g_assert_nonnull (strstr (finding->reproduce, "--device virtual:sm_80"));
  scene_clear (&scene);
}

#define RACE(line, other)                                                                          \
  "{\"type\":\"report\",\"id\":" #line ",\"rule\":\"race.shared\",\"message\":\"race\"," ACCESS    \
  "\"file\":\"kernel.cu\",\"line\":" #line ",\"other\":{\"file\":\"kernel.cu\",\"line\":" #other   \
  "}}"

static void
test_a_race_is_one_finding_from_either_side (void)
{
  Scene scene;
  scene_init (&scene, NULL, NULL);
  report (&scene, "small", RACE (2, 3));
  report (&scene, "small", RACE (3, 2));
  AssayRepeat *repeat = g_new0 (AssayRepeat, 1);
  *repeat = (AssayRepeat) {g_strdup ("small"), g_strdup ("y"), 200, 9, 0.5, g_strdup ("twice")};
  g_ptr_array_add (scene.facts.repeats, repeat);
  assay_findings_derive (scene.run, &scene.facts);
  g_assert_cmpuint (count_rule (&scene, "race.shared"), ==, 1);
  /* What the race does to the bits is not told again. */
  g_assert_null (find_rule (&scene, "num.nondeterministic"));
  scene_clear (&scene);
}

static char *
fingerprint_at (const char *source, const char *report_text)
{
  Scene scene;
  scene_init (&scene, NULL, NULL);
  write_in (scene.fixture.folder, "kernel.cu", source);
  report (&scene, "small", report_text);
  assay_findings_derive (scene.run, &scene.facts);
  char *id = g_strdup (find_rule (&scene, "race.shared")->id);
  scene_clear (&scene);
  return id;
}

static void
test_fingerprints_survive_line_shifts (void)
{
  g_autofree char *before = fingerprint_at ("a\nb = c;\nd = b;\n", RACE (2, 3));
  g_autofree char *after = fingerprint_at ("a\n\n\nb = c;\nd = b;\n", RACE (4, 5));
  g_autofree char *turned = fingerprint_at ("a\n\n\nb = c;\nd = b;\n", RACE (5, 4));
  g_autofree char *other = fingerprint_at ("a\nb = q;\nd = b;\n", RACE (2, 3));
  g_assert_cmpstr (before, ==, after);
  g_assert_cmpstr (before, ==, turned);
  g_assert_cmpstr (before, !=, other);
}

typedef struct
{
  const char *role, *name, *message, *failure_class, *rule;
  int blame;
} Failing;

/* clang-format off */
static const Failing FAILING[] = {
  {"candidate", "CUDA_ERROR_ILLEGAL_ADDRESS", "", "ILLEGAL_ACCESS", "mem.out-of-bounds", ASSAY_BLAME_CANDIDATE},
  {"candidate", "CUDA_ERROR_MISALIGNED_ADDRESS", "", "MISALIGNED", "mem.misaligned", ASSAY_BLAME_CANDIDATE},
  {"candidate", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "", "DRIVER_MISMATCH", "env.driver-mismatch", ASSAY_BLAME_ENVIRONMENT},
  {"candidate", "CUDA_ERROR_NO_DEVICE", "", "NO_DEVICE", "env.no-device", ASSAY_BLAME_ENVIRONMENT},
  {"candidate", "CUDA_ERROR_NOT_SUPPORTED", "wgmma", "INTERP_GAP", "env.interpreter-gap", ASSAY_BLAME_INTERPRETER},
  {"candidate", "CUDA_ERROR_ECC_UNCORRECTABLE", "", "HW_FAULT", "env.hardware", ASSAY_BLAME_HARDWARE},
  {"candidate", "CUDA_ERROR_ASSERT", "", "DEVICE_ASSERT", "run.failed", ASSAY_BLAME_CANDIDATE},
  {"candidate", "timeout", "after 20 s", "TIMEOUT", "run.failed", ASSAY_BLAME_CANDIDATE},
  {"candidate", "SIGSEGV", "", "CRASH", "run.failed", ASSAY_BLAME_CANDIDATE},
  {"candidate", "AcceleratorError", "CUDA error: an illegal memory access was encountered", "ILLEGAL_ACCESS", "mem.out-of-bounds", ASSAY_BLAME_CANDIDATE},
  {"candidate", "RuntimeError", "something", "UNKNOWN", "run.failed", ASSAY_BLAME_CANDIDATE},
  {"compile", "NVRTC_ERROR_COMPILATION", "kernel.cu(3): error", "COMPILE", "build.failed", ASSAY_BLAME_CANDIDATE},
  {"reference", "SIGFPE", "", "CRASH", "task.reference-fails", ASSAY_BLAME_TASK},
};
/* clang-format on */

static void
test_failures_have_class_rule_and_blame (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (FAILING); i++)
    {
      const Failing *f = &FAILING[i];
      Scene scene;
      scene_init (&scene, NULL, NULL);
      fail (&scene, "small", f->role, f->name, f->message);
      fail (&scene, "other", f->role, f->name, f->message);
      g_assert_cmpstr (
          assay_failure_classify (g_ptr_array_index (scene.facts.failures, 0))->failure_class, ==,
          f->failure_class);
      assay_findings_derive (scene.run, &scene.facts);
      g_assert_cmpuint (count_rule (&scene, f->rule), ==, 1);
      g_assert_cmpint (find_rule (&scene, f->rule)->blame, ==, f->blame);
      scene_clear (&scene);
    }
}

static void
test_a_reported_fault_explains_the_error_that_follows (void)
{
  Scene scene;
  scene_init (&scene, NULL, NULL);
  report (&scene, "small",
          "{\"type\":\"report\",\"id\":1,\"rule\":\"mem.misaligned\",\"message\":\"m\"," ACCESS
          "\"file\":\"kernel.cu\",\"line\":2}");
  fail (&scene, "small", "candidate", "CUDA_ERROR_MISALIGNED_ADDRESS", "");
  assay_findings_derive (scene.run, &scene.facts);
  g_assert_cmpuint (count_rule (&scene, "mem.misaligned"), ==, 1);
  scene_clear (&scene);
}

static void
test_launches_are_held_against_every_target (void)
{
  Scene scene;
  scene_init (&scene, "\"block\": [\"tile\"]", "\"block\": [2048]");
  assay_findings_derive (scene.run, &scene.facts);
  const AssayFinding *finding = find_rule (&scene, "launch.block-too-large");
  g_assert_nonnull (finding);
  g_assert_nonnull (strstr (finding->title, "2048"));
  g_assert_nonnull (strstr (finding->title, "1024"));
  scene_clear (&scene);
}

/* A run with one output [100, 2], the reference i / 10, and the candidate as changed by `change`. */
static void
compare_with (Scene *scene, void (*change) (AssayArray *candidate))
{
  const gint64 shape[] = {100, 2};
  g_autoptr (AssayArray) c = assay_array_new (ASSAY_DTYPE_FLOAT32, shape, 2, NULL);
  g_autoptr (AssayArray) r = assay_array_new (ASSAY_DTYPE_FLOAT32, shape, 2, NULL);
  AssayWorkloadRecord *workload = assay_json_table_new (&ASSAY_WORKLOAD_RECORD_TABLE);
  AssayOutput *output = assay_json_table_new (&ASSAY_OUTPUT_TABLE);
  for (gsize i = 0; i < 200; i++)
    {
      assay_array_set (r, i, (double) i / 10);
      assay_array_set (c, i, (double) i / 10);
    }
  change (c);
  workload->name = g_strdup ("small");
  output->name = g_strdup ("y");
  g_array_append_vals (output->shape, shape, 2);
  output->tolerance = assay_task_tolerance (scene->task, NULL, "y", NULL);
  AssayCompareInput input = {.candidate = c, .reference = r, .tolerance = output->tolerance};
  output->comparison = assay_compare (&input, NULL, NULL);
  g_ptr_array_add (workload->outputs, output);
  g_ptr_array_add (scene->run->workloads, workload);
}

static void
spoil_tail (AssayArray *c)
{
  for (gsize i = 190; i < 200; i++)
    assay_array_set (c, i, 0);
}

static void
spoil_nan (AssayArray *c)
{
  assay_array_set (c, 5, NAN);
}

static void
spoil_infinity (AssayArray *c)
{
  assay_array_set (c, 5, INFINITY);
}

static void
spoil_nothing (AssayArray *c)
{
}

static void
test_numbers_become_findings (void)
{
  static const struct
  {
    void (*change) (AssayArray *candidate);
    const char *rule;
    const char *title;
  } CASES[] = {
      {spoil_tail, "num.candidate-wrong", "on the only workload: 10 of 200 elements on small"},
      {spoil_nan, "num.nan", "y has 1 NaN where the reference has numbers"},
      {spoil_infinity, "num.overflow", "infinity at 1 element where"},
      {spoil_nothing, NULL, NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (CASES); i++)
    {
      Scene scene;
      guint numeric = 0;
      scene_init (&scene, NULL, NULL);
      compare_with (&scene, CASES[i].change);
      assay_findings_derive (scene.run, &scene.facts);
      for (guint k = 0; k < scene.run->findings->len; k++)
        numeric +=
            g_str_has_prefix (((AssayFinding *) scene.run->findings->pdata[k])->rule, "num.");
      g_assert_cmpuint (numeric, ==, CASES[i].rule ? 1 : 0);
      if (CASES[i].rule)
        g_assert_nonnull (strstr (find_rule (&scene, CASES[i].rule)->title, CASES[i].title));
      scene_clear (&scene);
    }
}

static void
add_probe (AssayAudit *audit, AssayProbeKind kind, const char *name, const char *workload,
           double margin)
{
  AssayProbe *probe = assay_probe_new ();
  probe->kind = kind;
  probe->name = g_strdup (name);
  probe->workload = g_strdup (workload);
  probe->output = g_strdup ("y");
  probe->margin = margin;
  probe->accepted = margin <= 1;
  g_ptr_array_add (audit->probes, probe);
}

static void
test_planted_answers_count_over_all_workloads (void)
{
  Scene scene;
  scene_init (&scene, NULL, NULL);
  AssayAudit *audit = scene.run->audit = assay_audit_new ();
  add_probe (audit, ASSAY_PROBE_TRIVIAL, "zeros", "a", 0.5);
  add_probe (audit, ASSAY_PROBE_TRIVIAL, "zeros", "b", 30);
  add_probe (audit, ASSAY_PROBE_MUTANT, "signs flipped", "a", 0.25);
  add_probe (audit, ASSAY_PROBE_MUTANT, "signs flipped", "b", 0.125);
  add_probe (audit, ASSAY_PROBE_HONEST, "gold, rounded to nearest", "a", 0.1);
  add_probe (audit, ASSAY_PROBE_HONEST, "gold, rounded to nearest", "b", 1.5);
  assay_audit_conclude (audit);
  g_assert_cmpstr (audit->grade, ==, "too_loose");
  assay_findings_derive (scene.run, &scene.facts);
  g_assert_null (find_rule (&scene, "num.zero-output-passes"));
  g_assert_nonnull (strstr (find_rule (&scene, "num.tolerance-too-loose")->title, "signs flipped"));
  g_assert_nonnull (find_rule (&scene, "num.tolerance-too-tight"));
  scene_clear (&scene);
}

static void
test_zeros_that_pass_are_a_blocker (void)
{
  Scene scene;
  scene_init (&scene, NULL, NULL);
  AssayAudit *audit = scene.run->audit = assay_audit_new ();
  add_probe (audit, ASSAY_PROBE_TRIVIAL, "zeros", "small", 0.5);
  assay_findings_derive (scene.run, &scene.facts);
  const AssayFinding *finding = find_rule (&scene, "num.zero-output-passes");
  g_assert_cmpint (finding->severity, ==, ASSAY_SEVERITY_BLOCKER);
  g_assert_cmpint (finding->blame, ==, ASSAY_BLAME_TASK);
  g_assert_cmpstr (((AssayEvidence *) finding->evidence->pdata[0])->ref, ==,
                   "numerics/margin/small/y");
  scene_clear (&scene);
}

static void
test_nondeterminism_weighs_what_was_promised (void)
{
  static const struct
  {
    const char *promise;
    int severity; /* -1: no finding */
  } CASES[] = {
      {"\"deterministic\": true", ASSAY_SEVERITY_MAJOR},
      {"\"deterministic\": null", ASSAY_SEVERITY_MINOR},
      {"\"deterministic\": false", -1},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (CASES); i++)
    {
      Scene scene;
      scene_init (&scene, "\"deterministic\": true", CASES[i].promise);
      AssayRepeat *repeat = g_new0 (AssayRepeat, 1);
      *repeat =
          (AssayRepeat) {g_strdup ("small"), g_strdup ("y"), 200, 9, 1e-7, g_strdup ("twice")};
      g_ptr_array_add (scene.facts.repeats, repeat);
      assay_findings_derive (scene.run, &scene.facts);
      const AssayFinding *finding = find_rule (&scene, "num.nondeterministic");
      g_assert_true ((finding != NULL) == (CASES[i].severity >= 0));
      if (finding)
        g_assert_cmpint (finding->severity, ==, CASES[i].severity);
      scene_clear (&scene);
    }
}

static gboolean
is_skipped (const Scene *scene, const char *rule)
{
  for (guint i = 0; i < scene->run->skipped_rules->len; i++)
    if (g_str_equal (((AssaySkippedRule *) scene->run->skipped_rules->pdata[i])->rule, rule))
      return TRUE;
  return FALSE;
}

static void
test_rules_that_could_not_look_are_listed (void)
{
  Scene scene;
  scene_init (&scene, NULL, NULL);
  scene.facts.checks = "sync";
  compare_with (&scene, spoil_nothing);
  assay_findings_derive (scene.run, &scene.facts);
  g_assert_true (is_skipped (&scene, "race.shared"));
  g_assert_true (is_skipped (&scene, "bench.no-warmup"));
  g_assert_true (is_skipped (&scene, "num.zero-output-passes"));
  g_assert_false (is_skipped (&scene, "sync.divergent-barrier"));
  g_assert_false (is_skipped (&scene, "num.candidate-wrong"));
  scene_clear (&scene);
}

static void
test_rules_are_unique_and_complete (void)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  for (gsize i = 0; i < ASSAY_N_RULES; i++)
    {
      g_assert_true (g_hash_table_add (seen, (gpointer) ASSAY_RULES[i].id));
      g_assert_true (assay_rule_find (ASSAY_RULES[i].id) == &ASSAY_RULES[i]);
      g_assert_nonnull (ASSAY_RULES[i].axis);
    }
  g_assert_null (assay_rule_find ("num.no-such-rule"));
}

static void
test_examples_expect_rules_that_exist (void)
{
  static const char *const NAMES[] = {"row_softmax", "wide_softmax", "tiled_sgemm",
                                      "layer_norm",  "bf16_gemm",    "row_energy"};
  for (gsize i = 0; i < G_N_ELEMENTS (NAMES); i++)
    {
      g_autofree char *folder =
          g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "data", "tasks", NAMES[i], NULL);
      g_autoptr (GError) error = NULL;
      g_autoptr (AssayTask) task = assay_task_load (folder, NULL, &error);
      g_assert_no_error (error);
      for (char **rule = task->expect->findings; *rule; rule++)
        g_assert_nonnull (assay_rule_find (*rule));
      for (char **rule = task->expect->absent; *rule; rule++)
        g_assert_nonnull (assay_rule_find (*rule));
    }
}

static void
test_bad_task_is_one_finding (void)
{
  g_autoptr (GError) error =
      g_error_new_literal (g_quark_from_static_string ("x"), 0, "task.json: a\ntask.json: b");
  g_autoptr (AssayFinding) finding = assay_finding_for_bad_task ("/some/task", error);
  g_assert_cmpstr (finding->rule, ==, "task.manifest-invalid");
  g_assert_cmpstr (finding->title, ==, "task.json: a (and 1 more)");
  g_assert_cmpuint (finding->count, ==, 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/findings/one-line", test_reports_of_one_line_are_one_finding);
  g_test_add_func ("/findings/race", test_a_race_is_one_finding_from_either_side);
  g_test_add_func ("/findings/fingerprint", test_fingerprints_survive_line_shifts);
  g_test_add_func ("/findings/failures", test_failures_have_class_rule_and_blame);
  g_test_add_func ("/findings/explained", test_a_reported_fault_explains_the_error_that_follows);
  g_test_add_func ("/findings/launch", test_launches_are_held_against_every_target);
  g_test_add_func ("/findings/numbers", test_numbers_become_findings);
  g_test_add_func ("/findings/planted", test_planted_answers_count_over_all_workloads);
  g_test_add_func ("/findings/zeros", test_zeros_that_pass_are_a_blocker);
  g_test_add_func ("/findings/nondeterminism", test_nondeterminism_weighs_what_was_promised);
  g_test_add_func ("/findings/skipped", test_rules_that_could_not_look_are_listed);
  g_test_add_func ("/findings/rules", test_rules_are_unique_and_complete);
  g_test_add_func ("/findings/examples", test_examples_expect_rules_that_exist);
  g_test_add_func ("/findings/bad-task", test_bad_task_is_one_finding);
  return g_test_run ();
}
