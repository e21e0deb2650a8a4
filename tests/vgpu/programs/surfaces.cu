/* SPDX-License-Identifier: Apache-2.0 */
// Surfaces of every geometry and width, and copies to, from and between arrays.
#include "check.h"

#include <cstring>
#include <vector>

static cudaSurfaceObject_t
make_surface (cudaArray_t array)
{
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t s = 0;
  OK (cudaCreateSurfaceObject (&s, &resource));
  return s;
}

template <typename T>
static cudaArray_t
make_array (int w, int h, int d, unsigned flags)
{
  cudaArray_t array;
  cudaChannelFormatDesc channel = cudaCreateChannelDesc<T> ();
  OK (cudaMalloc3DArray (&array, &channel, make_cudaExtent (w, h, d),
                         flags | cudaArraySurfaceLoadStore));
  return array;
}

template <typename T> __device__ T make (int i);
template <> __device__ unsigned char make (int i) { return (unsigned char) i; }
template <> __device__ short make (int i) { return (short) (i * 3 - 100); }
template <> __device__ float make (int i) { return i * 0.5f; }
template <> __device__ float2 make (int i) { return make_float2 (i, -i); }
template <> __device__ int4 make (int i) { return make_int4 (i, i + 1, i + 2, -i); }

template <typename T>
__device__ bool
same (T a, T b)
{
  const unsigned char *x = (const unsigned char *) &a, *y = (const unsigned char *) &b;
  for (unsigned i = 0; i < sizeof (T); i++)
    if (x[i] != y[i])
      return false;
  return true;
}

// Writes a plane through one surface; the mirrored plane is read through the other launch.
template <typename T>
__global__ void
write_plane (cudaSurfaceObject_t s, int w, int h)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h)
    surf2Dwrite (make<T> (y * w + x), s, x * (int) sizeof (T), y);
}

template <typename T>
__global__ void
read_plane (cudaSurfaceObject_t s, int w, int h, int *wrong)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w + 2 || y >= h)
    return;
  int inside = x < w ? x : w - 1;
  T clamped = surf2Dread<T> (s, x * (int) sizeof (T), y, cudaBoundaryModeClamp);
  T zeroed = surf2Dread<T> (s, x * (int) sizeof (T), y, cudaBoundaryModeZero);
  T nothing;
  memset (&nothing, 0, sizeof nothing);
  if (!same (clamped, make<T> (y * w + inside)))
    atomicAdd (wrong, 1);
  if (!same (zeroed, x < w ? make<T> (y * w + x) : nothing))
    atomicAdd (wrong, 1);
  surf2Dwrite (make<T> (7), s, (w + x) * (int) sizeof (T), y, cudaBoundaryModeZero); // dropped
}

template <typename T>
static void
check_width (int *wrong)
{
  const int w = 19, h = 6;
  cudaArray_t array = make_array<T> (w, h, 0, 0);
  cudaSurfaceObject_t s = make_surface (array);
  write_plane<T><<<dim3 (2, 2), dim3 (16, 4)>>> (s, w, h);
  read_plane<T><<<dim3 (2, 2), dim3 (16, 4)>>> (s, w, h, wrong);
  OK (cudaDeviceSynchronize ());
  OK (cudaDestroySurfaceObject (s));
  OK (cudaFreeArray (array));
}

__global__ void
all_geometries (cudaSurfaceObject_t line, cudaSurfaceObject_t space, cudaSurfaceObject_t lines,
                cudaSurfaceObject_t planes, cudaSurfaceObject_t cube)
{
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  int number = (z * 4 + y) * 8 + x;
  if (y == 0 && z == 0)
    surf1Dwrite (1000 + x, line, x * 4);
  surf3Dwrite (2000 + number, space, x * 4, y, z);
  if (y == 0)
    surf1DLayeredwrite (3000 + z * 8 + x, lines, x * 4, z);
  surf2DLayeredwrite (4000 + number, planes, x * 4, y, z);
  if (x < 4)
    surfCubemapwrite (5000 + number, cube, x * 4, y, z + 2);
}

static std::vector<int>
contents (cudaArray_t array, int w, int h, int d)
{
  std::vector<int> out (w * h * d);
  cudaMemcpy3DParms copy = {};
  copy.srcArray = array;
  copy.dstPtr = make_cudaPitchedPtr (out.data (), w * 4, w, h);
  copy.extent = make_cudaExtent (w, h, d);
  copy.kind = cudaMemcpyDeviceToHost;
  OK (cudaMemcpy3D (&copy));
  return out;
}

static void
check_geometries ()
{
  cudaArray_t line = make_array<int> (8, 0, 0, 0), space = make_array<int> (8, 4, 2, 0);
  cudaArray_t lines = make_array<int> (8, 0, 2, cudaArrayLayered);
  cudaArray_t planes = make_array<int> (8, 4, 2, cudaArrayLayered);
  cudaArray_t cube = make_array<int> (4, 4, 6, cudaArrayCubemap);
  cudaArray_t arrays[] = {line, space, lines, planes, cube};
  cudaSurfaceObject_t s[5];
  for (int i = 0; i < 5; i++)
    s[i] = make_surface (arrays[i]);
  all_geometries<<<1, dim3 (8, 4, 2)>>> (s[0], s[1], s[2], s[3], s[4]);
  OK (cudaDeviceSynchronize ());
  std::vector<int> a = contents (line, 8, 1, 1), b = contents (space, 8, 4, 2);
  std::vector<int> c = contents (lines, 8, 1, 2), d = contents (planes, 8, 4, 2);
  for (int i = 0; i < 64; i++)
    {
      CHECK (b[i] == 2000 + i && d[i] == 4000 + i);
      CHECK (i >= 16 || c[i] == 3000 + i);
      CHECK (i >= 8 || a[i] == 1000 + i);
    }
  // Only faces 2 and 3 of the cube were written.
  std::vector<int> face (16);
  cudaMemcpy3DParms copy = {};
  copy.srcArray = cube;
  copy.srcPos = make_cudaPos (0, 0, 3);
  copy.dstPtr = make_cudaPitchedPtr (face.data (), 16, 4, 4);
  copy.extent = make_cudaExtent (4, 4, 1);
  copy.kind = cudaMemcpyDeviceToHost;
  OK (cudaMemcpy3D (&copy));
  for (int i = 0; i < 16; i++)
    CHECK (face[i] == 5000 + (4 + i / 4) * 8 + i % 4);
  for (int i = 0; i < 5; i++)
    {
      OK (cudaDestroySurfaceObject (s[i]));
      OK (cudaFreeArray (arrays[i]));
    }
}

static void
check_copies ()
{
  const int w = 10, h = 5;
  std::vector<int> host (w * h), back (w * h, -1);
  int *device;
  cudaArray_t a, b;
  cudaStream_t stream;
  cudaChannelFormatDesc channel = cudaCreateChannelDesc<int> ();
  for (int i = 0; i < w * h; i++)
    host[i] = i * i;
  OK (cudaStreamCreate (&stream));
  OK (cudaMallocArray (&a, &channel, w, h));
  OK (cudaMallocArray (&b, &channel, w, h));
  OK (cudaMalloc (&device, w * h * 4));
  OK (cudaMemcpy (device, host.data (), w * h * 4, cudaMemcpyHostToDevice));
  OK (cudaMemcpy2DToArrayAsync (a, 0, 0, device, w * 4, w * 4, h, cudaMemcpyDeviceToDevice, stream));
  OK (cudaStreamSynchronize (stream));
  OK (cudaMemcpy2DArrayToArray (b, 0, 0, a, 0, 0, w * 4, h));
  OK (cudaMemcpy2DFromArray (back.data (), w * 4, b, 0, 0, w * 4, h, cudaMemcpyDeviceToHost));
  CHECK (back == host);
  // A window into the middle.
  OK (cudaMemcpy2DToArray (b, 4 * 4, 2, host.data (), w * 4, 3 * 4, 2, cudaMemcpyHostToDevice));
  OK (cudaMemcpy2DFromArray (back.data (), w * 4, b, 0, 0, w * 4, h, cudaMemcpyDeviceToHost));
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      {
        bool window = x >= 4 && x < 7 && y >= 2 && y < 4;
        CHECK (back[y * w + x] == (window ? host[(y - 2) * w + x - 4] : host[y * w + x]));
      }
  CHECK (cudaMemcpy2DToArray (b, 4, 0, host.data (), w * 4, w * 4, 1, cudaMemcpyHostToDevice)
         == cudaErrorInvalidValue);
  CHECK (cudaGetLastError () == cudaErrorInvalidValue);
  cudaChannelFormatDesc told;
  OK (cudaGetChannelDesc (&told, a));
  CHECK (told.x == 32 && told.y == 0 && told.f == cudaChannelFormatKindSigned);
  OK (cudaFreeArray (a));
  OK (cudaFreeArray (b));
  CHECK (cudaFreeArray (a) != cudaSuccess);
  cudaGetLastError ();
  OK (cudaFree (device));
  OK (cudaStreamDestroy (stream));
}

int
main ()
{
  int *wrong, count;
  OK (cudaMalloc (&wrong, sizeof *wrong));
  OK (cudaMemset (wrong, 0, sizeof *wrong));
  check_width<unsigned char> (wrong);
  check_width<short> (wrong);
  check_width<float> (wrong);
  check_width<float2> (wrong);
  check_width<int4> (wrong);
  OK (cudaMemcpy (&count, wrong, sizeof count, cudaMemcpyDeviceToHost));
  CHECK (count == 0);
  check_geometries ();
  check_copies ();
  OK (cudaFree (wrong));
  std::printf ("fine\n");
}
