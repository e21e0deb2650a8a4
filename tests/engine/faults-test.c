/* SPDX-License-Identifier: Apache-2.0 */
/* What can be wrong with a task, a reference or a kernel, one at a time, on the virtual GPU: each ends
 * as a status and a finding with the right blame, never as a hang or a crash of the engine. */
#include "engine/base/error.h"
#include "engine/run/job.h"
#include "tests/engine/fixture.h"

#include <string.h>

static char *folder;

typedef struct
{
  const char *name;
  FixtureTask task;
  AssayWorkloadStatus status;
  const char *rule;          /* a finding there must be … */
  int blame;                 /* … who is to blame … */
  const char *text;          /* … and what its title, or the workload's reason, says; or NULL */
  gint64 line;               /* in kernel.cu; 0: none to expect */
  const char *absent;        /* a finding there must not be, or NULL */
  guint64 printed, elements; /* bytes it prints; elements it leaves as they were */
} Case;

#define KERNEL(body)                                                                               \
  "#include <assert.h>\n#include <stdio.h>\n"                                                      \
  "extern \"C\" __global__ void doubled (const float *x, float *y, int n)\n{\n"                    \
  "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" body "\n}\n"

#define HOST(body)                                                                                 \
  "#include <cuda_runtime.h>\n#include <vector>\n__constant__ float factor[1];\n"                  \
  "static __global__ void twice (const float *x, float *y, int n)\n{\n"                            \
  "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n)\n    y[i] = factor[0] * x[i];\n" \
  "}\nextern \"C\" void solve (const float *x, float *y, int n)\n{\n" body "\n}\n"

static const Case CASES[] = {
    {"host",
     {.id = "f_host",
      .host = TRUE,
      .symbol = "solve",
      .kernel = HOST ("  std::vector<float> two (1, 2.0f);\n  float *copy;\n"
                      "  cudaMemcpyToSymbol (factor, two.data (), sizeof (float));\n"
                      "  cudaMalloc (&copy, n * sizeof (float));\n"
                      "  cudaMemcpy (copy, x, n * sizeof (float), cudaMemcpyDeviceToDevice);\n"
                      "  twice<<<(n + 255) / 256, 256>>> (copy, y, n);\n"
                      "  if (cudaGetLastError () == cudaSuccess) cudaDeviceSynchronize ();\n"
                      "  cudaFree (copy);")},
     ASSAY_WORKLOAD_PASSED,
     NULL,
     0,
     NULL,
     0},
    {"host-unchecked-launch",
     {.id = "f_host_unchecked",
      .host = TRUE,
      .symbol = "solve",
      .kernel = HOST ("  twice<<<1, 2048>>> (x, y, n);")},
     ASSAY_WORKLOAD_INCORRECT_NUMERICAL,
     "launch.unchecked-error",
     ASSAY_BLAME_CANDIDATE,
     NULL,
     0},
    {"host-leak",
     {.id = "f_host_leak",
      .host = TRUE,
      .symbol = "solve",
      .kernel = HOST ("  float two = 2, *lost;\n"
                      "  cudaMemcpyToSymbol (factor, &two, sizeof two);\n"
                      "  cudaMalloc (&lost, 4096);\n  twice<<<8, 128>>> (x, y, n);\n"
                      "  cudaGetLastError ();")},
     ASSAY_WORKLOAD_PASSED,
     "mem.leak",
     ASSAY_BLAME_CANDIDATE,
     NULL,
     0},
    {"host-wrong-symbol",
     {.id = "f_host_symbol", .host = TRUE, .symbol = "solved", .kernel = HOST ("")},
     ASSAY_WORKLOAD_COMPILE_ERROR,
     "build.failed",
     ASSAY_BLAME_CANDIDATE,
     "solve",
     0},
    {"host-unknown-function",
     {.id = "f_host_unknown",
      .host = TRUE,
      .symbol = "solve",
      .kernel = HOST ("  float *p; size_t pitch;\n  cudaMallocPitch (&p, &pitch, 16, 16);")},
     ASSAY_WORKLOAD_INCONCLUSIVE,
     "env.interpreter-gap",
     ASSAY_BLAME_INTERPRETER,
     "cudaMallocPitch",
     0},
    {"host-crash",
     {.id = "f_host_crash",
      .host = TRUE,
      .symbol = "solve",
      .kernel = HOST ("  *(volatile int *) nullptr = n;")},
     ASSAY_WORKLOAD_RUNTIME_ERROR,
     "run.failed",
     ASSAY_BLAME_CANDIDATE,
     "signal 11",
     0},
    {"right", {.id = "f_right"}, ASSAY_WORKLOAD_PASSED, NULL, 0, NULL, 0},
    {"reference-does-not-compile",
     {.id = "f_reference", .reference = "void reference (const REAL *x) { undeclared (); }\n"},
     ASSAY_WORKLOAD_INVALID_REFERENCE,
     "task.reference-fails",
     ASSAY_BLAME_TASK,
     "undeclared",
     0},
    {"reference-crashes",
     {.id = "f_reference_crash",
      .reference =
          "void reference (const REAL *x, REAL *y, int64_t n) { *(volatile int *) 0 = 1; }\n"},
     ASSAY_WORKLOAD_INVALID_REFERENCE,
     "task.reference-fails",
     ASSAY_BLAME_TASK,
     NULL,
     0},
    {"reference-hangs",
     {.id = "f_reference_hang",
      .reference = "void reference (const REAL *x, REAL *y, int64_t n)\n"
                   "{ for (volatile int i = 0;;) i = 0; }\n"},
     ASSAY_WORKLOAD_INVALID_REFERENCE,
     "task.reference-fails",
     ASSAY_BLAME_TASK,
     NULL,
     0},
    {"kernel-does-not-compile",
     {.id = "f_kernel", .kernel = KERNEL ("  y[i] = undeclared;")},
     ASSAY_WORKLOAD_COMPILE_ERROR,
     "build.failed",
     ASSAY_BLAME_CANDIDATE,
     "undeclared",
     6},
    {"wrong-symbol",
     {.id = "f_symbol", .symbol = "dubbled", .kernel = KERNEL ("  y[i] = x[i];")},
     ASSAY_WORKLOAD_COMPILE_ERROR,
     "build.failed",
     ASSAY_BLAME_CANDIDATE,
     "doubled",
     0},
    {"grid-zero",
     {.id = "f_grid", .grid = "[0]"},
     ASSAY_WORKLOAD_RUNTIME_ERROR,
     "launch.grid-limit",
     ASSAY_BLAME_CANDIDATE,
     NULL,
     0},
    {"block-2048",
     {.id = "f_block", .block = "[2048]"},
     ASSAY_WORKLOAD_RUNTIME_ERROR,
     "launch.block-too-large",
     ASSAY_BLAME_CANDIDATE,
     "2048",
     0},
    {"infinite-loop",
     {.id = "f_loop", .kernel = KERNEL ("  for (volatile int k = 0;;) k = i;")},
     ASSAY_WORKLOAD_TIMEOUT,
     NULL,
     0,
     NULL,
     0},
    {"assert",
     {.id = "f_assert", .kernel = KERNEL ("  assert (n < 0);\n  y[i] = x[i];")},
     ASSAY_WORKLOAD_RUNTIME_ERROR,
     NULL,
     ASSAY_BLAME_CANDIDATE,
     "assert",
     0},
    {"never-written",
     {.id = "f_silent", .kernel = KERNEL ("  if (i < -1) y[i] = x[i];")},
     ASSAY_WORKLOAD_INCORRECT_NUMERICAL,
     "mem.uninitialised",
     ASSAY_BLAME_CANDIDATE,
     "never written",
     0},
    {"half-written",
     {.id = "f_half", .kernel = KERNEL ("  if (i < n / 2) y[i] = 2 * x[i];")},
     ASSAY_WORKLOAD_INCORRECT_NUMERICAL,
     "mem.uninitialised",
     ASSAY_BLAME_CANDIDATE,
     "500 of the 1000 elements of output y were never written",
     0,
     "num.nan",
     0,
     500},
    {"too-many-parameters",
     {.id = "f_parameters",
      .kernel = "extern \"C\" __global__ void doubled (const float *x, float *y, int n, int m)\n"
                "{ y[0] = x[0] * n * m; }\n"},
     ASSAY_WORKLOAD_INCONCLUSIVE,
     "task.entry-mismatch",
     ASSAY_BLAME_TASK,
     "doubled takes 4 parameters, the entry in task.json passes 3",
     0,
     "run.failed"},
    {"unknown-instruction",
     {.id = "f_instruction",
      .kernel = KERNEL ("  unsigned t;\n  asm (\"vmad.u32.u32.u32 %0, %1, %2, %3;\""
                        " : \"=r\" (t) : \"r\" (i), \"r\" (i), \"r\" (0));\n  y[i] = t;")},
     ASSAY_WORKLOAD_INCONCLUSIVE,
     NULL,
     ASSAY_BLAME_INTERPRETER,
     NULL,
     0},
    {"out-of-bounds",
     {.id = "f_bounds", .kernel = KERNEL ("  y[i] = 2 * x[i];")},
     ASSAY_WORKLOAD_RUNTIME_ERROR,
     "mem.out-of-bounds",
     ASSAY_BLAME_CANDIDATE,
     NULL,
     6},
    {"input-modified",
     {.id = "f_input",
      .kernel = KERNEL ("  if (i < n) { y[i] = 2 * x[i]; ((float *) x)[i] = 0; }")},
     ASSAY_WORKLOAD_PASSED,
     "mem.input-modified",
     ASSAY_BLAME_CANDIDATE,
     NULL,
     0},
    {"printf-flood",
     {.id = "f_printf",
      .kernel = KERNEL ("  if (i < n) { y[i] = 2 * x[i];\n"
                        "    for (int k = 0; k < 200; k++)\n"
                        "      printf (\"%0500d\\n\", k); }")},
     ASSAY_WORKLOAD_PASSED,
     "run.output-dropped",
     ASSAY_BLAME_CANDIDATE,
     "bytes were dropped",
     0,
     NULL,
     1000 * 200 * 501},
    {"nan",
     {.id = "f_nan", .kernel = KERNEL ("  if (i < n) y[i] = i == 7 ? nanf (\"\") : 2 * x[i];")},
     ASSAY_WORKLOAD_INCORRECT_NUMERICAL,
     "num.nan",
     ASSAY_BLAME_CANDIDATE,
     NULL,
     0},
};

static const AssayFinding *
find (const AssayRun *run, const char *rule)
{
  for (guint i = 0; i < run->findings->len; i++)
    if (g_str_equal (((AssayFinding *) g_ptr_array_index (run->findings, i))->rule, rule))
      return g_ptr_array_index (run->findings, i);
  return NULL;
}

static char *
all_findings (const AssayRun *run)
{
  GString *all = g_string_new (NULL);
  for (guint i = 0; i < run->findings->len; i++)
    {
      const AssayFinding *finding = g_ptr_array_index (run->findings, i);
      g_string_append_printf (all, "\n  %s (%s, line %d): %s", finding->rule,
                              ASSAY_BLAMES[finding->blame], (int) finding->where.line,
                              finding->title);
    }
  return g_string_free (all, FALSE);
}

static gboolean
says (const AssayFinding *finding, const AssayWorkloadRecord *workload, const char *text)
{
  return (finding
          && (strstr (finding->title, text) || (finding->detail && strstr (finding->detail, text))))
         || (workload->reason && strstr (workload->reason, text));
}

static void
test_case (gconstpointer data)
{
  const Case *expected = data;
  g_autoptr (GError) error = NULL;
  if (fixture_why_not ())
    {
      g_test_skip (fixture_why_not ());
      return;
    }
  g_autofree char *task = fixture_task (folder, &expected->task);
  gboolean endless = strstr (expected->name, "hang") || strstr (expected->name, "loop");
  AssayJobRequest request = {
      .task = task, .device = "virtual:sm_80", .workspace = folder, .seconds = endless ? 3 : 60};
  g_autoptr (AssayJob) job = assay_job_new (&request, &error);
  g_assert_no_error (error);
  assay_job_start (job);
  assay_job_join (job);
  const AssayRun *run = assay_job_run (job);
  const AssayWorkloadRecord *workload = g_ptr_array_index (run->workloads, 0);
  const AssayFinding *finding = expected->rule ? find (run, expected->rule) : NULL;
  g_autofree char *all = all_findings (run);
  g_test_message ("%s: %s%s", ASSAY_WORKLOAD_STATUSES[workload->status], workload->reason, all);
  g_assert_cmpstr (ASSAY_WORKLOAD_STATUSES[workload->status], ==,
                   ASSAY_WORKLOAD_STATUSES[expected->status]);
  if (expected->rule)
    {
      g_assert_nonnull (finding);
      g_assert_cmpint (finding->blame, ==, expected->blame);
    }
  if (expected->text)
    g_assert_true (says (finding, workload, expected->text));
  if (expected->line)
    {
      g_assert_cmpstr (finding->where.file, ==, "kernel.cu");
      g_assert_cmpint (finding->where.line, ==, expected->line);
    }
  if (expected->status != ASSAY_WORKLOAD_PASSED)
    g_assert_cmpuint (run->findings->len, >, 0);
  if (expected->absent)
    g_assert_null (find (run, expected->absent));
  if (expected->elements)
    {
      const AssayOutput *output = g_ptr_array_index (workload->outputs, 0);
      g_assert_cmpuint (output->never_written, ==, expected->elements);
    }
  /* What it printed is kept or counted, to the byte; at most a MiB is kept. */
  g_assert_cmpuint (workload->dropped, <=, expected->printed);
  g_assert_cmpuint (expected->printed - workload->dropped, <=, 1 << 20);
}

static void
test_bad_tasks (void)
{
  static const struct
  {
    FixtureTask task;
    const char *text;
  } cases[] = {
      {{.id = "b_syntax", .manifest = "{ \"format\": "}, "task.json"},
      {{.id = "b_format", .manifest = "{\"format\":\"recipe\",\"version\":1}"}, "format"},
      {{.id = "b_dtype", .dtype = "float33"}, "float33"},
      {{.id = "b_grid", .grid = "[\"m * 2\"]"}, "m"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *task = fixture_task (folder, &cases[i].task);
      AssayJobRequest request = {.task = task, .device = "virtual:sm_80", .workspace = folder};
      AssayJob *job = assay_job_new (&request, &error);
      g_assert_null (job);
      g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID);
      if (!strstr (error->message, cases[i].text))
        g_error ("\"%s\" does not name %s", error->message, cases[i].text);
    }
}

/* Without a compiler, of either kind, nothing can be said about the candidate: inconclusive, and the
 * computer's. */
static void
test_no_compiler (gconstpointer data)
{
  const char *variable = data;
  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
      g_test_trap_assert_passed ();
      return;
    }
  g_autoptr (GError) error = NULL;
  FixtureTask fixture = {.id = "no_compiler"};
  g_autofree char *task = fixture_task (folder, &fixture);
  g_setenv (variable, folder, TRUE);
  AssayJobRequest request = {
      .task = task, .device = "virtual:sm_80", .workspace = folder, .consent_unsandboxed = TRUE};
  g_autoptr (AssayJob) job = assay_job_new (&request, &error);
  g_assert_no_error (error);
  assay_job_start (job);
  assay_job_join (job);
  const AssayRun *run = assay_job_run (job);
  const AssayWorkloadRecord *workload = g_ptr_array_index (run->workloads, 0);
  g_assert_cmpstr (ASSAY_WORKLOAD_STATUSES[workload->status], ==, "INCONCLUSIVE");
  g_assert_nonnull (strstr (workload->reason, "compiler"));
  for (guint i = 0; i < run->findings->len; i++)
    {
      const AssayFinding *finding = g_ptr_array_index (run->findings, i);
      g_assert_cmpint (finding->blame, !=, ASSAY_BLAME_CANDIDATE);
      g_assert_cmpstr (finding->rule, !=, "task.reference-fails");
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  folder = fixture_folder ();
  g_autofree char *cache = g_build_filename (folder, "cache", NULL);
  g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  fixture_libexec (folder, FALSE);
  for (gsize i = 0; i < G_N_ELEMENTS (CASES); i++)
    {
      g_autofree char *path = g_strconcat ("/faults/", CASES[i].name, NULL);
      g_test_add_data_func (path, &CASES[i], test_case);
    }
  g_test_add_func ("/faults/bad-tasks", test_bad_tasks);
  g_test_add_data_func ("/faults/no-cuda-compiler", "ASSAY_TOOLKIT", test_no_compiler);
  g_test_add_data_func ("/faults/no-c-compiler", "ASSAY_CC", test_no_compiler);
  int status = g_test_run ();
  fixture_remove (folder);
  return status;
}
