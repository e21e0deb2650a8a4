/* SPDX-License-Identifier: Apache-2.0 */
/* More planted faults, one of a kind each, found on their lines; and kernels in which there is nothing to find,
 * each compiled as usual, without optimisation, and with fast mathematics. */
#include "engine/target/cuda-abi-more.h"
#include "tests/vgpu/harness.h"

#include <string.h>

#define N 64

typedef struct
{
  const char *kernel, *rule;
  CUresult result;
  unsigned blocks; /* 0: one */
} Fault;

#define BOUNDS "mem.out-of-bounds", CUDA_ERROR_ILLEGAL_ADDRESS
#define ALIGNED "mem.misaligned", CUDA_ERROR_MISALIGNED_ADDRESS
#define UNWRITTEN "mem.uninitialised", CUDA_SUCCESS
#define RACE "race.shared", CUDA_SUCCESS
#define COPY "race.async-copy", CUDA_SUCCESS
#define AWAY "sync.inactive-lane", CUDA_SUCCESS

static const Fault faults_of_memory[] = {
    {"halo_bad", BOUNDS, 0},
    {"stride_loop_bad", BOUNDS, 0},
    {"pair_stride_bad", BOUNDS, 0},
    {"byte_stride_bad", BOUNDS, 0},
    {"atomic_beyond_bad", BOUNDS, 0},
    {"table_bad", BOUNDS, 0},
    {"local_array_bad", BOUNDS, 0},
    {"shared_below_bad", BOUNDS, 0},
    {"dynamic_shared_bad", BOUNDS, 0},
    {"double_bad", ALIGNED, 0},
    {"shared_vector_bad", ALIGNED, 0},
    {"wide_atomic_bad", ALIGNED, 0},
    {"copy_bad", BOUNDS, 0},
    {"part_filled_bad", UNWRITTEN, 0},
    {"index_bad", UNWRITTEN, 0},
    {"not_cleared_bad", UNWRITTEN, 0},
    {"heap_freed_bad", "mem.use-after-free", CUDA_ERROR_ILLEGAL_ADDRESS, 0},
    {"heap_beyond_bad", BOUNDS, 0},
    {"read_only_bad", BOUNDS, 0},
    {"fragment_bad", BOUNDS, 0},
    {"matrix_rows_bad", BOUNDS, 0},
    {"copy_source_bad", BOUNDS, 0},
    {"copy_aligned_bad", ALIGNED, 0},
    {"null_member_bad", BOUNDS, 0},
    {"narrow_index_bad", BOUNDS, 0},
    {"read_write_bad", BOUNDS, 0},
    {"by_pointer_bad", BOUNDS, 0},
    {"unwritten_flag_bad", UNWRITTEN, 0},
    {"own_output_bad", UNWRITTEN, 0},
};

static const Fault faults_of_order[] = {
    {"last_step_bad", RACE, 0},
    {"buffers_bad", RACE, 0},
    {"transpose_bad", RACE, 0},
    {"scan_bad", RACE, 0},
    {"histogram_bad", RACE, 0},
    {"broadcast_bad", RACE, 0},
    {"in_place_bad", "race.global", CUDA_SUCCESS, 2},
    {"max_bad", "race.global", CUDA_SUCCESS, 2},
    {"plain_beside_atomic_bad", RACE, 0},
    {"barrier_in_loop_bad", "sync.divergent-barrier", CUDA_SUCCESS, 0},
    {"one_warp_barrier_bad", "sync.deadlock", CUDA_ERROR_LAUNCH_TIMEOUT, 0},
    {"short_mask_bad", AWAY, 0},
    {"ballot_bad", AWAY, 0},
    {"too_many_expected_bad", "sync.deadlock", CUDA_ERROR_LAUNCH_TIMEOUT, 0},
    {"arrivals_bad", "sync.mbarrier-misused", CUDA_SUCCESS, 0},
    {"uninitialised_barrier_bad", "sync.mbarrier-misused", CUDA_SUCCESS, 0},
    {"wait_count_bad", COPY, 0},
    {"refilled_bad", COPY, 0},
    {"matrix_early_bad", RACE, 0},
    {"queue_bad", RACE, 0},
    {"lane_exchange_bad", RACE, 0},
    {"bytes_bad", RACE, 0},
};

static const struct
{
  const char *file;
  const Fault *faults;
  gsize count;
} files[] = {{"memory-faults.cu", faults_of_memory, G_N_ELEMENTS (faults_of_memory)},
             {"order-faults.cu", faults_of_order, G_N_ELEMENTS (faults_of_order)},
             {"clean.cu", NULL, 0}};

static const char *const options[] = {NULL, "--device-debug", "--use_fast_math"};

/* PTX of a file with an option; NULL where there is no compiler. */
static const char *
ptx_of (gsize file, gsize option)
{
  static char *all[G_N_ELEMENTS (files)][G_N_ELEMENTS (options)];
  if (all[file][option] == NULL)
    all[file][option] = compile_kernels (files[file].file, options[option]);
  return all[file][option];
}

/* Clean kernels that need more than one block of 64 threads. */
static const struct
{
  const char *kernel;
  unsigned blocks;
  gboolean cooperative;
} launches[] = {
    {"spin_lock", 4, FALSE},          {"ticket_lock", 4, FALSE}, {"look_back", 8, FALSE},
    {"last_block", 8, FALSE},         {"flags", 8, FALSE},       {"grid_sync", 2, TRUE},
    {"read_by_all_blocks", 3, FALSE},
};

static CUresult
run_kernel (Gpu *gpu, const char *ptx, const char *kernel, unsigned blocks)
{
  int n = N;
  float in[N];
  CUresult (*together) (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, CUstream, void **);
  gboolean cooperative = FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS (launches); i++)
    if (strcmp (launches[i].kernel, kernel) == 0)
      {
        blocks = launches[i].blocks;
        cooperative = launches[i].cooperative;
      }
  for (int i = 0; i < N; i++)
    in[i] = (float) i;
  CUdeviceptr din = gpu_put (gpu, in, sizeof in, "in");
  CUdeviceptr dout = gpu_put (gpu, NULL, sizeof in, "out");
  CUfunction f = gpu_load (gpu, ptx, kernel);
  unsigned shared = g_str_has_prefix (kernel, "dynamic_shared") ? N * 4 : 0;
  if (!cooperative)
    return gpu_run (gpu, f, blocks, 1, N, 1, shared, &n, &din, &dout, NULL);
  void *parameters[] = {&n, &din, &dout};
  *(void **) &together = gpu_symbol ("cuLaunchCooperativeKernel");
  CUresult result = together (f, blocks, 1, 1, N, 1, 1, 0, NULL, parameters);
  return result != CUDA_SUCCESS ? result : gpu->driver.ctx_synchronize ();
}

typedef struct
{
  gsize file;
  const Fault *fault;
  char *kernel;
} Case;

/* The marker within a kernel: each has one line with it. */
static int
line_of_fault (const char *file, const char *kernel)
{
  g_autofree char *path =
      g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "tests", "vgpu", "kernels", file, NULL);
  g_autofree char *text = NULL, *start = g_strdup_printf ("%s (int", kernel);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  const char *at = strstr (text, start);
  g_assert_nonnull (at);
  const char *marker = strstr (at, "// fault:");
  g_assert_nonnull (marker);
  int line = 1;
  for (const char *c = text; c < marker; c++)
    line += *c == '\n';
  return line;
}

static void
test_fault (gconstpointer data)
{
  const Case *c = data;
  const Fault *fault = c->fault;
  const char *ptx = ptx_of (c->file, 0);
  if (!ptx)
    return;
  g_autoptr (Gpu) gpu = gpu_open ("checks=all");
  CUresult result = run_kernel (gpu, ptx, fault->kernel, MAX (fault->blocks, 1));
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  int line = line_of_fault (files[c->file].file, fault->kernel);
  gboolean found = FALSE;
  for (guint i = 0; i < reports->len; i++)
    {
      JsonObject *report = reports->pdata[i];
      if (!json_object_has_member (report, "rule")
          || strcmp (json_object_get_string_member (report, "rule"), fault->rule) != 0)
        continue;
      /* Of the two sides of a race, either may be the one that was seen last. */
      JsonObject *other = json_object_has_member (report, "other")
                              ? json_object_get_object_member (report, "other")
                              : NULL;
      gboolean there = json_object_get_int_member (report, "line") == line
                       || (other && json_object_has_member (other, "line")
                           && g_str_has_prefix (fault->rule, "race.")
                           && json_object_get_int_member (other, "line") == line);
      g_test_message ("line %d: %s", (int) json_object_get_int_member (report, "line"),
                      json_object_get_string_member (report, "message"));
      found = found || there;
    }
  g_assert_true (found);
  g_assert_cmpint (result, ==, fault->result);
}

static void
test_clean (gconstpointer data)
{
  const Case *c = data;
  for (gsize option = 0; option < G_N_ELEMENTS (options); option++)
    {
      const char *ptx = ptx_of (c->file, option);
      if (!ptx)
        return;
      g_autoptr (Gpu) gpu = gpu_open ("checks=all;max_instructions=100000000");
      CUresult result = run_kernel (gpu, ptx, c->kernel, 1);
      g_autoptr (GPtrArray) reports = gpu_reports (gpu);
      JsonObject *report = find_type (reports, "report");
      const char *how = options[option] ? options[option] : "as usual";
      if (report)
        g_test_message ("%s, %s: line %d: %s", c->kernel, how,
                        (int) json_object_get_int_member (report, "line"),
                        json_object_get_string_member (report, "message"));
      else if (result != CUDA_SUCCESS)
        g_test_message ("%s, %s: error %d", c->kernel, how, result);
      if (report || result != CUDA_SUCCESS)
        g_test_fail ();
    }
}

static Case *
new_case (gsize file, const Fault *fault, const char *kernel)
{
  Case *c = g_new0 (Case, 1);
  c->file = file;
  c->fault = fault;
  c->kernel = g_strdup (kernel);
  return c;
}

static void
free_case (gpointer data)
{
  Case *c = data;
  g_free (c->kernel);
  g_free (c);
}

/* Every kernel of a file that is not said to have a fault. */
static void
add_clean (gsize file)
{
  g_autofree char *path = g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "tests", "vgpu",
                                            "kernels", files[file].file, NULL);
  g_autofree char *text = NULL;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (gsize i = 0; lines[i] && lines[i + 1]; i++)
    {
      if (strcmp (lines[i], "KERNEL") != 0)
        continue;
      g_autofree char *kernel = g_strndup (lines[i + 1], strcspn (lines[i + 1], " "));
      if (g_str_has_suffix (kernel, "_bad"))
        continue;
      g_autofree char *name = g_strdup_printf ("/vgpu/faults/clean/%s", kernel);
      g_test_add_data_func_full (name, new_case (file, NULL, kernel), test_clean, free_case);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize file = 0; file < G_N_ELEMENTS (files); file++)
    {
      for (gsize i = 0; i < files[file].count; i++)
        {
          const Fault *fault = &files[file].faults[i];
          g_autofree char *name = g_strdup_printf ("/vgpu/faults/%s", fault->kernel);
          g_test_add_data_func_full (name, new_case (file, fault, fault->kernel), test_fault,
                                     free_case);
        }
      add_clean (file);
    }
  return g_test_run ();
}
