/* SPDX-License-Identifier: Apache-2.0 */
/* The program assay-engine as a user meets it: words, exit statuses, JSON, interruption. */
#include "engine/base/array.h"
#include "engine/base/json.h"
#include "engine/device/toolkit.h"
#include "tests/engine/fixture.h"

#include <signal.h>
#include <string.h>

static char *folder;

typedef struct
{
  int status;
  char *out, *err;
} Outcome;

static void
outcome_clear (Outcome *outcome)
{
  g_free (outcome->out);
  g_free (outcome->err);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Outcome, outcome_clear)

static Outcome
run_program (const char *first, ...)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) argv = g_ptr_array_new_with_free_func (g_free);
  Outcome outcome = {0};
  va_list words;
  g_ptr_array_add (argv,
                   g_build_filename (g_getenv ("ASSAY_BUILD_DIR"), "engine", "assay-engine", NULL));
  va_start (words, first);
  for (const char *word = first; word; word = va_arg (words, const char *))
    g_ptr_array_add (argv, g_strdup (word));
  va_end (words);
  g_ptr_array_add (argv, NULL);
  g_autoptr (GSubprocess) process =
      g_subprocess_newv ((const char *const *) argv->pdata,
                         G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error);
  g_assert_no_error (error);
  g_assert_true (
      g_subprocess_communicate_utf8 (process, NULL, NULL, &outcome.out, &outcome.err, &error));
  g_assert_true (g_subprocess_get_if_exited (process));
  outcome.status = g_subprocess_get_exit_status (process);
  return outcome;
}

static char *
write_array (const char *name, const double *values, gint64 count)
{
  g_autoptr (GError) error = NULL;
  char *path = g_build_filename (folder, name, NULL);
  g_autoptr (AssayArray) array = assay_array_new (ASSAY_DTYPE_FLOAT32, &count, 1, &error);
  for (gint64 i = 0; i < count; i++)
    assay_array_set (array, (gsize) i, values[i]);
  g_assert_true (assay_array_save (array, path, &error));
  return path;
}

static void
test_help (void)
{
  static const char *const commands[] = {"run", "compare", "exec", "devices", "doctor", "serve"};
  g_auto (Outcome) all = run_program ("--help", NULL);
  g_assert_cmpint (all.status, ==, 0);
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_assert_nonnull (strstr (all.out, commands[i]));
      g_auto (Outcome) one = run_program (commands[i], "--help", NULL);
      g_assert_cmpint (one.status, ==, 0);
      g_assert_nonnull (strstr (one.out, "Usage:"));
      g_auto (Outcome) wrong = run_program (commands[i], "--no-such-option", NULL);
      g_assert_cmpint (wrong.status, ==, 2);
    }
  g_auto (Outcome) unknown = run_program ("dance", NULL);
  g_assert_cmpint (unknown.status, ==, 2);
  g_assert_nonnull (strstr (unknown.err, "dance"));
}

static void
test_compare (void)
{
  static const double right[] = {1, 2, 3, 4}, close[] = {1, 2, 3, 4.00001}, far[] = {1, 2, 3, 5};
  g_autofree char *reference = write_array ("r.npy", right, 4);
  g_autofree char *near = write_array ("n.npy", close, 4);
  g_autofree char *wrong = write_array ("w.npy", far, 4);
  g_autofree char *shorter = write_array ("s.npy", right, 3);
  g_auto (Outcome) accepted = run_program ("compare", near, reference, "--rtol", "1e-5", NULL);
  g_assert_cmpint (accepted.status, ==, 0);
  g_auto (Outcome) refused =
      run_program ("compare", wrong, reference, "--rtol", "1e-5", "--json", "-", NULL);
  g_assert_cmpint (refused.status, ==, 1);
  g_autoptr (JsonNode) node =
      assay_json_parse (refused.out, -1, &ASSAY_JSON_LIMITS_RECORD, "out", NULL);
  JsonObject *max_abs = assay_json_object (json_node_get_object (node), "max_abs");
  g_assert_cmpfloat (assay_json_double (max_abs, "value", 0), ==, 1);
  g_assert_cmpint (assay_json_int (max_abs, "index", 0), ==, 3);
  g_auto (Outcome) shape = run_program ("compare", shorter, reference, NULL);
  g_assert_cmpint (shape.status, ==, 2);
  g_auto (Outcome) rule = run_program ("compare", near, reference, "--rule", "vibes", NULL);
  g_assert_cmpint (rule.status, ==, 2);
  g_assert_nonnull (strstr (rule.err, "allclose"));
  g_auto (Outcome) missing = run_program ("compare", "/nonexistent.npy", reference, NULL);
  g_assert_cmpint (missing.status, ==, 2);
}

/* 64 codes of mxfp4 two to a byte, and two scales: raw data that says so itself. */
static char *
write_blocks (const char *name, guint8 code, guint8 scale)
{
  g_autofree char *file = g_strconcat (name, ".json", NULL);
  guint8 bytes[34] = {0};
  char *path = g_build_filename (folder, name, NULL);
  g_autofree char *beside = g_build_filename (folder, file, NULL);
  bytes[3] = code;
  bytes[32] = 127;
  bytes[33] = scale;
  g_assert_true (g_file_set_contents (path, (char *) bytes, sizeof bytes, NULL));
  g_assert_true (g_file_set_contents (
      beside, "{\"dtype\": \"mxfp4\", \"shape\": [64], \"packing\": \"low_first\"}", -1, NULL));
  return path;
}

static void
test_compare_blocks (void)
{
  g_autofree char *right = write_blocks ("r.bin", 0x04, 127);
  g_autofree char *wrong = write_blocks ("w.bin", 0x05, 126);
  g_auto (Outcome) accepted = run_program ("compare", right, right, NULL);
  g_assert_cmpint (accepted.status, ==, 0);
  g_auto (Outcome) refused = run_program ("compare", wrong, right, "--json", "-", NULL);
  g_assert_cmpint (refused.status, ==, 1);
  g_autoptr (JsonNode) node =
      assay_json_parse (refused.out, -1, &ASSAY_JSON_LIMITS_RECORD, "out", NULL);
  JsonObject *blocks = assay_json_object (json_node_get_object (node), "blocks");
  g_assert_cmpint (assay_json_int (blocks, "blocks", 0), ==, 2);
  g_assert_cmpint (assay_json_int (blocks, "other_scale", 0), ==, 1);
  g_assert_cmpint (assay_json_int (blocks, "max_steps", 0), ==, 1);
  g_assert_cmpint (assay_json_int (blocks, "max_steps_at", 0), ==, 6);
  g_assert_cmpfloat (assay_json_double (blocks, "max_error_of_amax", 0), ==, 1.0 / 3);
  JsonObject *max_abs = assay_json_object (json_node_get_object (node), "max_abs");
  g_assert_cmpfloat (assay_json_double (max_abs, "value", 0), ==, 1);
  g_auto (Outcome) unknown = run_program ("compare", right, right, "--blocks", "mxfp5", NULL);
  g_assert_cmpint (unknown.status, ==, 2);
  g_assert_nonnull (strstr (unknown.err, "nvfp4"));
  g_auto (Outcome) other = run_program ("compare", right, right, "--blocks", "nvfp4", NULL);
  g_assert_nonnull (strstr (other.err, "expected nvfp4, found mxfp4"));
}

/* Options that say nothing, or two things at once, are refused by name, before anything runs. */
static void
test_refuses_options (void)
{
  static const double values[] = {1, 2};
  g_autofree char *array = write_array ("o.npy", values, 2);
  const struct
  {
    const char *words[6];
    const char *text;
  } cases[] = {
      {{"run", "t", "--timeout", "0"}, "timeout: expected more than 0"},
      {{"run", "t", "--timeout", "-3"}, "found -3"},
      {{"run", "t", "--timeout", "nan"}, "found nan"},
      {{"run", "t", "--timeout", "inf"}, "at most 86400 seconds"},
      {{"run", "t", "--checks", ""}, "checks: expected a comma list of all, none"},
      {{"run", "t", "--checks", "race,"}, "found \"\""},
      {{"run", "t", "--checks", "rice"}, "found \"rice\""},
      {{"run", "t", "--out", "o", "--workspace", "w"}, "give one of them"},
      {{"run", "t", "--out", ""}, "--out: expected a folder"},
      {{"exec", "p.cu", "--timeout", "-1"}, "timeout: expected more than 0"},
      {{"exec", "p.cu", "--checks", ""}, "checks: expected a comma list"},
      {{"compare", array, array, "--atol", "-1"}, "tolerance.atol: expected a finite number"},
      {{"compare", array, array, "--rtol", "nan"}, "tolerance.rtol: expected a finite number"},
      {{"compare", array, array, "--matched-ratio", "2"}, "tolerance.matched_ratio"},
      {{"compare", array, array, "--ulp", "-1"}, "tolerance.ulp: expected 0 or more"},
      {{"sweep", "exp", "--threads", "-3"}, "threads: expected 1 to 1024"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *const *w = cases[i].words;
      g_auto (Outcome) refused = run_program (w[0], w[1], w[2], w[3], w[4], w[5], NULL);
      g_test_message ("%s %s %s: %s", w[0], w[2], w[3], refused.err);
      g_assert_cmpint (refused.status, ==, 2);
      g_assert_cmpstr (refused.out, ==, "");
      g_assert_nonnull (strstr (refused.err, cases[i].text));
    }
}

static void
test_devices (void)
{
  g_auto (Outcome) text = run_program ("devices", NULL);
  g_assert_cmpint (text.status, ==, 0);
  g_assert_nonnull (strstr (text.out, "virtual:sm_80"));
  g_auto (Outcome) json = run_program ("devices", "--json", "-", NULL);
  g_autoptr (JsonNode) node =
      assay_json_parse (json.out, -1, &ASSAY_JSON_LIMITS_RECORD, "out", NULL);
  g_assert_cmpuint (
      json_array_get_length (assay_json_array (json_node_get_object (node), "devices")), >, 3);
}

static void
test_run (void)
{
  if (fixture_why_not ())
    {
      g_test_skip (fixture_why_not ());
      return;
    }
  FixtureTask fixture = {.id = "cli"};
  g_autofree char *task = fixture_task (folder, &fixture);
  g_autofree char *out = g_build_filename (folder, "out", NULL);
  g_auto (Outcome) passed =
      run_program ("run", task, "--device", "virtual:sm_80", "--out", out, NULL);
  g_assert_cmpint (passed.status, ==, 0);
  g_assert_nonnull (strstr (passed.out, "PASSED"));
  g_assert_cmpstr (passed.err, ==, ""); /* no terminal, no progress */
  g_autofree char *record = g_build_filename (out, "run.json", NULL);
  g_assert_true (g_file_test (record, G_FILE_TEST_EXISTS));

  FixtureTask silent = {.id = "cli_silent", .symbol = "silent"};
  g_autofree char *bad = fixture_task (folder, &silent);
  g_auto (Outcome) failed =
      run_program ("run", bad, "-d", "virtual:sm_80", "-w", folder, "--json", "-", NULL);
  g_assert_cmpint (failed.status, ==, 1);
  g_autoptr (JsonNode) node =
      assay_json_parse (failed.out, -1, &ASSAY_JSON_LIMITS_RECORD, "out", NULL);
  g_assert_cmpstr (assay_json_string (json_node_get_object (node), "format"), ==, "assay-run");
}

static const char PROGRAM[] =
    "#include <cstdio>\n#include <cstdlib>\n#include <cuda_runtime.h>\n"
    "__global__ void reverse (float *x)\n{\n  __shared__ float s[64];\n"
    "  int t = threadIdx.x;\n  s[t] = x[t];\n  BARRIER\n  x[t] = s[63 - t];\n}\n"
    "int main (int argc, char **argv)\n{\n  cudaDeviceProp p;\n"
    "  float h[64], *d;\n  for (int i = 0; i < 64; i++) h[i] = i;\n"
    "  cudaGetDeviceProperties (&p, 0);\n  cudaMalloc (&d, sizeof h);\n"
    "  cudaMemcpy (d, h, sizeof h, cudaMemcpyHostToDevice);\n  reverse<<<1, 64>>> (d);\n"
    "  cudaMemcpy (h, d, sizeof h, cudaMemcpyDefault);\n  cudaFree (d);\n"
    "  printf (\"cc %d.%d, first %g, %s\\n\", p.major, p.minor, h[0], argv[1]);\n"
    "  if (argc > 2) exit (atoi (argv[2]));\n  return 0;\n}\n";

/* A whole program on the virtual GPU: what it prints, how it ends, and what the checkers see when its
 * barrier is missing. */
static void
test_exec (void)
{
  g_autofree char *home = g_build_filename (folder, "virtual", NULL);
  g_autofree char *path = g_build_filename (folder, "reverse.cu", NULL);
  g_autoptr (AssayToolkit) toolkit = assay_toolkit_find (NULL);
  if (fixture_why_not () || !toolkit->nvcc)
    {
      g_test_skip (fixture_why_not () ? fixture_why_not () : "no nvcc");
      return;
    }
  g_autofree char *before = g_strdup (g_getenv ("ASSAY_LIBEXEC"));
  fixture_libexec (home, FALSE);
  g_assert_true (g_file_set_contents (path, PROGRAM, -1, NULL));
  g_auto (Outcome) sound =
      run_program ("exec", "-X", "-DBARRIER=__syncthreads();", path, "word", NULL);
  g_assert_cmpint (sound.status, ==, 0);
  g_assert_nonnull (strstr (sound.out, "cc 8.0, first 63, word\n"));
  g_auto (Outcome) status = run_program ("exec", "-X", "-DBARRIER=__syncthreads();", "--target",
                                         "sm_90", path, "--", "word", "5", NULL);
  g_assert_cmpint (status.status, ==, 5);
  g_assert_nonnull (strstr (status.out, "cc 9.0"));
  g_assert_nonnull (strstr (status.err, "exit status 5, 0 reports"));
  g_auto (Outcome) racing = run_program ("exec", "-X", "-DBARRIER=", path, "word", NULL);
  g_assert_cmpint (racing.status, ==, 1);
  g_assert_nonnull (strstr (racing.err, "race.shared in reverse at reverse.cu:"));
  g_assert_nonnull (strstr (racing.out, "cc 8.0, first"));
  g_auto (Outcome) broken = run_program ("exec", path, NULL);
  g_assert_cmpint (broken.status, ==, 2);
  g_assert_nonnull (strstr (broken.err, "BARRIER"));
  g_setenv ("ASSAY_LIBEXEC", before, TRUE);
}

/* What cannot be written is said, and no success; a folder stands where a file should go. */
static void
test_run_unsaved (void)
{
  static const char *const parts[] = {"counters.json", "arrays/small-y-candidate.npy"};
  if (fixture_why_not ())
    {
      g_test_skip (fixture_why_not ());
      return;
    }
  FixtureTask fixture = {.id = "cli_unsaved"};
  g_autofree char *task = fixture_task (folder, &fixture);
  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_autofree char *out = g_strdup_printf ("%s/unsaved-%d", folder, (int) i);
      g_autofree char *blocked = g_build_filename (out, parts[i], "inside", NULL);
      g_assert_cmpint (g_mkdir_with_parents (blocked, 0700), ==, 0);
      g_auto (Outcome) run = run_program ("run", task, "-d", "virtual:sm_80", "-o", out, NULL);
      g_assert_cmpint (run.status, ==, 2);
      g_assert_nonnull (strstr (run.out, "not saved in full"));
      g_assert_nonnull (strstr (run.out, parts[i]));
    }
  /* A device that is full: said, and still a device. */
  g_auto (Outcome) full = run_program ("devices", "--json", "/dev/full", NULL);
  g_assert_cmpint (full.status, ==, 2);
  g_assert_false (g_file_test ("/dev/full", G_FILE_TEST_IS_REGULAR));
}

static void
test_run_impossible (void)
{
  FixtureTask fixture = {.id = "cli_device"};
  g_autofree char *task = fixture_task (folder, &fixture);
  g_auto (Outcome) device = run_program ("run", task, "-d", "cuda:9", "-w", folder, NULL);
  g_assert_cmpint (device.status, ==, 2);
  g_auto (Outcome) nothing = run_program ("run", NULL);
  g_assert_cmpint (nothing.status, ==, 2);
}

static void
test_interrupt (void)
{
  g_autoptr (GError) error = NULL;
  FixtureTask fixture = {.id = "cli_hang", .symbol = "hang"};
  if (fixture_why_not ())
    {
      g_test_skip (fixture_why_not ());
      return;
    }
  g_autofree char *task = fixture_task (folder, &fixture);
  g_autofree char *program =
      g_build_filename (g_getenv ("ASSAY_BUILD_DIR"), "engine", "assay-engine", NULL);
  g_autoptr (GSubprocess) process =
      g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE, &error, program, "run", task, "-d",
                        "virtual:sm_80", "-w", folder, "--timeout", "100", NULL);
  g_assert_no_error (error);
  while (fixture_workers_alive () == 0)
    g_usleep (10000);
  g_subprocess_send_signal (process, SIGINT);
  g_assert_true (g_subprocess_wait (process, NULL, &error));
  g_assert_cmpint (g_subprocess_get_exit_status (process), ==, 2);
  g_assert_cmpuint (fixture_workers_alive (), ==, 0);
}

/* A report of ncu's own format goes through ncu: absent, refusing, and working, each said. */
static void
test_imports (void)
{
  static const struct
  {
    const char *script, *words;
    int status;
  } tools[] = {
      {NULL, "install Nsight Compute", 2},
      {"#!/bin/sh\necho 'corrupt report' >&2\nexit 1\n", "corrupt report", 2},
      {"#!/bin/sh\necho '\"ID\",\"Kernel Name\",\"a\"'\necho ',,\"us\"'\necho "
       "'\"0\",\"k\",\"2.5\"'\n",
       "2.5e-06", 0},
  };
  g_autofree char *report = g_build_filename (folder, "run.ncu-rep", NULL);
  g_autofree char *log = g_build_filename (folder, "memcheck.log", NULL);
  g_autofree char *bin = g_build_filename (folder, "bin", NULL);
  g_autofree char *tool = g_build_filename (bin, "ncu", NULL);
  g_autofree char *before = g_strdup (g_getenv ("PATH"));
  g_autofree char *path = g_strconcat (bin, ":/usr/bin:/bin", NULL);
  g_assert_true (g_file_set_contents (report, "NVR", -1, NULL));
  g_assert_cmpint (g_mkdir_with_parents (bin, 0755), ==, 0);
  g_setenv ("PATH", path, TRUE);
  for (gsize i = 0; i < G_N_ELEMENTS (tools); i++)
    {
      if (tools[i].script)
        g_assert_true (g_file_set_contents_full (tool, tools[i].script, -1,
                                                 G_FILE_SET_CONTENTS_NONE, 0755, NULL));
      g_auto (Outcome) outcome = run_program ("import-counters", report, NULL);
      g_assert_cmpint (outcome.status, ==, tools[i].status);
      g_assert_true (strstr (outcome.out, tools[i].words) || strstr (outcome.err, tools[i].words));
    }
  g_setenv ("PATH", before, TRUE);
  g_assert_true (g_file_set_contents (log,
                                      "========= Invalid __global__ read of size 4 bytes\n"
                                      "=========     at k(int)+0x1 in k.cu:3\n",
                                      -1, NULL));
  g_auto (Outcome) found = run_program ("import-sanitizer", log, "--json", "-", NULL);
  g_assert_cmpint (found.status, ==, 1);
  g_assert_nonnull (strstr (found.out, "mem.out-of-bounds"));
  g_auto (Outcome) none = run_program ("import-sanitizer", report, NULL);
  g_assert_cmpint (none.status, ==, 2);
  g_assert_nonnull (strstr (none.err, "expected lines that begin with"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  folder = fixture_folder ();
  g_autofree char *cache = g_build_filename (folder, "cache", NULL);
  g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  fixture_libexec (folder, TRUE);
  g_test_add_func ("/cli/help", test_help);
  g_test_add_func ("/cli/compare", test_compare);
  g_test_add_func ("/cli/compare-blocks", test_compare_blocks);
  g_test_add_func ("/cli/refuses-options", test_refuses_options);
  g_test_add_func ("/cli/devices", test_devices);
  g_test_add_func ("/cli/run", test_run);
  g_test_add_func ("/cli/exec", test_exec);
  g_test_add_func ("/cli/run-unsaved", test_run_unsaved);
  g_test_add_func ("/cli/run-impossible", test_run_impossible);
  g_test_add_func ("/cli/imports", test_imports);
  g_test_add_func ("/cli/interrupt", test_interrupt);
  int status = g_test_run ();
  fixture_remove (folder);
  return status;
}
