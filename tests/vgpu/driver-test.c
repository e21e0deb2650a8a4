/* SPDX-License-Identifier: Apache-2.0 */
/* The façade behaves as the driver does: limits, errors, printf, assert, trap, modules. */
#include "tests/vgpu/harness.h"

#include "engine/target/limits.h"

#include <math.h>
#include <string.h>

static char *driver_ptx;

static bool
have_ptx (void)
{
  if (driver_ptx == NULL)
    driver_ptx = compile_kernels ("driver.cu", NULL);
  return driver_ptx != NULL;
}

static void
test_device (void)
{
  g_autoptr (Gpu) gpu = gpu_open ("");
  CUdevice device;
  int value, count;
  char name[64];
  const char *text;
  g_assert_cmpint (gpu->driver.device_get_count (&count), ==, CUDA_SUCCESS);
  g_assert_cmpint (count, ==, 1);
  g_assert_cmpint (gpu->driver.device_get (&device, 0), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu->driver.device_get (&device, 1), ==, CUDA_ERROR_INVALID_DEVICE);
  gpu->driver.device_get_name (name, sizeof name, 0);
  g_assert_cmpstr (name, ==, "Assay virtual GPU (sm_80)");
  gpu->driver.device_get_attribute (&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
  g_assert_cmpint (value, ==, 8);
  gpu->driver.device_get_attribute (&value, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                                    0);
  g_assert_cmpint (value, ==, 166912);
  gpu->driver.get_error_name (CUDA_ERROR_MISALIGNED_ADDRESS, &text);
  g_assert_cmpstr (text, ==, "CUDA_ERROR_MISALIGNED_ADDRESS");
  void *function = NULL;
  g_assert_cmpint (gpu->driver.get_proc_address ("cuMemAlloc", &function, 12000, 0, NULL), ==,
                   CUDA_SUCCESS);
  g_assert_true (function == (void *) gpu->driver.mem_alloc);
}

typedef struct
{
  unsigned grid[3], block[3], shared;
  const char *rule;
} Limit;

static void
test_limits (void)
{
  static const Limit limits[] = {
      {{1, 1, 1}, {1024, 1, 1}, 0, NULL},
      {{1, 1, 1}, {2048, 1, 1}, 0, "launch.block-too-large"},
      {{1, 1, 1}, {32, 64, 1}, 0, "launch.block-too-large"},
      {{1, 1, 1}, {1, 1, 65}, 0, "launch.block-too-large"},
      {{1, 1, 1}, {0, 1, 1}, 0, "launch.block-too-large"},
      {{0, 1, 1}, {32, 1, 1}, 0, "launch.grid-limit"},
      {{1, 65536, 1}, {32, 1, 1}, 0, "launch.grid-limit"},
      {{1, 1, 1}, {32, 1, 1}, 49152, "launch.shared-limit"},
      {{1, 1, 1}, {32, 1, 1}, 200000, "launch.shared-limit"},
  };
  if (!have_ptx ())
    return;
  for (size_t i = 0; i < G_N_ELEMENTS (limits); i++)
    {
      const Limit *l = &limits[i];
      g_autoptr (Gpu) gpu = gpu_open ("");
      int n = 1;
      CUdeviceptr out = gpu_put (gpu, NULL, 4096, "out");
      void *parameters[] = {&n, &out};
      CUfunction f = gpu_load (gpu, driver_ptx, i < 7 ? "globals" : "dynamic_shared");
      CUresult result =
          gpu->driver.launch_kernel (f, l->grid[0], l->grid[1], l->grid[2], l->block[0],
                                     l->block[1], l->block[2], l->shared, NULL, parameters, NULL);
      g_assert_cmpint (result, ==, l->rule == NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
      g_autoptr (GPtrArray) reports = gpu_reports (gpu);
      if (l->rule != NULL)
        g_assert_nonnull (find_report (reports, l->rule));
      /* A refused launch leaves no error behind. */
      g_assert_cmpint (gpu->driver.ctx_synchronize (), ==, CUDA_SUCCESS);
    }
}

static guint64
address_pages (void)
{
  g_autofree char *text = NULL;
  g_assert_true (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  return g_ascii_strtoull (text, NULL, 10);
}

/* The gaps between allocations must not use up the addresses a worker may have: cooperative_groups.h
 * alone brings a thousand variables. */
static void
test_many_allocations (void)
{
  g_autoptr (Gpu) gpu = gpu_open ("");
  guint64 before = address_pages ();
  for (int i = 0; i < 2000; i++)
    gpu_put (gpu, NULL, 64, NULL);
  g_assert_cmpuint ((address_pages () - before) * 4096, <, (guint64) 2 << 30);

  g_autoptr (GString) ptx = g_string_new (".version 8.0\n.target sm_80\n.address_size 64\n");
  for (int i = 0; i < 1200; i++)
    g_string_append_printf (ptx, ".global .align 1 .b8 v%d[1];\n", i);
  g_string_append (ptx, ".visible .entry nothing ()\n{\n  ret;\n}\n");
  before = address_pages ();
  g_assert_nonnull (gpu_load (gpu, ptx->str, "nothing"));
  g_assert_cmpuint ((address_pages () - before) * 4096, <, (guint64) 512 << 20);
}

static void
test_shared_opt_in (void)
{
  if (!have_ptx ())
    return;
  g_autoptr (Gpu) gpu = gpu_open ("checks=all");
  int n = 1;
  float out[64];
  CUdeviceptr dout = gpu_put (gpu, NULL, sizeof out, "out");
  CUfunction f = gpu_load (gpu, driver_ptx, "dynamic_shared");
  g_assert_cmpint (
      gpu->driver.func_set_attribute (f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200000),
      ==, CUDA_ERROR_INVALID_VALUE);
  g_assert_cmpint (
      gpu->driver.func_set_attribute (f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000),
      ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, 64, 1, 100000, &n, &dout, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, out, dout, sizeof out);
  for (int i = 0; i < 64; i++)
    g_assert_cmpfloat (out[i], ==, (float) ((i + 1) % 64 + 7));
}

static void
test_launch_bounds (void)
{
  if (!have_ptx ())
    return;
  g_autoptr (Gpu) gpu = gpu_open ("");
  int n = 1, most;
  CUdeviceptr out = gpu_put (gpu, NULL, 4096, "out");
  CUfunction f = gpu_load (gpu, driver_ptx, "bounded");
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, 128, 1, 0, &n, &out, NULL), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, 129, 1, 0, &n, &out, NULL), ==, CUDA_ERROR_INVALID_VALUE);
  gpu->driver.func_get_attribute (&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f);
  g_assert_cmpint (most, ==, 128);
}

static void
test_printf (void)
{
  if (!have_ptx ())
    return;
  g_autoptr (Gpu) gpu = gpu_open ("checks=all");
  int n = 2;
  float x[2] = {1.25f, -7.5f};
  CUdeviceptr dx = gpu_put (gpu, x, sizeof x, "x");
  CUfunction f = gpu_load (gpu, driver_ptx, "prints");
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, 32, 1, 0, &n, &dx, NULL), ==, CUDA_SUCCESS);
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  JsonObject *print = find_type (reports, "print");
  g_assert_nonnull (print);
  GString *want = g_string_new (NULL);
  for (int i = 0; i < 2; i++)
    g_string_append_printf (want, "%d %u %lld %llx %5.2f|%-6e|%g %s %c %% 0x10 %*d\n", -3,
                            4000000000u, -5000000000ll, 0x123456789abcull, (double) x[i], 1234.5,
                            0.0001, "text", 'z', 6, 42);
  g_assert_cmpstr (json_object_get_string_member (print, "text"), ==, want->str);
  g_string_free (want, TRUE);
}

static void
test_printf_cap (void)
{
  if (!have_ptx ())
    return;
  g_autoptr (Gpu) gpu = gpu_open ("print_cap_bytes=100");
  int n = 32;
  float x[32] = {0};
  CUdeviceptr dx = gpu_put (gpu, x, sizeof x, "x");
  CUfunction f = gpu_load (gpu, driver_ptx, "prints");
  gpu_run (gpu, f, 1, 1, 32, 1, 0, &n, &dx, NULL);
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  const char *text = json_object_get_string_member (find_type (reports, "print"), "text");
  g_assert_true (g_str_has_suffix (text, "more bytes of output were dropped]\n"));
  g_assert_cmpuint (strlen (text), <, 200);
  gpu->assayVgpuSet ("print_cap_bytes", "1048576");
}

static void
test_assert (void)
{
  if (!have_ptx ())
    return;
  g_autoptr (Gpu) gpu = gpu_open ("");
  int n = 0;
  CUdeviceptr out = gpu_put (gpu, NULL, 4096, "out");
  CUfunction f = gpu_load (gpu, driver_ptx, "asserts");
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, 32, 1, 0, &n, &out, NULL), ==, CUDA_ERROR_ASSERT);
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  JsonObject *fault = find_type (reports, "fault");
  g_assert_nonnull (fault);
  g_assert_cmpint (json_object_get_int_member (fault, "code"), ==, 710);
  g_assert_cmpstr (json_object_get_string_member (fault, "name"), ==, "CUDA_ERROR_ASSERT");
  const char *message = json_object_get_string_member (fault, "message");
  g_assert_nonnull (strstr (message, "assertion `n > 0' failed"));
  g_assert_cmpint (json_object_get_int_member (fault, "line"), ==,
                   marked_line ("driver.cu", "the assertion"));
}

static void
test_trap (void)
{
  if (!have_ptx ())
    return;
  g_autoptr (Gpu) gpu = gpu_open ("");
  int n = 1;
  CUdeviceptr out = gpu_put (gpu, NULL, 4096, "out");
  CUfunction f = gpu_load (gpu, driver_ptx, "traps");
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, 32, 1, 0, &n, &out, NULL), ==, CUDA_SUCCESS);
  n = 4;
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, 32, 1, 0, &n, &out, NULL), ==, CUDA_ERROR_LAUNCH_FAILED);
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  JsonObject *fault = find_type (reports, "fault");
  g_assert_cmpint (json_object_get_int_member (fault, "line"), ==,
                   marked_line ("driver.cu", "the trap"));
  JsonArray *thread = json_object_get_array_member (fault, "thread");
  g_assert_cmpint (json_array_get_int_element (thread, 0), ==, 5);
}

static void
test_globals (void)
{
  if (!have_ptx ())
    return;
  g_autoptr (Gpu) gpu = gpu_open ("checks=all");
  CUmodule module;
  CUfunction f;
  CUdeviceptr address;
  size_t bytes;
  int n = 3, counter = 0;
  float out[32];
  CUdeviceptr dout = gpu_put (gpu, NULL, sizeof out, "out");
  g_assert_cmpint (gpu->driver.module_load_data (&module, driver_ptx), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu->driver.module_get_function (&f, module, "nothing"), ==,
                   CUDA_ERROR_NOT_FOUND);
  g_assert_cmpint (gpu->driver.module_get_function (&f, module, "globals"), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, 32, 1, 0, &n, &dout, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, out, dout, sizeof out);
  for (int i = 0; i < 32; i++)
    g_assert_cmpfloat (out[i], ==, ldexpf (1, i % 4) + 3);
  g_assert_cmpint (gpu->driver.module_get_global (&address, &bytes, module, "counter"), ==,
                   CUDA_SUCCESS);
  g_assert_cmpuint (bytes, ==, 4);
  gpu_get (gpu, &counter, address, 4);
  g_assert_cmpint (counter, ==, 37);
  g_assert_cmpint (gpu->driver.module_unload (module), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu->driver.module_unload (module), ==, CUDA_ERROR_INVALID_HANDLE);
}

typedef struct
{
  float scale[4];
  int index;
  CUdeviceptr values;
} Parameters;

static void
test_structures (void)
{
  if (!have_ptx ())
    return;
  g_autoptr (Gpu) gpu = gpu_open ("checks=all");
  float values[32], out[32];
  for (int i = 0; i < 32; i++)
    values[i] = (float) i;
  CUdeviceptr dout = gpu_put (gpu, NULL, sizeof out, "out");
  __attribute__ ((aligned (16)))
  Parameters p = {{1, 2, 3, 4}, 10, gpu_put (gpu, values, sizeof values, "values")};
  CUfunction f = gpu_load (gpu, driver_ptx, "structure");
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, 32, 1, 0, &p, &dout, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, out, dout, sizeof out);
  for (int i = 0; i < 32; i++)
    g_assert_cmpfloat (out[i], ==, (float) (5 + 10 * i));
  int shift = 2;
  f = gpu_load (gpu, driver_ptx, "indexed_parameters");
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, 32, 1, 0, &p, &shift, &dout, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, out, dout, sizeof out);
  for (int i = 0; i < 32; i++)
    g_assert_cmpfloat (out[i], ==, (float) ((i + 2) % 4 + 1));
}

static void
check_refused (const char *ptx, CUresult result, const char *words)
{
  g_autoptr (Gpu) gpu = gpu_open ("");
  char log[512] = "";
  CUmodule module;
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *) sizeof log};
  g_assert_cmpint (gpu->driver.module_load_data_ex (&module, ptx, 2, options, values), ==, result);
  g_test_message ("%s", log);
  g_assert_nonnull (strstr (log, words));
  g_assert_cmpstr (log, ==, gpu->assayVgpuLastError ());
}

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

static void
test_refusals (void)
{
  check_refused (HEAD ".visible .entry k()\n{\n  .reg .b32 %r<2>;\n"
                      "  tcgen05.wait::ld.sync.aligned;\n  ret;\n}\n",
                 CUDA_ERROR_INVALID_PTX,
                 "PTX line 7: instruction tcgen05.wait::ld.sync.aligned is not supported");
  check_refused (HEAD ".visible .entry k()\n{\n  .reg .b32 %r<2>;\n  add.s32 %r0, %r1;\n}\n",
                 CUDA_ERROR_INVALID_PTX, "PTX line 7");
  check_refused (HEAD ".visible .entry k()\n{\n  bra nowhere;\n}\n", CUDA_ERROR_INVALID_PTX,
                 "no label nowhere");
  check_refused (".version 8.0\n.target sm_90\n.address_size 64\n", CUDA_ERROR_INVALID_PTX,
                 "asks for sm_90");
  check_refused ("\177ELF and so on", CUDA_ERROR_NO_BINARY_FOR_GPU, "machine code");
  check_refused ("int main;", CUDA_ERROR_INVALID_PTX, "PTX line 1");
  check_refused (HEAD ".visible .entry k()\n{\n  .shared .align 4 .b8 s[60000];\n"
                      "  .reg .b64 %d<2>;\n  mov.u64 %d0, s;\n  ret;\n}\n",
                 CUDA_ERROR_INVALID_PTX, "too much shared data");
}

static void
test_settings (void)
{
  g_autoptr (Gpu) gpu = gpu_open ("");
  g_assert_cmpint (gpu->assayVgpuSet ("target", "sm_12"), ==, -1);
  g_assert_nonnull (strstr (gpu->assayVgpuLastError (), "sm_12"));
  g_assert_cmpint (gpu->assayVgpuSet ("colour", "red"), ==, -1);
  g_assert_cmpint (gpu->assayVgpuSet ("checks", "race,uninit"), ==, 0);
  g_assert_cmpint (gpu->assayVgpuSet ("checks", "race,vermin"), ==, -1);
  g_assert_cmpint (gpu->assayVgpuSet ("seed", "-1"), ==, -1);
}

static void
test_memory_calls (void)
{
  g_autoptr (Gpu) gpu = gpu_open ("");
  CUdeviceptr p = 0, base = 0;
  size_t bytes = 0;
  guint32 words[16];
  g_assert_cmpint (gpu->driver.mem_alloc (&p, 0), ==, CUDA_ERROR_INVALID_VALUE);
  g_assert_cmpint (gpu->driver.mem_alloc (&p, (size_t) 1 << 40), ==, CUDA_ERROR_OUT_OF_MEMORY);
  g_assert_cmpint (gpu->driver.mem_alloc (&p, 64), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu->driver.memset_d32 (p, 0xdeadbeef, 16), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu->driver.memset_d32 (p, 0, 17), ==, CUDA_ERROR_INVALID_VALUE);
  g_assert_cmpint (gpu->driver.memset_d32 (p + 2, 0, 1), ==, CUDA_ERROR_INVALID_VALUE);
  g_assert_cmpint (gpu->driver.memset_d8 (p + 4, 1, 4), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu->driver.memcpy_dtoh (words, p, 64), ==, CUDA_SUCCESS);
  g_assert_cmphex (words[0], ==, 0xdeadbeef);
  g_assert_cmphex (words[1], ==, 0x01010101);
  g_assert_cmpint (gpu->driver.memcpy_dtoh (words, p + 32, 64), ==, CUDA_ERROR_INVALID_VALUE);
  g_assert_cmpint (gpu->driver.mem_get_address_range (&base, &bytes, p + 5), ==, CUDA_SUCCESS);
  g_assert_cmpuint (base, ==, p);
  g_assert_cmpuint (bytes, ==, 64);
  g_assert_cmpint (gpu->driver.mem_free (p + 4), ==, CUDA_ERROR_INVALID_VALUE);
  g_assert_cmpint (gpu->driver.mem_free (p), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu->driver.mem_free (p), ==, CUDA_ERROR_INVALID_VALUE);
}

static void
test_leaks (void)
{
  g_autoptr (Gpu) gpu = gpu_open ("checks=leak");
  CUcontext context;
  CUdeviceptr kept, freed;
  g_assert_cmpint (gpu->driver.ctx_create (&context, 0, 0), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu->driver.mem_alloc (&kept, 100), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu->driver.mem_alloc (&freed, 50), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu->driver.mem_free (freed), ==, CUDA_SUCCESS);
  gpu->assayVgpuNameAllocation (kept, "scratch");
  g_assert_cmpint (gpu->driver.ctx_destroy (context), ==, CUDA_SUCCESS);
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  g_assert_cmpuint (reports->len, ==, 1);
  g_assert_cmpstr (json_object_get_string_member (find_report (reports, "mem.leak"), "message"), ==,
                   "allocation scratch of 100 bytes was never freed");
}

/* Values of our header against the toolkit's, read as text. */
static void
test_abi_values (void)
{
  g_autofree char *text = NULL;
  static const struct
  {
    const char *name;
    int value;
  } values[] = {
#define VALUE(name, value, ...) {#name, value},
      ASSAY_CUDA_RESULTS (VALUE) ASSAY_CUDA_DEVICE_ATTRIBUTES (VALUE)
          ASSAY_CUDA_FUNCTION_ATTRIBUTES (VALUE)
#undef VALUE
  };
  for (char **folder = test_toolkit () ? test_toolkit ()->includes : NULL;
       folder && *folder && !text; folder++)
    {
      g_autofree char *header = g_build_filename (*folder, "cuda.h", NULL);
      g_file_get_contents (header, &text, NULL, NULL);
    }
  if (!text)
    {
      g_test_skip ("no cuda.h is installed");
      return;
    }
  for (size_t i = 0; i < G_N_ELEMENTS (values); i++)
    {
      g_autofree char *pattern =
          g_strdup_printf ("\\b%s\\s*=\\s*%d\\b", values[i].name, values[i].value);
      if (!g_regex_match_simple (pattern, text, 0, 0))
        g_error ("%s is not %d in cuda.h", values[i].name, values[i].value);
    }
}

static void
test_occupancy (void)
{
  const AssayTargetLimits *a100 = assay_target_limits ("sm_80");
  AssayLaunch launch = {.grid = {1, 1, 1}, .block = {256, 1, 1}};
  /* 2048 threads a multiprocessor; then the examples of NVIDIA's occupancy calculator. */
  g_assert_cmpuint (assay_launch_blocks_per_sm (a100, &launch), ==, 8);
  launch.registers_per_thread = 64;
  g_assert_cmpuint (assay_launch_blocks_per_sm (a100, &launch), ==, 4);
  launch.dynamic_shared = 48 * 1024;
  g_assert_cmpuint (assay_launch_blocks_per_sm (a100, &launch), ==, 3);
  launch.registers_per_thread = 255;
  launch.block[0] = 1024;
  char text[200];
  g_assert_cmpint (assay_launch_check (a100, &launch, text, sizeof text), ==,
                   ASSAY_LAUNCH_REGISTERS);
  g_assert_cmpuint (assay_launch_blocks_per_sm (a100, &launch), ==, 0);
  g_assert_nonnull (assay_target_limits ("compute_90a"));
  g_assert_null (assay_target_limits ("sm_9"));
  g_assert_null (assay_target_limits ("sm_"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/vgpu/driver/device", test_device);
  g_test_add_func ("/vgpu/driver/limits", test_limits);
  g_test_add_func ("/vgpu/driver/many-allocations", test_many_allocations);
  g_test_add_func ("/vgpu/driver/shared-opt-in", test_shared_opt_in);
  g_test_add_func ("/vgpu/driver/launch-bounds", test_launch_bounds);
  g_test_add_func ("/vgpu/driver/printf", test_printf);
  g_test_add_func ("/vgpu/driver/printf-cap", test_printf_cap);
  g_test_add_func ("/vgpu/driver/assert", test_assert);
  g_test_add_func ("/vgpu/driver/trap", test_trap);
  g_test_add_func ("/vgpu/driver/globals", test_globals);
  g_test_add_func ("/vgpu/driver/structures", test_structures);
  g_test_add_func ("/vgpu/driver/refusals", test_refusals);
  g_test_add_func ("/vgpu/driver/settings", test_settings);
  g_test_add_func ("/vgpu/driver/memory", test_memory_calls);
  g_test_add_func ("/vgpu/driver/leaks", test_leaks);
  g_test_add_func ("/vgpu/driver/abi-values", test_abi_values);
  g_test_add_func ("/target/occupancy", test_occupancy);
  int result = g_test_run ();
  g_free (driver_ptx);
  return result;
}
