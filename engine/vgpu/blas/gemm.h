/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/blas/blas.h"

/* One of the two factors, or the result, of C = alpha op(A) op(B) + beta C, of each of a batch. */
typedef struct
{
  const void *first;           /* of a strided batch */
  const void *const *pointers; /* in device memory, of a batch of pointers; else NULL */
  int64_t stride;              /* elements */
  BlasType type;
  int operation; /* 0 as it is, 1 transposed, 2 conjugated and transposed */
  int64_t leading;
  bool by_rows; /* row by row rather than column by column */
} BlasMatrix;

/* What follows a product: values of cublasLtEpilogue_t. */
enum
{
  BLAS_RELU = 2,
  BLAS_BIAS = 4,
  BLAS_GELU = 32,
  BLAS_AUX = 128 /* what went into GELU is written as well */
};

typedef struct
{
  const char *name;
  int64_t m, n, k, count;
  BlasMatrix a, b, c;
  BlasMatrix d; /* where the result goes; no data: into c */
  uint32_t epilogue;
  const void *bias; /* of each row */
  BlasType bias_type;
  void *aux;
  int64_t aux_leading;
  BlasScalar alpha, beta;
} BlasGemm;

/* Checks and submits. */
int blas_gemm (BlasHandle handle, const BlasGemm *gemm);
