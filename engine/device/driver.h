/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/target/cuda-abi.h"
#include "engine/target/vgpu-extension.h"

#include <glib.h>

G_BEGIN_DECLS

/* A CUDA driver, opened at run time: the vendor's, or the virtual GPU, which is one too. Only workers
 * open one; the engine asks a worker. */

typedef enum
{
  ASSAY_DRIVER_READY,
  ASSAY_DRIVER_NO_LIBRARY,     /* not installed */
  ASSAY_DRIVER_SYMBOL_MISSING, /* too old, or something else of that name */
  ASSAY_DRIVER_STUB,           /* the toolkit's link-time stub, not a driver */
  ASSAY_DRIVER_NO_DEVICE,
  ASSAY_DRIVER_INIT_FAILED,
} AssayDriverStatus;

typedef struct
{
  void *library;
  AssayCudaDriver call;
  int version; /* 13000 for 13.0 */
  /* The virtual GPU's own functions; NULL with a real driver. */
#define ASSAY_DRIVER_EXTENSION(symbol, result, parameters) symbol##_fn symbol;
  ASSAY_VGPU_EXTENSION (ASSAY_DRIVER_EXTENSION)
#undef ASSAY_DRIVER_EXTENSION
} AssayDriver;

/* Opens `path` and resolves its symbols. `reason` (transfer full) says why not. */
AssayDriverStatus assay_driver_open (AssayDriver *driver, const char *path, char **reason);
/* cuInit, with a count of at least one device. Settings of the virtual GPU come before. */
AssayDriverStatus assay_driver_initialise (AssayDriver *driver, char **reason);

/* "CUDA_ERROR_ILLEGAL_ADDRESS", and what it means; both static, "CUDA_ERROR_…" for unknown codes. */
const char *assay_driver_error_name (int code);
const char *assay_driver_error_text (int code);

G_END_DECLS
