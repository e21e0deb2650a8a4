/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/sweep.h"

#include <math.h>
#include <mpfr.h>
#include <string.h>

#define EXACT_BITS 320

/* ---- compositions, in double and in float ---- */

static double
reciprocal_root (double x)
{
  return 1 / sqrt (x);
}

static float
reciprocal_rootf (float x)
{
  return 1.0f / sqrtf (x);
}

static double
reciprocal (double x)
{
  return 1 / x;
}

static float
reciprocalf (float x)
{
  return 1.0f / x;
}

static double
sigmoid (double x)
{
  return 1 / (1 + exp (-x));
}

static float
sigmoidf (float x)
{
  return 1.0f / (1.0f + expf (-x));
}

static double
silu (double x)
{
  return x / (1 + exp (-x));
}

static float
siluf (float x)
{
  return x / (1.0f + expf (-x));
}

static double
gelu (double x)
{
  return x / 2 * erfc (x * -0x1.6a09e667f3bcdp-1);
}

static float
geluf (float x)
{
  return 0.5f * x * (1.0f + erff (x * 0x1.6a09e6p-1f));
}

/* lgamma () leaves the sign in a variable of all threads. */
static double
log_gamma (double x)
{
  int sign;
  return lgamma_r (x, &sign);
}

static float
log_gammaf (float x)
{
  int sign;
  return lgammaf_r (x, &sign);
}

/* ---- the same in MPFR; `x` is the argument, and `out` may be it ---- */

typedef int (*Exact) (mpfr_t out, mpfr_srcptr x, mpfr_rnd_t rounding);

static int
exact_reciprocal (mpfr_t out, mpfr_srcptr x, mpfr_rnd_t rounding)
{
  return mpfr_ui_div (out, 1, x, rounding);
}

/* mpfr_rec_sqrt () forgets the sign of zero. */
static int
exact_reciprocal_root (mpfr_t out, mpfr_srcptr x, mpfr_rnd_t rounding)
{
  mpfr_sqrt (out, x, rounding);
  return mpfr_ui_div (out, 1, out, rounding);
}

static int
exact_log_gamma (mpfr_t out, mpfr_srcptr x, mpfr_rnd_t rounding)
{
  int sign;
  return mpfr_lgamma (out, &sign, x, rounding);
}

static int
exact_sigmoid (mpfr_t out, mpfr_srcptr x, mpfr_rnd_t rounding)
{
  mpfr_neg (out, x, rounding);
  mpfr_exp (out, out, rounding);
  mpfr_add_ui (out, out, 1, rounding);
  return mpfr_ui_div (out, 1, out, rounding);
}

static int
exact_silu (mpfr_t out, mpfr_srcptr x, mpfr_rnd_t rounding)
{
  mpfr_t factor;
  mpfr_init2 (factor, EXACT_BITS);
  exact_sigmoid (factor, x, rounding);
  int ternary = mpfr_mul (out, factor, x, rounding);
  mpfr_clear (factor);
  return ternary;
}

static int
exact_gelu (mpfr_t out, mpfr_srcptr x, mpfr_rnd_t rounding)
{
  mpfr_t factor;
  mpfr_init2 (factor, EXACT_BITS);
  mpfr_sqrt_ui (factor, 2, rounding);
  mpfr_div (factor, x, factor, rounding);
  mpfr_neg (factor, factor, rounding);
  mpfr_erfc (factor, factor, rounding);
  mpfr_mul (out, factor, x, rounding);
  int ternary = mpfr_div_2ui (out, out, 1, rounding);
  mpfr_clear (factor);
  return ternary;
}

/* Windows: double functions of glibc stay below 2^3 of their own ulp, 2^-26 of a float's; compositions
 * that multiply an error of their argument get more room. */
/* clang-format off */
#define FUNCTIONS(X) \
  X ("exp", exp, expf, "expf (x)", mpfr_exp, "expf (x)", "hexp (x)", 22) \
  X ("exp2", exp2, exp2f, "exp2f (x)", mpfr_exp2, "exp2f (x)", "hexp2 (x)", 22) \
  X ("exp10", exp10, exp10f, "exp10f (x)", mpfr_exp10, "exp10f (x)", "hexp10 (x)", 22) \
  X ("expm1", expm1, expm1f, "expm1f (x)", mpfr_expm1, "expm1f (x)", NULL, 22) \
  X ("log", log, logf, "logf (x)", mpfr_log, "logf (x)", "hlog (x)", 22) \
  X ("log2", log2, log2f, "log2f (x)", mpfr_log2, "log2f (x)", "hlog2 (x)", 22) \
  X ("log10", log10, log10f, "log10f (x)", mpfr_log10, "log10f (x)", "hlog10 (x)", 22) \
  X ("log1p", log1p, log1pf, "log1pf (x)", mpfr_log1p, "log1pf (x)", NULL, 22) \
  X ("sin", sin, sinf, "sinf (x)", mpfr_sin, "sinf (x)", "hsin (x)", 22) \
  X ("cos", cos, cosf, "cosf (x)", mpfr_cos, "cosf (x)", "hcos (x)", 22) \
  X ("tan", tan, tanf, "tanf (x)", mpfr_tan, "tanf (x)", NULL, 22) \
  X ("asin", asin, asinf, "asinf (x)", mpfr_asin, "asinf (x)", NULL, 22) \
  X ("acos", acos, acosf, "acosf (x)", mpfr_acos, "acosf (x)", NULL, 22) \
  X ("atan", atan, atanf, "atanf (x)", mpfr_atan, "atanf (x)", NULL, 22) \
  X ("sinh", sinh, sinhf, "sinhf (x)", mpfr_sinh, "sinhf (x)", NULL, 22) \
  X ("cosh", cosh, coshf, "coshf (x)", mpfr_cosh, "coshf (x)", NULL, 22) \
  X ("tanh", tanh, tanhf, "tanhf (x)", mpfr_tanh, "tanhf (x)", "htanh (x)", 22) \
  X ("asinh", asinh, asinhf, "asinhf (x)", mpfr_asinh, "asinhf (x)", NULL, 22) \
  X ("acosh", acosh, acoshf, "acoshf (x)", mpfr_acosh, "acoshf (x)", NULL, 22) \
  X ("atanh", atanh, atanhf, "atanhf (x)", mpfr_atanh, "atanhf (x)", NULL, 22) \
  X ("erf", erf, erff, "erff (x)", mpfr_erf, "erff (x)", NULL, 22) \
  X ("erfc", erfc, erfcf, "erfcf (x)", mpfr_erfc, "erfcf (x)", NULL, 22) \
  X ("tgamma", tgamma, tgammaf, "tgammaf (x)", mpfr_gamma, "tgammaf (x)", NULL, 22) \
  X ("lgamma", log_gamma, log_gammaf, "lgammaf (x)", exact_log_gamma, "lgammaf (x)", NULL, 22) \
  X ("cbrt", cbrt, cbrtf, "cbrtf (x)", mpfr_cbrt, "cbrtf (x)", NULL, 22) \
  X ("sqrt", sqrt, sqrtf, "sqrtf (x)", mpfr_sqrt, "sqrtf (x)", "hsqrt (x)", 22) \
  X ("rsqrt", reciprocal_root, reciprocal_rootf, "1.0f / sqrtf (x)", exact_reciprocal_root, \
     "rsqrtf (x)", "hrsqrt (x)", 22) \
  X ("reciprocal", reciprocal, reciprocalf, "1.0f / x", exact_reciprocal, "1.0f / x", \
     "hrcp (x)", 22) \
  X ("sigmoid", sigmoid, sigmoidf, "1.0f / (1.0f + expf (-x))", exact_sigmoid, \
     "1.0f / (1.0f + expf (-x))", NULL, 22) \
  X ("silu", silu, siluf, "x / (1.0f + expf (-x))", exact_silu, "x / (1.0f + expf (-x))", NULL, 22) \
  X ("gelu", gelu, geluf, "0.5f * x * (1.0f + erff (x / sqrt 2))", exact_gelu, \
     "0.5f * x * (1.0f + erff (x * 0.70710678f))", NULL, 16)
/* clang-format on */

#define ROW(name, wide, single, text, exact, cuda, narrow, window)                                 \
  {name, wide, single, text, cuda, narrow, window},
static const AssaySweepFunction TABLE[] = {FUNCTIONS (ROW)};
#undef ROW

#define ROW(name, wide, single, text, exact, cuda, narrow, window) exact,
static const Exact EXACT[] = {FUNCTIONS (ROW)};
#undef ROW

const AssaySweepFunction *
assay_sweep_functions (gsize *count)
{
  *count = G_N_ELEMENTS (TABLE);
  return TABLE;
}

const AssaySweepFunction *
assay_sweep_function (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (TABLE); i++)
    if (g_str_equal (TABLE[i].name, name))
      return &TABLE[i];
  return NULL;
}

void
assay_sweep_exact (const AssaySweepFunction *function, double x, double *high, double *low)
{
  mpfr_t argument, value;
  mpfr_init2 (argument, 53);
  mpfr_init2 (value, EXACT_BITS);
  mpfr_set_d (argument, x, MPFR_RNDN);
  EXACT[function - TABLE](value, argument, MPFR_RNDN);
  *high = mpfr_get_d (value, MPFR_RNDN);
  mpfr_sub_d (value, value, *high, MPFR_RNDN);
  *low = isfinite (*high) ? mpfr_get_d (value, MPFR_RNDN) : 0;
  mpfr_clear (argument);
  mpfr_clear (value);
  mpfr_free_cache2 (MPFR_FREE_LOCAL_CACHE);
}
