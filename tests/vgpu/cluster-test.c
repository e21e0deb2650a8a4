/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters: their places, barriers, the shared memory of neighbours, copies to all of them, and what they may
 * not do. */
#include "tests/vgpu/harness.h"

#include "engine/target/cuda-abi-more.h"

#include <string.h>

static char *cluster_ptx;

static Gpu *
open_cluster (const char *settings)
{
  if (cluster_ptx == NULL)
    cluster_ptx = compile_kernels ("cluster.cu", "--gpu-architecture=compute_90");
  return cluster_ptx != NULL ? gpu_open (settings) : NULL;
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

static CUresult
launch_clusters (Gpu *gpu, CUfunction k, unsigned grid, unsigned block, unsigned shared,
                 unsigned cluster, void **parameters)
{
  AssayLaunchAttribute attribute = {.number = 4, .cluster = {cluster, 1, 1}};
  AssayLaunchConfig config = {.grid = {grid, 1, 1},
                              .block = {block, 1, 1},
                              .shared_bytes = shared,
                              .attributes = &attribute,
                              .attribute_count = 1};
  CUresult (*launch) (const AssayLaunchConfig *, CUfunction, void **, void **);
  *(void **) &launch = gpu_symbol ("cuLaunchKernelEx");
  CUresult result = launch (&config, k, parameters, NULL);
  return result != CUDA_SUCCESS ? result : gpu->driver.ctx_synchronize ();
}

static void
test_histogram (const void *data)
{
  enum
  {
    COUNT = 3000,
    PER_BLOCK = 24,
    CLUSTER = 4
  };
  g_autoptr (Gpu) gpu = open_cluster (data);
  if (gpu == NULL)
    return;
  int in[COUNT], bins[PER_BLOCK * CLUSTER] = {0}, want[PER_BLOCK * CLUSTER] = {0};
  int per_block = PER_BLOCK, n = COUNT;
  for (int i = 0; i < COUNT; i++)
    want[in[i] = (i * 7919) % 9973 % (PER_BLOCK * CLUSTER)]++;
  CUdeviceptr din = gpu_put (gpu, in, sizeof in, "in");
  CUdeviceptr dbins = gpu_put (gpu, bins, sizeof bins, "bins");
  CUfunction k = gpu_load (gpu, cluster_ptx, "histogram");
  void *parameters[] = {&din, &dbins, &per_block, &n};
  g_assert_cmpint (launch_clusters (gpu, k, 8, 64, PER_BLOCK * 4, CLUSTER, parameters), ==,
                   CUDA_SUCCESS);
  gpu_get (gpu, bins, dbins, sizeof bins);
  g_assert_cmpmem (bins, sizeof bins, want, sizeof want);
  assert_no_reports (gpu);
}

/* Ranks count along x first: PTX ISA, "%cluster_ctarank". */
static void
test_neighbours (const void *data)
{
  enum
  {
    WIDE = 4,
    HIGH = 2,
    BLOCKS = WIDE * HIGH
  };
  g_autoptr (Gpu) gpu = open_cluster (data);
  if (gpu == NULL)
    return;
  int out[BLOCKS * 65] = {0};
  CUdeviceptr dout = gpu_put (gpu, out, sizeof out, "out");
  CUfunction k = gpu_load (gpu, cluster_ptx, "neighbours");
  g_assert_cmpint (gpu_run (gpu, k, WIDE, HIGH, 32, 1, 0, &dout, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, out, dout, sizeof out);
  for (int y = 0; y < HIGH; y++)
    for (int x = 0; x < WIDE; x++)
      {
        int block = y * WIDE + x, rank = y % 2 * 2 + x % 2, next = (rank + 1) % 4;
        int there = (y / 2 * 2 + next / 2) * WIDE + x / 2 * 2 + next % 2;
        for (int t = 0; t < 32; t++)
          {
            g_assert_cmpint (out[block * 32 + t], ==, there * 100 + 31 - t);
            g_assert_cmpint (out[BLOCKS * 32 + block * 32 + t], ==, block * 100 + t + 1000 + next);
          }
        g_assert_cmpint (out[BLOCKS * 64 + block], ==, x % 2 + 10 * (y % 2) + 100 * rank);
      }
  assert_no_reports (gpu);
}

static void
test_multicast (const void *data)
{
  g_autoptr (Gpu) gpu = open_cluster (data);
  if (gpu == NULL)
    return;
  int in[64], out[8 * 64] = {0};
  for (int i = 0; i < 64; i++)
    in[i] = i * 3 + 1;
  CUdeviceptr din = gpu_put (gpu, in, sizeof in, "in"),
              dout = gpu_put (gpu, out, sizeof out, "out");
  CUfunction k = gpu_load (gpu, cluster_ptx, "multicast");
  g_assert_cmpint (gpu_run (gpu, k, 8, 1, 64, 1, 0, &din, &dout, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, out, dout, sizeof out);
  for (int i = 0; i < 8 * 64; i++)
    g_assert_cmpint (out[i], ==, in[i % 64] + i / 64);
  assert_no_reports (gpu);
}

static void
test_limits (void)
{
  g_autoptr (Gpu) gpu = open_cluster ("target=sm_90");
  if (gpu == NULL)
    return;
  int word = 0, per_block = 1, n = 0;
  CUdeviceptr d = gpu_put (gpu, &word, 4, "d");
  CUfunction k = gpu_load (gpu, cluster_ptx, "histogram");
  void *parameters[] = {&d, &d, &per_block, &n};
  g_assert_cmpint (launch_clusters (gpu, k, 6, 32, 4, 4, parameters), ==,
                   CUDA_ERROR_INVALID_CLUSTER_SIZE);
  g_assert_cmpint (launch_clusters (gpu, k, 16, 32, 4, 16, parameters), ==,
                   CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

static void
test_faults (void)
{
  static const struct
  {
    const char *kernel, *rule, *marker;
  } faults[] = {{"beyond_neighbour", "mem.out-of-bounds", "// beyond"},
                {"one_stays_away", "sync.deadlock", "// away"},
                {"reads_early", "race.shared", "// early"},
                {"writes_unasked", "race.shared", "// unasked"},
                {"half_atomic", "race.shared", "// half atomic"}};
  for (size_t i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autoptr (Gpu) gpu = open_cluster ("target=sm_90;checks=all");
      if (gpu == NULL)
        return;
      int out[64] = {0};
      CUdeviceptr dout = gpu_put (gpu, out, sizeof out, "out");
      CUfunction k = gpu_load (gpu, cluster_ptx, faults[i].kernel);
      gpu_run (gpu, k, 2, 1, 32, 1, 0, &dout, NULL);
      g_autoptr (GPtrArray) reports = gpu_reports (gpu);
      JsonObject *report = find_report (reports, faults[i].rule);
      g_assert_nonnull (report);
      /* Of the two sides of a race, either may be the one that was seen last. */
      int line = marked_line ("cluster.cu", faults[i].marker);
      if (g_str_has_prefix (faults[i].rule, "race.")
          && json_object_get_int_member (report, "line") != line)
        report = json_object_get_object_member (report, "other");
      g_assert_cmpint (json_object_get_int_member (report, "line"), ==, line);
    }
}

int
main (int argc, char **argv)
{
  static const char *const settings[] = {"target=sm_90;checks=all",
                                         "target=sm_90;checks=all;seed=5",
                                         "target=sm_90;checks=none;threads=2"};
  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (settings); i++)
    {
      g_autofree char *a = g_strdup_printf ("/vgpu/cluster/histogram/%zu", i);
      g_autofree char *b = g_strdup_printf ("/vgpu/cluster/neighbours/%zu", i);
      g_autofree char *c = g_strdup_printf ("/vgpu/cluster/multicast/%zu", i);
      g_test_add_data_func (a, settings[i], test_histogram);
      g_test_add_data_func (b, settings[i], test_neighbours);
      g_test_add_data_func (c, settings[i], test_multicast);
    }
  g_test_add_func ("/vgpu/cluster/limits", test_limits);
  g_test_add_func ("/vgpu/cluster/faults", test_faults);
  return g_test_run ();
}
