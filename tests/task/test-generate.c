/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/task/fixture.h"

#include "engine/base/error.h"
#include "engine/task/generate.h"

#include <math.h>

/* The fixture's input x is [n, 2]; here its generator and dtype are replaced. */
static AssayInput *
generate (const TaskFixture *fixture, const char *dtype, const char *generator, GError **error)
{
  const char *old =
      "\"x\": {\"type\": \"random\", \"distribution\": \"uniform\", \"low\": -1, \"high\": 1}";
  g_autofree char *changed = g_strdup_printf ("\"x\": %s", generator);
  const char *at = strstr (SOUND_TASK, old);
  g_assert_nonnull (at);
  g_autoptr (GString) text = g_string_new_len (SOUND_TASK, at - SOUND_TASK);
  g_string_append_printf (text, "%s%s", changed, at + strlen (old));
  g_autofree char *array =
      g_strdup_printf ("\"x\": {\"dtype\": \"%s\", \"shape\": [\"n\", 50]}", dtype);
  g_string_replace (text, "\"x\": {\"dtype\": \"float32\", \"shape\": [\"n\", 2]}", array, 1);
  write_in (fixture->folder, ASSAY_TASK_FILE, text->str);
  g_autoptr (AssayTask) task = assay_task_load (fixture->folder, NULL, error);
  if (!task)
    return NULL;
  g_autoptr (AssayPlan) plan = assay_plan_new (task, assay_task_workload (task, "small"), error);
  return plan ? assay_generate (plan, g_ptr_array_index (plan->inputs, 0), NULL, error) : NULL;
}

typedef struct
{
  const char *generator;
  double low, high;   /* all values lie within */
  double mean, slack; /* of the mean; NaN: not looked at */
} Range;

/* clang-format off */
static const Range RANGES[] = {
  {"{\"type\": \"random\", \"distribution\": \"uniform\", \"low\": 2, \"high\": 4}", 2, 4, 3, 0.05},
  {"{\"type\": \"random\", \"distribution\": \"normal\", \"mean\": 1, \"std\": 2}", -12, 14, 1, 0.15},
  {"{\"type\": \"random\", \"distribution\": \"lognormal\", \"std\": 0.5}", 0, 20, 1.1331, 0.06},
  {"{\"type\": \"random\", \"distribution\": \"integers\", \"low\": 3, \"high\": 6}", 3, 5, 4, 0.06},
  {"{\"type\": \"random\", \"distribution\": \"permutation\"}", 0, 49, 24.5, 1e-9},
  {"{\"type\": \"random\", \"distribution\": \"one_hot\"}", 0, 1, 0.02, 1e-9},
  {"{\"type\": \"random\", \"distribution\": \"sorted\", \"low\": 0, \"high\": 1}", 0, 1, 0.5, 0.02},
  {"{\"type\": \"random\", \"distribution\": \"subnormal\"}", -0x1p-126, 0x1p-126, NAN, 0},
  {"{\"type\": \"constant\", \"value\": 1.5}", 1.5, 1.5, 1.5, 0},
  {"{\"type\": \"ramp\", \"start\": 1, \"step\": 0.5}", 1, 2500.5, 1250.75, 1e-9},
};
/* clang-format on */

static void
test_distributions_keep_their_range (void)
{
  TaskFixture fixture = task_fixture_new ();
  for (gsize i = 0; i < G_N_ELEMENTS (RANGES); i++)
    {
      const Range *r = &RANGES[i];
      g_autoptr (GError) error = NULL;
      g_autoptr (AssayInput) input = generate (&fixture, "float32", r->generator, &error);
      g_assert_no_error (error);
      double sum = 0;
      gsize n = input->values->count;
      for (gsize k = 0; k < n; k++)
        {
          double value = assay_array_get (input->values, k);
          if (!(value >= r->low && value <= r->high))
            g_error ("%s: %g", r->generator, value);
          sum += value;
        }
      if (!isnan (r->mean) && fabs (sum / (double) n - r->mean) > r->slack)
        g_error ("%s: mean %g", r->generator, sum / (double) n);
    }
  task_fixture_clear (&fixture);
}

/* ---- blocks with a common scale ---- */

typedef struct
{
  AssayDtype element, scale;
  gint64 block;
  double largest; /* element there is */
} Blocks;

static const Blocks BLOCKS[] = {
    {ASSAY_DTYPE_FLOAT4_E2M1, ASSAY_DTYPE_FLOAT8_E8M0, 32, 6},
    {ASSAY_DTYPE_FLOAT6_E2M3, ASSAY_DTYPE_FLOAT8_E8M0, 32, 7.5},
    {ASSAY_DTYPE_FLOAT8_E4M3FN, ASSAY_DTYPE_FLOAT8_E8M0, 32, 448},
    {ASSAY_DTYPE_FLOAT4_E2M1, ASSAY_DTYPE_FLOAT8_E4M3FN, 16, 6},
};

typedef struct
{
  AssayArray *codes, *scales, *whole;
} Quantised;

static AssayArray *
make_one (AssayPlan *plan, guint i)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayInput) made =
      assay_generate (plan, g_ptr_array_index (plan->inputs, i), NULL, &error);
  g_assert_no_error (error);
  return assay_array_ref (made->values);
}

/* A task of 3 by 50 with only what generation reads; `blocks` NULL: the same values, not quantised. */
static Quantised
quantise (const Blocks *blocks)
{
  gint64 columns = blocks ? (50 + blocks->block - 1) / blocks->block : 1;
  AssayQuant quant = {blocks ? blocks->block : 0, -1, (char *) "s", (char *) "t", NULL};
  AssayTaskArray arrays[] = {
      {.name = (char *) "x",
       .dtype = blocks ? (int) blocks->element : ASSAY_DTYPE_FLOAT64,
       .quant = blocks ? &quant : NULL},
      {.name = (char *) "s", .dtype = blocks ? (int) blocks->scale : ASSAY_DTYPE_FLOAT64},
      {.name = (char *) "t", .dtype = ASSAY_DTYPE_FLOAT32},
  };
  AssayGenerator normal = {
      .name = (char *) "x", .distribution = ASSAY_DISTRIBUTION_NORMAL, .std = 3, .seed = -1};
  AssayPlannedArray planned[] = {
      {.array = &arrays[0], .generator = &normal, .ndim = 2, .shape = {3, 50}, .count = 150},
      {.array = &arrays[1],
       .generator = &normal,
       .ndim = 2,
       .shape = {3, columns},
       .count = (gsize) (3 * columns)},
      {.array = &arrays[2], .generator = &normal, .ndim = 1, .shape = {1}, .count = 1},
  };
  g_autoptr (GPtrArray) inputs = g_ptr_array_new (), of_plan = g_ptr_array_new ();
  g_autoptr (GPtrArray) generators = g_ptr_array_new ();
  for (guint i = 0; i < 3; i++)
    {
      g_ptr_array_add (inputs, &arrays[i]);
      g_ptr_array_add (of_plan, &planned[i]);
    }
  g_ptr_array_add (generators, &normal);
  AssayTask task = {.inputs = inputs};
  AssayWorkload workload = {.name = (char *) "w", .seed = 5, .inputs = generators};
  AssayPlan plan = {.task = &task, .workload = &workload, .inputs = of_plan};
  Quantised q = {.codes = make_one (&plan, 0)};
  if (blocks)
    {
      q.scales = make_one (&plan, 1);
      q.whole = make_one (&plan, 2);
    }
  return q;
}

/* Codes and scales belong together, and give back what was drawn: no element is further from it than half of
 * the largest step, which is a quarter of the block's largest element at most; MX clips what lies beyond. */
static void
test_blocks_come_from_the_drawn_values (void)
{
  Quantised plain = quantise (NULL);
  for (gsize k = 0; k < G_N_ELEMENTS (BLOCKS); k++)
    {
      const Blocks *b = &BLOCKS[k];
      Quantised q = quantise (b);
      gsize columns = (gsize) q.scales->shape[1];
      double whole = assay_array_get (q.whole, 0);
      g_assert_true ((b->scale == ASSAY_DTYPE_FLOAT8_E8M0) == (whole == 1));
      for (gsize i = 0; i < 150; i++)
        {
          gsize row = i / 50, block = i % 50 / (gsize) b->block, begin = block * (gsize) b->block;
          double scale = assay_array_get (q.scales, row * columns + block) * whole, amax = 0;
          for (gsize j = begin; j < MIN (begin + (gsize) b->block, 50); j++)
            amax = fmax (amax, fabs (assay_array_get (plain.codes, row * 50 + j)));
          double value = assay_array_get (q.codes, i) * scale;
          double off = fabs (value - assay_array_get (plain.codes, i));
          g_assert_cmpfloat (scale * b->largest, >=, amax * 0.74);
          g_assert_cmpfloat (scale * b->largest, <=, amax * 2);
          g_assert_cmpfloat (off, <=, 0.26 * amax);
        }
      assay_array_unref (q.codes);
      assay_array_unref (q.scales);
      assay_array_unref (q.whole);
    }
  assay_array_unref (plain.codes);
}

static void
test_rows_are_what_they_say (void)
{
  TaskFixture fixture = task_fixture_new ();
  g_autoptr (AssayInput) permutation = generate (
      &fixture, "int32", "{\"type\": \"random\", \"distribution\": \"permutation\"}", NULL);
  g_autoptr (AssayInput) sorted =
      generate (&fixture, "float32", "{\"type\": \"random\", \"distribution\": \"sorted\"}", NULL);
  gboolean rows_differ = FALSE;
  for (gsize row = 0; row < 100; row++)
    {
      gboolean seen[50] = {FALSE};
      for (gsize k = 0; k < 50; k++)
        {
          gsize value = (gsize) assay_array_get (permutation->values, row * 50 + k);
          g_assert_false (seen[value]);
          seen[value] = TRUE;
          rows_differ |= value != (gsize) assay_array_get (permutation->values, k);
          if (k)
            g_assert_true (assay_array_get (sorted->values, row * 50 + k)
                           >= assay_array_get (sorted->values, row * 50 + k - 1));
        }
    }
  g_assert_true (rows_differ);
  task_fixture_clear (&fixture);
}

static void
test_special_values_have_their_shares (void)
{
  TaskFixture fixture = task_fixture_new ();
  g_autoptr (AssayInput) input =
      generate (&fixture, "float32",
                "{\"type\": \"random\", \"distribution\": \"special\", \"share_zero\": 0.1, "
                "\"share_negative_zero\": 0.1, \"share_infinity\": 0.1, "
                "\"share_negative_infinity\": 0.1, \"share_nan\": 0.2}",
                NULL);
  double zeros = 0, minus = 0, up = 0, down = 0, nan = 0, n = (double) input->values->count;
  for (gsize i = 0; i < input->values->count; i++)
    {
      double value = assay_array_get (input->values, i);
      zeros += value == 0 && !signbit (value);
      minus += value == 0 && signbit (value);
      up += value == INFINITY;
      down += value == -INFINITY;
      nan += isnan (value) != 0;
    }
  g_assert_cmpfloat_with_epsilon (zeros / n, 0.1, 0.02);
  g_assert_cmpfloat_with_epsilon (minus / n, 0.1, 0.02);
  g_assert_cmpfloat_with_epsilon (up / n, 0.1, 0.02);
  g_assert_cmpfloat_with_epsilon (down / n, 0.1, 0.02);
  g_assert_cmpfloat_with_epsilon (nan / n, 0.2, 0.02);
  task_fixture_clear (&fixture);
}

/* Moments and tail of the normal distribution: one in 15787 lies beyond four deviations. */
static void
test_normal_is_normal (void)
{
  TaskFixture fixture = task_fixture_new ();
  g_autoptr (AssayInput) input =
      generate (&fixture, "float64", "{\"type\": \"random\", \"distribution\": \"normal\"}", NULL);
  double second = 0, fourth = 0, within = 0, n = (double) input->values->count;
  for (gsize i = 0; i < input->values->count; i++)
    {
      double v = assay_array_get (input->values, i);
      second += v * v;
      fourth += v * v * v * v;
      within += fabs (v) < 1;
    }
  g_assert_cmpfloat_with_epsilon (second / n, 1, 0.08);
  g_assert_cmpfloat_with_epsilon (fourth / n, 3, 0.5);
  g_assert_cmpfloat_with_epsilon (within / n, 0.6827, 0.02);
  task_fixture_clear (&fixture);
}

/* Recorded once; another machine, compiler or number of threads must give the same bytes. */
static void
test_same_bytes_everywhere (void)
{
  static const struct
  {
    const char *generator, *sha256;
  } RECORDED[] = {
      {"{\"type\": \"random\", \"distribution\": \"uniform\"}",
       "50b11f8bcc7750b3ea967bd00ab636e5f56787b99c8a3ed08ff82bd7e3bd80ea"},
      {"{\"type\": \"random\", \"distribution\": \"normal\"}",
       "df6b9bb4f31ff89ea3f36e0324c8d837114a131737d1964fa3d8dc970520dae5"},
      {"{\"type\": \"random\", \"distribution\": \"lognormal\"}",
       "8c30cd9d3c300181ed7b56fa2d7c6e934d8156dde90e76619dda3040be9d6669"},
      {"{\"type\": \"random\", \"distribution\": \"heavy_tail\"}",
       "790a2a5fc026e53360733bf9188801a7565d00235378bfc9e01ffa4ffe963197"},
  };
  TaskFixture fixture = task_fixture_new ();
  for (gsize i = 0; i < G_N_ELEMENTS (RECORDED); i++)
    {
      g_autoptr (AssayInput) input = generate (&fixture, "float32", RECORDED[i].generator, NULL);
      g_autofree char *sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, input->values->data,
                                                          input->values->bytes);
      g_assert_cmpstr (sum, ==, RECORDED[i].sha256);
    }
  task_fixture_clear (&fixture);
}

static void
test_every_dtype_can_be_filled (void)
{
  TaskFixture fixture = task_fixture_new ();
  for (int d = 0; d < ASSAY_N_DTYPES; d++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AssayInput) input = generate (
          &fixture, assay_dtype_name ((AssayDtype) d),
          "{\"type\": \"random\", \"distribution\": \"integers\", \"low\": 0, \"high\": 3}",
          &error);
      g_assert_no_error (error);
      for (gsize i = 0; i < assay_array_components (input->values); i++)
        g_assert_true (assay_array_get (input->values, i) >= 0
                       && assay_array_get (input->values, i) <= 2);
    }
  task_fixture_clear (&fixture);
}

static void
test_layouts_hold_the_same_values (void)
{
  static const char *const LAYOUTS[] = {"contiguous", "transposed", "strided", "expanded",
                                        "offset"};
  static const gsize ELEMENTS[] = {5000, 5000, 10000, 50, 5003};
  TaskFixture fixture = task_fixture_new ();
  for (gsize l = 0; l < G_N_ELEMENTS (LAYOUTS); l++)
    {
      g_autofree char *generator =
          g_strdup_printf ("{\"type\": \"random\", \"layout\": \"%s\", \"offset\": 3}", LAYOUTS[l]);
      g_autoptr (GError) error = NULL;
      g_autoptr (AssayInput) input = generate (&fixture, "float32", generator, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (input->storage->count, ==, ELEMENTS[l]);
      for (gint64 row = 0; row < 100; row++)
        for (gint64 column = 0; column < 50; column++)
          {
            gint64 at = input->offset + row * input->strides[0] + column * input->strides[1];
            g_assert_cmpfloat (assay_array_get (input->storage, (gsize) at), ==,
                               assay_array_get (input->values, (gsize) (row * 50 + column)));
          }
    }
  task_fixture_clear (&fixture);
}

static void
test_stored_inputs_must_fit (void)
{
  TaskFixture fixture = task_fixture_new ();
  const gint64 good[] = {100, 50}, bad[] = {50, 100};
  g_autofree char *path = g_build_filename (fixture.folder, "x.npy", NULL);
  g_autoptr (AssayArray) array = assay_array_new (ASSAY_DTYPE_FLOAT32, good, 2, NULL);
  g_autoptr (AssayArray) turned = assay_array_new (ASSAY_DTYPE_FLOAT32, bad, 2, NULL);
  assay_array_set (array, 7, 3.5);
  g_assert_true (assay_array_save (array, path, NULL));
  const char *generator = "{\"type\": \"npy\", \"path\": \"x.npy\"}";
  g_autoptr (AssayInput) input = generate (&fixture, "float32", generator, NULL);
  g_assert_cmpfloat (assay_array_get (input->values, 7), ==, 3.5);
  g_assert_true (assay_array_save (turned, path, NULL));
  g_autoptr (GError) error = NULL;
  g_assert_null (generate (&fixture, "float32", generator, &error));
  g_assert_nonnull (strstr (error->message, "expected float32 [100, 50], found float32 [50, 100]"));
  g_assert_nonnull (strstr (error->message, "workload small, input x"));
  task_fixture_clear (&fixture);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/generate/blocks", test_blocks_come_from_the_drawn_values);
  g_test_add_func ("/generate/ranges", test_distributions_keep_their_range);
  g_test_add_func ("/generate/rows", test_rows_are_what_they_say);
  g_test_add_func ("/generate/special", test_special_values_have_their_shares);
  g_test_add_func ("/generate/normal", test_normal_is_normal);
  g_test_add_func ("/generate/recorded", test_same_bytes_everywhere);
  g_test_add_func ("/generate/dtypes", test_every_dtype_can_be_filled);
  g_test_add_func ("/generate/layouts", test_layouts_hold_the_same_values);
  g_test_add_func ("/generate/stored", test_stored_inputs_must_fit);
  return g_test_run ();
}
