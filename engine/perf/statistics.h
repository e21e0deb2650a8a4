/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Statistics of times. Pure functions: no argument is written to, no state is kept, the same numbers give the
 * same answer on every machine. Probabilities are two-sided; NaN means that the numbers cannot say. */

typedef struct
{
  double estimate, low, high;
} AssayInterval;

/* A mixture of two normal distributions, fitted by expectation and maximisation from the best cut. */
typedef struct
{
  double low, high;   /* the two centres */
  double upper_share; /* of the samples that belong to the higher one */
  double separation;  /* Ashman's D = sqrt (2) |m1 - m2| / sqrt (s1^2 + s2^2) */
  gboolean bimodal;   /* D > 2, both hold more than a tenth, and two fit better than one by BIC */
} AssayModes;

/* Quantile of numbers in any order, interpolated (type 7 of Hyndman and Fan); NaN for none. */
double assay_quantile (const double *values, gsize count, double share);
double assay_median (const double *values, gsize count);

/* Correlation of neighbours within pieces of `length` (the whole: `length` = count), each about its own
 * mean. Short pieces pull it down by (1 + 4 rho) / length; that is put right (Marriott and Pope 1954), but for
 * fewer than 8, for which there is NaN. Within [-1, 1]. */
double assay_lag_one (const double *values, gsize count, gsize length);
/* How many independent samples as many correlated ones are worth: n (1 - rho) / (1 + rho), at most n. */
double assay_effective_count (gsize count, double rho);

/* The slope per step: the median of all pairwise ones (Theil, Sen), and the probability of a trend as strong
 * by chance (Mann and Kendall, with ties, normal approximation). */
double assay_slope (const double *values, gsize count);
double assay_trend (const double *values, gsize count);

/* Student's t for the mean of paired differences being 0, and Welch's for the means of two samples. */
double assay_paired_t (const double *differences, gsize count);
double assay_welch_t (const double *left, gsize left_count, const double *right, gsize right_count);
/* Mann and Whitney's U with ties, normal approximation with correction for continuity. */
double assay_mann_whitney (const double *left, gsize left_count, const double *right,
                           gsize right_count);

/* The median of all averages of two of the numbers (Hodges and Lehmann 1963), with the interval of Wilcoxon's
 * signed ranks at `level`: exact up to 60 numbers, normal beyond. Infinite ends where so few numbers cannot
 * give an interval of that level (fewer than 6 for 0.95). */
AssayInterval assay_hodges_lehmann (const double *values, gsize count, double level);

/* log (median left / median right) with a percentile interval by moving blocks of `block` samples, drawn
 * `draws` times by a generator of our own from `seed`. For series that were taken one after the other. */
AssayInterval assay_block_bootstrap (const double *left, const double *right, gsize count,
                                     gsize block, guint draws, guint64 seed, double level);

AssayModes assay_modes (const double *values, gsize count);

G_END_DECLS
