/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/comparison.h"

#define FIELD(Type, member, kind, ...) ASSAY_JSON_FIELD (Type, member, #member, kind, __VA_ARGS__)

#define F(member, kind, ...) FIELD (AssayHistogram, member, kind, __VA_ARGS__)
static const AssayJsonField HISTOGRAM_FIELDS[] = {
    F (first, INT), F (negative, UINTS), F (positive, UINTS), F (zero, UINT), ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_HISTOGRAM_TABLE = {"histogram", sizeof (AssayHistogram),
                                              HISTOGRAM_FIELDS, NULL};

static void
initialise_extreme (gpointer self)
{
  ((AssayExtreme *) self)->index = -1;
}

#define F(member, kind, ...) FIELD (AssayExtreme, member, kind, __VA_ARGS__)
static const AssayJsonField EXTREME_FIELDS[] = {
    F (value, DOUBLE), F (index, INT), F (candidate, DOUBLE), F (reference, DOUBLE), ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable EXTREME_TABLE = {"extreme", sizeof (AssayExtreme), EXTREME_FIELDS,
                                             initialise_extreme};

#define F(member, kind, ...) FIELD (AssayWorst, member, kind, __VA_ARGS__)
static const AssayJsonField WORST_FIELDS[] = {
    F (index, INT),           F (candidate, DOUBLE), F (reference, DOUBLE), F (gold, DOUBLE),
    F (candidate_bits, UINT), F (gold_bits, UINT),   F (abs, DOUBLE),       F (rel, DOUBLE),
    F (ulp_real, DOUBLE),     F (ulp, UINT),         ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_WORST_TABLE = {"worst", sizeof (AssayWorst), WORST_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayPosition, member, kind, __VA_ARGS__)
static const AssayJsonField POSITION_FIELDS[] = {
    F (rows, INT),         F (columns, INT),       F (cell_rows, INT),
    F (cell_columns, INT), F (rows_per_cell, INT), F (columns_per_cell, INT),
    F (max_ulp, DOUBLES),  F (rms_ulp, DOUBLES),   F (row_mean, DOUBLES),
    ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable POSITION_TABLE = {"position", sizeof (AssayPosition), POSITION_FIELDS,
                                              NULL};

#define F(member, kind, ...) FIELD (AssayNanCounts, member, kind, __VA_ARGS__)
static const AssayJsonField NAN_FIELDS[] = {
    F (both, UINT),
    F (candidate_only, UINT),
    F (reference_only, UINT),
    ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable NAN_TABLE = {"nan", sizeof (AssayNanCounts), NAN_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayInfCounts, member, kind, __VA_ARGS__)
static const AssayJsonField INF_FIELDS[] = {
    F (same, UINT),           F (opposite, UINT), F (candidate_only, UINT),
    F (reference_only, UINT), ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable INF_TABLE = {"inf", sizeof (AssayInfCounts), INF_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayBackwardError, member, kind, __VA_ARGS__)
static const AssayJsonField BACKWARD_FIELDS[] = {
    F (max, DOUBLE),
    F (rms, DOUBLE),
    F (scale, STRING),
    F (condition_max, DOUBLE),
    F (condition_index, INT),
    F (condition_unbounded, UINT),
    F (condition_histogram, STRUCT, .table = &ASSAY_HISTOGRAM_TABLE),
    ASSAY_JSON_END,
};
#undef F

static void
initialise_backward (gpointer self)
{
  ((AssayBackwardError *) self)->condition_index = -1;
}

const AssayJsonTable ASSAY_BACKWARD_ERROR_TABLE = {"backward error", sizeof (AssayBackwardError),
                                                   BACKWARD_FIELDS, initialise_backward};

static void
initialise_comparison (gpointer self)
{
  ((AssayComparison *) self)->max_ulp_index = -1;
}

#define F(member, kind, ...) FIELD (AssayComparison, member, kind, __VA_ARGS__)
static const AssayJsonField COMPARISON_FIELDS[] = {
    F (ulp_definition, STRING),
    F (count, UINT),
    F (equal, UINT),
    F (not_correctly_rounded, UINT),
    F (max_abs, STRUCT, .table = &EXTREME_TABLE),
    F (max_rel, STRUCT, .table = &EXTREME_TABLE),
    F (max_ulp_real, STRUCT, .table = &EXTREME_TABLE),
    F (max_ulp, UINT),
    F (max_ulp_index, INT),
    F (rms, DOUBLE),
    F (rms_gold, DOUBLE),
    F (max_gold, DOUBLE),
    F (mean_signed, DOUBLE),
    F (rms_ulp, DOUBLE),
    F (toward_zero_share, DOUBLE),
    F (backward_error, POINTER, .table = &ASSAY_BACKWARD_ERROR_TABLE),
    F (mismatches, UINT),
    F (mismatch_share, DOUBLE),
    F (accepted, BOOLEAN),
    F (verdict, STRING),
    F (margin, DOUBLE),
    F (headroom_bits, DOUBLE),
    F (nan, STRUCT, .table = &NAN_TABLE),
    F (inf, STRUCT, .table = &INF_TABLE),
    F (sign_of_zero, UINT),
    F (flushed, UINT),
    F (ulp_histogram, STRUCT, .table = &ASSAY_HISTOGRAM_TABLE),
    F (abs_histogram, STRUCT, .table = &ASSAY_HISTOGRAM_TABLE),
    F (rel_histogram, STRUCT, .table = &ASSAY_HISTOGRAM_TABLE),
    F (worst, LIST, .table = &ASSAY_WORST_TABLE),
    F (position, STRUCT, .table = &POSITION_TABLE),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_COMPARISON_TABLE = {"comparison", sizeof (AssayComparison),
                                               COMPARISON_FIELDS, initialise_comparison};
