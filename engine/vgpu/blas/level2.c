/* SPDX-License-Identifier: Apache-2.0 */
/* A matrix and vectors: y = alpha op(A) x + beta y, A += alpha x y'. */
#include "engine/vgpu/blas/blas.h"

#include <stdlib.h>

typedef struct
{
  const char *name;
  int operation;
  int64_t m, n, leading;
  const void *a, *x;
  void *y;
  int64_t step_x, step_y;
  BlasScalar alpha, beta;
  BlasType type;
  bool conjugates; /* of y', in the product of two vectors */
} Work;

static int64_t
place (int64_t i, int64_t count, int64_t step)
{
  return step < 0 ? (count - 1 - i) * -step : i * step;
}

static void
run_gemv (void *data)
{
  const Work *w = data;
  int64_t rows = w->operation == 0 ? w->m : w->n, columns = w->operation == 0 ? w->n : w->m;
  BlasNumber alpha = blas_scalar_value (&w->alpha), beta = blas_scalar_value (&w->beta);
  int64_t y_bytes = blas_vector_bytes (rows, w->step_y, w->type);
  if (!blas_range (w->name, w->a, blas_matrix_bytes (w->m, w->n, w->leading, w->type))
      || !blas_range (w->name, w->x, blas_vector_bytes (columns, w->step_x, w->type))
      || !blas_range (w->name, w->y, y_bytes))
    return;
  for (int64_t i = 0; i < rows; i++)
    {
      BlasNumber sum = {0, 0};
      for (int64_t j = 0; j < columns; j++)
        {
          int64_t at = w->operation == 0 ? j * w->leading + i : i * w->leading + j;
          BlasNumber a = blas_load (w->a, w->type, at);
          if (w->operation == 2)
            a = blas_conjugate (a);
          sum = blas_add (
              sum, blas_multiply (a, blas_load (w->x, w->type, place (j, columns, w->step_x))));
        }
      int64_t at = place (i, rows, w->step_y);
      BlasNumber value = blas_multiply (alpha, sum);
      if (beta.re != 0 || beta.im != 0)
        value = blas_add (value, blas_multiply (beta, blas_load (w->y, w->type, at)));
      blas_store (w->y, w->type, at, value);
    }
  blas_wrote (w->y, y_bytes);
}

static void
run_ger (void *data)
{
  const Work *w = data;
  void *a = (void *) (uintptr_t) w->a;
  BlasNumber alpha = blas_scalar_value (&w->alpha);
  int64_t bytes = blas_matrix_bytes (w->m, w->n, w->leading, w->type);
  if (!blas_range (w->name, a, bytes)
      || !blas_range (w->name, w->x, blas_vector_bytes (w->m, w->step_x, w->type))
      || !blas_range (w->name, w->y, blas_vector_bytes (w->n, w->step_y, w->type)))
    return;
  for (int64_t j = 0; j < w->n; j++)
    for (int64_t i = 0; i < w->m; i++)
      {
        BlasNumber x = blas_load (w->x, w->type, place (i, w->m, w->step_x));
        BlasNumber y = blas_load (w->y, w->type, place (j, w->n, w->step_y));
        BlasNumber product =
            blas_multiply (alpha, blas_multiply (x, w->conjugates ? blas_conjugate (y) : y));
        int64_t at = j * w->leading + i;
        blas_store (a, w->type, at, blas_add (blas_load (a, w->type, at), product));
      }
  blas_wrote (a, bytes);
}

static int
submit (BlasHandle handle, const Work *asked, CUhostFn run)
{
  if (asked->m < 0 || asked->n < 0 || asked->leading < (asked->m > 1 ? asked->m : 1)
      || asked->step_x == 0 || asked->step_y == 0 || asked->operation < 0 || asked->operation > 2)
    return BLAS_INVALID_VALUE;
  if (asked->m == 0 || asked->n == 0)
    return BLAS_SUCCESS;
  Work *work = malloc (sizeof *work);
  if (work == NULL)
    abort ();
  *work = *asked;
  return blas_submit (handle, run, work);
}

#define GEMV(symbol, type_)                                                                        \
  BLAS_ENTRY (int, symbol,                                                                         \
              (BlasHandle handle, int operation, int m, int n, const void *alpha, const void *a,   \
               int lda, const void *x, int step_x, const void *beta, void *y, int step_y))         \
  {                                                                                                \
    if (handle == NULL || alpha == NULL || beta == NULL)                                           \
      return handle == NULL ? BLAS_NOT_INITIALIZED : BLAS_INVALID_VALUE;                           \
    Work work = {#symbol,                                                                          \
                 operation,                                                                        \
                 m,                                                                                \
                 n,                                                                                \
                 lda,                                                                              \
                 a,                                                                                \
                 x,                                                                                \
                 y,                                                                                \
                 step_x,                                                                           \
                 step_y,                                                                           \
                 .alpha = blas_scalar (handle, alpha, type_),                                      \
                 .beta = blas_scalar (handle, beta, type_),                                        \
                 .type = type_};                                                                   \
    return submit (handle, &work, run_gemv);                                                       \
  }
GEMV (cublasSgemv_v2, BLAS_F32)
GEMV (cublasDgemv_v2, BLAS_F64)
GEMV (cublasCgemv_v2, BLAS_C32)
GEMV (cublasZgemv_v2, BLAS_C64)

#define GER(symbol, type_, conjugates_)                                                            \
  BLAS_ENTRY (int, symbol,                                                                         \
              (BlasHandle handle, int m, int n, const void *alpha, const void *x, int step_x,      \
               const void *y, int step_y, void *a, int lda))                                       \
  {                                                                                                \
    if (handle == NULL || alpha == NULL)                                                           \
      return handle == NULL ? BLAS_NOT_INITIALIZED : BLAS_INVALID_VALUE;                           \
    Work work = {#symbol,                                                                          \
                 0,                                                                                \
                 m,                                                                                \
                 n,                                                                                \
                 lda,                                                                              \
                 a,                                                                                \
                 x,                                                                                \
                 (void *) (uintptr_t) y,                                                           \
                 step_x,                                                                           \
                 step_y,                                                                           \
                 .alpha = blas_scalar (handle, alpha, type_),                                      \
                 .type = type_,                                                                    \
                 .conjugates = conjugates_};                                                       \
    return submit (handle, &work, run_ger);                                                        \
  }
GER (cublasSger_v2, BLAS_F32, false)
GER (cublasDger_v2, BLAS_F64, false)
GER (cublasCgeru_v2, BLAS_C32, false)
GER (cublasZgeru_v2, BLAS_C64, false)
GER (cublasCgerc_v2, BLAS_C32, true)
GER (cublasZgerc_v2, BLAS_C64, true)
