/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#ifndef INFINITY
#define INFINITY __int_as_float (0x7f800000)
#endif
#ifndef HUGE_VALF
#define HUGE_VALF INFINITY
#define HUGE_VAL __longlong_as_double (0x7ff0000000000000LL)
#endif
#ifndef NAN
#define NAN __int_as_float (0x7fffffff)
#endif
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
namespace std
{
/* One overload per precision, each the device function of that name. */
#define ASSAY_UNARY(name)                                                                          \
  __device__ __forceinline__ float name (float x) { return ::name##f (x); }                        \
  __device__ __forceinline__ double name (double x) { return ::name (x); }
#define ASSAY_BINARY(name)                                                                         \
  __device__ __forceinline__ float name (float x, float y) { return ::name##f (x, y); }            \
  __device__ __forceinline__ double name (double x, double y) { return ::name (x, y); }
ASSAY_UNARY (exp) ASSAY_UNARY (exp2) ASSAY_UNARY (expm1) ASSAY_UNARY (log) ASSAY_UNARY (log2)
ASSAY_UNARY (log10) ASSAY_UNARY (log1p) ASSAY_UNARY (sqrt) ASSAY_UNARY (cbrt) ASSAY_UNARY (sin)
ASSAY_UNARY (cos) ASSAY_UNARY (tan) ASSAY_UNARY (asin) ASSAY_UNARY (acos) ASSAY_UNARY (atan)
ASSAY_UNARY (sinh) ASSAY_UNARY (cosh) ASSAY_UNARY (tanh) ASSAY_UNARY (erf) ASSAY_UNARY (erfc)
ASSAY_UNARY (tgamma) ASSAY_UNARY (lgamma) ASSAY_UNARY (floor) ASSAY_UNARY (ceil)
ASSAY_UNARY (round) ASSAY_UNARY (trunc) ASSAY_UNARY (rint) ASSAY_UNARY (fabs)
ASSAY_BINARY (pow) ASSAY_BINARY (fmod) ASSAY_BINARY (fmin) ASSAY_BINARY (fmax)
ASSAY_BINARY (atan2) ASSAY_BINARY (hypot) ASSAY_BINARY (copysign)
__device__ __forceinline__ float abs (float x) { return ::fabsf (x); }
__device__ __forceinline__ double abs (double x) { return ::fabs (x); }
__device__ __forceinline__ int abs (int x) { return x < 0 ? -x : x; }
__device__ __forceinline__ bool isnan (float x) { return x != x; }
__device__ __forceinline__ bool isnan (double x) { return x != x; }
__device__ __forceinline__ bool isinf (float x) { return ::fabsf (x) == INFINITY; }
__device__ __forceinline__ bool isinf (double x) { return ::fabs (x) == HUGE_VAL; }
#undef ASSAY_UNARY
#undef ASSAY_BINARY
}
