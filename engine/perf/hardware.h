/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/json-table.h"

G_BEGIN_DECLS

/* Peaks and memories of devices (data/hardware.json, and a file of the reader's own): what a roofline
 * is drawn from. Operations are counted as the vendors do, a fused multiply and add as two; tensor
 * peaks are dense. Every figure has its source, and a mark where sources differ or none was found. */

typedef struct
{
  char *name;                   /* a pipe: "float32", "bfloat16_tensor", "float8_tensor", … */
  double operations_per_second; /* at the boost clock */
  double clock_hertz;           /* the clock this holds at; NaN: not known */
  char *source;                 /* key of AssayHardware.sources */
  gboolean uncertain;
} AssayHardwarePeak;

typedef struct
{
  char *name;              /* "memory", "l2", "infinity_cache", "sbuf", "psum", "vmem", "cmem" */
  guint64 bytes;           /* of the whole device; 0: not known */
  double bytes_per_second; /* NaN: not known */
  char *source;
  gboolean uncertain;
} AssayHardwareLevel;

typedef struct
{
  char *name;        /* "H100 SXM" */
  char *vendor;      /* "NVIDIA" */
  char *kind;        /* "gpu" or "accelerator" */
  char *target;      /* as tasks write it: "cuda:sm_90", "hip:gfx942", "tpu:v6e", "neuron:trn2" */
  char **aliases;    /* what drivers call it: "NVIDIA H100 80GB HBM3" */
  gint64 units;      /* multiprocessors, compute units or cores */
  GPtrArray *peaks;  /* AssayHardwarePeak * */
  GPtrArray *levels; /* AssayHardwareLevel * */
} AssayHardwareDevice;

typedef struct
{
  char *name, *title;
} AssayHardwareSource;

typedef struct
{
  char *format; /* "assay-hardware" */
  gint64 version;
  GPtrArray *sources; /* AssayHardwareSource * */
  GPtrArray *devices; /* AssayHardwareDevice * */
} AssayHardware;

ASSAY_JSON_DECLARE (AssayHardware, assay_hardware, ASSAY_HARDWARE_TABLE)

/* (transfer full): where readers keep devices of their own, hardware.json in Assay's folder of user
 * data. The file need not be there. */
char *assay_hardware_own_path (void);

/* (transfer full): the shipped table, and over it that at `own` (NULL, or no such file: none), whose
 * devices replace those of the same name. Fails for text that is no such table, a newer version, a
 * figure that is not positive, and a source that is not listed, each named with its file. */
AssayHardware *assay_hardware_load (const char *shipped, const char *own, GError **error);

/* (transfer none): by name or alias, whatever the case; NULL if unknown. */
const AssayHardwareDevice *assay_hardware_find (const AssayHardware *self, const char *name);
const AssayHardwarePeak *assay_hardware_peak (const AssayHardwareDevice *device, const char *pipe);
const AssayHardwareLevel *assay_hardware_level (const AssayHardwareDevice *device,
                                                const char *level);
/* (transfer none): a figure's source in words. */
const char *assay_hardware_source (const AssayHardware *self, const char *key);

/* Operations a byte from which the pipe, and not the level, is the limit; NaN where either is not
 * known. */
double assay_hardware_ridge (const AssayHardwareDevice *device, const char *pipe,
                             const char *level);
/* The peak at a measured clock, in operations per second; NaN where the peak's clock is not known. */
double assay_hardware_peak_at (const AssayHardwarePeak *peak, double clock_hertz);

G_END_DECLS
