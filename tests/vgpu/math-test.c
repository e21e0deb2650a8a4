/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's mathematical functions, as NVRTC expands them, against libm in a wider format. Errors
 * allowed are the maxima of the CUDA C++ Programming Guide, appendix "Mathematical Functions"; a
 * little more where ex2.approx matters, which here is correctly rounded and not the hardware's. */
#include "tests/vgpu/harness.h"

#include <math.h>

#define COUNT 8192

typedef struct
{
  const char *name;
  int which;
  double (*one) (double x);
  double (*two) (double x, double y);
  double ulp;
  double least, most; /* of the arguments */
} Single;

static double
reciprocal_root (double x)
{
  return 1 / sqrt (x);
}

static double
quotient (double x, double y)
{
  return x / y;
}

static double
power_of_ten (double x)
{
  return pow (10, x);
}

static const Single singles[] = {
    {"expf", 0, exp, NULL, 1.1, -100, 88},
    {"logf", 1, log, NULL, 1, 1e-30, 1e30},
    {"sinf", 2, sin, NULL, 2, -1e6, 1e6},
    {"cosf", 3, cos, NULL, 2, -1e6, 1e6},
    {"tanf", 4, tan, NULL, 4, -1e5, 1e5},
    {"tanhf", 5, tanh, NULL, 2, -12, 12},
    {"powf", 6, NULL, pow, 4, 0.01, 20},
    {"rsqrtf", 7, reciprocal_root, NULL, 2, 1e-30, 1e30},
    {"sqrtf", 8, sqrt, NULL, 0.5, 0, 1e30},
    {"erff", 9, erf, NULL, 2, -4, 4},
    {"erfcf", 10, erfc, NULL, 4, -4, 9},
    {"log1pf", 11, log1p, NULL, 1, -0.99, 100},
    {"expm1f", 12, expm1, NULL, 1.5, -20, 80},
    {"cbrtf", 13, cbrt, NULL, 1, -1e10, 1e10},
    {"atanf", 14, atan, NULL, 2, -100, 100},
    {"asinf", 15, asin, NULL, 2, -1, 1},
    {"exp2f", 16, exp2, NULL, 2, -120, 120},
    {"log2f", 17, log2, NULL, 1, 1e-30, 1e30},
    {"sinhf", 18, sinh, NULL, 3, -80, 80},
    {"hypotf", 19, NULL, hypot, 3, -1e10, 1e10},
    {"fmodf", 20, NULL, fmod, 0.5, 0.1, 1000},
    {"atan2f", 21, NULL, atan2, 3, -10, 10},
    {"division", 22, NULL, quotient, 0.5, -1e5, 1e5},
    {"exp10f", 23, power_of_ten, NULL, 2, -30, 30},
    {"lgammaf", 24, lgamma, NULL, 6, 3, 1000},
    {"roundf", 25, round, NULL, 0.5, -1000, 1000},
    {"__expf", 26, exp, NULL, 4, -1, 1},
    {"__logf", 27, log, NULL, 8, 4, 1000},
    {"__fdividef", 28, NULL, quotient, 2, 1, 1000},
    {"log10f", 29, log10, NULL, 2, 1e-30, 1e30},
};

static double
ulp_of (double value, int precision)
{
  int exponent;
  if (value == 0 || !isfinite (value))
    return ldexp (1, precision == 24 ? -149 : -1074);
  frexp (value, &exponent);
  return ldexp (1, MAX (exponent - precision, precision == 24 ? -149 : -1074));
}

/* Spread over the range, or over its exponents where it spans many. */
static double
draw (GRand *rand, double least, double most)
{
  if (least > 0 && most / least > 1e4)
    return exp (g_rand_double_range (rand, log (least), log (most)));
  return g_rand_double_range (rand, least, most);
}

static char *
ptx_of_math (void)
{
  static char *ptx;
  if (ptx == NULL)
    ptx = compile_kernels ("math.cu", NULL);
  return ptx;
}

static void
test_single (gconstpointer data)
{
  const Single *s = data;
  char *ptx = ptx_of_math ();
  if (ptx == NULL)
    return;
  g_autoptr (Gpu) gpu = gpu_open ("checks=all");
  g_autoptr (GRand) rand = g_rand_new_with_seed (g_str_hash (s->name));
  g_autofree float *a = g_new (float, COUNT), *b = g_new (float, COUNT);
  g_autofree float *got = g_new (float, COUNT);
  for (int i = 0; i < COUNT; i++)
    {
      a[i] = (float) draw (rand, s->least, s->most);
      b[i] = (float) draw (rand, s->which == 6 ? -5 : s->least, s->which == 6 ? 5 : s->most);
    }
  CUdeviceptr da = gpu_put (gpu, a, COUNT * 4, "a"), db = gpu_put (gpu, b, COUNT * 4, "b");
  CUdeviceptr dout = gpu_put (gpu, NULL, COUNT * 4, "out");
  CUfunction f = gpu_load (gpu, ptx, "singles");
  g_assert_cmpint (gpu_run (gpu, f, COUNT / 256, 1, 256, 1, 0, &s->which, &da, &db, &dout, NULL),
                   ==, CUDA_SUCCESS);
  gpu_get (gpu, got, dout, COUNT * 4);
  double worst = 0;
  for (int i = 0; i < COUNT; i++)
    {
      double want = s->one != NULL ? s->one (a[i]) : s->two (a[i], b[i]);
      double error = fabs (got[i] - want) / ulp_of (want, 24);
      if (!(error <= s->ulp + 0.01))
        g_error ("%s (%.9g, %.9g) gives %.9g, not %.9g: %g ulp", s->name, (double) a[i],
                 (double) b[i], (double) got[i], want, error);
      worst = MAX (worst, error);
    }
  g_test_message ("%s: at most %.3f ulp", s->name, worst);
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  g_assert_null (find_type (reports, "report"));
}

typedef struct
{
  const char *name;
  int which;
  long double (*one) (long double x);
  long double (*two) (long double x, long double y);
  double ulp;
  double least, most;
} Double;

static long double
long_reciprocal_root (long double x)
{
  return 1 / sqrtl (x);
}

static long double
long_quotient (long double x, long double y)
{
  return x / y;
}

static const Double doubles[] = {
    {"exp", 0, expl, NULL, 1, -700, 700},
    {"log", 1, logl, NULL, 1, 1e-300, 1e300},
    {"sin", 2, sinl, NULL, 2, -1e8, 1e8},
    {"cos", 3, cosl, NULL, 2, -1e8, 1e8},
    {"pow", 4, NULL, powl, 2, 0.01, 50},
    {"tanh", 5, tanhl, NULL, 2, -20, 20},
    {"sqrt", 6, sqrtl, NULL, 0.5, 0, 1e300},
    {"rsqrt", 7, long_reciprocal_root, NULL, 1, 1e-200, 1e200},
    {"divide", 8, NULL, long_quotient, 0.5, -1e5, 1e5},
    {"erf", 9, erfl, NULL, 2, -5, 5},
    {"fmod", 10, NULL, fmodl, 0.5, 0.1, 1000},
    {"cbrt", 11, cbrtl, NULL, 1, -1e10, 1e10},
    {"atan2", 12, NULL, atan2l, 2, -10, 10},
};

static void
test_double (gconstpointer data)
{
  const Double *d = data;
  char *ptx = ptx_of_math ();
  if (ptx == NULL)
    return;
  g_autoptr (Gpu) gpu = gpu_open ("checks=all");
  g_autoptr (GRand) rand = g_rand_new_with_seed (g_str_hash (d->name));
  g_autofree double *a = g_new (double, COUNT), *b = g_new (double, COUNT);
  g_autofree double *got = g_new (double, COUNT);
  for (int i = 0; i < COUNT; i++)
    {
      a[i] = draw (rand, d->least, d->most);
      b[i] = draw (rand, d->which == 4 ? -5 : d->least, d->which == 4 ? 5 : d->most);
    }
  CUdeviceptr da = gpu_put (gpu, a, COUNT * 8, "a"), db = gpu_put (gpu, b, COUNT * 8, "b");
  CUdeviceptr dout = gpu_put (gpu, NULL, COUNT * 8, "out");
  CUfunction f = gpu_load (gpu, ptx, "doubles");
  g_assert_cmpint (gpu_run (gpu, f, COUNT / 256, 1, 256, 1, 0, &d->which, &da, &db, &dout, NULL),
                   ==, CUDA_SUCCESS);
  gpu_get (gpu, got, dout, COUNT * 8);
  for (int i = 0; i < COUNT; i++)
    {
      long double want = d->one != NULL ? d->one (a[i]) : d->two (a[i], b[i]);
      double error = (double) fabsl (got[i] - want) / ulp_of ((double) want, 53);
      if (!(error <= d->ulp + 0.01))
        g_error ("%s (%.17g, %.17g) gives %.17g, not %.17g: %g ulp", d->name, a[i], b[i], got[i],
                 (double) want, error);
    }
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  g_assert_null (find_type (reports, "report"));
}

/* With adversarial rounding the error grows, but stays within what is documented. */
static void
test_adversarial (void)
{
  char *ptx = ptx_of_math ();
  int which = 26, differ = 0;
  if (ptx == NULL)
    return;
  g_autofree float *a = g_new (float, COUNT), *ideal = g_new (float, COUNT);
  g_autofree float *got = g_new (float, COUNT);
  for (int i = 0; i < COUNT; i++)
    a[i] = (float) i / COUNT;
  for (int mode = 0; mode < 2; mode++)
    {
      g_autoptr (Gpu) gpu = gpu_open (mode == 0 ? "math=ideal" : "math=adversarial;seed=3");
      CUdeviceptr da = gpu_put (gpu, a, COUNT * 4, "a"), dout = gpu_put (gpu, NULL, COUNT * 4, "o");
      CUfunction f = gpu_load (gpu, ptx, "singles");
      g_assert_cmpint (gpu_run (gpu, f, COUNT / 256, 1, 256, 1, 0, &which, &da, &da, &dout, NULL),
                       ==, CUDA_SUCCESS);
      gpu_get (gpu, mode == 0 ? ideal : got, dout, COUNT * 4);
    }
  for (int i = 0; i < COUNT; i++)
    {
      differ += got[i] != ideal[i];
      g_assert_cmpfloat_with_epsilon (got[i], ideal[i], ldexp (1, -20));
    }
  g_assert_cmpint (differ, >, COUNT / 4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (singles); i++)
    {
      g_autofree char *path = g_strdup_printf ("/vgpu/math/%s", singles[i].name);
      g_test_add_data_func (path, &singles[i], test_single);
    }
  for (size_t i = 0; i < G_N_ELEMENTS (doubles); i++)
    {
      g_autofree char *path = g_strdup_printf ("/vgpu/math/double-%s", doubles[i].name);
      g_test_add_data_func (path, &doubles[i], test_double);
    }
  g_test_add_func ("/vgpu/math/adversarial", test_adversarial);
  return g_test_run ();
}
