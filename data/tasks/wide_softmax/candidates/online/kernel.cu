// SPDX-License-Identifier: Apache-2.0
// Softmax of wide rows in two passes: maximum and sum together, rescaling the sum whenever the maximum
// grows (Milakov and Gimelshein 2018), then the result. Loads and stores are four wide.

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

struct Running
{
  float largest;
  float sum;
};

__device__ Running merge (Running a, Running b)
{
  const float largest = fmaxf (a.largest, b.largest);
  return {largest, a.sum * expf (a.largest - largest) + b.sum * expf (b.largest - largest)};
}

__device__ Running take (Running running, float4 v)
{
  const float largest =
      fmaxf (running.largest, fmaxf (fmaxf (v.x, v.y), fmaxf (v.z, v.w)));
  const float sum = expf (v.x - largest) + expf (v.y - largest) + expf (v.z - largest)
                    + expf (v.w - largest);
  return {largest, running.sum * expf (running.largest - largest) + sum};
}

extern "C" __global__ void __launch_bounds__ (kThreads)
wide_softmax (const float *__restrict__ x, float *__restrict__ y, int rows, int cols)
{
  __shared__ Running partial[kWarps];

  const int row = blockIdx.x;
  if (row >= rows)
    return;

  const float4 *in = reinterpret_cast<const float4 *> (x + static_cast<size_t> (row) * cols);
  float4 *out = reinterpret_cast<float4 *> (y + static_cast<size_t> (row) * cols);
  const int quads = cols / 4;

  Running running = {__int_as_float (0xff800000), 0.0f}; // minus infinity
  for (int j = threadIdx.x; j < quads; j += kThreads)
    running = take (running, in[j]);
  for (int step = 16; step > 0; step /= 2)
    {
      Running other;
      other.largest = __shfl_xor_sync (0xffffffffu, running.largest, step);
      other.sum = __shfl_xor_sync (0xffffffffu, running.sum, step);
      running = merge (running, other);
    }
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = running;
  __syncthreads ();
  running = partial[0];
  for (int w = 1; w < kWarps; w++)
    running = merge (running, partial[w]);

  for (int j = threadIdx.x; j < quads; j += kThreads)
    {
      float4 v = in[j];
      v.x = expf (v.x - running.largest) / running.sum;
      v.y = expf (v.y - running.largest) / running.sum;
      v.z = expf (v.z - running.largest) / running.sum;
      v.w = expf (v.w - running.largest) / running.sum;
      out[j] = v;
    }
}
