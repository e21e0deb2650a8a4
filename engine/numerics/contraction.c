/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/contraction.h"

#include "engine/base/error.h"
#include "engine/base/parallel.h"

#include <math.h>
#include <string.h>

#define LETTERS 26
#define MOST 8
#define CHUNK 256 /* elements of the result a piece */

struct _AssayContraction
{
  char terms[3][MOST + 1]; /* letters of both operands and the result */
  char summed[MOST + 1];   /* letters that the result has not */
  gint64 extents[LETTERS];
  gint64 strides[2][LETTERS]; /* of the operands, 0 where a letter is absent */
  gsize outputs, terms_each;
};

/* ---- reading ---- */

static gboolean
read_term (const char *from, gsize length, char *term)
{
  if (length < 1 || length > MOST)
    return FALSE;
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_islower (from[i]) || memchr (from, from[i], i))
      return FALSE;
  memcpy (term, from, length);
  return TRUE;
}

static gboolean
read_letters (const char *text, AssayContraction *c)
{
  const char *comma = strchr (text, ','), *arrow = strstr (text, "->");
  if (!comma || !arrow || comma > arrow || !read_term (text, (gsize) (comma - text), c->terms[0])
      || !read_term (comma + 1, (gsize) (arrow - comma - 1), c->terms[1])
      || !read_term (arrow + 2, strlen (arrow + 2), c->terms[2]))
    return FALSE;
  for (const char *l = c->terms[2]; *l; l++)
    if (!strchr (c->terms[0], *l) && !strchr (c->terms[1], *l))
      return FALSE;
  for (int operand = 0; operand < 2; operand++)
    for (const char *l = c->terms[operand]; *l; l++)
      if (!strchr (c->terms[2], *l) && !strchr (c->summed, *l) && strlen (c->summed) < MOST)
        c->summed[strlen (c->summed)] = *l;
  return c->summed[0] != '\0';
}

AssayContraction *
assay_contraction_new (const char *text, GError **error)
{
  g_autoptr (AssayContraction) contraction = g_new0 (AssayContraction, 1);
  if (read_letters (text, contraction))
    return g_steal_pointer (&contraction);
  g_set_error (
      error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
      "expected two operands and a result as in \"mk,kn->mn\", with at least one letter that "
      "the result has not; found \"%s\"",
      text);
  return NULL;
}

void
assay_contraction_free (AssayContraction *contraction)
{
  g_free (contraction);
}

static gboolean
take_extents (AssayContraction *c, const char *term, const AssayArray *array)
{
  if (array->ndim != strlen (term))
    return FALSE;
  for (guint d = 0; d < array->ndim; d++)
    {
      gint64 *extent = &c->extents[term[d] - 'a'];
      if (*extent && *extent != array->shape[d])
        return FALSE;
      *extent = array->shape[d];
    }
  return TRUE;
}

static void
take_strides (AssayContraction *c, int operand)
{
  gint64 stride = 1;
  memset (c->strides[operand], 0, sizeof c->strides[operand]);
  for (gsize i = strlen (c->terms[operand]); i-- > 0;)
    {
      int letter = c->terms[operand][i] - 'a';
      c->strides[operand][letter] = stride;
      stride *= c->extents[letter];
    }
}

gboolean
assay_contraction_fits (AssayContraction *c, const AssayArray *a, const AssayArray *b,
                        const AssayArray *result)
{
  memset (c->extents, 0, sizeof c->extents);
  if (!take_extents (c, c->terms[0], a) || !take_extents (c, c->terms[1], b)
      || !take_extents (c, c->terms[2], result))
    return FALSE;
  take_strides (c, 0);
  take_strides (c, 1);
  c->outputs = result->count;
  c->terms_each = 1;
  for (const char *l = c->summed; *l; l++)
    c->terms_each *= (gsize) c->extents[*l - 'a'];
  return c->terms_each > 0;
}

gsize
assay_contraction_products (const AssayContraction *c)
{
  return c->outputs * c->terms_each;
}

/* ---- ways of summing ---- */

const AssaySummation ASSAY_SUMMATIONS[] = {
    {ASSAY_PROBE_HONEST, "summed one by one in float32", "order", 0, 0, 24, 0, 0, 0},
    {ASSAY_PROBE_HONEST, "summed as a tree in float32", "order", 0, 0, 24, 1, 0, 0},
    {ASSAY_PROBE_HONEST, "summed in eight parts in float32", "order", 0, 0, 24, 2, 0, 0},
    {ASSAY_PROBE_HONEST, "Volta tensor core (model, unvalidated)", "hardware", 4, 23, 24, 0, 0, 0},
    {ASSAY_PROBE_HONEST, "Ampere tensor core (model, unvalidated)", "hardware", 8, 24, 24, 0, 0, 0},
    {ASSAY_PROBE_HONEST, "Hopper tensor core (model, unvalidated)", "hardware", 16, 25, 24, 0, 0,
     0},
    {ASSAY_PROBE_DOWNGRADE, "accumulator in bfloat16", "accumulator", 0, 0, 8, 0, 0, 0},
    {ASSAY_PROBE_DOWNGRADE, "accumulator in 11 bits, as float16", "accumulator", 0, 0, 11, 0, 0, 0},
    {ASSAY_PROBE_DOWNGRADE, "accumulator in 14 bits, as FP8 without promotion", "accumulator", 32,
     13, 14, 0, 0, 0},
    {ASSAY_PROBE_MUTANT, "last product skipped", "skip", 0, 0, 24, 0, 1, 0},
    {ASSAY_PROBE_MUTANT, "last 16 products skipped", "skip", 0, 0, 24, 0, 16, 0},
    {ASSAY_PROBE_MUTANT, "first 16 products added twice", "skip", 0, 0, 24, 0, 0, 16},
};
const gsize ASSAY_N_SUMMATIONS = G_N_ELEMENTS (ASSAY_SUMMATIONS);

gboolean
assay_summation_applies (const AssaySummation *s, AssayDtype a, AssayDtype b, AssayDtype accumulate)
{
  int bits = MAX (assay_dtype_format (a)->fraction_bits, assay_dtype_format (b)->fraction_bits) + 1;
  int promised = accumulate == ASSAY_DTYPE_UNKNOWN || !assay_dtype_is_float (accumulate)
                     ? 0
                     : assay_dtype_format (accumulate)->fraction_bits + 1;
  if (!assay_dtype_is_float (a) || !assay_dtype_is_float (b) || bits > 24)
    return FALSE;
  if (s->kind == ASSAY_PROBE_DOWNGRADE)
    return promised > s->precision && (s->products == 0 || bits <= 11);
  return promised == 24 && (s->products == 0 || bits <= 11);
}

/* ---- arithmetic ---- */

/* The value cut toward zero to multiples of 2^(exponent - bits). */
static double
cut (double value, int exponent, int bits)
{
  double unit = ldexp (1.0, exponent - bits);
  return trunc (value / unit) * unit;
}

/* Rounded to nearest even at so many bits; exponents are not bounded. */
static double
round_to (double value, int precision)
{
  if (precision == 24)
    return (float) value;
  if (value == 0 || !isfinite (value))
    return value;
  double unit = ldexp (1.0, ilogb (value) - precision + 1);
  return rint (value / unit) * unit;
}

static double
add_block (const AssaySummation *s, double sum, const double *products, gsize n)
{
  int exponent = sum != 0 ? ilogb (sum) : G_MININT;
  double exact = 0;
  for (gsize i = 0; i < n; i++)
    if (products[i] != 0)
      exponent = MAX (exponent, ilogb (products[i]));
  if (exponent == G_MININT)
    return 0;
  exact = cut (sum, exponent, s->kept);
  for (gsize i = 0; i < n; i++)
    exact += cut (products[i], exponent, s->kept);
  return exact == 0 ? 0 : cut (exact, ilogb (exact), s->precision - 1);
}

static double
sum_run (const AssaySummation *s, double sum, const double *products, gsize n)
{
  if (s->products)
    {
      for (gsize i = 0; i < n; i += (gsize) s->products)
        sum = add_block (s, sum, products + i, MIN ((gsize) s->products, n - i));
      return sum;
    }
  for (gsize i = 0; i < n; i++)
    sum = round_to (sum + products[i], s->precision);
  return sum;
}

/* Neighbours are added, and the sums of neighbours, in place. */
static double
sum_tree (const AssaySummation *s, double *products, gsize n)
{
  for (; n > 1; n = (n + 1) / 2)
    for (gsize i = 0; i < n / 2 + n % 2; i++)
      products[i] = 2 * i + 1 < n ? round_to (products[2 * i] + products[2 * i + 1], s->precision)
                                  : round_to (products[2 * i], s->precision);
  return n ? products[0] : 0;
}

static double
sum_parts (const AssaySummation *s, const double *products, gsize n)
{
  gsize part = (n + 7) / 8;
  double sum = 0;
  for (gsize i = 0; i < n; i += MAX (part, 1))
    sum = round_to (sum + sum_run (s, 0, products + i, MIN (part, n - i)), s->precision);
  return sum;
}

static double
sum_all (const AssaySummation *s, double *products, gsize n)
{
  gsize kept = n > (gsize) s->skipped ? n - (gsize) s->skipped : 0;
  double sum = s->order == 1   ? sum_tree (s, products, kept)
               : s->order == 2 ? sum_parts (s, products, kept)
                               : sum_run (s, 0, products, kept);
  return s->repeated ? sum_run (s, sum, products, MIN ((gsize) s->repeated, kept)) : sum;
}

/* ---- the whole result ---- */

typedef struct
{
  const AssayContraction *c;
  const AssaySummation *summation;
  const double *a, *b;
  const gint64 (*offsets)[2]; /* of every product from the first, in both operands */
  double *out;
} Work;

/* Positions in both operands where the letters have these numbers, the last one running fastest. */
static void
locate (const AssayContraction *c, const char *letters, gsize number, gint64 at[2])
{
  for (gsize i = strlen (letters); i-- > 0;)
    {
      int letter = letters[i] - 'a';
      gint64 value = (gint64) (number % (gsize) c->extents[letter]);
      number /= (gsize) c->extents[letter];
      at[0] += value * c->strides[0][letter];
      at[1] += value * c->strides[1][letter];
    }
}

static void
work_piece (gsize piece, gpointer user_data)
{
  const Work *work = user_data;
  const AssayContraction *c = work->c;
  gsize end = MIN ((piece + 1) * CHUNK, c->outputs);
  g_autofree double *products = g_new (double, c->terms_each);
  for (gsize i = piece * CHUNK; i < end; i++)
    {
      gint64 base[2] = {0, 0};
      locate (c, c->terms[2], i, base);
      for (gsize k = 0; k < c->terms_each; k++)
        {
          const gint64 *at = work->offsets[k];
          products[k] = work->a[base[0] + at[0]] * work->b[base[1] + at[1]];
        }
      work->out[i] = sum_all (work->summation, products, c->terms_each);
    }
}

static double *
decoded (const AssayArray *array)
{
  double *values = g_new (double, MAX (array->count, 1));
  assay_dtype_decode_array (array->dtype, array->data, 0, array->count, values);
  return values;
}

AssayArray *
assay_contraction_run (AssayContraction *c, const AssaySummation *summation, const AssayArray *a,
                       const AssayArray *b, const AssayArray *like, guint threads,
                       GCancellable *cancellable)
{
  g_autofree double *left = decoded (a), *right = decoded (b);
  g_autofree double *out = g_new (double, MAX (c->outputs, 1));
  g_autofree gint64 (*offsets)[2] = g_malloc0_n (c->terms_each, sizeof *offsets);
  for (gsize k = 0; k < c->terms_each; k++)
    locate (c, c->summed, k, offsets[k]);
  Work work = {c, summation, left, right, (const gint64 (*)[2]) offsets, out};
  if (!assay_parallel_for ((c->outputs + CHUNK - 1) / CHUNK, threads, work_piece, &work, NULL, NULL,
                           cancellable, NULL))
    return NULL;
  AssayArray *array = assay_array_new (like->dtype, like->shape, like->ndim, NULL);
  if (array)
    assay_dtype_encode_array (like->dtype, out, c->outputs, array->data, 0);
  return array;
}
