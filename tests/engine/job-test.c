/* SPDX-License-Identifier: Apache-2.0 */
/* Whole runs against a driver that fails on demand; the virtual GPU has its own in faults-test.c. */
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/device/driver.h"
#include "engine/device/tools.h"
#include "engine/run/job.h"
#include "engine/run/resources.h"
#include "engine/worker/session.h"
#include "tests/engine/fixture.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static char *folder;

static const AssayRun *
run_task (const char *task, const char *device, double seconds, AssayJob **out)
{
  g_autoptr (GError) error = NULL;
  AssayJobRequest request = {
      .task = task, .device = device, .workspace = folder, .seconds = seconds};
  AssayJob *job = assay_job_new (&request, &error);
  g_assert_no_error (error);
  assay_job_start (job);
  assay_job_join (job);
  g_assert_true (assay_job_is_finished (job));
  *out = job;
  return assay_job_run (job);
}

static const AssayWorkloadRecord *
first_workload (const AssayRun *run)
{
  g_assert_cmpuint (run->workloads->len, ==, 1);
  return g_ptr_array_index (run->workloads, 0);
}

static gboolean
cannot_run (void)
{
  if (fixture_why_not ())
    g_test_skip (fixture_why_not ());
  return fixture_why_not () != NULL;
}

typedef struct
{
  const char *symbol;
  AssayWorkloadStatus status;
  const char *reason; /* part of it, or NULL */
} Case;

static const Case CASES[] = {
    {"doubled", ASSAY_WORKLOAD_PASSED, NULL},
    {"silent", ASSAY_WORKLOAD_INCORRECT_NUMERICAL, NULL},
    {"illegal", ASSAY_WORKLOAD_RUNTIME_ERROR, "illegal memory access"},
    {"crash", ASSAY_WORKLOAD_RUNTIME_ERROR, "signal 6 (Aborted), in phase launch"},
    {"hang", ASSAY_WORKLOAD_TIMEOUT, "in phase launch"},
};

static void
test_outcome (gconstpointer data)
{
  const Case *expected = data;
  if (cannot_run ())
    return;
  g_autofree char *id = g_strconcat ("outcome_", expected->symbol, NULL);
  FixtureTask fixture = {.id = id, .symbol = expected->symbol};
  g_autofree char *task = fixture_task (folder, &fixture);
  g_autoptr (AssayJob) job = NULL;
  double seconds = expected->status == ASSAY_WORKLOAD_TIMEOUT ? 2 : 60;
  const AssayRun *run = run_task (task, "cuda:0", seconds, &job);
  const AssayWorkloadRecord *workload = first_workload (run);
  g_assert_cmpstr (ASSAY_WORKLOAD_STATUSES[workload->status], ==,
                   ASSAY_WORKLOAD_STATUSES[expected->status]);
  if (expected->reason)
    g_assert_nonnull (strstr (workload->reason, expected->reason));
  g_assert_cmpint (run->state == ASSAY_STATUS_PASSED, ==,
                   expected->status == ASSAY_WORKLOAD_PASSED);
  g_assert_cmpuint (fixture_workers_alive (), ==, 0);
}

/* Codes of the driver: status of the workload, class, blame. Nothing of it is "candidate wrong". */
static const struct
{
  const char *symbol;
  AssayWorkloadStatus status;
  const char *failure_class;
  int blame;
} CODES[] = {
    {"illegal", ASSAY_WORKLOAD_RUNTIME_ERROR, "ILLEGAL_ACCESS", ASSAY_BLAME_CANDIDATE},
    {"misaligned", ASSAY_WORKLOAD_RUNTIME_ERROR, "MISALIGNED", ASSAY_BLAME_CANDIDATE},
    {"asserting", ASSAY_WORKLOAD_RUNTIME_ERROR, "DEVICE_ASSERT", ASSAY_BLAME_CANDIDATE},
    {"watchdog", ASSAY_WORKLOAD_TIMEOUT, "TIMEOUT", ASSAY_BLAME_CANDIDATE},
    {"unspecified", ASSAY_WORKLOAD_RUNTIME_ERROR, "ILLEGAL_ACCESS", ASSAY_BLAME_CANDIDATE},
    {"resources", ASSAY_WORKLOAD_RUNTIME_ERROR, "LAUNCH_CONFIG", ASSAY_BLAME_CANDIDATE},
    {"ecc", ASSAY_WORKLOAD_INCONCLUSIVE, "HW_FAULT", ASSAY_BLAME_HARDWARE},
    {"newer", ASSAY_WORKLOAD_INCONCLUSIVE, "DRIVER_MISMATCH", ASSAY_BLAME_ENVIRONMENT},
    {"nobinary", ASSAY_WORKLOAD_INCONCLUSIVE, "ARCH_MISMATCH", ASSAY_BLAME_ENVIRONMENT},
};

static void
test_driver_codes_have_class_and_blame (void)
{
  if (cannot_run ())
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (CODES); i++)
    {
      g_autofree char *id = g_strconcat ("code_", CODES[i].symbol, NULL);
      FixtureTask fixture = {.id = id, .symbol = CODES[i].symbol};
      g_autofree char *task = fixture_task (folder, &fixture);
      g_autofree char *said = g_strdup_printf ("Class %s.", CODES[i].failure_class);
      g_autoptr (AssayJob) job = NULL;
      const AssayRun *run = run_task (task, "cuda:0", 10, &job);
      const AssayFinding *told = NULL;
      for (guint k = 0; k < run->findings->len; k++)
        {
          const AssayFinding *finding = g_ptr_array_index (run->findings, k);
          if (finding->detail && g_str_has_prefix (finding->detail, said))
            told = finding;
          g_assert_cmpstr (finding->rule, !=, "num.candidate-wrong");
        }
      g_test_message ("%s", CODES[i].symbol);
      g_assert_cmpstr (ASSAY_WORKLOAD_STATUSES[first_workload (run)->status], ==,
                       ASSAY_WORKLOAD_STATUSES[CODES[i].status]);
      g_assert_nonnull (told);
      g_assert_cmpint (told->blame, ==, CODES[i].blame);
      g_assert_nonnull (told->suggestion);
    }
}

/* Three hundred million floats, twice, do not fit into the fake device's gibibyte: nothing is started. */
static void
test_what_does_not_fit_is_not_started (void)
{
  if (cannot_run ())
    return;
  FixtureTask fixture = {.id = "large", .n = 200000000};
  g_autofree char *task = fixture_task (folder, &fixture);
  g_autoptr (AssayJob) job = NULL;
  const AssayRun *run = run_task (task, "cuda:0", 60, &job);
  const AssayWorkloadRecord *workload = first_workload (run);
  g_assert_cmpint (workload->status, ==, ASSAY_WORKLOAD_INCONCLUSIVE);
  g_assert_nonnull (strstr (workload->reason, "1.5 GiB"));
  g_assert_nonnull (strstr (workload->reason, "1.0 GiB"));
}

static gpointer
wedge_driver (gpointer driver)
{
  g_autofree char *wedged =
      g_test_build_filename (G_TEST_BUILT, "engine", "libwedgedcuda.so", NULL);
  while (fixture_workers_alive () == 0)
    g_usleep (10000);
  g_usleep (300000);
  g_assert_cmpint (g_unlink (driver), ==, 0);
  g_assert_cmpint (symlink (wedged, driver), ==, 0);
  return NULL;
}

/* The driver that a hanging kernel leaves behind does not start again: the device is set aside, and the
 * run says so. */
static void
test_a_wedged_device_is_set_aside (void)
{
  if (cannot_run ())
    return;
  FixtureTask fixture = {.id = "wedge", .symbol = "wedge"};
  g_autofree char *task = fixture_task (folder, &fixture);
  g_autofree char *driver = g_strdup (g_getenv ("ASSAY_CUDA_DRIVER"));
  g_autofree char *sound = g_file_read_link (driver, NULL);
  g_autoptr (AssayJob) job = NULL, next = NULL;
  g_autoptr (GError) error = NULL;
  GThread *thread = g_thread_new ("wedge", wedge_driver, driver);
  const AssayRun *run = run_task (task, "cuda:0", 4, &job);
  g_thread_join (thread);
  g_assert_nonnull (strstr (first_workload (run)->reason, "set aside"));
  AssayJobRequest request = {.task = task, .device = "cuda:0", .workspace = folder};
  next = assay_job_new (&request, &error);
  g_assert_null (next);
  g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "set aside"));
  g_assert_nonnull (strstr (error->message, "nvidia-smi"));
  g_unlink (driver);
  g_assert_cmpint (symlink (sound, driver), ==, 0);
}

static gboolean
has_finding (const AssayRun *run, const char *rule)
{
  for (guint i = 0; i < run->findings->len; i++)
    if (g_str_equal (((AssayFinding *) g_ptr_array_index (run->findings, i))->rule, rule))
      return TRUE;
  return FALSE;
}

/* What guards, fill pattern, read-back and repetition show without any checker in the device. */
static void
test_finding (gconstpointer data)
{
  const char *const *expected = data; /* symbol, rule */
  if (cannot_run ())
    return;
  g_autofree char *id = g_strconcat ("finding_", expected[0], NULL);
  FixtureTask fixture = {.id = id, .symbol = expected[0]};
  g_autofree char *task = fixture_task (folder, &fixture);
  g_autoptr (AssayJob) job = NULL;
  const AssayRun *run = run_task (task, "cuda:0", 10, &job);
  g_assert_true (has_finding (run, expected[1]));
}

static void
test_record (void)
{
  if (cannot_run ())
    return;
  g_autoptr (GError) error = NULL;
  FixtureTask fixture = {.id = "record"};
  g_autofree char *task = fixture_task (folder, &fixture);
  g_autoptr (AssayJob) job = NULL;
  const AssayRun *run = run_task (task, "cuda:0", 10, &job);
  g_autoptr (AssayRun) loaded = assay_run_load (assay_job_folder (job), &error);
  g_assert_no_error (error);
  g_assert_cmpstr (loaded->id, ==, run->id);
  g_assert_cmpint (loaded->state, ==, ASSAY_STATUS_PASSED);
  g_assert_cmpstr (loaded->environment.sandbox, ==, "bubblewrap, seccomp");
  const AssayWorkloadRecord *workload = first_workload (loaded);
  const AssayOutput *output = g_ptr_array_index (workload->outputs, 0);
  g_assert_cmpuint (output->comparison->count, ==, 1000);
  g_assert_cmpuint (output->comparison->equal, ==, 1000);
  g_assert_cmpstr (output->gold->method, ==, "reference in float128");
  g_assert_true (output->gold->stable);
  const AssayLaunch *launch = g_ptr_array_index (workload->launches, 0);
  g_assert_cmpint (g_array_index (launch->grid, gint64, 0), ==, 4);
  g_assert_cmpint (launch->registers, ==, 40); /* the fake driver's word */
  const AssayCompile *compile = g_ptr_array_index (loaded->compile, 0);
  g_assert_cmpint (compile->registers, >, 0);
  g_assert_cmpint (compile->spill_store_bytes, ==, 0);
  static const char *const files[] = {"artifacts/sm_80.ptx", "counters.json"};
  for (gsize i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_build_filename (assay_job_folder (job), files[i], NULL);
      g_assert_true (g_file_test (path, G_FILE_TEST_EXISTS));
    }
  g_autofree char *array = g_build_filename (assay_job_folder (job), output->array, NULL);
  g_assert_true (g_file_test (array, G_FILE_TEST_EXISTS));
}

/* Numbered without a gap, workload before the end, every stage told, finished last. */
static void
test_events (void)
{
  if (cannot_run ())
    return;
  FixtureTask fixture = {.id = "events"};
  g_autofree char *task = fixture_task (folder, &fixture);
  g_autoptr (AssayJob) job = NULL;
  run_task (task, "virtual:sm_80", 10, &job);
  g_autoptr (GPtrArray) lines = assay_events_since (assay_job_events (job), 0, 0);
  gboolean stage_ended[ASSAY_N_STAGES] = {FALSE};
  guint workloads = 0;
  for (guint i = 0; i < lines->len; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (JsonNode) node = assay_json_parse (g_ptr_array_index (lines, i), -1,
                                                    &ASSAY_JSON_LIMITS_RECORD, "event", &error);
      g_assert_no_error (error);
      JsonObject *event = json_node_get_object (node);
      const char *type = assay_json_string (event, "type");
      g_assert_cmpint (assay_json_int (event, "n", 0), ==, i + 1);
      g_assert_cmpint (g_str_equal (type, "finished"), ==, i + 1 == lines->len);
      workloads += g_str_equal (type, "workload");
      if (g_str_equal (type, "stage")
          && !g_str_equal (assay_json_string (event, "status"), "running"))
        stage_ended[assay_json_int (event, "index", 0)] = TRUE;
    }
  g_assert_cmpuint (workloads, ==, 1);
  for (int i = 0; i < ASSAY_N_STAGES; i++)
    g_assert_true (stage_ended[i]);
  g_autoptr (GPtrArray) tail = assay_events_since (assay_job_events (job), lines->len - 2, 0);
  g_assert_cmpuint (tail->len, ==, 2);
  g_autoptr (GPtrArray) beyond = assay_events_since (assay_job_events (job), 1 << 30, 0);
  g_assert_cmpuint (beyond->len, ==, 0);
}

static void
test_cancel (void)
{
  if (cannot_run ())
    return;
  g_autoptr (GError) error = NULL;
  FixtureTask fixture = {.id = "cancel", .symbol = "hang"};
  g_autofree char *task = fixture_task (folder, &fixture);
  AssayJobRequest request = {.task = task, .device = "cuda:0", .workspace = folder, .seconds = 60};
  g_autoptr (AssayJob) job = assay_job_new (&request, &error);
  g_assert_no_error (error);
  assay_job_start (job);
  /* A worker is there, and then none is. */
  while (fixture_workers_alive () == 0)
    g_usleep (10000);
  assay_job_cancel (job);
  assay_job_join (job);
  const AssayRun *run = assay_job_run (job);
  g_assert_cmpint (run->state, ==, ASSAY_STATUS_CANCELLED);
  for (guint i = 0; i < run->findings->len; i++)
    g_assert_cmpint (((AssayFinding *) g_ptr_array_index (run->findings, i))->blame, !=,
                     ASSAY_BLAME_CANDIDATE);
  g_assert_cmpuint (fixture_workers_alive (), ==, 0);
}

static void
test_refusals (void)
{
  static const struct
  {
    const char *task, *candidate, *device, *checks;
    int code;
  } cases[] = {
      {"missing", NULL, "virtual:sm_80", "all", ASSAY_ERROR_NOT_FOUND},
      {"refused", "nobody", "virtual:sm_80", "none", ASSAY_ERROR_NOT_FOUND},
      {"refused", NULL, "virtual:sm_12", NULL, ASSAY_ERROR_NOT_FOUND},
      {"refused", NULL, "cuda:7", "race,sync", ASSAY_ERROR_NOT_FOUND},
      {"refused", NULL, "virtual:sm_80", "race,vibes", ASSAY_ERROR_INVALID},
  };
  FixtureTask fixture = {.id = "refused"};
  g_autofree char *task = fixture_task (folder, &fixture);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *path = g_build_filename (folder, cases[i].task, NULL);
      AssayJobRequest request = {.task = path,
                                 .candidate = cases[i].candidate,
                                 .device = cases[i].device,
                                 .checks = cases[i].checks,
                                 .workspace = folder};
      g_assert_null (assay_job_new (&request, &error));
      g_assert_error (error, ASSAY_ERROR, cases[i].code);
    }
}

/* A driver's own faults, seen through a worker. */
static void
test_probe (void)
{
  static const struct
  {
    const char *fault, *reason;
  } cases[] = {
      {"stub", "stub for linking"},
      {"init", "/dev/nvidia"},
      {"no-device", "finds no device"},
      {"none", NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AssaySandboxSpec) spec = assay_worker_spec_new (&error);
      g_autoptr (AssayWorkerRequest) request = assay_worker_request_new ();
      g_assert_no_error (error);
      request->request = ASSAY_REQUEST_PROBE;
      request->driver = g_strdup ("/assay/driver/libcuda.so.1");
      assay_sandbox_spec_show (spec, g_getenv ("ASSAY_CUDA_DRIVER"), request->driver);
      assay_sandbox_spec_set_environment (spec, "ASSAY_FAKE_CUDA", cases[i].fault);
      if (fixture_why_not ())
        {
          g_test_skip (fixture_why_not ());
          return;
        }
      g_autoptr (AssayWorkerReply) reply =
          assay_worker_call (spec, ASSAY_TIER_BUBBLEWRAP, request, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpint (reply->outcome, ==, ASSAY_OUTCOME_DONE);
      const char *reason = assay_json_string (reply->done, "reason");
      JsonArray *devices = assay_json_array (reply->done, "devices");
      g_assert_cmpuint (json_array_get_length (devices), ==, cases[i].reason ? 0 : 1);
      if (cases[i].reason)
        g_assert_nonnull (strstr (reason, cases[i].reason));
    }
}

static void
test_resources (void)
{
  static const char log[] =
      "ptxas info    : Compiling entry function 'other' for 'sm_80'\n"
      "ptxas info    : Used 99 registers\n"
      "ptxas info    : Compiling entry function 'heavy' for 'sm_90'\n"
      "ptxas         .     720 bytes stack frame, 1280 bytes spill stores, 1284 bytes spill "
      "loads\n"
      "ptxas info    : Used 32 registers, used 1 barriers, 720 bytes cumulative stack size, 8192 "
      "bytes smem\n";
  g_autofree AssayCompile *compile = g_new0 (AssayCompile, 1);
  g_assert_true (assay_resources_parse (log, "heavy", compile));
  g_assert_cmpint (compile->registers, ==, 32);
  g_assert_cmpint (compile->stack_bytes, ==, 720);
  g_assert_cmpint (compile->spill_store_bytes, ==, 1280);
  g_assert_cmpint (compile->spill_load_bytes, ==, 1284);
  g_assert_cmpint (compile->shared_bytes, ==, 8192);
  g_assert_false (assay_resources_parse (log, "absent", compile));
}

/* ---- machine code ---- */

/* A program of that name before all others on the path. */
static void
plant_tool (const char *name, const char *script)
{
  g_autofree char *bin = g_build_filename (folder, "bin", NULL);
  g_autofree char *path = g_build_filename (bin, name, NULL);
  g_assert_cmpint (g_mkdir_with_parents (bin, 0755), ==, 0);
  g_assert_true (g_file_set_contents_full (path, script, -1, G_FILE_SET_CONTENTS_NONE, 0755, NULL));
}

static char *
machine_code_of (const char *id, AssayJob **job)
{
  FixtureTask fixture = {.id = id};
  g_autofree char *task = fixture_task (folder, &fixture);
  const AssayRun *run = run_task (task, "cuda:0", 60, job);
  g_autofree char *path =
      g_build_filename (assay_job_folder (*job), "artifacts", "sm_80.sass", NULL);
  char *text = NULL;
  g_assert_cmpint (run->state, ==, ASSAY_STATUS_PASSED);
  g_file_get_contents (path, &text, NULL, NULL);
  return text;
}

/* ptxas is the toolkit's own; a stand-in for nvdisasm tells what it was given. */
static void
test_machine_code_stands_beside_the_source (void)
{
  if (cannot_run ())
    return;
  g_autoptr (AssayToolkit) toolkit = assay_toolkit_find (NULL);
  g_autofree char *own = assay_tool_find (toolkit, "nvdisasm");
  g_autofree char *before = g_strdup (g_getenv ("PATH"));
  g_autofree char *path = g_strconcat (folder, "/bin:", before, NULL);
  g_autoptr (AssayJob) job = NULL, refused = NULL;
  g_setenv ("PATH", path, TRUE);
  plant_tool ("nvdisasm", "#!/bin/sh\necho \"$1 $2\"\nhead -c 4 \"$3\" | tail -c 3\n");
  g_autofree char *text = machine_code_of ("sass", &job);
  g_assert_nonnull (text);
  if (own && !g_str_has_prefix (own, folder))
    g_assert_nonnull (strstr (text, "EXIT"));
  else
    g_assert_cmpstr (text, ==, "-g -c\nELF");
  plant_tool ("nvdisasm", "#!/bin/sh\necho half; echo 'no such architecture' >&2\nexit 3\n");
  g_autofree char *none = own ? NULL : machine_code_of ("sass_refused", &refused);
  g_assert_null (none);
  g_setenv ("PATH", before, TRUE);
}

static void
test_tools_are_found_where_packages_put_them (void)
{
  static const char *const places[] = {"bin", "nvidia/cu13/bin", "triton/backends/nvidia/bin"};
  g_autofree char *none = assay_tool_find (NULL, "no-such-program-of-nvidia");
  g_assert_null (none);
  for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autofree char *root = g_strdup_printf ("%s/toolkit-%u", folder, (guint) i);
      g_autofree char *bin = g_build_filename (root, places[i], NULL);
      g_autofree char *wanted = g_build_filename (bin, "cuobjdump", NULL);
      AssayToolkit toolkit = {.root = root};
      g_assert_cmpint (g_mkdir_with_parents (bin, 0755), ==, 0);
      g_assert_true (
          g_file_set_contents_full (wanted, "", 0, G_FILE_SET_CONTENTS_NONE, 0755, NULL));
      g_autofree char *found = assay_tool_find (&toolkit, "cuobjdump");
      g_assert_cmpstr (found, ==, wanted);
    }
  for (gsize i = 0; ASSAY_TOOLS[i]; i++)
    g_assert_nonnull (strstr (assay_tool_advice (ASSAY_TOOLS[i]), "nstall"));
}

int
main (int argc, char **argv)
{
  static const char *const findings[][2] = {
      {"overrun", "mem.guard-overwritten"},
      {"silent", "mem.uninitialised"},
      {"clobber", "mem.input-modified"},
      {"unsteady", "num.nondeterministic"},
  };
  g_test_init (&argc, &argv, NULL);
  folder = fixture_folder ();
  g_autofree char *cache = g_build_filename (folder, "cache", NULL);
  g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  fixture_libexec (folder, TRUE);
  for (gsize i = 0; i < G_N_ELEMENTS (CASES); i++)
    {
      g_autofree char *path = g_strconcat ("/job/outcome/", CASES[i].symbol, NULL);
      g_test_add_data_func (path, &CASES[i], test_outcome);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (findings); i++)
    {
      g_autofree char *path = g_strconcat ("/job/finding/", findings[i][0], NULL);
      g_test_add_data_func (path, findings[i], test_finding);
    }
  g_test_add_func ("/job/codes", test_driver_codes_have_class_and_blame);
  g_test_add_func ("/job/budget", test_what_does_not_fit_is_not_started);
  g_test_add_func ("/job/record", test_record);
  g_test_add_func ("/job/events", test_events);
  g_test_add_func ("/job/cancel", test_cancel);
  g_test_add_func ("/job/refusals", test_refusals);
  g_test_add_func ("/job/probe", test_probe);
  g_test_add_func ("/job/resources", test_resources);
  g_test_add_func ("/job/machine-code", test_machine_code_stands_beside_the_source);
  g_test_add_func ("/job/tools", test_tools_are_found_where_packages_put_them);
  g_test_add_func ("/wedged/device", test_a_wedged_device_is_set_aside); /* the last: it stays so */
  int status = g_test_run ();
  fixture_remove (folder);
  return status;
}
