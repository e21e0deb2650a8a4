/* SPDX-License-Identifier: Apache-2.0 */
/* Whole programs, compiled by nvcc and linked with the toolkit's shared runtime, run on the virtual GPU's
 * driver and runtime, which stand in front by LD_PRELOAD. Each checks itself. */
#include "tests/vgpu/harness.h"

#include <dlfcn.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>

static char *folder;

static const char *
find_nvcc (void)
{
  const AssayToolkit *toolkit = test_toolkit ();
  if (toolkit && toolkit->nvcc)
    return toolkit->nvcc;
  g_test_skip ("no nvcc");
  return NULL;
}

typedef struct
{
  const char *name;     /* of the test, and of the source */
  const char *sources;  /* more of them */
  const char *options;  /* of nvcc, beside the usual ones */
  const char *settings; /* of the virtual GPU */
  const char *argument;
  const char *header; /* that some toolkits lack: without it the program is skipped */
} Program;

static gboolean
has_header (const char *header)
{
  const AssayToolkit *toolkit = test_toolkit ();
  for (guint i = 0; toolkit->includes[i]; i++)
    {
      g_autofree char *path = g_build_filename (toolkit->includes[i], header, NULL);
      if (g_file_test (path, G_FILE_TEST_EXISTS))
        return TRUE;
    }
  g_autofree char *why = g_strdup_printf ("no %s in the toolkit", header);
  g_test_skip (why);
  return FALSE;
}

static void
run (char **words, char **environment, char **out, char **err, int *status)
{
  g_autoptr (GError) error = NULL;
  g_spawn_sync (NULL, words, environment, G_SPAWN_SEARCH_PATH, NULL, NULL, out, err, status,
                &error);
  g_assert_no_error (error);
}

/* The program's path; it is compiled once. */
static char *
build (const char *nvcc, const Program *program)
{
  g_autofree char *key =
      g_strdup_printf ("%s%s", program->name, program->options ? program->options : "");
  for (char *c = key; *c != '\0'; c++)
    *c = g_ascii_isalnum (*c) ? *c : '_';
  char *path = g_build_filename (folder, key, NULL);
  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return path;
  const char *source = g_getenv ("ASSAY_SOURCE_DIR");
  g_autofree char *command = g_strdup_printf (
      "%s -I%s -L%s/engine/vgpu/driver -cudart shared -gencode arch=compute_80,code=compute_80 "
      "-lineinfo -std=c++17 %s "
      "%s/tests/vgpu/programs/%s.cu %s%s%s -o %s",
      nvcc, source, g_getenv ("ASSAY_BUILD_DIR"), program->options ? program->options : "", source,
      program->name, program->sources ? source : "",
      program->sources ? "/tests/vgpu/programs/" : "", program->sources ? program->sources : "",
      path);
  g_auto (GStrv) words = g_strsplit (g_strstrip (command), " ", -1);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  for (char **word = words; *word; word++)
    if (**word != '\0')
      g_strv_builder_add (builder, *word);
  g_auto (GStrv) arguments = g_strv_builder_end (builder);
  g_autofree char *out = NULL, *err = NULL;
  int status;
  run (arguments, NULL, &out, &err, &status);
  if (status != 0)
    g_error ("nvcc: %s%s", out, err);
  return path;
}

/* What a program wrote, and how it ended. */
typedef struct
{
  char *out, *err;
  int status;
} Outcome;

static void
clear_outcome (Outcome *outcome)
{
  g_free (outcome->out);
  g_free (outcome->err);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Outcome, clear_outcome)

static Outcome
run_on_vgpu (const char *path, const Program *program)
{
  Outcome outcome = {0};
  const char *vgpu = g_getenv ("ASSAY_BUILD_DIR");
  Dl_info sanitizer = {0};
  const void *start = dlsym (RTLD_DEFAULT, "__asan_init");
  if (start)
    dladdr (start, &sanitizer);
  g_autofree char *preload =
      g_strdup_printf ("%s %s/engine/vgpu/driver/libcuda.so.1 "
                       "%s/engine/vgpu/runtime/libcudart.so.13 "
                       "%s/engine/vgpu/blas/libcublas.so.13 "
                       "%s/engine/vgpu/blas/libcublasLt.so.13",
                       start ? sanitizer.dli_fname : "", vgpu, vgpu, vgpu, vgpu);
  g_autofree char *settings =
      g_strdup_printf ("print=stdout;%s", program->settings ? program->settings : "");
  g_auto (GStrv) environment = g_get_environ ();
  environment = g_environ_setenv (environment, "LD_PRELOAD", preload, TRUE);
  environment = g_environ_setenv (environment, "ASSAY_VGPU", settings, TRUE);
  if (start)
    environment =
        g_environ_setenv (environment, "ASAN_OPTIONS", "detect_leaks=0:handle_abort=0", TRUE);
  char *words[] = {(char *) path, (char *) program->argument, NULL};
  run (words, environment, &outcome.out, &outcome.err, &outcome.status);
  return outcome;
}

static void
test_program (gconstpointer data)
{
  const Program *program = data;
  const char *nvcc = find_nvcc ();
  if (!nvcc || (program->header && !has_header (program->header)))
    return;
  g_autofree char *path = build (nvcc, data);
  g_auto (Outcome) outcome = run_on_vgpu (path, data);
  g_assert_cmpstr (outcome.err, ==, "");
  g_assert_cmpstr (outcome.out, ==, "fine\n");
  g_assert_cmpint (outcome.status, ==, 0);
}

/* Reports are there whichever way a program ends. */
static void
test_reports (void)
{
  static const struct
  {
    const char *argument, *rule;
    int status; /* as waitpid has it */
  } cases[] = {
      {"unchecked", "\"rule\":\"launch.unchecked-error\"", 0},
      {"leaves", "\"rule\":\"mem.out-of-bounds\"", 7 << 8},
      {"crashes", "\"rule\":\"mem.out-of-bounds\"", SIGABRT},
  };
  const char *nvcc = find_nvcc ();
  if (!nvcc)
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const Program program = {"reports", .argument = cases[i].argument, .settings = "report_fd=2"};
      g_autofree char *path = build (nvcc, &program);
      g_auto (Outcome) outcome = run_on_vgpu (path, &program);
      g_assert_nonnull (strstr (outcome.err, cases[i].rule));
      g_assert_cmpint (outcome.status, ==, cases[i].status);
    }
}

/* The static runtime cannot be served, and the way out is told. */
static void
test_static_runtime (void)
{
  const Program program = {"basics", .options = "-cudart static"};
  const char *nvcc = find_nvcc ();
  if (!nvcc)
    return;
  g_autofree char *path = build (nvcc, &program);
  g_auto (Outcome) outcome = run_on_vgpu (path, &program);
  g_assert_nonnull (strstr (outcome.err, "NVCC_APPEND_FLAGS=\"-cudart shared\""));
  g_assert_cmpint (outcome.status, ==, 125 << 8);
}

static const Program programs[] = {
    {"basics"},
    {"basics", .options = "--no-compress"},
    {"basics", .options = "--compress-mode=speed"},
    {"errors"},
    {"layouts"},
    {"driver-api", .options = "-l:libcuda.so.1"},
    {"times", .settings = "time=model"},
    {"streams", .argument = "now"},
    {"streams", .argument = "later", .settings = "streams=late"},
    {"calls"},
    {"calls", .settings = "checks=all"},
    {"algorithms", .header = "curand_kernel.h"},
    {"algorithms", .settings = "checks=all", .header = "curand_kernel.h"},
    {"textures"},
    {"textures", .settings = "checks=all"},
    {"surfaces"},
    {"surfaces", .settings = "checks=all;streams=late"},
    {"members"},
    {"grids"},
    {"grids", .settings = "checks=all"},
    {"graphs"},
    {"graphs", .settings = "streams=late"},
    {"graphs", .settings = "streams=thread"},
    {"blas", .options = "-lcublas -lcublasLt", .header = "cublas_v2.h"},
    {"parts", .sources = "parts-other.cu", .options = "-rdc=true"},
};

static void
remove_folder (void)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name (dir));)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_remove (path);
    }
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("assay-programs-XXXXXX", NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (programs); i++)
    {
      const char *options = programs[i].options, *settings = programs[i].settings;
      g_autofree char *name =
          g_strdup_printf ("/programs/%s%s%s%s%s", programs[i].name, options ? "/" : "",
                           options ? options : "", settings ? "/" : "", settings ? settings : "");
      g_test_add_data_func (name, &programs[i], test_program);
    }
  g_test_add_func ("/programs/reports", test_reports);
  g_test_add_func ("/programs/static-runtime", test_static_runtime);
  int status = g_test_run ();
  remove_folder ();
  return status;
}
