/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/engine/fixture.h"

#include "engine/base/json.h"
#include "engine/device/toolkit.h"
#include "engine/sandbox/preflight.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const char RIGHT_REFERENCE[] =
    "void reference (const REAL *x, REAL *y, int64_t n)\n"
    "{\n  for (int64_t i = 0; i < n; i++)\n    y[i] = 2 * x[i];\n}\n";

static void
write_file (const char *folder, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static char *
manifest (const FixtureTask *task, const char *symbol)
{
  const char *dtype = task->dtype ? task->dtype : "float32";
  return g_strdup_printf (
      "{\"format\":\"assay-task\",\"version\":1,\"id\":\"%s\",\"title\":\"Twice\","
      "\"category\":\"generation\",\"spec\":\"spec.md\","
      "\"license\":{\"id\":\"Apache-2.0\",\"training_allowed\":\"yes\"},"
      "\"axes\":{\"n\":{\"type\":\"var\"}},"
      "\"inputs\":{\"x\":{\"dtype\":\"%s\",\"shape\":[\"n\"]}},"
      "\"outputs\":{\"y\":{\"dtype\":\"%s\",\"shape\":[\"n\"]}},"
      "\"reference\":{\"language\":\"c\",\"sources\":[\"reference.c\"],\"entry\":\"reference\","
      "\"arguments\":[\"x\",\"y\",\"n\"]},"
      "\"candidates\":[{\"name\":\"only\",\"framework\":\"cuda\",\"sources\":[\"kernel.cu\"],"
      "\"entry\":{\"kind\":\"%s\",\"symbol\":\"%s\",\"arguments\":[\"x\",\"y\",\"n\"]%s%s%s%s}}],"
      "\"workloads\":[{\"name\":\"small\",\"axes\":{\"n\":%" G_GINT64_FORMAT
      "},\"seed\":1,\"use\":[\"check\"],"
      "\"inputs\":{\"x\":{\"type\":\"random\",\"distribution\":\"normal\"}}}],"
      "\"tolerance\":{\"rule\":\"allclose\",\"atol\":0,\"rtol\":1e-6,\"justification\":\"exact\"},"
      "\"targets\":[\"cuda:sm_80\"]}\n",
      task->id, dtype, dtype, task->host ? "host" : "kernel", symbol,
      task->host ? "" : ",\"grid\":",
      task->host   ? ""
      : task->grid ? task->grid
                   : "[\"ceil_div(n, 256)\"]",
      task->host ? "" : ",\"block\":",
      task->host    ? ""
      : task->block ? task->block
                    : "[256]",
      task->n ? task->n : (gint64) 1000);
}

char *
fixture_task (const char *parent, const FixtureTask *task)
{
  const char *symbol = task->symbol ? task->symbol : "doubled";
  char *folder = g_build_filename (parent, task->id, NULL);
  g_autofree char *text = task->manifest ? g_strdup (task->manifest) : manifest (task, symbol);
  g_autofree char *right = g_strdup_printf (
      "extern \"C\" __global__ void %s (const float *x, float *y, int n)\n{\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n)\n    y[i] = 2 * x[i];\n}\n",
      symbol);
  g_assert_cmpint (g_mkdir_with_parents (folder, 0755), ==, 0);
  write_file (folder, "task.json", text);
  write_file (folder, "spec.md", "y is twice x.\n");
  write_file (folder, "reference.c", task->reference ? task->reference : RIGHT_REFERENCE);
  write_file (folder, "kernel.cu", task->kernel ? task->kernel : right);
  return folder;
}

void
fixture_adopt (void)
{
  prctl (PR_SET_CHILD_SUBREAPER, 1);
}

char *
fixture_folder (void)
{
  g_autoptr (GError) error = NULL;
  char *folder = g_dir_make_tmp ("assay-test-XXXXXX", &error);
  fixture_adopt ();
  g_assert_no_error (error);
  return folder;
}

void
fixture_remove (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name (dir));)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      if (g_file_test (path, G_FILE_TEST_IS_DIR) && !g_file_test (path, G_FILE_TEST_IS_SYMLINK))
        fixture_remove (path);
      else
        g_unlink (path);
    }
  g_rmdir (folder);
}

static void
link_library (const char *build, const char *drivers, const char *room, const char *name)
{
  g_autofree char *library = g_build_filename (build, "engine", "vgpu", room, name, NULL);
  g_autofree char *link = g_build_filename (drivers, name, NULL);
  g_assert_cmpint (symlink (library, link), ==, 0);
}

void
fixture_libexec (const char *folder, gboolean fake)
{
  const char *build = g_getenv ("ASSAY_BUILD_DIR");
  g_autofree char *libexec = g_build_filename (folder, "libexec", NULL);
  g_autofree char *drivers = g_build_filename (libexec, "driver", NULL);
  g_autofree char *worker = g_build_filename (libexec, "assay-worker", NULL);
  g_autofree char *built = g_build_filename (build, "engine", "assay-worker", NULL);
  g_autofree char *driver = g_build_filename (drivers, "libcuda.so.1", NULL);
  g_autofree char *library =
      fake ? g_test_build_filename (G_TEST_BUILT, "engine", "libfakecuda.so", NULL)
           : g_build_filename (build, "engine", "vgpu", "driver", "libcuda.so.1", NULL);
  g_assert_cmpint (g_mkdir_with_parents (drivers, 0755), ==, 0);
  g_assert_cmpint (symlink (built, worker), ==, 0);
  g_assert_cmpint (symlink (library, driver), ==, 0);
  link_library (build, drivers, "runtime", "libcudart.so.13");
  link_library (build, drivers, "blas", "libcublas.so.13");
  link_library (build, drivers, "blas", "libcublasLt.so.13");
  g_setenv ("ASSAY_LIBEXEC", libexec, TRUE);
  g_setenv ("ASSAY_CUDA_DRIVER", driver, TRUE);
  g_autofree char *data = g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "data", NULL);
  g_setenv ("ASSAY_DATA", data, TRUE);
}

const char *
fixture_why_not (void)
{
  static char *reason;
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayToolkit) toolkit = assay_toolkit_find (&error);
  if (!toolkit && !reason)
    reason = g_strdup (error->message);
  return !toolkit ? reason : assay_sandbox_preflight ()->reason;
}

static gboolean
runs (const char *pid, const char *program)
{
  g_autofree char *path = g_build_filename ("/proc", pid, "cmdline", NULL);
  g_autofree char *text = NULL;
  return g_file_get_contents (path, &text, NULL, NULL) && g_str_equal (text, program);
}

static guint
count_below (const char *pid, const char *program)
{
  guint count = runs (pid, program);
  g_autofree char *tasks = g_build_filename ("/proc", pid, "task", NULL);
  g_autoptr (GDir) dir = g_dir_open (tasks, 0, NULL);
  for (const char *task; dir && (task = g_dir_read_name (dir));)
    {
      g_autofree char *path = g_build_filename (tasks, task, "children", NULL);
      g_autofree char *text = NULL;
      if (!g_file_get_contents (path, &text, NULL, NULL))
        continue;
      g_auto (GStrv) children = g_strsplit (g_strstrip (text), " ", -1);
      for (guint i = 0; children[i] && children[i][0]; i++)
        count += count_below (children[i], program);
    }
  return count;
}

guint
fixture_alive (const char *program)
{
  g_autofree char *self = g_strdup_printf ("%d", getpid ());
  return count_below (self, program);
}

guint
fixture_workers_alive (void)
{
  return fixture_alive ("/assay/worker");
}

void
fixture_extend (const char *task, const char *extra)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (task, "task.json", NULL);
  g_autoptr (JsonNode) node = assay_json_load (path, &ASSAY_JSON_LIMITS_TASK, &error);
  g_autoptr (JsonNode) more = json_from_string (extra, &error);
  g_assert_no_error (error);
  JsonObject *object = json_node_get_object (node);
  g_autoptr (GList) members = json_object_get_members (json_node_get_object (more));
  for (GList *l = members; l; l = l->next)
    json_object_set_member (
        object, l->data,
        json_node_copy (json_object_get_member (json_node_get_object (more), l->data)));
  g_assert_true (assay_json_save (node, path, &error));
}

void
fixture_start (const char *task, const char *symbol, const char *source)
{
  g_autofree char *path = g_build_filename (task, "start.cu", NULL);
  g_autofree char *extra = g_strdup_printf (
      "{\"starting_point\":{\"name\":\"start\",\"framework\":\"cuda\",\"sources\":[\"start.cu\"],"
      "\"entry\":{\"kind\":\"kernel\",\"symbol\":\"%s\",\"arguments\":[\"x\",\"y\",\"n\"],"
      "\"grid\":[\"ceil_div(n, 256)\"],\"block\":[256]}}}",
      symbol);
  g_assert_true (g_file_set_contents (path, source, -1, NULL));
  fixture_extend (task, extra);
}
