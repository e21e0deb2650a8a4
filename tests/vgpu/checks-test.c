/* SPDX-License-Identifier: Apache-2.0 */
/* Planted faults are found on their lines, their sound twins stay silent. */
#include "tests/vgpu/harness.h"

#include <string.h>

#define N 64

typedef struct
{
  const char *kernel;
  const char *rule;   /* NULL: nothing may be reported */
  const char *marker; /* of the line */
  const char *settings;
  CUresult result;
  unsigned blocks;
} Case;

static const Case cases[] = {
    {"bounds_bad", "mem.out-of-bounds", "fault: bounds", "checks=none", CUDA_ERROR_ILLEGAL_ADDRESS,
     2},
    {"bounds_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 2},
    {"misaligned_bad", "mem.misaligned", "fault: misaligned", "checks=none",
     CUDA_ERROR_MISALIGNED_ADDRESS, 1},
    {"misaligned_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 1},
    {"shared_bounds_bad", "mem.out-of-bounds", "fault: shared bounds", "checks=none",
     CUDA_ERROR_ILLEGAL_ADDRESS, 1},
    {"shared_bounds_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 1},
    {"uninit_shared_bad", "mem.uninitialised", "fault: uninitialised shared", "checks=uninit",
     CUDA_SUCCESS, 1},
    {"uninit_shared_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 1},
    {"uninit_global_bad", "mem.uninitialised", "fault: uninitialised global", "checks=uninit",
     CUDA_SUCCESS, 1},
    {"uninit_global_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 1},
    {"uninit_branch_bad", "mem.uninitialised", "fault: branch on uninitialised", "checks=uninit",
     CUDA_SUCCESS, 1},
    {"uninit_branch_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 1},
    {"race_bad", "race.shared", "fault: race", "checks=race", CUDA_SUCCESS, 1},
    {"race_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 1},
    {"race_tree_bad", "race.shared", "fault: tree without barriers", "checks=race", CUDA_SUCCESS,
     1},
    {"race_tree_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 1},
    {"race_warp_bad", "race.shared", "fault: race within a warp", "checks=race", CUDA_SUCCESS, 1},
    {"race_warp_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 1},
    {"race_reuse_bad", "race.shared", "fault: write after read", "checks=race", CUDA_SUCCESS, 1},
    {"race_reuse_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 1},
    {"race_same_bad", "race.same-value", "fault: same value", "checks=race", CUDA_SUCCESS, 1},
    {"race_same_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 1},
    {"race_atomic_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 1},
    {"race_global_bad", "race.global", "fault: race between blocks", "checks=race-global",
     CUDA_SUCCESS, 2},
    {"race_global_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 2},
    {"race_last_block_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 4},
    {"race_halves_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 4},
    {"inlined_bad", "mem.out-of-bounds", "fault: inlined", "checks=none",
     CUDA_ERROR_ILLEGAL_ADDRESS, 1},
    {"edge_bad", "mem.uninitialised", "fault: of an unfilled tile", "checks=uninit", CUDA_SUCCESS,
     1},
    {"edge_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 1},
    {"barrier_bad", "sync.divergent-barrier", "fault: divergent barrier", "checks=sync",
     CUDA_SUCCESS, 1},
    {"barrier_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 1},
    {"barrier_early_return_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 1},
    {"barrier_mixed_bad", "sync.divergent-barrier", "fault: mismatched barriers", "checks=sync",
     CUDA_SUCCESS, 1},
    {"barrier_mixed_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 1},
    {"shuffle_bad", "sync.inactive-lane", "fault: inactive lane", "checks=sync", CUDA_SUCCESS, 1},
    {"shuffle_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 1},
    {"members_bad", "sync.inactive-lane", "fault: member elsewhere", "checks=sync", CUDA_SUCCESS,
     1},
    {"deadlock_bad", "sync.deadlock", "fault: deadlock", "checks=none", CUDA_ERROR_LAUNCH_TIMEOUT,
     1},
    {"deadlock_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 1},
    {"spin_bad", NULL, NULL, "checks=none;max_instructions=1000000", CUDA_ERROR_LAUNCH_TIMEOUT, 1},
    {"spin_good", NULL, NULL, "checks=none;max_instructions=100000000", CUDA_SUCCESS, 1},
    {"spin_hard_good", NULL, NULL, "checks=none;max_instructions=1000000000", CUDA_SUCCESS, 1},
    {"async_bad", "race.async-copy", "fault: copy in flight", "checks=race", CUDA_SUCCESS, 1},
    {"async_late_bad", "race.async-copy", "fault: no barrier behind the wait", "checks=race",
     CUDA_SUCCESS, 1},
    {"async_good", NULL, NULL, "checks=all", CUDA_SUCCESS, 1},
    {"null_bad", "mem.out-of-bounds", "fault: null", "checks=none", CUDA_ERROR_ILLEGAL_ADDRESS, 1},
};

static char *faults_ptx;

static CUresult
run_case (Gpu *gpu, const char *kernel, unsigned blocks)
{
  int n = N;
  float in[N];
  for (int i = 0; i < N; i++)
    in[i] = (float) i;
  CUdeviceptr din = gpu_put (gpu, in, sizeof in, "in");
  CUdeviceptr dout = gpu_put (gpu, NULL, sizeof in, "out");
  CUfunction f = gpu_load (gpu, faults_ptx, kernel);
  return gpu_run (gpu, f, blocks, 1, N, 1, 0, &n, &din, &dout, NULL);
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  if (faults_ptx == NULL)
    faults_ptx = compile_kernels ("faults.cu", NULL);
  if (faults_ptx == NULL)
    return;
  g_autoptr (Gpu) gpu = gpu_open (c->settings);
  g_assert_cmpint (run_case (gpu, c->kernel, c->blocks), ==, c->result);
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  if (c->rule == NULL)
    {
      g_assert_null (find_type (reports, "report"));
      return;
    }
  JsonObject *report = find_report (reports, c->rule);
  g_assert_nonnull (report);
  g_test_message ("%s", json_object_get_string_member (report, "message"));
  g_assert_cmpstr (json_object_get_string_member (report, "kernel"), ==, c->kernel);
  g_assert_true (g_str_has_suffix (json_object_get_string_member (report, "file"), "/faults.cu"));
  /* Of the two sides of a race, either may be the one that was seen last. */
  int line = marked_line ("faults.cu", c->marker);
  JsonObject *other = json_object_has_member (report, "other")
                          ? json_object_get_object_member (report, "other")
                          : NULL;
  if (g_str_has_prefix (c->rule, "race.") && json_object_get_int_member (report, "line") != line)
    report = other;
  g_assert_nonnull (report);
  g_assert_cmpint (json_object_get_int_member (report, "line"), ==, line);
  /* Nothing else is reported beside it. */
  for (guint i = 0; i < reports->len; i++)
    if (json_object_has_member (reports->pdata[i], "rule"))
      g_assert_cmpstr (json_object_get_string_member (reports->pdata[i], "rule"), ==, c->rule);
}

static void
test_bounds_details (void)
{
  if (faults_ptx == NULL)
    {
      g_test_skip ("no CUDA compiler is installed");
      return;
    }
  g_autoptr (Gpu) gpu = gpu_open ("checks=none");
  g_assert_cmpint (run_case (gpu, "bounds_bad", 2), ==, CUDA_ERROR_ILLEGAL_ADDRESS);
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  JsonObject *report = find_report (reports, "mem.out-of-bounds");
  JsonObject *allocation = json_object_get_object_member (report, "allocation");
  JsonArray *block = json_object_get_array_member (report, "block");
  JsonArray *thread = json_object_get_array_member (report, "thread");
  g_assert_cmpstr (json_object_get_string_member (report, "message"), ==,
                   "reads 4 bytes, 0 bytes past allocation in of 256 bytes");
  g_assert_cmpstr (json_object_get_string_member (allocation, "name"), ==, "in");
  g_assert_cmpint (json_object_get_int_member (allocation, "bytes"), ==, N * 4);
  g_assert_cmpint (json_object_get_int_member (allocation, "offset"), ==, N * 4);
  g_assert_cmpint (json_array_get_int_element (block, 0), ==, 1);
  g_assert_cmpint (json_array_get_int_element (thread, 0), ==, 0);
  g_assert_cmpstr (json_object_get_string_member (report, "access"), ==, "read");
  g_assert_cmpstr (json_object_get_string_member (report, "space"), ==, "global");
  /* The write behind it is a finding of its own, about another allocation. */
  int found = 0;
  for (guint i = 0; i < reports->len; i++)
    found += strcmp (json_object_get_string_member (reports->pdata[i], "type"), "report") == 0;
  g_assert_cmpint (found, ==, 2);
}

static void
test_sticky_errors (void)
{
  if (faults_ptx == NULL)
    {
      g_test_skip ("no CUDA compiler is installed");
      return;
    }
  g_autoptr (Gpu) gpu = gpu_open ("checks=none");
  CUdeviceptr pointer;
  g_assert_cmpint (run_case (gpu, "bounds_bad", 2), ==, CUDA_ERROR_ILLEGAL_ADDRESS);
  g_assert_cmpint (gpu->driver.mem_alloc (&pointer, 64), ==, CUDA_ERROR_ILLEGAL_ADDRESS);
  g_assert_cmpint (gpu->driver.ctx_synchronize (), ==, CUDA_ERROR_ILLEGAL_ADDRESS);
  g_assert_cmpint (gpu->driver.stream_synchronize (NULL), ==, CUDA_ERROR_ILLEGAL_ADDRESS);
  /* Another context is not concerned. */
  CUcontext other;
  g_assert_cmpint (gpu->driver.ctx_create (&other, 0, 0), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu->driver.mem_alloc (&pointer, 64), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu->driver.ctx_destroy (other), ==, CUDA_SUCCESS);
}

static void
test_continue_on_fault (void)
{
  if (faults_ptx == NULL)
    {
      g_test_skip ("no CUDA compiler is installed");
      return;
    }
  g_autoptr (Gpu) gpu = gpu_open ("checks=none;continue_on_fault=1");
  g_assert_cmpint (run_case (gpu, "bounds_bad", 2), ==, CUDA_SUCCESS);
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  g_assert_nonnull (find_report (reports, "mem.out-of-bounds"));
}

static void
test_use_after_free (void)
{
  if (faults_ptx == NULL)
    {
      g_test_skip ("no CUDA compiler is installed");
      return;
    }
  int n = N;
  float in[N] = {0};
  g_autoptr (Gpu) gpu = gpu_open ("checks=none");
  CUdeviceptr din = gpu_put (gpu, in, sizeof in, "in");
  CUdeviceptr dout = gpu_put (gpu, NULL, sizeof in, "out");
  CUfunction f = gpu_load (gpu, faults_ptx, "bounds_good");
  g_assert_cmpint (gpu->driver.mem_free (din), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, N, 1, 0, &n, &din, &dout, NULL), ==,
                   CUDA_ERROR_ILLEGAL_ADDRESS);
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  g_assert_nonnull (find_report (reports, "mem.use-after-free"));
}

/* What was initialised as a whole is not, once bytes that nobody wrote have been copied there. */
static void
test_copied_doubt (void)
{
  if (faults_ptx == NULL)
    {
      g_test_skip ("no CUDA compiler is installed");
      return;
    }
  int n = N;
  float in[N] = {0};
  g_autoptr (Gpu) gpu = gpu_open ("checks=uninit");
  CUresult (*copy) (CUdeviceptr, CUdeviceptr, size_t) = gpu_symbol ("cuMemcpyDtoD_v2");
  CUdeviceptr din = gpu_put (gpu, in, sizeof in, "in");
  CUdeviceptr fresh = gpu_put (gpu, NULL, sizeof in, "fresh");
  CUdeviceptr dout = gpu_put (gpu, NULL, sizeof in, "out");
  CUfunction f = gpu_load (gpu, faults_ptx, "bounds_good");
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, N, 1, 0, &n, &din, &dout, NULL), ==, CUDA_SUCCESS);
  g_autoptr (GPtrArray) before = gpu_reports (gpu);
  g_assert_null (find_report (before, "mem.uninitialised"));
  g_assert_cmpint (copy (din + 64, fresh, 8), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, N, 1, 0, &n, &din, &dout, NULL), ==, CUDA_SUCCESS);
  g_autoptr (GPtrArray) after = gpu_reports (gpu);
  g_assert_nonnull (find_report (after, "mem.uninitialised"));
}

static void
test_counts_are_told (void)
{
  if (faults_ptx == NULL)
    {
      g_test_skip ("no CUDA compiler is installed");
      return;
    }
  g_autoptr (Gpu) gpu = gpu_open ("checks=none");
  run_case (gpu, "null_bad", 1);
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  JsonObject *count = find_type (reports, "count");
  g_assert_nonnull (count);
  g_assert_cmpint (json_object_get_int_member (count, "count"), ==, N);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/vgpu/checks/%s", cases[i].kernel);
      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/vgpu/checks/details", test_bounds_details);
  g_test_add_func ("/vgpu/checks/sticky-errors", test_sticky_errors);
  g_test_add_func ("/vgpu/checks/continue-on-fault", test_continue_on_fault);
  g_test_add_func ("/vgpu/checks/use-after-free", test_use_after_free);
  g_test_add_func ("/vgpu/checks/copied-doubt", test_copied_doubt);
  g_test_add_func ("/vgpu/checks/counts", test_counts_are_told);
  int result = g_test_run ();
  g_free (faults_ptx);
  return result;
}
