/* SPDX-License-Identifier: Apache-2.0 */
/* Handles and their settings; elements; what all operations share. */
#include "engine/number/half.h"
#include "engine/vgpu/blas/blas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

BLAS_ENTRY (int, cublasCreate_v2, (BlasHandle * handle))
{
  CUcontext context = NULL;
  if (handle == NULL)
    return BLAS_INVALID_VALUE;
  *handle = NULL;
  if (cuInit (0) != CUDA_SUCCESS)
    return BLAS_NOT_INITIALIZED;
  if (cuCtxGetCurrent (&context) == CUDA_SUCCESS && context == NULL
      && (cuDevicePrimaryCtxRetain (&context, 0) != CUDA_SUCCESS
          || cuCtxSetCurrent (context) != CUDA_SUCCESS))
    return BLAS_NOT_INITIALIZED;
  *handle = calloc (1, sizeof **handle);
  return *handle != NULL ? BLAS_SUCCESS : BLAS_NOT_INITIALIZED;
}

BLAS_ENTRY (int, cublasDestroy_v2, (BlasHandle handle))
{
  if (handle == NULL)
    return BLAS_NOT_INITIALIZED;
  cuStreamSynchronize (handle->stream);
  free (handle);
  return BLAS_SUCCESS;
}

BLAS_ENTRY (int, cublasGetVersion_v2, (BlasHandle handle, int *version))
{
  (void) handle;
  if (version == NULL)
    return BLAS_INVALID_VALUE;
  *version = 130000;
  return BLAS_SUCCESS;
}

BLAS_ENTRY (int, cublasGetProperty, (int type, int *value))
{
  static const int parts[] = {13, 0, 0};
  if (type < 0 || type > 2 || value == NULL)
    return BLAS_INVALID_VALUE;
  *value = parts[type];
  return BLAS_SUCCESS;
}

BLAS_ENTRY (int, cublasSetWorkspace_v2, (BlasHandle handle, void *workspace, size_t bytes))
{
  (void) workspace;
  (void) bytes;
  return handle != NULL ? BLAS_SUCCESS : BLAS_NOT_INITIALIZED;
}

/* A setting of the handle, and how it is read. */
#define BLAS_SETTING(Name, type, member)                                                           \
  BLAS_ENTRY (int, cublasSet##Name, (BlasHandle handle, type value))                               \
  {                                                                                                \
    if (handle == NULL)                                                                            \
      return BLAS_NOT_INITIALIZED;                                                                 \
    handle->member = value;                                                                        \
    return BLAS_SUCCESS;                                                                           \
  }                                                                                                \
  BLAS_ENTRY (int, cublasGet##Name, (BlasHandle handle, type * value))                             \
  {                                                                                                \
    if (handle == NULL || value == NULL)                                                           \
      return handle == NULL ? BLAS_NOT_INITIALIZED : BLAS_INVALID_VALUE;                           \
    *value = handle->member;                                                                       \
    return BLAS_SUCCESS;                                                                           \
  }
BLAS_SETTING (Stream_v2, CUstream, stream)
BLAS_SETTING (PointerMode_v2, int, pointer_mode)
/* Tensor-core and TF32 modes allow less exact answers; the one given here is allowed in all of them. */
BLAS_SETTING (MathMode, int, math_mode)
BLAS_SETTING (AtomicsMode, int, atomics_mode)

static const struct
{
  int code;
  const char *name, *text;
} statuses[] = {
    {0, "CUBLAS_STATUS_SUCCESS", "success"},
    {1, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {3, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {7, "CUBLAS_STATUS_INVALID_VALUE",
     "an unsupported value or parameter was passed to the function"},
    {8, "CUBLAS_STATUS_ARCH_MISMATCH", "the requested feature is not supported by the device"},
    {11, "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed"},
    {13, "CUBLAS_STATUS_EXECUTION_FAILED", "the GPU program failed to execute"},
    {14, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {15, "CUBLAS_STATUS_NOT_SUPPORTED", "the functionality requested is not supported"},
    {16, "CUBLAS_STATUS_LICENSE_ERROR", "the functionality requested requires some license"},
};

BLAS_ENTRY (const char *, cublasGetStatusName, (int status))
{
  for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
    if (statuses[i].code == status)
      return statuses[i].name;
  return "unknown";
}

BLAS_ENTRY (const char *, cublasGetStatusString, (int status))
{
  for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
    if (statuses[i].code == status)
      return statuses[i].text;
  return "unknown";
}

/* ---- elements ---- */

size_t
blas_type_bytes (BlasType type)
{
  switch (type)
    {
    case BLAS_I8:
    case BLAS_U8:
      return 1;
    case BLAS_F16:
    case BLAS_BF16:
      return 2;
    case BLAS_F32:
    case BLAS_I32:
      return 4;
    case BLAS_F64:
    case BLAS_C32:
      return 8;
    case BLAS_C64:
      return 16;
    }
  return 0;
}

bool
blas_is_complex (BlasType type)
{
  return type == BLAS_C32 || type == BLAS_C64;
}

BlasNumber
blas_load (const void *from, BlasType type, int64_t i)
{
  switch (type)
    {
    case BLAS_F32:
      return (BlasNumber) {((const float *) from)[i], 0};
    case BLAS_F64:
      return (BlasNumber) {((const double *) from)[i], 0};
    case BLAS_F16:
      return (BlasNumber) {assay_half_to_float (((const uint16_t *) from)[i]), 0};
    case BLAS_BF16:
      return (BlasNumber) {assay_bfloat_to_float (((const uint16_t *) from)[i]), 0};
    case BLAS_I8:
      return (BlasNumber) {((const int8_t *) from)[i], 0};
    case BLAS_U8:
      return (BlasNumber) {((const uint8_t *) from)[i], 0};
    case BLAS_I32:
      return (BlasNumber) {((const int32_t *) from)[i], 0};
    case BLAS_C32:
      return (BlasNumber) {((const float *) from)[2 * i], ((const float *) from)[2 * i + 1]};
    case BLAS_C64:
      return (BlasNumber) {((const double *) from)[2 * i], ((const double *) from)[2 * i + 1]};
    }
  return (BlasNumber) {0, 0};
}

static double
clamp (double value, double low, double high)
{
  return value < low ? low : value > high ? high : nearbyint (value);
}

void
blas_store (void *to, BlasType type, int64_t i, BlasNumber value)
{
  switch (type)
    {
    case BLAS_F32:
      ((float *) to)[i] = (float) value.re;
      break;
    case BLAS_F64:
      ((double *) to)[i] = value.re;
      break;
    case BLAS_F16:
      ((uint16_t *) to)[i] = assay_double_to_half (value.re);
      break;
    case BLAS_BF16:
      ((uint16_t *) to)[i] = assay_double_to_bfloat (value.re);
      break;
    case BLAS_I8:
      ((int8_t *) to)[i] = (int8_t) clamp (value.re, INT8_MIN, INT8_MAX);
      break;
    case BLAS_U8:
      ((uint8_t *) to)[i] = (uint8_t) clamp (value.re, 0, UINT8_MAX);
      break;
    case BLAS_I32:
      ((int32_t *) to)[i] = (int32_t) clamp (value.re, INT32_MIN, INT32_MAX);
      break;
    case BLAS_C32:
      ((float *) to)[2 * i] = (float) value.re;
      ((float *) to)[2 * i + 1] = (float) value.im;
      break;
    case BLAS_C64:
      ((double *) to)[2 * i] = value.re;
      ((double *) to)[2 * i + 1] = value.im;
      break;
    }
}

BlasNumber
blas_add (BlasNumber a, BlasNumber b)
{
  return (BlasNumber) {a.re + b.re, a.im + b.im};
}

BlasNumber
blas_multiply (BlasNumber a, BlasNumber b)
{
  /* Real numbers take the short way, so that infinities do not meet the other part's zero. */
  if (a.im == 0 && b.im == 0)
    return (BlasNumber) {a.re * b.re, 0};
  return (BlasNumber) {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

BlasNumber
blas_conjugate (BlasNumber a)
{
  return (BlasNumber) {a.re, -a.im};
}

/* ---- scalars, ranges, submission ---- */

BlasScalar
blas_scalar (BlasHandle handle, const void *pointer, BlasType type)
{
  if (handle->pointer_mode == 1)
    return (BlasScalar) {.pointer = pointer, .type = type};
  return (BlasScalar) {.value = blas_load (pointer, type, 0)};
}

BlasNumber
blas_scalar_value (const BlasScalar *scalar)
{
  return scalar->pointer != NULL ? blas_load (scalar->pointer, scalar->type, 0) : scalar->value;
}

int64_t
blas_vector_bytes (int64_t n, int64_t step, BlasType type)
{
  return n > 0 ? ((n - 1) * (step < 0 ? -step : step) + 1) * (int64_t) blas_type_bytes (type) : 0;
}

int64_t
blas_matrix_bytes (int64_t rows, int64_t columns, int64_t leading, BlasType type)
{
  return rows > 0 && columns > 0
             ? ((columns - 1) * leading + rows) * (int64_t) blas_type_bytes (type)
             : 0;
}

bool
blas_range (const char *name, const void *pointer, int64_t bytes)
{
  CUdeviceptr base = 0, address = (uintptr_t) pointer;
  size_t size = 0;
  char text[200];
  if (bytes == 0)
    return true;
  CUresult result = cuMemGetAddressRange_v2 (&base, &size, address);
  if (result == CUDA_SUCCESS && address - base + (uint64_t) bytes <= size)
    return true;
  if (result == CUDA_SUCCESS)
    snprintf (text, sizeof text, "%s is given %lld bytes that end %llu past an allocation", name,
              (long long) bytes, (unsigned long long) (address - base + (uint64_t) bytes - size));
  else
    snprintf (text, sizeof text, "%s is given %lld bytes at 0x%llx, where nothing is allocated",
              name, (long long) bytes, address);
  assayVgpuReport ("mem.out-of-bounds", text, name);
  return false;
}

void
blas_wrote (void *pointer, int64_t bytes)
{
  if (bytes > 0)
    assayVgpuMarkInitialised ((uintptr_t) pointer, (size_t) bytes);
}

typedef struct
{
  CUhostFn work;
  void *data;
  bool again; /* a graph may run it more than once */
} Submitted;

static void
run (void *data)
{
  Submitted *submitted = data;
  submitted->work (submitted->data);
  if (submitted->again)
    return;
  free (submitted->data);
  free (submitted);
}

int
blas_submit (BlasHandle handle, CUhostFn work, void *data)
{
  Submitted *submitted = malloc (sizeof *submitted);
  int capturing = 0;
  if (submitted == NULL)
    abort ();
  cuStreamIsCapturing (handle->stream, &capturing);
  *submitted = (Submitted) {work, data, capturing != 0};
  if (cuLaunchHostFunc (handle->stream, run, submitted) == CUDA_SUCCESS)
    return BLAS_SUCCESS;
  free (data);
  free (submitted);
  return BLAS_EXECUTION_FAILED;
}
