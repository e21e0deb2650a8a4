/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers in shared memory, bulk copies, named barriers: what they compute, that right kernels draw no
 * report in any order, and that wrong ones are found on their line. */
#include "tests/vgpu/harness.h"

#include <string.h>

static char *async_ptx;

static Gpu *
open_async (const char *settings)
{
  if (async_ptx == NULL)
    async_ptx = compile_kernels ("async.cu", "--gpu-architecture=compute_90");
  return async_ptx != NULL ? gpu_open (settings) : NULL;
}

static void
assert_no_reports (Gpu *gpu)
{
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  JsonObject *report = find_type (reports, "report");
  if (report != NULL)
    g_error ("line %d: %s", (int) json_object_get_int_member (report, "line"),
             json_object_get_string_member (report, "message"));
}

static int
value_at (int i)
{
  return (i * 7919) % 1013 - 500;
}

typedef struct
{
  const char *kernel;
  unsigned threads;
  int in_count, out_count, n;
  int (*want) (int at, int n);
} Case;

static int
want_block (int at, int n)
{
  int values[256], next[256];
  for (int i = 0; i < 256; i++)
    values[i] = value_at (i);
  for (int r = 0; r < n; r++)
    {
      for (int i = 0; i < 256; i++)
        next[i] = values[i] + values[(i + 1) % 256];
      memcpy (values, next, sizeof values);
    }
  return values[at];
}

static int
want_producer (int at, int n)
{
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += value_at (i * 64 + at);
  return sum;
}

static int
want_pipelined (int at, int n)
{
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += value_at (i * 128 + (at + 1) % 128);
  return sum;
}

static int
want_bulk (int at, int n)
{
  return value_at (at) * 3 + at / 1024;
}

static int
want_named (int at, int n)
{
  return value_at (63 - at) * 2;
}

static int
want_ignoring (int at, int n)
{
  return at % 2 ? 0 : value_at (at);
}

static const Case cases[] = {
    {"block_barrier", 256, 256, 256, 5, want_block},
    {"producer", 96, 7 * 64, 64, 7, want_producer},
    {"pipelined", 128, 6 * 128, 128, 6, want_pipelined},
    {"bulk", 128, 3 * 1024, 3 * 1024, 3, want_bulk},
    {"named", 128, 64, 64, 0, want_named},
    {"ignoring", 64, 64, 64, 0, want_ignoring},
};

static void
test_results (const void *data)
{
  g_autoptr (Gpu) gpu = open_async (data);
  if (gpu == NULL)
    return;
  for (size_t c = 0; c < G_N_ELEMENTS (cases); c++)
    {
      const Case *test = &cases[c];
      int in[3072], out[3072] = {0}, n = test->n;
      for (int i = 0; i < test->in_count; i++)
        in[i] = value_at (i);
      CUdeviceptr din = gpu_put (gpu, in, (size_t) test->in_count * 4, "in");
      CUdeviceptr dout = gpu_put (gpu, out, (size_t) test->out_count * 4, "out");
      CUfunction k = gpu_load (gpu, async_ptx, test->kernel);
      g_assert_cmpint (gpu_run (gpu, k, 1, 1, test->threads, 1, 0, &din, &dout, &n, NULL), ==,
                       CUDA_SUCCESS);
      gpu_get (gpu, out, dout, (size_t) test->out_count * 4);
      for (int i = 0; i < test->out_count; i++)
        if (out[i] != test->want (i, n))
          g_error ("%s, element %d: %d instead of %d", test->kernel, i, out[i], test->want (i, n));
    }
  assert_no_reports (gpu);
}

static void
test_within_warp (void)
{
  g_autoptr (Gpu) gpu = open_async ("target=sm_90;checks=all");
  if (gpu == NULL)
    return;
  int out = 0;
  CUdeviceptr dout = gpu_put (gpu, &out, 4, "out");
  CUfunction k = gpu_load (gpu, async_ptx, "within_warp");
  g_assert_cmpint (gpu_run (gpu, k, 1, 1, 32, 1, 0, &dout, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, &out, dout, 4);
  g_assert_cmpint (out, ==, 42);
  assert_no_reports (gpu);
}

typedef struct
{
  const char *kernel, *rule, *marker;
  bool reads;
} Fault;

static const Fault faults[] = {
    {"reads_early", "race.async-copy", "// early", true},
    {"overwrites", "race.shared", "// overwrites", true},
    {"no_sync_after_init", "race.shared", "// unmade", false},
    {"too_many", "sync.mbarrier-misused", "// many", false},
    {"never_complete", "sync.deadlock", "// never", false},
    {"odd_size", "mem.misaligned", "// odd", true},
    {"too_far", "mem.out-of-bounds", "// far", true},
};

static void
test_fault (const void *data)
{
  const Fault *fault = data;
  g_autoptr (Gpu) gpu = open_async ("target=sm_90;checks=all");
  if (gpu == NULL)
    return;
  int in[128] = {0}, out[64] = {0};
  size_t bytes = strcmp (fault->kernel, "too_far") == 0 ? 128 : sizeof in;
  CUdeviceptr din = gpu_put (gpu, in, bytes, "in"), dout = gpu_put (gpu, out, sizeof out, "out");
  CUfunction k = gpu_load (gpu, async_ptx, fault->kernel);
  unsigned threads = strcmp (fault->kernel, "reads_early") == 0 ? 32 : 64;
  if (fault->reads)
    gpu_run (gpu, k, 1, 1, threads, 1, 0, &din, &dout, NULL);
  else
    gpu_run (gpu, k, 1, 1, threads, 1, 0, &dout, NULL);
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  JsonObject *report = find_report (reports, fault->rule);
  g_assert_nonnull (report);
  g_assert_cmpint (json_object_get_int_member (report, "line"), ==,
                   marked_line ("async.cu", fault->marker));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/vgpu/async/results", "target=sm_90;checks=all", test_results);
  g_test_add_data_func ("/vgpu/async/results-shuffled", "target=sm_90;checks=all;seed=7",
                        test_results);
  g_test_add_data_func ("/vgpu/async/results-unchecked", "target=sm_90;checks=none", test_results);
  g_test_add_func ("/vgpu/async/within-warp", test_within_warp);
  for (size_t i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autofree char *name = g_strconcat ("/vgpu/async/fault/", faults[i].kernel, NULL);
      g_test_add_data_func (name, &faults[i], test_fault);
    }
  return g_test_run ();
}
