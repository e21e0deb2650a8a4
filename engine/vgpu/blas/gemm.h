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
} BlasMatrix;

typedef struct
{
  const char *name;
  int64_t m, n, k, count;
  BlasMatrix a, b, c;
  BlasScalar alpha, beta;
} BlasGemm;

/* Checks and submits. */
int blas_gemm (BlasHandle handle, const BlasGemm *gemm);
