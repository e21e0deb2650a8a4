/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* What is launched, and how large: one table for both programs. `work` grows as n to this power;
 * the peers that are too slow run a smaller n and are scaled by it. */
typedef struct
{
  const char *name;
  int n, small; /* full size; size for simulators */
  double power;
  int block_x, block_y;
} BenchCase;

extern const BenchCase BENCH_CASES[];

/* Floats in each buffer and blocks in the grid, for size n. */
typedef struct
{
  int64_t a, b, y;
  int grid_x, grid_y;
} BenchShape;

BenchShape bench_shape (const BenchCase *bench, int n);
const BenchCase *bench_find (const char *name);
/* Uniform values in [0, 1), the same for both programs; half-precision pairs for hgemm. */
void bench_fill (const BenchCase *bench, float *data, int64_t count, uint32_t seed);
/* Sum of the outputs, to see that both sides computed the same. */
double bench_checksum (const BenchCase *bench, const float *y, int64_t count);
double bench_now (void);
/* Processor time of all threads of this process. */
double bench_cpu_now (void);
char *bench_read (const char *path);
/* Prints the one JSON line of a run. */
void bench_report (const char *device, const BenchCase *bench, int n, double best, double best_cpu,
                   double checksum);
