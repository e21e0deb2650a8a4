/* SPDX-License-Identifier: Apache-2.0 */
/* Real kernels, compiled by NVRTC, against plain C. */
#include "tests/vgpu/harness.h"

#include "engine/number/half.h"

#include <math.h>
#include <string.h>

static float *
random_floats (size_t count, unsigned seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  float *values = g_new (float, count);
  for (size_t i = 0; i < count; i++)
    values[i] = (float) g_rand_double_range (rand, -1.0, 1.0);
  return values;
}

static void
test_saxpy (void)
{
  g_autofree char *ptx = compile_kernels ("basic.cu", NULL);
  if (ptx == NULL)
    return;
  int n = 1000003;
  float a = 1.7f;
  g_autoptr (Gpu) gpu = gpu_open ("checks=all");
  g_autofree float *x = random_floats ((size_t) n, 1), *y = random_floats ((size_t) n, 2);
  g_autofree float *got = g_new (float, n);
  size_t bytes = (size_t) n * sizeof *x;
  CUdeviceptr dx = gpu_put (gpu, x, bytes, "x"), dy = gpu_put (gpu, y, bytes, "y");
  CUfunction f = gpu_load (gpu, ptx, "saxpy");
  g_assert_cmpint (
      gpu_run (gpu, f, (unsigned) (n + 255) / 256, 1, 256, 1, 0, &n, &a, &dx, &dy, NULL), ==,
      CUDA_SUCCESS);
  gpu_get (gpu, got, dy, bytes);
  for (int i = 0; i < n; i++)
    {
      float want = fmaf (a, x[i], y[i]);
      g_assert_cmpmem (&got[i], 4, &want, 4);
    }
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  g_assert_cmpuint (reports->len, ==, 1);
  JsonObject *launch = find_type (reports, "launch");
  JsonObject *flops = json_object_get_object_member (launch, "flops");
  /* One fused multiply-add for each element; inactive threads do none. */
  g_assert_cmpint (json_object_get_int_member (flops, "f32"), ==, 2 * n);
  JsonObject *moved = json_object_get_object_member (launch, "bytes");
  g_assert_cmpint (json_object_get_int_member (moved, "global_read"), ==, 8 * n);
  g_assert_cmpint (json_object_get_int_member (moved, "global_write"), ==, 4 * n);
}

static void
check_sgemm (const char *settings)
{
  g_autofree char *ptx = compile_kernels ("basic.cu", NULL);
  if (ptx == NULL)
    return;
  int n = 96;
  size_t count = (size_t) n * (size_t) n;
  g_autoptr (Gpu) gpu = gpu_open (settings);
  g_autofree float *a = random_floats (count, 3), *b = random_floats (count, 4);
  g_autofree float *got = g_new (float, count);
  CUdeviceptr da = gpu_put (gpu, a, count * 4, "A"), db = gpu_put (gpu, b, count * 4, "B");
  CUdeviceptr dc = gpu_put (gpu, NULL, count * 4, "C");
  CUfunction f = gpu_load (gpu, ptx, "sgemm");
  g_assert_cmpint (
      gpu_run (gpu, f, (unsigned) n / 16, (unsigned) n / 16, 16, 16, 0, &n, &da, &db, &dc, NULL),
      ==, CUDA_SUCCESS);
  gpu_get (gpu, got, dc, count * 4);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      {
        float want = 0;
        for (int k = 0; k < n; k++)
          want = fmaf (a[i * n + k], b[k * n + j], want);
        g_assert_cmpmem (&got[i * n + j], 4, &want, 4);
      }
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  g_assert_null (find_type (reports, "report"));
}

static void
test_sgemm (void)
{
  check_sgemm ("checks=none");
  check_sgemm ("checks=all");
  check_sgemm ("checks=all;seed=7");
}

static void
test_softmax (void)
{
  g_autofree char *ptx = compile_kernels ("basic.cu", NULL);
  if (ptx == NULL)
    return;
  int rows = 17, n = 333;
  size_t count = (size_t) rows * (size_t) n;
  g_autoptr (Gpu) gpu = gpu_open ("checks=all");
  g_autofree float *x = random_floats (count, 5), *got = g_new (float, count);
  CUdeviceptr dx = gpu_put (gpu, x, count * 4, "x"), dy = gpu_put (gpu, NULL, count * 4, "y");
  CUfunction f = gpu_load (gpu, ptx, "softmax");
  g_assert_cmpint (gpu_run (gpu, f, (unsigned) rows, 1, 128, 1, 0, &n, &dx, &dy, NULL), ==,
                   CUDA_SUCCESS);
  gpu_get (gpu, got, dy, count * 4);
  for (int i = 0; i < rows; i++)
    {
      double sum = 0;
      for (int j = 0; j < n; j++)
        sum += exp (x[i * n + j]);
      for (int j = 0; j < n; j++)
        {
          double want = exp (x[i * n + j]) / sum;
          g_assert_cmpfloat_with_epsilon (got[i * n + j], want, want * 2e-6);
        }
    }
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  g_assert_null (find_type (reports, "report"));
}

static void
test_reduce (void)
{
  g_autofree char *ptx = compile_kernels ("basic.cu", NULL);
  if (ptx == NULL)
    return;
  int n = 100000, zero = 0, counted = 0;
  float none = 0, total = 0;
  g_autoptr (Gpu) gpu = gpu_open ("checks=all");
  g_autofree float *x = random_floats ((size_t) n, 6);
  CUdeviceptr dx = gpu_put (gpu, x, (size_t) n * 4, "x");
  CUdeviceptr dt = gpu_put (gpu, &none, 4, "total"), dc = gpu_put (gpu, &zero, 4, "count");
  CUfunction f = gpu_load (gpu, ptx, "reduce");
  g_assert_cmpint (gpu_run (gpu, f, 24, 1, 256, 1, 0, &n, &dx, &dt, &dc, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, &total, dt, 4);
  gpu_get (gpu, &counted, dc, 4);
  double want = 0;
  for (int i = 0; i < n; i++)
    want += x[i];
  g_assert_cmpfloat_with_epsilon (total, want, 1e-2);
  g_assert_cmpint (counted, ==, 24 * 256);
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  g_assert_null (find_type (reports, "report"));
}

static void
test_layernorm (void)
{
  g_autofree char *ptx = compile_kernels ("basic.cu", NULL);
  if (ptx == NULL)
    return;
  int rows = 9, n = 256;
  size_t count = (size_t) rows * (size_t) n;
  g_autoptr (Gpu) gpu = gpu_open ("checks=all");
  g_autofree float *x = random_floats (count, 7), *got = g_new (float, count);
  g_autofree float *gain = random_floats ((size_t) n, 8), *bias = random_floats ((size_t) n, 9);
  CUdeviceptr dx = gpu_put (gpu, x, count * 4, "x"), dy = gpu_put (gpu, NULL, count * 4, "y");
  CUdeviceptr dg = gpu_put (gpu, gain, (size_t) n * 4, "gain");
  CUdeviceptr db = gpu_put (gpu, bias, (size_t) n * 4, "bias");
  CUfunction f = gpu_load (gpu, ptx, "layernorm");
  g_assert_cmpint (gpu_run (gpu, f, (unsigned) rows, 1, (unsigned) n, 1, (unsigned) n * 4, &n, &dx,
                            &dg, &db, &dy, NULL),
                   ==, CUDA_SUCCESS);
  gpu_get (gpu, got, dy, count * 4);
  for (int i = 0; i < rows; i++)
    {
      double mean = 0, variance = 0;
      for (int j = 0; j < n; j++)
        mean += x[i * n + j] / (double) n;
      for (int j = 0; j < n; j++)
        variance += (x[i * n + j] - mean) * (x[i * n + j] - mean) / n;
      for (int j = 0; j < n; j++)
        {
          double want = (x[i * n + j] - mean) / sqrt (variance + 1e-5) * gain[j] + bias[j];
          g_assert_cmpfloat_with_epsilon (got[i * n + j], want, 4e-6);
        }
    }
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  g_assert_null (find_type (reports, "report"));
}

static void
test_gemm_bf16 (void)
{
  g_autofree char *ptx = compile_kernels ("basic.cu", NULL);
  if (ptx == NULL)
    return;
  int n = 40;
  size_t count = (size_t) n * (size_t) n;
  g_autoptr (Gpu) gpu = gpu_open ("checks=all");
  g_autofree float *fa = random_floats (count, 10), *fb = random_floats (count, 11);
  g_autofree guint16 *a = g_new (guint16, count), *b = g_new (guint16, count);
  g_autofree guint16 *got = g_new (guint16, count);
  for (size_t i = 0; i < count; i++)
    {
      a[i] = assay_float_to_bfloat (fa[i]);
      b[i] = assay_float_to_bfloat (fb[i]);
    }
  CUdeviceptr da = gpu_put (gpu, a, count * 2, "A"), db = gpu_put (gpu, b, count * 2, "B");
  CUdeviceptr dc = gpu_put (gpu, NULL, count * 2, "C");
  CUfunction f = gpu_load (gpu, ptx, "gemm_bf16");
  g_assert_cmpint (gpu_run (gpu, f, 3, 5, 16, 8, 0, &n, &da, &db, &dc, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, got, dc, count * 2);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      {
        float sum = 0;
        for (int k = 0; k < n; k++)
          sum = fmaf (assay_bfloat_to_float (a[i * n + k]), assay_bfloat_to_float (b[k * n + j]),
                      sum);
        g_assert_cmphex (got[i * n + j], ==, assay_float_to_bfloat (sum));
      }
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  g_assert_null (find_type (reports, "report"));
}

static void
test_transpose_counts_bank_conflicts (void)
{
  g_autofree char *ptx = compile_kernels ("basic.cu", NULL);
  if (ptx == NULL)
    return;
  int n = 64;
  size_t count = (size_t) n * (size_t) n;
  g_autoptr (Gpu) gpu = gpu_open ("checks=all");
  g_autofree float *x = random_floats (count, 12), *got = g_new (float, count);
  CUdeviceptr dx = gpu_put (gpu, x, count * 4, "x"), dy = gpu_put (gpu, NULL, count * 4, "y");
  CUfunction f = gpu_load (gpu, ptx, "transpose");
  g_assert_cmpint (gpu_run (gpu, f, 2, 2, 32, 8, 0, &n, &dx, &dy, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, got, dy, count * 4);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      g_assert_cmpfloat (got[i * n + j], ==, x[j * n + i]);
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  JsonObject *launch = find_type (reports, "launch");
  /* Stores without conflicts, loads with 32 ways. */
  g_assert_cmpfloat (json_object_get_double_member (launch, "bank_conflict_degree"), ==, 16.5);
  g_assert_cmpint (json_object_get_int_member (launch, "sectors_read"), ==,
                   json_object_get_int_member (launch, "ideal_sectors_read"));
  JsonArray *lines = json_object_get_array_member (launch, "lines");
  bool found = false;
  for (guint i = 0; i < json_array_get_length (lines); i++)
    {
      JsonObject *line = json_array_get_object_element (lines, i);
      if (json_object_get_int_member (line, "line") == marked_line ("basic.cu", "conflicts: 32"))
        {
          found = true;
          g_assert_cmpfloat (json_object_get_double_member (line, "bank_degree"), ==, 32);
          g_assert_cmpfloat (json_object_get_double_member (line, "active_lanes_mean"), ==, 32);
        }
    }
  g_assert_true (found);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/vgpu/kernels/saxpy", test_saxpy);
  g_test_add_func ("/vgpu/kernels/sgemm", test_sgemm);
  g_test_add_func ("/vgpu/kernels/softmax", test_softmax);
  g_test_add_func ("/vgpu/kernels/reduce", test_reduce);
  g_test_add_func ("/vgpu/kernels/layernorm", test_layernorm);
  g_test_add_func ("/vgpu/kernels/gemm-bf16", test_gemm_bf16);
  g_test_add_func ("/vgpu/kernels/transpose-bank-conflicts", test_transpose_counts_bank_conflicts);
  return g_test_run ();
}
