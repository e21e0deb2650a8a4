/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/device/nvml.h"

G_BEGIN_DECLS

/* A device a run can be asked for, whether it works or not. */
typedef struct
{
  char *id;     /* "virtual:sm_80", "cuda:0" */
  char *kind;   /* virtual | cuda */
  char *name;   /* "Virtual GPU", "NVIDIA H100 80GB HBM3" */
  char *target; /* "sm_80" */
  gboolean available;
  char *reason; /* why not; NULL when available */
  char *driver; /* "13.0"; NULL where there is none */
  char *uuid;   /* "GPU-8932f937-…"; NULL: virtual, or the driver does not tell */
  guint64 memory_bytes;
  AssayGpuState *gpu; /* at the moment of listing; NULL: virtual, or NVML does not tell */
} AssayDevice;

ASSAY_JSON_DECLARE (AssayDevice, assay_device, ASSAY_DEVICE_TABLE)

/* One virtual device for each architecture of engine/target; available where the virtual driver is
 * found. (transfer full): AssayDevice *. */
GPtrArray *assay_device_list_virtual (void);

G_END_DECLS
