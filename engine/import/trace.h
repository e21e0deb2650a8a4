/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* What ran on the devices, from a trace of torch.profiler (Kineto's JSON, of NVIDIA and AMD, gzip or
 * not). Times are in µs as the trace has them; a trace is read in one pass and need not fit in memory. */

typedef struct
{
  char *name;
  guint64 count;
  double total, first, least, most, median; /* µs; `first` is the earliest launch's */
  double early,
      late; /* medians of the first fifth and of the last half of the launches; NaN below 20 */
  guint streams, devices;         /* on how many it ran */
  gint64 grid[3], block[3];       /* of the earliest launch; 0: not in the trace */
  gint64 registers, shared_bytes; /* a thread; a block, static and dynamic; -1: not in the trace */
  gboolean varies;                /* other launches have another grid or block */
  guint64 offset;                 /* of its earliest launch in the (unpacked) text */
} AssayTraceKernel;

typedef struct
{
  char *path;
  guint64 events;         /* objects in traceEvents */
  guint64 launches;       /* kernels among them */
  guint64 refused;        /* kernels whose time or duration is missing, negative or no number */
  guint streams, devices; /* that ran kernels */
  double span,
      busy; /* µs from the first kernel's start to the last one's end; with a kernel running */
  guint64 copies, fills;       /* memory copies and fills on the device */
  double copied, largest_fill; /* bytes: of all copies; of the largest fill */
  guint64 in_graphs;           /* launches that came from a CUDA graph */
  GPtrArray *kernels;          /* AssayTraceKernel *, the most time first */
} AssayTrace;

/* `progress` gets the share done, 0 … 1; NULL allowed. NULL with error: the file cannot be read, is no
 * JSON, has no traceEvents, or was cancelled. */
AssayTrace *assay_trace_read (const char *path, void (*progress) (double share, gpointer user_data),
                              gpointer user_data, GCancellable *cancellable, GError **error);
void assay_trace_free (AssayTrace *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayTrace, assay_trace_free)

G_END_DECLS
