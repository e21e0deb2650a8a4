/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers for wide vectors and the checkers' short cuts say what plain handlers without short
 * cuts say: results, findings and counts. */
#include "tests/vgpu/harness.h"

#include <string.h>

#define STEPS 28
#define BLOCKS 3
#define WORDS 192
#define THREADS 160

typedef struct
{
  int kind, stride, offset, modulus, rest, span;
} Step;

/* Sides of a block: rows narrower than a warp, and warps that are not full. */
static const unsigned shapes[][2] = {{96, 1}, {16, 6}, {8, 12}, {50, 1}, {32, 5}, {7, 9}};

static void
draw_steps (GRand *rand, Step *steps, int kinds)
{
  static const int strides[] = {0, 1, 1, 1, 1, 2, 3, 4, 16, 32, 33, 191};
  int barriers = g_rand_int_range (rand, 0, 4);
  for (int i = 0; i < STEPS; i++)
    {
      Step *s = &steps[i];
      s->kind = g_rand_int_range (rand, 0, 8) < barriers ? g_rand_int_range (rand, 0, 2)
                                                         : g_rand_int_range (rand, 2, kinds);
      s->stride = strides[g_rand_int_range (rand, 0, G_N_ELEMENTS (strides))];
      s->offset = g_rand_int_range (rand, 0, 3) == 0 ? g_rand_int_range (rand, 0, WORDS) : 0;
      s->modulus = g_rand_int_range (rand, 1, 5);
      s->rest = g_rand_int_range (rand, 0, s->modulus);
      s->span = g_rand_int_range (rand, 0, 3) == 0 ? 16 : 1;
    }
}

/* What a run came to, as text. */
static char *
run_walk (const char *host, const char *ptx, const char *kernel, const Step *steps, int count,
          const unsigned *shape)
{
  g_autofree char *settings = g_strdup_printf ("checks=all;threads=1;host=%s", host);
  g_autoptr (Gpu) gpu = gpu_open (settings);
  GString *text = g_string_new (NULL);
  guint32 out[BLOCKS * THREADS] = {0}, wide[(BLOCKS + 2) * WORDS];

  unsigned threads = shape[0] * shape[1];
  memset (wide, 1, sizeof wide);
  CUdeviceptr dsteps = gpu_put (gpu, steps, STEPS * sizeof *steps, "steps");
  CUdeviceptr dout = gpu_put (gpu, NULL, sizeof out, "out");
  /* Half of it is not initialised. */
  CUdeviceptr dwide = gpu_put (gpu, NULL, sizeof wide, "wide");
  g_assert_cmpint (gpu->driver.memcpy_htod (dwide, wide, sizeof wide / 2), ==, CUDA_SUCCESS);
  CUfunction f = gpu_load (gpu, ptx, kernel);
  g_assert_cmpint (
      gpu_run (gpu, f, BLOCKS, 1, shape[0], shape[1], 0, &count, &dsteps, &dout, &dwide, NULL), ==,
      CUDA_SUCCESS);
  gpu_get (gpu, out, dout, BLOCKS * threads * 4);
  gpu_get (gpu, wide, dwide, sizeof wide);
  for (unsigned i = 0; i < BLOCKS * threads; i++)
    g_string_append_printf (text, "%x ", out[i]);
  for (unsigned i = 0; i < G_N_ELEMENTS (wide); i++)
    g_string_append_printf (text, "%x ", wide[i]);
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  for (guint i = 0; i < reports->len; i++)
    {
      g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
      json_node_set_object (node, reports->pdata[i]);
      g_autofree char *line = json_to_string (node, FALSE);
      g_string_append_printf (text, "\n%s", line);
    }
  gpu->assayVgpuSet ("host", "best");
  return g_string_free (text, FALSE);
}

/* Walks on each set of handlers; counts those in which a rule was found. */
static void
walk (const char *ptx, const char *kernel, int kinds, guint *found, const char *const *rules)
{
  static const char *const hosts[] = {"avx2", "best"};
  for (guint seed = 0; seed < 240; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      const unsigned *shape = shapes[seed % G_N_ELEMENTS (shapes)];
      int count = 1 + (int) (seed % STEPS);
      Step steps[STEPS];
      draw_steps (rand, steps, kinds);
      g_autofree char *plain = run_walk ("plain", ptx, kernel, steps, count, shape);
      for (int i = 0; i < 2; i++)
        found[i] += strstr (plain, rules[i]) != NULL;
      for (size_t i = 0; i < G_N_ELEMENTS (hosts); i++)
        {
          g_autofree char *wide = run_walk (hosts[i], ptx, kernel, steps, count, shape);
          if (strcmp (plain, wide) != 0)
            g_test_message ("%s, seed %u, host %s", kernel, seed, hosts[i]);
          g_assert_cmpstr (wide, ==, plain);
        }
    }
}

/* The walks are worth something: many find something, and not all do. */
static void
check_found (const guint *found)
{
  for (int i = 0; i < 2; i++)
    {
      g_assert_cmpuint (found[i], >=, 24);
      g_assert_cmpuint (found[i], <, 240);
    }
}

static void
test_shared (void)
{
  static const char *const rules[] = {"race.shared", "mem.uninitialised"};
  g_autofree char *ptx = compile_kernels ("twins.cu", NULL);
  guint found[2] = {0};
  if (ptx == NULL)
    return;
  walk (ptx, "shared_walk", 13, found, rules);
  check_found (found);
}

static void
test_global (void)
{
  static const char *const rules[] = {"race.global", "mem.uninitialised"};
  g_autofree char *ptx = compile_kernels ("twins.cu", NULL);
  guint found[2] = {0};
  if (ptx == NULL)
    return;
  walk (ptx, "global_walk", 13, found, rules);
  check_found (found);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/vgpu/twins/shared", test_shared);
  g_test_add_func ("/vgpu/twins/global", test_global);
  return g_test_run ();
}
