// SPDX-License-Identifier: Apache-2.0
// RMS normalisation: one thread for each row.

extern "C" __global__ void rms_norm (const float *x, const float *weight, float *y, int rows, int cols)
{
  const float *in = x + static_cast<size_t> (blockIdx.x) * cols;
  float *out = y + static_cast<size_t> (blockIdx.x) * cols;
  float squares = 0.0f;
  for (int j = 0; j < cols; j++)
    squares += in[j] * in[j];
  const float scale = rsqrtf (squares / cols);
  for (int j = 0; j < cols; j++)
    out[j] = in[j] * scale * weight[j];
}
