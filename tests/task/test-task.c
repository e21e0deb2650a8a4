/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/task/fixture.h"

#include "engine/base/error.h"
#include "engine/task/plan.h"
#include "engine/task/reference.h"

typedef struct
{
  const char *find, *replace;
  const char *path, *expected, *found; /* parts of the message; NULL: not looked for */
} Wrong;

/* clang-format off */
static const Wrong WRONG[] = {
  {"assay-task", "other-task", "format", "expected \"assay-task\"", "found \"other-task\""},
  {"\"version\": 1", "\"version\": 2", "version", "expected 1", "found 2; a newer"},
  {"\"id\": \"scale\"", "\"id\": \"a b\"", "id", "letters, digits", "\"a b\""},
  {"\"id\": \"scale\"", "\"id\": 7", "id", "expected a string", "found 7"},
  {"\"title\": \"Scale\", ", "", "title", "missing", NULL},
  {"generation", "invention", "category", "one of generation, translation", "\"invention\""},
  {"\"spec.md\"", "\"gone.md\"", "spec", "a file that exists", "\"gone.md\""},
  {"\"spec.md\"", "\"/etc/passwd\"", "spec", "a path relative to the task folder", "\"/etc/passwd\""},
  {"\"spec.md\"", "\"a/../../b\"", "spec", "a path inside the task folder", "\"a/../../b\""},
  {"\"spec.md\"", "\"link\"", "spec", "a file inside the task folder", "a link to"},
  {"\"training_allowed\": \"yes\"", "\"training_allowed\": \"maybe\"", "license.training_allowed", "one of yes, no, conditional", "\"maybe\""},
  {"\"type\": \"var\"", "\"type\": \"free\"", "axes.n.type", "one of var, const, expr", "\"free\""},
  {", \"expression\": \"ceil_div (n, tile)\"", "", "axes.blocks.expression", "an expression", "nothing"},
  {"ceil_div (n, tile)", "ceil_div (m, tile)", "axes.blocks.expression", "over the axes (n, tile, blocks)", "unknown name m"},
  {"ceil_div (n, tile)", "blocks + 1", "axes.blocks", "blocks + 1", NULL},
  {"\"n >= 1\"", "\"n >= 200\"", "workloads.small", "expected n >= 200", "n = 100"},
  {"\"n >= 1\"", "\"n >=\"", "constraints[0]", "arithmetic over the axes", "n >="},
  {"\"dtype\": \"float32\", \"shape\": [\"n\", 2]}", "\"dtype\": \"float33\", \"shape\": [\"n\", 2]}", "inputs.x.dtype", "one of float64, float32, tfloat32", "\"float33\""},
  {"\"shape\": [\"n\", 2]}", "\"shape\": [\"rows\", 2]}", "inputs.x.shape[0]", "over the axes (n, tile, blocks)", "unknown name rows"},
  {"\"shape\": [\"n\", 2]}", "\"shape\": [\"n - 101\", 2]}", "workloads.small", "x.shape", "-1"},
  {"\"shape\": [\"n\", 2]}", "\"shape\": [\"n\", \"9223372036854775807\"]}", "x.shape", "overflows", NULL},
  {"\"shape\": [\"n\", 2]}", "\"shape\": [1.5, 2]}", "inputs.x.shape[0]", "an integer or an expression", "found 1.5"},
  {"\"shape\": [\"n\", 2]}", "\"role\": \"out\", \"shape\": [\"n\", 2]}", "inputs.x.role", "one of in, inout, workspace", "\"out\""},
  {"\"outputs\": {\"y\"", "\"outputs\": {\"x\"", "outputs.x", "a name used once", "\"x\""},
  {"\"outputs\": {\"y\": {\"dtype\": \"float32\", \"shape\": [\"n\", 2]}}", "\"outputs\": {}", "outputs", "at least one output", "none"},
  {"\"compute\": \"float32\"", "\"compute\": \"single\"", "numerics.compute", "one of float64, float32", "\"single\""},
  {"\"deterministic\": true", "\"scale\": \"sum\"", "numerics.scale", "one of absolute_inputs", "\"sum\""},
  {"\"deterministic\": true", "\"deterministic\": \"yes\"", "numerics.deterministic", "true, false or null", "\"yes\""},
  {"\"language\": \"c\"", "\"language\": \"fortran\"", "reference.language", "one of c, cuda, python", "\"fortran\""},
  {"\"reference.c\"", "\"missing.c\"", "reference.sources[0]", "a file that exists", "\"missing.c\""},
  {"\"entry\": \"reference\"", "\"entry\": \"a; b\"", "reference.entry", "the name of a C function", "\"a; b\""},
  {"\"entry\": \"reference\"", "\"entry\": \"reference\", \"arguments\": [\"z\"]", "reference.arguments[0]", "an input, output or axis (x, alpha, y, n, tile, blocks)", "\"z\""},
  {"\"reference\": {", "\"no_reference\": {", "reference", "an object", "nothing"},
  {"\"framework\": \"cuda\"", "\"framework\": \"opencl\"", "candidates[0].framework", "one of cuda, ptx, hip", "\"opencl\""},
  {"\"kind\": \"kernel\"", "\"kind\": \"nki\"", "candidates[0].entry.kind", "one of kernel host program torch_module for framework cuda", "\"nki\""},
  {"\"arguments\": [\"x\", \"alpha\"", "\"arguments\": [\"x\", \"beta\"", "candidates[0].entry.arguments[1]", "an input, output or axis (x, alpha, y", "\"beta\""},
  {"\"grid\": [\"blocks\"], ", "", "candidates[0].entry.grid", "one to three entries", "found 0"},
  {"\"grid\": [\"blocks\"]", "\"grid\": [\"n / (n - 100)\"]", "candidates[0].entry", "grid[0]", "zero"},
  {"\"block\": [\"tile\"]", "\"block\": [1, 2, 3, 4]", "candidates[0].entry.block", "one to three entries", "found 4"},
  {"\"shared\": \"4 * tile\"", "\"shared\": \"4 * (tile\"", "candidates[0].entry.shared", "arithmetic over the axes", "4 * (tile"},
  {"\"sources\": [\"kernel.cu\"]", "\"sources\": []", "candidates[0].sources", "at least one file", "none"},
  {"\"axes\": {\"n\": 100}", "\"axes\": {}", "workloads.small: axes.n", "expected an integer", "nothing"},
  {"\"axes\": {\"n\": 100}", "\"axes\": {\"n\": 100, \"tile\": 8}", "workloads[0].axes.tile", "an axis of type var", "\"tile\""},
  {"\"axes\": {\"n\": 100}", "\"axes\": {\"n\": \"many\"}", "workloads.small: axes.n", "expected an integer", "\"many\""},
  {"\"use\": [\"check\"]", "\"use\": [\"test\"]", "workloads[0].use[0]", "one of check, bench", "\"test\""},
  {"\"alpha\": {\"type\": \"scalar\", \"value\": 2.5}", "\"gamma\": {\"type\": \"scalar\", \"value\": 2.5}", "workloads[0].inputs.gamma", "the name of an input", "\"gamma\""},
  {",\n               \"alpha\": {\"type\": \"scalar\", \"value\": 2.5}", "", "workloads[0].inputs.alpha", "how to make this input", "nothing"},
  {"\"distribution\": \"uniform\"", "\"distribution\": \"gamma\"", "workloads[0].inputs.x.distribution", "one of normal, uniform", "\"gamma\""},
  {"\"low\": -1, \"high\": 1", "\"low\": 1, \"high\": 1", "workloads[0].inputs.x.high", "a number above low", "found 1"},
  {"\"type\": \"random\", ", "\"type\": \"npy\", ", "workloads[0].inputs.x.path", "the path of a file", "nothing"},
  {"\"type\": \"random\", ", "\"type\": \"scalar\", ", "workloads[0].inputs.x.type", "a generator of arrays", "\"scalar\""},
  {"\"rule\": \"allclose\"", "\"rule\": \"close\"", "tolerance.rule", "one of allclose, either", "\"close\""},
  {"\"atol\": 1e-6", "\"atol\": -1", "tolerance.atol", "a finite number, 0 or more", "found -1"},
  {"\"atol\": 1e-6", "\"atol\": 0, \"matched_ratio\": 1.5", "tolerance.matched_ratio", "at most 1", "found 1.5"},
  {"\"tolerance\": {", "\"no_tolerance\": {", "tolerance.rule", "missing", NULL},
  {"cuda:sm_80", "sm_80", "targets[0]", "family:architecture", "\"sm_80\""},
  {"\"targets\"", "\"benchmark\": {\"flops\": \"2*k\"}, \"targets\"", "benchmark.flops", "over the axes", "unknown name k"},
  {"\"title\": \"Scale\",", "\"title\": \"Scale\", \"title\": \"Again\",", "task.json:3", "the same key twice", NULL},
  {"\"targets\"", "\"targets\" ,", "task.json", NULL, NULL},
};
/* clang-format on */

static void
assert_part (const char *message, const char *part, gsize number)
{
  if (part && !strstr (message, part))
    g_error ("case %" G_GSIZE_FORMAT ": expected “%s” in “%s”", number, part, message);
}

static void
test_wrong_tasks_are_named (void)
{
  TaskFixture fixture = task_fixture_new ();
  g_autofree char *link = g_build_filename (fixture.folder, "link", NULL);
  g_assert_cmpint (symlink ("/etc/hostname", link), ==, 0);
  for (gsize i = 0; i < G_N_ELEMENTS (WRONG); i++)
    {
      const Wrong *w = &WRONG[i];
      task_fixture_change (&fixture, w->find, w->replace);
      g_autoptr (GError) error = NULL;
      g_autoptr (AssayTask) task = assay_task_load (fixture.folder, NULL, &error);
      if (task)
        g_error ("case %" G_GSIZE_FORMAT " (%s) was accepted", i, w->replace);
      assert_part (error->message, "task.json", i);
      assert_part (error->message, w->path, i);
      assert_part (error->message, w->expected, i);
      assert_part (error->message, w->found, i);
    }
  task_fixture_clear (&fixture);
}

static void
test_all_faults_are_told_at_once (void)
{
  TaskFixture fixture = task_fixture_new ();
  task_fixture_change (&fixture,
                       "\"sources\": [\"kernel.cu\"],\n    \"entry\": {\"kind\": \"kernel\"",
                       "\"sources\": [\"gone.cu\"],\n    \"entry\": {\"kind\": \"nki\"");
  g_autoptr (GError) error = NULL;
  g_assert_null (assay_task_load (fixture.folder, NULL, &error));
  g_auto (GStrv) lines = g_strsplit (error->message, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 2);
  task_fixture_clear (&fixture);
}

static void
test_sound_task_is_read (void)
{
  TaskFixture fixture = task_fixture_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  task_fixture_change (&fixture, "\"targets\"", "\"colour\": 1, \"targets\"");
  g_autoptr (AssayTask) task = assay_task_load (fixture.folder, warnings, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (warnings->len, ==, 1);
  g_assert_nonnull (strstr (g_ptr_array_index (warnings, 0), "colour"));
  g_assert_cmpstr (task->id, ==, "scale");
  g_assert_cmpint (assay_task_promise (task->numerics.deterministic), ==, 1);
  g_assert_cmpint (assay_task_promise (task->numerics.tf32), ==, -1);
  g_assert_null (assay_task_input (task, "alpha")->shape);
  g_assert_cmpint (assay_task_candidate (task, NULL)->entry.kind, ==, ASSAY_ENTRY_KERNEL);
  task_fixture_clear (&fixture);
}

static void
test_plan_works_out_numbers (void)
{
  TaskFixture fixture = task_fixture_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayTask) task = assay_task_load (fixture.folder, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (AssayPlan) plan = assay_plan_new (task, assay_task_workload (task, "small"), &error);
  g_assert_no_error (error);
  const AssayPlannedArray *x = g_ptr_array_index (plan->inputs, 0);
  g_assert_cmpuint (x->count, ==, 200);
  g_assert_cmpuint (x->bytes, ==, 800);
  AssayLaunchShape shape;
  const AssayEntry *entry = &assay_task_candidate (task, "plain")->entry;
  g_assert_true (assay_plan_launch (plan, entry, &shape, &error));
  g_assert_cmpint (shape.grid[0], ==, 4);
  g_assert_cmpint (shape.grid[2], ==, 1);
  g_assert_cmpint (shape.block[0], ==, 32);
  g_assert_cmpint (shape.shared, ==, 128);
  AssayArgument argument;
  g_assert_true (assay_plan_argument (plan, "alpha", &argument, &error));
  g_assert_cmpint (argument.kind, ==, ASSAY_ARGUMENT_SCALAR);
  g_assert_true (assay_plan_argument (plan, "blocks", &argument, &error));
  g_assert_cmpint (argument.value, ==, 4);
  g_assert_true (assay_plan_argument (plan, "y.stride0", &argument, &error));
  g_assert_cmpint (argument.value, ==, 2);
  g_assert_true (argument.of_output);
  g_assert_false (assay_plan_argument (plan, "y.stride2", &argument, &error));
  g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND);
  task_fixture_clear (&fixture);
}

static void
test_impossible_launches_reach_the_run (void)
{
  TaskFixture fixture = task_fixture_new ();
  task_fixture_change (&fixture, "\"grid\": [\"blocks\"], \"block\": [\"tile\"]",
                       "\"grid\": [\"n - 100\"], \"block\": [2048, -1]");
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayTask) task = assay_task_load (fixture.folder, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (AssayPlan) plan = assay_plan_new (task, assay_task_workload (task, "small"), &error);
  AssayLaunchShape shape;
  g_assert_true (
      assay_plan_launch (plan, &assay_task_candidate (task, NULL)->entry, &shape, &error));
  g_assert_cmpint (shape.grid[0], ==, 0);
  g_assert_cmpint (shape.block[0], ==, 2048);
  g_assert_cmpint (shape.block[1], ==, -1);
  task_fixture_clear (&fixture);
}

static void
test_tolerances_override (void)
{
  TaskFixture fixture = task_fixture_new ();
  task_fixture_change (&fixture, "\"use\": [\"check\"],",
                       "\"use\": [\"check\"], \"tolerance\": {\"atol\": 0.5, \"outputs\": {\"y\": "
                       "{\"rtol\": 0.25}}},");
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayTask) task = assay_task_load (fixture.folder, NULL, &error);
  g_assert_no_error (error);
  const AssayWorkload *workload = assay_task_workload (task, "small");
  g_autoptr (AssayTolerance) own = assay_task_tolerance (task, NULL, NULL, &error);
  g_autoptr (AssayTolerance) whole = assay_task_tolerance (task, workload, NULL, &error);
  g_autoptr (AssayTolerance) output = assay_task_tolerance (task, workload, "y", &error);
  g_assert_cmpfloat (own->atol, ==, 1e-6);
  g_assert_cmpfloat (whole->atol, ==, 0.5);
  g_assert_cmpfloat (whole->rtol, ==, 1e-5);
  g_assert_cmpfloat (output->atol, ==, 0.5);
  g_assert_cmpfloat (output->rtol, ==, 0.25);
  task_fixture_clear (&fixture);
}

static void
test_hashes_cover_every_file (void)
{
  TaskFixture fixture = task_fixture_new ();
  g_autoptr (AssayTask) task = assay_task_load (fixture.folder, NULL, NULL);
  g_autoptr (JsonNode) node = assay_task_hashes (task, NULL);
  JsonObject *hashes = json_node_get_object (node);
  g_assert_cmpuint (json_object_get_size (hashes), ==, 4);
  /* printf '# Scale\n' | sha256sum */
  g_assert_cmpstr (json_object_get_string_member (hashes, "spec.md"), ==,
                   "490ee7aa4f2572bb526aac031ec180f28e40a6f4a36466c58becf27efcb5111c");
  task_fixture_clear (&fixture);
}

static void
test_wrapper_calls_in_order (void)
{
  TaskFixture fixture = task_fixture_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayTask) task = assay_task_load (fixture.folder, NULL, NULL);
  g_autofree char *text = assay_reference_wrapper (task, task->reference, &error);
  g_assert_no_error (error);
  g_assert_nonnull (strstr (text, "#include \"reference.c\""));
  g_assert_nonnull (
      strstr (text, "void reference (const REAL *, REAL, REAL *, int64_t, int64_t, int64_t);"));
  g_assert_nonnull (strstr (text, "*(REAL *) arguments[1]"));
  g_assert_nonnull (strstr (text, "*(int64_t *) arguments[3]"));
  task_fixture_clear (&fixture);
}

static void
test_missing_folder (void)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (assay_task_load ("/nonexistent/task", NULL, &error));
  g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/task/wrong", test_wrong_tasks_are_named);
  g_test_add_func ("/task/all-faults", test_all_faults_are_told_at_once);
  g_test_add_func ("/task/sound", test_sound_task_is_read);
  g_test_add_func ("/task/plan", test_plan_works_out_numbers);
  g_test_add_func ("/task/launch", test_impossible_launches_reach_the_run);
  g_test_add_func ("/task/tolerance", test_tolerances_override);
  g_test_add_func ("/task/hashes", test_hashes_cover_every_file);
  g_test_add_func ("/task/wrapper", test_wrapper_calls_in_order);
  g_test_add_func ("/task/missing", test_missing_folder);
  return g_test_run ();
}
