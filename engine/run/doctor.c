/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/doctor.h"

#include "engine/base/json.h"
#include "engine/device/installation.h"
#include "engine/device/tools.h"
#include "engine/run/devices.h"
#include "engine/sandbox/preflight.h"
#include "engine/sandbox/tree.h"

#include <stdlib.h>
#include <string.h>

/* `text` (transfer full). */
static AssayCheck *
add (GPtrArray *checks, const char *area, const char *name, AssayCheckState state, char *text,
     const char *advice)
{
  AssayCheck *check = assay_check_new ();
  check->area = g_strdup (area);
  check->name = g_strdup (name);
  check->state = state;
  check->text = text;
  check->advice = g_strdup (advice);
  g_ptr_array_add (checks, check);
  return check;
}

static AssayCheckState
needed (gboolean there)
{
  return there ? ASSAY_CHECK_WORKS : ASSAY_CHECK_FAILS;
}

static AssayCheckState
optional (gboolean there)
{
  return there ? ASSAY_CHECK_WORKS : ASSAY_CHECK_ABSENT;
}

/* ---- sandbox and our own parts ---- */

static void
check_file (GPtrArray *checks, const char *name, gboolean data, const char *file)
{
  g_autoptr (GError) error = NULL;
  char *path = data ? assay_data_path (file, &error) : assay_libexec_path (file, &error);
  add (checks, "Assay", name, needed (path != NULL), path ? path : g_strdup (error->message), NULL);
}

static void
check_sandbox (GPtrArray *checks)
{
  const AssaySandboxPreflight *preflight = assay_sandbox_preflight ();
  add (checks, "Sandbox", "sandbox", needed (preflight->works),
       g_strdup (preflight->works ? preflight->tier : preflight->reason),
       preflight->works ? NULL : preflight->advice);
  add (checks, "Sandbox", "memory limit", ASSAY_CHECK_WORKS, g_strdup (assay_group_describe ()),
       NULL);
}

/* ---- compilers ---- */

/* "13.0" from "#define CUDART_VERSION 13000" of the toolkit's own headers; NULL without them. */
static char *
header_version (const AssayToolkit *toolkit)
{
  static const char mark[] = "#define CUDART_VERSION";
  g_autofree char *path = toolkit->includes && toolkit->includes[0]
                              ? g_build_filename (toolkit->includes[0], "cuda_runtime_api.h", NULL)
                              : NULL;
  g_autofree char *text = NULL;
  if (!path || !g_file_get_contents (path, &text, NULL, NULL))
    return NULL;
  const char *at = strstr (text, mark);
  gint64 version = at ? g_ascii_strtoll (at + strlen (mark), NULL, 10) : 0;
  return version ? g_strdup_printf ("%d.%d", (int) version / 1000, (int) version % 1000 / 10)
                 : NULL;
}

/* Or out of the name that libnvrtc.so.13 leads to, "libnvrtc.so.13.0.88". */
static char *
toolkit_version (const AssayToolkit *toolkit)
{
  char *told = header_version (toolkit);
  g_autofree char *real = told ? NULL : realpath (toolkit->nvrtc, NULL);
  const char *at = real ? strstr (real, ".so.") : NULL;
  g_auto (GStrv) parts = g_strsplit (at ? at + strlen (".so.") : "", ".", -1);
  if (told || !parts[0] || !parts[0][0])
    return told;
  return parts[1] ? g_strdup_printf ("%s.%s", parts[0], parts[1]) : g_strdup (parts[0]);
}

static void
check_compilers (GPtrArray *checks, const AssayToolkit *toolkit, const GError *error)
{
  g_autofree char *version = toolkit ? toolkit_version (toolkit) : NULL;
  const char *nvcc = toolkit ? toolkit->nvcc : NULL;
  char *cc = g_find_program_in_path ("cc");
  add (checks, "Compilers", "CUDA compiler", needed (toolkit != NULL),
       toolkit ? g_strdup_printf ("NVRTC %s, %s", version ? version : "of unknown version",
                                  toolkit->nvrtc)
               : g_strdup (error->message),
       toolkit ? NULL : "Install a CUDA toolkit, or let tools/setup fetch NVIDIA's compiler.");
  add (checks, "Compilers", "nvcc", optional (nvcc != NULL), g_strdup (nvcc ? nvcc : "not found"),
       nvcc ? NULL : "Candidates and programs with host code need it.");
  add (checks, "Compilers", "C compiler", needed (cc != NULL), cc ? cc : g_strdup ("cc not found"),
       cc ? NULL : "Install gcc or clang: references are C.");
}

/* ---- devices ---- */

static int
as_number (const char *version)
{
  char *end = NULL;
  guint64 major = version ? g_ascii_strtoull (version, &end, 10) : 0;
  guint64 minor = end && *end == '.' ? g_ascii_strtoull (end + 1, NULL, 10) : 0;
  return (int) (major * 1000 + minor * 10);
}

static void
check_driver (GPtrArray *checks, const AssayToolkit *toolkit)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayNvmlReading) reading = assay_devices_reading (&error);
  g_autofree char *made_by = toolkit ? toolkit_version (toolkit) : NULL;
  if (!reading)
    {
      add (checks, "Devices", "driver", ASSAY_CHECK_ABSENT, g_strdup (error->message),
           "Without a driver everything runs on the virtual GPU, and nothing is timed.");
      return;
    }
  gboolean older =
      made_by && reading->cuda_version && as_number (reading->cuda_version) < as_number (made_by);
  add (checks, "Devices", "driver", older ? ASSAY_CHECK_WARNS : ASSAY_CHECK_WORKS,
       g_strdup_printf ("driver %s runs CUDA up to %s%s%s%s",
                        reading->driver ? reading->driver : "of unknown version",
                        reading->cuda_version ? reading->cuda_version : "?",
                        older ? "; the toolkit is " : "", older ? made_by : "",
                        older ? ", whose PTX it refuses" : ""),
       older ? "Install a newer driver, or name an older toolkit in ASSAY_TOOLKIT." : NULL);
}

static void
describe_gpu (GString *text, const AssayGpuState *gpu, gboolean *warn)
{
  g_auto (GStrv) none = g_new0 (char *, 1);
  char **throttle = gpu->throttle ? gpu->throttle : none;
  guint processes = gpu->processes->len;
  if (gpu->memory_total_bytes)
    g_string_append_printf (text, ", %.1f of %.1f GiB free",
                            (double) gpu->memory_free_bytes / (1 << 30),
                            (double) gpu->memory_total_bytes / (1 << 30));
  if (gpu->sm_clock_mhz >= 0)
    g_string_append_printf (text, ", %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " MHz",
                            gpu->sm_clock_mhz, gpu->sm_clock_max_mhz);
  if (gpu->power_watts >= 0)
    g_string_append_printf (text, ", %.0f of %.0f W", gpu->power_watts, gpu->power_limit_watts);
  if (gpu->temperature_celsius >= 0)
    g_string_append_printf (text, ", %.0f °C", gpu->temperature_celsius);
  for (guint i = 0; throttle[i]; i++)
    g_string_append_printf (text, "%s%s", i ? ", " : "; slowed by ", throttle[i]);
  if (processes)
    g_string_append_printf (text, "; %u other process%s", processes, processes == 1 ? "" : "es");
  if (gpu->mig == 1)
    g_string_append (text, "; divided into MIG instances");
  *warn = throttle[0] || processes || gpu->mig == 1;
}

static void
check_devices (GPtrArray *checks)
{
  g_autoptr (GPtrArray) devices = assay_devices_list ();
  for (guint i = 0; i < devices->len; i++)
    {
      const AssayDevice *device = g_ptr_array_index (devices, i);
      g_autoptr (GString) text = g_string_new (device->name);
      gboolean warn = FALSE;
      if (!g_str_equal (device->kind, "cuda"))
        continue;
      if (device->target)
        g_string_append_printf (text, " (%s)", device->target);
      if (device->gpu)
        describe_gpu (text, device->gpu, &warn);
      if (!device->available)
        g_string_assign (text, device->reason);
      add (checks, "Devices", device->id,
           !device->available ? ASSAY_CHECK_ABSENT
           : warn             ? ASSAY_CHECK_WARNS
                              : ASSAY_CHECK_WORKS,
           g_string_free (g_steal_pointer (&text), FALSE),
           warn ? "Results hold; times taken now would not. Free the device before a benchmark."
                : NULL);
    }
}

/* ---- profilers ---- */

/* "RmProfilingAdminOnly: 1" in the driver's parameters: counters are for root. */
static void
check_counters (GPtrArray *checks)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents ("/proc/driver/nvidia/params", &text, NULL, NULL))
    return;
  gboolean closed = strstr (text, "RmProfilingAdminOnly: 1") != NULL;
  add (checks, "Profilers", "counters", closed ? ASSAY_CHECK_WARNS : ASSAY_CHECK_WORKS,
       g_strdup (closed ? "performance counters are for administrators only"
                        : "performance counters may be read"),
       closed ? "Load the module with NVreg_RestrictProfilingToAdminUsers=0, or profile as root."
              : NULL);
}

static void
check_profilers (GPtrArray *checks, const AssayToolkit *toolkit)
{
  for (gsize i = 0; ASSAY_TOOLS[i]; i++)
    {
      char *path = assay_tool_find (toolkit, ASSAY_TOOLS[i]);
      const char *advice = path ? NULL : assay_tool_advice (ASSAY_TOOLS[i]);
      add (checks, "Profilers", ASSAY_TOOLS[i], optional (path != NULL),
           path ? path : g_strdup ("not found"), advice);
    }
  check_counters (checks);
}

/* ---- Python ---- */

static const char VERSIONS[] = "import sys, importlib.metadata as m\n"
                               "print('python', sys.version.split()[0])\n"
                               "for n in ('numpy','torch','triton','jax','neuronx-cc','nki'):\n"
                               "    try: print(n, m.version(n))\n"
                               "    except m.PackageNotFoundError: pass\n";

static void
check_python (GPtrArray *checks)
{
  g_autofree char *python = g_find_program_in_path ("python3");
  g_autofree char *text = NULL;
  const char *argv[] = {python, "-c", VERSIONS, NULL};
  gboolean ran = python
                 && g_spawn_sync ("/", (char **) argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                                  &text, NULL, NULL, NULL);
  g_auto (GStrv) lines = g_strsplit (ran ? g_strchomp (text) : "", "\n", -1);
  g_autofree char *list = g_strjoinv (", ", lines);
  add (checks, "Python", "python3", optional (ran && lines[0]),
       ran ? g_strdup_printf ("%s: %s", python, list) : g_strdup ("not found"),
       ran ? NULL : "Reading .py tasks needs Python 3.9 or newer.");
}

GPtrArray *
assay_doctor_examine (void)
{
  GPtrArray *checks = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_check_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayToolkit) toolkit = assay_toolkit_find (&error);
  check_sandbox (checks);
  check_file (checks, "worker", FALSE, "assay-worker");
  check_file (checks, "virtual GPU", FALSE, "driver/libcuda.so.1");
  check_file (checks, "reference header", TRUE, "reference/assay_reference.h");
  check_compilers (checks, toolkit, error);
  check_driver (checks, toolkit);
  check_devices (checks);
  check_profilers (checks, toolkit);
  check_python (checks);
  return checks;
}

gboolean
assay_doctor_is_healthy (GPtrArray *checks)
{
  for (guint i = 0; i < checks->len; i++)
    if (((AssayCheck *) g_ptr_array_index (checks, i))->state == ASSAY_CHECK_FAILS)
      return FALSE;
  return TRUE;
}

JsonNode *
assay_doctor_to_json (GPtrArray *checks)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *object = json_object_new ();
  JsonArray *list = json_array_new ();
  for (guint i = 0; i < checks->len; i++)
    json_array_add_element (
        list, assay_json_table_write (&ASSAY_CHECK_TABLE, g_ptr_array_index (checks, i)));
  json_object_set_array_member (object, "checks", list);
  json_object_set_boolean_member (object, "healthy", assay_doctor_is_healthy (checks));
  json_node_take_object (node, object);
  return node;
}
