/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/number/dtype.h"
#include "engine/number/half.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>

/* Constants of the formats as published, independent of the table: finite codes, NaN codes and
 * infinities by enumeration, largest and smallest values. */
typedef struct
{
  AssayDtype dtype;
  int codes, finite, nan, infinite;
  double max_finite, min_normal, min_subnormal;
  gboolean negative_zero;
} Constants;

/* clang-format off */
static const Constants CONSTANTS[] = {
  {ASSAY_DTYPE_FLOAT16, 65536, 63488, 2046, 2, 65504, 0x1p-14, 0x1p-24, TRUE},
  {ASSAY_DTYPE_BFLOAT16, 65536, 65280, 254, 2, 3.3895313892515355e38, 0x1p-126, 0x1p-133, TRUE},
  {ASSAY_DTYPE_FLOAT8_E5M2, 256, 248, 6, 2, 57344, 0x1p-14, 0x1p-16, TRUE},
  {ASSAY_DTYPE_FLOAT8_E4M3FN, 256, 254, 2, 0, 448, 0x1p-6, 0x1p-9, TRUE},
  {ASSAY_DTYPE_FLOAT8_E4M3, 256, 240, 14, 2, 240, 0x1p-6, 0x1p-9, TRUE},
  {ASSAY_DTYPE_FLOAT8_E4M3FNUZ, 256, 255, 1, 0, 240, 0x1p-7, 0x1p-10, FALSE},
  {ASSAY_DTYPE_FLOAT8_E5M2FNUZ, 256, 255, 1, 0, 57344, 0x1p-15, 0x1p-17, FALSE},
  {ASSAY_DTYPE_FLOAT6_E2M3, 64, 64, 0, 0, 7.5, 1, 0.125, TRUE},
  {ASSAY_DTYPE_FLOAT6_E3M2, 64, 64, 0, 0, 28, 0.25, 0.0625, TRUE},
  {ASSAY_DTYPE_FLOAT4_E2M1, 16, 16, 0, 0, 6, 1, 0.5, TRUE},
  {ASSAY_DTYPE_FLOAT8_E8M0, 256, 255, 1, 0, 0x1p127, 0x1p-127, 0x1p-127, FALSE},
};
/* clang-format on */

static void
test_enumeration_gives_published_constants (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (CONSTANTS); i++)
    {
      const Constants *c = &CONSTANTS[i];
      const AssayFormat *format = assay_dtype_format (c->dtype);
      int finite = 0, nan = 0, infinite = 0, negative_zeros = 0;
      double largest = 0, smallest = INFINITY;
      for (int code = 0; code < c->codes; code++)
        {
          double value = assay_dtype_decode (c->dtype, (guint64) code);
          nan += isnan (value) != 0;
          infinite += isinf (value) != 0;
          finite += isfinite (value) != 0;
          negative_zeros += value == 0 && signbit (value);
          if (isfinite (value))
            largest = fmax (largest, value);
          if (value > 0)
            smallest = fmin (smallest, value);
        }
      g_test_message ("%s", assay_dtype_name (c->dtype));
      g_assert_cmpint (finite, ==, c->finite);
      g_assert_cmpint (nan, ==, c->nan);
      g_assert_cmpint (infinite, ==, c->infinite);
      g_assert_cmpint (negative_zeros, ==, c->negative_zero);
      g_assert_true (largest == c->max_finite && smallest == c->min_subnormal);
      g_assert_true (format->max_finite == largest && format->min_subnormal == smallest);
      g_assert_true (format->min_normal == c->min_normal);
      g_assert_true (format->has_negative_zero == c->negative_zero);
    }
}

static void
test_every_code_survives_decode_and_encode (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (CONSTANTS); i++)
    for (int code = 0; code < CONSTANTS[i].codes; code++)
      {
        AssayDtype dtype = CONSTANTS[i].dtype;
        double value = assay_dtype_decode (dtype, (guint64) code);
        guint64 back = assay_dtype_encode (dtype, value);
        if (isnan (value))
          g_assert_true (assay_dtype_code_is_nan (dtype, back));
        else
          g_assert_cmpuint (back, ==, code);
      }
}

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

/* The finite values of a narrow format in order, -0 left out. */
static GArray *
finite_values (AssayDtype dtype, int codes)
{
  GArray *values = g_array_new (FALSE, FALSE, sizeof (double));
  for (int code = 0; code < codes; code++)
    {
      double value = assay_dtype_decode (dtype, (guint64) code);
      if (isfinite (value) && !(value == 0 && signbit (value)))
        g_array_append_val (values, value);
    }
  qsort (values->data, values->len, sizeof (double), compare_doubles);
  return values;
}

/* Rounds by search among all values: the midpoint of two neighbours is exact in double. A tie goes
 * to the neighbour whose value is an even multiple of their distance. */
static double
nearest_by_search (const GArray *values, double x)
{
  guint low = 0, high = values->len - 1;
  while (high - low > 1)
    {
      guint middle = (low + high) / 2;
      if (g_array_index (values, double, middle) <= x)
        low = middle;
      else
        high = middle;
    }
  double a = g_array_index (values, double, low), b = g_array_index (values, double, high);
  double middle = a + (b - a) / 2;
  if (x != middle)
    return x < middle ? a : b;
  return fmod (a / (b - a), 2) == 0 ? a : b;
}

static double
random_value (GRand *random, double scale_low, double scale_high)
{
  double exponent = g_rand_double_range (random, scale_low, scale_high);
  double value = exp2 (exponent) * g_rand_double_range (random, 1, 2);
  return g_rand_boolean (random) ? value : -value;
}

static void
test_rounding_equals_search_among_all_values (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (20);
  for (gsize i = 0; i < G_N_ELEMENTS (CONSTANTS); i++)
    {
      const Constants *c = &CONSTANTS[i];
      if (c->dtype == ASSAY_DTYPE_FLOAT8_E8M0)
        continue;
      g_autoptr (GArray) values = finite_values (c->dtype, c->codes);
      double top = c->max_finite;
      for (int k = 0; k < 40000; k++)
        {
          double x = random_value (random, log2 (c->min_subnormal) - 3, log2 (top) + 0.5);
          /* Half of them exactly on, or one double beside, a tie between two values. */
          if (k & 1)
            {
              guint at = (guint) g_rand_int_range (random, 0, (gint) values->len - 1);
              double a = g_array_index (values, double, at);
              double b = g_array_index (values, double, at + 1);
              x = a + (b - a) / 2;
              x = k & 2 ? x : nextafter (x, k & 4 ? INFINITY : -INFINITY);
            }
          if (fabs (x) > top)
            continue;
          double got = assay_dtype_decode (c->dtype, assay_dtype_encode (c->dtype, x));
          g_assert_cmpfloat (got, ==, nearest_by_search (values, x));
        }
    }
}

static void
test_conversions_of_the_machine_agree (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (21);
  for (int k = 0; k < 400000; k++)
    {
      double x = random_value (random, -155, 130);
      g_assert_cmpuint (assay_dtype_encode (ASSAY_DTYPE_FLOAT32, x), ==,
                        assay_float_bits ((float) x));
      double y = random_value (random, -28, 17);
      g_assert_cmpuint (assay_dtype_encode (ASSAY_DTYPE_FLOAT16, y), ==, assay_double_to_half (y));
      g_assert_cmpuint (assay_dtype_encode (ASSAY_DTYPE_BFLOAT16, x), ==,
                        assay_double_to_bfloat (x));
    }
}

typedef struct
{
  AssayDtype dtype;
  double value;
  AssayRounding rounding;
  gboolean saturate;
  guint64 code;
} Edge;

/* clang-format off */
static const Edge EDGES[] = {
  /* 464 is the tie between 448 and the missing 480: to even, so still 448. */
  {ASSAY_DTYPE_FLOAT8_E4M3FN, 464, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0x7e},
  {ASSAY_DTYPE_FLOAT8_E4M3FN, 464.0001, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0x7f},
  {ASSAY_DTYPE_FLOAT8_E4M3FN, 1e9, ASSAY_ROUND_NEAREST_EVEN, TRUE, 0x7e},
  {ASSAY_DTYPE_FLOAT8_E4M3FN, -INFINITY, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0xff},
  {ASSAY_DTYPE_FLOAT8_E4M3FN, -INFINITY, ASSAY_ROUND_NEAREST_EVEN, TRUE, 0xfe},
  {ASSAY_DTYPE_FLOAT8_E5M2, 61440, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0x7c},
  {ASSAY_DTYPE_FLOAT8_E5M2, 61439, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0x7b},
  {ASSAY_DTYPE_FLOAT8_E5M2, 1e9, ASSAY_ROUND_TOWARD_ZERO, FALSE, 0x7b},
  {ASSAY_DTYPE_FLOAT8_E4M3FNUZ, -0.0, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0x00},
  {ASSAY_DTYPE_FLOAT8_E4M3FNUZ, -1e-9, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0x00},
  {ASSAY_DTYPE_FLOAT8_E4M3FNUZ, 1e9, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0x80},
  {ASSAY_DTYPE_FLOAT4_E2M1, 2.5, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0x4},
  {ASSAY_DTYPE_FLOAT4_E2M1, 3.5, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0x6},
  {ASSAY_DTYPE_FLOAT4_E2M1, 5, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0x6},
  {ASSAY_DTYPE_FLOAT4_E2M1, -1e9, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0xf},
  {ASSAY_DTYPE_FLOAT4_E2M1, NAN, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0x7},
  {ASSAY_DTYPE_FLOAT16, 65519.999, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0x7bff},
  {ASSAY_DTYPE_FLOAT16, 65520, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0x7c00},
  {ASSAY_DTYPE_FLOAT16, 65520, ASSAY_ROUND_TOWARD_ZERO, FALSE, 0x7bff},
  {ASSAY_DTYPE_FLOAT16, 0x1p-25, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0},
  {ASSAY_DTYPE_FLOAT16, 0x1.0000000000001p-25, ASSAY_ROUND_NEAREST_EVEN, FALSE, 1},
  {ASSAY_DTYPE_TFLOAT32, 1 + 0x1p-11, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0x3f800000},
  {ASSAY_DTYPE_TFLOAT32, 1 + 0x1p-11 + 0x1p-40, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0x3f802000},
  {ASSAY_DTYPE_TFLOAT32, 1 + 0x1.ffp-11, ASSAY_ROUND_TOWARD_ZERO, FALSE, 0x3f800000},
  {ASSAY_DTYPE_FLOAT8_E8M0, 1, ASSAY_ROUND_NEAREST_EVEN, FALSE, 127},
  {ASSAY_DTYPE_FLOAT8_E8M0, 1.5, ASSAY_ROUND_NEAREST_EVEN, FALSE, 128},
  {ASSAY_DTYPE_FLOAT8_E8M0, 3, ASSAY_ROUND_NEAREST_EVEN, FALSE, 128},
  {ASSAY_DTYPE_FLOAT8_E8M0, 0, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0},
  {ASSAY_DTYPE_FLOAT8_E8M0, -1, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0xff},
  {ASSAY_DTYPE_INT8, 127.6, ASSAY_ROUND_NEAREST_EVEN, FALSE, 127},
  {ASSAY_DTYPE_INT8, -129, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0x80},
  {ASSAY_DTYPE_INT8, 2.5, ASSAY_ROUND_NEAREST_EVEN, FALSE, 2},
  {ASSAY_DTYPE_INT8, -2.9, ASSAY_ROUND_TOWARD_ZERO, FALSE, 0xfe},
  {ASSAY_DTYPE_INT64, 1e30, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0x7fffffffffffffff},
  {ASSAY_DTYPE_UINT32, -1, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0},
  {ASSAY_DTYPE_UINT64, 1e30, ASSAY_ROUND_NEAREST_EVEN, FALSE, 0xffffffffffffffff},
  {ASSAY_DTYPE_BOOL, -0.25, ASSAY_ROUND_NEAREST_EVEN, FALSE, 1},
};
/* clang-format on */

static void
test_edges_of_rounding_and_overflow (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (EDGES); i++)
    {
      const Edge *e = &EDGES[i];
      guint64 code = assay_dtype_encode_as (e->dtype, e->value, e->rounding, e->saturate);
      g_test_message ("%s of %.17g", assay_dtype_name (e->dtype), e->value);
      g_assert_cmphex (code, ==, e->code);
    }
}

static void
test_a_pair_is_rounded_once (void)
{
  /* The double is exactly on a tie of the target; the tail decides. */
  double tie = 1 + 0x1p-24;
  g_assert_cmphex (assay_dtype_encode_pair (ASSAY_DTYPE_FLOAT32, tie, 0), ==, 0x3f800000);
  g_assert_cmphex (assay_dtype_encode_pair (ASSAY_DTYPE_FLOAT32, tie, 1e-30), ==, 0x3f800001);
  g_assert_cmphex (assay_dtype_encode_pair (ASSAY_DTYPE_FLOAT32, tie, -1e-30), ==, 0x3f800000);
  double odd = 1 + 0x3p-24;
  g_assert_cmphex (assay_dtype_encode_pair (ASSAY_DTYPE_FLOAT32, odd, -1e-30), ==, 0x3f800001);
  g_assert_cmphex (assay_dtype_encode_pair (ASSAY_DTYPE_FLOAT32, -odd, 1e-30), ==, 0xbf800001);
  g_assert_cmphex (assay_dtype_encode_pair (ASSAY_DTYPE_FLOAT32, -odd, -1e-30), ==, 0xbf800002);
  g_assert_cmphex (assay_dtype_encode_pair (ASSAY_DTYPE_FLOAT64, 1, 0x1p-54), ==,
                   0x3ff0000000000000);
}

static void
test_keys_grow_with_the_value (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (CONSTANTS); i++)
    {
      AssayDtype dtype = CONSTANTS[i].dtype;
      g_autoptr (GArray) values = finite_values (dtype, CONSTANTS[i].codes);
      for (guint k = 1; k < values->len; k++)
        {
          guint64 a = assay_dtype_encode (dtype, g_array_index (values, double, k - 1));
          guint64 b = assay_dtype_encode (dtype, g_array_index (values, double, k));
          g_assert_cmpuint (assay_dtype_key (dtype, a) + 1, ==, assay_dtype_key (dtype, b));
        }
    }
}

static guint64
distance (AssayDtype dtype, double a, double b)
{
  return assay_dtype_ulp_distance (dtype, assay_dtype_encode (dtype, a),
                                   assay_dtype_encode (dtype, b));
}

static void
test_distances_do_not_wrap (void)
{
  const double max = 0x1.fffffep127;
  g_assert_cmpuint (distance (ASSAY_DTYPE_FLOAT32, -max, max), ==, 4278190078u);
  g_assert_cmpuint (distance (ASSAY_DTYPE_FLOAT16, -65504, 65504), ==, 63486);
  g_assert_cmpuint (distance (ASSAY_DTYPE_BFLOAT16, -0x1.fep127, 0x1.fep127), ==, 65278);
  g_assert_cmpuint (distance (ASSAY_DTYPE_FLOAT8_E4M3FN, -448, 448), ==, 252);
  g_assert_cmpuint (distance (ASSAY_DTYPE_FLOAT8_E5M2, -57344, 57344), ==, 246);
  g_assert_cmpuint (distance (ASSAY_DTYPE_FLOAT4_E2M1, -6, 6), ==, 14);
  g_assert_cmpuint (distance (ASSAY_DTYPE_FLOAT32, 0.0, -0.0), ==, 0);
  g_assert_cmpuint (distance (ASSAY_DTYPE_FLOAT32, 0x1p-149, -0x1p-149), ==, 2);
  g_assert_cmpuint (distance (ASSAY_DTYPE_FLOAT32, max, INFINITY), ==, 1);
  g_assert_cmpuint (distance (ASSAY_DTYPE_FLOAT32, 1, 1 - 0x1p-24), ==, 1);
  g_assert_cmpuint (distance (ASSAY_DTYPE_FLOAT32, 1, 1 + 0x1p-23), ==, 1);
  g_assert_cmpuint (distance (ASSAY_DTYPE_FLOAT32, 2, -2), ==, 2147483648u);
  g_assert_cmpuint (distance (ASSAY_DTYPE_INT8, -128, 127), ==, 255);
  g_assert_cmpuint (distance (ASSAY_DTYPE_UINT32, 4294967295.0, 0), ==, 4294967295u);
  g_assert_cmpuint (distance (ASSAY_DTYPE_FLOAT64, -INFINITY, INFINITY), ==,
                    2 * G_GUINT64_CONSTANT (0x7ff0000000000000));
}

static void
test_goldberg_ulp (void)
{
  g_assert_true (assay_dtype_ulp (ASSAY_DTYPE_FLOAT32, 1) == 0x1p-23);
  g_assert_true (assay_dtype_ulp (ASSAY_DTYPE_FLOAT32, -nextafter (1, 0)) == 0x1p-24);
  g_assert_true (assay_dtype_ulp (ASSAY_DTYPE_FLOAT32, 0) == 0x1p-149);
  g_assert_true (assay_dtype_ulp (ASSAY_DTYPE_FLOAT32, 1e-45) == 0x1p-149);
  g_assert_true (assay_dtype_ulp (ASSAY_DTYPE_FLOAT32, 0x1p-126) == 0x1p-149);
  g_assert_true (assay_dtype_ulp (ASSAY_DTYPE_FLOAT32, 0x1p-125) == 0x1p-148);
  g_assert_true (assay_dtype_ulp (ASSAY_DTYPE_FLOAT32, INFINITY) == 0x1p104);
  g_assert_true (assay_dtype_ulp (ASSAY_DTYPE_FLOAT64, 1) == 0x1p-52);
  g_assert_true (assay_dtype_ulp (ASSAY_DTYPE_FLOAT64, 0) == 0x1p-1074);
  g_assert_true (assay_dtype_ulp (ASSAY_DTYPE_BFLOAT16, 3) == 0x1p-6);
  g_assert_true (assay_dtype_ulp (ASSAY_DTYPE_FLOAT8_E4M3FN, 448) == 32);
  g_assert_true (assay_dtype_ulp (ASSAY_DTYPE_FLOAT8_E4M3FN, 1e9) == 32);
  g_assert_true (assay_dtype_ulp (ASSAY_DTYPE_FLOAT4_E2M1, 0.3) == 0.5);
  g_assert_true (assay_dtype_ulp (ASSAY_DTYPE_INT32, 77) == 1);
}

static void
test_arrays_decode_like_single_codes (void)
{
  for (int d = 0; d < ASSAY_N_DTYPES; d++)
    {
      AssayDtype dtype = (AssayDtype) d;
      enum
      {
        N = 700
      };
      guint8 data[N * 8];
      double values[N], again[N];
      guint8 back[N * 8];
      for (gsize i = 0; i < sizeof data; i++)
        data[i] = (guint8) (i * 37 + i / 7);
      assay_dtype_decode_array (dtype, data, 1, N - 1, values);
      assay_dtype_encode_array (dtype, values, N - 1, back, 0);
      assay_dtype_decode_array (dtype, back, 0, N - 1, again);
      for (gsize i = 0; i < N - 1; i++)
        {
          double one = assay_dtype_decode (dtype, assay_dtype_load (dtype, data, i + 1));
          g_assert_true (one == values[i] || (isnan (one) && isnan (values[i])));
          g_assert_true (one == again[i] || (isnan (one) && isnan (again[i])));
        }
    }
}

static void
test_names (void)
{
  for (int d = 0; d < ASSAY_N_DTYPES; d++)
    g_assert_cmpint (assay_dtype_from_name (assay_dtype_name ((AssayDtype) d)), ==, d);
  g_assert_cmpint (assay_dtype_from_name ("float33"), ==, ASSAY_DTYPE_UNKNOWN);
  g_assert_cmpint (assay_dtype_from_name (NULL), ==, ASSAY_DTYPE_UNKNOWN);
  g_assert_cmpint (assay_dtype_format (ASSAY_DTYPE_COMPLEX64)->item_bytes, ==, 8);
  g_assert_cmpint (assay_dtype_format (ASSAY_DTYPE_FLOAT4_E2M1)->item_bytes, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/dtype/enumeration", test_enumeration_gives_published_constants);
  g_test_add_func ("/dtype/round-trip", test_every_code_survives_decode_and_encode);
  g_test_add_func ("/dtype/search", test_rounding_equals_search_among_all_values);
  g_test_add_func ("/dtype/machine", test_conversions_of_the_machine_agree);
  g_test_add_func ("/dtype/edges", test_edges_of_rounding_and_overflow);
  g_test_add_func ("/dtype/pair", test_a_pair_is_rounded_once);
  g_test_add_func ("/dtype/keys", test_keys_grow_with_the_value);
  g_test_add_func ("/dtype/distances", test_distances_do_not_wrap);
  g_test_add_func ("/dtype/goldberg", test_goldberg_ulp);
  g_test_add_func ("/dtype/arrays", test_arrays_decode_like_single_codes);
  g_test_add_func ("/dtype/names", test_names);
  return g_test_run ();
}
