/* SPDX-License-Identifier: Apache-2.0 */
/* bench-vgpu DRIVER KERNEL N ROUNDS CHECKS THREADS: best launch time on a driver, as one JSON line.
 * bench-vgpu spin ROUNDS THREADS: the same work without memory, shared by threads: what several processors
 * are worth at the moment. */
#include "config.h"

#include "engine/device/driver.h"
#include "engine/device/nvrtc.h"
#include "engine/device/toolkit.h"
#include "tests/bench/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char PRELUDE[] =
    "#define KERNEL(name) extern \"C\" __global__ void name (const float *__restrict__ a, "
    "const float *__restrict__ b, float *y, int n)\n"
    "#define GLOBAL\n#define GLOBAL_CONST const\n#define SHARED __shared__\n"
    "#define SHARED_POINTER\n#define BARRIER __syncthreads ()\n"
    "#define TX ((int) threadIdx.x)\n#define TY ((int) threadIdx.y)\n"
    "#define BX ((int) blockIdx.x)\n#define BY ((int) blockIdx.y)\n#define EXP expf\n"
    "#define ATOMIC_ADD_SHARED atomicAdd\n#define ATOMIC_ADD_GLOBAL atomicAdd\n"
    "#line 1 \"kernels.inc\"\n";

static void
check (int result, const char *what)
{
  if (result == 0)
    return;
  fprintf (stderr, "bench-vgpu: %s: error %d %s\n", what, result, assay_driver_error_name (result));
  exit (2);
}

static char *
compile (const BenchCase *bench)
{
  g_autoptr (GError) error = NULL;
  AssayToolkit *toolkit = assay_toolkit_find (&error);
  AssayNvrtc nvrtc;
  AssayNvrtcProgram *program = NULL;
  gsize size = 0;
  if (!toolkit || !assay_nvrtc_open (&nvrtc, toolkit->nvrtc, &error))
    g_error ("%s", error->message);
  gboolean own = strcmp (bench->name, "hgemm") == 0;
  g_autofree char *path =
      g_build_filename (ASSAY_SOURCE_DIR, "tests", "bench", own ? "hgemm.cu" : "kernels.inc", NULL);
  g_autofree char *text = bench_read (path);
  g_autofree char *source = g_strconcat (own ? "" : PRELUDE, text, NULL);
  g_autoptr (GPtrArray) options = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (options, g_strdup ("--gpu-architecture=compute_80"));
  g_ptr_array_add (options, g_strdup ("-lineinfo"));
  for (char **folder = toolkit->includes; folder && *folder; folder++)
    g_ptr_array_add (options, g_strconcat ("-I", *folder, NULL));
  check (nvrtc.nvrtcCreateProgram (&program, source, "kernels.cu", 0, NULL, NULL), "create");
  if (nvrtc.nvrtcCompileProgram (program, (int) options->len, (const char *const *) options->pdata)
      != 0)
    {
      nvrtc.nvrtcGetProgramLogSize (program, &size);
      g_autofree char *log = g_malloc0 (size + 1);
      nvrtc.nvrtcGetProgramLog (program, log);
      g_error ("%s", log);
    }
  nvrtc.nvrtcGetPTXSize (program, &size);
  char *ptx = g_malloc0 (size + 1);
  nvrtc.nvrtcGetPTX (program, ptx);
  return ptx;
}

static CUdeviceptr
upload (AssayDriver *driver, const BenchCase *bench, int64_t count, uint32_t seed)
{
  CUdeviceptr pointer = 0;
  g_autofree float *data = g_new0 (float, (gsize) count);
  if (seed)
    bench_fill (bench, data, count, seed);
  check (driver->call.mem_alloc (&pointer, (size_t) count * 4), "allocate");
  check (driver->call.memcpy_htod (pointer, data, (size_t) count * 4), "upload");
  return pointer;
}

#define SPIN_STEPS 40000000

static gpointer
spin (gpointer data)
{
  volatile guint32 end = 1;
  guint32 x = 1;
  for (int i = 0; i < GPOINTER_TO_INT (data); i++)
    x = x * 1664525u + 1013904223u;
  end = x;
  return GUINT_TO_POINTER (end);
}

static int
spin_together (int rounds, int threads)
{
  double best = 1e30, best_cpu = 1e30;
  for (int round = 0; round < rounds; round++)
    {
      double began = bench_now (), began_cpu = bench_cpu_now ();
      GThread *others[64];
      for (int i = 1; i < threads; i++)
        others[i] = g_thread_new (NULL, spin, GINT_TO_POINTER (SPIN_STEPS / threads));
      spin (GINT_TO_POINTER (SPIN_STEPS / threads));
      for (int i = 1; i < threads; i++)
        g_thread_join (others[i]);
      best = MIN (best, bench_now () - began);
      best_cpu = MIN (best_cpu, bench_cpu_now () - began_cpu);
    }
  static const BenchCase nothing = {.name = "spin"};
  bench_report ("spin", &nothing, threads, best, best_cpu, 0);
  return 0;
}

int
main (int argc, char **argv)
{
  AssayDriver driver = {0};
  g_autofree char *reason = NULL;
  if (argc == 4 && strcmp (argv[1], "spin") == 0)
    return spin_together (atoi (argv[2]), CLAMP (atoi (argv[3]), 1, 64));
  if (argc < 7 || !bench_find (argv[2]))
    {
      fprintf (stderr, "usage: bench-vgpu DRIVER KERNEL N ROUNDS CHECKS THREADS\n");
      return 2;
    }
  const BenchCase *bench = bench_find (argv[2]);
  int n = atoi (argv[3]), rounds = atoi (argv[4]);
  BenchShape shape = bench_shape (bench, n);
  g_autofree char *ptx = compile (bench); /* before a driver is there for NVRTC to find */
  if (assay_driver_open (&driver, argv[1], &reason) != ASSAY_DRIVER_READY)
    g_error ("%s", reason);
  if (driver.assayVgpuSet)
    {
      driver.assayVgpuSet ("checks", argv[5]);
      driver.assayVgpuSet ("threads", argv[6]);
    }
  if (assay_driver_initialise (&driver, &reason) != ASSAY_DRIVER_READY)
    g_error ("%s", reason);
  CUdevice device = 0;
  CUcontext context = NULL;
  CUmodule module = NULL;
  CUfunction function = NULL;
  check (driver.call.device_get (&device, 0), "device");
  check (driver.call.ctx_create (&context, 0, device), "context");
  check (driver.call.module_load_data (&module, ptx), "module");
  check (driver.call.module_get_function (&function, module, bench->name), "function");
  CUdeviceptr a = upload (&driver, bench, shape.a, 1), b = upload (&driver, bench, shape.b, 2);
  double best = 1e30, best_cpu = 1e30;
  g_autofree float *out = g_new0 (float, (gsize) shape.y);
  for (int i = 0; i <= rounds; i++)
    {
      CUdeviceptr y = upload (&driver, bench, shape.y, 0);
      void *arguments[] = {&a, &b, &y, &n};
      double began = bench_now (), began_cpu = bench_cpu_now ();
      check (driver.call.launch_kernel (function, (unsigned) shape.grid_x, (unsigned) shape.grid_y,
                                        1, (unsigned) bench->block_x, (unsigned) bench->block_y, 1,
                                        0, NULL, arguments, NULL),
             "launch");
      check (driver.call.ctx_synchronize (), "run");
      double took = bench_now () - began, cpu = bench_cpu_now () - began_cpu;
      if (i > 0 && took < best)
        best = took;
      if (i > 0 && cpu < best_cpu)
        best_cpu = cpu;
      check (driver.call.memcpy_dtoh (out, y, (size_t) shape.y * 4), "download");
      check (driver.call.mem_free (y), "free");
    }
  bench_report (argv[5], bench, n, best, best_cpu, bench_checksum (bench, out, shape.y));
  return 0;
}
