/* SPDX-License-Identifier: Apache-2.0 */
// Device-wide algorithms of CUB and Thrust, random numbers of cuRAND's device header.
#include "check.h"

#include <algorithm>
#include <cub/cub.cuh>
#include <curand_kernel.h>
#include <numeric>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <vector>

static const int N = 20000;

static std::vector<int>
drawn ()
{
  std::vector<int> values (N);
  unsigned state = 1;
  for (int &value : values)
    {
      state = state * 1664525u + 1013904223u;
      value = (int) (state >> 8) % 100000 - 50000;
    }
  return values;
}

template <class Run>
static void
with_storage (Run run)
{
  void *storage = nullptr;
  size_t bytes = 0;
  OK (run (storage, bytes));
  OK (cudaMalloc (&storage, bytes));
  OK (run (storage, bytes));
  OK (cudaFree (storage));
}

static void
cub_algorithms ()
{
  std::vector<int> in = drawn (), out (N), want (N);
  int *d_in, *d_out, *d_count;
  OK (cudaMalloc (&d_in, N * sizeof (int)));
  OK (cudaMalloc (&d_out, N * sizeof (int)));
  OK (cudaMalloc (&d_count, 64 * sizeof (int)));
  OK (cudaMemcpy (d_in, in.data (), N * sizeof (int), cudaMemcpyHostToDevice));
  auto fetch = [&] (const int *from, int count) {
    OK (cudaMemcpy (out.data (), from, count * sizeof (int), cudaMemcpyDeviceToHost));
  };
  with_storage ([&] (void *s, size_t &b) { return cub::DeviceReduce::Sum (s, b, d_in, d_count, N); });
  fetch (d_count, 1);
  CHECK (out[0] == std::accumulate (in.begin (), in.end (), 0));
  with_storage ([&] (void *s, size_t &b) { return cub::DeviceScan::InclusiveSum (s, b, d_in, d_out, N); });
  fetch (d_out, N);
  std::partial_sum (in.begin (), in.end (), want.begin ());
  CHECK (out == want);
  with_storage ([&] (void *s, size_t &b) { return cub::DeviceRadixSort::SortKeys (s, b, d_in, d_out, N); });
  fetch (d_out, N);
  want = in;
  std::sort (want.begin (), want.end ());
  CHECK (out == want);
  with_storage ([&] (void *s, size_t &b) {
    return cub::DeviceSelect::Unique (s, b, d_out, d_in, d_count, N);
  });
  int count;
  OK (cudaMemcpy (&count, d_count, sizeof count, cudaMemcpyDeviceToHost));
  want.erase (std::unique (want.begin (), want.end ()), want.end ());
  CHECK (count == (int) want.size ());
  with_storage ([&] (void *s, size_t &b) {
    return cub::DeviceHistogram::HistogramEven (s, b, d_out, d_count, 11, -50000, 50000, N);
  });
  fetch (d_count, 10);
  int bins[10] = {0};
  for (int value : in)
    bins[(value + 50000) / 10000]++;
  CHECK (std::equal (bins, bins + 10, out.begin ()));
  OK (cudaFree (d_in));
  OK (cudaFree (d_out));
  OK (cudaFree (d_count));
}

static void
thrust_algorithms ()
{
  std::vector<int> keys = drawn ();
  thrust::device_vector<int> device (keys.begin (), keys.end ()), order (N);
  thrust::sequence (order.begin (), order.end ());
  thrust::stable_sort_by_key (device.begin (), device.end (), order.begin ());
  std::vector<int> want (N);
  std::iota (want.begin (), want.end (), 0);
  std::stable_sort (want.begin (), want.end (), [&] (int a, int b) { return keys[a] < keys[b]; });
  std::vector<int> got (N);
  thrust::copy (order.begin (), order.end (), got.begin ());
  CHECK (got == want);
  CHECK (thrust::reduce (device.begin (), device.end (), 0, thrust::maximum<int> ())
         == *std::max_element (keys.begin (), keys.end ()));
}

__global__ void
draw (unsigned *words, float *reals)
{
  curandStatePhilox4_32_10_t philox;
  curandState xorwow;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init (0, 0, 0, &philox);
  if (i == 0)
    {
      uint4 four = curand4 (&philox);
      words[0] = four.x;
      words[1] = four.y;
      words[2] = four.z;
      words[3] = four.w;
    }
  curand_init (1234, i, 0, &xorwow);
  reals[2 * i] = curand_uniform (&xorwow);
  reals[2 * i + 1] = curand_normal (&xorwow);
}

static void
random_numbers ()
{
  enum { COUNT = 2048 };
  unsigned words[4], *d_words;
  static float reals[2 * COUNT];
  float *d_reals;
  OK (cudaMalloc (&d_words, sizeof words));
  OK (cudaMalloc (&d_reals, sizeof reals));
  draw<<<COUNT / 128, 128>>> (d_words, d_reals);
  OK (cudaMemcpy (words, d_words, sizeof words, cudaMemcpyDeviceToHost));
  OK (cudaMemcpy (reals, d_reals, sizeof reals, cudaMemcpyDeviceToHost));
  // Philox4x32-10 of counter 0 and key 0: Salmon et al., 2011, known answers of Random123.
  CHECK (words[0] == 0x6627e8d5 && words[1] == 0xe169c58d);
  CHECK (words[2] == 0xbc57ac4c && words[3] == 0x9b00dbd8);
  double mean = 0, square = 0;
  for (int i = 0; i < COUNT; i++)
    {
      CHECK (reals[2 * i] > 0 && reals[2 * i] <= 1);
      mean += reals[2 * i] / COUNT;
      square += (double) reals[2 * i + 1] * reals[2 * i + 1] / COUNT;
    }
  CHECK (mean > 0.47 && mean < 0.53 && square > 0.87 && square < 1.13);
}

int
main ()
{
  cub_algorithms ();
  thrust_algorithms ();
  random_numbers ();
  std::printf ("fine\n");
}
