/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const BenchCase BENCH_CASES[] = {
    {"saxpy", 1 << 22, 1 << 16, 1, 256, 1},
    {"sgemm_naive", 256, 64, 3, 16, 16},
    {"sgemm_tiled", 256, 64, 3, 16, 16},
    {"sgemm_double_buffered", 256, 128, 3, 16, 16},
    {"reduction", 1 << 22, 1 << 17, 1, 256, 1},
    {"softmax", 1024, 16, 1, 256, 1},
    {"layernorm", 1024, 16, 1, 256, 1},
    {"transpose", 1024, 128, 2, 32, 8},
    {"histogram", 1 << 22, 1 << 17, 1, 256, 1},
    {"stencil", 1024, 128, 2, 16, 16},
    {"attention", 512, 128, 2, 64, 1},
    {"hgemm", 256, 64, 3, 128, 1},
    {NULL, 0, 0, 0, 0, 0},
};

static int
is (const BenchCase *bench, const char *name)
{
  return strcmp (bench->name, name) == 0;
}

BenchShape
bench_shape (const BenchCase *bench, int n)
{
  int64_t square = (int64_t) n * n;
  if (is (bench, "saxpy"))
    return (BenchShape) {n, n, n, n / 256, 1};
  if (is (bench, "reduction"))
    return (BenchShape) {n, 1, 64, 64, 1};
  if (is (bench, "histogram"))
    return (BenchShape) {n, 1, 256, 64, 1};
  if (is (bench, "softmax") || is (bench, "layernorm"))
    return (BenchShape) {n * 1024, 1024, n * 1024, n, 1};
  if (is (bench, "transpose"))
    return (BenchShape) {square, 1, square, n / 32, n / 32};
  if (is (bench, "attention"))
    return (BenchShape) {n * 32, n * 32, n * 32, n / 64, 1};
  if (is (bench, "sgemm_double_buffered"))
    return (BenchShape) {square, square, square, n / 64, n / 64};
  if (is (bench, "hgemm"))
    return (BenchShape) {square / 2, square / 2, square, n / 32, n / 32};
  return (BenchShape) {square, square, square, n / 16, n / 16};
}

const BenchCase *
bench_find (const char *name)
{
  for (const BenchCase *bench = BENCH_CASES; bench->name; bench++)
    if (is (bench, name))
      return bench;
  return NULL;
}

void
bench_fill (const BenchCase *bench, float *data, int64_t count, uint32_t seed)
{
  uint32_t state = seed * 2654435761u + 1;
  for (int64_t i = 0; i < count; i++)
    {
      state = state * 1664525u + 1013904223u;
      data[i] = (float) (state >> 8) / 16777216.0f;
      if (is (bench, "hgemm"))
        {
          /* Two halves in [0.5, 1): exponent 14, ten random bits. */
          uint32_t pair = 0x38003800u | (state >> 6 & 0x03ff0000u) | (state >> 16 & 0x03ffu);
          memcpy (&data[i], &pair, sizeof pair);
        }
    }
}

double
bench_checksum (const BenchCase *bench, const float *y, int64_t count)
{
  double sum = 0;
  for (int64_t i = 0; i < count; i++)
    {
      uint32_t bits = 0;
      memcpy (&bits, &y[i], sizeof bits);
      sum += is (bench, "histogram") ? (double) bits * (double) (i + 1) : (double) y[i];
    }
  return sum;
}

static double
read_clock (clockid_t clock)
{
  struct timespec now;
  clock_gettime (clock, &now);
  return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

double
bench_now (void)
{
  return read_clock (CLOCK_MONOTONIC);
}

double
bench_cpu_now (void)
{
  return read_clock (CLOCK_PROCESS_CPUTIME_ID);
}

char *
bench_read (const char *path)
{
  FILE *file = fopen (path, "rb");
  if (!file)
    {
      perror (path);
      exit (2);
    }
  fseek (file, 0, SEEK_END);
  long size = ftell (file);
  rewind (file);
  char *text = calloc (1, (size_t) size + 1);
  if (fread (text, 1, (size_t) size, file) != (size_t) size)
    exit (2);
  fclose (file);
  return text;
}

void
bench_report (const char *device, const BenchCase *bench, int n, double best, double best_cpu,
              double checksum)
{
  printf ("{\"device\":\"%s\",\"kernel\":\"%s\",\"n\":%d,\"seconds\":%.9f,\"cpu\":%.9f,"
          "\"checksum\":%.17g}\n",
          device, bench->name, n, best, best_cpu, checksum);
}
