/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps against MPFR alone, against recorded maxima, and against themselves after interruptions. */
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/numerics/ulp-maxima.h"

#include <gnu/libc-version.h>
#include <math.h>
#include <mpfr.h>
#include <string.h>

static AssaySweep *
record_for (const char *name, AssayDtype dtype, double low, double high)
{
  AssaySweep *sweep = assay_sweep_new ();
  sweep->function = g_strdup (name);
  sweep->precision = g_strdup (assay_dtype_name (dtype));
  sweep->of = g_strdup ("test");
  sweep->low = low;
  sweep->high = high;
  sweep->first = sweep->next = assay_sweep_position (dtype, low);
  sweep->last = assay_sweep_position (dtype, high);
  return sweep;
}

static AssaySweep *
sweep_with (const char *name, AssayDtype dtype, double low, double high,
            AssaySweepCandidate candidate, gpointer data)
{
  g_autoptr (GError) error = NULL;
  AssaySweep *sweep = record_for (name, dtype, low, high);
  AssaySweepJob job = {.function = assay_sweep_function (name),
                       .dtype = dtype,
                       .candidate = candidate,
                       .user_data = data};
  g_assert_true (assay_sweep_run (sweep, &job, NULL, &error));
  g_assert_no_error (error);
  return sweep;
}

static void
test_positions (void)
{
  static const AssayDtype DTYPES[] = {ASSAY_DTYPE_FLOAT16, ASSAY_DTYPE_BFLOAT16};
  for (gsize d = 0; d < G_N_ELEMENTS (DTYPES); d++)
    {
      double before = -INFINITY;
      gint64 n = assay_sweep_positions (DTYPES[d]);
      for (gint64 i = 0; i < n; i++)
        {
          double value = assay_dtype_decode (DTYPES[d], assay_sweep_code (DTYPES[d], i));
          g_assert_cmpint (assay_sweep_position (DTYPES[d], value), ==, i);
          g_assert_true (i == 0 || value > before || (value == 0 && before == 0));
          before = value;
        }
      g_assert_true (isinf (before));
    }
  /* Every float that is not NaN. */
  g_assert_cmpint (assay_sweep_positions (ASSAY_DTYPE_FLOAT32), ==, 4278190082);
}

/* MPFR with the exponent range of the format rounds once, subnormal results included. */
typedef struct
{
  const char *name;
  int (*exact) (mpfr_t out, mpfr_srcptr x, mpfr_rnd_t rounding);
} Direct;

static const Direct DIRECT[] = {
    {"exp", mpfr_exp},   {"log", mpfr_log},     {"sin", mpfr_sin},
    {"tan", mpfr_tan},   {"tanh", mpfr_tanh},   {"erf", mpfr_erf},
    {"erfc", mpfr_erfc}, {"asinh", mpfr_asinh}, {"cbrt", mpfr_cbrt},
};

static double
round_directly (const Direct *direct, int precision, int least, int most, double x)
{
  mpfr_t value, argument;
  mpfr_init2 (value, precision);
  mpfr_init2 (argument, 53);
  mpfr_set_d (argument, x, MPFR_RNDN);
  mpfr_set_emin (least);
  mpfr_set_emax (most);
  int ternary = direct->exact (value, argument, MPFR_RNDN);
  mpfr_subnormalize (value, ternary, MPFR_RNDN);
  mpfr_set_emin (mpfr_get_emin_min ());
  mpfr_set_emax (mpfr_get_emax_max ());
  double out = mpfr_get_d (value, MPFR_RNDN);
  mpfr_clear (value);
  mpfr_clear (argument);
  return out;
}

typedef struct
{
  const Direct *direct;
  AssayDtype dtype;
} Rounding;

static gboolean
rounded_directly (gint64 first, gsize n, guint32 *results, gpointer data, GError **error)
{
  const Rounding *r = data;
  gboolean half = r->dtype == ASSAY_DTYPE_FLOAT16;
  for (gsize i = 0; i < n; i++)
    {
      double x = assay_dtype_decode (r->dtype, assay_sweep_code (r->dtype, first + (gint64) i));
      double y = half ? round_directly (r->direct, 11, -23, 16, x)
                      : round_directly (r->direct, 8, -132, 128, x);
      results[i] = (guint32) assay_dtype_encode (r->dtype, y);
    }
  return TRUE;
}

/* MPFR's own rounding as the candidate: nothing may differ, over every half and every bfloat. */
static void
test_halves_against_mpfr (void)
{
  static const AssayDtype DTYPES[] = {ASSAY_DTYPE_FLOAT16, ASSAY_DTYPE_BFLOAT16};
  for (gsize k = 0; k < 2 * G_N_ELEMENTS (DIRECT); k++)
    {
      Rounding rounding = {&DIRECT[k / 2], DTYPES[k % 2]};
      g_autoptr (AssaySweep) sweep = sweep_with (rounding.direct->name, rounding.dtype, -INFINITY,
                                                 INFINITY, rounded_directly, &rounding);
      AssaySweepWorst *worst = g_ptr_array_index (sweep->worst, 0);
      g_assert_cmpuint (sweep->count, ==, assay_sweep_positions (rounding.dtype));
      g_assert_cmpuint (sweep->misrounded, ==, 0);
      g_assert_cmpuint (sweep->max_ulp, ==, 0);
      g_assert_cmpuint (sweep->nan_spurious + sweep->nan_missing, ==, 0);
      g_assert_cmpuint (sweep->infinity_spurious + sweep->infinity_missing, ==, 0);
      g_assert_cmpuint (sweep->zero_sign, ==, 0);
      g_assert_cmpfloat (worst->ulp_real, <=, 0.5);
    }
}

/* The double result through float: rounded twice. Counts over all halves as recorded elsewhere from
 * a correctly rounded float function. */
static gboolean
rounded_twice (gint64 first, gsize n, guint32 *results, gpointer data, GError **error)
{
  const Rounding *r = data;
  const AssaySweepFunction *function = assay_sweep_function (r->direct->name);
  for (gsize i = 0; i < n; i++)
    {
      double x = assay_dtype_decode (r->dtype, assay_sweep_code (r->dtype, first + (gint64) i));
      results[i] = (guint32) assay_dtype_encode (r->dtype, (float) function->wide (x));
    }
  return TRUE;
}

static void
test_double_rounding (void)
{
  static const struct
  {
    const char *name;
    guint64 half;
  } EXPECTED[] = {{"exp", 2},     {"log", 1},  {"sin", 4},       {"erf", 2},
                  {"sigmoid", 7}, {"silu", 2}, {"gelu", 3},      {"tanh", 0},
                  {"rsqrt", 0},   {"sqrt", 0}, {"reciprocal", 0}};
  for (gsize i = 0; i < G_N_ELEMENTS (EXPECTED); i++)
    {
      Direct direct = {EXPECTED[i].name, NULL};
      Rounding half = {&direct, ASSAY_DTYPE_FLOAT16}, bfloat = {&direct, ASSAY_DTYPE_BFLOAT16};
      g_autoptr (AssaySweep) a = sweep_with (EXPECTED[i].name, ASSAY_DTYPE_FLOAT16, -INFINITY,
                                             INFINITY, rounded_twice, &half);
      g_autoptr (AssaySweep) b = sweep_with (EXPECTED[i].name, ASSAY_DTYPE_BFLOAT16, -INFINITY,
                                             INFINITY, rounded_twice, &bfloat);
      g_assert_cmpuint (a->misrounded, ==, EXPECTED[i].half);
      /* silu and gelu halve their smallest arguments to what looks like a tie and is not one, by bits
       * far below a double's: half of 256 odd codes go the wrong way, which only MPFR sees. */
      gboolean halves =
          g_str_equal (EXPECTED[i].name, "silu") || g_str_equal (EXPECTED[i].name, "gelu");
      g_assert_cmpuint (b->misrounded, ==, halves ? 128 : 0);
    }
}

/* Two thousand floats one by one, MPFR rounding to 24 bits. */
static void
test_floats_one_by_one (void)
{
  for (gsize k = 0; k < G_N_ELEMENTS (DIRECT); k++)
    {
      const AssaySweepFunction *function = assay_sweep_function (DIRECT[k].name);
      gint64 first = assay_sweep_position (ASSAY_DTYPE_FLOAT32, 0.75 + 0.01 * (double) k);
      double low =
          assay_dtype_decode (ASSAY_DTYPE_FLOAT32, assay_sweep_code (ASSAY_DTYPE_FLOAT32, first));
      double high = assay_dtype_decode (ASSAY_DTYPE_FLOAT32,
                                        assay_sweep_code (ASSAY_DTYPE_FLOAT32, first + 1999));
      guint64 wrong = 0;
      for (gint64 i = 0; i < 2000; i++)
        {
          double x = assay_dtype_decode (ASSAY_DTYPE_FLOAT32,
                                         assay_sweep_code (ASSAY_DTYPE_FLOAT32, first + i));
          double right = round_directly (&DIRECT[k], 24, -148, 128, x);
          wrong += right != (double) function->single ((float) x);
        }
      g_autoptr (AssaySweep) sweep =
          sweep_with (DIRECT[k].name, ASSAY_DTYPE_FLOAT32, low, high, NULL, NULL);
      g_assert_cmpuint (sweep->count, ==, 2000);
      g_assert_cmpuint (sweep->misrounded, ==, wrong);
    }
}

static gboolean
all_wrong (gint64 first, gsize n, guint32 *results, gpointer data, GError **error)
{
  static const double VALUES[] = {NAN, INFINITY, 1.0, -0.0};
  for (gsize i = 0; i < n; i++)
    results[i] =
        (guint32) assay_dtype_encode (ASSAY_DTYPE_FLOAT16, VALUES[(first + (gint64) i) % 4]);
  return TRUE;
}

static void
test_specials_apart (void)
{
  guint64 nan = 0, infinite = 0, zeros = 0;
  gint64 first = assay_sweep_position (ASSAY_DTYPE_FLOAT16, 0.0);
  /* sqrt over [+0, 100]: finite everywhere, and zero at zero only. */
  gint64 last = assay_sweep_position (ASSAY_DTYPE_FLOAT16, 100);
  for (gint64 i = first; i <= last; i++)
    {
      nan += i % 4 == 0;
      infinite += i % 4 == 1;
      zeros += i % 4 == 3 && i == first;
    }
  g_autoptr (AssaySweep) sweep =
      sweep_with ("sqrt", ASSAY_DTYPE_FLOAT16, 0.0, 100, all_wrong, NULL);
  g_assert_cmpuint (sweep->nan_spurious, ==, nan);
  g_assert_cmpuint (sweep->nan_missing, ==, 0);
  g_assert_cmpuint (sweep->infinity_spurious, ==, infinite);
  g_assert_cmpuint (sweep->zero_sign, ==, zeros);
  /* log of negative numbers is NaN. */
  g_autoptr (AssaySweep) below = sweep_with ("log", ASSAY_DTYPE_FLOAT16, -2, -1, all_wrong, NULL);
  g_assert_cmpuint (below->nan_spurious, ==, 0);
  g_assert_cmpuint (below->nan_missing, >, below->count / 2);
}

/* 1 / (1 + exp (-x)) in float falls to zero where the true value is a subnormal of 2,097,151 steps. */
static void
test_float_sigmoid (void)
{
  double x = -0x1.62e43p+6;
  g_autoptr (AssaySweep) sweep = sweep_with ("sigmoid", ASSAY_DTYPE_FLOAT32, x, x, NULL, NULL);
  AssaySweepWorst *worst = g_ptr_array_index (sweep->worst, 0);
  g_assert_cmpuint (worst->input, ==, 0xc2b17218);
  if (worst->result != 0)
    {
      g_test_skip ("this C library's expf does not overflow there");
      return;
    }
  g_assert_cmpuint (sweep->max_ulp, ==, 2097151);
  g_assert_cmpfloat_with_epsilon (worst->ulp_real, 2097151.488723, 1e-6);
}

typedef struct
{
  GCancellable *cancellable;
  guint batches;
} Stopping;

static gboolean
stop_after_one (const AssaySweep *sweep, gpointer data, GError **error)
{
  Stopping *stopping = data;
  if (++stopping->batches == 1)
    g_cancellable_cancel (stopping->cancellable);
  return TRUE;
}

static void
test_interrupted_and_resumed (void)
{
  g_autoptr (GError) error = NULL;
  Stopping stopping = {g_cancellable_new (), 0};
  /* One batch and a half. */
  double high = assay_dtype_decode (
      ASSAY_DTYPE_FLOAT32,
      assay_sweep_code (ASSAY_DTYPE_FLOAT32,
                        assay_sweep_position (ASSAY_DTYPE_FLOAT32, 0.5) + (3 << 23)));
  g_autoptr (AssaySweep) whole = sweep_with ("exp2", ASSAY_DTYPE_FLOAT32, 0.5, high, NULL, NULL);
  g_autoptr (AssaySweep) half = record_for ("exp2", ASSAY_DTYPE_FLOAT32, 0.5, high);
  AssaySweepJob job = {.function = assay_sweep_function ("exp2"),
                       .dtype = ASSAY_DTYPE_FLOAT32,
                       .threads = 1,
                       .checkpoint = stop_after_one,
                       .progress_data = &stopping};
  g_assert_false (assay_sweep_run (half, &job, stopping.cancellable, &error));
  g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_CANCELLED);
  g_assert_cmpuint (half->count, ==, 1 << 24);
  g_autoptr (JsonNode) saved = assay_json_table_write (&ASSAY_SWEEP_TABLE, half);
  g_autoptr (AssaySweep) again = assay_json_table_read (&ASSAY_SWEEP_TABLE, saved, "", NULL, NULL);
  g_clear_error (&error);
  g_assert_true (assay_sweep_run (again, &job, NULL, &error));
  g_autoptr (JsonNode) a = assay_json_table_write (&ASSAY_SWEEP_TABLE, whole);
  g_autoptr (JsonNode) b = assay_json_table_write (&ASSAY_SWEEP_TABLE, again);
  g_autofree char *one = assay_json_write (a), *other = assay_json_write (b);
  g_assert_cmpstr (one, ==, other);
  g_object_unref (stopping.cancellable);
}

/* ---- documented maxima ---- */

static void
test_maxima (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path =
      g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "data", "ulp-maxima.json", NULL);
  g_autoptr (AssayMaxima) maxima = assay_maxima_load (path, &error);
  g_assert_no_error (error);
  g_autoptr (AssaySweep) sweep = record_for ("exp", ASSAY_DTYPE_FLOAT32, -10, 10);
  sweep->max_ulp = 14;
  g_autoptr (GArray) verdicts = assay_maxima_judge (maxima, sweep, "virtual", "2.36", TRUE);
  guint binding = 0;
  for (guint i = 0; i < verdicts->len; i++)
    {
      const AssayMaximumVerdict *verdict = &g_array_index (verdicts, AssayMaximumVerdict, i);
      if (!verdict->binding)
        continue;
      /* 2 + floor (1.173 · 10) */
      g_assert_cmpstr (verdict->table->name, ==, "cuda-fast-math");
      g_assert_cmpfloat (verdict->documented, ==, 13);
      g_assert_true (verdict->above);
      binding++;
    }
  g_assert_cmpuint (binding, ==, 1);
  /* An absolute bound on [0.5, 2] says nothing about a wider range. */
  g_autoptr (AssaySweep) wide = record_for ("log", ASSAY_DTYPE_FLOAT32, 0.25, 2);
  g_autoptr (GArray) none = assay_maxima_judge (maxima, wide, "virtual", "2.36", TRUE);
  for (guint i = 0; i < none->len; i++)
    g_assert_false (g_array_index (none, AssayMaximumVerdict, i).binding);
}

/* ---- doubles ---- */

/* Inputs of OpenJDK's WorstCaseTests, which quotes Zimmermann et al., and two of CORE-MATH's that are hard
 * to round. The values are those of mpmath at 1600 bits, rounded once; `rest` is the sign of what is
 * left, or 2 where that is below the subnormals. */
typedef struct
{
  const char *name;
  double x, value;
  int rest;
} HardDouble;

static const HardDouble HARD[] = {
    {"exp", 0x1.2e8f20cf3cbe7p+8, 0x1.6a2a59cc78bf7p+436, 1},
    {"exp", -0x1.49f33ad2c1c58p+9, 0x1.f3ccc815431b5p-953, 1},
    {"exp", 0x1.fce66609f7428p+5, 0x1.b59724cb0bc4dp+91, -1},
    {"exp", -0x1.18209ecd19a8cp+6, 0x1.f3dcee4c90df9p-102, 1},
    {"exp", -0x1.74046dfefd9d1p+9, 0x1p-1074, 2},
    {"exp", -0x1.e8bdbfcd9144ep+3, 0x1.f3e558cf4de54p-23, 1},
    {"exp", 0x1.1d5c2daebe367p+4, 0x1.a8c02e974c315p+25, -1},
    {"log", 0x1.48ae5a67204f5p+0, 0x1.ffd10abffc3ffp-3, -1},
    {"log", 0x1.1211bef8f68e9p+0, 0x1.175caeca67f85p-4, -1},
    {"log", 0x1.008000db2e8bep+0, 0x1.ff83959f5cc1fp-10, 1},
    {"log", 0x1.0ffea3878db6bp+0, 0x1.f07a0cca521efp-5, 1},
    {"log", 0x1.dc0b586f2b26p-1, -0x1.2a3eaaa6e8d73p-4, 1},
    {"sin", 0x1.4d84db080b9fdp+21, 0x1.6e21c4ff6aec3p-1, 1},
    {"sin", -0x1.f8b791cafcdefp+4, -0x1.073ca87470df9p-3, -1},
    {"sin", -0x1.0e16eb809a35dp+944, 0x1.b5e361ed01dadp-2, -1},
    {"sin", -0x1.842d8ec8f752fp+21, -0x1.6ce864edeaffdp-1, -1},
    {"cos", -0x1.34e729fd08086p+21, 0x1.6a6a0d6a17f0fp-1, 1},
    {"cos", -0x1.7120161c92674p+0, 0x1.0741fb7683849p-3, 1},
    {"cos", -0x1.d19ebc5567dcdp+311, -0x1.b5d2f45f68959p-2, 1},
    {"tan", 0x1.3f9605aaeb51bp+21, -0x1.9678ee5d64935p-1, 1},
    {"asin", -0x1.004d1c5a9400bp-1, -0x1.0c6e322e8a28bp-1, -1},
    {"acos", -0x1.0068b067c6feep-1, 0x1.0c335e2f0726fp+1, 1},
    {"atan", 0x1.62ff6a1682c25p-1, 0x1.3666b15c8756bp-1, -1},
};

static void
test_hard_doubles (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (HARD); i++)
    {
      double high, low;
      assay_sweep_exact (assay_sweep_function (HARD[i].name), HARD[i].x, &high, &low);
      g_test_message ("%s (%a) = %a", HARD[i].name, HARD[i].x, high);
      g_assert_true (high == HARD[i].value);
      g_assert_cmpfloat (fabs (low), <=, assay_dtype_ulp (ASSAY_DTYPE_FLOAT64, high) / 2);
      if (HARD[i].rest != 2)
        g_assert_cmpint ((low > 0) - (low < 0), ==, HARD[i].rest);
    }
}

/* ---- all floats: minutes, and this C library only ---- */

typedef struct
{
  const char *name;
  guint64 misrounded, above_one, input, max_ulp;
  double ulp_real;
} Anchor;

static const Anchor ANCHORS[] = {
    {"exp", 170648, 0, 0xbbe7328f, 1, 0.501637},
    {"exp2", 168362, 0, 0xbc23cafc, 1, 0.501636},
    {"log", 416908, 0, 0x3f830083, 1, 0.817664},
    {"log2", 313550, 0, 0x3f802bfc, 1, 0.751762},
    {"tanh", 118674314, 37533748, 0x3e6ee50c, 2, 2.188555},
    {"erf", 126805016, 0, 0x3f563109, 1, 0.967919},
    {"log1p", 11534111, 1, 0x3ed413da, 1, 1.293279},
    {"cbrt", 453492162, 0, 0x00400d32, 1, 0.968349},
    {"sqrt", 0, 0, 0x017fffff, 0, 0.5},
    {"asin", 4581700, 0, 0x3f0063e6, 1, 0.897694},
    {"acos", 5422146, 0, 0xbf053bfa, 1, 0.898019},
    {"atan", 21089464, 0, 0x3f3133b9, 1, 0.852108},
    {"expm1", 12920601, 0, 0x3eb9c703, 1, 0.812797},
    {"log10", 29787060, 1057393, 0x3f7b74eb, 2, 2.064216},
    {"cosh", 17868534, 37120, 0x42b2c4c6, 2, 1.889404},
    {"sinh", 71328448, 2216564, 0x42b2c4c6, 2, 1.889404},
    {"atanh", 52062348, 1203814, 0x3df616ec, 2, 1.722306},
    {"acosh", 243413455, 97914, 0x3f80e5cc, 2, 2.000190},
    {"asinh", 619608176, 1237968, 0x3f04a480, 2, 1.778085},
    {"erfc", 20494449, 2363640, 0x3fa9bd3a, 3, 3.125752},
    {"sin", 29362812, 0, 0x3f0602e6, 1, 0.560697},
    {"cos", 28209642, 0, 0x597f9410, 1, 0.560720},
    {"tan", 83411250, 2676, 0x631d36f8, 2, 1.475501},
    {"sigmoid", 170681927, 51363780, 0xc2b17218, 2097151, 2097151.488723},
    {"rsqrt", 556013448, 36261346, 0x0080cab3, 1, 1.490349},
};

/* Recorded on part of the floats only: from `low` to `high`, and at least 2^-30 from zero. */
typedef struct
{
  Anchor anchor; /* above_one was not recorded */
  double low, high;
  guint64 count;
} GammaAnchor;

static const GammaAnchor GAMMAS[] = {
    {{"tgamma", 209107682, 0, 0xc042e545, 8, 7.900777}, -45, 36, 591659010},
    {{"lgamma", 170835563, 0, 0xc07b1184, 7, 6.775911}, -32, 1024, 629145602},
};

/* TRUE, and the test skipped, where the anchors were not recorded. */
static gboolean
is_elsewhere (void)
{
  const char *why = NULL;
  if (!g_str_equal (gnu_get_libc_version (), "2.36"))
    why = "recorded with glibc 2.36";
  else if (!__builtin_cpu_supports ("fma") || !__builtin_cpu_supports ("avx2"))
    why = "recorded on x86-64 with FMA";
  if (why)
    g_test_skip (why);
  return why != NULL;
}

/* The worst input of each row, and 2^12 floats to both sides of it: the whole is for the slow test. */
static void
test_worst_inputs (void)
{
  if (is_elsewhere ())
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (ANCHORS) + G_N_ELEMENTS (GAMMAS); i++)
    {
      const Anchor *anchor =
          i < G_N_ELEMENTS (ANCHORS) ? &ANCHORS[i] : &GAMMAS[i - G_N_ELEMENTS (ANCHORS)].anchor;
      double x = assay_dtype_decode (ASSAY_DTYPE_FLOAT32, anchor->input);
      g_autoptr (AssaySweep) sweep = record_for (anchor->name, ASSAY_DTYPE_FLOAT32, x, x);
      sweep->first = sweep->next = sweep->first - 4096;
      sweep->last += 4096;
      AssaySweepJob job = {.function = assay_sweep_function (anchor->name),
                           .dtype = ASSAY_DTYPE_FLOAT32};
      g_assert_true (assay_sweep_run (sweep, &job, NULL, NULL));
      AssaySweepWorst *worst = g_ptr_array_index (sweep->worst, 0);
      g_test_message ("%s: %.6f at %08" G_GINT64_MODIFIER "x", anchor->name, worst->ulp_real,
                      worst->input);
      g_assert_cmpfloat_with_epsilon (worst->ulp_real, anchor->ulp_real,
                                      1e-6 * fmax (1, anchor->ulp_real));
      if (anchor->misrounded)
        g_assert_cmpuint (worst->input, ==, anchor->input);
    }
}

/* TRUE, and the test skipped, where it cannot or shall not run. */
static gboolean
is_not_now (void)
{
  if (is_elsewhere ())
    return TRUE;
  if (g_getenv ("ASSAY_SLOW_TESTS"))
    return FALSE;
  g_test_skip ("all 2^32 floats take minutes: set ASSAY_SLOW_TESTS");
  return TRUE;
}

static void
test_gamma (gconstpointer data)
{
  const GammaAnchor *gamma = data;
  const Anchor *anchor = &gamma->anchor;
  if (is_not_now ())
    return;
  g_autoptr (AssaySweep) below =
      sweep_with (anchor->name, ASSAY_DTYPE_FLOAT32, gamma->low, -0x1p-30, NULL, NULL);
  g_autoptr (AssaySweep) above =
      sweep_with (anchor->name, ASSAY_DTYPE_FLOAT32, 0x1p-30, gamma->high, NULL, NULL);
  AssaySweepWorst *worst = g_ptr_array_index (below->worst, 0);
  g_test_message ("%s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " misrounded, %.6f at "
                  "%08" G_GINT64_MODIFIER "x, distance %" G_GUINT64_FORMAT,
                  anchor->name, below->misrounded + above->misrounded, below->count + above->count,
                  worst->ulp_real, worst->input, below->max_ulp);
  g_assert_cmpuint (below->count + above->count, ==, gamma->count);
  g_assert_cmpuint (below->misrounded + above->misrounded, ==, anchor->misrounded);
  g_assert_cmpuint (MAX (below->max_ulp, above->max_ulp), ==, anchor->max_ulp);
  g_assert_cmpuint (worst->input, ==, anchor->input);
  g_assert_cmpfloat_with_epsilon (worst->ulp_real, anchor->ulp_real, 1e-6);
  g_assert_cmpfloat (((AssaySweepWorst *) g_ptr_array_index (above->worst, 0))->ulp_real, <,
                     worst->ulp_real);
}

/* One input for all that err exactly alike: those of either sign, and for cbrt those 8 times as large,
 * since cbrt (8 x) is 2 cbrt (x); there its significand with the exponent modulo 3. */
static guint64
same_error (const char *name, guint64 input)
{
  int exponent;
  if (!g_str_equal (name, "cbrt"))
    return input & 0x7fffffff;
  double x = fabs (assay_dtype_decode (ASSAY_DTYPE_FLOAT32, (guint32) input));
  double significand = frexp (x, &exponent);
  return ((guint64) ldexp (significand, 24) << 2) | (guint64) ((exponent % 3 + 3) % 3);
}

static void
test_anchor (gconstpointer data)
{
  const Anchor *anchor = data;
  if (is_not_now ())
    return;
  g_autoptr (AssaySweep) sweep =
      sweep_with (anchor->name, ASSAY_DTYPE_FLOAT32, -INFINITY, INFINITY, NULL, NULL);
  AssaySweepWorst *worst = g_ptr_array_index (sweep->worst, 0);
  g_test_message ("%s: %" G_GUINT64_FORMAT " misrounded, %" G_GUINT64_FORMAT
                  " beyond 1, %.6f at %08" G_GINT64_MODIFIER "x, distance %" G_GUINT64_FORMAT
                  ", %" G_GUINT64_FORMAT " by MPFR",
                  anchor->name, sweep->misrounded, sweep->above_one, worst->ulp_real, worst->input,
                  sweep->max_ulp, sweep->rechecked);
  g_assert_cmpuint (sweep->misrounded, ==, anchor->misrounded);
  g_assert_cmpuint (sweep->above_one, ==, anchor->above_one);
  g_assert_cmpuint (sweep->max_ulp, ==, anchor->max_ulp);
  g_assert_cmpfloat_with_epsilon (worst->ulp_real, anchor->ulp_real, 1e-6);
  /* Of an odd or even function's two worst inputs the one with the smaller position is kept. */
  if (anchor->misrounded)
    g_assert_cmpuint (same_error (anchor->name, worst->input), ==,
                      same_error (anchor->name, anchor->input));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (argc > 1 && g_str_equal (argv[1], "all-floats"))
    {
      for (gsize i = 0; i < G_N_ELEMENTS (ANCHORS); i++)
        {
          g_autofree char *path = g_strdup_printf ("/sweep/all-floats/%s", ANCHORS[i].name);
          g_test_add_data_func (path, &ANCHORS[i], test_anchor);
        }
      for (gsize i = 0; i < G_N_ELEMENTS (GAMMAS); i++)
        {
          g_autofree char *path = g_strdup_printf ("/sweep/all-floats/%s", GAMMAS[i].anchor.name);
          g_test_add_data_func (path, &GAMMAS[i], test_gamma);
        }
      return g_test_run ();
    }
  g_test_add_func ("/sweep/positions", test_positions);
  g_test_add_func ("/sweep/mpfr", test_halves_against_mpfr);
  g_test_add_func ("/sweep/double-rounding", test_double_rounding);
  g_test_add_func ("/sweep/one-by-one", test_floats_one_by_one);
  g_test_add_func ("/sweep/specials", test_specials_apart);
  g_test_add_func ("/sweep/sigmoid", test_float_sigmoid);
  g_test_add_func ("/sweep/resume", test_interrupted_and_resumed);
  g_test_add_func ("/sweep/maxima", test_maxima);
  g_test_add_func ("/sweep/worst-inputs", test_worst_inputs);
  g_test_add_func ("/sweep/hard-doubles", test_hard_doubles);
  return g_test_run ();
}
