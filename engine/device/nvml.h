/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/json-table.h"

G_BEGIN_DECLS

/* What the management library (NVML) says of real devices: a reading of one moment. The library is
 * opened at run time, in a thread of its own with a deadline, since its calls hang where a GPU is
 * wedged. Source of names, units and bits: NVIDIA's NVML API reference. */

typedef struct
{
  gint64 pid;
  guint64 memory_bytes; /* of the device; 0 where the driver does not tell */
} AssayGpuProcess;

/* -1: the device does not tell. */
typedef struct
{
  char *uuid; /* "GPU-8932f937-…" */
  char *name;
  char *target; /* "sm_90" */
  guint64 memory_total_bytes, memory_used_bytes, memory_free_bytes;
  gint64 sm_clock_mhz, sm_clock_max_mhz, memory_clock_mhz, memory_clock_max_mhz;
  double power_watts, power_limit_watts, temperature_celsius;
  gint64 utilization_percent;
  gint64 performance_state; /* 0 the fastest … 15 */
  gint64 persistence;       /* 0 or 1 */
  gint64 mig;               /* 0 or 1: divided into instances */
  gint64 ecc;               /* 0 or 1 */
  char **throttle;          /* "software power cap", "thermal, hardware", …; empty: none */
  GPtrArray *processes;     /* AssayGpuProcess *: that compute on it */
} AssayGpuState;

typedef struct
{
  char *driver;       /* "580.65.06" */
  char *cuda_version; /* "13.0": the newest that the driver runs */
  GPtrArray
      *devices; /* AssayGpuState *, in NVML's order, which need not be CUDA's: match by uuid */
} AssayNvmlReading;

ASSAY_JSON_DECLARE (AssayGpuProcess, assay_gpu_process, ASSAY_GPU_PROCESS_TABLE)
ASSAY_JSON_DECLARE (AssayGpuState, assay_gpu_state, ASSAY_GPU_STATE_TABLE)
ASSAY_JSON_DECLARE (AssayNvmlReading, assay_nvml_reading, ASSAY_NVML_READING_TABLE)

/* `library` NULL: libnvidia-ml.so.1. Errors: ASSAY_ERROR_NOT_FOUND without the library,
 * ASSAY_ERROR_UNSUPPORTED when it does not start (its words), ASSAY_ERROR_LOST when it did not answer in
 * time: its thread is then left behind. */
AssayNvmlReading *assay_nvml_read (const char *library, double seconds, GError **error);

/* (transfer full): the names of the reasons whose bits are set, most important first. */
char **assay_nvml_throttle_names (guint64 bits);

G_END_DECLS
