// SPDX-License-Identifier: Apache-2.0
// Faults through texture and surface objects, each with the line marked on which it must be found.

#define KERNEL extern "C" __global__ void

KERNEL
read_texture (cudaTextureObject_t t, float *out)
{
  float v = tex2D<float> (t, threadIdx.x + 0.5f, 0.5f); // fault: texture
  out[threadIdx.x] = v * 2;
}

KERNEL
write_surface (cudaSurfaceObject_t s, float *out)
{
  surf2Dwrite (1.0f, s, threadIdx.x * 4, 1); // fault: surface
  out[threadIdx.x] = 1;
}

KERNEL
race_surface (cudaSurfaceObject_t s, float *out)
{
  surf2Dwrite ((float) blockIdx.x, s, threadIdx.x * 4, 0); // fault: surface race
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
