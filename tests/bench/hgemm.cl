/* SPDX-License-Identifier: Apache-2.0 */
/* The same product without tensor cores, which OpenCL does not have: 128 threads, a 32 × 32 tile. */
__kernel void
hgemm (__global const float *a_, __global const float *b_, __global float *y, int n)
{
  __global const half *a = (__global const half *) a_, *b = (__global const half *) b_;
  __local float as[32][16], bs[16][32];
  int t = get_local_id (0), row0 = get_group_id (1) * 32, column0 = get_group_id (0) * 32;
  float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  for (int k0 = 0; k0 < n; k0 += 16)
    {
      for (int i = t; i < 512; i += 128)
        {
          as[i >> 4][i & 15] = vload_half ((row0 + (i >> 4)) * n + k0 + (i & 15), a);
          bs[i >> 5][i & 31] = vload_half ((k0 + (i >> 5)) * n + column0 + (i & 31), b);
        }
      barrier (CLK_LOCAL_MEM_FENCE);
      for (int k = 0; k < 16; k++)
        for (int i = 0; i < 8; i++)
          sum[i] = fma (as[(t >> 5) + 4 * i][k], bs[k][t & 31], sum[i]);
      barrier (CLK_LOCAL_MEM_FENCE);
    }
  for (int i = 0; i < 8; i++)
    y[(row0 + (t >> 5) + 4 * i) * n + column0 + (t & 31)] = sum[i];
}
