// SPDX-License-Identifier: Apache-2.0
// One case a function: the numbers are those of the table in math-test.c.

extern "C" __global__ void
singles (int which, const float *a, const float *b, float *out)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = a[i], y = b[i], r = 0;
  switch (which)
    {
    case 0: r = expf (x); break;
    case 1: r = logf (x); break;
    case 2: r = sinf (x); break;
    case 3: r = cosf (x); break;
    case 4: r = tanf (x); break;
    case 5: r = tanhf (x); break;
    case 6: r = powf (x, y); break;
    case 7: r = rsqrtf (x); break;
    case 8: r = sqrtf (x); break;
    case 9: r = erff (x); break;
    case 10: r = erfcf (x); break;
    case 11: r = log1pf (x); break;
    case 12: r = expm1f (x); break;
    case 13: r = cbrtf (x); break;
    case 14: r = atanf (x); break;
    case 15: r = asinf (x); break;
    case 16: r = exp2f (x); break;
    case 17: r = log2f (x); break;
    case 18: r = sinhf (x); break;
    case 19: r = hypotf (x, y); break;
    case 20: r = fmodf (x, y); break;
    case 21: r = atan2f (x, y); break;
    case 22: r = x / y; break;
    case 23: r = exp10f (x); break;
    case 24: r = lgammaf (x); break;
    case 25: r = roundf (x); break;
    case 26: r = __expf (x); break;
    case 27: r = __logf (x); break;
    case 28: r = __fdividef (x, y); break;
    default: r = log10f (x); break;
    }
  out[i] = r;
}

extern "C" __global__ void
doubles (int which, const double *a, const double *b, double *out)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double x = a[i], y = b[i], r = 0;
  switch (which)
    {
    case 0: r = exp (x); break;
    case 1: r = log (x); break;
    case 2: r = sin (x); break;
    case 3: r = cos (x); break;
    case 4: r = pow (x, y); break;
    case 5: r = tanh (x); break;
    case 6: r = sqrt (x); break;
    case 7: r = rsqrt (x); break;
    case 8: r = x / y; break;
    case 9: r = erf (x); break;
    case 10: r = fmod (x, y); break;
    case 11: r = cbrt (x); break;
    default: r = atan2 (x, y); break;
    }
  out[i] = r;
}
