/* SPDX-License-Identifier: Apache-2.0 */
/* The table of hardware against arithmetic: ridge points as published, and peaks from the number of
 * units, what a unit does a clock, and the clock. */
#include "engine/base/error.h"
#include "engine/perf/hardware.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static char *
shipped_path (void)
{
  return g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "data", "hardware.json", NULL);
}

static AssayHardware *
shipped (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = shipped_path ();
  AssayHardware *hardware = assay_hardware_load (path, NULL, &error);
  g_assert_no_error (error);
  return hardware;
}

/* Operations a byte of memory, three digits. */
static const struct
{
  const char *device, *pipe, *ridge;
} RIDGES[] = {
    {"V100 SXM2", "float32", "17.4"},        {"A100 SXM 80GB", "float32", "9.56"},
    {"A100 SXM", "tfloat32_tensor", "76.5"}, {"A100 SXM", "bfloat16_tensor", "153"},
    {"H100 SXM", "float32", "20"},           {"H100 SXM", "bfloat16_tensor", "295"},
    {"H100 SXM", "float8_tensor", "591"},    {"H200", "bfloat16_tensor", "206"},
    {"B200", "bfloat16_tensor", "281"},      {"L4", "bfloat16_tensor", "403"},
    {"T4", "float16_tensor", "203"},         {"MI300X", "bfloat16_tensor", "247"},
    {"trn2", "bfloat16_tensor", "230"},      {"TPU v5e", "bfloat16_tensor", "240"},
    {"TPU v6e", "bfloat16_tensor", "560"},
};

static void
test_ridge_points (void)
{
  g_autoptr (AssayHardware) hardware = shipped ();
  for (gsize i = 0; i < G_N_ELEMENTS (RIDGES); i++)
    {
      const AssayHardwareDevice *device = assay_hardware_find (hardware, RIDGES[i].device);
      g_assert_nonnull (device);
      g_autofree char *ridge =
          g_strdup_printf ("%.3g", assay_hardware_ridge (device, RIDGES[i].pipe, "memory"));
      g_test_message ("%s %s: %s", RIDGES[i].device, RIDGES[i].pipe, ridge);
      g_assert_cmpstr (ridge, ==, RIDGES[i].ridge);
    }
  const AssayHardwareDevice *v100 = assay_hardware_find (hardware, "V100 SXM2");
  g_assert_true (isnan (assay_hardware_ridge (v100, "bfloat16_tensor", "memory")));
  g_assert_true (isnan (assay_hardware_ridge (v100, "float32", "l2")));
}

/* A multiprocessor's operations a clock, two a multiply and add: lanes of float32 and float64, and the
 * tensor cores' products. */
static const struct
{
  const char *device, *pipe;
  double operations;
} PER_CLOCK[] = {
    {"V100 SXM2", "float64", 64},          {"V100 SXM2", "float32", 128},
    {"V100 SXM2", "float16_tensor", 1024}, {"T4", "float32", 128},
    {"T4", "float16_tensor", 1024},        {"A100 SXM", "float64", 64},
    {"A100 SXM", "float64_tensor", 128},   {"A100 SXM", "float32", 128},
    {"A100 SXM", "tfloat32_tensor", 1024}, {"A100 SXM", "bfloat16_tensor", 2048},
    {"A100 SXM", "float16_tensor", 2048},  {"A100 SXM", "int8_tensor", 4096},
    {"H100 SXM", "float32", 256},          {"H100 SXM", "tfloat32_tensor", 2048},
    {"H100 SXM", "bfloat16_tensor", 4096}, {"H100 SXM", "float16_tensor", 4096},
    {"H100 SXM", "float8_tensor", 8192},   {"H200", "int8_tensor", 8192},
};

static void
test_peaks_follow_from_units_and_clock (void)
{
  g_autoptr (AssayHardware) hardware = shipped ();
  for (gsize i = 0; i < G_N_ELEMENTS (PER_CLOCK); i++)
    {
      const AssayHardwareDevice *device = assay_hardware_find (hardware, PER_CLOCK[i].device);
      const AssayHardwarePeak *peak = assay_hardware_peak (device, PER_CLOCK[i].pipe);
      double expected = (double) device->units * PER_CLOCK[i].operations * peak->clock_hertz;
      g_test_message ("%s %s: %g, from the clock %g", device->name, peak->name,
                      peak->operations_per_second, expected);
      g_assert_cmpfloat (fabs (peak->operations_per_second / expected - 1), <, 0.01);
      g_assert_cmpfloat (assay_hardware_peak_at (peak, peak->clock_hertz / 2), ==,
                         peak->operations_per_second / 2);
    }
}

static void
test_names_are_unambiguous_and_sourced (void)
{
  g_autoptr (AssayHardware) hardware = shipped ();
  for (guint i = 0; i < hardware->devices->len; i++)
    {
      const AssayHardwareDevice *device = g_ptr_array_index (hardware->devices, i);
      const AssayHardwareLevel *memory = assay_hardware_level (device, "memory");
      g_assert_true (assay_hardware_find (hardware, device->name) == device);
      for (char **alias = device->aliases; *alias; alias++)
        g_assert_true (assay_hardware_find (hardware, *alias) == device);
      g_assert_nonnull (strchr (device->target, ':'));
      g_assert_cmpuint (device->peaks->len, >, 0);
      g_assert_cmpuint (memory->bytes, >, 0);
      g_assert_cmpfloat (memory->bytes_per_second, >, 1e11);
    }
  g_assert_null (assay_hardware_find (hardware, "Voodoo 2"));
  const AssayHardwareDevice *turned = assay_hardware_find (hardware, "nvidia h100 80gb hbm3");
  g_assert_cmpstr (turned->name, ==, "H100 SXM");
  g_assert_true (
      assay_hardware_peak (assay_hardware_find (hardware, "B300"), "float32")->uncertain);
}

static AssayHardware *
with_own (const char *text, GError **error)
{
  g_autofree char *path = NULL, *base = shipped_path ();
  int fd = g_file_open_tmp ("assay-hardware-XXXXXX", &path, NULL);
  g_assert_true (g_close (fd, NULL));
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  AssayHardware *hardware = assay_hardware_load (base, path, error);
  g_unlink (path);
  return hardware;
}

#define HEAD                                                                                       \
  "{\"format\":\"assay-hardware\",\"version\":1,\"sources\":{\"me\":{\"title\":\"mine\"}},"

static void
test_own_devices_replace_and_add (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayHardware) both = with_own (
      HEAD
      "\"devices\":{\"H200\":{\"kind\":\"gpu\",\"target\":\"cuda:sm_90\",\"peaks\":{\"float32\":"
      "{\"operations_per_second\":6e13,\"source\":\"me\"}},\"levels\":{\"memory\":"
      "{\"bytes_per_second\":4e12,\"source\":\"me\"}}},\"Mine\":{\"kind\":\"accelerator\","
      "\"target\":\"x:y\",\"aliases\":[\"L4\"],\"peaks\":{},\"levels\":{}}}}",
      &error);
  g_assert_no_error (error);
  const AssayHardwareDevice *own = assay_hardware_find (both, "h200");
  g_assert_cmpfloat (assay_hardware_ridge (own, "float32", "memory"), ==, 15);
  g_assert_cmpstr (assay_hardware_source (both, "me"), ==, "mine");
  g_assert_nonnull (assay_hardware_source (both, "nvidia-h100"));
  g_assert_cmpstr (assay_hardware_find (both, "L4")->name, ==, "Mine");
  g_assert_nonnull (assay_hardware_find (both, "H100 SXM"));
  g_autofree char *base = shipped_path ();
  g_autoptr (AssayHardware) alone =
      assay_hardware_load (base, "/nonexistent/hardware.json", &error);
  g_assert_no_error (error);
  g_assert_nonnull (alone);
}

static void
test_what_is_no_such_table_is_refused (void)
{
  static const struct
  {
    const char *text, *part;
  } WRONG[] = {
      {"{", "assay-hardware-"},
      {"{\"format\":\"other\",\"version\":1,\"devices\":{}}", "format"},
      {"{\"format\":\"assay-hardware\",\"version\":2,\"devices\":{}}", "version"},
      {"{\"format\":\"assay-hardware\",\"version\":1}", "devices"},
      {HEAD "\"devices\":{\"a\":{\"kind\":\"gpu\",\"target\":\"x:y\",\"peaks\":{\"float32\":"
            "{\"operations_per_second\":-1,\"source\":\"me\"}},\"levels\":{}}}}",
       "devices.a.float32"},
      {HEAD "\"devices\":{\"a\":{\"kind\":\"gpu\",\"target\":\"x:y\",\"peaks\":{},\"levels\":"
            "{\"l2\":{\"bytes\":1,\"source\":\"you\"}}}}}",
       "devices.a.l2"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (WRONG); i++)
    {
      g_autoptr (GError) error = NULL;
      g_assert_null (with_own (WRONG[i].text, &error));
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, WRONG[i].part));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/hardware/ridge-points", test_ridge_points);
  g_test_add_func ("/hardware/clock", test_peaks_follow_from_units_and_clock);
  g_test_add_func ("/hardware/names", test_names_are_unambiguous_and_sourced);
  g_test_add_func ("/hardware/own", test_own_devices_replace_and_add);
  g_test_add_func ("/hardware/refused", test_what_is_no_such_table_is_refused);
  return g_test_run ();
}
