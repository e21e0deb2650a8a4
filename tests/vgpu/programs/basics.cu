/* SPDX-License-Identifier: Apache-2.0 */
// Symbols, templates, managed memory, copies in rows and slices, properties.
#include "check.h"

#include <cstring>
#include <vector>

__constant__ int weights[4];
__device__ int counter;
__device__ float table[3][5];
__managed__ int managed_value = 40;
static __device__ int hidden = 5;

template <class T, int N>
__global__ void
scale (T *values, T by)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N)
    values[i] = values[i] * by + (T) weights[i & 3];
  if (i == 0)
    atomicAdd (&counter, hidden);
}

__global__ void
fill_table ()
{
  table[threadIdx.y][threadIdx.x] = threadIdx.y * 10 + threadIdx.x;
  if (threadIdx.x + threadIdx.y == 0)
    managed_value += 2;
}

struct Large
{
  double values[20];
};

__global__ void
sum_large (Large large, double *out)
{
  double sum = 0;
  for (double v : large.values)
    sum += v;
  *out = sum;
}

__global__ void
next_slice (cudaPitchedPtr volume, int height)
{
  char *row = (char *) volume.ptr + (blockIdx.x * height + threadIdx.y) * volume.pitch;
  ((short *) row)[threadIdx.x] += 1000;
}

static void
symbols ()
{
  const int host[4] = {1, 2, 3, 4};
  OK (cudaMemcpyToSymbol (weights, host, sizeof host));
  int third = 30;
  OK (cudaMemcpyToSymbol (weights, &third, sizeof third, 2 * sizeof (int)));
  std::vector<float> values (100, 2.f);
  float *device;
  OK (cudaMalloc (&device, 400));
  OK (cudaMemcpy (device, values.data (), 400, cudaMemcpyHostToDevice));
  scale<float, 100><<<4, 32>>> (device, 3.f);
  OK (cudaGetLastError ());
  OK (cudaMemcpy (values.data (), device, 400, cudaMemcpyDefault));
  CHECK (values[0] == 7 && values[1] == 8 && values[2] == 36 && values[99] == 10);
  int count = 0;
  OK (cudaMemcpyFromSymbol (&count, counter, sizeof count));
  CHECK (count == 5);
  void *address;
  size_t bytes;
  OK (cudaGetSymbolAddress (&address, table));
  OK (cudaGetSymbolSize (&bytes, table));
  CHECK (bytes == sizeof table);
  fill_table<<<1, dim3 (5, 3)>>> ();
  OK (cudaDeviceSynchronize ());
  float copy[3][5];
  OK (cudaMemcpy (copy, address, sizeof copy, cudaMemcpyDeviceToHost));
  CHECK (copy[2][4] == 24 && managed_value == 42);
  CHECK (cudaMemcpyToSymbol (weights, host, sizeof host, 4) == cudaErrorInvalidValue);
  CHECK (cudaMemcpyToSymbol (&third, host, 4) == cudaErrorInvalidSymbol);
  cudaGetLastError ();
  OK (cudaFree (device));
}

static void
parameters ()
{
  Large large;
  double *out, sum;
  for (int i = 0; i < 20; i++)
    large.values[i] = i;
  OK (cudaMallocManaged (&out, sizeof *out));
  sum_large<<<1, 1>>> (large, out);
  OK (cudaDeviceSynchronize ());
  CHECK (*out == 190);
  cudaPointerAttributes attributes;
  OK (cudaPointerGetAttributes (&attributes, out));
  CHECK (attributes.type == cudaMemoryTypeManaged && attributes.devicePointer == out);
  OK (cudaPointerGetAttributes (&attributes, &sum));
  CHECK (attributes.type == cudaMemoryTypeUnregistered);
  OK (cudaFree (out));
}

static void
rows_and_slices ()
{
  enum { W = 10, H = 4, D = 3 };
  short in[D][H][W], out[D][H][W];
  for (int i = 0; i < D * H * W; i++)
    (&in[0][0][0])[i] = (short) i;
  cudaPitchedPtr volume;
  cudaExtent extent = make_cudaExtent (W * sizeof (short), H, D);
  OK (cudaMalloc3D (&volume, extent));
  CHECK (volume.pitch % 512 == 0);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr (in, W * sizeof (short), W, H);
  copy.dstPtr = volume;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  OK (cudaMemcpy3D (&copy));
  next_slice<<<D, dim3 (W, H)>>> (volume, H);
  std::memset (out, 0, sizeof out);
  copy.srcPtr = volume;
  copy.dstPtr = make_cudaPitchedPtr (out, W * sizeof (short), W, H);
  copy.kind = cudaMemcpyDeviceToHost;
  OK (cudaMemcpy3D (&copy));
  for (int i = 0; i < D * H * W; i++)
    CHECK ((&out[0][0][0])[i] == i + 1000);
  short line[H];
  OK (cudaMemcpy2D (line, sizeof (short), (char *) volume.ptr + 4, volume.pitch, sizeof (short), H,
                    cudaMemcpyDeviceToHost));
  CHECK (line[3] == 1000 + 3 * W + 2);
  CHECK (cudaMemcpy2D (line, 1, volume.ptr, volume.pitch, 2, H, cudaMemcpyDeviceToHost)
         == cudaErrorInvalidPitchValue);
  OK (cudaMemset2D (volume.ptr, volume.pitch, 0x11, 4, 2));
  OK (cudaMemcpy (line, volume.ptr, 6, cudaMemcpyDeviceToHost));
  CHECK (line[1] == 0x1111 && line[2] == 1002);
  cudaGetLastError ();
  OK (cudaFree (volume.ptr));
}

static void
device ()
{
  cudaDeviceProp properties;
  int count, value, blocks, size;
  OK (cudaGetDeviceCount (&count));
  CHECK (count == 1);
  OK (cudaGetDeviceProperties (&properties, 0));
  CHECK (properties.major == 8 && properties.minor == 0 && properties.warpSize == 32);
  CHECK (properties.maxThreadsPerBlock == 1024 && properties.maxThreadsDim[2] == 64);
  CHECK (properties.maxGridSize[1] == 65535 && properties.sharedMemPerBlock == 49152);
  CHECK (properties.sharedMemPerBlockOptin == 166912 && properties.multiProcessorCount == 108);
  CHECK (properties.totalConstMem == 65536 && properties.cooperativeLaunch == 1);
  CHECK (properties.maxBlocksPerMultiProcessor == 32 && properties.regsPerBlock == 65536);
  OK (cudaDeviceGetAttribute (&value, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
  CHECK (value == 2048 && properties.maxThreadsPerMultiProcessor == 2048);
  CHECK (cudaSetDevice (1) == cudaErrorInvalidDevice);
  CHECK (cudaGetLastError () == cudaErrorInvalidDevice && cudaGetLastError () == cudaSuccess);
  OK (cudaOccupancyMaxActiveBlocksPerMultiprocessor (&blocks, scale<float, 100>, 256, 0));
  CHECK (blocks == 8);
  OK (cudaOccupancyMaxPotentialBlockSize (&blocks, &size, scale<float, 100>, 0, 0));
  CHECK (size == 1024 && blocks == 216);
  cudaFuncAttributes attributes;
  OK (cudaFuncGetAttributes (&attributes, scale<float, 100>));
  CHECK (attributes.maxThreadsPerBlock == 1024 && attributes.ptxVersion == 80);
}

int
main ()
{
  symbols ();
  parameters ();
  rows_and_slices ();
  device ();
  OK (cudaDeviceReset ());
  symbols ();
  std::printf ("fine\n");
}
