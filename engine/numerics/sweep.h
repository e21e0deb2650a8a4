/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/json-table.h"
#include "engine/base/parallel.h"
#include "engine/number/dtype.h"

G_BEGIN_DECLS

/* A function of one argument over every value of a format that is not NaN, or over a range of them,
 * against the exact function rounded once.
 *
 * The oracle is the C library's double function. Where it lies so near the middle between two values
 * of the format that its own error could decide the rounding (within 2^-22 ulp; more for functions
 * that are computed in several steps), and for the eight worst inputs at the end, MPFR's 320 bits take
 * its place. Real ulp is (result - exact) / Goldberg ulp of exact, infinity counted as 2^(e_max + 1);
 * integer ulp is the distance of ordered bits to the exact value rounded to nearest even. Results
 * that differ as NaN or by an infinity of the wrong sign are counted apart and enter no maximum. */

typedef struct
{
  const char *name; /* "exp" */
  double (*wide) (double x);
  float (*single) (float x); /* the C library's, or its composition in float */
  const char *single_text;   /* how `single` is written in C: "expf (x)" */
  const char *cuda;          /* expression of float x */
  const char *cuda_narrow;   /* expression of __half or __nv_bfloat16 x; NULL: through float */
  int window_bits;           /* near a tie: within 2^-window_bits ulp */
} AssaySweepFunction;

/* All of them; `count` is set. */
const AssaySweepFunction *assay_sweep_functions (gsize *count);
/* NULL for a name there is not. */
const AssaySweepFunction *assay_sweep_function (const char *name);
/* high + low is f (x) to more than 100 bits, |low| <= ulp (high) / 2. */
void assay_sweep_exact (const AssaySweepFunction *function, double x, double *high, double *low);

typedef struct
{
  guint64 input, result, correct; /* codes */
  double x, value;                /* input and exact value as doubles */
  double ulp_real;                /* not signed */
  gint64 position;
} AssaySweepWorst;

/* What a sweep found, and how far it came: the JSON of --json and of --resume. */
typedef struct
{
  char *function, *precision;
  char *of;             /* "glibc 2.36: expf (x)" */
  gint64 first, last;   /* positions, see below */
  gint64 next;          /* the first one not yet done */
  double low, high;     /* the range as values */
  guint64 count;        /* results compared, special ones included */
  guint64 misrounded;   /* not the exact value rounded to nearest even */
  guint64 above_one;    /* real error above one ulp */
  guint64 rechecked;    /* decided by MPFR */
  guint64 max_ulp;      /* integer */
  double max_abs;       /* of result - exact, both finite */
  GPtrArray *worst;     /* AssaySweepWorst *, at most eight, the worst first */
  guint64 nan_spurious; /* NaN where there is a value */
  guint64 nan_missing;  /* a value where there is none */
  guint64 infinity_spurious, infinity_missing; /* against the exact value rounded */
  guint64 zero_sign;                           /* a zero with the wrong sign */
} AssaySweep;

ASSAY_JSON_DECLARE (AssaySweep, assay_sweep, ASSAY_SWEEP_TABLE)

/* Values in order, negative infinity at position 0, -0 before +0; NaNs have none. */
gint64 assay_sweep_positions (AssayDtype dtype);
guint64 assay_sweep_code (AssayDtype dtype, gint64 position);
gint64 assay_sweep_position (AssayDtype dtype, double value);

/* Fills `results` with the codes for `n` positions from `first`. FALSE with `error`. Called from
 * several threads unless `whole` below is set. */
typedef gboolean (*AssaySweepCandidate) (gint64 first, gsize n, guint32 *results,
                                         gpointer user_data, GError **error);

typedef struct
{
  const AssaySweepFunction *function;
  AssayDtype dtype;              /* float32, float16 or bfloat16 */
  AssaySweepCandidate candidate; /* NULL: the C library, the float result rounded to dtype */
  gpointer user_data;
  gboolean whole;         /* ask for a whole batch at once, from the calling thread: for devices */
  guint threads;          /* 0: one for each processor */
  AssayProgress progress; /* may be NULL; fraction of the range */
  /* After every batch, from the calling thread; may be NULL. FALSE stops with `error`. */
  gboolean (*checkpoint) (const AssaySweep *sweep, gpointer user_data, GError **error);
  gpointer progress_data; /* of both */
} AssaySweepJob;

/* Goes on from sweep->next to sweep->last. FALSE with `error`, also ASSAY_ERROR_CANCELLED: the sweep
 * then holds everything before its `next`. Counts do not depend on threads or interruptions. */
gboolean assay_sweep_run (AssaySweep *sweep, const AssaySweepJob *job, GCancellable *cancellable,
                          GError **error);

G_END_DECLS
