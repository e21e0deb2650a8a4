/* SPDX-License-Identifier: Apache-2.0 */
/* Timing on a device whose clock the test knows: fake-driver.c. */
#include "engine/figures/figures.h"
#include "engine/perf/speed.h"
#include "engine/run/job.h"
#include "tests/engine/fixture.h"

#include <math.h>
#include <string.h>

static char *folder;

static gboolean
cannot_run (void)
{
  if (fixture_why_not ())
    g_test_skip (fixture_why_not ());
  return fixture_why_not () != NULL;
}

static AssayJob *
run_task (const char *task, const char *device, double seconds)
{
  g_autoptr (GError) error = NULL;
  AssayJobRequest request = {
      .task = task, .device = device, .workspace = folder, .seconds = seconds};
  AssayJob *job = assay_job_new (&request, &error);
  g_assert_no_error (error);
  assay_job_start (job);
  assay_job_join (job);
  g_assert_cmpuint (fixture_workers_alive (), ==, 0);
  return job;
}

#define KERNEL                                                                                     \
  "extern \"C\" __global__ void %s (const float *x, float *y, int n)\n{\n"                         \
  "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n)\n    y[i] = 2 * x[i];\n}\n"

/* (transfer full): a task whose candidate is `symbol`, and whose starting point is `start`, or none. */
static char *
make_task (const char *id, const char *symbol, const char *start)
{
  FixtureTask fixture = {.id = id, .symbol = symbol};
  char *task = fixture_task (folder, &fixture);
  if (!start)
    return task;
  g_autofree char *source = g_strdup_printf (KERNEL, start);
  fixture_start (task, start, source);
  return task;
}

static const AssayStage *
bench_of (const AssayRun *run)
{
  return g_ptr_array_index (run->stages, ASSAY_STAGE_BENCH);
}

static const AssayTiming *
timing_of (const AssayRun *run)
{
  const AssayStage *stage = bench_of (run);
  g_test_message ("bench %s: %s", ASSAY_STATUSES[stage->status],
                  stage->reason ? stage->reason : "");
  g_assert_nonnull (run->benchmark);
  g_assert_cmpuint (run->benchmark->timings->len, ==, 1);
  const AssayTiming *timing = g_ptr_array_index (run->benchmark->timings, 0);
  g_test_message ("%s: %s; ratio %.4f [%.4f, %.4f], %d samples", timing->verdict, timing->reason,
                  timing->ratio, timing->low, timing->high, (int) timing->samples);
  return timing;
}

static void
assert_verdict (const AssayTiming *timing, AssaySpeedVerdict verdict)
{
  g_assert_cmpstr (timing->verdict, ==, ASSAY_SPEED_VERDICTS[verdict]);
}

/* Cold and on arrays of its own the fake device takes 50 us, half of that otherwise. */
static void
test_a_candidate_equals_itself (void)
{
  if (cannot_run ())
    return;
  g_autofree char *task = make_task ("itself", "doubled", NULL);
  g_autoptr (AssayJob) job = run_task (task, "cuda:0", 20);
  const AssayRun *run = assay_job_run (job);
  const AssayTiming *timing = timing_of (run);
  g_assert_cmpint (bench_of (run)->status, ==, ASSAY_STATUS_PASSED);
  assert_verdict (timing, ASSAY_SPEED_SAME);
  g_assert_true (timing->against_itself);
  g_assert_true (timing->same_results);
  g_assert_cmpint (timing->rounds, ==, 12);
  g_assert_cmpint (timing->samples, >=, 10);
  g_assert_cmpint (timing->cache_bytes, ==, 4 << 20);
  g_assert_cmpint (timing->flush_bytes, ==, 8 << 20);
  g_assert_cmpint (timing->input_sets, >=, 2);
  g_assert_cmpuint (timing->candidate.events->len, ==, timing->rounds * timing->samples);
  g_assert_cmpuint (timing->candidate.walls->len, ==, timing->rounds);
  g_assert_cmpfloat_with_epsilon (timing->candidate.median, 50e-6, 0.5e-6);
  g_assert_true (timing->candidate.steady);
  for (guint i = 0; i < timing->candidate.events->len; i++)
    g_assert_cmpfloat (g_array_index (timing->candidate.events, double, i), <,
                       1.02 * g_array_index (timing->candidate.hosts, double, i));
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayRun) again = assay_run_load (assay_job_folder (job), &error);
  g_assert_no_error (error);
  /* The plot says what the samples say: ten numbers a round and side, from their own order. */
  g_autoptr (AssayPlotScene) scene = assay_figure_from_ref (again, "performance/time/small");
  g_assert_nonnull (scene);
  g_assert_cmpuint (scene->rows->len, ==, 2 * timing->rounds);
  GStrv row = g_ptr_array_index (scene->rows, (guint) timing->rounds);
  double least = INFINITY;
  for (gint64 i = 0; i < timing->samples; i++)
    least = MIN (least, g_array_index (timing->candidate.events, double, i));
  g_assert_cmpstr (row[0], ==, "1");
  g_assert_cmpfloat_with_epsilon (g_ascii_strtod (row[2], NULL), 1e6 * least, 1e-9);
  const AssayTiming *read = g_ptr_array_index (again->benchmark->timings, 0);
  g_assert_cmpfloat (read->ratio, ==, timing->ratio);
  g_assert_cmpmem (read->baseline.events->data, read->baseline.events->len * sizeof (double),
                   timing->baseline.events->data, timing->baseline.events->len * sizeof (double));
}

static const struct
{
  const char *id, *symbol, *start;
  AssaySpeedVerdict verdict;
  double ratio;
  const char *reason;
} CASES[] = {
    {"twin", "doubled", "doubled_too", ASSAY_SPEED_SAME, 1, "within 1 %"},
    {"slow", "doubled_slower", "doubled", ASSAY_SPEED_SLOWER, 1.02, "excludes 1"},
    {"fast", "doubled_faster", "doubled", ASSAY_SPEED_FASTER, 0.98, "excludes 1"},
    {"drift", "doubled_drifting", "doubled", ASSAY_SPEED_NOT_INTERPRETABLE, NAN, "drift by +"},
    {"boast", "boaster", "doubled", ASSAY_SPEED_NOT_INTERPRETABLE, NAN, "the whole round took"},
};

static void
test_two_percent_are_seen (void)
{
  if (cannot_run ())
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (CASES); i++)
    {
      g_autofree char *task = make_task (CASES[i].id, CASES[i].symbol, CASES[i].start);
      g_autoptr (AssayJob) job = run_task (task, "cuda:0", 20);
      const AssayRun *run = assay_job_run (job);
      const AssayTiming *timing = timing_of (run);
      assert_verdict (timing, CASES[i].verdict);
      g_assert_nonnull (strstr (timing->reason, CASES[i].reason));
      g_assert_false (timing->against_itself);
      g_assert_cmpstr (timing->baseline.name, ==, "start");
      gboolean slower = CASES[i].verdict == ASSAY_SPEED_SLOWER;
      g_assert_cmpuint (g_strv_length (run->benchmark->losers), ==, slower);
      if (isnan (CASES[i].ratio))
        g_assert_true (isnan (run->benchmark->ratio));
      else
        {
          g_assert_cmpfloat_with_epsilon (timing->ratio, CASES[i].ratio, 0.004);
          g_assert_cmpfloat_with_epsilon (run->benchmark->ratio, timing->ratio, 1e-12);
        }
    }
}

/* The second device of fake-nvml.c: capped by power at 1200 MHz, or, as "old", braked by heat. */
static void
test_a_hot_device_is_not_interpreted (void)
{
  if (cannot_run ())
    return;
  g_autofree char *nvml = g_test_build_filename (G_TEST_BUILT, "engine", "libfakenvml.so", NULL);
  g_autofree char *task = make_task ("heat", "doubled", "doubled_too");
  g_setenv ("ASSAY_NVML", nvml, TRUE);
  g_autoptr (AssayJob) capped = run_task (task, "cuda:0", 20);
  const AssayTiming *timing = timing_of (assay_job_run (capped));
  assert_verdict (timing, ASSAY_SPEED_SAME);
  g_assert_cmpuint (timing->clocks->len, ==, timing->rounds);
  g_assert_cmpfloat (g_array_index (timing->clocks, double, 3), ==, 1200);
  g_assert_cmpfloat (g_array_index (timing->power, double, 3), ==, 399.5);
  g_assert_cmpfloat (g_array_index (timing->heat, double, 3), ==, 71);
  g_assert_true (g_strv_contains ((const char *const *) timing->throttled, "power cap, software"));
  g_setenv ("ASSAY_FAKE_NVML", "old", TRUE);
  g_autoptr (AssayJob) braked = run_task (task, "cuda:0", 20);
  g_unsetenv ("ASSAY_FAKE_NVML");
  g_unsetenv ("ASSAY_NVML");
  timing = timing_of (assay_job_run (braked));
  assert_verdict (timing, ASSAY_SPEED_NOT_INTERPRETABLE);
  g_assert_nonnull (strstr (timing->reason, "thermal"));
}

/* Right when it is checked, broken after twenty launches: the stage fails, the class is told, both workers are
 * gone. */
static void
test_what_breaks_while_it_is_timed (void)
{
  static const struct
  {
    const char *id, *symbol, *words, *failure_class;
    double seconds;
  } broken[] = {
      {"tires", "tiring", "illegal memory access", "ILLEGAL_ACCESS", 20},
      {"sleeps", "sleepy", "no answer within", NULL, 1},
  };
  if (cannot_run ())
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      g_autofree char *task = make_task (broken[i].id, broken[i].symbol, "doubled");
      g_autoptr (AssayJob) job = run_task (task, "cuda:0", broken[i].seconds);
      const AssayRun *run = assay_job_run (job);
      gboolean told = broken[i].failure_class == NULL;
      g_assert_null (run->benchmark);
      g_assert_cmpint (bench_of (run)->status, ==, ASSAY_STATUS_FAILED);
      g_test_message ("%s", bench_of (run)->reason);
      g_assert_nonnull (strstr (bench_of (run)->reason, broken[i].words));
      for (guint k = 0; k < run->findings->len && !told; k++)
        {
          const AssayFinding *finding = g_ptr_array_index (run->findings, k);
          told = finding->detail && strstr (finding->detail, broken[i].failure_class);
        }
      g_assert_true (told);
    }
}

static void
test_what_cannot_be_timed_says_why (void)
{
  if (cannot_run ())
    return;
  g_autofree char *task = make_task ("broken_start", "doubled", "doubled_too");
  g_autofree char *start = g_build_filename (task, "start.cu", NULL);
  g_assert_true (g_file_set_contents (start, "no C++\n", -1, NULL));
  g_autoptr (AssayJob) job = run_task (task, "cuda:0", 20);
  const AssayRun *run = assay_job_run (job);
  g_assert_cmpint (bench_of (run)->status, ==, ASSAY_STATUS_SKIPPED);
  g_assert_nonnull (strstr (bench_of (run)->reason, "start does not compile for sm_80"));
  /* That is no failure of the candidate. */
  g_assert_cmpint (run->compile->len, ==, 1);
  g_assert_cmpint (((AssayCompile *) g_ptr_array_index (run->compile, 0))->status, ==,
                   ASSAY_STATUS_PASSED);
  g_autofree char *wrong = make_task ("wrong", "silent", NULL);
  g_autoptr (AssayJob) other = run_task (wrong, "cuda:0", 20);
  g_assert_cmpint (bench_of (assay_job_run (other))->status, ==, ASSAY_STATUS_SKIPPED);
  g_assert_nonnull (strstr (bench_of (assay_job_run (other))->reason, "came out right"));
}

/* A launch that writes over its input finds it as it was each time: otherwise the last result would be another. */
static void
test_what_is_written_over_is_put_back (void)
{
  if (cannot_run ())
    return;
  FixtureTask fixture = {.id = "over",
                         .reference =
                             "void reference (REAL *x, REAL *y, int64_t n)\n{\n"
                             "  for (int64_t i = 0; i < n; i++)\n    y[i] = 2 * x[i];\n}\n"};
  g_autofree char *task = fixture_task (folder, &fixture);
  fixture_extend (
      task, "{\"inputs\":{\"x\":{\"dtype\":\"float32\",\"shape\":[\"n\"],\"role\":\"inout\"}},"
            "\"outputs\":{\"y\":{\"dtype\":\"float32\",\"shape\":[\"n\"],\"alias\":\"x\"}}}");
  g_autoptr (AssayJob) job = run_task (task, "cuda:0", 20);
  const AssayTiming *timing = timing_of (assay_job_run (job));
  g_assert_true (timing->same_results);
  assert_verdict (timing, ASSAY_SPEED_SAME);
}

/* Of two workloads that come out right the one that the task marks for it is timed; two modes are told and forbid no
 * verdict. */
static void
test_marked_workloads_are_timed (void)
{
  if (cannot_run ())
    return;
  g_autofree char *task = make_task ("marked", "bimodal", NULL);
  fixture_extend (
      task,
      "{\"workloads\":[{\"name\":\"small\",\"axes\":{\"n\":500},\"seed\":1,\"use\":[\"check\"],"
      "\"inputs\":{\"x\":{\"type\":\"random\"}}},"
      "{\"name\":\"large\",\"axes\":{\"n\":2000},\"seed\":1,\"use\":[\"check\",\"bench\"],"
      "\"inputs\":{\"x\":{\"type\":\"random\"}}}]}");
  g_autoptr (AssayJob) job = run_task (task, "cuda:0", 20);
  const AssayTiming *timing = timing_of (assay_job_run (job));
  g_assert_cmpstr (timing->workload, ==, "large");
  g_assert_true (timing->candidate.bimodal);
  g_assert_cmpfloat_with_epsilon (timing->candidate.mode_high / timing->candidate.mode_low, 1.03,
                                  0.005);
  g_assert_cmpstr (timing->verdict, !=, ASSAY_SPEED_VERDICTS[ASSAY_SPEED_NOT_INTERPRETABLE]);
}

static void
test_a_baseline_is_entered_as_the_candidate (void)
{
  if (cannot_run ())
    return;
  g_autofree char *task = make_task ("baseline", "doubled", NULL);
  g_autofree char *path = g_build_filename (task, "plain.cu", NULL);
  g_autofree char *source = g_strdup_printf (KERNEL, "doubled");
  g_assert_true (g_file_set_contents (path, source, -1, NULL));
  fixture_extend (task, "{\"benchmark\":{\"baselines\":[{\"name\":\"eager\",\"sources\":[]},"
                        "{\"name\":\"plain\",\"sources\":[\"plain.cu\"]}]}}");
  g_autoptr (AssayJob) job = run_task (task, "cuda:0", 20);
  const AssayTiming *timing = timing_of (assay_job_run (job));
  g_assert_cmpstr (timing->baseline.name, ==, "plain");
  assert_verdict (timing, ASSAY_SPEED_SAME);
}

static void
test_a_host_function_is_timed (void)
{
  if (cannot_run ())
    return;
  FixtureTask fixture = {
      .id = "host",
      .host = TRUE,
      .symbol = "solve",
      .kernel = "__global__ void doubled (const float *x, float *y, int n)\n{\n"
                "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n)\n"
                "    y[i] = 2 * x[i];\n}\n"
                "extern \"C\" void solve (const float *x, float *y, int n)\n{\n"
                "  doubled<<<(n + 255) / 256, 256>>> (x, y, n);\n  cudaDeviceSynchronize ();\n}\n"};
  g_autofree char *task = fixture_task (folder, &fixture);
  g_autoptr (AssayJob) job = run_task (task, "cuda:0", 30);
  const AssayRun *run = assay_job_run (job);
  const AssayCompile *compile = g_ptr_array_index (run->compile, 0);
  if (compile->status != ASSAY_STATUS_PASSED)
    {
      g_test_skip ("no nvcc for host code");
      return;
    }
  const AssayTiming *timing = timing_of (run);
  assert_verdict (timing, ASSAY_SPEED_SAME);
  g_assert_cmpfloat_with_epsilon (timing->candidate.median, 50e-6, 0.5e-6);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  folder = fixture_folder ();
  g_autofree char *cache = g_build_filename (folder, "cache", NULL);
  g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  fixture_libexec (folder, TRUE);
  g_test_add_func ("/bench/itself", test_a_candidate_equals_itself);
  g_test_add_func ("/bench/two-percent", test_two_percent_are_seen);
  g_test_add_func ("/bench/throttled", test_a_hot_device_is_not_interpreted);
  g_test_add_func ("/bench/broken", test_what_breaks_while_it_is_timed);
  g_test_add_func ("/bench/why-not", test_what_cannot_be_timed_says_why);
  g_test_add_func ("/bench/written-over", test_what_is_written_over_is_put_back);
  g_test_add_func ("/bench/marked", test_marked_workloads_are_timed);
  g_test_add_func ("/bench/baseline", test_a_baseline_is_entered_as_the_candidate);
  g_test_add_func ("/bench/host", test_a_host_function_is_timed);
  int status = g_test_run ();
  fixture_remove (folder);
  return status;
}
