/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/json-table.h"

G_BEGIN_DECLS

/* What one side of a comparison took. Samples lie round after round. */
typedef struct
{
  char *name;             /* of the candidate or baseline */
  GArray *events, *hosts; /* double, seconds: the device's events; the worker's clock around them */
  GArray *walls;          /* double, seconds, one a round: by the engine's clock */
  gint64 warmup;          /* samples before the first that counts */
  gboolean steady;        /* … and whether they had come to rest */
  double median;          /* of all events */
  double lag;             /* correlation of neighbours within rounds */
  double drift;           /* relative, first round to last; 0 where it may be chance */
  gboolean bimodal;
  double mode_low, mode_high; /* NaN unless bimodal */
} AssayTimedSide;

/* The times of one workload, candidate and baseline in turn, and what they allow to be said. */
typedef struct
{
  char *workload;
  gboolean against_itself; /* no baseline: both sides are the candidate, a test of the clock */
  char *cache;             /* "flushed": overwritten before each sample */
  gint64 rounds, samples;  /* … a side in each round */
  gint64 cache_bytes, flush_bytes;
  gint64 input_sets; /* copies of the arrays that took turns */
  AssayTimedSide candidate, baseline;
  GArray *clocks;   /* double, MHz of the multiprocessors after each round; empty: not told */
  GArray *power;    /* double, watts */
  GArray *heat;     /* double, degrees Celsius */
  char **throttled; /* reasons that NVML named, each once */
  char *verdict;    /* faster | slower | equivalent | inconclusive | not interpretable */
  char *reason;
  double ratio, low, high; /* the candidate's time over the baseline's, 95 % interval */
  double probability;
  double effective;      /* independent samples that the lesser side is worth */
  gboolean same_results; /* the last timed launch gave the bits of the checked one */
} AssayTiming;

typedef struct
{
  GPtrArray *timings;       /* AssayTiming * */
  double ratio, low, high;  /* geometric mean over the workloads; NaN: none can say */
  gint64 counted, left_out; /* workloads in it, and those whose times cannot be interpreted */
  char **losers;            /* workloads on which the candidate is slower */
} AssayTimingSummary;

extern const AssayJsonTable ASSAY_TIMING_TABLE;
ASSAY_JSON_DECLARE (AssayTimingSummary, assay_timing_summary, ASSAY_TIMING_SUMMARY_TABLE)

G_END_DECLS
