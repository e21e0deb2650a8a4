// SPDX-License-Identifier: Apache-2.0
// Kernels whose results plain C can say bit for bit, or nearly.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define TILE 16

extern "C" __global__ void
saxpy (int n, float a, const float *x, float *y)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}

extern "C" __global__ void
sgemm (int n, const float *A, const float *B, float *C)
{
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
  float sum = 0;
  for (int k = 0; k < n; k += TILE)
    {
      As[ty][tx] = A[row * n + k + tx];
      Bs[ty][tx] = B[(k + ty) * n + column];
      __syncthreads ();
      for (int j = 0; j < TILE; j++)
        sum += As[ty][j] * Bs[j][tx];
      __syncthreads ();
    }
  C[row * n + column] = sum;
}

__device__ float
block_reduce (float value, bool maximum)
{
  __shared__ float parts[32];
  for (int offset = 16; offset > 0; offset /= 2)
    {
      float other = __shfl_xor_sync (0xffffffffu, value, offset);
      value = maximum ? fmaxf (value, other) : value + other;
    }
  __syncthreads ();
  if (threadIdx.x % 32 == 0)
    parts[threadIdx.x / 32] = value;
  __syncthreads ();
  value = parts[0];
  for (int i = 1; i < blockDim.x / 32; i++)
    value = maximum ? fmaxf (value, parts[i]) : value + parts[i];
  return value;
}

extern "C" __global__ void
softmax (int n, const float *x, float *y)
{
  const float *row = x + (size_t) blockIdx.x * n;
  float largest = -3.0e38f, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    largest = fmaxf (largest, row[i]);
  largest = block_reduce (largest, true);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += expf (row[i] - largest);
  sum = block_reduce (sum, false);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[(size_t) blockIdx.x * n + i] = expf (row[i] - largest) / sum;
}

extern "C" __global__ void
reduce (int n, const float *x, float *total, int *count)
{
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += x[i];
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync (0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0)
    atomicAdd (total, sum);
  atomicAdd (count, 1);
}

extern "C" __global__ void
layernorm (int n, const float *x, const float *gain, const float *bias, float *y)
{
  extern __shared__ float work[];
  int t = threadIdx.x;
  float value = x[blockIdx.x * n + t];
  work[t] = value;
  __syncthreads ();
  for (int s = blockDim.x / 2; s > 0; s /= 2)
    {
      if (t < s)
        work[t] += work[t + s];
      __syncthreads ();
    }
  float mean = work[0] / n;
  __syncthreads ();
  work[t] = (value - mean) * (value - mean);
  __syncthreads ();
  for (int s = blockDim.x / 2; s > 0; s /= 2)
    {
      if (t < s)
        work[t] += work[t + s];
      __syncthreads ();
    }
  y[blockIdx.x * n + t] = (value - mean) * rsqrtf (work[0] / n + 1e-5f) * gain[t] + bias[t];
}

extern "C" __global__ void
gemm_bf16 (int n, const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C)
{
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  if (row >= n || column >= n)
    return;
  for (int k = 0; k < n; k++)
    sum += __bfloat162float (A[row * n + k]) * __bfloat162float (B[k * n + column]);
  C[row * n + column] = __float2bfloat16 (sum);
}

extern "C" __global__ void
transpose (int n, const float *x, float *y)
{
  __shared__ float tile[32][32];
  int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    tile[threadIdx.y + k][threadIdx.x] = x[(j + k) * n + i];
  __syncthreads ();
  i = blockIdx.y * 32 + threadIdx.x;
  j = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    y[(j + k) * n + i] = tile[threadIdx.x][threadIdx.y + k]; // conflicts: 32
}
