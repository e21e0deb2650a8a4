/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point instructions, bit for bit, against MPFR at the format's precision. */
#include "tests/vgpu/vector-harness.h"

#include "engine/number/half.h"

#include <math.h>
#include <mpfr.h>
#include <string.h>

typedef struct
{
  int precision, emin, emax; /* as MPFR counts: significand in [1/2, 1) */
  int exponent_bits, fraction_bits;
  guint64 nan;
} Format;

static const Format f32 = {24, -148, 128, 8, 23, 0x7fffffff};
static const Format f64 = {53, -1073, 1024, 11, 52, ANY_NAN};
static const Format f16 = {11, -23, 16, 5, 10, 0x7fff};
static const Format bf16 = {8, -132, 128, 8, 7, 0x7fff};

typedef enum
{
  ADD,
  SUB,
  MUL,
  FMA,
  DIV,
  SQRT,
  RCP,
  RSQRT,
  EX2,
  LG2,
  SIN,
  COS,
  TANH,
  NARROW
} Operation;

typedef struct
{
  const char *opcode;
  const char *types;
  Operation operation;
  const Format *from, *to;
  mpfr_rnd_t rounding;
  bool ftz, sat, pair;
} Vector;

static void
set_bits (mpfr_t x, guint64 bits, const Format *format, bool ftz)
{
  guint64 most = ((guint64) 1 << format->exponent_bits) - 1;
  guint64 exponent = bits >> format->fraction_bits & most;
  guint64 fraction = bits & (((guint64) 1 << format->fraction_bits) - 1);
  int sign = (int) (bits >> (format->exponent_bits + format->fraction_bits) & 1);
  long scale = (long) exponent - (long) (most / 2) - format->fraction_bits;
  if (exponent == most && fraction != 0)
    mpfr_set_nan (x);
  else if (exponent == most)
    mpfr_set_inf (x, 1);
  else if (exponent == 0)
    mpfr_set_ui_2exp (x, ftz ? 0 : fraction, scale + 1, MPFR_RNDN);
  else
    mpfr_set_ui_2exp (x, fraction | (guint64) 1 << format->fraction_bits, scale, MPFR_RNDN);
  mpfr_setsign (x, x, sign, MPFR_RNDN);
}

static guint64
get_bits (mpfr_t x, const Format *format)
{
  guint64 sign = (guint64) (mpfr_signbit (x) != 0)
                 << (format->exponent_bits + format->fraction_bits);
  guint64 most = ((guint64) 1 << format->exponent_bits) - 1;
  if (mpfr_inf_p (x))
    return sign | most << format->fraction_bits;
  if (mpfr_zero_p (x))
    return sign;
  mpfr_exp_t exponent;
  mpz_t whole;
  mpz_init (whole);
  exponent = mpfr_get_z_2exp (whole, x);
  mpz_abs (whole, whole);
  guint64 significand = mpz_get_ui (whole);
  mpz_clear (whole);
  long biased = exponent + (long) (most / 2) + format->fraction_bits;
  while (significand >> (format->fraction_bits + 1) != 0)
    {
      significand >>= 1;
      biased++;
    }
  while (biased < 1)
    {
      significand >>= 1;
      biased++;
    }
  while (significand >> format->fraction_bits == 0 && biased > 1)
    {
      significand <<= 1;
      biased--;
    }
  if (significand >> format->fraction_bits == 0)
    biased = 0;
  return sign | (guint64) biased << format->fraction_bits
         | (significand & (((guint64) 1 << format->fraction_bits) - 1));
}

static int
evaluate (const Vector *v, mpfr_t r, mpfr_t *x, mpfr_rnd_t rounding)
{
  switch (v->operation)
    {
    case ADD:
      return mpfr_add (r, x[0], x[1], rounding);
    case SUB:
      return mpfr_sub (r, x[0], x[1], rounding);
    case MUL:
      return mpfr_mul (r, x[0], x[1], rounding);
    case FMA:
      return mpfr_fma (r, x[0], x[1], x[2], rounding);
    case DIV:
      return mpfr_div (r, x[0], x[1], rounding);
    case SQRT:
      return mpfr_sqrt (r, x[0], rounding);
    case RCP:
      return mpfr_ui_div (r, 1, x[0], rounding);
    case RSQRT:
      return mpfr_rec_sqrt (r, x[0], rounding);
    case EX2:
      return mpfr_exp2 (r, x[0], rounding);
    case LG2:
      return mpfr_log2 (r, x[0], rounding);
    case SIN:
      return mpfr_sin (r, x[0], rounding);
    case COS:
      return mpfr_cos (r, x[0], rounding);
    case TANH:
      return mpfr_tanh (r, x[0], rounding);
    default:
      return mpfr_set (r, x[0], rounding);
    }
}

static guint64
refer_one (const Vector *v, const guint64 *operands)
{
  mpfr_t x[3], r;
  guint64 bits;
  mpfr_set_emin (mpfr_get_emin_min ());
  mpfr_set_emax (mpfr_get_emax_max ());
  for (int i = 0; i < 3; i++)
    {
      mpfr_init2 (x[i], 64);
      set_bits (x[i], operands[i], v->from, v->ftz);
    }
  mpfr_init2 (r, v->to->precision);
  mpfr_set_emin (v->to->emin);
  mpfr_set_emax (v->to->emax);
  int ternary = evaluate (v, r, x, v->rounding);
  ternary = mpfr_check_range (r, ternary, v->rounding);
  mpfr_subnormalize (r, ternary, v->rounding);
  /* The reciprocal root of -0 is -infinity in IEEE 754, +infinity in MPFR. */
  if (v->operation == RSQRT && mpfr_zero_p (x[0]) && mpfr_signbit (x[0]))
    mpfr_set_inf (r, -1);
  if (mpfr_nan_p (r))
    bits = v->sat ? 0 : v->to->nan;
  else
    bits = get_bits (r, v->to);
  guint64 exponent = bits >> v->to->fraction_bits & (((guint64) 1 << v->to->exponent_bits) - 1);
  guint64 sign = (guint64) 1 << (v->to->exponent_bits + v->to->fraction_bits);
  if (v->ftz && exponent == 0)
    bits &= sign;
  if (v->sat && !mpfr_nan_p (r))
    {
      guint64 one = (((guint64) 1 << (v->to->exponent_bits - 1)) - 1) << v->to->fraction_bits;
      bits = (bits & sign) != 0 ? 0 : MIN (bits, one);
    }
  for (int i = 0; i < 3; i++)
    mpfr_clear (x[i]);
  mpfr_clear (r);
  return bits;
}

static guint64
refer (guint64 a, guint64 b, guint64 c, const void *data)
{
  const Vector *v = data;
  guint64 low[3] = {a, b, c}, high[3] = {a >> 16, b >> 16, c >> 16};
  if (!v->pair)
    return refer_one (v, low);
  for (int i = 0; i < 3; i++)
    low[i] &= 0xffff;
  return refer_one (v, high) << 16 | refer_one (v, low);
}

/* clang-format off */
static const Vector vectors[] = {
  { "add.rn.f32", "www", ADD, &f32, &f32, MPFR_RNDN },
  { "add.rz.f32", "www", ADD, &f32, &f32, MPFR_RNDZ },
  { "add.rm.f32", "www", ADD, &f32, &f32, MPFR_RNDD },
  { "add.rp.ftz.f32", "www", ADD, &f32, &f32, MPFR_RNDU, .ftz = true },
  { "add.ftz.f32", "www", ADD, &f32, &f32, MPFR_RNDN, .ftz = true },
  { "add.sat.f32", "www", ADD, &f32, &f32, MPFR_RNDN, .sat = true },
  { "sub.f32", "www", SUB, &f32, &f32, MPFR_RNDN },
  { "mul.rn.f32", "www", MUL, &f32, &f32, MPFR_RNDN },
  { "mul.rp.f32", "www", MUL, &f32, &f32, MPFR_RNDU },
  { "mul.ftz.f32", "www", MUL, &f32, &f32, MPFR_RNDN, .ftz = true },
  { "fma.rn.f32", "wwww", FMA, &f32, &f32, MPFR_RNDN },
  { "fma.rz.f32", "wwww", FMA, &f32, &f32, MPFR_RNDZ },
  { "fma.rm.f32", "wwww", FMA, &f32, &f32, MPFR_RNDD },
  { "fma.rn.ftz.sat.f32", "wwww", FMA, &f32, &f32, MPFR_RNDN, .ftz = true, .sat = true },
  { "div.rn.f32", "www", DIV, &f32, &f32, MPFR_RNDN },
  { "div.rz.f32", "www", DIV, &f32, &f32, MPFR_RNDZ },
  { "rcp.rn.f32", "ww", RCP, &f32, &f32, MPFR_RNDN },
  { "rcp.rm.f32", "ww", RCP, &f32, &f32, MPFR_RNDD },
  { "sqrt.rn.f32", "ww", SQRT, &f32, &f32, MPFR_RNDN },
  { "sqrt.rp.f32", "ww", SQRT, &f32, &f32, MPFR_RNDU },
  { "ex2.approx.f32", "ww", EX2, &f32, &f32, MPFR_RNDN },
  { "ex2.approx.ftz.f32", "ww", EX2, &f32, &f32, MPFR_RNDN, .ftz = true },
  { "lg2.approx.f32", "ww", LG2, &f32, &f32, MPFR_RNDN },
  { "sin.approx.f32", "ww", SIN, &f32, &f32, MPFR_RNDN },
  { "cos.approx.f32", "ww", COS, &f32, &f32, MPFR_RNDN },
  { "tanh.approx.f32", "ww", TANH, &f32, &f32, MPFR_RNDN },
  { "rsqrt.approx.f32", "ww", RSQRT, &f32, &f32, MPFR_RNDN },
  { "rcp.approx.f32", "ww", RCP, &f32, &f32, MPFR_RNDN },
  { "sqrt.approx.f32", "ww", SQRT, &f32, &f32, MPFR_RNDN },
  { "add.rn.f16", "hhh", ADD, &f16, &f16, MPFR_RNDN },
  { "sub.f16", "hhh", SUB, &f16, &f16, MPFR_RNDN },
  { "mul.f16", "hhh", MUL, &f16, &f16, MPFR_RNDN },
  { "mul.ftz.f16", "hhh", MUL, &f16, &f16, MPFR_RNDN, .ftz = true },
  { "fma.rn.f16", "hhhh", FMA, &f16, &f16, MPFR_RNDN },
  { "fma.rn.sat.f16", "hhhh", FMA, &f16, &f16, MPFR_RNDN, .sat = true },
  { "add.f16x2", "www", ADD, &f16, &f16, MPFR_RNDN, .pair = true },
  { "fma.rn.f16x2", "wwww", FMA, &f16, &f16, MPFR_RNDN, .pair = true },
  { "ex2.approx.f16", "hh", EX2, &f16, &f16, MPFR_RNDN },
  { "tanh.approx.f16x2", "ww", TANH, &f16, &f16, MPFR_RNDN, .pair = true },
  { "add.rn.bf16", "hhh", ADD, &bf16, &bf16, MPFR_RNDN },
  { "mul.rn.bf16", "hhh", MUL, &bf16, &bf16, MPFR_RNDN },
  { "fma.rn.bf16", "hhhh", FMA, &bf16, &bf16, MPFR_RNDN },
  { "mul.bf16x2", "www", MUL, &bf16, &bf16, MPFR_RNDN, .pair = true },
  { "fma.rn.bf16x2", "wwww", FMA, &bf16, &bf16, MPFR_RNDN, .pair = true },
  { "cvt.rn.f16.f32", "hw", NARROW, &f32, &f16, MPFR_RNDN },
  { "cvt.rz.f16.f32", "hw", NARROW, &f32, &f16, MPFR_RNDZ },
  { "cvt.rn.bf16.f32", "hw", NARROW, &f32, &bf16, MPFR_RNDN },
  { "cvt.rz.bf16.f32", "hw", NARROW, &f32, &bf16, MPFR_RNDZ },
  { "cvt.rn.f16.f64", "hd", NARROW, &f64, &f16, MPFR_RNDN },
  { "cvt.rn.f32.f64", "wd", NARROW, &f64, &f32, MPFR_RNDN },
  { "cvt.rz.f32.f64", "wd", NARROW, &f64, &f32, MPFR_RNDZ },
  { "cvt.rp.f32.f64", "wd", NARROW, &f64, &f32, MPFR_RNDU },
  { "cvt.f32.f16", "wh", NARROW, &f16, &f32, MPFR_RNDN },
  { "cvt.f32.bf16", "wh", NARROW, &bf16, &f32, MPFR_RNDN },
  { "add.rn.f64", "ddd", ADD, &f64, &f64, MPFR_RNDN },
  { "add.rz.f64", "ddd", ADD, &f64, &f64, MPFR_RNDZ },
  { "mul.rm.f64", "ddd", MUL, &f64, &f64, MPFR_RNDD },
  { "fma.rn.f64", "dddd", FMA, &f64, &f64, MPFR_RNDN },
  { "fma.rp.f64", "dddd", FMA, &f64, &f64, MPFR_RNDU },
  { "div.rn.f64", "ddd", DIV, &f64, &f64, MPFR_RNDN },
  { "sqrt.rn.f64", "dd", SQRT, &f64, &f64, MPFR_RNDN },
};
/* clang-format on */

static Operands
operands_of (const Format *format)
{
  return format == &f32   ? OPERANDS_F32
         : format == &f64 ? OPERANDS_F64
         : format == &f16 ? OPERANDS_F16
                          : OPERANDS_BF16;
}

static void
test_vector (gconstpointer data)
{
  const Vector *v = data;
  check_vectors (v->opcode, v->types, operands_of (v->from), refer, v);
}

/* Conversions to integers, and the classes of comparison. */

static double
as_single (guint64 bits)
{
  return assay_float_from_bits ((guint32) bits);
}

static double
as_double (guint64 bits)
{
  double value;
  memcpy (&value, &bits, sizeof value);
  return value;
}

static guint64
whole (double value, double least, double most, guint64 nan)
{
  if (isnan (value))
    return nan;
  return value <= least  ? (guint64) (gint64) least
         : value >= most ? (most > 9.3e18   ? G_MAXUINT64
                            : most > 9.2e18 ? (guint64) G_MAXINT64
                                            : (guint64) most)
         : least < 0     ? (guint64) (gint64) value
                         : (guint64) value;
}

#define MAX_S64 9223372036854775807.0
#define MAX_U64 18446744073709551615.0

/* clang-format off */
#define CONVERSIONS(X) \
  X ("cvt.rzi.s32.f32", "ww", OPERANDS_F32, whole (trunc (as_single (a)), INT32_MIN, INT32_MAX, 0)) \
  X ("cvt.rni.s32.f32", "ww", OPERANDS_F32, whole (rint (as_single (a)), INT32_MIN, INT32_MAX, 0)) \
  X ("cvt.rmi.s32.f32", "ww", OPERANDS_F32, whole (floor (as_single (a)), INT32_MIN, INT32_MAX, 0)) \
  X ("cvt.rzi.u32.f32", "ww", OPERANDS_F32, whole (trunc (as_single (a)), 0, UINT32_MAX, 0)) \
  X ("cvt.rpi.u32.f32", "ww", OPERANDS_F32, whole (ceil (as_single (a)), 0, UINT32_MAX, 0)) \
  X ("cvt.rzi.s64.f32", "dw", OPERANDS_F32, whole (trunc (as_single (a)), -MAX_S64 - 1, MAX_S64, (guint64) 1 << 63)) \
  X ("cvt.rzi.u64.f32", "dw", OPERANDS_F32, whole (trunc (as_single (a)), 0, MAX_U64, (guint64) 1 << 63)) \
  X ("cvt.rni.s32.f64", "wd", OPERANDS_F64, whole (rint (as_double (a)), INT32_MIN, INT32_MAX, 0x80000000)) \
  X ("cvt.rzi.s64.f64", "dd", OPERANDS_F64, whole (trunc (as_double (a)), -MAX_S64 - 1, MAX_S64, (guint64) 1 << 63)) \
  X ("cvt.rzi.s16.f32", "hw", OPERANDS_F32, whole (trunc (as_single (a)), -32768, 32767, 0)) \
  X ("cvt.rzi.u8.f32", "ww", OPERANDS_F32, whole (trunc (as_single (a)), 0, 255, 0)) \
  X ("cvt.rzi.s32.f16", "wh", OPERANDS_F16, whole (trunc ((double) assay_half_to_float ((guint16) a)), INT32_MIN, INT32_MAX, 0)) \
  X ("cvt.rn.f32.s32", "ww", OPERANDS_INTEGER, assay_float_bits ((float) (gint32) a)) \
  X ("cvt.rn.f32.u64", "wd", OPERANDS_INTEGER, assay_float_bits ((float) a)) \
  X ("cvt.rn.f64.s64", "dd", OPERANDS_INTEGER, assay_double_bits ((double) (gint64) a)) \
  X ("cvt.rn.f16.s32", "hw", OPERANDS_INTEGER, assay_double_to_half ((double) (gint32) a)) \
  X ("setp.lt.f32", "pww", OPERANDS_F32, isless (as_single (a), as_single (b))) \
  X ("setp.ltu.f32", "pww", OPERANDS_F32, !(as_single (a) >= as_single (b))) \
  X ("setp.ne.f32", "pww", OPERANDS_F32, islessgreater (as_single (a), as_single (b))) \
  X ("setp.neu.f32", "pww", OPERANDS_F32, !(as_single (a) == as_single (b))) \
  X ("setp.nan.f64", "pdd", OPERANDS_F64, isunordered (as_double (a), as_double (b))) \
  X ("setp.ge.f64", "pdd", OPERANDS_F64, isgreaterequal (as_double (a), as_double (b))) \
  X ("setp.gt.f16", "phh", OPERANDS_F16, isgreater (assay_half_to_float ((guint16) a), assay_half_to_float ((guint16) b))) \
  X ("setp.equ.bf16", "phh", OPERANDS_BF16, !islessgreater (assay_bfloat_to_float ((guint16) a), assay_bfloat_to_float ((guint16) b))) \
  X ("testp.subnormal.f32", "pw", OPERANDS_F32, fpclassify ((float) as_single (a)) == FP_SUBNORMAL) \
  X ("testp.finite.f64", "pd", OPERANDS_F64, isfinite (as_double (a)) != 0)
/* clang-format on */

typedef struct
{
  const char *opcode, *types;
  Operands operands;
} Conversion;

static const Conversion conversions[] = {
#define CONVERSION(opcode, types, operands, expression) {opcode, types, operands},
    CONVERSIONS (CONVERSION)
#undef CONVERSION
};

static guint64
refer_conversion (guint64 a, guint64 b, guint64 c, const void *data)
{
  const size_t wanted = (size_t) ((const Conversion *) data - conversions);
  size_t number = 0;
#define CONVERSION(opcode, types, operands, expression)                                            \
  if (number++ == wanted)                                                                          \
    return (guint64) (expression);
  CONVERSIONS (CONVERSION)
#undef CONVERSION
  g_assert_not_reached ();
}

static void
test_conversion (gconstpointer data)
{
  const Conversion *conversion = data;
  check_vectors (conversion->opcode, conversion->types, conversion->operands, refer_conversion,
                 conversion);
}

/* min and max: NaN loses, -0 is below +0. */
static guint64
refer_least (guint64 a, guint64 b, guint64 c, const void *data)
{
  bool greatest = data != NULL;
  double x = as_single (a), y = as_single (b);
  if (isnan (x) && isnan (y))
    return 0x7fffffff;
  if (isnan (x) || isnan (y))
    return isnan (x) ? b : a;
  if (x == y)
    return (signbit (x) != 0) == greatest ? b : a;
  return (x > y) == greatest ? a : b;
}

static void
test_least (void)
{
  check_vectors ("min.f32", "www", OPERANDS_F32, refer_least, NULL);
  check_vectors ("max.f32", "www", OPERANDS_F32, refer_least, "greatest");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (vectors); i++)
    {
      g_autofree char *path = g_strdup_printf ("/vgpu/float/%s", vectors[i].opcode);
      g_test_add_data_func (path, &vectors[i], test_vector);
    }
  for (size_t i = 0; i < G_N_ELEMENTS (conversions); i++)
    {
      g_autofree char *path = g_strdup_printf ("/vgpu/float/%s", conversions[i].opcode);
      g_test_add_data_func (path, &conversions[i], test_conversion);
    }
  g_test_add_func ("/vgpu/float/min-max", test_least);
  return g_test_run ();
}
