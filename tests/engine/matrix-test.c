/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/engine/fixture.h"

#include "engine/device/nvrtc.h"
#include "engine/device/toolkit.h"
#include "engine/run/frameworks.h"
#include "engine/run/job.h"
#include "engine/run/matrix.h"
#include "engine/run/resources.h"

#include <dlfcn.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static char *folder;

static AssayMatrix *
make (const char *subject, const char *targets)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) list = targets ? g_strsplit (targets, ",", -1) : NULL;
  AssayMatrixRequest request = {.subject = subject, .targets = list, .consent_unsandboxed = TRUE};
  AssayMatrix *matrix = assay_matrix_make (&request, NULL, &error);
  g_assert_no_error (error);
  return matrix;
}

static const AssayMatrixCell *
cell_of (const AssayMatrix *matrix, const char *kernel, const char *target)
{
  for (guint i = 0; i < matrix->cells->len; i++)
    {
      const AssayMatrixCell *cell = g_ptr_array_index (matrix->cells, i);
      if (g_str_equal (cell->base.target, target)
          && (!kernel || g_str_equal (cell->kernel, kernel)))
        return cell;
    }
  return NULL;
}

/* ---- figures, against ptxas as a program of its own ---- */

/* NVRTC opens its builtins by name alone; in a folder that the loader does not know they must be there
 * already. */
static void
load_builtins (const char *nvrtc)
{
  g_autofree char *lib = g_path_get_dirname (nvrtc);
  g_autoptr (GDir) dir = g_dir_open (lib, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name (dir));)
    if (g_str_has_prefix (name, "libnvrtc-builtins.so."))
      {
        g_autofree char *path = g_build_filename (lib, name, NULL);
        dlopen (path, RTLD_NOW | RTLD_GLOBAL);
      }
}

/* PTX of `path` for `target`, made in this process with the options that workers use. */
static char *
ptx_of (const char *path, const char *target)
{
  g_autoptr (AssayToolkit) toolkit = assay_toolkit_find (NULL);
  g_autofree char *arch = g_strdup_printf ("--gpu-architecture=%s", target);
  g_autofree char *source = NULL;
  g_autoptr (GPtrArray) options = g_ptr_array_new_with_free_func (g_free);
  AssayNvrtc nvrtc;
  AssayNvrtcProgram *program = NULL;
  gsize bytes = 0;
  load_builtins (toolkit->nvrtc);
  g_assert_true (assay_nvrtc_open (&nvrtc, toolkit->nvrtc, NULL));
  g_assert_true (g_file_get_contents (path, &source, NULL, NULL));
  g_ptr_array_add (options, g_strdup (arch));
  g_ptr_array_add (options, g_strdup ("-lineinfo"));
  g_ptr_array_add (options, g_strdup ("-default-device"));
  for (guint i = 0; toolkit->includes[i]; i++)
    g_ptr_array_add (options, g_strconcat ("-I", toolkit->includes[i], NULL));
  g_assert_cmpint (nvrtc.nvrtcCreateProgram (&program, source, path, 0, NULL, NULL), ==, 0);
  g_assert_cmpint (
      nvrtc.nvrtcCompileProgram (program, (int) options->len, (const char *const *) options->pdata),
      ==, 0);
  g_assert_cmpint (nvrtc.nvrtcGetPTXSize (program, &bytes), ==, 0);
  char *ptx = g_malloc0 (bytes + 1);
  g_assert_cmpint (nvrtc.nvrtcGetPTX (program, ptx), ==, 0);
  nvrtc.nvrtcDestroyProgram (&program);
  return ptx;
}

/* The text of `ptxas -v`. */
static char *
ask_ptxas (const char *ptx, const char *target)
{
  g_autoptr (AssayToolkit) toolkit = assay_toolkit_find (NULL);
  g_autofree char *input = g_build_filename (folder, "unit.ptx", NULL);
  g_autofree char *output = g_build_filename (folder, "unit.cubin", NULL);
  g_autofree char *bin = toolkit->nvcc ? g_path_get_dirname (toolkit->nvcc) : g_strdup ("");
  g_autofree char *ptxas = g_build_filename (bin, "ptxas", NULL);
  g_autofree char *arch = g_strconcat ("-arch=", target, NULL);
  const char *argv[] = {ptxas, "-v", arch, input, "-o", output, NULL};
  g_autoptr (GError) error = NULL;
  char *text = NULL;
  g_assert_true (g_file_set_contents (input, ptx, -1, NULL));
  g_spawn_sync (NULL, (char **) argv, NULL, 0, NULL, NULL, NULL, &text, NULL, &error);
  g_assert_no_error (error);
  return text;
}

static gint
compare_rows (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

static void
add_row (GPtrArray *rows, gint64 registers, gint64 shared, gint64 stores, gint64 loads,
         gint64 stack)
{
  g_ptr_array_add (rows, g_strdup_printf ("%" G_GINT64_FORMAT " registers %" G_GINT64_FORMAT
                                          " smem %" G_GINT64_FORMAT "/%" G_GINT64_FORMAT
                                          " spilled %" G_GINT64_FORMAT " stack",
                                          registers, shared, stores, loads, stack));
}

static gint64
number (const char *block, const char *pattern)
{
  g_autoptr (GRegex) regex = g_regex_new (pattern, 0, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  if (!g_regex_match (regex, block, 0, &match))
    return 0;
  g_autofree char *digits = g_match_info_fetch (match, 1);
  return g_ascii_strtoll (digits, NULL, 10);
}

static guint
compare_with_ptxas (const char *file, const char *target)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "vgpu", "kernels", file, NULL);
  g_autoptr (AssayMatrix) matrix = make (path, target);
  g_autofree char *ptx = ptx_of (path, target);
  g_autofree char *said = ask_ptxas (ptx, target);
  g_auto (GStrv) blocks = g_strsplit (said, "Compiling entry function", -1);
  g_autoptr (GPtrArray) ours = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) theirs = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 1; blocks[i]; i++)
    add_row (theirs, number (blocks[i], "Used (\\d+) registers"),
             number (blocks[i], "(\\d+) bytes smem"),
             number (blocks[i], "(\\d+) bytes spill stores"),
             number (blocks[i], "(\\d+) bytes spill loads"),
             number (blocks[i], "(\\d+) bytes stack frame"));
  for (guint i = 0; i < matrix->cells->len; i++)
    {
      const AssayMatrixCell *cell = g_ptr_array_index (matrix->cells, i);
      g_assert_cmpint (cell->base.status, ==, ASSAY_STATUS_PASSED);
      add_row (ours, cell->base.registers, cell->base.shared_bytes, cell->base.spill_store_bytes,
               cell->base.spill_load_bytes, cell->base.stack_bytes);
    }
  g_ptr_array_sort (ours, compare_rows);
  g_ptr_array_sort (theirs, compare_rows);
  g_assert_cmpuint (ours->len, ==, theirs->len);
  for (guint i = 0; i < ours->len; i++)
    g_assert_cmpstr (g_ptr_array_index (ours, i), ==, g_ptr_array_index (theirs, i));
  return ours->len;
}

/* Every architecture that the compiler knows. */
static void
test_figures_are_those_of_ptxas (void)
{
  static const char *const FILES[] = {"basic.cu", "driver.cu", "faults.cu"};
  g_autoptr (AssayToolkit) toolkit = assay_toolkit_find (NULL);
  AssayNvrtc nvrtc;
  int count = 0;
  g_assert_true (assay_nvrtc_open (&nvrtc, toolkit->nvrtc, NULL));
  g_assert_cmpint (nvrtc.nvrtcGetNumSupportedArchs (&count), ==, 0);
  g_autofree int *archs = g_new0 (int, count);
  g_assert_cmpint (nvrtc.nvrtcGetSupportedArchs (archs), ==, 0);
  for (int t = 0; t < count; t++)
    {
      g_autofree char *target = g_strdup_printf ("sm_%d", archs[t]);
      guint kernels = 0;
      for (gsize i = 0; i < G_N_ELEMENTS (FILES); i++)
        kernels += compare_with_ptxas (FILES[i], target);
      g_assert_cmpuint (kernels, >=, 40);
    }
}

static void
test_targets_are_those_of_the_compiler (void)
{
  g_autoptr (AssayToolkit) toolkit = assay_toolkit_find (NULL);
  g_autofree char *task = fixture_task (folder, &(FixtureTask) {.id = "every"});
  g_autoptr (AssayMatrix) matrix = make (task, NULL);
  AssayNvrtc nvrtc;
  int count = 0;
  g_assert_true (assay_nvrtc_open (&nvrtc, toolkit->nvrtc, NULL));
  g_assert_cmpint (nvrtc.nvrtcGetNumSupportedArchs (&count), ==, 0);
  g_autofree int *archs = g_new0 (int, count);
  g_assert_cmpint (nvrtc.nvrtcGetSupportedArchs (archs), ==, 0);
  g_assert_cmpuint (matrix->cells->len, ==, (guint) count);
  for (int i = 0; i < count; i++)
    {
      const AssayMatrixCell *cell = g_ptr_array_index (matrix->cells, (guint) i);
      g_autofree char *name = g_strdup_printf ("sm_%d", archs[i]);
      g_assert_cmpstr (cell->base.target, ==, name);
      g_assert_cmpint (cell->base.status, ==, ASSAY_STATUS_PASSED);
      g_assert_cmpstr (cell->kernel, ==, "doubled");
      g_assert_nonnull (cell->ptx_version);
    }
  /* 256 threads of few registers fill a multiprocessor. */
  const AssayMatrixCell *a100 = cell_of (matrix, "doubled", "sm_80");
  g_assert_cmpfloat (a100->occupancy, ==, 1.0);
  g_assert_cmpint (a100->threads, ==, 256);
  g_assert_cmpstr (a100->limited_by, ==, "warps");
}

static void
test_an_instruction_of_one_architecture (void)
{
  FixtureTask wgmma = {
      .id = "wgmma",
      .kernel = "extern \"C\" __global__ void doubled (const float *x, float *y, int n)\n"
                "{\n  asm volatile (\"wgmma.fence.sync.aligned;\");\n  y[0] = 2 * x[0];\n}\n",
  };
  g_autofree char *task = fixture_task (folder, &wgmma);
  g_autoptr (AssayMatrix) matrix = make (task, "sm_80,sm_90,sm_90a");
  const AssayMatrixCell *old = cell_of (matrix, NULL, "sm_80");
  g_assert_cmpstr (old->base.failure, ==, "ARCH_MISMATCH");
  g_assert_cmpstr (old->blame, ==, "candidate");
  g_assert_nonnull (strstr (old->message, "wgmma"));
  g_assert_cmpint (cell_of (matrix, NULL, "sm_90")->base.status, ==, ASSAY_STATUS_FAILED);
  g_assert_cmpint (cell_of (matrix, NULL, "sm_90a")->base.status, ==, ASSAY_STATUS_PASSED);
}

static void
test_an_architecture_that_the_compiler_lacks (void)
{
  g_autofree char *task = fixture_task (folder, &(FixtureTask) {.id = "older"});
  g_autoptr (AssayMatrix) matrix = make (task, "sm_70");
  const AssayMatrixCell *cell = cell_of (matrix, NULL, "sm_70");
  g_assert_cmpstr (cell->base.failure, ==, "ARCH_MISMATCH");
  g_assert_cmpstr (cell->blame, ==, "environment");
}

static void
test_a_launch_that_a_target_refuses (void)
{
  FixtureTask wide = {.id = "wide", .block = "[2048]"};
  g_autofree char *task = fixture_task (folder, &wide);
  g_autoptr (AssayMatrix) matrix = make (task, "sm_80");
  const AssayMatrixCell *cell = cell_of (matrix, NULL, "sm_80");
  g_assert_cmpint (cell->base.status, ==, ASSAY_STATUS_FAILED);
  g_assert_cmpstr (cell->base.failure, ==, "LAUNCH_CONFIG");
  g_assert_nonnull (strstr (cell->message, "2048"));
  g_assert_cmpfloat (cell->occupancy, ==, 0);
}

/* (transfer full): the folder of a compiler that knows sm_70, sm_75 and sm_80, and dies on the last. */
static char *
plant_toolkit (const char *name)
{
  char *root = g_build_filename (folder, name, NULL);
  g_autofree char *lib = g_build_filename (root, "lib64", NULL);
  g_autofree char *copy = g_build_filename (lib, "libnvrtc.so.9", NULL);
  g_autofree char *built = g_test_build_filename (G_TEST_BUILT, "engine", "libfakenvrtc.so", NULL);
  g_autofree char *library = NULL;
  gsize bytes = 0;
  g_assert_cmpint (g_mkdir_with_parents (lib, 0700), ==, 0);
  g_assert_true (g_file_get_contents (built, &library, &bytes, NULL));
  g_assert_true (g_file_set_contents (copy, library, (gssize) bytes, NULL));
  return root;
}

/* The compiler of this test dies on sm_80: its other targets are still told. */
static void
test_a_compiler_that_dies_loses_one_cell (void)
{
  g_autofree char *task = fixture_task (folder, &(FixtureTask) {.id = "dying"});
  g_autofree char *root = plant_toolkit ("toolkit");
  g_autofree char *before = g_strdup (g_getenv ("ASSAY_TOOLKIT"));
  g_setenv ("ASSAY_TOOLKIT", root, TRUE);
  g_autoptr (AssayMatrix) matrix = make (task, NULL);
  if (before)
    g_setenv ("ASSAY_TOOLKIT", before, TRUE);
  else
    g_unsetenv ("ASSAY_TOOLKIT");
  g_assert_cmpuint (matrix->cells->len, ==, 3);
  const AssayMatrixCell *fine = cell_of (matrix, NULL, "sm_75");
  g_assert_cmpint (fine->base.registers, ==, 21);
  g_assert_cmpint (fine->base.shared_bytes, ==, 512);
  g_assert_cmpint (fine->base.spill_store_bytes, ==, 8);
  g_assert_cmpint (fine->base.spill_load_bytes, ==, 4);
  g_assert_cmpint (fine->base.stack_bytes, ==, 16);
  g_assert_cmpint (fine->warnings, ==, 1);
  g_assert_cmpstr (fine->ptx_version, ==, "6.0");
  const AssayMatrixCell *dead = cell_of (matrix, NULL, "sm_80");
  g_assert_cmpint (dead->base.status, ==, ASSAY_STATUS_FAILED);
  g_assert_cmpstr (dead->base.failure, ==, "CRASH");
  g_assert_cmpstr (dead->blame, ==, "undecided");
}

/* The second axis: another compiler beside the usual one has cells of its own, under its own name; the same one
 * under another name has none. */
static void
test_several_compilers_stand_side_by_side (void)
{
  g_autoptr (AssayToolkit) usual = assay_toolkit_find (NULL);
  g_autofree char *task = fixture_task (folder, &(FixtureTask) {.id = "several"});
  g_autofree char *other = plant_toolkit ("toolkit-9");
  g_autofree char *alias = g_build_filename (folder, "alias", NULL);
  g_autofree char *list = g_strjoin (":", other, alias, "/nonexistent", NULL);
  guint own = 0;
  g_assert_cmpint (symlink (usual->root, alias), ==, 0);
  g_setenv ("ASSAY_TOOLKITS", list, TRUE);
  g_autoptr (AssayMatrix) matrix = make (task, "sm_75");
  g_unsetenv ("ASSAY_TOOLKITS");
  g_assert_cmpstr (matrix->toolkits[0], ==, usual->root);
  g_assert_true (g_strv_contains ((const char *const *) matrix->toolkits, other));
  g_assert_false (g_strv_contains ((const char *const *) matrix->toolkits, alias));
  g_assert_cmpuint (matrix->cells->len, ==, g_strv_length (matrix->toolkits));
  for (guint i = 0; i < matrix->cells->len; i++)
    {
      const AssayMatrixCell *cell = g_ptr_array_index (matrix->cells, i);
      gboolean second = g_str_equal (cell->toolkit, other);
      own += second;
      g_assert_true (g_str_equal (cell->compiler, "NVRTC 9.0") == second);
      g_assert_true ((cell->base.registers == 21) == second);
    }
  g_assert_cmpuint (own, ==, 1);
  g_autoptr (JsonNode) node = assay_json_table_write (&ASSAY_MATRIX_TABLE, matrix);
  g_autoptr (AssayMatrix) again = assay_json_table_read (&ASSAY_MATRIX_TABLE, node, "", NULL, NULL);
  g_assert_cmpstr (again->toolkits[1], ==, matrix->toolkits[1]);
}

/* ---- frameworks and pins ---- */

static void
test_versions_fit_as_packages_are_asked_for (void)
{
  static const struct
  {
    const char *version, *wanted;
    gboolean fits;
  } known[] = {
      {"3.4.0", "3.4.0", TRUE},       {"3.4.1", "3.4", TRUE},
      {"3.40.0", "3.4", FALSE},       {"3.4.1", "==3.4.*", TRUE},
      {"3.4.1", "==3.4.0", FALSE},    {"2.10.0", ">=2.9", TRUE},
      {"2.9.0", ">=2.9,<2.10", TRUE}, {"2.10.1", ">=2.9,<2.10", FALSE},
      {"2.6.0+cu126", "2.6.0", TRUE}, {"2.6.0+cu126", "2.6.0+cu124", FALSE},
      {"1.26.4", "~=1.25", TRUE},     {"2.0.0", "~=1.25", FALSE},
      {"1.4", "!=1.4", FALSE},        {"1.5", "> 1.4", TRUE},
      {"1.4.0", "<=1.4", TRUE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (known); i++)
    {
      g_test_message ("%s %s", known[i].version, known[i].wanted);
      g_assert_true (assay_version_fits (known[i].version, known[i].wanted) == known[i].fits);
    }
}

/* A stand-in for an interpreter says what it has; the task's pins are held against it, in the matrix and as a
 * finding of a run. */
static void
test_pins_are_held_against_what_is_installed (void)
{
  g_autofree char *python = g_build_filename (folder, "python3", NULL);
  g_autofree char *task = fixture_task (folder, &(FixtureTask) {.id = "pinned"});
  g_autoptr (GError) error = NULL;
  const char *script = "#!/bin/sh\necho python 3.11.7\necho triton 3.1.0\necho torch 2.9.0+cu130\n";
  g_assert_true (
      g_file_set_contents_full (python, script, -1, G_FILE_SET_CONTENTS_NONE, 0755, NULL));
  fixture_extend (task, "{\"environment\":{\"pins\":{\"triton\":\"3.4.0\",\"torch\":\">=2.8\","
                        "\"jaxlib-of-nobody\":\"1\"}}}");
  g_setenv ("ASSAY_PYTHONS", python, TRUE);
  g_autoptr (AssayMatrix) matrix = make (task, "sm_80");
  AssayJobRequest request = {.task = task, .device = "virtual:sm_80", .workspace = folder};
  g_autoptr (AssayJob) job = assay_job_new (&request, &error);
  g_assert_no_error (error);
  assay_job_start (job);
  assay_job_join (job);
  g_unsetenv ("ASSAY_PYTHONS");
  const AssayRun *run = assay_job_run (job);
  guint told = 0;
  g_assert_cmpuint (matrix->pins->len, ==, 3);
  for (guint i = 0; i < matrix->pins->len; i++)
    {
      const AssayPin *pin = g_ptr_array_index (matrix->pins, i);
      g_assert_true (pin->met == g_str_equal (pin->name, "torch"));
      g_assert_true ((pin->found == NULL) == g_str_equal (pin->name, "jaxlib-of-nobody"));
    }
  for (guint i = 0; i < run->findings->len; i++)
    {
      const AssayFinding *finding = g_ptr_array_index (run->findings, i);
      gboolean pin = g_str_equal (finding->rule, "env.api-version");
      told += pin;
      g_assert_true (!pin || strstr (finding->title, "triton 3.4.0")
                     || strstr (finding->title, "not installed"));
      g_assert_true (!pin || finding->blame == ASSAY_BLAME_ENVIRONMENT);
    }
  g_assert_cmpuint (told, ==, 2);
}

static void
test_what_cannot_be_read_is_an_error (void)
{
  g_autoptr (GError) error = NULL;
  AssayMatrixRequest request = {.subject = "/nonexistent/task", .consent_unsandboxed = TRUE};
  g_assert_null (assay_matrix_make (&request, NULL, &error));
  g_assert_nonnull (strstr (error->message, "/nonexistent/task"));
}

static void
test_cancelling_ends_the_compilers (void)
{
  g_autofree char *task = fixture_task (folder, &(FixtureTask) {.id = "cancelled"});
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  AssayMatrixRequest request = {.subject = task, .consent_unsandboxed = TRUE};
  g_cancellable_cancel (cancellable);
  g_assert_null (assay_matrix_make (&request, cancellable, &error));
  g_assert_nonnull (error);
  g_assert_cmpuint (fixture_workers_alive (), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  folder = fixture_folder ();
  fixture_libexec (folder, FALSE);
  const char *why_not = fixture_why_not ();
  if (why_not)
    g_error ("these tests need a compiler: %s", why_not);
  g_test_add_func ("/matrix/ptxas", test_figures_are_those_of_ptxas);
  g_test_add_func ("/matrix/targets", test_targets_are_those_of_the_compiler);
  g_test_add_func ("/matrix/instruction", test_an_instruction_of_one_architecture);
  g_test_add_func ("/matrix/old", test_an_architecture_that_the_compiler_lacks);
  g_test_add_func ("/matrix/launch", test_a_launch_that_a_target_refuses);
  g_test_add_func ("/matrix/dying", test_a_compiler_that_dies_loses_one_cell);
  g_test_add_func ("/matrix/several", test_several_compilers_stand_side_by_side);
  g_test_add_func ("/matrix/versions", test_versions_fit_as_packages_are_asked_for);
  g_test_add_func ("/matrix/pins", test_pins_are_held_against_what_is_installed);
  g_test_add_func ("/matrix/unreadable", test_what_cannot_be_read_is_an_error);
  g_test_add_func ("/matrix/cancel", test_cancelling_ends_the_compilers);
  int status = g_test_run ();
  fixture_remove (folder);
  g_free (folder);
  return status;
}
