/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/device/toolkit.h"
#include "engine/target/vgpu-extension.h"

#include <glib.h>
#include <json-glib/json-glib.h>
#include <stdbool.h>

/* A virtual GPU of the test's own, driven through the driver's interface alone, and NVRTC to make
 * PTX of the sources under tests/vgpu/kernels. */
typedef struct
{
  AssayCudaDriver driver;
#define MEMBER(symbol, result, parameters) symbol##_fn symbol;
  ASSAY_VGPU_EXTENSION (MEMBER)
#undef MEMBER
  CUcontext context;
  int report_fd;
} Gpu;

/* The one driver of this process with a fresh context, and settings "key=value;…" on top of the
 * defaults of tests (sm_80, all of fixed order, checks none). Never NULL. */
Gpu *gpu_open (const char *settings);
void gpu_close (Gpu *gpu);
/* Another function of the driver. */
void *gpu_symbol (const char *name);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Gpu, gpu_close)

/* The CUDA compiler of this machine, NULL where there is none. */
const AssayToolkit *test_toolkit (void);

/* PTX of a kernel source; NULL after g_test_skip when NVRTC is not there. */
char *compile_kernels (const char *file, const char *extra_option);
char *compile_text (const char *text, const char *name, const char *extra_option);

/* Function of a module made from PTX; fails the test when it cannot be had. */
CUfunction gpu_load (Gpu *gpu, const char *ptx, const char *kernel);

/* Device memory with the bytes copied in. */
CUdeviceptr gpu_put (Gpu *gpu, const void *data, size_t bytes, const char *name);
void gpu_get (Gpu *gpu, void *data, CUdeviceptr from, size_t bytes);

/* Launches with parameters given as pointers, NULL at the end; returns what the launch returned, or
 * else what the synchronisation after it did. */
CUresult gpu_run (Gpu *gpu, CUfunction function, unsigned grid_x, unsigned grid_y, unsigned block_x,
                  unsigned block_y, unsigned shared, ...) G_GNUC_NULL_TERMINATED;

/* Everything reported so far, as JSON objects. */
GPtrArray *gpu_reports (Gpu *gpu);
/* The first report of a rule; NULL if there is none. */
JsonObject *find_report (GPtrArray *reports, const char *rule);
JsonObject *find_type (GPtrArray *reports, const char *type);
/* Number of the source line of kernels/file that contains the marker. */
int marked_line (const char *file, const char *marker);
