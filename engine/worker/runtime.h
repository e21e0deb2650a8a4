/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/device/driver.h"

G_BEGIN_DECLS

/* The CUDA runtime for a candidate's host code, on top of whatever driver the worker opened. Its entry
 * points (runtime-abi.h) are exported by this program; a library that nvcc built without a runtime
 * finds them here. The kernels themselves come from a module that was loaded from the candidate's
 * PTX, by name: the device code inside the library is not used. One thread. */

/* `launched` hears of every launch that the driver took. */
typedef void (*AssayRuntimeLaunched) (const char *kernel, CUfunction function,
                                      const unsigned int *shape, size_t shared, gpointer data);

void assay_runtime_begin (const AssayDriver *driver, CUmodule module, AssayRuntimeLaunched launched,
                          gpointer data);

/* An error of a launch that the host code never asked about; 0 where there is none. `kernel` is
 * static. */
int assay_runtime_unread_error (const char **kernel);

/* What the host code allocated on the device and did not free. */
typedef struct
{
  guint count;
  guint64 bytes;
} AssayRuntimeLeak;
AssayRuntimeLeak assay_runtime_leak (void);

/* For the files of the runtime. */
typedef struct
{
  const AssayDriver *driver;
  CUmodule module;
  AssayRuntimeLaunched launched;
  gpointer data;
  int last_error;
  const char *failed_kernel; /* whose launch set last_error, or NULL */
} AssayRuntimeState;
extern AssayRuntimeState assay_runtime;

/* Remembers an error for cudaGetLastError and returns it. */
int assay_runtime_result (int code);
/* The driver's stream for one of the runtime's, whose default ones are small numbers. */
CUstream assay_runtime_stream (void *stream);

G_END_DECLS
