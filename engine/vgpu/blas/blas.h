/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/target/cuda-abi-more.h"
#include "engine/target/vgpu-extension.h"

#include <stdbool.h>

/* A small cuBLAS over the virtual GPU's memory: accurate rather than fast, so that programs that compare
 * with it find a good answer. Everything is computed in binary64 from the exact inputs and rounded once,
 * int8 products in 64-bit integers. Work is given to the handle's stream as a host function, so that it
 * keeps its place among launches and copies. Names, values and argument orders are the published ones
 * of cuBLAS 13; matrices are column by column. */

enum
{
  BLAS_SUCCESS = 0,
  BLAS_NOT_INITIALIZED = 1,
  BLAS_INVALID_VALUE = 7,
  BLAS_EXECUTION_FAILED = 13,
  BLAS_NOT_SUPPORTED = 15
};

/* Values of cudaDataType. */
typedef enum
{
  BLAS_F32 = 0,
  BLAS_F64 = 1,
  BLAS_F16 = 2,
  BLAS_I8 = 3,
  BLAS_C32 = 4,
  BLAS_C64 = 5,
  BLAS_U8 = 8,
  BLAS_I32 = 10,
  BLAS_BF16 = 14
} BlasType;

typedef struct
{
  double re, im;
} BlasNumber;

typedef struct BlasHandle
{
  CUstream stream;
  int pointer_mode; /* 1: scalars and results are in device memory */
  int math_mode, atomics_mode;
} * BlasHandle;

size_t blas_type_bytes (BlasType type); /* 0: none of ours */
bool blas_is_complex (BlasType type);
BlasNumber blas_load (const void *from, BlasType type, int64_t index);
/* Rounds to nearest, ties to even; integers saturate. */
void blas_store (void *to, BlasType type, int64_t index, BlasNumber value);
BlasNumber blas_add (BlasNumber a, BlasNumber b);
BlasNumber blas_multiply (BlasNumber a, BlasNumber b);
BlasNumber blas_conjugate (BlasNumber a);

/* A scalar argument: read at the call from host memory, or when its turn comes from the device's. */
typedef struct
{
  BlasNumber value;
  const void *pointer; /* NULL: value it is */
  BlasType type;
} BlasScalar;
BlasScalar blas_scalar (BlasHandle handle, const void *pointer, BlasType type);
BlasNumber blas_scalar_value (const BlasScalar *scalar);

/* Whether bytes lie in one live allocation; if not, reports what `name` has to do with it. */
bool blas_range (const char *name, const void *pointer, int64_t bytes);
/* Bytes from the first to behind the last of n elements, step apart. */
int64_t blas_vector_bytes (int64_t n, int64_t step, BlasType type);
int64_t blas_matrix_bytes (int64_t rows, int64_t columns, int64_t leading, BlasType type);

/* Runs `work (data)` when the stream comes to it; data was allocated by the caller and is freed, or
 * kept where the stream is captured and it may run again. */
int blas_submit (BlasHandle handle, CUhostFn work, void *data);

/* What was written counts as initialised. */
void blas_wrote (void *pointer, int64_t bytes);

#define BLAS_ENTRY(result, symbol, parameters)                                                     \
  __attribute__ ((visibility ("default"))) result symbol parameters;                               \
  result symbol parameters

__attribute__ ((visibility ("default"))) int cublasCreate_v2 (BlasHandle *handle);
__attribute__ ((visibility ("default"))) int cublasDestroy_v2 (BlasHandle handle);

#define BLAS_DRIVER(symbol, member, parameters) CUresult symbol parameters;
ASSAY_CUDA_DRIVER (BLAS_DRIVER)
ASSAY_CUDA_DRIVER_MORE (BLAS_DRIVER)
#undef BLAS_DRIVER
#define BLAS_EXTENSION(symbol, result, parameters) result symbol parameters;
ASSAY_VGPU_EXTENSION (BLAS_EXTENSION)
#undef BLAS_EXTENSION
