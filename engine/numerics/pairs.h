/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/number/dtype.h"

#include <glib.h>

G_BEGIN_DECLS

/* The bulk of a comparison without gold: pairs of values that lie close together, many at a time.
 * Inside this room only.
 *
 * A pair (candidate c, reference r) of a format with f fraction bits is *close* when both are zeros
 * of the same sign; or both have the same sign and a magnitude below 2^127, the larger of them is
 * at least `least` (32-fold and more above the smallest float, twice the smallest normal of the
 * format), and they are at most min (8191, 2^f) steps apart. Then, in float32,
 *
 *  - c - r is exact (Sterbenz), zero or normal;
 *  - (c - r) / ulp (r) is exact, and twice it is an integer of at most 15 bits: sums of it and of its
 *    square are integers, whatever the order;
 *  - floor (log2 (|c - r| / |r|)) is the difference of the two bit patterns, shifted.
 *
 * What is not close is left to numbers.c, element by element. Sums of doubles are kept in sixteen
 * lanes, lane i for element i modulo 16 of a segment, so that every width of vectors adds in the same
 * order. */

#define ASSAY_SEGMENT 2048 /* elements at most, contiguous: three arrays of it stay in a cache */
#define ASSAY_LANES 16

typedef struct
{
  int shift;     /* 23 - f: float bits below the format's own */
  guint32 limit; /* steps apart, as float bits */
  guint32 least; /* float bits of the larger magnitude, at least */
  guint32
      lowest; /* exponent of r, at least: below it the ulp does not shrink, or nothing is close */
  guint32 scale; /* exponent field of 2 / ulp (r) plus that of r */
} AssayPairFormat;

/* What a segment adds to, kept from segment to segment. */
typedef struct
{
  double error[ASSAY_LANES], error_squares[ASSAY_LANES], gold_squares[ASSAY_LANES];
  guint32 squares[ASSAY_SEGMENT]; /* of twice the ulp error, by place in the segment */
  guint32 maxima[ASSAY_SEGMENT];  /* of twice the ulp error, by place */
  gint64 twice_ulp;
  guint64 toward_zero;
} AssayPairSums;

typedef struct
{
  const AssayPairFormat *format;
  const float *c, *r;
  gsize n;
  const float *next_c, *next_r; /* what will be wanted next: n floats, or the same again */
  float slope, rel;             /* see excess and rel_excess */
  AssayPairSums *sums;
  /* found by scan */
  guint32 max_steps; /* as float bits; beyond format->limit when some pair is not close */
  guint32 max_reference;
  gboolean close; /* every pair is, and none of zeros */
  /* found by run */
  float max_error;
  guint32 max_twice_ulp;
  float excess;                     /* largest |c - r| - slope |r| */
  float rel_excess;                 /* largest |c - r| - rel |r| */
  guint8 negative[ASSAY_SEGMENT];   /* 1: c < r */
  guint8 error_bins[ASSAY_SEGMENT]; /* exponent field of |c - r|, 0: equal */
  guint8 step_bins[ASSAY_SEGMENT];  /* bits of the step count as float bits, 0: equal */
  gint8 rel_bins
      [ASSAY_SEGMENT]; /* floor (log2 (|c - r| / |r|)), -25 … 0; what is equal lies outside */
} AssayPairs;

/* What |c - r| may be: offset + slope |r|, or, where `either`, the larger of the two; |c| in place of
 * |r| where `of_candidate`. */
typedef struct
{
  double slope, offset;
  gboolean either, of_candidate;
  /* In float32: what is not beyond quick_offset + quick_slope |r| need not be looked at. */
  float quick_slope, quick_offset;
} AssayPairBound;

/* Counters of one histogram, seen from its bin 0. */
typedef struct
{
  guint64 *negative, *positive;
} AssayPairBins;

typedef struct
{
  const char *name;
  /* Sets max_steps, max_reference and close. */
  void (*scan) (AssayPairs *pairs);
  /* The same for 16-bit codes, `bfloat` or else half, which become floats at `to_c` and `to_r`, exactly,
   * and are what the pairs point at then. */
  void (*scan_codes) (AssayPairs *pairs, const guint16 *c, const guint16 *r, gboolean bfloat,
                      float *to_c, float *to_r);
  /* Copies to `c` and `r` what is close, and zeros elsewhere, says where in `others`, and sets max_steps
   * and max_reference. Pairs are then the copies. Returns how many others there are. */
  guint (*set_apart) (AssayPairs *pairs, float *c, float *r, guint64 *others);
  /* Everything about a segment of close pairs. */
  void (*run) (AssayPairs *pairs);
  /* Adds run's bins to the histograms; returns the number of unequal pairs. */
  guint (*count) (const AssayPairs *pairs, AssayPairBins errors, AssayPairBins steps,
                  AssayPairBins rels);
  /* The pairs for which |c - r| is at least `factor` times the bound, give or take a few roundings: their
   * places to `where` in ascending order, their number returned. Sets `missing` to the number of those
   * beyond the bound, evaluated in double as it is written. */
  guint (*above) (const AssayPairs *pairs, AssayPairBound bound, double factor, guint16 *where,
                  guint *missing);
} AssayPairKernel;

/* Of float formats narrower than 64 bits with a sign. */
AssayPairFormat assay_pair_format (AssayDtype dtype);
gboolean assay_pair_is_close (const AssayPairFormat *format, float c, float r);

/* The widest this processor has when `limit` is 0; else 1: plain C, 2: AVX2 with FMA, 3: AVX-512, or
 * the widest below that. */
const AssayPairKernel *assay_pair_kernel (guint limit);

#if defined(__x86_64__) && defined(__GNUC__)
#define ASSAY_PAIRS_X86 1
extern const AssayPairKernel ASSAY_PAIRS_AVX2, ASSAY_PAIRS_AVX512;
#endif

G_END_DECLS
