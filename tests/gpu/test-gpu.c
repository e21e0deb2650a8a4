/* SPDX-License-Identifier: Apache-2.0 */
/* The same runs on a real device and on the virtual one of the same architecture. Where there is no
 * device they are skipped, with the reason; with --stand-in the virtual driver is opened as if it were
 * the real one, so that every step of that path is walked without a GPU. */
#include "engine/base/json.h"
#include "engine/findings/failure.h"
#include "engine/run/devices.h"
#include "engine/run/job.h"
#include "engine/task/task.h"
#include "tests/engine/fixture.h"

#include <string.h>

static char *workspace;
static AssayDevice *device; /* NULL: none */
static char *why_none;
static GString *bits, *faults, *times; /* rows of Markdown, for $ASSAY_GPU_REPORT */

static void
find_device (void)
{
  g_autoptr (GPtrArray) devices = assay_devices_list ();
  for (guint i = 0; i < devices->len && !device; i++)
    {
      const AssayDevice *one = g_ptr_array_index (devices, i);
      if (!g_str_equal (one->kind, "cuda"))
        continue;
      if (one->available)
        device = assay_device_copy (one);
      else
        why_none = g_strdup (one->reason);
    }
}

static gboolean
cannot_run (void)
{
  const char *why = device ? fixture_why_not () : why_none ? why_none : "no CUDA device";
  if (why)
    g_test_skip (why);
  return why != NULL;
}

static AssayJob *
run_on (const char *task, const char *id, double seconds)
{
  g_autoptr (GError) error = NULL;
  AssayJobRequest request = {
      .task = task, .device = id, .workspace = workspace, .seconds = seconds};
  AssayJob *job = assay_job_new (&request, &error);
  g_assert_no_error (error);
  assay_job_start (job);
  assay_job_join (job);
  return job;
}

/* ---- bits ---- */

/* (transfer full): a copy of the task whose candidates are compiled without contraction, so that every
 * operation rounds as it is written. */
static char *
uncontracted (const char *folder, const char *name)
{
  g_autoptr (GError) error = NULL;
  char *copy = g_build_filename (workspace, name, NULL);
  const char *argv[] = {"cp", "-r", folder, copy, NULL};
  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL,
                               NULL, NULL, &error));
  g_autofree char *file = g_build_filename (copy, ASSAY_TASK_FILE, NULL);
  g_autoptr (JsonNode) node = assay_json_load (file, &ASSAY_JSON_LIMITS_TASK, &error);
  g_assert_no_error (error);
  JsonArray *candidates = assay_json_array (json_node_get_object (node), "candidates");
  for (guint i = 0; i < json_array_get_length (candidates); i++)
    {
      JsonObject *candidate = json_array_get_object_element (candidates, i);
      JsonArray *options = assay_json_array (candidate, "options");
      if (!options)
        {
          options = json_array_new ();
          json_object_set_array_member (candidate, "options", options);
        }
      json_array_add_string_element (options, "-fmad=false");
    }
  g_assert_true (assay_json_save (node, file, &error));
  return copy;
}

/* Instructions whose bits the hardware is free to choose, and sums whose order it is. */
static gboolean
has_free_bits (const AssayJob *job)
{
  static const char *const words[] = {".approx",
                                      "mma.",
                                      "tanh.",
                                      "red.global.add.f",
                                      "atom.global.add.f",
                                      "atom.shared.add.f",
                                      "red.shared.add.f"};
  g_autofree char *name = g_strconcat (device->target, ".ptx", NULL);
  g_autofree char *path =
      g_build_filename (assay_job_folder ((AssayJob *) job), "artifacts", name, NULL);
  g_autofree char *ptx = NULL;
  if (!g_file_get_contents (path, &ptx, NULL, NULL))
    return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    if (strstr (ptx, words[i]))
      return TRUE;
  return FALSE;
}

static gboolean
is_deterministic (const AssayRun *run)
{
  for (guint i = 0; i < run->findings->len; i++)
    {
      const char *rule = ((AssayFinding *) g_ptr_array_index (run->findings, i))->rule;
      if (g_str_has_prefix (rule, "race.") || g_str_has_prefix (rule, "mem.")
          || g_str_has_prefix (rule, "sync.") || g_str_equal (rule, "num.nondeterministic"))
        return FALSE;
    }
  return TRUE;
}

static guint64
count_different (AssayJob *one, AssayJob *other, const char *array, guint64 *bytes)
{
  g_autofree char *left = g_build_filename (assay_job_folder (one), array, NULL);
  g_autofree char *right = g_build_filename (assay_job_folder (other), array, NULL);
  g_autofree char *a = NULL, *b = NULL;
  gsize size = 0, size_b = 0;
  guint64 count = 0;
  g_assert_true (g_file_get_contents (left, &a, &size, NULL));
  g_assert_true (g_file_get_contents (right, &b, &size_b, NULL));
  g_assert_cmpuint (size, ==, size_b);
  for (gsize i = 0; i < size; i++)
    count += a[i] != b[i];
  *bytes += size;
  return count;
}

static guint64
compare_outputs (AssayJob *on_device, AssayJob *on_virtual, guint64 *bytes)
{
  const AssayRun *left = assay_job_run (on_device), *right = assay_job_run (on_virtual);
  guint64 different = 0;
  g_assert_cmpuint (left->workloads->len, ==, right->workloads->len);
  for (guint w = 0; w < left->workloads->len; w++)
    {
      const AssayWorkloadRecord *a = g_ptr_array_index (left->workloads, w);
      const AssayWorkloadRecord *b = g_ptr_array_index (right->workloads, w);
      g_assert_cmpuint (a->outputs->len, ==, b->outputs->len);
      for (guint i = 0; i < a->outputs->len; i++)
        {
          const AssayOutput *output = g_ptr_array_index (a->outputs, i);
          if (output->array)
            different += count_different (on_device, on_virtual, output->array, bytes);
        }
    }
  return different;
}

static void
test_bits_are_those_of_the_virtual_device (gconstpointer name)
{
  if (cannot_run ())
    return;
  g_autofree char *shipped =
      g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "data", "tasks", name, NULL);
  g_autofree char *task = uncontracted (shipped, name);
  g_autofree char *virtual_id = g_strconcat ("virtual:", device->target, NULL);
  g_autoptr (AssayJob) on_virtual = run_on (task, virtual_id, 60);
  g_autoptr (AssayJob) on_device = run_on (task, device->id, 60);
  guint64 bytes = 0;
  gboolean exact = is_deterministic (assay_job_run (on_virtual)) && !has_free_bits (on_virtual);
  guint64 different = compare_outputs (on_device, on_virtual, &bytes);
  g_string_append_printf (bits, "| %s | %s | %" G_GUINT64_FORMAT " | %" G_GUINT64_FORMAT " |\n",
                          (const char *) name, exact ? "yes" : "no", bytes, different);
  g_test_message ("%s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " bytes differ",
                  (const char *) name, different, bytes);
  if (exact)
    g_assert_cmpuint (different, ==, 0);
}

/* ---- faults ---- */

#define KERNEL(body)                                                                               \
  "extern \"C\" __global__ void doubled (const float *x, float *y, int n)\n{\n"                    \
  "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" body "\n}\n"

static const struct
{
  const char *id, *kernel, *block, *failure_class;
  double seconds;
} FAULTS[] = {
    {"far_write", KERNEL ("  y[i + (1ll << 40)] = x[0];"), NULL, "ILLEGAL_ACCESS", 60},
    {"misaligned", KERNEL ("  *(float2 *) (y + 1 + 2 * i) = make_float2 (0, 0);"), NULL,
     "MISALIGNED", 60},
    {"endless", KERNEL ("  volatile float *v = y;\n  while (v[0] != 12345.f)\n    v[1] = i;"), NULL,
     "TIMEOUT", 5},
    {"wide", NULL, "[2048]", "LAUNCH_CONFIG", 60},
};

static gboolean
tells (const AssayRun *run, const char *failure_class)
{
  for (guint i = 0; i < run->findings->len; i++)
    {
      const AssayFinding *finding = g_ptr_array_index (run->findings, i);
      gboolean launch = g_str_equal (failure_class, "LAUNCH_CONFIG")
                        && g_str_has_prefix (finding->rule, "launch.");
      gboolean memory = (g_str_equal (failure_class, "ILLEGAL_ACCESS")
                         && g_str_equal (finding->rule, "mem.out-of-bounds"))
                        || (g_str_equal (failure_class, "MISALIGNED")
                            && g_str_equal (finding->rule, "mem.misaligned"));
      if (launch || memory || (finding->detail && strstr (finding->detail, failure_class)))
        return TRUE;
    }
  return FALSE;
}

static void
test_faults_end_as_their_class (void)
{
  if (cannot_run ())
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (FAULTS); i++)
    {
      FixtureTask fixture = {
          .id = FAULTS[i].id, .kernel = FAULTS[i].kernel, .block = FAULTS[i].block};
      g_autofree char *task = fixture_task (workspace, &fixture);
      g_autoptr (AssayJob) job = run_on (task, device->id, FAULTS[i].seconds);
      const AssayRun *run = assay_job_run (job);
      gboolean told = tells (run, FAULTS[i].failure_class);
      g_string_append_printf (faults, "| %s | %s | %s |\n", FAULTS[i].id, FAULTS[i].failure_class,
                              told ? "told" : "NOT told");
      g_test_message ("%s", FAULTS[i].id);
      g_assert_true (told);
      /* The device serves the next run. */
      g_autofree char *gone = assay_device_check_after (device, FAULTS[i].id);
      g_assert_null (gone);
    }
}

/* ---- time ---- */

/* One thread a block goes through so many dependent operations; the result is twice x all the same. */
#define SPIN                                                                                       \
  "extern \"C\" __global__ void doubled (const float *x, float *y, int n)\n{\n"                    \
  "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  float v = i < n ? x[i] : 0;\n"              \
  "  if (threadIdx.x == 0)\n    for (int k = 0; k < %d; k++)\n"                                    \
  "      v = __fmaf_rn (v, 0.999f, 1.0f);\n"                                                       \
  "  if (i < n)\n    y[i] = 2 * x[i] + (v == 12345.678f ? 1 : 0);\n}\n"
#define TURNS 50000

static const struct
{
  const char *id, *what;
  int turns;
  const char *verdict;
  double low, high;
} TIMES[] = {
    {"time_same", "the same kernel on both sides", TURNS, "equivalent", 0.99, 1.01},
    {"time_slower", "2 % more work", TURNS * 51 / 50, "slower", 1.01, 1.03},
    {"time_faster", "2 % less work", TURNS * 49 / 50, "faster", 0.97, 0.99},
};

static void
test_two_percent_are_seen (void)
{
  if (cannot_run ())
    return;
  g_autofree char *start = g_strdup_printf (SPIN, TURNS);
  for (gsize i = 0; i < G_N_ELEMENTS (TIMES); i++)
    {
      g_autofree char *kernel = g_strdup_printf (SPIN, TIMES[i].turns);
      FixtureTask fixture = {.id = TIMES[i].id, .kernel = kernel};
      g_autofree char *task = fixture_task (workspace, &fixture);
      fixture_start (task, "doubled", start);
      g_autoptr (AssayJob) job = run_on (task, device->id, 60);
      const AssayRun *run = assay_job_run (job);
      const AssayStage *stage = g_ptr_array_index (run->stages, ASSAY_STAGE_BENCH);
      if (stage->status == ASSAY_STATUS_SKIPPED)
        {
          /* The stand-in has no time, and says so. */
          g_assert_nonnull (strstr (stage->reason, "no notion of time"));
          continue;
        }
      g_assert_cmpstr (stage->reason, ==, NULL);
      const AssayTiming *timing = g_ptr_array_index (run->benchmark->timings, 0);
      g_string_append_printf (times, "| %s | %s | %.4f [%.4f, %.4f] | %.4g | %s |\n", TIMES[i].what,
                              timing->verdict, timing->ratio, timing->low, timing->high,
                              1e6 * timing->candidate.median, timing->reason);
      g_test_message ("%s: %s, %.4f: %s", TIMES[i].what, timing->verdict, timing->ratio,
                      timing->reason);
      g_assert_cmpstr (timing->verdict, ==, TIMES[i].verdict);
      g_assert_cmpfloat (timing->ratio, >, TIMES[i].low);
      g_assert_cmpfloat (timing->ratio, <, TIMES[i].high);
    }
}

/* ---- */

static void
write_report (void)
{
  const char *path = g_getenv ("ASSAY_GPU_REPORT");
  if (!path || !device)
    return;
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *date = g_date_time_format (now, "%Y-%m-%d");
  g_autofree char *head = g_strdup_printf (
      "# Real against virtual, %s\n\n%s (%s), driver of CUDA %s. Bytes of all outputs, candidates "
      "compiled with -fmad=false; \"exact\" tasks use no instruction whose bits the hardware may "
      "choose.\n\n| task | exact | bytes | different |\n"
      "| --- | --- | --- | --- |\n",
      date, device->name, device->target, device->driver ? device->driver : "unknown");
  g_autofree char *text = g_strconcat (
      head, bits->str, "\n| planted fault | class | in the findings |\n| --- | --- | --- |\n",
      faults->str,
      "\n| timed against a spinning kernel | verdict | ratio, 95 % | median, us | why |\n"
      "| --- | --- | --- | --- | --- |\n",
      times->str, NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static void
add_tasks (const char *prefix, gboolean all)
{
  static const char *const few[] = {"row_energy", "bf16_gemm", "layer_norm", NULL};
  g_autofree char *folder = g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "data", "tasks", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *name; (name = g_dir_read_name (dir));)
    {
      g_autofree char *path = g_strdup_printf ("/%s/bits/%s", prefix, name);
      if (all || g_strv_contains (few, name))
        g_test_add_data_func_full (path, g_strdup (name), test_bits_are_those_of_the_virtual_device,
                                   g_free);
    }
}

int
main (int argc, char **argv)
{
  gboolean stand_in = argc > 1 && g_str_equal (argv[argc - 1], "--stand-in");
  argc -= stand_in;
  g_test_init (&argc, &argv, NULL);
  workspace = fixture_folder ();
  g_autofree char *cache = g_build_filename (workspace, "cache", NULL);
  g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  fixture_libexec (workspace, FALSE);
  if (!stand_in)
    g_unsetenv ("ASSAY_CUDA_DRIVER");
  bits = g_string_new (NULL);
  faults = g_string_new (NULL);
  times = g_string_new (NULL);
  find_device ();
  add_tasks (stand_in ? "stand-in" : "gpu", !stand_in);
  g_test_add_func (stand_in ? "/stand-in/faults" : "/gpu/faults", test_faults_end_as_their_class);
  g_test_add_func (stand_in ? "/stand-in/time" : "/gpu/time", test_two_percent_are_seen);
  int status = g_test_run ();
  if (!stand_in)
    write_report ();
  fixture_remove (workspace);
  return status;
}
