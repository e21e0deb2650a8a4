/* SPDX-License-Identifier: Apache-2.0 */
/* float32 to float16 and bfloat16 against the processor's own instruction and against exact arithmetic on
 * the two neighbours; all 2^32 inputs with the argument "all-floats". */
#include "engine/number/dtype.h"
#include "engine/number/half.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__ ((target ("f16c"))) static guint16
half_of_the_processor (float value)
{
  return (guint16) _cvtss_sh (value, _MM_FROUND_TO_NEAREST_INT);
}

static gboolean
processor_has_it (void)
{
  __builtin_cpu_init ();
  return __builtin_cpu_supports ("f16c");
}
#else
static guint16
half_of_the_processor (float value)
{
  return assay_float_to_half (value);
}

static gboolean
processor_has_it (void)
{
  return FALSE;
}
#endif

/* Of the two values with the upper half of the bits, the nearer, and of two as near the even one: decided
 * in double, where sums of neighbouring floats are exact. */
static guint16
bfloat_by_neighbours (guint32 bits)
{
  guint32 low = bits & 0xffff0000u, high = low + 0x10000u;
  double below = assay_float_from_bits (low), above;
  /* What follows the largest finite number counts as twice the power below it. */
  above = (high & 0x7f800000u) == 0x7f800000u ? copysign (0x1p128, below)
                                              : assay_float_from_bits (high);
  double twice = 2 * (double) assay_float_from_bits (bits), middle = below + above;
  gboolean up = fabs (twice) > fabs (middle) || (twice == middle && (low >> 16 & 1));
  return (guint16) ((up ? high : low) >> 16);
}

static guint64
differences (guint32 first, guint64 count, guint32 stride, gboolean machine)
{
  guint64 wrong = 0;
  for (guint64 i = 0; i < count; i++)
    {
      guint32 bits = first + (guint32) i * stride;
      float value = assay_float_from_bits (bits);
      gboolean nan = (bits & 0x7fffffffu) > 0x7f800000u;
      if (nan)
        {
          guint16 half = assay_float_to_half (value), bfloat = assay_float_to_bfloat (value);
          wrong += (half & 0x7fff) <= 0x7c00 || (bfloat & 0x7fff) <= 0x7f80;
          wrong += machine && half != half_of_the_processor (value);
          continue;
        }
      wrong += machine && assay_float_to_half (value) != half_of_the_processor (value);
      wrong += assay_double_to_half (value) != assay_float_to_half (value);
      guint16 bfloat = assay_float_to_bfloat (value);
      wrong += bfloat
               != ((bits & 0x7fffffffu) == 0x7f800000u ? bits >> 16 : bfloat_by_neighbours (bits));
      wrong += assay_double_to_bfloat (value) != bfloat;
    }
  return wrong;
}

static void
test_a_spread (void)
{
  if (!processor_has_it ())
    g_test_message ("no F16C: float16 is compared with our own double conversion alone");
  g_assert_cmpuint (
      differences (0, (G_GUINT64_CONSTANT (1) << 32) / 4099 + 1, 4099, processor_has_it ()), ==, 0);
  /* Around every power of two and every tie of float16. */
  for (guint32 exponent = 0; exponent < 256; exponent++)
    for (guint32 fraction = 0; fraction < 1u << 23; fraction += 1u << 12)
      g_assert_cmpuint (differences ((exponent << 23 | fraction) - 2, 5, 1, processor_has_it ()),
                        ==, 0);
}

static gpointer
part (gpointer data)
{
  guint index = GPOINTER_TO_UINT (data);
  return GSIZE_TO_POINTER (
      differences (index << 30, G_GUINT64_CONSTANT (1) << 30, 1, processor_has_it ()));
}

static void
test_all_floats (void)
{
  if (!g_getenv ("ASSAY_SLOW_TESTS"))
    {
      g_test_skip ("all 2^32 floats take minutes: set ASSAY_SLOW_TESTS");
      return;
    }
  GThread *threads[4];
  for (guint i = 0; i < 4; i++)
    threads[i] = g_thread_new ("part", part, GUINT_TO_POINTER (i));
  for (guint i = 0; i < 4; i++)
    g_assert_cmpuint (GPOINTER_TO_SIZE (g_thread_join (threads[i])), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (argc > 1 && g_str_equal (argv[1], "all-floats"))
    g_test_add_func ("/conversions/all-floats", test_all_floats);
  else
    g_test_add_func ("/conversions/spread", test_a_spread);
  return g_test_run ();
}
