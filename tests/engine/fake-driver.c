/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA driver without a GPU, for the paths that the virtual one does not go: no bounds checks, no
 * reports, errors on demand. It runs no PTX; a kernel is known by its name and takes
 * (const float *x, float *y, int n). ASSAY_FAKE_CUDA names a fault of the device itself.
 *
 * It has a clock of its own, which only launches move: 50 us each, with noise of 0.3 %; half of that where
 * the cache still holds the arrays, since nothing was written over it or they are the ones of the last launch.
 * Words in a kernel's name change it: see DURATIONS. */
#include "engine/target/cuda-abi.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int sticky; /* after an asynchronous error everything fails */

static int
fault (const char *name)
{
  const char *wanted = getenv ("ASSAY_FAKE_CUDA");
  return wanted && strcmp (wanted, name) == 0;
}

CUresult
cuInit (unsigned int flags)
{
  return fault ("stub")   ? CUDA_ERROR_STUB_LIBRARY
         : fault ("init") ? CUDA_ERROR_OPERATING_SYSTEM
                          : CUDA_SUCCESS;
}

CUresult
cuDriverGetVersion (int *version)
{
  *version = 13000;
  return CUDA_SUCCESS;
}

CUresult
cuDeviceGetCount (int *count)
{
  *count = fault ("no-device") ? 0 : 1;
  return CUDA_SUCCESS;
}

CUresult
cuDeviceGet (CUdevice *device, int ordinal)
{
  *device = ordinal;
  return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult
cuDeviceGetName (char *name, int length, CUdevice device)
{
  snprintf (name, (size_t) length, "Fake GPU");
  return CUDA_SUCCESS;
}

CUresult
cuDeviceTotalMem_v2 (size_t *bytes, CUdevice device)
{
  *bytes = 1 << 30;
  return CUDA_SUCCESS;
}

#define CACHE_BYTES (4 << 20)

CUresult
cuDeviceGetAttribute (int *value, CUdevice_attribute attribute, CUdevice device)
{
  *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 8
           : attribute == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE          ? CACHE_BYTES
                                                                     : 0;
  return CUDA_SUCCESS;
}

CUresult
cuDeviceGetUuid_v2 (CUuuid *uuid, CUdevice device)
{
  for (int i = 0; i < 16; i++)
    uuid->bytes[i] = (char) i;
  return CUDA_SUCCESS;
}

CUresult
cuDevicePrimaryCtxRetain (CUcontext *context, CUdevice device)
{
  *context = (CUcontext) &sticky;
  return CUDA_SUCCESS;
}

CUresult
cuDevicePrimaryCtxRelease_v2 (CUdevice device)
{
  return CUDA_SUCCESS;
}

CUresult
cuCtxSetCurrent (CUcontext context)
{
  return CUDA_SUCCESS;
}

static size_t held; /* of the gibibyte that the device has */

CUresult
cuModuleLoadDataEx (CUmodule *module, const void *image, unsigned int count, CUjit_option *options,
                    void **values)
{
  *module = (CUmodule) image;
  if (strstr (image, "newer"))
    return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  if (strstr (image, "nobinary"))
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  return strstr (image, ".version") ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX;
}

CUresult
cuModuleUnload (CUmodule module)
{
  return CUDA_SUCCESS;
}

CUresult
cuModuleGetFunction (CUfunction *function, CUmodule module, const char *name)
{
  *function = (CUfunction) strdup (name);
  return CUDA_SUCCESS;
}

CUresult
cuFuncGetAttribute (int *value, CUfunction_attribute attribute, CUfunction function)
{
  *value = attribute == CU_FUNC_ATTRIBUTE_NUM_REGS ? 40 : 0;
  return CUDA_SUCCESS;
}

CUresult
cuMemAlloc_v2 (CUdeviceptr *pointer, size_t bytes)
{
  if (bytes > ((size_t) 1 << 30) - held)
    return CUDA_ERROR_OUT_OF_MEMORY;
  held += bytes;
  *pointer = (CUdeviceptr) (uintptr_t) malloc (bytes);
  return CUDA_SUCCESS;
}

CUresult
cuMemFree_v2 (CUdeviceptr pointer)
{
  free ((void *) (uintptr_t) pointer);
  return CUDA_SUCCESS;
}

CUresult
cuMemcpyHtoD_v2 (CUdeviceptr to, const void *from, size_t bytes)
{
  memcpy ((void *) (uintptr_t) to, from, bytes);
  return (CUresult) sticky;
}

CUresult
cuMemcpyDtoH_v2 (void *to, CUdeviceptr from, size_t bytes)
{
  if (sticky)
    return (CUresult) sticky;
  memcpy (to, (const void *) (uintptr_t) from, bytes);
  return CUDA_SUCCESS;
}

static int
is (const char *name, const char *kernel)
{
  return strstr (name, kernel) != NULL;
}

/* A kernel whose name holds the word fails so: at once, or when the host next waits for it. */
static const struct
{
  const char *word;
  CUresult at_launch, later;
} FAULTS[] = {
    {"illegal", CUDA_SUCCESS, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"misaligned", CUDA_SUCCESS, CUDA_ERROR_MISALIGNED_ADDRESS},
    {"asserting", CUDA_SUCCESS, CUDA_ERROR_ASSERT},
    {"watchdog", CUDA_SUCCESS, CUDA_ERROR_LAUNCH_TIMEOUT},
    {"ecc", CUDA_SUCCESS, CUDA_ERROR_ECC_UNCORRECTABLE},
    {"unspecified", CUDA_SUCCESS, CUDA_ERROR_LAUNCH_FAILED},
    {"resources", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, CUDA_SUCCESS},
};

CUresult
cuMemGetInfo_v2 (size_t *free_bytes, size_t *total)
{
  *total = 1 << 30;
  *free_bytes = *total - held;
  return CUDA_SUCCESS;
}

CUresult
cuMemcpyDtoD_v2 (CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
  memcpy ((void *) (uintptr_t) to, (const void *) (uintptr_t) from, bytes);
  return (CUresult) sticky;
}

/* ---- time ---- */

static double device_time; /* seconds */
static int launches, cold;
static const float *last_x;

static const struct
{
  const char *word;
  double factor, growth; /* a launch: of the one before */
} DURATIONS[] = {
    {"slower", 1.02, 0},
    {"faster", 0.98, 0},
    {"drifting", 1, 0.0006},
};

CUresult
cuMemsetD32_v2 (CUdeviceptr to, unsigned int value, size_t count)
{
  cold = count * 4 >= 2 * CACHE_BYTES;
  return (CUresult) sticky;
}

CUresult
cuEventCreate (CUevent *event, unsigned int flags)
{
  *event = calloc (1, sizeof (double));
  return CUDA_SUCCESS;
}

CUresult
cuEventDestroy_v2 (CUevent event)
{
  free (event);
  return CUDA_SUCCESS;
}

CUresult
cuEventRecord (CUevent event, CUstream stream)
{
  *(double *) event = device_time;
  return (CUresult) sticky;
}

CUresult
cuEventSynchronize (CUevent event)
{
  return (CUresult) sticky;
}

CUresult
cuEventElapsedTime (float *milliseconds, CUevent from, CUevent to)
{
  *milliseconds = (float) (1e3 * (*(double *) to - *(double *) from));
  return (CUresult) sticky;
}

/* Normal enough: the sum of twelve uniform numbers, from the kernel's name on, the same in every run. */
static double
noise (const char *name)
{
  static uint64_t state;
  double sum = -6;
  if (state == 0)
    for (const char *c = name; *c; c++)
      state = (state + (uint64_t) *c) * 0x9e3779b97f4a7c15ull;
  for (int i = 0; i < 12; i++)
    {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      sum += (double) (state >> 11) * 0x1p-53;
    }
  return 0.003 * sum;
}

/* Heads or tails, the same in every run. */
static int
flip (void)
{
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return state >> 31;
}

static void
pass_time (const char *name, const float *x)
{
  double seconds = 50e-6 * (1 + noise (name)) * (cold && x != last_x ? 1 : 0.5);
  struct timespec begin, now;
  for (size_t i = 0; i < sizeof DURATIONS / sizeof *DURATIONS; i++)
    if (is (name, DURATIONS[i].word))
      seconds *= DURATIONS[i].factor * (1 + DURATIONS[i].growth * launches);
  if (is (name, "bimodal") && flip ())
    seconds *= 1.03;
  launches++;
  cold = 0;
  last_x = x;
  /* A boaster's device tells of more time than there was. */
  device_time += is (name, "boaster") ? 1000 * seconds : seconds;
  clock_gettime (CLOCK_MONOTONIC, &begin);
  do
    clock_gettime (CLOCK_MONOTONIC, &now);
  while ((double) (now.tv_sec - begin.tv_sec) + 1e-9 * (double) (now.tv_nsec - begin.tv_nsec)
         < seconds);
}

/* ---- launches ---- */

CUresult
cuLaunchKernel (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                unsigned int block_x, unsigned int block_y, unsigned int block_z,
                unsigned int shared_bytes, CUstream stream, void **parameters, void **extra)
{
  struct timespec now;
  clock_gettime (CLOCK_REALTIME, &now);
  const char *name = (const char *) function;
  float *x = *(float **) parameters[0], *y = *(float **) parameters[1];
  int n = *(int *) parameters[2];
  if (block_x * block_y * block_z > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  while (is (name, "hang") || is (name, "wedge") || (is (name, "sleepy") && launches > 20))
    sleep (1);
  if (is (name, "tiring") && launches > 20)
    sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
  pass_time (name, x);
  for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++)
    if (is (name, FAULTS[i].word))
      {
        sticky = FAULTS[i].later;
        if (FAULTS[i].at_launch)
          return FAULTS[i].at_launch;
      }
  if (is (name, "crash"))
    abort ();
  for (int i = 0; i < n && !is (name, "silent"); i++)
    y[i] = 2 * x[i];
  if (is (name, "overrun"))
    y[n] = 1;
  if (is (name, "clobber"))
    x[1] = 7;
  /* One unit in the last place, or not, by the bits of the clock. */
  unsigned long long bits = (unsigned long long) now.tv_nsec * 0x9e3779b97f4a7c15ull;
  for (int i = 0; i < n && i < 64 && is (name, "unsteady"); i++)
    if (bits >> i & 1)
      y[i] = nextafterf (y[i], 1e30f);
  return CUDA_SUCCESS;
}

CUresult
cuCtxSynchronize (void)
{
  return (CUresult) sticky;
}
