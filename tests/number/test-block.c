/* SPDX-License-Identifier: Apache-2.0 */
/* Block formats against a search among all codes, and against values worked out by hand from the OCP
 * specification. */
#include "engine/number/block.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static double
element_value (const AssayBlockFormat *f, guint code)
{
  return assay_dtype_decode (f->element, code) * f->unit;
}

/* The nearest of all finite codes; of two as near, the even one. Magnitudes beyond stay at the end. */
static double
nearest_element (const AssayBlockFormat *f, double x)
{
  guint bits = (guint) assay_dtype_format (f->element)->bits;
  double best = NAN, distance = INFINITY;
  gboolean best_even = FALSE;
  for (guint code = 0; code < 1u << bits; code++)
    {
      double value = element_value (f, code), off = fabs (value - x);
      if (!isfinite (value) || (f->element == ASSAY_DTYPE_INT8 && code == 0x80))
        continue;
      if (off < distance || (off == distance && !best_even && !(code & 1)))
        {
          best = value;
          distance = off;
          best_even = !(code & 1);
        }
    }
  return best;
}

static double
truncated_element (const AssayBlockFormat *f, double x)
{
  guint bits = (guint) assay_dtype_format (f->element)->bits;
  double best = 0;
  for (guint code = 0; code < 1u << bits; code++)
    {
      double value = element_value (f, code);
      if (isfinite (value) && (value < 0) == (x < 0) && fabs (value) <= fabs (x)
          && fabs (value) > fabs (best) && !(f->element == ASSAY_DTYPE_INT8 && code == 0x80))
        best = value;
    }
  return best;
}

/* The scale of the specification, from the printed exponent of the largest magnitude. */
static double
specified_scale (const AssayBlockFormat *f, const double *values, gsize n, double tensor_scale)
{
  double amax = 0;
  for (gsize i = 0; i < n; i++)
    amax = fmax (amax, fabs (values[i]));
  if (f->tensor_scale)
    {
      double wanted = amax / 6 / tensor_scale, best = 0;
      for (guint code = 0; code < 0x7f; code++)
        if (fabs (assay_dtype_decode (f->scale, code) - wanted) < fabs (best - wanted))
          best = assay_dtype_decode (f->scale, code);
      return best * tensor_scale;
    }
  int exponent;
  frexp (amax, &exponent);
  return ldexp (1, MAX (exponent - 1 - f->greatest, -127));
}

static void
test_encoding_is_the_nearest_under_the_specified_scale (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (3);
  for (int type = 0; type < ASSAY_N_BLOCK_TYPES; type++)
    for (int turn = 0; turn < 60; turn++)
      {
        const AssayBlockFormat *f = assay_block_format ((AssayBlockType) type);
        double values[ASSAY_BLOCK_MOST], back[ASSAY_BLOCK_MOST], amax = 0;
        double spread = g_rand_double_range (random, 0, 12),
               at = g_rand_double_range (random, -60, 60);
        if (f->tensor_scale)
          at /= 20;
        for (int i = 0; i < f->size; i++)
          {
            values[i] = g_rand_double_range (random, -1, 1)
                        * exp2 (at - g_rand_double_range (random, 0, spread));
            amax = fmax (amax, fabs (values[i]));
          }
        double tensor = assay_block_tensor_scale ((AssayBlockType) type, 2 * amax);
        double scale = specified_scale (f, values, (gsize) f->size, tensor);
        guint8 codes[ASSAY_BLOCK_MOST];
        for (int rounding = 0; rounding < 2; rounding++)
          {
            guint64 code = assay_block_encode ((AssayBlockType) type, values, (gsize) f->size,
                                               tensor, (AssayRounding) rounding, NULL, codes);
            g_assert_true (assay_block_scale ((AssayBlockType) type, code, tensor) == scale);
            assay_block_decode ((AssayBlockType) type, code, tensor, codes, (gsize) f->size, back);
            for (int i = 0; i < f->size; i++)
              {
                double x = values[i] / scale;
                double wanted = rounding == ASSAY_ROUND_NEAREST_EVEN ? nearest_element (f, x)
                                                                     : truncated_element (f, x);
                if (back[i] != wanted * scale)
                  g_test_message ("%s: %.17g under %g gives %g, expected %g", f->name, values[i],
                                  scale, back[i], wanted * scale);
                g_assert_true (back[i] == wanted * scale);
              }
          }
      }
}

/* OCP MX 1.0: an amax of 7 has exponent 2, which is E2M1's greatest: the scale is 1, and 7 becomes 6. */
static void
test_examples_by_hand (void)
{
  double values[ASSAY_BLOCK_MOST] = {7, -0.25, 0.75, 5, 2.5, 0.3}, back[ASSAY_BLOCK_MOST];
  guint8 codes[ASSAY_BLOCK_MOST];
  guint64 scale =
      assay_block_encode (ASSAY_BLOCK_MXFP4, values, 32, 1, ASSAY_ROUND_NEAREST_EVEN, NULL, codes);
  g_assert_cmpuint (scale, ==, 127);
  static const double EXPECTED[] = {6, 0, 1, 4, 2, 0.5};
  assay_block_decode (ASSAY_BLOCK_MXFP4, scale, 1, codes, 32, back);
  for (gsize i = 0; i < G_N_ELEMENTS (EXPECTED); i++)
    g_assert_cmpfloat (back[i], ==, EXPECTED[i]);
  /* MXINT8: 1.99 is 127.36/64 and stays at 127/64; -2 would need -128, and is not used. */
  double whole[ASSAY_BLOCK_MOST] = {1.99, -1.9999};
  scale =
      assay_block_encode (ASSAY_BLOCK_MXINT8, whole, 32, 1, ASSAY_ROUND_NEAREST_EVEN, NULL, codes);
  assay_block_decode (ASSAY_BLOCK_MXINT8, scale, 1, codes, 32, back);
  g_assert_cmpfloat (back[0], ==, 127.0 / 64);
  g_assert_cmpfloat (back[1], ==, -127.0 / 64);
  /* NVFP4: a tensor with amax 2688 has the scale 1; a block with amax 12 the scale 2. */
  g_assert_cmpfloat (assay_block_tensor_scale (ASSAY_BLOCK_NVFP4, 2688), ==, 1);
  double small[16] = {12, -3, 1};
  scale =
      assay_block_encode (ASSAY_BLOCK_NVFP4, small, 16, 1, ASSAY_ROUND_NEAREST_EVEN, NULL, codes);
  assay_block_decode (ASSAY_BLOCK_NVFP4, scale, 1, codes, 16, back);
  g_assert_cmpfloat (assay_block_scale (ASSAY_BLOCK_NVFP4, scale, 1), ==, 2);
  g_assert_cmpfloat (back[0], ==, 12);
  g_assert_cmpfloat (back[1], ==, -3);
  g_assert_cmpfloat (back[2], ==, 1);
  g_assert_cmpfloat (assay_block_ulp (ASSAY_BLOCK_NVFP4, scale, 1, 12), ==, 4);
  g_assert_cmpfloat (assay_block_ulp (ASSAY_BLOCK_NVFP4, scale, 1, 0), ==, 1);
}

static void
test_special_blocks (void)
{
  for (int type = 0; type < ASSAY_N_BLOCK_TYPES; type++)
    {
      const AssayBlockFormat *f = assay_block_format ((AssayBlockType) type);
      double values[ASSAY_BLOCK_MOST] = {1, 2}, back[ASSAY_BLOCK_MOST];
      guint8 codes[ASSAY_BLOCK_MOST];
      g_assert_cmpint (assay_block_from_name (f->name), ==, type);
      const double specials[] = {NAN, INFINITY, -INFINITY};
      for (int k = 0; k < 3; k++)
        {
          values[1] = specials[k];
          guint64 scale = assay_block_encode ((AssayBlockType) type, values, 3, 1,
                                              ASSAY_ROUND_NEAREST_EVEN, NULL, codes);
          assay_block_decode ((AssayBlockType) type, scale, 1, codes, 3, back);
          for (int i = 0; i < 3; i++)
            g_assert_true (isnan (back[i]));
        }
      double zeros[ASSAY_BLOCK_MOST] = {0};
      guint64 scale = assay_block_encode ((AssayBlockType) type, zeros, 3, 1,
                                          ASSAY_ROUND_NEAREST_EVEN, NULL, codes);
      assay_block_decode ((AssayBlockType) type, scale, 1, codes, 3, back);
      for (int i = 0; i < 3; i++)
        g_assert_cmpfloat (back[i], ==, 0);
    }
  g_assert_cmpint (assay_block_from_name ("mxfp5"), ==, ASSAY_BLOCK_UNKNOWN);
  g_assert_cmpint (assay_block_from_name (NULL), ==, ASSAY_BLOCK_UNKNOWN);
}

static void
test_codes_are_compared_under_one_scale_only (void)
{
  /* Two blocks of MXFP4: the first under equal scales, one step apart; the second the same values under
   * half the scale. */
  guint8 a[64] = {2, 7}, b[64] = {3, 7}, scales_a[2] = {127, 128}, scales_b[2] = {127, 127};
  a[32] = 2; /* 1 under 2 */
  b[32] = 4; /* 2 under 1 */
  AssayBlockDifference d = assay_blocks_compare (ASSAY_BLOCK_MXFP4, (AssayBlocks) {a, scales_a, 1},
                                                 (AssayBlocks) {b, scales_b, 1}, 64);
  g_assert_cmpuint (d.blocks, ==, 2);
  g_assert_cmpuint (d.other_scale, ==, 1);
  g_assert_cmpuint (d.elements, ==, 32);
  g_assert_cmpuint (d.differ, ==, 1);
  g_assert_cmpuint (d.max_steps, ==, 1);
  g_assert_cmpuint (d.max_steps_at, ==, 0);
  g_assert_cmpfloat (d.max_error_of_amax, ==, 0.5 / 6);
  scales_b[1] = 0xff;
  d = assay_blocks_compare (ASSAY_BLOCK_MXFP4, (AssayBlocks) {a, scales_a, 1},
                            (AssayBlocks) {b, scales_b, 1}, 64);
  g_assert_cmpuint (d.nan_differs, ==, 32);
}

/* Up exactly when the random bits, as a fraction, lie below what is beyond the lower neighbour. */
static void
test_chance_is_the_distance (void)
{
  static const AssayDtype DTYPES[] = {ASSAY_DTYPE_FLOAT32,     ASSAY_DTYPE_FLOAT16,
                                      ASSAY_DTYPE_BFLOAT16,    ASSAY_DTYPE_FLOAT8_E4M3FN,
                                      ASSAY_DTYPE_FLOAT8_E5M2, ASSAY_DTYPE_FLOAT4_E2M1};
  g_autoptr (GRand) random = g_rand_new_with_seed (8);
  for (gsize d = 0; d < G_N_ELEMENTS (DTYPES); d++)
    for (int turn = 0; turn < 4000; turn++)
      {
        const AssayFormat *f = assay_dtype_format (DTYPES[d]);
        double low = log2 (f->min_subnormal) - 3, high = log2 (f->max_finite) - 0.5;
        double x = exp2 (g_rand_double_range (random, low, high));
        double down = assay_dtype_decode (
            DTYPES[d], assay_dtype_encode_as (DTYPES[d], x, ASSAY_ROUND_TOWARD_ZERO, TRUE));
        double ulp = assay_dtype_ulp (DTYPES[d], x), part = (x - down) / ulp;
        /* 2^-50 to either side of the limit, which is exact. */
        double limit = ldexp (part, 64);
        guint64 below = limit <= 0x1p14 ? 0 : (guint64) (limit - 0x1p14);
        guint64 above = limit >= 0x1p64 - 0x1p14 ? G_MAXUINT64 : (guint64) (limit + 0x1p14);
        double at_below = assay_dtype_decode (
            DTYPES[d], assay_dtype_encode_stochastic (DTYPES[d], x, below, TRUE));
        double at_above = assay_dtype_decode (
            DTYPES[d], assay_dtype_encode_stochastic (DTYPES[d], -x, above, TRUE));
        g_assert_true (at_above == -down);
        if (part == 0)
          g_assert_true (at_below == down);
        else if (limit > 0x1p14)
          g_assert_true (at_below == down + ulp);
        double exact = assay_dtype_decode (
            DTYPES[d], assay_dtype_encode_stochastic (DTYPES[d], down, 0, TRUE));
        g_assert_true (exact == down);
      }
}

static void
test_blocks_by_chance_are_right_on_average (void)
{
  for (int type = 0; type < ASSAY_N_BLOCK_TYPES; type++)
    {
      const AssayBlockFormat *f = assay_block_format ((AssayBlockType) type);
      const double values[2] = {f->tensor_scale ? 6 : ldexp (1, f->greatest), 0.8125};
      guint64 state = 42;
      double sum = 0, squares = 0;
      const int draws = 20000;
      for (int i = 0; i < draws; i++)
        {
          guint8 codes[2];
          double back[2];
          guint64 scale = assay_block_encode ((AssayBlockType) type, values, 2, 1,
                                              ASSAY_ROUND_STOCHASTIC, &state, codes);
          assay_block_decode ((AssayBlockType) type, scale, 1, codes, 2, back);
          g_assert_cmpfloat (back[0], ==, values[0]);
          sum += back[1];
          squares += back[1] * back[1];
        }
      double mean = sum / draws, deviation = sqrt (fmax (squares / draws - mean * mean, 0));
      g_assert_cmpfloat (fabs (mean - values[1]), <=, 5 * deviation / sqrt (draws));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/block/nearest", test_encoding_is_the_nearest_under_the_specified_scale);
  g_test_add_func ("/block/by-hand", test_examples_by_hand);
  g_test_add_func ("/block/special", test_special_blocks);
  g_test_add_func ("/block/compare", test_codes_are_compared_under_one_scale_only);
  g_test_add_func ("/block/chance", test_chance_is_the_distance);
  g_test_add_func ("/block/average", test_blocks_by_chance_are_right_on_average);
  return g_test_run ();
}
