/* SPDX-License-Identifier: Apache-2.0 */
/* Vector atomics, values and copies that combine on their way, and two instructions that move bits about. */
#include "engine/target/cuda-abi-more.h"
#include "tests/vgpu/harness.h"

#include <string.h>

static char *reduce_ptx;

static Gpu *
open_reduce (const char *settings)
{
  if (!reduce_ptx)
    reduce_ptx = compile_kernels ("reduce.cu", "--gpu-architecture=compute_90");
  return reduce_ptx ? gpu_open (settings) : NULL;
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
launch_pair (Gpu *gpu, const char *kernel, void **parameters)
{
  AssayLaunchAttribute attribute = {.number = 4, .cluster = {2, 1, 1}};
  AssayLaunchConfig config = {
      .grid = {2, 1, 1}, .block = {32, 1, 1}, .attributes = &attribute, .attribute_count = 1};
  CUresult (*launch) (const AssayLaunchConfig *, CUfunction, void **, void **);
  *(void **) &launch = gpu_symbol ("cuLaunchKernelEx");
  CUresult result = launch (&config, gpu_load (gpu, reduce_ptx, kernel), parameters, NULL);
  return result != CUDA_SUCCESS ? result : gpu->driver.ctx_synchronize ();
}

#define SETTINGS "target=sm_90;checks=all"

static void
test_vectors (void)
{
  g_autoptr (Gpu) gpu = open_reduce (SETTINGS);
  if (!gpu)
    return;
  float sums[8] = {0}, old[32][4];
  guint32 pairs[2] = {0};
  CUdeviceptr ds = gpu_put (gpu, sums, sizeof sums, "sums"), dp = gpu_put (gpu, pairs, 8, "pairs");
  CUdeviceptr dold = gpu_put (gpu, NULL, sizeof old, "old");
  CUfunction f = gpu_load (gpu, reduce_ptx, "vectors");
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, 32, 1, 0, &ds, &dp, &dold, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, sums, ds, sizeof sums);
  gpu_get (gpu, pairs, dp, sizeof pairs);
  gpu_get (gpu, old, dold, sizeof old);
  const float wanted[8] = {496, 992, 32, -496, 32, 32, 32, 32};
  g_assert_cmpmem (sums, sizeof sums, wanted, sizeof wanted);
  g_assert_cmphex (pairs[0], ==, 0x50005000); /* 32 in binary16, twice */
  g_assert_cmphex (pairs[1], ==, 0x50005000);
  /* Every lane found another number of lanes before it. */
  guint32 seen[4] = {0};
  for (int i = 0; i < 32; i++)
    for (int c = 0; c < 4; c++)
      seen[c] |= 1u << (int) old[i][c];
  for (int c = 0; c < 4; c++)
    g_assert_cmphex (seen[c], ==, 0xffffffff);
  assert_no_reports (gpu);
}

static void
test_misaligned (void)
{
  g_autoptr (Gpu) gpu = open_reduce ("target=sm_90");
  if (!gpu)
    return;
  float sums[4] = {0};
  CUdeviceptr ds = gpu_put (gpu, sums, sizeof sums, "sums");
  CUfunction f = gpu_load (gpu, reduce_ptx, "misaligned_vector");
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, 1, 1, 0, &ds, NULL), ==, CUDA_ERROR_MISALIGNED_ADDRESS);
}

static void
test_send (void)
{
  g_autoptr (Gpu) gpu = open_reduce (SETTINGS);
  if (!gpu)
    return;
  gint32 out[2][32][4];
  guint32 totals[2][2];
  CUdeviceptr dout = gpu_put (gpu, NULL, sizeof out, "out");
  CUdeviceptr dtotals = gpu_put (gpu, NULL, sizeof totals, "totals");
  void *parameters[] = {&dout, &dtotals};
  g_assert_cmpint (launch_pair (gpu, "send", parameters), ==, CUDA_SUCCESS);
  gpu_get (gpu, out, dout, sizeof out);
  gpu_get (gpu, totals, dtotals, sizeof totals);
  for (int rank = 0; rank < 2; rank++)
    {
      g_assert_cmpuint (totals[rank][0], ==, 100 + 496);
      g_assert_cmpuint (totals[rank][1], ==, 31);
      for (int i = 0; i < 32; i++)
        {
          const gint32 wanted[4] = {i, rank ^ 1, i * i, -1};
          g_assert_cmpmem (out[rank][i], sizeof wanted, wanted, sizeof wanted);
        }
    }
  assert_no_reports (gpu);
}

static void
test_combine (void)
{
  g_autoptr (Gpu) gpu = open_reduce (SETTINGS);
  if (!gpu)
    return;
  float sums[32];
  gint32 least[32], out[32];
  for (int i = 0; i < 32; i++)
    {
      sums[i] = 10;
      least[i] = 5;
    }
  CUdeviceptr ds = gpu_put (gpu, sums, sizeof sums, "sums");
  CUdeviceptr dl = gpu_put (gpu, least, sizeof least, "least");
  CUdeviceptr dout = gpu_put (gpu, NULL, sizeof out, "out");
  void *parameters[] = {&ds, &dl, &dout};
  g_assert_cmpint (launch_pair (gpu, "combine", parameters), ==, CUDA_SUCCESS);
  gpu_get (gpu, sums, ds, sizeof sums);
  gpu_get (gpu, least, dl, sizeof least);
  gpu_get (gpu, out, dout, sizeof out);
  for (int i = 0; i < 32; i++)
    {
      g_assert_cmpfloat (sums[i], ==, 10 + 2 * i + 0.5f);
      g_assert_cmpint (least[i], ==, -i);
      g_assert_cmpint (out[i], ==, 1000 - i);
    }
  assert_no_reports (gpu);
}

/* The part of the tile that lies in the tensor is added to it. */
static void
test_tile (void)
{
  enum
  {
    W = 40,
    H = 12
  };
  g_autoptr (Gpu) gpu = open_reduce (SETTINGS);
  if (!gpu)
    return;
  float tensor[H][W];
  struct
  {
    _Alignas(64) char bytes[128];
  } map;
  const guint64 sizes[] = {W, H}, strides[] = {W * 4};
  const unsigned box[] = {16, 8}, steps[] = {1, 1};
  for (int i = 0; i < W * H; i++)
    tensor[i / W][i % W] = (float) i;
  CUdeviceptr dt = gpu_put (gpu, tensor, sizeof tensor, "tensor");
  CUresult (*encode) (void *, int, unsigned, void *, const guint64 *, const guint64 *,
                      const unsigned *, const unsigned *, int, int, int, int);
  *(void **) &encode = gpu_symbol ("cuTensorMapEncodeTiled");
  g_assert_cmpint (
      encode (&map, 7, 2, (void *) (uintptr_t) dt, sizes, strides, box, steps, 0, 0, 0, 0), ==,
      CUDA_SUCCESS);
  int x = 32, y = 6;
  CUfunction f = gpu_load (gpu, reduce_ptx, "add_tile");
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, 128, 1, 0, &map, &x, &y, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, tensor, dt, sizeof tensor);
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++)
      {
        bool inside = i >= y && j >= x;
        float add = inside ? (float) ((i - y) * 16 + j - x) : 0;
        g_assert_cmpfloat (tensor[i][j], ==, (float) (i * W + j) + add);
      }
  assert_no_reports (gpu);
}

static void
test_logic (void)
{
  g_autoptr (Gpu) gpu = open_reduce (SETTINGS);
  if (!gpu)
    return;
  guint32 out[32];
  CUdeviceptr dout = gpu_put (gpu, NULL, sizeof out, "out");
  CUfunction f = gpu_load (gpu, reduce_ptx, "logic");
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, 32, 1, 0, &dout, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, out, dout, sizeof out);
  for (guint32 i = 0; i < 32; i++)
    {
      guint32 d = i & 12 & 8, late = i >= 24;
      g_assert_cmphex (out[i], ==,
                       d | (guint32) (d != 0 || late) << 8 | (guint32) (d != 0 && !late) << 16);
    }
}

static void
test_turn (void)
{
  g_autoptr (Gpu) gpu = open_reduce (SETTINGS);
  if (!gpu)
    return;
  guint16 in[8][8], out[8][8];
  for (int i = 0; i < 64; i++)
    in[i / 8][i % 8] = (guint16) (i * 1021);
  CUdeviceptr din = gpu_put (gpu, in, sizeof in, "in"),
              dout = gpu_put (gpu, NULL, sizeof out, "out");
  CUfunction f = gpu_load (gpu, reduce_ptx, "turn");
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, 32, 1, 0, &din, &dout, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, out, dout, sizeof out);
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      g_assert_cmpuint (out[i][j], ==, in[j][i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/vgpu/reduce/vectors", test_vectors);
  g_test_add_func ("/vgpu/reduce/misaligned", test_misaligned);
  g_test_add_func ("/vgpu/reduce/send", test_send);
  g_test_add_func ("/vgpu/reduce/combine", test_combine);
  g_test_add_func ("/vgpu/reduce/tile", test_tile);
  g_test_add_func ("/vgpu/reduce/logic", test_logic);
  g_test_add_func ("/vgpu/reduce/turn", test_turn);
  int result = g_test_run ();
  g_free (reduce_ptx);
  return result;
}
