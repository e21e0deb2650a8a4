// SPDX-License-Identifier: Apache-2.0
// Causal softmax: one warp for each query.
// The keys of the cache come first.

extern "C" __global__ void __launch_bounds__ (128)
causal_softmax (const float *__restrict__ scores, float *__restrict__ p, int queries, int keys)
{
  const int i = blockIdx.x * 4 + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (i >= queries)
    return;

  const float *in = scores + static_cast<size_t> (i) * keys;
  float *out = p + static_cast<size_t> (i) * keys;
  const int end = min (i + 1 + keys - queries, keys);

  float largest = __int_as_float (0xff800000); // minus infinity
  for (int j = lane; j < end; j += 32)
    largest = fmaxf (largest, in[j]);
  for (int step = 16; step > 0; step /= 2)
    largest = fmaxf (largest, __shfl_xor_sync (0xffffffffu, largest, step));
  float sum = 0.0f;
  for (int j = lane; j < end; j += 32)
    sum += expf (in[j] - largest);
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_xor_sync (0xffffffffu, sum, step);
  for (int j = lane; j < keys; j += 32)
    out[j] = j < end ? expf (in[j] - largest) / sum : 0.0f;
}
