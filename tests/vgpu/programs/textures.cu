/* SPDX-License-Identifier: Apache-2.0 */
// Texture fetches against the formulas of the programming guide's appendix "Texture Fetching", written here
// axis by axis with whole numbers: a weight is a number of 256ths.
#include "check.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

static const int W = 13, H = 7, D = 5;
static const cudaTextureAddressMode modes[] = {cudaAddressModeWrap, cudaAddressModeClamp,
                                               cudaAddressModeMirror, cudaAddressModeBorder};

// One axis: two texels, or none (-1), and the weight of the second in 256ths.
struct Axis
{
  long texel[2];
  int weight;
};

static long
brought_in (long i, long n, cudaTextureAddressMode mode, bool normalised)
{
  if (i >= 0 && i < n)
    return i;
  if (mode == cudaAddressModeBorder)
    return -1;
  if (mode == cudaAddressModeWrap && normalised)
    return ((i % n) + n) % n;
  return i < 0 ? 0 : n - 1;
}

static Axis
axis (double x, long n, cudaTextureAddressMode mode, bool normalised, bool linear)
{
  if (normalised)
    {
      double f = std::floor (x);
      if (mode == cudaAddressModeWrap)
        x = x - f;
      if (mode == cudaAddressModeMirror)
        x = std::fmod (std::fabs (f), 2.0) == 0 ? x - f : 1 - (x - f);
      x *= n;
    }
  if (!linear)
    {
      long i = brought_in ((long) std::floor (x), n, mode, normalised);
      return {{i, i}, 0};
    }
  double b = x - 0.5;
  long i = (long) std::floor (b);
  int weight = (int) std::floor ((b - (double) i) * 256 + 0.5);
  return {{brought_in (i, n, mode, normalised), brought_in (i + 1, n, mode, normalised)}, weight};
}

struct Volume
{
  int w, h, d;
  std::vector<float> texels;
  float border;
  float at (long x, long y, long z) const
  {
    return x < 0 || y < 0 || z < 0 ? border : texels[(z * h + y) * w + x];
  }
};

// Sum over the corners; texels are small whole numbers, so it is exact in long double.
static float
expected (const Volume &v, const Axis &x, const Axis &y, const Axis &z)
{
  long double sum = 0;
  for (int c = 0; c < 8; c++)
    {
      const Axis *axes[3] = {&x, &y, &z};
      long part = 1;
      long at[3];
      for (int i = 0; i < 3; i++)
        {
          int second = c >> i & 1;
          part *= second ? axes[i]->weight : 256 - axes[i]->weight;
          at[i] = axes[i]->texel[second];
        }
      if (part != 0)
        sum += (long double) part * v.at (at[0], at[1], at[2]);
    }
  return (float) (sum / (256.0L * 256 * 256));
}

enum Kind
{
  LINE,
  PLANE,
  SPACE,
  LINES,
  PLANES
};

__global__ void
look (cudaTextureObject_t t, Kind kind, const float *at, float *out, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float x = at[3 * i], y = at[3 * i + 1], z = at[3 * i + 2];
  if (kind == LINE)
    out[i] = tex1D<float> (t, x);
  else if (kind == PLANE)
    out[i] = tex2D<float> (t, x, y);
  else if (kind == SPACE)
    out[i] = tex3D<float> (t, x, y, z);
  else if (kind == LINES)
    out[i] = tex1DLayered<float> (t, x, (int) z);
  else
    out[i] = tex2DLayered<float> (t, x, y, (int) z);
}

static cudaArray_t
make_array (const Volume &v, Kind kind)
{
  static const int depths[] = {0, 0, D, D, D};
  cudaArray_t array;
  cudaChannelFormatDesc channel = cudaCreateChannelDesc<float> ();
  bool flat = kind == LINE || kind == LINES;
  cudaExtent extent = make_cudaExtent (v.w, flat ? 0 : v.h, depths[kind]);
  OK (cudaMalloc3DArray (&array, &channel, extent,
                         kind == LINES || kind == PLANES ? cudaArrayLayered : 0));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr ((void *) v.texels.data (), v.w * sizeof (float), v.w, v.h);
  copy.dstArray = array;
  copy.extent = make_cudaExtent (v.w, flat ? 1 : v.h, depths[kind] ? depths[kind] : 1);
  copy.kind = cudaMemcpyHostToDevice;
  OK (cudaMemcpy3D (&copy));
  return array;
}

static cudaTextureObject_t
make_texture (cudaResourceDesc resource, cudaTextureAddressMode mode, bool normalised, bool linear,
              float border, cudaTextureReadMode read = cudaReadModeElementType)
{
  cudaTextureDesc how = {};
  for (int i = 0; i < 3; i++)
    how.addressMode[i] = mode;
  how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
  how.normalizedCoords = normalised;
  how.readMode = read;
  for (int i = 0; i < 4; i++)
    how.borderColor[i] = border;
  cudaTextureObject_t t = 0;
  OK (cudaCreateTextureObject (&t, &resource, &how, nullptr));
  return t;
}

static cudaResourceDesc
of_array (cudaArray_t array)
{
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

// Places inside, on edges, far outside, and between texels by fractions that 8 bits do not hold.
static std::vector<float>
places (bool normalised)
{
  std::vector<float> at;
  unsigned seed = 7;
  const float sizes[3] = {W, H, D};
  for (int i = 0; i < 500; i++)
    for (int c = 0; c < 3; c++)
      {
        seed = seed * 1664525u + 1013904223u;
        float part = (float) (seed >> 8) / 16777216.0f;
        float value = i % 5 == 0 ? (float) (int) (part * 12) / 4 : part * 3 - 1;
        at.push_back (normalised ? value : value * sizes[c]);
      }
  return at;
}

static void
check_kind (Kind kind, cudaTextureAddressMode mode, bool normalised, bool linear)
{
  bool flat = kind == LINE || kind == LINES;
  Volume v = {W, flat ? 1 : H, kind == LINE || kind == PLANE ? 1 : D, {}, 3};
  for (int i = 0; i < v.w * v.h * v.d; i++)
    v.texels.push_back ((float) ((i * 37 + 11) % 101 - 50));
  cudaArray_t array = make_array (v, kind);
  cudaTextureObject_t t = make_texture (of_array (array), mode, normalised, linear, v.border);
  std::vector<float> at = places (normalised);
  int n = (int) at.size () / 3;
  for (int i = 0; i < n; i++)
    if (kind == LINES || kind == PLANES)
      at[3 * i + 2] = (float) (i % (D + 1)); // one layer too far now and then
  float *device_at, *device_out;
  std::vector<float> out (n);
  OK (cudaMalloc (&device_at, at.size () * sizeof (float)));
  OK (cudaMalloc (&device_out, n * sizeof (float)));
  OK (cudaMemcpy (device_at, at.data (), at.size () * sizeof (float), cudaMemcpyHostToDevice));
  look<<<(n + 63) / 64, 64>>> (t, kind, device_at, device_out, n);
  OK (cudaMemcpy (out.data (), device_out, n * sizeof (float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++)
    {
      Axis one = {{0, 0}, 0}, x, y = one, z = one;
      x = axis (at[3 * i], v.w, mode, normalised, linear);
      if (!flat)
        y = axis (at[3 * i + 1], v.h, mode, normalised, linear);
      if (kind == SPACE)
        z = axis (at[3 * i + 2], v.d, mode, normalised, linear);
      else if (v.d > 1)
        z.texel[0] = z.texel[1] = std::min ((long) at[3 * i + 2], (long) D - 1);
      float want = expected (v, x, y, z);
      if (out[i] != want)
        std::printf ("kind %d mode %d normalised %d linear %d at %a %a %a: %a, expected %a\n", kind,
                     mode, normalised, linear, at[3 * i], at[3 * i + 1], at[3 * i + 2], out[i],
                     want);
      CHECK (out[i] == want);
    }
  OK (cudaDestroyTextureObject (t));
  OK (cudaFreeArray (array));
  OK (cudaFree (device_at));
  OK (cudaFree (device_out));
}

// ---- memory, integers, gathers, cubes, levels ----

template <typename T>
__global__ void
fetch (cudaTextureObject_t t, T *out, int n, int first)
{
  int i = threadIdx.x;
  if (i < n)
    out[i] = tex1Dfetch<T> (t, first + i);
}

static void
check_linear_memory ()
{
  const int n = 32;
  short host[n], back[n];
  short *memory, *out;
  for (int i = 0; i < n; i++)
    host[i] = (short) (i * 1000 - 16000);
  OK (cudaMalloc (&memory, sizeof host));
  OK (cudaMalloc (&out, sizeof host));
  OK (cudaMemcpy (memory, host, sizeof host, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc<short> ();
  resource.res.linear.sizeInBytes = sizeof host;
  cudaTextureObject_t t = make_texture (resource, cudaAddressModeClamp, false, false, 9);
  fetch<short><<<1, 32>>> (t, out, n, -4);
  OK (cudaMemcpy (back, out, sizeof back, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++)
    CHECK (back[i] == (i < 4 ? 0 : host[i - 4]));
  OK (cudaDestroyTextureObject (t));
  // What no device would take is refused.
  cudaTextureDesc how = {};
  how.filterMode = cudaFilterModeLinear;
  CHECK (cudaCreateTextureObject (&t, &resource, &how, nullptr) == cudaErrorInvalidValue);
  resource.res.linear.devPtr = memory + 2;
  how.filterMode = cudaFilterModePoint;
  CHECK (cudaCreateTextureObject (&t, &resource, &how, nullptr) == cudaErrorInvalidValue);
  OK (cudaFree (memory));
  OK (cudaFree (out));
}

__global__ void
rows (cudaTextureObject_t bytes, cudaTextureObject_t parts, cudaTextureObject_t light, uchar4 *raw,
      float4 *shares, float4 *linear)
{
  int x = threadIdx.x, y = threadIdx.y, i = y * blockDim.x + x;
  raw[i] = tex2D<uchar4> (bytes, x + 0.5f, y + 0.5f);
  shares[i] = tex2D<float4> (parts, x + 1.0f, y + 0.5f);
  linear[i] = tex2D<float4> (light, x + 0.5f, y + 0.5f);
}

static void
check_rows ()
{
  const int w = 8, h = 4;
  uchar4 host[h][w], raw[h][w], *device_raw, *memory;
  float4 shares[h][w], light[h][w], *device_shares, *device_light;
  size_t pitch;
  for (int i = 0; i < w * h; i++)
    host[i / w][i % w] = make_uchar4 (i * 8, 255 - i, i * 5, 100 + i);
  OK (cudaMallocPitch (&memory, &pitch, w * sizeof (uchar4), h));
  OK (cudaMemcpy2D (memory, pitch, host, w * sizeof (uchar4), w * sizeof (uchar4), h,
                    cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = memory;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<uchar4> ();
  resource.res.pitch2D.width = w;
  resource.res.pitch2D.height = h;
  resource.res.pitch2D.pitchInBytes = pitch;
  cudaTextureObject_t bytes = make_texture (resource, cudaAddressModeClamp, false, false, 0);
  cudaTextureObject_t parts = make_texture (resource, cudaAddressModeClamp, false, true, 0,
                                            cudaReadModeNormalizedFloat);
  cudaTextureDesc how = {};
  how.readMode = cudaReadModeNormalizedFloat;
  how.sRGB = 1;
  cudaTextureObject_t srgb = 0;
  OK (cudaCreateTextureObject (&srgb, &resource, &how, nullptr));
  OK (cudaMalloc (&device_raw, sizeof raw));
  OK (cudaMalloc (&device_shares, sizeof shares));
  OK (cudaMalloc (&device_light, sizeof light));
  rows<<<1, dim3 (w, h)>>> (bytes, parts, srgb, device_raw, device_shares, device_light);
  OK (cudaMemcpy (raw, device_raw, sizeof raw, cudaMemcpyDeviceToHost));
  OK (cudaMemcpy (shares, device_shares, sizeof shares, cudaMemcpyDeviceToHost));
  OK (cudaMemcpy (light, device_light, sizeof light, cudaMemcpyDeviceToHost));
  CHECK (std::memcmp (raw, host, sizeof raw) == 0);
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      {
        // Halfway between two texels, the last row's with itself.
        uchar4 a = host[y][x], b = host[y][x + 1 < w ? x + 1 : x];
        CHECK (std::fabs (shares[y][x].x - (a.x + b.x) / 510.0) < 1e-7);
        CHECK (std::fabs (shares[y][x].w - (a.w + b.w) / 510.0) < 1e-7);
        double c = a.y / 255.0;
        double want = c <= 0.04045 ? c / 12.92 : std::pow ((c + 0.055) / 1.055, 2.4);
        CHECK (std::fabs (light[y][x].y - want) < 1e-7);
        CHECK (std::fabs (light[y][x].w - a.w / 255.0) < 1e-7);
      }
  OK (cudaDestroyTextureObject (bytes));
  OK (cudaDestroyTextureObject (parts));
  OK (cudaDestroyTextureObject (srgb));
  OK (cudaFree (memory));
  OK (cudaFree (device_raw));
  OK (cudaFree (device_shares));
  OK (cudaFree (device_light));
}

__global__ void
around (cudaTextureObject_t t, float4 *out)
{
  out[0] = tex2Dgather<float4> (t, 2.0f, 3.0f, 0);
  out[1] = tex2Dgather<float4> (t, 0.25f, 6.75f, 0);
}

static void
check_gather ()
{
  Volume v = {W, H, 1, {}, 0};
  for (int i = 0; i < W * H; i++)
    v.texels.push_back ((float) i);
  cudaArray_t array;
  cudaChannelFormatDesc channel = cudaCreateChannelDesc<float> ();
  OK (cudaMallocArray (&array, &channel, W, H, cudaArrayTextureGather));
  OK (cudaMemcpy2DToArray (array, 0, 0, v.texels.data (), W * 4, W * 4, H,
                           cudaMemcpyHostToDevice));
  cudaTextureObject_t t = make_texture (of_array (array), cudaAddressModeClamp, false, true, 0);
  float4 out[2], *device_out;
  OK (cudaMalloc (&device_out, sizeof out));
  around<<<1, 1>>> (t, device_out);
  OK (cudaMemcpy (out, device_out, sizeof out, cudaMemcpyDeviceToHost));
  CHECK (out[0].x == v.at (1, 3, 0) && out[0].y == v.at (2, 3, 0));
  CHECK (out[0].z == v.at (2, 2, 0) && out[0].w == v.at (1, 2, 0));
  CHECK (out[1].x == v.at (0, 6, 0) && out[1].z == v.at (0, 6, 0));
  OK (cudaDestroyTextureObject (t));
  OK (cudaFreeArray (array));
  OK (cudaFree (device_out));
}

__global__ void
faces (cudaTextureObject_t t, cudaTextureObject_t many, const float3 *at, float *out, int n)
{
  int i = threadIdx.x;
  if (i < n)
    {
      out[i] = texCubemap<float> (t, at[i].x, at[i].y, at[i].z);
      out[n + i] = texCubemapLayered<float> (many, at[i].x, at[i].y, at[i].z, 1);
    }
}

// The table of the programming guide: which face a direction hits, and where.
static float
cube_texel (const std::vector<float> &texels, int size, int layer, float3 p)
{
  double m = std::fmax (std::fabs (p.x), std::fmax (std::fabs (p.y), std::fabs (p.z)));
  int face;
  double s, t;
  if (std::fabs (p.x) == m)
    face = p.x >= 0 ? 0 : 1, s = p.x >= 0 ? -p.z : p.z, t = -p.y;
  else if (std::fabs (p.y) == m)
    face = p.y >= 0 ? 2 : 3, s = p.x, t = p.y >= 0 ? p.z : -p.z;
  else
    face = p.z >= 0 ? 4 : 5, s = p.z >= 0 ? p.x : -p.x, t = -p.y;
  int x = (int) ((s / m + 1) / 2 * size), y = (int) ((t / m + 1) / 2 * size);
  return texels[((layer * 6 + face) * size + y) * size + x];
}

static cudaArray_t
make_cube (const std::vector<float> &texels, int size, int layers)
{
  cudaArray_t array;
  cudaChannelFormatDesc channel = cudaCreateChannelDesc<float> ();
  OK (cudaMalloc3DArray (&array, &channel, make_cudaExtent (size, size, 6 * layers),
                         cudaArrayCubemap | (layers > 1 ? cudaArrayLayered : 0)));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr ((void *) texels.data (), size * 4, size, size);
  copy.dstArray = array;
  copy.extent = make_cudaExtent (size, size, 6 * layers);
  copy.kind = cudaMemcpyHostToDevice;
  OK (cudaMemcpy3D (&copy));
  return array;
}

static void
check_cubes ()
{
  const int size = 4, n = 60;
  std::vector<float> texels;
  for (int i = 0; i < 2 * 6 * size * size; i++)
    texels.push_back ((float) i);
  cudaArray_t one = make_cube (texels, size, 1), two = make_cube (texels, size, 2);
  cudaTextureObject_t t = make_texture (of_array (one), cudaAddressModeClamp, true, false, 0);
  cudaTextureObject_t many = make_texture (of_array (two), cudaAddressModeClamp, true, false, 0);
  std::vector<float3> at;
  for (int i = 0; i < n; i++)
    at.push_back (make_float3 ((float) ((i * 7) % 11 - 5) + 0.25f, (float) ((i * 5) % 13 - 6) + 0.125f,
                               (float) ((i * 3) % 7 - 3) + 0.0625f));
  float3 *device_at;
  float *device_out, out[2 * n];
  OK (cudaMalloc (&device_at, n * sizeof (float3)));
  OK (cudaMalloc (&device_out, sizeof out));
  OK (cudaMemcpy (device_at, at.data (), n * sizeof (float3), cudaMemcpyHostToDevice));
  faces<<<1, 64>>> (t, many, device_at, device_out, n);
  OK (cudaMemcpy (out, device_out, sizeof out, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++)
    {
      CHECK (out[i] == cube_texel (texels, size, 0, at[i]));
      CHECK (out[n + i] == cube_texel (texels, size, 1, at[i]));
    }
  OK (cudaDestroyTextureObject (t));
  OK (cudaDestroyTextureObject (many));
  OK (cudaFreeArray (one));
  OK (cudaFreeArray (two));
  OK (cudaFree (device_at));
  OK (cudaFree (device_out));
}

__global__ void
levels (cudaTextureObject_t nearest, cudaTextureObject_t between, float *out)
{
  out[0] = tex2DLod<float> (nearest, 0.5f, 0.5f, 0.0f);
  out[1] = tex2DLod<float> (nearest, 0.5f, 0.5f, 1.2f);
  out[2] = tex2DLod<float> (nearest, 0.5f, 0.5f, 9.0f);
  out[3] = tex2DLod<float> (between, 0.5f, 0.5f, 0.25f);
  out[4] = tex2DGrad<float> (nearest, 0.5f, 0.5f, make_float2 (0.25f, 0), make_float2 (0, 0.125f));
}

static void
check_levels ()
{
  cudaMipmappedArray_t mipmap;
  cudaChannelFormatDesc channel = cudaCreateChannelDesc<float> ();
  OK (cudaMallocMipmappedArray (&mipmap, &channel, make_cudaExtent (8, 8, 0), 4));
  for (int level = 0; level < 4; level++)
    {
      cudaArray_t array;
      cudaExtent extent;
      int size = 8 >> level;
      std::vector<float> texels (size * size, (float) (10 * level + 1));
      OK (cudaGetMipmappedArrayLevel (&array, mipmap, level));
      OK (cudaArrayGetInfo (nullptr, &extent, nullptr, array));
      CHECK (extent.width == (size_t) size && extent.height == (size_t) size);
      OK (cudaMemcpy2DToArray (array, 0, 0, texels.data (), size * 4, size * 4, size,
                               cudaMemcpyHostToDevice));
    }
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = mipmap;
  cudaTextureDesc how = {};
  how.normalizedCoords = 1;
  how.maxMipmapLevelClamp = 2;
  cudaTextureObject_t nearest, between;
  OK (cudaCreateTextureObject (&nearest, &resource, &how, nullptr));
  how.mipmapFilterMode = cudaFilterModeLinear;
  OK (cudaCreateTextureObject (&between, &resource, &how, nullptr));
  float out[5], *device_out;
  OK (cudaMalloc (&device_out, sizeof out));
  levels<<<1, 1>>> (nearest, between, device_out);
  OK (cudaMemcpy (out, device_out, sizeof out, cudaMemcpyDeviceToHost));
  CHECK (out[0] == 1 && out[1] == 11 && out[2] == 21);
  CHECK (out[3] == 0.75f * 1 + 0.25f * 11);
  CHECK (out[4] == 11); // a quarter of eight texels: two, so level 1
  OK (cudaDestroyTextureObject (nearest));
  OK (cudaDestroyTextureObject (between));
  OK (cudaFreeMipmappedArray (mipmap));
  OK (cudaFree (device_out));
}

int
main ()
{
  for (int kind = LINE; kind <= PLANES; kind++)
    for (cudaTextureAddressMode mode : modes)
      for (int normalised = 0; normalised < 2; normalised++)
        for (int linear = 0; linear < 2; linear++)
          check_kind ((Kind) kind, mode, normalised, linear);
  check_linear_memory ();
  check_rows ();
  check_gather ();
  check_cubes ();
  check_levels ();
  std::printf ("fine\n");
}
