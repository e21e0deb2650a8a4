/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/device/driver.h"

#include <dlfcn.h>

#define QUOTE(text) #text

/* Entry points that later drivers renamed, or that we can do without. */
static const char *const OPTIONAL[] = {
    "cuGetProcAddress_v2",
    "cuDeviceGetUuid_v2",
    "cuMemAllocManaged",
    "cuLaunchHostFunc",
    "cuMemsetD8Async",
    "cuMemsetD32Async",
    "cuMemHostGetDevicePointer_v2",
};

static gboolean
is_optional (const char *symbol)
{
  for (gsize i = 0; i < G_N_ELEMENTS (OPTIONAL); i++)
    if (g_str_equal (symbol, OPTIONAL[i]))
      return TRUE;
  return FALSE;
}

AssayDriverStatus
assay_driver_open (AssayDriver *driver, const char *path, char **reason)
{
  const char *missing = NULL;
  *driver = (AssayDriver) {.library = dlopen (path, RTLD_NOW | RTLD_LOCAL)};
  if (!driver->library)
    {
      *reason = g_strdup_printf ("no CUDA driver: %s", dlerror ());
      return ASSAY_DRIVER_NO_LIBRARY;
    }
#define RESOLVE(symbol, member, parameters)                                                        \
  *(void **) &driver->call.member = dlsym (driver->library, QUOTE (symbol));                       \
  if (!driver->call.member && !missing && !is_optional (QUOTE (symbol)))                           \
    missing = QUOTE (symbol);
  ASSAY_CUDA_DRIVER (RESOLVE)
#undef RESOLVE
#define RESOLVE(symbol, result, parameters)                                                        \
  *(void **) &driver->symbol = dlsym (driver->library, QUOTE (symbol));
  ASSAY_VGPU_EXTENSION (RESOLVE)
#undef RESOLVE
  if (!missing)
    return ASSAY_DRIVER_READY;
  *reason =
      g_strdup_printf ("%s has no %s: a driver of CUDA 12.0 or newer is needed", path, missing);
  return ASSAY_DRIVER_SYMBOL_MISSING;
}

AssayDriverStatus
assay_driver_initialise (AssayDriver *driver, char **reason)
{
  int count = 0;
  int code = driver->call.init (0);
  if (code == CUDA_ERROR_STUB_LIBRARY)
    {
      *reason = g_strdup ("libcuda.so.1 is the toolkit's stub for linking, not a driver: take its "
                          "folder out of LD_LIBRARY_PATH, or install the driver");
      return ASSAY_DRIVER_STUB;
    }
  if (code == CUDA_ERROR_OPERATING_SYSTEM)
    {
      *reason = g_strdup ("the driver cannot reach the device (CUDA_ERROR_OPERATING_SYSTEM): the "
                          "sandbox lacks a /dev/nvidia* node or /sys, or nvidia-uvm is not loaded");
      return ASSAY_DRIVER_INIT_FAILED;
    }
  if (code != CUDA_SUCCESS && code != CUDA_ERROR_NO_DEVICE)
    {
      *reason = g_strdup_printf ("the driver does not start: %s, %s",
                                 assay_driver_error_name (code), assay_driver_error_text (code));
      return ASSAY_DRIVER_INIT_FAILED;
    }
  driver->call.driver_get_version (&driver->version);
  if (code == CUDA_SUCCESS && driver->call.device_get_count (&count) == CUDA_SUCCESS && count > 0)
    return ASSAY_DRIVER_READY;
  *reason = g_strdup ("a CUDA driver is installed but it finds no device");
  return ASSAY_DRIVER_NO_DEVICE;
}

const char *
assay_driver_error_name (int code)
{
  switch (code)
    {
#define CASE(name, value, text)                                                                    \
  case value:                                                                                      \
    return #name;
      ASSAY_CUDA_RESULTS (CASE)
#undef CASE
    default:
      return "CUDA_ERROR_UNKNOWN_TO_ASSAY";
    }
}

const char *
assay_driver_error_text (int code)
{
  switch (code)
    {
#define CASE(name, value, text)                                                                    \
  case value:                                                                                      \
    return text;
      ASSAY_CUDA_RESULTS (CASE)
#undef CASE
    default:
      return "an error code that this version does not know";
    }
}
