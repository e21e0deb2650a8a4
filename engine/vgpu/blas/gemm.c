/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products: both factors are unpacked to binary64, column by column, and multiplied there. */
#include "engine/vgpu/blas/gemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One factor, rows × columns after its operation. */
typedef struct
{
  double *re, *im; /* im is NULL for real numbers */
} Unpacked;

static double *
take (int64_t count)
{
  double *numbers = malloc ((size_t) (count > 0 ? count : 1) * sizeof *numbers);
  if (numbers == NULL)
    abort ();
  return numbers;
}

/* Where the element in row i and column j lies, after the operation. */
static int64_t
place (const BlasMatrix *matrix, int64_t i, int64_t j)
{
  return (matrix->operation != 0) != matrix->by_rows ? i * matrix->leading + j
                                                     : j * matrix->leading + i;
}

static Unpacked
unpack (const BlasMatrix *matrix, const void *data, int64_t rows, int64_t columns, bool is_complex)
{
  Unpacked u = {take (rows * columns), is_complex ? take (rows * columns) : NULL};
  for (int64_t j = 0; j < columns; j++)
    for (int64_t i = 0; i < rows; i++)
      {
        int64_t at = place (matrix, i, j);
        BlasNumber value = blas_load (data, matrix->type, at);
        u.re[j * rows + i] = value.re;
        if (is_complex)
          u.im[j * rows + i] = matrix->operation == 2 ? -value.im : value.im;
      }
  return u;
}

/* sum += column × factor */
static void
add_scaled (double *restrict sum, const double *restrict column, double factor, int64_t count)
{
  for (int64_t i = 0; i < count; i++)
    sum[i] += column[i] * factor;
}

static void
multiply_column (const BlasGemm *gemm, const Unpacked *a, const Unpacked *b, int64_t j, double *re,
                 double *im)
{
  int64_t m = gemm->m;
  memset (re, 0, (size_t) m * sizeof *re);
  if (im != NULL)
    memset (im, 0, (size_t) m * sizeof *im);
  for (int64_t p = 0; p < gemm->k; p++)
    {
      double factor = b->re[j * gemm->k + p];
      add_scaled (re, a->re + p * m, factor, m);
      if (im == NULL)
        continue;
      double imaginary = b->im[j * gemm->k + p];
      add_scaled (re, a->im + p * m, -imaginary, m);
      add_scaled (im, a->re + p * m, imaginary, m);
      add_scaled (im, a->im + p * m, factor, m);
    }
}

/* By the hyperbolic tangent, as cuBLASLt has it. */
static double
gelu (double x)
{
  return 0.5 * x * (1 + tanh (0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}

static double
finish (const BlasGemm *gemm, double value, int64_t i, int64_t j)
{
  if (gemm->epilogue & BLAS_BIAS)
    value += blas_load (gemm->bias, gemm->bias_type, i).re;
  if (gemm->epilogue & BLAS_AUX)
    blas_store (gemm->aux, gemm->d.type, j * gemm->aux_leading + i, (BlasNumber) {value, 0});
  if (gemm->epilogue & BLAS_RELU)
    value = value > 0 || value != value ? value : 0;
  return gemm->epilogue & BLAS_GELU ? gelu (value) : value;
}

static void
multiply (const BlasGemm *gemm, const void *a_data, const void *b_data, const void *c_data,
          void *d_data)
{
  bool is_complex = blas_is_complex (gemm->c.type);
  BlasNumber alpha = blas_scalar_value (&gemm->alpha), beta = blas_scalar_value (&gemm->beta);
  Unpacked a = unpack (&gemm->a, a_data, gemm->m, gemm->k, is_complex);
  Unpacked b = unpack (&gemm->b, b_data, gemm->k, gemm->n, is_complex);
  double *re = take (gemm->m), *im = is_complex ? take (gemm->m) : NULL;
  for (int64_t j = 0; j < gemm->n; j++)
    {
      multiply_column (gemm, &a, &b, j, re, im);
      for (int64_t i = 0; i < gemm->m; i++)
        {
          int64_t at = place (&gemm->c, i, j);
          BlasNumber value = blas_multiply (alpha, (BlasNumber) {re[i], im != NULL ? im[i] : 0});
          /* With beta 0, C need not be a number. */
          if (beta.re != 0 || beta.im != 0)
            value = blas_add (value, blas_multiply (beta, blas_load (c_data, gemm->c.type, at)));
          if (gemm->epilogue != 0)
            value.re = finish (gemm, value.re, i, j);
          blas_store (d_data, gemm->d.type, place (&gemm->d, i, j), value);
        }
    }
  free (a.re);
  free (a.im);
  free (b.re);
  free (b.im);
  free (re);
  free (im);
}

static const void *
member (const BlasMatrix *matrix, int64_t number)
{
  if (matrix->pointers != NULL)
    return matrix->pointers[number];
  return (const char *) matrix->first
         + number * matrix->stride * (int64_t) blas_type_bytes (matrix->type);
}

static int64_t
bytes_of (const BlasMatrix *matrix, int64_t rows, int64_t columns)
{
  return (matrix->operation != 0) == matrix->by_rows
             ? blas_matrix_bytes (rows, columns, matrix->leading, matrix->type)
             : blas_matrix_bytes (columns, rows, matrix->leading, matrix->type);
}

static void
run (void *data)
{
  const BlasGemm *gemm = data;
  for (int64_t i = 0; i < gemm->count; i++)
    {
      const void *a = member (&gemm->a, i), *b = member (&gemm->b, i);
      const void *c = member (&gemm->c, i);
      void *d = (void *) (uintptr_t) member (&gemm->d, i);
      int64_t d_bytes = bytes_of (&gemm->d, gemm->m, gemm->n);
      if (!blas_range (gemm->name, a, bytes_of (&gemm->a, gemm->m, gemm->k))
          || !blas_range (gemm->name, b, bytes_of (&gemm->b, gemm->k, gemm->n))
          || !blas_range (gemm->name, c, bytes_of (&gemm->c, gemm->m, gemm->n))
          || !blas_range (gemm->name, d, d_bytes))
        continue;
      multiply (gemm, a, b, c, d);
      blas_wrote (d, d_bytes);
    }
}

int
blas_gemm (BlasHandle handle, const BlasGemm *gemm)
{
  int64_t a_rows = (gemm->a.operation != 0) == gemm->a.by_rows ? gemm->m : gemm->k;
  int64_t b_rows = (gemm->b.operation != 0) == gemm->b.by_rows ? gemm->k : gemm->n;
  int64_t c_rows = gemm->c.by_rows ? gemm->n : gemm->m;
  if (gemm->m < 0 || gemm->n < 0 || gemm->k < 0 || gemm->count < 0 || gemm->a.operation < 0
      || gemm->a.operation > 2 || gemm->b.operation < 0 || gemm->b.operation > 2
      || gemm->a.leading < (a_rows > 1 ? a_rows : 1) || gemm->b.leading < (b_rows > 1 ? b_rows : 1)
      || gemm->c.leading < (c_rows > 1 ? c_rows : 1))
    return BLAS_INVALID_VALUE;
  if (blas_type_bytes (gemm->a.type) == 0 || blas_type_bytes (gemm->b.type) == 0
      || blas_type_bytes (gemm->c.type) == 0)
    return BLAS_NOT_SUPPORTED;
  if (gemm->m == 0 || gemm->n == 0 || gemm->count == 0)
    return BLAS_SUCCESS;
  BlasGemm *kept = malloc (sizeof *kept);
  if (kept == NULL)
    abort ();
  *kept = *gemm;
  if (kept->d.first == NULL && kept->d.pointers == NULL)
    kept->d = kept->c;
  return blas_submit (handle, run, kept);
}
