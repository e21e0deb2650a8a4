/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/engine/fixture.h"

#include "engine/base/error.h"
#include "engine/device/nvml.h"
#include "engine/run/devices.h"
#include "engine/run/doctor.h"

#include <string.h>

#define UUID "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"

static char *folder, *library;

static AssayNvmlReading *
read_now (double seconds, GError **error)
{
  return assay_nvml_read (library, seconds, error);
}

static void
test_figures_have_units (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayNvmlReading) reading = read_now (5, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (reading->driver, ==, "550.54.15");
  g_assert_cmpstr (reading->cuda_version, ==, "12.4");
  g_assert_cmpuint (reading->devices->len, ==, 2);
  const AssayGpuState *other = g_ptr_array_index (reading->devices, 0);
  const AssayGpuState *state = g_ptr_array_index (reading->devices, 1);
  g_assert_cmpstr (state->uuid, ==, UUID);
  g_assert_cmpstr (state->target, ==, "sm_80");
  g_assert_cmpuint (state->memory_total_bytes, ==, 80ull << 30);
  g_assert_cmpuint (state->memory_free_bytes, ==, 79ull << 30);
  g_assert_cmpint (state->sm_clock_mhz, ==, 1200);
  g_assert_cmpint (state->sm_clock_max_mhz, ==, 1410);
  g_assert_cmpfloat (state->power_watts, ==, 399.5);
  g_assert_cmpfloat (state->temperature_celsius, ==, 71);
  g_assert_cmpuint (g_strv_length (state->throttle), ==, 1);
  g_assert_cmpstr (state->throttle[0], ==, "power cap, software");
  g_assert_cmpuint (state->processes->len, ==, 2);
  g_assert_cmpint (((AssayGpuProcess *) g_ptr_array_index (state->processes, 0))->pid, ==, 4711);
  g_assert_cmpuint (((AssayGpuProcess *) g_ptr_array_index (state->processes, 1))->memory_bytes, ==,
                    0);
  /* What a device does not tell, and what the library does not have. */
  g_assert_cmpfloat (other->power_watts, ==, -1);
  g_assert_cmpint (other->mig, ==, 1);
  g_assert_cmpint (state->performance_state, ==, -1);
}

static void
test_older_names_serve (void)
{
  g_setenv ("ASSAY_FAKE_NVML", "old", TRUE);
  g_autoptr (AssayNvmlReading) reading = read_now (5, NULL);
  g_unsetenv ("ASSAY_FAKE_NVML");
  const AssayGpuState *state = g_ptr_array_index (reading->devices, 1);
  g_assert_cmpstr (state->throttle[0], ==, "thermal slowdown, hardware");
}

static void
test_what_fails_says_why (void)
{
  g_autoptr (GError) absent = NULL, mismatch = NULL, late = NULL;
  g_assert_null (assay_nvml_read ("/nonexistent/libnvidia-ml.so.1", 5, &absent));
  g_assert_error (absent, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND);
  g_setenv ("ASSAY_FAKE_NVML", "version", TRUE);
  g_assert_null (read_now (5, &mismatch));
  g_assert_error (mismatch, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (mismatch->message, "Driver/library version mismatch"));
  g_setenv ("ASSAY_FAKE_NVML", "hang", TRUE);
  g_assert_null (read_now (0.2, &late));
  g_unsetenv ("ASSAY_FAKE_NVML");
  g_assert_error (late, ASSAY_ERROR, ASSAY_ERROR_LOST);
}

/* The fake driver's device is the second one of NVML. */
static void
test_devices_are_matched_by_identity (void)
{
  g_autoptr (GPtrArray) devices = assay_devices_list ();
  const AssayDevice *device = g_ptr_array_index (devices, devices->len - 1);
  g_assert_cmpstr (device->id, ==, "cuda:0");
  g_assert_cmpstr (device->uuid, ==, UUID);
  g_assert_nonnull (device->gpu);
  g_assert_cmpstr (device->gpu->name, ==, "Fake GPU");
  g_assert_null (((AssayDevice *) g_ptr_array_index (devices, 0))->gpu);
}

static const AssayCheck *
check_of (GPtrArray *checks, const char *name)
{
  for (guint i = 0; i < checks->len; i++)
    if (g_str_has_prefix (((AssayCheck *) g_ptr_array_index (checks, i))->name, name))
      return g_ptr_array_index (checks, i);
  g_error ("the doctor does not look at %s", name);
}

static void
test_the_doctor_sees_what_a_benchmark_would_suffer (void)
{
  g_autoptr (GPtrArray) checks = assay_doctor_examine ();
  const AssayCheck *device = check_of (checks, "cuda:0");
  g_assert_cmpint (device->state, ==, ASSAY_CHECK_WARNS);
  g_assert_nonnull (strstr (device->text, "power cap"));
  g_assert_nonnull (strstr (device->text, "2 other processes"));
  const AssayCheck *driver = check_of (checks, "driver");
  g_assert_cmpint (driver->state, ==, ASSAY_CHECK_WARNS);
  g_assert_nonnull (strstr (driver->text, "12.4"));
  g_assert_nonnull (driver->advice);
  g_assert_cmpint (check_of (checks, "sandbox")->state, ==, ASSAY_CHECK_WORKS);
}

static void
test_the_doctor_names_what_is_missing (void)
{
  g_autofree char *before = g_strdup (g_getenv ("ASSAY_TOOLKIT"));
  g_setenv ("ASSAY_TOOLKIT", folder, TRUE);
  g_autoptr (GPtrArray) checks = assay_doctor_examine ();
  if (before)
    g_setenv ("ASSAY_TOOLKIT", before, TRUE);
  else
    g_unsetenv ("ASSAY_TOOLKIT");
  const AssayCheck *compiler = check_of (checks, "CUDA compiler");
  g_assert_cmpint (compiler->state, ==, ASSAY_CHECK_FAILS);
  g_assert_nonnull (strstr (compiler->text, folder));
  g_assert_false (assay_doctor_is_healthy (checks));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  folder = fixture_folder ();
  fixture_libexec (folder, TRUE);
  const char *why_not = fixture_why_not ();
  if (why_not)
    g_error ("these tests need a sandbox and a compiler: %s", why_not);
  library = g_test_build_filename (G_TEST_BUILT, "engine", "libfakenvml.so", NULL);
  g_setenv ("ASSAY_NVML", library, TRUE);
  g_test_add_func ("/nvml/figures", test_figures_have_units);
  g_test_add_func ("/nvml/older", test_older_names_serve);
  g_test_add_func ("/nvml/fails", test_what_fails_says_why);
  g_test_add_func ("/nvml/identity", test_devices_are_matched_by_identity);
  g_test_add_func ("/doctor/device", test_the_doctor_sees_what_a_benchmark_would_suffer);
  g_test_add_func ("/doctor/missing", test_the_doctor_names_what_is_missing);
  int status = g_test_run ();
  fixture_remove (folder);
  g_free (folder);
  g_free (library);
  return status;
}
