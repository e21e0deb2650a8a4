/* SPDX-License-Identifier: Apache-2.0 */
/* The entry points of matrix products. */
#include "engine/vgpu/blas/gemm.h"

/* cublasComputeType_t: the type of alpha and beta. */
static bool
scale_type (int compute, BlasType c_type, BlasType *type)
{
  switch (compute)
    {
    case 64: /* 16F, and pedantic */
    case 65:
      *type = BLAS_F16;
      return true;
    case 68: /* 32F, pedantic, and the fast ones */
    case 69:
    case 74:
    case 75:
    case 77:
    case 78:
      *type = blas_is_complex (c_type) ? BLAS_C32 : BLAS_F32;
      return true;
    case 70: /* 64F, and pedantic */
    case 71:
      *type = blas_is_complex (c_type) ? BLAS_C64 : BLAS_F64;
      return true;
    case 72: /* 32I, and pedantic */
    case 73:
      *type = c_type == BLAS_I32 ? BLAS_I32 : BLAS_F32;
      return true;
    default:
      return false;
    }
}

/* Fills what all forms have. The order of these arguments is that of cuBLAS. */
static BlasGemm
form (const char *name, int op_a, int op_b, int64_t m, int64_t n, int64_t k)
{
  return (BlasGemm) {.name = name,
                     .m = m,
                     .n = n,
                     .k = k,
                     .count = 1,
                     .a = {.operation = op_a},
                     .b = {.operation = op_b}};
}

static void
set_matrix (BlasMatrix *matrix, const void *data, BlasType type, int64_t leading, int64_t stride)
{
  matrix->first = data;
  matrix->type = type;
  matrix->leading = leading;
  matrix->stride = stride;
}

static void
set_pointers (BlasMatrix *matrix, const void *const *pointers, BlasType type, int64_t leading)
{
  matrix->pointers = pointers;
  matrix->type = type;
  matrix->leading = leading;
}

static int
submit (BlasHandle handle, BlasGemm *gemm, const void *alpha, const void *beta, BlasType type)
{
  if (handle == NULL)
    return BLAS_NOT_INITIALIZED;
  if (alpha == NULL || beta == NULL)
    return BLAS_INVALID_VALUE;
  gemm->alpha = blas_scalar (handle, alpha, type);
  gemm->beta = blas_scalar (handle, beta, type);
  return blas_gemm (handle, gemm);
}

#define GEMM(symbol, type)                                                                         \
  BLAS_ENTRY (int, symbol,                                                                         \
              (BlasHandle handle, int op_a, int op_b, int m, int n, int k, const void *alpha,      \
               const void *a, int lda, const void *b, int ldb, const void *beta, void *c,          \
               int ldc))                                                                           \
  {                                                                                                \
    BlasGemm gemm = form (#symbol, op_a, op_b, m, n, k);                                           \
    set_matrix (&gemm.a, a, type, lda, 0);                                                         \
    set_matrix (&gemm.b, b, type, ldb, 0);                                                         \
    set_matrix (&gemm.c, c, type, ldc, 0);                                                         \
    return submit (handle, &gemm, alpha, beta, type);                                              \
  }
GEMM (cublasSgemm_v2, BLAS_F32)
GEMM (cublasDgemm_v2, BLAS_F64)
GEMM (cublasCgemm_v2, BLAS_C32)
GEMM (cublasZgemm_v2, BLAS_C64)
GEMM (cublasHgemm, BLAS_F16)

#define GEMM_STRIDED(symbol, type)                                                                 \
  BLAS_ENTRY (int, symbol,                                                                         \
              (BlasHandle handle, int op_a, int op_b, int m, int n, int k, const void *alpha,      \
               const void *a, int lda, long long stride_a, const void *b, int ldb,                 \
               long long stride_b, const void *beta, void *c, int ldc, long long stride_c,         \
               int count))                                                                         \
  {                                                                                                \
    BlasGemm gemm = form (#symbol, op_a, op_b, m, n, k);                                           \
    gemm.count = count;                                                                            \
    set_matrix (&gemm.a, a, type, lda, stride_a);                                                  \
    set_matrix (&gemm.b, b, type, ldb, stride_b);                                                  \
    set_matrix (&gemm.c, c, type, ldc, stride_c);                                                  \
    return submit (handle, &gemm, alpha, beta, type);                                              \
  }
GEMM_STRIDED (cublasSgemmStridedBatched, BLAS_F32)
GEMM_STRIDED (cublasDgemmStridedBatched, BLAS_F64)
GEMM_STRIDED (cublasCgemmStridedBatched, BLAS_C32)
GEMM_STRIDED (cublasZgemmStridedBatched, BLAS_C64)
GEMM_STRIDED (cublasHgemmStridedBatched, BLAS_F16)

#define GEMM_BATCHED(symbol, type)                                                                 \
  BLAS_ENTRY (int, symbol,                                                                         \
              (BlasHandle handle, int op_a, int op_b, int m, int n, int k, const void *alpha,      \
               const void *const *a, int lda, const void *const *b, int ldb, const void *beta,     \
               void *const *c, int ldc, int count))                                                \
  {                                                                                                \
    BlasGemm gemm = form (#symbol, op_a, op_b, m, n, k);                                           \
    gemm.count = count;                                                                            \
    set_pointers (&gemm.a, a, type, lda);                                                          \
    set_pointers (&gemm.b, b, type, ldb);                                                          \
    set_pointers (&gemm.c, (const void *const *) c, type, ldc);                                    \
    return submit (handle, &gemm, alpha, beta, type);                                              \
  }
GEMM_BATCHED (cublasSgemmBatched, BLAS_F32)
GEMM_BATCHED (cublasDgemmBatched, BLAS_F64)
GEMM_BATCHED (cublasCgemmBatched, BLAS_C32)
GEMM_BATCHED (cublasZgemmBatched, BLAS_C64)
GEMM_BATCHED (cublasHgemmBatched, BLAS_F16)

BLAS_ENTRY (int, cublasSgemmEx,
            (BlasHandle handle, int op_a, int op_b, int m, int n, int k, const void *alpha,
             const void *a, int a_type, int lda, const void *b, int b_type, int ldb,
             const void *beta, void *c, int c_type, int ldc))
{
  BlasGemm gemm = form ("cublasSgemmEx", op_a, op_b, m, n, k);
  set_matrix (&gemm.a, a, (BlasType) a_type, lda, 0);
  set_matrix (&gemm.b, b, (BlasType) b_type, ldb, 0);
  set_matrix (&gemm.c, c, (BlasType) c_type, ldc, 0);
  return submit (handle, &gemm, alpha, beta, BLAS_F32);
}

BLAS_ENTRY (int, cublasGemmEx,
            (BlasHandle handle, int op_a, int op_b, int m, int n, int k, const void *alpha,
             const void *a, int a_type, int lda, const void *b, int b_type, int ldb,
             const void *beta, void *c, int c_type, int ldc, int compute, int algorithm))
{
  BlasGemm gemm = form ("cublasGemmEx", op_a, op_b, m, n, k);
  BlasType scale;
  (void) algorithm;
  if (!scale_type (compute, (BlasType) c_type, &scale))
    return BLAS_NOT_SUPPORTED;
  set_matrix (&gemm.a, a, (BlasType) a_type, lda, 0);
  set_matrix (&gemm.b, b, (BlasType) b_type, ldb, 0);
  set_matrix (&gemm.c, c, (BlasType) c_type, ldc, 0);
  return submit (handle, &gemm, alpha, beta, scale);
}

BLAS_ENTRY (int, cublasGemmStridedBatchedEx,
            (BlasHandle handle, int op_a, int op_b, int m, int n, int k, const void *alpha,
             const void *a, int a_type, int lda, long long stride_a, const void *b, int b_type,
             int ldb, long long stride_b, const void *beta, void *c, int c_type, int ldc,
             long long stride_c, int count, int compute, int algorithm))
{
  BlasGemm gemm = form ("cublasGemmStridedBatchedEx", op_a, op_b, m, n, k);
  BlasType scale;
  (void) algorithm;
  if (!scale_type (compute, (BlasType) c_type, &scale))
    return BLAS_NOT_SUPPORTED;
  gemm.count = count;
  set_matrix (&gemm.a, a, (BlasType) a_type, lda, stride_a);
  set_matrix (&gemm.b, b, (BlasType) b_type, ldb, stride_b);
  set_matrix (&gemm.c, c, (BlasType) c_type, ldc, stride_c);
  return submit (handle, &gemm, alpha, beta, scale);
}

BLAS_ENTRY (int, cublasGemmBatchedEx,
            (BlasHandle handle, int op_a, int op_b, int m, int n, int k, const void *alpha,
             const void *const *a, int a_type, int lda, const void *const *b, int b_type, int ldb,
             const void *beta, void *const *c, int c_type, int ldc, int count, int compute,
             int algorithm))
{
  BlasGemm gemm = form ("cublasGemmBatchedEx", op_a, op_b, m, n, k);
  BlasType scale;
  (void) algorithm;
  if (!scale_type (compute, (BlasType) c_type, &scale))
    return BLAS_NOT_SUPPORTED;
  gemm.count = count;
  set_pointers (&gemm.a, a, (BlasType) a_type, lda);
  set_pointers (&gemm.b, b, (BlasType) b_type, ldb);
  set_pointers (&gemm.c, (const void *const *) c, (BlasType) c_type, ldc);
  return submit (handle, &gemm, alpha, beta, scale);
}
