/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors, and copies to and from the host. */
#include "engine/vgpu/blas/blas.h"

#include <math.h>
#include <stdlib.h>

typedef struct
{
  const void *data;
  BlasType type;
  int64_t step;
} Vector;

typedef enum
{
  OP_AXPY,
  OP_COPY,
  OP_SCAL,
  OP_SWAP,
  OP_DOT,
  OP_DOT_CONJUGATED,
  OP_NORM,
  OP_SUM,
  OP_LARGEST,
  OP_SMALLEST
} Operation;

typedef struct
{
  const char *name;
  Operation operation;
  int64_t n;
  Vector x, y;
  BlasScalar alpha;
  void *result;
  BlasType result_type;
} Work;

/* Where element i lies: a negative step counts from the other end. */
static int64_t
place (const Work *work, const Vector *vector, int64_t i)
{
  return vector->step < 0 ? (work->n - 1 - i) * -vector->step : i * vector->step;
}

static BlasNumber
load (const Work *work, const Vector *vector, int64_t i)
{
  return blas_load (vector->data, vector->type, place (work, vector, i));
}

static void
store (const Work *work, const Vector *vector, int64_t i, BlasNumber value)
{
  blas_store ((void *) (uintptr_t) vector->data, vector->type, place (work, vector, i), value);
}

static void
change (const Work *work)
{
  BlasNumber alpha = blas_scalar_value (&work->alpha);
  for (int64_t i = 0; i < work->n; i++)
    {
      BlasNumber x = load (work, &work->x, i);
      BlasNumber y = {0, 0};
      if (work->y.data != NULL)
        y = load (work, &work->y, i);
      if (work->operation == OP_AXPY)
        store (work, &work->y, i, blas_add (blas_multiply (alpha, x), y));
      else if (work->operation == OP_SCAL)
        store (work, &work->x, i, blas_multiply (alpha, x));
      else
        store (work, &work->y, i, x);
      if (work->operation == OP_SWAP)
        store (work, &work->x, i, y);
    }
}

static double
magnitude (BlasNumber value)
{
  return fabs (value.re) + fabs (value.im);
}

/* The first of the largest or smallest, counted from 1; 0 for an empty vector. */
static int64_t
find_extreme (const Work *work)
{
  int64_t best = 0;
  double most = 0;
  for (int64_t i = 0; i < work->n; i++)
    {
      double here = magnitude (load (work, &work->x, i));
      bool better = work->operation == OP_LARGEST ? here > most : here < most;
      if (best != 0 && !better)
        continue;
      best = i + 1;
      most = here;
    }
  return best;
}

static BlasNumber
reduce (const Work *work)
{
  BlasNumber sum = {0, 0};
  for (int64_t i = 0; i < work->n; i++)
    {
      BlasNumber x = load (work, &work->x, i);
      if (work->operation == OP_SUM)
        sum.re += magnitude (x);
      else if (work->operation == OP_NORM)
        sum.re += x.re * x.re + x.im * x.im;
      else
        sum = blas_add (
            sum, blas_multiply (work->operation == OP_DOT_CONJUGATED ? blas_conjugate (x) : x,
                                load (work, &work->y, i)));
    }
  if (work->operation == OP_NORM)
    sum.re = sqrt (sum.re);
  return sum;
}

static void
run (void *data)
{
  const Work *work = data;
  int64_t x_bytes = blas_vector_bytes (work->n, work->x.step, work->x.type);
  int64_t y_bytes = blas_vector_bytes (work->n, work->y.step, work->y.type);
  if (!blas_range (work->name, work->x.data, x_bytes)
      || (work->y.data != NULL && !blas_range (work->name, work->y.data, y_bytes)))
    return;
  if (work->result == NULL)
    {
      const Vector *to = work->y.data != NULL ? &work->y : &work->x;
      change (work);
      blas_wrote ((void *) (uintptr_t) to->data, work->y.data != NULL ? y_bytes : x_bytes);
      return;
    }
  if (work->operation == OP_LARGEST || work->operation == OP_SMALLEST)
    *(int *) work->result = (int) find_extreme (work);
  else
    blas_store (work->result, work->result_type, 0, reduce (work));
  assayVgpuMarkInitialised ((uintptr_t) work->result, blas_type_bytes (work->result_type));
}

/* Results that the host gets are there when the call returns. */
static int
submit (BlasHandle handle, const Work *asked)
{
  if (handle == NULL)
    return BLAS_NOT_INITIALIZED;
  if (blas_type_bytes (asked->x.type) == 0)
    return BLAS_NOT_SUPPORTED;
  if (asked->n <= 0 && asked->result == NULL)
    return BLAS_SUCCESS;
  Work *work = malloc (sizeof *work);
  if (work == NULL)
    abort ();
  *work = *asked;
  if (work->n < 0)
    work->n = 0;
  bool wait = work->result != NULL && handle->pointer_mode == 0;
  int status = blas_submit (handle, run, work);
  if (status == BLAS_SUCCESS && wait && cuStreamSynchronize (handle->stream) != CUDA_SUCCESS)
    return BLAS_EXECUTION_FAILED;
  return status;
}

#define X(type) .x = {x, type, step_x}
#define Y(type) .y = {y, type, step_y}

#define AXPY(symbol, type)                                                                         \
  BLAS_ENTRY (int, symbol,                                                                         \
              (BlasHandle handle, int n, const void *alpha, const void *x, int step_x, void *y,    \
               int step_y))                                                                        \
  {                                                                                                \
    if (handle == NULL || alpha == NULL)                                                           \
      return handle == NULL ? BLAS_NOT_INITIALIZED : BLAS_INVALID_VALUE;                           \
    Work work = {#symbol,  OP_AXPY,  n,                                                            \
                 X (type), Y (type), .alpha = blas_scalar (handle, alpha, type)};                  \
    return submit (handle, &work);                                                                 \
  }
AXPY (cublasSaxpy_v2, BLAS_F32)
AXPY (cublasDaxpy_v2, BLAS_F64)
AXPY (cublasCaxpy_v2, BLAS_C32)
AXPY (cublasZaxpy_v2, BLAS_C64)

#define SCAL(symbol, alpha_type, type)                                                             \
  BLAS_ENTRY (int, symbol, (BlasHandle handle, int n, const void *alpha, void *x, int step_x))     \
  {                                                                                                \
    if (handle == NULL || alpha == NULL)                                                           \
      return handle == NULL ? BLAS_NOT_INITIALIZED : BLAS_INVALID_VALUE;                           \
    Work work = {#symbol, OP_SCAL, n, X (type), .alpha = blas_scalar (handle, alpha, alpha_type)}; \
    return submit (handle, &work);                                                                 \
  }
SCAL (cublasSscal_v2, BLAS_F32, BLAS_F32)
SCAL (cublasDscal_v2, BLAS_F64, BLAS_F64)
SCAL (cublasCscal_v2, BLAS_C32, BLAS_C32)
SCAL (cublasZscal_v2, BLAS_C64, BLAS_C64)
SCAL (cublasCsscal_v2, BLAS_F32, BLAS_C32)
SCAL (cublasZdscal_v2, BLAS_F64, BLAS_C64)

#define MOVE(symbol, operation, type)                                                              \
  BLAS_ENTRY (int, symbol,                                                                         \
              (BlasHandle handle, int n, const void *x, int step_x, void *y, int step_y))          \
  {                                                                                                \
    Work work = {#symbol, operation, n, X (type), Y (type)};                                       \
    return submit (handle, &work);                                                                 \
  }
MOVE (cublasScopy_v2, OP_COPY, BLAS_F32)
MOVE (cublasDcopy_v2, OP_COPY, BLAS_F64)
MOVE (cublasCcopy_v2, OP_COPY, BLAS_C32)
MOVE (cublasZcopy_v2, OP_COPY, BLAS_C64)
MOVE (cublasSswap_v2, OP_SWAP, BLAS_F32)
MOVE (cublasDswap_v2, OP_SWAP, BLAS_F64)
MOVE (cublasCswap_v2, OP_SWAP, BLAS_C32)
MOVE (cublasZswap_v2, OP_SWAP, BLAS_C64)

#define DOT(symbol, operation, type)                                                               \
  BLAS_ENTRY (int, symbol,                                                                         \
              (BlasHandle handle, int n, const void *x, int step_x, const void *y, int step_y,     \
               void *result))                                                                      \
  {                                                                                                \
    Work work = {                                                                                  \
        #symbol, operation, n, X (type), Y (type), .result = result, .result_type = type};         \
    return result != NULL ? submit (handle, &work) : BLAS_INVALID_VALUE;                           \
  }
DOT (cublasSdot_v2, OP_DOT, BLAS_F32)
DOT (cublasDdot_v2, OP_DOT, BLAS_F64)
DOT (cublasCdotu_v2, OP_DOT, BLAS_C32)
DOT (cublasZdotu_v2, OP_DOT, BLAS_C64)
DOT (cublasCdotc_v2, OP_DOT_CONJUGATED, BLAS_C32)
DOT (cublasZdotc_v2, OP_DOT_CONJUGATED, BLAS_C64)

#define REDUCE(symbol, operation, type, to_type)                                                   \
  BLAS_ENTRY (int, symbol, (BlasHandle handle, int n, const void *x, int step_x, void *result))    \
  {                                                                                                \
    Work work = {#symbol, operation, n, X (type), .result = result, .result_type = to_type};       \
    return result != NULL ? submit (handle, &work) : BLAS_INVALID_VALUE;                           \
  }
REDUCE (cublasSnrm2_v2, OP_NORM, BLAS_F32, BLAS_F32)
REDUCE (cublasDnrm2_v2, OP_NORM, BLAS_F64, BLAS_F64)
REDUCE (cublasScnrm2_v2, OP_NORM, BLAS_C32, BLAS_F32)
REDUCE (cublasDznrm2_v2, OP_NORM, BLAS_C64, BLAS_F64)
REDUCE (cublasSasum_v2, OP_SUM, BLAS_F32, BLAS_F32)
REDUCE (cublasDasum_v2, OP_SUM, BLAS_F64, BLAS_F64)
REDUCE (cublasScasum_v2, OP_SUM, BLAS_C32, BLAS_F32)
REDUCE (cublasDzasum_v2, OP_SUM, BLAS_C64, BLAS_F64)
REDUCE (cublasIsamax_v2, OP_LARGEST, BLAS_F32, BLAS_I32)
REDUCE (cublasIdamax_v2, OP_LARGEST, BLAS_F64, BLAS_I32)
REDUCE (cublasIcamax_v2, OP_LARGEST, BLAS_C32, BLAS_I32)
REDUCE (cublasIzamax_v2, OP_LARGEST, BLAS_C64, BLAS_I32)
REDUCE (cublasIsamin_v2, OP_SMALLEST, BLAS_F32, BLAS_I32)
REDUCE (cublasIdamin_v2, OP_SMALLEST, BLAS_F64, BLAS_I32)
REDUCE (cublasIcamin_v2, OP_SMALLEST, BLAS_C32, BLAS_I32)
REDUCE (cublasIzamin_v2, OP_SMALLEST, BLAS_C64, BLAS_I32)

BLAS_ENTRY (int, cublasAxpyEx,
            (BlasHandle handle, int n, const void *alpha, int alpha_type, const void *x, int x_type,
             int step_x, void *y, int y_type, int step_y, int execution_type))
{
  (void) execution_type;
  if (handle == NULL || alpha == NULL)
    return handle == NULL ? BLAS_NOT_INITIALIZED : BLAS_INVALID_VALUE;
  Work work = {"cublasAxpyEx",
               OP_AXPY,
               n,
               X ((BlasType) x_type),
               Y ((BlasType) y_type),
               .alpha = blas_scalar (handle, alpha, (BlasType) alpha_type)};
  return submit (handle, &work);
}

BLAS_ENTRY (int, cublasScalEx,
            (BlasHandle handle, int n, const void *alpha, int alpha_type, void *x, int x_type,
             int step_x, int execution_type))
{
  (void) execution_type;
  if (handle == NULL || alpha == NULL)
    return handle == NULL ? BLAS_NOT_INITIALIZED : BLAS_INVALID_VALUE;
  Work work = {"cublasScalEx", OP_SCAL, n, X ((BlasType) x_type),
               .alpha = blas_scalar (handle, alpha, (BlasType) alpha_type)};
  return submit (handle, &work);
}

BLAS_ENTRY (int, cublasDotEx,
            (BlasHandle handle, int n, const void *x, int x_type, int step_x, const void *y,
             int y_type, int step_y, void *result, int result_type, int execution_type))
{
  (void) execution_type;
  Work work = {"cublasDotEx",
               OP_DOT,
               n,
               X ((BlasType) x_type),
               Y ((BlasType) y_type),
               .result = result,
               .result_type = (BlasType) result_type};
  return result != NULL ? submit (handle, &work) : BLAS_INVALID_VALUE;
}

BLAS_ENTRY (int, cublasNrm2Ex,
            (BlasHandle handle, int n, const void *x, int x_type, int step_x, void *result,
             int result_type, int execution_type))
{
  (void) execution_type;
  Work work = {"cublasNrm2Ex",        OP_NORM,          n,
               X ((BlasType) x_type), .result = result, .result_type = (BlasType) result_type};
  return result != NULL ? submit (handle, &work) : BLAS_INVALID_VALUE;
}

/* ---- to and from the host ---- */

static int
copy_steps (int64_t n, int64_t bytes, const void *x, int64_t step_x, void *y, int64_t step_y)
{
  if (n < 0 || bytes <= 0 || step_x <= 0 || step_y <= 0)
    return BLAS_INVALID_VALUE;
  AssayCopy2D copy = {
      .from = {.type = 4, .device = (uintptr_t) x, .pitch = (size_t) (step_x * bytes)},
      .to = {.type = 4, .device = (uintptr_t) y, .pitch = (size_t) (step_y * bytes)},
      .width = (size_t) bytes,
      .height = (size_t) n};
  return n == 0 || cuMemcpy2D_v2 (&copy) == CUDA_SUCCESS ? BLAS_SUCCESS : 11;
}

BLAS_ENTRY (int, cublasSetVector,
            (int n, int bytes, const void *x, int step_x, void *y, int step_y))
{
  return copy_steps (n, bytes, x, step_x, y, step_y);
}

BLAS_ENTRY (int, cublasGetVector,
            (int n, int bytes, const void *x, int step_x, void *y, int step_y))
{
  return copy_steps (n, bytes, x, step_x, y, step_y);
}

static int
copy_matrix (int64_t rows, int64_t columns, int64_t bytes, const void *a, int64_t lda, void *b,
             int64_t ldb)
{
  if (rows < 0 || columns < 0 || bytes <= 0 || lda < rows || ldb < rows)
    return BLAS_INVALID_VALUE;
  AssayCopy2D copy = {.from = {.type = 4, .device = (uintptr_t) a, .pitch = (size_t) (lda * bytes)},
                      .to = {.type = 4, .device = (uintptr_t) b, .pitch = (size_t) (ldb * bytes)},
                      .width = (size_t) (rows * bytes),
                      .height = (size_t) columns};
  return rows == 0 || columns == 0 || cuMemcpy2D_v2 (&copy) == CUDA_SUCCESS ? BLAS_SUCCESS : 11;
}

BLAS_ENTRY (int, cublasSetMatrix,
            (int rows, int columns, int bytes, const void *a, int lda, void *b, int ldb))
{
  return copy_matrix (rows, columns, bytes, a, lda, b, ldb);
}

BLAS_ENTRY (int, cublasGetMatrix,
            (int rows, int columns, int bytes, const void *a, int lda, void *b, int ldb))
{
  return copy_matrix (rows, columns, bytes, a, lda, b, ldb);
}
