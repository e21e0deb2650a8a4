/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/json-table.h"

G_BEGIN_DECLS

/* Counters of kernels, from what Nsight Compute prints as CSV: `ncu --csv` (a row for each metric) and
 * `ncu --csv --page raw` (a row for each kernel, the second one holding units). */

typedef struct
{
  char *section; /* NULL on the raw page */
  char *name;    /* "gpu__time_duration.sum", or as the section calls it */
  char *unit;    /* scaled to its base: "s", "byte", "byte/s", "Hz", "%" … */
  char *text;    /* the cell as it stood, where it is no number */
  double value;  /* in that unit; NaN where it is no number */
} AssayMetric;

typedef struct
{
  char *id; /* as ncu counts */
  char *process, *kernel, *device, *capability;
  GArray *grid, *block; /* gint64 × 3, or empty */
  GPtrArray *metrics;   /* AssayMetric * */
} AssayKernelCounters;

typedef struct
{
  char *page;         /* raw | details */
  char *decimal;      /* "." or ",": how the file writes numbers */
  GPtrArray *kernels; /* AssayKernelCounters *, in the file's order */
  char **notes;       /* the profiler's own warnings, and what could not be decided */
} AssayCounters;

ASSAY_JSON_DECLARE (AssayCounters, assay_counters, ASSAY_COUNTERS_TABLE)

/* ASSAY_ERROR_INVALID names line, column, what was expected and found; ASSAY_ERROR_LIMIT: more than 256 MiB. */
AssayCounters *assay_counters_read (const char *text, gsize bytes, GError **error);

G_END_DECLS
