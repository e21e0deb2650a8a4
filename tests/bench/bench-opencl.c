/* SPDX-License-Identifier: Apache-2.0 */
/* bench-opencl KERNEL N ROUNDS LABEL: best launch time on the first OpenCL device, as one JSON line. */
#include "config.h"

#include "tests/bench/cases.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char PRELUDE[] =
    "#define KERNEL(name) __kernel void name (__global const float *restrict a, "
    "__global const float *restrict b, __global float *y, int n)\n"
    "#define GLOBAL __global\n#define GLOBAL_CONST __global const\n#define SHARED __local\n"
    "#define SHARED_POINTER __local\n#define BARRIER barrier (CLK_LOCAL_MEM_FENCE)\n"
    "#define TX ((int) get_local_id (0))\n#define TY ((int) get_local_id (1))\n"
    "#define BX ((int) get_group_id (0))\n#define BY ((int) get_group_id (1))\n#define EXP exp\n"
    "#define ATOMIC_ADD_SHARED atomic_add\n#define ATOMIC_ADD_GLOBAL atomic_add\n";

static void
check (cl_int result, const char *what)
{
  if (result == CL_SUCCESS)
    return;
  fprintf (stderr, "bench-opencl: %s: error %d\n", what, result);
  exit (2);
}

static cl_mem
upload (cl_context context, const BenchCase *bench, int64_t count, uint32_t seed)
{
  cl_int result = 0;
  float *data = calloc ((size_t) count, 4);
  if (seed)
    bench_fill (bench, data, count, seed);
  cl_mem memory = clCreateBuffer (context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                  (size_t) count * 4, data, &result);
  check (result, "upload");
  free (data);
  return memory;
}

static cl_kernel
build (cl_context context, cl_device_id device, const BenchCase *bench)
{
  cl_int result = 0;
  int own = strcmp (bench->name, "hgemm") == 0;
  char path[4096];
  snprintf (path, sizeof path, "%s/tests/bench/%s", ASSAY_SOURCE_DIR,
            own ? "hgemm.cl" : "kernels.inc");
  const char *parts[] = {own ? "" : PRELUDE, bench_read (path)};
  cl_program program = clCreateProgramWithSource (context, 2, parts, NULL, &result);
  check (result, "program");
  if (clBuildProgram (program, 1, &device, "-cl-std=CL1.2", NULL, NULL) != CL_SUCCESS)
    {
      static char log[65536];
      clGetProgramBuildInfo (program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
      fprintf (stderr, "%s\n", log);
      exit (2);
    }
  cl_kernel kernel = clCreateKernel (program, bench->name, &result);
  check (result, "kernel");
  return kernel;
}

int
main (int argc, char **argv)
{
  if (argc < 5 || !bench_find (argv[1]))
    {
      fprintf (stderr, "usage: bench-opencl KERNEL N ROUNDS LABEL\n");
      return 2;
    }
  const BenchCase *bench = bench_find (argv[1]);
  cl_int n = atoi (argv[2]), result = 0;
  int rounds = atoi (argv[3]);
  BenchShape shape = bench_shape (bench, n);
  cl_platform_id platform;
  cl_device_id device;
  check (clGetPlatformIDs (1, &platform, NULL), "platform");
  check (clGetDeviceIDs (platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
  cl_context context = clCreateContext (NULL, 1, &device, NULL, NULL, &result);
  check (result, "context");
  cl_command_queue queue = clCreateCommandQueue (context, device, 0, &result);
  check (result, "queue");
  cl_kernel kernel = build (context, device, bench);
  cl_mem a = upload (context, bench, shape.a, 1), b = upload (context, bench, shape.b, 2);
  size_t local[2] = {(size_t) bench->block_x, (size_t) bench->block_y};
  size_t global[2] = {local[0] * (size_t) shape.grid_x, local[1] * (size_t) shape.grid_y};
  float *out = calloc ((size_t) shape.y, 4);
  double best = 1e30, best_cpu = 1e30;
  /* The first launch of a size compiles: it is the warm-up, unless only one is asked for. */
  for (int i = rounds > 1 ? 0 : 1; i <= rounds; i++)
    {
      cl_mem y = upload (context, bench, shape.y, 0);
      check (clSetKernelArg (kernel, 0, sizeof a, &a), "argument");
      check (clSetKernelArg (kernel, 1, sizeof b, &b), "argument");
      check (clSetKernelArg (kernel, 2, sizeof y, &y), "argument");
      check (clSetKernelArg (kernel, 3, sizeof n, &n), "argument");
      check (clFinish (queue), "finish");
      double began = bench_now (), began_cpu = bench_cpu_now ();
      check (clEnqueueNDRangeKernel (queue, kernel, 2, NULL, global, local, 0, NULL, NULL),
             "launch");
      check (clFinish (queue), "run");
      double took = bench_now () - began, cpu = bench_cpu_now () - began_cpu;
      if (i > 0 && took < best)
        best = took;
      if (i > 0 && cpu < best_cpu)
        best_cpu = cpu;
      check (clEnqueueReadBuffer (queue, y, CL_TRUE, 0, (size_t) shape.y * 4, out, 0, NULL, NULL),
             "download");
      clReleaseMemObject (y);
    }
  bench_report (argv[4], bench, n, best, best_cpu, bench_checksum (bench, out, shape.y));
  return 0;
}
