/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels use beside arithmetic: atomics, warp functions, divergence, calls, 16-bit and 8-bit
 * floats, tensor instructions, asynchronous copies, cooperative groups. */
#include "tests/vgpu/harness.h"

#include "engine/number/half.h"

#include <math.h>
#include <string.h>

static char *features_ptx;

static Gpu *
open_features (void)
{
  if (features_ptx == NULL)
    features_ptx = compile_kernels ("features.cu", NULL);
  return features_ptx != NULL ? gpu_open ("checks=all") : NULL;
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

static void
test_atomics (void)
{
  g_autoptr (Gpu) gpu = open_features ();
  if (gpu == NULL)
    return;
  enum
  {
    THREADS = 96
  };
  int i[7] = {0, 0, 0, 0, -1, 0, 0}, wi[7] = {0, 0, 0, 0, -1, 0, 0};
  unsigned u[6] = {0, 0, 0, 5, 1000, 0};
  guint64 w[2] = {0, 0};
  float f = 1;
  double d = 1;
  guint16 h[2] = {0, 0}, b[2] = {0, 0};
  CUdeviceptr di = gpu_put (gpu, i, sizeof i, "i"), du = gpu_put (gpu, u, sizeof u, "u");
  CUdeviceptr dw = gpu_put (gpu, w, sizeof w, "w"), df = gpu_put (gpu, &f, 4, "f");
  CUdeviceptr dd = gpu_put (gpu, &d, 8, "d"), dh = gpu_put (gpu, h, 4, "h");
  CUdeviceptr db = gpu_put (gpu, b, 4, "b");
  CUfunction k = gpu_load (gpu, features_ptx, "atomics");
  g_assert_cmpint (
      gpu_run (gpu, k, 2, 1, THREADS / 2, 1, 0, &di, &du, &dw, &df, &dd, &dh, &db, NULL), ==,
      CUDA_SUCCESS);
  gpu_get (gpu, i, di, sizeof i);
  gpu_get (gpu, u, du, sizeof u);
  gpu_get (gpu, w, dw, sizeof w);
  gpu_get (gpu, &f, df, 4);
  gpu_get (gpu, &d, dd, 8);
  gpu_get (gpu, h, dh, 4);
  gpu_get (gpu, b, db, 4);
  unsigned counter = 0, down = 0;
  for (int t = 0; t < THREADS; t++)
    {
      wi[0] += t;
      wi[1] -= t;
      wi[2] = MIN (wi[2], -t);
      wi[3] = MAX (wi[3], t);
      wi[4] &= ~(1 << (t % 31));
      wi[5] |= 1 << (t % 31);
      wi[6] ^= t;
      counter = counter >= 99 ? 0 : counter + 1;
      down = down == 0 || down > 99 ? 99 : down - 1;
    }
  g_assert_cmpmem (i, sizeof i, wi, sizeof wi);
  g_assert_cmpuint (u[0], ==, counter);
  g_assert_cmpuint (u[1], ==, down);
  g_assert_cmpuint (u[2], ==, 77);
  g_assert_cmpuint (u[3], ==, 6);
  g_assert_cmpuint (u[4], ==, 3);
  g_assert_cmpuint (u[5], ==, THREADS - 1);
  g_assert_cmpuint (w[0], ==, (guint64) THREADS << 33);
  g_assert_cmpuint (w[1], ==, (guint64) (THREADS - 1) << 20);
  g_assert_cmpfloat (f, ==, 1 + 0.5f * THREADS);
  g_assert_cmpfloat (d, ==, 1 + 0.25 * THREADS);
  g_assert_cmpfloat (assay_half_to_float (h[0]), ==, THREADS);
  g_assert_cmpfloat (assay_half_to_float (h[1]), ==, 0.5f * THREADS);
  g_assert_cmpfloat (assay_bfloat_to_float (b[0]), ==, 0.5f * THREADS);
  g_assert_cmpfloat (assay_bfloat_to_float (b[1]), ==, THREADS);
}

static int
bits_in (unsigned value)
{
  int count = 0;
  for (; value != 0; value >>= 1)
    count += value & 1;
  return count;
}

static void
test_warp (void)
{
  g_autoptr (Gpu) gpu = open_features ();
  if (gpu == NULL)
    return;
  int in[64], out[640], want[640] = {0};
  for (int t = 0; t < 64; t++)
    in[t] = (t * 37) % 101 + 1;
  CUdeviceptr din = gpu_put (gpu, in, sizeof in, "in");
  CUdeviceptr dout = gpu_put (gpu, want, sizeof out, "out");
  CUfunction k = gpu_load (gpu, features_ptx, "warp");
  g_assert_cmpint (gpu_run (gpu, k, 1, 1, 64, 1, 0, &din, &dout, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, out, dout, sizeof out);
  for (int t = 0; t < 64; t++)
    {
      int lane = t % 32, base = t - lane, sum = 0, most = 0;
      unsigned ballot = 0, match = 0;
      for (int l = 0; l < 32; l++)
        {
          sum += in[base + l];
          most = MAX (most, in[base + l]);
          ballot |= (unsigned) (in[base + l] & 1) << l;
          match |= (unsigned) (in[base + l] % 5 == in[t] % 5) << l;
        }
      want[t] = in[lane < 3 ? t : t - 3];
      want[t + 64] = in[lane % 16 + 5 < 16 ? t + 5 : t];
      want[t + 128] = in[base + (lane ^ 9)];
      want[t + 192] = in[base + lane / 8 * 8 + (lane + 7) % 8];
      want[t + 256] = (int) ballot;
      want[t + 320] = 2;
      want[t + 384] = (int) match;
      want[t + 448] = sum + most;
      want[t + 512] = lane < 10 ? 0x3ff : 0;
      want[t + 576] =
          bits_in ((unsigned) in[t]) + __builtin_clz ((unsigned) in[t]) + __builtin_ffs (in[t]);
    }
  g_assert_cmpmem (out, sizeof out, want, sizeof want);
  assert_no_reports (gpu);
}

static int
diverge (const int *in, int t)
{
  int sum = 0;
  if (t == 17)
    return -1;
  for (int i = 0; i < in[t] % 7; i++)
    {
      if (i == 4)
        continue;
      if ((t + i) % 3 == 0)
        for (int k = 0; k < t % 4; k++)
          sum += k * i + 1;
      else if (t % 11 == 10)
        break;
      else
        sum -= i;
    }
  return sum;
}

static int
choose (const int *in, int t)
{
  switch (in[t] % 9)
    {
    case 0:
      return in[(t + 1) % 64];
    case 1:
      return t * 3;
    case 2:
      return -t;
    case 3:
      return in[t] ^ 77;
    case 4:
      return 5;
    case 5:
      return t << 3;
    case 6:
      return in[63 - t];
    default:
      return 99;
    }
}

static void
test_divergence (void)
{
  g_autoptr (Gpu) gpu = open_features ();
  if (gpu == NULL)
    return;
  static const struct
  {
    const char *kernel;
    int (*reference) (const int *in, int t);
  } cases[] = {{"divergence", diverge}, {"switches", choose}};
  int in[64], out[64];
  for (int t = 0; t < 64; t++)
    in[t] = (t * 53) % 97;
  for (size_t c = 0; c < G_N_ELEMENTS (cases); c++)
    {
      CUdeviceptr din = gpu_put (gpu, in, sizeof in, "in");
      CUdeviceptr dout = gpu_put (gpu, NULL, sizeof out, "out");
      CUfunction k = gpu_load (gpu, features_ptx, cases[c].kernel);
      g_assert_cmpint (gpu_run (gpu, k, 1, 1, 64, 1, 0, &din, &dout, NULL), ==, CUDA_SUCCESS);
      gpu_get (gpu, out, dout, sizeof out);
      for (int t = 0; t < 64; t++)
        g_assert_cmpint (out[t], ==, cases[c].reference (in, t));
    }
  assert_no_reports (gpu);
}

/* What a thread of early_returns brings to the end; 0: it left before. */
static int
value_at_end (int v, int t)
{
  if (t % 32 < 16)
    {
      if (v % 5 == 0)
        return 0;
      v *= 3;
    }
  else if (v % 7 == 0)
    return 0;
  for (int i = 0; i < v % 4; i++)
    {
      if (v == 33)
        return 0;
      v += i;
    }
  return v;
}

static void
test_early_returns (void)
{
  g_autoptr (Gpu) gpu = open_features ();
  if (gpu == NULL)
    return;
  int in[64], out[64] = {0}, values[64], here[2] = {0}, sum = 0;
  for (int t = 0; t < 64; t++)
    {
      in[t] = (t * 29) % 61 + 1;
      values[t] = value_at_end (in[t], t);
      here[t / 32] += values[t] > 0;
      sum += values[t];
    }
  CUdeviceptr din = gpu_put (gpu, in, sizeof in, "in"), dout = gpu_put (gpu, out, sizeof out, "o");
  CUfunction k = gpu_load (gpu, features_ptx, "early_returns");
  g_assert_cmpint (gpu_run (gpu, k, 1, 1, 64, 1, 0, &din, &dout, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, out, dout, sizeof out);
  g_assert_cmpint (here[0], <, 32);
  for (int t = 0; t < 64; t++)
    g_assert_cmpint (out[t], ==, values[t] > 0 ? here[t / 32] * 100000 + sum : 0);
  assert_no_reports (gpu);
}

static void
test_rare_exit (void)
{
  g_autoptr (Gpu) gpu = open_features ();
  if (gpu == NULL)
    return;
  int in[64], out[64], values[64], others[64], n = 5;
  for (int t = 0; t < 64; t++)
    values[t] = in[t] = (t * 29) % 61;
  for (int i = 0; i < n; i++)
    {
      for (int t = 0; t < 64; t++)
        values[t] += t % 32 < 10 + i ? i * t : 0;
      for (int t = 0; t < 64; t++)
        others[t] = values[t / 32 * 32 + (t % 32 ^ 16)];
      for (int t = 0; t < 64; t++)
        {
          values[t] += others[t];
          values[t] ^= t % 32 > 20 ? 5 : 0;
        }
    }
  CUdeviceptr din = gpu_put (gpu, in, sizeof in, "in"), dout = gpu_put (gpu, NULL, sizeof out, "o");
  CUfunction k = gpu_load (gpu, features_ptx, "rare_exit");
  g_assert_cmpint (gpu_run (gpu, k, 1, 1, 64, 1, 0, &din, &dout, &n, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, out, dout, sizeof out);
  g_assert_cmpmem (out, sizeof out, values, sizeof values);
  assert_no_reports (gpu);
}

static void
test_calls (void)
{
  g_autoptr (Gpu) gpu = open_features ();
  if (gpu == NULL)
    return;
  float in[64], out[64];
  for (int t = 0; t < 64; t++)
    in[t] = (float) t / 4;
  CUdeviceptr din = gpu_put (gpu, in, sizeof in, "in");
  CUdeviceptr dout = gpu_put (gpu, NULL, sizeof out, "out");
  CUfunction k = gpu_load (gpu, features_ptx, "calls");
  g_assert_cmpint (gpu_run (gpu, k, 1, 1, 64, 1, 0, &din, &dout, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, out, dout, sizeof out);
  for (int t = 0; t < 64; t++)
    g_assert_cmpfloat (out[t], ==, in[t] * (float) (t & 7) + (float) (2 * t) + (float) (2 * t));
  assert_no_reports (gpu);
}

static guint16
half (double value)
{
  return assay_double_to_half (value);
}

static void
test_halves (void)
{
  g_autoptr (Gpu) gpu = open_features ();
  if (gpu == NULL)
    return;
  guint16 a[64], b[64], out[64], c[64], d[64];
  for (int t = 0; t < 64; t++)
    {
      a[t] = half ((t - 20) * 0.37);
      b[t] = half ((40 - t) * 0.11);
      c[t] = assay_float_to_bfloat ((float) t * 0.7f);
    }
  CUdeviceptr da = gpu_put (gpu, a, sizeof a, "a"), db = gpu_put (gpu, b, sizeof b, "b");
  CUdeviceptr dc = gpu_put (gpu, c, sizeof c, "c"), dd = gpu_put (gpu, NULL, sizeof d, "d");
  CUdeviceptr dout = gpu_put (gpu, NULL, sizeof out, "out");
  CUfunction k = gpu_load (gpu, features_ptx, "halves");
  g_assert_cmpint (gpu_run (gpu, k, 1, 1, 32, 1, 0, &da, &db, &dout, &dc, &dd, NULL), ==,
                   CUDA_SUCCESS);
  gpu_get (gpu, out, dout, sizeof out);
  gpu_get (gpu, d, dd, sizeof d);
  for (int t = 0; t < 32; t++)
    {
      bool negate = assay_half_to_float (a[2 * t]) < assay_half_to_float (b[2 * t + 1]);
      for (int i = 2 * t; i < 2 * t + 2; i++)
        {
          double x = assay_half_to_float (a[i]), y = assay_half_to_float (b[i]);
          double want = fma (x, y, fmax (x, y));
          double z = assay_bfloat_to_float (c[i]);
          g_assert_cmphex (out[i], ==, half (negate ? -want : want));
          g_assert_cmphex (d[i], ==, assay_float_to_bfloat ((float) (z * z)));
        }
    }
  assert_no_reports (gpu);
}

static void
test_fp8 (void)
{
  g_autoptr (Gpu) gpu = open_features ();
  if (gpu == NULL)
    return;
  /* OCP OFP8: largest, halfway cases to even, subnormals. */
  static const float cases[][3] = {
      {0, 0, 0},
      {1, 1, 1},
      {448, 448, 448},
      {1000, 448, 1024},
      {1.0625f, 1, 1},
      {1.1875f, 1.25f, 1.25f},
      {-3.3f, -3.25f, -3.5f},
      {0.001953125f, 0.001953125f, 0.001953125f},
      {0.0009f, 0, 0.0008544921875f},
      {60000, 448, 57344},
      {1e9f, 448, 57344},
  };
  float in[64] = {0}, out[128];
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    in[i] = cases[i][0];
  CUdeviceptr din = gpu_put (gpu, in, sizeof in, "in");
  CUdeviceptr dout = gpu_put (gpu, NULL, sizeof out, "out");
  CUfunction k = gpu_load (gpu, features_ptx, "fp8");
  g_assert_cmpint (gpu_run (gpu, k, 1, 1, 64, 1, 0, &din, &dout, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, out, dout, sizeof out);
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_assert_cmpfloat (out[i], ==, cases[i][1]);
      g_assert_cmpfloat (out[i + 64], ==, cases[i][2]);
    }
  assert_no_reports (gpu);
}

static void
test_wmma (void)
{
  g_autoptr (Gpu) gpu = open_features ();
  if (gpu == NULL)
    return;
  guint16 a[16][32], b[16][32];
  float c[16][16];
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 32; j++)
      {
        a[i][j] = half ((i * 7 + j * 3) % 11 - 5);
        b[i][j] = half ((i * 5 + j) % 9 * 0.25);
      }
  CUdeviceptr da = gpu_put (gpu, a, sizeof a, "a"), db = gpu_put (gpu, b, sizeof b, "b");
  CUdeviceptr dc = gpu_put (gpu, NULL, sizeof c, "c");
  CUfunction k = gpu_load (gpu, features_ptx, "wmma_gemm");
  g_assert_cmpint (gpu_run (gpu, k, 1, 1, 32, 1, 0, &da, &db, &dc, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, c, dc, sizeof c);
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++)
      {
        float want = 1;
        for (int l = 0; l < 32; l++)
          want += assay_half_to_float (a[i][l]) * assay_half_to_float (b[j][l]);
        g_assert_cmpfloat (c[i][j], ==, 2 * want);
      }
  assert_no_reports (gpu);
}

static void
test_mma (void)
{
  g_autoptr (Gpu) gpu = open_features ();
  if (gpu == NULL)
    return;
  guint16 a[16][16], b[16][8];
  float c[16][8];
  for (int i = 0; i < 16; i++)
    {
      for (int j = 0; j < 16; j++)
        a[i][j] = half ((i * 7 + j * 3) % 13 - 6);
      for (int j = 0; j < 8; j++)
        b[i][j] = half ((i * 3 + j * 5) % 7 - 3);
    }
  CUdeviceptr da = gpu_put (gpu, a, sizeof a, "a"), db = gpu_put (gpu, b, sizeof b, "b");
  CUdeviceptr dc = gpu_put (gpu, NULL, sizeof c, "c");
  CUfunction k = gpu_load (gpu, features_ptx, "mma_gemm");
  g_assert_cmpint (gpu_run (gpu, k, 1, 1, 32, 1, 0, &da, &db, &dc, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, c, dc, sizeof c);
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 8; j++)
      {
        float want = 0;
        for (int l = 0; l < 16; l++)
          want += assay_half_to_float (a[i][l]) * assay_half_to_float (b[l][j]);
        g_assert_cmpfloat (c[i][j], ==, want);
      }
  assert_no_reports (gpu);
}

static void
test_pipeline (void)
{
  g_autoptr (Gpu) gpu = open_features ();
  if (gpu == NULL)
    return;
  enum
  {
    STAGES = 5
  };
  int n = STAGES;
  float in[STAGES * 256], out[STAGES * 256];
  for (int i = 0; i < STAGES * 256; i++)
    in[i] = (float) i;
  CUdeviceptr din = gpu_put (gpu, in, sizeof in, "in");
  CUdeviceptr dout = gpu_put (gpu, NULL, sizeof out, "out");
  CUfunction k = gpu_load (gpu, features_ptx, "pipeline");
  g_assert_cmpint (gpu_run (gpu, k, 1, 1, 64, 1, 0, &din, &dout, &n, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, out, dout, sizeof out);
  for (int s = 0; s < STAGES; s++)
    for (int t = 0; t < 64; t++)
      for (int i = 0; i < 4; i++)
        g_assert_cmpfloat (out[(s * 64 + t) * 4 + i], ==, in[(s * 64 + 63 - t) * 4 + i]);
  assert_no_reports (gpu);
}

static void
test_groups (void)
{
  g_autoptr (Gpu) gpu = open_features ();
  if (gpu == NULL)
    return;
  int in[64], out[64] = {0};
  for (int t = 0; t < 64; t++)
    in[t] = t * t;
  CUdeviceptr din = gpu_put (gpu, in, sizeof in, "in");
  CUdeviceptr dout = gpu_put (gpu, out, sizeof out, "out");
  CUfunction k = gpu_load (gpu, features_ptx, "groups");
  g_assert_cmpint (gpu_run (gpu, k, 1, 1, 64, 1, 0, &din, &dout, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, out, dout, sizeof out);
  for (int g = 0; g < 8; g++)
    {
      int want = 0;
      for (int t = 0; t < 8; t++)
        want += in[g * 8 + t];
      g_assert_cmpint (out[g], ==, want);
    }
  /* Of the ranks 0…31 and 32…63, every third. */
  g_assert_cmpint (out[32], ==, 11);
  g_assert_cmpint (out[33], ==, 11);
  assert_no_reports (gpu);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/vgpu/features/atomics", test_atomics);
  g_test_add_func ("/vgpu/features/warp", test_warp);
  g_test_add_func ("/vgpu/features/divergence", test_divergence);
  g_test_add_func ("/vgpu/features/early-returns", test_early_returns);
  g_test_add_func ("/vgpu/features/rare-exit", test_rare_exit);
  g_test_add_func ("/vgpu/features/calls", test_calls);
  g_test_add_func ("/vgpu/features/halves", test_halves);
  g_test_add_func ("/vgpu/features/fp8", test_fp8);
  g_test_add_func ("/vgpu/features/wmma", test_wmma);
  g_test_add_func ("/vgpu/features/mma", test_mma);
  g_test_add_func ("/vgpu/features/pipeline", test_pipeline);
  g_test_add_func ("/vgpu/features/groups", test_groups);
  int result = g_test_run ();
  g_free (features_ptx);
  return result;
}
