/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/timing.h"

#include <math.h>

static void
initialise_side (gpointer self)
{
  AssayTimedSide *side = self;
  side->median = side->lag = side->mode_low = side->mode_high = NAN;
}

#define F(member, kind, ...) ASSAY_JSON_FIELD (T, member, #member, kind, __VA_ARGS__)

#define T AssayTimedSide
static const AssayJsonField SIDE_FIELDS[] = {
    F (name, STRING),  F (events, DOUBLES),  F (hosts, DOUBLES),   F (walls, DOUBLES),
    F (warmup, INT),   F (steady, BOOLEAN),  F (median, DOUBLE),   F (lag, DOUBLE),
    F (drift, DOUBLE), F (bimodal, BOOLEAN), F (mode_low, DOUBLE), F (mode_high, DOUBLE),
    ASSAY_JSON_END,
};
#undef T
static const AssayJsonTable SIDE_TABLE = {"timed side", sizeof (AssayTimedSide), SIDE_FIELDS,
                                          initialise_side};

static void
initialise_timing (gpointer self)
{
  AssayTiming *timing = self;
  timing->ratio = timing->low = timing->high = timing->probability = timing->effective = NAN;
}

#define T AssayTiming
static const AssayJsonField TIMING_FIELDS[] = {
    F (workload, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (against_itself, BOOLEAN),
    F (cache, STRING),
    F (rounds, INT),
    F (samples, INT),
    F (cache_bytes, INT),
    F (flush_bytes, INT),
    F (input_sets, INT),
    F (candidate, STRUCT, .table = &SIDE_TABLE),
    F (baseline, STRUCT, .table = &SIDE_TABLE),
    F (clocks, DOUBLES),
    F (power, DOUBLES),
    F (heat, DOUBLES),
    F (throttled, STRV),
    F (verdict, STRING),
    F (reason, STRING),
    F (ratio, DOUBLE),
    F (low, DOUBLE),
    F (high, DOUBLE),
    F (probability, DOUBLE),
    F (effective, DOUBLE),
    F (same_results, BOOLEAN),
    ASSAY_JSON_END,
};
#undef T
const AssayJsonTable ASSAY_TIMING_TABLE = {"timing", sizeof (AssayTiming), TIMING_FIELDS,
                                           initialise_timing};

static void
initialise_summary (gpointer self)
{
  AssayTimingSummary *summary = self;
  summary->ratio = summary->low = summary->high = NAN;
}

#define T AssayTimingSummary
static const AssayJsonField SUMMARY_FIELDS[] = {
    F (timings, LIST, .table = &ASSAY_TIMING_TABLE),
    F (ratio, DOUBLE),
    F (low, DOUBLE),
    F (high, DOUBLE),
    F (counted, INT),
    F (left_out, INT),
    F (losers, STRV),
    ASSAY_JSON_END,
};
#undef T
const AssayJsonTable ASSAY_TIMING_SUMMARY_TABLE = {"benchmark", sizeof (AssayTimingSummary),
                                                   SUMMARY_FIELDS, initialise_summary};
